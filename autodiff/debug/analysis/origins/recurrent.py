"""Recurrences that grow: states without an upper bound, as of a relu or a sum; steps of x + h f(x) that overshoot."""
from __future__ import annotations

import ast
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ....core.constant_value import static_value
from ....core.function_graph import functions_of
from ....core.graph import Graph, Operation, Tensor
from ....core.op import build
from ....core.traversal import ancestors, in_order, past
from ...facts.function_calls import Calls
from ...facts.records import NewLines
from ...facts.roles import at_line, place_of
from ..edits.activations import Activation
from ..edits.in_graph import Edit, Now, at_one_place
from ..findings import Link, Origin
from ..scripts.parsed import Parsed
from .sources import Scene

_UNBOUNDED = ("Relu", "Elu", "Selu", "LeakyRelu", "Softplus")
_PRODUCTS = ("MatMul", "BatchMatMulV2", "Conv2D")
_READS = ("Identity", "ReadVariableOp")
_SAME = ("Identity", "Cast", "Reshape", "StopGradient")
_SOME = 1e-4  # of a state: what is more than that is added to it
GROWS = ": it grows from "
_STEPS = 5  # of a recurrence that is written out
_ADDS, _KEPT = ("Add", "AddV2", "Sub"), ("Identity", "Reshape", "Cast", "SelectV2")
_LAST = 6  # steps, the last before the numbers are too large


def unbounded(y: Tensor) -> list[Operation]:
    """The ops of the recurrences behind y that have no bound: of loops, or of the last that is written out; else []."""
    behind = in_order(ancestors([y]))
    found = [each for op in behind if op.type == "While" for each in _in_loop(op)]
    return found or next(filter(None, map(_unrolled, reversed([op for op in behind if op.type in _UNBOUNDED
                                                               and op.gradient_of is None]))), [])


def _in_loop(loop: Operation) -> Iterator[Operation]:
    """Of what a loop carries on: through which such functions of a product of itself it goes."""
    for body in functions_of(loop)[1:2]:
        carried = {t.op for t in body.arguments if t.dtype.is_floating and len(t.dims or (0, 0)) > 1}
        kept = ancestors([t for t in body.outputs if t.dtype.is_floating])
        yield from (op for op in in_order(kept) if op.type in _UNBOUNDED and carried & (behind := ancestors(op.inputs))
                    and any(each.type in _PRODUCTS and carried & ancestors(each.inputs) for each in behind))


def _unrolled(op: Operation) -> list[Operation]:
    """The same op of all steps, where one follows from the other by products with the same variable."""
    steps = at_one_place(op)
    if len(steps) < _STEPS:
        return []
    behind = ancestors(op.inputs)
    if len(behind & {*steps}) < _STEPS - 1:
        return []
    weights = [t for each in behind if each.type in _PRODUCTS and each.gradient_of is None for t in each.inputs
               if t.op.type in _READS]
    return steps if weights and max(map(weights.count, {*weights})) >= _STEPS - 1 else []


def without_bound(ops: Sequence[Operation]) -> str:
    """What is said of it."""
    kind = ops[-1].type.lower()
    return f"each step takes the state through {kind}{at_line(place_of(ops[-1]))}, which has no upper bound"


def growing(graph: Graph, chain: Sequence[Link]) -> str:
    """What to do about a state that each turn of a loop adds to itself, and so multiplies, by the chain; else ""."""
    for op in filter(None, (graph.operations.get(link.op) for link in chain if GROWS in link.text)):
        loop = op.inputs[0] if op.type == "ListStack" else op.outputs[0]
        body = loop.op.attrs["body"] if loop.op.type == "While" else None
        for made, own in zip(body.outputs, body.arguments) if body is not None else ():
            if own.dtype.is_floating and (share := _share(made, own)) > 1 + _SOME:
                return (f"each turn makes {share:.3g} times the state of it{at_line(place_of(past(made, _SAME).op))}: "
                        "let it decay, a + rate * (-a + …), with the other sign, or keep the factor below 1")
    return ""


def _share(made: Tensor, own: Tensor) -> float:
    """By which number a sum of known multiples has a tensor in it; 0 where it is in no such sum."""
    if made is own:
        return 1.0
    op, inputs = made.op, made.op.inputs
    if op.type in _SAME or op.type == "Neg":
        return _share(inputs[0], own) * (-1 if op.type == "Neg" else 1)
    if op.type in ("Add", "AddV2", "AddN", "Sub"):
        return sum(_share(t, own) * (-1 if op.type == "Sub" and i else 1) for i, t in enumerate(inputs))
    for t, other in zip(inputs, inputs[::-1]) if op.type in ("Mul", "RealDiv") else ():
        value = static_value(other)
        if value is not None and np.size(value) == 1 and (op.type == "Mul" or other is inputs[1]) and np.all(value):
            number = float(np.ravel(value)[0])
            return _share(t, own) * (number if op.type == "Mul" else 1 / number)
    return 0.0


def squashed(ops: Sequence[Operation]) -> list[Edit]:
    """The same with tanh."""
    def edit(op: Operation) -> Edit:
        def made(now: Now) -> Tensor:
            return build.Tanh(now(op.inputs[0]))
        return Edit(op, f"tanh in place of {op.type.lower()} in the recurrence, which bounds the state", made,
                    Activation(op, "{tf}.tanh"), explains=True)

    return [edit(op) for op in ops]


def with_step(op: Operation, scene: Scene | None, origin: Origin) -> Origin:
    """What is said of an op that overflows, by the step behind it or around it whose results change their signs as they
    grow; the same where there is none."""
    is_it = scene is not None and origin.harmful and origin.overflows and origin.phase == "forward"
    for step, series in (*_in_loops(op, scene), *_written_out(op, scene)) if is_it and scene is not None else ():
        with np.errstate(all="ignore"):
            known = [np.asarray(each, np.float64).ravel() for each in series]
            last = [each for each in known if each.size and np.isfinite(each).all()][-_LAST:]
            at = int(np.argmax(np.abs(last[-1]))) if last else 0
            factors = [float(b[at] / a[at]) for a, b in zip(last, last[1:])]
        if len(factors) == _LAST - 1 and max(factors) < -1:
            text = (f"each step multiplies it by {factors[-1]:.3g}: the step times the rate is {1 - factors[-1]:.3g}, "
                    "and above 2 an explicit step overshoots more each time")
            count, link = math.ceil(0.999 - factors[0]), Link(text, place_of(step), "op", step.name)
            return replace(origin, trap="step", chain=(link, *origin.chain[-1:]), lines=_written(step, count), remedy=(
                f"smaller steps, {count} of 1/{count} in place of each; or an implicit one: x = (x + h * b) / (1 + h * "
                "rate), of dx/dt = b - rate * x"))
    return origin


def _in_loops(op: Operation, scene: Scene) -> Iterator[tuple[Operation, Sequence[Any]]]:
    """What loops add to what they carry, and what they carry in each turn."""
    loops = [(scene.op, scene.around)] if scene.op is not None and scene.around is not None else [
        (each, scene) for each in in_order(ancestors(op.inputs)) if each.type == "While"]
    for loop, at in loops:
        inside, body = at.inside, functions_of(loop)[1:2] if loop.type == "While" else []
        for i, (given, out) in enumerate(zip(body[0].arguments, body[0].outputs) if body else ()):
            step = past(out, _KEPT).op
            if isinstance(inside, Calls) and step.type in _ADDS and any(past(t, _KEPT) is given for t in step.inputs):
                yield step, [call.values.get(call.outputs[i], ()) for call in inside.of(loop, at.values)]


def _written_out(op: Operation, scene: Scene) -> Iterator[tuple[Operation, Sequence[Any]]]:
    """What one expression of the script adds to what it gave before, and that."""
    places = defaultdict[Any, list[Tensor]](list)
    for each in in_order(ancestors(op.inputs)):
        if each.type in _ADDS and each.gradient_of is None and each.span is not None:
            places[each.span, each.site].append(each.outputs[0])
    for made in places.values():
        if len(made) > _LAST and all(any(past(t, _KEPT) is a for t in b.op.inputs) for a, b in zip(made, made[1:])):
            yield made[0].op, [scene.values.get(t, ()) for t in made]


def _written(step: Operation, count: int) -> NewLines:
    """So many smaller steps, where a statement of one line makes one of what it adds to."""
    file, line = (step.site.file, step.site.line) if step.site is not None else ("", 0)
    for node in Parsed.of_file(file).at_line(line, ast.Assign):
        target, total = ast.unparse(node.targets[0]), node.value
        if node.lineno == node.end_lineno and isinstance(total, ast.BinOp) and isinstance(
                total.op, (ast.Add, ast.Sub)) and ast.unparse(total.left) == target and target in {
                    ast.unparse(each) for each in ast.walk(total.right)}:
            total.right = ast.BinOp(total.right, ast.Div(), ast.Constant(count))
            begins = f"{' ' * node.col_offset}for _ in range({count}): "
            return {(file, line): f"{begins}{target} = {ast.unparse(total)}"}
    return {}
