"""Machine: what every part of the Debugger shares: graph, session, names, remembered runs, values of any of them."""
from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...core.errors import ArgumentError, AutodiffError, UnknownNameError
from ...core.graph import Graph, Operation, Tensor, get_default_graph
from ...core.indexed_slices import IndexedSlices, dense
from ...core.traversal import dependencies
from ...gradients.blocked_reasons import gradient_calls
from ...runtime.cursor import Execution
from ...runtime.feed import Feeds
from ...runtime.plan.state import Variables
from ...runtime.session import Session
from ..derivatives.derivatives import Derivatives
from ..facts.graph_lists import trainable_tensors, variables_of
from ..facts.records import RunRecord, Stats
from ..facts.roles import VARIABLES, is_variable
from ..facts.stats import statistics
from ..history.feed_copies import Keeper
from ..history.recording import Recorder
from ..history.replay import Moment, Replayer, moment_of
from ..history.ring import Ring
from ..language.targets import Targets, tensors_of

_LOSS_NAMES = ("loss", "total_loss", "cost", "objective", "error", "y")
_NEEDS = 256  # groups of tensors whose needs are kept
BUDGET = 64 << 20  # bytes that variables and feeds of past runs may take


class Machine:
    """graph, session: under the debugger. handles: the script's variables by name. step: runs so far.

    records: RunRecords, oldest first. result: what the last run gave, in the structure of its fetches.
    """

    def __init__(self, graph: Graph | None = None, session: Session | None = None, *,
                 handles: dict[str, Any] | None = None, script: str = "") -> None:
        self.handles: dict[str, Any] = {}
        self.script_name = script
        self.step = 0
        self.records: deque[RunRecord] = deque(maxlen=10_000)
        self.result: Any = None
        self.budget = BUDGET  # bytes that remembered runs may take
        self._own_session: Session | None = None
        self._begin(graph or (session.graph if session is not None else get_default_graph()), session)
        self.handles.update(handles or {})

    def _begin(self, graph: Graph, session: Session | None) -> None:
        """Start afresh with a graph."""
        self.graph, self._session = graph, session
        self.derivatives = Derivatives(graph)
        self.targets = Targets(graph, self.handles, self._gradient_tensor, lambda: self.derivatives.hidden.operations)
        self._replayer = Replayer(graph, self.targets.inner)
        self.moments = Ring(self._replayer)
        self._reader, self._keeper = Feeds(graph), Keeper()
        self._y: Tensor | None = None
        self._told: Any = None
        self._told_y: Tensor | None = None
        self._execution: Execution | None = None
        self._recorder: Recorder | None = None
        self._view: int | None = None  # a past step that is looked at, None for the present
        self._is_edited = False  # whether variables were changed by hand since the last run
        self._needed: dict[tuple[Tensor, ...], tuple[set[Tensor], set[str]]] = {}

    def attach(self, graph: Graph | None = None, session: Session | None = None, *,
               handles: dict[str, Any] | None = None) -> None:
        """Go on with another graph, session or namespace of the script; None keeps what is there.

        A session brings its graph. Remembered runs and what was built go with the old graph.
        """
        wanted = graph or (session.graph if session is not None else None)
        if handles is not None:
            self.handles.clear()
            self.handles.update(handles)
            self._told = None
        if wanted is not None and wanted is not self.graph:
            limit = self.moments.disk.limit if self.moments.disk is not None else 0
            self.moments.spill(0)
            self._begin(wanted, session)
            self.moments.resume(limit)
        elif session is not None:
            self._session = session

    @property
    def session(self) -> Session:
        """The script's session, or one of the debugger's own."""
        if self._session is not None and not self._session.closed:
            return self._session
        if self._own_session is None or self._own_session.graph is not self.graph:
            self._own_session = Session(graph=self.graph)
            if self._session is not None:  # the script closed its own: go on from the values it left
                self._own_session.variables.update(self._session.variables)
                self._own_session.runs, self._own_session.entropy = self._session.runs, self._session.entropy
        return self._own_session

    # ---- names --------------------------------------------------------------------------
    def names(self) -> list[str]:
        """Every word that stands for a tensor: handles, then tensor names."""
        return self.targets.words()

    def resolve(self, target: str) -> tuple[str, ...]:
        """Tensor names for a name, unique suffix, handle, `/regex/`, `%12` or `g12`. At least one.

        Raises UnknownNameError, with the nearest candidates, or ArgumentError for an ambiguous suffix.
        """
        return tuple(tensor.name for tensor in self.targets.all(target))

    def short(self, name: str) -> str:
        """The short handle of a tensor: `%12`; `g12` stands for its gradient."""
        return self.targets.short(self.targets.one(name))

    @property
    def y(self) -> str:
        """Name of the tensor that gradients are of by default; "" if there is none."""
        tensor = self._default_y()
        return tensor.name if tensor is not None else ""

    @y.setter
    def y(self, target: str) -> None:
        self._y = self.targets.outside(target)

    def _y_of(self, target: str) -> Tensor:
        """The y that is meant. Raises ArgumentError if none is given and none can be told."""
        if target:
            return self.targets.outside(target)
        found = self._default_y()
        if found is None:
            raise ArgumentError("no gradient of what? there is no train op, no gradient call, and no scalar called "
                                "loss or cost\nname it: grad Y X")
        return found

    def _default_y(self) -> Tensor | None:
        if self._y is not None:
            return self._y
        version = (self.graph.version, len(self.graph.extras.get("calls", ())))
        if self._told != version:
            self._told, self._told_y = version, self._tell_y()
        return self._told_y

    def _tell_y(self) -> Tensor | None:
        """The tensor that is probably meant: what was differentiated, what is called a loss, the last scalar."""
        called = self._differentiated()
        if called is not None:
            return called
        for name in _LOSS_NAMES:
            for tensor in tensors_of(self.handles.get(name)):
                if _is_scalar(tensor) and tensor.graph is self.graph:
                    return tensor
        listed = [t for key in ("losses",) for t in self.graph.collections.get(key, ()) if isinstance(t, Tensor)]
        if listed:
            return listed[-1]
        return next((t for op in reversed(list(self.graph.operations.values())) for t in op.outputs
                     if _is_scalar(t) and op.gradient_of is None and op.inputs and not t._consumers), None)

    def _differentiated(self) -> Tensor | None:
        """The y of the script's last gradient call for trainable variables, else of its last for anything."""
        calls = [call for call in gradient_calls(self.graph) if call.ys[0].op.gradient_of is None]
        trainable = set(trainable_tensors(self.graph))
        trained = [call for call in calls if trainable.intersection(call.xs)]
        return (trained or calls)[-1].ys[0] if calls else None

    def _gradient_tensor(self, tensor: Tensor) -> Tensor | None:
        """The gradient of the default y at a tensor, dense; built if need be."""
        y = self._default_y()
        found = None if y is None else self.derivatives.gradient(y, tensor)[0]
        if isinstance(found, IndexedSlices):
            with self.derivatives.hidden.building():
                return dense(found)
        return found

    # ---- moments and values -------------------------------------------------------------
    def _moment(self, step: int | None = None) -> Moment:
        """What to evaluate at: a past step, else the last run; the present if there was no run or values were set."""
        if step is not None:
            found = next((m for m in self.moments if m.step == step), None)
            if found is None:
                kept = f"{self.moments[0].step} to {self.moments[-1].step}" if self.moments else "none"
                raise ArgumentError(f"step {step} is not remembered: there are {kept}")
            return found
        if self._view is not None:
            past, changed = self._moment(self._view), self._what_if()
            return replace(past, feeds={**past.feeds, **changed}) if changed else past
        if self.moments and not self._is_edited:
            return self.moments[-1]
        feeds = {**(self.moments[-1].feeds if self.moments else {}), **self._present_feeds()}
        return moment_of(self.session, feeds, self.step)

    def _moment_for(self, tensors: Sequence[Tensor], step: int | None = None) -> Moment:
        """The moment to evaluate these at: as `_moment`, but of past runs the last that fed all they need.

        So a look at the loss after a run that only read a variable is a look at the last run of the loss.
        """
        latest = self._moment(step)
        if step is not None or self._view is not None or not self.moments or latest is not self.moments[-1]:
            return latest
        placeholders, variables = self._needs(tuple(tensors))
        return next((m for m in reversed(self.moments) if placeholders <= m.feeds.keys()
                     and variables <= m.variables.keys()),
                    latest)

    def _needs(self, tensors: tuple[Tensor, ...]) -> tuple[set[Tensor], set[str]]:
        """The placeholders and variables that tensors are computed from."""
        if tensors not in self._needed:
            if len(self._needed) > _NEEDS:
                self._needed.clear()
            below = dependencies([self.targets.inner.outer(t) for t in tensors])
            self._needed[tensors] = ({op.outputs[0] for op in below if op.type == "Placeholder"},
                                     {op.name for op in below if op.type in VARIABLES})
        return self._needed[tensors]

    def _what_if(self) -> dict[Tensor, Any]:
        """Values that the user put in place of what is computed."""
        return {}

    def _present_feeds(self) -> dict[Tensor, Any]:
        """What the user feeds by hand."""
        return {}

    def _when(self, moment: Moment) -> str:
        if self._view is not None and moment.step == self._view and moment not in self.moments:
            return f"step {moment.step}, changed"
        return f"step {moment.step}" if moment in self.moments else "now"

    def _values(self, tensors: Sequence[Any], moment: Moment, feeds: dict[Tensor, Any] | None = None) -> list[Any]:
        """Values of tensors at a moment, by replay; a variable's is the one before that run."""
        plain = [t for t in dict.fromkeys(tensors) if not (isinstance(t, Tensor) and is_variable(t))]
        found = dict(zip(plain, self._replayer.values(moment, plain, feeds))) if plain else {}
        return [found[t] if t in found else self._variable_value(t, moment.variables) for t in tensors]

    def _variable_value(self, tensor: Tensor, variables: Mapping[str, Any]) -> Any:
        if tensor.op.name not in variables:
            raise UnknownNameError(f"variable {tensor.op.name!r} has no value yet: it is not initialized\nrun the "
                                   "script up to its initializer, or run a step of a train op")
        return variables[tensor.op.name]

    def _values_known(self, ops: Iterable[Operation], moment: Moment) -> dict[Tensor, Any]:
        """Values of all outputs of `ops` that can be computed at a moment."""
        wanted, found = [], {}
        for op in ops:
            for tensor in op.outputs:
                if is_variable(tensor):
                    if op.name in moment.variables:
                        found[tensor] = moment.variables[op.name]
                elif not tensor.dtype.is_ref and tensor.dtype.name not in ("resource", "variant", "string"):
                    wanted.append(tensor)
        found.update(self._replayer.values_if_possible(moment, wanted) if wanted else {})
        return found

    def _stats_of(self, tensor: Any, moment: Moment) -> Stats | None:
        """Figures of one tensor at a moment; None if it cannot be computed."""
        try:
            return statistics(self._values([tensor], moment)[0])
        except AutodiffError:
            return None

    def _initialize(self) -> int:
        """Give the variables that have no value their initial ones; count of them. For the debugger's own runs."""
        session = self.session
        missing = [variable for variable, _ in variables_of(self.graph) if variable.op.name not in session.variables]
        if missing:
            session.run([variable.initializer for variable in missing])
        return len(missing)

    def _uninitialized(self) -> int:
        values: Variables | dict[str, Any] = self.session.variables
        return sum(variable.op.name not in values for variable, _ in variables_of(self.graph))


def _is_scalar(tensor: Tensor) -> bool:
    return tensor.dims == () and tensor.dtype.base_dtype.is_differentiable


def as_number(value: Any) -> float | None:
    """A real scalar as a float, else None."""
    if type(value) is np.float32:
        return float(value)
    array = np.asarray(value)
    return float(array) if array.shape == () and array.dtype.kind in "fiu" else None
