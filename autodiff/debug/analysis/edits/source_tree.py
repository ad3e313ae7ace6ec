"""A script's text and its tree: which expression made an op, what it is given there, which numbers it has."""
from __future__ import annotations

import ast
import math
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import count
from typing import Any

from ....core.errors import ArgumentError
from ....core.graph import Operation
from .changes import Change, changed, rows_of
from .expressions import LEAST, MOST, Plainly, makes, number_of

_SHORT = {"F": "torch.nn.functional", "nn": "torch.nn", "jnp": "jax.numpy", "np": "numpy"}  # in words of frameworks
_DOTTED = re.compile(r"\b(?:F|nn|torch|jnp|jax|np)(?:\.\w+)+")
_FIRST = ("x", "logits", "input", "input_tensor", "features", "tensor", "condition", "a")  # parameters that come first
_MODULES = ("tensorflow", "tensorflow.compat.v1", "autodiff")
LOOPS = (ast.For, ast.While, ast.AsyncFor)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.Module)
LOOSE = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Lambda, ast.NamedExpr, ast.Await)
_CONDITIONS = (ast.If, ast.Try, ast.IfExp, ast.BoolOp, ast.comprehension, ast.ListComp, ast.SetComp, ast.DictComp,
               ast.GeneratorExp, ast.Match)
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.Expr, ast.Return)
_MAKING = ("variable", "random", "dropout", "layer", "contrib", "keras")  # in names of what gives others each time
WHOLE = -1  # in place of an operand's number: all of the expression


class Source:
    """A file's text and its tree. named: the expressions that edits give a name, as each is written once.

    words: what the file's framework calls TensorFlow's names; () where that is TensorFlow.
    """

    def __init__(self, text: str, words: Sequence[tuple[str, str]] = ()) -> None:
        self.text, self._words = text, words
        self.tree: ast.Module = Plainly().visit(ast.parse(text))
        self._starts = [0, *(match.end() for match in re.finditer("\r\n|\r|\n", text))]
        self._around = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}
        self.named: dict[ast.expr, str] = {}

    def range(self, node: ast.AST) -> tuple[int, int]:
        """Where a node stands in the text."""
        at = [self._offset(getattr(node, f"{end}lineno"), getattr(node, f"{end}col_offset")) for end in ("", "end_")]
        return at[0], at[1]

    def beside(self, node: ast.AST) -> str:
        """A node's text as an operator may stand next to it: in parentheses where it needs them."""
        text = self.written(node)
        return f"({text})" if isinstance(node, LOOSE) else text

    def written(self, node: ast.AST) -> str:
        """A node's text; of `a /= b` what it computes."""
        text = self.text[slice(*self.range(node))]
        if not self._is_augmented(node):
            return text
        assert isinstance(node, ast.BinOp)
        return f"{self.written(node.left)} {self._sign(node)} {self.beside(node.right)}"

    def _is_augmented(self, node: ast.AST) -> bool:
        return isinstance(node, ast.BinOp) and self.range(node) == self.range(self._around[node])

    def _sign(self, node: ast.BinOp) -> str:
        return self.text[self.range(node.left)[1]:].partition("=")[0].strip()

    def put(self, node: ast.expr, new: str) -> Change:
        """The change that has another text in a node's place; of `a /= b`, or its a, `a = `, and that."""
        around = self._around[node]
        if isinstance(around, ast.BinOp) and node is around.left and self._is_augmented(around):
            new, node = f"{new} {self._sign(around)} {self.beside(around.right)}", around
        if self._is_augmented(node):
            assert isinstance(node, ast.BinOp)
            new = f"{self.written(node.left)} = {new}"
        return (*self.range(node), new)

    def _offset(self, line: int, column: int) -> int:
        start = self._starts[line - 1]
        end = self._starts[line] if line < len(self._starts) else len(self.text)
        return start + len(self.text[start:end].encode()[:column].decode())

    def statement(self, node: ast.AST) -> Any:
        """The statement that a node is part of."""
        while not isinstance(node, ast.stmt):
            node = self._around[node]
        return node

    def expression(self, op: Operation, *, whole: bool = False) -> ast.expr:
        """The expression that made an op. Raises ArgumentError if it is not surely there.

        whole: or a call whose result it is, whatever its arguments are.
        """
        ending, spanned = self.spanned(op, exact=False), self.spanned(op)
        found = [node for node in ending if makes(node, op)]
        exact = [node for node in found if node in spanned]
        if not found and whole and is_result(op):
            found = [node for node in spanned if isinstance(node, ast.Call)]
        if len(exact or found) != 1:
            raise ArgumentError(f"no expression there surely is {op.name} ({op.type})")
        return (exact or found)[0]

    def spanned(self, op: Operation, *, exact: bool = True) -> list[ast.expr]:
        """The expressions that stand where an op was made; or end there."""
        span = op.span
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.expr) and span is not None
                and (node.end_lineno, node.end_col_offset) == (span.end_line, span.end_column)
                and (not exact or (span.line, span.column) in starts_of(node))]

    def fed(self, placeholder: Operation) -> list[tuple[ast.expr, ast.expr]]:
        """The keys and values of dicts that have the name, or attribute, which a placeholder was assigned to.

        Those in loops come first, where a training feeds it, then the others, each as they stand in the file.
        """
        def named(node: Any) -> str:
            return getattr(node, "attr", getattr(node, "id", ""))

        line, nodes = placeholder.site.line if placeholder.site is not None else 0, list(ast.walk(self.tree))
        made = self.spanned(placeholder)
        given = [(target, node.value) for node in nodes if isinstance(node, ast.Assign) for target in node.targets]
        given += [pair for each in given for pair in zip(*(getattr(side, "elts", ()) for side in each))]
        given = [each for each in given if each[1].lineno <= line <= (each[1].end_lineno or 0)]
        names = {named(target) for target, _ in [each for each in given if each[1] in made] or given} - {""}
        names = names if len(names) == 1 else names & {placeholder.name}  # several on one line
        found = [(key, given) for node in nodes if isinstance(node, ast.Dict)
                 for key, given in zip(node.keys, node.values) if key is not None and named(key) in names]
        return sorted(found, key=lambda each: (not self._is_in_loop(each[0]), each[0].lineno))

    def _is_in_loop(self, node: ast.AST) -> bool:
        return any(isinstance(each, LOOPS) for each in (node, *self.around(node)))

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """What a node is part of, the innermost first."""
        while node in self._around:
            yield (node := self._around[node])

    def loads(self, name: str) -> int:
        """How often a name is read."""
        return sum(isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Load)
                   for each in ast.walk(self.tree))

    def gone(self, statement: ast.AST) -> Change:
        """Nothing in place of a statement that has its lines for itself. Raises ArgumentError for others."""
        start, end = self._whole(statement, statement)
        is_alone = any(each == [statement] for _, each in ast.iter_fields(self._around[statement]))
        return (*self.range(statement), "pass") if is_alone else (start, min(end + 1, len(self.text)), "")

    def _whole(self, first: ast.AST, last: ast.AST) -> tuple[int, int]:
        start, end = self.range(first)[0], self.range(last)[1]
        begin = self.text.rfind("\n", 0, start) + 1
        stop = end + len(self.text[end:].partition("\n")[0])
        if self.text[begin:start].strip() or self.text[end:stop].partition("#")[0].strip():
            raise ArgumentError("it stands beside another statement")
        return begin, stop

    def lines(self, start: int, lines: Sequence[str]) -> str:
        """Statements one below the other, the first where it is put."""
        before = self.text[self.text.rfind("\n", 0, start) + 1:start]
        return ("; " if before.strip() else ("\r\n" if "\r\n" in self.text else "\n") + before).join(lines)

    def rows(self, changes: Iterable[Change], file: str) -> dict[tuple[str, int], str]:
        """The lines that changes make anew, by file and number. Raises ArgumentError where they do not fit."""
        return rows_of(self.text, changed(self.text, changes), file)

    def named_first(self, part: ast.expr, target: ast.expr, word: str) -> list[Change]:
        """The line that gives an expression with calls a name, then the name where it was; `target` reads it too.

        word: what the name begins with. [] where it is as good to write it twice. Raises ArgumentError where that
        would compute something else.
        """
        calls = [node for node in ast.walk(part) if isinstance(node, ast.Call)]
        if not calls:
            return []
        if part not in self.named:
            statement, scope = self.statement(part), self.scope(part)
            inner, other = ({*self._all_around(each, scope)} for each in (part, target))
            if not isinstance(statement, _SIMPLE) or scope is not self.scope(target) or any(
                    isinstance(each, (*LOOPS, *_CONDITIONS)) for each in inner - other):
                if any(self._makes_others(call) for call in calls):
                    raise ArgumentError("what it is made of would be made twice")
                return []
            taken = {node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name)} | {*self.named.values()}
            self.named[part] = next(name for name in (f"{word}{n or ''}" for n in count()) if name not in taken)
        name, start = self.named[part], self.range(self.statement(part))[0]
        return [(start, start, self.lines(start, [f"{name} = {self.written(part)}", ""])), self.put(part, name)]

    def _all_around(self, node: ast.AST, scope: ast.AST) -> Iterator[ast.AST]:
        while node is not scope:
            if node not in self._around:
                raise ArgumentError("what it is made of is written in another function")
            yield (node := self._around[node])

    def _makes_others(self, call: ast.Call) -> bool:
        """Whether a call may make variables or draw numbers: of a layer, or of what is not TensorFlow's."""
        words = ast.unparse(call.func).lower()
        known = (f"{each}.".lower() for each in (self.imported().values() if self._words else [self.module()]))
        return not words.startswith(tuple(known)) or any(word in words for word in _MAKING)

    def is_beside_operator(self, node: ast.expr) -> bool:
        """Whether an operator, or what binds as close, is next to an expression without brackets of its own."""
        start, end = self.range(node)
        return isinstance(self._around[node], (*LOOSE, ast.Attribute, ast.Subscript)) and not (
            self.text[:start].endswith("(") and self.text.startswith(")", end))

    def operand(self, node: ast.expr, op: Operation, number: int) -> ast.expr:
        """The argument of that number. Raises ArgumentError if it is not there."""
        if number == WHOLE:
            return node
        if isinstance(node, ast.BinOp):
            return (node.left, node.right)[number if op.type != "Reciprocal" else 1]
        if isinstance(node, ast.UnaryOp):
            return node.operand
        assert isinstance(node, ast.Call)
        if any(isinstance(each, ast.Starred) for each in node.args):
            raise ArgumentError(f"the arguments of {op.name} are not written one by one")
        given = self._given(node)
        if number < len(given):
            return given[number]
        named = [word.value for word in node.keywords if not number and word.arg in _FIRST]
        if len(named) != 1:
            raise ArgumentError(f"argument {number + 1} of {op.name} is not written there")
        return named[0]

    def _given(self, call: ast.Call) -> list[ast.expr]:
        """What is given by position; first what the method is of, where it is one of a framework's tensors."""
        if not self._words or not isinstance(call.func, ast.Attribute) or re.match(
                rf"({'|'.join(self.imported().values())})(\.\w+)*$", ast.unparse(call.func.value)):
            return call.args
        return call.args if self._is_of_layers(call.func.value) and call.args else [call.func.value, *call.args]

    def _is_of_layers(self, node: ast.expr) -> bool:
        """Whether an expression is the object that a method is of: what it calls by a name is a layer, no tensor."""
        scope = self.scope(node)
        return isinstance(node, ast.Name) and isinstance(scope, ast.FunctionDef) and isinstance(
            self._around[scope], ast.ClassDef) and [each.arg for each in scope.args.args[:1]] == [node.id]

    def arguments(self, node: ast.expr, op: Operation, number: int | None, *, beside: bool = False) -> str:
        """The text of an operand; or, for None, of the arguments after the first. beside: an operator is next to it."""
        if number is not None:
            found = self.operand(node, op, number)
            return self.beside(found) if beside else self.written(found)
        assert isinstance(node, ast.Call)
        first = self.operand(node, op, 0)
        rest = [*self._given(node), *node.keywords]
        return "".join(", " + self.text[slice(*self.range(each))] for each in rest
                       if each is not first and getattr(each, "value", None) is not first and
                       getattr(each, "arg", "") != "name")

    def module(self) -> str:
        """What the file calls TensorFlow. Raises ArgumentError if it imports it under no name."""
        for module, name in self.imported().items():
            if module in _MODULES:
                return name
        raise ArgumentError("TensorFlow has no name in this file")

    def imported(self) -> dict[str, str]:
        """What the file calls what it imports, by its full name."""
        found: dict[str, str] = {}
        for node in ast.walk(self.tree):
            prefix = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            for alias in getattr(node, "names", ()) if isinstance(node, (ast.Import, ast.ImportFrom)) else ():
                if alias.asname or "." not in alias.name:
                    found.setdefault(prefix + alias.name, alias.asname or alias.name)
        return found

    def spelled(self, template: str) -> str:
        """A template as the file's framework has it, by the names that the file gives its modules.

        Raises ArgumentError for a function that the framework does not have.
        """
        if not self._words:
            return template.replace("{tf}", self.module())
        said = template.replace("{tf}", "tf").replace("{0}", "x")
        for theirs, ours in self._words:
            said = said.replace(theirs, ours)
        return _DOTTED.sub(lambda found: self._spelled(found[0]), re.sub(r"\bx\b", "{0}", said))

    def _spelled(self, name: str) -> str:
        first, _, rest = name.partition(".")
        module = _SHORT.get(first, first)
        if reduce(lambda each, part: getattr(each, part, None), rest.split("."), sys.modules.get(module)) is None:
            raise ArgumentError(f"there is no {module}.{rest}")
        for full, name in sorted(self.imported().items(), reverse=True):  # the innermost module first
            if f"{module}.{rest}".startswith(f"{full}."):
                return f"{name}{f'{module}.{rest}'[len(full):]}"
        raise ArgumentError(f"{module} has no name in this file")

    def check_alike(self, part: ast.expr, target: ast.expr) -> None:
        """Raises ArgumentError unless the names of `part` mean the same where `target` stands."""
        scope = self.scope(target)
        if self.scope(part) is not scope:
            raise ArgumentError("what it is made of is written in another function")
        ranges = [self.range(part), self.range(target)]
        for inner, other in ((part, target), (target, part)):
            around: ast.AST = inner
            while around is not scope:
                around = self._around[around]
                if isinstance(around, LOOPS) and not is_within(other, around):
                    ranges.append(self.range(around))  # which goes through all of it before it comes back
        start, end = min(start for start, _ in ranges), max(end for _, end in ranges)
        names = {node.id for node in ast.walk(part) if isinstance(node, ast.Name)}
        for node in ast.walk(scope):
            if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)) and node.id in names and \
                    start <= self.range(node)[0] < end:
                raise ArgumentError(f"{node.id!r} is something else there")

    def scope(self, node: ast.AST) -> ast.AST:
        while not isinstance(node, _SCOPES):
            node = self._around[node]
        return node

    def numbers(self, node: ast.expr, value: float) -> Iterator[ast.expr]:
        """The literal that an expression is, or that the name that it is was given once."""
        found = number_of(node)  # which float32 or 16 may have otherwise
        if math.isclose(found, value, rel_tol=1e-6, abs_tol=LEAST) or math.isinf(value) and (
                found * value > 0 and abs(found) >= MOST):
            yield node
        elif len(given := self.given_to(node)) == 1 and not isinstance(given[0], ast.Name):
            yield from self.numbers(given[0], value)

    def given_to(self, node: ast.expr) -> list[ast.expr]:
        """What statements give to the name that an expression is; [] for all else."""
        return [each.value for each in ast.walk(self.tree) if isinstance(node, ast.Name) and isinstance(
            each, ast.Assign) and any(isinstance(name, ast.Name) and name.id == node.id for name in each.targets)]


def is_result(op: Operation) -> bool:
    """Whether of what its expression made of other tensors it is what others take, as the last op of a layer."""
    made: set[Operation] = set()
    here = [each for each in op.graph.operations.values() if each.span == op.span and each.site == op.site
            and each.gradient_of is None]
    for each in here:
        if any(t.op in made or t.op.span != op.span for t in each.inputs):
            made.add(each)
    return op in made and {each.type for each in made for t in each.outputs for c in t._consumers
                           if c.gradient_of is None and c.span != op.span} == {op.type}


def starts_of(node: Any) -> Sequence[tuple[int, int]]:
    """Where an expression or statement begins, as Python says it: of a method on a line below its object, there too."""
    func: Any = getattr(node, "func", None)
    below = isinstance(func, ast.Attribute) and func.end_lineno != func.lineno
    begun = [(node.lineno, node.col_offset)]
    return [*begun, (func.end_lineno, func.end_col_offset - len(func.attr))] if below else begun


def is_within(node: ast.AST, other: ast.AST) -> bool:
    """Whether a node is part of another, or that."""
    return any(each is node for each in ast.walk(other))
