"""Curves over steps, drawn with block characters."""
from __future__ import annotations

import math
from collections.abc import Sequence

from ...model.results import Plot
from ..pieces import Line, Piece, add
from ..text import BLOCKS, clean, number

LABEL = 10  # columns of the numbers at the left


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
