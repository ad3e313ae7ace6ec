"""Switches of Keras: what is frozen, compiled too early, given back, told that it is or is not training; anew."""
from __future__ import annotations

import ast
import re

from .....core.errors import ArgumentError
from .....core.graph import Graph
from .....core.site import resolve
from ....facts.records import Place
from ....facts.roles import as_place
from ...findings import Finding
from ...scripts.calls import copied_by, given, is_call, owner_text, word_of
from ...scripts.changes import Change
from ...scripts.source_tree import Source
from .layer_lines import line_of

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
    """Where a layer is told not to be trained; or the Lambda that is to hold one which it calls.

    Raises ArgumentError where it is something else that trains nothing.
    """
    at = line_of(finding)
    if held := re.search(r"its inner = (\S+)", finding.remedy):
        made, = [node for node in source.at_line(at, ast.Call) if is_call(node, "lambda")]
        name = source.new_name("holder")
        return at, [source.before(source.statement(made), f"{name} = {source.raw(made)}", f"{name}.inner = {held[1]}"),
                    (*source.range(made), name)]
    sets = [(node, target.value) for node in source.at_line(at, ast.Assign) for target in node.targets
            if isinstance(target, ast.Attribute) and target.attr == "trainable"]
    for node, owner in sets if finding.remedy.startswith("freeze") else ():
        compiled = [call for call in source.all(ast.Call) if is_call(call, "compile") and call.lineno > at
                    and source.scope(call) is source.scope(node)]
        own = [call for call in compiled if owner_text(call) == ast.unparse(owner)]
        if len(own) == 1 and any(call.lineno > own[0].lineno for call in compiled):
            return at, [source.gone(node), source.after(source.statement(own[0]), source.raw(node))]
    found = [node.value for node, _ in sets]
    found += [word for node in source.at_line(at, ast.Call) for word in given(node, None, "trainable")]
    if len(found) != 1 or getattr(found[0], "value", True) is not False:
        raise ArgumentError("no line says so")
    return at, [(*source.range(found[0]), "True")]


def compiled_again(source: Source, line: int, finding: Finding) -> tuple[int, list[Change]]:
    """The last call of compile once more before what trains next, in whose scope it is written."""
    def calls(*names: str) -> list[ast.Call]:
        return sorted((node for node in source.all(ast.Call) if is_call(node, *names) and owner_text(node) == owner),
                      key=lambda node: node.lineno)

    trains = "fit", "fitgenerator", "trainonbatch"
    owners = {owner_text(node) for node in source.at_line(line, ast.Call) if is_call(node, *trains)}
    owner = owners.pop() if len(owners) == 1 else None
    at = line_of(finding) or line
    made = [node for node in calls("compile") if node.lineno < at]
    fits = [node for node in calls(*trains) if node.lineno >= at]
    if owner is None or not made or not fits or source.scope(made[-1]) is not source.scope(fits[0]) or (
            source.is_in_loop(fits[0])):
        raise ArgumentError("where to compile is not sure")
    fit = source.statement(fits[0])
    told = [each for each in source.all(ast.Expr, ast.Assign) if made[-1].lineno < each.lineno < fit.lineno
            and f"{owner}.optimizer" in source.raw(getattr(each, "targets", [each])[0])
            and next(source.around(each)) is next(source.around(fit))]
    return at, [source.before(fit, source.raw(source.statement(made[-1])), *map(source.raw, told)),
                *map(source.gone, told)]  # a rate that was set is set of the new optimizer


def untold(source: Source, line: int, finding: Finding) -> tuple[int, list[Change]]:
    """A layer that is called with training=True or False for ever: Keras tells it. Raises ArgumentError."""
    words = [word for node in source.at_line(line_of(finding), ast.Call)
             if (word := word_of(node, "training")) is not None and getattr(word.value, "value", None) in _CONSTANTS]
    if len(words) != 1:
        raise ArgumentError("training is no constant there")
    return line_of(finding), [source.without_word(words[0])]


def set_back(source: Source, line: int, finding: Finding) -> tuple[int, list[Change]]:
    """The one call, in a loop if one is, that gives a model the weights of another, which gives that one its own."""
    calls = sorted(source.calls_named("setweights"), key=lambda each: not source.is_in_loop(each))
    sides = copied_by(calls[0]) if calls else []
    if len(sides) != 2 or len(calls) > 1 and source.is_in_loop(calls[1]) == source.is_in_loop(calls[0]):
        raise ArgumentError("no one call gives them back")
    return calls[0].lineno, [(*source.range(side), source.raw(other)) for side, other in zip(sides, sides[::-1])]
