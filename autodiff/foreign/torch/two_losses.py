"""Two losses of one forward pass, each with its backward(): the lines that keep the first from the second's way."""
from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from ..new_calls import given_too
from ..new_lines import NewLines, after, moved, replaced, text_on
from ..script_lines import assigned_on, block_of, holding, loops_around, on_lines, read_by

Leaves = Callable[[str], Collection[int]]  # of a name: the parameters that its value is made of, by identity


@dataclass
class Mended:
    """Lines, and what they do in words; {} and "" where none is surely known."""

    words: str = ""
    lines: NewLines = field(default_factory=dict)


@dataclass
class TwoLosses:
    """What is known of them. line: of the second backward(), that failed; step: of the optimizer's between them, 0 for
    none. leaves: of names; stepped: the parameters that were changed by then; optimizers: what each has."""

    file: str
    line: int
    step: int
    leaves: Leaves
    stepped: Collection[int]
    optimizers: list[set[int]]

    def mended(self) -> Mended:
        """What lets the second loss be differentiated after the step that changed what it is made of."""
        chain = self._chain(self._differentiated(), self.line, set(self.stepped))
        if not chain:
            return Mended()
        return self._cut(chain, self.stepped) or self._again(chain)

    def shared(self, name: str, use: int, first: Collection[int], is_same: bool) -> Mended:
        """What lets it be, where the first backward() has freed what a name was computed of. use: a line that uses it.

        first: the parameters of the first loss; is_same: whether it is the same loss.
        """
        lines = [at for at in self._around() if at < self.line and any(
            isinstance(node, ast.Attribute) and node.attr == "backward" for node in ast.walk(on_lines(self.file)[at]))]
        if not lines:
            return Mended()
        if is_same:
            return Mended("a loss has one backward(): leave the second away", moved(
                self.file, self.line, {(self.file, self.line): ""}))
        of_name, of_second = set(self.leaves(name)), self._all_leaves(self._differentiated())
        if of_name and set(first) <= of_name and not of_second <= of_name and (found := self._cut(self._chain(
                self._differentiated(), self.line, of_name), of_name)):
            return found
        if self.stepped and of_name and of_name.isdisjoint(self.stepped):
            mine = {part.lineno for part in self._chain(self._differentiated(), self.line, of_name)}
            other = [at for at in self._around() if at < min(self.step, lines[-1]) and name in read_by(
                on_lines(self.file)[at]) and at not in mine]
            return self._detached(other[:1], name) or Mended() if len(other) == 1 else Mended()
        if self.stepped:
            return self._again(self._chain(self._differentiated(), self.line, of_name))
        return Mended("keep it in the first, backward(retain_graph=True)" + _or_sum(of_second, self.optimizers),
                      given_too(self.file, lines[-1], ("backward",), "retain_graph=True"))

    def _around(self) -> list[int]:
        """The lines of the statements in the loop or function of the second backward(), in order."""
        inside = [*loops_around(self.file, self.line), *(node for node in holding(self.file, self.line) if isinstance(
            node, ast.FunctionDef))]
        start, end = (inside[-1].lineno, inside[-1].end_lineno or 0) if inside else (1, self.line)
        return sorted({node.lineno for at, node in on_lines(self.file).items() if start <= at <= end})

    def _differentiated(self) -> set[str]:
        """The names of what the second backward() is called of, or what a function that calls it is given."""
        statement = on_lines(self.file)[self.line]
        return {node.id for call in ast.walk(statement) if isinstance(
            call, ast.Attribute) and call.attr == "backward" for node in ast.walk(call.value) if isinstance(
                node, ast.Name)} or read_by(statement)

    def _all_leaves(self, names: Iterable[str]) -> set[int]:
        return {leaf for name in names for leaf in self.leaves(name)}

    def _chain(self, names: Iterable[str], before: int, among: set[int]) -> list[ast.Assign]:
        """The statements of the block before a line that made names of these parameters, in order; [] if not sure."""
        found, wanted = dict[int, ast.Assign](), [(name, before) for name in names]
        while wanted:
            name, end = wanted.pop()
            if among.isdisjoint(self.leaves(name)):
                continue
            made = [node for node in block_of(self.file, self.line)
                    if node.lineno < end and name in assigned_on(self.file, node.lineno)]
            if not made or not isinstance(made[-1], ast.Assign):
                return []
            if made[-1].lineno not in found:
                found[made[-1].lineno] = made[-1]
                wanted += [(each, made[-1].lineno) for each in read_by(made[-1])]
        return [found[at] for at in sorted(found)]

    def _cut(self, chain: list[ast.Assign], apart: Collection[int]) -> Mended | None:
        """The name that brings in what another optimizer trains, and nothing else, detached in the last statement."""
        for statement in reversed(chain):
            whole = self._all_leaves(assigned_on(self.file, statement.lineno))
            own = whole - set(apart)
            for name in sorted(read_by(statement)) if own else ():
                leaves = set(self.leaves(name))
                is_apart = leaves <= set(apart) and not any(own & each and leaves & each for each in self.optimizers)
                if leaves and is_apart:
                    return self._detached([statement.lineno], name)
        return None

    def _detached(self, lines: list[int], name: str) -> Mended | None:
        for at in lines:
            statement = on_lines(self.file)[at]
            value = getattr(statement, "value", None)
            if isinstance(value, ast.expr) and (new := replaced(self.file, value, ast.unparse(
                    _Detached(name).visit(copy.deepcopy(value))))):
                made = ", ".join(assigned_on(self.file, at)) or "what is computed there"
                return Mended(f"{made} is not to train what {name} was computed by: {name}.detach() at "
                              f"{self.file.rpartition('/')[2]}:{at}", new)
        return None

    def _again(self, chain: list[ast.Assign]) -> Mended:
        """What was computed before the step behind it; once more, where something between reads it."""
        chain = [node for node in chain if node.lineno < self.step]
        texts = [text_on(self.file, node.lineno).strip() for node in chain if node.lineno == node.end_lineno]
        if not self.step or not chain or len(texts) < len(chain):
            return Mended()
        step = on_lines(self.file).get(self.step)
        indent = " " * (step.col_offset if step is not None else 0)
        names = dict.fromkeys(name for node in chain for name in assigned_on(self.file, node.lineno))
        between = [on_lines(self.file)[at] for at in self._around() if chain[0].lineno < at <= self.step]
        is_read = any(names.keys() & read_by(node) for node in between if node not in chain)
        lines = after(self.file, self.step, f"\n{indent}".join(texts))
        for node in chain if lines and not is_read else ():
            lines = {**lines, **moved(self.file, node.lineno, lines)}
        return Mended(f"compute {', '.join(names)} {'again ' * is_read}after the step at "
                      f"{self.file.rpartition('/')[2]}:{self.step}", lines)


class _Detached(ast.NodeTransformer):
    """A name without its gradient."""

    def __init__(self, name: str) -> None:
        self.name = name

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """It detached."""
        return ast.parse(f"{node.id}.detach()", mode="eval").body if node.id == self.name else node


def _or_sum(leaves: set[int], optimizers: list[set[int]]) -> str:
    """The other way, where one optimizer has all of them."""
    return "; or one backward() of the sum, (loss1 + loss2).backward()" * any(leaves <= each for each in optimizers)
