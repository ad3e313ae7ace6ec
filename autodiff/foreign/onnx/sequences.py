"""ONNX's attention, the rotation of its inputs by position, and recurrent layers, as While loops over time."""
from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.errors import ArgumentError
from ..model import tf
from .elementwise import CURVES
from .elementwise import clip as clipped
from .sizes import moved, rank_of, reshaped, size_of, sizes_of
from .table import dtype_named, like, onnx, text


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


_ACTIVATIONS = {name.lower(): curve for name, curve in CURVES.items()}


def _activations(names: Any, defaults: Sequence[str], directions: int, alpha: Any, beta: Any,
                 limit: float | None) -> list[list[Callable[[Any], Any]]]:
    """The functions of each direction. alpha and beta are listed for those functions that have them."""
    alphas, betas = list(alpha or []), list(beta or [])
    found: list[Callable[[Any], Any]] = []
    for name in [text(n) for n in names or list(defaults) * directions]:
        if name.lower() not in _ACTIVATIONS:
            raise ArgumentError(expected=f"an activation among {', '.join(_ACTIVATIONS)}", found=repr(name))
        of, a, b = _ACTIVATIONS[name.lower()]
        a = alphas.pop(0) if a and alphas else a
        b = betas.pop(0) if b and betas else b
        found.append(functools.partial(_activated, of, a, b, limit))
    return [found[i:i + len(defaults)] for i in range(0, len(found), len(defaults))]


def _activated(of: Callable[..., Any], a: float, b: float, limit: float | None, x: Any) -> Any:
    return of(x if limit is None else clipped(x, -limit, limit), a, b)


def _over_time(step: Callable[..., Any], xs: Any, states: Sequence[Any], lengths: Any) -> tuple[Any, list[Any]]:
    """step(x, *states) -> states, over axis 0 of `xs`: the first states of all steps, and the last ones.

    lengths: int[n], after which a sequence keeps its states and gives zeros; None: all are whole.
    """
    count = len(states)
    dims = states[0].dims

    def body(i: Any, out: Any, *old: Any) -> Any:
        new = list(step(tf.gather(xs, i), *old))
        shown = new[0]
        if lengths is not None:
            alive = tf.expand_dims(i < tf.cast(lengths, tf.int32), 1)
            new = [tf.where_v2(alive, a, b) for a, b in zip(new, old)]
            shown = tf.where_v2(alive, shown, tf.zeros_like(shown))
        for value, state in zip(new, states):
            value.set_shape(state.dims)
        return [i + 1, out.write(i, shown), *new]

    length = tf.shape(xs)[0]
    array = tf.TensorArray(xs.dtype.base_dtype, size=length, element_shape=dims)
    found = tf.while_loop(lambda i, *_: i < length, body, [tf.constant(0), array, *states])
    ys = found[1].stack()
    ys.set_shape([xs.dims[0], *dims])
    return ys, list(found[2:2 + count])


def _layer(x: Any, w: Any, r: Any, bias: Any, lengths: Any, initial: Sequence[Any], usual: Sequence[str],
           cell: Callable[..., Callable[..., Any]], *, activation_alpha: Any = None, activation_beta: Any = None,
           activations: Any = None, clip: Any = None, direction: Any = b"forward", hidden_size: int = 0,
           layout: int = 0) -> list[Any]:
    """All directions of a layer. cell(direction, its activations, r, recurrent bias) -> step(gates of x, *states).

    usual: the activations, if no others are named.
    """
    of = _activations(activations, usual, size_of(w, 0), activation_alpha, activation_beta, clip)
    x = moved(x, 0, 1) if layout else x
    hidden, wide = size_of(r, 2), size_of(r, 1)
    ways = {"reverse": [True], "bidirectional": [False, True]}.get(text(direction), [False])
    outputs, lasts = [], []
    for i, backward in enumerate(ways):
        states = [tf.zeros(tf.stack([tf.shape(x)[1], hidden]), x.dtype.base_dtype) if s is None
                  else (s[:, i] if layout else s[i]) for s in initial]
        for state in states:
            state.set_shape([x.dims[1], hidden])
        zero = tf.zeros([wide], x.dtype.base_dtype)
        of_x, of_h = (zero, zero) if bias is None else (bias[i, :wide], bias[i, wide:])
        xs = _turned(x, lengths) if backward else x
        ys, last = _over_time(cell(i, of[i], r[i], of_h), tf.tensordot(xs, w[i], [[2], [1]]) + of_x, states, lengths)
        outputs.append(_turned(ys, lengths) if backward else ys)
        lasts.append(last)
    y = tf.stack(outputs, 1)
    ends = [tf.stack(each, 1 if layout else 0) for each in zip(*lasts)]
    return [tf.transpose(y, [2, 0, 1, 3]) if layout else y, *ends]


def _turned(x: Any, lengths: Any) -> Any:
    return tf.reverse(x, [0]) if lengths is None else tf.reverse_sequence(x, lengths, seq_axis=0, batch_axis=1)


@onnx.op("RNN")
def rnn(x: Any, w: Any, r: Any, bias: Any = None, sequence_lens: Any = None, initial_h: Any = None, **how: Any) -> Any:
    def cell(i: int, of: Any, r: Any, bias: Any) -> Any:
        return lambda x, h: [of[0](x + tf.matmul(h, r, transpose_b=True) + bias)]

    return _layer(x, w, r, bias, sequence_lens, [initial_h], ["Tanh"], cell, **how)


@onnx.op("GRU", note="gates update, reset, hidden")
def gru(x: Any, w: Any, r: Any, bias: Any = None, sequence_lens: Any = None, initial_h: Any = None, *,
        linear_before_reset: int = 0, **how: Any) -> Any:
    n = size_of(r, 2)

    def cell(i: int, of: Any, r: Any, bias: Any) -> Any:
        def step(x: Any, h: Any) -> Any:
            gates = x[:, :2 * n] + tf.matmul(h, r[:2 * n], transpose_b=True) + bias[:2 * n]
            update, reset = of[0](gates[:, :n]), of[0](gates[:, n:])
            if linear_before_reset:
                old = reset * (tf.matmul(h, r[2 * n:], transpose_b=True) + bias[2 * n:])
            else:
                old = tf.matmul(reset * h, r[2 * n:], transpose_b=True) + bias[2 * n:]
            return [(1 - update) * of[1](x[:, 2 * n:] + old) + update * h]
        return step

    return _layer(x, w, r, bias, sequence_lens, [initial_h], ["Sigmoid", "Tanh"], cell, **how)


@onnx.op("LSTM", note="gates input, output, forget, cell")
def lstm(x: Any, w: Any, r: Any, bias: Any = None, sequence_lens: Any = None, initial_h: Any = None,
         initial_c: Any = None, peepholes: Any = None, *, input_forget: int = 0, **how: Any) -> Any:
    def cell(i: int, of: Any, r: Any, bias: Any) -> Any:
        def step(x: Any, h: Any, c: Any) -> Any:
            enter, leave, keep, new = tf.split(x + tf.matmul(h, r, transpose_b=True) + bias, 4, 1)
            seen = [0.0] * 3 if peepholes is None else tf.split(peepholes[i], 3)
            enter = of[0](enter + seen[0] * c)
            keep = 1 - enter if input_forget else of[0](keep + seen[2] * c)
            c = keep * c + enter * of[1](new)
            return [of[0](leave + seen[1] * c) * of[2](c), c]
        return step

    return _layer(x, w, r, bias, sequence_lens, [initial_h, initial_c], ["Sigmoid", "Tanh", "Tanh"], cell, **how)


@onnx.op("LinearAttention", note="the recurrence, step by step; chunk_size is a hint for speed")
def linear_attention(query: Any, key: Any, value: Any, past: Any = None, decay: Any = None, beta: Any = None, *,
                     chunk_size: int = 64, kv_num_heads: int, q_num_heads: int, scale: float = 0.0,
                     update_rule: Any = b"gated_delta") -> Any:
    batch, length = sizes_of(query)[:2]
    q, k, v = (_heads_over_time(x, n) for x, n in ((query, q_num_heads), (key, kv_num_heads), (value, kv_num_heads)))
    depth, width, groups = size_of(q, -1), size_of(v, -1), q_num_heads // kv_num_heads
    gated, corrected = "gated" in text(update_rule), "delta" in text(update_rule)
    fade = _heads_over_time(decay, kv_num_heads) if gated else None
    rate = _heads_over_time(beta, size_of(beta, 2)) if corrected else None
    state = tf.zeros(tf.stack([batch, kv_num_heads, depth, width]), query.dtype.base_dtype) if past is None else past

    def body(i: Any, out: Any, state: Any) -> Any:
        k_now, v_now = tf.expand_dims(tf.gather(k, i), -1), tf.expand_dims(tf.gather(v, i), -2)
        if fade is not None:
            state = state * tf.expand_dims(tf.exp(tf.gather(fade, i)), -1)
        if rate is not None:
            v_now = tf.expand_dims(tf.gather(rate, i), -1) * (v_now - tf.matmul(k_now, state, transpose_a=True))
        state = state + k_now * v_now
        q_now = tf.reshape(tf.gather(q, i), tf.stack([batch, kv_num_heads, groups, depth]))
        seen = tf.reshape(tf.matmul(q_now, state), tf.stack([batch, -1]))
        return [i + 1, out.write(i, seen), state]

    count = tf.cast(length, tf.int32)
    array = tf.TensorArray(query.dtype.base_dtype, size=count, infer_shape=False)
    invariants = [tf.TensorShape([]), tf.TensorShape(None), tf.TensorShape([None] * 4)]
    _, out, state = tf.while_loop(lambda i, *_: i < count, body, [tf.constant(0), array, state], invariants)
    y = tf.reshape(out.stack(), tf.stack([length, batch, q_num_heads * width])) * (scale or depth ** -0.5)
    return tf.transpose(y, [1, 0, 2]), state


def _heads_over_time(x: Any, heads: int) -> Any:
    """float[length, batch, heads, depth] of float[batch, length, heads * depth]."""
    batch, length, depth = sizes_of(x)
    return tf.transpose(reshaped(x, [batch, length, heads, depth // heads]), [1, 0, 2, 3])
