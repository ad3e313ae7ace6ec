"""How many operations TensorFlow 1.15's gradient rules make, where fewer or more are made here.

Seeds of random ops are told apart by the count of operations before them, so what a script draws behind its gradients
depends on it. Source: counted in the graphs that TensorFlow 1.15.5 makes.
"""
from __future__ import annotations

from collections.abc import Callable

from ..core.constant_value import static_value
from ..core.graph import Operation
from ..core.shapes import is_known

_REDUCED = "shapes of which TensorFlow keeps the reduced shape"


def _sums(op: Operation) -> int:
    """To add up what broadcasting spread over the two inputs, or to see in the run that there is nothing to add up."""
    x, y = _dims(op)
    if x is None or y is None:
        return 7
    rank = max(len(x), len(y))
    wide_x, wide_y = ((1,) * (rank - len(dims)) + dims for dims in (x, y))
    is_spread = [len(dims) < rank or any(n == 1 != m for n, m in zip(own, other))
                 for dims, own, other in ((x, wide_x, wide_y), (y, wide_y, wide_x))]
    return 3 + 4 * sum(is_spread)


def _dims(op: Operation) -> list[tuple[int, ...] | None]:
    """The dims of its first two inputs, None unless all are known."""
    return [tuple(t.dims) if t.dims is not None and is_known(t.dims) else None for t in op.inputs[:2]]


def _is_alike(op: Operation) -> bool:
    x, y = _dims(op)
    return x is not None and x == y


def _broadcast(alike: int) -> Callable[[Operation], int]:
    """alike: where both inputs have one known shape, and nothing is to be summed."""
    return lambda op: alike if _is_alike(op) else alike + _sums(op)


def _sum(op: Operation) -> int:
    dims, axes = op.inputs[0].dims, static_value(op.inputs[1])
    if dims is not None and axes is not None and len({int(a) % len(dims) for a in axes.ravel()}) == len(dims):
        return 4  # of all, in one scalar
    if dims is None or not is_known(dims):
        return 16
    known = op.graph.extras.setdefault(_REDUCED, set())
    key = tuple(dims), None if axes is None else tuple(axes.ravel())
    if key in known:
        return 4
    known.add(key)
    return 21


def _mean(op: Operation) -> int:
    return _sum(op) + (2 if is_known(op.inputs[0].dims) and is_known(op.outputs[0].dims) else 11)


def _concat(op: Operation) -> int:
    return 4 + len(op.inputs)  # the axis among them


def _gather(op: Operation) -> int:
    axis = static_value(op.inputs[2])
    return 13 if axis is not None and not axis else 55


def _safe_quotient(op: Operation) -> int:
    return 12 + 4 * (op.inputs[0].op.type == "Sum")  # the mean of a loss, whose sum TensorFlow sums once more


_ALWAYS = {
    "Asin": 6, "Atan": 5, "Atan2": 7, "BroadcastTo": 4, "Cholesky": 33, "Conv2D": 3, "Div": 12,
    "FloorMod": 10, "FusedBatchNormV3": 6, "LRN": 1, "Log": 2, "Log1p": 4, "MatrixDeterminant": 8, "Max": 19,
    "Maximum": 13, "Min": 19, "Minimum": 13, "Pad": 9, "Prod": 49, "RealDiv": 12, "Select": 3, "Sign": 3, "Slice": 12,
    "SoftmaxCrossEntropyWithLogits": 11,  # with that of the reshape to rows
    "Softplus": 2, "SparseSoftmaxCrossEntropyWithLogits": 5, "Swish": 9, "Tile": 12, "TopKV2": 43,
    "UnsortedSegmentSum": 14,
}
_BY_SHAPES: dict[str, Callable[[Operation], int]] = {
    "Add": _broadcast(0), "AddV2": _broadcast(0), "BatchMatMulV2": lambda op: 2 if _is_alike(op) else 17,
    "ConcatV2": _concat, "DivNoNan": _safe_quotient, "GatherV2": _gather, "Mean": _mean,
    "Mul": _broadcast(2), "Pow": lambda op: 16 + _sums(op), "SquaredDifference": _broadcast(5),
    "Sub": _broadcast(1), "Sum": _sum,
}


def rule_count(op: Operation) -> int | None:
    """The operations that the gradient rule of `op` makes in TensorFlow; None where it is as many as here."""
    kind = op.definition.name
    return _BY_SHAPES[kind](op) if kind in _BY_SHAPES else _ALWAYS.get(kind)
