"""tensorflow.python.framework.function and eager.function: functions that are called while the graph is built."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...api.control.function import Defun, defun, function

__all__ = ["Defun", "defun", "function", "wrap_function"]


def wrap_function(fn: Callable[..., Any], signature: Any = None, name: str | None = None) -> Callable[..., Any]:
    """The function, called while the graph is built."""
    return function(fn)
