"""Hooks: what is done before and after each run of a monitored session."""
from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ...core.errors import ArgumentError, StateError, shown_as
from ...core.graph import get_default_graph
from ..file_writer import FileWriterCache
from ..logging import error as log_error
from ..logging import info, warning
from ..messages import SessionLog, Summary
from .global_step import get_global_step


class SessionRunArgs(NamedTuple):
    """What a hook wants of a run, besides what the caller fetches."""

    fetches: Any
    feed_dict: Any = None
    options: Any = None


class SessionRunValues(NamedTuple):
    """What a hook gets of a run."""

    results: Any
    options: Any = None
    run_metadata: Any = None


class SessionRunContext:
    """A run as hooks see it. original_args: what the caller asked for. session: the session itself."""

    def __init__(self, original_args: SessionRunArgs, session: Any) -> None:
        self.original_args, self.session = original_args, session
        self.stop_requested = False

    def request_stop(self) -> None:
        """Make should_stop() true after this run."""
        self.stop_requested = True


class SessionRunHook:
    """Does nothing: a hook overrides what it needs."""

    def begin(self) -> None:
        """Before the session is made; the graph may still be added to."""

    def after_create_session(self, session: Any, coord: Any) -> None:
        """After the variables have values."""

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Before a run: what it shall fetch and feed as well."""
        return None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """After a run, unless it failed."""

    def end(self, session: Any) -> None:
        """When all runs are done, unless one failed."""


class SecondOrStepTimer:
    """Says at which steps something is due: each so many steps, or seconds."""

    def __init__(self, every_secs: float | None = None, every_steps: int | None = None) -> None:
        if (every_secs is None) == (every_steps is None):
            raise ArgumentError("exactly one of every_secs and every_steps should be provided, found "
                                f"{every_secs!r} and {every_steps!r}")
        self._secs, self._steps = every_secs, every_steps
        self.reset()

    def reset(self) -> None:
        """Begin anew."""
        self._last_step: int | None = None
        self._last_time = 0.0

    def last_triggered_step(self) -> int | None:
        """The step of the last time; None before it."""
        return self._last_step

    def should_trigger_for_step(self, step: int) -> bool:
        """Whether it is due at a step."""
        if self._last_step is None:
            return True
        if self._last_step == step:
            return False
        return time.time() >= self._last_time + self._secs if self._secs is not None \
            else step >= self._last_step + (self._steps or 0)

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """It was done at a step; gives the seconds and steps since the time before."""
        now, before = time.time(), (self._last_time, self._last_step)
        self._last_time, self._last_step = now, step
        return (None, None) if before[1] is None else (now - before[0], step - before[1])


def _global_step(purpose: str) -> Any:
    found = get_global_step()
    if found is None:
        raise StateError(f"Global step should be created to use {purpose}",
                         hint="call tf.train.get_or_create_global_step() and pass it to minimize")
    return found


class StopAtStepHook(SessionRunHook):
    """Stops after so many steps of this session, or at a value of the global step."""

    def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
        if (num_steps is None) == (last_step is None):
            raise ArgumentError(expected="one of num_steps and last_step", found=f"{num_steps!r} and {last_step!r}")
        self._num_steps, self._last_step = num_steps, last_step

    def begin(self) -> None:
        self._step = _global_step("StopAtStepHook")

    def after_create_session(self, session: Any, coord: Any) -> None:
        if self._last_step is None:
            self._last_step = int(session.run(self._step)) + (self._num_steps or 0)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if run_values.results + 1 >= self._last_step and int(run_context.session.run(self._step)) >= self._last_step:  # type: ignore[operator]
            run_context.request_stop()


class LoggingTensorHook(SessionRunHook):
    """Logs values each so many runs, or seconds, or at the end. tensors: a list of tensors or names, or tag -> one."""

    def __init__(self, tensors: Any, every_n_iter: int | None = None, every_n_secs: float | None = None,
                 at_end: bool = False, formatter: Callable[[dict], str] | None = None) -> None:
        if not at_end and (every_n_iter is None) == (every_n_secs is None):
            raise ArgumentError("either at_end and/or exactly one of every_n_iter and every_n_secs must be provided")
        if every_n_iter is not None and every_n_iter <= 0:
            raise ArgumentError(f"invalid every_n_iter={every_n_iter}: expected a count > 0")
        self._tensors = tensors if isinstance(tensors, Mapping) else {t if isinstance(t, str) else t.name: t
                                                                      for t in tensors}
        self._timer = None if at_end and every_n_iter is None and every_n_secs is None else \
            SecondOrStepTimer(every_n_secs, every_n_iter)
        self._at_end, self._formatter = at_end, formatter

    def begin(self) -> None:
        self._runs, self._due = 0, False
        if self._timer is not None:
            self._timer.reset()
        self._fetched = {tag: get_default_graph().as_graph_element(t) for tag, t in self._tensors.items()}

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        self._due = self._timer is not None and self._timer.should_trigger_for_step(self._runs)
        return SessionRunArgs(self._fetched) if self._due else None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if self._due and self._timer is not None:
            seconds, _ = self._timer.update_last_triggered_step(self._runs)
            self._log(run_values.results, seconds)
        self._runs += 1

    def end(self, session: Any) -> None:
        if self._at_end:
            self._log(session.run(self._fetched), None)

    def _log(self, values: dict, seconds: float | None) -> None:
        text = self._formatter(values) if self._formatter else ", ".join(f"{tag} = {v}" for tag, v in values.items())
        info("%s%s", text, "" if seconds is None or self._formatter else f" ({seconds:.3f} sec)")


@shown_as("NanLossDuringTrainingError")
class NanLossDuringTrainingError(StateError):
    """The loss is NaN."""


class NanTensorHook(SessionRunHook):
    """Stops, or fails with NanLossDuringTrainingError, when a tensor has a NaN."""

    def __init__(self, loss_tensor: Any, fail_on_nan_loss: bool = True) -> None:
        self._loss, self._fails = loss_tensor, fail_on_nan_loss

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._loss)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if not np.isnan(run_values.results).any():
            return
        if self._fails:
            log_error("Model diverged with loss = NaN.")
            raise NanLossDuringTrainingError(f"NaN loss during training: {self._loss.name}",
                                             hint=f"`why {self._loss.name}` at gradbg's prompt says where it comes "
                                                  "from")
        warning("Model diverged with loss = NaN.")
        run_context.request_stop()


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


class CheckpointSaverHook(SessionRunHook):
    """Saves a checkpoint at the beginning, each so many steps or seconds, and at the end."""

    def __init__(self, checkpoint_dir: str, save_secs: float | None = None, save_steps: int | None = None,
                 saver: Any = None, checkpoint_basename: str = "model.ckpt", scaffold: Any = None,
                 listeners: Iterable[CheckpointSaverListener] | None = None) -> None:
        if saver is not None and scaffold is not None:
            raise ArgumentError("you cannot provide both saver and scaffold")
        if saver is None and scaffold is None:
            raise ArgumentError("expected a saver or a scaffold: pass saver=tf.train.Saver()")
        self._folder, self._path = checkpoint_dir, os.path.join(checkpoint_dir, checkpoint_basename)
        self._saver, self._scaffold, self._listeners = saver, scaffold, list(listeners or ())
        self._timer = SecondOrStepTimer(save_secs, save_steps)

    def begin(self) -> None:
        self._step = _global_step("CheckpointSaverHook")
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session: Any, coord: Any) -> None:
        step = int(session.run(self._step))
        self._save(session, step)
        self._timer.update_last_triggered_step(step)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if not self._timer.should_trigger_for_step(int(run_values.results) + 1):
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
        (self._saver or self._scaffold.saver).save(session, self._path, step)
        return any([listener.after_save(session, step) for listener in self._listeners])


class StepCounterHook(SessionRunHook):
    """Logs how many steps a second the global step makes, and writes it for TensorBoard."""

    def __init__(self, every_n_steps: int | None = 100, every_n_secs: float | None = None,
                 output_dir: str | None = None, summary_writer: Any = None) -> None:
        self._timer = SecondOrStepTimer(every_n_secs, None if every_n_secs is not None else every_n_steps)
        self._writer, self._folder = summary_writer, output_dir

    def begin(self) -> None:
        if self._writer is None and self._folder:
            self._writer = FileWriterCache.get(self._folder)
        self._step = _global_step("StepCounterHook")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        step = int(run_values.results) + 1
        if self._timer.should_trigger_for_step(step):
            seconds, steps = self._timer.update_last_triggered_step(step)
            if seconds:
                tag = f"{self._step.op.name}/sec"
                info("%s: %g", tag, (steps or 0) / seconds)
                if self._writer is not None:
                    value = Summary.Value(tag=tag, simple_value=(steps or 0) / seconds)
                    self._writer.add_summary(Summary(value=[value]), step)


class SummarySaverHook(SessionRunHook):
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
        self._step = _global_step("SummarySaverHook")
        self._due, self._next = False, -1

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        op = self._op if self._scaffold is None else self._scaffold.summary_op
        self._due = op is not None and (self._next < 0 or self._timer.should_trigger_for_step(self._next))
        return SessionRunArgs({"step": self._step, **({"summary": op} if self._due else {})})

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


class FinalOpsHook(SessionRunHook):
    """Runs operations at the end; final_ops_values holds their values."""

    def __init__(self, final_ops: Any, final_ops_feed_dict: dict | None = None) -> None:
        self._ops, self._feeds, self.final_ops_values = final_ops, final_ops_feed_dict, None

    def end(self, session: Any) -> None:
        if self._ops is not None:
            self.final_ops_values = session.run(self._ops, self._feeds)


class FeedFnHook(SessionRunHook):
    """Feeds each run what a function gives."""

    def __init__(self, feed_fn: Callable[[], dict]) -> None:
        self.feed_fn = feed_fn

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(None, self.feed_fn())
