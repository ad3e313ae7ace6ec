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
