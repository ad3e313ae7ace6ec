"""gradbg: arguments become a Shell, its commands come from options, files, a pipe or a person."""
from __future__ import annotations

import contextlib
import errno
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import autodiff

from .commands import standing
from .commands.script import is_model, loading, survey
from .language import command_line
from .language.command import verbs
from .language.interpreter import execute, typed
from .model.hearing import Hearing
from .model.results import Error, Group, Result, Text, leaves, located, question_in
from .model.script_forks import leave
from .model.script_signals import heed_ctrl_c
from .model.script_threads import waited_for
from .model.shell import Shell
from .model.terminal import Terminal
from .model.told_files import LOCAL, command_lines, is_trusted
from .model.usage_error import UsageError
from .view.first_page import briefly, first_page
from .view.render import Screen, is_capable

if TYPE_CHECKING:
    from .screen.line_prompt import Prompt

FINE, FAILED, BAD_USAGE, STOPPED, SCRIPT_RAISED, INTERRUPTED = 0, 1, 2, 3, 4, 130
RC = os.path.join("~", ".config", "gradbg", "rc")


class Program:
    """One run of gradbg. code: the exit code so far; done: a command said to leave, or batch met a failure.

    ui: "line" or "screen". begun: what there is to show when the full screen opens. files: lines of command files.
    prompt: that of a person who types lines, once it is there. question: what is to be answered while it waits.
    """

    def __init__(self, given: command_line.Arguments) -> None:
        self.given = given
        self.screen = Screen(sys.stdout, as_json=given.json, color=given.color, background=given.background)
        self.errors = Screen(sys.stderr, color=given.color, background=given.background)
        is_person = not given.batch and not given.json and sys.stdin is not None and sys.stdin.isatty()
        self.shell = Shell(interactive=is_person and sys.stdout.isatty(), known_verbs=verbs(),
                           batch=given.batch, with_tensorflow=given.with_tensorflow)
        self.ui = (given.ui or ("screen" if is_capable() else "line")) if self.shell.interactive else "line"
        if self.shell.interactive and self.ui == "line":
            self.screen.pager = os.environ.get("PAGER", "")
        self.terminal = Terminal()
        self.hearing = Hearing(self.terminal.end, "; Ctrl-\\ ends gradbg" if is_person and self.ui == "line" else "")
        self.begun: list[tuple[str, Result]] = []
        self.files: dict[str, list[str]] = {}
        self.code = FINE
        self.done = False
        self.prompt: Prompt | None = None
        self.question = ""

    def run(self) -> int:
        """Do everything; gives the exit code."""
        if self.shell.interactive:
            heed_ctrl_c()
        try:
            self.files = {name: command_lines(name) for kind, name in self.given.steps if kind == "x"}
        except UsageError as error:
            return complain(error.sentence)
        with contextlib.ExitStack() as stack:
            if self.shell.interactive:
                stack.enter_context(self.terminal.guarded())
            if self.given.json:
                stack.enter_context(contextlib.redirect_stdout(sys.stderr))
            stack.callback(self.shell.close)
            with self.hearing.on():
                self._start()
            self.converse()
        if self.given.batch or not self.shell.interactive and self.code in (BAD_USAGE, SCRIPT_RAISED):
            return self.code
        return FINE

    def converse(self) -> None:
        """Run the commands given, then those that a person types or a pipe brings."""
        for line, place in self._given_lines():
            if self.done:
                break
            self.do(line, place)
        if not self.done and not (self.given.batch and self.given.steps):
            self._converse()

    def do(self, line: str, place: tuple[str, int] | None = None) -> Result:
        """Execute and show one line, and note what it means for the exit code. place: its file and number."""
        with self.hearing.on():
            result = execute(line, self.shell)
        if place is not None:
            result = located(result, *place, line)
        if result != Text() or self.given.json and line.strip() and not line.strip().startswith("#"):
            self.show(result, line.strip())
        self._note(result)
        question = question_in(result) if self.shell.interactive and self.shell.settings["auto-why"] else ""
        if question and self.prompt is not None:
            self.question = question
        elif question and not self.done:
            with self.hearing.on():
                found = execute(question, self.shell)
            self.show(briefly(question, found), question)
        return result

    def show(self, result: Result, command: str = "", *, begins: bool = False) -> None:
        """Show a result now, or when the full screen opens. begins: it is what the script came to at the beginning."""
        apart = self.given.batch or begins and not self.shell.interactive
        if self.ui == "screen":
            self.begun.append((command, result))
        elif apart and not self.given.json and isinstance(result, Error):
            self.errors.show(result, command)
        else:
            self.screen.show(result, command, self.shell.settings["rows"])

    def _note(self, result: Result) -> None:
        code = result.exit_code
        if leaves(result):
            self.done = True
        if code and self.code in (FINE, STOPPED):
            self.code = code
        if code and self.given.batch and not self.given.keep_going and _failed(result):
            self.done = True

    def _start(self) -> None:
        rc = os.path.expanduser(RC)
        if not self.given.no_rc and os.path.isfile(rc):
            self.do(f"source '{rc}'")
        if not self.given.no_rc and os.path.isfile(LOCAL):
            self._local()
        if self.given.script is None:
            if self.shell.interactive and not self.given.quiet:
                self.show(Text("no script is loaded: load FILE runs one, help lists the commands", "quiet"))
            return
        label = f"load {self.given.script}"
        if is_model(self.given.script) and os.path.exists(self.given.script):
            self.do(f"load '{self.given.script}'")
            self.done = self.done or self.code != FINE and not self.shell.interactive
            return
        try:
            with loading(self.shell, self.given.script):
                event = self.shell.load(self.given.script, self.given.arguments, as_module=self.given.as_module)
        except UsageError as error:
            status = SCRIPT_RAISED if error.code == "script_syntax" else BAD_USAGE
            result: Result = Error("\n".join((error.sentence, *error.places)), error.code, error.hint, status)
        else:
            result = standing.arrived(self.shell, event)
            if self.ui == "screen" and (card := first_page(self.shell)) is not None:
                result = Group((result, card))
        if result.exit_code or not self.given.json and not self.given.quiet:
            self.show(result, label, begins=True)
        self._note(result)
        if self.shell.script is None:  # there is nothing that the commands given could ask: one error, not two
            self.given.steps.clear()
            self.done = self.done or not self.shell.interactive

    def _local(self) -> None:
        """The command file in the working directory: run if it is trusted, else mentioned."""
        if is_trusted(LOCAL):
            self.do(f"source {LOCAL}")
        elif self.shell.interactive:
            self.show(Text(f"{LOCAL} in this directory was not run: `source {LOCAL} --trust` runs it, now and always",
                           "warning"))

    def _given_lines(self) -> Iterator[tuple[str, tuple[str, int] | None]]:
        """The commands of -ex and -x; those of a file with its name and their numbers."""
        for kind, text in self.given.steps:
            if kind == "ex":
                yield text, None
                continue
            for number, line in enumerate(self.files[text], 1):
                yield line, (text, number)

    def _converse(self) -> None:
        if self.ui == "screen":
            from .screen import FullScreen

            FullScreen(self.shell, self._noted, self.terminal, self.hearing, colors=self.screen.colors,
                       background=self.screen.background, encoding=self.screen.encoding).run(self.begun)
            return
        read = self._reader()
        while not self.done:
            try:
                question, self.question = self.question, ""
                line = self._read_while(question) if question else read()
                if line is None:
                    break
                if self.shell.interactive or line.strip() and not self.given.batch:
                    line = typed(line, self.shell)
                if line.strip():
                    self.question = ""
                    self.do(line)
            except KeyboardInterrupt:
                if not self.shell.interactive:
                    raise
                self._say_interrupted()

    def _read_while(self, question: str) -> str | None:
        """The next line, while the question is answered; kept if there is neither an answer nor a line."""
        self.question = question

        def show(found: Result) -> None:
            self.question = ""
            self.show(briefly(question, found), question)

        assert self.prompt is not None
        with self.hearing.on():
            return self.prompt.read_while(question, lambda: execute(question, self.shell), show)

    def _noted(self, result: Result) -> bool:
        """Note a result that somebody else shows; whether to leave."""
        self._note(result)
        return self.done

    def _say_interrupted(self) -> None:
        """Say so, whatever else is pressed meanwhile."""
        said = False
        while not said:
            with contextlib.suppress(KeyboardInterrupt):
                self.screen.show(Text("interrupted", "warning"))
                said = True

    def _reader(self) -> Callable[[], str | None]:
        if self.shell.interactive:
            from .screen.line_prompt import Prompt

            self.prompt = Prompt(self.shell, self.terminal, color=bool(self.screen.colors))
            return self.prompt.read
        if sys.stdin is None:
            return lambda: None
        lines = iter(sys.stdin.readline, "")
        return lambda: next(lines, None)


def _failed(result: Result) -> bool:
    """Whether a command failed; a stop that was met is no failure, nor is a script that raised: why may be asked."""
    if isinstance(result, Error):
        return result.code not in ("script_raised", "script_exit")
    return isinstance(result, Group) and any(map(_failed, result.parts))


def complain(what: str) -> int:
    """Say on standard error what is wrong with the command line; gives the exit code."""
    sys.stderr.write(f"gradbg: {what}\ntry gradbg --help\n")
    return BAD_USAGE


def main(words: Sequence[str] | None = None) -> int:
    """The command gradbg; gives its exit code."""
    _open_what_is_closed()
    before = threading.enumerate()
    try:
        given = command_line.parse(sys.argv[1:] if words is None else words)
    except command_line.BadUsage as error:
        return complain(str(error))
    try:
        if given.shows:
            return _show(given)
        try:
            code = Program(given).run()
        except KeyboardInterrupt:
            code = INTERRUPTED
        if waited_for(before):
            leave(code)  # a script that was left had threads that do not end
        return code
    except BrokenPipeError:
        return pipe_closed()
    except OSError as error:
        if error.errno == errno.EIO:
            return pipe_closed()  # the terminal has gone
        sys.stderr.write(f"gradbg: cannot write: {error.strerror or error}\n")
        pipe_closed()
        return FAILED


def _show(given: command_line.Arguments) -> int:
    """Print what was asked for in place of a prompt; gives the exit code."""
    if given.shows == "survey":
        if given.script is None:
            return complain("--survey needs a SCRIPT")
        screen, code = Screen(sys.stdout, as_json=given.json), FINE
        for file in (given.script, *given.arguments):
            found = survey(file)
            screen.show(found, f"survey {file}", 0)
            code = code if isinstance(found, Text) else FAILED
        return code
    sys.stdout.write(command_line.USAGE + "\n" if given.shows == "help" else f"gradbg {autodiff.__version__}\n")
    return FINE


def _open_what_is_closed() -> None:
    """Give those who write somewhere to write to, where the caller closed standard output or error (`>&-`)."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))


def pipe_closed() -> int:
    """The reader of our output has gone (`| head`): leave without a word."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return FINE
