"""An overlay: edits of a graph that are computed beside it, whose values take the place of what runs would compute."""
from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ...api.math.norms import clip_by_global_norm
from ...core.errors import ArgumentError
from ...core.graph import Operation, Tensor
from ...core.indexed_slices import IndexedSlices, dense
from ...core.traversal import dependencies, in_order
from ...gradients.backprop import gradients
from ..analysis.edits.in_graph import CLIP, Edit, copied
from ..derivatives.derivatives import is_plain
from ..derivatives.hidden_ops import HiddenOps
from ..facts.graph_lists import calls_of, trainable_tensors
from ..history.replay import Moment, Replayer
from .model import Model


class Overlay:
    """What `edits` make of a model's y and of its gradients, built out of the script's sight.

    pairs: tensor of the graph -> the one whose value takes its place. checked: y and its gradients, with the edits.
    Raises AutodiffError for edits that the graph does not allow.
    """

    def __init__(self, model: Model, y: Tensor, edits: Sequence[Edit]) -> None:
        self.edits, self.y = tuple(edits), y
        self.pairs: dict[Tensor, Tensor] = {}
        calls = [call for call in calls_of(model.graph) if len(call.ys) == 1 and is_plain(call)]
        with HiddenOps(model.graph).building():
            now: dict[Tensor, Tensor] = {}
            edited = [t for edit in edits if edit.op is not None for t in edit.op.outputs]
            self._copy(in_order(dependencies([y, *(call.ys[0] for call in calls), *edited])), now)
            self.pairs.update((t, now[t]) for t in edited if t in now)
            self.checked: list[Tensor] = [now.get(y, y)]
            for call in calls:
                top = call.ys[0]
                if top not in now and CLIP not in edits:
                    continue
                asked = [x for x in call.xs if call.found.get(x) is not None]
                old = [call.found[x] for x in asked]
                new = gradients(now[top], asked, stop_gradients=list(call.stops)) if top in now else old
                if CLIP in edits:
                    new = clip_by_global_norm(new, 1.0)[0]
                for before, after in zip(old, new):
                    self._pair(before, after)
            if y in now and not any(call.ys[0] is y for call in calls):  # nothing trains by it: its own gradients
                found = [g for g in gradients(now[y], trainable_tensors(model.graph)) if g is not None]
                self.checked += [g.values if isinstance(g, IndexedSlices) else g for g in found]
        self.checked += [new for old, new in self.pairs.items() if old.dtype.base_dtype.is_differentiable]

    @property
    def words(self) -> str:
        """What to write in the script for it."""
        return "; ".join(dict.fromkeys(edit.words for edit in self.edits))

    def _copy(self, ops: Sequence[Operation], now: dict[Tensor, Tensor]) -> None:
        """Compute anew what follows from the replaced."""
        by_op = {edit.op: edit for edit in self.edits}

        def current(tensor: Tensor) -> Tensor:
            return now.get(tensor, tensor)

        for op in ops:
            edit = by_op.get(op)
            if edit is not None and edit.build is not None:
                now[op.outputs[0]] = edit.build(current)
            elif any(t in now for t in op.inputs):
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

    def feeds(self, replayer: Replayer, at: Moment, ran: Collection[Operation]) -> dict[Tensor, Any]:
        """What takes the place of what a run of the ops `ran` would compute at that moment."""
        pairs = {old: new for old, new in self.pairs.items() if old.op in ran}
        return dict(zip(pairs, replayer.values(at, list(pairs.values())))) if pairs else {}
