"""Random numbers that depend on nothing but a seed given as an input."""

import numpy as np

from ...core.constant_value import static_dims
from ...core.declare import op
from ...core.dtypes import as_dtype, float32
from ...core.infer import rank_of
from ...core.op import Index, Spec
from ..common.batch_axis import shared
from ..common.loop_batching import slice_by_slice

_DEPENDS = "random numbers do not depend on the inputs differentiably"


def _drawn(shape, seed, *, dtype=float32):
    rank_of(shape, exactly=1, what="shape")
    rank_of(seed, exactly=1, what="seed")
    return Spec(as_dtype(dtype), static_dims(shape))


def _each(node, args, batched):
    shared(node, batched, 0)
    return slice_by_slice(node, args, batched)


def _stream(seed):
    return np.random.Generator(np.random.Philox(key=np.asarray(seed, np.int64).astype(np.uint64)))


def _as(numbers, dtype):
    return np.asarray(numbers, as_dtype(dtype).as_numpy_dtype)


@op("StatelessRandomNormal", infer=_drawn, no_grad=_DEPENDS, batched=_each)
def stateless_random_normal(shape: Index, seed: Index, *, dtype=float32):
    """Normal numbers of mean 0 and deviation 1. shape: int[rank], seed: int[2] -> dtype[shape]."""
    return _as(_stream(seed).standard_normal(tuple(shape)), dtype)


@op("StatelessRandomUniform", infer=_drawn, no_grad=_DEPENDS, batched=_each)
def stateless_random_uniform(shape: Index, seed: Index, *, dtype=float32):
    """Numbers in [0, 1), all equally likely. shape: int[rank], seed: int[2] -> dtype[shape]."""
    single = as_dtype(dtype).as_numpy_dtype is not np.float64  # rounding a double could give 1
    return _as(_stream(seed).random(tuple(shape), np.float32 if single else np.float64), dtype)


@op("StatelessTruncatedNormal", infer=_drawn, no_grad=_DEPENDS, batched=_each)
def stateless_truncated_normal(shape: Index, seed: Index, *, dtype=float32):
    """Standard normal numbers within two deviations. shape: int[rank], seed: int[2] -> dtype[shape]."""
    stream = _stream(seed)
    numbers = np.asarray(stream.standard_normal(tuple(shape)))
    while (outside := np.abs(numbers) >= 2.0).any():
        numbers[outside] = stream.standard_normal(np.count_nonzero(outside))
    return _as(numbers, dtype)
