"""One way of writing all the numbers of a table: one power of ten, decimal points below each other."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..pieces import Piece
from ..text import clean, number, shorten

PLAIN = (-2, 3)  # powers of ten of the greatest magnitude that are written without one of the table's own
SHADES = (" ", "░", "▒", "█")  # of the quarters of the magnitudes
WIDEST = 20  # columns for one element that is no number
SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class Digits:
    """How the elements of `value` are written. power: of ten, that all cells are multiples of. figures: of the largest.

    A cell that is not zero never looks like one: it takes an exponent of its own. Zero is `·`.
    """

    def __init__(self, value: np.ndarray, figures: int = 3) -> None:
        self.is_real = value.dtype.kind == "f"
        self.largest = _largest(value) if self.is_real else 0.0
        top = math.floor(math.log10(self.largest)) if self.largest else 0
        self.power = 0 if PLAIN[0] <= top <= PLAIN[1] else top
        self._decimals = max(figures - 1 - (top - self.power), 0)
        self._scale = 10.0 ** -self.power if abs(self.power) < 300 else 1.0
        if self._scale == 1.0:
            self.power = 0

    @property
    def unit(self) -> str:
        """`×10⁻⁵`, or empty."""
        return f"×10{str(self.power).translate(SUPERSCRIPT)}" if self.power else ""

    def piece(self, item: Any, *, is_marked: bool = False) -> Piece:
        """One cell: its text, and how hot it is."""
        if not self.is_real:
            return Piece("warning" if is_marked else _role(item), _other(item) + "*" * is_marked)
        item = float(item)
        if not math.isfinite(item):
            return Piece("bad", str(item) + "*" * is_marked)
        if item == 0:
            return Piece("warning" if is_marked else "zero", "·" + "*" * is_marked)
        heat = min(int(4 * abs(item) / self.largest), 3)
        return Piece("warning" if is_marked else f"heat{heat + 1}", self._text(item) + "*" * is_marked,
                     shade=SHADES[heat])

    def _text(self, item: float) -> str:
        scaled = item * self._scale
        text = f"{scaled:.{self._decimals}f}"
        if float(text) == 0:
            mantissa, _, exponent = f"{scaled:.0e}".partition("e")
            return f"{mantissa}e{int(exponent)}"
        return text


def _largest(value: np.ndarray) -> float:
    """The greatest finite magnitude; 0 if there is none."""
    if not value.size:
        return 0.0
    with np.errstate(all="ignore"):
        low, high = float(value.min()), float(value.max())
    if not (math.isfinite(low) and math.isfinite(high)):
        finite = value[np.isfinite(value)]
        if not finite.size:
            return 0.0
        low, high = float(finite.min()), float(finite.max())
    return max(abs(low), abs(high))


def _role(item: Any) -> str:
    if isinstance(item, (np.complexfloating, complex)):
        return "" if np.isfinite(item) else "bad"
    return "zero" if isinstance(item, (np.integer, int)) and not isinstance(item, bool) and item == 0 else ""


def _other(item: Any) -> str:
    """A cell that is no real number: an integer, a truth value, a text."""
    if isinstance(item, (bool, np.bool_)):
        return str(bool(item))
    if isinstance(item, (np.number, int, float)):
        return number(item)
    return shorten(clean(item.decode("utf-8", "backslashreplace") if isinstance(item, bytes) else str(item), keep=""),
                   WIDEST)
