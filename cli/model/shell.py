"""Shell: what the prompt knows beyond the Debugger: the script, the lines typed, settings and aliases."""
from __future__ import annotations

import contextlib
import gc
import linecache
import math
import os
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from autodiff import foreign
from autodiff.debug.debugger import Debugger
from autodiff.debug.engine.questions.patches import Patch
from autodiff.debug.engine.watches import Watches
from autodiff.debug.facts.answers import Recorded
from autodiff.debug.facts.roles import as_place
from autodiff.runtime.session import Session

from .line_stops import holds_in
from .results import Result
from .script import ModelScript
from .script_errors import advice_on
from .script_events import Event
from .script_frames import in_words, script_line
from .usage_error import UsageError

DEEPEST = 20  # files that read each other, commands that stop at others
OPTIONS = {"rows": "rows of a table on a terminal; 0 is as many as two screens hold",  # setting -> what it means
           "editing": "keys of the command line: emacs or vi", "mouse": "whether the full screen listens to the mouse",
           "layout": "panes of the full screen: auto opens them from 100 columns and 28 lines on",
           "auto-why": "whether a stop at nan, inf or none is explained at once",
           "ring.disk": "room for past steps in a temporary folder on disk, as 1GB; 0 for none"}
CHOICES = {"editing": ("emacs", "vi"),  # setting -> its values
           "layout": ("auto", "page", "source", "gradients", "watches", "split")}
LOGGED = 500  # commands and results kept for `export`


@dataclass
class Shell:
    """dbg: the machine. script: under the debugger, or None. lines: typed so far. interactive: a person is there.

    own_runs: `next` runs the prompt's train op, not the script's own loop. last: the line an empty one repeats.
    aliases, defined: the user's own words. displays: expressions shown at each stop. depth: of nested files.
    log: commands and their results. examined: where `x` goes on. said: what is explained once. question: the command
    that explains the last stop, "" where nothing is wrong by itself.
    defining: the command being defined by the lines that come, and those so far. picture: gives the full screen as SVG;
    None where there is none. batch: nobody is asked anything. offered: the command that `yes` as the next line stands
    for, or "". with_tensorflow: scripts are given the TensorFlow installed. typed: there is a prompt to type at.
    """

    dbg: Debugger = field(default_factory=Debugger)
    script: ModelScript | None = None
    lines: list[str] = field(default_factory=list)
    interactive: bool = False
    own_runs: bool = False
    last: str = ""
    aliases: dict[str, str] = field(default_factory=dict)
    displays: list[str] = field(default_factory=list)
    listed: tuple[str, int] = ("", 0)
    depth: int = 0
    settings: dict[str, Any] = field(default_factory=lambda: {
        "rows": 0, "editing": "emacs", "mouse": True, "layout": "auto", "auto-why": True, "ring.disk": 0})
    log: deque[tuple[str, Result]] = field(default_factory=lambda: deque(maxlen=LOGGED))
    examined: tuple[str, int, int] = ("", 0, 0)
    said: set[str] = field(default_factory=set)
    question: str = ""
    defined: dict[str, tuple[str, ...]] = field(default_factory=dict)
    defining: tuple[str, list[str]] | None = None
    namespace: dict[str, Any] = field(default_factory=dict)
    picture: Callable[[], str] | None = None
    known_verbs: Sequence[str] = ()
    batch: bool = False
    with_tensorflow: bool = False
    offered: str = ""
    typed: bool = True
    _renewed: Watches | None = None

    @property
    def drives_script(self) -> bool:
        """Whether the next run is one of the script's own."""
        return self.script is not None and self.script.is_live and not self.own_runs

    @property
    def is_over(self) -> bool:
        """Whether only starting the script anew goes on: it is at its end, and made runs itself."""
        script = self.script
        return (script is not None and script.is_ours and script.state in ("ended", "raised") and script.runs > 0
                and not self.own_runs and not self.batch)

    def names(self) -> list[str]:
        """Names that complete a target: handles and tensors."""
        return self.dbg.model.names()

    def verbs(self) -> list[str]:
        """Names of commands, the user's included."""
        return [*self.known_verbs, *self.aliases, *self.defined]

    def load(self, file: str, arguments: Sequence[str] = (), *, as_module: bool = False,
             fixed: Patch | None = None) -> Event:
        """Run a script up to its first Session.run or its end; it takes the place of the present one.

        fixed: how it is run otherwise than its file has it.

        Watches and breakpoints stay, by name. Raises UsageError if there is no such script, or it is not Python.
        """
        dbg = Debugger(script=file)
        dbg.watches.keep_lines(self.dbg.watches)
        script = ModelScript(file, tuple(arguments), dbg.on_run, as_module, patient=self.interactive,
                             with_tensorflow=self.with_tensorflow, turn=dbg.log.turn, fixed=fixed)
        script.hurries = lambda: script.left == math.inf and not (
            script.before or script.interrupted or self.displays or [*dbg.watches] or dbg.runs.hooks.recorder)
        if self.script is not None and self.script.fixed:
            linecache.cache.pop(self.script.file, None)
        script.compile()
        self.stop_at_lines(script, dbg)
        linecache.checkcache()  # the file may have been edited since it was loaded last
        as_place.cache_clear()
        self._renewed = self.dbg.watches
        self._turn_to(dbg, script)
        try:
            event = script.start()
        except BaseException:
            script.close()
            self.script = None
            raise
        self.take(event)
        if event.kind == "ended" and callable(script.namespace.get("feeds")):
            dbg.feed_from(script.namespace["feeds"])
        if self.interactive:
            gc.freeze()  # a search for garbage through a large graph would keep Ctrl-C waiting
        return event

    def load_again(self, fixed: Patch | None = None) -> Event:
        """Run the script that is loaded from its beginning, as for `load`. Raises UsageError if there is none."""
        script = self.script
        if script is None or not script.is_ours:
            raise UsageError("there is no script to load again", "load FILE", code="no_script")
        return self.load(script.name, script.arguments, as_module=script.as_module, fixed=fixed)

    def stop_at_lines(self, script: ModelScript, dbg: Debugger) -> None:
        """Have the script stop at the lines that breakpoints of `dbg` are at."""
        script.lines.places = lambda: dbg.watches.lines()
        script.lines.stop = lambda frame, file: dbg.watches.stop_at_line(
            file, frame.f_lineno, lambda test: holds_in(frame, test, dbg))

    def open_recording(self, path: str) -> Recorded:
        """Look at a recording instead of a script."""
        dbg = Debugger()
        found = dbg.open_recording(path)
        self._turn_to(dbg)
        return found

    def open_model(self, path: str) -> foreign.Model:
        """Look at a model that another framework left in a file instead of a script.

        Its variables have their values, and its inputs are fed what lies beside the file. Raises UsageError if there
        is no such file.
        """
        if not os.path.exists(path):
            raise UsageError(f"no model {path!r}", f"it was looked for from {os.getcwd()}", code="no_script")
        model = foreign.from_tensorflow(path) if foreign.is_tensorflow_model(path) else foreign.from_onnx(path)
        session = Session(graph=model.graph)
        if model.restore is not None:
            model.restore(session)
        else:
            session.run([variable.initializer for variable in model.variables.values()])
        handles = {name: tensor for name, tensor in model.values.items() if name not in model.variables}
        handles.update({tensor.op.name: tensor for tensor in model.outputs})
        dbg = Debugger(model.graph, session, handles=handles, script=path)
        for tensor, value in model.feeds.items():
            dbg.feed(tensor.name, value)
        self._turn_to(dbg)
        return model

    def _turn_to(self, dbg: Debugger, script: ModelScript | None = None) -> None:
        """End the present script and go on with another; past steps on disk are given up, the next get a new folder."""
        self.close()
        if self.settings["ring.disk"]:
            self.dbg.history.spill(0)
            dbg.state.moments.resume(self.settings["ring.disk"])
        self.script, self.dbg, self.own_runs, self.listed = script, dbg, False, ("", 0)

    def take(self, event: Event) -> None:
        """Show the debugger what the script has become."""
        script = self.script
        if script is None:
            return
        if script.request is not None and script.request.session is not None:
            self.dbg.attach(script.request.session.graph, script.request.session, handles=script.handles())
        else:
            graph = event.graph if event.graph is not None and event.graph.operations else script.graph()
            graph = graph or getattr(self.dbg, "graph", None) or event.graph  # steps of another framework keep theirs
            session = event.session
            if session is None and self.dbg_session() is not None and self.dbg_session().graph is graph:
                session = self.dbg_session()
            self.dbg.attach(graph, session, handles=script.handles())
        self.dbg.model.is_alone = not script.is_live
        self.dbg.model.raised = *in_words(event.error), advice_on(event.error, self.dbg)
        if not script.is_live:
            self.dbg.log.steps.expect(training=False)
        if self._renewed is not None:
            missing = self.dbg.watches.renew(self._renewed)
            if event.kind != "line":  # at a line the script may have more to build
                self._renewed = None
                self.dbg.model.note(*(f"lost with the load: {text}" for text in missing))

    def dbg_session(self) -> Any:
        """The session that the debugger looks at, or None."""
        return getattr(self.dbg, "session", None)

    def graph(self) -> contextlib.AbstractContextManager[Any]:
        """The script's graph as the default one, for code typed at the prompt."""
        graph = getattr(self.dbg, "graph", None)
        return graph.as_default() if graph is not None else contextlib.nullcontext()

    def close(self) -> None:
        """End the script."""
        gc.unfreeze()
        if self.script is not None:
            self.script.close()

    def place(self) -> tuple[str, int]:
        """File and line where the script stands; ("", 0) if it stands nowhere."""
        if self.script is None:
            return self.dbg.script().file, 0  # a recording's
        if self.script.selected and (selected := self.script.frame()) is not None:
            return selected.file, selected.line
        if self.script.request is not None:
            return self.script.request.file, self.script.request.line
        if self.script.error is not None:
            return script_line(self.script.error)
        return self.script.file, 0

    def where(self) -> str:
        """`digits.py:41`, or the script's name, or nothing."""
        file, line = self.place()
        name = os.path.basename(file)
        return f"{name}:{line}" if line else name
