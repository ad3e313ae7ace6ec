"""Where a script makes the ops of a graph: the expression of an op, what it is given there, what is fed to it."""
from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any

from ....core.errors import ArgumentError
from ....core.graph import Operation
from .calls import given
from .changes import Change
from .expressions import makes, pairs_of
from .parsed import LOOPS, Parsed, is_within, starts_of

_SHORT = {"F": "torch.nn.functional", "nn": "torch.nn", "jnp": "jax.numpy", "np": "numpy"}  # in words of frameworks
_DOTTED = re.compile(r"\b(?:F|nn|torch|jnp|jax|np)(?:\.\w+)+")
_FIRST = ("x", "logits", "input", "input_tensor", "features", "tensor", "condition", "a")  # parameters that come first
_MODULES = ("tensorflow", "tensorflow.compat.v1", "autodiff")
_CONDITIONS = (ast.If, ast.Try, ast.IfExp, ast.BoolOp, ast.comprehension, ast.ListComp, ast.SetComp, ast.DictComp,
               ast.GeneratorExp, ast.Match)
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.Expr, ast.Return)
_MAKING = ("variable", "random", "dropout", "layer", "contrib", "keras")  # in names of what gives others each time
WHOLE = -1  # in place of an operand's number: all of the expression


class Source(Parsed):
    """A script. words: what its framework calls TensorFlow's names; () where that is TensorFlow."""

    def __init__(self, text: str, words: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(text)
        self._words = words

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
        return [node for node in self.all(ast.expr) if span is not None
                and (node.end_lineno, node.end_col_offset) == (span.end_line, span.end_column)
                and (not exact or (span.line, span.column) in starts_of(node))]

    def fed(self, placeholder: Operation) -> list[tuple[ast.expr, ast.expr]]:
        """The keys and values of dicts that have the name, or attribute, which a placeholder was assigned to.

        Those in loops come first, where a training feeds it, then the others, each as they stand in the file.
        """
        def named(node: Any) -> str:
            return getattr(node, "attr", getattr(node, "id", ""))

        line, made = placeholder.site.line if placeholder.site is not None else 0, self.spanned(placeholder)
        pairs = [pair for node in self.all(ast.Assign) for pair in pairs_of(node)
                 if pair[1].lineno <= line <= (pair[1].end_lineno or 0)]
        names = {named(target) for target, _ in [each for each in pairs if each[1] in made] or pairs} - {""}
        names = names if len(names) == 1 else names & {placeholder.name}  # several on one line
        found = [(key, value) for node in self.all(ast.Dict) for key, value in zip(node.keys, node.values)
                 if key is not None and named(key) in names]
        return sorted(found, key=lambda each: (not self.is_in_loop(each[0]), each[0].lineno))

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
            self.named[part] = self.new_name(word)
        name = self.named[part]
        return [self.before(self.statement(part), f"{name} = {self.written(part)}"), self.put(part, name)]

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

    def operand(self, node: ast.expr, op: Operation, number: int) -> ast.expr:
        """The argument of that number. Raises ArgumentError if it is not there."""
        if number == WHOLE:
            return node
        if isinstance(node, ast.BinOp):
            return (node.left, node.right)[number if op.type != "Reciprocal" else 1]
        if isinstance(node, ast.UnaryOp):
            return node.operand
        if isinstance(node, ast.Compare):
            return (node.left, *node.comparators)[number]
        assert isinstance(node, ast.Call)
        if any(isinstance(each, ast.Starred) for each in node.args):
            raise ArgumentError(f"the arguments of {op.name} are not written one by one")
        placed = self._given(node)
        if number < len(placed):
            return placed[number]
        named = given(node, None, *_FIRST) if not number else []
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
        return "".join(", " + self.raw(each) for each in rest
                       if each is not first and getattr(each, "value", None) is not first and
                       getattr(each, "arg", "") != "name")

    def module(self) -> str:
        """What the file calls TensorFlow. Raises ArgumentError if it imports it under no name."""
        for module, name in self.imported().items():
            if module in _MODULES:
                return name
        raise ArgumentError("TensorFlow has no name in this file")

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
