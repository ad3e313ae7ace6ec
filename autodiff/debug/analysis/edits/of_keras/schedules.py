"""Where a script sets a learning rate while it trains: by a call, or by a schedule; and other ones."""
from __future__ import annotations

import ast
import math
import re
from typing import NamedTuple

from .....core.errors import ArgumentError
from .....core.graph import Operation, Tensor
from .....core.site import source_lines
from .....core.traversal import ancestors
from ....facts.records import Place
from ....facts.roles import ASSIGNS, place_on
from ...advice import advice_of
from ...findings import Finding
from ...mistakes.case import Case
from ...scripts.calls import called, given, is_call
from ...scripts.changes import Change
from ...scripts.source_tree import Source
from ..in_numpy import InNumpy, kept_from_zero

_FUNCTIONS = ("exponentialdecay", "naturalexpdecay", "inversetimedecay", "polynomialdecay", "cosinedecay",
              "linearcosinedecay", "noisylinearcosinedecay")
_ALIKE = 1e-4  # relative: a rate in float32 and what it was set to


class SetRate(NamedTuple):
    """A rate that was set to `value` at a line; there it is `bound` at most, or at least. op: of the rate.

    what: by which NumPy made it nan there.
    """

    op: Operation
    value: float
    file: str
    line: int
    bound: float
    is_most: bool = True
    what: str = ""

    @property
    def place(self) -> Place:
        """The line that sets it."""
        return place_on(self.file, self.line)

    @property
    def why(self) -> str:
        """`, as MAX is 10, and fit has 15 epochs`, of a schedule that ends before; else ""."""
        ends = last_epochs(Source("".join(source_lines(self.file))), self.line)
        return "".join(f", as {name} is {old.value!r}, and fit has {epochs} epochs" for name, old, epochs in ends)

    @property
    def remedy(self) -> str:
        """What to write where it is nan, in words."""
        source = Source("".join(source_lines(self.file)))
        try:
            (start, end, new), *_ = set_anew(source, self)
        except ArgumentError:
            return f"let it be finite there, a rate as {self.bound:g} was before"
        return f"{new} in place of {source.text[start:end]}{self.why}"


def rate_set(rate: Tensor, value: float, bound: float = 0.0, *, is_most: bool = True) -> SetRate | None:
    """Where a rate was last set to a value by Keras; None where it was not."""
    known = rate.graph.extras.get("set by keras", {})
    for op in ancestors([rate]) if known else ():
        for told, (file, line) in reversed(known.get(op.name, ())):
            if abs(told - value) <= _ALIKE * abs(value) and source_lines(file):
                return SetRate(rate.op, told, file, line, bound, is_most)
    return None


def set_to_nan(op: Operation) -> SetRate | None:
    """Where Keras first set a rate to nan or inf, which is a constant's, or NumPy made that; bound: what it was before.

    None for other constants.
    """
    for store in (each for t in op.outputs for each in t._consumers if each.type in ASSIGNS):
        known = op.graph.extras.get("set by keras", {}).get(store.inputs[0].op.name, ())
        for before, (told, (file, line)) in zip([(0.0, None), *known], known):
            if not math.isfinite(told) and source_lines(file):
                made = [(each.place.line, each.text.rpartition(" ")[2]) for each in advice_of(op.graph).warned
                        if each.place is not None and each.place.file == file and not each.text.endswith("divide")]
                line, what = made[-1] if made else (line, "")
                return SetRate(store.inputs[0].op, told, file, line, before[0], what=what)
    return None


def last_epochs(source: Source, line: int) -> list[tuple[str, ast.Constant, int]]:
    """The one thing that a schedule divides the epoch by, its number, and how many epochs there are, if more."""
    words = [word for call in source.calls_named("fit", "fitgenerator") for word in given(
        call, 3 if called(call) == "fit" else 2, "epochs")]
    epochs = {number for word in words for number in _integers(source, word).values()}
    functions = source.at_line(line, ast.FunctionDef, ast.Lambda)
    divisors = [next(iter(given(node.right, 0)), node.right) for each in functions[-1:] for node in ast.walk(each)
                if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)]  # without a cast around
    found = {source.raw(node): _integers(source, node) for node in divisors}
    ends = [(name, made, most) for most in epochs for name, numbers in found.items()
            for made, number in numbers.items() if number < most]
    return ends if len(ends) == 1 else []


def _integers(source: Source, node: ast.expr) -> dict[ast.Constant, int]:
    """The literals that an expression is, or the name that it is was given, perhaps by a call."""
    values = [node, *source.given_to(node)]
    values += [each for value in values for each in source.passed(value)]
    return {each: each.value for each in values if isinstance(each, ast.Constant) and type(each.value) is int}


def compounding(source: Source, line: int) -> list[ast.expr]:
    """The rate that a schedule is given, where it multiplies that by what falls with the epoch: it is smaller already.
    """
    for scope in source.at_line(line, ast.FunctionDef, ast.Lambda)[-1:]:
        words = [each.arg for each in scope.args.args if each.arg != "self"]  # type: ignore[attr-defined]
        inner = [*ast.walk(scope)] if len(words) > 1 else []
        epochs = {*words[:1], *(ast.unparse(node.targets[0]) for node in inner if isinstance(node, ast.Assign)
                                and _read(node.value) & {*words[:1]})}
        for node in inner:
            if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
                for rate, other in ((node.left, node.right), (node.right, node.left)):
                    if getattr(rate, "id", "") == words[1] and _read(other) & epochs:
                        return [rate]
    return []


def _read(node: ast.AST) -> set[str]:
    """The names in an expression, but those that are only compared."""
    below = () if isinstance(node, ast.Compare) else ast.iter_child_nodes(node)
    return {node.id} if isinstance(node, ast.Name) else set().union(*map(_read, below))


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
    if not math.isfinite(rewrite.value):
        return [(*source.range(made), str(epochs)) for _, made, epochs in last_epochs(source, line)] or kept_from_zero(
            source, InNumpy(rewrite.place, rewrite.what))
    if given_rate := compounding(source, line):
        return [(*source.range(given_rate[0]), f"{rewrite.bound:g}")]
    told = [each for node in source.at_line(line, ast.Call) if is_call(node, "setvalue") for each in given(node, 1)]
    told += [node.value for node in source.at_line(line, ast.Assign)  # not what is given to a name: none is a rate
             if any(isinstance(each, ast.Attribute) for each in node.targets)]
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
