"""Updates that the script makes itself, as averages of weights: those that multiply what they store by more than 1."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ....core.constant_value import static_value
from ....core.graph import Graph, Operation, Tensor
from ....core.traversal import ancestors, dependencies, in_order
from ...facts.roles import VARIABLES, at_line, place_of
from ..arithmetic_rules import number
from ..edits.in_graph import Edit
from ..edits.of_givens import other_constant

_READS = ("Identity", "ReadVariableOp", "Cast")
_SIGNS = {"Assign": (0, 1), "AssignVariableOp": (0, 1), "AssignAdd": (1, 1), "AssignAddVariableOp": (1, 1),
          "AssignSub": (1, -1), "AssignSubVariableOp": (1, -1)}
_GROWN = 1e3  # times its first size


class OwnUpdate(NamedTuple):
    """A store whose new value is `factor` times the old one and more. text: that, with the line."""

    variable: Operation
    store: Operation
    factor: float
    text: str


def amplified(graph: Graph, begun: Iterable[Mapping[str, Any]], last: Mapping[str, Any]) -> list[OwnUpdate]:
    """Of variables that have grown since the first values among `begun`, the largest first."""
    first = next(filter(None, begun), {})
    found: list[tuple[float, OwnUpdate]] = []
    for store in graph.operations.values():
        variable = store.inputs[0].op if store.type in _SIGNS else None
        if variable is None or variable.type not in VARIABLES or not {variable.name} <= first.keys() & last.keys():
            continue
        sizes = [float(np.abs(np.asarray(v[variable.name], np.float64)).max(initial=0.0)) for v in (first, last)]
        kept, sign = _SIGNS[store.type]
        part = _share(store.inputs[1], variable)
        factor = None if part is None else kept + sign * part
        if factor is not None and abs(factor) > 1 + 1e-6 and sizes[1] > _GROWN * max(sizes[0], 1e-3):
            text = (f"the script's own update of {variable.name}{at_line(place_of(store))} makes it {number(factor)} "
                    "times what it was, and adds to that")
            found.append((sizes[1], OwnUpdate(variable, store, factor, text)))
    return [update for _, update in sorted(found, key=lambda each: -each[0])]


def _share(t: Tensor, variable: Operation) -> float | None:
    """How often a variable's value is contained in a sum; None if that is not known."""
    shares: dict[Tensor, float | None] = {}
    for op in in_order(dependencies([t])):
        parts = [shares[each] for each in op.inputs]
        found = 1.0 if op is variable else None if any(parts) or None in parts else 0.0
        if op.type in _READS:
            found = parts[0]
        elif op.type in ("Add", "AddV2", "AddN", "Sub") and None not in parts:
            found = sum((-1 if op.type == "Sub" and i else 1) * (part or 0.0) for i, part in enumerate(parts))
        elif op.type == "Mul" and found is None:
            factors = [static_value(each) for each in op.inputs[::-1]]
            found = next((part * float(np.reshape(value, ())) for part, value in zip(parts, factors)
                          if part is not None and value is not None and np.size(value) == 1), None)
        shares.update(dict.fromkeys(op.outputs, found))
    return shares[t]


def averaged(update: OwnUpdate) -> list[Edit]:
    """What keeps it as large as it was: of an average, the factor that is left for the old value; else none."""
    op = update.store.inputs[1].op
    products = [t.op for t in op.inputs if t.op.type == "Mul"] if op.type in ("Add", "AddV2") else []
    mine = next((p for p in products if update.variable in ancestors(p.inputs)), None)
    known = [static_value(t) for p in products if p is not mine for t in p.inputs]
    rest = [float(np.reshape(v, ())) for v in known if v is not None and np.size(v) == 1]
    if mine is None or not rest or not 0 <= rest[0] <= 1:
        return []
    by, factor = next(t for t in mine.inputs if update.variable not in ancestors([t])), 1.0 - rest[0]
    words = f"let the factors of an average add up to 1: {factor:g} for the old value beside {rest[0]:g}"
    return [replace(other_constant(mine, by, factor, words), is_late=True)]
