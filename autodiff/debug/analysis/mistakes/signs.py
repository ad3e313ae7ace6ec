"""Signs: whether a loss grows or falls with a tensor, as the ops between them tell."""
from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from ....core.constant_value import static_value
from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors, descendants, in_order, past, users_of
from ...facts.roles import PLACEHOLDERS, SOFTMAXES, place_of
from ..findings import Finding
from .case import SHAPES, Case, finding
from .heads import SAME, is_log_softmax, last_layer

_PARTS, _DIAGONALS = ("MatrixDiagPart", "DiagPart"), ("MatrixDiag", "MatrixSetDiag", "Diag")  # what belongs together
_STAYS = (*SAME, *_PARTS, "Sum", "Mean", "GatherNd", "GatherV2", "Transpose", "StridedSlice", "Max", "Min", "Add",
          "AddV2", "AddN", "Select", "SelectV2", "Pack", "Sqrt", "ConcatV2")
HINGES = ("Maximum", "Relu", "Softplus")
_SCALES = ("Mul", "RealDiv", "DivNoNan")
NEVER_NEGATIVE = ("OneHot", "Softmax", "Sigmoid", "Exp", "Square", "Abs", "Size", "Shape", "Prod", "Greater", "Less",
                   "Equal", "NotEqual", "Maximum")
_MOST_PATHS = 10_000  # ops that are followed


def signs_into(start: Tensor, y: Tensor, behind: Collection[Operation], *, fed: int = 1,
               growing: Collection[str] = ()) -> set[tuple[int, bool]]:
    """With which signs a tensor goes into y, 0 where that cannot be told; and whether labels picked of it.

    fed: the sign of what is fed, 1 for labels and counts, 0 where it may be anything. growing: ops that
    never fall, through which it is followed too.
    """
    ends: set[tuple[int, bool]] = set()
    seen: set[tuple[Tensor, int, bool]] = set()
    stack = [(start, 1, False)]
    while stack and len(seen) < _MOST_PATHS:
        tensor, sign, picked = at = stack.pop()
        if not sign:
            return {(0, picked)}  # which no other path makes known
        if at in seen:
            continue
        seen.add(at)
        if tensor is y:
            ends.add((sign, picked))
            continue
        stack += [(op.outputs[0], sign * (int(op.type in growing) or sign_through(op, tensor, fed)),
                   picked or picks(op, tensor)) for op in tensor._consumers
                  if op in behind and op.outputs and op.type not in SHAPES]
    return ends


def signs_of(op: Operation, case: Case, *, fed: int = 1) -> set[int]:
    """With which signs an op's output goes into y, 0 where that cannot be told. fed: as of signs_into."""
    return {sign for sign, _ in signs_into(op.outputs[0], case.y, case.behind, fed=fed)}


def is_squared(op: Operation) -> bool:
    """Whether an op gives the square of its first operand."""
    return op.type == "Square" or op.type == "Mul" and op.inputs[0] is op.inputs[1] or (
        op.type == "Pow" and bool(np.all(static_value(op.inputs[1]) == 2)))


def wrong_sign(y: Tensor, behind: set[Operation]) -> list[Finding]:
    """A log-likelihood that is minimized as it is: the loss falls without bound, away from what is right."""
    found = []
    for op in in_order(behind):
        squashed = _picked_of(last_layer(op.inputs[0])) if op.type == "Log" else op
        if op.type == "Log" and any(last_layer(t) is squashed for c in users_of(op) if c.type == "Mul" for t in c.inputs
                                    if t is not op.outputs[0]):
            continue  # an entropy, which a policy may be held near to
        if squashed.type in (*SOFTMAXES, "Sigmoid") or is_log_softmax(op):
            picked = op.type == "Log" and _picks_above(op)
            ends = {(sign, p or picked) for sign, p in signs_into(op.outputs[0], y, behind)}
            if (1, True) in ends <= {(1, True), (1, False)}:  # an entropy bonus grows with it as well, unpicked
                is_weighed = op.type == "Log" and squashed is not last_layer(op.inputs[0]) and {
                    sign for sign, _ in signs_into(op.outputs[0], y, behind, fed=0)} != {1}
                weight = ", wherever what it is multiplied by is above 0, as what the model did well is" * is_weighed
                remedy, is_earned = "drop or add one minus on the way", picked or _picks_below(op, behind)
                is_earned &= {sign for sign, _ in signs_into(op.outputs[0], y, behind, fed=0)} != {1}
                if is_earned and not is_weighed:
                    weight, remedy = (", and where that is multiplied by a return or an advantage, the expected return "
                                      "falls", f"{remedy}; of costs in place of returns it is right")
                said = finding(58 if is_weighed else 102, "wrong sign", op, f"{y.name} grows with {op.outputs[0].name},"
                               " the logarithm of a probability: to minimize it makes what is right less likely, "
                               f"without end{weight}", f"minimize the negative log-likelihood: {remedy}",
                               confidence="certain" if is_earned else "probable")  # no step shows what is to be earned
                found.append(replace(said, place=place_of(_last_sign(op, y, behind))))
    return found[:1]


def _picked_of(op: Operation) -> Operation:
    """The layer that something else than a constant chose elements of; the op itself where it does not choose."""
    return last_layer(op.inputs[0]) if _chooses(op) else op


def _chooses(op: Operation) -> bool:
    return op.type in ("GatherNd", "GatherV2", "StridedSlice") and static_value(op.inputs[1]) is None


def _picks_above(log: Operation) -> bool:
    """Whether a logarithm is of what labels have picked already."""
    above = ancestors(log.inputs)
    return any(op.type in ("GatherNd", "GatherV2") or _chooses(op) for op in above) or any(
        op.type == "Mul" and any(picks(op, t) for t in op.inputs) for op in above)


def _picks_below(log: Operation, behind: Collection[Operation]) -> bool:
    """Whether indices pick of a logarithm, as those of what was done."""
    return any(op.type in ("GatherNd", "GatherV2") or op.type == "Mul" and any(source_of(t).type == "OneHot" for t in
               op.inputs) for op in descendants(log.outputs).intersection(behind))


def _last_sign(op: Operation, y: Tensor, behind: set[Operation]) -> Operation:
    """The op nearest to the end that turns the sign on the way from a likelihood, else where its part of the loss is
    made."""
    turned = y.op
    while turned.type in ("Add", "AddV2", "AddN", "Sub", "Identity") and len(ways := [
            t.op for t in turned.inputs if op in ancestors([t])]) == 1 and ways[0] is not op:
        turned = ways[0]
    level = [op]
    for _ in range(20):
        level = list(dict.fromkeys(c for o in level for t in o.outputs for c in t._consumers if c in behind))
        turned = next((o for o in level if o.type == "Neg"), turned)
    return turned


def picks(op: Operation, tensor: Tensor) -> bool:
    """Whether an op takes what labels say of a tensor."""
    if op.type in ("GatherNd", "GatherV2", *_PARTS):
        return True
    others = [_straight(source_of(t)) for t in op.inputs if t is not tensor] if op.type == "Mul" else []
    return any(other.type in ("OneHot", "Placeholder", *_DIAGONALS) for other in others)


def sign_through(op: Operation, tensor: Tensor, fed: int) -> int:
    """1 if what an op gives grows with an input, -1 if it falls, 0 where that cannot be told."""
    if op.type == "Neg":
        return -1
    if op.type == "Sub":
        return 1 if op.inputs[0] is tensor else -1
    if op.type in _SCALES:
        other = op.inputs[1] if op.inputs[0] is tensor else op.inputs[0]
        return _sign_of(other, fed) if op.inputs[0] is tensor or op.type == "Mul" else 0
    return 1 if op.type in _STAYS or op.type == "Abs" and _sign_of(tensor, fed) > 0 else 0


def _sign_of(tensor: Tensor, fed: int) -> int:
    """1 for what is never negative, as labels and counts are, -1 for a negative constant, 0 for what is unknown."""
    value = static_value(tensor)
    if value is not None and value.size and value.dtype.kind in "fiu":
        return 1 if (value >= 0).all() else -1 if (value <= 0).all() else 0
    op = _straight(source_of(tensor))
    if op.type in ("Sum", "Fill", *_DIAGONALS) and op.inputs:
        return _sign_of(op.inputs[0 if op.type == "Sum" else -1], fed)
    if op.type == "StopGradient" and (less := source_of(op.inputs[0])).type == "Sub":
        return _sign_of(less.inputs[0], fed)  # a return less what a critic expects: an advantage
    if op.type == "RealDiv" and (less := source_of(op.inputs[0])).type == "Sub" and (
            mean := source_of(less.inputs[1])).type == "Mean" and mean.inputs[0] is less.inputs[0]:
        return _sign_of(less.inputs[0], fed)  # returns that are normalised
    if op.type in ("Select", "SelectV2"):
        return min(_sign_of(t, fed) for t in op.inputs[1:])
    return fed if op.type in PLACEHOLDERS else 1 if op.type in NEVER_NEGATIVE else 0


def _straight(op: Operation) -> Operation:
    """What an op takes from 1, as a log loss does labels; else the op itself."""
    one = static_value(op.inputs[0]) if op.type == "Sub" else None
    return source_of(op.inputs[1]) if one is not None and one.size == 1 and one.item() == 1 else op


def source_of(tensor: Tensor) -> Operation:
    """The op whose values a tensor has, before it was shaped or cast."""
    return past(tensor, SAME).op


def is_of_one(op: Operation) -> bool:
    """Whether an op takes one tensor for all its inputs, perhaps along other axes: all pairs of its elements."""
    def start(tensor: Tensor) -> Operation:
        source = source_of(tensor)
        return start(source.inputs[0]) if source.type == "StridedSlice" and source.attrs["new_axis_mask"] else source
    return len(set(map(start, op.inputs))) == 1


def pairs_of_one(op: Operation) -> tuple[int, int] | None:
    """Of differences between all pairs of one tensor's parts: the first of the two axes, and how many parts it has."""
    a, b = (tuple(t.dims or ()) for t in op.inputs) if op.type == "Sub" and is_of_one(op) else ((), ())
    at = [k for k, (m, n) in enumerate(zip(a, b)) if m != n and 1 in (m, n)] if len(a) == len(b) else []
    sizes = {(a[k], b[k])[a[k] == 1] for k in at}
    return (at[0], sizes.pop() or 0) if len(at) == 2 and at[1] == at[0] + 1 and len(sizes) == 1 else None
