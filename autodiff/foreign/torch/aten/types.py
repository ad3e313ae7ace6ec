"""Types as torch promotes them, and numbers and tensors of a type."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...model import tf

where, no_gradient = tf.where_v2, tf.stop_gradient


def is_tensor(x: Any) -> bool:
    """Whether something is a tensor of ours, not a number."""
    return isinstance(x, tf.Tensor)


def category(dtype: Any) -> int:
    """The place of a type in bool < integer < floating < complex."""
    return {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}[dtype.kind]


def _joined(a: Any, b: Any) -> Any:
    """The type that holds both, as torch.promote_types says; None is no type."""
    if a is None or b is None:
        return a or b
    if category(a) != category(b):
        high, low = (a, b) if category(a) > category(b) else (b, a)
        return tf.complex128 if high is tf.complex64 and low is tf.float64 else high
    return tf.as_dtype(np.promote_types(a.as_numpy_dtype, b.as_numpy_dtype))


def result_type(*xs: Any) -> Any:
    """torch.result_type: tensors with axes come before scalars, those before Python's numbers."""
    wide = zero = wrapped = None
    for x in xs:
        if is_tensor(x):
            kept = x.dtype.base_dtype
            wide, zero = (_joined(wide, kept), zero) if x.dims else (wide, _joined(zero, kept))
        elif x is not None:
            kind = bool if isinstance(x, (bool, np.bool_)) else int if isinstance(x, (int, np.integer)) else type(x)
            wrapped = _joined(wrapped, {bool: tf.bool, int: tf.int64, complex: tf.complex64}.get(kind, tf.float32))
    return _combined(wide, _combined(zero, wrapped))


def _combined(high: Any, low: Any) -> Any:
    """What a type becomes by another one of lower priority: only a higher category changes it."""
    if high is None or low is None or category(low) <= category(high):
        return high or low
    if category(low) == 3 and category(high) == 2:
        return tf.complex128 if high is tf.float64 else tf.complex64
    return low


def promoted(*xs: Any, floating: bool = False) -> list[Any]:
    """Tensors and numbers as tensors of their common type; floating: of integers the default float."""
    dtype = result_type(*xs)
    if floating and category(dtype) < 2:
        dtype = tf.float32
    return [as_type(x, dtype) for x in xs]


def joint(rule: Callable[..., Any], **how: Any) -> Callable[..., Any]:
    """A rule for two tensors or numbers of one type, for any two. how: what `promoted` is told."""
    @functools.wraps(rule)
    def build(x: Any, y: Any, *args: Any, **kwargs: Any) -> Any:
        return rule(*promoted(x, y, **how), *args, **kwargs)
    return build


def as_type(x: Any, dtype: Any) -> Any:
    """A tensor or number as a tensor of a type; None gives None."""
    if x is None or is_tensor(x):
        return x if x is None or dtype is None or x.dtype.base_dtype is dtype else _cast(x, dtype)
    return tf.constant(bool(x) if dtype is tf.bool else int(x) if category(dtype) == 1 else x, dtype)


def _cast(x: Any, dtype: Any) -> Any:
    """Numbers are true unless they are zero; other casts are TensorFlow's."""
    if dtype is tf.bool:
        return tf.not_equal(x, tf.zeros_like(x)) if x.dtype.base_dtype is not tf.bool else x
    if category(dtype) == 3 and category(x.dtype.base_dtype) < 3:
        real = as_type(x, tf.float32 if dtype is tf.complex64 else tf.float64)
        return tf.complex(real, tf.zeros_like(real))
    if category(x.dtype.base_dtype) == 3 and category(dtype) < 3:
        return as_type(tf.real(x), dtype)
    return tf.cast(x, dtype)


def floating(x: Any) -> Any:
    """A tensor as floating numbers: integers become the default float."""
    return as_type(x, tf.float32) if category(x.dtype.base_dtype) < 2 else x


def number(value: Any, like: Any) -> Any:
    """A constant of the type of a tensor."""
    return as_type(value, like.dtype.base_dtype)
