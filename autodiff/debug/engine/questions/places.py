"""Places: where an op was made, what the script's lines made, and what a run's plan made of the ops."""
from __future__ import annotations

import os
import re
from typing import Any

from ....core.errors import ArgumentError, AutodiffError
from ....core.graph import Operation, Tensor
from ....core.site import source_lines
from ...facts import graph_lists
from ...facts.answers import Neighbors, OpTree, Source, SourceFile
from ...facts.plan_rows import RunPlan, plan_of
from ...facts.roles import place_of, traceback_of
from ..runs.stepper import Stepper
from ..state import State
from .lists import Lists


class Places:
    """Goes between ops, the script's lines and the plan."""

    def __init__(self, state: State, stepper: Stepper, lists: Lists) -> None:
        self.state, self.model, self.log, self.stepper, self.lists = state, state.model, state.log, stepper, lists

    def where(self, target: str = "") -> Neighbors:
        """How an op was made, what it takes and who takes it; without a target, the op the open run stands at."""
        op = self.model.targets.operation(target) if target else self.stepper.current_op()
        if op is None:
            raise ArgumentError("no run is open: name an operation, or go through one with step")
        producers, consumers = graph_lists.neighbors(op)
        return Neighbors(graph_lists.op_row(op), tuple(map(graph_lists.op_row, producers)),
                          tuple(map(graph_lists.op_row, consumers)), traceback_of(op))

    def tree(self, target: str, *, outputs: bool = False, depth: int = 1, control: bool = False) -> OpTree:
        """What an op takes, down to `depth`, each op's own inputs once; outputs: who takes what it gives instead.

        control: with the ops that are only waited for.
        """
        seen: set[Operation] = set()

        def below(op: Operation, left: int, is_control: bool) -> OpTree:
            next_to = self._next_to(op, outputs, control)
            again = op in seen and bool(next_to)
            if again or not left:
                return OpTree(graph_lists.op_row(op), (), is_control, again, 0 if again else len(next_to))
            seen.add(op)
            children = tuple(below(other, left - 1, waits) for other, waits in next_to)
            return OpTree(graph_lists.op_row(op), children, is_control)

        return below(self.model.targets.operation(target), depth, False)

    def files(self, pattern: str = "") -> tuple[SourceFile, ...]:
        """The files whose lines made the forward ops, those that made most first.

        pattern: only ops whose names match this regex from the beginning.
        """
        made: dict[str, list[Operation]] = {}
        for op in self.model.targets.operations():
            if op.gradient_of is None and re.match(pattern, op.name) and (at := place_of(op)) is not None:
                made.setdefault(at.file, []).append(op)
        rows = [SourceFile(file, len(ops), sum(len(op.outputs) for op in ops),
                           min(at.line for op in ops if (at := place_of(op)) is not None))
                for file, ops in made.items()]
        return tuple(sorted(rows, key=lambda row: -row.ops))

    def source(self, place: str = "", *, around: int = 5) -> Source:
        """Lines of a script with the ops they made and gradient norms: `FILE:LINE`, a line number, or a target."""
        file, line = self._place(place)
        lines = source_lines(file)
        if not lines:
            raise ArgumentError(f"cannot read {file!r}")
        if line > len(lines) or line < 1:
            raise ArgumentError(f"{os.path.basename(file)} has {len(lines)} lines, there is no line {line}")
        made = graph_lists.made_on(self.model.targets.operations(), file)
        first, last = line - around, line + around
        here = [t for n in range(first, last + 1) for op in made.get(n, ()) for t in op.outputs]
        return Source(file, graph_lists.source_lines(lines, first, last, made, self._norms(here), line))

    def plan(self, target: str = "") -> RunPlan:
        """What the last run's plan made of every op it needs; target: of one op, or of those that match a `/regex/`.

        The plan is that of the run as it was made, with all that is watched, which is always really computed.
        Raises ArgumentError if nothing was run yet.
        """
        if self.state.last_whole is None or not self.state.moments:
            raise ArgumentError("nothing was run yet, so there is no plan: run a step first")
        wanted = None
        if len(target) > 2 and target[0] == target[-1] == "/":
            wanted = {op for op in self.model.graph.get_operations() if re.search(target[1:-1], op.name)}
        elif target:
            wanted = {self.model.targets.operation(target)}
        return plan_of(self.model.session, self.state.last_whole, tuple(self.state.moments[-1].feeds), wanted,
                       self.log.now)

    @staticmethod
    def _next_to(op: Operation, outputs: bool, control: bool) -> list[tuple[Operation, bool]]:
        """The ops before or behind one, and whether only control leads there."""
        producers, consumers = graph_lists.neighbors(op)
        found = [(other, not any(t.op is op for t in other.inputs)) for other in consumers] if outputs else \
            [(other, not any(t.op is other for t in op.inputs)) for other in producers]
        return [(other, waits) for other, waits in found if control or not waits]

    def _place(self, place: str) -> tuple[str, int]:
        match = re.fullmatch(r"(?:(?P<file>.+):)?(?P<line>\d+)", place)
        main = graph_lists.script_file(self.model.graph)
        if match and not (match["file"] and self.model.targets.exact(place)):
            wanted = match["file"] or main
            known = {site.file for op in self.model.graph.operations.values() for site in op.traceback[-1:]}
            file = wanted if os.path.exists(wanted) else next(
                (f for f in known if os.path.basename(f) == os.path.basename(wanted)), wanted)
            return file, int(match["line"])
        at = place_of(self.model.targets.operation(place)) if place else self._standing()
        if at is not None:
            return at.file, at.line
        if not main:
            raise ArgumentError("no script line is known" + (f" of {place!r}" if place else ""))
        return main, 1

    def _standing(self) -> Any:
        op = self.stepper.current_op()
        y = self.model.default_y()
        return place_of(op) if op is not None else place_of(y.op) if y is not None else None

    def _norms(self, tensors: list[Tensor]) -> dict[Tensor, float | None]:
        """Gradient norms of the last run, as far as some gradient call has them."""
        try:
            return {t: stats.norm for t, stats in self.lists.figures(tensors)[1].items()}
        except AutodiffError:
            return {}
