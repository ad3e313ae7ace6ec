"""How many operations TensorFlow 1.15 makes where fewer are made here: seeds of random ops are told apart by them."""
from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ...core.graph import get_default_graph

_MORE = "operations counted beside those made"


def operations_so_far(graph: Any) -> int:
    """The operations of a graph, as TensorFlow would count them; of the body of a branch or loop a count that tells
    apart what is made at other times, also in two bodies."""
    outer = getattr(graph, "outer", None)
    return _own(graph) if outer is None else graph.version + 65_537 * (1 + operations_so_far(outer))


def _own(graph: Any) -> int:
    return graph.version + graph.extras.get(_MORE, 0)  # which bodies have from the graph around them


def count_more(count: int) -> None:
    """Count operations that are not made."""
    graph = get_default_graph()
    graph.extras[_MORE] = graph.extras.get(_MORE, 0) + count


@contextlib.contextmanager
def counted_as(count: int | None) -> Iterator[None]:
    """What is made inside counts as so many operations; None: as many as it is."""
    graph = get_default_graph()
    if count is None or graph.executing_eagerly:
        yield
        return
    start = _own(graph)
    yield
    count_more(start + count - _own(graph))
