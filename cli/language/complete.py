"""What could come next on a line being typed."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from ..model.shell import Shell
from ..model.usage_error import UsageError
from .argument_kinds import MOST, FileKind
from .command import COMMANDS, Command, Parameter, find
from .tokens import Word, split


class Candidate(NamedTuple):
    """text replaces the line from column `start`. note: a few words about it."""

    text: str
    start: int
    note: str = ""


def complete(line: str, shell: Shell) -> list[Candidate]:
    """Candidates for the last word of `line`, the text up to the cursor; at most MOST."""
    return list(islice(_candidates(line, shell), MOST))


def _candidates(line: str, shell: Shell) -> Iterator[Candidate]:
    words = split(line, open_end=True)
    typing_verb = not words or len(words) == 1 and not line[-1].isspace()
    if typing_verb:
        start = words[0].start if words else len(line)
        yield from _verbs(line[start:], start, shell)
        return
    try:
        command, expansion = find(words[0].text.partition("/")[0])
    except UsageError:
        return
    before, word, start = _last(words[1:], line)
    before = [w.text for w in split(expansion)[1:]] + before
    if word.startswith("--") or word == "-":
        for parameter in command.options:
            if parameter.option.startswith(word):
                yield Candidate(parameter.option, start, parameter.kind.metavar if parameter.kind else "")
        return
    if before and before[-1] in (">", ">>") and not any(p.kind and p.kind.expression for p in command.arguments):
        yield from (Candidate(name, start) for name in FileKind().complete(word, shell))
        return
    for kind_word, offset in _expected(command, before, word, start, line):
        if kind_word.kind is not None:
            text = line[offset:]
            for candidate in kind_word.kind.complete(text, shell):
                yield Candidate(candidate, offset)


def _verbs(text: str, start: int, shell: Shell) -> Iterator[Candidate]:
    for name, command in COMMANDS.items():
        if name.startswith(text):
            yield Candidate(name, start, command.summary)
    for name in shell.aliases:
        if name.startswith(text):
            yield Candidate(name, start, shell.aliases[name])


def _last(words: list[Word], line: str) -> tuple[list[str], str, int]:
    """Words before the one being typed, that word, and its column."""
    if line[-1].isspace() and (not words or words[-1].end < len(line)) or not words:
        return [w.text for w in words], "", len(line)
    return [w.text for w in words[:-1]], line[words[-1].start:], words[-1].start


def _expected(command: Command, before: list[str], word: str, start: int, line: str) -> Iterable[tuple[Parameter, int]]:
    """The parameter that the word being typed belongs to, and where its text begins."""
    if before and before[-1].startswith("-"):
        option = next((p for p in command.options if p.option.startswith(before[-1]) and p.kind), None)
        option = option or next((p for p in command.options if p.name == command.shorts.get(before[-1][1:])), None)
        if option is not None and option.kind is not None:
            return [(option, start)]
    for parameter in command.arguments:
        introducer = parameter.kind.introducer if parameter.kind else ""
        if introducer in ("if", "=") and introducer in before:
            return [(parameter, line.rindex(introducer, 0, start) + len(introducer) + 1)]
    plain = [p for p in command.arguments if p.kind and not p.kind.introducer]
    count = len(_values(command, before))
    if count < len(plain):
        return [(plain[count], start)]
    if plain and (plain[-1].variadic or plain[-1].kind.rest):  # type: ignore[union-attr]
        return [(plain[-1], start)]
    return []


def _values(command: Command, before: list[str]) -> list[str]:
    """`before` without options and their values."""
    left: list[str] = []
    skip = False
    for text in before:
        if skip:
            skip = False
        elif text.startswith("--"):
            skip = any(p.option.startswith(text) and p.kind for p in command.options)
        else:
            left.append(text)
    return left
