"""Primitives of random numbers, by Threefry. A key is one uint64: its two words."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.errors import ArgumentError
from ...core.op import build
from ..model import tf
from .table import JAX, Tensor


def _joined(high: Tensor, low: Tensor) -> Tensor:
    return build.BitwiseOr(build.LeftShift(tf.cast(high, tf.uint64), np.uint64(32)), tf.cast(low, tf.uint64))


def _words(key: Tensor) -> tuple[Tensor, Tensor]:
    return (tf.cast(build.RightShift(key, np.uint64(32)), tf.uint32),
            tf.cast(build.BitwiseAnd(key, np.uint64(0xFFFFFFFF)), tf.uint32))


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
    if bit_width == 64:
        return _joined(high, low)
    return tf.cast(build.BitwiseXor(high, low), f"uint{bit_width}")


def _apart(key: Tensor, axes: int) -> Tensor:
    """Keys with axes behind theirs, for counts."""
    return tf.reshape(key, [*key.dims, *[1] * axes]) if key.dims else key


@JAX.op("iota_2x32_shape")
def iota_2x32_shape(*, shape: Sequence[int]) -> list[Tensor]:
    counts = _counts(shape)
    return [tf.constant((counts >> np.uint64(32)).astype(np.uint32)), tf.constant(counts.astype(np.uint32))]


JAX.rows({
    "random_unwrap": lambda key: tf.stack(_words(key), axis=-1),
    "random_split": lambda key, *, shape: _joined(*build.Threefry2x32(_apart(key, len(shape)), _counts(shape))),
    "random_fold_in": lambda key, data: _joined(*build.Threefry2x32(key, tf.cast(tf.cast(data, tf.uint32), tf.uint64))),
    "threefry2x32": lambda key_high, key_low, high, low:
        list(build.Threefry2x32(_joined(key_high, key_low), _joined(high, low))),
})
JAX.rows({
    "random_gamma": (lambda key, a, *, jaxpr, log_space: jaxpr(key, a), "by JAX's program for it"),
}, pulled_back=True)
