"""tensorflow.python.util.deprecation: decorators that warn of what they decorate, and arguments under two names."""
from __future__ import annotations

import contextlib
import contextvars
import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

from ....api import logging
from .decorators import make_decorator

_SILENT = contextvars.ContextVar("silent", default=False)
_OLD = ("From %s: %s (from %s) is deprecated and will be removed %s.\nInstructions for updating:\n%s",
        "From %s: calling %s (from %s) with %s is deprecated and will be removed %s.\nInstructions for updating:\n%s")


class DeprecatedNamesAlreadySet(Exception):  # noqa: N818 (TensorFlow's name)
    """A function has its old names already."""


def deprecated(date: str | None, instructions: str, warn_once: bool = True) -> Callable[[Any], Any]:
    """A decorator: calling the function warns, and its text says so. date: YYYY-MM-DD, from when it may be gone.

    Raises ValueError for another date, without instructions, and for a property. A class stays as it is.
    """
    when = _when(date, instructions)

    def decorate(func: Any) -> Any:
        if isinstance(func, type):
            return func
        if not callable(func):
            raise ValueError(f"{func} is not a function. If this is a property, make sure @property appears before "
                             "@deprecated in your source code:\n\n@property\n@deprecated(...)\ndef method(...)")
        warn = _Warner(warn_once)

        @functools.wraps(func)
        def called(*args: Any, **kwargs: Any) -> Any:
            warn("", _OLD[0], func.__qualname__, func.__module__, when, instructions)
            return func(*args, **kwargs)

        return make_decorator(func, called, "deprecated", _told(
            func.__doc__, "FUNCTION", "(deprecated)", f"THIS FUNCTION IS DEPRECATED. It will be removed {when}.",
            instructions))
    return decorate


def deprecated_args(date: str | None, instructions: str, *deprecated_arg_names_or_tuples: Any,
                    warn_once: bool = True) -> Callable[[Any], Any]:
    """A decorator: giving one of the arguments warns; of a tuple (name, value) any other value than this one does."""
    when = _when(date, instructions)
    if not deprecated_arg_names_or_tuples:
        raise ValueError("Specify which argument is deprecated.")
    fine: dict[str, Any] = dict(each if isinstance(each, tuple) else (each, inspect.Parameter.empty)
                for each in deprecated_arg_names_or_tuples)

    def decorate(func: Any) -> Any:
        known = inspect.signature(func).parameters
        missing = [name for name in fine if name not in known]
        if missing:
            raise ValueError(f"The following deprecated arguments are not present in the function signature: {missing}."
                             f" Found next arguments: {list(known)}.")

        def is_old(given: inspect.BoundArguments, name: str) -> bool:
            return name in given.arguments and not _is_same(given.arguments[name], fine[name])

        return _warning_of(func, list(fine), is_old, when, instructions, warn_once, _told(
            func.__doc__, "FUNCTION ARGUMENTS", "(deprecated arguments)",
            f"SOME ARGUMENTS ARE DEPRECATED: `({', '.join(fine)})`. They will be removed {when}.", instructions))
    return decorate


def deprecated_arg_values(date: str | None, instructions: str, warn_once: bool = True,
                          **deprecated_kwargs: Any) -> Callable[[Any], Any]:
    """A decorator: one of these values of arguments, given or by default, warns."""
    when = _when(date, instructions)
    if not deprecated_kwargs:
        raise ValueError("Specify which argument values are deprecated.")

    def decorate(func: Any) -> Any:
        def is_old(given: inspect.BoundArguments, name: str) -> bool:
            given.apply_defaults()
            return name in given.arguments and _is_same(given.arguments[name], deprecated_kwargs[name])

        listed = ", ".join(f"{name}={value}" for name, value in sorted(deprecated_kwargs.items()))
        return _warning_of(func, list(deprecated_kwargs), is_old, when, instructions, warn_once, _told(
            func.__doc__, "FUNCTION ARGUMENT VALUES", "(deprecated argument values)",
            f"SOME ARGUMENT VALUES ARE DEPRECATED: `({listed})`. They will be removed {when}.", instructions))
    return decorate


def deprecated_alias(deprecated_name: str, name: str, func_or_class: Any, warn_once: bool = True) -> Any:
    """The function, or a class below the class, that warns of its old name."""
    warn, text = _Warner(warn_once), "From %s: The name %s is deprecated. Please use %s instead.\n"
    instead, gone = f"Please use {name} instead.", "IS DEPRECATED. It will be removed in a future version."
    real: Any = vars(func_or_class)["__init__"] if isinstance(func_or_class, type) else func_or_class

    @functools.wraps(real)
    def called(*args: Any, **kwargs: Any) -> Any:
        warn("", text, deprecated_name, name)
        return real(*args, **kwargs)

    if isinstance(func_or_class, type):
        body = {"__init__": make_decorator(real, called, "deprecated"), "__module__": func_or_class.__module__,
                "__doc__": _told(func_or_class.__doc__, "CLASS", "(deprecated)", f"THIS CLASS {gone}", instead)}
        return type(func_or_class)(func_or_class.__name__, (func_or_class,), body)
    return make_decorator(real, called, "deprecated", _told(real.__doc__, "FUNCTION", "(deprecated)",
                                                            f"THIS FUNCTION {gone}", instead))


def deprecated_endpoints(*args: str) -> Callable[[Any], Any]:
    """A decorator that notes old names of a function. Raises DeprecatedNamesAlreadySet if it has some."""
    def decorate(func: Any) -> Any:
        if "_tf_deprecated_api_names" in vars(func):
            raise DeprecatedNamesAlreadySet(f"Cannot set deprecated names for {func.__name__} to {args}. Deprecated "
                                            f"names are already set to {func._tf_deprecated_api_names}.")
        func._tf_deprecated_api_names = args
        return func
    return decorate


def deprecated_argument_lookup(new_name: str, new_value: Any, old_name: str, old_value: Any) -> Any:
    """The value that was given, under either name. Raises ValueError if both were."""
    if old_value is None:
        return new_value
    if new_value is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
    return old_value


def rewrite_argument_docstring(old_doc: str, old_argument: str, new_argument: str) -> str:
    """A docstring with an argument's new name."""
    return old_doc.replace(f"`{old_argument}`", f"`{new_argument}`").replace(f"{old_argument}:", f"{new_argument}:")


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Inside, nothing warns."""
    token = _SILENT.set(True)
    try:
        yield
    finally:
        _SILENT.reset(token)


class _Warner:
    """Warns of the line that called: once of each thing, or each time."""

    def __init__(self, once: bool) -> None:
        self._once, self._said = once, set[str]()

    def __call__(self, what: str, text: str, *facts: Any) -> None:
        if not (_SILENT.get() or what in self._said):
            if self._once:
                self._said.add(what)
            frame = sys._getframe(2)
            logging.warning(text, f"{frame.f_code.co_filename}:{frame.f_lineno}", *facts)


def _warning_of(func: Any, names: list[str], is_old: Callable[[inspect.BoundArguments, str], bool], when: str,
                instructions: str, once: bool, text: str) -> Any:
    """The function, which warns of arguments."""
    signature, warn = inspect.signature(func), _Warner(once)

    @functools.wraps(func)
    def called(*args: Any, **kwargs: Any) -> Any:
        with contextlib.suppress(TypeError):  # the function itself refuses what does not fit
            given = signature.bind(*args, **kwargs)
            for name in [name for name in names if is_old(given, name)]:
                warn(name, _OLD[1], func.__qualname__, func.__module__, name, when, instructions)
        return func(*args, **kwargs)

    return make_decorator(func, called, "deprecated", text)


def _is_same(value: Any, other: Any) -> bool:
    is_plain = isinstance(value, (bool, int, float, str)) and type(value) is type(other)
    return value is other or is_plain and value == other


def _when(date: str | None, instructions: str | None) -> str:
    if date is not None and not re.fullmatch(r"20\d\d-[01]\d-[0123]\d", date):
        raise ValueError("Date must be YYYY-MM-DD.")
    if not instructions:
        raise ValueError("Don't deprecate things without conversion instructions! Specify the instructions.")
    return "in a future version" if date is None else f"after {date}"


def _told(doc: str | None, kind: str, suffix: str, warning: str, instructions: str) -> str:
    """A docstring that begins with the warning."""
    first, *rest = inspect.cleandoc(doc).split("\n") if doc else [""]
    return "\n".join([f"{first} {suffix}" if first else f"DEPRECATED {kind}", "", f"Warning: {warning}",
                      "Instructions for updating:", instructions, *rest])
