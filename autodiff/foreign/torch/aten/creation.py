"""ATen's new tensors: filled, counted, made like others."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...model import tf
from .common import as_type, aten, dims, is_tensor, shape_of


def _like(x: Any, dtype: Any) -> Any:
    return x.dtype.base_dtype if dtype is None else dtype


def _filled(sizes: Any, value: Any, dtype: Any) -> Any:
    return tf.fill(shape_of(sizes), as_type(value, dtype))


def _default(value: Any) -> Any:
    kinds = {bool: tf.bool, int: tf.int64, complex: tf.complex64}
    return value.dtype.base_dtype if is_tensor(value) else kinds.get(type(value), tf.float32)


@aten.op("full", "fill.empty")
def full(sizes: Any, value: Any, *, dtype: Any = None) -> Any:
    return _filled(sizes, value, dtype or _default(value))


@aten.op("zeros", "empty", "empty_strided", "efficientzerotensor", note="what is empty in torch is zero here")
def zeros(sizes: Any, strides: Any = None, *, dtype: Any = None) -> Any:
    return _filled(sizes, 0, dtype or tf.float32)


@aten.op("zeros_like", "empty_like")
def zeros_like(x: Any, *, dtype: Any = None) -> Any:
    return tf.zeros_like(x, dtype=_like(x, dtype))


@aten.op("ones_like")
def ones_like(x: Any, *, dtype: Any = None) -> Any:
    return tf.ones_like(x, dtype=_like(x, dtype))


@aten.op("fill")
def fill(x: Any, value: Any) -> Any:
    return tf.fill(tf.shape(x), as_type(value, x.dtype.base_dtype))


@aten.op("new_zeros", "new_empty", "new_empty_strided")
def new_zeros(x: Any, sizes: Any, strides: Any = None, *, dtype: Any = None) -> Any:
    return _filled(sizes, 0, _like(x, dtype))


@aten.op("_new_zeros_with_same_feature_meta", note="the tangent that torch.func.jvp begins with")
def new_zeros_like(x: Any, other: Any, *, self_num_batch_dims: int = 0) -> Any:
    return _filled(dims(x)[:self_num_batch_dims] + dims(other), 0, _like(x, None))


@aten.op("arange.default")
def arange(end: Any, *, dtype: Any = None) -> Any:
    return arange_from(0, end, dtype=dtype)


@aten.op("arange.start", "arange.start_step")
def arange_from(start: Any, end: Any, step: Any = 1, *, dtype: Any = None) -> Any:
    if any(is_tensor(v) for v in (start, end, step)):
        found = tf.range(start, end, step)
        return as_type(found, dtype or tf.int64)
    wanted = dtype or (tf.float32 if any(isinstance(v, float) for v in (start, end, step)) else tf.int64)
    return tf.constant(np.arange(start, end, step), wanted)


@aten.op("linspace")
def linspace(start: Any, end: Any, steps: int, *, dtype: Any = None) -> Any:
    if is_tensor(start) or is_tensor(end):
        weights = tf.constant(np.linspace(0, 1, steps), dtype or tf.float32)
        return start + (end - start) * weights
    return tf.constant(np.linspace(start, end, steps), dtype or tf.float32)


@aten.op("logspace")
def logspace(start: Any, end: Any, steps: int, base: float = 10.0, *, dtype: Any = None) -> Any:
    return tf.constant(np.logspace(start, end, steps, base=base), dtype or tf.float32)


@aten.op("eye", "eye.m")
def eye(rows: int, columns: int | None = None, *, dtype: Any = None) -> Any:
    return tf.constant(np.eye(rows, columns), dtype or tf.float32)


@aten.op("tril_indices")
def tril_indices(rows: int, columns: int, offset: int = 0, *, dtype: Any = None) -> Any:
    return tf.constant(np.stack(np.tril_indices(rows, offset, columns)), dtype or tf.int64)


@aten.op("triu_indices")
def triu_indices(rows: int, columns: int, offset: int = 0, *, dtype: Any = None) -> Any:
    return tf.constant(np.stack(np.triu_indices(rows, offset, columns)), dtype or tf.int64)


@aten.op("sym_size", "sym_size.int")
def sym_size(x: Any, axis: int) -> Any:
    return tf.shape(x)[axis]


@aten.op("one_hot")
def one_hot(x: Any, classes: int = -1) -> Any:
    return tf.one_hot(x, classes, dtype=tf.int64)


aten.rows({
    "ones": lambda sizes, *, dtype=None: _filled(sizes, 1, dtype or tf.float32),
    "full_like": lambda x, value, *, dtype=None: tf.fill(tf.shape(x), as_type(value, _like(x, dtype))),
    "zero": lambda x: tf.zeros_like(x),
    "new_ones": lambda x, sizes, *, dtype=None: _filled(sizes, 1, _like(x, dtype)),
    "new_full": lambda x, sizes, value, *, dtype=None: _filled(sizes, value, _like(x, dtype)),
    "scalar_tensor": lambda value, *, dtype=None: as_type(value, dtype or tf.float32),
    "sym_numel": lambda x: tf.size(x),
    "_local_scalar_dense": lambda x: tf.stop_gradient(x),
})
