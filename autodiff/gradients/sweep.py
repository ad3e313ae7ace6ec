"""The backward sweep: from what the ys receive to what reaches every tensor on the way to the xs.

Source: reverse accumulation; Griewank and Walther (2008), section 3.2.
"""
from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from ..core.graph import Graph, Operation, Tensor
from ..core.names import RuleScopes
from ..core.op import build
from .aggregate import AggregationMethod, Gradient, total
from .apply_rule import apply_rule
from .between import inputs_of


class Sweep:
    """One backward sweep over the operations `between` the xs and the ys, each with how often others take its outputs.

    ends: those of them whose inputs receive nothing. method: how several gradients of one tensor are added.
    gate: no gradient of an operation is used before all of its gradients are ready.
    """

    def __init__(self, graph: Graph, ys: list[Tensor], between: dict[Operation, int], ends: set[Operation], *,
                 method: int = AggregationMethod.DEFAULT, gate: bool = False) -> None:
        self.graph, self.ys, self.between, self.ends = graph, set(ys), between, ends
        self.y: Any = ys[0] if ys else None  # that gradients are said to be for; y_of: where there are several
        self.method, self.gate = method, gate
        self.terms: dict[Tensor, list[Gradient]] = {}  # what a tensor has received so far
        self.final: dict[Tensor, Gradient | None] = {}  # its sum, once nothing more can come
        self.y_of: dict[Operation, Tensor] = {}

    def run(self, ys: list[Tensor], seeds: list[Gradient]) -> None:
        """Send `seeds` back from `ys`."""
        terms, final, ends, y, y_of = self.terms, self.final, self.ends, self.y, self.y_of
        scopes = RuleScopes(self.graph)
        is_observed = bool(self.graph.extras.get("gradient_observers"))
        for each, seed in zip(ys, seeds):
            terms.setdefault(each, []).append(seed)
        for op in self._in_order(ys):
            made = op._outputs
            if made in terms and len(terms[made]) == 1:  # as most have it: one tensor that one other takes
                (final[made],), received = terms.pop(made), True
            else:
                received = self._accumulate(op)
            if is_observed:
                self._tell_observers(op)
            if received and op not in ends:
                dxs = apply_rule(self.graph, op, y_of.get(op, y), final, gate=self.gate, scopes=scopes)
                for tensor, dx in zip(op.inputs or inputs_of(op), dxs):
                    if dx is not None:
                        if tensor in terms:
                            terms[tensor].append(dx)
                        else:
                            terms[tensor] = [dx]

    def gradient_of(self, x: Tensor, zeros: bool = False) -> Gradient | None:
        """The gradient of `x`; with `zeros`, zeros in place of None."""
        found = self.final.get(x)
        if found is None and x in self.terms:  # an x that no operation of the sweep made
            found = self.final[x] = self._sum(x)
        return zeros_for(x) if found is None and zeros else found

    def _in_order(self, ys: list[Tensor]) -> Iterator[Operation]:
        """Each operation once all of its consumers between xs and ys have had their turn."""
        waits_for, y_of, is_one = self.between, self.y_of, len(ys) == 1
        for y in ys if not is_one else ():
            y_of.setdefault(y.op, y)
        ready = deque(dict.fromkeys(y.op for y in ys if waits_for.get(y.op) == 0))
        while ready:
            op = ready.popleft()
            yield op
            for tensor in op.inputs or inputs_of(op):
                before = tensor.op
                left = waits_for.get(before)
                if left is not None:
                    waits_for[before] = left - 1
                    if not is_one:
                        y_of.setdefault(before, y_of[op])
                    if left == 1:
                        ready.append(before)

    def _accumulate(self, op: Operation) -> bool:
        """The sum of what each output received, None if nothing arrived; whether anything has."""
        with self.graph.differentiating(op, self.y_of.get(op, self.y)):
            for tensor in op.outputs:
                self.final[tensor] = self._sum(tensor)
        return any(self.final[t] is not None for t in op.outputs)

    def _sum(self, tensor: Tensor) -> Gradient | None:
        terms = self.terms.pop(tensor, None)
        name = tensor.op.name if tensor.op is not None else "leaf"
        return total(self.graph, terms, name, self.method) if terms else None

    def _tell_observers(self, op: Operation) -> None:
        """Tell the GradientsDebuggers that are active which gradient each output has."""
        for tensor in op.outputs:
            gradient = self.final[tensor]
            if gradient is not None:
                is_y = tensor in self.ys and not any(c in self.between for c in tensor._consumers)
                for observer in self.graph.extras["gradient_observers"]:
                    observer.observe(tensor, gradient, ys=self.ys, is_y=is_y)


def zeros_for(x: Tensor) -> Tensor:
    """Zeros in the shape of an x; of the value behind it, if x is the handle of a variable."""
    return build.ZerosLike(build.ReadVariableOp(x) if x.dtype.base_dtype.name == "resource" else x)
