"""Results as HTML: for notebooks, and a session as a page."""
from __future__ import annotations

from collections.abc import Iterable
from html import escape

from ..model.results import Result
from .layout import layout
from .text import Line, clean

CSS = {"bold": "font-weight:bold", "underline": "text-decoration:underline", "dim": "opacity:.6", "red": "color:#c33",
       "green": "color:#283", "yellow": "color:#960", "blue": "color:#36c", "cyan": "color:#078",
       "magenta": "color:#939"}
BOX = "font-family:monospace;white-space:pre;line-height:1.25;overflow-x:auto;text-align:left"
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>
<body style="margin:1.5em;max-width:120ch">
{body}
</body></html>
"""


def html(result: Result, styles: dict[str, str], width: int = 110, rows: int = 60) -> str:
    """A result as an element that stands by itself. styles: role -> words of CSS."""
    lines = layout(result, width, rows)
    return f'<div style="{BOX}">' + "\n".join(_line(line, styles) for line in lines) + "</div>"


def session(log: Iterable[tuple[str, Result]], styles: dict[str, str], title: str) -> str:
    """A session as a page: what was typed, what was shown."""
    parts = [f'<div style="{BOX};font-weight:bold;margin-top:1em">(gradbg) {escape(clean(line, keep=""))}</div>\n'
             f"{html(result, styles)}" for line, result in log]
    return PAGE.format(title=escape(title), body="\n".join(parts))


def _line(line: Line, styles: dict[str, str]) -> str:
    pieces = []
    for style, text in line:
        css = ";".join(CSS[word] for word in styles.get(style, "").split() if word in CSS)
        pieces.append(f'<span style="{css}">{escape(text)}</span>' if css else escape(text))
    return "".join(pieces)
