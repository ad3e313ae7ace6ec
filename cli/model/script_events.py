"""What a script asks for and hands over: its runs, and why it waits for the prompt."""
from __future__ import annotations

from collections.abc import Sequence
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
