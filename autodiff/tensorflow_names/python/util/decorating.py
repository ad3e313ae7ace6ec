"""tensorflow.python.util: what functions are called and take, and decorators that leave things as they are."""
from __future__ import annotations

import functools
import importlib
import inspect
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from .decorators import unwrap
from .signatures import getfullargspec


def fn_args(fn: Any) -> tuple[str, ...]:
    """Names of the arguments of a function, without `self`."""
    if isinstance(fn, functools.partial):
        return tuple(name for name in fn_args(fn.func)[len(fn.args):] if name not in fn.keywords)
    if not inspect.isroutine(fn) and not isinstance(fn, type) and callable(fn):
        fn = fn.__call__
    names = getfullargspec(fn).args
    return tuple(names[1:] if inspect.ismethod(fn) else names)


def has_kwargs(fn: Any) -> bool:
    """Whether a function takes any keyword argument. Raises TypeError for what cannot be called."""
    if isinstance(fn, functools.partial):
        return has_kwargs(fn.func)
    if not callable(fn):
        raise TypeError(f"fn should be a function-like object, but is of type {type(fn)}.")
    if not inspect.isroutine(fn) and not isinstance(fn, type):
        fn = fn.__call__
    return getfullargspec(fn).varkw is not None


def get_func_name(func: Any) -> str:
    """A function's name, a method's with its class; else the type. Raises ValueError for what cannot be called."""
    func = unwrap(func)[1]
    if not callable(func):
        raise ValueError("Argument must be callable")
    if inspect.ismethod(func):
        return f"{type(func.__self__).__name__}.{func.__name__}"
    return func.__name__ if inspect.isfunction(func) else str(type(func))


def get_func_code(func: Any) -> Any:
    """A function's code, or that of an object's __call__; None for a builtin. Raises ValueError for other things."""
    func = unwrap(func)[1]
    if not callable(func):
        raise ValueError("Argument must be callable")
    return getattr(func if inspect.isroutine(func) else func.__call__, "__code__", None)


def keyword_args_only(func: Callable[..., Any]) -> Callable[..., Any]:
    """The function, refusing positional arguments with a ValueError."""

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if args:
            raise ValueError(f"Must use keyword args to call {func.__name__}.")
        return func(**kwargs)

    return wrapper


def _as_it_is(target: Any = None, *args: Any, **options: Any) -> Any:
    return target


should_use_result = must_use_result_or_fatal = _as_it_is


class tf_export:  # noqa: N801
    """A decorator that leaves what it exports as it is."""

    def __init__(self, *args: str, **options: Any) -> None:
        self._names = args

    def __call__(self, func: Any) -> Any:
        return func

    def export_constant(self, module_name: str, name: str) -> None:
        """Nothing is kept."""


keras_export = estimator_export = tf_export


def remove_undocumented(module_name: str, allowed_exception_list: Any = None, doc_string_modules: Any = None) -> None:
    """Nothing is removed."""


def make_all(module_name: str, doc_string_modules: Any = None) -> list[str]:
    """The public names of a module."""
    return [name for name in vars(sys.modules[module_name]) if not name.startswith("_")]


class LazyLoader(ModuleType):
    """A module that is imported when its first name is asked for. local_name: where, among these globals, it stands."""

    def __init__(self, local_name: str, parent_module_globals: dict[str, Any], name: str) -> None:
        super().__init__(name)
        self._place = local_name, parent_module_globals

    def __getattr__(self, name: str) -> Any:
        local_name, around = self._place
        around[local_name] = module = importlib.import_module(self.__name__)
        return getattr(module, name)
