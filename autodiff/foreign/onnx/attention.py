"""ONNX's attention, and the rotation of its inputs by position."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..model import tf
from .table import dtype_named, like, onnx, rank_of, reshaped, size_of, sizes_of


def _heads(x: Any, count: int) -> Any:
    """float[batch, heads, length, depth] of float[batch, length, heads * depth]; unchanged if it is so already."""
    if rank_of(x) == 4:
        return x
    batch, length, width = sizes_of(x)
    return tf.transpose(reshaped(x, [batch, length, count, width // count]), [0, 2, 1, 3])


def _additive(allowed: Any, x: Any) -> Any:
    return tf.where_v2(allowed, like(0, x), like(-np.inf, x))


def _mask(mask: Any, x: Any, length: Any) -> Any:
    """The mask as numbers to add; keys that it does not reach are not looked at."""
    mask = _additive(mask, x) if mask.dtype.base_dtype == tf.bool else mask
    missing = tf.cast(length, tf.int64) - tf.cast(size_of(mask, -1), tf.int64)
    pairs = tf.stack([tf.zeros([rank_of(mask)], tf.int64),
                      tf.concat([tf.zeros([rank_of(mask) - 1], tf.int64), [missing]], 0)], 1)
    dims = mask.dims
    mask = mask if dims[-1] == length else tf.pad(mask, pairs, constant_values=like(-np.inf, x))
    mask.set_shape([*dims[:-1], None])
    return mask


def _positions(queries: Any, keys: Any, offset: Any) -> Any:
    """How far each key lies behind each query: int64[q, k], or [batch, 1, q, k] for an offset for each batch."""
    i, j = (tf.range(tf.cast(n, tf.int64)) for n in (queries, keys))
    apart = tf.expand_dims(i, 1) - tf.expand_dims(j, 0)
    return apart + (tf.reshape(offset, [-1, 1, 1, 1]) if getattr(offset, "dims", ()) else offset)


def _bias(q: Any, k: Any, mask: Any, past_length: Any, filled: Any, is_causal: int, left: int, right: int) -> Any:
    """All that is added to the scores, -inf where a query must not look; None if there is nothing.

    filled: int[batch], how many keys are no padding, or None. past_length: keys before the first query, or None.
    """
    queries, keys = size_of(q, 2), size_of(k, 2)
    parts = [] if mask is None else [_mask(mask, q, keys)]
    if is_causal or left >= 0 or right >= 0:
        offset = tf.cast(0 if past_length is None else past_length, tf.int64)
        if past_length is None and filled is not None:
            offset = tf.reshape(tf.cast(filled, tf.int64), [-1]) - tf.cast(queries, tf.int64)
        apart = _positions(queries, keys, offset)
        for holds, allowed in ((is_causal, apart >= 0), (left >= 0, apart <= left), (right >= 0, -apart <= right)):
            if holds:
                parts.append(_additive(allowed, q))
    if filled is not None:
        allowed = tf.range(tf.cast(keys, tf.int64)) < tf.reshape(tf.cast(filled, tf.int64), [-1, 1, 1, 1])
        parts.append(_additive(allowed, q))
    return sum(parts[1:], parts[0]) if parts else None


@onnx.op("Attention", note="a query that may look nowhere gives zeros")
def attention(q: Any, k: Any, v: Any, mask: Any = None, past_key: Any = None, past_value: Any = None,
              nonpad_kv_seqlen: Any = None, *, is_causal: int = 0, kv_num_heads: int = 0, q_num_heads: int = 0,
              qk_matmul_output_mode: int = 0, scale: float = 0.0, softcap: float = 0.0, softmax_precision: int = 0,
              left_window_size: int = -1, right_window_size: int = -1) -> Any:
    is_flat, dtype = rank_of(q) == 3, q.dtype.base_dtype
    q, k, v = _heads(q, q_num_heads), _heads(k, kv_num_heads), _heads(v, kv_num_heads)
    past = None if past_key is None else size_of(past_key, 2)
    k, v = (new if old is None else tf.concat([old, new], 2) for new, old in ((k, past_key), (v, past_value)))
    bias = _bias(q, k, mask, past, nonpad_kv_seqlen, is_causal, left_window_size, right_window_size)
    root = math.sqrt(scale) if scale else float(int(q.shape[3])) ** -0.25
    scores = tf.matmul(q * root, _repeated(k, q) * root, transpose_b=True)
    scores = softcap * tf.tanh(scores / softcap) if softcap > 0 else scores
    shown, masked = scores, None
    if bias is not None:
        masked = tf.is_inf(tf.reduce_max(bias, -1, keepdims=True))  # decided by the bias: a score may be infinite too
        shown = scores + bias if qk_matmul_output_mode == 2 else shown
        scores = scores + tf.where_v2(masked, tf.zeros_like(bias), bias)
    weights = tf.nn.softmax(tf.cast(scores, dtype_named(softmax_precision)) if softmax_precision else scores)
    weights = weights if masked is None else tf.where_v2(masked, tf.zeros_like(weights), weights)
    weights = tf.cast(weights, dtype) if softmax_precision else weights
    y = tf.matmul(weights, _repeated(v, q))
    if is_flat:
        batch, heads, length, depth = sizes_of(y)
        y = reshaped(tf.transpose(y, [0, 2, 1, 3]), [batch, length, heads * depth])
    return y, k, v, weights if qk_matmul_output_mode == 3 else shown


def _repeated(x: Any, q: Any) -> Any:
    """Each head of keys or values as often as there are heads of queries for it."""
    batch, heads, length, depth = sizes_of(x)
    times = size_of(q, 1) // heads
    if times == 1:
        return x
    return reshaped(tf.tile(tf.expand_dims(x, 2), [1, 1, times, 1, 1]), [batch, heads * times, length, depth])


@onnx.op("RotaryEmbedding")
def rotary_embedding(x: Any, cos_cache: Any, sin_cache: Any, position_ids: Any = None, *, interleaved: int = 0,
                     num_heads: int = 0, rotary_embedding_dim: int = 0) -> Any:
    rank, sizes = rank_of(x), sizes_of(x)
    if rank == 3:
        parts = reshaped(x, [*sizes[:2], num_heads, sizes[2] // num_heads])
    else:
        parts = tf.transpose(x, [0, 2, 1, 3])
    width = rotary_embedding_dim or size_of(parts, 3)
    cos, sin = (c if position_ids is None else tf.gather(c, position_ids) for c in (cos_cache, sin_cache))
    cos, sin = tf.expand_dims(cos, 2), tf.expand_dims(sin, 2)
    turned, rest = parts[..., :width], parts[..., width:]
    half = width // 2
    one, two = (turned[..., 0::2], turned[..., 1::2]) if interleaved else (turned[..., :half], turned[..., half:])
    real, imaginary = cos * one - sin * two, sin * one + cos * two
    if interleaved:
        turned = reshaped(tf.stack([real, imaginary], -1), sizes_of(turned))
    else:
        turned = tf.concat([real, imaginary], -1)
    y = tf.concat([turned, rest], -1)
    return reshaped(y, sizes) if rank == 3 else tf.transpose(y, [0, 2, 1, 3])
