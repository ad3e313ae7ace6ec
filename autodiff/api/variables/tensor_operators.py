"""Methods of variables: operators in an expression, as tensors have them, and what changes rows and elements."""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from ...core.errors import KindError
from ...core.graph import Tensor
from ...core.indexing import PART
from ...core.op import build
from ...core.tensor import Reference


class TensorOperators:
    """The operators of a class with `as_tensor()` and a name. An object is equal to itself only."""

    name: Any

    def as_tensor(self) -> Tensor:
        """The tensor that stands for this in an expression."""
        raise NotImplementedError

    def experimental_ref(self) -> Reference:
        """What stands for this in dicts and sets; its `deref()` is the object itself."""
        return Reference(self)

    def __getitem__(self, key: Any) -> Tensor:
        made = self.as_tensor()[key]
        if made.graph.executing_eagerly and hasattr(self, "handle_tensor"):
            setattr(made, PART, (self.handle_tensor, key))
        return made

    def __iter__(self) -> Iterator[Any]:
        raise KindError(f"a variable is not iterable: {self.name!r}", hint="use tf.unstack")

    __array_priority__ = 100  # numpy_array * variable asks the variable

    def __array__(self, *args: Any, **options: Any) -> Any:
        return self.as_tensor().__array__(*args, **options)

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other


def _delegate(name: str) -> Callable[..., Any]:
    method = getattr(Tensor, name)

    @functools.wraps(method)
    def operator(self: TensorOperators, *args: Any) -> Any:
        return method(self.as_tensor(), *args)

    return operator


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor"):
    setattr(TensorOperators, f"__{_name}__", _delegate(f"__{_name}__"))
    setattr(TensorOperators, f"__r{_name}__", _delegate(f"__r{_name}__"))
for _name in ("lt", "le", "gt", "ge", "neg", "abs", "invert"):
    setattr(TensorOperators, f"__{_name}__", _delegate(f"__{_name}__"))


def _by_slices(kind: str, text: str) -> Any:
    def changed(self: Rows, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        if not hasattr(sparse_delta, "indices"):
            raise KindError(expected="IndexedSlices", found=repr(sparse_delta))
        return self._rows_changed(kind, sparse_delta.indices, sparse_delta.values, name)

    changed.__doc__ = text
    return changed


def _by_vectors(kind: str, text: str) -> Any:
    def changed(self: Rows, indices: Any, updates: Any, name: str | None = None) -> Any:
        return self._rows_changed(kind, indices, updates, name)

    changed.__doc__ = text
    return changed


class Rows:
    """The methods of a variable about rows. Each that changes them returns the result of the variable's assign."""

    def _rows_changed(self, kind: str, indices: Any, updates: Any, name: str | None) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not say how its rows change")

    def gather_nd(self, indices: Any, name: str | None = None) -> Any:
        """Elements or slices by index vectors."""
        return build.GatherNd(self, indices, name=name)

    scatter_update = _by_slices("ScatterUpdate", "Set the rows of an IndexedSlices.")
    scatter_add = _by_slices("ScatterAdd", "Add the rows of an IndexedSlices.")
    scatter_sub = _by_slices("ScatterSub", "Subtract the rows of an IndexedSlices.")
    scatter_mul = _by_slices("ScatterMul", "Multiply by the rows of an IndexedSlices.")
    scatter_div = _by_slices("ScatterDiv", "Divide by the rows of an IndexedSlices.")
    scatter_max = _by_slices("ScatterMax", "Keep the larger of each row and that of an IndexedSlices.")
    scatter_min = _by_slices("ScatterMin", "Keep the smaller of each row and that of an IndexedSlices.")
    scatter_nd_update = _by_vectors("ScatterNdUpdate", "Set elements or slices by index vectors.")
    scatter_nd_add = _by_vectors("ScatterNdAdd", "Add to elements or slices by index vectors.")
    scatter_nd_sub = _by_vectors("ScatterNdSub", "Subtract from elements or slices by index vectors.")
