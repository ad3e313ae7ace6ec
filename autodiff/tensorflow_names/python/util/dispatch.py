"""tensorflow.python.util.dispatch: functions of a script's own in place of an op, for arguments of its own types."""
from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from ....api.common.wrong_arguments import checked as add_dispatch_support

__all__ = ["OpDispatcher", "add_dispatch_list", "add_dispatch_support", "dispatch_for_types"]
F = TypeVar("F", bound=Callable[..., Any])


class OpDispatcher:
    """What is asked for a result when an op refuses its arguments."""

    NOT_SUPPORTED = object()  # in place of a result

    def handle(self, args: Any, kwargs: Any) -> Any:
        return self.NOT_SUPPORTED

    def register(self, op: Any) -> None:
        """Be asked for this op. Raises AssertionError for a function that asks nobody."""
        if not hasattr(op, "_tf_dispatchers"):
            raise AssertionError(f"Dispatching not enabled for {op}")
        op._tf_dispatchers.append(self)


def dispatch_for_types(op: Any, *types: type) -> Callable[[F], F]:
    """A decorator: this function answers for `op` where an argument, or an item of a list of them, is of these types.

    Raises AssertionError if the function does not take what `op` takes.
    """
    def decorator(function: F) -> F:
        if _taken(function) != _taken(op):
            raise AssertionError("The decorated function's signature must exactly match the signature of the "
                                 "overridden op.")

        def handle(args: Any, kwargs: Any) -> Any:
            given = [*args, *kwargs.values()]
            given += [item for value in given if isinstance(value, (list, tuple)) for item in value]
            return function(*args, **kwargs) if any(isinstance(v, types) for v in given) else dispatcher.NOT_SUPPORTED

        dispatcher = OpDispatcher()
        dispatcher.handle = handle  # type: ignore[method-assign]
        dispatcher.register(op)
        return function

    return decorator


def _taken(function: Any) -> list[Any]:
    return [(each.name, each.default) for each in inspect.signature(function).parameters.values()]


def add_dispatch_list(target: F) -> F:
    """The function, with an empty list of who is asked."""
    target._tf_dispatchers = []  # type: ignore[attr-defined]
    return target
