"""Where a script sets a learning rate while it trains: by a call, or by a schedule; and other ones."""
from __future__ import annotations

import ast
import re
from typing import NamedTuple

from .....core.errors import ArgumentError
from .....core.graph import Operation, Tensor
from .....core.site import source_lines
from .....core.traversal import ancestors
from ....facts.records import Place
from ...findings import Finding
from ...mistakes.case import Case
from ...scripts.calls import called, given, is_call
from ...scripts.changes import Change
from ...scripts.source_tree import Source

_FUNCTIONS = ("exponentialdecay", "naturalexpdecay", "inversetimedecay", "polynomialdecay", "cosinedecay",
              "linearcosinedecay", "noisylinearcosinedecay")
_ALIKE = 1e-4  # relative: a rate in float32 and what it was set to


class SetRate(NamedTuple):
    """A rate that was set to `value` at a line; there it is `bound` at most, or at least. op: of the rate."""

    op: Operation
    value: float
    file: str
    line: int
    bound: float
    is_most: bool = True

    @property
    def place(self) -> Place:
        """The line that sets it."""
        return Place(self.file, self.line, "", source_lines(self.file)[self.line - 1].strip())


def rate_set(rate: Tensor, value: float, bound: float = 0.0, *, is_most: bool = True) -> SetRate | None:
    """Where a rate was last set to a value by Keras; None where it was not."""
    known = rate.graph.extras.get("set by keras", {})
    for op in ancestors([rate]) if known else ():
        for told, (file, line) in reversed(known.get(op.name, ())):
            if abs(told - value) <= _ALIKE * abs(value) and source_lines(file):
                return SetRate(rate.op, told, file, line, bound, is_most)
    return None


def by_steps(source: Source, line: int, finding: Finding, case: Case) -> tuple[int, list[Change]]:
    """The one schedule, whose decay_steps are epochs, by steps; where these are not known, its first rate."""
    made = source.calls_named(*_FUNCTIONS)
    here = [each for each in made if finding.place is not None and each.lineno == finding.place.line] or made
    if len(here) != 1:
        raise ArgumentError("it is no one schedule")
    call, = here
    is_class = called(call)[:1].isupper()
    steps = given(call, 1 if is_class else 2, "decay_steps")
    if (told := re.search(r"an epoch has (\d+ // \d+) of them", finding.remedy)) and len(steps) == 1:
        return call.lineno, [(*source.range(steps[0]), f"{source.beside(steps[0])} * ({told[1]})")]
    rate = given(call, 0, "learning_rate", "initial_learning_rate")
    if len(rate) != 1:
        raise ArgumentError("the first rate is not written there")
    first = source.raw(rate[0])
    return call.lineno, [(*source.range(call), first if is_class else f"{source.module()}.constant({first})")]


def set_anew(source: Source, rewrite: SetRate) -> list[Change]:
    """The number of a call or an assignment, or what a function returns within the bound. Raises ArgumentError."""
    line = rewrite.line
    told = [each for node in source.at_line(line, ast.Call) if is_call(node, "setvalue") for each in given(node, 1)]
    told += [node.value for node in source.at_line(line, ast.Assign)]
    numbers = {found for each in told for found in source.numbers(each, rewrite.value)}
    if len(numbers) == 1:
        return [(*source.range(*numbers), f"{rewrite.bound:g}")]
    made = [node.value for node in source.at_line(line, ast.Return) if node.value is not None]
    made = made or [node.body for node in source.at_line(line, ast.Lambda)]
    made = made or [each for each in told if not any(isinstance(node, ast.Lambda) for node in ast.walk(each))]
    if len(made) != 1:
        raise ArgumentError(f"no one expression of line {line} surely is the rate")
    bound = "min" if rewrite.is_most else "max"
    return [(*source.range(made[0]), f"{bound}({source.raw(made[0])}, {rewrite.bound:g})")]
