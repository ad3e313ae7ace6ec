"""A softmax whose sum runs over the examples of a batch, also one written by hand."""
from __future__ import annotations

from .....core.constant_value import static_value
from .....core.graph import Operation, Tensor
from .....core.traversal import ancestors, users_of
from ....facts.roles import LAYERS, PLACEHOLDERS, SOFTMAXES
from ...findings import Finding
from ..case import Case, finding
from ..heads import SAME, same_exponential, unbroadcast
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
