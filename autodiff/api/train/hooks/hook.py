"""The interface of hooks: their requests to a run, its results, and the timer that says when a hook is due."""
from __future__ import annotations

import time
from typing import Any, NamedTuple

from ....core.errors import ArgumentError, StateError
from ..global_step import get_global_step, global_step_read


class SessionRunArgs(NamedTuple):
    """The fetches, feeds and options that a hook adds to a run."""

    fetches: Any
    feed_dict: Any = None
    options: Any = None


class SessionRunValues(NamedTuple):
    """The results of a run, for a hook."""

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


class StepReadingHook(SessionRunHook):
    """A hook to which each run gives the global step, as it is before the run counts it up."""

    _steps_per_run = 1

    def begin(self) -> None:
        self._step, self._read = required_global_step(type(self).__name__)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        return SessionRunArgs(self._read)

    def _set_steps_per_run(self, steps_per_run: int) -> None:
        self._steps_per_run = steps_per_run


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


def required_global_step(purpose: str) -> tuple[Any, Any]:
    """The global step of the default graph, and its value before a run counts it up, which hooks fetch.

    Raises StateError (RuntimeError), which names the purpose, without one.
    """
    found = get_global_step()
    if found is None:
        raise StateError(f"Global step should be created to use {purpose}",
                         hint="call tf.train.get_or_create_global_step() and pass it to minimize")
    return found, global_step_read()
