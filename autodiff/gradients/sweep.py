"""The backward sweep: from what the ys receive to what reaches every tensor on the way to the xs.

Source: reverse accumulation; Griewank and Walther (2008), section 3.2.
"""
from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from ..core.graph import Graph, Operation, Tensor
from ..core.op import build
from .aggregate import AggregationMethod, Gradient, total
from .apply_rule import apply_rule
from .between import inputs_of


class Sweep:
    """One backward sweep over the operations `between` the xs and the ys.

    ends: those of them whose inputs receive nothing. method: how several gradients of one tensor are added.
    gate: no gradient of an operation is used before all of its gradients are ready.
    """

    def __init__(self, graph: Graph, ys: list[Tensor], between: dict[Operation, None], ends: set[Operation], *,
                 method: int = AggregationMethod.DEFAULT, gate: bool = False) -> None:
        self.graph, self.ys, self.between, self.ends = graph, set(ys), between, ends
        self.method, self.gate = method, gate
        self.terms: dict[Tensor, list[Gradient]] = {}  # what a tensor has received so far
        self.final: dict[Tensor, Gradient | None] = {}  # its sum, once nothing more can come
        self.y_of: dict[Operation, Tensor] = {}  # the y that gradients of an operation are said to be for

    def run(self, ys: list[Tensor], seeds: list[Gradient]) -> None:
        """Send `seeds` back from `ys`."""
        for y, seed in zip(ys, seeds):
            self._receive(y, seed)
        for op in self._in_order(ys):
            self._accumulate(op)
            self._tell_observers(op)
            if op not in self.ends and any(self.final[t] is not None for t in op.outputs):
                dxs = apply_rule(self.graph, op, self.y_of[op], self.final, gate=self.gate)
                self._hand_on(op, dxs)

    def gradient_of(self, x: Tensor, zeros: bool = False) -> Gradient | None:
        """The gradient of `x`; with `zeros`, zeros in place of None."""
        found = self.final.get(x)
        if found is None and x in self.terms:  # an x that no operation of the sweep made
            found = self.final[x] = self._sum(x)
        if found is None and zeros:
            return zeros_for(x)
        return found

    # ---- the steps ----------------------------------------------------------------------
    def _in_order(self, ys: list[Tensor]) -> Iterator[Operation]:
        """Each operation once all of its consumers between xs and ys have had their turn."""
        waits_for = dict.fromkeys(self.between, 0)
        for op in self.between:
            for tensor in inputs_of(op):
                if tensor.op in waits_for:
                    waits_for[tensor.op] += 1
        for y in ys:
            self.y_of.setdefault(y.op, y)
        ready = deque(dict.fromkeys(y.op for y in ys if waits_for.get(y.op) == 0))
        while ready:
            op = ready.popleft()
            yield op
            for tensor in inputs_of(op):
                if tensor.op in waits_for:
                    waits_for[tensor.op] -= 1
                    self.y_of.setdefault(tensor.op, self.y_of[op])
                    if waits_for[tensor.op] == 0:
                        ready.append(tensor.op)

    def _receive(self, tensor: Tensor, gradient: Gradient) -> None:
        self.terms.setdefault(tensor, []).append(gradient)

    def _accumulate(self, op: Operation) -> None:
        """The sum of what each output received; None if nothing arrived."""
        if len(op.outputs) == 1 and len(self.terms.get(op.outputs[0], ())) == 1:
            self.final[op.outputs[0]], = self.terms.pop(op.outputs[0])
            return
        with self.graph.differentiating(op, self.y_of[op]):
            for tensor in op.outputs:
                self.final[tensor] = self._sum(tensor)

    def _sum(self, tensor: Tensor) -> Gradient | None:
        terms = self.terms.pop(tensor, None)
        name = tensor.op.name if tensor.op is not None else "leaf"
        return total(self.graph, terms, name, self.method) if terms else None

    def _tell_observers(self, op: Operation) -> None:
        """Tell the GradientsDebuggers that are active which gradient each output has."""
        observers = self.graph.extras.get("gradient_observers", ())
        for tensor in op.outputs if observers else ():
            gradient = self.final[tensor]
            if gradient is not None:
                is_y = tensor in self.ys and not any(c in self.between for c in tensor._consumers)
                for observer in observers:
                    observer.observe(tensor, gradient, ys=self.ys, is_y=is_y)

    def _hand_on(self, op: Operation, dxs: list[Gradient | None]) -> None:
        for tensor, dx in zip(inputs_of(op), dxs):
            if dx is not None:
                self._receive(tensor, dx)


def zeros_for(x: Tensor) -> Tensor:
    """Zeros in the shape of an x; of the value behind it, if x is the handle of a variable."""
    return build.ZerosLike(build.ReadVariableOp(x) if x.dtype.base_dtype.name == "resource" else x)
