"""How many operations TensorFlow 1.15 makes where fewer are made here: seeds of random ops are told apart by them."""
from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

from ...core.graph import get_default_graph

_MORE, _BODIES = "operations counted beside those made", "bodies that are being built"


def operations_so_far(graph: Any) -> int:
    """The operations of a graph, as TensorFlow would count them.

    It has those of branches and loops in the graph around them. Of another function a count that tells apart what is
    made at other times, also in two functions.
    """
    outer = getattr(graph, "outer", None)
    bodies = graph.extras.get(_BODIES, ())  # functions have the extras of the graph around them
    if outer is None or any(graph is body for body, _ in bodies):
        return graph.outermost.version + graph.extras.get(_MORE, 0) + sum(b.version - start for b, start in bodies)
    return graph.version + 65_537 * (1 + operations_so_far(outer))


def count_more(count: int) -> None:
    """Count operations that are not made."""
    extras = get_default_graph().extras
    extras[_MORE] = extras.get(_MORE, 0) + count


@contextlib.contextmanager
def body_counted(body: Any) -> Iterator[None]:
    """What is made in the body of a branch or loop counts in the graph around it."""
    bodies, start = body.extras.setdefault(_BODIES, []), body.version
    bodies.append((body, start))
    try:
        yield
    finally:
        bodies.pop()
        count_more(body.version - start)


def counting(count: int) -> Callable[[Any], Any]:
    """A function that makes so many operations whatever it is given, to decorate one that makes others."""
    def decorated(function: Any) -> Any:
        @functools.wraps(function)
        def called(*args: Any, **options: Any) -> Any:
            with counted_as(count):
                return function(*args, **options)
        return called
    return decorated


@contextlib.contextmanager
def counted_as(count: int | None) -> Iterator[None]:
    """What is made inside counts as so many operations; None: as many as it is."""
    graph = get_default_graph()
    if count is None or graph.executing_eagerly:
        yield
        return
    start = operations_so_far(graph)
    yield
    count_more(start + count - operations_so_far(graph))
