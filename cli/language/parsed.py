"""Parsed: a line cut once; completion, help, carets, highlighting and execution read it."""
from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ..model.usage_error import UsageError
from .command import Command, Parameter
from .tokens import Word


class Argument(NamedTuple):
    """What a line gives for a parameter. text: without quotes, option and introducer; start, end: where it stands."""

    parameter: Parameter
    text: str
    start: int
    end: int


class Output(NamedTuple):
    """Where the output of a line goes: kind is "", ">", ">>" or "|"; to is a file name or a shell command, at start."""

    kind: str = ""
    to: str = ""
    start: int = 0


@dataclass(frozen=True)
class Parsed:
    """A line and its parts; all columns are those of the line as it was typed.

    command: None for an empty line, a command that the user defined (own is its name) and a word that is none. words:
    after the verb. pending: the parameter whose value comes next. fault: the first mistake; what could be read stands
    beside it.
    """

    line: str
    verb: Word
    command: Command | None = None
    own: str = ""
    words: tuple[Word, ...] = ()
    arguments: tuple[Argument, ...] = ()
    output: Output = Output()
    pending: Parameter | None = None
    fault: UsageError | None = None

    @property
    def ends_in_word(self) -> bool:
        """Whether the last word is still being typed."""
        last = self.words[-1] if self.words else self.verb
        return last.end == len(self.line)

    def at_end(self) -> tuple[Parameter, int] | None:
        """The parameter that the end of the line belongs to, and where its last word begins; None where none fits."""
        if self.command is None or not self.words and self.ends_in_word:
            return None
        last = max(self.arguments, key=lambda a: a.end, default=None)
        if last is not None and last.end == len(self.line) and last.parameter.kind is not None:
            return last.parameter, max(last.start, self.words[-1].start)
        if self.ends_in_word:
            return None
        if self.pending is not None:
            return self.pending, len(self.line)
        plain = [p for p in self.command.arguments if p.kind and not p.kind.introducer]
        taken = {argument.parameter.name for argument in self.arguments} & {p.name for p in plain}
        if len(taken) < len(plain):
            return plain[len(taken)], len(self.line)
        if plain and plain[-1].takes_many:
            return plain[-1], len(self.line)
        return None
