"""arg_scope: defaults of functions, set for all calls inside of a block."""
from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

from ...core.errors import ArgumentError, KindError

__all__ = ["add_arg_scope", "arg_scope", "arg_scoped_arguments", "current_arg_scope", "has_arg_scope"]

_DEFAULTS: ContextVar[dict[Any, dict[str, Any]]] = ContextVar("arg_scope", default={})  # noqa: B039 (never changed)


def add_arg_scope(func: Callable[..., Any]) -> Callable[..., Any]:
    """The function, taking arguments that it is not given from the enclosing arg_scopes that name it."""

    @functools.wraps(func)
    def with_defaults(*args: Any, **options: Any) -> Any:
        return func(*args, **{**_DEFAULTS.get().get(func, {}), **options})

    with_defaults._scoped = func  # type: ignore[attr-defined]
    return with_defaults


def has_arg_scope(func: Any) -> bool:
    """Whether add_arg_scope was applied to a function."""
    return hasattr(func, "_scoped")


def arg_scoped_arguments(func: Any) -> tuple[str, ...]:
    """The arguments of a function that an arg_scope can set: those with defaults."""
    parameters = inspect.signature(func._scoped).parameters.values()
    return tuple(p.name for p in parameters if p.default is not inspect.Parameter.empty)


def current_arg_scope() -> dict[Any, dict[str, Any]]:
    """Function -> the arguments that are set for it here."""
    return _DEFAULTS.get()


@contextlib.contextmanager
def arg_scope(list_ops_or_scope: Any, **kwargs: Any) -> Iterator[dict[Any, dict[str, Any]]]:
    """Set defaults of functions: `with arg_scope([conv2d, max_pool2d], padding='SAME') as scope`.

    list_ops_or_scope: functions that add_arg_scope was applied to, or a scope to open again, alone.
    """
    if isinstance(list_ops_or_scope, dict):
        if kwargs:
            raise ArgumentError(expected="no arguments along with a scope to open again", found=', '.join(kwargs))
        scope = dict(list_ops_or_scope)
    elif isinstance(list_ops_or_scope, (list, tuple)):
        scope = dict(_DEFAULTS.get())
        for func in list_ops_or_scope:
            if not has_arg_scope(func):
                raise ArgumentError(f"{func!r} is not decorated with @add_arg_scope")
            scope[func._scoped] = {**scope.get(func._scoped, {}), **kwargs}
    else:
        raise KindError(expected="a list of functions or a scope", found=repr(list_ops_or_scope))
    token = _DEFAULTS.set(scope)
    try:
        yield scope
    finally:
        _DEFAULTS.reset(token)
