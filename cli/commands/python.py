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

Code = Annotated[str, RawKind("[--keep] CODE")]
KEEP = "--keep "  # no option of the grammar, as all that follows python is Python's


@command("python", group="Shell", aliases=("py", "!"))
def python(shell: Shell, code: Code) -> Result:
    """Run Python with the script's variables, `dbg`, `tf` and `np`; shows the value of an expression.

    What it builds stands beside the script's graph, which keeps its names and lists; all commands take it by its
    Python name, or as prompt/NAME. `python --keep CODE` builds in the script's graph instead. Gradients that are built
    register with the prompt's GradientsDebugger, as far as they are watched or identified.

    Example:  python len(dbg.model.names())
              python g = tf.gradients(loss, dbg.graph.get_tensor_by_name("hidden1/Relu:0"))[0]
    """
    keep, code = code.startswith(KEEP), code.removeprefix(KEEP)
    written = io.StringIO()
    known = set(shell.dbg.debuggers.own.gradient_tensors())
    with contextlib.redirect_stdout(written):
        value = typed_python.run(shell, code, keep=keep)
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
