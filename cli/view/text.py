"""Pieces of text: numbers in three digits, names made harmless and short, sparklines."""
from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np

BLOCKS = "▁▂▃▄▅▆▇█"
GAP = "  "


def clean(text: str, *, keep: str = "\n") -> str:
    """`text` with control characters shown as escapes; characters of `keep` stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c in keep or c == "\t" and keep or not _controls(c)
                   else c.encode("unicode_escape").decode("ascii") for c in text)


def _controls(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp", "Cn", "Co")


def display_width(text: str) -> int:
    """Columns that `text` takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def shorten(text: str, width: int) -> str:
    """`text` in at most `width` columns, its middle left out."""
    if display_width(text) <= width:
        return text
    keep = max(width - 1, 0)
    tail = keep * 2 // 3
    return text[:keep - tail] + "…" + (text[-tail:] if tail else "")


def number(value: Any) -> str:
    """Three significant digits; whole numbers as they are; empty for None."""
    if value is None:
        return ""
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (int, np.integer)):
        return str(value)
    if isinstance(value, (complex, np.complexfloating)):
        return f"{number(value.real)}{'+' if value.imag >= 0 else ''}{number(value.imag)}j"
    value = float(value)
    if not math.isfinite(value):
        return str(value)
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e4:
        return f"{value:#.3g}".rstrip(".") if abs(value) < 1000 else f"{value:.0f}"
    return f"{value:.2e}".replace("e-0", "e-").replace("e+0", "e")


def count_of(count: int, what: str) -> str:
    """`1 variable`, `2 variables`."""
    return f"{count} {what}{'s' * (count != 1)}"


def first_of(names: Sequence[str], most: int = 6) -> str:
    """The first names, and how many more there are."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def sparkline(values: Sequence[float]) -> str:
    """One block a value, from the least to the greatest; `!` for a value that is not finite."""
    finite = [v for v in values if v is not None and math.isfinite(v)]
    if not finite:
        return "!" * len(values)
    low, high = min(finite), max(finite)
    span = (high - low) or 1.0
    return "".join(BLOCKS[int((v - low) / span * 7.999)] if v is not None and math.isfinite(v) else "!" for v in values)
