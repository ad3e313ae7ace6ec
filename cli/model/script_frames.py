"""The script's frames: where it stands, what is named there, and what of a traceback is its own."""
from __future__ import annotations

import linecache
import os
import sys
import sysconfig
import threading
import traceback
from types import FrameType, ModuleType
from typing import Any, NamedTuple

from autodiff.core.graph import Graph, Operation, Tensor
from autodiff.debug.facts import records
from autodiff.debug.language.handle_paths import offers, own_attributes
from autodiff.runtime.session import Session

OWN = tuple(os.path.dirname(os.path.abspath(sys.modules[name].__file__ or "")) + os.sep
            for name in ("autodiff", __package__.partition(".")[0]))
LIBRARIES = tuple({*(os.path.join(sysconfig.get_path(kind), "") for kind in (
    "stdlib", "platstdlib", "purelib", "platlib")), *(os.path.join(path, "") for path in sys.path if path.endswith(
        ("site-packages", "dist-packages")))})  # of other environments too, as PYTHONPATH adds them


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
                if part.__context__ is not None and str(part.__context__) == str(part):
                    part.__context__ = None  # the library has said the same further in
                stack += [part.__cause__, part.__context__]
    return "".join(shown.format()).rstrip()


def in_words(error: BaseException | None) -> tuple[str, records.Place | None]:
    """What a script ended with, and the line of its own; "" where that was no error."""
    if error is None or isinstance(error, (SystemExit, KeyboardInterrupt)):
        return "", None
    file, line = script_line(error)
    place = records.Place(file, line, "", linecache.getline(file, line).strip()) if file else None
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}".rstrip(": "), place


def script_line(error: BaseException) -> tuple[str, int]:
    """File and line of the script's innermost own frame in a traceback; ("", 0) if there is none.

    A frame whose line cannot be read is of a compiled library.
    """
    return next(((place.file, place.line) for place in frames_of_error(error) if not place.file.startswith(LIBRARIES)
                 and linecache.getline(place.file, place.line)), ("", 0))


class Place(NamedTuple):
    """A frame of the script and the line where it stands; of an error's, the instruction too."""

    frame: FrameType
    file: str
    line: int
    instruction: int = -1

    @property
    def function(self) -> str:
        return self.frame.f_code.co_name


def is_own(frame: FrameType) -> bool:
    """Whether a frame is the debugger's or the library's."""
    return frame.f_code.co_filename.startswith(OWN)


def user_frame() -> FrameType:
    """The innermost frame of the caller's that is the script's."""
    frame = sys._getframe(1)
    while is_own(frame) and frame.f_back is not None:
        frame = frame.f_back
    return frame


def frames_from(frame: FrameType | None) -> list[Place]:
    """The script's frames from one outwards, innermost first, down to where the debugger began to run it."""
    found: list[Place] = []
    while frame is not None:
        if not is_own(frame):
            found.append(Place(frame, frame.f_code.co_filename, frame.f_lineno))
        elif frame.f_code.co_name == "_main" and found:
            break
        frame = frame.f_back
    while found and found[-1].file == threading.__file__:  # what began the thread
        found.pop()
    return found


def frames_of_error(error: BaseException) -> list[Place]:
    """The script's frames that an error has passed, innermost first, with the lines that it came from."""
    found: list[Place] = []
    step = error.__traceback__
    while step is not None:
        if not step.tb_frame.f_code.co_filename.startswith((*OWN, "<frozen", "<plan>")):
            found.append(Place(step.tb_frame, step.tb_frame.f_code.co_filename, step.tb_lineno, step.tb_lasti))
        step = step.tb_next
    return found[::-1]


def attributes_of(names: dict[str, Any]) -> dict[str, Any]:
    """`model.loss` for tensors that are attributes of the script's own objects."""
    found: dict[str, Any] = {}
    for name, value in names.items():
        if isinstance(value, (ModuleType, type, Tensor, Operation, Graph, Session)) or offers(value, "dtype"):
            continue
        found.update({f"{name}.{key}": item for key, item in own_attributes(value).items()
                      if isinstance(item, (Tensor, Operation)) or offers(item, "_as_graph_element")})
    return found
