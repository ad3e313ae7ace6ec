"""Random numbers that depend on nothing but a seed given as an input: the numbers that TensorFlow 1.15 draws.

Source: Salmon et al. (2011), Parallel random numbers: as easy as 1, 2, 3 (Philox 4x32-10).
"""

import numpy as np

from ...core.constant_value import static_dims
from ...core.declare import op
from ...core.dtypes import INDICES, REALS, as_dtype, float32, int64
from ...core.errors import InvalidArgumentError
from ...core.infer import rank_of
from ...core.op import Index, Int32, Spec
from ..common.batch_axis import shared
from ..common.loop_batching import slice_by_slice

_DEPENDS = "random numbers do not depend on the inputs differentiably"
_LOW = 0xFFFFFFFF
_KEY = 0x3EC8F720, 0x02461E29  # under which TensorFlow scrambles the seed
_DRAWS = 6  # blocks for each block of truncated numbers: too few are within two deviations once in 1e14


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


def _philox(key, counter):
    """Four random words for each counter of four words, which are arrays of uint64 below 2**32 or ints."""
    a, b, c, d = counter
    k, m = key
    for _ in range(10):
        p, q = a * 0xD2511F53, c * 0xCD9E8D57
        a, b, c, d = q >> 32 ^ b ^ k, q & _LOW, p >> 32 ^ d ^ m, p & _LOW
        k, m = k + 0x9E3779B9 & _LOW, m + 0xBB67AE85 & _LOW
    return a, b, c, d


def _blocks(seed, places):
    """The blocks of four words at these places of the seed's stream. places: int[...] -> uint64[..., 4]."""
    first, second, *words = _philox(_KEY, [int(s) >> shift & _LOW for s in seed for shift in (0, 32)])
    low = places.astype(np.uint64)
    return np.stack(_philox((first, second), [low & _LOW, low >> 32, *(np.full_like(low, w) for w in words)]), -1)


def _unit(words, dtype):
    """Floats in [0, 1) of the lowest bits: each of one word, float64 of two."""
    if dtype is np.float64:
        return ((words[..., ::2] & 0xFFFFF) << 32 | words[..., 1::2] | 1023 << 52).view(np.float64) - 1.0
    if dtype is np.float16:
        return (words & 0x3FF | 15 << 10).astype(np.uint16).view(np.float16) - np.float16(1.0)
    return (words & 0x7FFFFF | 127 << 23).astype(np.uint32).view(np.float32) - np.float32(1.0)


def _normal(words, dtype):
    """As many normal numbers as uniform ones. Source: Box and Muller (1958)."""
    unit = _unit(words, np.float64 if dtype is np.float64 else np.float32)
    radius = np.sqrt(-2 * np.log(np.maximum(unit[..., ::2], unit.dtype.type(1e-7))))
    angle = (2 * np.pi * unit[..., 1::2].astype(np.float64)).astype(unit.dtype)
    return np.stack([np.sin(angle) * radius, np.cos(angle) * radius], -1).reshape(unit.shape).astype(dtype)


def _filled(shape, seed, of_words, *, each=4, skipped=None):
    """An array of what `of_words` makes of blocks, `each` numbers of one; skipped: blocks from one to the next."""
    shape, count = tuple(shape), int(np.prod(shape))
    places = np.arange(-(-count // each))
    if skipped:
        places = places[:, None] * skipped + np.arange(_DRAWS)
    return of_words(_blocks(seed, places).reshape(len(places), -1)).reshape(-1)[:count].reshape(shape)


def _floats(shape, seed, dtype, made, **options):
    kind = as_dtype(dtype).as_numpy_dtype
    return _filled(shape, seed, lambda words: made(words, kind), each=2 if kind is np.float64 else 4, **options)


@op("StatelessRandomNormal", infer=_drawn, no_grad=_DEPENDS, batched=_each)
def stateless_random_normal(shape: Index, seed: Index, *, dtype=float32):
    """Normal numbers of mean 0 and deviation 1. shape: int[rank], seed: int[2] -> dtype[shape]."""
    return _floats(shape, seed, dtype, _normal)


@op("StatelessRandomUniform", infer=_drawn, no_grad=_DEPENDS, batched=_each)
def stateless_random_uniform(shape: Index, seed: Index, *, dtype=float32):
    """Numbers in [0, 1), all equally likely. shape: int[rank], seed: int[2] -> dtype[shape]."""
    return _floats(shape, seed, dtype, _unit)


@op("StatelessTruncatedNormal", infer=_drawn, no_grad=_DEPENDS, batched=_each)
def stateless_truncated_normal(shape: Index, seed: Index, *, dtype=float32):
    """Standard normal numbers within two deviations. shape: int[rank], seed: int[2] -> dtype[shape]."""
    def inner(words, kind):
        numbers = _normal(words, np.float64 if kind is np.float64 else np.float32)
        first = np.argsort(np.abs(numbers) >= 2.0, axis=-1, kind="stable")[:, :2 if kind is np.float64 else 4]
        return np.take_along_axis(numbers, first, -1).astype(kind)
    return _floats(shape, seed, dtype, inner, skipped=1024 // max(as_dtype(dtype).size, 4))


@op("StatelessRandomUniformInt",
    infer=lambda shape, seed, minval, maxval: _drawn(shape, seed, dtype=minval.dtype.base_dtype),
    dtypes=INDICES, no_grad=_DEPENDS, batched=_each)
def stateless_random_uniform_int(shape: Index, seed: Index, minval, maxval):
    """Integers in [minval, maxval), all equally likely. shape: int[rank], seed: int[2] -> int[shape]."""
    shape = bounded(shape, minval, maxval)
    wide = minval.dtype == np.int64
    size = np.uint64(max(int(maxval) - int(minval), 1))
    offsets = _filled(shape, seed, lambda words: (words[..., ::2] | words[..., 1::2] << 32 if wide else words) % size,
                      each=2 if wide else 4)
    return (offsets + minval.astype(np.int64).astype(np.uint64)).astype(minval.dtype)


@op("StatelessMultinomial", infer=classes_of, dtypes=REALS, no_grad=_DEPENDS, batched=_each)
def stateless_multinomial(logits, num_samples: Int32, seed: Index, *, output_dtype=int64):
    """Classes drawn with probability softmax(logits). logits: float[n, k], seed: int[2] -> int[n, num_samples]."""
    draws = _filled((len(logits), int(num_samples)), seed, lambda words: _unit(words, np.float64), each=2)
    return drawn_classes(logits, draws, output_dtype)
