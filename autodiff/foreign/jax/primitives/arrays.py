"""Primitives that move elements or make them from nothing: shapes, slices, padding, random numbers by Threefry."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....core.errors import ArgumentError
from ....core.op import build
from ...model import tf
from .table import JAX, Tensor


@JAX.op("broadcast_in_dim")
def broadcast_in_dim(x: Tensor, *, shape: Sequence[int], broadcast_dimensions: Sequence[int]) -> Tensor:
    if tuple(broadcast_dimensions) == tuple(range(len(shape) - len(x.dims), len(shape))):
        return tf.broadcast_to(x, list(shape))
    kept = [x.dims[broadcast_dimensions.index(i)] if i in broadcast_dimensions else 1 for i in range(len(shape))]
    spread = x if tuple(kept) == x.dims else tf.reshape(x, kept)
    return spread if tuple(kept) == tuple(shape) else tf.broadcast_to(spread, list(shape))


@JAX.op("dynamic_slice", note="starts are moved so that the slice lies inside")
def dynamic_slice(x: Tensor, *starts: Tensor, slice_sizes: Sequence[int]) -> Tensor:
    return tf.identity(x) if not starts else tf.slice(x, tf.stack(_inside(x, starts, slice_sizes)), list(slice_sizes))


@JAX.op("dynamic_update_slice", note="starts are moved so that the slice lies inside")
def dynamic_update_slice(x: Tensor, update: Tensor, *starts: Tensor) -> Tensor:
    if not starts:
        return tf.identity(update)
    before = tf.stack(_inside(x, starts, update.dims))
    margins = tf.stack([before, np.array(x.dims, np.int32) - np.array(update.dims, np.int32) - before], axis=1)
    is_new = tf.pad(tf.ones(update.dims, tf.int32), margins) > 0
    new = tf.pad(update, margins) if update.dtype != tf.bool else tf.pad(tf.cast(update, tf.int32), margins) > 0
    for tensor in (is_new, new):
        tensor.set_shape(x.dims)
    return tf.where(is_new, new, x)


def _inside(x: Tensor, starts: Sequence[Tensor], sizes: Any) -> list[Tensor]:
    """Where a slice of these sizes starts, moved into x."""
    return [tf.minimum(tf.maximum(tf.cast(start, tf.int32), 0), size - taken)
            for start, size, taken in zip(starts, x.dims, sizes)]


@JAX.op("pad", note="margins may be negative; `interior` lies between neighbors")
def pad(x: Tensor, value: Tensor, *, padding_config: Sequence[Sequence[int]]) -> Tensor:
    for axis, (_, _, between) in enumerate(padding_config):
        x = _spread(x, value, axis, int(between)) if between else x
    margins = [[max(int(low), 0), max(int(high), 0)] for low, high, _ in padding_config]
    if np.any(margins):
        x = _padded(x, margins, value)
    if any(low < 0 or high < 0 for low, high, _ in padding_config):
        starts = [max(-int(low), 0) for low, _, _ in padding_config]
        ends = [size + min(int(high), 0) for size, (_, high, _) in zip(x.dims, padding_config)]
        x = tf.strided_slice(x, starts, ends)
    return x


def _padded(x: Tensor, margins: Sequence[Sequence[int]], value: Tensor) -> Tensor:
    if x.dtype == tf.bool:
        return tf.pad(tf.cast(x, tf.int32), margins, constant_values=tf.cast(value, tf.int32)) > 0
    return tf.pad(x, margins, constant_values=value)


def _spread(x: Tensor, value: Tensor, axis: int, between: int) -> Tensor:
    """`between` times the value after each element along an axis but the last."""
    shape = list(x.dims)
    if shape[axis] < 2:
        return x
    apart = tf.reshape(x, [*shape[:axis + 1], 1, *shape[axis + 1:]])
    margins = [[0, 0]] * (axis + 1) + [[0, between]] + [[0, 0]] * (len(shape) - axis - 1)
    shape[axis] *= between + 1
    wide = tf.reshape(_padded(apart, margins, value), shape)
    shape[axis] -= between
    return tf.slice(wide, [0] * len(shape), shape)


JAX.rows({
    "iota": lambda *, dtype, shape, dimension: tf.constant(np.broadcast_to(np.arange(shape[dimension]).reshape(
        [-1 if i == dimension else 1 for i in range(len(shape))]), shape).astype(dtype)),
    "broadcast_to": lambda x, *, shape: tf.broadcast_to(x, list(shape)),
    "squeeze": lambda x, *, dimensions: tf.squeeze(x, list(dimensions)) if dimensions else tf.identity(x),
    "tile": lambda x, *, reps: tf.tile(x, list(reps)), "concatenate": lambda *xs, dimension: tf.concat(xs, dimension),
    "stack": lambda *xs, axis: tf.stack(xs, axis), "unstack": lambda x, *, axis: list(tf.unstack(x, axis=axis)),
    "slice": lambda x, *, start_indices, limit_indices, strides=None:
        tf.strided_slice(x, list(start_indices), list(limit_indices), list(strides or [1] * len(start_indices))),
    "empty empty2": lambda *, shape=(), dtype: tf.zeros(list(shape), dtype),
    "reshape": lambda x, *, new_sizes, dimensions=None:
        tf.reshape(x if dimensions is None else tf.transpose(x, dimensions), list(new_sizes)),
    "transpose": lambda x, *, permutation: tf.transpose(x, list(permutation)),
    "rev": lambda x, *, dimensions: tf.reverse(x, list(dimensions)) if dimensions else tf.identity(x),
    "split": lambda x, *, sizes, axis: list(tf.split(x, list(sizes), axis))})


def _joined(high: Tensor, low: Tensor) -> Tensor:
    return build.BitwiseOr(build.LeftShift(tf.cast(high, tf.uint64), np.uint64(32)), tf.cast(low, tf.uint64))


def _counts(shape: Sequence[int]) -> np.ndarray:
    return np.arange(int(np.prod(shape, dtype=int)), dtype=np.uint64).reshape(shape)


def _require_threefry(impl: str) -> None:
    if impl not in ("fry", "threefry2x32"):
        raise ArgumentError(f"random keys of the kind {impl!r} are not there: expected threefry2x32, JAX's default")


@JAX.op("random_wrap")
def random_wrap(words: Tensor, *, impl: str = "fry") -> Tensor:
    _require_threefry(impl)
    return _joined(words[..., 0], words[..., 1])


@JAX.op("random_seed")
def random_seed(seed: Tensor, *, impl: str = "fry") -> Tensor:
    _require_threefry(impl)
    return tf.cast(seed, tf.uint64) if seed.dtype.size == 8 else tf.cast(tf.cast(seed, tf.uint32), tf.uint64)


@JAX.op("random_bits")
def random_bits(key: Tensor, *, bit_width: int, shape: Sequence[int]) -> Tensor:
    high, low = build.Threefry2x32(_apart(key, len(shape)), _counts(shape))
    return _joined(high, low) if bit_width == 64 else tf.cast(build.BitwiseXor(high, low), f"uint{bit_width}")


def _apart(key: Tensor, axes: int) -> Tensor:
    """Keys with axes behind theirs, for counts."""
    return tf.reshape(key, [*key.dims, *[1] * axes]) if key.dims else key


@JAX.op("iota_2x32_shape")
def iota_2x32_shape(*, shape: Sequence[int]) -> list[Tensor]:
    counts = _counts(shape)
    return [tf.constant((counts >> np.uint64(32)).astype(np.uint32)), tf.constant(counts.astype(np.uint32))]


JAX.rows({
    "random_unwrap": lambda key: tf.stack((tf.cast(build.RightShift(key, np.uint64(32)), tf.uint32),
                                           tf.cast(build.BitwiseAnd(key, np.uint64(0xFFFFFFFF)), tf.uint32)), axis=-1),
    "random_split": lambda key, *, shape: _joined(*build.Threefry2x32(_apart(key, len(shape)), _counts(shape))),
    "random_fold_in": lambda key, data: _joined(*build.Threefry2x32(key, tf.cast(tf.cast(data, tf.uint32), tf.uint64))),
    "threefry2x32": lambda key_high, key_low, high, low:
        list(build.Threefry2x32(_joined(key_high, key_low), _joined(high, low)))})
JAX.rows({
    "random_gamma": (lambda key, a, *, jaxpr, log_space: jaxpr(key, a), "by JAX's program for it")}, pulled_back=True)
