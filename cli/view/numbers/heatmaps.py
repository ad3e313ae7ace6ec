"""Pictures of the elements of an array: shades of rows against columns, and how they are distributed."""
from __future__ import annotations

import math

import numpy as np

from ..pieces import Line, Piece, add
from ..text import number

SHADES = " ░▒▓█"


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
