"""What does not fit its labels: losses and layers where they name classes, residuals that are not squared."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors
from ...facts.roles import at_line, place_of
from ..findings import Finding
from .case import Case, fed_behind, finding, held
from .heads import ENTROPIES, SAME, Head, constant, gathered, heads, is_normalized, last_layer, through, unbroadcast
from .last_layer import has_other_half, logits_of
from .pairing import batches_of, source_of_labels
from .penalties import averaged_first, is_residual
from .signs import signs_of
from .wiring import linear_source

_LINEAR, _BY_CONSTANTS = ("Sum", "Mean", "Neg", *SAME), ("Mul", "RealDiv", "Add", "AddV2", "Sub")
_KINDS = 3  # different whole numbers from which on they are classes
_TRAINED = 20  # steps that should have taught something
_CLEAR = 0.5  # how far the right class stands out
_TOLD = 4  # probabilities that are said
_SEVERAL = 0.05  # share of examples with more than one yes
_MOST = 100  # columns: more are an image, not classes


def class_mistakes(case: Case) -> list[Finding]:
    """Findings about losses of labels that are classes."""
    found: list[Finding] = []
    for head in heads(case):
        count = classes_in(head, case) if case.steps else 0
        for rule in (_each_alone, _squared, _narrow, _weighed_late) if count else (_smoothed_away, _one_for_several):
            found += list(rule(head, count, case))[:1]
    return [*found, *(_all_alike(case) if case.steps else ())]


def _all_alike(case: Case) -> Iterator[Finding]:
    """Logarithms of probabilities, of which a loss takes all of an example alike, though what is fed names one."""
    behind = ancestors([case.y])
    for op in case.behind:
        is_log = op.type == "LogSoftmax" or op.type == "Log" and last_layer(op.inputs[0]).type == "Softmax"
        count = (op.outputs[0].dims or (0,))[-1] or 0 if op.outputs else 0
        if not is_log or count < 2 or op not in case.trained or not _weighed_alike(op, set(case.behind)):
            continue
        for tensor in case.steps[0].feeds:
            chosen = [np.asarray(run.feeds[tensor]) for run in case.steps if tensor in run.feeds]
            known = case.series(op.outputs[0])[:1] if tensor.op not in behind else []
            if known and len(chosen) > 1 and _names_one(chosen, known[0].shape):
                yield finding(89, "choices not used", op, f"{op.name} has the logarithms of {count} probabilities of "
                              f"an example, and {case.y.name} takes all alike: it does not depend on {tensor.name}"
                              f"{at_line(place_of(tensor.op))}, which is fed the one of {count} for each, others in "
                              f"each of {len(case.steps)} steps", "take the logarithm of the one that is fed alone, by "
                              f"tf.one_hot of {tensor.op.name}", target=tensor.name, confidence="certain")
                return
        if (weight := _by_examples(op, case)) is not None:
            source = op.inputs[0] if op.type == "Log" else op.outputs[0]
            chances = [x if op.type == "Log" else np.exp(x) for x in case.series(source)[-1:]]
            said = ", ".join(f"{each:.2g}" for each in chances[0].mean(axis=0)[:_TOLD]) + ", …" * (count > _TOLD)
            yield finding(66, "choices not used", op, f"{op.name} has the logarithms of {count} probabilities of an "
                          f"example, and {case.y.name} takes all of them alike, times {weight.name}, one number for "
                          "each example: which one was taken is nowhere in it, so they are pulled together, or apart, "
                          f"whatever was done; on average they are now {said}", "feed the one that was taken, and take "
                          f"its logarithm alone: tf.reduce_sum(tf.one_hot(taken, {count}) * log_p, axis=-1), times "
                          "that number")
            return


def _by_examples(op: Operation, case: Case) -> Tensor | None:
    """What is fed for each example, and differs, by which logarithms of all of its probabilities are multiplied."""
    behind, tensor = set(case.behind), op.outputs[0]
    while len(users := [c for c in tensor._consumers if c in behind]) == 1:
        user = users[0]
        for other in [t for t in user.inputs if t is not tensor] if user.type == "Mul" else ():
            pairs = list(zip(case.series(other), case.series(op.outputs[0])))
            if fed_behind([other]) and other.op not in case.trained and pairs and all(
                    x.ndim == 2 and w.size == len(x) > 1 and np.ptp(w) > 0 for w, x in pairs) and not _names_one(
                    [w for w, _ in pairs], pairs[0][1].shape):  # labels that were to be one-hot
                return other
        if user.type not in ("Neg", "Identity", "Mul", "Sum", "Mean"):
            return None
        tensor = user.outputs[0]
    return None


def _weighed_alike(op: Operation, behind: set[Operation]) -> bool:
    """Whether all of an example that an op gives is multiplied by one number, if any, and then summed."""
    tensor = op.outputs[0]
    while len(users := [c for c in tensor._consumers if c in behind]) == 1:
        user = users[0]
        if user.type in ("Mean", "Sum"):
            return True
        others = [unbroadcast(t).dims for t in user.inputs if t is not tensor]
        if user.type not in ("Neg", "Identity", "Mul", "RealDiv") or any(
                each is None or each and each[-1] != 1 for each in others):
            return False
        tensor = user.outputs[0]
    return False


def _names_one(fed: list[np.ndarray], shape: tuple[int, ...]) -> bool:
    """Whether what is fed is the number of one of the last axis of `shape`, for each of the others, not always one."""
    sizes = {a.size for a in fed}
    return shape[0] > 1 and sizes == {int(np.prod(shape[:-1]))} and all(
        np.isin(a, range(shape[-1])).all() for a in fed) and len(np.unique(fed[0])) > 1 and any(
        not np.array_equal(a, fed[0]) for a in fed)


def classes_in(head: Head, case: Case) -> int:
    """How many classes the labels tell apart, each example being of one; 0 where they are something else.

    Labels that are fed to the model too, as the images of an autoencoder are, tell no classes.
    """
    if head.labels is None or head.labels.op in case.trained or constant(head.labels) is not None or \
            head.labels.op in ancestors([head.prediction]):
        return 0
    if head.form == "sparse" or head.form == "log" and len(head.labels.dims or ()) < len(head.prediction.dims or ()):
        return int((head.prediction.dims or (0,))[-1] or 0)
    labels = batches_of(case, head.labels)
    shapes = {np.shape(a)[1:] for a in labels}
    if not labels or len(shapes) > 1 or any(a.size == 0 or a.dtype.kind not in "fiub" for a in labels):
        return 0
    values, columns = np.concatenate([a.ravel() for a in labels]), int(np.prod(next(iter(shapes)), initial=1))
    if head.labels.op.type == "OneHot":
        return int((head.labels.dims or (0,))[-1] or 0)
    if not np.isin(values, (0, 1)).all() or columns > _MOST or values.min() == values.max():
        return 0
    if (values.reshape(-1, columns) == values[:columns]).all():
        return 0  # the same of all examples, as of one that is right among others that were drawn
    return 2 if columns == 1 else columns if (values.reshape(-1, columns).sum(axis=1) == 1).all() else 0


def _each_alone(head: Head, count: int, case: Case) -> Iterator[Finding]:
    """A loss of two classes for each of many of which one is right."""
    dims = head.prediction.dims or ()
    columns = dims[-1] or 1 if len(dims) > 1 else 1  # a vector is one question for each example
    if columns < 3:
        return
    squashed = f"{head.end.type.lower()} {head.end.name}{at_line(place_of(head.end))}"
    one_of = f"each example is of one of {count} classes"
    remedy = "end in a softmax: give the logits to tf.nn.softmax_cross_entropy_with_logits_v2"
    if head.form == "log" and head.activation == "Sigmoid" and not has_other_half(head):
        divided = any(is_normalized(c) or c.type in ENTROPIES for t in (head.end, head.op)
                      for c in through(t.outputs[0]))
        follows = "the loss divides them by it, and trains their ratios alone" if divided else "all at 1 is best"
        yield finding(44 if divided and case.learns else 69, "sigmoid over classes", head.op, f"{one_of}, but the last "
                      f"layer is the {squashed}: its outputs do not share a sum of 1: {follows}", remedy)
    elif head.form == "log" and head.activation == "Softmax" and has_other_half(head):
        yield finding(44, "binary cross entropy of classes", head.op, f"{one_of}, but the loss is that of {columns} "
                      f"questions of yes and no, y log(p) + (1 - y) log(1 - p), of the {squashed}, whose outputs "
                      "depend on each other: its mean is small from the start, and so is its slope", remedy)
    elif (head.form == "sigmoid" or head.form == "log" and head.activation == "Sigmoid") and not case.learns:
        yield finding(44, "binary cross entropy of classes", head.op, f"{one_of}, but the loss is that of {columns} "
                      f"questions of yes and no, {case.last_loss:.3g} after {len(case.steps)} steps, where no for "
                      f"everything has {case.guess:.3g}", remedy)


def several_of(head: Head, case: Case) -> int:
    """How many columns of yes and no the labels have, of which as many are yes as may be; 0 for any other labels."""
    is_given = head.labels is not None and source_of_labels(head.labels) is not None
    labels = batches_of(case, head.labels) if is_given and head.labels is not None else []
    if not labels or any(a.ndim < 2 or not np.isin(a, (0, 1)).all() for a in labels):
        return 0
    counts = np.concatenate([a.sum(axis=-1).ravel() for a in labels])
    return int(labels[0].shape[-1]) if np.mean(counts > 1) > _SEVERAL else 0


def _one_for_several(head: Head, count: int, case: Case) -> Iterator[Finding]:
    """A softmax, which gives one class for each example, where labels say yes to several."""
    is_softmax = head.form == "softmax" or head.form != "sparse" and head.activation == "Softmax"
    if not is_softmax or not case.steps or not (count := several_of(head, case)):
        return
    told = finding(69, "one class for several", head.op, f"the labels are {count} answers of yes and no, several of "
                  f"which are yes in one example, but {head.op.name}{at_line(place_of(head.op))} compares them with a "
                  "softmax, whose outputs share a sum of 1: yes to one is no to the others", "end in a sigmoid for "
                  "each: give the logits to tf.nn.sigmoid_cross_entropy_with_logits; in Keras \"sigmoid\" and "
                  "\"binary_crossentropy\"", confidence="certain")
    is_binary = head.form == "log" and has_other_half(head)
    yield replace(told, place=place_of(head.end) or told.place) if is_binary else told


def _squared(head: Head, count: int, case: Case) -> Iterator[Finding]:
    """A squared error of classes; of a softmax it is told as its own kind."""
    if head.form not in ("squared", "absolute") or head.activation not in ("", "Sigmoid", "Relu", "Tanh"):
        return
    what = f"the {head.activation.lower()} {head.end.name}" if head.activation else f"{head.end.name}, of no activation"
    flat = (": where the sigmoid is sure of a wrong class its slope is almost 0" if head.activation == "Sigmoid" else
            ", which is no probability: what is right beyond 1 costs as much as what is wrong")
    told = (f"; one answer to everything costs {case.guess:.3g}, and the loss is {case.last_loss:.3g} after "
            f"{len(case.steps)} steps" if np.isfinite(case.guess) else "")
    name = "softmax" if count > 2 or (head.prediction.dims or (1,))[-1] != 1 else "sigmoid"
    source = logits_of(head.end).name if head.activation else head.prediction.name
    is_number = not head.activation and (head.prediction.dims or (1,))[-1] == 1  # a regression of 0 and 1 may be meant
    is_harmless = case.learns or is_number or len(case.steps) < _TRAINED or not np.isfinite(case.guess)
    yield finding(37 if is_harmless else 44, "squared error of classes", head.op, f"the labels are {count} "
                  f"classes, but {head.op.name} is the {head.form} error of {what}{at_line(place_of(head.end))}{flat}"
                  f"{told}", f"give {source} to tf.nn.{name}_cross_entropy_with_logits{'_v2' * (name == 'softmax')}")


def _narrow(head: Head, count: int, case: Case) -> Iterator[Finding]:
    """A hidden layer of fewer units than tell the classes apart."""
    if head.form not in ("softmax", "sparse", "log"):
        return
    for op in [o for o in ancestors([head.prediction]) if o.type == "MatMul" and o.inputs[0].op.inputs]:
        is_bent = len(op.inputs[0].op.inputs) == 1  # by an activation
        below = linear_source(op.inputs[0].op.inputs[0] if is_bent else op.inputs[0], case)
        kernel = held(below.inputs[1]) if below is not None else op
        units = (kernel.attrs.get("shape") or (0,))[-1] or 0
        if below is not None and 0 < units < (np.log2(count) if is_bent else 1 + (count > 2)):
            yield finding(38 if case.learns else 66, "layer too narrow", below, f"{kernel.name} has {units} unit"
                          f"{'s' * (units > 1)}, through which all goes that tells {count} classes apart"
                          + f": with a relu or a sigmoid, {2 ** units} answers" * is_bent,
                          f"{2 * count} units or more in hidden layers", target=f"{kernel.name}:0")
            return


def _weighed_late(head: Head, count: int, case: Case) -> Iterator[Finding]:
    """Weights of examples that multiply the mean of their losses, not the loss of each."""
    means = [c for c in through(head.op.outputs[0]) if c.type in ("Mean", "Sum") and c.outputs[0].dims == ()]
    for mean, taker in [(m, c) for m in means for c in through(m.outputs[0]) if c.type == "Mul" and c in case.behind]:
        weights = next((unbroadcast(t) for t in taker.inputs if t.op not in case.trained), mean.inputs[0])
        values = case.series(weights)[:1] if fed_behind([weights]) else []
        if values and np.shape(values[0]) == np.shape(case.series(mean.inputs[0])[0]) and np.ptp(values[0]) > 0:
            yield finding(66, "weights on a mean", taker, f"{taker.name} multiplies {mean.name}, one number for all "
                          f"{np.size(values[0])} examples{at_line(place_of(mean))}, by the weights {weights.name} of "
                          "each: all examples count alike, and only the size of steps changes", "weigh before the mean:"
                          " tf.reduce_mean(weights * losses)", target=mean.outputs[0].name, confidence="certain")
            return


def _smoothed_away(head: Head, count: int, case: Case) -> Iterator[Finding]:
    """Labels that are hardly larger for the right class than for the others."""
    given = head.labels
    if given is None or given.op in case.trained or not case.steps or not (labels := case.series(given)[:1]):
        return
    values = np.unique(np.round(labels[0], 5))
    gap = float(np.ptp(values)) if len(values) == 2 else 0.0
    if 0 < gap < _CLEAR and (np.allclose(labels[0].sum(axis=-1), 1, atol=1e-3) or abs(values.sum() - 1) < 1e-3):
        yield finding(57, "labels smoothed away", head.op, f"the labels {given.name} are {values[1]:.3g} for the "
                      f"right class and {values[0]:.3g} for any other, a label smoothing of {1 - gap:.2g}: they hardly "
                      "say which class is right", "label_smoothing=0.1 is usual: the share that is taken from the "
                      "right class, not what is left to it", target=given.name, confidence="certain")


def residual_mistakes(case: Case) -> list[Finding]:
    """Findings about differences of predictions and labels, and of products of them."""
    found: list[Finding] = []
    for op in case.behind:
        for rule in (_not_squared, averaged_first, _hinge_of_zeros, _no_logarithm):
            found += rule(op, case)
    return found + [f for head in heads(case) for f in _not_one_hot(head, case)][:1]


def _not_squared(op: Operation, case: Case) -> Iterator[Finding]:
    """A residual whose mean is minimized as it is: all ways from it to y only sum, scale and shift it.

    None where labels are met before: a cross entropy less the entropy of its labels, say, is never below 0.
    """
    if not is_residual(op, case) or not ancestors([*op.inputs]).isdisjoint(head.op for head in heads(case)):
        return
    at = op
    while at is not case.y.op:
        at, *others = [c for c in at.outputs[0]._consumers if c in case.behind] or [op, op]  # only its slopes count
        if others or at.type not in _LINEAR and not (
                at.type in _BY_CONSTANTS and any(constant(t) is not None for t in at.inputs)):
            return
    yield finding(98, "error not squared", op, f"{case.y.name} is the mean of {op.name}, predictions less labels, "
                  "which is neither squared nor taken absolute: errors of both signs cancel, and it falls without "
                  f"end as all predictions go one way: from {case.first_loss:.4g} to {case.last_loss:.4g}",
                  "tf.reduce_mean(tf.square(prediction - labels))", confidence="certain")


def _hinge_of_zeros(op: Operation, case: Case) -> Iterator[Finding]:
    """A hinge, max(0, 1 - y f), of labels that are 0 and 1."""
    if op.type not in ("Maximum", "Relu") or op not in case.trained:
        return
    product = next((unbroadcast(t.op.inputs[1]).op for t in op.inputs if t.op.type == "Sub"
                    and constant(unbroadcast(t.op.inputs[0])) is not None), op)
    labels = next((t for t in product.inputs if t.op not in case.trained and fed_behind([t])), None)
    labels = labels if product.type == "Mul" else None
    fed = case.series(labels) if labels is not None else []
    if labels is not None and fed and np.array_equal(np.unique(np.concatenate([np.ravel(v) for v in fed])), (0, 1)):
        yield finding(72, "hinge of labels 0 and 1", op, f"{op.name} is the hinge of a margin {product.name}, label "
                      f"times score, but the labels {labels.name} are 0 and 1: those of class 0 make it 0 whatever the "
                      "score is, and teach nothing", "labels of -1 and 1: 2 * y - 1; tf.losses.hinge_loss does so",
                      confidence="certain")


def _no_logarithm(op: Operation, case: Case) -> Iterator[Finding]:
    """The probability of the right class, where its logarithm is meant."""
    source, given = gathered(op, case)
    pairs = [(source.outputs[0], given)] if given is not None else [op.inputs, op.inputs[::-1]]
    for p, labels in pairs if case.steps and (op.type == "Mul" or given is not None) else ():
        end = last_layer(p)
        if end.type in ("Softmax", "Sigmoid") and end in case.trained and signs_of(op, case) == {-1} and classes_in(
                Head("log" if given is None else "sparse", op, p, unbroadcast(labels), end), case):
            yield finding(57, "no logarithm", op, f"{op.name} picks the probability of the right class of {end.name}"
                          f"{at_line(place_of(end))}, and {case.y.name} is less that, not less its logarithm: where "
                          "the right class is all but ruled out there is hardly a slope, so the worst examples teach "
                          "least", f"give {logits_of(end).name} to a cross entropy that takes the {end.type.lower()} "
                          "itself, or tf.log of the probability")
            return


def _not_one_hot(head: Head, case: Case) -> Iterator[Finding]:
    """Numbers of classes in one column, compared with a column for each class."""
    op, labels, prediction = head.op, head.labels, head.prediction
    wide, dims = (prediction.dims or (None,))[-1] or 0, labels.dims if labels is not None else None
    if labels is None or labels.op in case.trained or not case.steps or op.type in ENTROPIES or wide < _KINDS or (
            not dims or dims[-1] != 1 or len(dims) != len(prediction.dims or ())):
        return
    batches = batches_of(case, labels)
    values = np.unique(np.concatenate([np.ravel(b) for b in batches])) if batches else np.zeros(0)
    if len(values) < _KINDS or values.dtype.kind not in "iuf" or (values != np.round(values)).any() or not (
            0 <= values.min() and values.max() <= wide):
        return
    yield finding(88, "labels not one-hot", op, f"{labels.name} has one column of whole numbers, {values.min():g} to "
                  f"{values.max():g}, and {prediction.name} has {wide} columns, one for each class: the number is "
                  f"broadcast to all of them, so every output of an example is pulled to the same value",
                  f"tf.one_hot(labels, {wide}), or tf.nn.sparse_softmax_cross_entropy_with_logits, which takes the "
                  "numbers", confidence="certain")
