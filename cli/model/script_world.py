"""A script's world while it lives: argv, path, __main__, the names it imports, its stop at Session.run."""
from __future__ import annotations

import contextlib
import itertools
import linecache
import os
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import numpy

from autodiff.debug.analysis.advice import Remark, advice_of, hearing
from autodiff.debug.facts.records import Place
from autodiff.ops.common.instead import instead
from autodiff.runtime.session import Session
from autodiff.tensorflow_names import old_names
from autodiff.tensorflow_names.alias import real_tensorflow, standing_in

from .script_frames import script_traceback
from .script_source import drop_modules
from .usage_error import UsageError

FIGURES = f"module://{__package__}.script_figures"  # what draws them where there is no display
_NUMPY = (os.path.join(os.path.dirname(numpy.__file__), ""), old_names.__file__)
Run = Callable[[Any, Session, Any, dict | None], Any]


@contextlib.contextmanager
def world_of(main: ModuleType, spec: ModuleSpec | None, arguments: Sequence[str],
             put_back: list[str], *, with_tensorflow: bool = False) -> Iterator[None]:
    """Inside, `main` is the program: its sys.argv and path, and TensorFlow's names. spec: if it runs as a module.

    put_back: is given names that were removed since, as the script uses them. with_tensorflow: they are those of the
    TensorFlow installed; raises UsageError if there is none.
    """
    if with_tensorflow and not real_tensorflow():
        raise UsageError("--with-tensorflow: no TensorFlow is installed where gradbg runs", "leave the option out, and "
                         f"gradbg answers its names; or {sys.executable} -m pip install tensorflow")
    file = str(main.__file__)
    folder = os.getcwd() if spec is not None else os.path.dirname(os.path.abspath(file))
    saved, imported = (sys.argv, list(sys.path), sys.modules.get("__main__"), threading.excepthook), set(sys.modules)
    sys.argv = [file, *arguments]
    sys.path[:0] = own = [folder] if folder == os.getcwd() else [folder, os.getcwd()]
    sys.modules["__main__"] = main
    threading.excepthook = _thread_failed
    try:
        with (contextlib.nullcontext() if with_tensorflow else standing_in(shadow=True),
              old_names.in_modules_of(own, put_back), _figures_drawn(), _arithmetic_heard()):
            yield
    finally:
        sys.argv, sys.path[:] = saved[:2]
        threading.excepthook = saved[3]
        if saved[2] is not None:
            sys.modules["__main__"] = saved[2]
        drop_modules(folder, imported)


@contextlib.contextmanager
def _figures_drawn() -> Iterator[None]:
    """Inside, matplotlib needs no display where there is none; what the user has set stays."""
    headless = sys.platform.startswith("linux") and not {"DISPLAY", "WAYLAND_DISPLAY", "MPLBACKEND"} & os.environ.keys()
    if headless:
        os.environ["MPLBACKEND"] = FIGURES
    try:
        yield
    finally:
        if headless:
            os.environ.pop("MPLBACKEND", None)


@contextlib.contextmanager
def _arithmetic_heard() -> Iterator[None]:
    """Inside, where NumPy warns of nan and inf that it made is kept with the script, and shown as ever."""
    shown = warnings.showwarning

    def show(message: Any, category: type[Warning], file: str, line: int, *rest: Any) -> None:
        text = str(message)
        if issubclass(category, RuntimeWarning) and " encountered in " in text:
            if file.startswith(_NUMPY):  # which a line of the script called
                frames = [(frame.f_code.co_filename, number) for frame, number in traceback.walk_stack(None)]
                behind = itertools.dropwhile(lambda each: each[0] != file, frames)
                file, line = next((each for each in behind if not each[0].startswith(_NUMPY)), (file, line))
            place = Place(file, line, "", linecache.getline(file, line).strip())
            heard.append(Remark(text, place))
        shown(message, category, file, line, *rest)

    with instead([(warnings, "showwarning", show)]), hearing() as heard:
        yield


def _thread_failed(failed: threading.ExceptHookArgs) -> None:
    """Say what ended a thread, as Python does, without the debugger's frames."""
    if failed.exc_value is not None and not isinstance(failed.exc_value, SystemExit):
        name = failed.thread.name if failed.thread is not None else ""
        sys.stderr.write(f"Exception in thread {name}:\n{script_traceback(failed.exc_value)}\n")


@contextlib.contextmanager
def stopping_at_runs(asked: Run) -> Iterator[None]:
    """Inside, each Session.run is passed to `asked`: the real one, then what it was called with."""
    real = Session.run

    def run(session: Session, fetches: Any, feed_dict: dict | None = None, options: Any = None,
            run_metadata: Any = None) -> Any:
        """Session.run that stops for the prompt."""
        advice_of(session.graph)  # which shares, from here on, what is heard of the script
        return asked(lambda inside, wanted, fed: real(inside, wanted, fed, options, run_metadata), session, fetches,
                     feed_dict)

    with instead([(Session, "run", run)]):
        yield
