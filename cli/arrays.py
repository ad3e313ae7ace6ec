"""Arrays as lines: figures, elements, heatmaps, distributions."""
from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from .results import Array
from .texts import GAP, Line, clean, number


def array(result: Array, width: int | None) -> list[Line]:
    """Name, dtype and shape; statistics of the finite elements; the elements themselves."""
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
    if result.form == "h":
        lines += heatmap(value)
    elif result.form == "d":
        lines += histogram(value)
    elif result.form != "s":
        lines += elements(result, width)
    lines += [[("quiet", clean(note))] for note in result.notes]
    return lines


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
    """The elements, summarised above 1000 unless `whole`; elements that are not finite or marked stand out."""
    value = result.value
    limit = value.size + 1 if result.whole else 1000
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


def heatmap(value: np.ndarray, most: int = 64) -> list[Line]:
    """Rows of shades from the least to the greatest finite element; `!` where an element is not finite."""
    grid = np.atleast_2d(value.reshape(value.shape[0], -1) if value.ndim > 1 else value).astype(np.float64)
    shades = " ░▒▓█"
    small = grid[:most, :most]
    finite = small[np.isfinite(small)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    span = (high - low) or 1.0
    lines: list[Line] = [[("quiet", f"{number(low)} '{shades[0]}' to {number(high)} '{shades[-1]}'")]]
    for row in small:
        lines.append([("",
                       "".join(shades[int((x - low) / span * 4.999)] * 2 if math.isfinite(x) else "!!" for x in row))])
    if small.size < grid.size:
        lines.append([("quiet",
                       f"… the first {small.shape[0]} by {small.shape[1]} of {grid.shape[0]} by {grid.shape[1]}")])
    return lines


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
