"""tensorflow.python.autograph: functions are called as they are; loops and choices are written with tf's own."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any


def do_not_convert(func: Callable[..., Any] | None = None, *args: Any, **options: Any) -> Any:
    """The function itself: none is converted."""
    return do_not_convert if func is None else func


def tf_convert(f: Callable[..., Any], *args: Any, **options: Any) -> Callable[..., Any]:
    """The function itself: none is converted."""
    return f


autograph = ag_ctx = __import__("sys").modules[__name__]
