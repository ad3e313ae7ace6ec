"""Functions of tensors that also take objects which answer for themselves: linear operators."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

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
