"""The last layer and the loss: an activation that does not fit, labels that it cannot reach, sides that are swapped."""
from __future__ import annotations

import operator
from collections.abc import Iterator

import numpy as np

from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors, past
from ...facts.roles import PLACEHOLDERS, at_line, place_of
from ..findings import Finding
from .case import Case, fed_behind, finding, values_behind
from .heads import DATA, SAME, Head, above, constant, heads, last_layer, number_in, through, unbroadcast
from .pairing import named
from .signs import signs_into, source_of

_ENTROPY = ("softmax", "sparse", "sigmoid")
_RANGES = {"Sigmoid": (0.0, 1.0), "Softmax": (0.0, 1.0), "Tanh": (-1.0, 1.0), "Relu": (0.0, np.inf),
           "Relu6": (0.0, 6.0), "Exp": (0.0, np.inf), "Softplus": (0.0, np.inf)}
_TWICE = {"Relu": "never below 0", "Relu6": "never below 0", "Sigmoid": "between 0 and 1", "Tanh": "between -1 and 1",
          "Softmax": "between 0 and 1"}  # what may go into a softmax or sigmoid by mistake
_MOVES = {"Add": operator.add, "AddV2": operator.add, "Sub": operator.sub, "Mul": operator.mul}
NO_PROBABILITY, CLASSES = "log of no probability", 20  # different whole numbers that may be classes
SQUARED = "square the error: tf.losses.mean_squared_error(labels, predictions)"
_OUTSIDE = 0.02  # share of labels beyond the range of the last layer that is no accident
_FIX = {"softmax": "tf.nn.softmax_cross_entropy_with_logits_v2", "sparse":
        "tf.nn.sparse_softmax_cross_entropy_with_logits", "sigmoid": "tf.nn.sigmoid_cross_entropy_with_logits"}


def last_layer_mistakes(case: Case) -> list[Finding]:
    """Findings about where predictions meet labels."""
    found: list[Finding] = []
    known = {head.prediction for head in heads(case)}
    for head in heads(case):
        for rule in (_swapped, _squashed_twice, _rectified, _no_probability, labels_out_of_range, _half_of_the_loss,
                     _halves_swapped, _squared_softmax, _activated_twice):
            found += list(rule(head, case))[:1]
    for op in case.behind:
        if op.type == "LogSoftmax" and op in case.trained and op.inputs[0] not in known:  # scores, wherever labels pick
            found += _rectified(Head("sparse", op, op.inputs[0], None, last_layer(op.inputs[0])), case)
    return found


def _swapped(head: Head, case: Case) -> Iterator[Finding]:
    """Labels where predictions belong."""
    if head.labels is None:
        return
    labels_move = head.labels.op in case.trained
    if head.form in ("softmax", "sigmoid") and labels_move and head.prediction.op not in case.trained:
        yield finding(90, "labels and logits swapped", head.op, f"the labels of {head.op.name} are {head.labels.name}, "
                      f"which depends on the trainable variables, and its logits are {head.prediction.name}, which "
                      "does not: labels and logits are swapped", "give labels= and logits= by name, the other way "
                      "round", confidence="certain")


def swapped_and_stopped(case: Case) -> list[Finding]:
    """A cross entropy of logits that nothing trains and labels that variables make: no gradient comes through these."""
    for op in case.behind:
        if op.type == "SoftmaxCrossEntropyWithLogits" and op not in case.trained and case.variables_behind(
                op.inputs[1]) and not case.variables_behind(op.inputs[0]) and values_behind(op.inputs[:1]) & {
                o for o in case.behind if o.type in DATA}:
            logits, labels = (past(t, (*SAME, "StopGradient")).name for t in op.inputs)
            return [finding(90, "labels and logits swapped", op, f"the labels of {op.name} are {labels}, which depends "
                            f"on the trainable variables, and its logits are {logits}, which does not: labels and "
                            "logits are swapped, and as no gradient goes through labels, nothing learns by it",
                            "give labels= and logits= by name, the other way round", confidence="certain")]
    return []


def swapped_logarithms(case: Case) -> list[Finding]:
    """Predictions times the logarithm of labels: the sides of a cross entropy are swapped."""
    found = []
    for op in case.behind:
        if op.type != "Log" or op in case.trained or not fed_behind(op.inputs):
            continue
        product = next((c for c in through(op.outputs[0]) if c.type == "Mul" and c in case.trained), None)
        if product is not None:
            other = next((t for t in product.inputs if t.op in case.trained), product.inputs[0])
            if any(np.any((weight < 0) | (weight > 1)) for weight in case.series(other)):
                continue  # no probabilities: the exponents of a density
            found.append(finding(90, "labels and logits swapped", op, f"{op.name} takes the logarithm of "
                                 f"{unbroadcast(op.inputs[0]).name}, which is fed, and weighs it with the prediction "
                                 f"{other.name}: labels and predictions are swapped", "-tf.reduce_sum(labels * "
                                 "tf.log(predictions)): the logarithm is of the predictions", confidence="certain"))
    return found[:1]


def _squashed_twice(head: Head, case: Case) -> Iterator[Finding]:
    """A cross entropy that squashes its logits itself, given what is squashed already."""
    if head.form not in _ENTROPY or head.activation not in ("Softmax", "Sigmoid", "Tanh", "LogSoftmax") or \
            not head.end.inputs or head.op.type == "Neg":  # by a log-softmax, which is judged by itself
        return
    kind = "double sigmoid" if head.form == "sigmoid" and head.activation == "Sigmoid" else "double softmax"
    before = logits_of(head.end).name
    if head.activation == "Tanh":
        yield finding(46, "bounded logits", head.op, f"the logits of {head.op.name} are the tanh of {before}"
                      f"{at_line(place_of(head.end))}: they lie between -1 and 1, so no class gets a high probability",
                      f"give it {before}, from before the tanh")
        return
    if head.activation == "LogSoftmax" and head.form != "sigmoid":
        yield finding(30, "log-softmax as logits", head.op, f"the logits of {head.op.name} are a log-softmax already "
                      f"({head.end.name}): to take it again changes nothing", f"give it {before}")
        return
    outer = "softmax" if head.form != "sigmoid" else "sigmoid"
    yield finding(72, kind, head.op, f"the logits of {head.op.name} are the {head.activation.lower()} of {before}"
                  f"{at_line(place_of(head.end))}, but it takes the {outer} itself: it is taken twice, which flattens "
                  f"the gradient{_bounded(head, case)}", f"give it {before}, from before the {head.activation.lower()}",
                  confidence="certain")


def logits_of(end: Operation) -> Tensor:
    """What went into an activation, also into one written by hand."""
    return end.inputs[0].op.inputs[0] if end.type == "RealDiv" and end.inputs[0].op.type == "Exp" else end.inputs[0]


def _bounded(head: Head, case: Case) -> str:
    values = case.series(head.prediction)
    if not values or head.form == "sigmoid" or not values[-1].ndim or values[-1].shape[-1] < 2:
        return ""
    k = values[-1].shape[-1]
    return f": with {k} classes the loss cannot fall below {np.log(np.e + k - 1) - 1:.3g}"


def _rectified(head: Head, case: Case) -> Iterator[Finding]:
    """Logits, or a regression's predictions, that are cut off at 0."""
    if head.activation not in ("Relu", "Relu6") or head.form not in _ENTROPY:
        return
    values = case.series(head.prediction)
    zeros = f"; at step {case.looked[-1].step} {float((values[-1] == 0).mean()):.0%} of them are 0" if values else ""
    yield finding(64, "relu on the logits", head.end, f"the last layer ends in {head.end.type.lower()} "
                  f"({head.end.name}), and {head.op.name}{at_line(place_of(head.op))} takes it for logits: none can be "
                  f"negative, so no class can be ruled out, and where all are 0 nothing is learnt{zeros}",
                  f"leave the relu out of the last layer: give {_FIX[head.form]} {head.end.inputs[0].name}",
                  confidence="certain")


def _no_probability(head: Head, case: Case) -> Iterator[Finding]:
    """The logarithm of what is no probability."""
    if head.form != "log" or head.activation not in ("", "Relu", "Relu6", "Tanh", "LeakyRelu", "Elu", "LogSoftmax"):
        return
    if head.labels is None or head.labels.op in case.trained or head.labels.op.type != "OneHot" and not any(
            op.type in DATA for op in values_behind([head.labels])) or signs_into(head.prediction, case.y, {
                op for op in case.behind if op.type != "Log"}):  # as of x * log(x), or of a rate: r - c * log(r)
        return
    values, told = case.series(last_tensor(head.prediction)), ""
    known = np.concatenate([v[np.isfinite(v)] for v in values]) if values else np.zeros(0)
    if known.size:
        low, high = known.min(), known.max()
        told = f"; it was between {low:.3g} and {high:.3g}, whose logarithm is {'nan' if low < 0 else '> 0'} in parts"
    made = f"{head.end.type.lower()} {head.end.name}" if head.activation else head.end.name
    moved = squashed_before(head)
    why, fix = (f"it scales and moves what the {moved.type.lower()} {moved.name} gives", f"leave it out: "
                f"the {moved.type.lower()} comes last") if moved is not None else (
        "the last layer has no softmax or sigmoid", "end in tf.nn.softmax (tf.sigmoid for one output), or better give "
        "the logits to tf.nn.softmax_cross_entropy_with_logits_v2 or tf.nn.sigmoid_cross_entropy_with_logits")
    labels = np.concatenate([np.zeros(0), *map(np.ravel, case.series(head.labels))])
    if _are_numbers(labels) and (np.mean((labels < 0) | (labels > 1)) > _OUTSIDE or not has_other_half(head) and (
            head.prediction.dims or (0,))[-1] == 1):
        why, fix = f"its targets are no classes, but numbers, as {labels[0]:.3g}", SQUARED
    yield finding(103 if case.nonfinite else 76, NO_PROBABILITY, head.op, "a cross entropy takes the "
                  f"logarithm of {made}{at_line(place_of(head.end))}, which is no probability: {why}{told}", fix,
                  step=case.nonfinite, confidence="certain" if moved is not None or head.activation or known.size and (
                      known.min() < 0) else "probable")


def _are_numbers(labels: np.ndarray) -> bool:
    """Whether most labels are no whole numbers."""
    return bool(labels.size) and float(np.mean((labels % 1 > 0.01) & (labels % 1 < 0.99))) > 0.5


def squashed_before(head: Head) -> Operation | None:
    """The softmax or sigmoid of which the last layer is a normalization, if it is one."""
    return next((o for o in above(head.end, 3) if o.type in ("Softmax", "Sigmoid")), None) if not head.activation and \
        head.end.type not in ("MatMul", "Conv2D", "BiasAdd") else None


def last_tensor(tensor: Tensor) -> Tensor:
    """The output of the last layer's op behind predictions."""
    return last_layer(tensor).outputs[0]


def labels_out_of_range(head: Head, case: Case) -> Iterator[Finding]:
    """Labels that the last layer cannot give."""
    if head.labels is None or head.labels.op in case.trained or not head.labels.dtype.is_floating:
        return
    squashed = "Sigmoid" if head.form == "sigmoid" else head.activation if head.form != "softmax" else "Softmax"
    if squashed not in _RANGES or head.form == "log" and not _is_log_loss(head):
        return
    arrays = case.series(head.labels)
    if not arrays:
        return
    labels = np.concatenate([np.asarray(a, float).ravel() for a in arrays])
    factors = [n for t in head.labels.op.inputs if (n := number_in(t)) is not None] if head.form == "log" else []
    if head.labels.op.type == "Mul" and factors and factors[0] > 0:
        labels /= factors[0]  # of a class that weighs more
    low, high = _moved(_RANGES[squashed], head) if squashed == head.activation else _RANGES[squashed]
    slack = 1e-3 * (1 + abs(low))
    if head.form in ("squared", "absolute") and any(np.nanmin(p) < low - slack or np.nanmax(p) > high + slack
                                                    for p in case.series(head.prediction) if not np.isnan(p).all()):
        return  # something lies between, such as a sum
    outside = float(((labels < low - slack) | (labels > high + slack)).mean()) if labels.size else 0.0
    if outside <= _OUTSIDE or not np.isfinite(labels).all():
        return
    where, limits = f"{head.op.name}{at_line(place_of(head.op))}", f"{low:g} to {high:g}"
    if head.form in ("squared", "absolute"):
        yield finding(74, "targets out of range", head.end, f"the last layer is a {squashed.lower()} "
                      f"({head.end.name}), so that predictions are {limits}, but {outside:.0%} of the targets "
                      f"{named(head.labels)} lie outside of that range, from {labels.min():.4g} to {labels.max():.4g}: "
                      f"they cannot be reached, and the {squashed.lower()} saturates", "leave out the "
                      f"{squashed.lower()} in the last layer for a regression, or scale the targets into {limits}",
                      confidence="certain")
    elif _are_of_examples(head.labels, head.prediction):  # and no weights of classes
        count = _class_numbers(labels) if head.prediction.dims and head.prediction.dims[-1] in (1, None) else 0
        yield finding(74, "labels out of range", head.op, f"{where} is a cross entropy of probabilities, but "
                      f"{outside:.0%} of the labels {named(head.labels)} are not between 0 and 1: they "
                      + (f"are the numbers 0 to {count - 1} of {count} classes" if count else
                         f"go from {labels.min():.4g} to {labels.max():.4g}") + ", and the loss has no minimum",
                      f"one output for each of {count} classes, a softmax, and a sparse categorical cross entropy"
                      if count else f"{SQUARED}, with no {squashed.lower()} in the last layer" if _are_numbers(labels)
                      else "give it labels of 0 and 1: a one-hot code of classes, (labels + 1) / 2 of -1 and "
                      "1, or inputs scaled to 0 to 1; for other targets use a squared error")


def _are_of_examples(labels: Tensor, predictions: Tensor) -> bool:
    """Whether there may be labels for each prediction."""
    given, made = labels.dims or (), predictions.dims or ()
    return len(given) >= len(made) and (given[:1] != (1,) or made[:1] == (1,))


def _class_numbers(labels: np.ndarray) -> int:
    """How many classes whole numbers from 0 on count; 0 where they are no such."""
    numbers = np.unique(labels)
    return len(numbers) if 2 < len(numbers) <= CLASSES and np.array_equal(numbers, np.arange(len(numbers))) else 0


def _moved(limits: tuple[float, float], head: Head) -> tuple[float, float]:
    """The range of predictions, of that of the last activation and what constants are added to and multiplied by it."""
    moves, tensor = [], head.prediction
    while tensor.op is not head.end and tensor.op.inputs:
        op = tensor.op
        known = [constant(t) for t in op.inputs[:2]]
        place = next((i for i, value in enumerate(known) if value is None), 0)
        if len(known) == 2 and known[1 - place] is not None and op.type in _MOVES:
            moves.append((op.type, place, np.asarray(known[1 - place], float)))
        tensor = op.inputs[place]
    for kind, place, value in reversed(moves):
        ends = [_MOVES[kind](*((limit, each) if place == 0 else (each, limit)))
                for limit in limits for each in (value.min(), value.max())]
        limits = min(ends), max(ends)
    return limits


def _is_log_loss(head: Head) -> bool:
    """Whether the labels are weights of classes, and no advantage or mask."""
    p, labels = head.prediction.dims, None if head.labels is None else head.labels.dims
    if p is None or labels is None or len(p) != len(labels) or not p:
        return False
    return len(p) > 1 and p[-1] == labels[-1] and (p[-1] or 0) > 1 or has_other_half(head)


def has_other_half(head: Head) -> bool:
    """Whether the logarithm of 1 - p is taken beside that of p."""
    tensor = head.end.outputs[0]
    behind = set(_below(tensor, 6))
    return any(op.type == "Log" and any(o.type == "Sub" and constant(o.inputs[0]) is not None
                                        for o in ancestors([op.inputs[0]]) & behind) for op in behind)


def _below(tensor: Tensor, depth: int) -> set[Operation]:
    found: set[Operation] = set()
    level = [tensor]
    for _ in range(depth):
        takers = {c for t in level for c in t._consumers if c.gradient_of is None} - found
        found |= takers
        level = [t for op in takers for t in op.outputs]
    return found


def _half_of_the_loss(head: Head, case: Case) -> Iterator[Finding]:
    """y log(p) of a sigmoid without (1 - y) log(1 - p): p = 1 for everything is best."""
    if head.form != "log" or head.activation != "Sigmoid" or head.labels is None or has_other_half(head) or \
            (head.prediction.dims or (1,))[-1] not in (None, 1, 2):
        return
    if head.labels.op.type not in PLACEHOLDERS or head.prediction.dims is None or head.labels.dims is None or \
            len(head.prediction.dims) != len(head.labels.dims):
        return
    values = case.series(last_tensor(head.prediction))
    told = f": its mean went from {values[0].mean():.2f} to {values[-1].mean():.2f}" if len(values) > 1 else ""
    yield finding(68, "half of a cross entropy", head.op, f"the loss has y * log(p) of the sigmoid {head.end.name}, "
                  "but not (1 - y) * log(1 - p): p = 1 for every example makes it 0, so the model learns to say "
                  f"1{told}", "use tf.nn.sigmoid_cross_entropy_with_logits, or add (1 - y) * tf.log(1 - p)")


def _halves_swapped(head: Head, case: Case) -> Iterator[Finding]:
    """y log(1 - p) + (1 - y) log(p): what is right is made unlikely."""
    source = past(head.prediction, ("Maximum", "Minimum", *SAME)).op
    if head.form == "log" and head.activation == "Sigmoid" and has_other_half(head) and head.labels is not None and (
            head.labels.op.type == "Sub" and source is head.end and constant(head.labels.op.inputs[0]) is not None
            and head.labels.op.inputs[1].op.type in PLACEHOLDERS):
        yield finding(57, "labels turned", head.op, f"the logarithm of p, the sigmoid {head.end.name}, is weighed with "
                      f"{head.labels.name}, 1 - {named(head.labels)}, and that of 1 - p with the labels: p becomes the "
                      "probability of class 0", "y * tf.log(p) + (1 - y) * tf.log(1 - p)")


def _activated_twice(head: Head, case: Case) -> Iterator[Finding]:
    """A softmax or sigmoid of what is an activation already, at the end of a model."""
    inner = source_of(logits_of(head.end)) if head.form not in _ENTROPY and head.activation in (
        "Softmax", "Sigmoid") and head.end.inputs else head.end
    if inner is head.end or inner not in case.trained or inner.type not in _TWICE:
        return
    yield finding(46 if inner.type == "Tanh" else 64, "two activations", inner, f"the last layer, {head.end.name}"
                  f"{at_line(place_of(head.end))}, takes the {head.activation.lower()} of {inner.name}, which is a "
                  f"{inner.type.lower()}, {_TWICE[inner.type]}, and no layer lies between: it cannot say "
                  f"{'no' if head.activation == 'Sigmoid' else 'of any class that it is ruled out'}",
                  f"leave the {inner.type.lower()} out: the last layer has one activation", confidence="certain")


def _squared_softmax(head: Head, case: Case) -> Iterator[Finding]:
    """A squared error of classes."""
    if head.form not in ("squared", "absolute") or head.activation != "Softmax" or not head.end.inputs:
        return
    dims = head.prediction.dims
    if not dims or dims[-1] in (None, 1) or head.labels is not None and (number_in(head.labels) is not None or past(
            head.labels, ("StopGradient", *SAME)).op.type == "Softmax"):
        return  # it is a weight, as of a focal loss; of two softmaxes it is a distance
    yield finding(44 if not case.learns else 36, "squared error of a softmax", head.op, f"{head.op.name} is the "
                  f"{head.form} error of the softmax {head.end.name}{at_line(place_of(head.end))}: where the softmax "
                  "is sure of a wrong class its slope is almost 0, so the worst examples teach least",
                  f"give {logits_of(head.end).name} to tf.nn.softmax_cross_entropy_with_logits_v2")
