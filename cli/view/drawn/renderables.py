"""Results as rich renderables: tables, trees, syntax, panels. Terminal, full screen, SVG and HTML are made of these."""
from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table as Grid

from ...model.results import Card, Patch, Result, Source, Table, Tree
from ...model.results import Group as Results
from ..blocks import Block, blocks
from ..pieces import Drawing, Paragraph, Piece, Prose
from ..rows import RowWriter
from ..text import clean
from .palette import Palette
from .sources import patch, source
from .tables import left_out, table, tree

MANY = 500  # rows of a table that rich draws; more are written with fixed widths


class Shown:
    """A result to be drawn at whatever width there is. rows: most rows of a table; None for all."""

    def __init__(self, result: Result, palette: Palette, rows: int | None = None) -> None:
        self._result, self._palette, self._rows = result, palette, rows

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for block in blocks(self._result, options.max_width, self._rows):
            yield from renderables(block, self._palette, options.max_width, self._rows)


def renderables(block: Block, palette: Palette, width: int, rows: int | None = None) -> Iterator[RenderableType]:
    """A block as what rich prints, one below the other."""
    if isinstance(block, Prose):
        yield from (paragraph(part, palette, width) for part in block.paragraphs)
    elif isinstance(block, Drawing):
        yield from (palette.text(line, no_wrap=True, overflow="crop") for line in block.lines)
    elif isinstance(block, Table):
        yield from _rows(block, palette, width)
    elif isinstance(block, Tree):
        yield tree(block, palette)
    elif isinstance(block, Source):
        yield from source(block, palette, width)
    elif isinstance(block, Patch):
        yield patch(block, palette)
    else:
        yield _panel(block, palette, rows)


def paragraph(part: Paragraph, palette: Palette, width: int) -> RenderableType:
    """Prose; what does not fit in a line is set in below where the first one's text begins."""
    text = palette.text(part.line)
    if part.indent + text.cell_len <= width or not part.hang:
        return Padding(text, (0, 0, 0, part.indent)) if part.indent else text
    if part.hang <= part.indent:
        return Padding(text, (0, 0, 0, part.indent))
    head, rest = text.divide([part.hang - part.indent])
    head.rstrip()
    grid = Grid.grid()
    grid.add_column(width=part.hang, no_wrap=True)
    grid.add_column()
    grid.add_row(Padding(head, (0, 0, 0, part.indent)), rest)
    return grid


def _rows(block: Table, palette: Palette, width: int) -> Iterator[RenderableType]:
    if len(block.rows) <= MANY:
        yield from table(block, palette, width)
        return
    lines = RowWriter(block, width)
    yield from (palette.text(lines.line(at), no_wrap=True, overflow="crop") for at in range(len(lines)))
    if lines.left_out:
        yield left_out(lines.left_out, palette)


def _panel(card: Card, palette: Palette, rows: int | None) -> Panel:
    title = palette.text([Piece("pane", clean(card.title))]) if card.title else None
    return Panel(Group(Shown(Results(card.parts), palette, rows)), title=title, title_align="left",
                 border_style=palette.style("border"), padding=(0, 1))
