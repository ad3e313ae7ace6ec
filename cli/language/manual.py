"""Help pages and the command reference, made of the declarations and their docstrings."""
from __future__ import annotations

import re

from ..model.results import Column, Group, Table, Text
from .command import COMMANDS, GROUPS, Alias, Command

GRAMMAR = """\
verb [/fmt] targets [--options]   verbs and options may be shortened to what is unique
TARGET      a tensor (hidden/MatMul:0, or a unique end of it), a variable of the
            script that holds one (loss), a short handle out of a table (%12, g12),
            a /regex/, or $n from the value history
PREDICATE   nan inf nonfinite harmful none zero changed norm(.)>k max(.)>k
            ratio(.)>k step>=n loss>k, joined by and, or, not; with a TARGET or
            grad(TARGET) in place of the . it is asked of that: norm(W)>k nan(h)
> FILE, >> FILE, | PROGRAM at the end take the output; # begins a comment"""


def overview() -> Group:
    """All commands by group, a row each, and the grammar."""
    rows: list[tuple[str, str, str, str]] = []
    sections: list[int] = []
    for group in GROUPS:
        members = [c for c in COMMANDS.values() if c.group == group]
        sections += [len(rows)] if members else []
        rows += [("" if at else group, c.name, ", ".join(c.same), c.summary.rstrip("."))
                 for at, c in enumerate(members)]
    columns = (Column("group"), Column("command", "name"), Column("short", "text", 6), Column("what it does", "prose"))
    return Group((Table(columns, tuple(rows), sections=tuple(sections[1:])),
                  Text(f"{GRAMMAR}\n\nhelp COMMAND shows more, with an example")))


def page(command: Command) -> str:
    """The help page of one command."""
    lines = [command.synopsis, "", command.summary]
    if command.body:
        paragraphs = re.split(r"\n\s*\n", command.body.strip())
        lines += ["", "\n\n".join(" ".join(text.split()) for text in paragraphs)]  # wrapped where it is shown
    other = [f"{word} = {alias.words}{_options(alias)}" for word, alias in command.aliases.items()
             if word not in command.same]
    if command.same:
        lines += ["", f"Aliases:  {', '.join(command.same)}"]
    if other:
        lines += ["", *(f"Short form:  {form}" for form in other)]
    if command.shorts:
        ours = [f"{short} = {option}" for short, option in command.shorts.items() if option[:1] not in ("", "?")]
        lines += ["", f"Options:  {', '.join(ours)}"]
    lines += ["", *(f"Example:  {example}" for example in command.examples)]
    if command.api:
        lines += [f"API:      {command.api}"]
    return "\n".join(lines)


def _options(alias: Alias) -> str:
    """What the options of another debugger's word are called here."""
    given = [f"{option} = {ours}" for option, ours in alias.options.items() if ours[:1] not in ("", "?")]
    return f" with {', '.join(given)}" if given else ""


def reference() -> str:
    """The command reference in Markdown, for the README."""
    lines = []
    for group in GROUPS:
        members = [c for c in COMMANDS.values() if c.group == group]
        if not members:
            continue
        lines += [f"### {group}", "", "| Command | What it does | Example |", "|---|---|---|"]
        for command in members:
            also = f" ({', '.join(f'`{alias}`' for alias in command.same)})" if command.same else ""
            cells = f"`{_cell(command.synopsis)}`{also}", _cell(command.summary), f"`{_cell(command.examples[0])}`"
            lines.append(f"| {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
