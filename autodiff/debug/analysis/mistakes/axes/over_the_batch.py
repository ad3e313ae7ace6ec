"""A softmax over the wrong axis, also one written by hand: over the examples of a batch, or over a single element."""
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .....core.constant_value import static_value
from .....core.graph import Operation, Tensor
from .....core.traversal import ancestors, users_of
from ....facts.roles import LAYERS, PLACEHOLDERS, SOFTMAXES
from ...findings import Finding
from ..case import Case, finding
from ..heads import ENTROPIES, SAME, divided_by, heads, same_exponential, unbroadcast
from ..pairing import batches_of
from ..units import shape_of
from .mixed import with_loss
from .of_examples import axis_of_examples, axis_summed


def _over_the_first(op: Operation) -> tuple[Tensor, str] | None:
    """What a softmax, or one by hand, is taken of, and over what, where its sum runs over axis 0; None for others."""
    source: Tensor | None = None
    what = "axis 0, the examples: its columns sum to 1, its rows do not"
    if op.type in SOFTMAXES and op.inputs[0].op.type == "Transpose":
        moved = op.inputs[0].op
        order = static_value(moved.inputs[1])
        if order is not None and len(order) > 1 and int(order[-1]) == 0:
            source = moved.inputs[0]
    elif op.type == "RealDiv" and op.inputs[0].op.type == "Exp":
        total = unbroadcast(op.inputs[1]).op
        axes = static_value(total.inputs[1]) if total.type == "Sum" else None
        rank = None if op.inputs[0].dims is None else len(op.inputs[0].dims)
        if axes is not None and same_exponential(total.inputs[0].op, op.inputs[0].op) and rank and rank > 1 and \
                0 in (over := {int(a) % rank for a in axes.reshape(-1)}):
            source = op.inputs[0].op.inputs[0]
            what = what if over == {0} else "all examples together: their whole table sums to 1, not each row"
    return None if source is None or axis_summed(op) == 0 else (source, what)  # over the places that it weighs


def over_the_batch(op: Operation) -> list[Finding]:
    """A softmax whose sum runs over the examples of a batch: each column sums to 1, and no row."""
    source, what = _over_the_first(op) or (None, "")
    if source is None or source.dims is None or not _is_batch(source) or source.dims[0] == source.dims[-1]:
        return []  # of a table of all pairs both axes are examples
    axis = 1 if source.dims[-1] == 1 else -1  # of scores, one for each place
    weighs = _weighs(op)
    along = "places" if axis > 0 else "keys, which it weighs" if weighs else "classes"
    remedy = f"take it over the {along}: tf.nn.softmax({'logits' if along == 'classes' else 'scores'}, axis={axis})"
    return [finding(69, "softmax over the batch", op, f"the softmax of {source.name} is over {what}, so one example's "
                    f"{'weights' if weighs else 'probabilities'} depend on the others", remedy,
                    confidence="certain" if len(source.dims) == 2 and axis < 0 else "probable")]


def _weighs(op: Operation) -> bool:
    """Whether shares are what others are weighed by, as of an attention, and no answer."""
    takers = users_of(op)
    for taker in takers:
        takers += [c for c in users_of(taker) if c not in takers] if taker.type in (*SAME, "Transpose") else []
    return any(c.gradient_of is None and c.type in (*LAYERS, "Mul") for c in takers)


def _is_batch(tensor: Tensor) -> bool:
    """Whether axis 0 of a tensor counts examples: its size is left open, or that of something fed."""
    assert tensor.dims is not None
    return tensor.dims[0] is None or any(
        op.type in PLACEHOLDERS and op.outputs[0].dims and len(op.outputs[0].dims) > 1
        and op.outputs[0].dims[0] == tensor.dims[0] for op in ancestors([tensor]))


def is_over_others(finding: Finding, case: Case) -> bool:
    """Whether a softmax over axis 0 is over something else than the examples, as over steps of time, or may be."""
    over = _over_the_first(case.graph.operations[finding.op]) if finding.op in case.graph.operations else None
    return over is not None and bool(with_loss(case)) and axis_of_examples(over[0], case) != 0


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
