"""What a thread is computing, seen from another one: the operation of a frame."""
from __future__ import annotations

from types import FrameType

from ..core.graph import Operation
from .compiled.codegen import Generated
from .plan.interpreter import Loop, run_step


def operation_in(frame: FrameType) -> Operation | None:
    """The operation that a frame of a run executes; None for any other frame."""
    if frame.f_code in (Loop.__call__.__code__, run_step.__code__):
        step = frame.f_locals.get("step")
        return step.op if step is not None else None
    caller = frame.f_back
    if caller is not None and caller.f_code is Generated.__call__.__code__:
        return caller.f_locals["self"].operation_at(frame)
    return None
