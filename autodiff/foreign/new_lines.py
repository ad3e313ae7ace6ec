"""What the remedy of an error is in the script's text: lines, by their numbers, and what is to stand there.

{} where it is not surely known. Each function changes one line of a file.
"""
from __future__ import annotations

import ast
from collections.abc import Iterator

from ..core.site import source_lines
from ..debug.analysis.scripts.parsed import LOOSE
from .script_lines import beside, holding, on_lines

NewLines = dict[tuple[str, int], str]  # by file and number


def before(file: str, line: int, text: str) -> NewLines:
    """A statement of its own in front of that on a line."""
    node = on_lines(file).get(line)
    line = line if node is None else node.lineno
    old = text_on(file, line)
    return {(file, line): old[:len(old) - len(old.lstrip())] + f"{text}\n{old}"}


def after(file: str, line: int, text: str) -> NewLines:
    """A statement of its own behind that on a line; {} where others stand beside it."""
    node = on_lines(file).get(line)
    if node is None or not is_alone(file, node):
        return {}
    end = node.end_lineno or line
    return {(file, end): f"{text_on(file, end)}\n{' ' * node.col_offset}{text}"}


def moved(file: str, line: int, to: NewLines) -> NewLines:
    """Without the statement on a line, which stands elsewhere then; {} where it is not alone on one line."""
    node = on_lines(file).get(line)
    is_whole = node is not None and node.lineno == node.end_lineno and is_alone(file, node)
    return {(file, line): "", **to} if is_whole and to else {}


def out_of_place(file: str, line: int) -> NewLines:
    """A new tensor in place of a change of an old one: `x += y`, `x.mul_(y)`, `x[0] = y`, inplace=True."""
    for node in nodes_on(file, line):
        if isinstance(node, ast.AugAssign) and isinstance(node.target, (ast.Name, ast.Attribute)):
            return replaced(file, node, f"{ast.unparse(node.target)} = "
                             f"{ast.unparse(ast.BinOp(node.target, node.op, node.value))}")
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            return before(file, line, f"{(name := ast.unparse(node.value))} = {name}.clone()")
        if isinstance(node, ast.keyword) and node.arg == "inplace":
            return replaced(file, node, "inplace=False")
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(
                function := node.value.func, ast.Attribute) and function.attr.endswith("_"):
            name, arguments = ast.unparse(function.value), ", ".join(map(ast.unparse, node.value.args))
            return replaced(file, node, f"{name} = {name}.{function.attr[:-1]}({arguments})")
    return {}


def in_place(file: str, line: int) -> NewLines:
    """`w -= y` for `w = w - y` on a line, and on those beside it in the same block."""
    alike = {at: (node, ast.AugAssign(node.targets[0], made.op, made.right))  # type: ignore[arg-type]
             for at, node in on_lines(file).items() if isinstance(node, ast.Assign) and isinstance(
                 made := node.value, ast.BinOp) and ast.unparse(made.left) == ast.unparse(node.targets[0])}
    changed = [alike[at] for at in alike if line in alike and holding(file, at)[-1:] == holding(file, line)[-1:]]
    return {at: text for node, new in changed for at, text in replaced(file, node, ast.unparse(new)).items()}


def without_recording(file: str, line: int) -> NewLines:
    """A statement, and those after it that change names in place, as ones of no_grad."""
    found: NewLines = {}
    while (node := on_lines(file).get(line)) is not None and (not found or isinstance(node, ast.AugAssign)):
        found |= replaced(file, node, "with torch.no_grad(): {}")
        line += 1
    return found


def value(file: str, line: int, new: str) -> NewLines:
    """Another text, with {} for what it was, for what a name is given on a line."""
    node = getattr(on_lines(file).get(line), "value", None)
    return replaced(file, node, new) if node is not None else {}


def first_of(file: str, line: int, method: str, added: str) -> NewLines:
    """Another method called before one."""
    for node in all_on(file, line):
        if isinstance(node, ast.Attribute) and node.attr == method:
            found = replaced(file, node, "{}")
            return {at: text.replace(f".{method}(", f".{added}.{method}(", 1) for at, text in found.items()}
    return {}


def scaled_inside(file: str, line: int) -> NewLines:
    """`nn.Parameter(x * c)` for `nn.Parameter(x) * c`, which is none; {} where none is so made on the line."""
    statement = on_lines(file).get(line)
    if not isinstance(statement, ast.Assign):
        return {}
    whole = statement.value
    calls = [node for node in ast.walk(whole) if isinstance(node, ast.Call) and last_name(node.func) == "Parameter"]
    if len(calls) != 1 or calls[0] is whole or len(calls[0].args) != 1 or _is_argument(calls[0], whole):
        return {}
    inside = calls[0].args[0]
    text, given = ast.unparse(whole), ast.unparse(calls[0])
    first = f"({ast.unparse(inside)})" if isinstance(inside, (ast.BinOp, ast.UnaryOp)) else ast.unparse(inside)
    options = "".join(f", {ast.unparse(word)}" for word in calls[0].keywords)
    return value(file, line, f"{ast.unparse(calls[0].func)}({text.replace(given, first, 1)}{options})")


def _is_argument(call: ast.Call, whole: ast.expr) -> bool:
    """Whether a call is given to another, as to a module that keeps it, or kept in a list."""
    kept = (ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.DictComp, ast.Lambda)
    return any(isinstance(node, kept) or isinstance(node, ast.Call) and call in (
        *node.args, *(word.value for word in node.keywords)) for node in ast.walk(whole))


def last_name(function: ast.expr) -> str:
    """What is called, without what it belongs to."""
    return ast.unparse(function).rpartition(".")[2]


def is_alone(file: str, node: ast.stmt) -> bool:
    """Whether nothing else than a comment stands on a statement's lines."""
    rest = text_on(file, node.end_lineno or node.lineno).encode()[node.end_col_offset or 0:].strip()
    return not text_on(file, node.lineno)[:node.col_offset].strip() and (not rest or rest.startswith(b"#"))


def nodes_on(file: str, line: int) -> Iterator[ast.AST]:
    """The parts of the statement on a line, outer ones first."""
    statement = on_lines(file).get(line)
    return ast.walk(statement) if statement is not None else iter(())


def all_on(file: str, line: int) -> Iterator[ast.AST]:
    """The parts of all statements on a line, those of the last first."""
    last = on_lines(file).get(line)
    others = [node for node in beside(file, line) if node is not last]
    return (part for node in [last, *others] if node is not None for part in ast.walk(node))


def text_on(file: str, line: int) -> str:
    """A line without its end."""
    return source_lines(file)[line - 1].rstrip("\n")


def part_of(file: str, node: ast.AST) -> str:
    """The text of a node that stands on one line."""
    at, start, stop = (getattr(node, name) for name in ("lineno", "col_offset", "end_col_offset"))
    return text_on(file, at).encode()[start:stop].decode()


def replaced(file: str, node: ast.AST, new: str) -> NewLines:
    """A line with another text for a node, {} in it for what it was; {} where that is not on one line.

    What binds less than the attribute or element that comes behind it is put in parentheses.
    """
    at, end = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
    if not at or at != end:
        return {}
    old = text_on(file, at).encode()
    start, stop = node.col_offset, node.end_col_offset  # type: ignore[attr-defined]
    was = old[start:stop].decode()
    was = f"({was})" if new.startswith(("{}.", "{}[")) and isinstance(node, LOOSE) else was
    return {(file, at): old[:start].decode() + new.replace("{}", was) + old[stop:].decode()}
