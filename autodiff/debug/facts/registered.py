"""What GradientsDebuggers have and wait for, as frozen answers."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .records import Place, Stats


@dataclass(frozen=True)
class Identified:
    """A forwarded identity. handle: the name that stands for it from now on. name, of: of the identity, and of what it
    forwards.
    """

    handle: str
    name: str
    of: str


@dataclass(frozen=True)
class Registered:
    """The gradient tensor that a GradientsDebugger has for an x-tensor.

    debugger: its name. y: what was differentiated, "" if that is not known. value: in the last run that can tell it,
    None before any; stats: its figures. when: which run that was, or "". place: the line of the x-tensor.
    """

    debugger: str
    x: str
    gradient: str
    y: str
    dtype: str
    shape: tuple[int | None, ...] | None
    value: Any
    stats: Stats | None
    when: str
    place: Place | None


@dataclass(frozen=True)
class DebuggerRow:
    """A GradientsDebugger. name: the script's for it, or "the prompt". y: its y_tensor, "" if it takes in gradients of
    anything. graph: "this graph", "another graph" or "none yet". registered: x-tensors with a gradient. awaited:
    those that are watched and have none.
    """

    name: str
    y: str
    graph: str
    registered: tuple[str, ...]
    awaited: tuple[str, ...]
