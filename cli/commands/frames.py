"""The script's frames at a stop: bt, up, down, info locals; and going on by its lines: until, finish."""
from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import Annotated, Any

import numpy as np

from autodiff.core.site import Site
from autodiff.debug.language.handle_paths import offers

from ..language.argument_kinds import Count, IntKind, Kind
from ..language.command import command
from ..model.line_stops import DOWN, OUT, Until
from ..model.results import Column, Group, Result, Table, Text
from ..model.script import ModelScript
from ..model.script_frames import Place
from ..model.shell import Shell
from ..model.usage_error import UsageError
from . import advance, standing

Line = Annotated[int, IntKind(1, "LINE")]
FrameNumber = Annotated[int, IntKind(0, "NUMBER")]
Frames = Annotated[str, Kind("N|full")]
LONG = 60  # letters of a value in a table of locals


@command("bt", group="Look", aliases=("backtrace",))
def bt(shell: Shell, full: Frames = "") -> Result:
    """List the frames of the script where it stands, the innermost first; the one looked at is marked.

    `bt 3` lists the innermost three, `bt -1` the outermost; `bt full` the locals of each too.

    Example:  bt
    """
    script = _standing(shell)
    table = table_of_frames(script)
    if full == "full":
        return Group((table, *(part for place in script.frames() for part in (_head(script, place), _table(place)))))
    if not re.fullmatch(r"-?\d+", full or "0"):
        raise UsageError(f"expected a count of frames, or full, found {full!r}", "bt 3")
    count = int(full or 0)
    return replace(table, rows=table.rows[:count] if count > 0 else table.rows[count:])


def _head(script: ModelScript, place: Place) -> Text:
    return Text(f"#{script.frames().index(place)} {place.function} at {os.path.basename(place.file)}:{place.line}")


@command("frame", group="Look", aliases=("f",))
def frame(shell: Shell, number: FrameNumber | None) -> Result:
    """Look at a frame by its number in bt, as up and down do; without NUMBER show the one looked at.

    Example:  frame 1
    """
    script = _standing(shell)
    last = len(script.frames()) - 1
    if number is not None and number > last:
        raise UsageError(f"there are frames 0 to {last}, found {number}", "bt lists them", code="bad_value")
    return _look_at(shell, script.selected if number is None else number)


def table_of_frames(script: ModelScript) -> Table:
    """The frames of a script that stands somewhere, each with its line and the names of its locals."""
    rows = tuple(("→" if number == script.selected else "", number, place.function,
                  f"{os.path.basename(place.file)}:{place.line}", Site(place.file, place.line, "").text,
                  ", ".join(_locals(place)))
                 for number, place in enumerate(script.frames()))
    columns = (Column(""), Column("#", "count"), Column("function"), Column("at", "place"), Column("line"),
               Column("locals", "text", 3))
    return Table(columns, rows)


@command("up", group="Look", repeats=True)
def up(shell: Shell, frames: Count = 1) -> Result:
    """Look at the frame that called this one, or N further out: its lines and locals.

    print, list and the names of the script are then those of that frame.

    Example:  up
    """
    return _selected(shell, frames)


@command("down", group="Look", repeats=True)
def down(shell: Shell, frames: Count = 1) -> Result:
    """Look at the frame that this one has called, or N further in.

    Example:  down
    """
    return _selected(shell, -frames)


def _selected(shell: Shell, by: int) -> Result:
    script = _standing(shell)
    frames = script.frames()
    wanted = script.selected + by
    if script.selected == (0 if by < 0 else len(frames) - 1):
        raise UsageError(f"this is the {'innermost' if by < 0 else 'outermost'} frame", "bt lists them",
                         code="wrong_moment")
    return _look_at(shell, min(max(wanted, 0), len(frames) - 1))


def _look_at(shell: Shell, number: int) -> Result:
    script = _standing(shell)
    script.selected = number
    shell.dbg.attach(handles=script.handles())
    place = script.frames()[number]
    lines = standing.lines_around(place.file, place.line)
    return Group((_head(script, place), *([lines] if lines else []), _table(place)))


@command("info locals", group="Look", shorthands={"a args": "info locals"})
def info_locals(shell: Shell) -> Result:
    """List the local names of the frame looked at; of the module itself, its own names.

    Example:  info locals
    """
    script = _standing(shell)
    return _table(script.frames()[script.selected])


def _standing(shell: Shell) -> ModelScript:
    """The script, if it stands somewhere. Raises UsageError."""
    script = shell.script
    if script is None or not script.frames():
        raise UsageError("the script stands nowhere", "break FILE:LINE stops it at a line, next in its Session.run",
                         code="wrong_moment")
    return script


def _locals(place: Place) -> dict[str, Any]:
    names = place.frame.f_locals
    return {name: value for name, value in names.items() if not name.startswith("__")
            and (place.function != "<module>" or not callable(value) and type(value).__name__ != "module")}


def _table(place: Place) -> Result:
    rows = tuple((name, *_described(value)) for name, value in _locals(place).items())
    if not rows:
        return Text(f"{place.function} has no local names yet", "quiet")
    return Table((Column("local", "name"), Column("type"), Column("value")), rows)


def _described(value: Any) -> tuple[str, str]:
    """Type and value of a local in a few words: an array or tensor by its shape."""
    if offers(value, "describe") and offers(value, "name"):
        return type(value).__name__, value.describe()
    if isinstance(value, np.ndarray) and value.size > 4:
        return "ndarray", f"{value.dtype.name}{list(value.shape)}"
    try:
        text = repr(value)
    except Exception as error:  # of the script's own __repr__
        text = f"its __repr__ raises {type(error).__name__}"
    return type(value).__name__, text if len(text) <= LONG else text[:LONG - 1] + "…"


@command("until", group="Run", aliases=("unt", "advance"), repeats=True)
def until(shell: Shell, line: Line | None) -> Result:
    """Run the script up to a line of the file where it stands; without LINE, to the next line further down.

    It stops as well where the function returns, and wherever else it would stop.

    Example:  until 40
    """
    place = _goes_on(shell)
    return advance.to_line(shell, Until(place.frame, place.line, line or DOWN))


@command("finish", group="Run", aliases=("fin",))
def finish(shell: Shell) -> Result:
    """Run the script until the function where it stands has returned; an open run is gone through to its end.

    Example:  finish
    """
    if shell.dbg.stepper.cursor is not None and not shell.dbg.stepper.cursor.finished:
        return advance.go_on(shell, 1)
    place = _goes_on(shell)
    return advance.to_line(shell, Until(place.frame, place.line, OUT))


def _goes_on(shell: Shell) -> Place:
    """The frame looked at of a script that can go on. Raises UsageError."""
    if not shell.drives_script:
        raise UsageError("no script is waiting at a line", "load FILE runs one; goto OP goes to an op of a run",
                         code="wrong_moment")
    script = _standing(shell)
    return script.frames()[script.selected]
