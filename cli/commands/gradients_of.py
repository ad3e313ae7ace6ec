"""A gradient of several ys by several xs, with weights and constants, as a table or an array."""
from __future__ import annotations

from typing import Any

import numpy as np

from autodiff.debug.facts.derivative_answers import GradientPart, GradientsOf

from ..model.results import Array, Column, Result, Table, Text
from ..view.debugger_rows import shape
from ..view.text import number


def gradients_result(found: GradientsOf) -> Result:
    """One x as a value, several as a table; with what was held constant."""
    weighted = [f"{weight} * {y}" for weight, y in zip(found.weights, found.ys)] or list(found.ys)
    of = weighted[0] if len(weighted) == 1 and not found.weights else f"({' + '.join(weighted)})"
    notes = _notes(found)
    if len(found.parts) > 1:
        columns = (Column("x", "name"), Column("gradient", "name", 8), Column("shape", "text", 6),
                   Column("value", "text", 5), Column("norm", "number"), Column("none because", "text", 4))
        used = columns if any(part.reason for part in found.parts) else columns[:-1]
        return Table(used, tuple(_cells(part)[:len(used)] for part in found.parts), f"∂ {of} / ∂ x", notes)
    part = found.parts[0]
    head = f"∂ {of} / ∂ {part.x}"
    if part.array is None:
        return Text("\n".join((f"{head} is None: {part.reason}", *notes, f"why {part.x} says more; --unconnected zero "
                               "gives zeros in its place")), "warning")
    return Array(head, np.asarray(part.array), f"${part.number}", notes=notes)


def _notes(found: GradientsOf) -> tuple[str, ...]:
    notes = [found.when, "built on demand"]
    if found.held:
        notes.append(f"held constant: {', '.join(found.held)}")
    lines = ["; ".join(note for note in notes if note)]
    if found.own:
        lines.append(f"{', '.join(found.own)}: held constant {'itself' if len(found.own) == 1 else 'themselves'}, so "
                     "what is left is the partial derivative, without the ways through the others")
    return tuple(lines)


def _cells(part: GradientPart) -> tuple[Any, ...]:
    if part.array is None:
        return (part.x, "None", "", "", None, part.reason)
    array = np.asarray(part.array)
    return (part.x, f"${part.number}", shape(array.shape), _written(array), part.stats.norm if part.stats else None, "")


def _written(array: np.ndarray, most: int = 4) -> str:
    """The elements of a small array; empty for a larger one."""
    if array.size > most or array.dtype.kind not in "fiu":
        return ""
    items = [number(item) for item in array.reshape(-1).tolist()]
    return items[0] if array.ndim == 0 else f"[{', '.join(items)}]"
