"""Pictures: x pages through elements or draws them, plot draws curves over steps."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any

from autodiff.core.errors import AutodiffError
from autodiff.debug.debugger import Debugger

from ..language.argument_kinds import FormatKind
from ..language.command import command
from ..language.target_kinds import Expression, Target
from ..model.results import Array, Plot, Result, Text
from ..model.shell import Shell
from ..model.usage_error import UsageError
from ..view.debugger_rows import array_of, called, of_steps

Format = Annotated[str, FormatKind("hd0123456789", "/COUNT|h|d")]
PAGE = 64  # elements that x shows when it is not told how many


@command("x", group="Look", repeats=True)
def x(shell: Shell, form: Format = "", expression: Expression = "") -> Result:
    """Show COUNT elements with their indices; x alone, or an empty line, shows those after them.

    EXPR is a tensor, a slice of one, or an expression. x/h draws a heatmap: rows against columns, an element a cell,
    or the mean of a block where there is no room. x/d draws the distribution of the elements.

    Example:  x/16 hidden1/weights[0:2,:]
    API:      dbg.evaluate("hidden1/weights[0:2,:]").array
    """
    known, first, count = shell.examined
    if not expression and not known:
        raise UsageError("x needs a tensor or an expression", "x/16 loss")
    first = first if not expression else 0
    expression = expression or known
    value = shell.dbg.evaluate(expression, keep=False)
    array = array_of(value)
    notes = (value.when,) if value.when not in ("", "now") and array.ndim else ()
    letter = "".join(c for c in form if not c.isdigit())
    if letter:
        if letter not in ("h", "d"):
            raise UsageError(f"expected /h or /d or a count, found /{form}", f"x/h {expression}", code="bad_value")
        if array.dtype.kind not in "fiub":
            raise UsageError(f"x/{letter} draws real numbers, found {array.dtype}", f"x {expression}", code="bad_value")
        return Array(expression, array, form=letter, notes=notes)
    count = int(form) if form else count if first else PAGE
    if count < 1:
        raise UsageError("expected a count of at least 1", f"x/{PAGE} {expression}", code="bad_value")
    if first >= max(array.size, 1):
        shell.examined = (expression, 0, count)
        return Text(f"{expression} has {array.size} elements, all were shown; x begins again", "quiet")
    shell.examined, shell.last = (expression, first + count, count), "x"
    left = array.size - first - count
    notes = (*notes, f"… {left} more; x shows the next") if left > 0 else notes
    return Array(expression, array, notes=notes, window=(first, count))


@command("plot", group="Look")
def plot(dbg: Debugger, *targets: Target, log: bool = False) -> Result:
    """Draw the loss and the norm of all gradients over the steps so far; or the norms of TARGETs and their gradients.

    log: with a logarithmic scale. `!` marks steps whose value is not finite.

    Example:  plot --log
    API:      [record.loss for record in dbg.records]
    """
    if not dbg.records:
        raise UsageError("nothing was run yet", "next 20", code="wrong_moment")
    series = [_loss(dbg), *_gradients(dbg, "")] if not targets else [
        curve for target in targets for name in dbg.resolve(target) for curve in _of_tensor(dbg, name)]
    drawn = tuple(curve for curve in series if curve is not None)
    if not drawn:
        raise UsageError(f"no values over steps are known of {', '.join(targets) or 'a loss'}",
                         f"watch {targets[0] if targets else 'loss'}", code="unknown_name")
    return Plot(drawn, log=log)


def _loss(dbg: Debugger) -> Any:
    seen = [(step, record) for step, record in of_steps(dbg) if record.loss is not None]
    if not seen:
        return None
    name = seen[-1][1].loss_name
    values = [(step, record.loss) for step, record in seen if record.loss_name == name]
    return called(dbg, name), *map(tuple, zip(*values))


def _gradients(dbg: Debugger, target: str) -> list[Any]:
    """The norm of the gradients of all variables, or of one tensor, over the last steps."""
    try:
        table = dbg.grads(target)
    except AutodiffError:
        return []
    norms = [row.norms for row in table.rows if row.norms]
    count = max(map(len, norms), default=0)
    if not count:
        return []
    values = [_root([row[i - count] for row in norms if len(row) >= count - i]) for i in range(count)]
    last = table.at.step
    name = f"gradient of {target}" if target else f"norm of all gradients of {called(dbg, table.y)}"
    return [(name, tuple(range(last - count + 1, last + 1)), tuple(values))]


def _root(norms: Sequence[float | None]) -> float | None:
    known = [norm for norm in norms if norm is not None]
    return math.sqrt(sum(norm * norm for norm in known)) if known else None


def _of_tensor(dbg: Debugger, name: str) -> list[Any]:
    loss = _loss(dbg)
    if loss is not None and loss[0] == called(dbg, name):
        return [loss]
    found: list[Any] = []
    for is_gradient in (False, True):
        seen = [(step, sample.stats.norm) for step, r in of_steps(dbg)
                if (sample := r.sample(name, gradient=is_gradient)) is not None and sample.stats is not None]
        if seen:
            label = f"norm of the gradient of {name}" if is_gradient else f"norm of {name}"
            found.append((label, *map(tuple, zip(*seen))))
    return found or _gradients(dbg, name)
