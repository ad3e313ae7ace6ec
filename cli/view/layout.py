"""Results as lines of styled pieces: one layout for terminal, pipe and full screen.

A piece is (style, text). Styles are roles such as "name" or "bad"; render.py and the screens give them colors.
Text from scripts passes through `clean`, so control characters are shown, not obeyed.
"""
from __future__ import annotations

from collections.abc import Iterator

from ..model.results import Array, Column, Error, Group, Leave, Plot, Result, Source, Stop, Table, Text, Tree
from .arrays import array
from .plots import plot
from .tables import RIGHT, TableLines, cell
from .text import GAP, Line, clean, display_width, wrapped

SHORT = 20  # letters that a cell may have on the first line of a paragraph


def layout(result: Result, width: int | None = None, rows: int | None = None) -> list[Line]:
    """Lines of `result`. width: columns of the screen, rows: most rows of a table; None has no limit."""
    if isinstance(result, Text):
        texts = clean(result.text).split("\n") if result.text else []
        return [[(result.mood, part)] for text in texts for part in wrapped(text, width)]
    if isinstance(result, Table):
        lines_of = TableLines(result, width, rows)
        if result.prose and width is not None and not lines_of.is_whole:
            return paragraphs(result, width)
        return [lines_of.line(at) for at in range(len(lines_of))]
    if isinstance(result, Array):
        return array(result, width)
    if isinstance(result, Plot):
        return plot(result, width)
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


def paragraphs(table: Table, width: int) -> list[Line]:
    """Each row of a table of sentences as a paragraph: what is short on one line, then a line for each sentence."""
    lines: list[Line] = [[("title", clean(table.title))]] if table.title else []
    for row in table.rows:
        cells = [(column, *cell(value, column)) for column, value in zip(table.columns, row)
                 if value not in (None, "") and (column.keep == 9 or column.shown not in RIGHT)]
        short = [(style, text) for column, style, text in cells if column.shown != "text" or _is_short(column, text)]
        lines.append([piece for at, piece in enumerate(short) for piece in ([("", GAP)] if at else []) + [piece]])
        for column, _, text in cells:
            if column.shown == "text" and not _is_short(column, text):
                said = text if column.name in ("finding", "ask") else f"{column.name}: {text}"
                lines += [[("hint" if column.name == "ask" else "", f"   {part}")] for part in wrapped(said, width - 3)]
    return lines + [[("quiet", part)] for note in table.notes for part in wrapped(clean(note), width)]


def _is_short(column: Column, text: str) -> bool:
    return column.name != "ask" and len(text) <= SHORT


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
    if result.span is not None:
        start, end = result.span
        lead = display_width(clean(result.typed[:start]))
        lines += [[("", f"  {clean(result.typed)}")], [("error", f"  {' ' * lead}{'^' * max(end - start, 1)}")]]
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
    """Several results one below the other; a blank line before whatever is more than text."""
    lines: list[Line] = []
    for part in result.parts:
        new = layout(part, width, rows)
        if lines and new and isinstance(part, (Table, Source, Array, Tree, Plot)):
            lines.append([])
        lines += new
    return lines
