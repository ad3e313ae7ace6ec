"""What is written for results that nothing takes, and for terms that are added too late."""
from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from ....core.site import Site
from ...new_lines import NewLines, before, last_name, replaced, text_on
from ...script_lines import block_of, on_lines, read_by


def _taken(file: str, line: int, target: str, how: str) -> Iterator[NewLines]:
    """The statement on a line with what it gives by the name of what it is to change, or as one that changes it."""
    statement = on_lines(file).get(line)
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not target or not isinstance(statement, ast.Expr) or not isinstance(call, ast.Call):
        return
    name, is_own = last_name(call.func), isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == target
    if is_own and name.endswith("_"):
        given = ", ".join(map(ast.unparse, [*call.args, *call.keywords]))
        yield replaced(file, statement, f"{target} = {target}.{name[:-1]}({given})")
    elif how and is_own:
        yield replaced(file, call.func, "{}_")
    elif not how:
        yield replaced(file, statement, f"{target} = {{}}")


def _added_before(file: str, line: int, site: Site | None) -> Iterator[NewLines]:
    """The statement on a line, and those right before it that make what it adds, in front of a backward()."""
    statement, block = on_lines(file).get(line), block_of(file, line)
    back = on_lines(file).get(site.line) if site is not None and site.file == file else None
    if statement not in block or back not in block or back is None or statement is None:
        return
    between = block[block.index(back) + 1:block.index(statement)]
    wanted, chosen = read_by(statement), [statement]
    for each in reversed(between):
        names = {node.id for node in ast.walk(each) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        if names & wanted and isinstance(each, ast.Assign):
            wanted |= read_by(each)
            chosen.insert(0, each)
        elif names & wanted:
            return
    text = "\n".join(text_on(file, at) for each in chosen for at in range(each.lineno, (each.end_lineno or 0) + 1))
    gone = {(file, at): "" for each in chosen for at in range(each.lineno, (each.end_lineno or 0) + 1)}
    to = before(file, back.lineno, text.lstrip())
    yield {**gone, **to} if to else {}


RULES: dict[str, Callable[[Any], Iterator[NewLines]]] = {  # of findings, by their kinds
    "result not used": lambda at: _taken(at.file, at.line, at.finding.op, at.finding.op_type),
    "added after backward": lambda at: _added_before(at.file, at.line, at.known.backward)}
