"""Results go out: plain for pipes, drawn for terminals, JSON for programs."""
from __future__ import annotations

import os
import re
import subprocess
from typing import TextIO

from ..model.results import Result
from .json_text import to_json
from .pieces import background_of
from .plain import plain

ASCII = str.maketrans({"…": "...", "→": ">", "│": "|", "├": "|", "└": "`", "─": "-", "█": "#", "▓": "#", "▒": "+",
                       "░": ".", "▁": "_", "▂": "_", "▃": "-", "▄": "-", "▅": "=", "▆": "=", "▇": "#", "∂": "d",
                       "·": ".", "²": "^2", "∞": "inf", "×": "x", "≥": ">=", "≤": "<=", "—": "-", "–": "-",
                       "╭": "+", "╮": "+", "╰": "+", "╯": "+", "▶": ">", "●": "*", "⁻": "-", "¹": "1", "³": "3",
                       "⁰": "0", "⁴": "4", "⁵": "5", "⁶": "6", "⁷": "7", "⁸": "8", "⁹": "9", "◀": "<", "λ": "l"})
_SHORTENED = re.compile(r"(?<=\S)…|…(?=\S)")  # a mark in a name, which must stay one column wide
_DUMB = ("dumb", "unknown", "")  # values of TERM


class Screen:
    """Writes results to a stream as it can take them: colors, width, characters.

    is_terminal: the stream is one; then long tables are cut to a screenful. color: as of `color_system`. background:
    "dark", "light", or what the environment says. pager: a program for what is longer than the screen, or empty.
    """

    def __init__(self, stream: TextIO, *, as_json: bool = False, color: str = "auto", background: str = "") -> None:
        self.stream, self.as_json = stream, as_json
        self.is_terminal = stream.isatty()
        self.encoding = (getattr(stream, "encoding", None) or "ascii").lower()
        self.colors = color_system(color, is_terminal=self.is_terminal)
        self.background = background or background_of(os.environ)
        self.pager = ""

    def show(self, result: Result, command: str = "", rows: int = 0) -> None:
        """Write one result and flush. rows: of a table on a terminal; 0 is two screens, or 48."""
        if self.as_json:
            text = to_json(command, result) + "\n"
        elif self.is_terminal or self.colors:
            from .drawn.console import drawn

            width, height = screen_size() if self.is_terminal else (WIDE, 0)
            most = rows or max(height * 2, 48) if self.is_terminal and not self.pager else None
            text = drawn(result, width, most, colors=self.colors, background=self.background)
            if self.pager and text.count("\n") >= height and self._paged(text):
                return
        else:
            text = plain(result)
        self.write(text)

    def _paged(self, text: str) -> bool:
        """Show a long text in the pager; whether there is one."""
        environment = {"LESS": "-FRX", **os.environ}
        try:
            return subprocess.run(self.pager, shell=True, input=encodable(text, self.encoding), text=True, check=False,
                                  encoding=self.encoding, env=environment).returncode != NO_PROGRAM
        except KeyboardInterrupt:
            return True

    def write(self, text: str) -> None:
        """Write text in the characters that the stream can encode, and flush."""
        self.stream.write(encodable(text, self.encoding))
        self.stream.flush()


NO_PROGRAM = 127  # what a shell ends with if there is none
WIDE = 1000  # columns of a pipe that wants colors: nothing is cut off there


def color_system(wanted: str, *, is_terminal: bool) -> str:
    """How many colors there are: "", "standard", "256" or "truecolor".

    wanted: "auto", "always", "never" or "16", "256", "truecolor"; at "auto" NO_COLOR and FORCE_COLOR are heeded.
    """
    if wanted in ("16", "256", "truecolor"):
        return wanted.replace("16", "standard")
    dumb = os.environ.get("TERM", "") in _DUMB
    forced = wanted == "always" or os.environ.get("FORCE_COLOR", "") not in ("", "0")
    if wanted == "never" or wanted == "auto" and (os.environ.get("NO_COLOR") or not forced and not (
            is_terminal and not dumb)):
        return ""
    if os.environ.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return "truecolor"
    return "256" if "256" in os.environ.get("TERM", "") else "standard"


def encodable(text: str, encoding: str) -> str:
    """`text` with what `encoding` lacks replaced by look-alikes or escapes."""
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        text = _SHORTENED.sub("~", text).translate(ASCII).encode("ascii", "backslashreplace").decode("ascii")
    return text


def is_capable() -> bool:
    """Whether the terminal can show a full screen: it says what it is, and there is room."""
    columns, lines = screen_size()
    return os.environ.get("TERM", "") not in _DUMB and columns >= 40 and lines >= 10


def screen_size() -> tuple[int, int]:
    """Columns and lines of the terminal."""
    try:
        size = os.get_terminal_size(1)
        return max(size.columns, 20), max(size.lines, 8)
    except OSError:
        return 80, 24
