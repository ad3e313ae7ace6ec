"""Regularizers: functions of weights that give a loss, or None for none."""
from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

from ....core.collections import GraphKeys, get_collection
from ....core.convert import convert_to_tensor
from ....core.errors import ArgumentError, ShapeError
from ....core.graph import Tensor, get_default_graph
from ....core.op import build
from ...control.dependencies import name_scope
from ...math.reductions import add_n, reduce_sum

__all__ = ["apply_regularization", "l1_l2_regularizer", "l1_regularizer", "l2_regularizer", "sum_regularizer"]


def l1_regularizer(scale: float, scope: str | None = None) -> Callable[[Any], Tensor | None]:
    """scale times the sum of absolute weights; none if scale is 0."""
    return _scaled(scale, scope or "l1_regularizer", lambda weights: reduce_sum(build.Abs(weights)))


def l2_regularizer(scale: float, scope: str | None = None) -> Callable[[Any], Tensor | None]:
    """scale times half the sum of squared weights; none if scale is 0."""
    return _scaled(scale, scope or "l2_regularizer", lambda weights: build.L2Loss(weights))


def _scaled(scale: Any, scope: str, penalty: Callable[[Any], Tensor]) -> Callable[[Any], Tensor | None]:
    if isinstance(scale, numbers.Integral):
        raise ArgumentError(expected="a float as scale of a regularizer", found=f"the integer {scale}")
    if isinstance(scale, numbers.Real) and scale < 0.0:
        raise ArgumentError(expected="a scale >= 0 of a regularizer", found=f"{scale:g}")
    if isinstance(scale, numbers.Real) and scale == 0.0:
        return lambda weights: None

    def regularizer(weights: Any) -> Tensor:
        with name_scope(scope, values=[weights]) as full:
            factor = convert_to_tensor(scale, dtype=weights.dtype.base_dtype, name="scale")
            return build.Mul(factor, penalty(weights), name=full)

    return regularizer


def l1_l2_regularizer(scale_l1: float = 1.0, scale_l2: float = 1.0,
                      scope: str | None = None) -> Callable[[Any], Tensor | None]:
    """The sum of l1_regularizer and l2_regularizer."""
    scope = scope or "l1_l2_regularizer"
    if isinstance(scale_l1, numbers.Integral) or isinstance(scale_l2, numbers.Integral):
        raise ArgumentError(expected="floats as scales of a regularizer", found=f"{scale_l1!r} and {scale_l2!r}")
    if scale_l1 == 0.0:
        return l2_regularizer(scale_l2, scope)
    if scale_l2 == 0.0:
        return l1_regularizer(scale_l1, scope)
    return sum_regularizer([l1_regularizer(scale_l1), l2_regularizer(scale_l2)], scope)  # type: ignore[return-value]


def sum_regularizer(regularizer_list: Any, scope: str | None = None) -> Callable[[Any], Tensor | None] | None:
    """The sum of several regularizers; Nones are skipped, and None if there is no other."""
    regularizers = [r for r in regularizer_list if r is not None]
    if not regularizers:
        return None

    def regularizer(weights: Any) -> Tensor | None:
        with name_scope(scope or "sum_regularizer", values=[weights]) as full:
            losses = [loss for r in regularizers if (loss := r(weights)) is not None]
            return add_n(losses, name=full) if losses else None

    return regularizer


def apply_regularization(regularizer: Callable[[Any], Tensor | None], weights_list: Any = None) -> Tensor:
    """The sum of the regularizer's losses of all weights, which joins REGULARIZATION_LOSSES.

    weights_list: by default the collection WEIGHTS. Raises ArgumentError (ValueError) if there are none.
    """
    weights_list = weights_list or get_collection(GraphKeys.WEIGHTS)
    if not weights_list:
        raise ArgumentError(expected="weights to regularize", found="none")
    with name_scope("get_regularization_penalty", values=weights_list) as full:
        penalties = [regularizer(weights) for weights in weights_list]
        tensors = [convert_to_tensor(0.0) if p is None else p for p in penalties]
        for tensor in tensors:
            if tensor.dims != ():
                raise ShapeError(expected="a regularizer that gives a scalar", found=tensor.describe())
        total = add_n(tensors, name=full)
        get_default_graph().add_to_collection(GraphKeys.REGULARIZATION_LOSSES, total)
        return total
