"""What metrics are of: predictions that are never whole, targets of a regression, numbers of classes; targets that are
missing, which a mask leaves out of a metric, but the loss counts; labels in another order, or of no weight."""
from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors, past
from ...facts.roles import at_line, place_of
from ..findings import Finding
from .case import Case, fed_behind, finding
from .heads import Head, comes_of_data, constant, heads, last_layer, through, unbroadcast, weights_of
from .last_layer import CLASSES
from .pairing import classes_of

_WHOLE = ("Greater", "GreaterEqual", "Round", "Rint", "ArgMax")
_DROPPED = 3  # classes that no training leaves out as padding, or as what is not known
_MANY, _RARELY = 0.3, 0.02  # shares: of targets that are missing; of known ones that are what stands for missing
_REDUCTIONS = ("Mean", "Sum", "L2Loss")
_LAST = 3  # runs that do not train which are looked at
_NEVER_WHOLE = ("Softmax", "Sigmoid", "Tanh", "MatMul", "BiasAdd", "Add", "AddV2")


def comparison_mistakes(case: Case) -> list[Finding]:
    """Findings about what asks whether predictions equal labels, and about means of the answers."""
    return [found for op in case.operations for found in (
        *(_compared(op, case) if op.type == "Equal" and op.inputs[0].dtype.is_floating else ()),
        *_mean_of_integers(op, case))]


def _mean_of_integers(op: Operation, case: Case) -> Iterator[Finding]:
    """The mean of integers is an integer: of hits and misses 0."""
    if op.type != "Mean" or not op.inputs[0].dtype.is_integer:
        return
    source = op.inputs[0].op
    if source.type == "Cast" and source.inputs[0].dtype.name == "bool":
        yield finding(62, "mean of integers", op, f"{op.name} is the mean of {op.inputs[0].dtype.name}s, which is "
                      f"rounded down to an integer: a share of hits below 1 becomes 0 ({source.name} casts them"
                      f"{at_line(place_of(source))})", "tf.cast(correct, tf.float32) before the mean",
                      confidence="certain")


def _compared(op: Operation, case: Case) -> Iterator[Finding]:
    said = next((t for t in op.inputs if t.op in case.trained and last_layer(t).type in _NEVER_WHOLE), None)
    fed = next((t for t in op.inputs if t is not said and t.op not in case.trained and fed_behind([t])), None)
    if said is not None and fed is not None:
        yield finding(60, "floats compared", op, f"{op.name} asks whether {said.name}, of the type {said.dtype.name}, "
                      "is equal to the labels to the last bit: it hardly ever is, so an accuracy made of it is 0 "
                      "however good the model is", "compare classes: tf.argmax(x, 1) of both, or tf.round(p) or p > "
                      "0.5 for two")
    elif fed is not None and any(last_layer(t).type in _WHOLE for t in op.inputs):
        head = next((each for each in heads(case) if each.form in ("squared", "absolute") and each.labels is not None
                     and fed_behind([fed]) == fed_behind([each.labels])), None)
        known = case.series(fed) if head is not None else []
        if head is not None and known:
            yield from _of_a_regression(op, head, np.concatenate([np.ravel(v) for v in known]), fed.name)


def _of_a_regression(op: Operation, head: Head, targets: np.ndarray, name: str) -> Iterator[Finding]:
    """An accuracy beside a squared or absolute error: of targets that are not whole, or of the numbers of classes."""
    share, numbers = float(np.mean(targets != np.round(targets))), np.unique(targets)
    if share > 0.5 and len(numbers) > 1:
        yield finding(41, "accuracy of a regression", op, f"{op.name} compares whole numbers with {name}, but "
                      f"{share:.0%} of these targets are not whole: its mean stays near 0 for the best model too",
                      'measure the error: tf.abs(x - y), or in Keras metrics=["mae"]', confidence="certain")
    elif share == 0 and 2 < len(numbers) <= CLASSES and (head.prediction.dims or (0,))[-1] == 1:
        yield finding(44, "class numbers", head.op, f"the labels {name} are the numbers {numbers[0]:g} to "
                      f"{numbers[-1]:g} of {len(numbers)} classes, of which an accuracy is asked ({op.name}), but "
                      f"{head.op.name} is the {head.form} error of one output, {head.end.name}"
                      f"{at_line(place_of(head.end))}: a class counts as the farther from another the more their "
                      f"numbers differ", f"one output for each of {len(numbers)} classes, a softmax, and a sparse "
                      "categorical cross entropy")


class Masked(NamedTuple):
    """Where a metric weighs errors by a mask: the product, and which of its inputs is the mask."""

    product: Operation
    place: int

    @property
    def mask(self) -> Tensor:
        """What it weighs by."""
        return self.product.inputs[self.place]


def missing_mistakes(case: Case) -> list[Finding]:
    """Findings about targets that are missing, or of other places, or that do not count."""
    return [found for head in (heads(case) if case.steps else ()) if head.labels is not None
            and head.labels.op not in case.trained
            for rule in (_in_other_order, _classes_dropped if weights_of(head, case) else _counted)
            for found in rule(head, head.labels, case)][:1]


def _counted(head: Head, labels: Tensor, case: Case) -> Iterator[Finding]:
    """Targets that are all the same wherever a metric leaves them out, and count in the loss."""
    for masked in masks_beside(head, labels, case):
        pairs = _values(masked.mask, labels, case)
        known, y = (np.concatenate([np.ravel(each[i]) for each in pairs] or [np.zeros(0)]) for i in (0, 1))
        out = known == 0
        if not out.size or not _MANY < np.mean(out) < 1 or np.ptp(y[out]) or not np.ptp(y[~out]) or (
                np.mean(y[~out] == y[out][0]) > _RARELY):
            continue
        at, metric = reduction_of(head, case) or head.op, masked.product
        yield finding(64, "missing counts", at, f"{np.mean(out):.0%} of the targets {labels.name} are {y[out][0]:g}, "
                      f"all that {unbroadcast(masked.mask).name} leaves out of {metric.name}"
                      f"{at_line(place_of(metric))}, as what is not known; but {at.name} counts them too: what is "
                      f"learnt is to say {y[out][0]:g}", "weigh the errors as the metric does, and divide by the count "
                      "of those known: tf.reduce_sum(mask * error) / tf.reduce_sum(mask)", target=masked.mask.name,
                      confidence="certain")
        return


def masks_beside(head: Head, labels: Tensor, case: Case) -> Iterator[Masked]:
    """Where something else than the loss weighs errors of the same predictions and labels by what is given."""
    behind = set(case.behind)
    for op in case.operations:
        if op.type == "Mul" and op not in behind and op in case.trained:
            for place, (mask, error) in enumerate((op.inputs, op.inputs[::-1])):
                if mask.op not in case.trained and mask.op not in behind and constant(mask) is None and comes_of_data(
                        [mask]) and {head.prediction.op, labels.op} <= ancestors([error]):
                    yield Masked(op, place)


def reduction_of(head: Head, case: Case) -> Operation | None:
    """What makes one number of the errors of a head; None if they go elsewhere too."""
    found = [op for op in (head.op, *through(head.op.outputs[0])) if op.type in _REDUCTIONS and op.outputs[0].dims == ()
             and op in case.behind]
    return found[0] if len(found) == 1 else None


def _values(mask: Tensor, labels: Tensor, case: Case) -> list[tuple[np.ndarray, np.ndarray]]:
    """Mask and labels of the same shape, in training runs or others that have both."""
    case.want(mask, labels)
    runs = [*case.looked, *[run for run in case.runs if not run.trains][-_LAST:]]
    seen = [{**case.values(run), **run.feeds} for run in runs]
    pairs = [(np.asarray(values[mask], float), np.asarray(values[labels], float)) for values in seen
             if mask in values and labels in values]
    return [(m, y) for m, y in pairs if m.shape == y.shape]


def _in_other_order(head: Head, given: Tensor, case: Case) -> Iterator[Finding]:
    """Scores of places flattened by another axis first than their labels are."""
    scores, given = (past(t, ("Identity", "Cast", "Reshape")) for t in (head.prediction, given))
    flat = next((op for op in case.behind if op.type == "Reshape" and past(op.inputs[0], ("Identity", "Cast"))
                 is scores), head.op)
    sizes = [np.shape(values[0]) for t in (scores, given) if (values := case.series(t)[:1])]
    if len(sizes) < 2 or len(sizes[0]) != 3:
        return
    (a, b, classes), labels = sizes
    if a != b and labels == (b, a):
        yield finding(74, "flattened in another order", flat, f"{flat.name} makes {a * b} rows of scores of [{a}, {b}, "
                      f"{classes}], but the labels of {head.op.name}, {given.name}, were [{b}, {a}]: each row is held "
                      f"against the label of another place; {case.went}", "give both the same order of axes before they"
                      " are flattened: transpose both, or neither", target=given.name, confidence="certain")


def _classes_dropped(head: Head, given: Tensor, case: Case) -> Iterator[Finding]:
    """Weights of classes that are 0 for most of them, and of what there is."""
    for weights in weights_of(head, case):
        seen = zip(case.series(weights), case.series(given))
        pairs = [(np.ravel(w), c) for w, y in seen if (c := classes_of(
            np.ravel(y) if np.size(y) == np.size(w) else y)) is not None and c.size == np.size(w)]
        w, y = (np.concatenate(each) for each in zip(*pairs)) if pairs else (np.zeros(0), np.zeros(0))
        of = {k: w[y == k] for k in np.unique(y)}
        dropped = [k for k, each in of.items() if not each.any()]
        if len(dropped) >= _DROPPED and len(dropped) > len(of) / 2 and np.mean(w == 0) > 0.5 and not any(
                map(np.ptp, of.values())) and len(dropped) < len(of) - 1:
            yield finding(71, "classes of no weight", head.op, f"{weights.name} weighs {len(dropped)} of the {len(of)} "
                          f"classes that there are, such as {dropped[0]}, with 0: {np.mean(w == 0):.0%} of the examples"
                          " count for nothing, and what is said of them is never learnt", "a weight above 0 for each "
                          "class that is to be told: n / (classes * count)", target=weights.name)
