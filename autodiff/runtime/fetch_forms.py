"""Classes that scripts teach sessions to fetch and feed: what tensors each of their objects stands for."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..core.errors import ArgumentError


class Form(NamedTuple):
    """How objects of a class are fetched and fed, each function as TensorFlow has it.

    fetch(object): (what to fetch in its place, function of the list of those values). feed(object, value): pairs of a
    tensor and its value. feed_only(object): the tensors alone.
    """

    kind: type
    fetch: Callable[[Any], Any]
    feed: Callable[[Any, Any], Any] | None
    feed_only: Callable[[Any], Any] | None


_FORMS: list[Form] = []


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
