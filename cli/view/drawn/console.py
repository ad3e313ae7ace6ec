"""rich's console, as it must be for names that are data and screens that are not asked: one place where it is made."""
from __future__ import annotations

import io
from collections.abc import Iterable
from html import escape
from typing import Any

from rich.console import Console
from rich.segment import Segment
from rich.text import Text

from ...model.results import Result
from ..pieces import Piece
from ..text import clean
from .palette import Palette, style_of_fragment
from .renderables import Shown

HEIGHT = 10_000  # lines that a console thinks it has: pages are ours
BOX = '<div style="font-family:monospace;white-space:pre;line-height:1.25;overflow-x:auto;text-align:left">{code}</div>'
PAGE = f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{{title}}</title></head>
<body style="margin:1.5em;max-width:120ch">
{BOX}
</body></html>
"""


def console(width: int, *, colors: str = "", record: bool = False) -> Console:
    """A console that writes into a string. colors: "", "standard", "256" or "truecolor"."""
    system: Any = colors or None
    return Console(file=io.StringIO(), width=width, height=HEIGHT, force_terminal=bool(colors), color_system=system,
                   force_jupyter=False,  # else it shows by itself what is to be a string
                   no_color=not colors, highlight=False, markup=False, emoji=False, legacy_windows=False,
                   record=record, safe_box=False, _environ={})


def drawn(result: Result, width: int = 100, rows: int | None = None, *, colors: str = "", background: str = "dark"
          ) -> str:
    """A result as a terminal of that width shows it. colors: as of `console`."""
    made = console(width, colors=colors)
    made.print(Shown(result, Palette(background, marks=not colors), rows), end="", crop=False)
    text = made.file.getvalue()  # type: ignore[attr-defined]
    return text if colors else "".join(line.rstrip() + "\n" for line in text.split("\n")[:-1])


def segments(renderable: Any, width: int) -> list[list[Segment]]:
    """Lines of what is drawn, unpadded, with roles as styles and links as their meta."""
    made = console(width, colors="truecolor")
    return made.render_lines(renderable, made.options.update(width=width), pad=False)


def exported(log: list[tuple[str, Result]], title: str, kind: str, width: int = 100, rows: int = 60) -> str:
    """A session as a picture: what was typed and what was shown. kind: "svg" or "html"."""
    palette = Palette("dark" if kind == "svg" else "light")
    made = console(width, colors="truecolor", record=True)
    for at, (line, result) in enumerate(log):
        if at:
            made.print()
        made.print(palette.text([Piece("prompt", f"(gradbg) {clean(line, keep='')}")]))
        made.print(Shown(result, palette, rows), end="")
    return _picture(made, title, kind)


def pictured(lines: Iterable[list[tuple[str, str]]], title: str, width: int) -> str:
    """A screen as an SVG picture. lines: of pieces, each a style in prompt_toolkit's words and a text."""
    made = console(width, colors="truecolor", record=True)
    for line in lines:
        made.print(Text.assemble(*((text, style_of_fragment(words)) for words, text in line)), no_wrap=True)
    return _picture(made, title, "svg")


def _picture(made: Console, title: str, kind: str) -> str:
    title = clean(title, keep="")
    return made.export_svg(title=title) if kind == "svg" else made.export_html(
        inline_styles=True, code_format=PAGE.replace("{title}", escape(title)))


def html(result: Result, width: int = 110, rows: int = 60) -> str:
    """A result as an element that stands by itself, for notebooks."""
    made = console(width, colors="truecolor", record=True)
    made.print(Shown(result, Palette("light"), rows), end="")
    return made.export_html(inline_styles=True, code_format=BOX)
