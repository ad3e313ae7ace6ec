"""The table of ATen ops, and what its rules share: promotion of types, sizes that may be unknown, axes."""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...model import Table, tf
from ...onnx.sizes import moved
from .types import is_tensor, number

aten = Table("torch", ignored=("layout", "device", "pin_memory", "memory_format", "non_blocking", "generator"))


def row_of(packet: str, overload: str) -> str | None:
    """The name under which the table has an op: with its overload, or for all; in place, as the op that is not."""
    plain = packet[:-1] if packet.endswith("_") and not packet.endswith("__") else packet
    for name in (packet, plain):
        for wanted in (f"{name}.{overload}", name):
            if wanted in aten:
                return wanted
    return None


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


def for_each_axis(values: Any, count: int) -> list[int]:
    """One entry for each axis of space."""
    listed = list(values) if isinstance(values, (list, tuple)) else [values]
    return listed * count if len(listed) == 1 else listed


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
