"""A model script under the debugger: it runs in a thread of its own that stops at its Session.runs.

The script is not edited: `Session.run` is replaced from outside while the script lives. Each call hands
over to the prompt's thread and waits there, so the script's stack, `with` blocks and loops stay as they are.
"""
from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import math
import os
import queue
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import CodeType, FrameType, ModuleType, TracebackType
from typing import Any

from autodiff.core.graph import Graph, Operation, Tensor, get_default_graph
from autodiff.foreign import doors
from autodiff.runtime.session import Session
from autodiff.tensorflow_names.alias import standing_in

from .script_signals import quiet_signals
from .usage_error import UsageError

OWN = tuple(os.path.dirname(os.path.abspath(sys.modules[name].__file__ or "")) + os.sep
            for name in ("autodiff", __package__.partition(".")[0]))
KEPT = 10_000  # records of the runs of one command
HEARD = 0.15  # seconds after Ctrl-C within which a step should have ended, or it is said that it goes on
PATIENCE = 0.05  # seconds after which the waiting prompt looks for a Ctrl-C that went to the script's thread
LEAVING = 2.0  # seconds that a script has to end when it is told to


class ScriptEnds(BaseException):
    """Raised inside the script when the user leaves it; not an Exception, so that its handlers let it pass."""


@dataclass(frozen=True)
class Request:
    """A Session.run that the script asks for. file, line: where."""

    session: Any
    fetches: Any
    feed_dict: Any
    file: str
    line: int


def add_records(records: list[Any], more: Sequence[Any]) -> None:
    """Add records of runs; of very many the first and the last are kept."""
    records += more
    if len(records) > 2 * KEPT:
        del records[1:-KEPT]


@dataclass(frozen=True)
class Event:
    """Why the script handed over. kind: "before" or "after" a run, "ended", "raised".

    records: of the runs since the last event; of very many the first and the last. error: the script's exception.
    graph: the one it built last.
    """

    kind: str
    records: tuple[Any, ...] = ()
    error: BaseException | None = None
    graph: Graph | None = None


@dataclass
class ModelScript:
    """One script in its thread. watched: what executes a run (`Debugger.on_run`). state: kind of the last event.

    request: the run it is at, or None. namespace: its globals. left: runs to go before it hands over. runs: those
    made. patient: Ctrl-C means "stop at the next run"; else it ends the waiting.
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
    before: bool = True
    runs: int = 0
    detached: bool = False
    _code: CodeType | None = None
    _frame: FrameType | None = None
    _answer: list[Any] = field(default_factory=list)
    _records: list[Any] = field(default_factory=list)
    _undo: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    _thread: threading.Thread | None = None

    # ---- the prompt's side --------------------------------------------------------------
    def compile(self) -> None:
        """Read the script. Raises UsageError if there is none, or it is no Python."""
        self._code = _compiled_module(self.name) if self.as_module else _compiled(self.name)
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

    def resume(self, runs: float = 1, *, before: bool = False) -> Event:
        """Let the script go on for so many runs; before: stop at the beginning of the next run instead."""
        if not self.is_live:
            raise UsageError(f"{os.path.basename(self.name)} is at its end", "load FILE runs it again")
        self.left, self.before, self.interrupted = runs, before, False
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
        return self.state in ("before", "after", "trace")

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
        frames = []
        frame = self._frame
        while frame is not None and frame.f_globals is not globals():
            if not frame.f_code.co_filename.startswith(OWN) and frame.f_code.co_name != "<module>":
                frames.append(frame)
            frame = frame.f_back
        for frame in reversed(frames):
            found.update(frame.f_locals)
        return {**_attributes(found), **found}

    def graph(self) -> Graph | None:
        """The graph that most of the script's tensors belong to; None if it holds none."""
        graphs = [v.graph for v in self.handles().values() if isinstance(getattr(v, "graph", None), Graph)]
        return max(set(graphs), key=graphs.count) if graphs else None

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
        main.__file__ = self.file
        self.namespace = vars(main)
        self.namespace["__builtins__"] = __builtins__
        folder = os.getcwd() if self.as_module else os.path.dirname(os.path.abspath(self.file))
        saved = sys.argv, list(sys.path), sys.modules.get("__main__"), Session.run

        def restore() -> None:
            sys.argv, sys.path[:], _, Session.run = saved  # type: ignore[method-assign]
            if saved[2] is not None:
                sys.modules["__main__"] = saved[2]

        self._undo.callback(restore)
        sys.argv = [self.file, *self.arguments]
        sys.path[:0] = [folder] if folder == os.getcwd() else [folder, os.getcwd()]
        sys.modules["__main__"] = main
        self._undo.enter_context(standing_in(shadow=True))  # a script under the debugger asks for it
        self._undo.enter_context(quiet_signals(lambda: threading.current_thread() is self._thread))
        real = Session.run

        def run(session: Session, fetches: Any, feed_dict: dict | None = None, options: Any = None,
                run_metadata: Any = None) -> Any:
            """Session.run that stops for the prompt."""
            is_other = self.detached or threading.current_thread() is not self._thread
            if is_other or self.request is not None and self.state == "running":
                return real(session, fetches, feed_dict, options, run_metadata)
            return self._at_run(real, session, fetches, feed_dict)

        Session.run = run  # type: ignore[method-assign, assignment]

    # ---- the script's side --------------------------------------------------------------
    def _main(self) -> None:
        event = Event("ended")
        try:
            with doors.opened(doors.View(lambda: self.namespace, lambda: self.detached)):
                exec(self._code, self.namespace)  # type: ignore[arg-type]
        except ScriptEnds:
            event = Event("closed")
        except SystemExit as error:
            if error.code not in (None, 0):
                event = Event("raised", error=error)
        except BaseException as error:
            self._frame = _last_frame(error.__traceback__)
            event = Event("raised", error=error)
        self.request = None
        self._to_prompt.put(Event(event.kind, tuple(self._records), event.error, get_default_graph()))

    def _at_run(self, real: Any, session: Session, fetches: Any, feed_dict: dict | None) -> Any:
        """One Session.run of the script: wait before it, execute it under the debugger, wait after it."""
        self._frame = frame = _user_frame()
        self.request = Request(session, fetches, feed_dict, frame.f_code.co_filename, frame.f_lineno)
        try:
            if self.before or self.interrupted:
                self._hand_over("before")
            if self._answer:
                value, record = self._answer.pop()
                if isinstance(value, BaseException):
                    raise value
            else:
                self.state = "running"
                value, record = self.watched(session, fetches, feed_dict, call=real)
            add_records(self._records, [record])
            self.left -= 1
            self.runs += 1
            if self.left <= 0 or self.interrupted or record.stops:
                self._hand_over("after")
            return value
        finally:
            self.request = None

    def trace(self, session: Any, frame: FrameType) -> None:
        """Wait for the prompt at a line of the script (for `set_trace`)."""
        self._frame = frame
        self.request = Request(session, (), None, frame.f_code.co_filename, frame.f_lineno)
        try:
            self._hand_over("trace")
        finally:
            self.request = None

    def _hand_over(self, kind: str) -> None:
        records, self._records = tuple(self._records), []
        self._to_prompt.put(Event(kind, records))
        if not self._to_script.get():
            raise ScriptEnds


class ScriptThread(threading.Thread):
    """The thread of a script. script: which."""

    def __init__(self, script: ModelScript) -> None:
        super().__init__(target=script._main, name="model script", daemon=True)
        self.script = script


def _compiled(path: str) -> CodeType:
    try:
        with open(path, "rb") as file:
            text = file.read()
        return compile(text, path, "exec", dont_inherit=True)
    except FileNotFoundError:
        near = [n for n in sorted(os.listdir(os.path.dirname(path) or ".")) if n.endswith(".py")][:5] \
            if os.path.isdir(os.path.dirname(path) or ".") else []
        raise UsageError(f"no script {path!r}", f"scripts there: {', '.join(near)}" if near else
                         f"it was looked for from {os.getcwd()}", code="no_script") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the script {path!r}: {error}", "expected a Python file",
                         code="no_script") from None
    except (SyntaxError, ValueError) as error:
        raise UsageError(_syntax(path, error), f"mend it, then load {path}", code="script_syntax") from None


def _compiled_module(name: str) -> CodeType:
    sys.path.insert(0, os.getcwd())
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(name + ".__main__")
        code = spec.loader.get_code(spec.name) if spec and spec.loader else None  # type: ignore[attr-defined]
    except SyntaxError as error:
        raise UsageError(_syntax(name, error), "mend it, then load it again", code="script_syntax") from None
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"no module {name!r} to run: {error}", "give its dotted name", code="no_script") from None
    finally:
        sys.path.remove(os.getcwd())
    if code is None:
        raise UsageError(f"no module {name!r} to run", f"it was looked for from {os.getcwd()}", code="no_script")
    return code


def _syntax(path: str, error: Exception) -> str:
    if not isinstance(error, SyntaxError):
        return f"{path} is not Python: {error}"
    line = (error.text or "").rstrip()
    lead = len(line) - len(line.lstrip())
    shown = f"\n{line.strip()}\n{' ' * max((error.offset or 1) - 1 - lead, 0)}^" if line else ""
    return f"syntax error in {path}, line {error.lineno}: {error.msg}{shown}"


def script_traceback(error: BaseException) -> str:
    """The traceback as Python prints it, without the frames of debugger and library.

    GRADBG_TRACE=1 in the environment keeps them.
    """
    shown = traceback.TracebackException.from_exception(error)
    if os.environ.get("GRADBG_TRACE", "") in ("", "0"):
        stack: list[traceback.TracebackException | None] = [shown]
        while stack:
            part = stack.pop()
            if part is not None:
                kept = [frame for frame in part.stack if not frame.filename.startswith(OWN)]
                part.stack = traceback.StackSummary.from_list(kept)
                stack += [part.__cause__, part.__context__]
    return "".join(shown.format()).rstrip()


def script_line(error: BaseException) -> tuple[str, int]:
    """File and line of the script's innermost own frame in a traceback; ("", 0) if there is none."""
    found = ("", 0)
    step = error.__traceback__
    while step is not None:
        if not step.tb_frame.f_code.co_filename.startswith((*OWN, sys.prefix, "<frozen")):
            found = (step.tb_frame.f_code.co_filename, step.tb_lineno)
        step = step.tb_next
    return found


def _last_frame(step: TracebackType | None) -> FrameType | None:
    frame = None
    while step is not None:
        if not step.tb_frame.f_code.co_filename.startswith(OWN):
            frame = step.tb_frame
        step = step.tb_next
    return frame


def _user_frame() -> FrameType:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(OWN) and frame.f_back is not None:
        frame = frame.f_back
    return frame  # type: ignore[return-value]


def _attributes(names: dict[str, Any]) -> dict[str, Any]:
    """`model.loss` for tensors that are attributes of the script's own objects."""
    found: dict[str, Any] = {}
    for name, value in names.items():
        if isinstance(value, (ModuleType, type, Tensor, Operation, Graph, Session)) or hasattr(value, "dtype"):
            continue
        own = getattr(value, "__dict__", None)
        if isinstance(own, dict):
            found.update({f"{name}.{key}": item for key, item in own.items()
                          if isinstance(item, (Tensor, Operation)) or hasattr(item, "_as_graph_element")})
    return found


def say_it_is_heard() -> None:
    """Ctrl-C in a long step: it is not in vain."""
    sys.stderr.write("it stops at the end of this step; Ctrl-C again interrupts the step\n")
    sys.stderr.flush()


def raise_in(thread: threading.Thread | None, kind: type[BaseException]) -> None:
    """Raise an exception inside another thread, at its next Python instruction."""
    if thread is not None and thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(kind))
