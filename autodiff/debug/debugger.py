"""Debugger: the machine behind every door, made of parts; each part has its own state and can be asked by itself."""
from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..core.graph import Graph, get_default_graph
from ..runtime.session import Session
from .analysis.mistakes.all_mistakes import ranked
from .analysis.mistakes.modes import left_on
from .derivatives.curvature import Report
from .engine.log import RunLog
from .engine.model import Model
from .engine.overrides import Overrides
from .engine.questions.assembly import Questions
from .engine.questions.evaluate import ValueHistory
from .engine.runs.assembly import RunParts
from .engine.state import BUDGET, State
from .facts import answers, derivative_answers
from .facts.answers import OpCard, OpRow, Recorded, Script, TensorRow, Trained, VariableRow, WatchRow
from .facts.records import RunRecord
from .facts.steps import When
from .history import recording

if TYPE_CHECKING:
    from concurrent.futures import Executor

__all__ = ["Debugger"]


class Debugger:
    """A model under the debugger. What it answers is frozen: names, numbers and places, never tensors.

    It has parts, made anew for each graph, and passes on here what is asked most; each part can be asked for more.
    model: graph, session, names; state: the runs remembered. watches, feeds, debuggers, training: what is arranged
    before a run. hooks: the cut to whatever makes runs. runs, stepper, inside: make them; history: goes back to them.
    values, gradients, gradients_with, hessians, update_stages, explain, rules, checkup, comparison, lists, places:
    answer. edits: change; recordings: write and read.
    """

    def __init__(self, graph: Graph | None = None, session: Session | None = None, *,
                 handles: dict[str, Any] | None = None, script: str = "") -> None:
        self.log, self._history = RunLog(), ValueHistory()
        self._trained: dict[str, Any] = {}  # the parts for the last graph that trained, after it was left
        graph = graph or (session.graph if session is not None else get_default_graph())
        self._begin(Model(graph, session, handles=dict(handles or {}), script=script), BUDGET)

    def _begin(self, model: Model, budget: int) -> None:
        """Make the parts for a graph."""
        self.model, self.state = model, State(model, Overrides(), self.log, budget)
        runs = RunParts(self.state)
        self.watches, self.feeds, self.training, self.evidence = runs.watches, runs.feeds, runs.training, runs.evidence
        self.debuggers = runs.debuggers
        self.hooks, self.runs, self.stepper, self.inside = runs.hooks, runs.runner, runs.stepper, runs.inside
        self.history = runs.history
        asked = Questions(self.state, runs, self._history)
        self.values, self.gradients, self.hessians = asked.values, asked.gradients, asked.hessians
        self.gradients_with, self.trials = asked.gradients_with, asked.trials
        self.update_stages, self.explain, self.rules = asked.stages, asked.explain, asked.rules
        self.checkup, self.comparison, self.edits = asked.checkup, asked.comparison, asked.edits
        self.recordings, self.lists, self.places = asked.recordings, asked.lists, asked.places

    def __repr__(self) -> str:
        name, last = os.path.basename(self.model.script_name), self.records[-1] if self.records else None
        facts = [f"gradients of {self.y}"] * bool(self.y) + [f"step {self.step}" if last else "no run yet"]
        if last is not None and last.loss is not None:
            facts.append(f"{last.loss_name} {last.loss:.4g}")
        return f"<Debugger{' of ' * bool(name)}{name}: {', '.join(facts)}, {self.graph!r}>"

    def attach(self, graph: Graph | None = None, session: Session | None = None, *,
               handles: dict[str, Any] | None = None) -> None:
        """Go on with another graph, session or namespace of the script; None keeps what is there.

        A session brings its graph. Remembered runs and what was built go with the old graph, but for the last one that
        trained: its own come back with it.
        """
        model = self.model
        wanted = graph or (session.graph if session is not None else None)
        if handles is not None:
            model.use_handles(handles)
        if wanted is not None and wanted is not model.graph:
            limit = self.state.moments.disk.limit if self.state.moments.disk is not None else 0
            self.state.moments.spill(0)
            watches, before = self.watches, self._trained
            if self.state.has_trained:
                self._trained = {name: part for name, part in vars(self).items() if name != "_trained"}
            if before and before["model"].graph is wanted:
                self._go_back_to(before)
                if session is not None:
                    self.model.use_session(session)
            else:
                self._begin(Model(wanted, session, handles=model.handles, script=model.script_name), self.state.budget)
            self.watches.keep_lines(watches)
            self.state.moments.resume(limit)
        elif session is not None:
            model.use_session(session)

    def _go_back_to(self, parts: dict[str, Any]) -> None:
        """Go on with the parts for a graph that was left; where the script stands is as it is now."""
        now = self.model
        vars(self).update(parts)
        self.model.stand_where(now)

    @property
    def graph(self) -> Graph:
        """The graph under the debugger."""
        return self.model.graph

    @property
    def session(self) -> Session:
        """The script's session, or one of the debugger's own."""
        return self.model.session

    @property
    def handles(self) -> dict[str, Any]:
        """The script's variables by name."""
        return self.model.handles

    @property
    def y(self) -> str:
        """Name of the tensor that gradients are of by default; "" if there is none."""
        return self.model.y

    @y.setter
    def y(self, target: str) -> None:
        self.model.choose_y(target)

    def resolve(self, target: str) -> tuple[str, ...]:
        """Tensor names for a target: Model.resolve."""
        return self.model.resolve(target)

    @property
    def step(self) -> int:
        """How many steps there were: training runs; where nothing trains, runs."""
        return self.log.now.step

    def at(self, run: RunRecord | int) -> When:
        """A run, given by its record or number, as a step: `step 3`, or `run 7 (after step 3)`."""
        return self.log.at(run)

    @property
    def records(self) -> Sequence[RunRecord]:
        """The records of runs, oldest first."""
        return self.log.records

    @property
    def result(self) -> Any:
        """What the last run gave, in the structure of its fetches."""
        return self.log.result

    def on_run(self, session: Session, fetches: Any, feed_dict: dict | None = None, *,
               call: Any = None) -> tuple[Any, RunRecord]:
        """A run that the script asks for, in whatever thread: Runner.on_run."""
        with self.log.turn:
            if session.graph is not self.model.graph:
                self.attach(session=session)
            return self.runs.on_run(session, fetches, feed_dict, call=call)

    def run(self, steps: int = 1, *, until: str = "", fetches: Any = None) -> answers.Runs:
        """Run whole steps until done, a stop, or the condition `until` holds: Runner.run."""
        return self.runs.run(steps, until=until, fetches=fetches)

    def holds(self, condition: str) -> bool:
        """Whether a condition holds of the last run, or the one looked at: Evidence.holds."""
        return self.evidence.holds(condition)

    def train(self, y: str = "", *, optimizer: Any = "sgd", lr: float = 0.01, variables: tuple[str, ...] = (),
              clip_norm: float | None = None, grad_loss: str = "") -> Trained:
        """Build a train op for y, which `run` then runs: Training.train."""
        return self.training.train(y, optimizer=optimizer, lr=lr, variables=variables, clip_norm=clip_norm,
                                   grad_loss=grad_loss)

    def feed(self, target: str, value: Any) -> answers.Feed:
        """Feed this value from now on. value: array, number, or text: a NumPy expression."""
        return self.feeds.feed(target, self.values.as_value(value))

    def feed_from(self, source: Any) -> answers.Feed:
        """Feed what a function, generator or list of the script gives: RunFeeds.feed_from."""
        return self.feeds.feed_from(source)

    def watch(self, *targets: str, condition: str = "", every: int = 1, level: str = "stats") -> WatchRow:
        """Track tensors and their gradients; stop only where `condition` holds: Watches.watch."""
        return self.watches.watch(*targets, condition=condition, every=every, level=level)

    def break_at(self, target: str = "", *, step: int | None = None, condition: str = "", exclude: str = "",
                 temporary: bool = False, inside: bool = False) -> WatchRow:
        """Stop after a run that computes `target`, after run `step`, or where `condition` holds: Watches.break_at."""
        return self.watches.break_at(target, step=step, condition=condition, exclude=exclude, temporary=temporary,
                                     inside=inside)

    def stops(self, kind: str = "") -> tuple[WatchRow, ...]:
        """Watches and breakpoints; kind: "watch", "break", or "" for both."""
        return self.watches.rows(kind)

    def delete(self, *numbers: int) -> tuple[WatchRow, ...]:
        """Remove watches and breakpoints by number."""
        return self.watches.delete(*numbers)

    def value(self, target: str, *, step: int | None = None) -> answers.Value:
        """Value of a tensor in the last run, or at `step`; a variable's is its present one."""
        return self.values.value(target, step=step)

    def evaluate(self, expression: str, *, keep: bool = True) -> answers.Value:
        """A NumPy expression over tensors, values of the script and `$n`; becomes the next `$n` if `keep`."""
        return self.values.evaluate(expression, keep=keep)

    def grad(self, x: str, y: str = "", *, order: int = 1, per_example: bool = False,
             step: int | None = None) -> derivative_answers.Gradient:
        """d y / d x, x any tensor; built on demand: Gradients.grad."""
        return self.gradients.grad(x, y, order=order, per_example=per_example, step=step)

    def grads(self, target: str = "", *, y: str = "", by: str = "", sort: str = "") -> derivative_answers.GradTable:
        """A table of gradients, by default of the trainable variables: Gradients.grads."""
        return self.gradients.grads(target, y=y, by=by, sort=sort)

    def hessian(self, x: str | Sequence[str], y: str = "", **options: Any) -> derivative_answers.Hessian:
        """Second derivatives of y by x, x flattened, or by several xs together: Hessians.hessian."""
        return self.hessians.hessian(x, y, **options)

    def stages(self, y: str = "", *, step: int | None = None) -> derivative_answers.Stages:
        """What became of each gradient on its way into its variable: UpdateStages.of."""
        return self.update_stages.of(y, step=step)

    def why(self, target: str = "", y: str = "", *, kind: str = "", order: int = 1) -> Any:
        """Why a gradient is None, not finite, zero or tiny, or a value not finite: Explanations.why."""
        return self.explain.why(target, y, kind=kind, order=order)

    def path(self, y: str, x: str) -> Any:
        """How the gradient flows from y ("": the default) to x, with its norm at each op: Explanations.path."""
        return self.explain.path(y, x)

    def workers(self, on: str) -> AbstractContextManager[Executor | None]:
        """An executor for Hessians and checks: `threads:4`, `processes:8`, `dask://HOST:PORT`; "" is none."""
        if not on:
            return nullcontext()
        from .engine.workers import workers

        return workers(on)

    def check(self, y: str = "", x: str = "", **options: Any) -> Any:
        """Compare the gradient rule of each op between y and x with central differences: RuleChecks.check."""
        return self.rules.check(y, x, **options)

    def doctor(self, *, static: bool = False, ignore: Sequence[str] = (), report: Report | None = None,
               hazards: bool = False) -> Any:
        """Ranked findings about the runs so far; static: about the graph alone: Checkup.doctor.

        After runs of another graph, as of an evaluation, it goes back to the one that trained.
        """
        if self._trained and not self.state.has_trained:
            beside = left_on(op for moment in self.state.moments for op in moment.ran)
            self._go_back_to(self._trained)
            self.model.note("it looks at the graph that trained: the last runs were of another one")
            found = self.checkup.doctor(static=static, ignore=ignore, report=report, hazards=hazards)
            return replace(found, findings=ranked((*found.findings, *beside), ignore))
        return self.checkup.doctor(static=static, ignore=ignore, report=report, hazards=hazards)

    def diff(self, a: str, b: str = "", *, rtol: float = 1e-5) -> Any:
        """Compare steps, recordings or an .npz file tensor by tensor: Comparison.diff."""
        return self.comparison.diff(a, b, rtol=rtol)

    def set(self, target: str, value: Any) -> answers.Changed:
        """Change a variable now, or override a tensor's value in the runs to come: Edits.set."""
        return self.edits.set(target, value)

    def freeze(self, target: str) -> answers.Changed:
        """Hold a variable, or a tensor, at the value it has now."""
        return self.edits.freeze(target)

    def undo(self) -> str:
        """Take back the last set or freeze; gives what it was."""
        return self.edits.undo()

    def record(self, path: str, steps: slice | None = None, *, overwrite: bool = False,
               report: Report | None = None) -> Recorded:
        """Write every step from now on into a folder, or at once those of `steps` that are kept: Recordings.record."""
        return self.recordings.record(path, steps, overwrite=overwrite, report=report)

    def open_recording(self, path: str) -> Recorded:
        """Look at a recording instead: its graph, its steps; the last one at first."""
        found = recording.read(path)
        self.attach(found.graph, handles=dict(found.handles))
        return self.recordings.show(found, path)

    def tensors(self, pattern: str = "", *, stats: bool = False, role: str = "") -> tuple[TensorRow, ...]:
        """Tensors whose names match a regex or target: Lists.tensors."""
        return self.lists.tensors(pattern, stats=stats, role=role)

    def ops(self, pattern: str = "", *, role: str = "") -> tuple[OpRow, ...]:
        """Operations whose names match a regex, or that a target stands for."""
        return self.lists.ops(pattern, role=role)

    def op(self, target: str) -> OpCard:
        """All about one operation, with figures of the last run."""
        return self.lists.op(target)

    def variables(self, *, unused: bool = False) -> tuple[VariableRow, ...]:
        """The variables, and why one gets no gradient; unused: only those that y does not depend on."""
        return self.lists.variables(unused=unused)

    def nonfinite(self, kind: str = "") -> tuple[TensorRow, ...]:
        """Tensors with nan or inf in the last run; kind: "harmful", "masked", or "" for all."""
        return self.lists.nonfinite(kind)

    def script(self) -> Script:
        """The script and its graph in figures."""
        return self.lists.script()

    def where(self, target: str = "") -> answers.Neighbors:
        """How an op was made, what it takes and who takes it: Places.where."""
        return self.places.where(target)

    def source(self, place: str = "", *, around: int = 5) -> answers.Source:
        """Lines of a script with the ops they made and gradient norms: Places.source."""
        return self.places.source(place, around=around)
