"""What a script does with a result: the lines after a call that use what it was assigned to."""
from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence

from ..core.site import Site, source_lines


def lines_of_use(sites: Sequence[Site]) -> list[Site]:
    """The lines that use the last of what the innermost line's statement assigns; its own, if it assigns nothing.

    sites: of a call, innermost first. Where a function returns the result, the lines of its caller follow.
    """
    if not sites:
        return []
    site = sites[0]
    found = _statement(site)
    if found is None:
        return []
    statement, scope = found
    names = _assigned(statement)
    used = [s for s in _simple(scope) if s.lineno > statement.lineno and names & _read(s)] if names else [statement]
    lines = [Site(site.file, s.lineno, site.function) for s in used]
    lines += [line for s in used for line in _inside(site.file, s)]
    if any(isinstance(s, ast.Return) for s in used):
        lines += lines_of_use(sites[1:])
    return lines


def _inside(file: str, statement: ast.stmt) -> Iterator[Site]:
    """The lines of the script's own functions that a statement calls, the last first: it returns what counts."""
    calls = [node.func for node in ast.walk(statement) if isinstance(node, ast.Call)]
    called = {function.id for function in calls if isinstance(function, ast.Name)}
    tree = _parsed(file)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.FunctionDef) and node.name in called:
            yield from (Site(file, s.lineno, node.name) for s in reversed(list(_simple(node))))


def _statement(site: Site) -> tuple[ast.stmt, ast.AST] | None:
    """The statement on a line, and the function or module that it stands in."""
    tree = _parsed(site.file)
    if tree is None:
        return None
    inside = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.Module))
              and (isinstance(node, ast.Module) or node.lineno <= site.line <= (node.end_lineno or 0))]
    scope = max(inside, key=lambda node: getattr(node, "lineno", 0))
    on_line = [s for s in _simple(scope) if s.lineno <= site.line <= (s.end_lineno or s.lineno)]
    return (on_line[0], scope) if on_line else None


@functools.lru_cache(16)
def _parsed(file: str) -> ast.Module | None:
    try:
        return ast.parse("".join(source_lines(file)))
    except SyntaxError:
        return None


def _simple(scope: ast.AST) -> Iterator[ast.stmt]:
    """The statements of a scope that hold no others, in order; not those of functions in it."""
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
            continue
        if isinstance(node, ast.stmt) and not hasattr(node, "body"):
            yield node
        else:
            yield from _simple(node)


def _assigned(statement: ast.stmt) -> set[str]:
    """The name of what is assigned; of several the last, which are the gradients of a value and gradients."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    names = [node for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
    return {max(names, key=lambda node: (node.lineno, node.col_offset)).id} if names else set()


def _read(statement: ast.stmt) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
