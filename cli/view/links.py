"""Links: the words of a screen that stand for the next sensible command."""
from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..model.results import Column
from .pieces import Line, Piece, text_of

BY_COLUMN = {"variable": "grad {}", "op": "info op {}", "cut at": "info op {}", "value": "print {}",
             "command": "help {}", "alias": "{}"}  # head of a column of names -> what a name in it leads to; else print
_PLACE = re.compile(r"(?<![\w/.])[\w./-]*\w\.py:\d+\b")
_TENSOR = re.compile(r"(?<![\w./:%$])[A-Za-z][\w./-]*:\d+\b|(?<!\w)\$\d+\b")
_TYPED = re.compile(r"\b(?:why (?:nan|none|zero)|info (?:tensors|ops|vars|run|nans|script|watches|breaks)"
                    r"|doctor|help)\b")
_EXAMPLE = re.compile(r"^Example:  (.+)$")
_RANKED = re.compile(r"^\d+\. (\S+)(?= \()")
_WHY = re.compile(r"^no gradient: (\S+):")
_ACTIONS = ("why ", "grad ", "info ", "list ", "print ", "help ", "load ", "train ", "x ", "where ", "path ")


def of_cell(column: Column, value: Any, *, nans: bool) -> str:
    """The command of a cell of a table, or empty. nans: whether its row counts some."""
    if column.shown == "bad":
        return "why nan" if value else ""
    if not isinstance(value, str) or not value or not value.isprintable():
        return ""
    if column.shown == "place":
        return f"list {value}" if _PLACE.fullmatch(value) else ""
    if column.shown != "name" or re.search(r"[\s,]", value):
        return ""
    return BY_COLUMN.get(column.name, "print {}").format(value)


def linked(line: Line) -> Line:
    """A line of prose with its links: lines of the script, tensors, commands that are named."""
    text = text_of(line)
    spans: list[tuple[int, int, str]] = []
    for start, end, command in _in_text(text, any(piece.role == "hint" for piece in line)):
        if all(end <= first or start >= last for first, last, _ in spans):
            spans.append((start, end, command))
    return list(_cut(line, sorted(spans))) if spans else line


def _cut(line: Line, spans: list[tuple[int, int, str]]) -> Iterator[Piece]:
    """The pieces of a line, cut where links begin and end."""
    edges = sorted({edge for start, end, _ in spans for edge in (start, end)})
    at = 0
    for piece in line:
        end = at + len(piece.text)
        stops = [at, *(edge for edge in edges if at < edge < end), end]
        for first, last in zip(stops, stops[1:]):
            command = next((command for start, close, command in spans if start <= first < close), "")
            yield piece._replace(text=piece.text[first - at:last - at], command=command or piece.command)
        at = end


def _in_text(text: str, is_hint: bool) -> Iterator[tuple[int, int, str]]:
    if match := _EXAMPLE.match(text):
        yield match.start(1), match.end(1), match[1]
    if match := _RANKED.match(text):
        yield match.start(1), match.end(1), f"info op {match[1]}"
    bare = text.strip()
    if is_hint and bare.startswith(_ACTIONS) and "," not in bare and ";" not in bare:
        start = len(text) - len(text.lstrip())
        command = bare.partition(" says")[0].partition(" shows")[0].partition(" lists")[0]
        yield start, start + len(command), command
    if match := _WHY.match(text):
        yield match.start(1), match.end(1), f"why {match[1]}"
    for match in _TYPED.finditer(text):
        yield match.start(), match.end(), match[0]
    for match in _PLACE.finditer(text):
        yield match.start(), match.end(), f"list {match[0]}"
    for match in _TENSOR.finditer(text):
        if ".py:" not in match[0]:
            yield match.start(), match.end(), f"print {match[0]}"
