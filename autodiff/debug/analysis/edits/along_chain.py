"""Edits at the links of a chain: a number kept, where it is made, in the range that what follows needs."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ....core.graph import Operation, Tensor
from ....core.op import build
from ....core.traversal import ancestors
from ..findings import Link
from ..mistakes.signs import pairs_of_one
from .activations import Activation, named_at
from .in_graph import Edit, Now, around, at_one_place, between, bounds_of, constant, copied, instead, is_half
from .in_source import Number

_LARGE, _BOUND = 8.0, 10.0  # a number that may have overflowed later; what it is kept within
_ADDS = ("Sub", "Sum", "Mean", "Mul", "MatMul", "Conv2D", "BiasAdd", "Max", "RealDiv", "SquaredDifference", "Square")
_PLUS = ("Add", "AddV2", "Maximum")
_REPEATED = 4  # times at one place: a loop


def along(chain: Sequence[Link], named: Callable[[str], Operation | None]) -> Iterable[list[Edit]]:
    """What to try at each link, from the op to blame on back, once at each place. named: the op of a name."""
    places = set()
    for link in reversed(chain):
        op = named(link.op)
        if op is not None and op.outputs and op.outputs[0].dtype.base_dtype.is_floating and (
                op.span is None or (op.type, op.span, op.site) not in places):
            places.add((op.type, op.span, op.site))
            yield from _at(op, link)


def _at(op: Operation, link: Link) -> Iterable[list[Edit]]:
    if link.kind == "made" and op.type == "Const" and link.value == 0 and op.outputs[0].dims == ():
        is_small = all(c.type in _PLUS for c in op.outputs[0]._consumers)
        size = 1.0 if not is_small else 1e-3 if is_half(op) else 1e-5
        words = f"give {size:g} in place of 0" if is_small else "give a number above 0 in place of 0, as max(x, 1)"
        words += ": float16 takes smaller ones for it" if is_half(op) else ""
        yield [replace(_changed(op, words, lambda x: constant(size, x)), line=Number(op, 0.0, f"{size:g}"))]
    if link.kind != "op" or op.gradient_of is not None:
        return
    alike = at_one_place(op)
    turns = len(alike) >= _REPEATED and len(ancestors(op.inputs) & {*alike}) >= _REPEATED - 1
    bounds = [bounds_of(other) for other in alike]
    yield from ([each[i] for each in bounds] for i in range(len(bounds[0])))
    if turns:
        for written, bounded in (("tf.tanh({0})", build.Tanh),
                                 (f"tf.clip_by_value({{0}}, {-_BOUND}, {_BOUND})", partial(between, -_BOUND, _BOUND))):
            if link.value > _LARGE:
                words = f"keep it within bounds in each step, {written.format('x')}"
                yield [_changed(each, words, bounded, written) for each in _results(op)]
    elif op.type == "Sum" and link.value > _LARGE:
        yield [averaged(each) for each in alike]
    elif link.value == 0 and op.type in ("ZerosLike", "Fill"):
        yield [_changed(each, "begin with ones in place of zeros", lambda x: build.AddV2(x, constant(1.0, x)),
                        "{0} + 1") for each in alike]
    elif link.value == 0 and op.type == "Relu":
        name, is_called = "nn.softplus({0}) + 1e-6", op.site is not None and "relu(" in op.site.text
        alike = [each for each in alike if named_at(each) == named_at(op)]  # where one function makes several
        yield [Edit(each, f"tf.{name.format('x')} in place of relu, which is 0 below 0", partial(
            _of_argument, each, lambda x: build.AddV2(build.Softplus(x), constant(1e-6, x))),
                    instead(each, name, (each, 0)) if is_called else Activation(
                        each, f"lambda v: {{tf}}.{name.format('v')}"))
               for each in alike]
    elif link.value == 0 and (pairs := pairs_of_one(op)) is not None and pairs[1]:
        more = len(op.outputs[0].dims or ()) - pairs[0] - 2
        ones: Any = np.eye(pairs[1]).reshape(pairs[1], pairs[1], *[1] * more)
        written = f"tf.eye({pairs[1]})" + f"[:, :{', None' * more}]" * bool(more)
        words = f"add {written}, which keeps each from itself, and changes no other pair"
        yield [replace(_changed(each, words, lambda x: build.AddV2(x, constant(ones, x)), f"{{0}} + {written}"),
                       explains=True) for each in alike]
    elif link.value == 0 and op.type in _ADDS:
        tiny = 1e-3 if is_half(op) else 1e-6
        yield [_changed(each, f"add {tiny:g} to what is 0 there", lambda x: build.AddV2(x, constant(tiny, x)),
                        f"{{0}} + {tiny:g}") for each in alike]


def averaged(op: Operation) -> Edit:
    """A mean for a sum."""
    return Edit(op, "tf.reduce_mean in place of tf.reduce_sum, which grows with what it adds up",
                lambda now: build.Mean(*map(now, op.inputs), **op.attrs),
                instead(op, "reduce_mean({0}{1})", (op, 0), (op, None)))


def _results(op: Operation) -> list[Operation]:
    """What the line of an op gives in each of its turns: as what other lines take of it."""
    here = [each for each in op.graph.operations.values() if each.site == op.site and each.gradient_of is None]
    last = next((each for each in reversed(here) if any(c.site != op.site and c.gradient_of is None
                                                        for t in each.outputs for c in t._consumers)), op)
    return at_one_place(last)


def _of_argument(op: Operation, made: Callable[[Tensor], Tensor], now: Now) -> Tensor:
    return made(now(op.inputs[0]))


def _changed(op: Operation, words: str, change: Callable[[Tensor], Tensor], written: str = "") -> Edit:
    """What an op gives, changed. written: that, with {0} for what it gives."""
    return Edit(op, words, lambda now: change(copied(op, tuple(map(now, op.inputs))).outputs[0]),
                around(op, written) if written else None)
