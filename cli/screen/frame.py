"""Where everything stands on the screen: bars above, pages in the middle, status and command line below."""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from prompt_toolkit.filters import Condition, has_focus
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.layout import (
    BufferControl,
    ConditionalContainer,
    DynamicContainer,
    Float,
    FloatContainer,
    FormattedTextControl,
    HSplit,
    Layout,
    VSplit,
    Window,
)
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.layout.menus import CompletionsMenu
from prompt_toolkit.layout.processors import AppendAutoSuggestion, BeforeInput
from prompt_toolkit.mouse_events import MouseEvent, MouseEventType
from prompt_toolkit.styles import Style
from prompt_toolkit.widgets import SearchToolbar

from ..view.drawn.palette import Palette, fragment_style
from ..view.roles import ROLES
from ..view.text import clean, display_width, shorten
from .lexer import CommandLexer
from .line_prompt import PROMPT

if TYPE_CHECKING:
    from .app import FullScreen

ROOMY = 110  # columns from which on help opens at the right rather than below
MENU = (("F1", "help", "help"), ("F2", "grads", "grads"), ("F3", "tensors", "info tensors"),
        ("F4", "vars", "info vars"), ("F5", "next", "next"), ("F6", "go on", "continue"),
        ("F7", "why nan", "why nan"), ("F8", "source", "list"))


def style_sheet(palette: Palette) -> Style:
    """All roles as classes of prompt_toolkit."""
    return Style.from_dict({name: fragment_style(palette.style(name)) for name in ROLES if name})


class Frame:
    """The layout. pane, side: the windows of the page and of what is beside it; line: that of the command line."""

    def __init__(self, screen: "FullScreen") -> None:
        self._screen = screen
        self.pane = Window(screen.pane, wrap_lines=False)
        self.side = Window(screen.side, wrap_lines=False)
        found = SearchToolbar(vi_mode=False)
        self.line = Window(
            BufferControl(screen.line, input_processors=[BeforeInput(self._prompt), AppendAutoSuggestion()],
                          search_buffer_control=found.control, preview_search=True, lexer=CommandLexer(screen.shell)),
            height=Dimension(min=1, max=4), wrap_lines=True, dont_extend_height=True)
        pattern = Window(BufferControl(screen.pattern, input_processors=[BeforeInput(lambda: screen.way)]), height=1)
        asks = Condition(lambda: bool(screen.way))
        body = HSplit([
            Window(FormattedTextControl(self._top), height=1, style="class:top"),
            Window(FormattedTextControl(self._menu), height=1),
            DynamicContainer(self._middle),
            Window(FormattedTextControl(self._status), height=1, style="class:status"),
            found,
            ConditionalContainer(pattern, asks),
            ConditionalContainer(self.line, ~asks),
        ])
        menu = CompletionsMenu(max_height=10, scroll_offset=1, extra_filter=has_focus(screen.line))
        self.layout = Layout(FloatContainer(body, [Float(menu, xcursor=True, ycursor=True)]), self.line)
        self._right = VSplit([self.pane, Window(width=1, char=screen.text_of("│"), style="class:bar"), self.side])
        self._below = HSplit([self.pane, Window(height=1, char=screen.text_of("─"), style="class:bar"), self.side])

    def _middle(self) -> Any:
        if self._screen.beside is None:
            return self.pane
        return self._right if self._columns() >= ROOMY else self._below

    def _columns(self) -> int:
        return self._screen.app.output.get_size().columns

    def _prompt(self) -> StyleAndTextTuples:
        return [("class:prompt", "> " if self._screen.shell.defining else PROMPT)]

    def _top(self) -> StyleAndTextTuples:
        screen = self._screen
        at, count = screen.pages.position
        room = max(self._columns() - 18 - len(str(at)) - len(str(count)), 8)
        title = shorten(clean(screen.page.command, keep="") or "gradbg", room)
        text = screen.text_of
        return [("", " "), ("", text("◀"), _click(lambda: screen.turn(-1))), ("", " "),
                ("", text("▶"), _click(lambda: screen.turn(1))), ("", f" {at}/{count}  "), ("bold", title)]

    def _menu(self) -> StyleAndTextTuples:
        pieces: StyleAndTextTuples = []
        for key, name, command in MENU:
            follow = _click(partial(self._screen.follow, command))
            pieces += [("class:quiet", f" {key} ", follow), ("class:menu underline", name, follow)]
        return pieces

    def _status(self) -> StyleAndTextTuples:
        screen = self._screen
        page = screen.page
        last = min(page.top + page.height, len(page.sheet))
        where = f"lines {page.top + 1}-{last} of {len(page.sheet)} " if len(page.sheet) > page.height else ""
        running = screen.running()
        link = page.link()
        left = screen.message or running.strip() or (f"Enter: {link.command}" if link and self._in_page() else "")
        style = "class:message" if screen.message or running.strip() else ""
        left = left or screen.about()
        room = max(self._columns() - len(where) - 2, 0)
        left = clean(left, keep="")
        left = left if display_width(left) <= room else left[:room - 1] + "…"
        return [(style, " " + "".join(map(screen.text_of, left))), ("", " " * (room - len(left)) + " " + where)]

    def _in_page(self) -> bool:
        return self._screen.app.layout.has_focus(self.pane)


def _click(do: Callable[[], None]) -> Callable[[MouseEvent], None]:
    def handle(event: MouseEvent) -> None:
        if event.event_type == MouseEventType.MOUSE_UP:
            do()
    return handle
