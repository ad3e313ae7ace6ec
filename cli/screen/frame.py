"""Where everything stands on the screen: bars above, panes and page in the middle, status and command line below."""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from prompt_toolkit import layout
from prompt_toolkit.filters import Condition, has_focus
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.layout.menus import CompletionsMenu
from prompt_toolkit.layout.processors import AppendAutoSuggestion, BeforeInput
from prompt_toolkit.mouse_events import MouseEvent, MouseEventType
from prompt_toolkit.styles import Style
from prompt_toolkit.widgets import SearchToolbar

from ..view.drawn.palette import Palette, fragment_style
from ..view.panes import NAMES
from ..view.pieces import ROLES
from ..view.render import encodable
from ..view.text import clean, display_width, shorten
from .lexer import CommandLexer
from .line_prompt import PROMPT
from .pages import Page
from .pane import BORDER, Pane

if TYPE_CHECKING:
    from .app import FullScreen

ROOMY = 110  # columns from which on help opens at the right rather than below
MENU = (("F1", "help", "help"), ("F2", "grads", "grads"), ("F3", "tensors", "info tensors"),
        ("F4", "vars", "info vars"), ("F5", "next", "next"), ("F6", "pane", ""),
        ("F7", "why nan", "why nan"), ("F8", "go on", "continue"))  # a key, its word, its command
UPPER, LOWER = Dimension(weight=9), Dimension(weight=11)  # heights of panes and page
LEAST = 4  # lines of a pane with its border
WIDER, NARROWER = Dimension(weight=3), Dimension(weight=2)  # widths of source and figures


def style_sheet(palette: Palette) -> Style:
    """All roles as classes of prompt_toolkit."""
    roles = {name: fragment_style(palette.style(name)) for name in ROLES if name}
    return Style.from_dict(roles)


class Frame:
    """The layout. pane: window of the page; side: of what is beside it; panes: others by name; line: of typing."""

    def __init__(self, screen: "FullScreen") -> None:
        self._screen = screen
        self._arranged: dict[tuple[tuple[str, ...], str], Any] = {}
        self.pane, self.side = map(layout.Window, (
            Pane(lambda: screen.page, screen.follow, lambda: screen.finder.search, screen.text_of),
            Pane(lambda: screen.beside or screen.page, screen.follow, lambda: None, screen.text_of)))
        self.panes = {name: self._beside(name) for name in NAMES}
        found = SearchToolbar(vi_mode=False)
        self.line = layout.Window(
            layout.BufferControl(screen.line, input_processors=[BeforeInput(self._prompt), AppendAutoSuggestion()],
                                 search_buffer_control=found.control, preview_search=True,
                                 lexer=CommandLexer(screen.shell)),
            height=Dimension(min=1, max=4), wrap_lines=True, dont_extend_height=True)
        pattern = layout.Window(layout.BufferControl(
            screen.finder.pattern, input_processors=[BeforeInput(lambda: screen.finder.way)]), height=1)
        asks = Condition(lambda: bool(screen.finder.way))
        body = layout.HSplit([
            layout.Window(layout.FormattedTextControl(self._top), height=1, style="class:top"),
            layout.Window(layout.FormattedTextControl(self._menu), height=1), layout.DynamicContainer(self._middle),
            layout.Window(layout.FormattedTextControl(self._status), height=1, style="class:status"),
            found, layout.ConditionalContainer(pattern, asks),
            layout.ConditionalContainer(self.line, ~asks)])
        menu = CompletionsMenu(max_height=10, scroll_offset=1, extra_filter=has_focus(screen.line))
        above = layout.Float(menu, xcursor=True, ycursor=True)
        self.layout = layout.Layout(layout.FloatContainer(body, [above]), self.line)

    def windows(self) -> list[layout.Window]:
        """The windows that keys may go to, in the order of going round."""
        side = [self.side] if self._screen.beside is not None else []
        return [self.line, self.pane, *side, *(self.panes[name] for name in self._screen.panes.open)]

    def page_of_keys(self) -> Page | None:
        """The page of the window that has the keys; None at the command line."""
        screen, focused = self._screen, self._screen.app.layout.has_focus
        if focused(self.pane):
            return screen.page
        if focused(self.side):
            return screen.beside
        return next((screen.panes.pages[name] for name, window in self.panes.items() if focused(window)), None)

    def page_moved(self) -> Page:
        """The page that keys move: that of the window that has them, else the answer's."""
        return self.page_of_keys() or self._screen.page

    def _middle(self) -> Any:
        beside = "" if self._screen.beside is None else "right" if self._columns() >= ROOMY else "below"
        key = self._screen.panes.open, beside
        if key not in self._arranged:
            self._arranged[key] = self._arrange(*key)
        return self._arranged[key]

    def _arrange(self, names: tuple[str, ...], beside: str) -> Any:
        page: Any = self.pane
        if beside == "right":
            bar = layout.Window(width=1, char=self._screen.text_of("│"), style="class:bar")
            page = layout.VSplit([page, bar, self.side])
        elif beside:
            bar = layout.Window(height=1, char=self._screen.text_of("─"), style="class:bar")
            page = layout.HSplit([page, bar, self.side])
        if not names:
            return page
        figures = [self.panes[name] for name in names if name != "source"]
        columns: list[Any] = [layout.VSplit([self.panes["source"]], width=WIDER)] if "source" in names else []
        columns += [layout.HSplit(figures, width=NARROWER)] if figures else []
        return layout.HSplit([layout.VSplit(columns, height=UPPER), layout.HSplit([page], height=LOWER)])

    def _beside(self, name: str) -> layout.Window:
        """A pane with its title; the last one has the room that those above it do not need."""
        screen = self._screen
        page = screen.panes.pages[name]

        def height() -> Dimension:
            if name in screen.panes.open[-1:]:
                return Dimension(min=LEAST)
            return Dimension(min=LEAST, max=max(len(page.sheet) + BORDER, LEAST), weight=2)

        pane = Pane(lambda: page, screen.follow, lambda: None, screen.text_of, lambda: page.command)
        return layout.Window(pane, height=height)

    def _columns(self) -> int:
        return self._screen.size()[0]

    def _prompt(self) -> StyleAndTextTuples:
        if self._screen.asks:
            return [("class:prompt", "the script asks: ")]
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
            click = _click(partial(self._screen.follow, command) if command else self.go_round)
            pieces += [("class:quiet", f"  {key} ", click), ("class:keys", name, click)]
        return pieces

    def go_round(self) -> None:
        """Give the keys to the next window."""
        windows, shown = self.windows(), self._screen.app.layout
        here = next((i for i, window in enumerate(windows) if shown.has_focus(window)), 0)
        shown.focus(windows[(here + 1) % len(windows)])

    def _status(self) -> StyleAndTextTuples:
        screen = self._screen
        page = self.page_moved()
        last = min(page.top + page.height, len(page.sheet))
        where = f"lines {page.top + 1}-{last} of {len(page.sheet)} " if len(page.sheet) > page.height else ""
        running = screen.running()
        link = page.link()
        is_chosen = link is not None and self.page_of_keys() is not None
        left = screen.message or running.strip() or (f"Enter: {link.command}" if link and is_chosen else "")
        style = "class:message" if screen.message or running.strip() else ""
        left = left or screen.about
        room = max(self._columns() - len(where) - 2, 0)
        left = clean(left, keep="")
        left = left if display_width(left) <= room else left[:room - 1] + "…"
        return [(style, " " + "".join(map(screen.text_of, left))), ("", " " * (room - len(left)) + " " + where)]


def _click(do: Callable[[], None]) -> Callable[[MouseEvent], None]:
    def handle(event: MouseEvent) -> None:
        if event.event_type == MouseEventType.MOUSE_UP:
            do()
    return handle


class Encoder(dict[str, str]):
    """character -> what the terminal can show of it."""

    def __init__(self, encoding: str) -> None:
        super().__init__()
        self._encoding = encoding

    def __call__(self, char: str) -> str:
        if char not in self:
            self[char] = encodable(char, self._encoding)
        return self[char]
