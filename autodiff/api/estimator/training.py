"""train_and_evaluate: an Estimator trained, evaluated at its checkpoints, and exported; and the exporters."""
from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from typing import Any

from ..train.hooks import CheckpointSaverListener
from .estimator import Estimator
from .specs import EvalSpec, TrainSpec


class FinalExporter:
    """Exports a SavedModel when all training is done. name: its directory's, under `export` in the estimator's."""

    _at_the_end = True

    def __init__(self, name: str, serving_input_receiver_fn: Callable[[], Any], assets_extra: Any = None,
                 as_text: bool = False) -> None:
        self.name, self._receiver, self._as_text = name, serving_input_receiver_fn, as_text

    def export(self, estimator: Estimator, export_path: Any, checkpoint_path: Any, eval_result: Any,
               is_the_final_export: bool) -> bytes | None:
        """Write it into a new directory of export_path; -> its path, None if this is not the time."""
        if self._at_the_end and not is_the_final_export:
            return None
        return estimator.export_saved_model(export_path, self._receiver, as_text=self._as_text,
                                            checkpoint_path=checkpoint_path)


class LatestExporter(FinalExporter):
    """Exports a SavedModel after each evaluation, and keeps the newest few."""

    _at_the_end = False

    def __init__(self, name: str, serving_input_receiver_fn: Callable[[], Any], assets_extra: Any = None,
                 as_text: bool = False, exports_to_keep: int | None = 5) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)
        self._keep = exports_to_keep

    def export(self, estimator: Estimator, export_path: Any, checkpoint_path: Any, eval_result: Any,
               is_the_final_export: bool) -> bytes | None:
        made = super().export(estimator, export_path, checkpoint_path, eval_result, is_the_final_export)
        older = sorted((name for name in os.listdir(export_path) if name.isdigit()), key=int)
        for name in older[:-self._keep] if self._keep else ():
            shutil.rmtree(os.path.join(export_path, name))
        return made


class _Evaluations(CheckpointSaverListener):
    """Evaluates at each checkpoint, but the first, which nothing was trained for, and not again too soon."""

    def __init__(self, estimator: Estimator, spec: EvalSpec, max_steps: int | None) -> None:
        self._estimator, self._spec, self._max_steps = estimator, spec, max_steps
        self._last, self._first, self.is_done = time.monotonic(), True, False
        self.result: tuple[Any, list[Any]] = (None, [])

    def after_save(self, session: Any, global_step_value: int) -> None:
        if self._first:
            self._first = False
        elif time.monotonic() - self._last >= self._spec.throttle_secs or self._is_last(global_step_value):
            self.evaluate(self._is_last(global_step_value))

    def _is_last(self, step: int) -> bool:
        return self._max_steps is not None and step >= self._max_steps

    def evaluate(self, last: bool) -> None:
        """Evaluate the newest checkpoint, and export it."""
        estimator, spec = self._estimator, self._spec
        found = estimator.evaluate(spec.input_fn, spec.steps, spec.hooks, name=spec.name)
        exports = [exporter.export(estimator, os.path.join(estimator.model_dir, "export", exporter.name),
                                   estimator.latest_checkpoint(), found, last) for exporter in _each(spec.exporters)]
        self._last, self.result = time.monotonic(), (found, exports)
        self.is_done = last


def _each(exporters: Any) -> Iterator[Any]:
    yield from [] if exporters is None else exporters if isinstance(exporters, (list, tuple)) else [exporters]


def train_and_evaluate(estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec) -> tuple[Any, list[Any]]:
    """Train until max_steps or the data's end, evaluate at checkpoints and at the end, export; -> metrics, exports."""
    listener = _Evaluations(estimator, eval_spec, train_spec.max_steps)
    estimator.train(train_spec.input_fn, train_spec.hooks, max_steps=train_spec.max_steps,
                    saving_listeners=[*train_spec.saving_listeners, listener])
    if not listener.is_done:
        listener.evaluate(True)
    return listener.result
