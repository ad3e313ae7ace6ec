"""Arguments that are taken in two ways: under two names, or as objects that answer for themselves."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from ...core.errors import ArgumentError

Function = TypeVar("Function", bound=Callable[..., Any])


def or_answered(function: Function) -> Function:
    """`function`; where it takes no such argument, what the argument's class has in ANSWERS under its name."""

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except (TypeError, AttributeError):
            for argument in (*args, *options.values()):
                answers = getattr(type(argument), "ANSWERS", None)
                if answers is not None:
                    return answers[function.__name__](*args, **options)
            raise

    return call  # type: ignore[return-value]


def one_of(name: str, value: Any, old_name: str, old_value: Any) -> Any:
    """The argument under whichever name it has, None under neither. Raises ArgumentError (ValueError) for both."""
    if value is not None and old_value is not None:
        raise ArgumentError(expected=f"{name!r} or its other name {old_name!r}", found="both")
    return old_value if value is None else value
