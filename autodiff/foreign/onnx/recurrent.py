"""ONNX's recurrent layers, as While loops over time."""
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ...core.errors import ArgumentError
from ..model import tf
from .elementwise import clip as clipped
from .elementwise import elu, hard_sigmoid, leaky_relu, thresholded_relu
from .table import moved, onnx, reshaped, size_of, sizes_of, text

# Name -> the function of x, alpha and beta, and their defaults.
_ACTIVATIONS: dict[str, tuple[Callable[..., Any], float, float]] = {
    "tanh": (lambda x, a, b: tf.tanh(x), 0, 0), "sigmoid": (lambda x, a, b: tf.sigmoid(x), 0, 0),
    "relu": (lambda x, a, b: tf.nn.relu(x), 0, 0), "affine": (lambda x, a, b: a * x + b, 1, 0),
    "leakyrelu": (lambda x, a, b: leaky_relu(x, alpha=a), 0.01, 0),
    "thresholdedrelu": (lambda x, a, b: thresholded_relu(x, alpha=a), 1, 0),
    "scaledtanh": (lambda x, a, b: a * tf.tanh(b * x), 1, 1),
    "hardsigmoid": (lambda x, a, b: hard_sigmoid(x, alpha=a, beta=b), 0.2, 0.5),
    "elu": (lambda x, a, b: elu(x, alpha=a), 1, 0), "softsign": (lambda x, a, b: tf.nn.softsign(x), 0, 0),
    "softplus": (lambda x, a, b: tf.nn.softplus(x), 0, 0)}


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
