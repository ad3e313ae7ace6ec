"""A program that calls the debugger: how it waits for the prompt, and what it is shown."""
from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from .language.interpreter import execute
from .model.line_stops import Until
from .model.results import Result
from .model.script import ModelScript
from .model.script_events import Event, asking
from .model.shell import Shell
from .model.usage_error import UsageError
from .view.render import plain


@dataclass(frozen=True)
class Shown:
    """A result that shows itself: as text where it is printed, as HTML in a notebook. result: the data."""

    result: Result

    def __str__(self) -> str:
        return plain(self.result).rstrip("\n")

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from .view.drawn.console import html

        return html(self.result)


@dataclass
class Caller(ModelScript):
    """The program that called us, as a script that is under way: it waits in its own thread, the prompt has another."""

    is_ours = False
    _to_script: "queue.Queue[bool]" = field(default_factory=queue.Queue)
    _to_prompt: "queue.Queue[Event]" = field(default_factory=queue.Queue)

    def take(self, frame: FrameType) -> None:
        """Know where the program stands."""
        self._thread, self._frame = threading.current_thread(), frame
        self.file, self.namespace = frame.f_code.co_filename, frame.f_globals

    def asked(self, real: Any, session: Any, fetches: Any, feed_dict: dict | None) -> Any:
        """One Session.run of the program."""
        try:
            return super().asked(real, session, fetches, feed_dict)
        finally:
            self.state = "closed" if self.detached else "after"

    def shown(self, line: str, shell: Shell) -> Shown:
        """The result of a command line that the program itself asks."""
        with self.turn, asking():
            shell.dbg.attach(handles=self.handles())
            return Shown(execute(line, shell))

    def resume(self, runs: float = 1, *, counts: Callable[[Any], bool] | None = None, before: bool = False,
               until: Until | None = None) -> Event:
        """ModelScript.resume. Raises UsageError where the program itself asks, which cannot wait for itself."""
        if threading.current_thread() is self._thread:
            raise UsageError("the program asks this itself: it goes on when the answer is there",
                             "grads, why and print look; train LOSS builds a train op for next", code="wrong_moment")
        return super().resume(runs, counts=counts, before=before, until=until)

    def wait(self) -> Event:
        """The next time that the program hands over (for the prompt)."""
        return self._wait()

    def end(self, error: BaseException | None = None) -> None:
        """Tell the prompt that there are no more runs to come."""
        self._to_prompt.put(Event("raised" if error else "ended", tuple(self._records), error))

    def close(self) -> None:
        """Let the program go on by itself."""
        self.detached, self.state = True, "closed"
        self._to_script.put(True)
        self._undo.close()
