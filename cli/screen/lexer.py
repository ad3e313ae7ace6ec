"""The command line in colors: what its words are, as the language reads them."""
from __future__ import annotations

from collections.abc import Callable

from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.lexers import Lexer

from ..language.highlight import highlight
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
