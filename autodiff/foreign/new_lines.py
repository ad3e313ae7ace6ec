"""What the remedy of an error is in the script's text: lines, by their numbers, and what is to stand there.

{} where it is not surely known. Each function changes one line of a file.
"""
from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Generic, NamedTuple, TypeVar

from ..core.site import Site, source_lines
from ..debug.analysis.findings import Finding
from ..debug.analysis.scripts.parsed import LOOSE
from .script_lines import assigned_on, beside, holding, nodes_in, on_lines, parsed, read_by

NewLines = dict[tuple[str, int], str]  # by file and number

_Known = TypeVar("_Known")
_SQUARING = ("square", "pow", "abs", "norm")


class At(NamedTuple, Generic[_Known]):
    """A finding, its line, and what else is known of the script."""

    finding: Finding
    file: str
    line: int
    known: _Known


Rules = Mapping[str, Callable[[At[_Known]], Iterator[NewLines]]]  # by the kinds of findings


def written_by(rules: Rules[_Known], finding: Finding, known: _Known) -> NewLines:
    """The script's lines as the remedy of a finding has them: the first that the rule of its kind gives."""
    rule, place = rules.get(finding.kind), finding.place
    found = rule(At(finding, place.file, place.line, known)) if rule is not None and place is not None else ()
    return next(filter(None, found), {})


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


def between_steps(file: str, line: int, site: Site | None, put: Callable[[str, int, str], NewLines]) -> NewLines:
    """The statement on a line, with the `if` that it alone stands under, before or after that of the same function."""
    node, around, lines = on_lines(file).get(line), holding(file, line), [line]
    if node is None or site is None or site.file != file or node.lineno != node.end_lineno or not is_alone(file, node):
        return {}
    text, outer = ast.unparse(node), around[-1] if around else None
    if isinstance(outer, ast.If) and outer.body == [node] and not outer.orelse:
        lines, text, around = [outer.lineno, line], f"if {ast.unparse(outer.test)}: {text}", around[:-1]
    to = put(file, site.line, text) if holding(file, site.line)[-1:] == around[-1:] else {}
    return {**{(file, each): "" for each in lines}, **to} if to else {}


def made_before(file: str, line: int, late: int, *, is_around: bool = False) -> Iterator[NewLines]:
    """An optimizer that has what a later line makes: it comes after that, or that before it, or is given it there.

    is_around: these lines call what makes one of both."""
    statement, layer = on_lines(file).get(line), on_lines(file).get(late)
    if not (isinstance(statement, ast.Assign) and isinstance(layer, (ast.Assign, ast.Expr))) or (
            layer.col_offset != statement.col_offset or holding(file, line)[-1:] != holding(file, late)[-1:]):
        return
    name, end = ast.unparse(statement.targets[0]), layer.end_lineno or late
    made = ast.unparse(layer.targets[0]) if isinstance(layer, ast.Assign) else ""
    names = {ast.unparse(each) for each in getattr(statement.targets[0], "elts", statement.targets)}
    between = [node for at, node in on_lines(file).items() if (statement.end_lineno or line) < at <= end]
    called = {last_name(node.func) for node in ast.walk(layer) if isinstance(node, ast.Call)}
    inside = [node for node in nodes_in(file) if isinstance(node, ast.FunctionDef) and node.name in called]
    if any(_names(node) & names for node in inside):
        return
    if not any(_names(node) & names for node in between):
        yield moved(file, line, after(file, late, text_on(file, line).strip()))
    others = [node for node in between if node is not layer]
    read = read_by(layer)
    given = {each for node in others for each in (*read_by(node), *assigned_on(file, node.lineno))}
    if name not in read and not (read | {made.partition(".")[0]}) & given:  # nothing of it is used, or changed, there
        yield moved(file, late, before(file, line, ast.unparse(layer)))
    if is_around or not made:
        return
    parts = f"{made}.parameters()"
    told = [(key, to) for node in ast.walk(statement.value) if isinstance(node, ast.Dict)
            and parts in map(ast.unparse, node.values) for key, to in zip(node.keys, node.values)]
    group = "".join(f", {ast.unparse(key)}: {ast.unparse(to)}" for key, to in told if key and ast.unparse(to) != parts)
    yield after(file, late, f'{name}.add_param_group({{"params": {parts}{group}}})')


def _names(statement: ast.AST) -> set[str]:
    """The names, and attributes with what they are of, in it."""
    return {ast.unparse(node) for node in ast.walk(statement) if isinstance(node, (ast.Name, ast.Attribute))}


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
    return _around(file, node, new) if node is not None else {}


def listed(file: str, line: int, kind: str) -> NewLines:
    """`kind` around what a name is given on a line, and around lists that are appended to it."""
    statement = on_lines(file).get(line)
    name = ast.unparse(statement.targets[0]) if isinstance(statement, ast.Assign) else ""
    inner = [node.args[0] for node in nodes_in(file) if isinstance(node, ast.Call) and node.args and ast.unparse(
        node.func) == f"{name}.append" and isinstance(node.args[0], (ast.List, ast.Tuple))]
    found = [value(file, line, f"{kind}({{}})"), *(_around(file, node, f"{kind}({{}})") for node in inner)]
    return {at: text for each in found for at, text in each.items()} if all(found) else {}


def _around(file: str, node: ast.expr, new: str) -> NewLines:
    """As `replaced`, of a node that may span lines: then new stands before and after it."""
    last, end = node.end_lineno or node.lineno, node.end_col_offset or 0
    if last == node.lineno:
        return replaced(file, node, new)
    first, closing = text_on(file, node.lineno), text_on(file, last)
    before, _, after = new.partition("{}")
    return {(file, node.lineno): first[:node.col_offset] + before + first[node.col_offset:],
            (file, last): closing[:end] + after + closing[end:]} if (first + closing).isascii() else {}  # bytes count


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
    first = tight(inside, ast.unparse(inside))
    options = "".join(f", {ast.unparse(word)}" for word in calls[0].keywords)
    return value(file, line, f"{ast.unparse(calls[0].func)}({text.replace(given, first, 1)}{options})")


def _is_argument(call: ast.Call, whole: ast.expr) -> bool:
    """Whether a call is given to another, as to a module that keeps it, or kept in a list."""
    kept = (ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.DictComp, ast.Lambda)
    return any(isinstance(node, kept) or isinstance(node, ast.Call) and call in (
        *node.args, *(word.value for word in node.keywords)) for node in ast.walk(whole))


def squared_first(file: str, line: int) -> NewLines:
    """The mean of squares for the square, size or norm of a mean, or sum, on a line, or of a name that is only that."""
    found = []
    for node in nodes_on(file, line):
        is_power = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow)
        if not is_power and not (isinstance(node, ast.Call) and last_name(node.func) in _SQUARING):
            continue
        inner = node.left if isinstance(node, ast.BinOp) else _first_of(file, node)  # type: ignore[arg-type]
        made = [each.value for at, each in on_lines(file).items() if isinstance(each, ast.Assign) and at < line
                and ast.unparse(each.targets[0]) == ast.unparse(inner)] if isinstance(inner, ast.Name) else [inner]
        for mean in made[-1:]:
            if isinstance(mean, ast.Call) and last_name(mean.func) in ("mean", "sum"):
                source = _first_of(file, mean)
                given = ", ".join(map(ast.unparse, [*mean.args[source in mean.args:], *mean.keywords]))
                squared = f"{tight(source, ast.unparse(source))} ** 2"
                found.append((node, f"({squared}).{last_name(mean.func)}({given})"))
    return replaced(file, *found[0]) if len(found) == 1 else {}


def _first_of(file: str, call: ast.Call) -> ast.expr:
    """What a function or method is called of."""
    imported = {(each.asname or each.name).partition(".")[0] for node in ast.walk(parsed(file) or ast.Module([], []))
                if isinstance(node, (ast.Import, ast.ImportFrom)) for each in node.names}
    owner = call.func.value if isinstance(call.func, ast.Attribute) else call.args[0]
    return call.args[0] if call.args and ast.unparse(owner).partition(".")[0] in imported else owner


def last_name(function: ast.expr) -> str:
    """What is called, without what it belongs to."""
    return ast.unparse(function).rpartition(".")[2]


def tight(node: ast.expr, text: str = "{}") -> str:
    """The text of an expression, as an operator or method may stand beside it: in brackets where it binds less."""
    return f"({text})" if isinstance(node, LOOSE) else text


def is_alone(file: str, node: ast.stmt) -> bool:
    """Whether nothing else than a comment stands on a statement's lines."""
    rest = text_on(file, node.end_lineno or node.lineno).encode()[node.end_col_offset or 0:].strip()
    return not text_on(file, node.lineno)[:node.col_offset].strip() and (not rest or rest.startswith(b"#"))


def nodes_on(file: str, line: int) -> Iterator[ast.AST]:
    """The parts of the statement on a line, outer ones first."""
    statement = on_lines(file).get(line)
    return ast.walk(statement) if statement is not None else iter(())


def returned_on(file: str, line: int) -> ast.expr | None:
    """The only expression on a line that a function, or lambda, gives."""
    found = [node.value if isinstance(node, ast.Return) else node.body for node in nodes_on(file, line)
             if isinstance(node, (ast.Return, ast.Lambda))]
    return found[0] if len(found) == 1 else None


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


def product_times(file: str, line: int, factor: str) -> NewLines:
    """The only product on a line, times one more factor."""
    found = [node for node in nodes_on(file, line) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)]
    inner = {id(part) for node in found for part in ast.walk(node) if part is not node}
    outer = [node for node in found if id(node) not in inner]
    return replaced(file, outer[0], f"{{}} * {factor}") if len(outer) == 1 and factor.startswith("(") else {}
