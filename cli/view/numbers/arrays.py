"""An array as what stands above its cells, its cells, and what stands below."""
from __future__ import annotations

import numpy as np

from ...model.results import Array, Table
from ..pieces import Drawing, Line, Paragraph, Piece, Prose, text_of
from ..text import GAP, clean, display_width, number
from .digits import Digits
from .grids import grid, running
from .plots import heatmap, histogram

MANY = 1000  # elements that are shown without leaving any out
Part = Prose | Drawing | Table


def array(result: Array, width: int | None, here: int | None = None) -> list[Part]:
    """Name, dtype and shape; statistics of the finite elements; the elements themselves; notes.

    here: flat index of an element that is looked for; all are then shown, this one standing out.
    """
    parts: list[Part] = [above(result, width), *elements(result, width, here)]
    notes = tuple(Paragraph([Piece("quiet", clean(note))]) for note in result.notes)
    return [*parts, Prose(notes)] if notes else parts


def elements(result: Array, width: int | None, here: int | None) -> list[Part]:
    """The elements in the form that was asked for."""
    value = result.value
    if not value.size:
        return []
    if here is not None:
        return [running(value, width, marked=result.marked, here=here)]
    if result.window is not None:
        return [running(value, width, first=result.window[0], count=result.window[1], marked=result.marked)]
    if result.form == "h":
        return [Drawing(tuple(heatmap(value, width)))]
    if result.form == "d":
        return [Drawing(tuple(histogram(value)))]
    if result.form == "s":
        return []
    if result.form == "f":
        text = np.array2string(value, threshold=value.size + 1 if result.whole else MANY,
                               max_line_width=(width or 100) - 1, separator=" ")
        return [Drawing(tuple([Piece("", line)] for line in clean(text).split("\n")))]
    if not value.ndim:
        return [Prose((Paragraph([_only(value)]),))]
    if same := _all_the_same(value):
        return [Prose((Paragraph([Piece("bad" if same in ("nan", "inf", "-inf") else "", f"all are {same}")]),))]
    if result.whole and value.size > MANY:
        return [running(value, width, marked=result.marked)]
    return [grid(value, width, marked=result.marked, name=result.ref or result.name, whole=result.whole)]


def above(result: Array, width: int | None = None) -> Prose:
    """What stands above the elements; on a narrow screen the statistics are two lines."""
    value = result.value
    shape = f"[{','.join(map(str, value.shape))}]"
    head: Line = [Piece("title", clean(result.name)),
                  Piece("quiet", f"  {value.dtype.name if value.dtype != object else 'string'}{shape}")]
    if result.ref:
        head.append(Piece("name", f"  {result.ref}", f"print {result.ref}"))
    lines = [head]
    if value.size != 1 and result.form != "s" and value.dtype.kind in "fiucb" or result.form == "s":
        figures = statistics(value, with_spread=result.form == "s")
        is_narrow = width is not None and display_width(text_of(figures)) > width
        lines += [figures[:1], [figures[1]._replace(text=figures[1].text.lstrip()), *figures[2:]]] \
            if is_narrow and len(figures) > 2 else [figures]
    if result.mark:
        count = int(result.marked.sum()) if result.marked is not None else 0
        share = f" ({100 * count / value.size:.3g} %)" if value.size else ""
        lines.append([Piece("warning" if count else "quiet",
                            f"{result.mark}: {count} of {value.size} elements{share}")])
        lines += _places(result)
    return Prose(tuple(Paragraph(line) for line in lines))


def _places(result: Array) -> list[Line]:
    if result.marked is None or not result.value.ndim:
        return []
    where = np.argwhere(result.marked)[:6]
    shown = [f"[{','.join(map(str, index))}] {number(result.value[tuple(index)])}" for index in where]
    more = int(result.marked.sum()) - len(shown)
    text = GAP.join(shown) + (f"  … {more} more" if more else "")
    return [[Piece("warning", "  " + text)]] if shown else []


def statistics(value: np.ndarray, *, with_spread: bool = False) -> Line:
    """Counts, and statistics of the finite elements. with_spread: their standard deviation too."""
    if value.dtype == bool:
        return [Piece("", f"true {int(value.sum())}  false {int((~value).sum())}")]
    if value.dtype.kind not in "fiuc" or not value.size:
        return [Piece("quiet", "no elements" if not value.size else "no numbers")]
    wide = np.abs(value.astype(np.complex128)) if value.dtype.kind == "c" else value.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    nans, infs = int(np.isnan(wide).sum()), int(np.isinf(wide).sum())
    line: Line = []
    if finite.size:
        with np.errstate(all="ignore"):
            facts = {"min": finite.min(), "max": finite.max(), "mean": finite.mean(),
                     **({"std": finite.std()} if with_spread else {}), "norm": np.sqrt(np.square(finite).sum())}
        line.append(Piece("", GAP.join(f"{name} {number(float(fact))}" for name, fact in facts.items())))
        line.append(Piece("", f"  zero {100 * float((finite == 0).sum()) / wide.size:.3g} %"))
    for name, count in (("nan", nans), ("inf", infs)):
        line += [Piece("", GAP)] if line else []
        line.append(Piece("bad" if count else "quiet", f"{name} {count}", "why nan" if count else ""))
    return line


def _only(value: np.ndarray) -> Piece:
    """The element of a scalar, in three digits."""
    item = value[()]
    if value.dtype.kind in "fc":
        text = number(item)
        return Piece("bad" if not np.isfinite(item) else "", text)
    return Digits(value).piece(item)


def _all_the_same(value: np.ndarray) -> str:
    """The one value that all elements have, if they are many; else empty."""
    if value.size < 2 or value.dtype.kind not in "f":
        return ""
    first = value.reshape(-1)[0]
    same = bool(np.isnan(value).all()) if np.isnan(first) else bool((value == first).all())
    return number(first) if same else ""
