"""execute: one line becomes one Result. Prompt, screens, command files and tests all call it."""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import traceback

from autodiff.core.errors import (
    ArgumentError,
    AutodiffError,
    DTypeError,
    GraphError,
    KindError,
    NoGradientError,
    ShapeError,
    StateError,
    UnknownNameError,
)
from autodiff.debug.debugger import Debugger

from ..model.results import Error, Group, Leave, Result, Stop, Text
from ..model.shell import DEEPEST, Shell
from ..model.usage_error import UsageError
from ..view.render import plain, to_json
from .bind import bind
from .command import Command, find
from .page_lookups import SIGNS, look_up
from .tokens import Output, redirection, split, without_comment

CODES = {UnknownNameError: "unknown_name", ShapeError: "bad_shape", ArgumentError: "bad_value", DTypeError: "bad_type",
         KindError: "bad_type", NoGradientError: "no_gradient", StateError: "wrong_moment", GraphError: "graph"}
HINTS = ("did you mean", "use ", "run ", "pass ", "try ", "type ", "usage:", "feed ", "see ", "give ", "evaluate ",
         "handles: ", "name it", "initiali", "`", "load ", "train ", "print ", "watch ")


def execute(line: str, shell: Shell | Debugger) -> Result:
    """The result of one command line; failures come back as Error, never as an exception.

    An empty line and a comment give an empty Text. `> FILE`, `>> FILE` and `| PROGRAM` at the end take the output.
    """
    if not isinstance(shell, Shell):
        shell = Shell(shell)
    result = _answered(line, shell)
    if not shell.depth and result != Text():
        shell.log.append((line.strip(), result))
    return result


def typed(line: str, shell: Shell) -> str:
    """The command that a line typed by a person stands for: the empty line repeats motions and lists.

    Remembers the line for `history`, and for the next empty one.
    """
    if not line.strip():
        return "" if shell.defining else shell.last
    shell.lines.append(line)
    shell.last = line if _repeats(line) else ""
    return line


def _repeats(line: str) -> bool:
    try:
        return find(line.split()[0].partition("/")[0])[0].repeats
    except (UsageError, IndexError):
        return False


def _answered(line: str, shell: Shell) -> Result:
    try:
        return _execute(line, shell)
    except UsageError as error:
        return Error(error.message, error.code, error.hint or _help_for(line))
    except AutodiffError as error:
        return _expected(error, line)
    except (OSError, MemoryError) as error:
        return Error(f"{type(error).__name__}: {error}", "system", _help_for(line))
    except RecursionError:
        return Error("the expression or graph is nested too deeply", "system", _help_for(line))
    except Exception as error:
        return _bug(error, line)


def _execute(line: str, shell: Shell) -> Result:
    if "\0" in line:
        raise UsageError("a line cannot hold the character \\0", "help")
    if shell.defining is not None:
        return _defined(line, shell)
    line = without_comment(_expand(line, shell))
    if not line:
        return Text()
    if line.split()[0] in shell.defined:
        return _own(line, shell)
    if line.startswith(SIGNS):
        return look_up(line, shell)
    command, words, rest = _parted(line)
    cut, output = redirection(line)
    if output.kind and not _keeps_output(command) and _is_redirection(command, output):
        rest = cut[len(line) - len(rest):]
    else:
        output = Output()
    result = _with_commands(run_command(command, f"{words} {rest}".strip(), shell), shell)
    return _sent(result, output, line) if output.kind else result


def _defined(line: str, shell: Shell) -> Result:
    """A line of the definition under way; `end` ends it."""
    assert shell.defining is not None
    name, lines = shell.defining
    if line.strip() != "end":
        lines += [line.strip()] if line.strip() else []
        return Text()
    shell.defined[name], shell.defining = tuple(lines), None
    return Text(f"{name} = {'; '.join(lines)}", "quiet")


def _own(line: str, shell: Shell) -> Result:
    """Run a command that the user defined; it ends at the first part that fails."""
    name, *given = (word.text for word in split(line))
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


def _parted(line: str) -> tuple[Command, str, str]:
    """The command, the words its alias adds, and the rest of the line."""
    end = next((i for i, c in enumerate(line) if c.isspace() or c in "/=>|\"'[(" and i), len(line))
    verb = line[:end]
    if verb not in (".", "!") and verb[0] in "./":
        end = next((i for i, c in enumerate(line) if c.isspace()), len(line))
        verb = line[:end]
    command, words = find(verb)
    return command, words.partition(" ")[2], line[end:]


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


def run_command(command: Command, rest: str, shell: Shell) -> Result:
    """Bind the rest of a line to a command's signature and run it."""
    positional, named = bind(command, rest, shell)
    return command.run(shell if command.wants == "shell" else shell.dbg, *positional, **named)


def _expand(line: str, shell: Shell) -> str:
    """Replace the user's own alias at the front, as often as there is one."""
    for _ in range(10):
        verb, space, rest = line.strip().partition(" ")
        if verb not in shell.aliases:
            return line
        line = shell.aliases[verb] + space + rest
    raise UsageError(f"the alias {verb!r} stands for itself", f"alias {verb} =")


def _keeps_output(command: Command) -> bool:
    return command.name in ("python", "alias", "define", "commands", "expect")


def _is_redirection(command: Command, output: Output) -> bool:
    """Whether `> X` or `| X` is a redirection: in a command that takes expressions it may be part of one."""
    if not command.takes_expression:
        return True
    if output.kind == "|":
        return shutil.which((output.to.split() or [""])[0]) is not None
    try:
        float(output.to)
        return False
    except ValueError:
        return not output.to or "." in output.to or os.sep in output.to


def _sent(result: Result, output: Output, line: str) -> Result:
    """Write or pipe what a command has shown; an error is shown, not sent."""
    if not output.to:
        what = "a file name after >" if output.kind != "|" else "a program after |"
        raise UsageError(f"expected {what}",
                         "for instance > grads.txt" if output.kind != "|" else "for instance | less")
    if result.exit_code == 1:
        return result
    if output.kind == "|":
        program = output.to.split()[0]
        if shutil.which(program) is None:
            raise UsageError(f"no program {program!r} to pipe into", "for instance | less", code="no_program")
        done = subprocess.run(output.to, shell=True, input=plain(result), text=True, encoding="utf-8", check=False,
                              stdout=None if sys.stdout.isatty() else subprocess.PIPE)
        return Text((done.stdout or "").rstrip("\n"))
    path = os.path.expanduser(output.to)
    text = to_json(line, result) + "\n" if path.endswith(".json") else plain(result)
    try:
        with open(path, "a" if output.kind == ">>" else "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"cannot write {path!r}: {error.strerror}", "give another file name", code="system") from None
    wrote = Text(f"wrote {text.count(chr(10))} lines to {path}")
    return Group((result, wrote)) if result.exit_code else wrote


def _help_for(line: str) -> str:
    try:
        return f"help {find(line.split()[0])[0].name}"
    except (UsageError, IndexError):
        return "help"


def _expected(error: AutodiffError, line: str) -> Error:
    """A failure of the library as an Error: its last line is the hint if it says what to do."""
    lines = [text.strip() for text in [error.message, *getattr(error, "__notes__", ())] if text]
    lines = "\n".join(lines).split("\n")
    hint = next((text for text in reversed(lines[1:]) if text.lower().startswith(HINTS)), "")
    if hint:
        lines.remove(hint)
    name = type(error).__name__
    spelled = "".join("_" + c.lower() if c.isupper() else c for c in name).strip("_")
    code = next((code for kind, code in CODES.items() if isinstance(error, kind)), spelled)
    return Error("\n".join(lines) or name, code, hint or _help_for(line))


def _bug(error: Exception, line: str) -> Error:
    """Something nobody expected: one line names it, the traceback comes with GRADBG_TRACE=1."""
    wanted = os.environ.get("GRADBG_TRACE", "") not in ("", "0")
    trace = "".join(traceback.format_exception(error)) if wanted else ""
    text = str(error).split("\n")[0]
    return Error(f"a bug in gradbg: {type(error).__name__}{': ' if text else ''}{text}", "bug",
                 "" if wanted else "with GRADBG_TRACE=1 in the environment it shows its traceback",
                 trace=trace)
