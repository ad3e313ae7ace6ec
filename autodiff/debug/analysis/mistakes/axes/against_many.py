"""One number, a sum over all examples, held against the target of each: no example has an answer of its own."""
from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .....core.graph import Operation, Tensor
from .....core.traversal import past
from ....facts.roles import at_line, place_of
from ...findings import Finding
from ..case import Case, finding, values_behind
from ..heads import DATA, SAME, difference
from .mixed import FEWEST, alone, axis_of, with_loss

REDUCED = {"Sum": "sum", "Mean": "mean", "Max": "maximum"}
_CALLS = {"Sum": "reduce_sum", "Mean": "reduce_mean", "Max": "reduce_max"}


class Against(NamedTuple):
    """Where one number meets many targets. total: the op that reduces what is of all examples to it; axes: those that
    are of one example, over which it may go; is_column: the targets are [n, 1]."""

    op: Operation
    total: Operation
    targets: Tensor
    axes: tuple[int, ...]
    is_column: bool


def against_many(case: Case) -> Iterator[Finding]:
    """A sum, or mean, over the examples too, whose errors are those of every target."""
    for each in all_against(case)[:1]:
        run = with_loss(case)[-1]
        case.want(each.total.outputs[0])
        targets = np.asarray(case.values(run)[each.targets], float)
        said, name = case.values(run).get(each.total.outputs[0]), _CALLS[each.total.type]
        then = "leave it out" if not each.axes else (
            f"reduce what is of one example alone: tf.{name}(x, axis={axes_told(each)})")
        number = "" if said is None or np.size(said) != 1 else f", {float(np.reshape(said, ())):.3g} in step {run.step}"
        yield finding(84, "summed before the loss", each.total, f"{each.total.name} is the {REDUCED[each.total.type]} "
                      f"of all {targets.size} examples together, one number{number}, which {each.op.name}"
                      f"{at_line(place_of(each.op))} holds against the targets of each, {targets.min():.3g} to "
                      f"{targets.max():.3g}: what is learnt is their mean, and the mean of the squared errors stays "
                      f"above their variance, {targets.var():.3g}", then, target=each.total.outputs[0].name,
                      step=run.step, confidence="certain")


def axes_told(each: Against) -> str:
    """The axes that are left to be reduced, as an argument."""
    axes = str(each.axes[0]) if len(each.axes) == 1 else str([*each.axes])
    return axes + ", keepdims=True" * each.is_column


def all_against(case: Case) -> list[Against]:
    """The errors in what is minimized that are those of one number and of many targets."""
    residuals = dict.fromkeys(less for op in case.behind if (less := difference(op)) is not None) if with_loss(
        case) else ()
    return [found for op in residuals for said, given in (op.inputs[:2], op.inputs[1::-1])
            if (found := _against(op, said, given, case)) is not None]


def _against(op: Operation, said: Tensor, given: Tensor, case: Case) -> Against | None:
    total, targets = _reduced(said, case), past(given, ("Identity", "BroadcastTo"))
    if total is None or not _is_apart(said, targets, case):
        return None
    case.want(total.inputs[0], targets)
    known = case.values(with_loss(case)[-1])
    shape, y = np.shape(known.get(total.inputs[0], 0.0)), np.asarray(known.get(targets, 0.0))
    if y.shape not in ((y.size,), (y.size, 1)) or y.size < FEWEST or y.dtype.kind not in "fiu" or not np.ptp(y):
        return None
    axis = _axis_of_examples(total.inputs[0], targets, shape, y.size, case)
    return None if axis is None else Against(op, total, targets, tuple(
        i for i in range(len(shape)) if i != axis), y.ndim == 2)


def _reduced(tensor: Tensor, case: Case) -> Operation | None:
    """The op that makes one number of many, of which alone, of all data, a tensor of one element is computed."""
    while tensor.op in case.trained:
        op = tensor.op
        if op.type in REDUCED:
            return op if {*(op.outputs[0].dims or ())} <= {1} and op.outputs[0].dims is not None else None
        fed = [t for t in op.inputs if _is_of_data(t)]
        if len(fed) != 1 or op.type not in SAME and not op.definition.elementwise:
            return None
        tensor = fed[0]
    return None


def _is_apart(said: Tensor, targets: Tensor, case: Case) -> bool:
    """Whether targets are data, or what variables of others make of it, as of a network that is only copied to."""
    return _is_of_data(targets) and (targets.op not in case.trained or case.variables_behind(said).isdisjoint(
        case.variables_behind(targets)))


def _is_of_data(tensor: Tensor) -> bool:
    return any(op.type in DATA for op in values_behind([tensor]))


def _axis_of_examples(x: Tensor, targets: Tensor, shape: tuple[int, ...], count: int, case: Case) -> int | None:
    """The axis of what is reduced that counts the examples which the targets are of; None for none.

    Where a graph leaves open how many examples there are, that tells; else some are moved alone."""
    places = [i for i, n in enumerate(shape) if n == count]
    left_open = [i for i, n in enumerate(x.dims or ()) if n is None]
    if len(left_open) == 1 and targets.dims and targets.dims[0] is None and left_open[0] in places:
        return left_open[0]
    probes = [*alone([x], [x], count, with_loss(case)[-1], case)] if places else []
    return axis_of(x, probes, count) if len(probes) > 1 else None
