"""Steps of a recurrence, x + h f(x), that overshoot more each time: h times the rate of f is above 2."""
from __future__ import annotations

import ast
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ....core.function_graph import functions_of
from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors, in_order, past
from ...facts.function_calls import Calls
from ...facts.records import NewLines
from ...facts.roles import place_of
from ..findings import Link, Origin
from ..scripts.parsed import Parsed
from .sources import Scene

_ADDS, _SAME = ("Add", "AddV2", "Sub"), ("Identity", "Reshape", "Cast", "SelectV2")
_LAST = 6  # steps, the last before the numbers are too large


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
            step = past(out, _SAME).op
            if isinstance(inside, Calls) and step.type in _ADDS and any(past(t, _SAME) is given for t in step.inputs):
                yield step, [call.values.get(call.outputs[i], ()) for call in inside.of(loop, at.values)]


def _written_out(op: Operation, scene: Scene) -> Iterator[tuple[Operation, Sequence[Any]]]:
    """What one expression of the script adds to what it gave before, and that."""
    places = defaultdict[Any, list[Tensor]](list)
    for each in in_order(ancestors(op.inputs)):
        if each.type in _ADDS and each.gradient_of is None and each.span is not None:
            places[each.span, each.site].append(each.outputs[0])
    for made in places.values():
        if len(made) > _LAST and all(any(past(t, _SAME) is a for t in b.op.inputs) for a, b in zip(made, made[1:])):
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
