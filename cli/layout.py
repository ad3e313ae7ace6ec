"""Results as lines of styled pieces: one layout for terminal, pipe and full screen.

A piece is (style, text). Styles are roles such as "name" or "bad"; render.py and the screens give them colours.
Text from scripts passes through `clean`, so control characters are shown, not obeyed.
"""
from __future__ import annotations

import math
import os
import re
import textwrap
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .results import Array, Column, Error, Group, Leave, Result, Source, Stop, Table, Text, Tree

Piece = tuple[str, str]
Line = list[Piece]
BLOCKS = "▁▂▃▄▅▆▇█"
GAP = "  "


def layout(result: Result, width: int | None = None, rows: int | None = None) -> list[Line]:
    """Lines of `result`. width: columns of the screen, rows: most rows of a table; None has no limit."""
    if isinstance(result, Text):
        lines = clean(result.text).split("\n") if result.text else []
        return [[(result.mood, part)] for line in lines for part in wrapped(line, width)]
    if isinstance(result, Table):
        return table(result, width, rows)
    if isinstance(result, Array):
        return array(result, width)
    if isinstance(result, Tree):
        return list(tree(result))
    if isinstance(result, Source):
        return source(result, width)
    if isinstance(result, Error):
        return error(result)
    if isinstance(result, Stop):
        return stop(result)
    if isinstance(result, Group):
        return group(result, width, rows)
    if isinstance(result, Leave):
        return [[("quiet", result.text)]] if result.text else []
    raise TypeError(f"no layout for {type(result).__name__}")


def clean(text: str, *, keep: str = "\n") -> str:
    """`text` with control characters shown as escapes; characters of `keep` stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c in keep or c == "\t" and keep or not _controls(c) else _escape(c) for c in text)


def _controls(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp", "Cn", "Co")


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def wrapped(line: str, width: int | None) -> list[str]:
    """`line` broken between words for a screen; what follows is set in below the text after its last wide gap."""
    if width is None or display_width(line) <= width:
        return [line]
    gap = max((match.end() for match in re.finditer(r"(?:^|\S) {2,}", line) if match.end() < width // 2), default=0)
    return textwrap.wrap(line, width, subsequent_indent=" " * gap, drop_whitespace=True, break_on_hyphens=False,
                         replace_whitespace=False) or [line]


def display_width(text: str) -> int:
    """Columns that `text` takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def shorten(text: str, width: int) -> str:
    """`text` in at most `width` columns, its middle left out."""
    if display_width(text) <= width:
        return text
    keep = max(width - 1, 0)
    tail = keep * 2 // 3
    return text[:keep - tail] + "…" + (text[-tail:] if tail else "")


def number(value: Any) -> str:
    """Three significant digits; whole numbers as they are; empty for None."""
    if value is None:
        return ""
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (int, np.integer)):
        return str(value)
    if isinstance(value, (complex, np.complexfloating)):
        return f"{number(value.real)}{'+' if value.imag >= 0 else ''}{number(value.imag)}j"
    value = float(value)
    if not math.isfinite(value):
        return str(value)
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e4:
        return f"{value:#.3g}".rstrip(".") if abs(value) < 1000 else f"{value:.0f}"
    return f"{value:.2e}".replace("e-0", "e-").replace("e+0", "e")


def sparkline(values: Sequence[float]) -> str:
    """One block a value, from the least to the greatest; `!` for a value that is not finite."""
    finite = [v for v in values if v is not None and math.isfinite(v)]
    if not finite:
        return "!" * len(values)
    low, high = min(finite), max(finite)
    span = (high - low) or 1.0
    return "".join(BLOCKS[int((v - low) / span * 7.999)] if v is not None and math.isfinite(v) else "!" for v in values)


def cell(value: Any, column: Column) -> Piece:
    """One cell as text, with the style of its kind."""
    if value is None:
        return "quiet", "-" if column.shown != "text" else ""
    if column.shown == "spark":
        return "spark", sparkline(value)
    if column.shown in ("name", "text", "place") or isinstance(value, str):
        return {"name": "name", "place": "place"}.get(column.shown, ""), clean(str(value), keep="")
    if column.shown == "bad":
        return ("bad" if value else "quiet"), number(value)
    if column.shown == "percent":
        return ("warning" if value >= 90 else ""), f"{value:.0f}" if value in (0, 100) else f"{value:.1f}"
    text = number(value)
    return ("bad" if text in ("nan", "inf", "-inf") else ""), text


# ---- tables ---------------------------------------------------------------------------------
def table(result: Table, width: int | None, rows: int | None) -> list[Line]:
    """Columns beside each other; what does not fit is left out by `keep`, and said."""
    lines: list[Line] = [[("title", clean(result.title))]] if result.title else []
    shown = result.rows if rows is None else result.rows[:rows]
    cells = [[cell(value, column) for value, column in zip(row, result.columns)] for row in shown]
    places = list(range(len(result.columns)))
    wide = [max([display_width(c.name), *(display_width(row[i][1]) for row in cells)])
            for i, c in enumerate(result.columns)]
    left_out = _narrow(result.columns, places, wide, width)
    if result.columns and result.rows:
        lines.append([("head", _pad(result.columns[i].name, wide[i], result.columns[i], i == places[-1]))
                      for i in places])
        for row in cells:
            lines.append([(row[i][0], _pad(shorten(row[i][1], wide[i]), wide[i], result.columns[i], i == places[-1]))
                          for i in places])
        lines = [_spaced(line) if len(line) > 1 else line for line in lines]
    if len(shown) < len(result.rows):
        lines.append([("quiet",
                       f"… {len(result.rows) - len(shown)} more rows; add `| less` or `> FILE` to see them all")])
    if left_out:
        lines.append([("quiet", f"… left out for lack of room: {', '.join(left_out)}")])
    for note in result.notes:
        lines += [[("quiet", text)] for text in clean(note).split("\n")]
    return lines


def _narrow(columns: Sequence[Column], places: list[int], wide: list[int], width: int | None) -> list[str]:
    """Make the columns fit: first shorten names down to 24, then leave out columns; gives those left out."""
    left_out: list[str] = []
    if width is None:
        return left_out
    flexible = [i for i, c in enumerate(columns) if c.shown in ("name", "text", "place")]
    while True:
        over = sum(wide[i] for i in places) + len(GAP) * (len(places) - 1) - width
        if over <= 0:
            return left_out
        roomy = [i for i in flexible if i in places and wide[i] > 24]
        if roomy:
            widest = max(roomy, key=lambda i: wide[i])
            wide[widest] = max(24, wide[widest] - over)
            continue
        droppable = [i for i in places if columns[i].keep < 9]
        if not droppable:
            return left_out
        lost = min(droppable, key=lambda i: (columns[i].keep, -i))
        places.remove(lost)
        left_out.append(columns[lost].name)


def _pad(text: str, wide: int, column: Column, last: bool) -> str:
    space = " " * (wide - display_width(text))
    if column.shown in ("number", "count", "bad", "percent"):
        return space + text
    return text if last else text + space


def _spaced(line: Line) -> Line:
    spaced: Line = []
    for piece in line:
        spaced += [piece, ("", GAP)]
    return spaced[:-1]


# ---- arrays ---------------------------------------------------------------------------------
def array(result: Array, width: int | None) -> list[Line]:
    """Name, dtype and shape; statistics of the finite elements; the elements themselves."""
    value = result.value
    shape = f"[{','.join(map(str, value.shape))}]"
    head: Line = [("title", f"{clean(result.name)}"),
                  ("quiet", f"  {value.dtype.name if value.dtype != object else 'string'}{shape}")]
    if result.ref:
        head.append(("name", f"  {result.ref}"))
    lines: list[Line] = [head]
    if value.size != 1 and result.form != "s" and value.dtype.kind in "fiucb" or result.form == "s":
        lines += statistics(value)
    if result.mark:
        count = int(result.marked.sum()) if result.marked is not None else 0
        share = f" ({100 * count / value.size:.3g} %)" if value.size else ""
        lines.append([("warning" if count else "quiet", f"{result.mark}: {count} of {value.size} elements{share}")])
        lines += _places(result)
    if result.form == "h":
        lines += heatmap(value)
    elif result.form == "d":
        lines += histogram(value)
    elif result.form != "s":
        lines += elements(result, width)
    lines += [[("quiet", clean(note))] for note in result.notes]
    return lines


def _places(result: Array) -> list[Line]:
    if result.marked is None or not result.value.ndim:
        return []
    where = np.argwhere(result.marked)[:6]
    shown = [f"[{','.join(map(str, index))}] {number(result.value[tuple(index)])}" for index in where]
    more = int(result.marked.sum()) - len(shown)
    text = GAP.join(shown) + (f"  … {more} more" if more else "")
    return [[("bad", "  " + text)]] if shown else []


def statistics(value: np.ndarray) -> list[Line]:
    """One line: counts, and statistics of the finite elements."""
    if value.dtype == bool:
        return [[("", f"true {int(value.sum())}  false {int((~value).sum())}")]]
    if value.dtype.kind not in "fiuc" or not value.size:
        return [[("quiet", "no elements" if not value.size else "no numbers")]]
    wide = np.abs(value.astype(np.complex128)) if value.dtype.kind == "c" else value.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    nans, infs = int(np.isnan(wide).sum()), int(np.isinf(wide).sum())
    line: Line = []
    if finite.size:
        with np.errstate(all="ignore"):
            facts = {"min": finite.min(), "max": finite.max(), "mean": finite.mean(), "std": finite.std(),
                     "norm": np.sqrt(np.square(finite).sum())}
        line.append(("", GAP.join(f"{name} {number(float(fact))}" for name, fact in facts.items())))
        line.append(("", f"  zero {100 * float((finite == 0).sum()) / wide.size:.3g} %"))
    for name, count in (("nan", nans), ("inf", infs)):
        line.append(("bad" if count else "quiet", f"{GAP if line else ''}{name} {count}"))
    return [line]


def elements(result: Array, width: int | None) -> list[Line]:
    """The elements, summarised above 1000 unless `whole`; elements that are not finite or marked stand out."""
    value = result.value
    limit = value.size + 1 if result.whole else 1000
    def shown(x: Any) -> str:
        return number(x)
    formatter: Any = {"float_kind": shown, "complex_kind": shown} if result.form != "f" else None
    text = np.array2string(value, threshold=limit, max_line_width=(width or 120) - 1, formatter=formatter,
                           separator=" ", suppress_small=False)
    if value.dtype.kind in "OSU":
        text = clean(text)
    return [_highlight(line) for line in clean(text).split("\n")]


def _highlight(line: str) -> Line:
    """A line of elements with nan and inf standing out."""
    pieces: Line = []
    plain = ""
    for word in _runs(line):
        if word.strip("[]") in ("nan", "inf", "-inf"):
            pieces += [("", plain), ("bad", word)]
            plain = ""
        else:
            plain += word
    return [*pieces, ("", plain)]


def _runs(line: str) -> Iterator[str]:
    start = 0
    for at in range(1, len(line) + 1):
        if at == len(line) or line[at].isspace() != line[start].isspace():
            yield line[start:at]
            start = at


def heatmap(value: np.ndarray, most: int = 64) -> list[Line]:
    """Rows of shades from the least to the greatest finite element; `!` where an element is not finite."""
    grid = np.atleast_2d(value.reshape(value.shape[0], -1) if value.ndim > 1 else value).astype(np.float64)
    shades = " ░▒▓█"
    small = grid[:most, :most]
    finite = small[np.isfinite(small)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    span = (high - low) or 1.0
    lines: list[Line] = [[("quiet", f"{number(low)} '{shades[0]}' to {number(high)} '{shades[-1]}'")]]
    for row in small:
        lines.append([("",
                       "".join(shades[int((x - low) / span * 4.999)] * 2 if math.isfinite(x) else "!!" for x in row))])
    if small.size < grid.size:
        lines.append([("quiet",
                       f"… the first {small.shape[0]} by {small.shape[1]} of {grid.shape[0]} by {grid.shape[1]}")])
    return lines


def histogram(value: np.ndarray, bins: int = 12) -> list[Line]:
    """Counts of the finite elements in equal bins."""
    numbers = value.astype(np.float64).ravel()
    numbers = numbers[np.isfinite(numbers)]
    if not numbers.size:
        return [[("quiet", "no finite elements")]]
    counts, edges = np.histogram(numbers, bins)
    most = max(int(counts.max()), 1)
    return [[("", f"{number(float(edges[i])):>9} … {number(float(edges[i + 1])):<9} "),
             ("spark", "█" * round(40 * c / most)),
             ("", f" {c}")] for i, c in enumerate(counts)]


# ---- the others -----------------------------------------------------------------------------
def tree(result: Tree, lead: str = "", branch: str = "") -> Iterator[Line]:
    """Labels, indented with branches."""
    line: Line = [("quiet", branch), ("name", clean(result.label))]
    if result.place:
        line.append(("place", f"  {clean(result.place)}"))
    yield line
    for i, child in enumerate(result.children):
        last = i == len(result.children) - 1
        yield from tree(child, lead + ("   " if last else "│  "), lead + ("└─ " if last else "├─ "))


def source(result: Source, width: int | None) -> list[Line]:
    """Numbered lines, an arrow at the current one, remarks at the right."""
    lines: list[Line] = [[("title", clean(result.file))]]
    digits = len(str(result.first + len(result.lines)))
    body = max((display_width(text) for text in result.lines), default=0)
    body = min(body, 72)
    for at, text in enumerate(result.lines, result.first):
        here = at == result.current
        line: Line = [("current" if here else "quiet", f"{'→' if here else ' '} {at:>{digits}}  "),
                      ("current" if here else "code", clean(text.expandtabs(4)))]
        if at in result.gutter:
            space = " " * max(body - display_width(text), 0)
            line.append(("place", f"{space}  {clean(result.gutter[at])}"))
        lines.append(line)
    return lines


def error(result: Error) -> list[Line]:
    """`error: what`, then where, then the next thing to type."""
    first, *rest = clean(result.message).split("\n")
    lines: list[Line] = [[("error", "error: "), ("", first)], *([("", f"  {line}")] for line in rest)]
    if result.hint:
        lines.append([("hint", f"  {clean(result.hint)}")])
    if result.trace:
        lines += [[("quiet", line)] for line in clean(result.trace).rstrip().split("\n")]
    return lines


def stop(result: Stop) -> list[Line]:
    """Why it stopped, then what is to be seen there."""
    return [[("stop" if result.hit else "title", clean(result.reason))],
            *([("", clean(line))] for line in result.lines)]


def group(result: Group, width: int | None, rows: int | None) -> list[Line]:
    lines: list[Line] = []
    for part in result.parts:
        new = layout(part, width, rows)
        if lines and new and isinstance(part, (Table, Source, Array, Tree)):
            lines.append([])
        lines += new
    return lines


def screen_size() -> tuple[int, int]:
    """Columns and lines of the terminal."""
    try:
        size = os.get_terminal_size(1)
        return max(size.columns, 20), max(size.lines, 8)
    except OSError:
        return 80, 24
