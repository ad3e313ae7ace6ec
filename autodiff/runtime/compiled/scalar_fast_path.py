"""Single float64 numbers as Python floats: twenty times faster than a ufunc, with the same bits.

Sums, differences and products are IEEE's in both. A function of `math` is taken only where it agrees
with NumPy's on this machine. `math` raises where NumPy gives nan or inf: then the plan runs as a loop.
Single float32 numbers too in a relaxed plan, and without a look at the bits: each result is then exact to
double precision, and rounded to float32 only where it leaves the floats.
"""
from __future__ import annotations

import functools
import math
from collections.abc import Callable, Container
from typing import Any

import numpy as np

from ..plan.passes import is_pure
from ..plan.plan import Plan, Step
from .lowering import Form

_SAFE: dict[Any, str] = {
    np.add: "{} + {}", np.subtract: "{} - {}", np.multiply: "{} * {}", np.negative: "-{}", np.square: "{0} * {0}"}
_RAISING: dict[Any, str] = {np.divide: "{} / {}"}
_FUNCTIONS: dict[Any, Callable[[float], float]] = {
    np.sin: math.sin, np.cos: math.cos, np.tan: math.tan, np.exp: math.exp, np.log: math.log, np.sqrt: math.sqrt,
    np.tanh: math.tanh, np.arctan: math.atan, np.log1p: math.log1p, np.expm1: math.expm1}
RAISES = (ZeroDivisionError, ValueError, OverflowError)

NUMBER = Form((), np.dtype(np.float64))
SINGLE = Form((), np.dtype(np.float32))
_TRUTH = Form((), np.dtype(np.bool_))
_OPERANDS = {SINGLE, _TRUTH, Form((), np.dtype(np.int32)), Form((), np.dtype(np.int64))}
_OPERATORS: dict[Any, str] = {
    **_SAFE, **_RAISING, np.less: "{} < {}", np.less_equal: "{} <= {}", np.greater: "{} > {}",
    np.greater_equal: "{} >= {}", np.equal: "{} == {}", np.not_equal: "{} != {}"}
_MANY = 8  # from so many numbers on an array of them costs less than their calls
_OF_TRUTHS: dict[Any, str] = {np.logical_and: "{} & {}", np.logical_or: "{} | {}", np.logical_not: "~{}"}


def scalar_steps(plan: Plan, relaxed: bool = False) -> dict[int, str]:
    """Index of a step -> its formula, for those that Python floats may do; {} where a function's name goes.

    relaxed: float32 may be done in them too. If steps have effects, only formulas that cannot raise: the run could
    not begin again.
    """
    can_raise = all(is_pure(step) or step.reads is not None for step in plan.steps)
    numbers = (NUMBER, SINGLE) if relaxed else (NUMBER,)
    found = {}
    for i, step in enumerate(plan.steps):
        text = _formula(step, can_raise, relaxed)
        if text is not None and all(plan.forms.get(s) in numbers for s in (*step.inputs, *step.outputs)):
            found[i] = text
    return found


def operator_steps(plan: Plan) -> dict[int, str]:
    """Index of a step -> its formula, for operators of single numbers, which NumPy's own numbers have.

    They round and wrap as ufuncs do, at a third of the cost of a call: a loop counts and compares with them.
    """
    found = {}
    for i, step in enumerate(plan.steps):
        if isinstance(step.call, np.ufunc):
            inputs, outputs = ([plan.forms.get(s) for s in slots] for slots in (step.inputs, step.outputs))
            text = (_OF_TRUTHS if set(inputs) == {_TRUTH} else _OPERATORS).get(step.call)
            if text is not None and _OPERANDS.issuperset([*inputs, *outputs]):
                found[i] = text
    return found


def alike_steps(plan: Plan, others: Container[int]) -> dict[int, list[int]]:
    """Index of a step -> it and later ones that take the same function of single numbers, all of them known by then.

    One call for many: of what is left without `others`. So it is with the slopes of a chain.
    """
    made = {slot: i for i, step in enumerate(plan.steps) for slot in step.outputs}
    groups: dict[Any, list[list[int]]] = {}
    for i, step in enumerate(plan.steps):
        if isinstance(step.call, np.ufunc) and step.call.nin == 1 and len(step.outputs) == 1 and i not in others:
            slot, form = step.inputs[0], plan.forms.get(step.outputs[0])
            if form in (SINGLE, NUMBER) and form == plan.forms.get(slot) and slot not in plan.constants:
                found = groups.setdefault((step.call, form), [])
                if found and made.get(slot, -1) < found[-1][0]:
                    found[-1].append(i)
                else:
                    found.append([i])
    return {group[0]: group for (ufunc, form), found in groups.items() for group in found
            if len(group) >= _MANY and _is_same_in_rows(ufunc, form.dtype)}


@functools.cache
def _is_same_in_rows(ufunc: np.ufunc, dtype: np.dtype) -> bool:
    """Whether NumPy's function of one number has the bits that it has in an array, on this machine."""
    points = np.random.default_rng(0).standard_normal(300).astype(dtype)
    with np.errstate(all="ignore"):
        return np.array([ufunc(x) for x in points], dtype).tobytes() == ufunc(points).tobytes()


def _formula(step: Step, can_raise: bool, relaxed: bool) -> str | None:
    if not isinstance(step.call, np.ufunc):
        return None
    if step.call in _SAFE or not can_raise:
        return _SAFE.get(step.call)
    if step.call in _RAISING:
        return _RAISING[step.call]
    return "{}" if step.call in _FUNCTIONS and (relaxed or _agrees(step.call)) else None


def function_of(step: Step) -> Callable[[float], float]:
    """The function of `math` for a step whose formula has none."""
    return _FUNCTIONS[step.call]


@functools.cache
def _agrees(ufunc: np.ufunc) -> bool:
    """Whether NumPy's function of one number is that of `math`, on numbers of every size."""
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.standard_normal(2000) * 10.0 ** rng.integers(-8, 3, 2000), rng.uniform(0, 20, 2000)])
    with np.errstate(all="ignore"):
        expected = [float(ufunc(x)) for x in points]
    function = _FUNCTIONS[ufunc]
    for x, y in zip(points.tolist(), expected):
        try:
            if function(x) != y:
                return False
        except RAISES:
            if math.isfinite(y):
                return False
    return True
