"""Watches: watches and breakpoints by number, with the conditions they stop at."""
from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from ...core.errors import ArgumentError, AutodiffError, UnknownNameError
from ...core.traversal import dependencies
from ..analysis.why import why_none
from ..facts.answers import WatchRow
from ..facts.graph_lists import operations_of, trainable_tensors
from ..facts.records import Stop
from ..facts.roles import ASSIGNS, role_of
from ..language.conditions import Condition, Other, parse_condition
from ..language.targets import is_short
from ..language.watches import Watch, WatchList
from .model import Model


class Watches:
    """What is looked at in each run of a model, and when it stops; iterates over the Watch of each number."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._list = WatchList()
        self._extra: list[Condition] = []  # conditions asked of runs without a watch or breakpoint

    def __iter__(self) -> Iterator[Watch]:
        return (watch for watch in self._list if watch.place is None)

    @property
    def version(self) -> int:
        """Changes whenever another thing is looked at."""
        return self._list.version

    def due(self, run: int) -> list[int]:
        """Numbers of those that look at a run."""
        return [watch.number for watch in self if watch.is_due(run)]

    def remove(self, watch: Watch) -> None:
        """Let a watch or breakpoint go."""
        self._list.remove(watch.number)

    def others(self, run: int | None = None) -> set[Other]:
        """The questions that conditions ask of tensors they name; with a run, only of conditions due then."""
        return {other for condition in self._conditions(run) for other in condition.others}

    def ask(self, word: str) -> bool:
        """Whether any condition asks this."""
        return any(condition.asks(word) for condition in self._conditions())

    def _conditions(self, run: int | None = None) -> list[Condition]:
        return [*(watch.condition for watch in self if watch.condition is not None
                  and (run is None or watch.is_due(run))), *self._extra]

    @contextmanager
    def asking(self, text: str) -> Iterator[Condition | None]:
        """Have runs look at what a condition asks about; gives the condition, None for an empty text.

        Raises ArgumentError for what is no condition, UnknownNameError for an unknown name in it.
        """
        condition = self.parse(text)
        if condition is None or self.others().issuperset(condition.others):
            yield condition
            return
        self._extra.append(condition)
        self._list.touch()
        try:
            yield condition
        finally:
            self._extra.remove(condition)
            self._list.touch()

    def watch(self, *targets: str, condition: str = "", every: int = 1, level: str = "stats") -> WatchRow:
        """Track these tensors and their gradients from now on; stop only where `condition` holds.

        A target `grad(TARGET)`: the condition is asked of the gradients alone.
        every: in every so many runs. level: "stats", or "full": the values, which replay gives in any case.
        """
        if not targets:
            raise ArgumentError("nothing to watch: name a tensor, a handle or a /regex/")
        bare = [_of_gradient(target) for target in targets]
        names = tuple(dict.fromkeys(name for target, _ in bare for name in self._worth_watching(target)))
        parsed = self.parse(condition)
        return self._row(self._list.add("watch", targets, names, condition=parsed, every=every, level=level,
                                        of_gradients=all(is_gradient for _, is_gradient in bare)))

    def watch_names(self, pattern: str, *, condition: str = "", every: int = 1, level: str = "stats") -> WatchRow:
        """As `watch`, of the tensors whose whole names a regex matches from their beginning, as in GradientsDebugger.

        Raises UnknownNameError if there are none.
        """
        matches = re.compile(pattern).match
        names = tuple(t.name for op in self.model.targets.operations() for t in op.outputs if matches(t.name))
        if not names:
            raise UnknownNameError(f"no tensor name begins with what {pattern!r} matches").explain(
                hint=self.model.targets.near(pattern))
        return self._row(self._list.add("watch", (f"/^(?:{pattern})/",), names, condition=self.parse(condition),
                                        every=every, level=level))

    def break_at(self, target: str = "", *, step: int | None = None, condition: str = "",
                 exclude: str = "", temporary: bool = False, inside: bool = False) -> WatchRow:
        """Stop after a run that computes `target`, after step number `step`, or where `condition` holds.

        The condition is asked of `target`, without one of all that is differentiable; exclude: names to leave out.
        temporary: it goes at its first stop. inside: ask the condition inside of runs, at the op of `target` and of its
        gradient, and stop there; such runs are made op by op.
        """
        if not target and step is None and not condition:
            raise ArgumentError("break where? name a tensor, a step, or a condition: break loss if nan")
        parsed = self.parse(condition)
        bare, of_gradients = _of_gradient(target)
        names = self.model.resolve(bare) if target else self._names_for(parsed)
        if inside and (parsed is None or any(map(parsed.asks, ("harmful", "none", "ratio", "changed")))):
            raise ArgumentError("inside of a run a condition on the value can be asked: nan, norm(.) > 1e3; whether it "
                                "harms, is missing, changed or moves a variable is known after the run")
        if inside and (within := next(filter(self.model.targets.inner.has_name, names), "")):
            raise ArgumentError(f"{within!r} is inside of a branch or loop, which runs as a whole: leave out --inside, "
                                "and the condition is asked of each turn after the run")
        row = self._list.add("break", (target,) if target else (), names, condition=parsed, step=step,
                             exclude=exclude, is_temporary=temporary, at_op=inside, of_gradients=of_gradients)
        return self._row(row)

    def break_at_line(self, file: str, line: int, *, test: str = "", temporary: bool = False) -> WatchRow:
        """Stop the script before a line of it runs; test: only where this holds, which `stop_at_line` is told."""
        target = f"{os.path.basename(file)}:{line}"
        return self._row(self._list.add("break", (target,), (), is_temporary=temporary,
                                        place=(os.path.realpath(file), line), test=test))

    def lines(self) -> dict[str, set[int]]:
        """The lines that breakpoints stop before, by the real path of their file."""
        found: dict[str, set[int]] = {}
        for watch in self._list:
            if watch.place is not None and watch.enabled:
                found.setdefault(watch.place[0], set()).add(watch.place[1])
        return found

    def stop_at_line(self, file: str, line: int, holds: Callable[[str], bool]) -> Stop | None:
        """The stop of a breakpoint at a line that is about to run; None if there is none, or it is passed over."""
        for watch in self._list:
            if watch.place == (file, line) and watch.enabled and (not watch.test or holds(watch.test)) and watch.hit():
                if watch.is_temporary:
                    self._list.remove(watch.number)
                return Stop("break", watch.targets[0], watch.number, watch.targets[0], watch.commands)
        return None

    def keep_lines(self, other: "Watches") -> None:
        """Take over the breakpoints at lines, which are of no graph."""
        for watch in other._list:
            if watch.place is not None:
                self._list.keep(watch)

    def renew(self, other: "Watches") -> list[str]:
        """Take over those of another graph, by name, with no hits yet. Gives what says which stay with the other: here
        is nothing of their names.
        """
        missing = []
        for watch in other:
            try:
                self._list.keep(self._renewed(watch))
            except AutodiffError as error:
                missing.append(f"{watch.kind} {watch.number} at {' '.join(watch.targets) or 'any'}: {error.sentence}")
            else:
                other.remove(watch)
        self._list.touch()
        return missing

    def _renewed(self, watch: Watch) -> Watch:
        targets = tuple(dict.fromkeys(name for typed in watch.targets
                                      for name in (watch.names if is_short(typed) else (typed,))))
        condition = self.parse(watch.condition.text) if watch.condition is not None else None
        bare = [_of_gradient(target)[0] for target in targets]
        if watch.kind == "watch":
            names = tuple(dict.fromkeys(name for target in bare for name in self._worth_watching(target)))
        else:
            names = self.model.resolve(bare[0]) if bare else self._names_for(condition)
        return replace(watch, targets=targets, names=names, condition=condition, hits=0)

    def rows(self, kind: str = "") -> tuple[WatchRow, ...]:
        """Watches and breakpoints; kind: "watch", "break", or "" for both."""
        return tuple(self._row(watch) for watch in self._list if kind in ("", watch.kind))

    def delete(self, *numbers: int) -> tuple[WatchRow, ...]:
        """Remove watches and breakpoints by number."""
        return tuple(self._row(self._list.remove(number)) for number in numbers)

    def unwatch(self, *targets: str) -> tuple[WatchRow, ...]:
        """Stop tracking tensors: a watch loses these names, and goes when none is left. Gives the watches changed."""
        gone = {name for target in targets for name in self.model.resolve(_of_gradient(target)[0])}
        changed = []
        for watch in self._list:
            if watch.kind == "watch" and gone.intersection(watch.names):
                self._list.change(watch.number, names=tuple(name for name in watch.names if name not in gone))
                changed.append(self._row(watch))
                if not watch.names:
                    self._list.remove(watch.number)
        self._list.touch()
        if not changed:
            raise ArgumentError(f"{', '.join(targets)}: not watched")
        return tuple(changed)

    def enable(self, number: int, on: bool) -> WatchRow:
        """Switch a watch or breakpoint on or off."""
        return self._row(self._list.change(number, enabled=on))

    def ignore(self, number: int, count: int) -> WatchRow:
        """Let the next `count` hits pass."""
        return self._row(self._list.change(number, ignore=count))

    def condition(self, number: int, text: str) -> WatchRow:
        """Give a watch or breakpoint another condition; an empty text takes it away."""
        watch = self._list.get(number)
        if watch.place is not None:
            return self._row(self._list.change(number, test=text))
        parsed = self.parse(text)
        if watch.kind == "break" and not watch.targets and watch.step is None:
            self._list.change(number, names=self._names_for(parsed))
        return self._row(self._list.change(number, condition=parsed))

    def commands(self, number: int, lines: tuple[str, ...]) -> WatchRow:
        """What to do at each of its stops: the stop carries these lines."""
        return self._row(self._list.change(number, commands=tuple(lines)))

    @property
    def stops_inside(self) -> bool:
        """Whether some breakpoint stops inside of runs."""
        return any(watch.is_inside for watch in self)

    def parse(self, text: str) -> Condition | None:
        """A condition, None for an empty text. Raises ArgumentError, or UnknownNameError for what it names."""
        return parse_condition(text, self._name_in_condition) if text.strip() else None

    def _name_in_condition(self, target: str, is_gradient: bool) -> str:
        """The name of a tensor that a condition asks about; refuses one whose gradient there cannot be."""
        tensor = self.model.targets.one(target)
        if is_gradient:
            y, inner = self.model.y_of(""), self.model.targets.inner
            given = [t for t in inner.outer_op(tensor.op).outputs if t.dtype.base_dtype.is_differentiable
                     ] if inner.has(tensor) else [tensor]
            if all(self.model.derivatives.gradient(y, t)[0] is None for t in given):
                why = f": {why_none(y, given[0]).text}" if given else ", which no gradient gets into"
                raise ArgumentError(f"there is no gradient of {y.name} at {tensor.name!r}{why}",
                                    hint=f"ask: why {target}")
        return tensor.name

    def _worth_watching(self, target: str) -> list[str]:
        """The tensors of a target; of a `/regex/`, those of the model that can have a gradient, if there are any."""
        found = self.model.targets.all(target)
        if target.startswith("/"):
            begin = dependencies([op.inputs[1] for op in self.model.graph.operations.values()
                            if op.type in ASSIGNS and len(op.inputs) > 1])
            y = self.model.default_y()
            begin -= dependencies([y]) if y is not None else set()
            found = [t for t in found if t.dtype.base_dtype.is_differentiable and t.op not in begin
                     and role_of(t.op) in ("forward", "variable", "placeholder")] or found
        return [tensor.name for tensor in found]

    def _names_for(self, condition: Condition | None) -> tuple[str, ...]:
        """What a breakpoint without a target has to look at."""
        if condition is None or not condition.asks_target:
            return ()
        if condition.seeks_harm and (y := self.model.default_y()) is not None:
            return (*dict.fromkeys(t.name for t in (y, *self.model.losses)),
                    *(t.name for t in trainable_tensors(self.model.graph)))  # what is harmful reaches one of these
        return tuple(t.name for op in operations_of(self.model.graph) for t in op.outputs
                     if t.dtype.base_dtype.is_differentiable)

    def _row(self, watch: Watch) -> WatchRow:
        y = self.model.default_y()
        call = None if y is None else self.model.derivatives.script_call(y)
        found = {} if call is None else {t.name for t, g in call.found.items() if g is not None}
        return watch.row(sum(name in found for name in watch.names))


def _of_gradient(target: str) -> tuple[str, bool]:
    """The target inside of `grad(…)`, and True; any other target as it is, and False."""
    match = re.fullmatch(r"grad\s*\((.*)\)", target.strip())
    return (match[1].strip(), True) if match else (target, False)
