"""EagerVariableStore: where get_variable finds variables in eager execution, which keeps none by itself."""
from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ...core.graph import Graph, get_default_graph
from .variable import Variable

_STORE = "variables_by_name"


def variables_by_name(graph: Graph) -> dict[str, Variable]:
    """Full name -> the variable. Eagerly there are none but inside of a store."""
    return graph.extras.get(_STORE, {}) if graph.executing_eagerly else graph.extras.setdefault(_STORE, {})


def partitioned_by_name(graph: Graph) -> dict[str, Any]:
    """Full name -> the PartitionedVariable, whose parts are among the variables. Eagerly there are none."""
    return {} if graph.executing_eagerly else graph.extras.setdefault("partitioned_by_name", {})


class EagerVariableStore:
    """Keeps the variables that get_variable makes inside of `with store.as_default():`."""

    def __init__(self, found: dict[str, Variable] | None = None) -> None:
        self._found = found if found is not None else {}

    @classmethod
    def within_default(cls) -> EagerVariableStore:
        """A store that shares the variables of the one in force, if there is one."""
        return cls(get_default_graph().outermost.extras.get(_STORE))

    @contextlib.contextmanager
    def as_default(self) -> Iterator[None]:
        """Makes get_variable use this store; in a graph, whose own it uses, the variables are only noted."""
        graph = get_default_graph().outermost
        before = graph.extras.get(_STORE)
        known = set(before or ())
        if graph.executing_eagerly:
            graph.extras[_STORE] = self._found
        try:
            yield
        finally:
            if graph.executing_eagerly:
                graph.extras.pop(_STORE) if before is None else graph.extras.update({_STORE: before})
            else:
                self._found.update({name: v for name, v in variables_by_name(graph).items() if name not in known})

    def variables(self) -> list[Variable]:
        """All variables, by name."""
        return [self._found[name] for name in sorted(self._found)]

    def trainable_variables(self) -> list[Variable]:
        return [v for v in self.variables() if v.trainable]

    def non_trainable_variables(self) -> list[Variable]:
        return [v for v in self.variables() if not v.trainable]

    def copy(self) -> EagerVariableStore:
        """A store with variables of its own, of the present values."""
        return EagerVariableStore({name: Variable(v.read_value(), name=name, trainable=v.trainable)
                                   for name, v in self._found.items()})
