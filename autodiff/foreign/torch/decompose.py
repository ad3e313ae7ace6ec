"""Ops that the table has no rule for, taken apart by torch's own decompositions."""
from __future__ import annotations

from typing import Any, NamedTuple

import torch
import torch.utils._pytree as pytree
from torch._decomp import decomposition_table
from torch._subclasses.fake_tensor import FakeTensorMode

from ...core.site import Site, resolve
from ..model import MissingOp, MissingOpError
from .record import Entry, Recorder, tensors_in


class Parts(NamedTuple):
    """An op as others. args, kwargs: stand-ins of its arguments, as `entries` have them."""

    entries: list[Entry]
    args: Any
    kwargs: Any


def decomposed(entry: Entry) -> tuple[Parts, Any]:
    """What torch makes an op of, and the tensors that stand for what it gives.

    The ops are run on stand-ins without values. Raises MissingOpError where torch has no decomposition either.
    """
    rule = decomposition_table.get(entry.op)
    if rule is None and entry.op.has_kernel_for_dispatch_key(torch._C.DispatchKey.CompositeImplicitAutograd):
        rule = entry.op.decompose
    if rule is None or isinstance(entry.op.name(), str) and entry.op.name().endswith("_"):
        raise MissingOpError("torch", [MissingOp(entry.op.name().replace("aten::", "aten."), 1, line_of(entry))])
    mode, recorder = FakeTensorMode(allow_non_fake_inputs=True), Recorder()
    standing: dict[int, Any] = {}

    def stand_in(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        if id(value) not in standing:
            standing[id(value)] = mode.from_tensor(value.detach()).requires_grad_(value.requires_grad)
        return standing[id(value)]

    args, kwargs = pytree.tree_map(stand_in, (entry.args, entry.kwargs))
    with torch.set_grad_enabled(entry.has_grad), mode, recorder:
        result = rule(*args, **kwargs)
    inner = [Entry(e.op, e.args, e.kwargs, e.result, entry.frames, e.has_grad, e.drawn) for e in recorder.entries]
    return Parts(inner, args, kwargs), tensors_in(result)


def line_of(entry: Entry) -> Site | None:
    """The user's line of an entry."""
    return resolve(entry.frames[:1])[0] if entry.frames else None
