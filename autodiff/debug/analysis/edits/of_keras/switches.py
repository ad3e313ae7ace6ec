"""Switches of Keras: what is frozen, compiled too early, or told that it is or is not training; written anew."""
from __future__ import annotations

import ast
from collections.abc import Iterator

from .....core.errors import ArgumentError
from .....core.graph import Graph
from .....core.site import resolve
from ....facts.records import Place
from ....facts.roles import as_place
from ...findings import Finding
from ..changes import Change
from ..expressions import name_of
from ..source_tree import Source

FROZEN, _CONSTANTS = "nothing at all is trained", (True, False, 0, 1)


def frozen_place(graph: Graph, which: str = "frozen_at") -> Place | None:
    """The line that froze, or set free, the first layer of a compiled model; None if none is."""
    stack = [*graph.extras.get("compiled", {}).values()]
    while stack:
        layer = stack.pop()
        if frames := getattr(layer, which, None):
            return as_place(resolve(frames[:1])[0])
        stack += layer._inside()
    return None


def freed(source: Source, line: int, finding: Finding) -> tuple[int, list[Change]]:
    """Where a layer is told not to be trained. Raises ArgumentError where it is something else that trains nothing."""
    at = finding.place.line if finding.place is not None else 0
    found = [node.value for node in _at(source, at) if isinstance(node, ast.Assign) and any(
        isinstance(target, ast.Attribute) and target.attr == "trainable" for target in node.targets)]
    found += [word.value for node in _at(source, at) if isinstance(node, ast.Call) for word in node.keywords
              if word.arg == "trainable"]
    if len(found) != 1 or getattr(found[0], "value", True) is not False:
        raise ArgumentError("no line says so")
    return at, [(*source.range(found[0]), "True")]


def compiled_again(source: Source, line: int, finding: Finding) -> tuple[int, list[Change]]:
    """The call of compile once more before what trains, in whose scope it is written."""
    fits = [node for node in _at(source, line) if isinstance(node, ast.Call) and name_of(node.func) in (
        "fit", "fitgenerator", "trainonbatch")]
    owner = _owner(fits[0]) if fits else ""
    made = [node for node in ast.walk(source.tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
            and name_of(node.value.func) == "compile" and _owner(node.value) == owner]
    if len(made) != 1 or not fits or source.scope(made[0]) is not source.scope(fits[0]) or _in_loop(source, fits[0]):
        raise ArgumentError("where to compile is not sure")
    start = source.range(source.statement(fits[0]))[0]
    text = source.text[slice(*source.range(made[0]))]
    return finding.place.line if finding.place is not None else line, [(start, start, source.lines(start, [text, ""]))]


def untold(source: Source, line: int, finding: Finding) -> tuple[int, list[Change]]:
    """A layer that is called with training=True or False for ever: Keras tells it. Raises ArgumentError."""
    at = finding.place.line if finding.place is not None else 0
    found = [(node, word) for node in _at(source, at) if isinstance(node, ast.Call) for word in node.keywords
             if word.arg == "training" and getattr(word.value, "value", None) in _CONSTANTS]
    if len(found) != 1:
        raise ArgumentError("training is no constant there")
    start, end = source.range(found[0][1])
    before = source.text[:start].rstrip()
    return at, [(len(before) - before.endswith(","), end, "")]


def _at(source: Source, line: int) -> Iterator[ast.AST]:
    for node in ast.walk(source.tree):
        if isinstance(node, (ast.stmt, ast.expr)) and node.lineno <= line <= (node.end_lineno or 0):
            yield node


def _owner(call: ast.Call) -> str:
    return ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""


def _in_loop(source: Source, node: ast.AST) -> bool:
    return any(isinstance(each, (ast.For, ast.While)) and any(inner is node for inner in ast.walk(each))
               for each in ast.walk(source.tree))
