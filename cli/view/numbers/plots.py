"""Pictures in block characters: curves over steps, shades of rows against columns, how elements are distributed."""
from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...model.results import Plot
from ..pieces import Line, Piece, add
from ..text import BLOCKS, clean, number

LABEL = 10  # columns of the numbers at the left
SHADES = " ░▒▓█"


def plot(result: Plot, width: int | None) -> list[Line]:
    """Each curve by itself: its name, the greatest and least value at the left, the steps below."""
    lines: list[Line] = [[Piece("title", clean(result.title))]] if result.title else []
    for name, steps, values in result.series:
        if name:
            lines.append([Piece("name", clean(name)), Piece("quiet", "  logarithmic" if result.log else "")])
        lines += curve(steps, values, min((width or 100) - LABEL - 2, 120), result.height, log=result.log)
    return lines + [[Piece("quiet", clean(note))] for note in result.notes]


def curve(steps: Sequence[int], values: Sequence[float | None], room: int, lines_high: int, *, log: bool = False
          ) -> list[Line]:
    """One curve as bars; where there are more steps than columns, a column is the mean of its steps.

    `!` at the bottom is a value that is not finite, a gap one that is not known.
    """
    columns = _columns(values, max(room, 8))
    finite = [v for v in columns if v is not None and math.isfinite(v) and (v > 0 or not log)]
    if not finite:
        return [[Piece("bad" if any(v is not None for v in columns) else "quiet", "no finite values")]]
    low, high = min(finite), max(finite)
    heights = [_height(v, low, high, 8 * lines_high, log=log) for v in columns]
    lines: list[Line] = []
    for row in range(lines_high - 1, -1, -1):
        label = number(high) if row == lines_high - 1 else number(low) if row == 0 else ""
        bars: Line = []
        for height in heights:
            text = " " if height is None else "!" * (row == 0) or " " if height < 0 else _bar(height - 8 * row)
            add(bars, "bad" if text == "!" else "spark", text)
        lines.append([Piece("quiet", f"{label:>{LABEL}} "), *bars])
    first, last = f"step {steps[0]}", str(steps[-1])
    between = " " * max(len(columns) - len(first) - len(last), 1)
    return [*lines, [Piece("quiet", " " * (LABEL + 1) + first + between + last)]]


def _columns(values: Sequence[float | None], room: int) -> list[float | None]:
    """At most `room` values: means of as many neighbors as it takes; one that is not finite is kept."""
    size = math.ceil(len(values) / room)
    if size <= 1:
        return list(values)
    found: list[float | None] = []
    for start in range(0, len(values), size):
        known = [v for v in values[start:start + size] if v is not None]
        found.append(sum(known) / len(known) if known else None)
    return found


def _height(value: float | None, low: float, high: float, eighths: int, *, log: bool) -> int | None:
    """How many of so many eighths of a line, 1 at least; -1 for a value that is not finite."""
    if value is None or log and math.isfinite(value) and value <= 0:
        return None
    if not math.isfinite(value):
        return -1
    if log:
        value, low, high = math.log(value), math.log(low), math.log(high)
    share = (value - low) / (high - low) if high > low else 0.5
    return 1 + int(share * (eighths - 1.001))


def _bar(eighths: int) -> str:
    return " " if eighths <= 0 else BLOCKS[min(eighths, 8) - 1]


def heatmap(value: np.ndarray, width: int | None = None) -> list[Line]:
    """Rows of shades from the least to the greatest finite element; `!` where an element is not finite.

    Where there is no room for all, a cell is the mean of a block. In color, negative cells are cold and others warm.
    """
    rows = np.atleast_2d(value.reshape(value.shape[0], -1) if value.ndim > 1 else value).astype(np.float64)
    small, block = blocks(rows, min((width or 100) // 2 - 1, 64))
    finite = small[np.isfinite(small)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    span = (high - low) or 1.0
    lines: list[Line] = [[Piece("quiet", f"{number(low)} '{SHADES[0]}' to {number(high)} '{SHADES[-1]}'")]]
    for row in small:
        line: Line = []
        for x in row:
            role = "bad" if not math.isfinite(x) else "cold" if x < 0 < high else "warm"
            add(line, role, SHADES[int((x - low) / span * 4.999)] * 2 if math.isfinite(x) else "!!")
        lines.append(line)
    if block != (1, 1):
        lines.append([Piece("quiet", f"{rows.shape[0]} by {rows.shape[1]}: a cell is the mean of "
                                     f"{block[0]} by {block[1]}")])
    return lines


def blocks(rows: np.ndarray, most: int) -> tuple[np.ndarray, tuple[int, int]]:
    """At most `most` by `most` means of equal blocks, and the size of a block; one with nan or inf is not finite."""
    high, wide = (max(-(-size // most), 1) for size in rows.shape)
    if not rows.size or (high, wide) == (1, 1):
        return rows, (1, 1)
    with np.errstate(invalid="ignore"):
        sums = np.add.reduceat(np.add.reduceat(rows, np.arange(0, rows.shape[0], high), 0),
                               np.arange(0, rows.shape[1], wide), 1)
    heights = np.minimum(high, rows.shape[0] - np.arange(0, rows.shape[0], high))
    widths = np.minimum(wide, rows.shape[1] - np.arange(0, rows.shape[1], wide))
    return sums / np.outer(heights, widths), (high, wide)


def histogram(value: np.ndarray, bins: int = 12) -> list[Line]:
    """Counts of the finite elements in equal bins."""
    numbers = value.astype(np.float64).ravel()
    numbers = numbers[np.isfinite(numbers)]
    if not numbers.size:
        return [[Piece("quiet", "no finite elements")]]
    counts, edges = np.histogram(numbers, bins)
    most = max(int(counts.max()), 1)
    return [[Piece("", f"{number(float(edges[i])):>9} … {number(float(edges[i + 1])):<9} "),
             Piece("spark", "█" * round(40 * c / most)), Piece("", f" {c}")] for i, c in enumerate(counts)]
