"""A loss that has no lower bound: what it subtracts, where that outgrows the rest."""
from __future__ import annotations

import bisect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ....core.constant_value import static_value
from ....core.graph import Operation, Tensor
from ....core.op import build
from ....core.traversal import past
from ...facts.roles import at_line, place_of
from ..edits.in_graph import Edit, constant, replaced
from ..edits.in_source import Rewrite
from ..mistakes.heads import ENTROPIES, is_learnt
from ..remedies import is_sum_of_squares

_PASSES = ("Identity", "Mean", "Sum", "Reshape", "Squeeze")
_SQUARES = ("Square", "SquaredDifference", "L2Loss")
_SUMS = ("Mul", "Add", "AddV2", "AddN")
_FAR = 20  # ops from the loss
_MARGIN = 3  # ops from a difference to where a margin is added to it
LOW = -1e6
_LAST = 3  # runs


def subtracted(y: Tensor, values_of: Callable[..., Mapping[Tensor, Any]], runs: Sequence[Any]) -> Operation | None:
    """The Sub or Neg that takes y, a scalar, to minus infinity; None if y is not there, or by something else.

    values_of: known values of ops in one of the runs, of which the last count where y was a number.
    """
    odd = bisect.bisect_left(range(len(runs)), True, key=lambda i: not np.isfinite(
        values_of([y.op], runs[i]).get(y, np.nan)).all()) if len(runs) > _LAST else 0
    for run in (*runs[:-_LAST - 1:-1], *runs[max(odd - 1, 0):odd]):
        value = values_of([y.op], run).get(y)
        if value is not None and np.isfinite(value).all():
            total = np.sum(value, dtype=np.float64)  # of 16 bits LOW is beyond all numbers
            return _subtracted(y, partial(values_of, moment=run)) if total < LOW else None
    return None


def _subtracted(y: Tensor, values_of: Callable[[Sequence[Operation]], Mapping[Tensor, Any]]) -> Operation | None:
    for _ in range(_FAR):
        op = y.op
        values = values_of([op, *(t.op for t in op.inputs)])
        sizes = [float(np.sum(np.asarray(values.get(t, 0.0), np.float64))) for t in (y, *op.inputs)]
        if op.type == "Sub" and sizes[2] > max(abs(sizes[1]), 1.0) or op.type == "Neg" and sizes[1] > 1.0 or (
                op.type == "Sub" and _is_error(op)):
            return op
        if op.type == "Sub" and sizes[1] < 0:
            y = op.inputs[0]
        elif op.type in ("Add", "AddV2", "AddN") and min(sizes[1:]) < 0:
            y = op.inputs[int(np.argmin(sizes[1:]))]
        elif op.type in _PASSES:
            y = op.inputs[0]
        elif op.type == "Mul" and (falling := [t for t in op.inputs if np.min(values.get(t, 0.0), initial=0.0) < 0])[
                1:] == [] != falling:  # times what is never negative, as a label or a weight is
            y = falling[0]
        else:
            return None
    return None


def _is_error(sub: Operation) -> bool:
    """Whether what the model gives is subtracted from data of more than one number, or they from it."""
    trained = [is_learnt(t) for t in sub.inputs]
    return sum(trained) == 1 and static_value(sub.inputs[trained.index(False)]) is None


def _with_margin(sub: Operation) -> Tensor | None:
    """Of a difference for each example: it with the constant, above 0, that is added to it; None if there is none."""
    found, far = sub.outputs[0], 0
    while found.dims != () and far < _MARGIN:
        sides = found.op.inputs[:1 if found.op.type == "Sub" else 2]
        parts = [*sides, *(t for part in sides if part.op.type in ("Add", "AddV2") for t in part.op.inputs)]
        margins = [static_value(t) for t in parts]
        if found.op.type in ("Sub", "Add", "AddV2") and any(v is not None and np.size(v) == 1 and np.all(v > 0)
                                                            for v in margins):
            return found
        users = [c for c in found._consumers if c.gradient_of is None and c.type in ("Add", "AddV2", "Sub")
                 and c.inputs[0] is found or c.type in ("Add", "AddV2")]
        if len(users) != 1:
            return None
        found, far = users[0].outputs[0], far + 1
    return None


def with_bound(sub: Operation, *, size: bool = False) -> Edit | None:
    """What gives the loss a bound: a hinge where a margin is, the square of an error, what is subtracted added.

    size: or its size, where by now the square is too large for the type.
    """
    margin = _with_margin(sub)
    if margin is not None:
        return replace(replaced(margin, "keep only what is above 0, as a hinge does: tf.maximum(x, 0.0) of each "
                                "example's margin", lambda x: build.Maximum(x, constant(0.0, x)),
                                "tf.maximum({0}, 0.0)"), explains=True)
    if sub.type == "Sub" and _is_error(sub) and size:
        return replace(replaced(sub.outputs[0], "take the size of the error, tf.abs(a - b), or its square: its mean "
                                "alone falls without end", build.Abs, "tf.abs({0})"), explains=True)
    if sub.type == "Sub" and _is_error(sub):
        return replace(replaced(sub.outputs[0], "square the error, tf.square(a - b): its mean alone falls without end",
                                build.Square, "tf.square({0})"), explains=True)
    return added(sub) if is_penalty(sub) else None


def is_penalty(sub: Operation) -> bool:
    """Whether what is subtracted is never negative, as a cross entropy, or has squares or exponentials in it."""
    source = past(sub.inputs[-1], _PASSES).op
    return source.type in ENTROPIES or _is_square(sub.inputs[-1], _FAR) or (
        sub.type == "Sub" and _bends_up(sub.inputs[1], _FAR))


def _bends_up(t: Tensor, far: int) -> bool:
    """Whether something in a sum is a square or an exponential, times no negative number."""
    op = t.op
    if op.type == "Exp" or is_sum_of_squares(t, _SQUARES):
        return True
    parts = op.inputs[:1] if op.type in (*_PASSES, "Sub") else op.inputs if op.type in _SUMS and (
        op.type != "Mul" or any((value := static_value(x)) is not None and not np.any(value < 0) for x in op.inputs)
    ) else ()
    return far > 0 and any(_bends_up(x, far - 1) for x in parts)


def _is_square(t: Tensor, far: int) -> bool:
    """Whether a tensor is made of squares, their sums, and numbers that are not negative."""
    value = static_value(t)
    if value is not None or not far:
        return value is not None and not np.any(value < 0)
    return is_sum_of_squares(t, _SQUARES) or t.op.type in _SUMS and all(_is_square(x, far - 1) for x in t.op.inputs)


def without_bound(sub: Operation) -> str:
    """What is said of it."""
    if sub.type == "Sub" and _is_error(sub) and _with_margin(sub) is None:
        return (f"the loss has no lower bound: it is the mean or sum of the errors themselves{at_line(place_of(sub))}, "
                "not of their squares or sizes")
    if _with_margin(sub) is not None:
        return f"the loss has no lower bound: no hinge keeps the margin above 0{at_line(place_of(sub))}"
    taken = sub.inputs[-1].op
    what, how = ("negates", "negated") if sub.type == "Neg" else ("subtracts", "subtracted")
    return (f"the loss has no lower bound: it falls as what it {what} grows, {taken.name} ({taken.type}"
            f"{at_line(place_of(taken))}), {how}{at_line(place_of(sub))}")


def added(sub: Operation) -> Edit:
    """The same, added."""
    if sub.type == "Neg":
        return Edit(sub, f"minimize {sub.inputs[0].op.name} itself, without the minus", lambda now: build.Identity(
            now(sub.inputs[0])), Rewrite(sub, None, "{0}", ((sub, 0),)))
    kind = "penalty" if _is_square(sub.inputs[-1], _FAR) else "divergence"
    words = f"add it, a + b in place of a - b, if it is a {kind}"
    line = Rewrite(sub, None, "{0} + {1}", ((sub, 0), (sub, 1)))
    return Edit(sub, words, lambda now: build.AddV2(*map(now, sub.inputs)), line)
