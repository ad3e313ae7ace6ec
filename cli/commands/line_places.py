"""Where in the script a breakpoint is: FILE:LINE, a line of the file where it stands, or a function."""
from __future__ import annotations

import os
import re
import sys
from types import FunctionType

from ..model.line_stops import lines_with_code
from ..model.script_frames import LIBRARIES, OWN
from ..model.script_source import compiled
from ..model.shell import Shell
from ..model.usage_error import UsageError


def line_place(shell: Shell, target: str) -> tuple[str, int] | None:
    """File and line that a target of break names; None if it names a tensor, or something unknown.

    A line without code stands for the next one that has some. Raises UsageError if there is none.
    """
    before, _, name = target.rpartition(":")
    function = shell.dbg.handles.get(name if before.endswith(".py") else target)
    if isinstance(function, FunctionType):
        code = function.__code__
        return code.co_filename, min(lines_with_code(code) - {code.co_firstlineno}, default=code.co_firstlineno)
    match = re.fullmatch(r"(?:(?P<file>.+):)?(?P<line>\d+)", target)
    if match is None or shell.dbg.model.targets.exact(target):
        return None
    file = _file(shell, match["file"])
    return None if file is None else (file, _with_code(file, int(match["line"])))


def _file(shell: Shell, given: str | None) -> str | None:
    """The script's file that is meant; None if there is none of that name."""
    if shell.script is None:
        raise UsageError("no script is loaded that could stop at a line", "load FILE", code="wrong_moment")
    if given is None:
        return shell.place()[0] or shell.script.file
    loaded = [getattr(module, "__file__", None) or "" for module in list(sys.modules.values())]
    named = [name for name in (shell.script.file, *loaded) if name == given or name.endswith(os.sep + given)]
    own = [name for name in named if not name.startswith((*OWN, *LIBRARIES))]
    if own or named:
        return (own or named)[0]
    return given if given.endswith(".py") and os.path.isfile(given) else None


def _with_code(file: str, line: int) -> int:
    later = [number for number in lines_with_code(compiled(file)) if number >= line]
    if not later:
        raise UsageError(f"{os.path.basename(file)} has no code at line {line} or behind it", f"list {file}",
                         code="unknown_name")
    return min(later)
