"""Fetches: the tensors of a nested structure and the way back into it; classes that scripts teach sessions."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, NamedTuple

from ..core.errors import ArgumentError, AutodiffError, GraphError, KindError
from ..core.graph import Graph, Operation, Tensor
from ..core.indexed_slices import IndexedSlices, IndexedSlicesValue
from ..core.sparse_tensor import SparseTensor, SparseTensorValue, parts_of

Rebuild = Callable[[Sequence[Any]], Any]  # values of `tensors`, in order -> the user's structure
_FORMS: list[Form] = []


class Values(list):
    """Values of the fetches as Session.run returns them. as_read: as the run read and computed them."""

    as_read: list[Any]


class AsRead(NamedTuple):
    """Tensors that are fetched for the values that the run read, whatever it changed afterwards."""

    tensors: Sequence[Tensor]


@dataclass(slots=True)
class Fetches:
    """tensors: each once. targets: operations to run. rebuild: values of tensors -> the structure asked for."""

    tensors: tuple[Tensor, ...]
    targets: tuple[Operation, ...]
    rebuild: Rebuild
    programs: dict[tuple[Tensor, ...], Any] = field(default_factory=dict)  # the session's, by fed tensors
    ran: Any = None  # what Moment.ran keeps


def parse(graph: Graph, fetches: Any) -> Fetches:
    """The Fetches of a tensor, variable, operation, name, IndexedSlices, SparseTensor, or nested structure of them.

    Raises KindError (a TypeError) for anything that cannot be fetched, such as None or a number, and
    GraphError (a ValueError) for an unknown name or an element of another graph.
    """
    reader = _Reader(graph)
    rebuild = reader.read(fetches)
    if type(fetches) is list and is_flat(fetches) and len(reader.tensors) == len(fetches):
        rebuild = list
    return Fetches(tuple(reader.tensors), tuple(reader.targets), rebuild)


def key(fetches: Any) -> Any:
    """Something hashable that stands for `fetches`; TypeError if there is no such thing, or it may change."""
    if isinstance(fetches, (list, tuple)):
        return type(fetches), *map(key, fetches)
    if isinstance(fetches, dict):
        return type(fetches), tuple(fetches), *map(key, fetches.values())
    if isinstance(fetches, (Tensor, Operation, str)):
        return fetches
    if isinstance(fetches, Mapping) or hasattr(type(fetches), "__attrs_attrs__"):
        raise TypeError("it may change")
    hash(fetches)
    return fetches


def is_flat(fetches: Sequence[Any]) -> bool:
    """Whether nothing is nested in `fetches`: a list of the same tensors and names later asks for the same."""
    return all(type(item) in (Tensor, Operation, str) for item in fetches)


class _Reader:
    """Collects what is asked for; each `read` gives the function that puts the values back."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.tensors: dict[Tensor, int] = {}
        self.targets: dict[Operation, None] = {}

    def read(self, fetch: Any) -> Rebuild:
        if isinstance(fetch, AsRead):
            parts = self._sequence(list(fetch.tensors))
            return lambda values: parts(getattr(values, "as_read", values))
        if isinstance(fetch, (list, tuple)):
            return self._sequence(fetch)
        if isinstance(fetch, Mapping):
            return self._mapping(fetch)
        if hasattr(type(fetch), "__attrs_attrs__"):
            return self._fields(fetch)
        if isinstance(fetch, IndexedSlices):
            return self._slices(fetch)
        if isinstance(fetch, SparseTensor):
            return self._sequence(SparseTensorValue(*parts_of(fetch)))
        form = None if isinstance(fetch, (Tensor, Operation, str)) else form_of(fetch)
        if form is not None:
            inner, give = form.fetch(fetch)
            values_of = self._sequence(list(inner))
            return lambda values: give(values_of(values))
        element = self._element(fetch)
        if isinstance(element, Operation):
            self.targets[element] = None
            return _nothing
        return itemgetter(self.tensors.setdefault(element, len(self.tensors)))

    def _sequence(self, fetch: Sequence[Any]) -> Rebuild:
        parts = [self.read(item) for item in fetch]
        kind = type(fetch)
        if isinstance(fetch, list):
            return lambda values: [part(values) for part in parts]
        if hasattr(fetch, "_fields"):
            return lambda values: kind(*[part(values) for part in parts])
        return lambda values: kind([part(values) for part in parts])  # type: ignore[call-arg]

    def _mapping(self, fetch: Mapping[Any, Any]) -> Rebuild:
        parts = {name: self.read(item) for name, item in fetch.items()}
        kind = type(fetch)

        def rebuild(values: Sequence[Any]) -> Any:
            result: Any = kind()
            for name, part in parts.items():
                result[name] = part(values)
            return result

        return rebuild

    def _fields(self, fetch: Any) -> Rebuild:
        parts = {a.name: self.read(getattr(fetch, a.name)) for a in type(fetch).__attrs_attrs__}
        kind = type(fetch)
        return lambda values: kind(**{name: part(values) for name, part in parts.items()})

    def _slices(self, fetch: IndexedSlices) -> Rebuild:
        parts = [self.read(part) for part in (fetch.values, fetch.indices)]
        parts.append(_nothing if fetch.dense_shape is None else self.read(fetch.dense_shape))
        return lambda values: IndexedSlicesValue(*[part(values) for part in parts])

    def _element(self, fetch: Any) -> Tensor | Operation:
        try:
            element = self.graph.as_graph_element(fetch.decode() if isinstance(fetch, bytes) else fetch)
        except KindError as error:
            raise KindError(f"Fetch argument {fetch!r} has invalid type {type(fetch)!r}, must be a string or Tensor. "
                            f"({error.what})", expected="a tensor, a variable, an operation, a name, or lists, tuples "
                            "and dicts of them", hint="where a run's result is assigned to the name that was fetched, "
                            "as in loss = sess.run(loss), give the result another name") from None
        except AutodiffError as error:
            raise GraphError(f"Fetch argument {fetch!r} cannot be interpreted as a Tensor. ({error.sentence})",
                             hint=error.hint) from None
        if not self.graph.is_fetchable(element):
            raise ArgumentError(f"{element.name!r} may not be fetched: graph.prevent_fetching says so")
        return element


def _nothing(values: Sequence[Any]) -> None:
    return None


class Form(NamedTuple):
    """How objects of a class are fetched and fed, each function as TensorFlow has it.

    fetch(object): (what to fetch in its place, function of the list of those values). feed(object, value): pairs of a
    tensor and its value. feed_only(object): the tensors alone.
    """

    kind: type
    fetch: Callable[[Any], Any]
    feed: Callable[[Any, Any], Any] | None
    feed_only: Callable[[Any], Any] | None


def register_session_run_conversion_functions(tensor_type: type, fetch_function: Callable[[Any], Any],
                                              feed_function: Callable[[Any, Any], Any] | None = None,
                                              feed_function_for_partial_run: Callable[[Any], Any] | None = None,
                                              ) -> None:
    """Teach sessions a class. Raises ArgumentError (ValueError) for one that they know already."""
    if any(issubclass(tensor_type, form.kind) for form in _FORMS):
        raise ArgumentError(f"{tensor_type} has already been registered so ignore it.")
    _FORMS.insert(0, Form(tensor_type, fetch_function, feed_function, feed_function_for_partial_run))


def form_of(value: Any) -> Form | None:
    """The form of an object's class, if it was registered."""
    return next((form for form in _FORMS if isinstance(value, form.kind)), None)
