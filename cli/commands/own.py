"""The user's own words: alias, define."""
from __future__ import annotations

from typing import Annotated

from ..language.argument_kinds import RawKind
from ..language.command import COMMANDS, command
from ..language.tokens import statements
from ..model.results import Column, Result, Table, Text
from ..model.shell import Shell
from ..model.usage_error import UsageError

Definition = Annotated[str, RawKind("NAME = WORDS")]
Body = Annotated[str, RawKind("NAME [= COMMAND; COMMAND]…")]


@command("alias", group="Shell")
def alias(shell: Shell, definition: Definition = "") -> Result:
    """Give words a name of your own; `alias NAME =` takes it back, alias alone lists them.

    Example:  alias gn = grads --sort norm
    """
    if not definition:
        rows = tuple(shell.aliases.items())
        return Table((Column("alias", "name"), Column("stands for")), rows) if rows else Text("no aliases", "quiet")
    name, equals, words = (part.strip() for part in definition.partition("="))
    if not equals or not name.isidentifier():
        raise UsageError(f"expected NAME = WORDS, found {definition!r}", "alias gn = grads --sort norm")
    if name in COMMANDS:
        raise UsageError(f"{name!r} is a command", f"alias my_{name} = {words}")
    if words:
        shell.aliases[name] = words
        return Text(f"{name} = {words}")
    return Text(f"{name} is forgotten" if shell.aliases.pop(name, None) else f"there was no alias {name}")


@command("define", group="Shell")
def define(shell: Shell, definition: Body = "") -> Result:
    """Make a command of your own out of others; `define NAME` takes the lines that follow, up to `end`.

    $arg0, $arg1, … stand for the words after it, $argc for how many they are. `define NAME =` takes it back,
    define alone lists them.

    Example:  define look = grads --sort norm; print loss
    """
    if not definition:
        rows = tuple((name, "; ".join(body)) for name, body in shell.defined.items())
        return Table((Column("command", "name"), Column("does")), rows) if rows else Text("no definitions", "quiet")
    name, equals, body = (part.strip() for part in definition.partition("="))
    if not name.isidentifier():
        raise UsageError(f"expected the name of a command, found {name!r}", "define look = grads; print loss")
    if name in COMMANDS or any(name in command.aliases for command in COMMANDS.values()):
        raise UsageError(f"{name!r} is a command", f"define my_{name} = …")
    if not equals:
        shell.defining = (name, [])
        return Text(f"the lines that follow make {name}; end ends it", "quiet")
    lines = tuple(statements(body))
    if lines:
        shell.defined[name] = lines
        return Text(f"{name} = {'; '.join(lines)}")
    return Text(f"{name} is forgotten" if shell.defined.pop(name, None) else f"there was no command {name}")
