"""First derivatives by what is fed, of several answers added up, where that of one of them is meant."""
from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .....core.constant_value import static_value
from .....core.graph import Operation, Tensor
from .....core.traversal import ancestors, descendants, in_order, past
from ....facts.records import Place
from ....facts.roles import VARIABLES, as_place, at_line, place_of
from ...findings import Finding
from ..case import Case, finding, values_behind
from ..heads import DATA
from .mixed import with_loss

KIND = "derivatives added up"
_PRODUCTS = ("MatMul", "BatchMatMulV2")
_TURNED = ("Transpose", "Identity", "ReadVariableOp")
_SUMS = ("Add", "AddV2", "Sub", "SquaredDifference")
_SLICED = ("StridedSlice", "Slice")
_MOVED = ("Reshape", "Transpose", "Squeeze", "ExpandDims", "Unpack", "SplitV", "Split", *_SLICED, *_PRODUCTS)
_MOST, _SMALL = 16, 1e-2  # columns; what others add to the largest


class Added(NamedTuple):
    """A derivative of the sum of all columns. seed: the ones that they are weighed by; answers: the tensors that have
    these columns; taker: the op that adds something else of data to the derivative, given; column: of the one answer
    that is beside it there, None where that is not one."""

    seed: Tensor
    product: Operation
    answers: list[Tensor]
    given: Tensor
    taker: Operation
    column: int | None


def added_columns(case: Case) -> Iterator[Finding]:
    """A derivative of the sum of all columns, in an equation with data or answers."""
    for added in all_added(case)[:1]:
        run, op = with_loss(case)[-1], added.product
        parts = _parts(added, case)
        if parts is None:
            return
        sizes = [f"{float(np.abs(part).mean()):.3g} of column {i}" for i, part in enumerate(parts)]
        name, k = added.answers[0].name, "i" if added.column is None else added.column
        said = finding(76, KIND, op, f"the derivative by what is fed that {added.taker.name}"
                       f"{at_line(place_of(added.taker))} takes is that of all {len(parts)} columns of {name} added "
                       f"up, not of one: on average, in step {run.step}, {', '.join(sizes)}",
                       f"differentiate one column, y[:, {k}], in a call for each that is needed",
                       target=added.seed.name, step=run.step, confidence="certain",
                       written="" if added.column is None else added.column)
        yield replace(said, place=_asked_at(op) or said.place)
        return


def _asked_at(op: Operation) -> Place | None:
    """The line that asks for a gradient which an op is there for."""
    return next((as_place(site) for site in op.traceback if "grad" in site.text), None)


def all_added(case: Case) -> list[Added]:
    """Those in what is minimized."""
    everything = ancestors([case.y]) if with_loss(case) else set[Operation]()
    products = [op for op in in_order(everything) if op.type in _PRODUCTS and _is_seed(op.inputs[0], case)]
    spread = descendants([t for op in products for t in op.outputs])
    return [added for op in products if (added := _added(op, everything, spread, case)) is not None]


def _is_seed(tensor: Tensor, case: Case) -> bool:
    """Whether a tensor is the same number for each of some columns, and no data."""
    if tensor.op in case.trained or {op.type for op in values_behind([tensor])} & {*DATA, *VARIABLES}:
        return False
    value = next(iter(case.series(tensor)[-1:]), np.zeros(0))
    return value.ndim > 0 and 1 < value.shape[-1] <= _MOST and bool(value.flat[0]) and not np.ptp(value)


def _added(op: Operation, everything: set[Operation], spread: set[Operation], case: Case) -> Added | None:
    kernel = past(op.inputs[1], _TURNED).op
    width = case.series(op.inputs[0])[-1].shape[-1]
    forward = [o for o in case.behind if o.type in _PRODUCTS and o not in spread and o is not op and past(
        o.inputs[1], _TURNED).op is kernel and o.outputs[0].dims and o.outputs[0].dims[-1] == width]
    answers = [t for o in forward if kernel.type in VARIABLES for t in _answers(o.outputs[0], case)]
    used = _equation(op.outputs[0], everything, spread)
    if used is None or not any(_is_apart(t, everything, case) for t in answers):
        return None
    given, taker = used
    beside = ancestors(taker.inputs, op.outputs)
    columns = {_column(o) for t in answers for o in t._consumers if o in beside and o.type in _SLICED}
    return Added(op.inputs[0], op, answers, given, taker, columns.pop() if len(columns) == 1 else None)


def _answers(product: Tensor, case: Case) -> list[Tensor]:
    """What is made of a product, element by element, in its shape."""
    found = [product]
    for tensor in found:
        found += [t for c in tensor._consumers if c in case.behind and (c.definition.elementwise or c.type == "BiasAdd")
                  and c.type not in ("Sub", "Mul", "SquaredDifference") for t in c.outputs
                  if t.dims == product.dims and t not in found]
    return found[::-1]


def _is_apart(answers: Tensor, everything: Collection[Operation], case: Case) -> bool:
    """Whether columns are answers of their own: one is taken alone, or each has a target."""
    return any(c in everything and (c.type in ("Unpack", "Split", "SplitV") or _column(c) is not None or c.type in _SUMS
               and any(t.op not in case.trained and t.dims == answers.dims and any(
                   op.type in DATA for op in values_behind([t])) for t in c.inputs)) for c in answers._consumers)


def _column(op: Operation) -> int | None:
    """The one column that an op slices off; None for none, or others."""
    begin, dims = static_value(op.inputs[1]) if op.type in ("StridedSlice", "Slice") else None, op.inputs[0].dims or ()
    made = op.outputs[0].dims
    if begin is None or begin.size != len(dims) or made is None or made == dims or (
            len(made) == len(dims) and made[-1] != 1):
        return None
    return int(begin.flat[-1]) % (dims[-1] or 1)


def _equation(start: Tensor, everything: set[Operation], spread: set[Operation]) -> tuple[Tensor, Operation] | None:
    """Where something else, of data, is added to what is made of a tensor, before any sum over elements."""
    stack, seen = [start], {start}
    while stack:
        tensor = stack.pop()
        for taker in [c for c in tensor._consumers if c in everything]:
            others = [t for t in taker.inputs if t is not tensor and t.op not in spread]
            if taker.type in _SUMS and any(op.type in DATA for op in values_behind(others)):
                return tensor, taker
            if taker.definition.elementwise or taker.type in _MOVED:
                stack += [t for t in taker.outputs if t not in seen]
                seen.update(taker.outputs)
    return None


def _parts(added: Added, case: Case) -> list[np.ndarray] | None:
    """What each column adds to a derivative; None where that of one is all of each element, as of what is computed of
    each number alone."""
    run, seed = with_loss(case)[-1], case.series(added.seed)[-1]
    looks = [case.look(run, [added.given], run.before, {added.seed: seed * (np.arange(seed.shape[-1]) == i).astype(
        seed.dtype)}) for i in range(seed.shape[-1])]
    parts = [np.asarray(found[added.given], float) for found in looks if added.given in found]
    if len(parts) < len(looks) or not np.isfinite(parts).all():
        return None
    sizes = np.abs(parts)
    others = sizes.sum(0) - sizes.max(0)
    return parts if others.mean() > _SMALL * sizes.max(0).mean() > 0 else None
