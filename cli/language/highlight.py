"""Which columns of a line being typed are what: command, option, target, number, mistake."""
from __future__ import annotations

from typing import NamedTuple

from ..model.shell import Shell
from .parse import parse


class Piece(NamedTuple):
    """Columns start to end of a line. role: "command", "option", "error", or the role of a kind of argument."""

    start: int
    end: int
    role: str


def highlight(line: str, shell: Shell) -> list[Piece]:
    """The pieces of a line in order, none above another; what has no role is left out."""
    parsed = parse(line, shell)
    known = parsed.command is not None or parsed.own
    pieces = [Piece(parsed.verb.start, parsed.verb.end, "command")] if known else []
    pieces += [Piece(argument.start, argument.end, argument.parameter.kind.role) for argument in parsed.arguments
               if argument.parameter.kind is not None and argument.parameter.kind.role
               and argument.start >= parsed.verb.end]
    covered = {column for piece in pieces for column in range(piece.start, piece.end)}
    pieces += [Piece(word.start, word.end, "option") for word in parsed.words
               if word.text.startswith("-") and word.start not in covered]
    fault = parsed.fault.span if parsed.fault is not None else None
    if fault is not None and fault[1] < len(line):  # what is still being typed is no mistake yet
        pieces = [piece for piece in pieces if piece.end <= fault[0] or piece.start >= fault[1]]
        pieces.append(Piece(*fault, "error"))
    return sorted(pieces)
