"""Results become text: plain for pipes, colored for terminals, JSON for programs."""
from __future__ import annotations

import dataclasses
import io
import json
import math
import os
import re
from collections.abc import Mapping
from typing import Any, TextIO

import numpy as np

from ..model.results import Array, Error, Result, Stop, error_in
from .layout import layout
from .text import Line, clean

STYLES = {"title": "bold", "head": "bold underline", "name": "cyan", "bad": "bold red", "warning": "yellow",
          "good": "green", "quiet": "dim", "error": "bold red", "hint": "green", "place": "magenta", "spark": "blue",
          "current": "bold yellow", "stop": "bold yellow", "warm": "red", "cold": "blue", "code": "", "": ""}
ASCII = str.maketrans({"…": "...", "→": ">", "│": "|", "├": "|", "└": "`", "─": "-", "█": "#", "▓": "#", "▒": "+",
                       "░": ".", "▁": "_", "▂": "_", "▃": "-", "▄": "-", "▅": "=", "▆": "=", "▇": "#", "∂": "d",
                       "·": ".", "²": "^2", "∞": "inf", "×": "x", "≥": ">=", "≤": "<=", "—": "-", "–": "-"})
_SHORTENED = re.compile(r"(?<=\S)…|…(?=\S)")  # a mark in a name, which must stay one column wide
_DUMB = ("dumb", "unknown", "")  # values of TERM
LARGEST = 10_000  # elements of an array that JSON carries


def plain(result: Result, width: int | None = None, rows: int | None = None) -> str:
    """Text without color; by default with nothing cut off."""
    return "".join("".join(text for _, text in line).rstrip() + "\n" for line in layout(result, width, rows))


class Screen:
    """Writes results to a stream as it can take them: colors, width, characters.

    is_terminal: the stream is one; then long tables are cut to a screenful.
    """

    def __init__(self, stream: TextIO, *, as_json: bool = False) -> None:
        self.stream, self.as_json = stream, as_json
        self.is_terminal = stream.isatty()
        self.encoding = (getattr(stream, "encoding", None) or "ascii").lower()
        forced = os.environ.get("FORCE_COLOR", "") not in ("", "0")
        dumb = os.environ.get("TERM", "") in _DUMB
        self.has_color = forced or self.is_terminal and not dumb
        if os.environ.get("NO_COLOR"):
            self.has_color = False

    def show(self, result: Result, command: str = "", rows: int = 0) -> None:
        """Write one result and flush. rows: of a table on a terminal; 0 is two screens, or 48."""
        if self.as_json:
            text = to_json(command, result) + "\n"
        elif self.is_terminal:
            width, height = screen_size()
            lines = layout(result, width, rows or max(height * 2, 48))
            text = colored(lines, width) if self.has_color else _joined(lines)
        else:
            lines = layout(result)
            text = colored(lines, 10_000) if self.has_color else _joined(lines)
        self.write(text)

    def write(self, text: str) -> None:
        """Write text in the characters that the stream can encode, and flush."""
        self.stream.write(encodable(text, self.encoding))
        self.stream.flush()


def encodable(text: str, encoding: str) -> str:
    """`text` with what `encoding` lacks replaced by look-alikes or escapes."""
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        text = _SHORTENED.sub("~", text).translate(ASCII).encode("ascii", "backslashreplace").decode("ascii")
    return text


def _joined(lines: list[Line]) -> str:
    return "".join("".join(text for _, text in line).rstrip() + "\n" for line in lines)


def colored(lines: list[Line], width: int) -> str:
    """Lines with ANSI colors, by rich."""
    from rich.console import Console
    from rich.text import Text

    # forced colors on a terminal that says nothing of itself: rich would find none by itself
    system: Any = "standard" if os.environ.get("TERM", "") in _DUMB else "auto"
    console = Console(force_terminal=True, width=width, color_system=system, highlight=False, markup=False,
                      emoji=False, soft_wrap=True)
    with console.capture() as capture:
        for line in lines:
            console.print(Text.assemble(*((text, STYLES.get(style, "")) for style, text in line), end=""),
                          soft_wrap=True)
    return capture.get()


def drawing(log: list[tuple[str, Result]], title: str, width: int = 100, rows: int = 60) -> str:
    """A session as SVG: what was typed and what was shown."""
    from rich.console import Console
    from rich.text import Text

    console = Console(record=True, width=width, file=io.StringIO(), force_terminal=True, highlight=False, markup=False,
                      emoji=False, color_system="truecolor")
    for line, result in log:
        console.print(Text(f"(gradbg) {clean(line, keep='')}", "bold"))
        for shown in layout(result, width, rows):
            console.print(Text.assemble(*((text, STYLES.get(style, "")) for style, text in shown)))
    return console.export_svg(title=clean(title, keep=""))


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


# ---- JSON -----------------------------------------------------------------------------------
def to_json(command: str, result: Result) -> str:
    """One object on one line, strict JSON: NaN and infinities are strings, keys and order fixed."""
    error = error_in(result)
    ok = result.exit_code == 0 or error is None
    body = {"schema": 1, "cmd": command, "ok": ok, "kind": kind(result),
            "data": None if isinstance(result, Error) else data(result),
            "error": _error(error) if error else None}
    return json.dumps(body, allow_nan=False, ensure_ascii=True)


def _error(error: Error) -> dict[str, Any]:
    fields = {name: error.fields.get(name, "") for name in ("what", "expected", "found", "node", "line")}
    return {"code": error.code, "message": error.message, **fields, "hint": error.hint,
            "columns": None if error.span is None else list(error.span)}


def kind(result: Result) -> str:
    """The kind of a result, as one lower-case word."""
    return type(result).__name__.lower()


def data(result: Result) -> Any:
    """A result's fields as JSON values."""
    if isinstance(result, Array):
        return _array(result)
    if isinstance(result, Stop):
        return {"reason": result.reason, "hit": result.hit, **jsonable(result.data)}
    fields = {f.name: getattr(result, f.name) for f in dataclasses.fields(result)}
    if "parts" in fields:
        return {"parts": [{"kind": kind(part), "data": data(part)} for part in fields["parts"]]}
    if "columns" in fields:
        names = [column.name for column in fields["columns"]]
        rows = [dict(zip(names, map(jsonable, row))) for row in fields["rows"]]
        for row, branch_marks in zip(rows, fields["branches_drawn"]):
            row.update(branch_marks._asdict())
        return {"title": fields["title"], "columns": names, "notes": list(fields["notes"]), "rows": rows}
    if "series" in fields:
        fields["series"] = [{"name": name, "steps": list(steps), "values": jsonable(values)}
                            for name, steps, values in fields["series"]]
    if "children" in fields:
        fields["children"] = [data(child) for child in fields["children"]]
    return jsonable(fields)


def _array(result: Array) -> dict[str, Any]:
    value = result.value
    whole = value.size <= LARGEST
    first, count = result.window or (0, 0)
    found = {"name": result.name, "ref": result.ref, "dtype": value.dtype.name, "shape": list(value.shape),
             "value": jsonable(value.tolist()) if whole else None, "summarized": not whole, "notes": list(result.notes)}
    if result.window is not None:
        found["window"] = {"first": first, "elements": jsonable(value.reshape(-1)[first:first + count].tolist())}
    if result.marked is not None:
        found["marked"] = {"what": result.mark, "count": int(result.marked.sum()),
                           "first": np.argwhere(result.marked)[:100].tolist()}
    return found


def jsonable(value: Any) -> Any:
    """`value` in JSON's own types."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, np.ndarray):
        return jsonable(value.tolist())
    if isinstance(value, np.generic):
        return jsonable(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
    if isinstance(value, complex):
        return {"real": jsonable(value.real), "imag": jsonable(value.imag)}
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [jsonable(item) for item in value]
    return clean(str(value))
