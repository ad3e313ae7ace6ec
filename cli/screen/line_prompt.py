"""The line prompt for a person: completion, history, suggestions, a toolbar."""
from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterable
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.application import Application, run_in_terminal
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, ThreadedCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.input.typeahead import get_typeahead, store_typeahead
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.keys import Keys
from prompt_toolkit.output import ColorDepth

from ..language.complete import complete
from ..model.script_signals import handled
from ..model.shell import Shell
from ..model.terminal import Terminal, suspend
from ..view.status_line import status
from .lexer import CommandLexer
from .line_history import LineHistory
from .worker import INTERRUPTED, Job, Worker

PROMPT = "(gradbg) "
_PATIENCE = 2.0  # seconds until the prompt is drawn for the first time


def drawn_anew(app: Application[Any]) -> None:
    """Draw everything again, from whatever thread: the terminal was somebody else's meanwhile."""
    def draw() -> None:
        app.renderer.reset()
        app.invalidate()

    if app.is_running and app.loop is not None:
        app.loop.call_soon_threadsafe(draw)


class CommandCompleter(Completer):
    """Offers what complete() finds; a completion that fails offers nothing."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        line = document.text_before_cursor
        for candidate in complete(line, self.shell):
            yield Completion(candidate.text, candidate.start - len(line), display_meta=candidate.note)


class Prompt:
    """Reads lines from a person. Ctrl-C clears the line; `read` gives None at Ctrl-D.

    Ctrl-C just after Enter, while the terminal is still in the prompt's hands, is KeyboardInterrupt from `read`.
    """

    def __init__(self, shell: Shell, terminal: Terminal, *, color: bool) -> None:
        self.shell = shell
        keys = KeyBindings()
        keys.add("c-z")(suspend)
        depth = None if color else ColorDepth.DEPTH_1_BIT
        self._session: PromptSession[str] = PromptSession(
            history=LineHistory(), auto_suggest=AutoSuggestFromHistory(),
            completer=ThreadedCompleter(CommandCompleter(shell)), lexer=CommandLexer(shell),
            complete_while_typing=False, bottom_toolbar=lambda: [("", " " + status(self.shell))], color_depth=depth,
            enable_history_search=True, enable_open_in_editor=True, tempfile_suffix=".gradbg", key_bindings=keys)
        terminal.redraw = lambda: drawn_anew(self._session.app)
        self._is_late, self._is_drawn = False, threading.Event()
        self._session.app.after_render += self._drawn

    def read(self) -> str | None:
        """The next line, without its end."""
        while True:
            try:
                vi = self.shell.settings["editing"] == "vi"
                self._session.editing_mode = EditingMode.VI if vi else EditingMode.EMACS
                with self._listening():
                    line = self._session.prompt("> " if self.shell.defining else PROMPT, handle_sigint=False)
            except KeyboardInterrupt:
                continue
            except EOFError:
                return None
            self._refuse_interrupted()
            return line

    def read_while(self, name: str, run: Callable[[], Any], show: Callable[[Any], None]) -> str | None:
        """The same, while `run` is run in this thread: what came of it is shown above the line that is being typed.

        A line that is there before ends it, and nothing is shown. name: of what is run.
        """
        worker = Worker()
        read: list[str | None | BaseException] = []

        def reads() -> None:
            try:
                read.append(self.read())
            except BaseException as error:
                read.append(error)
            worker.close()

        def told(found: Any) -> None:
            if found is not INTERRUPTED:
                self._above(lambda: show(found))

        self._is_drawn.clear()
        worker.submit(Job(name, run, told, behind=True))
        thread = threading.Thread(target=reads, name="prompt", daemon=True)
        thread.start()
        worker.work()
        while thread.is_alive():
            with contextlib.suppress(KeyboardInterrupt):  # meant for what was run
                thread.join()
        line = read[0]
        if isinstance(line, BaseException):
            raise line
        return line

    def _above(self, show: Callable[[], None]) -> None:
        """Have something shown above the line, by the thread that draws it."""
        app = self._session.app
        self._is_drawn.wait(_PATIENCE)
        if app.is_running and not app.is_done and app.loop is not None:
            app.loop.call_soon_threadsafe(lambda: run_in_terminal(show))

    def _listening(self) -> contextlib.AbstractContextManager[None]:
        """Inside, SIGINT is noted: one after the last drawing of the line is for the command, one before for the line.

        prompt_toolkit's own handler would lose the first kind, as it goes on for a while after the line was accepted.
        A program's own prompt runs beside its main thread: there signals are the program's.
        """
        def pressed(*_: Any) -> None:
            self._is_late = True
            app = self._session.app
            if app.is_running and not app.is_done and app.loop is not None:  # sent by another program
                app.loop.call_soon_threadsafe(lambda: app.exit(exception=KeyboardInterrupt()))

        return handled(signal.SIGINT, pressed)

    def _drawn(self, _: Any) -> None:
        """While it is drawn, the terminal gives Ctrl-C as a key, not as a signal."""
        self._is_late = False
        self._is_drawn.set()

    def _refuse_interrupted(self) -> None:
        """Raise KeyboardInterrupt if Ctrl-C came too late for the line, as a signal or as a key."""
        if self._is_late:
            raise KeyboardInterrupt
        keyboard = self._session.app.input
        late = get_typeahead(keyboard) + keyboard.read_keys()
        if any(press.key == Keys.ControlC for press in late):
            raise KeyboardInterrupt
        store_typeahead(keyboard, late)
