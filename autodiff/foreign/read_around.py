"""A function that is differentiated by an argument, and reads the values of that from around it."""
from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence
from typing import Any

from ..core.errors import ArgumentError
from ..core.site import Site
from ..debug.analysis.advice import Remark
from ..debug.analysis.scripts.calls import called
from ..debug.analysis.scripts.parsed import Parsed
from ..debug.facts.roles import as_place
from .new_lines import NewLines


def read_around(sites: Sequence[Site], title: str, argument: str, names: Sequence[str]) -> Remark | None:
    """What is said where the line sites[0] uses what the function `title` is given as its argument, by another name.

    sites: innermost first. names: of the script's that stand for the same. None where no function on the way reads one.
    """
    way, source = [], Parsed.of_file(sites[0].file)
    for site in sites:
        made = [each for each in source.at_line(site.line, ast.FunctionDef) if each.name == site.function]
        if site.file != sites[0].file or not made:
            return None
        way.append(made[-1])
        if site.function == title:
            break
    inner, loss = way[0], way[-1]
    reads = [node for node in ast.walk(inner) if isinstance(node, ast.Name) and node.id in names
             and isinstance(node.ctx, ast.Load)]
    if loss.name != title or not reads or argument not in _taken(loss) or reads[0].id in _taken(inner):
        return None
    name, place = reads[0].id, as_place(Site(sites[0].file, reads[0].lineno, inner.name))
    if inner is not loss and any(isinstance(node, ast.Name) and node.id == argument for node in ast.walk(loss)):
        return None  # it reads both
    text = f"{title} never reads its argument {argument}: {inner.name} reads {name} from around it, the same values"
    remedy = f"read {argument} in its place" if inner is loss else (
        f"give {inner.name} {argument} as an argument: {inner.name}({argument}, …) in {title}")
    return Remark(text, place, remedy, _given(source, sites[0].file, way, argument, reads))


def names_around(function: Any, deepest: int = 4) -> dict[str, Any]:
    """What a function of Python's, and those that it closes over, can read by name, but for what they are given."""
    inner = dict(inspect.getclosurevars(function).nonlocals) if inspect.isfunction(function) and deepest else {}
    others = [names_around(each, deepest - 1) for each in inner.values() if inspect.isfunction(each)]
    own = {name: value for name, value in getattr(function, "__globals__", {}).items() if name[:2] != "__"}
    return {name: value for each in (own, *others, inner) for name, value in each.items()}


def _taken(function: ast.FunctionDef) -> list[str]:
    return [each.arg for each in (*function.args.posonlyargs, *function.args.args)]


def _given(source: Parsed, file: str, way: Sequence[ast.FunctionDef], argument: str,
           reads: Sequence[ast.Name]) -> NewLines:
    """With the argument in place of what is read; handed on by each function on the way, which all give then.

    {} where one of these is a method, or used otherwise than in a call by its name.
    """
    *inner, loss = way
    changes = [] if inner else [source.put(node, argument) for node in reads]
    for function in inner:
        calls = [node for node in source.all(ast.Call) if called(node) == function.name.replace("_", "").lower()]
        uses = [node for node in source.all(ast.Name) if node.id == function.name]
        if function.args.vararg or "self" in _taken(function) or function.decorator_list or {
                id(node) for node in uses} != {id(call.func) for call in calls}:
            return {}
        first = [*function.args.posonlyargs, *function.args.args]
        start = source.range(first[0])[0] if first else source.text.index("(", source.range(function)[0]) + 1
        changes.append((start, start, reads[0].id + ", " * bool(first)))
        for call in calls:
            is_its = any(each is loss for each in source.around(call))
            at = source.range(call.func)[1] + 1
            changes.append((at, at, (argument if is_its else reads[0].id) + ", " * bool(call.args or call.keywords)))
    try:
        return source.rows(sorted(changes), file)
    except ArgumentError:
        return {}
