"""tensorflow.python.eager.context: whether ops run at once, and blocks in which they do or do not.

execution_callbacks, too, of which only the names are there.
"""
from __future__ import annotations

import contextlib
import enum
from typing import Any

from ...api.control.dependencies import device
from ...core.defaults import STACKS
from ...core.graph import get_default_graph
from ...runtime.eager import eager_mode, executing_eagerly, graph_mode

__all__ = ["GRAPH_MODE", "EAGER_MODE", "context", "device", "eager_mode", "executing_eagerly", "graph_mode",
           "in_eager_mode", "in_graph_mode", "num_gpus"]

GRAPH_MODE, EAGER_MODE = 0, 1
SYNC, ASYNC = range(2)
DEVICE_PLACEMENT_EXPLICIT, DEVICE_PLACEMENT_WARN, DEVICE_PLACEMENT_SILENT, DEVICE_PLACEMENT_SILENT_FOR_INT32 = range(4)
in_eager_mode = executing_eagerly


def in_graph_mode() -> bool:
    """Whether ops are kept in a graph."""
    return not executing_eagerly()


def num_gpus() -> int:
    """None are used."""
    return 0


class Context:
    """The process's one context. summary_writer: kept for those who set it."""

    summary_writer: Any = None
    executing_eagerly = staticmethod(executing_eagerly)
    num_gpus = staticmethod(num_gpus)
    device = staticmethod(device)

    def in_eager_mode(self) -> bool:
        return executing_eagerly()

    def ensure_initialized(self) -> None:
        """Nothing is to be begun."""

    @property
    def scope_name(self) -> str:
        """The name scope with its `/`, of ops that run at once."""
        scope = get_default_graph().scope
        return f"{scope}/" if scope else ""

    @property
    def device_name(self) -> str:
        return STACKS.graphs[-1].current_device if STACKS.graphs else ""


_CONTEXT = Context()


def context() -> Context:
    """The process's context."""
    return _CONTEXT


def ensure_initialized() -> None:
    """Nothing is to be begun."""


class ExecutionCallback(enum.Enum):
    """What is to be done where an op gives inf or nan; nothing is."""

    IGNORE = "ignore"
    PRINT = "print"
    RAISE = "raise"
    WARN = "warn"


def errstate(inf_or_nan: Any = None) -> Any:
    """A block in which nothing changes."""
    return contextlib.nullcontext()
