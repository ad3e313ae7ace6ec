"""What the user arranges before a run: watches and breakpoints, feeds, a train op."""
from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from ....api import train as optimizers
from ....api.math.norms import clip_by_global_norm
from ....core.errors import ArgumentError, KindError
from ....core.graph import Graph, Operation, Tensor
from ....core.traversal import dependencies
from ....runtime.fetch import Fetches
from ....runtime.session import Session
from ...analysis.why import why_none
from ...derivatives.gradients_debugger import GradientsDebugger, private_debugger
from ...facts.answers import Feed, Trained, WatchRow
from ...facts.graph_lists import trainable_tensors, variables_of
from ...facts.roles import PLACEHOLDERS, role_of
from ...facts.stats import statistics
from ...language.conditions import Condition, parse_condition
from ...language.watches import Watch, WatchList
from ..state import Machine

_OPTIMIZERS = {"sgd": "GradientDescentOptimizer", "gradientdescent": "GradientDescentOptimizer",
               "momentum": "MomentumOptimizer", "adam": "AdamOptimizer", "rmsprop": "RMSPropOptimizer",
               "adagrad": "AdagradOptimizer", "adadelta": "AdadeltaOptimizer", "ftrl": "FtrlOptimizer"}


class Feeding(Machine):
    """Arranges runs: what is watched, what is fed, what is trained."""

    def _begin(self, graph: Graph, session: Session | None) -> None:
        super()._begin(graph, session)
        self.watches = WatchList()
        self.gradients: GradientsDebugger = private_debugger()
        self._constants: dict[Tensor, Any] = {}
        self._overrides: dict[Tensor, Any] = {}
        self._passed: set[int] = set()  # breakpoints that stopped inside of the open run, or might have
        self._frozen: dict[str, Any] = {}  # variables that runs may not change
        self._source: Iterator[Any] | None = None
        self._source_name = ""
        self._train_op: Operation | None = None
        self._last: Fetches | None = None
        self._last_whole: Fetches | None = None  # together with what was looked at
        self._last_op: Operation | None = None
        self._sights: dict[Any, Any] = {}  # of what runs fetch: what to look at in them

    # ---- watches and breakpoints --------------------------------------------------------
    def watch(self, *targets: str, condition: str = "", every: int = 1, level: str = "stats") -> WatchRow:
        """Track these tensors and their gradients from now on; stop only where `condition` holds.

        every: in every so many runs. level: "stats", or "full": the values, which replay gives in any case.
        """
        if not targets:
            raise ArgumentError("nothing to watch: name a tensor, a handle or a /regex/")
        names = tuple(dict.fromkeys(name for target in targets for name in self._worth_watching(target)))
        parsed = self._condition(condition)
        return self._row(self.watches.add("watch", targets, names, condition=parsed, every=every, level=level))

    def _condition(self, text: str) -> Condition | None:
        """A condition, None for an empty text. Raises ArgumentError, or UnknownNameError for what it names."""
        return parse_condition(text, self._name_in_condition) if text.strip() else None

    def _name_in_condition(self, target: str, is_gradient: bool) -> str:
        """The name of a tensor that a condition asks about; refuses one whose gradient there cannot be."""
        tensor = self.targets.one(target)
        if is_gradient:
            y, inner = self._y_of(""), self.targets.inner
            given = [t for t in inner.outer_op(tensor.op).outputs if t.dtype.base_dtype.is_differentiable
                     ] if inner.has(tensor) else [tensor]
            if all(self.derivatives.gradient(y, t)[0] is None for t in given):
                why = f": {why_none(y, given[0]).text}" if given else ", which no gradient gets into"
                raise ArgumentError(f"there is no gradient of {y.name} at {tensor.name!r}{why}\nask: why {target}")
        return tensor.name

    def _worth_watching(self, target: str) -> list[str]:
        """The tensors of a target; of a `/regex/`, those of the model that can have a gradient, if there are any."""
        found = self.targets.all(target)
        if target.startswith("/"):
            begin = dependencies([op.inputs[1] for op in self.graph.operations.values()
                            if op.type in ("Assign", "AssignVariableOp") and len(op.inputs) > 1])
            y = self._default_y()
            begin -= dependencies([y]) if y is not None else set()
            found = [t for t in found if t.dtype.base_dtype.is_differentiable and t.op not in begin
                     and role_of(t.op) in ("forward", "variable", "placeholder")] or found
        return [tensor.name for tensor in found]

    def break_at(self, target: str = "", *, step: int | None = None, condition: str = "",
                 exclude: str = "", temporary: bool = False, inside: bool = False) -> WatchRow:
        """Stop after a run that computes `target`, after run number `step`, or where `condition` holds.

        The condition is asked of `target`, without one of all that is differentiable; exclude: names to leave out.
        temporary: it goes at its first stop. inside: ask the condition inside of runs, at the op of `target` and of its
        gradient, and stop there; such runs are made op by op.
        """
        if not target and step is None and not condition:
            raise ArgumentError("break where? name a tensor, a step, or a condition: break loss if nan")
        parsed = self._condition(condition)
        names = self.resolve(target) if target else self._names_for(parsed)
        if inside and (parsed is None or any(map(parsed.asks, ("harmful", "none", "ratio", "changed")))):
            raise ArgumentError("inside of a run a condition on the value can be asked: nan, norm(.) > 1e3; whether it "
                                "harms, is missing, changed or moves a variable is known after the run")
        if inside and (within := next(filter(self.targets.inner.has_name, names), "")):
            raise ArgumentError(f"{within!r} is inside of a branch or loop, which runs as a whole: leave out --inside, "
                                "and the condition is asked of each turn after the run")
        row = self.watches.add("break", (target,) if target else (), names, condition=parsed, step=step,
                               exclude=exclude, is_temporary=temporary, at_op=inside)
        return self._row(row)

    def _names_for(self, condition: Condition | None) -> tuple[str, ...]:
        """What a breakpoint without a target has to look at."""
        if condition is None or not condition.asks_target:
            return ()
        if condition.seeks_harm and (y := self._default_y()) is not None:
            return (y.name, *(t.name for t in trainable_tensors(self.graph)))  # what is harmful reaches one of these
        return tuple(t.name for op in self.graph.operations.values() for t in op.outputs
                     if t.dtype.base_dtype.is_differentiable)

    def stops(self, kind: str = "") -> tuple[WatchRow, ...]:
        """Watches and breakpoints; kind: "watch", "break", or "" for both."""
        return tuple(self._row(watch) for watch in self.watches if kind in ("", watch.kind))

    def delete(self, *numbers: int) -> tuple[WatchRow, ...]:
        """Remove watches and breakpoints by number."""
        return tuple(self._row(self.watches.remove(number)) for number in numbers)

    def unwatch(self, *targets: str) -> tuple[WatchRow, ...]:
        """Stop tracking tensors: a watch loses these names, and goes when none is left. Gives the watches changed."""
        gone = {name for target in targets for name in self.resolve(target)}
        changed = []
        for watch in self.watches:
            if watch.kind == "watch" and gone.intersection(watch.names):
                watch.names = tuple(name for name in watch.names if name not in gone)
                changed.append(self._row(watch))
                if not watch.names:
                    self.watches.remove(watch.number)
        self.watches.version += 1
        if not changed:
            raise ArgumentError(f"{', '.join(targets)}: not watched")
        return tuple(changed)

    def enable(self, number: int, on: bool) -> WatchRow:
        """Switch a watch or breakpoint on or off."""
        watch = self.watches.get(number)
        watch.enabled = on
        return self._row(watch)

    def ignore(self, number: int, count: int) -> WatchRow:
        """Let the next `count` hits pass."""
        watch = self.watches.get(number)
        watch.ignore = count
        return self._row(watch)

    def condition(self, number: int, text: str) -> WatchRow:
        """Give a watch or breakpoint another condition; an empty text takes it away."""
        watch, parsed = self.watches.get(number), self._condition(text)
        if watch.kind == "break" and not watch.targets and watch.step is None:
            watch.names = self._names_for(parsed)
        watch.condition = parsed
        return self._row(watch)

    def commands(self, number: int, lines: tuple[str, ...]) -> WatchRow:
        """What to do at each of its stops: the stop carries these lines."""
        watch = self.watches.get(number)
        watch.commands = tuple(lines)
        return self._row(watch)

    def _row(self, watch: Watch) -> WatchRow:
        y = self._default_y()
        call = None if y is None else self.derivatives.script_call(y)
        found = {} if call is None else {t.name for t, g in call.found.items() if g is not None}
        return watch.row(sum(name in found for name in watch.names))

    # ---- feeds --------------------------------------------------------------------------
    def feed_from(self, source: Any) -> Feed:
        """Feed what a function, generator or list of the script gives for each run, from its beginning.

        Each item is a dict, or a tuple in the order of the placeholders. A function is called for each run (with the
        step, if it takes an argument), a generator function once.
        """
        if isinstance(source, str):
            source = self._handle_value(source)
        self._source = _items(source, lambda: self.step + 1)
        self._source_name = getattr(source, "__name__", type(source).__name__)
        return Feed(", ".join(t.name for t in self.placeholders()), "", None, self._source_name)

    def _handle_value(self, name: str) -> Any:
        if name not in self.handles:
            raise ArgumentError(f"the script has no {name!r}")
        return self.handles[name]

    def clear_feeds(self) -> None:
        """Feed nothing by hand any more."""
        self._constants.clear()
        self._source, self._source_name = None, ""

    def feeds(self) -> tuple[Feed, ...]:
        """What the next run would be fed, as far as it is known before."""
        rows = [self._feed_row(t, v, "constant") for t, v in self._constants.items()]
        if self._source is not None:
            return (*rows, *(Feed(t.name, "", None, self._source_name) for t in self.placeholders()
                             if t not in self._constants))
        last = self.moments[-1].feeds if self.moments else {}
        return (*rows, *(self._feed_row(t, v, "the last run") for t, v in last.items() if t not in self._constants))

    def _feed_row(self, tensor: Tensor, value: Any, source: str) -> Feed:
        array = np.asarray(value)
        text = str(array.tolist()) if array.size <= 6 else f"{array.dtype.name}{list(array.shape)}"
        return Feed(tensor.name, text, statistics(array), source)

    def placeholders(self) -> list[Tensor]:
        """The placeholders, in the order they were made."""
        return [op.outputs[0] for op in self.graph.operations.values() if op.type in PLACEHOLDERS[:1]]

    def _what_if(self) -> dict[Tensor, Any]:
        return self._overrides

    def _present_feeds(self) -> dict[Tensor, Any]:
        return {**self._constants, **self._overrides}

    def _next_feeds(self) -> dict[Any, Any] | None:
        """The feed_dict of the debugger's next own run; None when the source is exhausted."""
        feeds: dict[Any, Any] = {}
        if self._source is not None:
            try:
                feeds = self._as_feed_dict(next(self._source))
            except StopIteration:
                return None
        elif self.moments:
            feeds = dict(self.moments[-1].feeds)
        return {**feeds, **self._constants}

    def _as_feed_dict(self, item: Any) -> dict[Any, Any]:
        if isinstance(item, dict):
            return {self.targets.outside(key) if isinstance(key, str) else key: value for key, value in item.items()}
        places = self.placeholders()
        if not isinstance(item, (list, tuple)) or len(item) != len(places):
            raise KindError(f"{self._source_name} gave {type(item).__name__}, expected a feed_dict or a tuple of "
                            f"{len(places)} values for {', '.join(t.name for t in places)}")
        return dict(zip(places, item))

    # ---- training -----------------------------------------------------------------------
    def train(self, y: str = "", *, optimizer: str = "sgd", lr: float = 0.01, variables: tuple[str, ...] = (),
              clip_norm: float | None = None) -> Trained:
        """Build a train op for y under a GradientsDebugger, watches applied; `run` then runs it.

        optimizer: sgd, momentum, adam, rmsprop, adagrad, adadelta or ftrl. variables: the trainable ones by default.
        clip_norm: bound of the norm of all gradients together.
        """
        tensor = self._y_of(y)
        made = _optimizer(optimizer, lr)
        chosen = self._variables(variables)
        with self.graph.as_default(), self.gradients:
            self.gradients.watch_gradients_by_tensors(self.graph, [*(v for v in chosen), *self._watched_tensors()])
            pairs = made.compute_gradients(tensor, chosen)
            reasons = [(v.name, why_none(tensor, v.handle_tensor).text) for g, v in pairs if g is None]
            if len(reasons) == len(pairs):
                raise ArgumentError(f"no variable gets a gradient of {tensor.name}:\n" +
                                    "\n".join(f"{name}: {reason}" for name, reason in reasons[:5]))
            if clip_norm is not None:
                clipped, _ = clip_by_global_norm([g for g, _ in pairs], clip_norm)
                pairs = [(g, v) for g, (_, v) in zip(clipped, pairs)]
            self._train_op = made.apply_gradients(pairs)
        self._y = tensor
        return Trained(tensor.name, type(made).__name__, self._train_op.name, tuple(v.name for v in chosen),
                       tuple(reasons),
                       tuple(self.gradients.gradient_tensors()), self._uninitialized())

    def _watched_tensors(self) -> list[Tensor]:
        return [self.targets.one(name) for watch in self.watches for name in watch.names]

    def _variables(self, names: tuple[str, ...]) -> list[Any]:
        listed = variables_of(self.graph)
        if not names:
            found = [variable for variable, trainable in listed if trainable]
            if not found:
                raise ArgumentError("there is no trainable variable in the graph")
            return found
        by_op = {variable.op: variable for variable, _ in listed}
        found = []
        for name in dict.fromkeys(name for target in names for name in self.resolve(target)):
            op = self.targets.one(name).op
            op = op.inputs[0].op if op not in by_op and op.inputs else op  # `W/read` stands for W
            if op not in by_op:
                raise ArgumentError(f"{name!r} is not a variable: variables are "
                                    f"{', '.join(o.name for o in list(by_op)[:8])}")
            found.append(by_op[op])
        return list(dict.fromkeys(found))


def _optimizer(name: str, lr: float) -> Any:
    key = name.lower().removesuffix("optimizer")
    if key not in _OPTIMIZERS:
        near = [known for known in _OPTIMIZERS if known.startswith(key)] if key else []
        if len(near) != 1:
            raise ArgumentError(f"no optimizer is called {name!r}: there are {', '.join(_OPTIMIZERS)}")
        key = near[0]
    kind = getattr(optimizers, _OPTIMIZERS[key])
    return kind(lr, 0.9) if key == "momentum" else kind(lr)


def _items(source: Any, step: Any) -> Iterator[Any]:
    """One item for each run."""
    if inspect.isgeneratorfunction(source):
        return iter(source())
    if isinstance(source, dict):
        return itertools.repeat(source)
    if callable(source):
        return _calls(source, step)
    if hasattr(source, "__next__"):
        return source
    if isinstance(source, (list, tuple)):
        return iter(source)
    raise KindError(f"expected a function, generator, list or dict to feed from, found {type(source).__name__}")


def _calls(function: Any, step: Any) -> Iterator[Any]:
    try:
        wants = [p for p in inspect.signature(function).parameters.values()
                 if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    except (TypeError, ValueError):
        wants = []
    if len(wants) > 1:
        raise KindError(f"{getattr(function, '__name__', function)!r} takes {len(wants)} arguments, expected none or "
                        "the step")
    first = function(step()) if wants else function()
    if hasattr(first, "__next__"):
        yield from first
        return
    yield first
    while True:
        yield function(step()) if wants else function()

