"""Residuals: predictions less labels that are not squared, or averaged first; labels that no loss of theirs fits."""
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ....core.graph import Operation
from ...facts.roles import at_line, place_of
from ..findings import Finding
from .case import Case, fed_behind, finding
from .classes import classes_in
from .heads import ENTROPIES, SAME, Head, constant, gathered, heads, last_layer, unbroadcast
from .last_layer import logits_of
from .pairing import batches_of
from .signs import signs_into

_LINEAR, _BY_CONSTANTS = ("Sum", "Mean", "Neg", *SAME), ("Mul", "RealDiv", "Add", "AddV2", "Sub")
_KINDS = 3  # different whole numbers from which on they are classes


def residual_mistakes(case: Case) -> list[Finding]:
    """Findings about differences of predictions and labels, and of products of them."""
    found: list[Finding] = []
    for op in case.behind:
        for rule in (_not_squared, _averaged_first, _hinge_of_zeros, _no_logarithm):
            found += rule(op, case)
    return found + [f for head in heads(case) for f in _not_one_hot(head, case)][:1]


def _is_residual(op: Operation, case: Case) -> bool:
    """Whether an op is a prediction less what was fed for it, example by example."""
    if op.type != "Sub" or op not in case.trained or not op.outputs[0].dims:
        return False
    trained = [t.op in case.trained for t in op.inputs]
    return sum(trained) == 1 and bool(fed_behind([op.inputs[trained.index(False)]]))


def _not_squared(op: Operation, case: Case) -> Iterator[Finding]:
    """A residual whose mean is minimized as it is: all ways from it to y only sum, scale and shift it."""
    if not _is_residual(op, case):
        return
    at = op
    while at is not case.y.op and (takers := [c for c in at.outputs[0]._consumers if c in case.behind]):
        at = takers[0]
        if len(takers) > 1 or at.type not in _LINEAR and not (
                at.type in _BY_CONSTANTS and any(constant(t) is not None for t in at.inputs)):
            return
    yield finding(98, "error not squared", op, f"{case.y.name} is the mean of {op.name}, predictions less labels, "
                  "which is neither squared nor taken absolute: errors of both signs cancel, and it falls without "
                  f"end as all predictions go one way: from {case.first_loss:.4g} to {case.last_loss:.4g}",
                  "tf.reduce_mean(tf.square(prediction - labels))", confidence="certain")


def _averaged_first(op: Operation, case: Case) -> Iterator[Finding]:
    """The square of a mean, where the mean of squares is meant."""
    is_square = op.type in ("Square", "Abs", "L2Loss") or op.type == "Pow" and constant(op.inputs[1]) is not None or (
        op.type == "Mul" and op.inputs[0] is op.inputs[1])
    mean = op.inputs[0].op if is_square and op.inputs else op
    if mean.type in ("Mean", "Sum") and mean.outputs[0].dims == () and _is_residual(mean.inputs[0].op, case):
        yield finding(73, "mean before square", op, f"{op.name} takes the {op.type.lower()} of {mean.name}"
                      f"{at_line(place_of(mean))}, the mean of all residuals: errors of both signs cancel in it, so it "
                      "is 0 for what is right on average alone", "tf.reduce_mean(tf.square(prediction - labels))",
                      confidence="certain")


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
        if end.type in ("Softmax", "Sigmoid") and end in case.trained and classes_in(
                Head("log" if given is None else "sparse", op, p, unbroadcast(labels), end), case) and {
                sign for sign, _ in signs_into(op.outputs[0], case.y, case.behind)} == {-1}:
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
