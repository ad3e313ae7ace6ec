"""What an optimizer made of a variable: the operands of an update that spoiled it, and whether training diverges."""
from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from ...core.graph import Operation, Tensor
from ...core.traversal import ancestors, descendants
from ..facts.derivative_answers import GradRow
from ..facts.roles import ASSIGNS, BOUNDS, at_line, is_variable, place_of
from ..facts.stats import bad_elements
from ..facts.steps import When
from .advice import advice_of
from .arithmetic_rules import number
from .findings import Cut, Finding, Operand, Origin

_STORES = ("Apply", "SparseApply", "ResourceApply", "ResourceSparseApply", "Assign", "Scatter", "ResourceScatter")
_NOT_NUMBERS = ("var", "ref", "resource", "indices")
GRADIENTS = ("grad", "delta", "value")  # what the gradient is called among an update's inputs, and the rate
RATES = ("alpha", "lr", "learning_rate")
_RAISE = "raise the bound of the clipping: next to nothing of the gradient is left"
_HUGE = 1e6  # an operand that can make an update overflow
_LEFT = 0.01  # of a gradient: what a bound that is too low leaves of it
_LEAPT = 100.0  # times its size, or 1: in one step
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
    shapes = {name: np.shape(values[t]) for name, t in operands_of(op) if name in known}
    operands = tuple(Operand(name, index if shapes[name] else (), value) for name, value in known.items())
    huge = {name: value for name, value in known.items() if abs(value) > _HUGE}
    telling = huge or {name: value for name, value in known.items() if value == 0}
    told = ", ".join(f"{name} = {number(value)}" for name, value in telling.items())
    kind = "nan" if np.isnan(array[index]) else number(array[index])
    rule = f"{op.type} made {variable.op.name!r} {kind} of " + (told or "finite numbers")
    return Origin(op.name, op.type, variable.name, "update", kind, int((~np.isfinite(array)).sum()), array.size,
                  elements, operands, rule, _remedy(known), "", "", True, False, "", place_of(op),
                  overflows=kind.endswith("inf"))


def _at(value: Any, array: np.ndarray, index: tuple[int, ...]) -> float | None:
    given = np.asarray(value)
    if given.shape == array.shape:
        return float(given[index])
    return float(given) if given.shape == () else None


def why_applied(op: Operation, variable: Tensor, values: Mapping[Tensor, Any], ways: tuple[Tensor, Tensor], *,
                between: Sequence[Operation], old: Any, new: Any, others: Sequence[Operation]) -> tuple[str, str]:
    """How the change of a variable came of a finite gradient, and what helps; "" if it is rate times gradient.

    ways: the gradient as backpropagation gave it, and as the update `op` was given it. between: the ops from the one to
    the other. old, new: the variable's values. others: what else the run put into it.
    """
    raw, given = (_norm(values[t]) for t in ways)
    with np.errstate(all="ignore"):
        change = _norm(np.asarray(new) - np.asarray(old))
    passed, remedy = _passed(between, values, raw, given)
    if remedy == _RAISE and not op.type.endswith(("GradientDescent", "Momentum")):
        remedy = ""  # Adam and others of its kind take the scale out again
    rate = next((float(np.asarray(values[t])) for name, t in operands_of(op) if name in RATES and t in values), 1.0)
    made, other = ("", "")
    if np.isfinite(given) and not np.isclose(change, abs(rate) * given, rtol=0.01, atol=0.0):
        made, other = _made(op, variable, values, ways[1], change=change, rate=rate, old=old, new=new)
        made += "".join(f"; {store.name} ({store.type}){at_line(place_of(store))} writes it too" for store in others)
    elif rate == 0:
        made, other = learning_rate([op], values)[0], "give the optimizer a learning rate above 0"
    if not passed and not made:
        return "", ""
    how = "leaves it as it was" if change == 0 else f"changes it by norm {number(change)}"
    if not np.isfinite(change):
        how = "makes it nan" if np.isnan(change) else "makes it inf"
    told = "; ".join(part for part in (passed, made) if part)
    where = f"{op.name} ({op.type}){at_line(place_of(op))}"
    return f"{where} {how}, its gradient has norm {number(raw)}: {told}", remedy or other


def _passed(between: Sequence[Operation], values: Mapping[Tensor, Any], raw: float, given: float) -> tuple[str, str]:
    """What the ops between backpropagation and the update did to a gradient's norm."""
    if np.isclose(raw, given, rtol=1e-4, atol=0.0):
        return "", ""
    if not np.isfinite(given):
        for op in between:
            bad = [t for t in op.inputs if t in values and not np.isfinite(_norm(values[t]))]
            if bad or any(t in values and not np.isfinite(_norm(values[t])) for t in op.outputs):
                got = f" got {number(_norm(values[bad[0]]))} in {bad[0].name}, which spoils this gradient" if bad else (
                    " is where it stops being finite")
                return f"{op.name} ({op.type}){at_line(place_of(op))}{got}", (
                    "why nan says where it comes from: another variable's gradient is not finite" if bad else "")
    for op in between:
        if any(t in values and np.isclose(_norm(values[t]), given, rtol=1e-4, atol=0.0) for t in op.outputs):
            where = f"{op.name} ({op.type}){at_line(place_of(op))}"
            if given == 0:
                return f"{where} makes zeros of it", "look at what it is multiplied by: a bound, mask or weight of 0"
            clips = op.type in BOUNDS or "clip_by" in op.name
            return f"{where} takes it from norm {number(raw)} to {number(given)}", (
                _RAISE if clips and given < _LEFT * raw else "")
    return "", ""


def _made(op: Operation, variable: Tensor, values: Mapping[Tensor, Any], given: Tensor, *, change: float, rate: float,
          old: Any, new: Any) -> tuple[str, str]:
    """How an update made something else than rate times gradient of its operands."""
    if not np.isfinite(change):
        origin = why_update(op, variable, values, new)
        return origin.rule, origin.remedy
    known = [(name, t, values[t]) for name, t in operands_of(op) if t in values and t is not given]
    slots = [(name, _norm(value)) for name, t, value in known if is_variable(t) and np.shape(value) == np.shape(old)]
    numbers = [f"{name} = {number(float(np.asarray(value)))}" for name, t, value in known
               if np.shape(value) == () and name not in dict(slots)]
    told = ", ".join([*numbers, *(f"{name} had norm {number(norm)}" for name, norm in slots)])
    size = abs(rate) * float(np.max(np.abs(np.asarray(getattr(values[given], "values", values[given]))), initial=0.0))
    spacing = float(np.min(np.spacing(np.abs(np.asarray(old))), initial=np.inf))
    if change == 0 and 0 < size < spacing and not slots:
        return (f"rate times gradient is at most {number(size)}, and {np.asarray(old).dtype.name} has steps of "
                f"{number(spacing)} there: it is lost in rounding"), "raise the learning rate or scale the loss up"
    if _norm(values[given]) == 0 and any(norm for _, norm in slots):
        return f"of a gradient of 0 it goes on with what earlier steps left: {told}", ""
    plain = number(abs(rate) * _norm(values[given]))
    return (f"where rate times gradient has norm {plain}: {told}" if told else ""), ""


def _norm(value: Any) -> float:
    """Of all elements; nan or inf if one is."""
    with np.errstate(all="ignore"):
        return float(np.linalg.norm(np.asarray(getattr(value, "values", value), np.float64).ravel()))


def _remedy(known: Mapping[str, float]) -> str:
    for name in ("beta1", "beta2"):
        if known.get(name, 0) >= 1:
            return f"give the optimizer a {name} below 1: it divides by 1 - {name}_power, which is 0 here"
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


def leap(sizes: Sequence[tuple[When, Mapping[str, Any]]], names: Collection[str]) -> tuple[str, When | None]:
    """`w leapt from 0.5 to 768 in the update of step 1`, if a variable did between two runs; and in which; or "", None.

    sizes: as of `divergence`, of all runs. names: of the variables that count.
    """
    for (at, old), (_, new) in zip(sizes, sizes[1:]):
        leaps = [(_largest(new[name]), _largest(old[name]), name) for name in names if name in old and name in new]
        leaps = [each for each in leaps if each[0] > _LEAPT * max(each[1], 1.0)]
        if leaps:
            now, was, name = max(leaps)
            return f"{name} leapt from {number(was)} to {number(now)} in the update of {at}", at
    return "", None


def learning_rate(updates: Sequence[Operation], values: Mapping[Tensor, Any],
                  rates: Sequence[Tensor] = ()) -> tuple[str, float]:
    """`the learning rate is 0.5 at train.py:12`, of the first of these updates that has one, and that; else "", 0.

    rates: those of updates that are written by hand.

    Of a momentum that makes itself larger in each step that, and 0.
    """
    for op in updates:
        for name, tensor in operands_of(op):
            if name == "momentum" and tensor in values and np.all(np.asarray(values[tensor]) >= 1):
                momentum = number(float(np.max(values[tensor])))
                return f"the momentum is {momentum}{at_line(place_of(tensor.op))}: from 1 on steps only add up", 0.0
    named = [t for op in updates for name, t in operands_of(op) if name in RATES]
    for tensor in (t for t in (*named, *rates) if t in values and np.size(values[t]) == 1):
        rate = float(np.asarray(values[tensor]))
        return f"the learning rate is {number(rate)}{at_line(place_of(tensor.op))}", rate
    return "", 0.0


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
    return any(op.type in ASSIGNS and op.inputs[0] is variable
               and any(below.type in ("VariableV2", "VarHandleOp") and below is not variable.op
                       for below in ancestors(op.inputs[1:])) for op in variable._consumers)


def is_no_weight(variable: Tensor) -> bool:
    """Whether a variable is none that a loss should train: a copy of another, or a rate of updates and nothing else."""
    after = descendants([variable])
    stores = [op for op in after if is_store(op) and op.inputs[0] is not variable]
    return is_copy(variable) or bool(stores) and all(
        name in RATES or t.op not in after and t is not variable for op in stores for name, t in operands_of(op))


def is_kept_out(variable: Tensor, cuts: Collection[Cut]) -> bool:
    """Whether no optimizer of a framework was given it, and a gradient to it is stopped by the script's own will."""
    return variable.op.name in advice_of(variable.graph).untrained and any(cut.kind == "stop_gradient" for cut in cuts)


def still(row: GradRow) -> list[Finding]:
    """A kernel that has a gradient, and that the last step left as it was."""
    if row.update != 0 or not row.stats or not row.stats.norm or len(row.shape or ()) < 2:
        return []
    return [Finding(45, "no step", row.name, "", row.name, f"the last step did not change {row.name}, though its "
                    f"gradient has the norm {row.stats.norm:.3g}", "raise the learning rate: what it adds is lost in "
                    "rounding; or look at the clipping: grads --stages", "grads --stages", row.place)]
