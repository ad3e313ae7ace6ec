"""The shell itself: source, expect, display, help, history, python, quit."""
from __future__ import annotations

import ast
from typing import Annotated

from autodiff.core.errors import AutodiffError
from autodiff.debug.language.conditions import WORDS, Condition, parse_condition

from ..language import manual
from ..language.argument_kinds import CommandName, Count, FileName, RawKind
from ..language.command import COMMANDS, command, find
from ..language.interpreter import execute
from ..language.target_kinds import Asserted, Expression
from ..model import told_files as trusting
from ..model.results import Column, Error, Group, Leave, Result, Table, Text, located
from ..model.shell import DEEPEST, Shell
from ..model.told_files import command_lines
from ..model.usage_error import UsageError
from ..view.debugger_rows import array_of
from . import standing

Code = Annotated[str, RawKind("CODE")]


@command("help", group="Shell", aliases=("h", "?"))
def help_(shell: Shell, topic: CommandName = "") -> Result:
    """List the commands, or explain one.

    Example:  help grads
    """
    if not topic:
        return manual.overview()
    if (name := " ".join(topic.split())) in COMMANDS:
        return Text(manual.page(COMMANDS[name]))
    return Text(manual.page(find(topic)[0]))


@command("source", group="Shell", aliases=(".",))
def source(shell: Shell, file: FileName, *, trust: bool = False) -> Result:
    """Run the commands in a file, a line each; stops at the first that fails.

    trust: from now on, and as long as it stays as it is, the file runs by itself where it is called .gradbgrc and
    gradbg starts in its directory.

    Example:  source scripts/commands/tour.gradbg
    """
    if shell.depth >= DEEPEST:
        raise UsageError(f"files source each other more than {DEEPEST} deep", "take one source line out")
    lines = command_lines(file)
    if trust:
        try:
            trusting.trust(file)
        except OSError as error:
            raise UsageError(f"cannot trust {file!r}: {error.strerror}", f"source {file}", code="system") from None
    parts: list[Result] = []
    shell.depth += 1
    try:
        for number, line in enumerate(lines, 1):
            result = located(execute(line, shell), file, number, line)
            if result != Text():
                parts.append(result)
            if isinstance(result, Leave) or result.exit_code not in (0, 3):
                break
    finally:
        shell.depth -= 1
    return Group(tuple(parts))


@command("expect", group="Diagnose")
def expect(shell: Shell, expression: Asserted) -> Result:
    """Assert that an expression or a predicate is true; a false one ends batch mode with exit code 3.

    A NumPy expression over tensors, as print takes it; or a predicate, as break takes it after `if`, of the last run or
    the step looked at: expect not nan(logits) and norm(grad(W)) < 10.

    Example:  expect loss < 100
    API:      dbg.evaluate("loss < 100").array.all(), dbg.holds("not nan(loss)")
    """
    condition = _predicate(expression)
    if condition is not None and any(map(condition.asks, WORDS)):
        return _expected(expression, shell.dbg.holds(expression))
    try:
        value = array_of(shell.dbg.evaluate(expression, keep=False))
    except AutodiffError:
        if not shell.dbg.records or condition is None:
            raise
        return _expected(expression, shell.dbg.holds(expression))
    if value.dtype != bool:
        raise UsageError(f"expected a comparison, found {value.dtype.name} in {expression!r}",
                         f"expect {expression} == 0", code="bad_value")
    count = f" in {int((~value).sum())} of {value.size} elements" if value.ndim else ""
    return _expected(expression, bool(value.all()), count)


def _expected(expression: str, is_true: bool, count: str = "") -> Result:
    if is_true:
        return Text(f"true: {expression}", "good")
    condition = _predicate(expression)
    hint = f"print {condition.others[0].target}" if condition is not None and condition.others else \
        "info run" if condition is not None and condition.asks_target else f"print {_left(expression)}"
    return Error(f"expectation is false{count}: {expression}", "expectation", hint, status=3)


def _predicate(text: str) -> Condition | None:
    """The predicate that a text is; None if it is none."""
    try:
        return parse_condition(text)
    except AutodiffError:
        return None


def _left(expression: str) -> str:
    """The left side of a comparison, for printing."""
    try:
        tree = ast.parse(expression, mode="eval").body
    except SyntaxError:
        return expression
    return ast.unparse(tree.left) if isinstance(tree, ast.Compare) else expression


@command("display", group="Look")
def display(shell: Shell, expression: Expression = "") -> Result:
    """Show an expression now and at each stop; without one, those that are shown there.

    Example:  display hidden1/biases[0:4]
    """
    if not expression:
        return displays(shell)
    shell.displays.append(expression)
    return Group((Text(f"shown at each stop: {expression}"), standing.displayed(shell, expression)))


@command("info display", group="Look")
def displays(shell: Shell) -> Result:
    """Show what display shows at each stop, with the numbers that undisplay takes.

    Example:  info display
    """
    parts = [part for number, text in enumerate(shell.displays, 1)
             for part in (Text(f"{number}: {text}", "quiet"), standing.displayed(shell, text))]
    return Group(tuple(parts)) if parts else Text("nothing is shown at stops; display EXPR has it shown", "quiet")


@command("undisplay", group="Look")
def undisplay(shell: Shell, expression: Expression = "") -> Result:
    """Show an expression at stops no more: by its words, or its number in display; without one, none of them.

    Example:  undisplay hidden1/biases[0:4]
    """
    numbers = {str(number): text for number, text in enumerate(shell.displays, 1)}
    gone = [numbers.get(expression, expression)] if expression else list(shell.displays)
    if not set(gone) <= set(shell.displays):
        raise UsageError(f"nothing of that name is shown at stops: {expression!r}", "display lists what is")
    shell.displays[:] = [text for text in shell.displays if text not in gone]
    return Text(f"{len(gone)} display{'s' * (len(gone) != 1)} forgotten")


@command("history", group="Shell")
def history(shell: Shell, lines: Count = 20) -> Result:
    """Show the last N lines typed, and the values $1, $2, … so far.

    Example:  history 10
    """
    first = max(len(shell.lines) - lines, 0)
    typed = Text("\n".join(f"{number:>4}  {line}" for number, line in enumerate(shell.lines[first:], first + 1)))
    values = shell.dbg.values.kept()[-lines:]
    if not shell.lines and not values:
        return Text("nothing was typed and no value printed yet", "quiet")
    if not values:
        return typed
    rows = tuple((f"${v.number}", v.expression, f"{v.stats.dtype}[{','.join(map(str, v.stats.shape))}]",
                  v.when) for v in values)
    return Group((typed, Table((Column("value", "name"), Column("expression"), Column("type"), Column("from")), rows)))


@command("quit", group="Shell", aliases=("q", "exit"))
def quit_(shell: Shell) -> Result:
    """Leave; a script that waits is ended.

    Example:  quit
    """
    return Leave()
