"""Errors about values that are traced and about what a loop carries: why JAX refuses them, and lines that mend it."""
from __future__ import annotations

import ast
import functools
import math
import re
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from ...core.site import Site
from ...debug.analysis.advice import Remark
from ...debug.facts.roles import at_line, place_on
from ..handed_on import function_of, returned_by
from ..new_calls import calls_on
from ..new_lines import NewLines, last_name, part_of, replaced, text_on
from ..script_lines import line_of_name, nodes_in, on_lines, spelled

_DEPENDS = re.compile(r"while tracing the function (\w+) at .*?:(\d+) for (\w+)\.(?:.*?values? of the arguments? "
                      r"([^.]+)\.)?")
_CARRIED = re.compile(r"input carry (?:component )?(\S+) has type (\w+)\[([\d,]*)\].*?has type (\w+)\[([\d,]*)\]",
                      re.DOTALL)
_LOOPS = {"scan": 1, "while_loop": 2, "fori_loop": 3}  # which argument is what they begin with


def of_traced(file: str, line: int, said: str, names: dict[str, Any]) -> Remark | None:
    """Of a value that Python looks at while it is traced. names: what the frame of the line has."""
    if "traced array" not in said and "racer" not in said:
        return None
    traced = _DEPENDS.search(said.replace("\n", " "))
    node, place = _condition(file, line), place_on(file, line)
    text = f"the value of {ast.unparse(node.test)}" if node is not None else f"a value in '{place.text.strip()}'"
    by = f"jax.{traced[3]} of {traced[1]}" if traced else "jax.jit"
    known = "jax.vmap has one for each row" if "BatchTracer" in said else f"{by} has only its shape"
    if not traced and "BatchTracer" not in said and "__array__" in said:
        known = "what jax.grad differentiates is no array of NumPy's"
    cause = f"Python needs {text} at once{at_line(place)}, and {known}"
    asked = re.findall(r"\w+", (traced[4] or "").replace(" and ", " ")) if traced else []
    if traced and asked and _are_plain(file, line, names):
        word = f"static_argnames=({', '.join(map(repr, asked))},)".replace("'", '"')
        return Remark(f"{cause}: it depends on the argument {' and '.join(asked)}", place, f"{word} in jax.jit, for "
                      "what is a plain number, flag or text", _static(file, traced[1], int(traced[2]), word))
    if node is not None:
        return Remark(cause, place_on(file, node.lineno), "jnp.where(condition, a, b), or lax.cond, in place of if",
                      chosen(file, node, names))
    outside = _called_outside(file, line, names)
    if outside:
        return Remark(f"{cause}, nor may {outside} take it, which JAX does not know", place,
                      f"call {outside} where nothing is traced, before the step, and give its result as an argument; "
                      "or jax.pure_callback(f, jax.ShapeDtypeStruct(shape, dtype), jax.lax.stop_gradient(x)), which "
                      "has no gradient")
    lines = _as_jax_has_it(file, line, names)
    return Remark(cause, place, "jnp's functions for what is traced, in place of np's, float() or .item()",
                  lines) if lines else None


def _called_outside(file: str, line: int, names: dict[str, Any]) -> str:
    """What of another library the function of a line calls from there on; empty if nothing."""
    function = function_of(Site(file, line, ""))
    for call in ast.walk(function) if function is not None else ():
        if isinstance(call, ast.Call) and call.lineno >= line:
            first, *rest = ast.unparse(call.func).split(".")
            found = functools.reduce(lambda value, name: getattr(value, name, None), rest, names.get(first))
            home = str(getattr(found, "__module__", "")).partition(".")[0]
            if callable(found) and home not in ("", "jax", "jaxlib", "numpy", "builtins", "__main__", "optax", "flax"):
                return ast.unparse(call.func)
    return ""


def _as_jax_has_it(file: str, line: int, names: dict[str, Any]) -> NewLines:
    """jnp for np on a line, nothing for float() and .item()."""
    statement = on_lines(file).get(line)
    aliases = [name for name, value in names.items() if value is np and name != "jnp"]
    new = text_on(file, line)
    for call in ast.walk(statement) if statement is not None and statement.lineno == statement.end_lineno else ():
        if not isinstance(call, ast.Call):
            continue
        if isinstance(call.func, ast.Name) and call.func.id in ("float", "int", "bool") and len(call.args) == 1:
            new = new.replace(ast.unparse(call), ast.unparse(call.args[0]))
        elif isinstance(call.func, ast.Attribute) and call.func.attr == "item" and not call.args:
            new = new.replace(ast.unparse(call), ast.unparse(call.func.value))
    for alias in aliases if any(value is jax.numpy for value in names.values()) else ():
        jnp = next(name for name, value in names.items() if value is jax.numpy)
        new = re.sub(rf"\b{alias}\.", f"{jnp}.", new)
    return {(file, line): new} if new != text_on(file, line) else {}


def _condition(file: str, line: int) -> ast.If | ast.IfExp | None:
    """The if whose condition stands on a line."""
    found = [node for node in nodes_in(file) if isinstance(node, (ast.If, ast.IfExp)) and (
        node.test.lineno <= line <= (node.test.end_lineno or line))]
    return found[-1] if found else None


def _are_plain(file: str, line: int, names: dict[str, Any]) -> bool:
    """Whether all traced values that a line reads were Python's numbers when the function was called."""
    read = {node.id for node in nodes_in(file) if isinstance(node, ast.Name) and node.lineno == line}
    avals = [names[name].aval for name in read if hasattr(names.get(name), "aval")]
    return bool(avals) and all(getattr(aval, "weak_type", False) or str(aval.dtype) == "bool" and not aval.shape
                               for aval in avals)


def _static(file: str, name: str, line: int, word: str) -> NewLines:
    """A static argument of the jax.jit that a function is given to, by a decorator or a call."""
    for node in nodes_in(file):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            for each in node.decorator_list:
                text = ast.unparse(each)
                if text in ("jax.jit", "jit"):
                    return replaced(file, each, f"{{}}({word})")
                if isinstance(each, ast.Call) and "jit" in text and "static_arg" not in text:
                    last = [*each.args, *(keyword.value for keyword in each.keywords)][-1]
                    return replaced(file, last, f"{{}}, {word}")
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("jax.jit", "jit") and len(node.args) == 1 and (
                not node.keywords and name in _functions(node.args[0])):
            return replaced(file, node.args[0], f"{{}}, {word}")
    return {}


def _functions(node: ast.expr) -> list[str]:
    """What is jitted: a function, or what jax.grad or its like makes of one."""
    return [ast.unparse(node), *([ast.unparse(node.args[0])] if isinstance(node, ast.Call) and node.args else [])]


def chosen(file: str, node: ast.If | ast.IfExp, names: dict[str, Any]) -> NewLines:
    """jnp.where in place of an if whose branches give one value each: as an expression, to one name, or as what is
    returned there and just after it. names: what the function has; of a tree each leaf is chosen."""
    test = _anded(node.test)
    if isinstance(node, ast.IfExp):
        return replaced(file, node, _where(file, test, part_of(file, node.body), part_of(file, node.orelse), names))
    if len(node.body) != 1:
        return {}
    first, second = node.body[0], node.orelse[0] if len(node.orelse) == 1 else _after(file, node)
    whole, is_else = (node, second), bool(node.orelse)
    if isinstance(first, ast.Return) and isinstance(second, ast.Return) and first.value and second.value:
        return _one_line(file, *whole, "return " + _where(
            file, test, ast.unparse(first.value), ast.unparse(second.value), names))
    target = ast.unparse(first.targets[0]) if isinstance(first, ast.Assign) else (
        ast.unparse(first.target) if isinstance(first, ast.AugAssign) else "")
    made = _made(first)
    if not target or made is None:
        return {}
    if not is_else:
        return _one_line(file, node, node, f"{target} = {_where(file, test, made, target, names)}")
    other = _made(second)
    same = other is not None and target == ast.unparse(getattr(second, "target", getattr(second, "targets", [None])[0]))
    return _one_line(file, node, node, f"{target} = {_where(file, test, made, other or '', names)}") if same else {}


def _where(file: str, test: str, yes: str, no: str, names: dict[str, Any]) -> str:
    """One of two values by a condition; of dicts and the like leaf by leaf."""
    where = spelled(file, "jax.numpy.where")
    trees = [ast.parse(each, mode="eval").body for each in (yes, no)]
    if not any(_is_tree(each, names) for each in trees):
        return f"{where}({test}, {yes}, {no})"
    mapped = trees[0]
    if isinstance(mapped, ast.Call) and _maps(mapped) and len(mapped.args) == 2 and ast.unparse(mapped.args[1]) == no \
            and isinstance(each := mapped.args[0], ast.Lambda) and len(each.args.args) == 1:
        leaf = each.args.args[0].arg
        return f"{ast.unparse(mapped.func)}(lambda {leaf}: {where}({test}, {ast.unparse(each.body)}, {leaf}), {no})"
    return f"{spelled(file, 'jax.tree_util.tree_map')}(lambda a, b: {where}({test}, a, b), {yes}, {no})"


def _is_tree(node: ast.expr, names: dict[str, Any]) -> bool:
    return _maps(node) or isinstance(node, (ast.List, ast.Dict, ast.ListComp, ast.DictComp)) or isinstance(
        node, ast.Name) and isinstance(names.get(node.id), (dict, list, tuple))


def _maps(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("tree_map", "tree.map"))


def _made(node: Any) -> str | None:
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        return ast.unparse(node.value)
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return ast.unparse(ast.BinOp(node.target, node.op, node.value))
    return None


def _anded(test: ast.expr) -> str:
    """A condition of arrays, for which Python's words have other signs."""
    if isinstance(test, ast.BoolOp):
        sign = " & " if isinstance(test.op, ast.And) else " | "
        return sign.join(f"({_anded(each)})" for each in test.values)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return f"~({_anded(test.operand)})"
    return ast.unparse(test)


def _after(file: str, node: ast.If) -> ast.stmt | None:
    """The statement that follows one in its block."""
    for each in nodes_in(file):
        body = getattr(each, "body", None)
        if isinstance(body, list) and any(part is node for part in body):
            return next(iter(body[body.index(node) + 1:]), None)
    return None


def _one_line(file: str, first: ast.stmt, last: ast.AST | None, text: str) -> NewLines:
    """One statement in place of all from one to another."""
    end = max(getattr(last, "end_lineno", 0) or 0, first.end_lineno or 0)
    lines: NewLines = {(file, line): "" for line in range(first.lineno, end + 1)}
    lines[file, first.lineno] = " " * first.col_offset + text
    return lines


def of_carry(file: str, line: int, said: str) -> Remark | None:
    """Of a loop whose state changes its type: it begins with what comes out of it."""
    found = _CARRIED.search(said)
    if found is None or "carry" not in said:
        return None
    path, was, shape, new, other = found.groups()
    jnp = spelled(file, "jax.numpy")
    for call, begins in _begun(file, line):
        name = last_name(call.func)
        parts = [int(n) for n in re.findall(r"\[(\d+)\]", path)][name == "fori_loop":]
        at, node = _element(file, begins, parts)
        text = ast.unparse(node)
        place = place_on(file, at)
        made = _given_on(file, call, parts)
        by = f", {ast.unparse(made)}{at_line(place_on(file, made.lineno))}" if made is not None else ""
        cause = (f"{name} begins with {was}[{shape}], {text}, and its body gives {new}[{other}]{by}: what is carried "
                 "must stay alike")
        if shape == other:
            return Remark(cause, place, f"begin with {new}{at_line(place)}: {jnp}.asarray({text}, {jnp}.{new})",
                          replaced(file, node, f"{jnp}.asarray({{}}, {jnp}.{new})"))
        sizes = [[int(n) for n in each.split(",") if n] for each in (shape, other)]
        if made is not None and math.prod(sizes[0]) == math.prod(sizes[1]):  # but for axes of one it is the same
            first = _first_of(file, made)
            place = place_on(file, (first or made).lineno)
            if first is not None:
                cause = f"{ast.unparse(first)}{at_line(place)} brings an axis of one, it seems: {cause}"
            return Remark(cause, place, f"give it back as it was: {jnp}.reshape("
                          f"{ast.unparse(made)}, {tuple(sizes[0])})", replaced(
                              file, made, f"{jnp}.reshape({{}}, {tuple(sizes[0])})"))
        size = "(" + other + ("," if other and "," not in other else "") + ")"
        is_wider = not shape or other.endswith(f",{shape}")
        return Remark(cause, place, f"begin with what the body gives: {jnp}.zeros({size}, {jnp}.{new})", replaced(
            file, node, f"{jnp}.broadcast_to({jnp}.asarray({{}}, {jnp}.{new}), {size})") if is_wider else {})
    return None


def _begun(file: str, line: int) -> Iterator[tuple[ast.Call, ast.expr]]:
    """The loops of lax on a line, and what they begin with."""
    for call in calls_on(file, line, *_LOOPS):
        number = _LOOPS[last_name(call.func)]
        words = [word.value for word in call.keywords if word.arg in ("init", "init_val")]
        for begins in (words + call.args[number:number + 1])[:1]:
            yield call, begins


def _given_on(file: str, call: ast.Call, parts: list[int]) -> ast.expr | None:
    """What the body of a loop gives back for a part of what it carries; None where it is no function of the file."""
    name = last_name(call.func)
    body = ast.unparse(call.args[_LOOPS[name] - 1]) if len(call.args) >= _LOOPS[name] else ""
    given = next((returned_by(node) for node in nodes_in(file) if isinstance(node, ast.FunctionDef)
                  and node.name == body), [])
    found: ast.expr | None = None if not given else given[0] if name == "scan" or len(given) == 1 else ast.Tuple(given)
    for part in parts:
        found = found.elts[part] if isinstance(found, (ast.Tuple, ast.List)) else None
    return found


def _first_of(file: str, made: ast.expr) -> ast.Assign | None:
    """The one statement of a body that makes what an expression there takes, beside what is carried and given."""
    function, found, seen = function_of(Site(file, made.lineno, "")), None, set[str]()
    named = {node.targets[0].id: node for node in (function.body if function is not None else ()) if isinstance(
        node, ast.Assign) and isinstance(node.targets[0], ast.Name) and isinstance(node.value, (ast.BinOp, ast.Call))}
    at: ast.expr = made
    while not any(isinstance(each, ast.MatMult) for each in ast.walk(at)) and len(names := {
            each.id for each in ast.walk(at) if isinstance(each, ast.Name)} & {*named} - seen) == 1:
        seen |= names
        at = (found := named[names.pop()]).value
    return found


def _element(file: str, node: ast.expr, parts: list[int]) -> tuple[int, ast.expr]:
    """The line and the expression of a part of a tuple, also where that has a name."""
    if isinstance(node, ast.Name):
        made = getattr(on_lines(file).get(line_of_name(file, node.id)), "value", None)
        targets = getattr(on_lines(file).get(line_of_name(file, node.id)), "targets", [])
        if made is not None and len(targets) == 1 and isinstance(targets[0], ast.Name):
            return _element(file, made, parts)
    if parts and isinstance(node, (ast.Tuple, ast.List)):
        return _element(file, node.elts[parts[0]], parts[1:])
    return node.lineno, node
