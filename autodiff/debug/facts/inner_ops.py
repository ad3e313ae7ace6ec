"""Operations inside of branches and loops, by name, and which operation calls the function that each is part of."""
from __future__ import annotations

import itertools

from ...core.function_graph import functions_of
from ...core.graph import Graph, Operation, Tensor
from .layer import layer_of

_CALLERS = ("If", "While")


class InnerOps:
    """The operations of a graph and of all its functions, without the stand-ins for outer tensors."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._operations: dict[str, Operation] = {}
        self._callers: dict[Graph, Operation] = {}
        self._known = [0, 0]  # of the graph, of its layer

    def by_name(self) -> dict[str, Operation]:
        """Every inner operation; within a function in the order of computing."""
        for which, operations in enumerate((self.graph.operations, layer_of(self.graph).operations)):
            for op in itertools.islice(operations.values(), self._known[which], None):
                if op.type in _CALLERS:
                    self._enter(op)
            self._known[which] = len(operations)
        return self._operations

    def _enter(self, caller: Operation) -> None:
        for function in functions_of(caller):
            if function.graph in self._callers:  # a function of two versions of one loop
                continue
            self._callers[function.graph] = caller
            for op in function.graph.operations.values():
                if op.type in _CALLERS:
                    self._enter(op)
                if op.type != "Captured":
                    self._operations.setdefault(op.name, op)

    def has(self, tensor: Tensor) -> bool:
        """Whether a tensor is inside of a branch or loop of this graph."""
        if tensor.graph is self.graph:
            return False
        self.by_name()
        return tensor.graph in self._callers

    def has_name(self, name: str) -> bool:
        """Whether `while/add:0` names a tensor inside."""
        return name.partition(":")[0] in self.by_name()

    def outer(self, tensor: Tensor) -> Tensor:
        """A tensor that is computed whenever this one is, outside of all branches and loops; itself if it is."""
        return self.callers(tensor.op)[0].outputs[0] if self.has(tensor) else tensor

    def outer_op(self, op: Operation) -> Operation:
        """The outermost branch or loop around an operation; itself if there is none."""
        return next(iter(self.callers(op)), op)

    def callers(self, op: Operation) -> list[Operation]:
        """The branches and loops around an operation, outermost first; none if it is not inside of any."""
        self.by_name()
        found: list[Operation] = []
        graph = op.graph
        while graph in self._callers:
            found.append(self._callers[graph])
            graph = found[-1].graph
        return found[::-1]


def name_of(caller: Operation) -> str:
    """The user's name of a branch or loop: `while` for `while/While`."""
    return caller.name.rpartition("/")[0] or caller.name
