"""RuleChecks: whether the gradient rules are right."""
from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from ....api.control.custom import CustomRule
from ....core.errors import ArgumentError, AutodiffError
from ....core.function_graph import calls_python, functions_of, is_kernel
from ....core.graph import Operation, Tensor
from ....core.indexed_slices import IndexedSlices
from ....core.op import REGISTERED_GRADIENTS
from ....core.traversal import ancestors, dependencies, descendants
from ...analysis.advice import advice_of, differences
from ...analysis.findings import Check, RuleCheck
from ...analysis.float64_kernels import Kernels, widened
from ...analysis.flow import cuts_between
from ...analysis.rule_check import check_op
from ...derivatives.curvature import Report
from ...facts.function_calls import Calls
from ...facts.graph_lists import trainable_tensors
from ...facts.roles import PLACEHOLDERS, VARIABLES, at_line, is_variable, place_of
from ...history.gathering import gathered
from ...history.packing import Pack, named, opened, pack_ops
from ...history.replay import Moment
from ..state import State

if TYPE_CHECKING:
    from concurrent.futures import Executor

_STEP, _WIDE_STEP = 1e-6, 1e-4  # of the differences of the whole, in float64: a solver's steps show in nearer ones
_PARTIAL = 1e-3  # relative error above which the whole gradient is not that of y
_LINES = 8  # of each kind that are shown
_READ = (*PLACEHOLDERS, *VARIABLES, "ReadVariableOp")
_TOGETHER = 8  # ops that a worker is sent at once


class RuleChecks:
    """Compares rules with central differences, op by op."""

    def __init__(self, state: State) -> None:
        self.state, self.model = state, state.model

    def check(self, y: str = "", x: str = "", *, order: int = 1, executor: Executor | None = None,
              report: Report | None = None) -> Check:
        """Compare the gradient rule of each op between y and x (the trainable variables) with central differences.

        Each op alone, in float64, at the values of the last run and next to them. order 2: second derivatives too,
        and the ops that have none, which is known before any run. executor: where ops are judged, the same to the bit;
        those that hold Python code are not sent, and named in `here`. report: told of each op; Ctrl-C ends it with
        what is known by then.
        """
        if order not in (1, 2):
            raise ArgumentError(expected="an order of 1 or 2", found=order)
        top = self.model.y_of(y)
        xs = self._entering(self.model.targets.one(x)) if x else trainable_tensors(self.model.graph)
        if not xs:
            raise ArgumentError("there is no trainable variable", hint="name what to differentiate by: check Y X")
        ops = self.ops_between(top, xs)
        at = self.state.moment_of_training(top)
        values = self.known(ops, at)
        lists = [t for op in ops for t in (*op.inputs, *op.outputs) if t.dtype.name == "variant"]
        values.update(self.state.replayer.values_if_possible(at, lists) if lists else {})
        found: list[RuleCheck] = []
        done = 0
        sent, here, tasks = _sent(ops, values, order) if executor is not None else ([], [], [])
        try:
            with closing(gathered(executor, checks_of, tasks)) as parts:  # type: ignore[arg-type]
                results = dict.fromkeys(sent, chain.from_iterable(parts))
                for done, op in enumerate(ops):
                    if report is not None:
                        report(done, len(ops))
                    found += next(results[op]) if op in results else self._judged(op, values, order, at)
        except KeyboardInterrupt:
            if not found:
                raise
            summary = self._summary(top, xs, order, ops[:done], found, None)
            text = f"stopped by Ctrl-C after {done} of {len(ops)} ops: {summary.text}"
            return replace(summary, here=named(here), text=text)
        if order == 2:
            found += self._without_second(top, xs)
        found = self.excused(found, top, xs, at) + self._differing(top, at)
        return replace(self._summary(top, xs, order, ops, found, at), here=named(here))

    def excused(self, found: list[RuleCheck], y: Tensor, xs: list[Tensor], at: Moment) -> list[RuleCheck]:
        """Without blame for arguments made of each other, of which a rule may serve one, where the whole is right."""
        blamed = [check for check in found if check.verdict in ("wrong", "meant") and self._hangs_together(check)]
        whole = self._whole(y, xs, at) if blamed else None
        return found if whole is None or whole > _PARTIAL else [replace(
            check, verdict="unchecked", note="its arguments are made of each other, and the whole gradient is right")
            if check in blamed else check for check in found]

    def _hangs_together(self, check: RuleCheck) -> bool:
        """Whether an argument of a gradient function is made of another one of its function's, or that of it."""
        op, sources = self.model.targets.named(check.op), dict[Tensor, Tensor]()
        if op is not None and isinstance(REGISTERED_GRADIENTS.get(op.override or ""), CustomRule):
            sources = {t: t.op.inputs[0] for t in op.inputs if t.op.type == "Identity"}
        mine = next((source for t, source in sources.items() if t.name == check.input), None)
        return mine is not None and any(source.op in ancestors([mine]) or mine.op in ancestors([source])
                                        for t, source in sources.items() if t.name != check.input)

    def _judged(self, op: Operation, values: Mapping[Tensor, Any], order: int, at: Moment) -> list[RuleCheck]:
        if all(t in values for t in op.inputs):
            return self.checked(op, values, order, self.state.replayer.calls(at))
        return [RuleCheck(op.name, op.type, "", "unchecked", 1, None, None, None,
                          "its inputs have no values: run a step first", place_of(op))]

    def _entering(self, x: Tensor) -> list[Tensor]:
        """The tensor itself; of one inside of a branch or loop, what goes into that."""
        if not self.model.targets.inner.has(x):
            return [x]
        return [t for t in self.model.targets.inner.outer_op(x.op).inputs if t.dtype.base_dtype.is_differentiable]

    def checked(self, op: Operation, values: Mapping[Tensor, Any], order: int, inside: Calls) -> list[RuleCheck]:
        """An op; of a branch or loop the ops of its first call too."""
        found = check_op(op, values, self.model.derivatives.hidden.building, order)
        call = next(inside.of(op, values), None) if functions_of(op) else None
        for inner in call.ops if call is not None else ():
            if all(t in call.values for t in inner.inputs):  # type: ignore[union-attr]
                found += self.checked(inner, call.values, order, inside)  # type: ignore[union-attr]
        return found

    def known(self, ops: Sequence[Operation], at: Moment) -> dict[Tensor, Any]:
        """Values of some ops and what goes into them, and of all else that a gradient function of the script may read.
        """
        around = [op for op in self.model.graph.operations.values() if op.type in _READ] if any(
            op.override is not None for op in ops) else []
        return dict(self.state.values_known(dict.fromkeys((*around, *ops, *(t.op for op in ops for t in op.inputs))),
                                            at))

    def ops_between(self, y: Tensor, xs: Sequence[Tensor]) -> list[Operation]:
        """The model's operations that y is computed by from `xs`, in order."""
        found = ancestors([y]) & descendants(xs)
        return sorted((op for op in found if op.gradient_of is None and op.type != "ReadVariableOp"
                       and not is_variable(op.outputs[0])), key=lambda op: op.index)

    def _without_second(self, y: Tensor, xs: Sequence[Tensor]) -> list[RuleCheck]:
        """Ops at which the second derivative ends; from the graph alone."""
        found: dict[tuple[str, str], RuleCheck] = {}
        for x in xs:
            try:
                gradient = self.model.derivatives.gradient(y, x)[0]
            except AutodiffError:
                continue
            if gradient is None:
                continue
            source = gradient.values if isinstance(gradient, IndexedSlices) else gradient
            with contextlib.suppress(AutodiffError):
                self.model.derivatives.gradient(source, x)  # only when a rule is asked it says that it is blocked
            with self.model.derivatives.hidden.building():  # the way leads through hidden ops
                cuts = cuts_between(source, x)[0]
            for cut in cuts:
                if cut.kind in ("no rule", "blocked") or cut.op_type == "PyFunc":
                    found.setdefault((cut.op, cut.input), RuleCheck(
                        cut.op, cut.op_type, cut.input, "missing", 2, None, None, None,
                        f"no second derivative: {cut.reason}", cut.place))
        return list(found.values())

    def _summary(self, y: Tensor, xs: list[Tensor], order: int, ops: list[Operation], found: list[RuleCheck],
                 at: Moment | None) -> Check:
        """at: where the whole gradient is compared, too; None where it is not."""
        wrong = tuple(check for check in found if check.verdict == "wrong")
        missing = tuple(check for check in found if check.verdict == "missing")
        unchecked = tuple(check for check in found if check.verdict in ("unchecked", "meant"))
        right = sum(check.verdict == "right" for check in found)
        total = self._whole(y, xs, at) if at is not None else None
        if wrong:
            ruled = [c for c in wrong if c.op_type not in VARIABLES]
            names = ", ".join(dict.fromkeys(f"{c.op} ({c.op_type})" for c in ruled) or [c.op for c in wrong])
            said = f"rule of {names}" if ruled else f"of {names}: {wrong[0].note}{at_line(wrong[0].place)}"
            text = "\n  ".join([f"wrong: the gradient {said}", *self._lines_of(wrong)])
        elif missing:
            names = ", ".join(dict.fromkeys(f"{c.op} ({c.op_type})" for c in missing))
            text = f"there is no {'second derivative' if order == 2 else 'gradient rule'} of {names}"
        elif right:
            text = f"all {right} rules that could be judged are right, in {len(ops)} op{'s' * (len(ops) != 1)}"
        else:
            text = f"none of {len(ops)} ops could be judged"
        if total is not None and total > _PARTIAL and not wrong:
            held = self._held(y, xs)
            held += "".join(f"\nthe whole gradient is another than that of the loss by what is meant in {check.op}"
                            f"{at_line(check.place)}: {check.note}" for check in found if check.verdict == "meant")
            own = tuple(check for check in unchecked if check.op in advice_of(self.model.graph).lines)
            if own and not held:  # nothing else is left that could be wrong
                names = ", ".join(f"{check.op}{at_line(check.place)}" for check in own)
                text = (f"wrong: the whole gradient, by {total:.3g} of it; {text}, so that of {names} is to blame, "
                        "which could not be judged by itself")
                text = "\n  ".join([text, *self._lines_of(own)])
            text += held
        return Check(y.name, tuple(x.name for x in xs), order, wrong, missing, unchecked, right, len(ops), total, text)

    def _differing(self, y: Tensor, at: Moment) -> list[RuleCheck]:
        """Where somebody beside the graph has found another gradient in the last run."""
        advice = advice_of(self.model.graph)
        if not advice.gradients or not self.state.moments or at is not self.state.moments[-1]:
            return []
        xs = [x for x in trainable_tensors(self.model.graph) if x.op.name in advice.gradients]
        slopes = {x: g for x in xs if (g := self.model.derivatives.gradient(y, x)[0]) is not None}
        dense = [self.model.derivatives.dense(g) for g in slopes.values()]
        values = dict(zip(slopes, self.state.values(dense, at)))
        return differences(advice, {x: values.get(x) for x in xs})

    def _lines_of(self, wrong: tuple[RuleCheck, ...]) -> list[str]:
        """The lines of the gradient functions that are wrong, as far as somebody knows them."""
        known = advice_of(self.model.graph).lines
        return list(dict.fromkeys(line for check in wrong for line in known.get(check.op, ())))[:_LINES]

    def _held(self, y: Tensor, xs: list[Tensor]) -> str:
        """What holds a part of y constant on the way to xs, so that the gradient is not that of the whole y."""
        cuts = dict.fromkeys((cut.op, cut.op_type, at_line(cut.place)) for x in xs for cut in cuts_between(y, x)[0]
                             if cut.kind == "stop_gradient" and cut.first)
        some = [f"{op} ({kind}){at}" for op, kind, at in list(cuts)[:_LINES]]
        return f"\nthe whole gradient leaves out what is held constant in {', '.join(some)}" if some else ""

    def _whole(self, y: Tensor, xs: list[Tensor], at: Moment) -> float | None:
        """Relative error of the whole gradient along a random direction, in float64; None if not to be had."""
        gradients = {}
        try:
            for x in xs:
                gradient = self.model.derivatives.gradient(y, x)[0]
                if gradient is not None:
                    gradients[x] = self.model.derivatives.dense(gradient)
            return self._along_one_direction(y, gradients, at) if gradients else None
        except (AutodiffError, ArithmeticError, ValueError, TypeError, KeyError):
            return None

    def _along_one_direction(self, y: Tensor, gradients: dict[Tensor, Tensor], at: Moment) -> float | None:
        ops = dependencies([y, *gradients.values()])
        if any(functions_of(op) and calls_python(op) for op in ops):
            return None  # what Python gives for other inputs is not known
        leaves = [op for op in ops if not op.inputs or _is_given(op)]
        known = {t: widened(v) for t, v in self.state.values_known(leaves, at).items()}
        kernels, rng = Kernels(self.model.graph), np.random.default_rng(11)
        directions = {x: rng.standard_normal(np.shape(known[x])) for x in gradients}
        slopes = kernels.values(list(gradients.values()), known)
        analytic = sum(float(np.sum(directions[x] * dx)) for x, dx in zip(gradients, slopes))

        def moved(step: float) -> float:
            return float(np.sum(kernels.values([y], {**known, **_displaced(known, directions, step)})[0]))

        def error(step: float) -> float | None:
            numeric = (moved(step) - moved(-step)) / (2 * step)
            size = max(abs(analytic), abs(numeric))
            return abs(analytic - numeric) / size if np.isfinite(size) and size else None

        near = error(_STEP)
        if near is None or near <= _PARTIAL:
            return near
        wide = error(_WIDE_STEP)
        return near if wide is None else min(near, wide)


def _sent(ops: Sequence[Operation], values: Mapping[Tensor, Any],
          order: int) -> tuple[list[Operation], list[Operation], list[tuple[Any, ...]]]:
    """Ops that workers can judge, those that hold Python code, and the tasks that the first are, some in each.

    A branch or loop is judged here, as are the ops in it: which ran is known here.
    """
    def is_python(op: Operation) -> bool:
        return calls_python(op) or op.override in REGISTERED_GRADIENTS or op.type in REGISTERED_GRADIENTS

    here = [op for op in ops if is_python(op)]
    sent = [op for op in ops if op not in here and not functions_of(op) and all(t in values for t in op.inputs)]
    tasks: list[tuple[Any, ...]] = []
    for low in range(0, len(sent), _TOGETHER):
        some = sent[low:low + _TOGETHER]
        given = {t: values[t] for op in some for t in op.inputs}
        tasks.append((pack_ops(Moment(0, 1, 0, {}, given), some), [op.name for op in some], order))
    return sent, here, tasks


def checks_of(sent: Pack, names: Sequence[str], order: int) -> list[list[RuleCheck]]:
    """The findings of some ops: what a worker does."""
    part = opened(sent)
    return [check_op(part.graph.operations[name], part.moment.feeds, None, order) for name in names]


def _is_given(op: Operation) -> bool:
    """Whether an op gives what it gave in the run, whatever its inputs."""
    if functions_of(op):
        return calls_python(op)
    return op.definition.stateful and op.type != "Recall" and not is_variable(op.outputs[0]) and not is_kernel(op)


def _displaced(known: dict[Tensor, Any], directions: dict[Tensor, np.ndarray], step: float) -> dict[Tensor, Any]:
    found = {x: known[x] + step * direction for x, direction in directions.items()}
    for x, value in list(found.items()):
        found.update({op.outputs[0]: value for op in x._consumers if op.type == "ReadVariableOp"})
    return found
