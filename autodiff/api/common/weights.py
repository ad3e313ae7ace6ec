"""Whether weights fit the values of a loss or metric: TensorFlow's rule, which is stricter than broadcasting."""
from __future__ import annotations

from typing import Any

from ...core.convert import convert_to_tensor
from ...core.errors import ShapeError
from ...core.graph import Operation, Tensor, get_default_graph
from ...core.name_scope import scope
from ...core.op import build
from ..control.control_flow import cond

REFUSAL = "weights can not be broadcast to values."


def check_weights(weights: Tensor, values: Tensor) -> bool:
    """Weights are a scalar, or of the values' rank with each size theirs or 1. Raises ShapeError for known others.

    Gives whether all sizes were known.
    """
    if weights.dims == ():
        return True
    if weights.dims is None or values.dims is None:
        return False
    if len(weights.dims) != len(values.dims):
        raise ShapeError(f"{REFUSAL} values.rank={len(values.dims)}. weights.rank={len(weights.dims)}. "
                         f"values.shape={values.shape}. weights.shape={weights.shape}.")
    for axis, (ours, theirs) in enumerate(zip(weights.dims, values.dims)):
        if ours not in (1, None) and theirs is not None and ours != theirs:
            raise ShapeError(f"{REFUSAL} Mismatch at dim {axis}. values.shape={values.shape} "
                             f"weights.shape={weights.shape}.")
    return None not in (*weights.dims, *values.dims)


def assert_broadcastable(weights: Any, values: Any) -> Operation:
    """An operation that fails in a run where weights do not fit values. Raises ShapeError where that is known now."""
    with scope(None, "assert_broadcastable", (weights, values)):
        weights, values = convert_to_tensor(weights, name="weights"), convert_to_tensor(values, name="values")
        if check_weights(weights, values):
            return build.NoOp(name="static_checks_determined_all_ok")
        ours, theirs = build.Shape(weights), build.Shape(values)
        is_scalar = build.Equal(build.Rank(weights), 0)
        fits = cond(is_scalar, lambda: is_scalar, lambda: cond(
            build.Equal(build.Rank(weights), build.Rank(values)),
            lambda: build.All(build.LogicalOr(build.Equal(ours, theirs), build.Equal(ours, 1)), [0]),
            lambda: build.LogicalNot(build.OnesLike(is_scalar))))
        return build.Assert(fits, REFUSAL, "weights.shape=", weights.name, ours, "values.shape=", values.name, theirs,
                            "is_scalar=", is_scalar, summarize=6)


def broadcast_weights(weights: Any, values: Any) -> Tensor:
    """Weights in the shape of the values, where they fit; see assert_broadcastable."""
    with scope(None, "broadcast_weights", (weights, values)):
        values = convert_to_tensor(values, name="values")
        weights = convert_to_tensor(weights, dtype=values.dtype.base_dtype, name="weights")
        if weights.dims is not None and None not in weights.dims and weights.dims == values.dims:
            return weights
        with get_default_graph().control_dependencies([assert_broadcastable(weights, values)]):
            return build.Mul(weights, build.OnesLike(values))
