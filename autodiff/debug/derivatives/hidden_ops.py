"""Operations that the debugger adds to a graph and its script never sees."""
from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ...core.graph import Graph, Operation
from ...core.names import UniqueNames
from ...gradients.blocked_reasons import GradientCall
from ...ops.common.instead import instead
from ..facts.layer import layer_of

_OWN_LISTS = ("gradient_observers", "calls")  # extras of a graph that hidden building must not touch


class HiddenOps:
    """Operations that exist in `graph` only inside of `building`: to the script, names and lists stay as they were.

    They can be run at any time, as a plan follows inputs, not lists.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.operations: dict[str, Operation] = {}
        self._blocks = 0

    @contextlib.contextmanager
    def building(self) -> Iterator[list[GradientCall]]:
        """Inside, ops join the hidden ones; gives the list in which `gradients` enters its calls.

        Works in a finalized graph too.
        """
        with layer_of(self.graph).building():
            yield from self._building()

    def _building(self) -> Iterator[list[GradientCall]]:
        graph = self.graph
        lists = {key: graph.extras.get(key) for key in _OWN_LISTS}
        before = len(graph.operations)
        graph.operations.extend(self.operations.values())
        self._join()
        calls: list[GradientCall] = []
        graph.extras.update(gradient_observers=[], calls=calls)
        self._blocks += 1
        changed: dict[str, Any] = dict(
            names=UniqueNames(), scope=f"gradbg_{self._blocks}", finalized=False, overrides={}, _control=[],
            backprop_origin=(None, None), placement=graph.placement,
            collected={key: list(items) for key, items in graph.collected.items()})
        try:
            with instead([(graph, *each) for each in changed.items()]), graph.as_default():
                yield calls
        finally:
            for key, value in lists.items():
                graph.extras.pop(key) if value is None else graph.extras.update({key: value})
            self.operations = graph.operations.cut(before)
            self._leave()

    def _join(self) -> None:
        for op in self.operations.values():
            for tensor in op.inputs:
                if tensor.op.name not in self.operations:
                    tensor.add_consumer(op)

    def _leave(self) -> None:
        hidden = set(self.operations.values())
        for tensor in {t for op in hidden for t in op.inputs if t.op not in hidden}:
            tensor._consumers = [op for op in tensor._consumers if op not in hidden]
