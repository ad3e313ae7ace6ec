"""A final state that nothing uses, of what x is part of, and a recurrence of its size on the way to y that begins at 0.

So a decoder forgets its encoder: the state's name in the script, and the line where the other one is to begin with it.
"""
from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ...core.constant_value import static_value
from ...core.errors import ArgumentError
from ...core.graph import Operation, Tensor
from ...core.site import source_lines
from ...core.traversal import ancestors, descendants, in_order
from ..facts.records import NewLines
from ..facts.roles import at_line, place_of
from .scripts.calls import called
from .scripts.source_tree import Source
from .scripts.states import begun_with, call_of, name_of_last

_ZEROS = ("Fill", "Const", "ZerosLike")
_STATES = ("ZeroState", "zero_state")  # in names of zeros that a cell makes


class Unused(NamedTuple):
    """What is said of it, what to do, and the lines of the script that do it, {} where they are not surely known."""

    text: str
    remedy: str
    lines: NewLines = MappingProxyType({})


def unused_state(y: Tensor, x: Tensor) -> Unused | None:
    """What forgets the state that x leads to; None where nothing on the way to y begins with zeros of its size."""
    below, lost = ancestors([y]), descendants([x])
    behind = ancestors(t for op in lost for t in op.outputs)
    own = _starts(behind, behind - below)
    ends = [op.outputs[0] for op in in_order(lost) if op.inputs and not any(t._consumers for t in op.outputs)
            and op.outputs and len(op.outputs[0].dims or ()) == 2]
    for begun, zeros in _starts(below, below).items() if own else ():
        if not _gives_each_step(begun, below):
            continue
        same = [made for made, state in own.items() if _structure(state) == _structure(zeros)
                and _made_with(made, lost)]
        joined = [t.op for t in ends if _structure([t]) == _structure(zeros[:1])]
        for made in (*same, *(joined[:1] if len(joined) == len(zeros) else ())):
            if made.index < begun.index:
                return _told(made, begun, zeros, own)
    return None


def _starts(ops: set[Operation], users: set[Operation]) -> dict[Operation, list[Tensor]]:
    """Of some ops the zeros that others begin with as a state, by the loop, or the first op of what does."""
    found: dict[Any, tuple[Operation, list[Tensor]]] = {}
    for op in in_order(op for op in ops if _is_zero(op)):
        taken = [c for c in in_order(op.outputs[0]._consumers) if c in users and _takes_state(c, op.outputs[0])]
        if taken:
            found.setdefault((taken[0].site, taken[0].span), (taken[0], []))[1].append(op.outputs[0])
    return dict(found.values())


def _is_zero(op: Operation) -> bool:
    """Whether an op gives a table of zeros."""
    t = op.outputs[0] if op.type in _ZEROS else None
    if t is None or not t.dtype.is_floating or len(t.dims or ()) != 2:
        return False
    value = static_value(op.inputs[1] if op.type == "Fill" else t)
    return op.type == "ZerosLike" or value is not None and not np.any(value)


def _takes_state(op: Operation, zeros: Tensor) -> bool:
    """Whether an op takes zeros as what goes on from step to step."""
    if op.type == "While":
        body, number = op.attrs["body"], op.inputs.index(zeros)
        return number < len(body.outputs) and body.outputs[number] is not body.inputs[number]
    return any(word in zeros.op.name for word in _STATES) or op.type == "MatMul" and op.inputs[0] is zeros


def _gives_each_step(begun: Operation, below: set[Operation]) -> bool:
    """Whether more than the last step of a recurrence is used on the way to y: of an encoder it is the last alone."""
    if begun.type == "While":
        return any(c in below for t in begun.outputs if t.dims == () and not t.dtype.is_floating for c in t._consumers)
    alike = _made_with(begun, below)
    return sum(any(c in below and c not in alike for t in op.outputs for c in t._consumers) for op in alike) > 1


def _made_with(op: Operation, others: Iterable[Operation]) -> list[Operation]:
    """Those of others that the same expression made."""
    return [each for each in others if each.site == op.site and each.span == op.span]


def _structure(tensors: Iterable[Tensor]) -> list[tuple[Any, ...]]:
    """Types and widths of a state's tensors."""
    return [(t.dtype.base_dtype, (t.dims or (None,))[-1]) for t in tensors]


def _told(made: Operation, begun: Operation, zeros: Sequence[Tensor], own: Collection[Operation]) -> Unused:
    """Of the op that makes the lost state, and the one that begins with zeros. own: what makes states of its own."""
    file = begun.site.file if begun.site is not None else ""
    there, name, new, line, lines = at_line(place_of(begun)), "", "", 0, dict[tuple[str, int], str]()
    first, second = "", begun.type
    with contextlib.suppress(ArgumentError, OSError, ValueError, SyntaxError, LookupError):
        source = Source("".join(source_lines(file)))
        second = called(call_of(source, begun)) or second
        if made.site is not None and made.site.file == file:
            first = called(call_of(source, made)) if made in own else ""
            state = name_of_last(source, made)
            name = state.name if not state.change else ""
            new, line, changes = begun_with(source, state, begun, [t.op for t in zeros])
            lines = source.rows(changes, file) if changes else {}
    what = f"the last state of the {first}" if first else "a state"
    remedy = f"{new} at line {line}" if new else f"begin it with that state, by initial_state{there}"
    return Unused(f"{name}{', ' * bool(name)}{what}{at_line(place_of(made))}, is used by nothing, and the "
                  f"{second}{there} begins with zeros", remedy, lines)
