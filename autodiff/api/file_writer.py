"""FileWriter: events of a training run to a directory, as TensorBoard reads them."""
from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any

from ..core.errors import KindError
from ..core.graph import Graph
from ..files.event_file import EventWriter, read_events
from .messages import Event, MetaGraphDef, Summary


class FileWriter:
    """Writes summaries and the graph to a new event file in a directory.

    logdir: made when the first event comes, if it is not there. graph: written at once. max_queue: after so many
    events, or flush_secs seconds, what was written can be read. filename_suffix: what the file's name ends with.
    last: the step and summary that came last, for a look from the prompt.
    """

    def __init__(self, logdir: Any, graph: Graph | None = None, max_queue: int = 10, flush_secs: float = 120,
                 graph_def: Any = None, filename_suffix: str | None = None, session: Any = None) -> None:
        self._logdir, self._suffix = os.fspath(logdir), filename_suffix or ""
        self._max_queue, self._period = max_queue, flush_secs
        self._waiting, self._flushed_at = 0, time.monotonic()
        self._writer: EventWriter | None = None
        self._closed = False
        self._described: set[str] = set()  # tags whose metadata has been written
        self.last: tuple[int | None, Any] | None = None
        if graph is not None or graph_def is not None:
            self.add_graph(graph=graph, graph_def=graph_def)
            if graph is not None:  # which may be a GraphDef
                told = graph.as_graph_def(add_shapes=True) if isinstance(graph, Graph) else graph
                self.add_meta_graph(MetaGraphDef(graph_def=told))

    def get_logdir(self) -> str:
        """Where the file is."""
        return self._logdir

    def add_event(self, event: Any) -> None:
        """Write an event; nothing after `close`, until `reopen`."""
        if self._closed:
            return
        if self._writer is None:
            self._writer = EventWriter(self._logdir, self._suffix)
        self._writer.write(event)
        self._waiting += 1
        if self._waiting >= self._max_queue or time.monotonic() - self._flushed_at > self._period:
            self.flush()

    def _add(self, global_step: Any, **fields: Any) -> None:
        step = {} if global_step is None else {"step": int(global_step)}
        self.add_event(Event(wall_time=time.time(), **step, **fields))

    def add_summary(self, summary: Any, global_step: Any = None) -> None:
        """Write a message, or its bytes. Raises DataLossError for bytes that are no summary."""
        message = summary if isinstance(summary, Summary) else Summary.FromString(summary)
        self.last = None if global_step is None else int(global_step), message
        written = Summary()
        written.CopyFrom(message)
        for value in written.value:  # as TensorFlow does: what a tag is, is told once
            if value.HasField("metadata"):
                if value.tag in self._described:
                    value.ClearField("metadata")
                else:
                    self._described.add(value.tag)
        self._add(global_step, summary=written)

    def add_graph(self, graph: Any = None, global_step: Any = None, graph_def: Any = None) -> None:
        """Write a graph, for TensorBoard's picture of it. Raises KindError (TypeError) for what is none."""
        if isinstance(graph, Graph):
            graph_def = graph.as_graph_def(add_shapes=True)
        elif graph is not None:
            graph_def = graph
        if not hasattr(graph_def, "SerializeToString"):
            raise KindError("The passed graph must be an instance of `Graph` or the deprecated `GraphDef`, found "
                            f"{graph_def!r}")
        self._add(global_step, graph_def=graph_def.SerializeToString())

    def add_meta_graph(self, meta_graph_def: Any, global_step: Any = None) -> None:
        """Write a MetaGraphDef."""
        self._add(global_step, meta_graph_def=meta_graph_def.SerializeToString())

    def add_session_log(self, session_log: Any, global_step: Any = None) -> None:
        """Write that a session started, stopped or saved a checkpoint."""
        self._add(global_step, session_log=session_log)

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: Any = None) -> None:
        """Write the times and sizes of a run, which are kept under a tag."""
        data = run_metadata.SerializeToString() if hasattr(run_metadata, "SerializeToString") else b""
        self._add(global_step, tagged_run_metadata={"tag": tag, "run_metadata": data})

    def flush(self) -> None:
        """Let readers see all that was written; makes the file if there is none."""
        if self._writer is None and not self._closed:
            self._writer = EventWriter(self._logdir, self._suffix)
        if self._writer is not None:
            self._writer.flush()
        self._waiting, self._flushed_at = 0, time.monotonic()

    def close(self) -> None:
        """Flush and close the file."""
        if not self._closed:
            self.flush()
        if self._writer is not None:
            self._writer.close()
        self._closed, self._writer = True, None

    def reopen(self) -> None:
        """Take events again, into the file of that second."""
        self._closed = False

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()


class FileWriterCache:
    """One FileWriter for each directory."""

    _writers: dict[str, FileWriter] = {}

    @staticmethod
    def get(logdir: str) -> FileWriter:
        """The writer of a directory."""
        if logdir not in FileWriterCache._writers:
            FileWriterCache._writers[logdir] = FileWriter(logdir)
        return FileWriterCache._writers[logdir]

    @staticmethod
    def clear() -> None:
        """Close and forget all writers."""
        for writer in FileWriterCache._writers.values():
            writer.close()
        FileWriterCache._writers.clear()


def summary_iterator(path: Any) -> Iterator[Any]:
    """The events of an event file, one after the other. Raises DataLossError for a damaged file."""
    return read_events(os.fspath(path))
