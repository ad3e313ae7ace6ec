"""What a script's batches are taken from: the name of the whole data, by its text."""
from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from ..new_calls import calls_on, with_word
from ..new_lines import NewLines, last_name, text_on
from ..script_lines import assigned_on, loops_around, on_lines, parsed

_CASTS = ("float", "double", "to", "type")
_SAME = (*_CASTS, "cuda", "cpu", "view", "reshape", "flatten", "unsqueeze", "squeeze", "contiguous", "clone")
_DEEP = 6  # names from a batch to the data


def source_of_batches(file: str, name: str) -> tuple[str, bool]:
    """The name of the data that a batch's rows come of, itself if it is none; whether they are cast on the way."""
    tree, is_cast = parsed(file), False
    for _ in range(_DEEP * (tree is not None)):
        found = [each for node in ast.walk(tree) for each in _given(tree, node, name)]  # type: ignore[arg-type]
        sources = {_base(value) for value in found if isinstance(value, ast.expr)}
        source = sources.pop() if len(sources) == 1 else None
        if source is None or source[0] == name or not all(loops_around(file, value.lineno) or isinstance(
                value, ast.Subscript) for value in found):
            break
        name, is_cast = source[0], is_cast or source[1]
    return name, is_cast


def given_on(file: str, line: int) -> str:
    """The data that a line takes rows of for a model, `net(x[i])`; "" if it is none, or several."""
    names = {call.args[0].value.id for call in calls_on(file, line) if isinstance(call.func, (ast.Name, ast.Attribute))
             and len(call.args) == 1 and isinstance(call.args[0], ast.Subscript)
             and isinstance(call.args[0].value, ast.Name)}
    return names.pop() if len(names) == 1 else ""


def _given(tree: ast.Module, node: ast.AST, name: str) -> Iterator[ast.expr]:
    """The expressions that a statement gives to a name; of a loop, as of its body."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _parted(target, node.value, name)
    elif isinstance(node, ast.For):
        target, iterated = node.target, node.iter
        if isinstance(iterated, ast.Call) and last_name(iterated.func) == "enumerate" and iterated.args and isinstance(
                target, ast.Tuple) and len(target.elts) == 2:
            target, iterated = target.elts[1], iterated.args[0]
        data = _data_of(tree, iterated)
        for i, part in enumerate(target.elts if isinstance(target, ast.Tuple) else []):
            if isinstance(part, ast.Name) and part.id == name and i < len(data):
                yield ast.copy_location(ast.parse(ast.unparse(data[i]), mode="eval").body, node.body[0])


def _parted(target: ast.expr, value: ast.expr, name: str) -> Iterator[ast.expr]:
    if isinstance(target, ast.Name) and target.id == name:
        yield value
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for each, part in zip(target.elts, value.elts):
            yield from _parted(each, part, name)


def _data_of(tree: ast.Module, node: ast.expr) -> list[ast.expr]:
    """The tensors of a TensorDataset behind a loader; [] of anything else."""
    for _ in range(_DEEP):
        if isinstance(node, ast.Call) and last_name(node.func) == "TensorDataset":
            return node.args
        if isinstance(node, ast.Call) and last_name(node.func) == "DataLoader" and node.args:
            node = node.args[0]
        elif isinstance(node, ast.Name):
            made = [each.value for each in ast.walk(tree) if isinstance(each, ast.Assign) and any(
                ast.unparse(target) == node.id for target in each.targets)]
            if len(made) != 1:
                return []
            node = made[0]
        else:
            return []
    return []


def _base(value: ast.expr) -> tuple[str, bool] | None:
    """The name that an expression takes rows of, and whether it casts them."""
    is_cast = False
    while not isinstance(value, ast.Name):
        if isinstance(value, ast.Subscript) and not isinstance(value.slice, (ast.Tuple, ast.Constant)):
            value = value.value
        elif isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _SAME:
            is_cast, value = is_cast or value.func.attr in _CASTS, value.func.value
        elif isinstance(value, ast.Call) and last_name(value.func) in ("from_numpy", "as_tensor") and value.args:
            value = value.args[0]
        else:
            return None
    return value.id, is_cast


def whole_batches(frames: Sequence[tuple[Any, int]]) -> NewLines:
    """drop_last=True in the loader that a loop of these frames is over; in the one that shuffles, where none is."""
    for file, looped in [(frame.f_code.co_filename, ast.unparse(each.iter)) for frame, line in frames for each in
                         loops_around(frame.f_code.co_filename, line) if isinstance(each, ast.For)]:
        made = [at for at in on_lines(file) if "DataLoader(" in text_on(file, at)]
        own = [at for at in made if any(name in looped for name in assigned_on(file, at))] or [
            at for at in made if "shuffle=True" in text_on(file, at)]
        if len(own) == 1:
            return with_word(file, own[0], "DataLoader", "drop_last", "True")
    return {}
