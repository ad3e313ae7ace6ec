"""Second derivatives by what is fed: of all columns at once, or of straight pieces, which have none."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .....core.graph import Operation, Tensor
from .....core.traversal import ancestors, in_order, past
from ....facts.graph_lists import calls_of
from ....facts.records import Place
from ....facts.roles import as_place, at_line
from ...findings import Finding
from ..case import Case, finding
from ..heads import SAME
from .mixed import with_loss

STRAIGHT = ("Relu", "Relu6", "LeakyRelu")  # activations of straight pieces
MIXED, STRAIGHT_KIND = "mixed derivatives", "no second derivative"
_MOST = 4  # columns
_STEP, _SMALL = 1e-2, 1e-2  # of the size of what is fed, by which it is moved; of the derivatives that are meant
_SUMS = ("Sum", "Mean", *SAME)


class _Second(NamedTuple):
    """A derivative of a derivative by the same: x, the first and the second, and whether all of the first was added."""

    x: Tensor
    first: Tensor
    second: Tensor
    is_of_all: bool


def second_derivatives(case: Case) -> Iterator[Finding]:
    """Those that a loss is made of, and that are not what they are taken for."""
    behind = ancestors([case.y])
    found = [each for each in _asked(case) if each.second.op in behind] if with_loss(case) else []
    if (told := _without(found, case)) is not None:
        yield told
        return
    yield from [told for each in found if each.is_of_all and (told := _mixed(each, case)) is not None][:1]


def _asked(case: Case) -> Iterator[_Second]:
    firsts: dict[Tensor, list[Tensor]] = {}
    for call in calls_of(case.graph):
        for x in call.xs:
            found, behind = call.found.get(x), ancestors(call.ys) if x in firsts else set[Operation]()
            if isinstance(found, Tensor) and x not in case.variables and x.dims and x.op not in case.trained:
                yield from (_Second(x, first, found, past(call.ys[0], _SUMS) is first) for first in firsts.get(x, ())
                            if first.op in behind)
                firsts.setdefault(x, []).append(found)


def _without(found: list[_Second], case: Case) -> Finding | None:
    """Second derivatives that are 0 everywhere, of activations that are made of straight pieces."""
    values = [value for each in found for value in case.series(each.second)]
    pieces = [op for op in in_order(ancestors([each.first for each in found]))
              if op.type in STRAIGHT and op.gradient_of is None] if values else []
    if not pieces or any(value.any() for value in values):
        return None
    told = straight(pieces[0].name, _asked_at(found[0]), sum(value.size for value in values))
    return finding(told.severity, told.kind, pieces[0], told.text, told.remedy, confidence="certain")


def _asked_at(asked: _Second) -> Place | None:
    """The line that asked for it, not that of the op that it is a derivative of."""
    return as_place(asked.second.op.site) if asked.second.op.site is not None else None


def straight(piece: str, place: Place | None, count: int) -> Finding:
    """What is said of an activation whose second derivative a loss is made of. place: where that is asked for."""
    return Finding(78, STRAIGHT_KIND, piece, "", "", f"the loss is made of second derivatives by what is fed"
                   f"{at_line(place)}, and {piece} is made of straight pieces: they are exactly 0, all {count} that "
                   "were looked at, so that part of the loss says nothing of the weights",
                   "a smooth activation, tf.nn.tanh or tf.nn.softplus", "doctor", place, confidence="certain")


def _mixed(asked: _Second, case: Case) -> Finding | None:
    """All columns of a gradient differentiated at once: the sum of each row of second derivatives, by two columns."""
    run = with_loss(case)[-1]
    x = np.asarray(case.look(run, [asked.x], run.before, {}).get(asked.x, ()))
    count = x.shape[-1] if x.ndim == 2 else 0
    if not 1 < count <= _MOST or asked.x.dtype.base_dtype.name not in ("float32", "float64"):
        return None
    step, columns = _STEP * max(float(np.abs(x).max()), 1e-6), []
    for j in range(count):
        ends = [np.asarray(case.look(run, [asked.first], run.before, {asked.x: (
            x + sign * step * np.eye(count)[j]).astype(x.dtype)}).get(asked.first, ())) for sign in (-1, 1)]
        if any(end.shape != x.shape for end in ends):
            return None
        columns.append(np.subtract(ends[1], ends[0]) / (2 * step))
    own = np.stack([columns[j][:, j] for j in range(count)], 1)
    told = mixed(own, sum(columns) - own, _asked_at(asked), f"in step {run.step}")
    return None if told is None else replace(told, op=asked.second.op.name, op_type=asked.second.op.type)


def mixed(own: np.ndarray, others: np.ndarray, place: Place | None, when: str) -> Finding | None:
    """What is said of the derivative of all columns at once; None where hardly anything is added. own: the second
    derivatives by each column; others: what is added to them. place: where it is asked for."""
    meant, added = float(np.abs(own).mean()), float(np.abs(others).mean())
    if not np.isfinite([meant, added]).all() or added <= _SMALL * meant or not added:
        return None
    return Finding(76, MIXED, "", "", "", f"what is differentiated again is a gradient of {own.shape[-1]} columns, all "
                   f"at once, and they are added up: to the second derivative by each column, {meant:.3g} on average "
                   f"{when}, come those by it and another, {added:.3g}", "differentiate each column alone, and take "
                   "that column: tf.gradients(g[:, i], x)[0][:, i]", "doctor", place, confidence="certain",
                   written=str(own.shape[-1]))
