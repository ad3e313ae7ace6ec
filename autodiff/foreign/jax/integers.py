"""Integers among what jax.grad is to differentiate by: where they stand, and lines that take them out or make them of
floats."""
from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from traceback import walk_tb
from typing import Any

import jax

from ...core.site import PACKAGE
from ...debug.analysis.advice import Remark
from ...debug.facts.roles import at_line, place_on
from ..new_calls import calls_on
from ..new_lines import NewLines, part_of, replaced, text_on
from ..script_lines import assigned_on, block_of, line_of_name, nodes_in, on_lines, parsed, read_by, spelled
from .calls import Call

_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.MatMult, ast.Pow)


def of_integers(error: BaseException, file: str, names: list[str], line: int = 0) -> Remark | None:
    """Of the first leaf that is no float. names: what the line that asked gives for each argument."""
    for number, value, others in _differentiated(error):
        for path, leaf in jax.tree_util.tree_leaves_with_path(value):
            dtype = jax.numpy.result_type(leaf)
            if dtype.kind in "iub":
                if not path and (other := _of_parameters(file, line, number, others)) is not None:
                    return other
                name = names[number] if number < len(names) else ""
                key = getattr(path[0], "key", "params") if path else "params"
                if name and key != "params" and isinstance(value, Mapping) and "params" in value:
                    return _of_collections(file, line, name, key, number)
                return _told(file, name or f"argument {number}", path, leaf)
    return None


def _of_parameters(file: str, line: int, number: int, args: Sequence[Any]) -> Remark | None:
    """Of data that stand where the parameters were to: those are the one tree of floats that the script changes by the
    gradients; None if there is no such one."""
    statement, names = on_lines(file).get(line), set(assigned_on(file, line)[-1:])
    call = next((each for each in calls_on(file, line) if len(each.args) == len(args) and not each.keywords), None)
    makers = [line, *(line_of_name(file, name) for name in read_by(statement))] if statement is not None else []
    make = next((each for at in makers for each in calls_on(file, at, "grad", "value_and_grad") if each.args), None)
    if call is None or make is None:
        return None
    read = [ast.unparse(each).partition(".")[0] for each in call.args]
    taken = set[str]()
    for later in block_of(file, line):
        if later.lineno > line and names & read_by(later):  # and what is made of them
            taken |= read_by(later)
            names |= set(assigned_on(file, later.lineno))
    found = [i for i, each in enumerate(args) if read[i] in taken and (leaves := jax.tree_util.tree_leaves_with_path(
        each)) and all(path and jax.numpy.result_type(leaf).kind not in "iub" for path, leaf in leaves)]
    if len(found) != 1 or read[number] in taken:
        return None
    asked = [word.value for word in make.keywords if word.arg == "argnums"] + make.args[1:2]
    new = f"{ast.unparse(make.func)}({ast.unparse(make.args[0])}, argnums={found[0]})"
    place = place_on(file, line)
    return Remark(f"the gradient is asked for by argument {number}, {ast.unparse(call.args[number])}{at_line(place)}, "
                  f"which are integers and have none; the parameters are argument {found[0]}, "
                  f"{ast.unparse(call.args[found[0]])}", place, new, replaced(file, asked[0], str(found[0])) if asked
                  else replaced(file, make.args[0], f"{{}}, argnums={found[0]}"))


def _differentiated(error: BaseException) -> Iterator[tuple[int, Any, Sequence[Any]]]:
    """The arguments by which the gradient was asked for, by number, and all: they are where our own call of it stands.
    """
    for frame, _ in walk_tb(error.__traceback__):
        call = frame.f_locals.get("call") if frame.f_code.co_filename.startswith(PACKAGE) else None
        if isinstance(call, Call):
            asked = [call.argnums] if isinstance(call.argnums, int) else call.argnums
            yield from ((n, call.args[n], call.args) for n in asked if -len(call.args) <= n < len(call.args))
            return


def _told(file: str, name: str, path: Any, leaf: Any) -> Remark | None:
    node, owner = _element(file, name, path)
    line = getattr(node, "lineno", 0) or line_of_name(file, name)
    if not line:
        return None
    place, text = place_on(file, line), name + jax.tree_util.keystr(path)
    is_number, dtype = not getattr(leaf, "shape", ()), jax.numpy.result_type(leaf)
    cause = (f"{text} is {'a number' if is_number else 'an array'} of {dtype}{at_line(place)}, and the gradient is "
             f"asked for by {'all of ' if path else ''}{name}: what has no fractions has none")
    reads = list(_reads(file, path[-1].key)) if path and hasattr(path[-1], "key") else []
    if is_number and isinstance(owner, ast.Dict) and node is not None and not any(map(_is_weight, reads)):
        out = taken_out(file, owner, node, reads)
        return Remark(cause, place, f"take it out of {name}: it is no parameter" + (
            f", and {ast.unparse(node)} stands where it is read" if reads and out else ""), out)
    if node is None:
        return Remark(cause, place, "make it of floats, or leave it out of what is differentiated")
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return Remark(cause, place, f"{float(node.value)} for {node.value!r}", replaced(
            file, node, str(float(node.value))))
    return Remark(cause, place, f"make it of floats: .astype({spelled(file, 'jax.numpy.float32')})", replaced(
        file, node, _as_floats(file, node, is_number)))


def _of_collections(file: str, line: int, name: str, key: str, number: int) -> Remark:
    """Of a layer's variables of several kinds: only its parameters are to be differentiated by."""
    place, params = place_on(file, line), f"{name}['params']"
    return Remark(f"the gradient is asked for by all of {name}{at_line(place)}, and {name}[{key!r}] has integers in it,"
                  " which have no gradient", place, f"differentiate by {params} alone: lambda params, *rest: "
                  f"loss({{**{name}, 'params': params}}, *rest), of {params}",
                  _by_parameters(file, line, name) if not number else {})


def _by_parameters(file: str, line: int, name: str) -> NewLines:
    """The call that asks, of the parameters alone, and their gradients where they are read; {} if these are not all."""
    asked = on_lines(file).get(line)
    call = asked.value if isinstance(asked, ast.Assign) else None
    if not isinstance(asked, ast.Assign) or not isinstance(call, ast.Call) or not isinstance(
            make := call.func, ast.Call) or not make.args or not ast.unparse(make.func).endswith("grad"):
        return {}
    target = asked.targets[0]
    found = target.elts[-1] if isinstance(target, ast.Tuple) and "value" in ast.unparse(make.func) else target
    slopes = ast.unparse(found)
    reads = [(node, around) for around in nodes_in(file) for node in ast.iter_child_nodes(around)
             if isinstance(node, ast.Name) and node.id == slopes and isinstance(node.ctx, ast.Load)]
    parts = [around for _, around in reads if isinstance(around, ast.Subscript) and isinstance(
        around.slice, ast.Constant) and around.slice.value == "params"]
    if len(parts) < len(reads) or len({node.lineno for node in parts} - {line}) < len(parts):
        return {}
    function, rest = ast.unparse(make.args[0]), [*map(ast.unparse, [*make.args[1:], *make.keywords])]
    by = f"lambda params, *rest: {function}({{**{name}, 'params': params}}, *rest)"
    given = [f"{name}['params']", *map(ast.unparse, [*call.args[1:], *call.keywords])]
    lines = replaced(file, call, f"{ast.unparse(make.func)}({', '.join([by, *rest])})({', '.join(given)})")
    for node in parts if lines else ():
        lines |= replaced(file, node, slopes)
    return lines


def _as_floats(file: str, node: ast.expr, is_number: bool) -> str:
    whole = "{}" if isinstance(node, (ast.Name, ast.Call, ast.Attribute, ast.Subscript)) else "({})"
    if is_number and isinstance(node, ast.Name):
        return "float({})"
    return f"{whole}.astype({spelled(file, 'jax.numpy.float32')})"


def _element(file: str, name: str, path: Any) -> tuple[ast.expr | None, ast.expr | None]:
    """The expression of a leaf, and the dict, list or tuple that it is written in; None where they are not known."""
    statement = on_lines(file).get(line_of_name(file, name))
    node: Any = getattr(statement, "value", None)
    targets = getattr(statement, "targets", [])
    if not path:
        return (node if len(targets) == 1 and isinstance(targets[0], ast.Name) else None), None
    key = getattr(path[-1], "key", None)
    if isinstance(key, str) and parsed(file) is not None:
        found: list[tuple[ast.expr, ast.expr]] = [(value, each) for each in nodes_in(file) if isinstance(each, ast.Dict)
                 for k, value in zip(each.keys, each.values) if isinstance(k, ast.Constant) and k.value == key]
        found += [(word.value, each) for each in nodes_in(file) if isinstance(each, ast.Call)
                  and ast.unparse(each.func) == "dict" for word in each.keywords if word.arg == key]
        found += [(each.value, each.targets[0]) for each in nodes_in(file) if isinstance(each, ast.Assign)
                  and isinstance(each.targets[0], ast.Subscript) and isinstance(index := each.targets[0].slice,
                                                                                ast.Constant) and index.value == key]
        return found[0] if len(found) == 1 else (None, None)
    owner = None
    for part in path:
        at = getattr(part, "idx", None)
        if not isinstance(node, (ast.List, ast.Tuple)) or at is None or at >= len(node.elts):
            return None, None
        owner, node = node, node.elts[at]
    return node, owner


def _reads(file: str, key: Any) -> Iterator[tuple[ast.Subscript, ast.AST]]:
    """Where an entry is read, and what around it takes it."""
    for around in nodes_in(file):
        for node in ast.iter_child_nodes(around):
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and isinstance(
                    node.slice, ast.Constant) and node.slice.value == key:
                yield node, around


def _is_weight(read: tuple[ast.Subscript, ast.AST]) -> bool:
    """Whether it is used in arithmetic, as parameters are, and not for a size or a count."""
    return isinstance(read[1], ast.BinOp) and isinstance(read[1].op, _ARITHMETIC)


def taken_out(file: str, owner: ast.Dict, node: ast.expr, reads: list[tuple[ast.Subscript, ast.AST]]) -> NewLines:
    """A dict without an entry, whose value stands where it was read; {} where that has no name there."""
    number = owner.values.index(node)
    key = owner.keys[number]
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    tree = parsed(file)
    outside = {name for each in getattr(tree, "body", ()) if isinstance(each, ast.Assign)
               for name in (n.id for t in each.targets for n in ast.walk(t) if isinstance(n, ast.Name))}
    if key is None or reads and not names <= outside or key.lineno != node.end_lineno:
        return {}
    line, old = key.lineno, text_on(file, key.lineno).encode()
    before, rest = old[:key.col_offset].decode(), old[node.end_col_offset or 0:].decode()
    if rest.lstrip().startswith(","):
        new = before + rest.lstrip()[1:].lstrip()
    else:
        new = before.rstrip().removesuffix(",") + rest
    lines: NewLines = {(file, line): new if new.strip() else ""}
    for read, _ in reads:
        if read.lineno == line or (file, read.lineno) in lines:
            return {}
        lines |= replaced(file, read, part_of(file, node))
    return lines
