"""A notebook: its cells are the program, a stop shows its page below the cell, and later cells ask."""
from __future__ import annotations

import dataclasses
import math
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from autodiff.core.defaults import get_default_session
from autodiff.core.graph import get_default_graph
from autodiff.debug.debugger import Debugger

from .caller import Caller, Shown
from .commands import standing
from .language.interpreter import execute
from .model.line_stops import Until
from .model.results import Group, Text, leaves, question_in
from .model.script_events import Event, Request, asking
from .model.shell import Shell
from .model.usage_error import UsageError
from .view.first_page import briefly

MAGIC = "gradbg"
HIDDEN = {"In", "Out", "exit", "quit", "open", "get_ipython"}  # names that IPython gives each notebook
CELL_FILE = re.compile(r"(?:[^\s'\"]*/)?(\d+\.py)\b")  # the file that a kernel says a cell is in


def running_kernel() -> Any:
    """IPython's shell where this program is a notebook's kernel; else None."""
    ipython = sys.modules.get("IPython")
    made = ipython.get_ipython() if ipython is not None else None
    return made if hasattr(made, "kernel") else None


@dataclass
class Cells(Caller):
    """The cells that run sessions: nothing prompts and nothing waits.

    kernel: IPython's shell. commands: executed before the first run. A run that stops, or whose loss is the first that
    is not finite, is completed and shows its page; what else stops for the same reason in that cell is counted below.
    """

    waits = False
    kernel: Any = None
    commands: list[str] = field(default_factory=list)
    _shell: Shell | None = None
    _pages: dict[Any, list[int]] = field(default_factory=dict)
    _cell: int = 0

    def open(self, shell: Shell) -> None:
        """Begin: later cells ask this shell, and a line says so."""
        self._shell, self.state, self.left, self.before = shell, "after", 0, False
        Asked.of(self.kernel).shell, shell.batch = shell, False
        self._publish(Shown(Text("debugged: a run that stops shows its page here; %gradbg grads, %gradbg why nan and "
                                 "%gradbg help ask in any cell", "quiet")))

    def handles(self) -> dict[str, Any]:
        """The notebook's variables by name."""
        return names_of(self.kernel)

    def resume(self, runs: float = 1, *, counts: Callable[[Any], bool] | None = None, before: bool = False,
               until: Until | None = None) -> Event:
        """Raises UsageError: the cells go on."""
        raise UsageError("in a notebook the cells make the runs", "execute the next cell; train LOSS builds a train op "
                         "that next runs", code="wrong_moment")

    def asked(self, real: Any, session: Any, fetches: Any, feed_dict: dict | None) -> Any:
        """One Session.run of a cell."""
        while self.commands and not self.detached:
            line = self.commands.pop(0)
            shown = self.shown(line, self._shell)  # type: ignore[arg-type]
            self.detached = leaves(shown.result)
            self._publish(shown)
        try:
            return super().asked(real, session, fetches, feed_dict)
        finally:
            self.file = self._frame.f_code.co_filename if self._frame is not None else self.file

    def shown(self, line: str, shell: Shell) -> Shown:
        """The result of a command line, with the cells' names."""
        return in_cells(super().shown(line, shell), self.kernel)

    def _hand_over(self, kind: str, frame: FrameType, request: Request) -> None:
        """Show the page of a stop, in place of waiting for a prompt."""
        self._frame, self.request = frame, request
        records, self._records, shell = tuple(self._records), [], self._shell
        stop = next((record.stops[0] for record in records if record.stops), None)
        assert shell is not None
        if kind == "after" and stop is None and not _is_lost(records[-1], shell.dbg.records):
            return
        with asking():
            shell.dbg.attach(handles=self.handles())
            page = standing.arrived(shell, Event(kind, records), records, stop)
            question = question_in(page)
            if self._is_new((kind, stop.number if stop is not None else question), records):
                parts = (page, briefly(question, execute(question, shell))) if question else (page,)
                self._publish(in_cells(Shown(Group(parts)), self.kernel))

    def _is_new(self, reason: Any, records: tuple[Any, ...]) -> bool:
        """Whether this is the first page for a reason in this cell; further ones are counted in a line below."""
        if self._cell != self.kernel.execution_count:
            self._cell = self.kernel.execution_count
            self._pages.clear()
        if reason not in self._pages:
            self._pages[reason] = []
            return True
        steps = self._pages[reason]
        steps.append(self._shell.dbg.step)  # type: ignore[union-attr]
        text = f"and again at step{'s' * (len(steps) > 1)} " + ", ".join(map(str, steps[:3]))
        text += f" … {steps[-1]}, {len(steps)} times" if len(steps) > 3 else ""
        self._publish(Shown(Text(text, "quiet")), f"{MAGIC}-{self._cell}-{reason}", update=len(steps) > 1)
        return False

    def _publish(self, shown: Shown, display_id: str = "", *, update: bool = False) -> None:
        if shown.result != Text():
            self.kernel.display_pub.publish({"text/html": shown._repr_html_(), "text/plain": str(shown)}, update=update,
                                            transient={"display_id": display_id} if display_id else {})


def _is_lost(last: Any, records: Any) -> bool:
    """Whether this record's loss is the first that is not finite."""
    if last.loss is None or math.isfinite(last.loss):
        return False
    before = next((r for r in reversed(records) if r is not last and r.loss_name == last.loss_name), None)
    return before is None or before.loss is None or math.isfinite(before.loss)


def names_of(kernel: Any) -> dict[str, Any]:
    """The user's variables in a notebook."""
    return {name: value for name, value in kernel.user_ns.items() if name not in HIDDEN and not name.startswith("_")}


def in_cells(shown: Shown, kernel: Any) -> Shown:
    """A result that names a cell as IPython does, `In[3]`, where it would name the kernel's file for it."""
    def named(found: re.Match[str]) -> str:
        known = kernel.compile.format_code_name(os.path.join(folder, found[1]))
        return known[1] if known else found[0]

    def renamed(value: Any) -> Any:
        if isinstance(value, str):
            return CELL_FILE.sub(named, value)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return dataclasses.replace(value, **{part.name: renamed(getattr(value, part.name))
                                                 for part in dataclasses.fields(value)})
        if isinstance(value, tuple):
            return type(value)._make(map(renamed, value)) if hasattr(value, "_make") else tuple(map(renamed, value))
        if isinstance(value, list):
            return [*map(renamed, value)]
        return {key: renamed(item) for key, item in value.items()} if type(value) is dict else value

    folder = os.path.dirname(kernel.compile.get_code_name("", "", 0))
    return Shown(renamed(shown.result))


class Asked:
    """What `%gradbg` asks. shell: the newest session's, else one of the default graph."""

    def __init__(self, kernel: Any) -> None:
        self.kernel, self.shell = kernel, Shell()
        kernel.register_magic_function(self.magic, "line_cell", MAGIC)

    @classmethod
    def of(cls, kernel: Any) -> "Asked":
        """That of a notebook, which has one."""
        return getattr(kernel.find_line_magic(MAGIC), "__self__", None) or cls(kernel)

    def magic(self, line: str, cell: str = "") -> Shown:
        """%gradbg COMMAND: ask the debugger; in a cell that begins with %%gradbg each line is a command."""
        lines = [text for text in (line, *cell.splitlines()) if text.strip()] or ["info script"]
        shown = [self._shown(text) for text in lines]
        return shown[0] if len(shown) == 1 else Shown(Group(tuple(one.result for one in shown)))

    def _shown(self, line: str) -> Shown:
        script = self.shell.script
        if isinstance(script, Cells):
            shown = script.shown(line, self.shell)
            script.detached = script.detached or leaves(shown.result)
            return shown
        if script is None:
            session = get_default_session()
            graph = session.graph if session is not None else get_default_graph()
            if self.shell.dbg.graph is not graph:
                self.shell.dbg = Debugger(graph, session)
            self.shell.dbg.attach(graph, session, handles=names_of(self.kernel))
            self.shell.dbg.model.is_alone = session is None
        with asking():
            shown = in_cells(Shown(execute(line, self.shell)), self.kernel)
        if leaves(shown.result):
            self.shell.close()
            self.shell = Shell()
        return shown
