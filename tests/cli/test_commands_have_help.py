"""Every command has a summary, an example that parses, and a page."""

import pytest

from cli.language.command import COMMANDS, GROUPS, command
from cli.language.interpreter import bind
from cli.language.manual import page
from cli.language.parse import parse
from cli.model.shell import Shell


def faults(name: str) -> list[str]:
    """What a command's documentation lacks."""
    described = COMMANDS[name]
    found = []
    if not described.summary.endswith("."):
        found.append("no summary that is a sentence")
    if not described.examples:
        found.append("no example")
    if described.group not in GROUPS:
        found.append(f"unknown group {described.group!r}")
    if described.wants == "dbg" and not described.api:
        found.append("no API line, though it asks the debugger")
    options = [parameter for parameter in described.options if parameter.name.rstrip("_").replace("_", "-")
               not in page(described).replace(described.synopsis, "")]
    return found + [f"{option.option} is not explained" for option in options]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_documented(name: str) -> None:
    assert faults(name) == []


@pytest.mark.parametrize("name", COMMANDS)
def test_its_examples_are_commands_of_its_own(name: str) -> None:
    for example in COMMANDS[name].examples:
        parsed = parse(example, Shell())
        assert parsed.command is COMMANDS[name]
        bind(parsed, Shell())


def test_no_two_commands_share_a_word() -> None:
    words = [word for c in COMMANDS.values() for word in (c.name, *c.aliases)]
    assert sorted(words) == sorted(set(words))


def test_an_undocumented_command_is_noticed() -> None:
    @command("probe", group="Nowhere")
    def probe(dbg: object, *, loud: bool = False) -> None:
        """No stop"""
    assert len(faults("probe")) == 5
    del COMMANDS["probe"]
