"""The pane that shows a page, with a border if it has a title: only the lines in view are ever made."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from prompt_toolkit.application import get_app
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.layout.controls import UIContent, UIControl
from prompt_toolkit.mouse_events import MouseEvent, MouseEventType

from ..view.drawn.sheets import Fragments
from ..view.text import display_width, shorten
from .finder import Search
from .pages import Page

if TYPE_CHECKING:
    from prompt_toolkit.key_binding.key_bindings import NotImplementedOrNone

WHEEL = 3  # lines for a turn of the wheel
BORDER = 2  # lines of a border, and columns of its left side


class Pane(UIControl):
    """page: what it shows now. follow: is given the command of a link that is clicked. search: the present one.

    text_of: makes characters that the terminal can show of any. title: gives that of a pane with a border; None where
    there is none.
    """

    def __init__(self, page: Callable[[], Page], follow: Callable[[str], None], search: Callable[[], Search | None],
                 text_of: Callable[[str], str], title: Callable[[], str] | None = None) -> None:
        self._page, self._follow, self._search, self._text_of, self._title = page, follow, search, text_of, title

    def is_focusable(self) -> bool:
        return True

    def create_content(self, width: int, height: int) -> UIContent:
        page = self._page()
        border = BORDER if self._title is not None else 0
        page.sized(width - 1 - border, height - border)
        rows: list[StyleAndTextTuples] = []
        edge = "class:border"
        if self._title is not None and get_app().layout.current_control is self:
            edge = "class:border.focus"
        for row, mark in enumerate(_bar(page, "│" if border else " ")):
            left: StyleAndTextTuples = [(edge, "│ ")] if border else []
            rows.append([*left, *self._line(page, page.top + row), (edge if mark == "│" else "class:bar", mark)])
        if self._title is not None:
            title = shorten(self._title(), max(width - 6, 0))
            rows = [[(edge, "╭─ "), ("class:pane", title), (edge, f" {'─' * (width - 5 - display_width(title))}╮")],
                    *rows, [(edge, f"╰{'─' * (width - 2)}╯")]]
        return UIContent(lambda row: rows[row], line_count=len(rows), show_cursor=False)

    def _line(self, page: Page, at: int) -> StyleAndTextTuples:
        sheet = page.sheet
        if at >= len(sheet):
            return [("", " " * page.width)]
        cells = _cells(sheet.line(at))
        for number, link in enumerate(sheet.links(at)):
            _paint(cells, link.start, link.end, "class:chosen" if page.chosen == (at, number) else "class:link")
        search = self._search()
        if search is not None and search.sheet is sheet:
            text = "".join(char or "\0" for _, char in cells)  # a wide character has two cells
            spans = search.spans(text) or ([(0, len(cells))] if at in search.lines else [])
            for start, end in spans:
                _paint(cells, start, end, "class:found.here" if at == search.at else "class:found")
        return self._cut(cells, page)

    def _cut(self, cells: list[tuple[str, str]], page: Page) -> StyleAndTextTuples:
        """The cells in view, filled up to the width."""
        shown: StyleAndTextTuples = []
        room = page.width
        for style, char in cells[page.pan:]:
            text = self._text_of(char)
            room -= display_width(text)
            if room < 0:
                break
            if shown and shown[-1][0] == style:
                shown[-1] = (style, shown[-1][1] + text)
            else:
                shown.append((style, text))
        used = sum(display_width(text) for _, text, *_ in shown)
        return [*shown, ("", " " * (page.width - used))]

    def mouse_handler(self, mouse_event: MouseEvent) -> "NotImplementedOrNone":
        page = self._page()
        border = BORDER if self._title is not None else 0
        row, column = mouse_event.position.y - border // 2, mouse_event.position.x - border
        at = page.top + row
        if mouse_event.event_type == MouseEventType.SCROLL_UP:
            page.scroll(-WHEEL)
        elif mouse_event.event_type == MouseEventType.SCROLL_DOWN:
            page.scroll(WHEEL)
        elif mouse_event.event_type != MouseEventType.MOUSE_UP:
            return NotImplemented
        elif column >= page.width:
            page.top = 0
            page.scroll(round(row / max(page.height - 1, 1) * (len(page.sheet) - page.height)))
        elif 0 <= row < page.height and at < len(page.sheet):
            for number, link in enumerate(page.sheet.links(at)):
                if link.start <= column + page.pan < link.end:
                    page.chosen = (at, number)
                    self._follow(link.command)
        return None


def _cells(line: Fragments) -> list[tuple[str, str]]:
    """Each character with its style; a link's columns are then its cells."""
    cells = []
    for style, text in line:
        for char in text:
            cells.append((style, char))
            if display_width(char) == 2:
                cells.append((style, ""))
    return cells


def _paint(cells: list[tuple[str, str]], start: int, end: int, style: str) -> None:
    for i in range(start, min(end, len(cells))):
        cells[i] = (f"{cells[i][0]} {style}", cells[i][1])


def _bar(page: Page, blank: str) -> str:
    """The scroll bar, a character for each line; `blank` where all is in view."""
    count, height = len(page.sheet), page.height
    if count <= height:
        return blank * height
    thumb = max(height * height // count, 1)
    top = round(page.top / max(count - height, 1) * (height - thumb))
    return "│" * top + "█" * thumb + "│" * (height - thumb - top)
