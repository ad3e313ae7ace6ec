"""Arrays as lines: figures, elements, heatmaps, distributions."""
from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..model.results import Array
from .elements import ElementLines
from .text import GAP, Line, add, clean, number

SHADES = " ░▒▓█"
MANY = 1000  # elements that are shown without leaving any out


def array(result: Array, width: int | None) -> list[Line]:
    """Name, dtype and shape; statistics of the finite elements; the elements themselves."""
    lines = above(result, width)
    few = indexed(result, width)
    if few is not None:
        lines += [few.line(at) for at in range(len(few))]
    elif result.form == "h":
        lines += heatmap(result.value, width)
    elif result.form == "d":
        lines += histogram(result.value)
    elif result.form != "s":
        lines += elements(result, width)
    return lines + below(result)


def above(result: Array, width: int | None) -> list[Line]:
    """What stands above the elements."""
    value = result.value
    shape = f"[{','.join(map(str, value.shape))}]"
    head: Line = [("title", f"{clean(result.name)}"),
                  ("quiet", f"  {value.dtype.name if value.dtype != object else 'string'}{shape}")]
    if result.ref:
        head.append(("name", f"  {result.ref}"))
    lines: list[Line] = [head]
    if value.size != 1 and result.form != "s" and value.dtype.kind in "fiucb" or result.form == "s":
        lines += statistics(value, width)
    if result.mark:
        count = int(result.marked.sum()) if result.marked is not None else 0
        share = f" ({100 * count / value.size:.3g} %)" if value.size else ""
        lines.append([("warning" if count else "quiet", f"{result.mark}: {count} of {value.size} elements{share}")])
        lines += _places(result)
    return lines


def below(result: Array) -> list[Line]:
    """What stands below the elements."""
    return [[("quiet", clean(note))] for note in result.notes]


def indexed(result: Array, width: int | None) -> ElementLines | None:
    """Lines with indices, for a part of an array and for all of a big one; None where another form is wanted."""
    if result.form:
        return None
    if result.window is not None:
        return ElementLines(result.value, width, first=result.window[0], count=result.window[1], marked=result.marked)
    if result.whole and result.value.size > MANY:
        return ElementLines(result.value, width, marked=result.marked)
    return None


def _places(result: Array) -> list[Line]:
    if result.marked is None or not result.value.ndim:
        return []
    where = np.argwhere(result.marked)[:6]
    shown = [f"[{','.join(map(str, index))}] {number(result.value[tuple(index)])}" for index in where]
    more = int(result.marked.sum()) - len(shown)
    text = GAP.join(shown) + (f"  … {more} more" if more else "")
    return [[("bad", "  " + text)]] if shown else []


def statistics(value: np.ndarray, width: int | None = None) -> list[Line]:
    """Counts, and statistics of the finite elements: one line, or two on a narrow screen."""
    if value.dtype == bool:
        return [[("", f"true {int(value.sum())}  false {int((~value).sum())}")]]
    if value.dtype.kind not in "fiuc" or not value.size:
        return [[("quiet", "no elements" if not value.size else "no numbers")]]
    wide = np.abs(value.astype(np.complex128)) if value.dtype.kind == "c" else value.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    nans, infs = int(np.isnan(wide).sum()), int(np.isinf(wide).sum())
    line: Line = []
    if finite.size:
        with np.errstate(all="ignore"):
            facts = {"min": finite.min(), "max": finite.max(), "mean": finite.mean(), "std": finite.std(),
                     "norm": np.sqrt(np.square(finite).sum())}
        line.append(("", GAP.join(f"{name} {number(float(fact))}" for name, fact in facts.items())))
        line.append(("", f"  zero {100 * float((finite == 0).sum()) / wide.size:.3g} %"))
    for name, count in (("nan", nans), ("inf", infs)):
        line.append(("bad" if count else "quiet", f"{GAP if line else ''}{name} {count}"))
    if width is not None and sum(len(text) for _, text in line) > width and len(line) > 2:
        return [line[:1], [(style, text.strip() + GAP) for style, text in line[1:]]]
    return [line]


def elements(result: Array, width: int | None) -> list[Line]:
    """The elements, summarized above 1000 unless `whole`; elements that are not finite or marked stand out."""
    value = result.value
    limit = value.size + 1 if result.whole else MANY
    wide = 0

    def shown(x: Any) -> str:
        nonlocal wide
        text = number(x).rjust(wide)
        wide = max(wide, len(text))
        return text

    formatter: Any = {"float_kind": shown, "complex_kind": shown} if result.form != "f" else None
    for _ in "measure", "write":  # the second pass knows the widest number
        text = np.array2string(value, threshold=limit, max_line_width=(width or 120) - 1, formatter=formatter,
                               separator=" ")
    return [_highlight(line) for line in clean(text).split("\n")]


def _highlight(line: str) -> Line:
    """A line of elements with nan and inf standing out."""
    pieces: Line = []
    plain = ""
    for word in _runs(line):
        if word.strip("[]") in ("nan", "inf", "-inf"):
            pieces += [("", plain), ("bad", word)]
            plain = ""
        else:
            plain += word
    return [*pieces, ("", plain)]


def _runs(line: str) -> Iterator[str]:
    start = 0
    for at in range(1, len(line) + 1):
        if at == len(line) or line[at].isspace() != line[start].isspace():
            yield line[start:at]
            start = at


def heatmap(value: np.ndarray, width: int | None = None) -> list[Line]:
    """Rows of shades from the least to the greatest finite element; `!` where an element is not finite.

    Where there is no room for all, a cell is the mean of a block. In color, negative cells are cold and others warm.
    """
    grid = np.atleast_2d(value.reshape(value.shape[0], -1) if value.ndim > 1 else value).astype(np.float64)
    small, block = _blocks(grid, min((width or 130) // 2 - 1, 64))
    finite = small[np.isfinite(small)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    span = (high - low) or 1.0
    lines: list[Line] = [[("quiet", f"{number(low)} '{SHADES[0]}' to {number(high)} '{SHADES[-1]}'")]]
    for row in small:
        line: Line = []
        for x in row:
            style = "bad" if not math.isfinite(x) else "cold" if x < 0 < high else "warm"
            add(line, style, SHADES[int((x - low) / span * 4.999)] * 2 if math.isfinite(x) else "!!")
        lines.append(line)
    if block != (1, 1):
        lines.append([("quiet", f"{grid.shape[0]} by {grid.shape[1]}: a cell is the mean of {block[0]} by {block[1]}")])
    return lines


def _blocks(grid: np.ndarray, most: int) -> tuple[np.ndarray, tuple[int, int]]:
    """At most `most` by `most` means of equal blocks, and the size of a block; one with nan or inf is not finite."""
    high, wide = (max(-(-size // most), 1) for size in grid.shape)
    if not grid.size or (high, wide) == (1, 1):
        return grid, (1, 1)
    with np.errstate(invalid="ignore"):
        sums = np.add.reduceat(np.add.reduceat(grid, np.arange(0, grid.shape[0], high), 0),
                               np.arange(0, grid.shape[1], wide), 1)
    rows = np.minimum(high, grid.shape[0] - np.arange(0, grid.shape[0], high))
    columns = np.minimum(wide, grid.shape[1] - np.arange(0, grid.shape[1], wide))
    return sums / np.outer(rows, columns), (high, wide)


def histogram(value: np.ndarray, bins: int = 12) -> list[Line]:
    """Counts of the finite elements in equal bins."""
    numbers = value.astype(np.float64).ravel()
    numbers = numbers[np.isfinite(numbers)]
    if not numbers.size:
        return [[("quiet", "no finite elements")]]
    counts, edges = np.histogram(numbers, bins)
    most = max(int(counts.max()), 1)
    return [[("", f"{number(float(edges[i])):>9} … {number(float(edges[i + 1])):<9} "),
             ("spark", "█" * round(40 * c / most)),
             ("", f" {c}")] for i, c in enumerate(counts)]
