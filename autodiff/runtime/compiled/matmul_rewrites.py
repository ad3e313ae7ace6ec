"""Products of matrices: fewer columns of them, and in a relaxed plan one for the sum of many.

Only the columns that are read are computed. BLAS adds in another order near the edge of a matrix, so a few more
columns are computed: as many as give the same bits in trials. In a relaxed plan none; and the sum of many products,
as the gradient of a weight that is used at many times, is one product of what lies one below the other.
"""
from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from ...ops.linalg.matmul import product_by_transposed
from ..plan.passes import is_pure
from ..plan.plan import Plan, Step
from .lowering import Form

FEWEST = 4  # products that are worth putting together
MARGINS = (0, 8, 16, 32)  # columns computed beside the ones that are read, for the same bits
LARGEST_PART = 0.75  # of the columns, that are worth leaving the others out
LEAST_WORK = 1 << 20  # multiplications: OpenBLAS has other ways for products of up to 10**6, by layout too
MOST_TRIED = 1 << 28  # multiplications in a product that is tried
TRIALS = 4
MOST_BYTES = 1 << 26  # bytes of factors put together: they stay in memory from the first product to the last


@dataclass(frozen=True)
class Product:
    """a @ b, or some of its columns: those from `low` to `high`."""

    transpose_a: bool
    transpose_b: bool
    low: int = 0
    high: int | None = None
    __name__ = "dot"

    def __call__(self, a: np.ndarray, b: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        a, b = a.T if self.transpose_a else a, (b.T if self.transpose_b else b)[:, self.low:self.high]
        return product_by_transposed(a, b, out) if self.transpose_b else np.dot(a, b, out=out)


@dataclass(frozen=True)
class Columns:
    """A view of the columns from `low` to `high`."""

    low: int
    high: int
    __name__ = "columns"

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return x[:, self.low:self.high]


@dataclass(frozen=True)
class Stack:
    """Matrices one below the other. Buffers may be laid out so that they lie there already."""

    __name__ = "stack"

    def __call__(self, *matrices: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        return np.concatenate(matrices, out=out)


def reassociated(plan: Plan, forms: dict[int, Form]) -> tuple[Plan, dict[int, Form]]:
    """The plan with fewer columns of products and fewer products, and the forms of all values known then."""
    return _one_product(*columns_read(plan, forms, None))


def columns_read(plan: Plan, forms: dict[int, Form], own: set[int] | None) -> tuple[Plan, dict[int, Form]]:
    """The plan with fewer columns of products whose columns only one step takes, and the forms known then.

    own: slots of values with memory of their own, as BLAS computes dot(x, x.T) in another way. None: any bits will do.
    """
    forms, size = dict(forms), plan.size
    readers = Counter([i for step in plan.steps for i in step.inputs] + list(plan.fetches))
    products: dict[int, int] = {}
    steps: list[Step | None] = list(plan.steps)
    known = set(plan.feeds).union(plan.constants, *[step.outputs for step in plan.steps if step.reads is not None])
    for i, step in enumerate(plan.steps):
        if _is_product(step, forms) and (own is None or _are_apart(step.inputs, own, known)):
            products[step.outputs[0]] = i
        sources = [s for s in step.inputs if s in products and readers[s] == 1]
        read = [o for o in step.outputs if readers[o]]
        if len(sources) != 1 or len(read) != 1 or step.call is not None or read[0] not in forms:
            continue
        taken = _columns_taken(plan, step, sources[0], forms[sources[0]].shape, step.outputs.index(read[0]))
        at = products[sources[0]]
        product = plan.steps[at]
        bounds = taken if taken is None or own is None else _exact(product, forms, *taken)
        if taken is None or bounds is None:
            continue
        part = replace(product, outputs=(read[0],), call=Product(*_transposed(product), *bounds))
        steps[at], steps[i] = part, None
        if bounds != taken:
            forms[size] = Form((forms[read[0]].shape[0], bounds[1] - bounds[0]), forms[read[0]].dtype)
            steps[at] = replace(part, outputs=(size,))
            steps[i] = Step(step.op, (size,), (read[0],), call=Columns(taken[0] - bounds[0], taken[1] - bounds[0]))
            size += 1
    return replace(plan, steps=[step for step in steps if step is not None], size=size), forms


def _are_apart(inputs: tuple[int, ...], own: set[int], known: set[int]) -> bool:
    """Whether the two factors cannot be one array: one is a result of its own, the other no view."""
    a, b = inputs
    return a != b and not own.isdisjoint(inputs) and own.union(known).issuperset(inputs)


def _transposed(product: Step) -> tuple[bool, bool]:
    return product.op.attrs["transpose_a"], product.op.attrs["transpose_b"]


def _exact(product: Step, forms: dict[int, Form], low: int, high: int) -> tuple[int, int] | None:
    """The columns to compute so that those from low to high have the bits of the whole product."""
    a, b = [forms[i] for i in product.inputs]
    rows = forms[product.outputs[0]].shape[0]
    depth = prod(a.shape) // max(rows, 1)
    work = rows * (high - low) * depth
    if not LEAST_WORK <= work <= MOST_TRIED or min(rows, high - low, depth) < 8:
        return None
    return _exact_bounds(a, b, _transposed(product), low, high)


@functools.cache
def _exact_bounds(a_form: Form, b_form: Form, transposed: tuple[bool, bool], low: int, high: int
                  ) -> tuple[int, int] | None:
    """Bounds that gave the same bits in some trials: the order in which BLAS adds does not depend on the numbers."""
    trials = [_zero_sums(np.random.default_rng(i), a_form, b_form, transposed) for i in range(TRIALS)]
    whole = [Product(*transposed)(a, b) for a, b in trials]
    columns = whole[0].shape[1]
    for margin in MARGINS:
        first, last = max(low - margin, 0), min(high + margin, columns)
        if last - first > LARGEST_PART * columns:
            return None
        part = Product(*transposed, first, last)
        if all((part(a, b)[:, low - first:high - first] == expected[:, low:high]).all()
               for (a, b), expected in zip(trials, whole)):
            return first, last
    return None


def _zero_sums(rng: np.random.Generator, a_form: Form, b_form: Form, transposed: tuple[bool, bool]
               ) -> tuple[np.ndarray, np.ndarray]:
    """Matrices whose product is zero but for rounding: each term has its opposite somewhere.

    The rest shows the order in which the terms are added.
    """
    a, b = [rng.standard_normal(form.shape).astype(form.dtype) for form in (a_form, b_form)]
    rows, columns = a if transposed[0] else a.T, b.T if transposed[1] else b  # views: terms first
    rows *= (2.0 ** rng.uniform(-4, 4, (len(rows), 1))).astype(a.dtype)
    order = rng.permutation(len(rows))
    half = len(rows) // 2
    one, other = order[:half], order[half:2 * half]
    rows[other], columns[other] = -rows[one], columns[one]
    return a, b


def _is_product(step: Step, forms: dict[int, Form]) -> bool:
    return step.op.type == "MatMul" and step.call is None and step.reads is None \
        and all(i in forms and forms[i].dtype.kind == "f" and forms[i].dtype.itemsize > 2
                for i in (*step.inputs, *step.outputs))


def _columns_taken(plan: Plan, step: Step, source: int, shape: tuple[int, ...], place: int) -> tuple[int, int] | None:
    """The first and last column that the step takes of a matrix; None if it takes anything else. It is tried on a
    matrix that holds the numbers of its elements.
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
    put: dict[int, list[Step]] = {}  # the last step of a sum -> the steps in its place
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
    """The terms of a sum in order, and the steps that add them."""
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
