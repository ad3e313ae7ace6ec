"""What a script asks for and hands over: its runs, which of them are the debugger's own, and why it waits."""
from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from autodiff.core.graph import Graph
from autodiff.ops.common.turns import RunsEnd
from autodiff.runtime.session import Session

KEPT = 500  # records of the runs of one command


class ScriptEnds(RunsEnd):
    """Raised inside the script when the user leaves it; not an Exception, so that its handlers let it pass."""


@dataclass(frozen=True)
class Request:
    """A Session.run that the script asks for, or what stands for one. file, line: where. call: its own words for it.

    thread: name of the thread that asks, "" for the script's main one.
    """

    session: Any
    fetches: Any
    feed_dict: Any
    file: str
    line: int
    call: str = "Session.run"
    thread: str = ""


def add_records(records: list[Any], more: Sequence[Any]) -> None:
    """Add records of runs; of very many the first and the last are kept."""
    records += more
    if len(records) > 2 * KEPT:
        del records[1:-KEPT]


@dataclass(frozen=True)
class Event:
    """Why the script handed over. kind: "before" or "after" a run, "ended", "raised".

    records: of the runs since the last event; of very many the first and the last. error: the script's exception.
    graph: the one it built last. session: the one to look at it in, if the script has none of its own.
    """

    kind: str
    records: tuple[Any, ...] = ()
    error: BaseException | None = None
    graph: Graph | None = None
    session: Session | None = None


@contextlib.contextmanager
def asking() -> Iterator[None]:
    """Runs made in this thread inside the block are the debugger's own, for an answer."""
    thread = threading.current_thread()
    saved = getattr(thread, "asks", False)
    thread.asks = True  # type: ignore[attr-defined]
    try:
        yield
    finally:
        thread.asks = saved  # type: ignore[attr-defined]


def is_asking(session: Any) -> bool:
    """Whether a run that is begun now is the debugger's own: then nothing stops at it."""
    return getattr(session, "is_repeat", False) or getattr(threading.current_thread(), "asks", False)
