"""Examples that a reshape deals out to the rows of others: one is moved, to see which rows of what is said change."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from .....core.graph import Operation, Tensor
from .....core.traversal import ancestors, in_order
from ....facts.roles import PLACEHOLDERS
from ...findings import Finding
from ..case import Case, Run, fed_behind, finding
from ..heads import Head, heads
from ..units import axes_mixed, shape_of

FEWEST, _PROBES = 4, 5  # examples of a batch that tell one from another; of these so many are moved
_CANDIDATES, _HEADS = 12, 4  # reshapes, and heads, that are looked at


class Moved(NamedTuple):
    """What an example, moved alone, has changed: of each tensor the elements, as their change."""

    example: int
    changes: Mapping[Tensor, np.ndarray]


def mixed_examples(case: Case) -> Iterator[Finding]:
    """Reshapes after which a row is no example any more, though each is held against the label of one."""
    runs = with_loss(case)
    for head in heads(case)[:_HEADS] if runs else ():
        count = examples_of(head, case)
        behind = ancestors([head.prediction]) & case.trained if count >= FEWEST else set[Operation]()
        found = [op for op in in_order(behind) if _may_mix(op, count) and not any(axes_mixed(op, case))][:_CANDIDATES]
        if found:
            probes = [*alone([head.prediction, *(t for op in found for t in (_source(op), op.outputs[0]))],
                             [head.prediction], count, runs[0], case)]
            mixer = next((each for each in found if axis_of(_source(each), probes, count) is not None
                          and axis_of(each.outputs[0], probes, count) is None), None)
            others = [row for moved in probes if (row := _other_row(moved, head)) is not None]
            if mixer is not None and 2 * len(others) > len(probes) >= 2:
                yield _told(mixer, head, probes, count, others[-1])
                return


def with_loss(case: Case) -> list[Run]:
    """The runs that are looked at in which y can be had: not those of a last batch with a graph of its own."""
    return [run for run in case.looked if case.y in case.values(run)]


def _told(op: Operation, head: Head, probes: list[Moved], count: int, other: tuple[int, int]) -> Finding:
    given = _source(op)
    axis, rank = axis_of(given, probes, count) or 0, len(given.dims or ())
    order = [axis, *(i for i in range(rank) if i != axis)]
    states = ("; of a recurrent layer's last states, x[-1], or tf.concat([x[-2], x[-1]], 1) of both directions"
              if axis == 1 and rank == 3 and given.dims[0] == 2 else "")  # type: ignore[index]
    return finding(88, "reshape for transpose", op, f"{op.name} reshapes {given.name} of shape "
                   f"{shape_of(given.dims)}, whose axis {axis} is that of the examples, to "
                   f"{shape_of(op.outputs[0].dims)}: the elements keep their order, so what is of one example is dealt "
                   f"out to the rows of others. Example {other[0]}, changed alone, changes row {other[1]} of "
                   f"{head.prediction.name} most, which is held against the label of example {other[1]}",
                   f"move the axis of the examples first: tf.transpose(x, {order}){states}", confidence="certain")


def examples_of(head: Head, case: Case) -> int:
    """How many examples a batch has, as the labels tell; 0 where that is not known."""
    if head.labels is None or head.labels.op in case.trained:
        return 0
    labels = case.series(head.labels)[:1]
    return len(labels[0]) if labels and np.ndim(labels[0]) else 0


def _source(op: Operation) -> Tensor:
    """What a reshape is given, before it was flattened for it."""
    given: Tensor = op.inputs[0]
    return given.op.inputs[0] if given.op.type == "Reshape" and len(given.dims or ()) == 1 else given


def _sizes(tensor: Tensor, count: int) -> list[int]:
    return [count if n is None else n for n in tensor.dims or ()]


def _may_mix(op: Operation, count: int) -> bool:
    """Whether a reshape takes an axis of as many as there are examples, and gives such a one that is not that axis."""
    if op.type != "Reshape" or any((t.dims or ()).count(None) > 1 for t in (_source(op), op.outputs[0])):
        return False
    old, new = (_sizes(t, count) for t in (_source(op), op.outputs[0]))
    kept = {int(np.prod(new[:b])) for b, n in enumerate(new) if n == count}
    return bool(kept) and any(n == count and int(np.prod(old[:a])) not in kept for a, n in enumerate(old))


def alone(wanted: list[Tensor], behind: list[Tensor], count: int, run: Run, case: Case, *, is_last: bool = False
          ) -> Iterator[Moved]:
    """Some examples in turn, with what is fed for another one in place of their own; what that changes of `wanted`.

    behind: what is fed for these alone is moved. is_last: along the last axis of so many, not the first."""
    fed = {t: np.asarray(v) for t, v in run.feeds.items() if t.op.type in PLACEHOLDERS and count in np.shape(v)
           and t.op in fed_behind(behind)}
    first = _values(run, wanted, {}, case)
    for i in map(int, np.linspace(1, count - 2, _PROBES if first and fed else 0)):
        held = {t: _with_other(v, [a for a, n in enumerate(v.shape) if n == count][-is_last], i, (
            i + count // 2) % count) for t, v in fed.items()}
        then = _values(run, wanted, held, case)
        yield Moved(i, {t: np.abs(np.subtract(then[t], v, dtype=float)) for t, v in first.items()
                        if t in then and np.shape(then[t]) == np.shape(v) and np.isfinite(v).all()})


def _values(run: Run, wanted: list[Tensor], held: Mapping[Tensor, Any], case: Case) -> dict[Tensor, np.ndarray]:
    return {t: np.asarray(v) for t, v in case.look(run, wanted, run.before, held).items() if v is not None}


def _with_other(value: np.ndarray, axis: int, i: int, other: int) -> np.ndarray:
    """Data with what is of one example in the place of another's."""
    changed = value.copy()
    np.moveaxis(changed, axis, 0)[i] = np.moveaxis(value, axis, 0)[other]
    return changed


def axis_of(tensor: Tensor, probes: list[Moved], count: int) -> int | None:
    """The axis along which all that an example changes has its number; None for none."""
    seen = [(each.example, each.changes[tensor]) for each in probes if tensor in each.changes
            and each.changes[tensor].any()]
    return next((axis for axis, n in enumerate(_sizes(tensor, count)) if n == count and all(
        set(np.nonzero(change)[axis]) == {i} for i, change in seen)), None) if len(seen) > 1 else None


def _other_row(moved: Moved, head: Head) -> tuple[int, int] | None:
    """An example, and the row of what is said that it changes most, if that is another's."""
    change = moved.changes.get(head.prediction)
    if change is None or not change.any():
        return None
    rows = change.reshape(len(change), -1).max(axis=1)
    return None if rows.argmax() == moved.example else (moved.example, int(rows.argmax()))
