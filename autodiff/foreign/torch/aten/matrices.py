"""ATen's products, distances and Fourier transforms."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...model import tf
from ...onnx.elementwise import gelu
from ...onnx.sizes import moved
from .common import aten, axes_of, rank
from .reductions import vector_norm
from .types import as_type, category, number, promoted, where


def _product(a: Any, b: Any) -> Any:
    if category(a.dtype.base_dtype) < 2 and a.dtype.base_dtype is not tf.int32:
        return tf.cast(tf.matmul(tf.cast(a, tf.int32), tf.cast(b, tf.int32)), a.dtype.base_dtype)
    return tf.matmul(a, b)


def _by_vector(a: Any, x: Any) -> Any:
    return tf.squeeze(_product(a, tf.expand_dims(x, 1)), axis=[1])


def _outer(x: Any, y: Any) -> Any:
    return tf.expand_dims(x, 1) * tf.expand_dims(y, 0)


def _added(multiplied: Any) -> Any:
    def build(c: Any, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1, use_gelu: bool | None = None) -> Any:
        product = multiplied(a, b)
        product = product if alpha == 1 else product * number(alpha, product)
        y = product if beta == 0 else (c if beta == 1 else c * number(beta, c)) + product
        return y if use_gelu is None else gelu(y) if use_gelu else tf.nn.relu(y)
    return build


@aten.op("linear", "mkldnn_linear")
def linear(x: Any, weight: Any, bias: Any = None) -> Any:
    y = tf.tensordot(x, weight, axes=[[rank(x) - 1], [rank(weight) - 1]])
    return y if bias is None else y + bias


@aten.op("linalg_cross")
def cross(x: Any, y: Any, *, dim: int = -1) -> Any:
    x, y = promoted(x, y)
    if tuple(x.dims) != tuple(y.dims):
        wide = tf.broadcast_dynamic_shape(tf.shape(x), tf.shape(y))
        x, y = tf.broadcast_to(x, wide), tf.broadcast_to(y, wide)
    return moved(tf.linalg.cross(moved(x, dim, -1), moved(y, dim, -1)), -1, dim)


@aten.op("_trilinear")
def trilinear(a: Any, b: Any, c: Any, expand1: Any, expand2: Any, expand3: Any, sumdim: Any,
              unroll_dim: int = 1) -> Any:
    for axes, which in ((expand1, 0), (expand2, 1), (expand3, 2)):
        for axis in sorted(axes):
            a, b, c = (tf.expand_dims(t, axis) if i == which else t for i, t in enumerate((a, b, c)))
    return tf.reduce_sum(a * b * c, axis=list(sumdim))

@aten.op("_cdist_forward", "cdist")
def cdist(x: Any, y: Any, p: float = 2.0, mode: Any = None) -> Any:
    return vector_norm(tf.expand_dims(x, -2) - tf.expand_dims(y, -3), p, [-1])


@aten.op("_pdist_forward", "pdist")
def pdist(x: Any, p: float = 2.0) -> Any:
    rows, columns = np.triu_indices(x.dims[0], 1)
    return vector_norm(tf.gather(x, tf.constant(rows)) - tf.gather(x, tf.constant(columns)), p, [1])


def _scale(x: Any, axes: list[int], normalization: int, sizes: list[int]) -> Any:
    """torch's 0, 1, 2: not scaled, by the root of the count, by the count."""
    count = float(np.prod([sizes[a] for a in axes]))
    return {0: 1.0, 1: 1 / math.sqrt(count), 2: 1 / count}[normalization]


@aten.op("_fft_c2c")
def fft_c2c(x: Any, axes: Any, normalization: int, forward: bool) -> Any:
    over = axes_of(axes, rank(x))
    scale = _scale(x, over, normalization, list(x.dims))
    for axis in over:
        x = moved((tf.signal.fft if forward else tf.signal.ifft)(moved(x, axis, -1)), -1, axis)
        scale = scale if forward else scale * x.dims[axis]
    return x * as_type(scale, x.dtype.base_dtype)


@aten.op("_fft_r2c")
def fft_r2c(x: Any, axes: Any, normalization: int, onesided: bool) -> Any:
    over = axes_of(axes, rank(x))
    wide = as_type(x, tf.complex64 if x.dtype.base_dtype is tf.float32 else tf.complex128)
    y = fft_c2c(wide, over, normalization, True)
    if not onesided:
        return y
    half = x.dims[over[-1]] // 2 + 1
    return y[(slice(None),) * over[-1] + (slice(0, half),)]


@aten.op("_fft_c2r")
def fft_c2r(x: Any, axes: Any, normalization: int, last: int) -> Any:
    """The hidden half is the conjugate of the one that is there, turned around."""
    over = axes_of(axes, rank(x))
    at, half = over[-1], x.dims[over[-1]]
    for axis in over[:-1]:
        x = fft_c2c(x, [axis], 0, False)
    sizes = [last if a == at else d for a, d in enumerate(x.dims)]
    hidden = np.arange(last // 2 + 1, last)
    mirrored = tf.conj(tf.gather(x, tf.constant(last - hidden), axis=at))
    kept = x[(slice(None),) * at + (slice(0, min(half, last // 2 + 1)),)]
    edges = np.zeros(kept.dims[at], bool)
    edges[[0] + ([last // 2] if last % 2 == 0 else [])] = True
    shape = [-1 if a == at else 1 for a in range(rank(x))]
    real = as_type(tf.real(kept), x.dtype.base_dtype)  # of the first and middle one only the real part counts
    kept = where(tf.constant(edges.reshape(shape)), real, kept)
    y = fft_c2c(tf.concat([kept, mirrored], axis=at), [at], 0, False)
    return tf.real(y) * number(_scale(x, over, normalization, sizes), tf.real(y))


aten.rows({
    "addmm baddbmm": _added(_product), "addmv": _added(_by_vector), "addr": _added(_outer),
    "addbmm": _added(lambda a, b: tf.reduce_sum(_product(a, b), axis=0)),
    "_addmm_activation": lambda c, a, b, *, beta=1, alpha=1, use_gelu=False:
        _added(_product)(c, a, b, beta=beta, alpha=alpha, use_gelu=use_gelu),
    "mv": _by_vector, "outer ger": _outer, "_euclidean_dist": lambda x, y: cdist(x, y),
    "mm bmm matmul": lambda a, b: _product(a, b), "dot": lambda x, y: tf.reduce_sum(x * y),
    "vdot": lambda x, y: tf.reduce_sum(tf.math.conj(x) * y),
    "linalg_vecdot": lambda x, y, *, dim=-1: tf.reduce_sum(tf.math.conj(x) * y, axis=dim),
    "trace": lambda x: tf.linalg.trace(x)})
