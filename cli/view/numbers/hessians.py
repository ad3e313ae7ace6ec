"""A Hessian: numbers under the names of its variables' elements, or where there is no room a picture of its blocks."""
from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...model.results import Axis, Column, Hessian, Table
from ..pieces import Drawing, Line, Paragraph, Piece, Prose, add
from ..text import GAP, clean, count_of, display_width, number, shorten
from .arrays import Part, above
from .digits import Digits
from .grids import WIDTH
from .plots import blocks

MOST = 24  # rows that are read as numbers
EXACT = 512  # rows up to which all eigenvalues are computed
LISTED = 10  # of the largest entries
LABEL = 16  # columns of a name beside a row
BESIDE = "eigenvalues"  # head of the column that has them beside the rows
SHADES = " ░▒▓█"  # of magnitudes; blank is zero
EVERY = 8  # cells of a picture between two labels of its columns
PICTURE = 32  # cells of a picture, a side


def hessian(found: Hessian, width: int | None) -> list[Part]:
    """Head and figures, then numbers or a picture, then what is known of the whole."""
    eigenvalues = _eigenvalues(found)
    heads = (_heads if width else _labels)(found.axes, found.value.shape[-1]) if _is_small(found.value) else []
    tables = (_numbers(found, width or WIDTH, eigenvalues, figures, heads=heads) for figures in (3, 2) if heads)
    table = next((table for table in tables if table is not None), None)
    shown = [table] if table is not None else _picture(found, width or WIDTH)
    is_beside = table is not None and table.columns[-1].name == BESIDE
    notes = ([Piece("quiet", clean(note))] for note in found.notes)
    lines = [*_definite(found, eigenvalues, is_beside=is_beside), *notes]
    if table is None and found.ref:
        lines.append([Piece("quiet", f"print {found.ref} shows the numbers")])
    if not np.isfinite(found.value).all():
        lines.insert(0, _nonfinite(found))
    return [above(found, width), *shown, Prose(tuple(Paragraph(line) for line in lines))]


def _eigenvalues(found: Hessian) -> np.ndarray | None:
    """Of the symmetric part, the largest first; None for a part of a Hessian, and for one that is not finite."""
    value = found.value
    if value.ndim != 2 or value.shape[0] != value.shape[1] or value.shape[0] > EXACT or not np.isfinite(value).all():
        return None
    if value.dtype == np.float16:
        value = value.astype(np.float32)  # LAPACK has no half floats
    return np.linalg.eigvalsh((value + value.T) / 2)[::-1]


def _is_small(value: np.ndarray) -> bool:
    """Whether it is read as numbers."""
    return value.ndim == 2 and max(value.shape) <= MOST


def _numbers(found: Hessian, width: int, eigenvalues: np.ndarray | None, figures: int, *, heads: list[str]
             ) -> Table | None:
    """Each element, its row and column named; None where there is no room."""
    value = found.value
    digits = Digits(value, figures)
    labels = _labels(found.axes, value.shape[1])
    cells = [[digits.piece(item) for item in row] for row in value]
    wide = max((display_width(piece.text) for row in cells for piece in row), default=1)
    ends = _ends(found.axes)
    columns = [Column("", "place")]
    for at, head in enumerate(heads):
        columns += [Column("", "text")] if at in ends else []
        columns.append(Column(head, "number"))
    widths = (max(wide, *map(len, head.split("\n"))) for head in heads)
    needed = max(map(len, labels)) + sum(width + len(GAP) for width in widths) + 3 * len(ends) + 1
    if needed > width:
        return None
    rows = []
    for at, row in enumerate(cells):
        line: list[Piece] = [Piece("head", labels[(found.first + at) % len(labels)])]
        for place, piece in enumerate(row):
            line += [Piece("rule", "│")] if place in ends else []
            line.append(piece)
        rows.append(line)
    if eigenvalues is not None and needed + 3 + 12 + len(GAP) <= width:
        columns += [Column("", "text"), Column(BESIDE, "number")]
        for line, eigenvalue in zip(rows, eigenvalues):
            line += [Piece("rule", "│"), Piece("", number(float(eigenvalue)))]
    notes = (f"cells {digits.unit}",) if digits.unit else ()
    sections = tuple(end - found.first for end in sorted(ends) if 0 < end - found.first < len(rows))
    return Table(tuple(columns), tuple(map(tuple, rows)), notes=notes, sections=sections)


def _labels(axes: Sequence[Axis], size: int) -> list[str]:
    """`w[0,1]` for each element; the index alone where there is one variable."""
    if not axes:
        return [str(at) for at in range(size)]
    found = []
    for axis, name in zip(axes, _names(axes)):
        for index in np.ndindex(*axis.shape):
            text = ",".join(map(str, index))
            found.append(f"{name}[{text}]" if name else text or "0")
    return found


def _heads(axes: Sequence[Axis], size: int) -> list[str]:
    """The index of each element, where a variable begins with its name above; the index alone where there is one."""
    if len(axes) < 2:
        return _labels(axes, size)
    return [f"{name * (not at)}\n{','.join(map(str, index)) or '·'}" for axis, name in zip(axes, _names(axes))
            for at, index in enumerate(np.ndindex(*axis.shape))]


def _names(axes: Sequence[Axis]) -> list[str]:
    """What the variables are called in headings: the last part of a name, the whole where others end so too.

    Empty where there is but one.
    """
    if len(axes) == 1:
        return [""]
    whole = [clean(axis.name.removesuffix(":0"), keep="") for axis in axes]
    last = [name.rpartition("/")[2] for name in whole]
    return [shorten(end if last.count(end) == 1 else name, LABEL) for name, end in zip(whole, last)]


def _ends(axes: Sequence[Axis]) -> set[int]:
    """Where a block begins: a variable, or a row of the only one."""
    if len(axes) == 1:
        shape = axes[0].shape
        step = int(np.prod(shape[1:])) if len(shape) > 1 else axes[0].size
        return set(range(step, axes[0].size, step)) if step > 1 else set()
    found, at = set(), 0
    for axis in axes[:-1]:
        at += axis.size
        found.add(at)
    return found


def _definite(found: Hessian, eigenvalues: np.ndarray | None, *, is_beside: bool) -> list[Line]:
    """What kind of matrix it is, with the ends of its eigenvalues where they are not beside it."""
    lines: list[Line] = []
    if eigenvalues is not None and len(eigenvalues):
        small = 1e-6 * max(float(np.abs(eigenvalues).max()), 1e-300)
        counts = int((eigenvalues > small).sum()), int((eigenvalues < -small).sum())
        said = f"{_kind(*counts, len(eigenvalues))}: {count_of(counts[0], 'eigenvalue')} above zero, {counts[1]} below"
        lines.append([Piece("", said + ("" if is_beside else f"; {_ends_of(eigenvalues)}"))])
    if found.asymmetry is not None:
        lines.append([Piece("quiet", f"largest |H - H'|: {found.asymmetry:.3g}")])
    return lines


def _kind(above_zero: int, below_zero: int, count: int) -> str:
    if above_zero and below_zero:
        return "indefinite"
    if not above_zero and not below_zero:
        return "zero"
    half = "" if above_zero + below_zero == count else "semi"
    return f"{'positive' if above_zero else 'negative'} {half}definite"


def _ends_of(eigenvalues: np.ndarray) -> str:
    """The largest and the smallest."""
    shown = [number(float(eigenvalue)) for eigenvalue in eigenvalues]
    return "  ".join(shown if len(shown) <= 6 else [*shown[:2], "…", *shown[-2:]])


def _nonfinite(found: Hessian) -> Line:
    """How many entries are not finite, and where the first ones are."""
    bad = np.argwhere(~np.isfinite(found.value))
    labels = _labels(found.axes, found.value.shape[-1])
    first = [" ".join(f"[{labels[(found.first * (at == 0) + i) % len(labels)]}]" if found.value.ndim == 2 else f"[{i}]"
                      for at, i in enumerate(map(int, index))) for index in bad[:3]]
    return [Piece("bad", f"{len(bad)} of {found.value.size} entries are nan or inf"),
            Piece("", f", the first at {', '.join(first)}; "), Piece("hint", "why nan", "why nan"),
            Piece("", " says where it comes from")]


def _picture(found: Hessian, width: int) -> list[Part]:
    """Shades of magnitudes with axes, and the ten largest entries."""
    value = np.atleast_2d(found.value).astype(np.float64)
    small, block = blocks(np.abs(value), min((width - LABEL - 4) // 2, PICTURE))
    finite = small[np.isfinite(small)]
    largest = float(finite.max()) if finite.size else 0.0
    ends = _ends(found.axes) if len(found.axes) > 1 else set()
    lines: list[Line] = [_column_axis(found.axes, small.shape[1], block[1], ends)]
    for at, row in enumerate(small):
        start = found.first + at * block[0]
        if any(start - block[0] < end <= start for end in ends) and at:
            lines.append([Piece("rule", " " * (LABEL + 2) + "─" * (2 * len(row) + len(ends)))])
        line: Line = [Piece("head", f"{_row_label(found.axes, start, at):>{LABEL}}"), Piece("rule", " │")]
        for place, item in enumerate(row):
            column = place * block[1]
            if any(column - block[1] < end <= column for end in ends) and place:
                add(line, "rule", "│")
            level = _level(item, largest)
            add(line, "bad" if level is None else f"heat{max(level, 1)}", "!!" if level is None else SHADES[level] * 2)
        lines.append(line)
    listed = _listed(found, value)
    return [_legend(largest, block), Drawing(tuple(lines)), *([listed] if listed is not None else [])]


def _legend(largest: float, block: tuple[int, int]) -> Prose:
    steps = [f"{shade * 2} {number(largest * at / 4)}" for at, shade in enumerate(SHADES) if at]
    means = f"; a cell is the mean of {block[0]} by {block[1]}" if block != (1, 1) else ""
    return Prose((Paragraph([Piece("quiet", f"|H|: blank 0, up to {'  '.join(steps)}{means}")]),))


def _row_label(axes: Sequence[Axis], row: int, at: int) -> str:
    """The element at a row, where a variable begins with its name."""
    start = 0
    for axis, name in zip(axes, _names(axes)):
        if row < start + axis.size:
            index = ",".join(str(int(i)) for i in np.unravel_index(row - start, axis.shape)) if axis.shape else ""
            return f"{shorten(name, LABEL - len(index) - 2)}[{index}]"
        start += axis.size
    return str(row)


def _column_axis(axes: Sequence[Axis], count: int, block: int, ends: set[int]) -> Line:
    """The elements of some columns above the picture, each where its column begins."""
    text = ""
    for at in range(0, count, EVERY):
        place = 2 * at + sum(1 for end in ends if end <= at * block)
        label = text.ljust(place) + _row_label(axes, at * block, at)
        text = f"{label} " if not at or len(label) <= 2 * count + len(ends) else text
    return [Piece("place", " " * (LABEL + 2) + text.rstrip())]


def _level(item: float, largest: float) -> int | None:
    """How dark a cell is, 0 for zero to 4; None where it is not finite."""
    if not math.isfinite(item):
        return None
    return 0 if item == 0 or not largest else max(math.ceil(4 * item / largest), 1)


def _listed(found: Hessian, value: np.ndarray) -> Table | None:
    """The entries of the largest magnitude; of a symmetric matrix each pair once. None if all are zero."""
    size = np.where(np.isfinite(value), np.abs(value), -1.0)
    if found.asymmetry is not None and value.shape[0] == value.shape[1]:
        size = np.triu(size)
    count = min(LISTED, int((size > 0).sum()))
    if not count:
        return None
    order = np.argpartition(size.reshape(-1), size.size - count)[size.size - count:]
    order = order[np.argsort(-size.reshape(-1)[order], kind="stable")]
    labels = _labels(found.axes, value.shape[1]) if value.shape[1] <= 100_000 else [""]
    rows = []
    for flat in order:
        row, column = divmod(int(flat), value.shape[1])
        ends = labels[(found.first + row) % len(labels)], labels[column % len(labels)]
        rows.append((*(Piece("head", label) for label in ends), float(value[row, column])))
    return Table((Column("row", "text"), Column("column", "text"), Column("largest entries", "number")), tuple(rows))
