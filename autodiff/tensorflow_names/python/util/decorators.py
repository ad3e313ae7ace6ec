"""tensorflow.python.util.tf_decorator, tf_contextlib: decorators that say what they decorate."""
from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from typing import Any

_TAKEN_OVER = ("__name__", "__qualname__", "__module__", "__doc__")


class TFDecorator:
    """One decoration: `decorated_target` under a decorator's name, with a text and a signature where they are given.

    Called, and asked for attributes of a bound method, it is the target.
    """

    def __init__(self, decorator_name: str, target: Any, decorator_doc: str | None = "",
                 decorator_argspec: Any = None) -> None:
        self.decorator_name, self.decorator_doc = decorator_name, decorator_doc
        self.decorator_argspec = decorator_argspec
        self.decorated_target = target  # it may be decorated itself
        for attribute in ("__name__", "__qualname__"):
            if hasattr(target, attribute):
                setattr(self, attribute, getattr(target, attribute))
        self.__doc__ = decorator_doc or getattr(target, "__doc__", None) or ""

    def __get__(self, instance: Any, owner: Any) -> Any:
        return self.decorated_target.__get__(instance, owner)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.decorated_target(*args, **kwargs)


def make_decorator(target: Any, decorator_func: Callable[..., Any], decorator_name: str | None = None,
                   decorator_doc: str = "", decorator_argspec: Any = None) -> Callable[..., Any]:
    """`decorator_func` with the name and text of the target it calls, and a note of the decoration.

    decorator_name: else that of the function that calls this one.
    """
    caller = inspect.currentframe().f_back  # type: ignore[union-attr]
    name = decorator_name or caller.f_code.co_name  # type: ignore[union-attr]
    decorator = TFDecorator(name, target, decorator_doc, decorator_argspec)
    decorator_func._tf_decorator = decorator  # type: ignore[attr-defined]
    for attribute in _TAKEN_OVER:
        if hasattr(target, attribute):
            setattr(decorator_func, attribute, getattr(target, attribute))
    if decorator.__doc__:
        decorator_func.__doc__ = decorator.__doc__
    for key, value in getattr(target, "__dict__", {}).items():
        decorator_func.__dict__.setdefault(key, value)
    decorator_func.__wrapped__ = target  # type: ignore[attr-defined]
    return decorator_func


def _decoration(function: Any) -> TFDecorator | None:
    return function if isinstance(function, TFDecorator) else getattr(function, "_tf_decorator", None)


def unwrap(maybe_tf_decorator: Any) -> tuple[list[TFDecorator], Any]:
    """The decorations, outermost first, and what is decorated in the end."""
    layers, target = [], maybe_tf_decorator
    while (layer := _decoration(target)) is not None:
        layers.append(layer)
        target = layer.decorated_target
    return layers, target


def rewrap(decorator_func: Any, previous_target: Any, new_target: Any) -> Any:
    """The decorated function with `new_target` in the place of what it decorates, at `previous_target` or at the end.

    The functions on the way are changed.
    """
    innermost, function = None, decorator_func
    while function is not previous_target and (layer := _decoration(function)) is not None:
        innermost, function = (layer, function), layer.decorated_target
    if innermost is None:
        return new_target
    layer, around = innermost
    layer.decorated_target = new_target
    if around is not layer:
        around.__wrapped__ = new_target
    return decorator_func


def contextmanager(target: Callable[..., Any]) -> Callable[..., Any]:
    """Python's, with a note of the decoration."""
    return make_decorator(target, contextlib.contextmanager(target), "contextmanager")
