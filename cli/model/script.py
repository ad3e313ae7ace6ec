"""A model script under the debugger: it runs in a thread of its own that stops at its Session.runs.

The script is not edited: `Session.run` is replaced from outside while the script lives. Each call hands
over to the prompt's thread and waits there, so the script's stack, `with` blocks and loops stay as they are.
"""
from __future__ import annotations

import contextlib
import linecache
import math
import os
import queue
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec
from types import CodeType, FrameType, ModuleType
from typing import Any

from autodiff.core.defaults import get_default_session
from autodiff.core.graph import Graph, get_default_graph
from autodiff.foreign import doors
from autodiff.runtime.session import Session
from autodiff.tensorflow_names.alias import standing_in
from autodiff.tensorflow_names.old_names import in_modules_of

from .line_stops import LineStops, Until
from .own_runs import is_asking
from .script_forks import end_forked, forks
from .script_frames import Place, attributes_of, frames_from, frames_of_error, user_frame
from .script_signals import quiet_signals, raise_in, say_it_is_heard
from .script_source import compiled, compiled_module, drop_modules
from .usage_error import UsageError

KEPT = 10_000  # records of the runs of one command
HEARD = 0.15  # seconds after Ctrl-C within which a step should have ended, or it is said that it goes on
PATIENCE = 0.05  # seconds after which the waiting prompt looks for a Ctrl-C that went to the script's thread
LEAVING = 2.0  # seconds that a script has to end when it is told to


class ScriptEnds(BaseException):
    """Raised inside the script when the user leaves it; not an Exception, so that its handlers let it pass."""


@dataclass(frozen=True)
class Request:
    """A Session.run that the script asks for, or what stands for one. file, line: where. call: its own words for it."""

    session: Any
    fetches: Any
    feed_dict: Any
    file: str
    line: int
    call: str = "Session.run"


def add_records(records: list[Any], more: Sequence[Any]) -> None:
    """Add records of runs; of very many the first and the last are kept."""
    records += more
    if len(records) > 2 * KEPT:
        del records[1:-KEPT]


@dataclass(frozen=True)
class Event:
    """Why the script handed over. kind: "before" or "after" a run, "ended", "raised".

    records: of the runs since the last event; of very many the first and the last. error: the script's exception.
    graph: the one it built last. session: the one to look at it in, if the script has none of its own.
    """

    kind: str
    records: tuple[Any, ...] = ()
    error: BaseException | None = None
    graph: Graph | None = None
    session: Session | None = None


@dataclass
class ModelScript:
    """One script in its thread. watched: what executes a run (`Debugger.on_run`). state: kind of the last event.

    request: the run it is at. namespace: its globals. left: runs, as `counts` counts, until it hands over. runs: those
    made. known: what a framework's door calls by name. selected: the frame looked at, 0 for the innermost. lines: where
    else it stops. patient: Ctrl-C means "stop at the next run"; else it ends the waiting.
    """

    name: str
    arguments: Sequence[str]
    watched: Callable[..., tuple[Any, Any]]
    as_module: bool = False
    patient: bool = True
    state: str = "new"
    request: Request | None = None
    namespace: dict[str, Any] = field(default_factory=dict)
    file: str = ""
    error: BaseException | None = None
    interrupted: bool = False
    left: float = 0
    counts: Callable[[Any], bool] | None = None
    before: bool = True
    runs: int = 0
    detached: bool = False
    selected: int = 0
    lines: LineStops = field(default_factory=LineStops)
    known: dict[str, Any] = field(default_factory=dict)
    put_back: list[str] = field(default_factory=list)  # names that were removed since, used by the script
    is_ours, waits = True, True  # we began it, and can again; at a stop it waits for the prompt
    _code: CodeType | None = None
    _spec: ModuleSpec | None = None
    _frame: FrameType | None = None
    _answer: list[Any] = field(default_factory=list)
    _records: list[Any] = field(default_factory=list)
    _undo: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    _thread: threading.Thread | None = None

    def __post_init__(self) -> None:
        self.lines.hand_over = lambda frame: self.trace(None, frame, "line")

    # ---- the prompt's side --------------------------------------------------------------
    def compile(self) -> None:
        """Read the script, of which nothing runs. Raises UsageError if there is none, or it is no Python."""
        self._code, self._spec = compiled_module(self.name) if self.as_module else \
            (compiled(self.name, self.put_back), None)
        self.file = self._code.co_filename

    def start(self) -> Event:
        """Run to the first Session.run, or to the end."""
        if self._code is None:
            self.compile()
        self._to_script: queue.Queue[bool] = queue.Queue()
        self._to_prompt: queue.Queue[Event] = queue.Queue()
        self._prepare()
        self._thread = ScriptThread(self)
        self._thread.start()
        return self._wait()

    def resume(self, runs: float = 1, *, counts: Callable[[Any], bool] | None = None, before: bool = False,
               until: Until | None = None) -> Event:
        """Let the script go on for so many runs; before: stop at the beginning of the next run instead.

        counts: which records count, None for all. until: stop at this line as well.
        """
        if not self.is_live:
            raise UsageError(f"{os.path.basename(self.name)} is at its end", "load runs it again")
        self.left, self.counts, self.before, self.interrupted, self.selected = runs, counts, before, False, 0
        self.lines.until = until
        self._to_script.put(True)
        return self._wait()

    def detach(self) -> Event:
        """Let the script go on to its end without stopping or looking at any run."""
        self.detached = True
        return self.resume(math.inf)

    def answer(self, value: Any, record: Any) -> None:
        """Give the run that the script waits at its result, or its error, instead of executing it."""
        self._answer = [(value, record)]

    @property
    def is_answered(self) -> bool:
        """Whether the run that the script waits at has its result."""
        return bool(self._answer)

    @property
    def is_live(self) -> bool:
        return self.state in ("before", "after", "trace", "line")

    def let_go(self) -> None:
        """This process was forked by the script: it goes on by itself."""
        self.detached, self.state = True, "forked"

    def close(self) -> None:
        """End the script, if it still runs, and take back all that was changed around it."""
        if self._thread is not None and self._thread.is_alive():
            self._to_script.put(False)
            self._thread.join(LEAVING)
        self.state = "closed"
        self._undo.close()

    def handles(self) -> dict[str, Any]:
        """The script's variables by name: its globals, and the locals of the functions it stands in."""
        found = {name: value for name, value in self.namespace.items() if not name.startswith("__")}
        for place in reversed(self.frames()[self.selected:]):
            if place.function != "<module>":
                found.update(place.frame.f_locals)
        return {**attributes_of(found), **found, **self.known}

    def frames(self) -> list[Place]:
        """Where the script stands, innermost first; after an error, where that came from."""
        if self.error is not None:
            return frames_of_error(self.error)
        return frames_from(self._frame) if self.is_live else []

    def frame(self) -> Place | None:
        """The frame that is looked at: the innermost, or what `up` and `down` went to."""
        frames = self.frames()
        return frames[min(self.selected, len(frames) - 1)] if frames else None

    def graph(self) -> Graph | None:
        """The graph that most of the script's tensors belong to; None if it holds none."""
        graphs = [v.graph for v in self.handles().values()
                  if isinstance(getattr(v, "graph", None), Graph) and not v.graph.executing_eagerly]
        return max(set(graphs), key=graphs.count) if graphs else None

    def doing(self) -> str:
        """The line of the script's own file that is executed now, `model.py:12: import torch`; "" if none is."""
        frame = sys._current_frames().get(self._thread.ident or 0) if self._thread is not None else None
        while frame is not None and frame.f_code.co_filename != self.file:
            frame = frame.f_back
        if frame is None:
            return ""
        return f"{os.path.basename(self.file)}:{frame.f_lineno}: {linecache.getline(self.file, frame.f_lineno).strip()}"

    def _wait(self) -> Event:
        reminder = threading.Timer(HEARD, say_it_is_heard)
        while True:
            try:
                event = self._to_prompt.get(timeout=PATIENCE)
                break
            except queue.Empty:
                continue
            except KeyboardInterrupt:
                if not self.patient:
                    raise
                if self.interrupted:
                    raise_in(self._thread, KeyboardInterrupt)
                else:
                    reminder.start()
                self.interrupted = True
        reminder.cancel()
        self.state, self.error = event.kind, event.error
        return event

    def _prepare(self) -> None:
        """Put the script's world in place: argv, path, __main__, import names, the stop at Session.run."""
        main = ModuleType("__main__")
        self.namespace = vars(main)
        main.__file__, main.__spec__, main.__package__ = self.file, self._spec, getattr(self._spec, "parent", None)
        self.namespace["__builtins__"] = __builtins__
        folder = os.getcwd() if self.as_module else os.path.dirname(os.path.abspath(self.file))
        saved, imported = (sys.argv, list(sys.path), sys.modules.get("__main__"), Session.run), set(sys.modules)

        def restore() -> None:
            sys.argv, sys.path[:], _, Session.run = saved  # type: ignore[method-assign]
            if saved[2] is not None:
                sys.modules["__main__"] = saved[2]
            drop_modules(folder, imported)

        self._undo.callback(restore)
        sys.argv = [self.file, *self.arguments]
        sys.path[:0] = [folder] if folder == os.getcwd() else [folder, os.getcwd()]
        sys.modules["__main__"] = main
        self._undo.enter_context(standing_in(shadow=True))  # a script under the debugger asks for it
        self._undo.enter_context(in_modules_of(sys.path[:2], self.put_back))
        self._undo.enter_context(quiet_signals(lambda: threading.current_thread() is self._thread))
        self._undo.enter_context(forks(self.let_go))
        real = Session.run

        def run(session: Session, fetches: Any, feed_dict: dict | None = None, options: Any = None,
                run_metadata: Any = None) -> Any:
            """Session.run that stops for the prompt."""
            is_other = self.detached or threading.current_thread() is not self._thread or is_asking(session)
            if is_other or self.request is not None and self.state == "running":
                return real(session, fetches, feed_dict, options, run_metadata)
            return self._at_run(real, session, fetches, feed_dict)

        Session.run = run  # type: ignore[method-assign, assignment]

    # ---- the script's side --------------------------------------------------------------
    def _main(self) -> None:
        event = Event("ended")
        offered: list[Any] = [None, None]

        def offer(graph: Graph, session: Session) -> None:
            offered[:] = graph, session

        try:
            with doors.opened(doors.View(lambda: self.namespace, lambda: self.detached, offer, self.known)):
                if self._spec is not None and self._spec.parent:
                    __import__(self._spec.parent)
                self.lines.install(sys._getframe())
                exec(self._code, self.namespace)  # type: ignore[arg-type]
        except ScriptEnds:
            event = Event("closed")
        except SystemExit as error:
            if error.code not in (None, 0):
                event = Event("raised", error=error)
        except BaseException as error:
            event = Event("raised", error=error)
        if self.state == "forked":
            end_forked(event.error)
        self.request = None
        graph, session = offered
        if graph is None and not get_default_graph().executing_eagerly:
            graph = get_default_graph()
        self._to_prompt.put(Event(event.kind, tuple(self._records), event.error, graph, session))

    def _at_run(self, real: Any, session: Session, fetches: Any, feed_dict: dict | None) -> Any:
        """One Session.run of the script: wait before it, execute it under the debugger, wait after it."""
        self._frame = frame = user_frame()
        call = session.graph.extras.get("step_call") or "Session.run"
        self.request = Request(session, fetches, feed_dict, frame.f_code.co_filename, frame.f_lineno, call)
        try:
            if self.before or self.interrupted:
                self._hand_over("before")
            if self._answer:
                value, record = self._answer.pop()
                if isinstance(value, BaseException):
                    raise value
            else:
                self.state = "running"
                with self.lines.paused(frame):
                    value, record = self.watched(session, fetches, feed_dict, call=real)
            add_records(self._records, [record])
            self.left -= self.counts is None or self.counts(record)
            self.runs += 1
            if self.left <= 0 or self.interrupted or record.stops:
                self._hand_over("after")
            return value
        finally:
            self.request = None

    def trace(self, session: Any, frame: FrameType, kind: str = "trace") -> None:
        """Wait for the prompt at a line of the script (for `set_trace` and line stops)."""
        self._frame = frame
        self.request = Request(session or get_default_session(), (), None, frame.f_code.co_filename, frame.f_lineno)
        try:
            self._hand_over(kind)
        finally:
            self.request = None

    def _hand_over(self, kind: str) -> None:
        if self.detached:
            return  # it was told so in the midst of this run
        records, self._records = tuple(self._records), []
        self._to_prompt.put(Event(kind, records))
        goes_on = self._to_script.get()
        self.lines.install(None if self.detached else self._frame)
        if not goes_on:
            raise ScriptEnds


class ScriptThread(threading.Thread):
    """The thread of a script. script: which."""

    def __init__(self, script: ModelScript) -> None:
        super().__init__(target=script._main, name="model script", daemon=True)
        self.script = script
