"""Primitives that reduce axes or run along one, and linear algebra, whose gradients are traced from JAX."""
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....core.errors import ArgumentError
from ....core.op import build
from ... import lapack
from ...model import tf
from .table import JAX, Tensor
from .walk import Called

for _name, _function in {"reduce_sum": tf.reduce_sum, "reduce_prod": tf.reduce_prod}.items():
    JAX.op(_name)(lambda x, *, axes, function=_function: function(x, [int(a) for a in axes]))
for _name, _function in {"psum": tf.reduce_sum, "pmax": tf.reduce_max, "pmin": tf.reduce_min}.items():
    JAX.op(_name, note="over axes by number: vmap has put these for names")(
        lambda *xs, axes, axis_index_groups=None, function=_function: [function(x, [int(a) for a in axes]) for x in xs])


def _folded(function: Callable[..., Any], x: Tensor, axes: Sequence[int]) -> Tensor:
    for axis in sorted(axes, reverse=True):
        x = functools.reduce(function, tf.unstack(x, axis=axis))
    return x


def _numbers(x: Tensor) -> Tensor:
    return tf.cast(x, tf.int32) if x.dtype == tf.bool else x


@JAX.op("reduce", pulled_back=True, note="by halves, as JAX differentiates it")
def reduce(*xs: Tensor, jaxpr: Called, dimensions: Sequence[int], computation: Any = None) -> list[Tensor]:
    count = len(xs) // 2
    starts, rest = xs[count:], [i for i in range(len(xs[0].dims)) if i not in dimensions]
    kept = [xs[0].dims[i] for i in rest]
    parts = [tf.reshape(tf.transpose(x, [*dimensions, *rest]), [-1, *kept]) for x in xs[:count]]
    while parts[0].dims[0] > 1:
        half = (parts[0].dims[0] + 1) // 2
        uppers = [p[half:] for p in parts]
        if parts[0].dims[0] % 2:
            uppers = [tf.concat([u, tf.broadcast_to(s, [1, *kept])], 0) for u, s in zip(uppers, starts)]
        parts = jaxpr(*[p[:half] for p in parts], *uppers)
    return jaxpr(*[tf.broadcast_to(s, kept) for s in starts], *[p[0] for p in parts])


def _running(function: Callable[..., Any], x: Tensor, axis: int, reverse: bool) -> Tensor:
    """By doubling: after each round every element has seen twice as many neighbors."""
    size, distance = x.dims[axis], 1
    while distance < size:
        ends = [slice(None)] * axis
        head, tail = ((*ends, slice(None, distance)), (*ends, slice(distance, None)))
        if reverse:
            head, tail = ((*ends, slice(size - distance, None)), (*ends, slice(None, size - distance)))
        shifted = x[(*ends, slice(distance, None) if reverse else slice(None, size - distance))]
        parts = [x[head], function(x[tail], shifted)]
        x = tf.concat(parts[::-1] if reverse else parts, axis)
        distance *= 2
    return x


def lowest(dtype: Any) -> np.ndarray:
    """The least value of a type."""
    kind = np.dtype(tf.as_dtype(dtype).as_numpy_dtype)
    return np.asarray(-np.inf if kind.kind == "f" else np.iinfo(kind).min, kind)


JAX.rows({
    "reduce_max": (lambda x, *, axes: (tf.reduce_any if x.dtype == tf.bool else tf.reduce_max)(x, list(map(int, axes))),
        "elements that tie share the gradient"),
    "reduce_min": (lambda x, *, axes: (tf.reduce_all if x.dtype == tf.bool else tf.reduce_min)(x, list(map(int, axes))),
        "elements that tie share the gradient"),
    "reduce_and": lambda x, *, axes:
        tf.reduce_all(x, list(axes)) if x.dtype == tf.bool else _folded(build.BitwiseAnd, x, axes),
    "reduce_or": lambda x, *, axes:
        tf.reduce_any(x, list(axes)) if x.dtype == tf.bool else _folded(build.BitwiseOr, x, axes),
    "reduce_xor": lambda x, *, axes: _folded(tf.not_equal if x.dtype == tf.bool else build.BitwiseXor, x, axes),
    "softmax": (lambda x, *, axis: tf.nn.softmax(x, axis), "what jax.nn.softmax writes out"),
    "log_softmax": (lambda x, *, axis: tf.nn.log_softmax(x, axis), "what jax.nn.log_softmax writes out"),
    "cumsum": lambda x, *, axis, reverse: tf.cumsum(x, axis, reverse=reverse),
    "argmax": lambda x, *, axes, index_dtype: tf.argmax(_numbers(x), axes[0], output_type=index_dtype),
    "argmin": lambda x, *, axes, index_dtype: tf.argmin(_numbers(x), axes[0], output_type=index_dtype)})
JAX.rows({
    "cumprod": lambda x, *, axis, reverse: tf.cumprod(x, axis, reverse=reverse),
    "cumlogsumexp": lambda x, *, axis, reverse: build.CumulativeLogsumexp(x, axis, reverse=reverse),
    "cummax": lambda x, *, axis, reverse: _running(tf.maximum, x, axis, reverse),
    "cummin": lambda x, *, axis, reverse: _running(tf.minimum, x, axis, reverse)}, pulled_back=True)


@JAX.op("eig", pulled_back=True)
def eig(x: Tensor, *, compute_left_eigenvectors: bool, compute_right_eigenvectors: bool, **params: Any) -> list[Tensor]:
    if compute_left_eigenvectors:
        raise ArgumentError("eig with left eigenvectors is not there")
    return list(lapack.eig(x)[:1 + compute_right_eigenvectors])


@JAX.op("qr", pulled_back=True)
def qr(x: Tensor, *, full_matrices: bool, pivoting: bool = False, **params: Any) -> list[Tensor]:
    if pivoting:
        raise ArgumentError("qr with pivoting is not there")
    return list(tf.linalg.qr(x, full_matrices=full_matrices))


@JAX.op("svd", pulled_back=True)
def svd(x: Tensor, *, full_matrices: bool, compute_uv: bool, **params: Any) -> list[Tensor]:
    if not compute_uv:
        return [tf.linalg.svd(x, compute_uv=False)]
    values, left, right = tf.linalg.svd(x, full_matrices=full_matrices)
    return [values, left, tf.linalg.adjoint(right)]


@JAX.op("triangular_solve", pulled_back=True)
def triangular_solve(a: Tensor, b: Tensor, *, left_side: bool, lower: bool, transpose_a: bool, conjugate_a: bool,
                     unit_diagonal: bool) -> Tensor:
    if unit_diagonal:
        a = tf.linalg.set_diag(a, tf.ones(a.dims[:-1], a.dtype))
    if conjugate_a and a.dtype.is_complex:
        a = tf.math.conj(a)
    if transpose_a:
        a, lower = tf.linalg.matrix_transpose(a), not lower
    if left_side:
        return tf.linalg.triangular_solve(a, b, lower=lower)
    a, b = tf.linalg.matrix_transpose(a), tf.linalg.matrix_transpose(b)
    return tf.linalg.matrix_transpose(tf.linalg.triangular_solve(a, b, lower=not lower))


JAX.rows({
    "eigh": lambda x, *, lower, **params: build.SelfAdjointEigV2(
        x if lower else tf.linalg.adjoint(x), raises=False)[::-1],
    "cholesky": lambda x, **params: build.Cholesky(x, raises=False),
    "lu": lambda x, **params: list(lapack.lu(x))}, pulled_back=True)
JAX.rows({
    "lu_pivots_to_permutation": lambda pivots, *, permutation_size: lapack.permutation_of(pivots, permutation_size)})
