"""A file's text and its tree: where a node stands, what is around it, what names are given; and changes there."""
from __future__ import annotations

import ast
import math
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Any, TypeVar

from ....core.errors import ArgumentError
from ....core.site import source_lines
from .calls import given, is_call, word_of
from .changes import Change, changed, rows_of
from .expressions import LEAST, MOST, Plainly, number_of, pairs_of

_Node = TypeVar("_Node", bound=ast.AST)
LOOPS = (ast.For, ast.While, ast.AsyncFor)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.Module)
LOOSE = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Lambda, ast.NamedExpr, ast.Await)


class Parsed:
    """named: the expressions that edits give a name, as each is written once. Raises SyntaxError for no Python."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree: ast.Module = Plainly().visit(ast.parse(text))
        self._starts = [0, *(match.end() for match in re.finditer("\r\n|\r|\n", text))]
        self._around = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}
        self.named: dict[ast.expr, str] = {}

    @classmethod
    def of_file(cls, file: str) -> Parsed:
        """The text of a file as it was when it was run."""
        return cls("".join(source_lines(file)))

    def range(self, node: ast.AST) -> tuple[int, int]:
        """Where a node stands in the text."""
        at = [self._offset(getattr(node, f"{end}lineno"), getattr(node, f"{end}col_offset")) for end in ("", "end_")]
        return at[0], at[1]

    def _offset(self, line: int, column: int) -> int:
        start = self._starts[line - 1]
        end = self._starts[line] if line < len(self._starts) else len(self.text)
        return start + len(self.text[start:end].encode()[:column].decode())

    def raw(self, node: ast.AST) -> str:
        """A node as it stands in the file."""
        return self.text[slice(*self.range(node))]

    def written(self, node: ast.AST) -> str:
        """A node's text; of `a /= b` what it computes."""
        if not self._is_augmented(node):
            return self.raw(node)
        assert isinstance(node, ast.BinOp)
        return f"{self.written(node.left)} {self._sign(node)} {self.beside(node.right)}"

    def beside(self, node: ast.AST) -> str:
        """A node's text as an operator may stand next to it: in parentheses where it needs them."""
        text = self.written(node)
        return f"({text})" if isinstance(node, LOOSE) else text

    def _is_augmented(self, node: ast.AST) -> bool:
        return isinstance(node, ast.BinOp) and self.range(node) == self.range(self._around[node])

    def _sign(self, node: ast.BinOp) -> str:
        return self.text[self.range(node.left)[1]:].partition("=")[0].strip()

    def is_beside_operator(self, node: ast.expr) -> bool:
        """Whether an operator, or what binds as close, is next to an expression without brackets of its own."""
        start, end = self.range(node)
        return isinstance(self._around[node], (*LOOSE, ast.Attribute, ast.Subscript)) and not (
            self.text[:start].endswith("(") and self.text.startswith(")", end))

    def all(self, *kinds: type[_Node]) -> list[_Node]:
        """The nodes of these kinds in the file, those outside first."""
        return [node for node in ast.walk(self.tree) if isinstance(node, kinds)]

    def calls_named(self, *names: str) -> list[ast.Call]:
        """The calls of functions and methods of these names, in small letters without underscores."""
        return [node for node in self.all(ast.Call) if is_call(node, *names)]

    def at_line(self, line: int, *kinds: type[_Node]) -> list[_Node]:
        """The statements and expressions of these kinds that a line is part of."""
        return [node for node in self.all(*kinds) if getattr(node, "lineno", line + 1) <= line <= (
            getattr(node, "end_lineno", None) or 0)]

    def statement(self, node: ast.AST) -> Any:
        """The statement that a node is part of."""
        while not isinstance(node, ast.stmt):
            node = self._around[node]
        return node

    def scope(self, node: ast.AST) -> ast.AST:
        """The function, class or module that a node is in, or that."""
        while not isinstance(node, _SCOPES):
            node = self._around[node]
        return node

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """What a node is part of, the innermost first."""
        while node in self._around:
            yield (node := self._around[node])

    def is_in_loop(self, node: ast.AST) -> bool:
        """Whether a node is part of a loop, or that."""
        return any(isinstance(each, LOOPS) for each in (node, *self.around(node)))

    def loads(self, name: str) -> int:
        """How often a name is read."""
        return sum(each.id == name and isinstance(each.ctx, ast.Load) for each in self.all(ast.Name))

    def given_to(self, node: ast.expr) -> list[ast.expr]:
        """What statements give to the name, or attribute, that an expression is; [] for all else."""
        name = ast.unparse(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""
        return [value for each in self.all(ast.Assign) if name for target, value in pairs_of(each)
                if isinstance(target, (ast.Name, ast.Attribute)) and ast.unparse(target) == name]

    def passed(self, node: ast.expr) -> list[ast.expr]:
        """What calls elsewhere give for the parameter of a function that a name is; its default where they do not."""
        function, name = self.scope(node), getattr(node, "id", "")
        arguments = function.args.args if isinstance(function, ast.FunctionDef) else []
        names = [each.arg for each in arguments]
        if name not in names or not isinstance(function, ast.FunctionDef):
            return []
        owner = self._around[function]
        called = owner.name if function.name == "__init__" and isinstance(owner, ast.ClassDef) else function.name
        place, word = names.index(name) - (names[0] == "self"), called.replace("_", "").lower()
        defaults = dict(zip(names[::-1], function.args.defaults[::-1]))
        calls = [call for call in self.calls_named(word) if not is_within(call, function)]
        return [each for call in calls for each in given(call, place, name)] or [
            defaults[name] for _ in calls[:1] if name in defaults]

    def numbers(self, node: ast.expr, value: float, deepest: int = 4) -> Iterator[ast.expr]:
        """The literal that an expression is, or that the name that it is was given once, perhaps by a call."""
        found = number_of(node)  # which float32 or 16 may have otherwise
        if math.isclose(found, value, rel_tol=1e-6, abs_tol=LEAST) or math.isinf(value) and (
                found * value > 0 and abs(found) >= MOST):
            yield node
        else:
            values = self.given_to(node)
            values = self.passed(values[0] if len(values) == 1 and isinstance(values[0], ast.Name) else node) or [
                each for each in values if not isinstance(each, ast.Name)]
            for each in values if len(values) == 1 and deepest else ():
                yield from self.numbers(each, value, deepest - 1)

    def new_name(self, word: str) -> str:
        """A name that is not in the file, nor given by an edit: the word, or that with a number."""
        taken = {node.id for node in self.all(ast.Name)} | {*self.named.values()}
        return next(name for name in (f"{word}{n or ''}" for n in count()) if name not in taken)

    def imported(self) -> dict[str, str]:
        """What the file calls what it imports, by its full name."""
        found: dict[str, str] = {}
        for node in ast.walk(self.tree):
            prefix = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            for alias in node.names if isinstance(node, (ast.Import, ast.ImportFrom)) else ():
                if alias.asname or "." not in alias.name:
                    found.setdefault(prefix + alias.name, alias.asname or alias.name)
        return found

    def put(self, node: ast.expr, new: str) -> Change:
        """The change that has another expression in a node's place, in parentheses where it needs them; of `a /= b`, or
        its a, `a = `, and that."""
        around, made = self._around[node], ast.parse(new, mode="eval").body
        if not made.col_offset and isinstance(made, LOOSE) and self.is_beside_operator(node):
            new = f"({new})"
        if isinstance(around, ast.BinOp) and node is around.left and self._is_augmented(around):
            new, node = f"{new} {self._sign(around)} {self.beside(around.right)}", around
        if self._is_augmented(node):
            assert isinstance(node, ast.BinOp)
            new = f"{self.written(node.left)} = {new}"
        return (*self.range(node), new)

    def one_more(self, call: ast.Call, argument: str) -> Change:
        """One more argument, behind the others of a call."""
        end = self.range(call)[1] - 1
        return end, end, f"{', ' * bool(call.args or call.keywords)}{argument}"

    def told(self, call: ast.Call, keyword: str, text: str) -> Change:
        """A call that is given something by a keyword, in place of what it is given so, if it is."""
        word = word_of(call, keyword)
        return (*self.range(word.value), text) if word is not None else self.one_more(call, f"{keyword}={text}")

    def without_word(self, word: ast.keyword) -> Change:
        """Nothing in the place of a keyword of a call, and of the comma before it."""
        start, end = self.range(word)
        before = self.text[:start].rstrip()
        return len(before) - before.endswith(","), end, ""

    def before(self, statement: ast.AST, *lines: str) -> Change:
        """Statements in front of another."""
        start = self.range(statement)[0]
        return start, start, self.lines(start, [*lines, ""])

    def after(self, statement: ast.AST, *lines: str) -> Change:
        """Statements behind another, and behind the comment in its line."""
        start, end = self.range(statement)
        rest = self.text[end:].partition("\n")[0].rstrip("\r")
        is_alone = not self._before(start).strip() and not rest.partition("#")[0].strip()
        end += len(rest) * is_alone
        return end, end, self.lines(start, ["", *lines])

    def _before(self, start: int) -> str:
        """What stands in the same line before a place."""
        return self.text[self.text.rfind("\n", 0, start) + 1:start]

    def lines(self, start: int, lines: Sequence[str]) -> str:
        """Statements one below the other, the first where it is put."""
        before = self._before(start)
        return ("; " if before.strip() else ("\r\n" if "\r\n" in self.text else "\n") + before).join(lines)

    def gone(self, statement: ast.AST) -> Change:
        """Nothing in place of a statement that has its lines for itself. Raises ArgumentError for others."""
        start, end = self._whole(statement, statement)
        is_alone = any(each == [statement] for _, each in ast.iter_fields(self._around[statement]))
        return (*self.range(statement), "pass") if is_alone else (start, min(end + 1, len(self.text)), "")

    def wrapped(self, first: ast.AST, last: ast.AST, head: str, tail: Iterable[str] = ()) -> Change:
        """Statements of one block, in another one's."""
        start, end = self._whole(first, last)
        text = self.text[start:end]
        if '"""' in text or "'''" in text:
            raise ArgumentError("a text of several lines would be moved")
        indent = text[:len(text) - len(text.lstrip())]
        return start, end, "\n".join([*([indent + head] if head else ()), textwrap.indent(text, "    "),
                                      *(indent + each for each in tail)])

    def _whole(self, first: ast.AST, last: ast.AST) -> tuple[int, int]:
        """The lines of statements. Raises ArgumentError where another one stands in them."""
        start, end = self.range(first)[0], self.range(last)[1]
        stop = end + len(self.text[end:].partition("\n")[0])
        before = self._before(start)
        if before.strip() or self.text[end:stop].partition("#")[0].strip():
            raise ArgumentError("it stands beside another statement")
        return start - len(before), stop

    def rows(self, changes: Iterable[Change], file: str) -> dict[tuple[str, int], str]:
        """The lines that changes make anew, by file and number. Raises ArgumentError where they do not fit."""
        return rows_of(self.text, changed(self.text, changes), file)


def starts_of(node: Any) -> Sequence[tuple[int, int]]:
    """Where an expression or statement begins, as Python says it: of a method on a line below its object, there too."""
    func: Any = getattr(node, "func", None)
    below = isinstance(func, ast.Attribute) and func.end_lineno != func.lineno
    begun = [(node.lineno, node.col_offset)]
    return [*begun, (func.end_lineno, func.end_col_offset - len(func.attr))] if below else begun


def is_within(node: ast.AST, other: ast.AST) -> bool:
    """Whether a node is part of another, or that."""
    return any(each is node for each in ast.walk(other))


def stands_at(node: Any, spans: Iterable[tuple[Any, ...]]) -> bool:
    """Whether a call is at one of the places, as of those that led to an op."""
    return any((node.lineno, node.col_offset, node.end_lineno, node.end_col_offset) == span[1:] for span in spans)
