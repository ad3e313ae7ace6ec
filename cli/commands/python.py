"""Python in the midst of the script: one line, or a prompt of its own."""
from __future__ import annotations

import code as interactive
import contextlib
import io
import sys
from typing import Annotated

from ..language.argument_kinds import RawKind
from ..language.command import command
from ..model import typed_python
from ..model.results import Result, Text
from ..model.shell import Shell

Code = Annotated[str, RawKind("CODE")]


@command("python", group="Shell", aliases=("py", "!"))
def python(shell: Shell, code: Code) -> Result:
    """Run Python with the script's variables, `dbg`, `tf` and `np`; shows the value of an expression.

    Gradients that it builds register with the prompt's GradientsDebugger, as far as they are watched or identified.

    Example:  python len(dbg.model.names())
    """
    written = io.StringIO()
    known = set(shell.dbg.debuggers.own.gradient_tensors())
    with contextlib.redirect_stdout(written):
        value = typed_python.run(shell, code)
    new = [x for x in shell.dbg.debuggers.own.gradient_tensors() if x not in known]
    lines = (written.getvalue().rstrip("\n"), "" if value is None else repr(value),
             f"gradients registered: {', '.join(new)}" if new else "")
    return Text("\n".join(line for line in lines if line))


@command("interact", group="Shell")
def interact(shell: Shell) -> Result:
    """Open a prompt of Python's with the script's variables, `dbg`, `tf` and `np`; Ctrl-D comes back.

    Example:  interact
    """
    if not (shell.interactive and sys.stdin.isatty()):
        return Text("interact needs a terminal with a plain prompt (--ui line); ! CODE runs a line", "warning")
    with typed_python.namespace_of(shell) as namespace, shell.dbg.debuggers.taking_in():
        interactive.interact("Python in the script's namespace; Ctrl-D comes back", local=namespace, exitmsg="")
    return Text()
