"""Operators of a variable in an expression: they work on the tensor that is read from it."""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from ...core.errors import KindError
from ...core.graph import Tensor
from ...core.indexing import PART
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
