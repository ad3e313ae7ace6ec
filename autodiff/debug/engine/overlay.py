"""An overlay: edits of a graph that are computed beside it, whose values take the place of what runs would compute.

Branches and loops with edits inside are the same calls of copied functions.
"""
from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from ...api.math.norms import clip_by_global_norm
from ...core.errors import ArgumentError
from ...core.function_graph import Function, FunctionGraph, finish, functions_of, is_repeatable
from ...core.graph import Graph, Operation, Tensor, get_default_graph
from ...core.indexed_slices import IndexedSlices, dense
from ...core.traversal import ancestors, dependencies, in_order
from ...gradients.backprop import gradients
from ...gradients.blocked_reasons import GradientCall
from ...gradients.control_flow import call_if, call_while
from ..analysis.edits.in_graph import Edit, copied
from ..analysis.edits.of_givens import MATRICES
from ..analysis.findings import Finding
from ..derivatives.derivatives import is_plain
from ..derivatives.hidden_ops import HiddenOps
from ..facts.graph_lists import calls_of, trainable_tensors
from ..facts.roles import ASKS, PLACEHOLDERS
from ..history.replay import Moment, Replayer
from .model import Model

_OF_VALUES = ("failed", "masked nan", "masked inf")  # findings of what an op was given
Now = Callable[[Tensor], Tensor]


class Overlay:
    """What `edits` make of a model's y and of its gradients, built out of the script's sight.

    now: tensor of the graph -> what it is with them; pairs: those whose values take others' places. checked: y, its
    gradients (slopes) and what is edited, with the edits. Raises AutodiffError for edits that the graph does not allow.
    """

    def __init__(self, model: Model, y: Tensor, edits: Sequence[Edit]) -> None:
        self.edits, self.y, self.clips = tuple(edits), y, any(edit.op is None for edit in edits)
        self.pairs: dict[Tensor, Tensor] = {}
        refused = any(edit.op is not None and (edit.op.type in MATRICES or any(
            t.dtype.is_integer for t in edit.op.outputs)) for edit in edits)
        self._kept = () if refused else ASKS  # whose sizes nothing has where it does not run
        calls = [call for call in calls_of(model.graph) if len(call.ys) == 1 and is_plain(call)]
        changed = [model.targets.inner.outer_op(edit.op) for edit in edits if edit.op is not None]
        with HiddenOps(model.graph).building():
            self.now: dict[Tensor, Tensor] = {}
            now = self.now
            for call in calls:  # those of first derivatives before what is made of them
                self._copy([call.ys[0]], now, changed)
                if call.ys[0] in now or self.clips:
                    self._derive(call, now)
            edited = [t for op in changed for t in op.outputs if t.dtype.name != "variant"]
            self._copy([y, *edited], now, changed)
            self.pairs.update((t, now[t]) for t in edited if t in now)
            if y in now and any(op.type in PLACEHOLDERS for op in changed):  # which are fed: no run computes them
                self.pairs[y] = now[y]
            self.slopes: list[Tensor] = []
            if y in now and not any(call.ys[0] is y for call in calls):  # nothing trains by it: its own gradients
                found = [g for g in gradients(now[y], trainable_tensors(model.graph)) if g is not None]
                self.slopes += [g.values if isinstance(g, IndexedSlices) else g for g in found]
        real = [(old, new) for old, new in self.pairs.items() if old.dtype.base_dtype.is_differentiable]
        self.slopes += [new for old, new in real if old not in edited]
        self.checked = [now.get(y, y), *self.slopes, *(new for old, new in real if old in edited)]

    @property
    def is_late(self) -> bool:
        """Whether it changes what is stored, not what a run computes."""
        return any(edit.is_late or edit.op is None for edit in self.edits)

    @property
    def is_exact(self) -> bool:
        """Whether it computes the same by a better formula."""
        return all(edit.is_exact for edit in self.edits)

    @property
    def words(self) -> str:
        """What to write in the script for it."""
        return "; ".join(dict.fromkeys(edit.words for edit in self.edits))

    def spares(self, op: Operation) -> bool:
        """Whether nothing of an op is left in what runs compute: it is edited, or only what is edited used it."""
        edited = {edit.op for edit in self.edits}
        return op.forward_op in edited or op in ancestors([self.y]) and op not in ancestors(
            [self.now.get(self.y, self.y)]) and not any(t in self.now for t in op.outputs)

    def replaces(self, op: Operation) -> bool:
        """Whether runs compute something else in place of what an op gives."""
        return self.spares(op) or any(t in self.now for t in op.forward_op.outputs)

    def mends(self, found: Sequence[Finding], model: Model) -> tuple[list[Finding], tuple[str, ...]]:
        """The findings of what it changes nothing of; and what it mends, in words."""
        ops = {f: op for f in found if (op := model.targets.named(f.op)) is not None}
        mended = [f for f, op in ops.items() if self.spares(op) or f.kind in _OF_VALUES and self.replaces(op)]
        kinds = ", ".join(dict.fromkeys(f.kind for f in mended))
        return [f for f in found if f not in mended], (f"the fix {self.words} mends: {kinds}",) if mended else ()

    def _derive(self, call: GradientCall, now: dict[Tensor, Tensor]) -> None:
        """Have new gradients take the place of a call's."""
        top = call.ys[0]
        asked = [x for x in call.xs if call.found.get(x) is not None]
        old = [call.found[x] for x in asked]
        new = gradients(now[top], [now.get(x, x) for x in asked], stop_gradients=[now.get(x, x) for x in call.stops]
                        ) if top in now else old
        if self.clips:
            new = clip_by_global_norm(new, max(edit.norm for edit in self.edits if edit.op is None))[0]
        for before, after in zip(old, new):
            self._pair(before, after)
            if isinstance(before, Tensor):
                now[before] = self.pairs[before]

    def _copy(self, wanted: Sequence[Tensor], now: dict[Tensor, Tensor], changed: Collection[Operation]) -> None:
        """Compute anew what follows from the replaced. changed: with the branches and loops that have edits inside."""
        by_op = {edit.op: edit for edit in self.edits if edit.op is not None}

        def current(tensor: Tensor) -> Tensor:
            return now.get(tensor, tensor)

        for op in in_order(ancestors(wanted, now)):
            edits = [edit for edit in self.edits if edit.op is op and edit.build is not None]
            if edits:  # several of what takes elements from a dataset, one for each component
                now.update((old, new) for edit in edits for old, new in zip(op.outputs, edit.made(current))
                           if old is not new)
            elif functions_of(op) and (op in changed or any(t in now for t in op.inputs)):
                now.update(zip(op.outputs, edited_call(op, by_op, current, get_default_graph())))
            elif op.type not in self._kept and any(t in now for t in op.inputs):
                if op.definition.takes_run:
                    raise ArgumentError(f"{op.name} ({op.type}) does more than to compute: it cannot be done twice")
                now.update(zip(op.outputs, copied(op, tuple(map(current, op.inputs))).outputs))

    def _pair(self, before: Any, after: Any) -> None:
        """Have one gradient take the place of another."""
        if isinstance(before, IndexedSlices) and isinstance(after, IndexedSlices):
            self.pairs.update({before.values: after.values, before.indices: after.indices})
        elif isinstance(before, IndexedSlices) or after is None:
            raise ArgumentError(f"the gradient {before.name!r} would have another form")
        else:
            self.pairs[before] = dense(after)

    def pairs_of(self, ran: Collection[Operation]) -> dict[Tensor, Tensor]:
        """Those of what a run of these ops computes."""
        return {old: new for old, new in self.pairs.items() if old.op in ran}

    def feeds(self, replayer: Replayer, at: Moment, ran: Collection[Operation]) -> dict[Tensor, Any]:
        """What takes the place of what a run of the ops `ran` would compute at that moment."""
        pairs = self.pairs_of(ran)
        return dict(zip(pairs, replayer.values(at, list(pairs.values())))) if pairs else {}


def edited_call(op: Operation, by_op: Mapping[Operation, Edit], now: Now, graph: Graph) -> list[Tensor]:
    """What a branch or loop gives with edits inside, in `graph`: its first outputs. now: what stands for a tensor.

    Raises ArgumentError for one that does more than to compute.
    """
    inputs = [now(t) for t in op.inputs]
    with graph.as_default():
        if op.type == "If":
            first, second = (_edited(op.attrs[name], by_op, graph, now) for name in ("then_branch", "else_branch"))
            return call_if(inputs[0], first, second)
        if op.type == "While":
            cond, body = (_edited(op.attrs[name], by_op, graph, now) for name in ("cond", "body"))
            count = len(op.attrs["shapes"])
            return call_while(inputs[:count], cond, body, op.attrs["shapes"], back_prop=op.attrs["back_prop"])
    raise ArgumentError(f"{op.name} ({op.type}) does more than to compute: it cannot be done twice")


def _edited(function: Function, by_op: Mapping[Operation, Edit], outer: Graph, now: Now) -> Function:
    """A copy of a function in which the edits are made."""
    graph = FunctionGraph(outer)
    if function.kept and not all(is_repeatable(op) or "seed" in op.attrs or op.type == "ReadVariableOp" and not (
            function.graph.updated) for op in function.graph.operations.values()):  # a dropout may draw others
        raise ArgumentError("it changes a variable")
    known: dict[Tensor, Tensor] = {}
    for inner in function.arguments:
        known[inner] = graph.add_argument(inner.dtype, inner.dims, inner.op.name.rpartition("/")[2])
    for inner, outside in zip(function.inputs[len(function.arguments):], function.captured):
        known[inner] = graph.capture(now(outside))
    with graph.as_default():
        for op in in_order(dependencies(function.given)):
            if op.outputs and all(t in known for t in op.outputs):
                continue
            edit = by_op.get(op)
            if edit is not None and edit.build is not None:
                known.update(zip(op.outputs, edit.made(lambda t: known.get(t, t))))
            elif functions_of(op):
                known.update(zip(op.outputs, edited_call(op, by_op, lambda t: known.get(t, t), graph)))
            else:
                known.update(zip(op.outputs, copied(op, tuple(known[t] for t in op.inputs)).outputs))
        return finish(graph, [known[t] for t in function.outputs])
