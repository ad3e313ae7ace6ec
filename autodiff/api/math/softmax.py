"""Softmax, softplus, softsign, and how much of a tensor is zero: what tf.math and tf.nn both have."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...core.constant_value import static_value
from ...core.convert import convert_to_tensor
from ...core.dtypes import float32
from ...core.errors import ArgumentError, InvalidArgumentError
from ...core.graph import Tensor
from ...core.name_scope import scope
from ...core.op import OPS, OpDef, build
from ..common.arguments import one_of
from .reductions import reduce_sum


def softplus(features: Any, name: str | None = None) -> Tensor:
    """log(1 + exp(x)). features: float[...] -> float[...]."""
    return build.Softplus(features, name=name)


def softsign(features: Any, name: str | None = None) -> Tensor:
    """x / (1 + |x|). features: float[...] -> float[...]."""
    return build.Softsign(features, name=name)


def softmax(logits: Any, axis: int | None = None, name: str | None = None, dim: int | None = None) -> Tensor:
    """exp(x) / sum(exp(x)) over one axis, the last if none is given. `dim` is the old spelling of `axis`."""
    return _over_axis(OPS["Softmax"], logits, one_of("axis", axis, "dim", dim), name)


def log_softmax(logits: Any, axis: int | None = None, name: str | None = None, dim: int | None = None) -> Tensor:
    """log(softmax(x)) over one axis, the last if none is given. `dim` is the old spelling of `axis`."""
    return _over_axis(OPS["LogSoftmax"], logits, one_of("axis", axis, "dim", dim), name)


def _over_axis(op: OpDef, logits: Any, axis: Any, name: str | None) -> Tensor:
    logits = convert_to_tensor(logits)
    axis = -1 if axis is None else static_value(axis)
    if axis is None:
        raise ArgumentError(expected="an axis that is known while the graph is built", found="a tensor")
    axis = int(axis)
    if logits.dims is None and axis != -1:
        raise ArgumentError(expected=f"logits of known rank for axis {axis}", found=logits.describe())
    rank = len(logits.dims) if logits.dims is not None else 0
    if axis == -1 or axis + 1 == rank:
        return op(logits, name=name)
    if not -rank <= axis < rank:
        raise InvalidArgumentError(None, None, f"axis {axis} is out of range, expected {-rank} <= axis < {rank} for "
                                   f"{logits.describe()}")
    swap = np.arange(rank, dtype=np.int32)
    swap[[axis, -1]] = swap[[-1, axis]]
    with scope(name, op.name, [logits]) as full:
        return build.Transpose(op(build.Transpose(logits, swap)), swap, name=full)


def zero_fraction(value: Any, name: str | None = None) -> Tensor:
    """The part of the elements that are 0. value: number[...] -> float32[]."""
    with scope(name, "zero_fraction", [value]):
        value = convert_to_tensor(value, name="value")
        zeros = build.Cast(build.Equal(value, build.ZerosLike(value)), dtype=float32)
        return build.RealDiv(reduce_sum(zeros), build.Cast(build.Size(value), dtype=float32), name="fraction")
