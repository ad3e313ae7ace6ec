"""LineStops: a script stops before lines of its own, by sys.settrace in its thread, only while there is such a stop."""
from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

from autodiff.core.errors import AutodiffError
from autodiff.debug.debugger import Debugger
from autodiff.debug.facts.records import Stop

from .script_frames import frames_from, is_own

Tracer = Callable[[FrameType, str, Any], Any]
DOWN, OUT = 0, -1  # in place of a line number


@dataclass(frozen=True)
class Until:
    """Where a script goes to and stops once; behind the frame's return at the latest.

    frame, begun: where it begins, and its line there. line: of the frame's file, wherever that runs; DOWN: the next one
    further down in the frame; OUT: none, the frame has to return.
    """

    frame: FrameType
    begun: int
    line: int = DOWN


@dataclass
class LineStops:
    """Lines that a script stops before. until: where it goes to besides.

    Both are asked in the script's thread: places for the lines of each file, by its real path; stop, where one of them
    is reached, for the Stop, or None to pass over it. last: the Stop of the line where it stands; None for `until`.
    hand_over: waits for the prompt.
    """

    places: Callable[[], dict[str, set[int]]] = dict
    stop: Callable[[FrameType, str], Stop | None] = lambda frame, file: None
    hand_over: Callable[[FrameType], None] = lambda frame: None
    until: Until | None = None
    last: Stop | None = None
    _lines: dict[str, set[int]] = field(default_factory=dict)
    _returned_to: FrameType | None = None
    _is_tracing: bool = False
    _paths: dict[CodeType, str] = field(default_factory=dict)

    @property
    def wanted(self) -> bool:
        """Whether there is anything to stop at."""
        return self.until is not None or bool(self._lines)

    def install(self, frame: FrameType | None) -> None:
        """Begin to trace the calling thread, in whose frames `frame` is the script's innermost; or end it.

        frame None: nothing more is stopped at.
        """
        self._lines = self.places()
        tracer = self._called if self.wanted and frame is not None else None
        if tracer is None and not self._is_tracing:
            return  # somebody else may trace
        self._is_tracing = tracer is not None
        sys.settrace(tracer)
        for place in frames_from(frame):
            place.frame.f_trace = self._traced if tracer is not None and self._concerns(place.frame) else None

    @contextlib.contextmanager
    def paused(self, frame: FrameType) -> Iterator[None]:
        """Inside, nothing is traced: a Session.run has thousands of calls that are not the script's."""
        if self._is_tracing:
            sys.settrace(None)
        try:
            yield
        finally:
            self.install(frame)

    def _concerns(self, frame: FrameType) -> bool:
        """Whether a stop may be in a frame."""
        return self.until is not None or self._path(frame) in self._lines

    def _path(self, frame: FrameType) -> str:
        code = frame.f_code
        if code not in self._paths:
            self._paths[code] = os.path.realpath(code.co_filename)
        return self._paths[code]

    def _called(self, frame: FrameType, event: str, given: Any) -> Tracer | None:
        return self._traced if not is_own(frame) and self._concerns(frame) else None

    def _traced(self, frame: FrameType, event: str, given: Any) -> Tracer | None:
        if event == "line" and self._is_here(frame):
            self.until = self._returned_to = None
            self.hand_over(frame)
        elif event == "return" and self.until is not None and (frame is self.until.frame or frame is self._returned_to):
            outer = frames_from(frame)[1:2]
            self._returned_to = outer[0].frame if outer else None
            if self._returned_to is not None:
                self._returned_to.f_trace = self._traced
        return self._traced

    def _is_here(self, frame: FrameType) -> bool:
        until, file = self.until, self._path(frame)
        self.last = self.stop(frame, file) if frame.f_lineno in self._lines.get(file, ()) else None
        is_at_end = until is not None and (frame is self._returned_to or self._is_reached(until, frame))
        return self.last is not None or is_at_end

    def _is_reached(self, until: Until, frame: FrameType) -> bool:
        if until.line not in (DOWN, OUT):
            return frame.f_lineno == until.line and self._path(frame) == self._path(until.frame)
        return until.line == DOWN and frame is until.frame and frame.f_lineno > until.begun


def lines_with_code(code: CodeType) -> set[int]:
    """Lines of a file at which something is executed; code: of the whole file."""
    found = {line for _, _, line in code.co_lines() if line}
    return found.union(*(lines_with_code(inner) for inner in code.co_consts if isinstance(inner, CodeType)))


def holds_in(frame: FrameType, test: str, dbg: Debugger) -> bool:
    """Whether a test of a line stop holds: Python in the frame, or a predicate of the last run.

    True for a test that fails: it is better to stop than to pass over the line.
    """
    try:
        return bool(eval(test, frame.f_globals, frame.f_locals))
    except Exception:  # whatever the user's own expression raises: it may be a predicate, such as norm(W) > 3
        try:
            return dbg.holds(test)
        except AutodiffError:
            return True
