"""tensorflow.python.ops.control_flow_util and cond_v2: what an operation is to a branch or loop by hand.

`tf.cond` and `tf.while_loop` are one operation each, which is none of these.
"""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ....api.control.control_flow import cond
from ....core.graph import Operation


def cond_v2(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any], name: str = "cond") -> Any:
    """tf.cond, which is this one: an If."""
    return cond(pred, true_fn, false_fn, name=name)


def _is(kind: str, op: Operation) -> bool:
    return op.type.removeprefix("Ref").removesuffix("Side") == kind


IsSwitch, IsMerge, IsLoopEnter, IsLoopExit = (partial(_is, kind) for kind in ("Switch", "Merge", "Enter", "Exit"))


def IsLoopMerge(op: Operation) -> bool:  # noqa: N802
    """Whether a Merge begins each turn of a loop: one of its inputs enters it."""
    return IsMerge(op) and any(IsLoopEnter(value.op) for value in op.inputs)


def IsCondMerge(op: Operation) -> bool:  # noqa: N802
    """Whether a Merge ends a branch."""
    return IsMerge(op) and not IsLoopMerge(op)


def IsLoopSwitch(op: Operation) -> bool:  # noqa: N802
    """Whether a Switch ends a loop: it takes what its Merge gives."""
    return IsSwitch(op) and IsLoopMerge(op.inputs[0].op)


def IsCondSwitch(op: Operation) -> bool:  # noqa: N802
    """Whether a Switch begins a branch."""
    return IsSwitch(op) and not IsLoopSwitch(op)
