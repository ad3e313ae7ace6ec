"""Feeds: values for any tensors, converted and checked before anything runs."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from ..core.convert import as_array, shortened
from ..core.errors import ArgumentError, AutodiffError, KindError, ShapeError
from ..core.graph import Graph, Tensor
from ..core.indexed_slices import IndexedSlices
from ..core.shapes import compatible, show
from ..core.sparse_tensor import SparseTensor, parts_of
from .fetch import form_of


class Fed(dict):
    """A feed_dict that was read: tensors, each with the array that it is fed. It is not read again."""


class Feeds:
    """Turns feed_dicts into tensors and arrays; remembers which tensors keys stand for, one by one and all together."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._known: dict[Any, tuple[Tensor, ...]] = {}
        self._readers: dict[tuple[Any, ...], Reader] = {}

    def read(self, feed_dict: Any) -> tuple[tuple[Tensor, ...], list[np.ndarray]]:
        """The tensors fed and their values, as arrays of the tensors' dtypes.

        Keys: tensors, variables, tensor names, IndexedSlices, SparseTensors, or tuples of them with
        a tuple of values. Raises KindError (a TypeError) for a key or value of the wrong kind, ShapeError (a
        ValueError) for a wrong shape, ArgumentError (a ValueError) for what cannot be converted.
        """
        if type(feed_dict) is Fed:
            return tuple(feed_dict), list(feed_dict.values())
        if not isinstance(feed_dict, dict):
            raise KindError("input must be a dictionary", expected="a feed_dict from tensors to values",
                            found=type(feed_dict).__name__)
        keys = tuple(feed_dict)
        reader = self._readers.get(keys)
        if reader is not None:
            return reader.tensors, reader(feed_dict.values())
        fed: dict[Tensor, np.ndarray] = {}
        for key, value in feed_dict.items():
            form = None if key in self._known or isinstance(key, (Tensor, str)) else form_of(key)
            if form is not None and form.feed is not None:
                for part, of_it in form.feed(key, value):
                    fed[self.tensor(part)] = convert(self.tensor(part), of_it)
                continue
            tensors = self._known.get(key) or self.targets(key)
            if len(tensors) == 1 and not isinstance(key, tuple):
                fed[tensors[0]] = convert(tensors[0], value)
                continue
            for tensor, part in zip(tensors, _parts(key, value)):
                if tensor in fed:
                    raise ArgumentError(f"{tensor.name!r} is fed twice")
                fed[tensor] = convert(tensor, part)
        tensors = tuple(fed)
        meant = [() if isinstance(key, tuple) else self._known.get(key) for key in keys]
        if meant == [(tensor,) for tensor in tensors]:
            self._readers[keys] = Reader(tensors)
        return tensors, list(fed.values())

    def targets(self, key: Any) -> tuple[Tensor, ...]:
        """The tensors that a key of a feed_dict stands for."""
        parts = list(_leaves(key))
        if isinstance(key, SparseTensor) and not self._graph.is_feedable(parts[-1]):
            del parts[-1]  # the dense_shape of a placeholder of a known shape
        tensors = tuple(self.tensor(part) for part in parts)
        self._known[key] = tensors
        return tensors

    def tensor(self, key: Any) -> Tensor:
        """The one tensor that a key of a feed_dict stands for."""
        try:
            tensor = self._graph.as_graph_element(key, allow_operation=False)
        except AutodiffError as error:
            raise KindError(f"Cannot interpret feed_dict key as Tensor: {error.sentence}", hint=error.hint) from None
        if not self._graph.is_feedable(tensor):
            raise ArgumentError(f"Tensor {tensor} may not be fed.", hint="graph.prevent_feeding says so")
        return tensor


class Reader:
    """Converts a value for each of some tensors, which are fed together again and again."""

    def __init__(self, tensors: tuple[Tensor, ...]) -> None:
        self.tensors = tensors
        self._kinds = [(t, np.dtype(d.as_numpy_dtype) if d.kind != "O" else None, d.is_floating and t.dims == ())
                       for t, d in [(t, t.dtype.base_dtype) for t in tensors]]
        self._numbers: list[tuple[Any, Any]] = [(None, None)] * len(tensors)  # the last float of each, and its array
        self._shapes: list[tuple[Any, Any]] = [(t.dims, t.dims) for t in tensors]  # that fits, and what it fits

    def __call__(self, values: Iterable[Any]) -> list[np.ndarray]:
        """Each value converted by `convert`, with a short cut for values that need no conversion."""
        fed: list[np.ndarray] = []
        for (tensor, dtype, is_number), value in zip(self._kinds, values):
            fit, shape = self._shapes[len(fed)]
            if type(value) is np.ndarray and value.dtype is dtype and value.shape == shape and tensor.dims is fit \
                    and value.flags.c_contiguous:
                value = value.view()
                value.setflags(False)  # type: ignore[call-arg]  # by keyword it takes half as long again
            elif is_number and type(value) is float:
                known, array = self._numbers[len(fed)]
                if known is not value:
                    array = np.array(value, dtype)
                    array.setflags(write=False)
                    self._numbers[len(fed)] = value, array
                value = array
            else:
                value = convert(tensor, value)
                self._shapes[len(fed)] = tensor.dims, getattr(value, "shape", None)  # a history is a list
            fed.append(value)
        return fed


def convert(tensor: Tensor, value: Any) -> np.ndarray:
    """`value` as an array that can be fed for `tensor`: C-contiguous, and never the caller's to write through."""
    dtype = tensor.dtype.base_dtype
    if type(value) is not np.ndarray and (isinstance(value, Tensor) or hasattr(value, "as_tensor")):
        raise KindError("The value of a feed cannot be a tf.Tensor object. Acceptable feed values include Python "
                        "scalars, strings, lists, numpy ndarrays.",
                        hint=f"fetch {getattr(value, 'name', value)!r} first, and feed what comes back")
    if dtype.name == "variant" and isinstance(value, list):  # a history that was fetched
        return value  # type: ignore[return-value]
    array = _strings(tensor, value) if dtype.name == "string" else _numbers(tensor, value)
    if not compatible(tensor.dims, array.shape):
        raise ShapeError(f"Cannot feed value of shape {array.shape} for Tensor {tensor.name!r}, which has shape "
                         f"{str(tensor.shape)!r}", hint=_made_to_fit(array, tensor.dims or ()) or
                         _other_width(array, tensor))
    array = array.view()
    array.setflags(write=False)  # may end as a fetched value or a variable: those copy what is not their own
    return array


def _made_to_fit(array: np.ndarray, dims: Sequence[int | None]) -> str:
    """How to feed the same examples in the shape that is wanted, "" if nothing says that they are the same."""
    rest = tuple(dims[1:])
    if dims and array.ndim and dims[0] in (None, len(array)):
        if rest == () and array.ndim == 2 and array.shape[1] > 1 and np.all(np.sort(array)[:, -2:] == [0, 1]):
            return "feed the labels themselves, np.argmax(value, axis=1), for what are one-hot rows"
        if array.ndim == 1 and len(rest) == 1 and array.shape != rest and array.dtype.kind in "fiu" and np.all(
                (array % 1 == 0) & (array >= 0) & (array < (rest[0] or 0))) and rest[0] != 1:
            return f"feed one-hot rows for labels, np.eye({rest[0]})[value]"
    size = prod(d or 0 for d in rest)  # of one example, where how many there are is open
    if None in rest or not array.ndim or array.size not in (
            (size, len(array) * size) if None in dims else (prod(d or 0 for d in dims),)):
        return ""
    return f"feed it in that shape, np.reshape(value, {tuple(-1 if d is None else d for d in dims)})"


def _other_width(array: np.ndarray, tensor: Tensor) -> str:
    """What to do about an array that is as wanted but for one dimension, "" for any other."""
    wanted = tensor.dims or ()
    other = [i for i, d in enumerate(wanted) if d not in (None, array.shape[i])] if array.ndim == len(wanted) else []
    return (f"{wanted[other[0]]} is written at {tensor.op.site}: write {array.shape[other[0]] if other[0] else None} "
            f"there, or feed {wanted[other[0]]}") if len(other) == 1 else ""


def _strings(tensor: Tensor, value: Any) -> np.ndarray:
    array = as_array(value) if isinstance(value, (str, bytes)) else as_array(np.asarray(value, dtype=object))
    if not all(isinstance(item, bytes) for item in array.flat):
        raise KindError(f"cannot feed {tensor.describe()}", expected="str or bytes", found=shortened(value))
    return array


def _numbers(tensor: Tensor, value: Any) -> np.ndarray:
    dtype = tensor.dtype.base_dtype
    if value is None:
        raise ArgumentError(f"cannot feed {tensor.name!r}", expected=f"{dtype.name}{show(tensor.dims)}", found="None")
    try:
        array: np.ndarray = np.asarray(value, dtype.as_numpy_dtype, order="C")
    except OverflowError:
        kind = KindError if isinstance(value, int) else ArgumentError
        raise kind(f"Type of feed value {value!r} is not compatible with Tensor type {dtype.name} of {tensor.name}"
                   ": it does not fit", hint="use a wider type for the placeholder, such as tf.int64") from None
    except (ValueError, TypeError) as error:
        if isinstance(error, AutodiffError):
            raise
        kind = KindError if isinstance(error, TypeError) else ArgumentError
        expected = "rows of equal length" if "inhomogeneous" in str(error) else "numbers, in lists or arrays"
        raise kind(f"cannot feed {tensor.describe()}", expected=expected, found=shortened(value)) from error
    if type(value) is int and array.item() != value:
        raise KindError(f"Type of feed value {value} with type {int} is not compatible with Tensor type "
                        f"{dtype.as_numpy_dtype}.", hint=f"{dtype.name} does not hold it exactly: use a larger type")
    return array


def _leaves(key: Any) -> Iterator[Any]:
    if isinstance(key, tuple):
        for part in key:
            yield from _leaves(part)
    elif isinstance(key, IndexedSlices):
        yield from (part for part in (key.values, key.indices, key.dense_shape) if part is not None)
    elif isinstance(key, SparseTensor):
        yield from parts_of(key)
    else:
        yield key


def _parts(key: Any, value: Any) -> Iterator[Any]:
    """The parts of `value`, in the order of `_leaves(key)`."""
    if isinstance(key, tuple):
        keys: Any = key
    elif isinstance(key, IndexedSlices):
        keys = list(_leaves(key))
        value = [part for part in value if part is not None]
    elif isinstance(key, SparseTensor):
        yield from _entries(key, value)
        return
    else:
        yield value
        return
    if isinstance(key, tuple) and not isinstance(value, (list, tuple)):
        value = [value]  # an array is one value, as in TensorFlow
    if len(value) != len(keys):
        raise ArgumentError(expected=f"{len(keys)} values for {len(keys)} tensors fed together", found=shortened(value))
    for k, v in zip(keys, value):
        yield from _parts(k, v)


def _entries(key: SparseTensor, value: Any) -> Any:
    """The arrays that are fed for a SparseTensor; without a dense_shape, the one it has stays."""
    if not isinstance(value, (list, tuple)) and not isinstance(value, np.ndarray):
        raise KindError(f"cannot feed {shortened(value)} for {key}: expected a tf.SparseTensorValue or a tuple of "
                        "indices, values and dense_shape")
    if isinstance(value, np.ndarray) or len(value) not in (2, 3):
        raise ArgumentError(f"cannot feed {shortened(value)} for {key}: expected indices, values and dense_shape")
    return value
