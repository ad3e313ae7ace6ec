"""What a statement makes and leaves: `optax.apply_updates(params, updates)` or `x.at[i].set(y)`, nothing assigned; and
what a function is given and leaves, as it reads the same from around it."""
from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import jax

from ...core.site import Site
from ...debug.analysis.advice import Remark
from ...debug.analysis.findings import Finding
from ...debug.facts.roles import as_place
from ..handed_on import function_of, returned_by, taken
from ..new_lines import NewLines, replaced, text_on
from ..read_around import names_around, read_around
from ..script_lines import assigned_on, lines_of_use, nodes_in, on_lines, read_by

_MAPS = ("apply_updates", "tree_map", "tree.map", "tree_multimap")


def dropped(sites: Sequence[Site], parameters: str) -> tuple[Site, ast.Call] | None:
    """Of a gradient's lines, innermost first, and the name that it was taken by, the call that makes new parameters of
    it, and its line."""
    for site in _uses(sites):
        statement = on_lines(site.file).get(site.line)
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(statement, ast.Expr) and isinstance(call, ast.Call) and call.args and (
                _name(call, parameters)) and (ast.unparse(call.func).endswith(_MAPS) or _own(site.file, call)):
            return site, call
    return None


def kept(file: str, line: int, parameters: str) -> NewLines:
    """The statement on a line with what it makes by the name of the parameters."""
    statement = on_lines(file).get(line)
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(statement, ast.Expr) or not isinstance(call, ast.Call):
        return {}
    name, scope = _name(call, parameters), function_of(site := Site(file, line, ""))
    given_back = [each.id for each in returned_by(scope) if isinstance(each, ast.Name)]
    if not name or scope is not None and name not in given_back:
        return {}
    own = _own(file, call)
    if own is not None and len(returned_by(own)) > 1:
        return taken(own, site, statement, name)
    return replaced(file, statement, f"{name} = {{}}")


def changes_left(sites: Sequence[Site]) -> list[Finding]:
    """Of the files of these lines, statements such as `x.at[i].set(y)`."""
    found = [(Site(file, at, ""), _changed(statement)) for file in dict.fromkeys(site.file for site in sites)
             for at, statement in on_lines(file).items() if at == statement.lineno]
    return [Finding(80, "change left", "", "", "", f"what {name}.at[…] makes is a new array, which nothing "
                    f"takes: {name} stays as it was, as JAX changes no array in place", f"{name} = {name}.at[…]…",
                    "doctor", as_place(site)) for site, name in found if name]


def _changed(statement: ast.AST) -> str:
    """What `x.at[i].set(y)`, whose result is dropped, is to change; "" for other statements."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    part = getattr(getattr(call, "func", None), "value", None)
    at = part.value if isinstance(part, ast.Subscript) else None
    return ast.unparse(at.value) if isinstance(at, ast.Attribute) and at.attr == "at" and isinstance(
        at.value, (ast.Name, ast.Subscript)) else ""


def taken_back(file: str, line: int) -> NewLines:
    """The statement on a line with what it makes by the name of what it is to change."""
    statement = on_lines(file).get(line)
    name, at = (_changed(statement), statement.lineno) if statement is not None else ("", line)
    old = text_on(file, at)
    return {(file, at): old[:-len(old.lstrip())] + f"{name} = {old.lstrip()}"} if name else {}


def _uses(sites: Sequence[Site]) -> Iterator[Site]:
    """The lines that use a gradient, and in their functions those that use what is made of it."""
    for site in lines_of_use(tuple(sites)):
        yield site
        names, scope = {*assigned_on(site.file, site.line)}, function_of(site)
        for line, statement in sorted(on_lines(site.file).items()):
            if line > site.line and names & read_by(statement) and function_of(Site(site.file, line, "")) is scope:
                yield Site(site.file, line, site.function)


def _name(call: ast.Call, parameters: str) -> str:
    """What a call is given for the parameters, where that is a name: those of the gradient, or first of an update."""
    names = [each.id for each in call.args if isinstance(each, ast.Name)]
    is_optax = ast.unparse(call.func).endswith("apply_updates")
    return names[0] if names and is_optax else parameters if parameters in names else ""


def _own(file: str, call: ast.Call) -> ast.FunctionDef | None:
    """The script's function that is called, if it only returns something."""
    return next((node for node in nodes_in(file) if isinstance(node, ast.FunctionDef) and isinstance(
        call.func, ast.Name) and node.name == call.func.id and returned_by(node)), None)


def unread(function: Any, titles: Sequence[str], reading: Any) -> Iterator[tuple[str, Remark]]:
    """Of parameters that a function does not use, as it reads the same arrays from around it; each with its name.

    titles: of its arguments. reading: what was found of a call of it.
    """
    function, program = inspect.unwrap(function), reading.program
    used = {id(v): e for e in reversed(program.equations) for v in e.inputs}
    around = {id(x): e.sites for x, (v, _) in zip(reading.traced.outside, program.constants) if (
        e := used.get(id(v))) is not None and e.sites}
    for leaf, v in zip(reading.leaves, program.inputs) if inspect.isfunction(function) else ():
        if leaf.is_parameter and id(v) not in used and id(leaf.value) in around:
            names = [name for name, value in names_around(function).items() if isinstance(value, (
                dict, list, tuple, jax.Array)) and any(x is leaf.value for x in jax.tree.leaves(value))]
            told = read_around(around[id(leaf.value)], function.__name__, titles[leaf.place[0]], names)
            if told is not None:
                yield leaf.name, told
