"""The table of ONNX ops, and what its rows are written with: sizes, axes and values as far as they are known."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.constant_value import static_value
from ...core.dtypes import as_dtype
from ...core.errors import ArgumentError
from ...core.graph import Tensor
from ..model import Table, tf
from .messages import dtype_of

PARAMETERS = "onnx.parameters"  # of a graph's extras: the tensor of a small parameter -> the value it begins with
onnx = Table("ONNX", ignored=("consumed_inputs",))  # a hint of the first version


class Node(NamedTuple):
    """What an op may know of its node beside inputs and attributes. version: of the operator set. wanted: how many
    outputs are named; an op may give more."""

    name: str
    version: int
    wanted: int


class Body(NamedTuple):
    """A graph that is an attribute. inputs, outputs: (dtype, shape) as declared, or None. build(*tensors) gives its
    outputs, made in the graph at hand."""

    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    build: Callable[..., list[Any]]


def dtype_named(code: int) -> Any:
    """Our dtype for the number in attributes such as `to`."""
    return as_dtype(dtype_of(code))


def is_float(x: Tensor) -> bool:
    """Whether its elements are real numbers."""
    return bool(x.dtype.base_dtype.is_floating)


def rank_of(x: Tensor) -> int:
    """Raises ArgumentError where the rank is not known."""
    if x.dims is None:
        raise ArgumentError(expected="a tensor of known rank", found=x.describe(),
                            hint="onnx.shape_inference.infer_shapes(model) may find it")
    return len(x.dims)


def axis_of(axis: int, rank: int) -> int:
    """An axis counted from the front. Raises ArgumentError outside of -rank .. rank - 1."""
    if not -rank <= axis < max(rank, 1):
        raise ArgumentError(expected=f"an axis from {-rank} to {rank - 1}", found=axis)
    return axis + rank if axis < 0 else axis


def value_of(x: Any) -> np.ndarray | None:
    """What is known of a value while the graph is built: of attributes, constants and known shapes; else None."""
    return None if x is None else static_value(x) if isinstance(x, Tensor) else np.asarray(x)


def setting_of(x: Any) -> np.ndarray | None:
    """The same, and the value that a parameter begins with: for what decides on shapes, and is not trained."""
    found = value_of(x)
    return found if found is not None or x is None else x.graph.outermost.extras.get(PARAMETERS, {}).get(x)


def ints(x: Any) -> list[int] | None:
    """A known vector or scalar of integers as a list."""
    value = value_of(x)
    return None if value is None else [int(v) for v in np.atleast_1d(value)]


def scalar(x: Any) -> Any:
    """The one element of a tensor of any shape: a Python number if it is known, else a tensor of shape []."""
    value = value_of(x)
    if value is not None and value.size != 1:
        raise ArgumentError(expected="one element", found=f"an array of shape {list(value.shape)}")
    return value.reshape(()).item() if value is not None else x if x.dims == () else tf.reshape(x, [])


def shape_of(x: Tensor) -> Any:
    """The shape as int64[rank]."""
    return tf.shape(x, out_type=tf.int64)


def size_of(x: Tensor, axis: int) -> Any:
    """The length of an axis: an int if it is known, else int64[]."""
    if x.dims is None:
        return shape_of(x)[axis]
    known = x.dims[axis_of(axis, len(x.dims))]
    return shape_of(x)[axis] if known is None else known


def sizes_of(x: Tensor, *axes: int) -> list[Any]:
    """The lengths of these axes, of all if there are none: ints where known."""
    return [size_of(x, axis) for axis in axes or range(rank_of(x))]


def vector(entries: Sequence[Any]) -> Any:
    """int64[n] of ints and int64[] tensors; an array if all are known."""
    if all(isinstance(entry, (int, np.integer)) for entry in entries):
        return np.array(entries, np.int64)
    return tf.stack([tf.cast(entry, tf.int64) for entry in entries])


def product(entries: Sequence[Any]) -> Any:
    """The product of ints and int64[] tensors: an int if all are known."""
    found: Any = 1
    for entry in entries:
        found = found * entry
    return found


def reshaped(x: Tensor, entries: Sequence[Any]) -> Any:
    """`x` in a shape of ints and int64[] tensors; at most one that is not known takes what is left."""
    unknown = [i for i, entry in enumerate(entries) if isinstance(entry, Tensor)]
    if len(unknown) == 1 and 0 not in [e for e in entries if not isinstance(e, Tensor)]:
        entries = [-1 if i == unknown[0] else entry for i, entry in enumerate(entries)]
    return tf.reshape(x, vector(entries))


def moved(x: Tensor, source: int, target: int) -> Any:
    """`x` with one axis at another place."""
    rank = rank_of(x)
    order = [i for i in range(rank) if i != axis_of(source, rank)]
    order.insert(axis_of(target, rank), axis_of(source, rank))
    return x if order == list(range(rank)) else tf.transpose(x, order)


def like(value: Any, x: Tensor) -> Any:
    """A number as a constant of the type of `x`, or a tensor cast to it."""
    dtype = x.dtype.base_dtype
    return tf.cast(value, dtype) if isinstance(value, Tensor) else tf.constant(value, dtype)


def text(value: Any) -> str:
    """An attribute that is a text."""
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def in_numpy(of: Callable[..., Any], dtypes: Sequence[Any], *values: Any) -> list[Any]:
    """of(*values): constants where all values are known, else computed in the run."""
    known = [value_of(v) for v in values]
    if all(v is not None for v in known):
        return [tf.constant(np.asarray(v, d.as_numpy_dtype)) for v, d in zip(of(*known), dtypes)]

    def made(*arrays: Any) -> list[np.ndarray]:
        return [np.asarray(v, d.as_numpy_dtype) for v, d in zip(of(*arrays), dtypes)]
    return tf.py_func(made, [tf.convert_to_tensor(v) for v in values], list(dtypes))


def flat_before_13(x: Any, axis: Any, node: Node) -> tuple[Any, int]:
    """Old versions of softmax and its kin see a matrix: the axes before `axis`, and those from it on."""
    if node.version >= 13 or axis in (-1, rank_of(x) - 1):
        return x, axis_of(-1 if axis is None else axis, rank_of(x))
    at = axis_of(1 if axis is None else axis, rank_of(x))
    rows: Any = 1
    for size in sizes_of(x)[:at]:
        rows = rows * size
    return reshaped(x, [rows, -1]), 1
