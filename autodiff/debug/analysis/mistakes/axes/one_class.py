"""Shares of one element, which are all 1: a softmax, also one written by hand, over an axis of length 1."""
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .....core.constant_value import static_value
from .....core.graph import Operation
from .....core.traversal import ancestors
from ...findings import Finding
from ..case import Case, finding
from ..heads import ENTROPIES, divided_by, heads
from ..pairing import batches_of
from ..units import shape_of
from .of_examples import axis_of_examples, axis_summed


def one_class(op: Operation, case: Case) -> Iterator[Finding]:
    """A softmax over a single element, also one written by hand, or a division by the sum or mean of one."""
    if op.type not in ("Softmax", "LogSoftmax", "RealDiv", *ENTROPIES) or op not in case.trained or not lone_axes(op):
        return
    total, dims = divided_by(op), op.inputs[0].dims or ()
    what = "is a softmax" if total is None else (
        f"divides {op.inputs[0].name} of shape {shape_of(dims)} by its {total.type.lower()}"
        + ", as a softmax does," * (op.inputs[0].op.type == "Exp"))
    is_number = any(np.any((y < 0) | (y > 1)) for head in heads(case) if head.end is op and head.labels is not None
                    and case.steps for y in batches_of(case, head.labels))
    is_trained = op in case.behind or op in ancestors([y for call in case.calls for y in call.ys])
    if not is_trained and (any(each.type == op.type and each.site == op.site for each in case.behind) or any(
            head.op.type in ENTROPIES and head.prediction is op.inputs[0] for head in heads(case))):
        return  # the same once more, as of an evaluation, or of what a loss takes as logits
    fix = "leave it out: the last layer of a regression has no activation" if is_number else (
        "use tf.sigmoid, or tf.nn.sigmoid_cross_entropy_with_logits, for a single output; or give it one column for "
        "each class")
    if (axis := axis_of_places(op, case)) is not None:
        how = f"tf.nn.softmax(x, axis={axis})" if total is None else f"axis={axis}"
        fix = f"take it over axis {axis}, which has {dims[axis] or 'the'} places that it is to weigh: {how}"
    yield finding(92 if is_trained else 60, "one class", op, f"{op.name} ({op.type}) {what} over one element, which "
                  "makes it 1 whatever it was: no gradient comes through", fix, confidence="certain")


def lone_axes(op: Operation) -> tuple[int, ...]:
    """The axes over which a softmax, or a division by a sum or mean, is, if all have length 1; () for others."""
    dims, total = op.inputs[0].dims or (), divided_by(op)
    axes = static_value(total.inputs[1]) if total is not None else None if op.type == "RealDiv" else np.array(-1)
    places = tuple(int(a) % len(dims) for a in np.ravel(axes)) if dims and axes is not None else ()
    return places if all(dims[i] == 1 for i in places) else ()


def axis_of_places(op: Operation, case: Case) -> int | None:
    """The axis that weights of one element each are meant to be over, as of steps; None where they are the answer.

    It is the one over which what they weigh is summed; else the last of several places, but for that of the examples.
    """
    dims, summed = op.inputs[0].dims or (), axis_summed(op)
    if op.type not in ("Softmax", "RealDiv") or any(op in (head.end, head.op) and len(
            head.prediction.dims or dims) >= len(dims) for head in heads(case)):
        return None
    examples = axis_of_examples(op.inputs[0], case) or 0 if summed is None else 0
    return summed if summed is not None else next((
        i for i in range(len(dims) - 1, -1, -1) if dims[i] != 1 and i != examples), None)
