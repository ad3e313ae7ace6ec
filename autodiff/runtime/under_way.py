"""What a thread is computing, seen from another one: the operation of a frame."""
from __future__ import annotations

from types import FrameType

from ..core.graph import Operation
from .compiled.codegen import Generated

_NAMES = "step", "op", "operation"  # what those who call kernels call it
_PACKAGE = __name__.partition(".")[0] + "."


def operation_in(frame: FrameType) -> Operation | None:
    """The operation that a frame of the library executes; None for any other frame."""
    if not frame.f_globals.get("__name__", "").startswith(_PACKAGE):
        caller = frame.f_back
        is_generated = caller is not None and caller.f_code is Generated.__call__.__code__
        return caller.f_locals["self"].operation_at(frame) if caller is not None and is_generated else None
    found = frame.f_locals
    named = (getattr(found.get(name), "op", found.get(name)) for name in _NAMES)
    return next((each for each in named if isinstance(each, Operation)), None)
