"""Words become the arguments of a command."""
from __future__ import annotations

import re
from typing import Any

from autodiff.core.names import did_you_mean

from ..model.shell import Shell
from ..model.usage_error import UsageError
from .command import Command, Parameter
from .tokens import Word, split

ASSIGNS = re.compile(r"(?<![=<>!])=(?!=)")


def bind(command: Command, line: str, shell: Shell) -> tuple[list[Any], dict[str, Any]]:
    """Positional and named arguments of `command` from the text after its verb. Raises UsageError."""
    try:
        return _bind(command, line, shell)
    except UsageError as error:
        if not error.hint:
            error.hint = f"usage: {command.synopsis}"
        raise


def _bind(command: Command, line: str, shell: Shell) -> tuple[list[Any], dict[str, Any]]:
    raw: dict[str, Any] = {}
    arguments = list(command.arguments)
    only = arguments[0] if arguments else None
    if only and only.kind and only.kind.rest and not only.kind.introducer and not command.options:
        words = split(line, open_end=True)
        raw = {only.name: line.strip()} if words else {}
        return _called(command, raw, shell)
    line, raw = _introduced(command, line)
    words = split(line)
    words = _take_options(command, words, raw)
    plain = [p for p in arguments if p.kind and p.kind.introducer in ("",)]
    _positional(command, plain, words, line, raw)
    return _called(command, raw, shell)


def _introduced(command: Command, line: str) -> tuple[str, dict[str, Any]]:
    """Cut off `/FMT` at the front and `= EXPR` or `if PREDICATE` at the end."""
    raw: dict[str, Any] = {}
    for parameter in command.arguments:
        introducer = parameter.kind.introducer if parameter.kind else ""
        if introducer == "/":
            match = re.match(r"\s*/(\w+)(?=\s|$)", line)
            if match:
                raw[parameter.name], line = match[1], line[match.end():]
        elif introducer == "=":
            match = ASSIGNS.search(line)
            if match:
                raw[parameter.name], line = line[match.end():].strip(), line[:match.start()]
        elif introducer:
            for word in split(line, open_end=True):
                if word.text == introducer and not word.quoted:
                    rest, options = _until_option(command, line, word.end)
                    raw[parameter.name], line = rest, line[:word.start] + options
                    break
            else:
                continue
            if not raw[parameter.name]:
                raise UsageError(f"expected {parameter.kind.metavar} after {introducer!r}")  # type: ignore[union-attr]
    return line, raw


def _until_option(command: Command, line: str, start: int) -> tuple[str, str]:
    """The text from `start` to the next option of this command, and the rest."""
    for word in split(line, open_end=True):
        if word.start >= start and word.text.startswith("--") and not word.quoted:
            return line[start:word.start].strip(), " " + line[word.start:]
    return line[start:].strip(), ""


def _take_options(command: Command, words: list[Word], raw: dict[str, Any]) -> list[Word]:
    """Take options and their values out of `words` into `raw`; gives the words left."""
    left: list[Word] = []
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word.quoted or not word.text.startswith("-") or word.text == "-":
            left.append(word)
            continue
        if word.text == "--":
            return left + words[at:]
        name, equals, value = word.text.partition("=")
        parameter = _option(command, name)
        if parameter is None:
            left.append(word)
        elif parameter.kind is None:
            if equals:
                raise UsageError(f"{parameter.option} takes no value, found {value!r}")
            raw[parameter.name] = True
        elif equals:
            raw[parameter.name] = value
        elif at < len(words):
            raw[parameter.name] = words[at].text
            at += 1
        else:
            raise UsageError(f"{parameter.option} needs a value: {parameter.kind.metavar}")
    return left


def _option(command: Command, name: str) -> Parameter | None:
    """The option of that name or unique beginning; None for a word that is no option, such as -1."""
    if not name.startswith("--"):
        full = command.shorts.get(name[1:])
        if full is None:
            if len(name) > 1 and name[1].isalpha() and not command.takes_expression:
                raise _unknown_option(command, name)
            return None
        return next(p for p in command.options if p.name == full)
    exact = [p for p in command.options if p.option == name]
    near = exact or [p for p in command.options if p.option.startswith(name)]
    if len(near) == 1:
        return near[0]
    if near:
        raise UsageError(f"{name} could be {' or '.join(p.option for p in near)}", code="usage")
    raise _unknown_option(command, name)


def _unknown_option(command: Command, name: str) -> UsageError:
    known = [p.option for p in command.options]
    hint = did_you_mean(name, known) or f"usage: {command.synopsis}"
    return UsageError(f"{command.name} has no option {name}", hint)


def _positional(command: Command, plain: list[Parameter], words: list[Word], line: str, raw: dict[str, Any]) -> None:
    """Share `words` among the arguments: required ones first, then optional ones from the left."""
    required = [p for p in plain if not p.optional]
    if len(words) < len(required):
        missing = required[len(words)]
        raise UsageError(f"{command.name} needs {missing.kind.metavar}")  # type: ignore[union-attr]
    spare = len(words) - len(required)
    at = 0
    for parameter in plain:
        if parameter.optional and spare <= 0:
            continue
        if parameter.variadic:
            count = len(words) - at
            raw[parameter.name] = [word.text for word in words[at:]]
        elif parameter.kind and parameter.kind.rest:
            count = len(words) - at
            raw[parameter.name] = line[words[at].start:words[-1].end]
        else:
            count = 1
            raw[parameter.name] = words[at].text
        at += count
        spare -= count if parameter.optional else 0
    if at < len(words):
        raise UsageError(f"{command.name} takes no further argument {words[at].text!r}")


def _called(command: Command, raw: dict[str, Any], shell: Shell) -> tuple[list[Any], dict[str, Any]]:
    """Parse raw texts by their kinds."""
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for parameter in command.parameters:
        if parameter.name in raw:
            value = raw[parameter.name]
            if parameter.variadic:
                positional += [parameter.kind.parse(text, shell) for text in value]  # type: ignore[union-attr]
                continue
            value = value if parameter.kind is None else parameter.kind.parse(value, shell)
        elif parameter.variadic:
            continue
        elif not parameter.optional:
            need = f"{parameter.kind.introducer} {parameter.kind.metavar}".strip()  # type: ignore[union-attr]
            raise UsageError(f"{command.name} needs {need}")
        else:
            value = parameter.default
        if parameter.by_name:
            named[parameter.name] = value
        else:
            positional.append(value)
    return positional, named
