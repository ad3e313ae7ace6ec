"""Roles as rich's styles: the theme of one terminal, and the same styles as words that prompt_toolkit understands."""
from __future__ import annotations

import re
from functools import lru_cache

from rich.color import Color, ColorType
from rich.style import Style
from rich.text import Text

from ..pieces import Line, Piece, style_of

_NAMES = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "gray", "brightblack", "brightred",
          "brightgreen", "brightyellow", "brightblue", "brightmagenta", "brightcyan", "white")  # of prompt_toolkit


REVERSED = Style(reverse=True, bold=True)


class Palette:
    """The styles of one background. marks: cells of grids carry a character for what color says otherwise."""

    def __init__(self, background: str = "dark", *, marks: bool = False) -> None:
        self.background, self.marks = background, marks

    def style(self, role: str) -> Style:
        """A role's style; without colors, what has a ground of its own is reversed."""
        style = _parsed(style_of(role, self.background))
        return REVERSED if self.marks and style.bgcolor is not None else style

    def text(self, line: Line, **how: object) -> Text:
        """A line as rich's text; links and whole names go along as Style.meta."""
        text = Text(**how)  # type: ignore[arg-type]
        for piece in line:
            text.append(piece.text, self.of(piece))
            for lost in re.finditer("!+", piece.text if piece.role == "spark" else ""):  # steps that are not finite
                text.stylize(self.style("bad"), len(text) - len(piece.text) + lost.start(),
                             len(text) - len(piece.text) + lost.end())
        return text

    def of(self, piece: Piece) -> Style:
        """The style of a piece, with what it leads to."""
        style = self.style(piece.role)
        if piece.command or piece.whole:
            style += Style(meta={"command": piece.command, "whole": piece.whole})
        return style


@lru_cache(maxsize=256)
def _parsed(words: str) -> Style:
    return Style.parse(words) if words else Style()


@lru_cache(maxsize=4096)
def fragment_style(style: Style | None) -> str:
    """A style in prompt_toolkit's words."""
    if style is None:
        return ""
    words = [_color("fg", style.color), _color("bg", style.bgcolor), "bold" * bool(style.bold),
             "underline" * bool(style.underline), "italic" * bool(style.italic), "reverse" * bool(style.reverse)]
    return " ".join(word for word in words if word)


def _color(ground: str, color: Color | None) -> str:
    if color is None or color.type == ColorType.DEFAULT:
        return ""
    if color.number is not None and color.number < 16:
        return f"{ground}:ansi{_NAMES[color.number]}"
    return f"{ground}:{color.get_truecolor().hex}"


@lru_cache(maxsize=4096)
def style_of_fragment(words: str) -> Style:
    """The style that prompt_toolkit's words stand for, as fragment_style writes them."""
    colors = {word[:2]: word[3:] for word in words.split() if word[2:3] == ":"}
    return Style(color=_known(colors.get("fg", "")), bgcolor=_known(colors.get("bg", "")), bold="bold" in words,
                 underline="underline" in words, italic="italic" in words, reverse="reverse" in words)


def _known(color: str) -> Color | None:
    if color.startswith("#"):
        return Color.parse(color)
    return Color.from_ansi(_NAMES.index(color[4:])) if color[4:] in _NAMES else None
