"""Links: the words of a screen that stand for the next sensible command."""
from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..model.results import Column
from ..view.tables import TableLines
from ..view.text import Line, display_width
from .command import COMMANDS

BY_COLUMN = {"variable": "grad {}", "op": "info op {}", "cut at": "info op {}", "value": "print {}", "cmd": "help {}",
             "alias": "{}"}  # head of a column of names -> what a name in it leads to; without a row here, print
_PLACE = re.compile(r"(?<![\w/.])[\w./-]*\w\.py:\d+\b")
_TENSOR = re.compile(r"(?<![\w./:%$])[A-Za-z][\w./-]*:\d+\b|(?<!\w)\$\d+\b")
_TYPED = re.compile(r"\b(?:why (?:nan|none|zero)|info (?:tensors|ops|vars|run|nans|script|watches|breaks)"
                    r"|doctor|help)\b")
_HELP = re.compile(r"^  ([a-z]+)(?:, [a-z?.!]+)*(?=  )")
_EXAMPLE = re.compile(r"^Example:  (.+)$")
_RANKED = re.compile(r"^\d+\. (\S+)(?= \()")
_WHY = re.compile(r"^no gradient: (\S+):")
_ACTIONS = ("why ", "grad ", "info ", "list ", "print ", "help ", "load ", "train ", "x ", "where ", "path ")


class Link(NamedTuple):
    """Columns start to end of a line lead to a command."""

    start: int
    end: int
    command: str


def links_of_row(lines: TableLines, at: int) -> list[Link]:
    """Links of a row of a table: its names and places, and counts of nan and inf."""
    row = lines.row_at(at)
    if row is None:
        return links_of_text(lines.line(at))
    nans = any(row[i] for i, c in enumerate(lines.table.columns) if c.shown == "bad")
    found = []
    for column, place, start, end in lines.spans():
        command = _of_cell(column, row[place], nans=nans)
        if command:
            shown = display_width(str(row[place]))
            left = max(end - shown, start) if column.shown == "bad" else start + (0 if place else len(lines.lead(at)))
            found.append(Link(left, min(left + shown, end), command))
    return found


def _of_cell(column: Column, value: Any, *, nans: bool) -> str:
    if column.shown == "bad":
        return "why nan" if value else ""
    if not isinstance(value, str) or not value or not value.isprintable():
        return ""
    if column.shown == "place":
        return f"list {value}" if _PLACE.fullmatch(value) else ""
    if column.shown != "name" or re.search(r"[\s,]", value):
        return ""
    return BY_COLUMN.get(column.name, "print {}").format(value)


def links_of_text(line: Line) -> list[Link]:
    """Links in a line of prose: lines of the script, tensors, commands that are named."""
    text = "".join(part for _, part in line)
    found: list[Link] = []
    for start, end, command in _in_text(text, "hint" in {style for style, _ in line}):
        left = display_width(text[:start])
        right = left + display_width(text[start:end])
        if all(right <= link.start or left >= link.end for link in found):
            found.append(Link(left, right, command))
    return sorted(found)


def _in_text(text: str, is_hint: bool) -> Iterator[tuple[int, int, str]]:
    if match := _EXAMPLE.match(text):
        yield match.start(1), match.end(1), match[1]
    if (match := _HELP.match(text)) and match[1] in COMMANDS:
        yield match.start(1), match.end(1), f"help {match[1]}"
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
