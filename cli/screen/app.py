"""The full screen itself: pages and panes, the command line, and what happens between them."""
from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from prompt_toolkit.application import Application, get_app_session
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import ThreadedCompleter
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import Condition
from prompt_toolkit.output import ColorDepth, create_output

from autodiff.debug.facts.records import Place

from ..language.interpreter import execute, typed
from ..language.parse import parse
from ..model.hearing import Hearing
from ..model.results import Card, Group, Result, Text, error_in, leaves, question_in
from ..model.script_signals import heed_ctrl_c
from ..model.shell import Shell
from ..model.terminal import Terminal
from ..model.usage_error import UsageError
from ..view.drawn.palette import Palette
from ..view.first_page import briefly
from ..view.panes import cause_of, panes
from ..view.status_line import progress, status
from .asking import END, Asking, taken_over
from .captured import own_terminal
from .finder import Finder
from .frame import Encoder, Frame, style_sheet
from .keys import bindings
from .line_history import LineHistory
from .line_prompt import CommandCompleter, drawn_anew
from .pages import Page, Pages
from .photograph import photograph
from .prints import Inbox, Spill
from .side_panes import SidePanes
from .worker import INTERRUPTED, Job, Worker

DEPTHS = {"": ColorDepth.DEPTH_1_BIT, "standard": ColorDepth.DEPTH_4_BIT, "256": ColorDepth.DEPTH_8_BIT,
          "truecolor": ColorDepth.DEPTH_24_BIT}
TICK = 0.06  # seconds between looks at what was printed
LEAVING = 2.0  # seconds that the screen has to close
PATIENCE = 0.2  # seconds without a word on what runs


class FullScreen:
    """Everything on the screen. note: is told each result, and says whether to leave.

    pages: what was shown. beside: the help page that is open beside, or None. message: the last word to the user.
    about: the status when nothing runs.
    """

    def __init__(self, shell: Shell, note: Callable[[Result], bool], terminal: Terminal | None = None,
                 hearing: Hearing | None = None, *, colors: str, background: str = "dark",
                 encoding: str = "utf-8") -> None:
        self.shell, self._note, self._held = shell, note, terminal or Terminal()
        self._hearing = hearing or Hearing(self._held.end)
        self.palette = Palette(background, marks=not colors)
        self.pages = Pages()
        self.beside: Page | None = None
        self.message = self.about = self._progress = ""
        self._began = 0.0
        self._cause: tuple[Any, Place | None] | None = None  # a question, its step, and the line to blame
        self._failure: BaseException | None = None
        self._settle: Callable[[], None] = lambda: None
        self._running: Page | None = None
        self.text_of: Callable[[str], str] = Encoder(encoding)
        self.worker = Worker()
        self.inbox, self.spill = Inbox(), Spill()
        self.asks = False  # whether the script waits for a line
        self.asking = Asking(self._asked)
        self.finder = Finder(self)
        self.panes = SidePanes(self.palette, lambda: str(shell.settings["layout"]) if self.text_of("│") == "│"
                               else "page", self.size)
        self.line = Buffer(history=LineHistory(), auto_suggest=AutoSuggestFromHistory(), multiline=False,
                           completer=ThreadedCompleter(CommandCompleter(shell)), complete_while_typing=False,
                           enable_history_search=True, accept_handler=self._accept, tempfile_suffix=".gradbg")
        self._terminal = own_terminal()
        self._output = get_app_session().output if self._terminal is None else create_output(stdout=self._terminal)
        self.frame = Frame(self)
        self.app: Application[None] = Application(
            self.frame.layout, key_bindings=bindings(self), style=style_sheet(self.palette), full_screen=True,
            mouse_support=Condition(lambda: bool(shell.settings["mouse"])),
            output=self._output, color_depth=DEPTHS[colors], editing_mode=self._editing(),
            enable_page_navigation_bindings=False)
        self.app.ttimeoutlen = 0.05  # seconds that a lone Escape is waited for

    @property
    def page(self) -> Page:
        return self.pages.page

    def run(self, shown: list[tuple[str, Result]]) -> None:
        """Stay until the user leaves. shown: results to begin with."""
        heed_ctrl_c()
        for command, result in shown:
            self._show(self._page(command, result))
        self.about = status(self.shell)
        self.shell.picture = lambda: photograph(self.app.renderer, f"gradbg {self.shell.where()}")
        self._held.is_screen, self._held.redraw = True, lambda: drawn_anew(self.app)
        try:
            with taken_over(self.inbox.put, self._told_progress, self.asking, self.app, self._terminal) as self._settle:
                screen = threading.Thread(target=self._shown, name="screen", daemon=True)
                screen.start()
                try:
                    with self._hearing.on():
                        self.worker.work()
                finally:
                    self._call(self.leave)
                    self._end(screen)
        finally:
            self._held.is_screen, self.shell.picture = False, None
            self.spill.close()
        if self._failure is not None:
            raise self._failure

    def _end(self, screen: threading.Thread) -> None:
        """Wait for the screen's thread; where it does not end, take the terminal from it."""
        until = time.monotonic() + LEAVING
        while screen.is_alive() and time.monotonic() < until:
            with contextlib.suppress(KeyboardInterrupt):  # meant for a job that was over by then
                screen.join(TICK)
        if screen.is_alive():
            self._held.give_back()

    def _shown(self) -> None:
        """The screen's own thread: the commands have the main one, which signals reach."""
        try:
            self.app.run(pre_run=self._started)
        except BaseException as error:  # it is raised where the screen was opened
            self._failure = error
        finally:
            self.asking.answer(END)
            if self.shell.script is not None:
                self.shell.script.patient = False  # nobody is there to wait for its next run
            self.worker.close()

    def _started(self) -> None:
        self.app.create_background_task(self._tick())
        self._look()  # not before: what the panes are given finds no loop to take it

    async def _tick(self) -> None:
        """Take what was printed, and keep the status of a running command fresh."""
        while True:
            await asyncio.sleep(TICK)
            if self._take_prints() or self.worker.busy:
                self.app.invalidate()

    def _page(self, command: str, result: Result | None = None) -> Page:
        return Page(command, result, self.palette, self.spill)

    def size(self) -> tuple[int, int]:
        """Columns and lines of the screen."""
        size = self._output.get_size()
        return size.columns, size.rows

    def _call(self, do: Callable[..., None], *values: Any) -> None:
        """Do something in the screen's thread."""
        if self.app.loop is not None:
            with contextlib.suppress(RuntimeError):  # it was closed just now
                self.app.loop.call_soon_threadsafe(partial(do, *values))

    def _accept(self, buffer: Buffer) -> bool:
        """Enter on the command line; True keeps the text."""
        text = buffer.text
        self.app.vi_state.reset()  # the next line begins with typing, as at a prompt
        if self.asks:
            self.answer(text)
            return False
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
            self._running = self._page(line)
        self.worker.submit(Job(line, lambda: execute(line, self.shell), lambda result: self._told(line, result)))
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
        if self.asks:
            self.answer(END)
        self.message = "stopping" if self.worker.interrupt() else "Ctrl-D or quit leaves"

    def _told(self, line: str, result: Result) -> None:
        """A result is there (in the thread of the commands); what explains it and the panes come behind it."""
        self._settle()
        if leaves(result):
            self.worker.close()  # what was typed behind it is not begun
        self._call(self._arrived, line, result, status(self.shell))
        question = question_in(result) if self.shell.settings["auto-why"] else ""
        if question:
            self.worker.submit(Job(question, lambda: execute(question, self.shell),
                                   lambda found: self._explained(question, result, found), behind=True))
        else:
            self._look()

    def _explained(self, question: str, stop: Result, found: Result) -> None:
        """The answer to what a stop asks is there."""
        if found is not INTERRUPTED:
            self._call(self._add, stop, question, found)
            self._look(question)

    def _look(self, question: str = "") -> None:
        """Let the panes see the moment."""
        if self.panes.room:
            self.worker.submit(Job("panes", lambda: panes(self.shell, self._blamed(question), self.size()),
                                   lambda found: self._call(self._seen, found), behind=True))

    def _blamed(self, question: str) -> Place | None:
        """The line that is to blame for the last stop; looked for once."""
        question = question or self.shell.question
        stop = question, self.shell.dbg.records[-1] if self.shell.dbg.records else None
        if self._cause is None or self._cause[0] != stop:
            self._cause = stop, cause_of(self.shell, question)
        return self._cause[1]

    def _seen(self, results: Mapping[str, Card] | Result) -> None:
        if isinstance(results, Mapping):
            self.panes.show(results)
            self.app.invalidate()

    def _add(self, stop: Result, question: str, found: Result) -> None:
        """Put an explanation below the stop that asks for it, where that is still to be seen."""
        if self.page.result is stop and error_in(found) is None:
            self.page.result = Group((stop, briefly(question, found)))
            self.app.invalidate()

    def _arrived(self, line: str, result: Result, about: str) -> None:
        self._take_prints()
        page = self._running if self._running is not None else self._page(line)
        self._running = None
        page.command, page.result = line, result
        self.about, self.message = about, ""
        self.app.editing_mode = self._editing()
        command = parse(line, self.shell).command
        if command is not None and command.name == "help" and error_in(result) is None:
            self.beside = page
        elif result != Text() or len(page.prints):
            self._show(page)
        if self._note(result) or leaves(result):
            self.leave()
        self.app.invalidate()

    def leave(self) -> None:
        """Close the screen; of several who ask for it, for the first."""
        if self.app.is_running and not self.app.is_done:
            self.app.exit()

    def _show(self, page: Page) -> None:
        if page is not self.page:
            self.pages.open(page)
        if len(page.prints):
            page.home()
            page.show(min(len(page.prints), len(page.sheet)) - 1)

    def _editing(self) -> EditingMode:
        return EditingMode.VI if self.shell.settings["editing"] == "vi" else EditingMode.EMACS

    def _take_prints(self) -> bool:
        """What the script has printed goes to the page of the command that runs; whether there was something."""
        text = self.inbox.take()
        if not text:
            return False
        page = self._running or self.page
        page.printed_more(text)
        if page is self._running and page is not self.page:
            self.pages.open(page)
        return True

    def _told_progress(self, text: str) -> None:
        self._progress = text

    def _asked(self) -> None:
        """The script waits for a line (in its thread)."""
        self.asks = True
        self._call(self.app.invalidate)

    def answer(self, text: str) -> None:
        """Give the script its line, or the end of its input."""
        self.asks = False
        if text != END:
            self.inbox.put(text + "\n")
        self.asking.answer(text)

    def turn(self, by: int) -> None:
        """Go a page back or forward."""
        if not self.pages.turn(by):
            self.message = "this is the first page" if by < 0 else "this is the last page"
        else:
            self.finder.forget()

    def _jump(self, text: str) -> None:
        try:
            self.message = self.page.jump(text)
        except UsageError as error:
            self.message = f"{error.message}: {error.hint}"

    def running(self) -> str:
        """What runs, for how long, and how far it is; "" if nothing does."""
        if not self.worker.busy:
            return ""
        seconds = time.monotonic() - self._began
        if seconds < PATIENCE:
            return " "
        verb = parse(self.worker.busy, self.shell).verb.text
        told = "  |  ".join(filter(None, (progress(self.shell), self._progress)))
        return f"{verb} runs, {seconds:.0f} s  |  {told}  |  Ctrl-C stops"
