"""Labels, predictions and weights that are to fit: ranks that differ by an axis of size 1, weights by broadcasting."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.convert import convert_to_tensor
from ...core.errors import ShapeError
from ...core.graph import Operation, Tensor, get_default_graph
from ...core.name_scope import scope
from ...core.op import build
from ...core.shapes import merge
from ..control.control_flow import cond

REFUSAL = "weights can not be broadcast to values."


def remove_squeezable_dimensions(labels: Any, predictions: Any, expected_rank_diff: int = 0,
                                 name: str | None = None) -> tuple[Tensor, Tensor]:
    """Labels and predictions without a last axis of size 1 that one of them has too much.

    expected_rank_diff: the rank of predictions less that of labels.
    """
    with scope(name, "remove_squeezable_dimensions", (labels, predictions)):
        labels, predictions = convert_to_tensor(labels), convert_to_tensor(predictions)
        if labels.dims is not None and predictions.dims is not None:
            more = len(predictions.dims) - len(labels.dims) - expected_rank_diff
            return (_squeezed(labels) if more == -1 else labels), (_squeezed(predictions) if more == 1 else predictions)
        more = build.Sub(build.Rank(predictions), build.Rank(labels))
        if predictions.dims is None or predictions.dims[-1:] in ((1,), (None,)):
            predictions = _where(build.Equal(more, expected_rank_diff + 1), _squeezed, predictions)
        if labels.dims is None or labels.dims[-1:] in ((1,), (None,)):
            labels = _where(build.Equal(more, expected_rank_diff - 1), _squeezed, labels)
        return labels, predictions


def narrowed(weights: Any, values: Tensor) -> Any:
    """Weights without a last axis of size 1 that values do not have; a float stays."""
    if isinstance(weights, float):
        return weights
    weights = convert_to_tensor(weights)
    if weights.dims is not None and weights.dims[-1:] not in ((1,), (None,)):
        return weights
    if weights.dims is not None and values.dims is not None:
        return _squeezed(weights) if len(weights.dims) == len(values.dims) + 1 else weights
    return _where(build.Equal(build.Sub(build.Rank(weights), build.Rank(values)), 1), _squeezed, weights)


def matched(predictions: Any, labels: Any, weights: Any) -> tuple[Tensor, Any, Any]:
    """Predictions, labels and weights of one rank: a last axis of size 1 is dropped, or added to weights.

    Raises ShapeError where labels and predictions do not fit. labels, weights: None where there are none.
    """
    predictions = convert_to_tensor(predictions)
    if labels is not None:
        labels, predictions = remove_squeezable_dimensions(labels, predictions)
        merge(predictions.dims, labels.dims)
    if weights is None:
        return predictions, labels, None
    weights = convert_to_tensor(weights)
    if weights.dims == ():
        return predictions, labels, weights
    if weights.dims is not None and predictions.dims is not None:
        more = len(weights.dims) - len(predictions.dims)
        return predictions, labels, _squeezed(weights) if more == 1 else _widened(weights) if more == -1 else weights
    more = build.Sub(build.Rank(weights), build.Rank(predictions))
    is_wide = weights.dims is None or weights.dims[-1] in (1, None)
    narrowed = _where(build.Equal(more, 1), _squeezed, weights) if is_wide else weights
    is_vector = build.Greater(build.Rank(weights), 0)
    return predictions, labels, _where(build.LogicalAnd(build.Equal(more, -1), is_vector), _widened, narrowed)


def _squeezed(x: Tensor) -> Tensor:
    return build.Squeeze(x, squeeze_dims=[-1])


def _widened(x: Tensor) -> Tensor:
    return build.ExpandDims(x, -1)


def _where(holds: Tensor, change: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    return cond(holds, lambda: change(x), lambda: build.Identity(x))


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
