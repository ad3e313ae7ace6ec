"""Tables and trees, drawn by rich."""
from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rich.box import Box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table as Grid
from rich.text import Text
from rich.tree import Tree as Branches

from ...model.results import Table, Tree, TreeBranch
from ..pieces import Piece
from ..rows import FEWEST, RIGHT, SHORTEST, cells_of, fitted, fitting, least_width, natural_width
from ..text import GAP, clean, display_width
from .palette import Palette

UNDER_HEAD = Box("    \n    \n ── \n    \n ── \n    \n    \n    \n")  # a line below the head, and between sections
BARE = Box("    \n    \n    \n    \n ── \n    \n    \n    \n")
OP = re.compile(r"([\w./-]+) \(\w+\)")  # label of a tree -> an op and its type
LEAST = 12  # columns that the branches of a tree leave to a name
GUIDE = 4  # columns that rich takes for each branch of a tree


class Name:
    """A text in one line; where there is little room its middle is left out. lead: the branches of a tree before it."""

    def __init__(self, piece: Piece, palette: Palette, lead: str = "") -> None:
        self._piece, self._palette, self._lead = piece, palette, lead

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        wide = display_width(self._lead) + display_width(self._piece.text)
        return Measurement(min(wide, FEWEST if self._piece.role == "spark" else SHORTEST), wide)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        piece, lead = self._piece, self._lead
        room = options.max_width - min(display_width(piece.text), LEAST)
        if len(lead) > max(room, 0):
            lead = "·" + lead[len(lead) - room + 1:]
        shown = fitted(piece, options.max_width - len(lead))
        yield self._palette.text([Piece("rule", lead), shown], no_wrap=True, overflow="crop")


def table(block: Table, palette: Palette, width: int) -> Iterator[RenderableType]:
    """A table, as many of its columns as fit, and the names of those that do not."""
    natural = [natural_width(column, block.rows, at) for at, column in enumerate(block.columns)]
    shaded = palette.marks and any(piece.shade for row in block.rows for piece in row if isinstance(piece, Piece))
    leads = branch_leads(block.branches_drawn)
    for lead, row in zip(leads, block.rows):
        natural[0] = max(natural[0], display_width(f"{lead}{row[0]}"))
    places, lost = fitting(block.columns, natural, width, len(GAP))
    yield _grid(block, palette, [(place, natural[place]) for place in places], leads, shaded=shaded)
    if lost:
        yield left_out(lost, palette)


def left_out(names: list[str], palette: Palette) -> Text:
    """What had no room."""
    return palette.text([Piece("quiet", f"… left out for lack of room: {', '.join(names)}")])


def _grid(block: Table, palette: Palette, places: list[tuple[int, int]], leads: list[str], *, shaded: bool) -> Grid:
    """rich's table. places: the columns shown, each with the columns of the screen that it would like."""
    has_head = any(block.columns[place].name for place, _ in places)
    grid = Grid(box=UNDER_HEAD if has_head else BARE, show_edge=False, pad_edge=False, padding=(0, 1 - shaded, 0, 0),
                show_header=has_head, border_style=palette.style("rule"), header_style=palette.style("head"))
    for place, wide in places:
        column = block.columns[place]
        grid.add_column(Text(column.name + " " * shaded), justify="right" if column.shown in RIGHT else "left",
                        no_wrap=least_width(column, wide) == wide)
    for at, row in enumerate(block.rows):
        if at in block.sections:
            grid.add_section()
        cells = cells_of(block.columns, row)
        prose = [block.columns[place].shown == "prose" for place, _ in places]
        lead = [Name(cells[0], palette, leads[at])] if leads else []
        grid.add_row(*lead, *(_cell(cells[place], palette, shaded=shaded, is_prose=is_prose)
                              for (place, _), is_prose in list(zip(places, prose))[len(lead):]))
    return grid


def _cell(piece: Piece, palette: Palette, *, shaded: bool, is_prose: bool) -> RenderableType:
    if len(piece.text) > (FEWEST if piece.role == "spark" else SHORTEST) and not is_prose:
        return Name(piece, palette)
    text = palette.text([piece])
    if shaded:  # the shade takes one of the two columns between cells
        text.append(piece.shade or " ")
    return text


def tree(block: Tree, palette: Palette) -> Branches:
    """A tree of labels, each with the user's line behind it."""
    found = Branches(_label(block, palette), guide_style=palette.style("rule"))
    _grow(found, block, palette)
    return found


def _grow(branches: Branches, block: Tree, palette: Palette) -> None:
    for child in block.children:
        _grow(branches.add(_label(child, palette)), child, palette)


def _label(block: Tree, palette: Palette) -> Text:
    op = OP.fullmatch(block.label)
    line = [Piece("name", clean(block.label), f"info op {op[1]}" if op else "")]
    if block.place:
        place = clean(block.place)
        line.append(Piece("place", f"  {place}", f"list {place}"))
    return palette.text(line)


def branch_leads(branches: Sequence[TreeBranch]) -> list[str]:
    """What stands before each row of a tree: the trunk has nothing, what leaves it rich's lines, a joint an arrow."""
    if not branches:
        return []
    root = Branches("", hide_root=True)
    deepest = [root]
    for at in branches:
        del deepest[at.depth + 1:]
        deepest.append(deepest[-1].add("→ *" if at.joins and at.depth else "*"))
    console = Console(width=GUIDE * (max(at.depth for at in branches) + 2), legacy_windows=False, _environ={})
    lines = ("".join(segment.text for segment in line) for line in console.render_lines(root, pad=False))
    return [line.rstrip().removesuffix("*") for line in lines]
