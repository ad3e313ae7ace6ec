"""The command line in colors: what its words are, as the language reads them."""
from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.lexers import Lexer

from ..language.parse import parse
from ..model.shell import Shell

ROLES = {"command": "bold", "option": "ansimagenta", "target": "ansicyan", "number": "ansiblue", "choice": "ansigreen",
         "error": "underline ansired"}  # role -> prompt_toolkit's style


class CommandLexer(Lexer):
    """Styles the pieces of a line; what has no style of its own is plain."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        return lambda number: styled(document.lines[number], self.shell)


def styled(line: str, shell: Shell) -> StyleAndTextTuples:
    """A line in pieces, each with its style."""
    fragments: StyleAndTextTuples = []
    at = 0
    for piece in highlight(line, shell):
        fragments += [("", line[at:piece.start]), (ROLES.get(piece.role, ""), line[piece.start:piece.end])]
        at = piece.end
    return [*fragments, ("", line[at:])]


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
