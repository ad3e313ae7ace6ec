"""Recordings: runs written to a folder, and such a folder looked at without the script."""
from __future__ import annotations

import contextlib
import os
from typing import Any

from ....core.errors import ArgumentError
from ...derivatives.curvature import Report
from ...facts.answers import Recorded
from ...history import recording
from ...history.recording import Recorder, Recording
from ...history.replay import continue_from
from ..log import RunLog
from ..model import Model
from ..overrides import Overrides
from ..runs.hooks import Hooks
from ..state import State


class Recordings:
    """Keeps what happened beyond the session."""

    def __init__(self, state: State, hooks: Hooks) -> None:
        self.state, self.model, self.log, self.hooks = state, state.model, state.log, hooks

    def record(self, path: str, steps: slice | None = None, *, overwrite: bool = False,
               report: Report | None = None) -> Recorded:
        """Write every run from now on into the folder `path`; with `steps`, what is kept of these, at once.

        Runs between two steps go with the first of them. The folder is new, empty, or with `overwrite` a recording's,
        which is replaced. report: told of each run that is written; Ctrl-C ends it with those there are by then.
        Raises ArgumentError.
        """
        if steps is not None:
            chosen = [m for m in self.state.moments
                      if (at := self.log.at(m.run).step) >= (steps.start or 0) and at < (steps.stop or at + 1)]
            if not chosen:
                raise ArgumentError("no step is kept: run one first" if not self.state.moments
                                    else f"none of these steps is kept: {self.state.kept} are")
        if self.hooks.recorder is not None and os.path.realpath(path) == os.path.realpath(self.hooks.recorder.path):
            raise ArgumentError(f"every run goes into {path!r} already", hint="record off ends it")
        try:
            recorder = Recorder(path, self.model.graph, {"script": self.model.script_name, "y": self.model.y},
                                self.model.handles, is_replaced=overwrite)
            if steps is None:
                self.hooks.record_into(recorder)
                return Recorded(path, 0, True, recorder.replaced)
            by_number = {record.run: record for record in self.log.records}
            with contextlib.closing(recorder), contextlib.suppress(KeyboardInterrupt):
                for done, moment in enumerate(chosen):
                    if report is not None:
                        report(done, len(chosen))
                    recorder.write(moment, by_number[moment.run], self.log.steps.trained_before(moment.run))
        except OSError as error:
            raise ArgumentError(f"cannot record into {path!r}: {error.strerror}", hint="name another folder") from None
        return Recorded(path, recorder.runs, False, recorder.replaced)

    def stop(self) -> Recorded:
        """Write no further runs. Raises ArgumentError if none are written."""
        recorder = self.hooks.recorder
        if recorder is None:
            raise ArgumentError("nothing is being recorded", hint="type: record FOLDER")
        self.hooks.record_into(None)
        return Recorded(recorder.path, recorder.runs, False)

    def show(self, found: Recording, path: str) -> Recorded:
        """Look at what was read from a folder, the last run at first. The model is already that of its graph."""
        state, model = self.state, self.model
        model.use_script_name(found.script or path)
        for moment in found.moments:
            state.remember(moment, moment.wanted)
        self.log.replace(found.records, found.trained_before)
        if found.y:
            model.choose_y(found.y)
        if found.moments:
            last = found.moments[-1]
            draws = {name: count + 1 for moment in found.moments for name, count in moment.draws.items()}
            continue_from(model.session, last.variables, last.number, last.entropy, draws)
        return Recorded(path, len(found.moments), False)


def values_in(path: str) -> dict[str, Any]:
    """The values of all tensors in the last run of a recording, by name. Raises ArgumentError if it has none."""
    found = recording.read(path)
    if not found.moments:
        raise ArgumentError(f"the recording {path!r} has no runs")
    state = State(Model(found.graph, handles=dict(found.handles)), Overrides(), RunLog())
    for moment in found.moments:
        state.remember(moment, None)
    return {t.name: v for t, v in state.values_known(found.graph.get_operations(), state.moments[-1]).items()}
