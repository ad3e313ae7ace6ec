"""The defaults of this thread: graphs, sessions, recording tapes."""
from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from .errors import GraphError


class _Stacks(threading.local):
    """Default graphs, sessions and recording tapes of this thread, innermost last.

    bottom: the thread's own graph, made when it is first asked for. eager: what stands in for it
    when executing eagerly. conversions: why Python's own loops and choices do not take tensors, in TensorFlow's words.
    """

    def __init__(self) -> None:
        self.graphs: list[Any] = []
        self.bottom: Any = None
        self.eager: Any = None
        self.sessions: list[Any] = []
        self.tapes: list[Any] = []
        self.conversions: list[str] = ["not allowed in Graph execution"]


STACKS = _Stacks()


class OfThread(threading.local):
    """Values of each thread's own, which begin as these in all of them."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.__dict__.update(values)


class InThread(threading.local):
    """A value of each thread's own, which begins as `value` in all of them."""

    def __init__(self, value: Any) -> None:
        self.value = value


def joined_graph(tensor: Any) -> Any:
    """The graph that an op of `tensor` joins: the function under construction, else the tensor's own."""
    innermost = STACKS.graphs[-1] if STACKS.graphs else None
    return innermost if innermost is not None and innermost.building_function else tensor.graph


def get_default_session() -> Any:
    """The innermost default session, or None."""
    return STACKS.sessions[-1] if STACKS.sessions else None


@contextlib.contextmanager
def default_session(session: Any, nested: bool = False) -> Iterator[Any]:
    """Make `session` the default one inside the block. nested: raise AssertionError if an inner block is still open."""
    with entered(STACKS.sessions, session):
        yield session
        if nested and STACKS.sessions and STACKS.sessions[-1] is not session:
            raise AssertionError(f"Nesting violated for default stack of {type(session)} objects")


@contextlib.contextmanager
def entered(stack: list[Any], item: Any) -> Iterator[None]:
    """Have `item` innermost on a thread's stack inside the block, which may end in another thread, or out of order."""
    stack.append(item)
    try:
        yield
    finally:
        place = next((at for at in reversed(range(len(stack))) if stack[at] is item), None)
        if place is not None:
            del stack[place]


def session_for(graph: Any, session: Any, purpose: str) -> Any:
    """`session`, or the default one; checked to be a session of `graph`."""
    found = session if session is not None else get_default_session()
    if found is None:
        raise GraphError(f"Cannot {purpose}: No default session is registered. Use `with sess.as_default()` or pass "
                         "an explicit session to it: eval(session=sess)")
    if found.graph is not graph:
        raise GraphError(f"Cannot {purpose}: The session's graph is different from the tensor's graph")
    return found
