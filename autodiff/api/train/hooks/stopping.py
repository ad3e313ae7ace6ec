"""Hooks that end the training: after a number of steps, or at a loss that is NaN."""
from __future__ import annotations

import time
from typing import Any

import numpy as np

from ....core.errors import ArgumentError, StateError, shown_as
from ... import logging
from .hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
    StepReadingHook,
    required_global_step,
)


class StopAtStepHook(StepReadingHook):
    """Stops after so many steps of this session, or at a value of the global step."""

    def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
        if (num_steps is None) == (last_step is None):
            raise ArgumentError(expected="one of num_steps and last_step", found=f"{num_steps!r} and {last_step!r}")
        self._num_steps, self._last_step = num_steps, last_step

    def after_create_session(self, session: Any, coord: Any) -> None:
        if self._last_step is None:
            self._last_step = int(session.run(self._step)) + (self._num_steps or 0)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if run_values.results + 1 >= self._last_step and int(run_context.session.run(self._step)) >= self._last_step:  # type: ignore[operator]
            run_context.request_stop()


class GlobalStepWaiterHook(SessionRunHook):
    """Waits before the first run until the global step has come to a number, by another worker's doing."""

    def __init__(self, wait_until_step: int) -> None:
        self._until = wait_until_step

    def begin(self) -> None:
        self._step, self._read = required_global_step("_GlobalStepWaiterHook")

    def before_run(self, run_context: SessionRunContext) -> None:
        while self._until > 0:
            step = int(run_context.session.run(self._step))
            if step >= self._until:
                self._until = 0
                return
            logging.log_every_n(logging.INFO, "Waiting for global step %d before starting training. Current step is "
                                "%d.", 20, self._until, step)
            time.sleep(0.5)


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
            logging.error("Model diverged with loss = NaN.")
            raise NanLossDuringTrainingError(f"NaN loss during training: {self._loss.name}",
                                             hint=f"`why {self._loss.name}` at gradbg's prompt says where it comes "
                                                  "from")
        logging.warning("Model diverged with loss = NaN.")
        run_context.request_stop()
