"""Edits of the script's own NumPy code, at a line of which NumPy said that it made nan or inf there."""
from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

from ....core.errors import ArgumentError
from ....core.graph import Operation
from ...facts.records import Place
from ..scripts.calls import given, is_call, owner_of, owner_text
from ..scripts.changes import Change
from ..scripts.source_tree import Source

LOGARITHMS = ("log", "log2", "log10")
LEAST = 1e-8  # what a divisor is raised by, and logarithms are taken of at least
CLEANED = "{np}.nan_to_num({0}, posinf=0.0, neginf=0.0)"
_READERS = ("genfromtxt", "readcsv")
_PLAIN = {"delimiter", "skip_header", "usecols", "dtype"}  # with which NumPy reads a plain table
_MADE = ("constant", "converttotensor", "variable")
_SPREADS = ("std", "norm", "ptp", "sum", "max", "var")  # what one divides by to scale


class InNumpy(NamedTuple):
    """What NumPy refused at a line, as it calls it: "divide", "sqrt" or a logarithm; other lines where it did too."""

    place: Place
    what: str
    others: tuple[Place, ...] = ()


class Cleaned(NamedTuple):
    """The array that a constant is made of, with zeros in place of nan and inf."""

    op: Operation


def without_nonfinite(source: Source, line: Cleaned) -> list[Change]:
    """At what the call that makes the constant is given, or at the operand that became one. Raises ArgumentError."""
    op, numpy = line.op, source.imported().get("numpy")
    made = [each for each in source.spanned(op) if is_call(each, *_MADE)]
    takes = [(each, each.inputs.index(op.outputs[0])) for each in op.outputs[0]._consumers if each.gradient_of is None]
    if numpy is None or not made and len(takes) != 1:
        raise ArgumentError("no one array surely is it")
    array = next(iter(given(made[0], 0) if made else ()), None) or source.operand(
        source.expression(takes[0][0]), *takes[0])
    return [(*source.range(array), CLEANED.format(source.raw(array), np=numpy))]


def kept_from_zero(source: Source, line: InNumpy) -> list[Change]:
    """What is divided by, or given to a function, in the one expression of each line which may be meant.

    Raises ArgumentError where there are several in a line, or none.
    """
    return [change for place in (line.place, *line.others) for change in _kept(source, line.what, place.line)]


def reader_of(source: Source, parts: Sequence[Sequence[ast.expr]]) -> ast.Call:
    """The one call that reads the table which all these come of, each of several expressions. Raises ArgumentError."""
    assigns = source.all(ast.Assign)
    calls = [(call, name.id) for each in assigns for name in each.targets if isinstance(name, ast.Name)
             and (call := _read_by(each.value)) is not None
             and (is_call(call, _READERS[1]) or _is_table(source, name.id) and all(
                 word.arg in _PLAIN and (word.arg != "dtype" or "float" in ast.unparse(word.value))
                 for word in call.keywords))]
    if len(calls) != 1 or not parts or not all(calls[0][1] in _behind(each, assigns) for each in parts):
        raise ArgumentError("no one table is read")
    return calls[0][0]


def _read_by(value: ast.expr) -> ast.Call | None:
    """The call that reads a table, of what may have another type then."""
    while is_call(value, "astype") and (owner := owner_of(value)) is not None:
        value = owner
    return value if isinstance(value, ast.Call) and is_call(value, *_READERS) else None


def begun_in(places: Sequence[Place], text: str) -> int:
    """Which of the lines where NumPy made nan or inf, in the order of time, began what the last one has.

    Each line before that gives a name to something is where it began, if the next one reads that name.
    """
    try:
        source = Source(text)
    except (SyntaxError, ValueError):
        return len(places) - 1
    at = len(places) - 1
    for i in reversed(range(at)):
        names = {node.id for node in _at(source, places[at]) if isinstance(node.ctx, ast.Load)}
        if places[i].file == places[at].file and names & {node.id for node in _at(source, places[i])
                                                         if isinstance(node.ctx, ast.Store)}:
            at = i
    return at


def _at(source: Source, place: Place) -> list[ast.Name]:
    """The names in the simple statement of a line."""
    return [each for node in source.at_line(place.line, ast.Assign) for each in ast.walk(node)
            if isinstance(each, ast.Name)]


def _is_table(source: Source, name: str) -> bool:
    """Whether columns are taken of what has this name."""
    return any(isinstance(each.value, ast.Name) and each.value.id == name and isinstance(each.slice, ast.Tuple)
               for each in source.all(ast.Subscript))


def _behind(parts: Sequence[ast.AST], assigns: Sequence[ast.Assign]) -> set[str]:
    """The names that expressions are made of, and what these were given."""
    names, before = _names(parts), set[str]()
    while names != before:
        before = names
        names = names | _names([assign.value for assign in assigns if before & _names(assign.targets)])
    return names


def _names(parts: Sequence[ast.AST]) -> set[str]:
    return {each.id for part in parts for each in ast.walk(part) if isinstance(each, ast.Name)}


def _read_whole(source: Source, call: ast.Call) -> Change:
    end = source.range(call)[1]
    if is_call(call, "readcsv"):
        return end, end, ".dropna()"
    statement = source.statement(call)
    assert isinstance(statement, ast.Assign)
    name = ast.unparse(statement.targets[0])
    return source.after(statement, f"{name} = {name}[~{owner_text(call)}.isnan({name}).any(axis=1)]")


def _kept(source: Source, what: str, at: int) -> list[Change]:
    calls = [node for node in source.at_line(at, ast.Call) if is_call(node, what) and node.args and owner_text(node)]
    if what in _READERS and len(calls) == 1:
        return [_read_whole(source, calls[0])]
    divisors = [node.right for node in source.at_line(at, ast.BinOp) if isinstance(node.op, ast.Div)]
    if len(divisors) > 1:
        divisors = [each for each in divisors if any(is_call(part, *_SPREADS) for made in (
            each, *source.given_to(each)) for part in ast.walk(made))]
    powers = [node.left for node in source.at_line(at, ast.BinOp) if isinstance(node.op, ast.Pow) and what == "power"]
    found = divisors if what == "divide" else powers + [call.args[0] for call in calls]
    if len({ast.unparse(each) for each in found}) != 1:
        raise ArgumentError(f"no one expression of line {at} surely is it")
    if what != "divide":
        numpy = source.imported().get("numpy") if powers else owner_text(calls[0])
        least = 0 if what in ("sqrt", "power") else LEAST
        return [(*source.range(each), f"{numpy}.maximum({source.raw(each)}, {least:g})") for each in found]
    bare = [source.text[:start].endswith("(") and source.text.startswith(")", end) for start, end in map(
        source.range, found)]
    return [(*source.range(each), f"{source.raw(each)} + {LEAST:g}" if is_bare else
             f"({source.beside(each)} + {LEAST:g})") for each, is_bare in zip(found, bare)]
