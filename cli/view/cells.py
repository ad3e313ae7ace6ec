"""One cell of a table: its text, its role, and where it leads."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..model.results import Column
from .links import of_cell
from .pieces import Line, Piece
from .text import clean, number, shorten, sparkline

RIGHT = ("number", "count", "bad", "percent")  # kinds of columns whose cells stand at the right


def cells_of(columns: Sequence[Column], row: Sequence[Any]) -> Line:
    """The cells of a row."""
    nans = any(value for value, column in zip(row, columns) if column.shown == "bad" and not isinstance(value, Piece))
    return [cell(value, column, nans=nans) for value, column in zip(row, columns)]


def fitted(piece: Piece, room: int) -> Piece:
    """A cell in so many columns: of a sparkline the last steps, of a text its beginning and end."""
    text = piece.text[-room:] if piece.role == "spark" else shorten(piece.text, room)
    return piece if text == piece.text else piece._replace(text=text, whole=piece.text)


def cell(value: Any, column: Column, *, nans: bool = False) -> Piece:
    """One cell; a value that is a Piece already stays as it is."""
    if isinstance(value, Piece):
        return value
    if value is None:
        return Piece("quiet", "-" if column.shown != "text" else "")
    if column.shown == "spark":
        return Piece("spark", sparkline(value))
    if column.shown in ("name", "text", "prose", "place") or isinstance(value, str):
        role = {"name": "name", "place": "place"}.get(column.shown, "")
        return Piece(role, clean(str(value), keep=""), of_cell(column, value, nans=nans))
    if column.shown == "bad":
        return Piece("bad" if value else "quiet", number(value), of_cell(column, value, nans=nans))
    if column.shown == "percent":
        return Piece("warning" if value >= 90 else "", f"{value:.0f}" if value in (0, 100) else f"{value:.1f}")
    text = number(value)
    return Piece("bad" if text in ("nan", "inf", "-inf") else "zero" if text == "0" else "", text)
