"""Results as lines of styled pieces: one layout for terminal, pipe and full screen.

A piece is (style, text). Styles are roles such as "name" or "bad"; render.py and the screens give them colours.
Text from scripts passes through `clean`, so control characters are shown, not obeyed.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .arrays import array
from .results import Array, Column, Error, Group, Leave, Result, Source, Stop, Table, Text, Tree
from .texts import GAP, Line, Piece, clean, display_width, number, shorten, sparkline, wrapped


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
