"""Case: a program and its remembered steps, as those ask who look for mistakes; each fact is computed once."""
from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from ....core.graph import Graph, Operation, Tensor
from ....core.traversal import ancestors, in_order, past, reached
from ....gradients.blocked_reasons import GradientCall
from ...facts.graph_lists import calls_of, operations_of
from ...facts.roles import ASKS, PLACEHOLDERS, VARIABLES, place_of
from ..findings import Finding
from ..update_blame import is_store
from .stepping import Update, outgrown, update_of

_HALF = 6  # training runs that are looked at at the beginning, and as many of the others
_PATIENCE = 500.0  # ms: fewer where so many runs take longer than this
SHAPES = (*ASKS, "OnesLike", "ZerosLike")  # of which only the shape of inputs counts
_LEARNT = 0.7  # of its first size: a loss below that has fallen
_ABSURD = 1e4  # times the last loss
_FEW = 0.1  # of a mean, below which a median is that of almost all
_BEGUN = 60  # steps of a training that has only begun

Values = Mapping[Tensor, Any]


@dataclass(eq=False)
class Run:
    """One remembered run. number: of the run; step: the training step that it is, or follows. ran: the ops of it.

    trains: it changed trainable variables. before, after: the variables' values. ms: what it took.
    """

    number: int
    step: int
    ran: frozenset[Operation]
    trains: bool
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    feeds: Mapping[Tensor, Any]
    fetched: tuple[Tensor, ...]
    ms: float = 0.0
    targets: tuple[Operation, ...] = ()


class Case:
    """graph, y: what is minimized. variables: trainable ones. runs: remembered, oldest first; none for the graph alone.

    look: the values of tensors in a run, where they can be had, with other values of some variables and tensors.
    failed: why the last run raised an error, or "". history: step and y of all training runs that are known, also of
    those that are not remembered. wholes: as of State. nonfinite: the first step at which y was not finite, 0 for none.
    guess_of: what y is for one answer to everything, inf where that is not known. is_over: no more runs will come.
    refused: how many looks there was no time for.
    """

    def __init__(self, graph: Graph, y: Tensor, variables: Sequence[Tensor], runs: Sequence[Run] = (),
                 look: Callable[..., Values] = lambda *_: {},
                 failed: str = "", history: Sequence[tuple[int, float]] = (), wholes: Mapping[Tensor, int] = {},
                 guess_of: Callable[[Case], float] = lambda case: float("inf"), is_over: bool = False,
                 refused: Callable[[], int] = lambda: 0) -> None:
        self.graph, self.y, self.variables, self.runs, self.failed = graph, y, list(variables), list(runs), failed
        self._look, self._history, self.wholes, self._guess_of = look, history, wholes, guess_of
        self.is_over, self._refused = is_over, refused
        self._wanted: dict[Tensor, None] = {y: None}
        self._seen: dict[int, dict[Tensor, Any]] = {}

    def about(self, y: Tensor) -> Case:
        """The same runs, asked about another loss."""
        return Case(self.graph, y, self.variables, self.runs, self._look, self.failed, wholes=self.wholes,
                    guess_of=self._guess_of, refused=self._refused)

    @cached_property
    def operations(self) -> list[Operation]:
        """The forward ones, producers first."""
        return [op for op in operations_of(self.graph) if op.gradient_of is None]

    @cached_property
    def behind(self) -> list[Operation]:
        """The forward ops that y is computed from, producers first."""
        return [op for op in in_order(ancestors([self.y])) if op.gradient_of is None]

    @cached_property
    def trained(self) -> set[Operation]:
        """What depends on trainable variables, otherwise than through a stop_gradient or a shape."""
        def takers(tensors: Iterable[Tensor]) -> list[Operation]:
            return [c for t in tensors for c in t._consumers if c.type != "StopGradient" and c.type not in SHAPES]
        return reached(takers(self.variables), lambda op: takers(op.outputs))

    @cached_property
    def first_layers(self) -> list[Operation]:
        """The forward ops that multiply what is not trained by what is."""
        return [op for op in self.behind if op.type in ("MatMul", "Conv2D") and op in self.trained
                and op.inputs[0].op not in self.trained]

    @cached_property
    def calls(self) -> list[GradientCall]:
        """The script's gradient calls of forward tensors."""
        return [call for call in calls_of(self.graph) if call.ys[0].op.gradient_of is None]

    @cached_property
    def updates(self) -> list[Update]:
        """Of trainable variables, by optimizers."""
        known = set(self.variables)
        return [update for op in operations_of(self.graph) if is_store(op) and op.inputs[0] in known
                and (update := update_of(op, self.calls)) is not None]

    @cached_property
    def own(self) -> list[Update]:
        """The updates by gradients of y."""
        return [update for update in self.updates if update.y is self.y]

    @cached_property
    def stepped(self) -> set[Operation]:
        """The variables that are updated by gradients of y, or that its runs left changed; all where none is known."""
        ran = [run for run in self.looked if self.y.op in run.ran]
        return {update.variable.op for update in self.own} or {v.op for v in self.variables if any(
            not np.array_equal(run.before[name], run.after[name]) for run in ran for name in (v.op.name,)
            if name in run.before and name in run.after)} or {v.op for v in self.variables}

    def variables_behind(self, tensor: Tensor) -> set[Operation]:
        """The trainable variables that a tensor is computed from."""
        return {v.op for v in self.variables} & ancestors([tensor])

    @cached_property
    def steps(self) -> list[Run]:
        """The training runs that put a gradient of y into a variable; where none is known to, all that train."""
        ops = {update.op for update in self.own}
        training = [run for run in self.runs if run.trains]
        return [run for run in training if not ops.isdisjoint(run.ran)] or training

    @cached_property
    def ms(self) -> float:
        """How long a training run takes."""
        return float(np.median([run.ms for run in self.steps])) if self.steps else 0.0

    @property
    def refused(self) -> int:
        """How many looks there was no time for."""
        return self._refused()

    @cached_property
    def looked(self) -> list[Run]:
        """The training runs whose values are looked at: the first, and some of the others to the last.

        Fewer of them where a run takes long, as each is made again several times.
        """
        half = int(np.clip(_PATIENCE / max(self.ms, 1e-3), 2, _HALF))
        first, others = self.steps[:half], self.steps[half:]
        places = sorted({int(i) for i in np.linspace(0, len(others) - 1, half)}) if others else []
        looked = first + [others[i] for i in places]
        for run in looked:  # what is made again for each question is made once
            run.before, run.after = dict(run.before), dict(run.after)
        return looked

    def want(self, *tensors: Tensor) -> None:
        """Have these looked at together with all else that is."""
        self._wanted.update(dict.fromkeys(tensors))

    def values(self, run: Run) -> Values:
        """The values in a run of what is wanted, as far as they can be had."""
        seen = self._seen.setdefault(run.number, {})
        missing = [t for t in self._wanted if t not in seen]
        if missing:
            seen.update(dict.fromkeys(missing))
            seen.update(self._look(run, missing, None))
        return {tensor: value for tensor, value in seen.items() if value is not None}

    def series(self, tensor: Tensor) -> list[np.ndarray]:
        """The values of a tensor in the runs that are looked at."""
        self.want(tensor)
        return [np.asarray(found[tensor]) for run in self.looked if tensor in (found := self.values(run))]

    def look(self, run: Run, tensors: Sequence[Tensor], variables: Mapping[str, Any], held: Values) -> Values:
        """The values of tensors in a run, had the variables had these, and other tensors those of `held`."""
        return self._look(run, tensors, variables, held)

    def with_variables(self, run: Run, tensor: Tensor, variables: Mapping[str, Any],
                       held: Values = MappingProxyType({})) -> float | None:
        """A scalar in a run, had the variables had these values, and tensors those of `held`."""
        found = self.look(run, [tensor], variables, held).get(tensor)
        return None if found is None or np.size(found) != 1 or np.iscomplexobj(found) else (
            float(np.asarray(found).reshape(())))

    @cached_property
    def losses(self) -> list[tuple[int, float]]:
        """Step and value of y in all training runs of which it is known."""
        known = dict(self._history)
        if len(known) < len(self.looked):
            for run in self.looked:
                value = self.values(run).get(self.y)
                if value is not None and np.size(value) and not np.iscomplexobj(value):
                    known[run.step] = float(np.mean(value))
        return sorted(known.items())

    @cached_property
    def again(self) -> list[tuple[int, float, float]]:
        """Of the steps looked at: which, y before it, and y of the same batch after it; what is behind a stop_gradient
        is then as it was before, as the step takes it to stay, such as a critic's judgement of an action."""
        stopped = [op.outputs[0] for op in self.behind if op.type == "StopGradient" and op.inputs[0].op in self.trained]
        self.want(self.y, *stopped)
        found = []
        for run in self.looked:
            values = self.values(run)
            value = values.get(self.y)
            if value is not None and np.size(value) == 1 and not np.iscomplexobj(value):
                after = self.with_variables(run, self.y, run.after, {t: values[t] for t in stopped if t in values})
                if after is not None:
                    found.append((run.step, float(np.asarray(value).reshape(())), after))
        return found

    @cached_property
    def nonfinite(self) -> int:
        """The first training step at which y was nan or inf; 0 for none."""
        return next((step for step, loss in self.losses if not np.isfinite(loss)), 0)

    @cached_property
    def is_spoiled(self) -> bool:
        """Whether y or a variable was nan or inf."""
        after = self.steps[-1].after if self.steps else {}
        return bool(self.nonfinite) or any(not np.isfinite(after[v.op.name]).all() for v in self.variables
                                           if v.op.name in after and np.asarray(after[v.op.name]).dtype.kind in "fc")

    @cached_property
    def first_loss(self) -> float:
        """y at the beginning: of the first step, or the mean of the first three if that is less; nan for none."""
        first = [loss for _, loss in self.losses[:3]]
        return min(first[0], _mean(first)) if first else float("nan")

    @cached_property
    def last_loss(self) -> float:
        """The mean of y over the last fifth of the steps; the median where a few batches, unlike the others, are most
        of it."""
        last = [loss for _, loss in self.losses[-max(3, len(self.losses) // 5):]]
        return usual if last and 0 < (usual := float(np.median(last))) < _FEW * _mean(last) else _mean(last)

    @property
    def went(self) -> str:
        """How the loss went, in words."""
        return f"the loss goes from {self.first_loss:.4g} to {self.last_loss:.4g}"

    @cached_property
    def learns(self) -> bool:
        """Whether the loss has fallen much, and below that of a guess, so that what is unusual did no harm."""
        return len(self.losses) > 3 and self.first_loss > 0 and self.last_loss < _LEARNT * min(
            self.first_loss, self.guess)

    @property
    def is_at_ease(self) -> bool:
        """Whether it learns what it is given; a first loss beyond all measure is better after any steps."""
        return self.learns and self.first_loss <= _ABSURD * max(abs(self.last_loss), 1.0)

    @cached_property
    def falls(self) -> bool:
        """Whether the loss of a training that has only begun has fallen by half, wherever it came from."""
        return 3 < len(self.losses) <= _BEGUN and self.last_loss < self.first_loss / 2

    @cached_property
    def guess(self) -> float:
        """y for the best answer that is the same for all examples; inf where it is not known."""
        return self._guess_of(self) if self.steps else float("inf")

    @cached_property
    def paces(self) -> list[tuple[int, Tensor, float]]:
        """Of the steps looked at, for each kernel that is updated: step, kernel, its change relative to its size."""
        found = []
        updated = {update.variable for update in self.updates if update.op in self.steps[0].ran} if self.steps else ()
        for run in self.looked:
            for variable in updated or self.variables:
                before, after = run.before.get(variable.op.name), run.after.get(variable.op.name)
                if before is None or after is None or np.ndim(before) < 2 or np.shape(before) != np.shape(after):
                    continue
                with np.errstate(all="ignore"):
                    size = float(np.linalg.norm(before))
                    if size:
                        found.append((run.step, variable, float(np.linalg.norm(np.subtract(after, before))) / size))
        return found


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def _mine(case: Case) -> list[Update]:
    """The updates by gradients of y; of several optimizers those of what diverged."""
    return outgrown(case.own, [run.before for run in case.looked])


def update_op(case: Case) -> Operation:
    """Where the training is written: the op that updates."""
    mine = _mine(case) or case.updates
    stores: Sequence[Operation] = [op for op in case.looked[0].ran if op.inputs and op.inputs[0] in case.variables
                                   and is_store(op)] if case.looked else []
    return mine[0].op if mine else min(stores, key=lambda op: op.index) if stores else case.y.op


def rate_of(case: Case, run: Run) -> float | None:
    """The learning rate in a run, None where it is not known."""
    tensor = next((u.rate for u in _mine(case) if u.rate is not None), None)
    if tensor is None:
        return None
    case.want(tensor)
    value = case.values(run).get(tensor)
    return None if value is None or np.size(value) != 1 else float(np.reshape(value, ()))


def gradients_of(case: Case) -> dict[Tensor, Tensor]:
    """The script's dense gradients of y by variable, but for complex ones, of which rules that compare know nothing."""
    variables = {x for x in case.variables if not x.dtype.base_dtype.is_complex}
    return {x: g for call in case.calls if call.ys[0] is case.y for x, g in call.found.items()
            if x in variables and isinstance(g, Tensor)}


def finding(severity: int, kind: str, at: Operation, text: str, remedy: str, *, target: str = "", ask: str = "",
            step: int = 0, confidence: str = "probable", written: object = "") -> Finding:
    """A Finding about an op and its line."""
    return Finding(severity, kind, at.name, at.type, target, text, remedy, ask or f"info op {at.name}", place_of(at),
                   step, confidence, str(written))


def held(tensor: Tensor) -> Operation:
    """The variable that a tensor was read from; else its own op."""
    return past(tensor, ("Identity", "ReadVariableOp")).op


def kernel_of(tensor: Tensor) -> Operation:
    """The variable that a factor of a layer is, perhaps transposed; else its own op."""
    is_turned = tensor.op.type == "Transpose" and len(tensor.dims or ()) == 2
    return held(tensor.op.inputs[0] if is_turned else tensor)


def is_variable_read(tensor: Tensor) -> bool:
    """Whether a tensor is the value of a variable."""
    return held(tensor).type in VARIABLES


def fed_behind(tensors: Sequence[Tensor]) -> set[Operation]:
    """The placeholders that tensors are computed from."""
    return {op for op in values_behind(tensors) if op.type in PLACEHOLDERS}


def values_behind(tensors: Sequence[Tensor], but: Collection[Tensor] = ()) -> set[Operation]:
    """What tensors are computed from, without that of which only the shape counts, and not through those of `but`."""
    return reached([t.op for t in tensors if t not in but], lambda op: [
        t.op for t in op.inputs if t not in but] if op.type not in SHAPES else [])
