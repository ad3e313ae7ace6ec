"""Doors from inside a program: DebugSession(session), set_trace(), why(model)."""
from __future__ import annotations

import contextlib
import inspect
import sys
import threading
from collections.abc import Sequence
from types import FrameType
from typing import Any

from autodiff import foreign
from autodiff.api.math.reductions import reduce_sum
from autodiff.core.defaults import get_default_session
from autodiff.core.errors import KindError
from autodiff.core.op import build
from autodiff.debug.debugger import Debugger
from autodiff.runtime.session import Session

from .caller import Caller, Shown
from .commands import standing
from .language.command_line import Arguments
from .language.interpreter import execute
from .main import Program, pipe_closed
from .model.script import ModelScript
from .model.script_events import asking, is_asking
from .model.script_forks import forks
from .model.script_world import stopping_at_runs
from .model.shell import Shell
from .notebook import Cells, running_kernel
from .view.render import plain

__all__ = ["DebugSession", "Shown", "set_trace", "why"]


class DebugSession:
    """A session whose runs stop for the prompt: `DebugSession(session)` in place of `session`.

    Those of op.run() and tensor.eval() stop as well, as they ask the session itself. commands: typed in place of a
    person, from the first run on; after the last one the program goes on by itself. Calling it executes a command line
    in the midst of the program: `debug("grads")`. Leaving the prompt with quit lets the program finish undebugged. In a
    notebook nothing prompts: a run that stops shows its page below the cell. Under gradbg its prompt is the only one,
    and commands are not heeded. Everything else is the session's own.
    """

    def __init__(self, session: Any, commands: Sequence[str] | None = None, *, ui: str = "") -> None:
        self._session, self._inside, self._talk = session, _innermost(session), None
        self._run = self._inside.run
        outer = _outer()
        if outer is not None and not outer.detached:
            self._shell = Shell(dbg=outer.watched.__self__)  # type: ignore[attr-defined]
            return
        caller = inspect.currentframe()
        frame = caller.f_back if caller is not None and caller.f_back is not None else sys._getframe()
        self._talk = _Talk(self._inside, frame, commands, ui)
        self._shell = self._talk.shell
        self._inside.run = self._asked  # type: ignore[method-assign]

    @property
    def dbg(self) -> Debugger:
        """The Debugger behind it."""
        return self._shell.dbg

    @property
    def caller(self) -> Caller | None:
        """The program as the prompt sees it; None under gradbg."""
        return self._talk.caller if self._talk is not None else None

    def run(self, fetches: Any, feed_dict: dict | None = None, options: Any = None, run_metadata: Any = None) -> Any:
        """The session's run, under the debugger."""
        if self._talk is None or is_asking(self._inside) or self._session is not self._inside:
            return self._session.run(fetches, feed_dict, options, run_metadata)
        return self._stopping(fetches, feed_dict)

    def _asked(self, fetches: Any, feed_dict: dict | None = None, options: Any = None, run_metadata: Any = None) -> Any:
        """The innermost session's run, as eval, op.run and sessions around it ask for it in the program's thread."""
        if self._talk is None or is_asking(self._inside):
            return self._run(fetches, feed_dict, options, run_metadata)
        return self._stopping(fetches, feed_dict)

    def _stopping(self, fetches: Any, feed_dict: dict | None) -> Any:
        assert self._talk is not None
        self._talk.begin()
        return self._talk.caller.asked(lambda _, *words: self._run(*words), self._inside, fetches, feed_dict)

    def __call__(self, line: str) -> Shown:
        """The result of one command line."""
        if self._talk is None:
            with asking():
                self._shell.dbg.attach(session=self._inside)
                return Shown(execute(line, self._shell))
        return self._talk.caller.shown(line, self._shell)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def __enter__(self) -> "DebugSession":
        self._session.__enter__()
        return self

    def __exit__(self, *exc: Any) -> None:
        self._leave(exc[1])
        self._session.__exit__(*exc)

    def close(self) -> None:
        self._leave(None)
        self._session.close()

    def _leave(self, error: BaseException | None) -> None:
        if self._talk is not None:
            self._talk.finish(error)
            self._inside.run = self._run  # type: ignore[method-assign]


def _innermost(session: Any) -> Session:
    """The session that makes the runs of one around it, as of a MonitoredSession or tfdbg's wrapper."""
    while not isinstance(session, Session):
        known = getattr(session, "__dict__", {})
        inside = known.get("_session", known.get("_sess"))
        if inside is None:
            raise KindError(expected="a tf.Session, or one around it", found=repr(session))
        session = inside
    return session


def _outer() -> ModelScript | None:
    """The program that gradbg debugs here, or set_trace: it stops at the runs of all sessions."""
    scripts = (getattr(thread, "script", None) for thread in threading.enumerate())
    return next((script for script in scripts if isinstance(script, ModelScript)), None)


def set_trace(session: Session | None = None, commands: Sequence[str] | None = None, *, ui: str = "") -> None:
    """Open the prompt here; from then on the program's Session.runs stop as in `gradbg program.py`.

    session: by default the one that is open by `with`. Under gradbg itself its own prompt opens. commands: as in
    DebugSession.
    """
    frame = sys._getframe(1)
    session = session or get_default_session()
    wrapped = getattr(getattr(session, "run", None), "__self__", None)  # a DebugSession, where one debugs it
    script = wrapped.caller if isinstance(wrapped, DebugSession) else _outer()
    if script is None:
        talk = _Talk(session, frame, commands, ui)
        talk.caller._undo.enter_context(stopping_at_runs(talk.caller.asked))
        threading.current_thread().script = script = talk.caller  # type: ignore[attr-defined]
        talk.begin()
    if not script.detached:
        script.trace(session, frame)


class _Talk:
    """The program and who talks to it: a prompt in its own thread, or a notebook's cells. shell: what they know."""

    def __init__(self, session: Session | None, frame: FrameType, commands: Sequence[str] | None, ui: str) -> None:
        self._program = Program(Arguments(steps=[("ex", line) for line in commands or ()], no_rc=True, ui=ui,
                                          batch=commands is not None, keep_going=True))
        self.shell: Shell = self._program.shell
        self._guard = contextlib.ExitStack()
        dbg = Debugger(session.graph if session is not None else None, session, script=frame.f_code.co_filename)
        kernel = running_kernel()
        given = frame.f_code.co_filename, (), dbg.on_run
        self.caller = (Caller(*given, patient=self.shell.interactive) if kernel is None else
                       Cells(*given, kernel=kernel, commands=list(commands or ())))
        self.caller.turn = dbg.log.turn
        self.caller.take(frame)
        self.caller._undo.enter_context(forks(self.caller.let_go))
        dbg.handles.update(self.caller.handles())
        self.shell.dbg, self.shell.script = dbg, self.caller
        self.shell.stop_at_lines(self.caller, dbg)
        self._thread = threading.Thread(target=self._converse, name="gradbg", daemon=True)
        if isinstance(self.caller, Cells):
            self.caller.open(self.shell)

    def begin(self) -> None:
        """Open the prompt, once."""
        if self._thread.ident is None and not isinstance(self.caller, Cells):
            if self.shell.interactive:
                self._guard.enter_context(self._program.terminal.guarded())
            self._thread.start()

    def finish(self, error: BaseException | None) -> None:
        """The program makes no more runs: let the person look at the last one, and leave."""
        if self._thread.is_alive() and not self.caller.detached:
            self.caller.end(error)
            self._thread.join()
        self._guard.close()

    def _converse(self) -> None:
        event = self.caller.wait()
        with asking(), contextlib.closing(self.caller):
            self.shell.take(event)
            with contextlib.suppress(OSError, EOFError):  # the terminal has gone: nobody is there to be told
                self._program.show(standing.arrived(self.shell, event))
                self._program.converse()


def why(program: Any, *args: Any, **options: Any) -> str:
    """Say what is wrong with the gradients of a PyTorch module or function, or of a JAX function, at these arguments.

    The answer, which is printed and returned, is that of the prompt's `why` for the first gradient of the (summed)
    first output that is not finite, missing or vanishing: of the parameters, or of the arguments if there are none.
    Raises KindError (TypeError) for anything else, and MissingOpError for ops that the tables do not have.
    """
    model = _read(program, args, options)
    with model.graph.as_default():
        loss = build.Identity(model.outputs[0], name="output")
        if loss.dims != ():
            loss = reduce_sum(loss, name="sum_of_output")
    session = Session(graph=model.graph)
    if model.variables:
        session.run([variable.initializer for variable in model.variables.values()])
    dbg = Debugger(model.graph, session, handles={**model.inputs, **model.variables})
    dbg.y = loss.name
    for tensor, value in model.feeds.items():
        dbg.feed(tensor.name, value)
    names = list(model.variables) or [name for name, x in model.inputs.items() if x.dtype.is_floating]
    answer = plain(execute(_question(dbg, loss.name, names), Shell(dbg=dbg, typed=False)))
    try:
        print(answer, end="", flush=True)
    except BrokenPipeError:  # as of `program.py | head`: the program goes on
        pipe_closed()
    return answer


def _question(dbg: Debugger, y: str, names: Sequence[str]) -> str:
    """The line to type about the first gradient that is wrong; a table of all if none is."""
    dbg.run(1, fetches=[y])
    if dbg.holds(f"nonfinite({y})"):
        return "why nan"
    for name in names:
        if getattr(dbg.why(name, y), "kind", "not finite") not in ("fine", "flows"):
            return f"why {name}"
    return "grads" if names and dbg.handles[names[0]].op.type == "VarHandleOp" else f"grad {' '.join((y, *names))}"


def _read(program: Any, args: Sequence[Any], options: dict[str, Any]) -> foreign.Model:
    torch, jax = sys.modules.get("torch"), sys.modules.get("jax")
    given = [*args, *options.values()]
    if torch is not None and (isinstance(program, torch.nn.Module) or any(isinstance(x, torch.Tensor) for x in given)):
        return foreign.from_torch(program, tuple(args), options)
    if jax is not None and callable(program):
        return foreign.from_jax(program, *args, **options)
    raise KindError(expected="a PyTorch module or function with tensors, or a JAX function", found=repr(program))
