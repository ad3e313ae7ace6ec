"""A model script under the debugger: it runs in a thread of its own that stops at its Session.runs.

The script is not edited: `Session.run` is replaced from outside while the script lives. Each call hands
over to the prompt's thread and waits there, so the script's stack, `with` blocks and loops stay as they are.
Where it has several threads, one at a time makes a run, and waits at the prompt: see autodiff.ops.common.turns.
"""
from __future__ import annotations

import contextlib
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
from autodiff.debug.engine.questions.patches import Patch
from autodiff.foreign import doors
from autodiff.ops.common.turns import RunsEnd, Turn
from autodiff.runtime.session import Session

from .line_stops import LineStops, Until
from .script_events import Event, Request, ScriptEnds, add_records, is_asking
from .script_forks import end_forked, forks
from .script_frames import Place, attributes_of, frames_from, frames_of_error, user_frame
from .script_signals import Pressed, Reminder, nothing_swallowed, quiet_signals, raise_in
from .script_source import compiled, compiled_module
from .script_threads import ScriptThread, join_others, line_of, operation_of
from .script_world import stopping_at_runs, world_of
from .usage_error import UsageError

PATIENCE = 0.05  # seconds after which the waiting prompt looks for a Ctrl-C that went to the script's thread
_own = threading.local()  # script: the one whose run this thread is in the midst of
LEAVING = 2.0  # seconds that a script has to end when it is told to


@dataclass
class ModelScript:
    """One script in its thread. watched: what executes a run (`Debugger.on_run`). state: kind of the last event.

    request: the run it is at. namespace: its globals. left: runs, as `counts` counts, until it hands over. runs: those
    made. known: what a framework's door calls by name. selected: the frame looked at, 0 for the innermost. lines: where
    else it stops. turn: whose it is to make a run. patient: Ctrl-C means "stop at the next run"; else it ends waiting.
    """

    name: str
    arguments: Sequence[str]
    watched: Callable[..., tuple[Any, Any]]
    as_module: bool = False
    patient: bool = True
    with_tensorflow: bool = False
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
    hurries: Callable[[], bool] = lambda: False  # whether it goes on to its end, and nothing is asked of each run
    turn: Turn = field(default_factory=Turn)
    known: dict[str, Any] = field(default_factory=dict)
    fixed: Patch | None = None  # how the script is run otherwise than its file has it
    put_back: list[str] = field(default_factory=list)  # names that were removed since, used by the script
    is_ours, waits = True, True  # we began it, and can again; at a stop it waits for the prompt
    _code: CodeType | None = None
    _spec: ModuleSpec | None = None
    _frame: FrameType | None = None
    _answer: list[Any] = field(default_factory=list)
    _records: list[Any] = field(default_factory=list)
    _undo: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    _thread: threading.Thread | None = None
    _threads: set[threading.Thread] = field(default_factory=set)  # that have made runs
    _before: Sequence[threading.Thread] = ()  # that were there when it began
    _prompt: threading.Thread | None = None
    _raised: bool = False  # whether Ctrl-C was handed on to the script

    def __post_init__(self) -> None:
        self.lines.hand_over = lambda frame: self.trace(None, frame, "line")

    def compile(self) -> None:
        """Read the script, of which nothing runs. Raises UsageError if there is none, or it is no Python."""
        self._code, self._spec = compiled_module(self.name) if self.as_module else \
            (compiled(self.name, self.put_back, self.fixed.new if self.fixed else b""), None)
        self.file = self._code.co_filename

    def start(self) -> Event:
        """Run to the first Session.run, or to the end."""
        if self._code is None:
            self.compile()
        self._to_script: queue.Queue[bool] = queue.Queue()
        self._to_prompt: queue.Queue[Event] = queue.Queue()
        self._prepare()
        self._prompt, self._before = threading.current_thread(), threading.enumerate()
        self._thread = ScriptThread(self)
        return self._wait(self._thread.start)

    def resume(self, runs: float = 1, *, counts: Callable[[Any], bool] | None = None, before: bool = False,
               until: Until | None = None) -> Event:
        """Let the script go on for so many runs; before: stop at the beginning of the next run instead.

        counts: which records count, None for all. until: stop at this line as well.
        """
        if not self.is_live:
            raise UsageError(f"{os.path.basename(self.name)} is at its end", "load runs it again")
        self.left, self.counts, self.before, self.interrupted, self.selected = runs, counts, before, False, 0
        self.lines.until, self._raised = until, False
        return self._wait(lambda: self._to_script.put(True))

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
        thread = self._thread
        if thread is not None and thread.is_alive():
            if self.state not in ("ended", "raised"):  # of which nothing is left to be ended
                self._end_others(self.turn.holder if self.is_live else None)
            self._to_script.put(False)
            thread.join(LEAVING)
        self.state = "closed"
        self._undo.close()

    def _end_others(self, stopped: threading.Thread | None) -> None:
        """End the script's threads at their next run or line, but for one that is told at the prompt."""
        self.turn.end(ScriptEnds)
        for thread in {self._thread, *self._threads} - {stopped, threading.current_thread()}:
            raise_in(thread, ScriptEnds if thread is self._thread else SystemExit)

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
        return line_of(self.turn.holder or self._thread, self.file)

    def _wait(self, begin: Callable[[], None] = lambda: None) -> Event:
        reminder = Reminder()
        event: Event | None = None
        with Pressed().heard() if self.patient else contextlib.nullcontext(Pressed()) as pressed:
            heeded = 0
            begin()  # here: a Ctrl-C before would leave a script that runs and nobody waits for
            while event is None:
                try:
                    event = self._to_prompt.get(timeout=PATIENCE)
                except queue.Empty:
                    pass
                except KeyboardInterrupt:  # where it is raised from another thread
                    pressed()
                if event is None and pressed.count and not self.patient:
                    raise KeyboardInterrupt
                if event is None and pressed.fresh > heeded:
                    heeded += 1
                    event = self._interrupt(reminder)
        reminder.cancel()
        self.state, self.error = event.kind, event.error
        return event

    def _interrupt(self, reminder: Reminder) -> Event | None:
        """Ctrl-C: stop at the next run; again, or detached: raise it in the script; again, in vain: leave it."""
        makes_run = self.turn.holder
        thread = makes_run or self._thread
        if not self.interrupted and not self.detached:
            self.interrupted = True
            at, what = ("end of this step", "the step") if makes_run or self.runs else ("next run", "that")
            reminder.begin(lambda: f"it stops at the {at}{_now(operation_of(thread) or self.doing())}; Ctrl-C again "
                           f"interrupts {what}")
        elif not self._raised:
            self._raised = True
            raise_in(thread, KeyboardInterrupt)
            reminder.begin(lambda: f"waiting for {operation_of(thread) or self.doing() or 'it'} to end, which can not "
                           "be interrupted; Ctrl-C again leaves the script there")
        elif reminder.has_said:
            left = self.doing()
            self._end_others(None)
            return Event("raised", tuple(self._records), KeyboardInterrupt(f"left in the midst of {left}"))
        return None

    def _prepare(self) -> None:
        """Put the script's world in place."""
        main = ModuleType("__main__")
        self.namespace = vars(main)
        main.__file__, main.__spec__, main.__package__ = self.file, self._spec, getattr(self._spec, "parent", None)
        self.namespace["__builtins__"] = __builtins__
        enter = self._undo.enter_context
        enter(world_of(main, self._spec, self.arguments, self.put_back, with_tensorflow=self.with_tensorflow))
        enter(quiet_signals(lambda: threading.current_thread() is self._thread))
        enter(nothing_swallowed((KeyboardInterrupt, ScriptEnds)))
        enter(forks(self.let_go))
        enter(stopping_at_runs(self.asked))

    def _main(self) -> None:
        event = Event("ended")
        offered: list[Any] = [None, None]

        def offer(graph: Graph, session: Session) -> None:
            offered[:] = graph, session

        try:
            with doors.opened(doors.View(lambda: self.namespace, lambda: self.detached, offer, self.hurries,
                                         self.known)):
                if self._spec is not None and self._spec.parent:
                    __import__(self._spec.parent)
                self.lines.install(sys._getframe())
                exec(self._code, self.namespace)  # type: ignore[arg-type]
                if self.state != "forked":
                    join_others(self._before)
        except ScriptEnds:
            event = Event("closed")
        except SystemExit as error:
            if error.code not in (None, 0):
                event = Event("raised", error=error)
        except BaseException as error:
            event = Event("raised", error=error)
        if self.state == "forked":
            end_forked(event.error)
        with contextlib.suppress(RunsEnd), self.turn:  # nobody is in the midst of a run, or stands at the prompt
            self._end_others(self._thread)
        graph, session = offered
        if graph is None and not get_default_graph().executing_eagerly:
            graph = get_default_graph()
        self._to_prompt.put(Event(event.kind, tuple(self._records), event.error, graph, session))

    def asked(self, real: Any, session: Session, fetches: Any, feed_dict: dict | None) -> Any:
        """A Session.run in whatever thread: the debugger's own is made as it is, the script's may stop."""
        thread = threading.current_thread()
        within: ModelScript | None = getattr(_own, "script", None)
        is_of_another = within is not None and within is not self
        if self.detached or thread is self._prompt or is_of_another or is_asking(session):
            return real(session, fetches, feed_dict)
        if thread not in self._threads:
            self._threads = {thread, *filter(threading.Thread.is_alive, self._threads)}
        try:
            with self.turn:
                if self.detached or within is self:  # a Python function within a run asks
                    return real(session, fetches, feed_dict)
                _own.script = self
                try:
                    return self._at_run(real, session, fetches, feed_dict)
                finally:
                    _own.script = self.request = None
        except RunsEnd:
            if thread is not self._thread:
                raise SystemExit from None  # which ends a thread without a word
            raise

    def _at_run(self, real: Any, session: Session, fetches: Any, feed_dict: dict | None) -> Any:
        """One Session.run of the script: wait before it, execute it under the debugger, wait after it."""
        frame = user_frame()
        call = session.graph.extras.get("step_call") or "Session.run"
        request = Request(session, fetches, feed_dict, frame.f_code.co_filename, frame.f_lineno, call,
                          self._thread_name())
        if self.before or self.interrupted:
            self._hand_over("before", frame, request)
        if self._answer:
            value, record = self._answer.pop()
            if isinstance(value, BaseException):
                raise value
        else:
            with self.lines.paused(frame):
                value, record = self.watched(session, fetches, feed_dict, call=real)
        add_records(self._records, [record])
        self.left -= self.counts is None or self.counts(record)
        self.runs += 1
        if self.left <= 0 or self.interrupted or record.stops:
            self._hand_over("after", frame, request)
        return value

    def trace(self, session: Any, frame: FrameType, kind: str = "trace") -> None:
        """Wait for the prompt at a line of the script (for `set_trace` and line stops)."""
        file = frame.f_code.co_filename
        with self.turn:
            try:
                self._hand_over(kind, frame, Request(session or get_default_session(), (), None, file, frame.f_lineno,
                                                     thread=self._thread_name()))
            finally:
                self.request = None

    def _thread_name(self) -> str:
        thread = threading.current_thread()
        return thread.name if thread is not self._thread else ""

    def _hand_over(self, kind: str, frame: FrameType, request: Request) -> None:
        if self.detached or self.turn.is_lent:
            return  # it was told so in the midst of this run, or the prompt stands in another run
        records, self._records = tuple(self._records), []
        self._frame, self.request = frame, request
        self._to_prompt.put(Event(kind, records))
        goes_on = self._to_script.get()
        self.lines.install(None if self.detached else frame)
        if not goes_on:
            raise ScriptEnds


def _now(what: str) -> str:
    return f" (now {what})" if what else ""
