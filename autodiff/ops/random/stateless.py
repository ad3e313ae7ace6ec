"""Random numbers that depend on nothing but a seed given as an input: the numbers that TensorFlow 1.15 draws."""

import numpy as np

from ...core.constant_value import static_dims
from ...core.declare import op
from ...core.dtypes import INDICES, REALS, as_dtype, float32, int64
from ...core.errors import InvalidArgumentError
from ...core.infer import rank_of
from ...core.op import Index, Int32, Spec
from ..common.batch_axis import shared, slice_by_slice
from . import philox

_DEPENDS = "random numbers do not depend on the inputs differentiably"
_KEY = 0x3EC8F720, 0x02461E29  # under which TensorFlow scrambles the seed


def _drawn(shape, seed, *, dtype=float32):
    rank_of(shape, exactly=1, what="shape")
    rank_of(seed, exactly=1, what="seed")
    return Spec(as_dtype(dtype), static_dims(shape))


def bounded(shape, minval, maxval):
    """The shape of integers from minval up to maxval. Raises InvalidArgumentError where there are none to draw."""
    if minval >= maxval and np.prod(shape):
        raise InvalidArgumentError(f"Need minval < maxval, got {minval} >= {maxval}")
    return tuple(shape)


def classes_of(logits, num_samples, seed=None, *, seed2=0, output_dtype=int64):
    """int[n, samples]. Raises ShapeError unless logits are of rank 2."""
    rank_of(logits, exactly=2, what="logits")
    samples = static_dims(num_samples)
    return Spec(as_dtype(output_dtype), ((logits.dims or (None,))[0], samples[0] if samples else None))


def drawn_classes(logits, draws, dtype):
    """The class whose step of the cumulated softmax a number falls into; logits that are not finite get none.

    logits: float[n, k], draws: float[n, samples] in [0, 1) -> int[n, samples].
    """
    known = np.where(np.isfinite(logits), logits, -np.inf).astype(np.float64)
    steps = np.exp(known - known.max(-1, keepdims=True)).cumsum(-1)
    return np.array([np.searchsorted(row, u * row[-1], side="right") for row, u in zip(steps, draws)],
                    as_dtype(dtype).as_numpy_dtype).reshape(draws.shape)


def _each(node, args, batched):
    shared(node, batched, 0)
    return slice_by_slice(node, args, batched)


def _stream(seed):
    """The stream of blocks that a seed of two numbers stands for."""
    words = [np.array([int(s) >> shift & philox.LOW], np.uint64) for s in seed for shift in (0, 32)]
    first, second, *upper = (int(word[0]) for word in philox.philox(_KEY, words))
    return (first, second), tuple(upper)


@op("StatelessRandomNormal", infer=_drawn, no_grad=_DEPENDS, batched=_each)
def stateless_random_normal(shape: Index, seed: Index, *, dtype=float32):
    """Normal numbers of mean 0 and deviation 1. shape: int[rank], seed: int[2] -> dtype[shape]."""
    return philox.normal(shape, as_dtype(dtype).as_numpy_dtype, _stream(seed))


@op("StatelessRandomUniform", infer=_drawn, no_grad=_DEPENDS, batched=_each)
def stateless_random_uniform(shape: Index, seed: Index, *, dtype=float32):
    """Numbers in [0, 1), all equally likely. shape: int[rank], seed: int[2] -> dtype[shape]."""
    return philox.uniform(shape, as_dtype(dtype).as_numpy_dtype, _stream(seed))


@op("StatelessTruncatedNormal", infer=_drawn, no_grad=_DEPENDS, batched=_each)
def stateless_truncated_normal(shape: Index, seed: Index, *, dtype=float32):
    """Standard normal numbers within two deviations. shape: int[rank], seed: int[2] -> dtype[shape]."""
    return philox.truncated_normal(shape, as_dtype(dtype).as_numpy_dtype, _stream(seed))


@op("StatelessRandomUniformInt",
    infer=lambda shape, seed, minval, maxval: _drawn(shape, seed, dtype=minval.dtype.base_dtype),
    dtypes=INDICES, no_grad=_DEPENDS, batched=_each)
def stateless_random_uniform_int(shape: Index, seed: Index, minval, maxval):
    """Integers in [minval, maxval), all equally likely. shape: int[rank], seed: int[2] -> int[shape]."""
    return philox.integers(bounded(shape, minval, maxval), minval, maxval, _stream(seed))


@op("StatelessMultinomial", infer=classes_of, dtypes=REALS, no_grad=_DEPENDS, batched=_each)
def stateless_multinomial(logits, num_samples: Int32, seed: Index, *, output_dtype=int64):
    """Classes drawn with probability softmax(logits). logits: float[n, k], seed: int[2] -> int[n, num_samples]."""
    draws = philox.uniform((len(logits), int(num_samples)), np.float64, _stream(seed))
    return drawn_classes(logits, draws, output_dtype)
