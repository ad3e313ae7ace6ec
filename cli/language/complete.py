"""What could come next on a line being typed."""
from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from ..model.shell import Shell
from ..view.described import described
from .argument_kinds import FileKind
from .command import COMMANDS, Command, Parameter
from .name_search import MOST
from .parse import parse

WHOLE, NAME, NOTHING = (re.compile(pattern) for pattern in (r".+", r"[\w/.:$]+\Z", r"(?!)"))


class Candidate(NamedTuple):
    """text replaces the line from column `start`. note: a few words about it."""

    text: str
    start: int
    note: str = ""


def complete(line: str, shell: Shell) -> list[Candidate]:
    """Candidates for the last word of `line`, the text up to the cursor; at most MOST."""
    return list(islice(_candidates(line, shell), MOST))


def _candidates(line: str, shell: Shell) -> Iterator[Candidate]:
    parsed = parse(line, shell)
    if not parsed.words and parsed.ends_in_word:
        yield from _verbs(parsed.verb.text, parsed.verb.start, shell)
    if parsed.command is None:
        return
    last = parsed.words[-1] if parsed.words and parsed.ends_in_word else None
    if last is not None and (last.text.startswith("--") or last.text == "-"):
        for parameter in parsed.command.options:
            if parameter.option.startswith(last.text):
                yield Candidate(parameter.option, last.start, _said_of(parsed.command, parameter))
    elif parsed.output.kind in (">", ">>"):
        yield from (Candidate(name, parsed.output.start) for name in FileKind().complete(parsed.output.to, shell))
    elif (expected := parsed.at_end()) is not None and expected[0].kind is not None:
        parameter, start = expected
        assert parameter.kind is not None
        names = {"target": WHOLE, "expression": NAME}.get(parameter.kind.role, NOTHING)
        for text in parameter.kind.complete(line[start:], shell):
            name = names.search(text)
            yield Candidate(text, start, described(name[0], shell) if name else "")


def _said_of(command: Command, parameter: Parameter) -> str:
    """What an option takes, and what its command's page says of it."""
    name = parameter.option.removeprefix("--")
    said = re.search(rf"(?:^|[.;]\s+)(?:--)?{re.escape(name)}(?: [\w.]+)?:\s+([^.;]+)", " ".join(command.body.split()))
    return "  ".join(filter(None, (parameter.kind.metavar if parameter.kind else "", said[1] if said else "")))


def _verbs(text: str, start: int, shell: Shell) -> Iterator[Candidate]:
    for name, command in COMMANDS.items():
        if name.startswith(text):
            yield Candidate(name, start, command.summary)
    for name in shell.aliases:
        if name.startswith(text):
            yield Candidate(name, start, shell.aliases[name])
