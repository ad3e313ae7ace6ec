"""Effects: what the parts of a model do to y and to its gradients; who is harmed by what is not finite."""
from __future__ import annotations

from typing import Any

from ....core.errors import ArgumentError, AutodiffError
from ....core.graph import Operation, Tensor
from ....core.indexed_slices import IndexedSlices
from ....core.traversal import dependencies, in_order
from ...analysis.nonfinite import reaches
from ...facts.graph_lists import trainable_tensors
from ...facts.records import Sample
from ...history.replay import Moment
from ..state import State


class Effects:
    """Tells what must be finite, and all that it is computed from."""

    def __init__(self, state: State) -> None:
        self.state, self.model = state, state.model
        self._reached: tuple[Any, set[Operation]] = (None, set())

    def roots(self, y: str = "", order: int = 1, at: Moment | None = None) -> list[Tensor]:
        """What must be finite: y, and the gradients of the trainable variables; without a y what was fetched last.

        Of a script with several losses, y are those that the run `at`, or the last, computed. order: up to which
        derivatives count.
        """
        try:
            tops = (self.run_last(at) if not y else []) or [self.model.y_of(y)]
        except ArgumentError:
            if self.state.last is None:
                raise
            return list(self.state.last.tensors)
        tensors = trainable_tensors(self.model.graph)
        for top in tops:
            self.model.derivatives.prepare(top, tensors)
        roots = [*tops]
        for top, tensor in ((each, variable) for each in tops for variable in tensors):
            for each in range(1, order + 1):
                try:
                    gradient = self.model.derivatives.of_order(top, tensor, each)
                except AutodiffError:
                    break
                if gradient is not None:
                    roots.append(gradient.values if isinstance(gradient, IndexedSlices) else gradient)
        return roots

    def run_last(self, at: Moment | None = None) -> list[Tensor]:
        """The script's losses that the run `at`, or the last, computed."""
        ran = (at or self.state.moment()).ran
        return [loss for loss in self.model.losses if loss.op in ran]

    def everything(self, roots: list[Tensor], at: Moment) -> tuple[list[Operation], dict[Tensor, Any]]:
        """All that `roots` are computed from, in order, with its values."""
        ops = in_order(dependencies(roots))
        return ops, self.state.values_known(ops, at)

    def is_harmful(self, sample: Sample) -> bool:
        """Whether what is not finite in a sample reaches y or a gradient."""
        roots = self.roots()
        at = self.state.moment_for(roots)
        tensor = self.model.targets.one(sample.name)
        if sample.is_gradient:
            gradient = self.model.derivatives.gradient(self.model.targets.one(sample.of), tensor)[0]
            if gradient is not None:
                tensor = gradient.values if isinstance(gradient, IndexedSlices) else gradient
        key = (at.run, tuple(roots))
        if self._reached[0] != key:
            ops, values = self.everything(roots, at)
            self._reached = key, reaches(ops, values, roots)
        return tensor in roots or self.model.targets.inner.outer_op(tensor.op) in self._reached[1]
