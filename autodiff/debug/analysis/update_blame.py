"""What an optimizer made of a variable: the operands of an update that spoiled it, and whether training diverges."""
from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from ...core.graph import Operation, Tensor
from ...core.traversal import ancestors
from ..facts.roles import at_line, place_of
from ..facts.stats import bad_elements
from ..facts.steps import When
from .arithmetic_rules import number
from .findings import Operand, Origin

_STORES = ("Apply", "SparseApply", "ResourceApply", "ResourceSparseApply", "Assign", "Scatter", "ResourceScatter")
_NOT_NUMBERS = ("var", "ref", "resource", "indices")
_RATES = ("alpha", "lr", "learning_rate")
_GROWN = 1e6  # times its first size: a variable that has grown so much has left the training behind


def stores_into(variable: Tensor, ran: Collection[Operation]) -> list[Operation]:
    """The ops of a run that put something into a variable, in order."""
    found = [op for op in variable._consumers if op in ran and is_store(op)]
    return sorted(dict.fromkeys(found), key=lambda op: op.index)


def operands_of(op: Operation) -> list[tuple[str, Tensor]]:
    """What an update computes with, by the names of its parameters: not the variable itself, nor any index."""
    named = zip((parameter.name for parameter in op.definition.parameters), op.inputs)
    return [(name, t) for name, t in named if name not in _NOT_NUMBERS and t.dtype.base_dtype.is_differentiable]


def why_update(op: Operation, variable: Tensor, values: Mapping[Tensor, Any], after: Any) -> Origin:
    """How an update whose operands are finite made something else. after: the variable's value then."""
    array = np.asarray(after)
    elements = bad_elements(array)
    index = elements[0]
    met = {name: _at(values[t], array, index) for name, t in operands_of(op) if t in values}
    known = {name: value for name, value in met.items() if value is not None}
    operands = tuple(Operand(name, index, value) for name, value in known.items())
    told = ", ".join(f"{name} = {number(value)}" for name, value in known.items())
    kind = "nan" if np.isnan(array[index]) else number(array[index])
    rule = f"{op.type} made {variable.op.name!r} {kind} of finite numbers" + (f": {told}" if told else "")
    return Origin(op.name, op.type, variable.name, "update", kind, int((~np.isfinite(array)).sum()), array.size,
                  elements, operands, rule, _remedy(known), "", "", True, False, "", place_of(op))


def _at(value: Any, array: np.ndarray, index: tuple[int, ...]) -> float | None:
    given = np.asarray(value)
    if given.shape == array.shape:
        return float(given[index])
    return float(given) if given.shape == () else None


def _remedy(known: Mapping[str, float]) -> str:
    if known.get("epsilon") == 0:
        return "give the optimizer an epsilon above 0, such as epsilon=1e-8: it divides by a root that is 0 here"
    if known.get("accum") == 0 and known.get("grad") == 0:
        return "give the optimizer an initial_accumulator_value above 0: it divides by its root"
    return "lower the learning rate, or clip the gradients with tf.clip_by_global_norm"


def divergence(sizes: Sequence[tuple[When, Mapping[str, Any]]]) -> str:
    """`weights grew from 1.5 (step 2) to 5.2e+37 (step 29)`, if some variable outgrew all sense; else "".

    sizes: of runs in order, the variables' values.
    """
    first: dict[str, tuple[When, float]] = {}
    for at, variables in sizes:
        for name, value in variables.items():
            size = _largest(value)
            if size:
                first.setdefault(name, (at, size))
    if not sizes:
        return ""
    last, variables = sizes[-1]
    grown = [(_largest(variables[name]) / size, name, at, size) for name, (at, size) in first.items()
             if name in variables and last.run - at.run > 1]
    if not grown or max(grown)[0] < _GROWN:
        return ""
    _, name, at, size = max(grown)
    return f"{name} grew from {size:.3g} ({at}) to {_largest(variables[name]):.3g} ({last})"


def learning_rate(updates: Sequence[Operation], values: Mapping[Tensor, Any]) -> str:
    """`the learning rate is 0.5 at train.py:12`, of the first of these updates that has one; else ""."""
    for op in updates:
        for name, tensor in operands_of(op):
            if name in _RATES and tensor in values:
                return f"the learning rate is {number(float(np.asarray(values[tensor])))}{at_line(place_of(tensor.op))}"
    return ""


def _largest(value: Any) -> float:
    array = np.asarray(value)
    if array.dtype.kind != "f" or not array.size:
        return 0.0
    size = float(np.abs(array).max())
    return size if np.isfinite(size) else 0.0


def is_store(op: Operation) -> bool:
    """Whether an op puts something into a variable."""
    return op.type.startswith(_STORES)


def is_copy(variable: Tensor) -> bool:
    """Whether some op puts another variable's value into a variable, as into those of a target network."""
    return any(op.type in ("Assign", "AssignVariableOp") and op.inputs[0] is variable
               and any(below.type in ("VariableV2", "VarHandleOp") and below is not variable.op
                       for below in ancestors(op.inputs[1:])) for op in variable._consumers)
