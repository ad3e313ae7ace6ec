"""execute: one line becomes one Result. Prompt, screens, command files and tests all call it.

`> FILE`, `>> FILE` and `| PROGRAM` say where its output goes instead of the terminal.
"""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import traceback
from typing import Any

from autodiff.core import errors
from autodiff.core.graph import Operation
from autodiff.debug.debugger import Debugger
from autodiff.debug.facts.roles import PLACEHOLDERS, VARIABLES

from ..model.results import Error, Group, Leave, Result, Stop, Text
from ..model.shell import DEEPEST, Shell
from ..model.told_files import append_to_file, write_file
from ..model.usage_error import UsageError
from ..view.render import plain, to_json
from .command import Command, Parameter
from .parse import parse
from .parsed import Argument, Output, Parsed

CODES = {errors.UnknownNameError: "unknown_name", errors.ShapeError: "bad_shape", errors.ArgumentError: "bad_value",
         errors.DTypeError: "bad_type", errors.KindError: "bad_type", errors.NoGradientError: "no_gradient",
         errors.StateError: "wrong_moment", errors.GraphError: "graph"}


def execute(line: str, shell: Shell | Debugger) -> Result:
    """The result of one command line; failures come back as Error, never as an exception.

    An empty line and a comment give an empty Text. `> FILE`, `>> FILE` and `| PROGRAM` at the end take the output.
    """
    if not isinstance(shell, Shell):
        shell = Shell(shell)
    if shell.defining is not None:
        return _defined(line, shell)
    parsed = parse(line.strip(), shell)
    try:
        result = _executed(parsed, shell)
    except Exception as error:
        result = _noted(failed(error, parsed, script_goes_on=shell.drives_script), shell)
    if not shell.depth and result != Text():
        shell.log.append((parsed.line, result))
    return result


def typed(line: str, shell: Shell) -> str:
    """The command that a line typed by a person stands for: the empty line repeats motions and lists, `yes` is an
    answer where something was offered, and so are `no` and `n`.

    Remembers the line for `history`, and for the next empty one.
    """
    offered, shell.offered = shell.offered, ""
    answer = line.strip().lower()
    if offered and answer in ("y", "yes", "n", "no"):
        line = offered if answer.startswith("y") else offered.replace("--yes", "--no")
    if not answer:
        return "" if shell.defining or offered else shell.last
    shell.lines.append(line)
    command = parse(line, shell).command
    shell.last = line if command is not None and command.repeats else ""
    return line


def _executed(parsed: Parsed, shell: Shell) -> Result:
    if "\0" in parsed.line:
        raise UsageError("a line cannot hold the character \\0", "help")
    if not parsed.verb.text:
        return Text()
    if parsed.own:
        return _own(parsed, shell)
    if getattr(parsed.fault, "code", "") == "unknown_command":
        name = re.split(r"[\s\[(]", parsed.line.strip())[0]
        if shell.dbg.model.targets.exact(name):
            raise UsageError(f"{name!r} is a tensor, not a command", f"print {parsed.line}", code="unknown_command")
    result = _noted(_with_commands(called(parsed, shell), shell), shell)
    return sent(result, parsed.output, parsed.line) if parsed.output.kind else result


def _noted(result: Result, shell: Shell) -> Result:
    """A result, below what was done unasked for it."""
    notes = shell.dbg.model.take_notes()
    return Group((Text("\n".join(notes), "quiet"), result)) if notes else result


def called(parsed: Parsed, shell: Shell) -> Result:
    """What the command of a line gives. Raises what the command does."""
    positional, named = bind(parsed, shell)
    assert parsed.command is not None  # else there is a fault, which bind has raised
    return parsed.command.run(shell if parsed.command.wants == "shell" else shell.dbg, *positional, **named)


def _defined(line: str, shell: Shell) -> Result:
    """A line of the definition under way; `end` ends it."""
    assert shell.defining is not None
    name, lines = shell.defining
    if line.strip() != "end":
        lines += [line.strip()] if line.strip() else []
        return Text()
    shell.defined[name], shell.defining = tuple(lines), None
    return Text(f"{name} = {'; '.join(lines)}", "quiet")


def _own(parsed: Parsed, shell: Shell) -> Result:
    """Run a command that the user defined; it ends at the first part that fails."""
    name, given = parsed.own, [word.text for word in parsed.words]
    if shell.depth >= DEEPEST:
        raise UsageError(f"{name} calls itself more than {DEEPEST} deep", f"define {name} =")
    parts: list[Result] = []
    shell.depth += 1
    try:
        for part in shell.defined[name]:
            parts.append(execute(_filled(part, name, given), shell))
            if parts[-1].exit_code not in (0, 3) or isinstance(parts[-1], Leave):
                break
    finally:
        shell.depth -= 1
    return Group(tuple(part for part in parts if part != Text()))


def _filled(line: str, name: str, given: list[str]) -> str:
    """A line with $arg0, $arg1, … and $argc filled in."""
    def word(match: re.Match[str]) -> str:
        if match[1] == "c":
            return str(len(given))
        if int(match[1]) >= len(given):
            raise UsageError(f"{name} needs at least {int(match[1]) + 1} words", f"{name} …")
        return given[int(match[1])]
    return re.sub(r"\$arg(c|\d+)", word, line)


def _with_commands(result: Result, shell: Shell) -> Result:
    """At a stop whose breakpoint has commands: those are run, and shown below it."""
    parts = result.parts if isinstance(result, Group) else (result,)
    lines = [line for part in parts if isinstance(part, Stop) for line in part.data.get("commands", ())]
    if not lines or shell.depth >= DEEPEST:
        return result
    shell.depth += 1
    try:
        return Group((*parts, *(execute(line, shell) for line in lines)))
    finally:
        shell.depth -= 1


def sent(result: Result, output: Output, line: str) -> Result:
    """Write or pipe what a command has shown; an error is shown, not sent."""
    if result.exit_code == 1:
        return result
    return _piped(result, output.to) if output.kind == "|" else _written(result, output, line)


def _piped(result: Result, command: str) -> Result:
    program = command.split()[0]
    if shutil.which(program) is None:
        raise UsageError(f"no program {program!r} to pipe into", "for instance | less", code="no_program")
    done = subprocess.run(command, shell=True, input=plain(result), text=True, encoding="utf-8",
                          errors="replace", check=False, stdout=None if sys.stdout.isatty() else subprocess.PIPE)
    return Text((done.stdout or "").rstrip("\n"))


def _written(result: Result, output: Output, line: str) -> Result:
    path = os.path.expanduser(output.to)
    text = to_json(line, result) + "\n" if path.endswith(".json") else plain(result)
    (append_to_file if output.kind == ">>" else write_file)(path, text)
    wrote = Text(f"wrote {text.count(chr(10))} lines to {path}")
    return Group((result, wrote)) if result.exit_code else wrote


def failed(error: Exception, parsed: Parsed, *, script_goes_on: bool = False) -> Error:
    """The Error of what executing a line has raised. script_goes_on: `next` is a run of the script's own."""
    usual = f"help {parsed.command.name}" if parsed.command is not None else "help"
    if isinstance(error, errors.AutodiffError):
        return _expected(error, parsed, _to_type(error, script_goes_on) or error.hint or usual)
    if isinstance(error, RecursionError):
        return Error("the expression or graph is nested too deeply", "system", usual)
    if isinstance(error, (OSError, MemoryError)):
        return Error(f"{type(error).__name__}: {error}", "system", usual)
    return _bug(error)


def _expected(error: errors.AutodiffError, parsed: Parsed, hint: str) -> Error:
    span = error.span if isinstance(error, UsageError) and error.span != (0, len(parsed.line)) else None
    lines = [error.sentence or type(error).__name__, *error.places, *getattr(error, "__notes__", ())]
    fields = {"what": error.what, "expected": error.expected, "found": error.found, "node": error.node,
              "line": error.line}
    return Error("\n".join(lines), _code(error), hint, fields=fields, typed=parsed.line if span else "", span=span)


def _to_type(error: errors.AutodiffError, script_goes_on: bool) -> str:
    """What to type where an op waits for a value: the error itself says it for programs."""
    op = getattr(error, "op", None)
    if script_goes_on and isinstance(op, Operation) and op.type in (*PLACEHOLDERS, *VARIABLES):
        return f"next lets the script make its own run; a value for {op.name} comes with one"
    if isinstance(op, Operation) and op.type in PLACEHOLDERS:
        return f"feed {op.name} = VALUE gives it one"
    if isinstance(op, Operation) and op.type in VARIABLES:
        return "init gives the variables their first values"
    return ""


def _code(error: errors.AutodiffError) -> str:
    """One word for programs; of a class without one of its own, its name."""
    if isinstance(error, UsageError):
        return error.code
    spelled = "".join("_" + c.lower() if c.isupper() else c for c in type(error).__name__).strip("_")
    return next((code for kind, code in CODES.items() if isinstance(error, kind)), spelled)


def _bug(error: Exception) -> Error:
    """Something nobody expected: one line names it, the traceback comes with GRADBG_TRACE=1."""
    wanted = os.environ.get("GRADBG_TRACE", "") not in ("", "0")
    trace = "".join(traceback.format_exception(error)) if wanted else ""
    text = str(error).split("\n")[0]
    return Error(f"a bug in gradbg: {type(error).__name__}{': ' if text else ''}{text}", "bug",
                 "" if wanted else "with GRADBG_TRACE=1 in the environment it shows its traceback", trace=trace)


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
