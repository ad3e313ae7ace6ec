"""tensorflow.python.util.deprecation: decorators that warn of what is to go, and arguments under two names."""
from __future__ import annotations

import contextlib
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

from ....ops.common.instead import instead
from ...alias import module_named
from .decorators import make_decorator

Decorator = Callable[[Any], Any]


class DeprecatedNamesAlreadySet(Exception):  # noqa: N818
    """The old names of a function were said before."""


class _Warnings:
    """What was warned of so far, once for each function and argument."""

    def __init__(self) -> None:
        self.said: set[Any] = set()
        self.silent = False

    def warn(self, key: Any, once: bool, text: str, *values: Any) -> None:
        """By TensorFlow's logger; the place of the call is the first value."""
        if self.silent or once and key in self.said:
            return
        if once:
            self.said.add(key)
        caller: Any = sys._getframe(2)
        place = f"{caller.f_code.co_filename}:{caller.f_lineno}"
        module_named("tensorflow.python.platform.tf_logging").warning(text, place, *values)


_WARNINGS = _Warnings()


def _checked(date: str | None, instructions: str | None) -> str:
    """When it goes, in words. Raises ValueError for another form of date, or without instructions."""
    if date is not None and not re.match(r"20\d\d-[01]\d-[0123]\d\Z", date):
        raise ValueError("Date must be YYYY-MM-DD.")
    if not instructions:
        raise ValueError("Don't deprecate things without conversion instructions!")
    return "in a future version" if date is None else f"after {date}"


def _with_notice(func: Any, bare: str, suffix: str, notice: str, instructions: str) -> str:
    """A function's text, with the notice after its first line."""
    lines = inspect.cleandoc(func.__doc__ or "").splitlines()
    first = f"{lines[0]} {suffix}" if lines else bare
    rest = lines[1:]
    told = ["", f"Warning: {notice}", "Instructions for updating:", instructions]
    return "\n".join([first, *told, *([""] if rest and rest[0].strip() else []), *rest])


def _name_of(func: Any) -> str:
    return getattr(func, "__qualname__", func.__name__)


def deprecated(date: str | None, instructions: str, warn_once: bool = True) -> Decorator:
    """The function, which warns when it is called and says so in its text; a class stays as it is."""
    when = _checked(date, instructions)

    def decorate(func: Any) -> Any:
        if not callable(func):
            raise ValueError(f"{func} is not a function. If this is a property, make sure @property appears before "
                             "@deprecated in your source code:\n\n@property\n@deprecated\ndef method(...)")
        if isinstance(func, type):
            return func

        def warning(*args: Any, **kwargs: Any) -> Any:
            _WARNINGS.warn(func, warn_once, "From %s: %s (from %s) is deprecated and will be removed %s.\n"
                           "Instructions for updating:\n%s", _name_of(func), func.__module__, when, instructions)
            return func(*args, **kwargs)

        notice = f"THIS FUNCTION IS DEPRECATED. It will be removed {when}."
        return make_decorator(func, warning, "deprecated",
                              _with_notice(func, "DEPRECATED FUNCTION", "(deprecated)", notice, instructions))

    return decorate


def _on_arguments(date: str | None, instructions: str, once: bool, names: dict[str, str], what: str,
                  is_meant: Callable[[str, Any], bool], defaults: bool) -> Decorator:
    """Warn of the arguments that are meant, among those given. names: argument -> how the function's text has it."""
    when = _checked(date, instructions)

    def decorate(func: Any) -> Any:
        signature = inspect.signature(func)
        missing = sorted(set(names) - set(signature.parameters))
        if missing:
            raise ValueError("The following deprecated arguments are not present in the function signature: "
                             f"{missing}. Found {list(signature.parameters)}.")

        def warning(*args: Any, **kwargs: Any) -> Any:
            given = signature.bind(*args, **kwargs)
            if defaults:
                given.apply_defaults()
            for name in names:
                if name in given.arguments and is_meant(name, given.arguments[name]):
                    _WARNINGS.warn((func, name), once, "From %s: calling %s (from %s) with %s is deprecated and will "
                                   "be removed %s.\nInstructions for updating:\n%s", _name_of(func),
                                   func.__module__, names[name], when, instructions)
            return func(*args, **kwargs)

        shown = ", ".join(sorted(names.values()))
        notice = f"SOME {what.upper()} ARE DEPRECATED: `({shown})`. They will be removed {when}."
        text = _with_notice(func, f"DEPRECATED FUNCTION {what.upper()}", f"(deprecated {what})", notice, instructions)
        return make_decorator(func, warning, "deprecated", text)

    return decorate


def deprecated_args(date: str | None, instructions: str, *deprecated_arg_names_or_tuples: Any,
                    warn_once: bool = True, **illegal: Any) -> Decorator:
    """The function, which warns when one of these arguments is given: a name, or a name and a value that is fine."""
    if not deprecated_arg_names_or_tuples:
        raise ValueError("Specify which argument is deprecated.")
    if illegal:
        raise ValueError(f"Illegal argument to deprecated_args: {illegal}")
    pairs = [each if isinstance(each, tuple) else (each,) for each in deprecated_arg_names_or_tuples]
    fine = {name: value for name, *values in pairs for value in values}

    def is_meant(name: str, value: Any) -> bool:
        return name not in fine or not (value is fine[name] or type(value) is type(fine[name]) and value == fine[name])

    return _on_arguments(date, instructions, warn_once, {pair[0]: pair[0] for pair in pairs}, "arguments", is_meant,
                         defaults=False)


def deprecated_arg_values(date: str | None, instructions: str, warn_once: bool = True,
                          **deprecated_kwargs: Any) -> Decorator:
    """The function, which warns when an argument has this value, be it by default."""
    if not deprecated_kwargs:
        raise ValueError("Specify which argument values are deprecated.")
    shown = {name: f"{name}={value!r}" for name, value in deprecated_kwargs.items()}
    return _on_arguments(date, instructions, warn_once, shown, "argument values",
                         lambda name, value: value == deprecated_kwargs[name], defaults=True)


def deprecated_alias(deprecated_name: str, name: str, func_or_class: Any, warn_once: bool = True) -> Any:
    """The function or class under its old name, which warns when it is called."""

    key, text = (deprecated_name, func_or_class), "From %s: The name %s is deprecated. Please use %s instead.\n"
    if not isinstance(func_or_class, type):
        def warning(*args: Any, **kwargs: Any) -> Any:
            _WARNINGS.warn(key, warn_once, text, deprecated_name, name)
            return func_or_class(*args, **kwargs)

        return make_decorator(func_or_class, warning, "deprecated")

    def warning_init(self: Any, *args: Any, **kwargs: Any) -> None:
        _WARNINGS.warn(key, warn_once, text, deprecated_name, name)
        original(self, *args, **kwargs)

    original: Any = getattr(func_or_class, "__init__")  # noqa: B009
    init = make_decorator(original, warning_init, "deprecated")
    return type(func_or_class)(func_or_class.__name__, (func_or_class,),
                               {"__init__": init, "__doc__": func_or_class.__doc__,
                                "__module__": func_or_class.__module__})


def deprecated_endpoints(*args: str) -> Decorator:
    """Note the old names of a function. Raises DeprecatedNamesAlreadySet if there are some."""

    def decorate(func: Any) -> Any:
        if "_tf_deprecated_api_names" in func.__dict__:
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
    """Nothing is said inside."""
    with instead([(_WARNINGS, "silent", True)]):
        yield
