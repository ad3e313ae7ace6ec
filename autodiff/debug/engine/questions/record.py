"""Storing: steps written to a folder, and a Debugger made of such a folder, without the script."""
from __future__ import annotations

from typing import Any

import numpy as np

from ....core.errors import ArgumentError
from ...facts.answers import Recorded
from ...history import recording
from ...history.recording import Recorder
from .edit import Changing


class Storing(Changing):
    """Keeps what happened beyond the session."""

    def record(self, path: str, steps: slice | None = None) -> Recorded:
        """Write every step from now on into the folder `path`; with `steps`, those of them that are kept, at once."""
        if steps is not None:
            chosen = [m for m in self.moments if (steps.start is None or m.step >= steps.start)
                      and (steps.stop is None or m.step < steps.stop)]
            if not chosen:
                raise ArgumentError("no step is kept: run one first" if not self.moments else "none of these steps is "
                                    f"kept: {self.moments[0].step} to {self.moments[-1].step} are")
        recorder = Recorder(path, self.graph, {"script": self.script_name, "y": self.y}, self.handles)
        if steps is None:
            self._recorder = recorder
            return Recorded(path, 0, True)
        by_step = {record.step: record for record in self.records}
        for moment in chosen:
            recorder.write(moment, by_step[moment.step])
        return Recorded(path, recorder.steps, False)

    def stop_recording(self) -> Recorded:
        """Write no further steps. Raises ArgumentError if none are written."""
        if self._recorder is None:
            raise ArgumentError("nothing is being recorded\ntype: record FOLDER")
        recorder, self._recorder = self._recorder, None
        return Recorded(recorder.path, recorder.steps, False)

    def open_recording(self, path: str) -> Recorded:
        """Look at a recording instead: its graph, its steps; the last one at first."""
        found = recording.read(path)
        self.script_name = found.script or path
        self.attach(found.graph, handles=dict(found.handles))
        self.records.clear()
        for moment, record in zip(found.moments, found.records):
            self.moments.keep(moment, self.budget)
            self.records.append(record)
        self.step = found.moments[-1].step if found.moments else 0
        if found.y:
            self.y = found.y
        if found.moments:
            last = found.moments[-1]
            self._last = self._last_whole = last.wanted
            self.session.variables.update(last.variables)
            self.session.runs, self.session.entropy = last.number, last.entropy
            self.goto_step(last.step)
        return Recorded(path, len(found.moments), False)

    def _side(self, text: str) -> int | dict[str, np.ndarray]:
        if not recording.is_recording(text):
            return super()._side(text)
        other = type(self)()
        other.open_recording(text)
        if not other.moments:
            raise ArgumentError(f"the recording {text!r} has no steps")
        at: Any = other.moments[-1]
        return {t.name: v for t, v in other._values_known(other.graph.get_operations(), at).items()}
