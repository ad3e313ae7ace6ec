"""Hooks that write checkpoints, summaries and the times of runs."""
from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from ....core.collections import GraphKeys
from ....core.errors import ArgumentError, StateError
from ....core.graph import get_default_graph
from ....runtime.config import RunOptions
from ...file_writer import FileWriterCache
from ...messages import SessionLog
from ..saver import write_graph
from .hook import SecondOrStepTimer, SessionRunArgs, SessionRunContext, SessionRunValues, StepReadingHook
from .timeline import Timeline


class CheckpointSaverListener:
    """Does nothing: a listener overrides what it needs."""

    def begin(self) -> None:
        """Before the session is made."""

    def before_save(self, session: Any, global_step_value: int) -> None:
        """Before a checkpoint is written."""

    def after_save(self, session: Any, global_step_value: int) -> bool | None:
        """After a checkpoint is written; True ends the training."""

    def end(self, session: Any, global_step_value: int) -> None:
        """When all runs are done."""


class CheckpointSaverHook(StepReadingHook):
    """Saves a checkpoint at the beginning, each so many steps or seconds, and at the end."""

    def __init__(self, checkpoint_dir: str, save_secs: float | None = None, save_steps: int | None = None,
                 saver: Any = None, checkpoint_basename: str = "model.ckpt", scaffold: Any = None,
                 listeners: Iterable[CheckpointSaverListener] | None = None) -> None:
        if saver is not None and scaffold is not None:
            raise ArgumentError("You cannot provide both saver and scaffold.")
        self._folder, self._path = checkpoint_dir, os.path.join(checkpoint_dir, checkpoint_basename)
        self._saver, self._scaffold, self._listeners = saver, scaffold, list(listeners or ())
        self._timer = SecondOrStepTimer(save_secs, save_steps)

    def begin(self) -> None:
        super().begin()
        self._writer = FileWriterCache.get(self._folder)
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session: Any, coord: Any) -> None:
        step = int(session.run(self._step))
        graph = get_default_graph()
        write_graph(graph.as_graph_def(add_shapes=True), self._folder, "graph.pbtxt")
        self._writer.add_graph(graph)
        self._writer.add_meta_graph(self._chosen_saver().export_meta_graph())
        self._save(session, step)
        self._timer.update_last_triggered_step(step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if not self._timer.should_trigger_for_step(int(run_values.results) + self._steps_per_run):
            return
        step = int(run_context.session.run(self._step))
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            if self._save(run_context.session, step):
                run_context.request_stop()

    def end(self, session: Any) -> None:
        step = int(session.run(self._step))
        if step != self._timer.last_triggered_step():
            self._save(session, step)
        for listener in self._listeners:
            listener.end(session, step)

    def _save(self, session: Any, step: int) -> bool:
        for listener in self._listeners:
            listener.before_save(session, step)
        os.makedirs(self._folder, exist_ok=True)
        self._chosen_saver().save(session, self._path, step)
        self._writer.add_session_log(SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=self._path), step)
        return any([listener.after_save(session, step) for listener in self._listeners])

    def _chosen_saver(self) -> Any:
        return self._saver or (_default_saver() if self._scaffold is None else self._scaffold.saver)


def _default_saver() -> Any:
    """The graph's one Saver. Raises StateError (RuntimeError) unless there is one."""
    found = get_default_graph().get_collection(GraphKeys.SAVERS)
    if len(found) != 1:
        raise StateError("No items in collection SAVERS. Please add a saver to the collection or provide a saver or "
                         "scaffold." if not found else "More than one item in collection SAVERS. Please indicate "
                         "which one to use by passing it to the constructor.")
    return found[0]


class ProfilerHook(StepReadingHook):
    """Writes the times of a run, `timeline-<step>.json` for Chrome, each so many steps or seconds, and its metadata."""

    def __init__(self, save_steps: int | None = None, save_secs: float | None = None, output_dir: str = "",
                 show_dataflow: bool = True, show_memory: bool = False) -> None:
        self._folder, self._arrows = output_dir, show_dataflow
        self._timer = SecondOrStepTimer(save_secs, save_steps)

    def begin(self) -> None:
        self._writer, self._next, self._due = FileWriterCache.get(self._folder), -1, False
        super().begin()

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        self._due = self._next >= 0 and self._timer.should_trigger_for_step(self._next)
        return SessionRunArgs(self._read, options=RunOptions(trace_level=RunOptions.FULL_TRACE) if self._due else None)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        step = int(run_values.results)
        if self._next < 0:
            self._timer.update_last_triggered_step(step)
        step += 1
        if self._due:
            step = int(run_context.session.run(self._step))
            self._timer.update_last_triggered_step(step)
            found = Timeline(run_values.run_metadata.step_stats).generate_chrome_trace_format(self._arrows)
            with open(os.path.join(self._folder, f"timeline-{step}.json"), "w", encoding="utf-8") as file:
                file.write(found)
            self._writer.add_run_metadata(run_values.run_metadata, f"step_{step}")
        self._next = step + 1


class SummarySaverHook(StepReadingHook):
    """Gives summaries to a FileWriter each so many steps or seconds."""

    def __init__(self, save_steps: int | None = None, save_secs: float | None = None, output_dir: str | None = None,
                 summary_writer: Any = None, scaffold: Any = None, summary_op: Any = None) -> None:
        if (scaffold is None) == (summary_op is None):
            raise ArgumentError("exactly one of scaffold or summary_op must be provided")
        self._op, self._scaffold, self._writer, self._folder = summary_op, scaffold, summary_writer, output_dir
        self._timer = SecondOrStepTimer(save_secs, save_steps)

    def begin(self) -> None:
        if self._writer is None and self._folder:
            self._writer = FileWriterCache.get(self._folder)
        super().begin()
        self._due, self._next = False, -1

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        op = self._op if self._scaffold is None else self._scaffold.summary_op
        self._due = op is not None and (self._next < 0 or self._timer.should_trigger_for_step(self._next))
        return SessionRunArgs({"step": self._read, **({"summary": op} if self._due else {})})

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        step = int(run_values.results["step"]) + 1
        if self._next < 0 or self._due:
            step = int(run_context.session.run(self._step))
        if self._next < 0 and self._writer is not None:
            self._writer.add_session_log(SessionLog(status=SessionLog.START), step)
        if self._due:
            self._timer.update_last_triggered_step(step)
            found = run_values.results["summary"]
            for summary in found if isinstance(found, (list, tuple)) else [found]:
                if self._writer is not None:
                    self._writer.add_summary(summary, step)
        self._next = step + 1

    def end(self, session: Any) -> None:
        if self._writer is not None:
            self._writer.flush()
