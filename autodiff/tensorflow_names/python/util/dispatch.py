"""tensorflow.python.util.dispatch: functions that hand arguments of other classes on to those who know them."""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from ....core import nest

_NOT_SUPPORTED = object()


class OpDispatcher:
    """Handles a function's calls which the function itself refuses. NOT_SUPPORTED: what `handle` gives for others."""

    NOT_SUPPORTED = _NOT_SUPPORTED

    def handle(self, args: Any, kwargs: Any) -> Any:
        """The result of a call, or NOT_SUPPORTED."""
        return _NOT_SUPPORTED

    def register(self, op: Any) -> None:
        """Be asked when `op` refuses a call. Raises AssertionError for a function that asks nobody."""
        if not hasattr(op, "_tf_dispatchers"):
            raise AssertionError(f"Dispatching not enabled for {op}")
        op._tf_dispatchers.append(self)


class _ByTypes(OpDispatcher):
    def __init__(self, override: Callable[..., Any], types: tuple[type, ...]) -> None:
        self._override, self._types = override, types

    def handle(self, args: Any, kwargs: Any) -> Any:
        given = nest.flatten([list(args), list(kwargs.values())])
        return self._override(*args, **kwargs) if any(isinstance(each, self._types) for each in given) \
            else _NOT_SUPPORTED


def add_dispatch_support(target: Callable[..., Any]) -> Any:
    """A decorator: where the function raises TypeError or ValueError those registered for it are asked."""
    @functools.wraps(target)
    def asked(*args: Any, **kwargs: Any) -> Any:
        try:
            return target(*args, **kwargs)
        except (TypeError, ValueError):
            results = (each.handle(args, kwargs) for each in asked._tf_dispatchers)  # type: ignore[attr-defined]
            found = next((result for result in results if result is not _NOT_SUPPORTED), _NOT_SUPPORTED)
            if found is _NOT_SUPPORTED:
                raise
            return found

    asked._tf_dispatchers = []  # type: ignore[attr-defined]
    return asked


add_dispatch_list = add_dispatch_support


def dispatch_for_types(op: Any, *types: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: the function handles calls of `op` with arguments of these types. Both have one signature."""
    def decorated(override: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.signature(op) != inspect.signature(override):
            raise AssertionError("The decorated function's signature must exactly match the signature of the "
                                 f"overridden op: {inspect.signature(op)}, found {inspect.signature(override)}")
        _ByTypes(override, types).register(op)
        return override

    return decorated
