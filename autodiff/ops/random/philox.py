"""TensorFlow's random numbers: blocks of four words of 32 bits, each made of a key and its place in a stream alone.

Source: Salmon et al. (2011), Parallel random numbers: as easy as 1, 2, 3 (Philox 4x32-10); Box and Muller (1958).
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

LOW = 0xFFFFFFFF
_LOW, _HALF = np.uint64(LOW), np.uint64(32)
_FACTORS, _STEPS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)), (0x9E3779B9, 0xBB67AE85)
_AT_ONCE = 8192  # blocks that stay in a cache
_OPS = 64  # whose blocks to come are kept
_FEW, _MANY = 2, 6  # blocks for each block of truncated numbers: too few are within two deviations once in 1e14
_SIZES = {np.float64: 2, np.int64: 2}  # numbers of a block, where they are not 4

Stream = tuple[tuple[int, int], tuple[int, int]]  # a key, and the upper two words of its counters


def stream_of(seed: int, seed2: int) -> Stream:
    """The stream of an op of these two seeds."""
    return (seed & LOW, seed >> 32 & LOW), (seed2 & LOW, seed2 >> 32 & LOW)


def philox(key: Sequence[int], counter: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
    """Make counters random. key: of two words; counter: four arrays of words, uint64[n] below 2**32, written to."""
    a, b, c, d = counter
    p, q = np.empty_like(a), np.empty_like(a)
    for i in range(10):
        keys = [np.uint64(word + i * step & LOW) for word, step in zip(key, _STEPS)]
        np.multiply(a, _FACTORS[0], p)
        np.multiply(c, _FACTORS[1], q)
        for product, x, y, word in ((q, a, b, keys[0]), (p, c, d, keys[1])):
            np.right_shift(product, _HALF, x)
            np.bitwise_xor(x, y, x)
            np.bitwise_xor(x, word, x)
            np.bitwise_and(product, _LOW, y)
    return counter


def blocks(stream: Stream, places: np.ndarray) -> np.ndarray:
    """The blocks at these places of a stream. places: int[...] -> uint32[..., 4]."""
    (key, words), flat = stream, places.astype(np.uint64).ravel()
    found = np.empty((len(flat), 4), np.uint32)
    for start in range(0, len(flat), _AT_ONCE):
        low = flat[start:start + _AT_ONCE]
        counter = low & _LOW, low >> _HALF, *(np.full_like(low, word) for word in words)
        for i, word in enumerate(philox(key, counter)):
            found[start:start + _AT_ONCE, i] = word
    return found.reshape(*places.shape, 4)


def words_of(stream: Stream, start: int = 0) -> Iterator[int]:
    """The words of a stream one after the other, from a block on."""
    many = 1
    while True:
        yield from blocks(stream, np.arange(start, start + many)).ravel().tolist()
        start, many = start + many, min(2 * many, _AT_ONCE)


_ahead: dict[Any, tuple[int, np.ndarray]] = {}  # of ops that draw few numbers: the blocks of draws to come


def drawn(stream: Stream, start: int, count: int, step: int) -> np.ndarray:
    """Blocks from a place on: uint32[count, 4]. step: to the place where the same op goes on, 0 for none that does."""
    number, rest = divmod(start, step or 1)
    many = _AT_ONCE // max(2 * count, 1)
    if many < 2 or not number or rest or not step:
        return blocks(stream, np.arange(start, start + count))
    key = stream, count, step
    first, kept = _ahead.get(key, (0, ()))
    if not first <= number < first + len(kept):  # a hundred calls for few numbers take as long as for many
        first, kept = number, blocks(stream, start + step * np.arange(many)[:, None] + np.arange(count))
        if len(_ahead) >= _OPS:
            _ahead.clear()
        _ahead[key] = first, kept
    return kept[number - first]


def _filled(shape: Sequence[int], stream: Stream, start: int, step: int, made: Callable[[np.ndarray], np.ndarray],
            size: int) -> np.ndarray:
    """An array of what `made` makes of blocks, `size` numbers of each."""
    count = int(np.prod(shape, dtype=np.int64))
    words = drawn(stream, start, -(-count // size), step)
    return made(words).reshape(-1)[:count].reshape(tuple(shape))


def uniform(shape: Sequence[int], dtype: Any, stream: Stream, start: int = 0, step: int = 0) -> np.ndarray:
    """Numbers in [0, 1) from a block of a stream on. dtype: float16, float32 or float64, of NumPy's; step: blocks from
    one draw of an op to its next."""
    return _filled(shape, stream, start, step, lambda words: unit(words, dtype), _SIZES.get(dtype, 4))


def normal(shape: Sequence[int], dtype: Any, stream: Stream, start: int = 0, step: int = 0) -> np.ndarray:
    """Numbers of mean 0 and deviation 1, as of `uniform`."""
    return _filled(shape, stream, start, step, lambda words: _normal(words, dtype), _SIZES.get(dtype, 4))


def truncated_normal(shape: Sequence[int], dtype: Any, stream: Stream, start: int = 0, step: int = 0) -> np.ndarray:
    """Those of `normal` that are within two deviations; each block of numbers has a part of the stream of its own."""
    size = _SIZES.get(dtype, 4)
    count = int(np.prod(shape, dtype=np.int64))
    places, found = start + 64 * size * np.arange(-(-count // size)), np.empty((-(-count // size), size), dtype)
    rows = np.arange(len(places))
    for many in (_FEW, _MANY):  # few need more than the first
        numbers = _normal(blocks(stream, places[rows, None] + np.arange(many)).reshape(len(rows), -1), dtype)
        is_outside = np.abs(numbers) >= 2.0
        first = np.argsort(is_outside, axis=-1, kind="stable")[:, :size]
        found[rows] = np.take_along_axis(numbers, first, -1)
        rows = rows[np.take_along_axis(is_outside, first[:, -1:], -1)[:, 0]]
        if not len(rows):
            break
    return found.reshape(-1)[:count].reshape(tuple(shape))


def integers(shape: Sequence[int], minval: Any, maxval: Any, stream: Stream, start: int = 0,
             step: int = 0) -> np.ndarray:
    """Integers of minval up to maxval, as of `uniform`; minval, maxval: of the type that they are to have."""
    is_wide = minval.dtype == np.int64
    size = np.uint64(max(int(maxval) - int(minval), 1))

    def offsets(words: np.ndarray) -> np.ndarray:
        words = words.astype(np.uint64)
        return (words[..., ::2] | words[..., 1::2] << np.uint64(32) if is_wide else words) % size
    found = _filled(shape, stream, start, step, offsets, 2 if is_wide else 4)
    return (found + minval.astype(np.int64).astype(np.uint64)).astype(minval.dtype)


def unit(words: np.ndarray, dtype: Any) -> np.ndarray:
    """Floats in [0, 1) of the lowest bits: each of one word, float64 of two."""
    if dtype is np.float64:
        high, low = words[..., ::2].astype(np.uint64), words[..., 1::2]
        return ((high & 0xFFFFF) << 32 | low | 1023 << 52).view(np.float64) - 1.0
    if dtype is np.float16:
        return (words & 0x3FF | 15 << 10).astype(np.uint16).view(np.float16) - np.float16(1.0)
    words = words & 0x7FFFFF
    words |= 127 << 23
    found = words.view(np.float32)
    found -= np.float32(1.0)
    return found


def _normal(words: np.ndarray, dtype: Any) -> np.ndarray:
    """As many normal numbers as uniform ones. Functions are rounded once, as those of C are in all but few cases."""
    drawn = unit(words, np.float64 if dtype is np.float64 else np.float32)
    kind, (lengths, turns) = drawn.dtype, (np.float64(drawn[..., i::2]) for i in range(2))
    radius = np.sqrt(-2 * np.log(np.maximum(lengths, kind.type(1e-7))).astype(kind))
    angle = (2 * np.pi * turns).astype(kind).astype(np.float64)
    found = np.empty_like(drawn)
    found[..., ::2], found[..., 1::2] = np.sin(angle).astype(kind) * radius, np.cos(angle).astype(kind) * radius
    return found.astype(dtype, copy=False)
