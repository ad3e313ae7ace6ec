"""A line to be drawn, before anybody knows by whom: pieces with a role, a text and the command it leads to.

A style is words that rich understands. Colors by name follow the terminal's own palette; those by number are brought
down to 256 or 16 colors by rich where the terminal has no more. Nothing is told by color alone.
"""
from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

ROLES = {  # role -> its style on dark, and on light where that differs
    "": ("",), "title": ("bold",), "head": ("bold",),
    "rule": ("#5c6773", "#a0a8b0"),
    "name": ("cyan", "color(24)"), "place": ("magenta",), "zero": ("bright_black",), "bad": ("bold white on red",),
    "good": ("green",), "warning": ("yellow", "color(130)"), "error": ("bold red",), "hint": ("green",),
    "quiet": ("bright_black", "color(240)"), "spark": ("blue",), "stop": ("bold yellow", "bold color(130)"),
    "current": ("bold yellow", "bold color(130)"), "cause": ("bold red",), "armed": ("red",),
    "heat1": ("#8fa3b0", "#7d8f9a"),  # the least quarter of the magnitudes
    "heat2": ("#d8d8d8", "#404040"),
    "heat3": ("#e8b84a", "#a06a00"),
    "heat4": ("bold #ff7a45", "bold #c03000"),
    "warm": ("red",), "cold": ("blue",), "link": ("underline",), "chosen": ("reverse bold",),
    "found": ("reverse",), "found.here": ("reverse bold underline",),
    "bar": ("#8a96a3", "#7a8490"),
    "border": ("#5c6773", "#a0a8b0"),
    "border.focus": ("bold cyan", "bold color(24)"), "pane": ("bold cyan", "bold color(24)"),
    "top": ("#e4e8ee on #2c3744", "#20262e on #d4dbe4"),
    "keys": ("",),
    "status": ("#e4e8ee on #2c3744", "#20262e on #d4dbe4"),
    "message": ("bold #ffd580 on #2c3744", "bold #8a4b00 on #d4dbe4"),
    "prompt": ("bold",)}
CODE_THEMES = {"dark": "ansi_dark", "light": "ansi_light"}  # pygments' colors for source, by name of the terminal's


class Piece(NamedTuple):
    """role: how it is drawn, of ROLES. command: what a link in a screen runs, or empty.

    shade: for cells of a grid, a character that says in black and white what color says otherwise, or empty.
    whole: the text before it was shortened, where it was.
    """

    role: str
    text: str
    command: str = ""
    shade: str = ""
    whole: str = ""


Line = list[Piece]


class Paragraph(NamedTuple):
    """A line of prose, broken between words where the screen ends.

    indent: columns before it. hang: columns before what follows its first line.
    """

    line: Line
    indent: int = 0
    hang: int = 0


@dataclass(frozen=True)
class Prose:
    """Paragraphs, one below the other."""

    paragraphs: tuple[Paragraph, ...]


@dataclass(frozen=True)
class Drawing:
    """Lines whose columns belong below each other: they are never broken."""

    lines: tuple[Line, ...]


def text_of(line: Iterable[Piece]) -> str:
    """A line without its roles."""
    return "".join(piece.text for piece in line)


def add(line: Line, role: str, text: str) -> None:
    """Put a text at the end of a line, joined to the last piece if that has the same role."""
    if line and line[-1].role == role and not line[-1].command:
        line[-1] = Piece(role, line[-1].text + text)
    else:
        line.append(Piece(role, text))


def style_of(role: str, background: str = "dark") -> str:
    """The words of a role's style; an unknown role has none."""
    styles = ROLES.get(role, ("",))
    return styles[-1 if background == "light" else 0]


def background_of(environment: "os._Environ[str] | dict[str, str]") -> str:
    """What COLORFGBG says of the terminal, as xterm, rxvt and konsole set it; dark if nothing is said."""
    last = environment.get("COLORFGBG", "").rpartition(";")[2]
    return "light" if last in ("7", "15") else "dark"
