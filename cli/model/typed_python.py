"""Python typed at the prompt: it sees the script's variables, `dbg`, `tf` and `np`, and builds beside its graph."""
from __future__ import annotations

import contextlib
import traceback
from collections.abc import Iterator
from typing import Any

import numpy as np

import autodiff

from .shell import Shell
from .usage_error import UsageError

WHERE = "python runs in the script's namespace, with dbg, tf and np"


@contextlib.contextmanager
def namespace_of(shell: Shell) -> Iterator[dict[str, Any]]:
    """The script's own namespace, together with what stands beside it; what code makes in it becomes handles."""
    namespace: dict[str, Any] = shell.script.namespace if shell.script else shell.namespace
    known = shell.script.handles() if shell.script else {}
    extra = {"dbg": shell.dbg, "np": np, "tf": autodiff, **shell.dbg.handles, **known}
    added = {name: value for name, value in extra.items() if name not in namespace}
    namespace.update(added)
    before = dict(namespace)
    try:
        yield namespace
    finally:
        for name, item in added.items():
            if namespace.get(name) is item:
                del namespace[name]
    made = {name: value for name, value in namespace.items() if before.get(name) is not value and name.isidentifier()}
    if made:
        shell.dbg.attach(handles={**shell.dbg.handles, **made})


def run(shell: Shell, code: str, *, keep: bool = False) -> Any:
    """Execute code; gives the value if it is an expression, else None. Gradients that it builds are registered.

    keep: what it builds joins the script's graph, else its layer.

    Raises UsageError with what Python says.
    """
    try:
        with namespace_of(shell) as namespace, shell.dbg.debuggers.taking_in(keep=keep):
            return _run(code, namespace)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise UsageError("".join(traceback.format_exception_only(error)).strip(), WHERE, code="python") from None


def _run(code: str, namespace: dict[str, Any]) -> Any:
    try:
        compiled = compile(code, "<python>", "eval")
    except SyntaxError:
        exec(compile(code, "<python>", "exec"), namespace)
        return None
    return eval(compiled, namespace)
