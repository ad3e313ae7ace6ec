"""Source, drawn by rich: syntax in color, marks of where the script stands at the left, remarks at the right."""
from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table as Grid
from rich.text import Text

from ...model.results import Patch, Source
from ..pieces import CODE_THEMES, Line, Piece
from ..text import clean, display_width
from .palette import Palette

REMARK = 0.2  # of the width that remarks at the right may take in any case
LEAD = 10  # columns of marks, numbers and gaps
MARKS = (("→", "current"), ("▶", "cause"), ("●", "armed"))


def source(block: Source, palette: Palette, width: int) -> Iterator[RenderableType]:
    """The file's name, then its lines, each with its number; lines too long for the screen are broken."""
    if not block.is_cut:
        yield palette.text([Piece("title", clean(block.file))])
    remarks = {at: clean(text, keep="") for at, text in block.gutter.items()}
    coded = max((display_width(text.expandtabs(4)) for text in block.lines), default=0)
    room = max(width - coded - LEAD, int(width * REMARK))
    widest = min(max(map(display_width, remarks.values()), default=0), room)
    grid = Grid.grid(padding=(0, 1, 0, 0), expand=True)
    grid.add_column(no_wrap=True)
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column(overflow="ellipsis" if block.is_cut else "fold", no_wrap=block.is_cut, ratio=1)
    if widest:
        grid.add_column(justify="left", max_width=widest, overflow="ellipsis", no_wrap=True)
    lines = [clean(line.expandtabs(4), keep="") for line in block.lines]
    for at, code in enumerate(_in_colors(lines, "python", palette), block.first):
        here = at == block.current
        number = Piece("current" if here else "quiet", str(at))
        row: list[RenderableType] = [palette.text(_marks(block, at)), palette.text([number]), code]
        if widest:
            row.append(palette.text([Piece("place", remarks.get(at, ""))]))
        grid.add_row(*row)
    yield grid


def _marks(block: Source, at: int) -> Line:
    held = (at == block.current, at == block.cause, at in block.armed)
    return [Piece(role, sign) for (sign, role), holds in zip(MARKS, held) if holds] or [Piece("", " ")]


def patch(block: Patch, palette: Palette) -> RenderableType:
    """A unified diff, colored where there are colors."""
    lines = [clean(line.expandtabs(4), keep="") for line in block.diff.splitlines()]
    return Text("\n").join(_in_colors(lines, "diff", palette))


def _in_colors(lines: list[str], language: str, palette: Palette) -> list[Text]:
    if palette.marks:
        return [Text(line) for line in lines]
    from rich.syntax import Syntax

    syntax = Syntax("", language, theme=CODE_THEMES[palette.background], background_color="default")
    text = syntax.highlight("\n".join(lines))
    text.rstrip()
    found = list(text.split("\n", allow_blank=True))[:len(lines)]
    return [*found, *(Text("") for _ in range(len(lines) - len(found)))]
