"""A result as blocks: prose, drawings, tables, trees, sources, from which every writer and every screen begins.

Text from scripts passes through `clean`, so control characters are shown, not obeyed.
"""
from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ..model import results
from .links import linked
from .numbers.arrays import array
from .numbers.hessians import hessian
from .numbers.plots import plot
from .pieces import Drawing, Line, Paragraph, Piece, Prose
from .rows import RIGHT, cells_of
from .text import GAP, clean, display_width

Block = Prose | Drawing | results.Table | results.Tree | results.Source | results.Patch | results.Card
_OF_WORDS = results.Text, results.Error, results.Stop, results.Leave, results.Group, results.Patch
EMPTY = Drawing(([],))
SHORT = 20  # letters that a cell may have on the first line of a paragraph
DEEPEST = 50  # columns that the rest of a broken line is set in at most


def blocks(result: results.Result, width: int | None = None, rows: int | None = None, here: int | None = None
           ) -> Iterator[Block]:
    """The blocks of a result; in a group an empty line before whatever is more than words.

    width: columns of the screen; None for a pipe, where nothing is left out. rows: most rows of a table. here: flat
    index of an element of the first array, which is then shown with all others.
    """
    if isinstance(result, results.Card):
        yield result
    elif isinstance(result, results.Group):
        for at, part in enumerate(result.parts):
            if at and not isinstance(part, _OF_WORDS):
                yield EMPTY
            yield from blocks(part, width, rows, here)
            here = None if isinstance(part, results.Array) else here
    elif isinstance(result, results.Table):
        yield from _table(result, width, rows)
    elif isinstance(result, results.Hessian) and here is None:
        yield from _of_parts(hessian(result, width), width)
    elif isinstance(result, results.Array):
        yield from _of_parts(array(result, width, here), width)
    elif isinstance(result, results.Plot):
        yield Drawing(tuple(plot(result, width)))
    elif isinstance(result, (results.Tree, results.Source, results.Patch)):
        yield result
    elif isinstance(result, results.Error):
        yield from _error(result, width)
    elif said := prose(result).paragraphs:
        yield _with_links(Prose(said))


def prose(result: results.Result) -> Prose:
    """The paragraphs of what is said in words."""
    if isinstance(result, results.Text):
        if not result.text:
            return Prose(())
        found = paragraphs(result.text, result.mood).paragraphs
        return Prose(found if result.mood != "warning" else found[:1] + paragraphs(result.text).paragraphs[1:])
    if isinstance(result, results.Stop):
        head = paragraph(clean(result.reason), "stop" if result.hit else "title")
        return Prose((head, *(part for line in result.lines for part in paragraphs(line).paragraphs)))
    if isinstance(result, results.Leave):
        return paragraphs(result.text, "quiet") if result.text else Prose(())
    raise TypeError(f"no drawing for {type(result).__name__}")


def _error(result: results.Error, width: int | None) -> Iterator[Block]:
    """`error: what`, where, the mistake in what was typed, the next thing to type, a bug's traceback."""
    first, *rest = clean(result.message).split("\n")
    yield _with_links(Prose((Paragraph([Piece("error", "error: "), Piece("", first)], 0, 2),
                             *(paragraph(f"  {line}") for line in rest))))
    if result.span is not None:
        yield _pointed(result.typed, *result.span, width)
    said = [paragraph(f"  {line}", "hint") for line in clean(result.hint).split("\n")] if result.hint else []
    said += [paragraph(line, "quiet") for line in clean(result.trace).rstrip().split("\n")] if result.trace else []
    if said:
        yield _with_links(Prose(tuple(said)))


def _pointed(typed: str, start: int, end: int, width: int | None) -> Drawing:
    """The line that was typed with a sign below the mistake; of a long one what is around it."""
    before, there, after = (clean(text, keep="") for text in (typed[:start], typed[start:end], typed[end:]))
    if width is not None and display_width(before) + display_width(there) > width - 2:
        before = "…" + before[-max(width // 2 - 3, 0):]
    sign = "^" * max(display_width(there), 1)
    return Drawing(([Piece("", f"  {before}{there}{after}")],
                    [Piece("error", f"  {' ' * display_width(before)}{sign}")]))


def paragraphs(text: str, role: str = "") -> Prose:
    """Each line of a text as a paragraph."""
    return Prose(tuple(paragraph(line, role) for line in clean(text).split("\n")))


def paragraph(line: str, role: str = "") -> Paragraph:
    """A line of text: what follows its first line is set in below the text after its last wide gap."""
    bare = line.lstrip(" ")
    gaps = [match.end() for match in re.finditer(r"(?:^|\S) {2,}", line) if match.end() < DEEPEST]
    return Paragraph([Piece(role, bare)] if bare else [], len(line) - len(bare), max(gaps, default=0))


def _of_parts(parts: list[Prose | Drawing | results.Table], width: int | None) -> Iterator[Block]:
    """The parts of an array: their tables hold notes of their own."""
    for part in parts:
        if isinstance(part, results.Table):
            yield from _table(part, width, None)
        else:
            yield _with_links(part) if isinstance(part, Prose) else part


def _with_links(said: Prose) -> Prose:
    return Prose(tuple(part._replace(line=linked(part.line)) for part in said.paragraphs))


def _table(table: results.Table, width: int | None, rows: int | None) -> Iterator[Block]:
    """A table with its title above it; below it what was left out, and the notes."""
    if table.title:
        yield Prose((paragraph(clean(table.title), "title"),))
    if table.prose:
        yield _with_links(Prose(tuple(_sentences(table))))
        shown = table
    else:
        shown = replace(table, rows=table.rows[:rows]) if rows is not None and rows < len(table.rows) else table
        yield _filled(shown) if width else shown
    notes = [part for note in table.notes for part in paragraphs(note, "quiet").paragraphs]
    if more := len(table.rows) - len(shown.rows):
        notes.insert(0, paragraph(f"… {more} more rows; add `| less` or `> FILE` to see them all", "quiet"))
    if notes:
        yield _with_links(Prose(tuple(notes)))


def _filled(table: results.Table) -> results.Table:
    """The table without columns of nothing."""
    kept = [i for i, column in enumerate(table.columns)
            if column.shown not in ("text", "prose", "place") or not table.rows or any(row[i] for row in table.rows)]
    if len(kept) == len(table.columns):
        return table
    return replace(table, columns=tuple(table.columns[i] for i in kept),
                   rows=[tuple(row[i] for i in kept) for row in table.rows])


def _sentences(table: results.Table) -> Iterator[Paragraph]:
    """Each row of a table of sentences: what is short on one line, then a paragraph for each sentence."""
    for row in table.rows:
        short: Line = []
        said: list[Paragraph] = []
        for column, value, piece in zip(table.columns, row, cells_of(table.columns, row)):
            if value in (None, "") or column.keep < 9 and column.shown in RIGHT:
                continue
            if column.shown == "text" and (column.name == "ask" or len(piece.text) > SHORT):
                text = piece.text if column.name in ("finding", "ask", "reason") else f"{column.name}: {piece.text}"
                said.append(Paragraph([Piece("hint" if column.name == "ask" else "", text)], 3, 3))
            else:
                short += [Piece("", GAP), piece] if short else [piece]
        yield Paragraph(short, 0, 3)
        yield from said
