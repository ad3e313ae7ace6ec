"""The name scope of a function that is made of several ops."""
from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from .graph import get_default_graph, graph_of


@contextlib.contextmanager
def scope(name: str | None, default: str, values: Iterable[Any] = ()) -> Iterator[str]:
    """Ops made inside are named under `name`, or `default` if it is None, in the graph of `values`.

    Yields the scope with its `/`: the name for the op that gives the result.
    """
    graph = graph_of(values)
    entered = contextlib.nullcontext() if graph is get_default_graph() else graph.as_default()
    with entered, graph.name_scope(default if name is None else name) as full:
        yield full
