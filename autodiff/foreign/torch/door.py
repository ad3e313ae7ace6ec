"""The door of PyTorch: while a script runs, each `loss.backward()` becomes a run of the debugger's.

The ops of the forward pass are recorded as they are done; torch's own backward runs first and is what counts for the
script. Then the record, as a graph with the values of its parameters and data, is run under the debugger.
"""
from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from ...core.site import resolve
from ...debug.facts.roles import as_place
from ..doors import View
from ..steps import ForeignStep, ForeignSteps
from .graph import array_of, sliced, written_by
from .habits import Habits
from .names import data_names, parameters_in, user_names
from .record import Call, Calls, Entry, Recorder, storage_of, user_frames
from .steps import Builder


class TorchDoor:
    """Records one script. recorder: of its ops; steps: what they became."""

    def __init__(self, view: View) -> None:
        self._view = view
        self.recorder = Recorder(is_bounded=True)
        self.steps = ForeignSteps("torch")
        self._calls = Calls(self.recorder)
        self._habits = Habits(self.recorder)
        self._builder = Builder(self.steps, self.recorder)
        self._is_inside = False

    @contextlib.contextmanager
    def opened(self) -> Iterator[None]:
        """While the script runs."""
        real = torch.Tensor.backward

        def backward(tensor: Any, gradient: Any = None, retain_graph: Any = None, create_graph: bool = False,
                     inputs: Any = None) -> Any:
            """Tensor.backward that stops for the prompt."""
            def run() -> Any:
                return real(tensor, gradient, retain_graph, create_graph, inputs)
            if self._is_inside or self._view.is_left():
                self.recorder.paused = self.recorder.paused or self._view.is_left()
                return run()
            return self._backward(tensor, gradient, run)

        torch.Tensor.backward = backward
        try:
            with self._calls, self._habits, self.recorder:
                yield
        finally:
            torch.Tensor.backward = real

    def _backward(self, loss: Any, gradient: Any, run: Any) -> None:
        """One step: torch's backward, then ours."""
        self._is_inside = True
        names = user_names(self._view.namespace())
        parameters = parameters_in(names)
        frames = user_frames()
        self._habits.before_backward(parameters, frames)
        before = {name: p.grad.clone() for name, p in parameters.items() if p.grad is not None}
        saved, self.recorder.paused = self.recorder.paused, True
        try:
            run()
            if loss.dim() == 0 and gradient is None:
                self._step(loss, names, parameters, before, frames)
        finally:
            self.recorder.paused, self._is_inside = saved, False
            self._calls.clear()

    def _step(self, loss: Any, names: dict[str, Any], parameters: dict[str, Any], before: dict[str, Any],
              frames: Any) -> None:
        entries = sliced([e for e in self.recorder.entries if not _updates(e, parameters)], [loss])
        built = self._builder.built(loss, entries, parameters, data_names(names))
        own = {name: _change(p.grad, before.get(name)) for name, p in parameters.items() if p.requires_grad}
        at = resolve(frames[:1])
        place = as_place(at[0]) if at else None
        used = set(map(id, entries))
        self.recorder.turn([e for e in self.recorder.entries if id(e) not in used and e.has_grad])
        self.steps.advice.findings = self._habits.findings(names, parameters)
        self.steps.run(ForeignStep(built.loss, built.values, built.feeds, own, "loss.backward()", place))


def _updates(entry: Entry, parameters: dict[str, Any]) -> bool:
    """Whether an op changes parameters without autograd: they are what they are when backward is called."""
    if isinstance(entry.op, Call):
        return False
    written = [t for t in written_by(entry) if not (entry.has_grad and t.requires_grad)]
    return bool(written) and not {storage_of(p) for p in parameters.values()}.isdisjoint(map(storage_of, written))


def _change(now: Any, before: Any) -> np.ndarray | None:
    """What a backward has added to a gradient."""
    if now is None or before is None:
        return None if now is None else array_of(now)
    return array_of(now) - array_of(before)


def open_door(view: View) -> Any:
    """A context in which the script's backward passes are runs."""
    return TorchDoor(view).opened()


