"""Predictions by a threshold in a loss: the lines that give the loss what is compared, and keep the rest as it is."""
from __future__ import annotations

import ast
from typing import NamedTuple

from ..debug.analysis.scripts.parsed import Parsed
from .new_lines import NewLines, is_alone, last_name, nodes_on, part_of, replaced
from .script_lines import assigned_on, holding, on_lines, read_by

_CASTS = ("float", "double", "half", "int", "long", "to", "type", "astype")
_TESTS = {"gt", "ge", "lt", "le"}


class Ungated(NamedTuple):
    """What is compared, as it stands there; and the lines, {} where they are not surely known."""

    scores: str
    lines: NewLines


def ungated(file: str, line: int, backward: int) -> Ungated | None:
    """Of what is compared on a line, for a loss that is differentiated on another; None if nothing surely is."""
    found = [(node, side) for node in nodes_on(file, line) if (side := _compared(node)) is not None]
    if len(found) != 1 or found[0][1].lineno != found[0][1].end_lineno:
        return None
    (test, side), statement = found[0], on_lines(file)[line]
    whole = _cast(statement, test)
    scores, names = part_of(file, side), assigned_on(file, line)
    if not (isinstance(statement, ast.Assign) and statement.value is whole and len(names) == 1):
        return Ungated(scores, replaced(file, whole, scores))
    if holding(file, line)[-1:] != holding(file, backward)[-1:]:  # what a model gives
        return Ungated(scores, replaced(file, whole, scores))
    uses = _uses(file, names[0], line, backward)
    if not uses or not is_alone(file, statement):
        return Ungated(scores, {})
    new, lines = scores, NewLines()
    if not isinstance(side, ast.Name):
        new = Parsed.of_file(file).new_name("scores")
        lines = {at: f"{' ' * statement.col_offset}{new} = {scores}\n{text}"
                 for at, text in replaced(file, side, new).items()}
    for use in uses:
        if (at := replaced(file, use, new)).keys() & lines.keys():
            return Ungated(scores, {})
        lines |= at
    return Ungated(scores, lines)


def unchosen(file: str, line: int, backward: int) -> Ungated | None:
    """Of an argmax on a line: the logits that it is of, in its place in the cross entropy that is differentiated on
    another; None if that is not surely known."""
    names, calls = assigned_on(file, line), [n for n in nodes_on(file, line) if isinstance(n, ast.Call)]
    chosen = [_argument(call) for call in calls if last_name(call.func) == "argmax"]
    logits = chosen[0] if len(chosen) == 1 else None
    while isinstance(logits, ast.Call) and last_name(logits.func) in ("softmax", "log_softmax"):
        logits = _argument(logits)
    if not isinstance(logits, ast.Name) or len(names) != 1:
        return None
    lines, entropies = NewLines(), {name for at, node in on_lines(file).items() if "CrossEntropyLoss(" in ast.unparse(
        node) and isinstance(node, ast.Assign) for name in map(ast.unparse, node.targets)}
    for use in _uses(file, names[0], line, backward):
        call = next((n for n in nodes_on(file, use.lineno) if isinstance(n, ast.Call) and n.args[:1] == [use]), None)
        if call is None or len(call.args) != 2 or not (ast.unparse(call.func) in entropies or last_name(
                call.func) == "cross_entropy"):
            return None
        target = call.args[1]
        while isinstance(target, ast.Call) and isinstance(target.func, ast.Attribute) and target.func.attr in _CASTS:
            target = target.func.value
        for node, text in ((call.args[1], ast.unparse(target)), (use, logits.id)):  # the last one first: it moves
            old = lines.get((file, use.lineno))
            lines |= replaced(file, node, text) if old is None else {(file, use.lineno): "".join((
                old[:use.col_offset], text, old[use.end_col_offset:]))}
    return Ungated(logits.id, lines) if lines else None


def _argument(call: ast.Call) -> ast.expr | None:
    """What a method, or a function of torch's, is of."""
    of = call.func.value if isinstance(call.func, ast.Attribute) else None
    is_function = of is None or ast.unparse(of) in ("torch", "F", "torch.nn.functional", "nn.functional")
    return (call.args[0] if call.args else None) if is_function else of


def _compared(node: ast.AST) -> ast.expr | None:
    """What is compared with a number; None of all else."""
    if isinstance(node, ast.Compare) and isinstance(node.comparators[0], ast.Constant) and len(node.ops) == 1:
        return node.left
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _TESTS:
        given = [*([] if ast.unparse(node.func.value) == "torch" else [node.func.value]), *node.args]
        return given[0] if len(given) == 2 and isinstance(given[1], ast.Constant) else None
    return None


def _cast(statement: ast.stmt, node: ast.AST) -> ast.AST:
    """A test, with the casts that are made of it."""
    for each in ast.walk(statement):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in _CASTS and (
                each.func.value is node):
            return _cast(statement, each)
    return node


def _uses(file: str, name: str, line: int, backward: int) -> list[ast.Name]:
    """Where the loss is made of a name, in the lines up to its backward()."""
    wanted = {node.id for call in nodes_on(file, backward) if isinstance(call, ast.Attribute)
              and call.attr == "backward" for node in ast.walk(call.value) if isinstance(node, ast.Name)}
    found: list[ast.Name] = []
    for at in range(backward - (backward > line), line, -1):
        statement = on_lines(file).get(at)
        if statement is not None and statement.lineno == at and wanted & {*assigned_on(file, at)}:
            found += [node for node in ast.walk(statement) if isinstance(node, ast.Name) and node.id == name]
            wanted |= read_by(statement) - {name}
    return found
