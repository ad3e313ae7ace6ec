"""Model: what is under the debugger: a graph and its session, the script's names, and which y gradients are of."""
from __future__ import annotations

import re
from typing import Any

from ...core.errors import ArgumentError, AutodiffError
from ...core.graph import Graph, Tensor
from ...core.indexed_slices import IndexedSlices, dense
from ...core.traversal import ancestors
from ...runtime.feed import Feeds
from ...runtime.plan.variable_values import Variables
from ...runtime.session import Session
from ..analysis.advice import advice_of, spoken
from ..analysis.update_blame import is_store
from ..derivatives.derivatives import Derivatives
from ..facts.answers import TensorRow
from ..facts.graph_lists import calls_of, collected_in, operations_of, trainable_tensors, variables_of, version_of
from ..facts.records import Place, Stats
from ..facts.roles import PLACEHOLDERS, VARIABLES, at_line, is_named_by_type, place_of, role_of
from ..history.replay import continue_from
from ..language.targets import Targets, tensors_of

_LOSS_NAMES = ("loss", "total_loss", "cost", "objective", "error", "y")


class Model:
    """graph: under the debugger. handles: the script's variables by name. script_name: its file, "" if none is known.

    targets: finds tensors by what the user types. derivatives: gradients, the script's and those built on demand.
    reader: reads feed_dicts. chosen_y: the tensor the user named to differentiate, or None. is_alone: no script is
    left that would initialize its variables. raised: the error that it ended with, in words, its line, and its cause
    and remedy as far as they are known.
    """

    def __init__(self, graph: Graph, session: Session | None = None, *, handles: dict[str, Any] | None = None,
                 script: str = "") -> None:
        self.graph, self.script_name = graph, script
        self.handles = {} if handles is None else handles
        self.derivatives = Derivatives(graph)
        self.targets = Targets(graph, self.handles, self.gradient_tensor, lambda: self.derivatives.hidden.operations)
        self.reader = Feeds(graph)
        self.chosen_y: Tensor | None = None
        self.is_alone = False
        self.raised: tuple[str, Place | None, str] = "", None, ""
        self._notes: list[str] = []
        self._session, self._own_session = session, None  # type: Session | None, Session | None
        self._told: Any = None
        self._spoken: dict[str, str] = {}
        self._told_y: Tensor | None = None
        self._differentiated: tuple[Any, list[Tensor]] = None, []

    def use_session(self, session: Session) -> None:
        """Go on with another session of the same graph."""
        self._session = session

    def use_handles(self, handles: dict[str, Any]) -> None:
        """Go on with another namespace of the script."""
        self.handles.clear()
        self.handles.update(handles)
        self._told = None
        self._spoken.clear()

    def stand_where(self, other: Model) -> None:
        """Take from another graph's model what is of the script: its names, and how it ended."""
        self.use_handles(dict(other.handles))
        self.is_alone, self.raised = other.is_alone, other.raised

    def use_script_name(self, name: str) -> None:
        """Go on under another name."""
        self.script_name = name

    def choose_y(self, y: Tensor | str) -> None:
        """Take gradients of this tensor, or of what this target stands for, by default."""
        self.chosen_y = self.targets.outside(y) if isinstance(y, str) else y

    @property
    def session(self) -> Session:
        """The script's session, or one of the debugger's own."""
        if self._session is not None and not self._session.closed:
            return self._session
        if self._own_session is None or self._own_session.graph is not self.graph:
            self._own_session = Session(graph=self.graph)
            if self._session is not None:  # the script closed its own: go on from the values it left
                last = self._session
                continue_from(self._own_session, last.variables, last.runs, last.entropy, last.draws)
        return self._own_session

    @property
    def is_foreign(self) -> bool:
        """Whether the graph is a record of steps that the script computes by itself."""
        return "step_call" in self.graph.extras

    def is_same_loss(self, name: str, other: str) -> bool:
        """Whether two names are of one loss, of which a front end has another graph for each size of a batch."""
        ops = [self.targets.named(each.partition(":")[0]) for each in (name, other)]
        places = [place_of(op) for op in ops if op is not None and self.is_foreign]
        return name == other or len(places) == 2 and places[0] is not None and places[0] == places[1]

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

    def spoken(self, name: str) -> str:
        """What a tensor is called: its name without `:0`; of one that nobody has named, the script's variable that
        holds it, or its name with the line it was made at.
        """
        if name not in self._spoken:
            self._spoken[name] = self._call(name)
        return self._spoken[name]

    def _call(self, name: str) -> str:
        op = self.targets.named(name.partition(":")[0])
        plain = name.removesuffix(":0")
        if op is None or not is_named_by_type(op):
            return plain
        held = [self.targets.handle_of(tensor) for tensor in op.outputs if tensor.name == name]
        return next(filter(None, held), plain + at_line(place_of(op)))

    def told(self, found: Any) -> Any:
        """An answer with its sentences in the words of who reads it: placeholders and variables that nobody has named
        by the script's names, and what a front end says in place of TensorFlow's names.
        """
        held = {t.op: name for t, name in self.targets.handles_by_tensor().items() if name.isidentifier()
                and (t.op.type in PLACEHOLDERS or t.op.type in VARIABLES) and is_named_by_type(t.op)}
        pairs = [(re.compile(rf"(?<![\w/.(]){re.escape(op.name)}(:0)?(?![\w/]|:\d)"), name)
                 for op, name in held.items()]
        return spoken(found, [*advice_of(self.graph).words, *pairs])

    @property
    def y(self) -> str:
        """Name of the tensor that gradients are of by default; "" if there is none."""
        tensor = self.default_y()
        return tensor.name if tensor is not None else ""

    def y_of(self, target: str) -> Tensor:
        """The y that is meant. Raises ArgumentError if none is given and none can be told."""
        if target:
            return self.targets.outside(target)
        found = self.default_y()
        if found is None:
            raise ArgumentError("no gradient of what? there is no train op, no gradient call, and no scalar called "
                                "loss or cost", hint="name it: grad Y X")
        return found

    def default_y(self) -> Tensor | None:
        """The y that gradients are of if none is named; None if there is none."""
        if self.chosen_y is not None:
            return self.chosen_y
        if (stepped := self.graph.extras.get("step_loss")) is not None:  # of a front end that knows its loss
            return stepped
        if self._told != self._version:
            self._told, self._told_y = self._version, self._tell_y()
        return self._told_y

    @property
    def _version(self) -> tuple[Any, ...]:
        return (*version_of(self.graph), len(calls_of(self.graph)))

    def _tell_y(self) -> Tensor | None:
        """The tensor that is probably meant: what was differentiated, what is called a loss, the last scalar."""
        ys = self.losses or [call.ys[0] for call in calls_of(self.graph) if call.ys[0].op.gradient_of is None]
        if ys:
            return ys[-1]
        for name in _LOSS_NAMES:
            for tensor in tensors_of(self.handles.get(name)):
                if _is_scalar(tensor) and tensor.graph is self.graph:
                    return tensor
        listed = [t for t in collected_in(self.graph, "losses") if isinstance(t, Tensor)]
        if listed:
            return listed[-1]
        return next((t for op in reversed(list(self.graph.operations.values())) for t in op.outputs
                     if _is_scalar(t) and op.gradient_of is None and op.inputs and not t._consumers
                     and op.definition.no_grad is None), None)

    @property
    def losses(self) -> list[Tensor]:
        """What the script took gradients of for trainable variables; the chosen y alone.

        The last one last, but that of which the gradients are put into variables comes behind what is only looked at.
        """
        if self.chosen_y is not None:
            return [self.chosen_y]
        if self._differentiated[0] != self._version:
            self._differentiated = self._version, self._tell_losses()
        return self._differentiated[1]

    def _tell_losses(self) -> list[Tensor]:
        trainable = set(trainable_tensors(self.graph))
        calls = [call for call in calls_of(self.graph) if call.ys[0].op.gradient_of is None
                 and trainable.intersection(call.xs)]
        if len({call.ys[0] for call in calls}) > 1:
            stores = [op for op in self.graph.operations.values() if is_store(op)]
            behind = {*stores, *ancestors(t for op in stores for t in op.inputs)}
            calls.sort(key=lambda call: any(
                user in behind for each in call.found.values() if each is not None
                for user in (each.values if isinstance(each, IndexedSlices) else each)._consumers))
        return list(dict.fromkeys(call.ys[0] for call in reversed(calls)))[::-1]

    def gradient_tensor(self, tensor: Tensor) -> Tensor | None:
        """The gradient of the default y at a tensor, dense; built if need be."""
        y = self.default_y()
        found = None if y is None else self.derivatives.gradient(y, tensor)[0]
        if isinstance(found, IndexedSlices):
            with self.derivatives.hidden.building():
                return dense(found)
        return found

    def placeholders(self) -> list[Tensor]:
        """The placeholders, in the order they were made."""
        return [op.outputs[0] for op in operations_of(self.graph) if op.type in PLACEHOLDERS[:1]]

    def initialize(self) -> int:
        """Give the variables that have no value their initial ones; count of them. For the debugger's own runs."""
        session = self.session
        missing = [variable for variable, _ in variables_of(self.graph) if variable.op.name not in session.variables]
        if missing:
            session.run([variable.initializer for variable in missing])
        return len(missing)

    def initialize_alone(self) -> None:
        """At a question about the present: do what the script, which is at its end, never did, and note it."""
        if not self.is_alone or not self.count_uninitialized():
            return
        try:
            count = self.initialize()
        except AutodiffError:
            return  # an initializer wants a feed: the question says what is missing, if it needs the variable
        self._notes.append(f"{count} variable{'s' * (count != 1)} initialized by the script's own initializers; init "
                           "draws anew")

    def note(self, *texts: str) -> None:
        """Say something unasked, when the next answer is given."""
        self._notes += texts

    def take_notes(self) -> list[str]:
        """What was done unasked since this was asked last."""
        notes, self._notes = self._notes, []
        return notes

    def count_uninitialized(self) -> int:
        """How many variables have no value."""
        values: Variables | dict[str, Any] = self.session.variables
        return sum(variable.op.name not in values for variable, _ in variables_of(self.graph))


def _is_scalar(tensor: Tensor) -> bool:
    return tensor.dims == () and tensor.dtype.base_dtype.is_differentiable


def tensor_row(model: Model, tensor: Tensor, stats: Stats | None, gradient: Stats | None = None,
               handle: str | None = None) -> TensorRow:
    """handle: the script's name for it, if that was looked up for many tensors together."""
    known = model.targets.handle_of(tensor) if handle is None else handle
    return TensorRow(tensor.name, model.targets.short(tensor), tensor.op.type, tensor.dtype.base_dtype.name,
                     tensor.dims, role_of(tensor.op), known, place_of(tensor.op), stats, gradient)
