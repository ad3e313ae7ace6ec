"""The full screen itself: panes, bars, command line, and what happens between them."""
from __future__ import annotations

import asyncio
import contextlib
import io
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from prompt_toolkit.application import Application
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import ThreadedCompleter
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import Condition
from prompt_toolkit.output import ColorDepth

from ..language.interpreter import execute, typed
from ..language.parse import parse
from ..model.results import Result, Text, leaves
from ..model.script_signals import heed_ctrl_c
from ..model.shell import Shell
from ..model.usage_error import UsageError
from ..view.drawn.palette import Palette
from ..view.render import encodable
from ..view.status_line import progress, status
from .frame import Frame, style_sheet
from .keys import bindings
from .line_prompt import CommandCompleter, history_of_lines
from .pages import Page, Pages
from .pane import Pane
from .search import Search
from .worker import Printed, Worker

DEPTHS = {"": ColorDepth.DEPTH_1_BIT, "standard": ColorDepth.DEPTH_4_BIT, "256": ColorDepth.DEPTH_8_BIT,
          "truecolor": ColorDepth.DEPTH_24_BIT}
TICK = 0.2  # seconds between looks at a command that runs


class FullScreen:
    """Everything on the screen. note: is told each result, and says whether to leave.

    pages: what was shown. beside: the help page that is open beside, or None. message: the last word to the user.
    """

    def __init__(self, shell: Shell, note: Callable[[Result], bool], *, colors: str, background: str = "dark",
                 encoding: str = "utf-8") -> None:
        self.shell, self._note = shell, note
        self.palette = Palette(background, marks=not colors)
        self.pages = Pages()
        self.beside: Page | None = None
        self.message = self._about = ""
        self.search: Search | None = None
        self._searching: asyncio.Task[None] | None = None
        self._began = 0.0
        self._failure: BaseException | None = None
        self._running: Page | None = None
        self.way = ""  # "/" or "?" while a pattern is typed
        self.text_of: Callable[[str], str] = _Encoder(encoding)
        self.worker = Worker(lambda line: execute(line, shell), self._told)
        self.line = Buffer(history=history_of_lines(), auto_suggest=AutoSuggestFromHistory(), multiline=False,
                           completer=ThreadedCompleter(CommandCompleter(shell)), complete_while_typing=False,
                           enable_history_search=True, accept_handler=self._accept, tempfile_suffix=".gradbg")
        self.pattern = Buffer(multiline=False, accept_handler=self._accept_pattern)
        self.pane = Pane(lambda: self.page, self.follow, lambda: self.search, self.text_of)
        self.side = Pane(lambda: self.beside or self.page, self.follow, lambda: None, self.text_of)
        self.frame = Frame(self)
        self.app: Application[None] = Application(
            self.frame.layout, key_bindings=bindings(self), style=style_sheet(self.palette), full_screen=True,
            mouse_support=Condition(lambda: bool(shell.settings["mouse"])),
            color_depth=DEPTHS[colors], editing_mode=self._editing(),
            enable_page_navigation_bindings=False)
        self.app.ttimeoutlen = 0.05  # seconds that a lone Escape is waited for

    @property
    def page(self) -> Page:
        return self.pages.page

    def run(self, shown: list[tuple[str, Result]]) -> None:
        """Stay until the user leaves. shown: results to begin with."""
        heed_ctrl_c()
        for command, result in shown:
            self._show(Page(command, result, self.palette))
        self._about = status(self.shell)
        printed = Printed(self._print)
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed), _no_input():
            screen = threading.Thread(target=self._shown, name="screen", daemon=True)
            screen.start()
            self.worker.work()
            screen.join()
        if self._failure is not None:
            raise self._failure

    def _shown(self) -> None:
        """The screen's own thread: the commands have the main one, which signals reach."""
        try:
            self.app.run(pre_run=self._started)
        except BaseException as error:  # it is raised where the screen was opened
            self._failure = error
        finally:
            self.worker.close()

    def _started(self) -> None:
        self.app.create_background_task(self._tick())

    async def _tick(self) -> None:
        """Keep the status of a running command fresh."""
        while True:
            await asyncio.sleep(TICK)
            if self.worker.busy:
                self.app.invalidate()

    # ---- commands -----------------------------------------------------------------------
    def _accept(self, buffer: Buffer) -> bool:
        """Enter on the command line; True keeps the text."""
        text = buffer.text
        self.app.vi_state.reset()  # the next line begins with typing, as at a prompt
        if text.startswith("@"):
            self._jump(text)
            return False
        lines = [line for line in text.splitlines() if line.strip()] or [""]
        for line in lines[:1 if not text.strip() else None]:
            line = typed(line, self.shell)
            if line.strip():
                self.do(line)
        return False

    def do(self, line: str) -> None:
        """Run a command line, behind those that still run."""
        self.message = ""
        if not self.worker.busy:
            self._began = time.monotonic()
            self._running = Page(line, None, self.palette)
        self.worker.submit(line)
        self.app.invalidate()

    def follow(self, command: str) -> None:
        """Run the command of a link."""
        if self.worker.busy:
            self.message = "a command runs; Ctrl-C stops it"
            return
        self.shell.lines.append(command)
        self.line.history.append_string(command)
        self.do(command)

    def interrupt(self) -> None:
        self.message = "stopping" if self.worker.interrupt() else "Ctrl-D or quit leaves"

    def _told(self, line: str, result: Result) -> None:
        """A result is there (in the thread of the commands)."""
        about = status(self.shell)
        loop = self.app.loop
        if loop is not None:
            loop.call_soon_threadsafe(self._arrived, line, result, about)

    def _arrived(self, line: str, result: Result, about: str) -> None:
        page = self._running if self._running is not None else Page(line, None, self.palette)
        self._running = None
        page.command, page.result = line, result
        self._about, self.message = about, ""
        self.app.editing_mode = self._editing()
        command = parse(line, self.shell).command
        if command is not None and command.name == "help" and isinstance(result, Text):
            self.show_beside(page)
        elif result != Text() or page.printed:
            self._show(page)
        if self._note(result) or leaves(result):
            self.app.exit()
        self.app.invalidate()

    def _show(self, page: Page) -> None:
        if page is not self.page:
            self.pages.open(page)
        if page.printed:
            page.home()
            page.show(min(len(page.printed), len(page.sheet)) - 1)

    def _print(self, text: str) -> None:
        """What the script prints, in whatever thread."""
        loop = self.app.loop
        if loop is not None and text:
            loop.call_soon_threadsafe(self._printed, text)

    def _printed(self, text: str) -> None:
        page = self._running or self.page
        page.printed_more(text)
        if page is self._running and page is not self.page:
            self.pages.open(page)
        self.app.invalidate()

    def _editing(self) -> EditingMode:
        return EditingMode.VI if self.shell.settings["editing"] == "vi" else EditingMode.EMACS

    # ---- going about --------------------------------------------------------------------
    def turn(self, by: int) -> None:
        """Go a page back or forward."""
        if not self.pages.turn(by):
            self.message = "this is the first page" if by < 0 else "this is the last page"
        else:
            self.message = ""
            self.search = None

    def show_beside(self, page: Page) -> None:
        self.beside = page

    def close_beside(self) -> None:
        self.beside = None

    def _jump(self, text: str) -> None:
        try:
            self.message = self.page.jump(text)
        except UsageError as error:
            self.message = f"{error.message}: {error.hint}"

    # ---- search -------------------------------------------------------------------------
    def begin_search(self, way: str) -> None:
        self.way, self.message = way, ""
        self.pattern.reset()
        self.app.layout.focus(self.pattern)

    def end_search(self) -> None:
        self.way = ""
        self.app.layout.focus(self.frame.pane)

    def _accept_pattern(self, buffer: Buffer) -> bool:
        way, pattern = self.way, buffer.text or (self.search.pattern if self.search else "")
        self.end_search()
        if pattern:
            self.search = Search(pattern, self.page.sheet, backward=way == "?")
            if self._searching is not None:
                self._searching.cancel()
            self._searching = self.app.create_background_task(self._look(self.search, self.page))
        return False

    async def _look(self, search: Search, page: Page) -> None:
        """Search in slices, so that keys are answered meanwhile; the first line found is shown at once."""
        for found in search.look(page.top):
            if found is None:
                await asyncio.sleep(0)
            elif search.at is None:
                search.at = found
                search.wrapped = found < page.top if not search.backward else found > page.top
                page.show(found)
                self.app.invalidate()
        self.message = str(search)
        self.app.invalidate()

    def again(self, way: int) -> None:
        """The next line found, or the one before."""
        if self.search is None or self.search.sheet is not self.page.sheet:
            self.message = "nothing was searched for on this page: / searches"
            return
        found = self.search.move(way)
        if found is not None:
            self.page.show(found)
        self.message = str(self.search)

    # ---- what the bars say --------------------------------------------------------------
    def running(self) -> str:
        """What runs, for how long, and how far it is; "" if nothing does."""
        if not self.worker.busy:
            return ""
        seconds = time.monotonic() - self._began
        if seconds < TICK:
            return " "
        verb = parse(self.worker.busy, self.shell).verb.text
        return f"{verb} runs, {seconds:.0f} s  |  {progress(self.shell)}  |  Ctrl-C stops"

    def about(self) -> str:
        """The status when nothing runs."""
        return self._about


@contextlib.contextmanager
def _no_input() -> Iterator[None]:
    """The keyboard belongs to the screen: a script that reads standard input finds its end."""
    saved: Any = sys.stdin
    sys.stdin = io.StringIO()
    try:
        yield
    finally:
        sys.stdin = saved


class _Encoder(dict[str, str]):
    """character -> what the terminal can show of it."""

    def __init__(self, encoding: str) -> None:
        super().__init__()
        self._encoding = encoding

    def __call__(self, char: str) -> str:
        if char not in self:
            self[char] = encodable(char, self._encoding)
        return self[char]
