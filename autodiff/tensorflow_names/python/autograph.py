"""tensorflow.python.autograph: functions are called as they are; loops and choices are written with tf's own."""
from __future__ import annotations

import contextlib
import enum
from collections.abc import Callable, Iterator
from typing import Any

from ...core.defaults import STACKS, entered
from ...core.errors import UnsupportedError


def do_not_convert(func: Callable[..., Any] | None = None, *args: Any, **options: Any) -> Any:
    """The function itself: none is converted."""
    return do_not_convert if func is None else func


def tf_convert(f: Callable[..., Any], *args: Any, **options: Any) -> Callable[..., Any]:
    """The function itself: none is converted."""
    return f


class Status(enum.Enum):
    """Whether functions are converted: what an error says of a tensor that stands in Python's own `if` or `for`."""

    UNSPECIFIED = "not allowed in Graph execution"
    ENABLED = "not allowed: AutoGraph did not convert this function"
    DISABLED = "not allowed: AutoGraph is disabled in this function"


@contextlib.contextmanager
def ControlStatusCtx(status: Status, options: Any = None) -> Iterator[None]:  # noqa: N802
    """A block of that status."""
    with entered(STACKS.conversions, status.value):
        yield


class Base:
    """What libraries derive their own conversions of source text from: here none can be made.

    Raises UnsupportedError.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        raise UnsupportedError("gradbg converts no source text (autograph)",
                               hint="write loops and choices with tf.while_loop and tf.cond")


autograph = ag_ctx = __import__("sys").modules[__name__]
