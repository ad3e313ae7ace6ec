"""Strings to bucket numbers, by the hash functions that TensorFlow has for it."""

import struct

import numpy as np

from ...core.dtypes import int64
from ...core.errors import ArgumentError, InvalidArgumentError
from ...core.op import Spec
from ..common.texts import Text, each, text_op

_WORD = 2**64 - 1


def _turned(x, bits):
    """x, 64 bits, rotated to the right."""
    x &= _WORD
    return (x >> bits | x << 64 - bits) & _WORD


def _at(text, place, size=8):
    return int.from_bytes(text[place:place + size], "little")


# ---- FarmHash's Fingerprint64 -------------------------------------------------------------

_K0, _K1, _K2 = 0xc3a5c85c97cb3127, 0xb492b66fbe98f273, 0x9ae16a3b2f90404f


def _folded(x):
    return x & _WORD ^ (x & _WORD) >> 47


def _pair(u, v, factor):
    a = _folded((u ^ v) * factor)
    return _folded((v ^ a) * factor) * factor & _WORD


def _farm_short(text):
    size = len(text)
    factor = _K2 + size * 2
    if size >= 8:
        a, b = _at(text, 0) + _K2, _at(text, size - 8)
        return _pair(_turned(b, 37) * factor + a & _WORD, (_turned(a, 25) + b) * factor & _WORD, factor)
    if size >= 4:
        return _pair(size + (_at(text, 0, 4) << 3), _at(text, size - 4, 4), factor)
    if size:
        y, z = text[0] + (text[size >> 1] << 8), size + (text[-1] << 2)
        return _folded(y * _K2 & _WORD ^ z * _K0 & _WORD) * _K2 & _WORD
    return _K2


def _farm_middle(text):
    size = len(text)
    factor = _K2 + size * 2
    a, b = _at(text, 0) * (_K1 if size <= 32 else _K2), _at(text, 8)
    c, d = _at(text, size - 8) * factor, _at(text, size - 16) * _K2
    y, x = _turned(a + b, 43) + _turned(c, 30) + d & _WORD, a + _turned(b + _K2, 18) + c & _WORD
    if size <= 32:
        return _pair(y, x, factor)
    e, f = _at(text, 16) * factor, _at(text, 24)
    g, h = (y + _at(text, size - 32)) * factor, (_pair(y, x, factor) + _at(text, size - 24)) * factor
    return _pair(_turned(e + f, 43) + _turned(g, 30) + h & _WORD, e + _turned(f + a, 18) + g & _WORD, factor)


def _weak(text, place, a, b):
    w, x, y, z = struct.unpack_from("<4Q", text, place)
    a += w
    b = _turned(b + a + z, 21)
    c = a
    a += x + y
    return a + z & _WORD, b + _turned(a, 44) + c & _WORD


def _stirred(text, place, state, factor, weight):
    """The state after 64 bytes more."""
    x, y, z, v, w = state
    x = _turned(x + y + v[0] + _at(text, place + 8), 37) * factor
    y = _turned(y + v[1] + _at(text, place + 48), 42) * factor
    x = (x ^ w[1] * weight) & _WORD
    y = y + v[0] * weight + _at(text, place + 40) & _WORD
    z = _turned(z + w[0], 33) * factor & _WORD
    v = _weak(text, place, v[1] * factor, x + w[0])
    w = _weak(text, place + 32, z + w[1], y + _at(text, place + 16))
    return z, y, x, v, w


def farm(text):
    """The fingerprint of a text, 64 bits. Source: FarmHash, as TensorFlow's Fingerprint64; checked against it."""
    size = len(text)
    if size <= 16:
        return _farm_short(text)
    if size <= 64:
        return _farm_middle(text)
    y = 81 * _K1 + 113
    state = 81 * _K2 + _at(text, 0), y, _folded(y * _K2 + 113) * _K2, (0, 0), (0, 0)
    for place in range(0, (size - 1) // 64 * 64, 64):
        state = _stirred(text, place, state, _K1, 1)
    x, y, z, v, w = state
    factor = _K1 + ((z & 255) << 1)
    w = w[0] + (size - 1 & 63), w[1]
    v = v[0] + w[0], v[1]
    w = w[0] + v[0], w[1]
    x, y, z, v, w = _stirred(text, size - 64, (x, y, z, v, w), factor, 9)
    return _pair(_pair(v[0], w[0], factor) + _folded(y) * _K0 + z & _WORD, _pair(v[1], w[1], factor) + x & _WORD,
                 factor)


# ---- the other two ------------------------------------------------------------------------

def sip(text, key):
    """SipHash-2-4 of a text. key: two numbers. Source: Aumasson and Bernstein (2012)."""
    a, b, c, d = (key[i % 2] ^ word for i, word in enumerate(
        (0x736f6d6570736575, 0x646f72616e646f6d, 0x6c7967656e657261, 0x7465646279746573)))
    last = text[len(text) // 8 * 8:]
    words = [_at(text, place) for place in range(0, len(text) // 8 * 8, 8)]
    for word in [*words, _at(last, 0) | (len(text) & 255) << 56, None]:
        c = c ^ 255 if word is None else c
        d ^= word or 0
        for _ in range(4 if word is None else 2):
            a, c = a + b & _WORD, c + d & _WORD
            b, d, a = _turned(b, 51) ^ a, _turned(d, 48) ^ c, _turned(a, 32)
            c, a = c + b & _WORD, a + d & _WORD
            b, d, c = _turned(b, 47) ^ c, _turned(d, 43) ^ a, _turned(c, 32)
        a ^= word or 0
    return a ^ b ^ c ^ d


def murmur(text):
    """MurmurHash64A of a text, with TensorFlow's seed. Source: Appleby (2008)."""
    factor, whole = 0xc6a4a7935bd1e995, len(text) // 8 * 8
    found = 0xdecafcaffe ^ len(text) * factor & _WORD
    for place in range(0, whole, 8):
        word = _at(text, place) * factor & _WORD
        found = (found ^ (word ^ word >> 47) * factor & _WORD) * factor & _WORD
    if whole < len(text):
        found = (found ^ _at(text, whole)) * factor & _WORD
    found = (found ^ found >> 47) * factor & _WORD
    return found ^ found >> 47


# ---- the ops ------------------------------------------------------------------------------

def _numbers(texts, *, num_buckets, key=None):
    if num_buckets < 1:
        raise ArgumentError(expected="num_buckets >= 1", found=num_buckets)
    return Spec(int64, texts.dims)


@text_op("StringToHashBucketFast", infer=_numbers)
def string_to_hash_bucket_fast(input: Text, *, num_buckets):
    """FarmHash's fingerprints modulo num_buckets. input: string[...] -> int64[...]."""
    return each(lambda text: farm(text) % num_buckets, input, dtype=np.int64)


@text_op("StringToHashBucketStrong", infer=_numbers)
def string_to_hash_bucket_strong(input: Text, *, num_buckets, key):
    """SipHashes modulo num_buckets. key: two whole numbers. input: string[...] -> int64[...]."""
    if len(key) != 2:
        raise InvalidArgumentError("Key must have 2 elements")
    return each(lambda text: sip(text, [int(part) & _WORD for part in key]) % num_buckets, input, dtype=np.int64)


@text_op("StringToHashBucket", infer=_numbers)
def string_to_hash_bucket(string_tensor: Text, *, num_buckets):
    """MurmurHashes modulo num_buckets. string_tensor: string[...] -> int64[...]."""
    return each(lambda text: murmur(text) % num_buckets, string_tensor, dtype=np.int64)
