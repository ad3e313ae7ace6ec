"""Edits of the user's source: the expression that made an op is found and rewritten; all else stays as it is."""
from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ....core.errors import ArgumentError
from ....core.graph import Operation
from ....core.site import Span

_WRITTEN = {"Sum": ("reducesum",), "Mean": ("reducemean",), "Prod": ("reduceprod",),
            "RealDiv": ("div", "divide", "truediv"), "Pow": ("pow",),
            "Div": ("div", "divide"), "Select": ("where",), "SelectV2": ("where", "wherev2"), "Sqrt": ("sqrt", "norm")}
_OPERATORS = {"RealDiv": ast.Div, "Div": ast.Div, "TrueDiv": ast.Div, "Pow": ast.Pow}
_FIRST = ("x", "logits", "input", "input_tensor", "features", "tensor", "condition", "a")  # parameters that come first
_MODULES = ("tensorflow", "tensorflow.compat.v1", "autodiff")
_LOOPS = (ast.For, ast.While, ast.AsyncFor)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.Module)
_LOOSE = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Lambda, ast.NamedExpr, ast.Await)

_POSITIONS = {"learning_rate": slice(1), "momentum": slice(1, 2)}  # of an optimizer's arguments
_MINIMIZE = ("loss", "global_step", "var_list", "gate_gradients", "aggregation_method")
_APPLIED = ("global_step", "name")  # which apply_gradients takes

_PART = re.compile(r"\{(\d+)\}")
_ALONE = re.compile(r"(?:(?<=\()|(?<=, ))\{\d+\}(?=[),{])")  # no operator is next to it

Part = tuple[Operation, int | None]  # an operand of an op; None: the arguments that follow the first


@dataclass(frozen=True)
class Rewrite:
    """What is written anew. operand: which argument of `op`; None for the whole expression.

    template: with {tf} for the module, {0}, {1} … for the text of `parts`.
    """

    op: Operation
    operand: int | None
    template: str
    parts: tuple[Part, ...]


class LowerRate(NamedTuple):
    """A learning rate, or another argument of an optimizer, that is written as the number `rate`; what it becomes."""

    rate: float
    lower: float
    keyword: str = "learning_rate"


class ClipGradients(NamedTuple):
    """The gradients of the one `minimize`, clipped by their norm before they are applied."""

    norm: float


Line = Rewrite | LowerRate | ClipGradients


def rewritten(text: str, rewrites: Sequence[Line]) -> str:
    """A file's text with what is written anew in it. Raises ArgumentError where an expression is not surely found."""
    try:
        source = _Source(text)
    except (SyntaxError, ValueError) as error:
        raise ArgumentError(f"it is no Python now: {error}") from None
    changes = {_clipped(source, each) if isinstance(each, ClipGradients) else _lower(source, each) if isinstance(
        each, LowerRate) else _change(source, each) for each in rewrites}
    for at, (start, end, new) in enumerate(ordered := sorted(changes, reverse=True)):
        if at and end > ordered[at - 1][0]:
            raise ArgumentError("two edits of one expression")
        text = text[:start] + new + text[end:]
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        raise ArgumentError("the edit does not fit there") from None
    return text


def anew(text: str, rewrite: Rewrite) -> str:
    """The expression that made the op of a rewrite, as it is with it. text: the file's. Raises ArgumentError."""
    source = _Source(text)
    start, end, new = _change(source, rewrite)
    first, last = source.range(source.expression(rewrite.op))
    return text[min(first, start):start] + new + text[end:max(last, end)]


def _lower(source: "_Source", rewrite: LowerRate) -> tuple[int, int, str]:
    """In the one optimizer that has this rate."""
    found = []
    for call in ast.walk(source.tree):
        if isinstance(call, ast.Call) and _name(call.func).endswith("optimizer"):
            given = [*call.args[_POSITIONS.get(rewrite.keyword, slice(0))],
                     *(word.value for word in call.keywords if word.arg == rewrite.keyword)]
            found += [number for value in given for number in source.numbers(value, rewrite.rate)]
    if len(found) != 1:
        raise ArgumentError(f"the {rewrite.keyword} {rewrite.rate:g} is written in {len(found) or 'no'} places")
    return (*source.range(found[0]), f"{rewrite.lower:g}")


def _clipped(source: "_Source", rewrite: ClipGradients) -> tuple[int, int, str]:
    """The statement that calls minimize, with the gradients computed, clipped and applied one after the other."""
    calls = [node for node in ast.walk(source.tree) if isinstance(node, ast.Call)
             and isinstance(node.func, ast.Attribute) and node.func.attr == "minimize"]
    if len(calls) != 1 or any(isinstance(each, ast.Starred) for each in calls[0].args) or any(
            word.arg is None for word in calls[0].keywords):
        raise ArgumentError(f"minimize is called in {len(calls) or 'no'} places" if len(calls) != 1 else
                            "the arguments of minimize are not written one by one")
    call, = calls
    statement = source.statement(call)
    if not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Expr, ast.Return)):
        raise ArgumentError("minimize is called within another statement")
    assert isinstance(call.func, ast.Attribute)
    given = dict(zip(_MINIMIZE, call.args)) | {str(word.arg): word.value for word in call.keywords}
    texts = {name: source.text[slice(*source.range(node))] for name, node in given.items()}
    words = {late: "".join(f", {name}={text}" for name, text in texts.items()
                           if (name in _APPLIED) == late and name != "loss") for late in (False, True)}
    start, (begun, end) = source.range(statement)[0], source.range(call)
    before = source.text[source.text.rfind("\n", 0, start) + 1:start]
    made = source.text[slice(*source.range(call.func.value))]
    optimizer = made if isinstance(call.func.value, (ast.Name, ast.Attribute)) else "optimizer"
    lines = [*([f"optimizer = {made}"] if optimizer != made else ()),
             f"gradients, variables = zip(*{optimizer}.compute_gradients({texts.get('loss', '')}{words[False]}))",
             f"gradients, _ = {source.module()}.clip_by_global_norm(gradients, {rewrite.norm})",
             f"{source.text[start:begun]}{optimizer}.apply_gradients(zip(gradients, variables){words[True]})"]
    line_end = "\r\n" if "\r\n" in source.text else "\n"
    return start, end, ("; " if before.strip() else line_end + before).join(lines)


def _change(source: "_Source", rewrite: Rewrite) -> tuple[int, int, str]:
    """From where to where, and the new text."""
    node = source.expression(rewrite.op)
    is_norm = isinstance(node, ast.Call) and _name(node.func) == "norm"
    if is_norm and (rewrite.operand is None or _has_order(node)):
        raise ArgumentError("the norm is not a plain one")
    tf, texts = source.module(), []
    for op, number in rewrite.parts:
        where = source.expression(op)
        if not _within(where, node):
            source.check_alike(where if number is None else source.operand(where, op, number), node)
        texts.append([source.arguments(where, op, number, beside=beside and not is_norm) for beside in (False, True)])
    if is_norm:  # of which the root is a part that is not written
        squared = f"{tf}.reduce_sum({tf}.square({texts[0][0]}){source.arguments(node, rewrite.op, None)})"
        new = f"{tf}.sqrt({rewrite.template.format(squared, tf=tf)})"
        return (*source.range(node), new)
    alone = {found.start() for found in _ALONE.finditer(rewrite.template)}
    template = rewrite.template
    new = _PART.sub(lambda found: texts[int(found[1])][found.start() not in alone], template).replace("{tf}", tf)
    target = node if rewrite.operand is None else source.operand(node, rewrite.op, rewrite.operand)
    return (*source.range(target), new)


def _has_order(node: ast.expr) -> bool:
    return len(getattr(node, "args", ())) > 1 or any(word.arg == "ord" for word in getattr(node, "keywords", ()))


class _Source:
    """A file's text and its tree."""

    def __init__(self, text: str) -> None:
        self.text, self.tree = text, ast.parse(text)
        self._starts = [0, *(match.end() for match in re.finditer("\r\n|\r|\n", text))]
        self._around = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    def range(self, node: ast.AST) -> tuple[int, int]:
        """Where a node stands in the text."""
        at = [self._offset(getattr(node, f"{end}lineno"), getattr(node, f"{end}col_offset")) for end in ("", "end_")]
        return at[0], at[1]

    def _offset(self, line: int, column: int) -> int:
        start = self._starts[line - 1]
        end = self._starts[line] if line < len(self._starts) else len(self.text)
        return start + len(self.text[start:end].encode()[:column].decode())

    def statement(self, node: ast.AST) -> ast.AST:
        """The statement that a node is part of."""
        while not isinstance(node, ast.stmt):
            node = self._around[node]
        return node

    def expression(self, op: Operation) -> ast.expr:
        """The expression that made an op. Raises ArgumentError if it is not surely there."""
        span = op.span
        found = [node for node in ast.walk(self.tree) if isinstance(node, ast.expr) and span is not None
                 and (node.end_lineno, node.end_col_offset) == (span.end_line, span.end_column) and _makes(node, op)]
        exact = [node for node in found if span is not None and _starts_at(node, span)]
        if len(exact or found) != 1:
            raise ArgumentError(f"no expression there surely is {op.name} ({op.type})")
        return (exact or found)[0]

    def operand(self, node: ast.expr, op: Operation, number: int) -> ast.expr:
        """The argument of that number. Raises ArgumentError if it is not there."""
        if isinstance(node, ast.BinOp):
            return (node.left, node.right)[number]
        assert isinstance(node, ast.Call)
        if any(isinstance(each, ast.Starred) for each in node.args):
            raise ArgumentError(f"the arguments of {op.name} are not written one by one")
        if number < len(node.args):
            return node.args[number]
        named = [word.value for word in node.keywords if not number and word.arg in _FIRST]
        if len(named) != 1:
            raise ArgumentError(f"argument {number + 1} of {op.name} is not written there")
        return named[0]

    def arguments(self, node: ast.expr, op: Operation, number: int | None, *, beside: bool = False) -> str:
        """The text of an operand; or, for None, of the arguments after the first. beside: an operator is next to it."""
        if number is not None:
            found = self.operand(node, op, number)
            start, end = self.range(found)
            return f"({self.text[start:end]})" if beside and isinstance(found, _LOOSE) else self.text[start:end]
        assert isinstance(node, ast.Call)
        first = self.operand(node, op, 0)
        rest = [*node.args, *node.keywords]
        return "".join(", " + self.text[slice(*self.range(each))] for each in rest
                       if each is not first and getattr(each, "value", None) is not first and
                       getattr(each, "arg", "") != "name")

    def module(self) -> str:
        """What the file calls TensorFlow. Raises ArgumentError if it imports it under no name."""
        for node in ast.walk(self.tree):
            prefix = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            for alias in getattr(node, "names", ()) if isinstance(node, (ast.Import, ast.ImportFrom)) else ():
                if prefix + alias.name in _MODULES and (alias.asname or "." not in alias.name):
                    return alias.asname or alias.name
        raise ArgumentError("TensorFlow has no name in this file")

    def check_alike(self, part: ast.expr, target: ast.expr) -> None:
        """Raises ArgumentError unless the names of `part` mean the same where `target` stands."""
        scope = self._scope(target)
        if self._scope(part) is not scope:
            raise ArgumentError("what it is made of is written in another function")
        ranges = [self.range(part), self.range(target)]
        for inner, other in ((part, target), (target, part)):
            around: ast.AST = inner
            while around is not scope:
                around = self._around[around]
                if isinstance(around, _LOOPS) and not _within(other, around):
                    ranges.append(self.range(around))  # which goes through all of it before it comes back
        start, end = min(start for start, _ in ranges), max(end for _, end in ranges)
        names = {node.id for node in ast.walk(part) if isinstance(node, ast.Name)}
        for node in ast.walk(scope):
            if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)) and node.id in names and \
                    start <= self.range(node)[0] < end:
                raise ArgumentError(f"{node.id!r} is something else there")

    def _scope(self, node: ast.AST) -> ast.AST:
        while not isinstance(node, _SCOPES):
            node = self._around[node]
        return node

    def numbers(self, node: ast.expr, value: float) -> Iterator[ast.expr]:
        """The literal that an expression is, or that the name that it is was given once."""
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and math.isclose(
                node.value, value, rel_tol=1e-6):  # as float32 has it
            yield node
        elif isinstance(node, ast.Name):
            given = [each for each in ast.walk(self.tree) if isinstance(each, ast.Assign)
                     and any(isinstance(name, ast.Name) and name.id == node.id for name in each.targets)]
            if len(given) == 1 and isinstance(given[0].value, ast.Constant):
                yield from self.numbers(given[0].value, value)


def _name(node: ast.expr) -> str:
    """The last word of a dotted name, in small letters without underscores; "" of anything else."""
    word = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return word.replace("_", "").lower()


def _makes(node: ast.expr, op: Operation) -> bool:
    """Whether an expression is one that makes ops of this type."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, _OPERATORS.get(op.type, ()))
    return isinstance(node, ast.Call) and _name(node.func) in (op.type.lower(), *_WRITTEN.get(op.type, ()))


def _starts_at(node: ast.expr, span: Span) -> bool:
    return (node.lineno, node.col_offset) == (span.line, span.column)


def _within(node: ast.AST, other: ast.AST) -> bool:
    return any(each is node for each in ast.walk(other))
