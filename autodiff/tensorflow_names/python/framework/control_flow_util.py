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


def _is_of(kind: str, of_loop: bool, op: Operation) -> bool:
    """Whether an operation is a Merge or Switch of a loop, whose Merge has an Enter before it, or of a branch."""
    merge = op.inputs[0].op if kind == "Switch" and op.inputs else op
    return _is(kind, op) and of_loop == (IsMerge(merge) and any(IsLoopEnter(value.op) for value in merge.inputs))


IsLoopMerge, IsCondMerge, IsLoopSwitch, IsCondSwitch = (
    partial(_is_of, kind, of_loop) for kind in ("Merge", "Switch") for of_loop in (True, False))
