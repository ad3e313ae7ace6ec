"""Hooks that tell how the training goes, and feed it."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ....core.errors import ArgumentError, OutOfRangeError
from ....core.graph import get_default_graph
from ... import logging
from ...file_writer import FileWriterCache
from ...messages import Summary
from .hook import (
    SecondOrStepTimer,
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
    StepReadingHook,
)


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
        if self._formatter:
            logging.info(text)
        else:
            logging.info("%s%s", text, "" if seconds is None else f" ({seconds:.3f} sec)")


class StepCounterHook(StepReadingHook):
    """Logs how many steps a second the global step makes, and writes it for TensorBoard."""

    def __init__(self, every_n_steps: int | None = 100, every_n_secs: float | None = None,
                 output_dir: str | None = None, summary_writer: Any = None) -> None:
        self._seen: int | None = None
        self._timer = SecondOrStepTimer(every_n_secs, None if every_n_secs is not None else every_n_steps)
        self._writer, self._folder = summary_writer, output_dir

    def begin(self) -> None:
        if self._writer is None and self._folder:
            self._writer = FileWriterCache.get(self._folder)
        super().begin()

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        before, step = int(run_values.results), int(run_values.results) + self._steps_per_run
        if self._seen == before:
            logging.log_first_n(logging.WARN, "It seems that global step (tf.train.get_global_step) has not been "
                                "increased. Current value (could be stable): %s vs previous value: %s. You could "
                                "increase the global step by passing tf.train.get_global_step() to "
                                "Optimizer.apply_gradients or Optimizer.minimize.", 5, before, self._seen)
        self._seen = before
        if self._timer.should_trigger_for_step(step):
            step = int(run_context.session.run(self._step))
        if self._timer.should_trigger_for_step(step):
            seconds, steps = self._timer.update_last_triggered_step(step)
            if seconds:
                tag = f"{self._step.op.name}/sec"
                logging.info("%s: %g", tag, (steps or 0) / seconds)
                if self._writer is not None:
                    value = Summary.Value(tag=tag, simple_value=(steps or 0) / seconds)
                    self._writer.add_summary(Summary(value=[value]), step)


class FinalOpsHook(SessionRunHook):
    """Runs operations at the end; final_ops_values holds their values."""

    def __init__(self, final_ops: Any, final_ops_feed_dict: dict | None = None) -> None:
        self._ops, self._feeds, self.final_ops_values = final_ops, final_ops_feed_dict, None

    def end(self, session: Any) -> None:
        if self._ops is not None:
            try:
                self.final_ops_values = session.run(self._ops, self._feeds)
            except (OutOfRangeError, StopIteration):
                logging.warning("The operations of a FinalOpsHook came to the end of the data: they have a dependency "
                                "back to some input source, and should read variables alone.")
                raise


class FeedFnHook(SessionRunHook):
    """Feeds each run what a function gives."""

    def __init__(self, feed_fn: Callable[[], dict]) -> None:
        self.feed_fn = feed_fn

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(None, self.feed_fn())
