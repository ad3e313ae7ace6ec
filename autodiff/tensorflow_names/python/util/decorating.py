"""tensorflow.python.util: decorators that know what they decorate, and signatures seen through them."""
from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import sys
from collections import namedtuple
from collections.abc import Callable
from types import ModuleType
from typing import Any

ArgSpec = namedtuple("ArgSpec", "args varargs keywords defaults")
FullArgSpec = inspect.FullArgSpec
contextmanager = contextlib.contextmanager


def make_decorator(target: Callable[..., Any], decorator_func: Callable[..., Any], decorator_name: str | None = None,
                   decorator_doc: str = "", decorator_argspec: Any = None) -> Callable[..., Any]:
    """`decorator_func` with the name, text and signature of what it decorates."""
    functools.update_wrapper(decorator_func, target)
    if decorator_doc:
        decorator_func.__doc__ = decorator_doc
    if decorator_argspec is not None:
        decorator_func.__argspec__ = decorator_argspec  # type: ignore[attr-defined]
    return decorator_func


def unwrap(maybe_tf_decorator: Any) -> tuple[list[Any], Any]:
    """The decorated functions on the way, outermost first, and the function at the end of it."""
    layers = []
    target = maybe_tf_decorator
    while hasattr(target, "__wrapped__"):
        layers.append(target)
        target = target.__wrapped__
    return layers, target


def rewrap(decorator_func: Any, previous_target: Any, new_target: Any) -> Any:
    """The decorated function with another one at the end."""
    if decorator_func is previous_target:
        return new_target
    decorator_func.__wrapped__ = new_target
    return decorator_func


def getfullargspec(obj: Any) -> inspect.FullArgSpec:
    """The arguments of a function, a class or an object that can be called; of ours without types, as TensorFlow's."""
    for layer in unwrap(obj)[0]:
        if hasattr(layer, "__argspec__"):
            return layer.__argspec__
    function = obj if isinstance(obj, functools.partial) else unwrap(obj)[1]
    found = inspect.getfullargspec(function)
    is_ours = (getattr(function, "__module__", None) or "").startswith("autodiff.")
    return found._replace(annotations={}) if is_ours else found


def getargspec(obj: Any) -> ArgSpec:
    """The positional arguments of a function, in the words of older Pythons."""
    found = getfullargspec(obj)
    return ArgSpec(found.args, found.varargs, found.varkw, found.defaults)


def fn_args(fn: Any) -> tuple[str, ...]:
    """Names of the arguments of a function, without `self`."""
    bound: tuple[Any, ...] = ()
    while isinstance(fn, functools.partial):
        bound, fn = (*bound, *fn.keywords), fn.func
    if not inspect.isroutine(fn) and not isinstance(fn, type) and callable(fn):
        fn = fn.__call__
    names = list(getfullargspec(fn).args)
    if inspect.ismethod(fn) and names:
        del names[0]
    return tuple(name for name in names if name not in bound)


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
    """A function's qualified name. Raises ValueError for what cannot be called."""
    func = unwrap(func)[1]
    if isinstance(func, functools.partial):
        return get_func_name(func.func)
    if callable(func):
        return getattr(func, "__qualname__", str(type(func)))
    raise ValueError("Argument must be callable")


def get_func_code(func: Any) -> Any:
    """A function's code, or None where it has none. Raises ValueError for what cannot be called."""
    func = unwrap(func)[1]
    if callable(func):
        return getattr(func, "__code__", None)
    raise ValueError("Argument must be callable")


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


should_use_result = add_dispatch_support = add_dispatch_list = must_use_result_or_fatal = _as_it_is


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


def __getattr__(name: str) -> Any:
    """What Python's inspect has under the name."""
    return getattr(inspect, name)


class LazyLoader(ModuleType):
    """A module that is imported when its first name is asked for. local_name: where, among these globals, it stands."""

    def __init__(self, local_name: str, parent_module_globals: dict[str, Any], name: str) -> None:
        super().__init__(name)
        self._place = local_name, parent_module_globals

    def __getattr__(self, name: str) -> Any:
        local_name, around = self._place
        around[local_name] = module = importlib.import_module(self.__name__)
        return getattr(module, name)
