"""What the full screen shows, as a picture."""
from __future__ import annotations

from itertools import groupby

from prompt_toolkit.renderer import Renderer

from ..view.drawn.console import pictured
from ..view.drawn.sheets import Fragments


def photograph(renderer: Renderer, title: str) -> str:
    """The screen that was drawn last, as SVG; empty if none was."""
    screen = renderer.last_rendered_screen
    if screen is None:
        return ""
    size = renderer.output.get_size()
    lines: list[Fragments] = []
    for row in range(size.rows):
        cells = [screen.data_buffer[row][column] for column in range(size.columns)]
        lines.append([(_words(renderer, style), "".join(cell.char for cell in run))
                      for style, run in groupby(cells, lambda cell: cell.style)])
    return pictured(lines, title, size.columns)


def _words(renderer: Renderer, style: str) -> str:
    """A style, its classes looked up."""
    found = renderer.style.get_attrs_for_style_str(style)
    colors = (f"{ground}:{color if color.startswith('ansi') else f'#{color}'}"
              for ground, color in (("fg", found.color), ("bg", found.bgcolor)) if color)
    flags = (name for name in ("bold", "underline", "italic", "reverse") if getattr(found, name))
    return " ".join((*colors, *flags))
