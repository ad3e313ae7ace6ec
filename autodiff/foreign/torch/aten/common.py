"""The table of ATen ops, and what its rules share: promotion of types, sizes that may be unknown, axes."""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...model import Table, tf
from ...onnx.table import moved

aten = Table("torch", ignored=("layout", "device", "pin_memory", "memory_format", "non_blocking", "generator"))
where, no_gradient = tf.where_v2, tf.stop_gradient


def row_of(packet: str, overload: str) -> str | None:
    """The name under which the table has an op: with its overload, or for all; in place, as the op that is not."""
    plain = packet[:-1] if packet.endswith("_") and not packet.endswith("__") else packet
    for name in (packet, plain):
        for wanted in (f"{name}.{overload}", name):
            if wanted in aten:
                return wanted
    return None


def is_tensor(x: Any) -> bool:
    """Whether something is a tensor of ours, not a number."""
    return isinstance(x, tf.Tensor)


def rank(x: Any) -> int:
    """How many axes a tensor has; torch always knows."""
    return len(x.dims)


def axis_of(axis: int, count: int) -> int:
    """An axis that may count from the end. A scalar has one, as torch sees it."""
    return axis % max(count, 1)


def on_axis(rule: Callable[..., Any]) -> Callable[..., Any]:
    """A rule for one `axis`, which it gets counted from the front; a scalar is a vector of one, as torch sees it."""
    taken = inspect.signature(rule)

    @functools.wraps(rule)
    def build(x: Any, *args: Any, **kwargs: Any) -> Any:
        given = taken.bind(x, *args, **kwargs)
        given.apply_defaults()
        given.arguments["axis"] = axis_of(given.arguments["axis"], rank(x))
        if rank(x):
            return rule(*given.args, **given.kwargs)
        found = rule(*[tf.reshape(a, [1]) if is_tensor(a) and not rank(a) else a for a in given.args], **given.kwargs)
        return [tf.reshape(y, []) for y in found] if isinstance(found, (list, tuple)) else tf.reshape(found, [])
    return build


def axes_of(axes: Any, count: int) -> list[int]:
    """Axes as a list; None or none at all are all of them, and a scalar has none."""
    if not count:
        return []
    if axes is None or isinstance(axes, (list, tuple)) and not axes:
        return list(range(count))
    return [axis_of(a, count) for a in (axes if isinstance(axes, (list, tuple)) else [axes])]


def dims(x: Any) -> list[Any]:
    """Sizes of a tensor: numbers where they are known, else scalar tensors."""
    if None not in x.dims:
        return list(x.dims)
    found = tf.shape(x)
    return [found[i] if d is None else d for i, d in enumerate(x.dims)]


def shape_of(sizes: Sequence[Any]) -> Any:
    """Sizes, some of them tensors, as one shape."""
    if not any(is_tensor(s) for s in sizes):
        return np.array(sizes, np.int32).reshape(-1)
    return tf.stack([tf.cast(s, tf.int32) if is_tensor(s) else np.int32(s) for s in sizes])


def count_of(x: Any, axes: Sequence[int], dtype: Any) -> Any:
    """How many elements are reduced over axes, as a scalar of a type."""
    sizes = dims(x)
    known = int(np.prod([sizes[a] for a in axes if not is_tensor(sizes[a])], dtype=np.int64))
    result = tf.constant(known, dtype)
    for a in axes:
        if is_tensor(sizes[a]):
            result = result * tf.cast(sizes[a], dtype)
    return result


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


def for_each_axis(values: Any, count: int) -> list[int]:
    """One entry for each axis of space."""
    listed = list(values) if isinstance(values, (list, tuple)) else [values]
    return listed * count if len(listed) == 1 else listed


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


def along(x: Any, axis: int, matrix: np.ndarray) -> Any:
    """What a constant matrix makes of each vector along an axis. matrix: float[m, n], n the size of the axis."""
    return moved(tf.tensordot(moved(x, axis, -1), number(matrix.T, x), 1), -1, axis)


def as_given(y: Any, x: Any) -> Any:
    """Without the axis of batches that was put before x, if it was."""
    return y if rank(y) == rank(x) else tf.squeeze(y, axis=[0])


def taken(x: Any, places: np.ndarray) -> Any:
    """Elements of the flattened tensor by constant places. -> x.dtype[places.shape]."""
    return tf.gather(tf.reshape(x, [-1]), tf.constant(places.astype(np.int64)))


def places(x: Any) -> np.ndarray:
    """The place of each element of a tensor of known sizes in the flattened tensor."""
    return np.arange(int(np.prod(x.dims, dtype=np.int64))).reshape(x.dims)


def with_gradient(value: Any, xs: Sequence[Any], gradient: Callable[[Any], Sequence[Any]]) -> Any:
    """`value`, made of xs, with a gradient given by hand: gradient(dy) gives one for each of xs."""
    inside = [tf.stop_gradient(value)]

    def given(*_: Any) -> Any:
        return inside[0], lambda dy: list(gradient(dy))

    given.is_convention = True  # type: ignore[attr-defined]
    return tf.custom_gradient(given)(*xs)
