"""The plain writer: prose broken at 100 columns, rows in one line each, names whole. Pipes and files get this."""
from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator

from ..model.results import Card, Group, Patch, Result, Source, Table, Tree
from .blocks import Block, blocks
from .pieces import Drawing, Paragraph, Piece, Prose, text_of
from .rows import RowWriter
from .text import clean, display_width

WIDTH = 100  # columns of prose, if COLUMNS says nothing else


def plain(result: Result, width: int = 0) -> str:
    """A result as text without color. width: of prose; 0 for that of COLUMNS, or 100."""
    width = width or _columns()
    return "".join(line.rstrip() + "\n" for line in lines_of(result, width))


def _columns() -> int:
    said = os.environ.get("COLUMNS", "")
    return max(int(said), 20) if said.isdigit() else WIDTH


def lines_of(result: Result, width: int) -> Iterator[str]:
    """The lines of a result."""
    for block in blocks(result):
        yield from _of_block(block, width)


def _of_block(block: Block, width: int) -> Iterator[str]:
    if isinstance(block, Prose):
        for part in block.paragraphs:
            yield from broken(part, width)
    elif isinstance(block, Drawing):
        yield from map(text_of, block.lines)
    elif isinstance(block, Table):
        rows = RowWriter(block)
        yield from (text_of(rows.line(at)) for at in range(len(rows)))
    elif isinstance(block, Tree):
        yield from _tree(block, 0)
    elif isinstance(block, Source):
        yield from _source(block)
    elif isinstance(block, Patch):
        yield from map(clean, block.diff.splitlines())
    else:
        yield from _card(block, width)


def broken(part: Paragraph, width: int) -> list[str]:
    """The lines of a paragraph."""
    text = " " * part.indent + text_of(part.line)
    if display_width(text) <= width:
        return [text]
    return textwrap.wrap(text, width, subsequent_indent=" " * part.hang, break_on_hyphens=False, break_long_words=False,
                         replace_whitespace=False) or [text]


def _tree(tree: Tree, depth: int) -> Iterator[str]:
    yield f"{'  ' * depth}{clean(tree.label)}{'  ' if tree.place else ''}{clean(tree.place)}"
    for child in tree.children:
        yield from _tree(child, depth + 1)


def _source(source: Source) -> Iterator[str]:
    """Numbered lines, an arrow at the current one, remarks behind a comment sign."""
    yield clean(source.file)
    digits = len(str(source.first + len(source.lines)))
    for at, text in enumerate(source.lines, source.first):
        mark = "→" if at == source.current else "▶" if at == source.cause else "●" if at in source.armed else " "
        remark = f"  # {clean(source.gutter[at])}" if at in source.gutter else ""
        yield f"{mark} {at:>{digits}}  {clean(text.expandtabs(4))}{remark}"


def _card(card: Card, width: int) -> Iterator[str]:
    if card.title:
        yield from broken(Paragraph([Piece("", clean(card.title))]), width)
    yield from lines_of(Group(card.parts), width)
