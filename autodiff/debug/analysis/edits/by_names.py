"""A var_list that picks by a part of names which others have too: by how the names begin, or by a whole scope."""
from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ....core.graph import Operation
from ....core.site import source_lines
from ....core.traversal import ancestors
from ...facts.records import NewLines
from ...facts.roles import place_on
from ..findings import Finding
from ..mistakes.case import Case
from ..mistakes.stepping import Update
from ..mistakes.trainers import by_loss
from ..scripts.calls import called, given, owner_text
from ..scripts.source_tree import Source

_UNTOLD = "as where minimize was given no var_list"
_COLLECTED = ("trainable_variables", "get_collection", "get_trainable_variables", "get_variables")
_IN = "{0} in {1}", "{1}.startswith({0})", "{2} in {1}", "{3} in {1}"  # as it is, and as it may be
_BEGINS, _SCOPE = ("{1}.startswith({0})", "{1}.startswith({2})"), ("{0}", "{2}")


def asked_at(update: Update) -> Operation:
    """The last op of the call that took the gradient of an update."""
    return max((op for op in ancestors([update.gradient]) if op.gradient_of is not None), key=lambda op: op.index)


def picked(finding: Finding, case: Case) -> tuple[Finding, NewLines] | None:
    """A finding with the line that picks the variables of one loss by a part of their names which those of another have
    too, and that line anew; None where none does."""
    losses = by_loss(case) if finding.kind == "two losses train the same" else {}
    for y, mine in losses.items():
        trained, names, op = {u.variable.op.name for u in mine}, {o.name for o in case.variables_behind(y)}, asked_at(
            mine[0])
        others = {u.variable.op.name for z, theirs in losses.items() if z is not y for u in theirs}
        file = op.site.file if op.site is not None else ""
        try:
            source = Source("".join(source_lines(file)))
        except (SyntaxError, ValueError):
            continue
        own = trained - others  # where there are none it is another loss whose list holds too much
        for node, ways, told, name in _tests(source, op) if own and trained & others else ():
            asked = next((each for each in (getattr(node, "left", None), *given(node, 0)) if each is not None), node)
            raw = source.raw(asked)
            slashed = (f"{raw} + '/'", f"'/' + {raw}") if raw.isidentifier() else (
                f"{raw[:-1]}/{raw[-1]}", f"{raw[0]}/{raw[1:]}")
            for way, part in ((way, part) for way in ways[1:] for part in told):
                old, new = ({each: _chosen(way, each, names) for each in told} for way in (ways[0], way))
                if old.pop(part) == trained and new.pop(part) == own and old == new:
                    text = way.format(raw, name, *slashed)
                    return replace(finding, remedy=f"{text} in place of {source.raw(node)}", place=place_on(
                        file, node.lineno), text=finding.text.replace(
                            _UNTOLD, f"as the var_list of {y.name} picks them by {part!r}, which is in their names too")
                        ), source.rows([(*source.range(node), text)], file)
    return None


def _chosen(way: str, part: str, names: set[str]) -> set[str]:
    """The names that a test lets through."""
    part = "/" * ("{3}" in way) + part + "/" * ("{2}" in way)
    return {each for each in names if (part in each if " in " in way else each.startswith(part))}


def _tests(source: Source, op: Operation) -> Iterator[tuple[Any, tuple[str, ...], list[str], str]]:
    """What asks for a part of names, for the list that the call which made an op is given; how it asks, and may ask;
    the parts that it is called with; what it calls a name."""
    reached: list[Any] = [each for call in source.spanned(op) for each in given(call, None, "var_list", "xs") or given(
        call, 1 + (called(call) == "minimize"))]
    for node in (each for top in reached for each in ast.walk(top)):
        made = [each for each in source.all(ast.FunctionDef) if each.name == called(node)]
        values = source.given_to(node) if isinstance(node, (ast.Name, ast.Attribute)) else []
        values += [_condition(source, call) for call in source.calls_named("append") if values and owner_text(
            call) == ast.unparse(node)]
        reached += [each for each in (*made, *values) if each not in reached]
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In) and "name" in source.raw(
                node.comparators[0]):
            yield node, _IN, _parts(source, node.left), source.raw(node.comparators[0])
        if called(node) == "startswith" and "name" in owner_text(node):
            yield node, _BEGINS, [part for word in given(node, 0) for part in _parts(source, word)], owner_text(node)
        for word in given(node, slice(None), "scope") if called(node) in _COLLECTED else ():
            yield word, _SCOPE, _parts(source, word), ""


def _condition(source: Source, node: ast.expr) -> ast.expr:
    """The condition of the innermost `if` around; the node itself where there is none."""
    return next((each.test for each in source.around(node) if isinstance(each, ast.If)), node)


def _parts(source: Source, node: ast.expr, deepest: int = 3) -> list[str]:
    """The text that an expression is, or that its function, or one that calls this, is called with."""
    if isinstance(node, ast.Name) and deepest:
        return [part for each in source.passed(node) for part in _parts(source, each, deepest - 1)]
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []
