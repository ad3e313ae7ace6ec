"""tensorflow.python.util.deprecation: decorators that leave a function as it is, and arguments under two names."""
from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any


def deprecated(date: str | None, instructions: str, warn_once: bool = True) -> Callable[[Any], Any]:
    """The function or class itself: it is not deprecated here."""
    return lambda target: target


def deprecated_args(date: str | None, instructions: str, *names: Any, **options: Any) -> Callable[[Any], Any]:
    """The function itself."""
    return lambda target: target


def deprecated_arg_values(date: str | None, instructions: str, warn_once: bool = True,
                          **values: Any) -> Callable[[Any], Any]:
    """The function itself."""
    return lambda target: target


def deprecated_alias(deprecated_name: str, name: str, func_or_class: Any, warn_once: bool = True) -> Any:
    """The function or class itself."""
    return func_or_class


def deprecated_endpoints(*args: str) -> Callable[[Any], Any]:
    """The function or class itself."""
    return lambda target: target


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
    """Nothing is said inside, nor outside."""
    yield
