"""The arguments of a Parsed become the values that its command is called with."""
from __future__ import annotations

from typing import Any

from ..model.shell import Shell
from ..model.usage_error import UsageError
from .command import Command, Parameter
from .parsed import Argument, Parsed


def bind(parsed: Parsed, shell: Shell) -> tuple[list[Any], dict[str, Any]]:
    """Positional and named values of a line's command. Raises UsageError, with the columns of the mistake."""
    if parsed.fault is not None:
        raise parsed.fault
    command = parsed.command
    assert command is not None
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for parameter in command.parameters:
        given = [argument for argument in parsed.arguments if argument.parameter is parameter]
        if parameter.variadic:
            positional += [_value(argument, command, shell) for argument in given]
        elif parameter.by_name:
            named[parameter.name] = _one(parameter, given, command, shell)
        else:
            positional.append(_one(parameter, given, command, shell))
    return positional, named


def _one(parameter: Parameter, given: list[Argument], command: Command, shell: Shell) -> Any:
    if not given:
        return parameter.default
    if parameter.kind is not None and parameter.kind.introducer == "/":  # each letter may come as an option
        given = [given[0]._replace(text="".join(argument.text for argument in given))]
    return _value(given[-1], command, shell)


def _value(argument: Argument, command: Command, shell: Shell) -> Any:
    """What an argument stands for; a flag that is there is True."""
    if argument.parameter.kind is None:
        return True
    try:
        return argument.parameter.kind.parse(argument.text, shell)
    except UsageError as error:
        error.span = error.span or (argument.start, argument.end)
        error.explain(hint=f"usage: {command.synopsis}")
        raise
