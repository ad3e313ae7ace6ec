"""The line prompt for a person: completion, history, suggestions, a toolbar."""
from __future__ import annotations

import os
from collections.abc import Iterable

from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, ThreadedCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.output import ColorDepth

from .complete import complete
from .facts import loss_of
from .shell import Shell
from .texts import clean

PROMPT = "(gradbg) "
HISTORY = os.path.join("~", ".local", "state", "gradbg", "history")


class CommandCompleter(Completer):
    """Offers what complete() finds; a completion that fails offers nothing."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        line = document.text_before_cursor
        for candidate in complete(line, self.shell):
            yield Completion(candidate.text, candidate.start - len(line), display_meta=candidate.note)


class Prompt:
    """Reads lines from a person. Ctrl-C clears the line; `read` gives None at Ctrl-D."""

    def __init__(self, shell: Shell, *, color: bool) -> None:
        self.shell = shell
        depth = None if color else ColorDepth.DEPTH_1_BIT
        self._session: PromptSession[str] = PromptSession(
            history=_history(), auto_suggest=AutoSuggestFromHistory(),
            completer=ThreadedCompleter(CommandCompleter(shell)),
            complete_while_typing=False, bottom_toolbar=self._toolbar, color_depth=depth, enable_open_in_editor=False)

    def read(self) -> str | None:
        """The next line, without its end."""
        while True:
            try:
                return self._session.prompt(PROMPT)
            except KeyboardInterrupt:
                continue
            except EOFError:
                return None

    def _toolbar(self) -> StyleAndTextTuples:
        return [("", " " + toolbar(self.shell))]


def toolbar(shell: Shell) -> str:
    """Script and place, step, loss, watches."""
    parts = [clean(shell.where() or "no script", keep="")]
    if shell.script is not None and shell.script.state in ("ended", "raised"):
        parts[0] += f" {shell.script.state}"
    if shell.script is not None:
        records = shell.dbg.records
        parts.append(f"step {records[-1].step if records else 0}")
        loss = next((loss_of(record) for record in reversed(records) if record.loss is not None), "")
        parts += [clean(loss, keep="")] if loss else []
        stops = shell.dbg.stops()
        watches = sum(row.kind == "watch" for row in stops)
        parts += [f"{watches} watch{'es' * (watches > 1)}"] if watches else []
        parts += [f"{len(stops) - watches} breaks"] if len(stops) > watches else []
    return "  |  ".join(parts)


def _history() -> History:
    """The history file; in memory if it cannot be made. GRADBG_HISTORY names another file."""
    path = os.path.expanduser(os.environ.get("GRADBG_HISTORY", HISTORY))
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "a", encoding="utf-8"):
            return FileHistory(path)
    except OSError:
        return InMemoryHistory()
