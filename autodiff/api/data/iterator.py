"""Iterator: a place in a dataset, and the op that gives the next element."""
from __future__ import annotations

from collections.abc import Iterator as PythonIterator
from collections.abc import Sequence
from typing import Any, ClassVar
from weakref import WeakValueDictionary

import numpy as np

from ...core import nest
from ...core.dtypes import as_dtype, bool_, string
from ...core.errors import ArgumentError, FailedPreconditionError, OutOfRangeError
from ...core.graph import Operation
from ...core.shapes import compatible
from ...core.site import Site
from ..control.custom import py_func
from ..control.while_loop import flatten_shapes
from .elements import Element, Structured
from .shuffling import Begun


class Iterator(Structured):
    """A place in a dataset, moved by running what get_next() gives. handle: of the iterator that is moved instead."""

    _by_handle: ClassVar[WeakValueDictionary[bytes, Iterator]] = WeakValueDictionary()

    def __init__(self, structure: Any, handle: Any = None) -> None:
        self._structure, self._handle = structure, handle
        self._items: PythonIterator[Any] | None = None
        self.graphs: tuple[Any, ...] = ()
        self.made: Site | None = None  # the lines of its dataset's last step and first
        self.begun: Site | None = None
        self.shuffled: tuple[Any, ...] = ()  # as of its dataset
        self.initializer: Operation | None = None
        self.given = 0
        self.begun_by = "what iterator.make_initializer(dataset) gives"

    @staticmethod
    def from_structure(output_types: Any, output_shapes: Any = None, shared_name: str | None = None,
                       output_classes: Any = None, *, handle: Any = None) -> Iterator:
        """An iterator for any dataset of this structure; see make_initializer. handle: as in from_string_handle."""
        types = nest.flatten(output_types)
        shapes = [None] * len(types) if output_shapes is None else flatten_shapes(output_shapes, output_types)
        return Iterator(nest.pack_sequence_as(output_types, [Element(as_dtype(t), s) for t, s in zip(types, shapes)]),
                        handle)

    @staticmethod
    def from_string_handle(string_handle: Any, output_types: Any, output_shapes: Any = None,
                           output_classes: Any = None) -> Iterator:
        """Whichever iterator the handle is of that is fed; see string_handle."""
        return Iterator.from_structure(output_types, output_shapes, handle=string_handle)

    def string_handle(self, name: str | None = None) -> Any:
        """What stands for this iterator where from_string_handle is fed. -> string[]."""
        handle = f"iterator {id(self)}".encode()

        def told() -> bytes:
            Iterator._by_handle[handle] = self
            return handle
        return py_func(told, [], string, name=name or "IteratorToStringHandle")

    def make_initializer(self, dataset: Any, name: str | None = None) -> Operation:
        """The operation that points this iterator at the start of `dataset`."""
        for mine, theirs in zip(nest.flatten(self._structure), nest.flatten(dataset._structure), strict=True):
            if mine.dtype is not theirs.dtype or not compatible(mine.dims, theirs.dims):
                raise ArgumentError(expected=f"a dataset of {mine}", found=f"one of {theirs}")

        def begin(*values: np.ndarray) -> np.bool_:
            self._begin(dataset, values)
            return np.bool_(True)
        return py_func(begin, list(dataset._sources), bool_, name=name or "MakeIterator").op

    def _begin(self, dataset: Any, values: Sequence[np.ndarray]) -> None:
        self.given, self._items, self.graphs = 0, dataset._elements(Begun(values)), dataset.graphs
        self.made, self.begun, self.shuffled = dataset.made, dataset.begun, dataset.shuffled

    def get_next(self, name: str | None = None) -> Any:
        """Tensors of the next element at each run. At the end the run fails with OutOfRangeError."""
        specs = nest.flatten(self._structure)

        def advance(*handles: bytes) -> list[Any]:
            at = Iterator._by_handle[handles[0]] if handles else self
            if at._items is None:
                raise FailedPreconditionError("GetNext() failed because the iterator has not been initialized.",
                                              hint=f"run {at.begun_by} before the first step")
            self.made, self.begun, self.graphs, self.shuffled = at.made, at.begun, at.graphs, at.shuffled
            for item in at._items:
                self.given = at.given = at.given + 1
                return nest.flatten(item)
            whose = f"the dataset of {at.made}" if at.made is not None else "the dataset"
            raise OutOfRangeError("End of sequence", hint=f"{whose} is at its end after {at.given} elements: "
                                  ".repeat() it, run fewer steps, or end the loop at tf.errors.OutOfRangeError")
        advance.__dict__["iterator"] = self
        handles = [] if self._handle is None else [self._handle]
        tensors = py_func(advance, handles, [spec.dtype for spec in specs], name=name or "IteratorGetNext")
        for tensor, spec in zip(tensors, specs):
            tensor.set_shape(spec.dims)
        return nest.pack_sequence_as(self._structure, tensors)
