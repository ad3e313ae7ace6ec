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


@aten.op("_new_zeros_with_same_feature_meta", note="the tangent that torch.func.jvp begins with")
def new_zeros_like(x: Any, other: Any, *, self_num_batch_dims: int = 0) -> Any:
    return _filled(dims(x)[:self_num_batch_dims] + dims(other), 0, _like(x, None))


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


aten.rows({
    "ones": lambda sizes, *, dtype=None: _filled(sizes, 1, dtype or tf.float32),
    "full_like": lambda x, value, *, dtype=None: tf.fill(tf.shape(x), as_type(value, _like(x, dtype))),
    "zero": lambda x: tf.zeros_like(x),
    "new_ones": lambda x, sizes, *, dtype=None: _filled(sizes, 1, _like(x, dtype)),
    "new_full": lambda x, sizes, value, *, dtype=None: _filled(sizes, value, _like(x, dtype)),
    "scalar_tensor": lambda value, *, dtype=None: as_type(value, dtype or tf.float32),
    "sym_numel": lambda x: tf.size(x),
    "_local_scalar_dense": lambda x: tf.stop_gradient(x),
    "full fill.empty": lambda sizes, value, *, dtype=None: _filled(sizes, value, dtype or _default(value)),
    "zeros empty empty_strided efficientzerotensor": (lambda sizes, strides=None, *, dtype=None:
        _filled(sizes, 0, dtype or tf.float32), "what is empty in torch is zero here"),
    "zeros_like empty_like": lambda x, *, dtype=None: tf.zeros_like(x, dtype=_like(x, dtype)),
    "ones_like": lambda x, *, dtype=None: tf.ones_like(x, dtype=_like(x, dtype)),
    "fill": lambda x, value: tf.fill(tf.shape(x), as_type(value, x.dtype.base_dtype)),
    "new_zeros new_empty new_empty_strided": lambda x, sizes, strides=None, *, dtype=None:
        _filled(sizes, 0, _like(x, dtype)),
    "arange.default": lambda end, *, dtype=None: arange_from(0, end, dtype=dtype),
    "logspace": lambda start, end, steps, base=10.0, *, dtype=None:
        tf.constant(np.logspace(start, end, steps, base=base), dtype or tf.float32),
    "eye eye.m": lambda rows, columns=None, *, dtype=None: tf.constant(np.eye(rows, columns), dtype or tf.float32),
    "tril_indices": lambda rows, columns, offset=0, *, dtype=None:
        tf.constant(np.stack(np.tril_indices(rows, offset, columns)), dtype or tf.int64),
    "triu_indices": lambda rows, columns, offset=0, *, dtype=None:
        tf.constant(np.stack(np.triu_indices(rows, offset, columns)), dtype or tf.int64),
    "sym_size sym_size.int": lambda x, axis: tf.shape(x)[axis],
    "one_hot": lambda x, classes=-1: tf.one_hot(x, classes, dtype=tf.int64),
})
