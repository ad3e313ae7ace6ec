"""Where an object of the script's keeps a tensor from one step to the next: its line, and how it is cut off there."""
from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import torch

from ....core.site import Site
from ...new_lines import NewLines, after, replaced, text_on
from ...script_lines import holding, loops_around, nodes_in
from ..record import tensors_in

_MOST = 20_000  # things that are looked into


class Held(NamedTuple):
    """What keeps a tensor. path: how the script reaches it; name: of the attribute, or variable, that it is kept in.

    value: all that is kept there. owner: whose attribute it is; None of a variable."""

    path: str
    name: str
    value: Any
    owner: Any


def holder_of(tensors: Sequence[Any], names: Mapping[str, Any]) -> Held | None:
    """What keeps one of these tensors beside plain variables, the shortest way from names first; None if nothing."""
    todo = deque(Held(n, n, x, None) for n, x in names.items() if not n.startswith("__"))
    wanted, seen = set(map(id, tensors)), set[int]()
    while todo and len(seen) < _MOST:
        path, name, value, owner = each = todo.popleft()
        if path != name and detached("", value) and wanted & set(map(id, tensors_in([value]))):
            return each
        if id(value) in seen or isinstance(value, (type, torch.Tensor, ModuleType, FunctionType)):
            continue
        seen.add(id(value))
        if isinstance(value, (dict, list, tuple)):
            todo.extend(Held(f"{path}[{key!r}]", name, part, owner) for key, part in (
                value.items() if isinstance(value, dict) else enumerate(value)) if isinstance(key, (str, int)))
        elif known := getattr(value, "__dict__", {}):
            todo.extend(Held(f"{path}.{n}" if n.isidentifier() else f"{path}[{n}]", n, x, value) for n, x in [
                *known.items(), *known.get("_modules", {}).items(), *known.get("_buffers", {}).items()])
    return None


def detached(text: str, value: Any) -> str:
    """The text of what is kept, without its graph; "" where it is no tensor, nor any of one kind."""
    if isinstance(value, torch.Tensor):
        return f"{text}.detach()"
    is_many = isinstance(value, (list, tuple)) and len({*map(type, value)}) == 1 and not hasattr(value, "_fields")
    if not is_many or not (inner := detached("h", value[0])):
        return ""
    return f"[{inner} for h in {text}]" if isinstance(value, list) else f"tuple({inner} for h in {text})"


def stored_at(found: Held, files: Sequence[str]) -> list[tuple[str, ast.Assign]]:
    """The statements of functions that put something where a tensor was found, not the empty beginning."""
    kinds = {"", *(kind.__name__ for kind in type(found.owner).__mro__)}
    stores = [(file, node) for file in dict.fromkeys(files) for node in nodes_in(file) if isinstance(node, ast.Assign)
              and not isinstance(node.value, ast.Constant) and found.name in [
                  ast.unparse(part).partition("[")[0].rpartition(".")[2] for part in _parts(node)]]
    return [(file, node) for file, node in stores if (around := [each.name for each in holding(
        file, node.lineno) if isinstance(each, (ast.ClassDef, ast.FunctionDef))])[-1:] != ["__init__"]
        and {*around, ""} & kinds]


def _parts(statement: ast.Assign) -> list[ast.expr]:
    """What an assignment gives values to, other than plain variables."""
    return [part for target in statement.targets for part in ast.walk(target) if isinstance(
        part, (ast.Attribute, ast.Subscript)) and isinstance(part.ctx, ast.Store)]


def cut_off(found: Held, file: str, statement: ast.Assign, sites: Sequence[Site], user: tuple[str, int]) -> NewLines:
    """The statement with what it stores cut off from its graph; {} where the same step may read that later.

    sites: where it is computed, up to the function that differentiates on the line of `user`."""
    around = [*(each for each in holding(file, statement.lineno) if isinstance(each, ast.FunctionDef)), statement]
    later = [text_on(f, line) for f, start, end in (
        (file, statement.end_lineno, around[-2:][0].end_lineno), (user[0], sites[-1].line, user[1]))
        for line in range((start or 0) + 1, (end or 0) + 1)]
    is_often = any(loop not in loops_around(*user) for s in sites for loop in loops_around(s.file, s.line))
    if is_often or any(re.search(rf"\.{found.name}\b|\b{found.name}\[", text) for text in later):
        return {}
    if isinstance(statement.targets[0], ast.Tuple):
        texts = [(text := ast.unparse(part), detached(text, getattr(found.owner, getattr(part, "attr", ""), None)))
                 for part in _parts(statement)]
        return after(file, statement.lineno, "; ".join(" = ".join(each) for each in texts)) if all(
            text for _, text in texts) else {}
    given = statement.value.args[:1] if isinstance(statement.value, ast.Call) and ast.unparse(
        statement.value.func) in ("tuple", "list") else [statement.value]
    if given and isinstance(given[0], (ast.GeneratorExp, ast.ListComp)):
        return replaced(file, given[0].elt, "{}.detach()")
    is_part = isinstance(statement.targets[0], ast.Subscript) and not found.path.endswith("]")
    kept = found.value[0] if is_part else found.value
    return replaced(file, statement.value, detached(
        "{}" if isinstance(kept, torch.Tensor) else ast.unparse(statement.value), kept))
