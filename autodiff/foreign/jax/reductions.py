"""Primitives that reduce axes to one number, or run along an axis."""
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.op import build
from ..model import tf
from .table import JAX, Tensor
from .walk import Called

for _name, _function in {"reduce_sum": tf.reduce_sum, "reduce_prod": tf.reduce_prod}.items():
    JAX.op(_name)(lambda x, *, axes, function=_function: function(x, [int(a) for a in axes]))
for _name, _function in {"psum": tf.reduce_sum, "pmax": tf.reduce_max, "pmin": tf.reduce_min}.items():
    JAX.op(_name, note="over axes by number: vmap has put these for names")(
        lambda *xs, axes, axis_index_groups=None, function=_function: [function(x, [int(a) for a in axes]) for x in xs])


@JAX.op("reduce_max", note="elements that tie share the gradient")
def reduce_max(x: Tensor, *, axes: Sequence[int]) -> Tensor:
    return (tf.reduce_any if x.dtype == tf.bool else tf.reduce_max)(x, list(map(int, axes)))


@JAX.op("reduce_min", note="elements that tie share the gradient")
def reduce_min(x: Tensor, *, axes: Sequence[int]) -> Tensor:
    return (tf.reduce_all if x.dtype == tf.bool else tf.reduce_min)(x, list(map(int, axes)))


@JAX.op("reduce_and")
def reduce_and(x: Tensor, *, axes: Sequence[int]) -> Tensor:
    return tf.reduce_all(x, list(axes)) if x.dtype == tf.bool else _folded(build.BitwiseAnd, x, axes)


@JAX.op("reduce_or")
def reduce_or(x: Tensor, *, axes: Sequence[int]) -> Tensor:
    return tf.reduce_any(x, list(axes)) if x.dtype == tf.bool else _folded(build.BitwiseOr, x, axes)


@JAX.op("reduce_xor")
def reduce_xor(x: Tensor, *, axes: Sequence[int]) -> Tensor:
    return _folded(tf.not_equal if x.dtype == tf.bool else build.BitwiseXor, x, axes)


def _folded(function: Callable[..., Any], x: Tensor, axes: Sequence[int]) -> Tensor:
    for axis in sorted(axes, reverse=True):
        x = functools.reduce(function, tf.unstack(x, axis=axis))
    return x


@JAX.op("argmax")
def argmax(x: Tensor, *, axes: Sequence[int], index_dtype: str) -> Tensor:
    return tf.argmax(_numbers(x), axes[0], output_type=index_dtype)


@JAX.op("argmin")
def argmin(x: Tensor, *, axes: Sequence[int], index_dtype: str) -> Tensor:
    return tf.argmin(_numbers(x), axes[0], output_type=index_dtype)


def _numbers(x: Tensor) -> Tensor:
    return tf.cast(x, tf.int32) if x.dtype == tf.bool else x


@JAX.op("reduce", pulled_back=True, note="by halves, as JAX differentiates it")
def reduce(*xs: Tensor, jaxpr: Called, dimensions: Sequence[int], computation: Any = None) -> list[Tensor]:
    count = len(xs) // 2
    starts, rest = xs[count:], [i for i in range(len(xs[0].dims)) if i not in dimensions]
    kept = [xs[0].dims[i] for i in rest]
    parts = [tf.reshape(tf.transpose(x, [*dimensions, *rest]), [-1, *kept]) for x in xs[:count]]
    while parts[0].dims[0] > 1:
        half = (parts[0].dims[0] + 1) // 2
        uppers = [p[half:] for p in parts]
        if parts[0].dims[0] % 2:
            uppers = [tf.concat([u, tf.broadcast_to(s, [1, *kept])], 0) for u, s in zip(uppers, starts)]
        parts = jaxpr(*[p[:half] for p in parts], *uppers)
    return jaxpr(*[tf.broadcast_to(s, kept) for s in starts], *[p[0] for p in parts])


@JAX.op("softmax", note="what jax.nn.softmax writes out")
def softmax(x: Tensor, *, axis: int) -> Tensor:
    return tf.nn.softmax(x, axis)


@JAX.op("log_softmax", note="what jax.nn.log_softmax writes out")
def log_softmax(x: Tensor, *, axis: int) -> Tensor:
    return tf.nn.log_softmax(x, axis)


# ---- along an axis -----------------------------------------------------------------------------

@JAX.op("cumsum")
def cumsum(x: Tensor, *, axis: int, reverse: bool) -> Tensor:
    return tf.cumsum(x, axis, reverse=reverse)


@JAX.op("cumprod", pulled_back=True)
def cumprod(x: Tensor, *, axis: int, reverse: bool) -> Tensor:
    return tf.cumprod(x, axis, reverse=reverse)


@JAX.op("cumlogsumexp", pulled_back=True)
def cumlogsumexp(x: Tensor, *, axis: int, reverse: bool) -> Tensor:
    return build.CumulativeLogsumexp(x, axis, reverse=reverse)


@JAX.op("cummax", pulled_back=True)
def cummax(x: Tensor, *, axis: int, reverse: bool) -> Tensor:
    return _running(tf.maximum, x, axis, reverse)


@JAX.op("cummin", pulled_back=True)
def cummin(x: Tensor, *, axis: int, reverse: bool) -> Tensor:
    return _running(tf.minimum, x, axis, reverse)


def _running(function: Callable[..., Any], x: Tensor, axis: int, reverse: bool) -> Tensor:
    """By doubling: after each round every element has seen twice as many neighbors."""
    size, distance = x.dims[axis], 1
    while distance < size:
        ends = [slice(None)] * axis
        head, tail = ((*ends, slice(None, distance)), (*ends, slice(distance, None)))
        if reverse:
            head, tail = ((*ends, slice(size - distance, None)), (*ends, slice(None, size - distance)))
        shifted = x[(*ends, slice(distance, None) if reverse else slice(None, size - distance))]
        parts = [x[head], function(x[tail], shifted)]
        x = tf.concat(parts[::-1] if reverse else parts, axis)
        distance *= 2
    return x


def lowest(dtype: Any) -> np.ndarray:
    """The least value of a type."""
    kind = np.dtype(tf.as_dtype(dtype).as_numpy_dtype)
    return np.asarray(-np.inf if kind.kind == "f" else np.iinfo(kind).min, kind)
