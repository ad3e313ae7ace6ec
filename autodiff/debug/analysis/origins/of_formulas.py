"""What formulas are at fault for when a training diverges: sums over neighbors, states without bound, exponentials, and
data that lie on the border of what a logit is of, exactly 0 or 1."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ....core.constant_value import is_one, static_value
from ....core.graph import Graph, Operation, Tensor
from ....core.op import build
from ....core.traversal import ancestors, in_order, users_of
from ...facts.graph_lists import trainable_tensors
from ...facts.roles import VARIABLES, at_line, place_of
from ..advice import advice_of
from ..edits.in_graph import Edit, Now, constant, copied, replaced
from ..edits.in_logarithms import logged
from ..edits.in_source import Number, Rewrite
from ..findings import WhyNonfinite
from .adjacency import divided, summing
from .recurrent import squashed, unbounded

_GIANT = 1e8  # of an exponential
_MARGIN = 0.05  # as RealNVP has it for pixels
_TEXT = f"{_MARGIN:g} + {1 - 2 * _MARGIN:g} * {{0}}"
_COMPUTED = ("Add", "AddV2", "Sub", "Mul", "RealDiv")  # which an expression surely makes


def edits_of_causes(y: Tensor, values_of: Callable[[Sequence[Operation]], Mapping[Tensor, Any]]
                    ) -> Iterator[list[Edit]]:
    """What mends it, each to be tried. values_of: known values of ops."""
    yield from squeezed(y, values_of)
    found = summing(y, values_of)
    yield from [[divided(each.matrix) for each in found]] if found else []
    steps = unbounded(y)
    yield from [squashed(steps)] if steps else []
    exps = [op for op in ancestors([y]) if op.type == "Exp" and op.gradient_of is None]
    values = values_of(exps) if exps else {}
    for op in exps:
        edit = logged(op) if float(np.max(values.get(op.outputs[0], 0.0), initial=0.0)) > _GIANT else None
        yield from [[edit]] if edit is not None else []


def squeezed(y: Tensor, values_of: Callable[[Sequence[Operation]], Mapping[Tensor, Any]]) -> Iterator[list[Edit]]:
    """Data of which y takes the logit, and some of which are on the border: moved inside, to be tried.

    values_of: known values of ops.
    """
    for t in dict.fromkeys(_given(in_order(op for op in ancestors([y]) if op.gradient_of is None))):
        value = np.asarray(values_of([t.op]).get(t, ()), np.float64)
        on_it = int(np.sum((value == 0) | (value == 1)))
        if not on_it or not ((0 <= value) & (value <= 1)).all() or any(op.type in VARIABLES for op in ancestors([t])):
            continue
        words = (f"squeeze the data off the border, {_TEXT.format('x')}, as {on_it} of {value.size} are on it: "
                 "a bound of the logarithm's argument alone leaves these far out")
        whole = replace(replaced(t, words, _inside, _TEXT), explains=True)
        if t.op.type not in _COMPUTED:
            yield [_of_argument(op, t, words) for op in users_of(t.op)]
        elif any(np.all(static_value(side) == 0) for side in t.op.inputs):  # a margin has a name, and is 0
            yield [replace(whole, words=words.replace(_TEXT.format("x"), f"with {_MARGIN:g} for the margin that is 0"),
                           line=Number(t.op, 0.0, f"{_MARGIN:g}", everywhere=True))]
        else:
            yield [whole]


def _given(ops: Iterable[Operation]) -> Iterator[Tensor]:
    """What logarithms are of that stand beside those of 1 less it, or beside such a divisor."""
    for op in ops:
        less = {"Sub": "Log", "Neg": "Log1p"}.get(op.type, "")
        t = op.inputs[-1] if less and (op.type == "Neg" or is_one(op.inputs[0])) else None
        if t is not None and any(user.type == "RealDiv" and user.inputs[0] is t or user.type == less and any(
                each.type == "Log" for each in users_of(t.op)) for user in users_of(op)):
            yield t


def _inside(x: Tensor) -> Tensor:
    return build.AddV2(build.Mul(x, constant(1 - 2 * _MARGIN, x)), constant(_MARGIN, x))


def _of_argument(op: Operation, t: Tensor, words: str) -> Edit:
    """One op that takes the data, of squeezed ones."""
    def made(now: Now) -> tuple[Tensor, ...]:
        return tuple(copied(op, tuple(_inside(now(x)) if x is t else now(x) for x in op.inputs)).outputs)

    at = [*op.inputs].index(t)
    return Edit(op, words, made, Rewrite(op, at, _TEXT, ((op, at),)), explains=True)


def is_of_data_alone(loss: Tensor | None, graph: Graph) -> bool:
    """Whether there are trainable variables, and the loss is computed without any of them."""
    trained = [variable.op for variable in trainable_tensors(graph)]
    return loss is not None and bool(trained) and ancestors([loss]).isdisjoint(trained)


def told_first(found: WhyNonfinite, loss: Tensor | None, graph: Graph) -> WhyNonfinite:
    """The finding, below what is wrong with such a loss; as it is for any other one."""
    if loss is None or not found.origins or not is_of_data_alone(loss, graph):
        return found
    said = f"the loss is computed of data alone: no trainable variable reaches it{at_line(place_of(loss.op))}"
    remarks = advice_of(graph).remarks
    ends = next((f"; {remark.text}{at_line(remark.place)}" for v in trainable_tensors(graph)
                 if (remark := remarks.get(v.op.name)) is not None), "")
    first = replace(found.origins[0], remedy="compute the loss of what the model gives, in place of one of the labels")
    return replace(found, origins=(first, *found.origins[1:]), text=f"{said}{ends}\n{found.text}")
