"""What a command raised becomes an Error: the fields of the exception, a code, and what to type next."""
from __future__ import annotations

import os
import traceback

from autodiff.core import errors
from autodiff.core.graph import Operation
from autodiff.debug.facts.roles import PLACEHOLDERS, VARIABLES

from ..model.results import Error
from ..model.usage_error import UsageError
from .parsed import Parsed

CODES = {errors.UnknownNameError: "unknown_name", errors.ShapeError: "bad_shape", errors.ArgumentError: "bad_value",
         errors.DTypeError: "bad_type", errors.KindError: "bad_type", errors.NoGradientError: "no_gradient",
         errors.StateError: "wrong_moment", errors.GraphError: "graph"}


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
