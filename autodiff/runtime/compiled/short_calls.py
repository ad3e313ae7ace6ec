"""Shorter calls than those of kernels, with the same results: what a kernel looks at in each run is known by then."""
from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

from ...ops.arrays.concat import with_lengths
from ...ops.arrays.slice import with_bounds
from ...ops.linalg.matmul import as_one_call
from ...ops.math.reductions import summed
from ..plan.plan import Buffer, Plan, Step, reads_item


class Unexpected(Exception):
    """An element of a list has another shape than when the function was made."""


def short_call(plan: Plan, step: Step) -> tuple[Callable[..., Any], str] | None:
    """A function and how its arguments are written, {0} for the step's first input; None for the kernel as it is."""
    expected = plan.expected.get(step.outputs[0]) if step.outputs and reads_item(step) else None
    if expected is not None and len(step.inputs) == 2:
        return _item(expected, step.call or partial(step.op.definition.kernel, **step.attrs)), "{0}, {1}"
    if step.call is not None:
        return None
    forms = [plan.forms.get(s) for s in step.inputs]
    if step.op.type == "MatMul":
        return as_one_call(step.op, forms)
    values = [plan.constants.get(s) for s in step.inputs]
    found = with_bounds(step.op, values) or with_lengths(step.op, values, forms) or _over_leading(step, values, forms)
    return found if found is None else (found[0], f"{{{found[1]}}}")


def _item(expected: Buffer, otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """A function that reads elements of this shape that lie in memory so. otherwise: what gives one not written."""
    shape, strides = expected.shape, expected.strides

    def item(items: Any, index: Any) -> Any:
        at = operator.index(index)
        value = items[at] if 0 <= at < len(items) else None
        value = otherwise(items, index) if value is None else value
        if value.shape != shape or value.strides != strides:
            raise Unexpected
        return value
    return item


def _over_leading(step: Step, values: list[Any], forms: list[Any]) -> tuple[Callable[..., Any], int] | None:
    """A SumTo over leading axes as a function of x: (function, 0)."""
    if step.op.type != "SumTo" or values[0] is not None or values[1] is None or forms[0] is None:
        return None
    shape, target = forms[0].shape, tuple(values[1].tolist())
    lead = len(shape) - len(target)
    return (partial(summed, axes=tuple(range(lead))), 0) if lead > 0 and target and shape[lead:] == target else None
