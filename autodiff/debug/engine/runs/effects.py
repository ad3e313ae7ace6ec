"""Effects: what the parts of a model do to y and to its gradients; who is harmed by what is not finite."""
from __future__ import annotations

from typing import Any

from ....core.errors import ArgumentError, AutodiffError
from ....core.graph import Graph, Operation, Tensor
from ....core.indexed_slices import IndexedSlices
from ....core.traversal import dependencies, in_order
from ....runtime.session import Session
from ...analysis.nonfinite import reaches
from ...facts.graph_lists import trainable_tensors
from ...facts.records import Sample
from ...history.replay import Moment
from .setup import Feeding


class Effects(Feeding):
    """Tells what must be finite, and all that it is computed from."""

    def _begin(self, graph: Graph, session: Session | None) -> None:
        super()._begin(graph, session)
        self._reached: tuple[Any, set[Operation]] = (None, set())

    def _roots(self, y: str = "", order: int = 1) -> list[Tensor]:
        """What must be finite: y, and the gradients of the trainable variables; without a y what was fetched last.

        order: up to which their derivatives count.
        """
        try:
            top = self._y_of(y)
        except ArgumentError:
            if self._last is None:
                raise
            return list(self._last.tensors)
        tensors = trainable_tensors(self.graph)
        self.derivatives.prepare(top, tensors)
        roots = [top]
        for tensor in tensors:
            for each in range(1, order + 1):
                try:
                    gradient = self.derivatives.of_order(top, tensor, each)
                except AutodiffError:
                    break
                if gradient is not None:
                    roots.append(gradient.values if isinstance(gradient, IndexedSlices) else gradient)
        return roots

    def _everything(self, roots: list[Tensor], at: Moment) -> tuple[list[Operation], dict[Tensor, Any]]:
        """All that `roots` are computed from, in order, with its values."""
        ops = in_order(dependencies(roots))
        return ops, self._values_known(ops, at)

    def _is_harmful(self, sample: Sample) -> bool:
        roots = self._roots()
        at = self._moment_for(roots)
        tensor = self.targets.one(sample.name)
        if sample.is_gradient:
            gradient = self.derivatives.gradient(self.targets.one(sample.of), tensor)[0]
            if gradient is not None:
                tensor = gradient.values if isinstance(gradient, IndexedSlices) else gradient
        key = (at.step, tuple(roots))
        if self._reached[0] != key:
            ops, values = self._everything(roots, at)
            self._reached = key, reaches(ops, values, roots)
        return tensor in roots or self.targets.inner.outer_op(tensor.op) in self._reached[1]
