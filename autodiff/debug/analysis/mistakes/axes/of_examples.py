"""Which axis of a tensor counts the examples of a batch: what shows it, as it need not be the first."""
from __future__ import annotations

from collections.abc import Collection

import numpy as np

from .....core.constant_value import static_value
from .....core.graph import Operation, Tensor
from .....core.traversal import past
from ..case import Case
from ..heads import SAME, heads
from .mixed import FEWEST, Moved, alone, examples_of, with_loss

_HEADS = 4  # that are looked at
_MOST = 2  # times what an example changes of another, from which on a batch normalization may be all that they share


def axis_of_examples(tensor: Tensor, case: Case) -> int | None:
    """The axis along which an example, moved alone, changes its own row, of a tensor and of what is said of it.

    Best no other row, of several such axes the last, as all places may be alone too; else hardly any other; else it is
    that of as many as there are labels. None where nothing tells.
    """
    runs = with_loss(case)
    shape = np.shape(case.look(runs[0], [tensor], runs[0].before, {}).get(tensor, 0.0)) if runs else ()
    alone_in, most_in, labelled = set[int](), set[int](), set[int]()
    for head in heads(case)[:_HEADS] if shape else ():
        said = past(head.prediction, SAME)
        labelled |= {axis for axis, n in enumerate(shape) if n == examples_of(head, case)}
        for count in dict.fromkeys(n for n in shape if n >= FEWEST):
            for is_last in (False, True)[:1 + (shape.count(count) > 1)]:
                probes = [*alone([tensor, said], [said], count, runs[0], case, is_last=is_last)]
                alone_in |= _own_axes(tensor, probes, np.inf) if _own_axes(said, probes, np.inf) else set()
                most_in |= _own_axes(tensor, probes, _MOST) if _own_axes(said, probes, _MOST) else set()
    if alone_in:
        return max(alone_in)
    found = most_in & labelled or most_in or labelled
    return found.pop() if len(found) == 1 else None


def _own_axes(tensor: Tensor, probes: Collection[Moved], times: float) -> set[int]:
    """The axes along which what is of an example's number changes so many times as much as any other; inf: alone."""
    own = list[set[int]]()
    for each in probes:
        change = each.changes.get(tensor)
        if change is not None and change.any():
            rows = [change.sum(axis=tuple(a for a in range(change.ndim) if a != axis)) for axis in range(change.ndim)]
            own.append({axis for axis, row in enumerate(rows) if len(row) > max(each.example, 1) and (
                (least := np.delete(row, each.example).max()) == 0 or least * times < row[each.example])
                and row[each.example]})
    return set.intersection(*own) if own else set()


def axis_summed(op: Operation) -> int | None:
    """The axis over which what shares weigh is then summed, that of places; None where it is not."""
    is_turned = op.inputs[0].op.type == "Transpose"
    back = next((c for c in op.outputs[0]._consumers if c.type == "Transpose"), op) if is_turned else op
    products = [c for c in back.outputs[0]._consumers if c.type == "Mul"]
    for total in (c for product in products for c in product.outputs[0]._consumers if c.type == "Sum"):
        axes, dims = static_value(total.inputs[1]), total.inputs[0].dims or ()
        if axes is not None and axes.size == 1 and len(dims) == len(back.outputs[0].dims or ()):
            axis = int(axes.flat[0]) % len(dims)
            return axis if dims[axis] != 1 else None
    return None
