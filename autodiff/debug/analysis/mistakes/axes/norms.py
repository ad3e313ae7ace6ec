"""Norms that are to be 1, as of a gradient penalty, of parts of an example in place of all of it."""
from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from .....core.constant_value import static_value
from .....core.graph import Operation
from .....core.traversal import past
from ....facts.roles import at_line, place_of
from ...findings import Finding
from ..case import Case, finding
from ..heads import SAME, number_in, through
from ..signs import is_squared
from ..units import shape_of

_CHOICES = ("Select", "SelectV2")


def norms_of_parts(case: Case) -> Iterator[Finding]:
    """Of [n, ...] the norms over an axis of one element, or of images over their second axis alone, less 1."""
    for op in case.operations:
        axes, dims = _squares_summed(op) if op.type == "Sqrt" else (None, ())
        if axes is None or len(dims) < 3 or not any(map(_is_less_one, _takers(op))):
            continue
        over = {int(axis) % len(dims) for axis in np.ravel(axes)}
        is_one, sizes = all(dims[axis] == 1 for axis in over), {axis: n for axis, n in enumerate(dims) if axis and n}
        count = math.prod(n for axis, n in sizes.items() if axis not in over)  # norms for each example
        if not over or 0 in over or len(sizes) < len(dims) - 1 or count == 1 or not (
                is_one or len(dims) == 4 and over == {1}):
            continue
        what = ", which has one element, so that it is the size of each number" if is_one else ""
        yield finding(72, "norm of parts", op, f"{op.name}{at_line(place_of(op))} is the norm over axis "
                      f"{', '.join(map(str, sorted(over)))} of {shape_of(dims)}{what}: {count} norms for each example, "
                      "and the loss draws each of them to 1, where that of the whole example is meant to be 1",
                      "make a row of each example first: "
                      f"tf.norm(tf.reshape(g, [-1, {math.prod(sizes.values())}]), axis=1)",
                      confidence="certain" if is_one else "probable")
        return


def _squares_summed(op: Operation) -> tuple[np.ndarray | None, tuple[int | None, ...]]:
    """The axes over which a root is of a sum of squares, and the shape of these; None for anything else."""
    root = past(op.inputs[0], SAME).op
    given = next((t for t in root.inputs[:0:-1] if t.op.type not in ("Const", "Fill")), op.inputs[0]) if (
        root.type in _CHOICES) else op.inputs[0]  # where a sum of 0 is set apart
    total = past(given, ("Add", "AddV2", "Maximum", *SAME)).op
    square = past(total.inputs[0], SAME).op if total.type == "Sum" else total
    if square is total or not is_squared(square) or not total.inputs[0].dims:
        return None, ()
    return static_value(total.inputs[1]), total.inputs[0].dims


def _takers(op: Operation) -> list[Operation]:
    found = through(op.outputs[0])
    return [*found, *(taker for each in found if each.type in _CHOICES for taker in through(each.outputs[0]))]


def _is_less_one(op: Operation) -> bool:
    """Whether an op takes 1 from what it is given."""
    return op.type == "Sub" and number_in(op.inputs[1]) == 1 or op.type in ("Add", "AddV2") and any(
        number_in(t) == -1 for t in op.inputs)
