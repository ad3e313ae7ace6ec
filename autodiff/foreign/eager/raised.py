"""Errors of eager scripts that come of a tape: what it did not see, and the lines by which it does."""
from __future__ import annotations

import ast
from collections.abc import Iterator

from ...core.site import Site
from ...debug.analysis.advice import Remark
from ...debug.facts.roles import place_on
from ..new_lines import NewLines, nodes_on, part_of, replaced, text_on
from ..script_lines import assigned_on, holding, nodes_in, on_lines, read_by


def remark_on(said: str, asked: Site | None, watched: bool) -> Remark | None:
    """Cause and remedy of an error; None where no tape is to blame. asked: where a gradient was asked for last.

    watched: whether all that it was asked by was a variable.
    """
    is_again = "once on non-persistent" in said
    tape = _tape(asked) if asked is not None and (is_again or "NoneType" in said or "No gradients provided" in said
                                                  or "None values not supported" in said) else None
    if asked is None or tape is None:
        return None
    block, name, made, call = tape
    file = asked.file
    if is_again:
        new = f"{part_of(file, made.func)}(persistent=True)"
        lines = {} if made.args or made.keywords else replaced(file, made, new)
        return _told("gradient was called on this tape before, which keeps its operations for one call", file,
                     made.lineno, "tf.GradientTape(persistent=True)", lines)
    inside = range(block.lineno, (block.end_lineno or 0) + 1)
    target = call.args[0].id if call.args and isinstance(call.args[0], ast.Name) else ""
    made_at = [line for line in on_lines(file) if line < asked.line and target in assigned_on(file, line)]
    if made_at and max(made_at) > inside[-1]:
        indent = " " * (block.body[0].col_offset - block.col_offset)
        moved = {(file, line): indent + text_on(file, line) for line in range(inside[-1] + 1, asked.line)}
        return _told(f"{target} is computed after the with of the tape, which does not see it", file, max(made_at),
                     f"compute {target} inside of the with of the tape", moved)
    for node in (node for line in inside[1:] for node in nodes_on(file, line)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "numpy":
            whole = part_of(file, node.func.value)
            whole = f"({whole})" if isinstance(node.func.value, (ast.BinOp, ast.UnaryOp)) else whole
            return _told("numpy() takes the numbers of a tensor, and the tape follows tensors only", file, node.lineno,
                         "leave out .numpy() inside of the tape", replaced(file, node, whole))
    sources = [part.id for each in call.args[1:2] for part in ast.walk(each) if isinstance(part, ast.Name)]
    remade = {name: list(_remade(file, name)) for name in sources if _is_variable(file, name)}
    if any(remade.values()):
        first = next(name for name in remade if remade[name])
        changed = {at: text for found in remade.values() for _, new in found for at, text in new.items()}
        return _told(f"{first} is a tensor from there on, no variable any more, and the tape does not watch it", file,
                     remade[first][0][0], f"{first}.assign_sub(…), which changes the variable", changed)
    if not watched and sources:
        begin = block.body[0]
        pad = " " * begin.col_offset
        watches = "\n".join(f"{pad}{name}.watch({each})" for each in sources)
        return _told(f"the tape does not watch {', '.join(sources)}: by itself it watches variables only", file,
                     block.lineno, f"{name}.watch({sources[0]}) before it is used",
                     {(file, begin.lineno): f"{watches}\n{text_on(file, begin.lineno)}"})
    return None


def _told(text: str, file: str, line: int, remedy: str, lines: NewLines) -> Remark:
    return Remark(text, place_on(file, line), remedy, lines)


def _tape(asked: Site) -> tuple[ast.With, str, ast.Call, ast.Call] | None:
    """The with that a gradient was asked of the tape of, the tape's name, how it was made, and the asking."""
    for call in nodes_on(asked.file, asked.line):
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "gradient"):
            continue
        for block in _withs(asked):
            for item in block.items:
                named = isinstance(item.optional_vars, ast.Name) and ast.unparse(call.func.value)
                if named == getattr(item.optional_vars, "id", None) and isinstance(item.context_expr, ast.Call):
                    return block, str(named), item.context_expr, call
    return None


def _withs(asked: Site) -> Iterator[ast.With]:
    """Those before a line, the nearest first."""
    found = {id(node): node for line in on_lines(asked.file) if line < asked.line for node in holding(
        asked.file, line) if isinstance(node, ast.With)}
    yield from sorted(found.values(), key=lambda node: -node.lineno)


def _is_variable(file: str, name: str) -> bool:
    """Whether a name is given a variable somewhere."""
    return any(isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and ast.unparse(
        node.value.func).endswith(("Variable", "get_variable")) and name in {ast.unparse(each) for each in node.targets}
               for node in nodes_in(file))


def _remade(file: str, name: str) -> Iterator[tuple[int, NewLines]]:
    """Lines `w = w - x`, and what they are to be."""
    for line, statement in on_lines(file).items():
        value = getattr(statement, "value", None)
        if isinstance(statement, ast.Assign) and assigned_on(file, line) == [name] and name in read_by(statement) and (
                isinstance(value, ast.BinOp) and isinstance(value.left, ast.Name) and value.left.id == name):
            how = {ast.Sub: "assign_sub", ast.Add: "assign_add"}.get(type(value.op))
            if how is not None:
                yield line, replaced(file, statement, f"{name}.{how}({part_of(file, value.right)})")
