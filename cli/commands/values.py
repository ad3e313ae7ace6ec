"""print: the value of an expression, whole or in part, marked, drawn or written to a file."""
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated

import numpy as np

from autodiff.debug.debugger import Debugger

from ..language.argument_kinds import FileName, FormatKind, IntKind, RangesKind
from ..language.command import Alias, command
from ..language.target_kinds import Condition, Expression
from ..model.results import Result, Text
from ..model.told_files import write_file
from ..model.usage_error import UsageError
from ..view.debugger_rows import array_of, shown
from .registered import debuggers_table

Format = Annotated[str, FormatKind("safhd")]
Turn = Annotated[int, IntKind(0, "N")]
Ranges = Annotated[tuple[tuple[float, float], ...], RangesKind()]
_TFDBG = {"-s": "/s", "-a": "/a", "-r": "--range", "-w": "--write", "-n": "--number", "--ranges": "--range",
          "--all": "/a", "--numeric_summary": "/s", "--write_path": "--write"}


@command("print", group="Look", aliases=("p", "pp"), shorthands={
    "pt print_tensor": Alias("print", _TFDBG), "ev eval": Alias("print", _TFDBG)})
def print_(dbg: Debugger, form: Format = "", expression: Expression = "", *, range: Ranges | None = None,
           where: Condition = "", write: FileName = "", number: Turn | None = None) -> Result:
    """Evaluate a NumPy expression over tensors, handles and $n; the value becomes the next $n.

    Slices as in NumPy: W[0:3,:]. Values are those of the last run; a variable's is its present one. /s only
    figures, /a all elements, /f NumPy's digits, /h heatmap, /d distribution. range: mark elements inside LO,HI, or
    in one of several ranges [[LO,HI],[LO,HI]]. where: mark elements that are nan, inf, nonfinite, zero, or satisfy a
    comparison such as `>3`. write: also put the value into this .npy file. grad(TARGET) is the gradient of the loss.
    number: of a tensor inside of a loop, its value in this turn, counted from 0.
    Without an expression it repeats the last value.

    Example:  print hidden1/weights[0:3,:]
    API:      dbg.evaluate("hidden1/weights[0:3,:]")
    """
    if not expression:
        if not dbg.values.kept():
            raise UsageError("print needs an expression: there is no last value", "print loss")
        expression = f"${dbg.values.kept()[-1].number}"
    if expression in dbg.debuggers.known():
        return debuggers_table(dbg.debuggers.rows(expression))
    if number is not None:
        expression = _in_turn(dbg, expression, number)
    value = dbg.evaluate(expression, keep=not re.fullmatch(r"\$\d+", expression))
    array = array_of(value)
    marked, mark = None, ""
    if (range is not None or where) and array.dtype.kind not in "fiub":
        raise UsageError(f"--range and --where look at real numbers, found {array.dtype}", f"print {expression}",
                         code="bad_value")
    if range is not None:
        marked = np.any([(array >= low) & (array <= high) for low, high in range], axis=0)
        mark = "in " + " or ".join(f"[{low:g}, {high:g}]" for low, high in range)
    elif where:
        marked, mark = _satisfying(array, where), where
    letter = next((c for c in form if c != "a"), "")
    if letter in ("h", "d") and array.dtype.kind not in "fiub":
        raise UsageError(f"/{letter} draws real numbers, found {array.dtype}", f"print {expression}", code="bad_value")
    return _written(array, write) if write else shown(value, form=letter, whole="a" in form, marked=marked, mark=mark)


def _in_turn(dbg: Debugger, expression: str, number: int) -> str:
    """The expression for the value that a tensor had in a turn of its loop. Raises UsageError for any other turn."""
    name, bracket, part = expression.strip().strip("`").partition("[")
    tensor = dbg.model.targets.one(name.strip("`"))
    if not dbg.model.targets.inner.has(tensor):
        if number:
            raise UsageError(f"{tensor.name} has one value in a run, which is number 0", f"print {expression}",
                             code="bad_value")
        return expression
    return f"`{tensor.name}`[{number}]{bracket}{part}"


def _written(array: np.ndarray, path: str) -> Result:
    write_file(path, lambda file: np.save(file, array, allow_pickle=False))
    return Text(f"wrote {array.dtype.name}{list(array.shape)}, {array.nbytes} bytes, to {path}")


def _satisfying(array: np.ndarray, where: str) -> np.ndarray:
    """Which elements satisfy a predicate of print --where. Raises UsageError."""
    tests: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "nan": np.isnan, "inf": np.isinf, "nonfinite": lambda x: ~np.isfinite(x), "zero": lambda x: x == 0,
        "positive": lambda x: x > 0, "negative": lambda x: x < 0}
    if where in tests:
        return tests[where](array)
    match = re.fullmatch(r"\s*(<=|>=|==|!=|<|>)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?inf)\s*", where)
    if not match:
        raise UsageError(f"expected nan, inf, nonfinite, zero, positive, negative or a comparison, found {where!r}",
                         "--where '>3'", code="bad_value")
    compare = {"<=": np.less_equal, ">=": np.greater_equal, "==": np.equal, "!=": np.not_equal, "<": np.less,
               ">": np.greater}[match[1]]
    return compare(array, float(match[2]))
