"""Products of a relaxed plan: with the bits of another order of the same sums.

Only the columns that are read are computed. And the sum of many products, as the gradient of a weight
that is used at many times, is one product of what lies one below the other.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from .lowering import Form
from .passes import is_pure
from .plan import Plan, Step

FEWEST = 4  # products that are worth putting together
MOST_BYTES = 1 << 26  # of what is put together: it stays in memory from the first product to the last


@dataclass(frozen=True)
class Product:
    """a @ b, or some of its columns: those from `low` to `high`."""

    transpose_a: bool
    transpose_b: bool
    low: int = 0
    high: int | None = None
    __name__ = "dot"

    def __call__(self, a: np.ndarray, b: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        b = b.T if self.transpose_b else b
        return np.dot(a.T if self.transpose_a else a, b[:, self.low:self.high], out=out)


@dataclass(frozen=True)
class Stack:
    """Matrices one below the other. Buffers may be laid out so that they lie there already."""

    __name__ = "stack"

    def __call__(self, *matrices: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        return np.concatenate(matrices, out=out)


def reassociated(plan: Plan, forms: dict[int, Form]) -> tuple[Plan, dict[int, Form]]:
    """The plan with both done, and the forms of all values known then."""
    return _one_product(_columns_read(plan, forms), dict(forms))


def _columns_read(plan: Plan, forms: dict[int, Form]) -> Plan:
    """The plan with fewer columns of products that one step alone takes columns of."""
    readers = Counter([i for step in plan.steps for i in step.inputs] + list(plan.fetches))
    products: dict[int, int] = {}
    steps: list[Step | None] = list(plan.steps)
    for i, step in enumerate(plan.steps):
        if _is_product(step, forms):
            products[step.outputs[0]] = i
        sources = [s for s in step.inputs if s in products and readers[s] == 1]
        read = [o for o in step.outputs if readers[o]]
        if len(sources) != 1 or len(read) != 1 or step.call is not None:
            continue
        bounds = _columns_taken(plan, step, sources[0], forms[sources[0]].shape, step.outputs.index(read[0]))
        if bounds is not None and read[0] in forms:
            at = products[sources[0]]
            attrs = plan.steps[at].op.attrs
            call = Product(attrs["transpose_a"], attrs["transpose_b"], *bounds)
            steps[at] = replace(plan.steps[at], outputs=(read[0],), call=call)
            steps[i] = None
    return replace(plan, steps=[step for step in steps if step is not None])


def _is_product(step: Step, forms: dict[int, Form]) -> bool:
    return step.op.type == "MatMul" and step.call is None and step.reads is None \
        and all(i in forms and forms[i].dtype.kind == "f" and forms[i].dtype.itemsize > 2
                for i in (*step.inputs, *step.outputs))


def _columns_taken(plan: Plan, step: Step, source: int, shape: tuple[int, ...], place: int) -> tuple[int, int] | None:
    """From which column to which the step takes all of a matrix, as one of its results; None if it does not.

    It is tried on a matrix of the numbers of its elements.
    """
    if not is_pure(step) or any(i not in plan.constants for i in step.inputs if i != source) \
            or step.op.type not in ("Split", "SplitV", "Slice", "StridedSlice"):
        return None
    numbers = np.arange(prod(shape)).reshape(shape)
    result: Any = step.op.definition.kernel(*[numbers if i == source else plan.constants[i] for i in step.inputs],
                                            **step.op.attrs)
    taken = result[place] if len(step.outputs) > 1 else result
    if taken.ndim != 2 or len(taken) != len(numbers) or not taken.size:
        return None
    low = int(taken[0, 0])
    bounds = low, low + taken.shape[1]
    return bounds if bounds[1] - low < shape[1] and (taken == numbers[:, low:bounds[1]]).all() else None


def _one_product(plan: Plan, forms: dict[int, Form]) -> tuple[Plan, dict[int, Form]]:
    """The plan with one product for the sum of many, a.T @ b each."""
    readers = Counter([i for step in plan.steps for i in step.inputs] + list(plan.fetches))
    made = {step.outputs[0]: step for step in plan.steps if len(step.outputs) == 1}
    size = plan.size
    put: dict[int, list[Step]] = {}  # the last step of a sum -> what is done in its place
    dropped: set[int] = set()
    for total in _totals(plan, readers):
        terms, sums = _terms(total, made, readers)
        products = [made[t] for t in terms if t in made and _adds_up(made[t], forms)]
        if len(products) != len(terms) or len(products) < FEWEST or \
                sum(prod(forms[i].shape) * forms[i].dtype.itemsize for p in products for i in p.inputs) > MOST_BYTES:
            continue
        steps, operands = [], []
        for side in (0, 1):
            slots = tuple([p.inputs[side] for p in products])
            rows = sum(forms[s].shape[0] for s in slots)
            forms[size] = Form((rows, *forms[slots[0]].shape[1:]), forms[slots[0]].dtype)
            steps.append(Step(total.op, slots, (size,), call=Stack()))
            operands.append(size)
            size += 1
        steps.append(replace(total, inputs=tuple(operands), call=Product(transpose_a=True, transpose_b=False)))
        put[total.outputs[0]] = steps
        dropped.update(*[s.outputs for s in (*sums, *products)])
    steps = [new for step in plan.steps for new in _in_place_of(step, put, dropped)]
    return replace(plan, steps=steps, size=size), forms


def _in_place_of(step: Step, put: dict[int, list[Step]], dropped: set[int]) -> list[Step]:
    if len(step.outputs) != 1:
        return [step]
    return put[step.outputs[0]] if step.outputs[0] in put else [] if step.outputs[0] in dropped else [step]


def _totals(plan: Plan, readers: Counter) -> Iterator[Step]:
    """The last step of each sum of sums."""
    inner = {i for step in plan.steps if step.call is np.add for i in step.inputs if readers[i] == 1}
    return (step for step in plan.steps if step.call is np.add and step.outputs[0] not in inner)


def _terms(total: Step, made: dict[int, Step], readers: Counter) -> tuple[list[int], list[Step]]:
    """What is added up, in order, and the steps that add."""
    terms, sums, waiting = [], [], [total.outputs[0]]
    while waiting:
        slot = waiting.pop()
        step = made.get(slot)
        if step is not None and step.call is np.add and (step is total or readers[slot] == 1):
            sums.append(step)
            waiting += step.inputs[::-1]
        else:
            terms.append(slot)
    return [t for t in terms if readers[t] == 1] if all(readers[t] == 1 for t in terms) else [], sums


def _adds_up(step: Step, forms: dict[int, Form]) -> bool:
    return _is_product(step, forms) and step.op.attrs["transpose_a"] and not step.op.attrs["transpose_b"]
