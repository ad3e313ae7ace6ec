"""Gradients and curvature: grad, grads, hessian."""
from __future__ import annotations

from typing import Annotated

from autodiff.debug.answers import GradRow, HessianCost
from autodiff.debug.debugger import Debugger

from ..command import command
from ..facts import bytes_in_words, shape
from ..params import ChoiceKind, IntKind, Slice, Target, Word, X, Y
from ..results import Array, Column, Result, Table, Text

Order = Annotated[int, IntKind(1)]
Budget = Annotated[int, IntKind(1, "MIB")]
By = Annotated[str, ChoiceKind("scope")]
Sort = Annotated[str, ChoiceKind("name", "norm", "max", "zero", "nan", "inf", "update")]


@command("grad", group="Gradients", aliases=("g",))
def grad(dbg: Debugger, y: Y | None, x: X, *, per_example: bool = False, order: Order = 1) -> Result:
    """Show d Y / d X, for any tensor X; built on demand, while the script's graph stays as it is.

    Y is by default the loss of the train op. If Y has several elements they are summed, and the head says so.
    per-example: one row for each example of the batch. order 2: the gradient of the gradient's sum.

    Example:  grad loss hidden1/weights
    API:      dbg.grad("hidden1/weights", "loss")
    """
    found = dbg.grad(x, y or "", order=order, per_example=per_example)
    of = f"sum({found.y}{shape(found.y_shape)})" if found.summed else found.y
    head = f"∂ {of} / ∂ {found.x}" if found.order == 1 else f"∂^{found.order} {of} / ∂ {found.x}^{found.order}"
    if found.array is None:
        return Text(f"{head} is None: {found.reason}\nwhy {found.x} says more", "warning")
    notes = tuple(note for note in (found.when, found.source) if note)
    return Array(head, found.array, f"${found.number}" if found.number else "", notes=("; ".join(notes),))


@command("grads", group="Gradients", aliases=("gs",))
def grads(dbg: Debugger, target: Target = "", *, of: Target = "", by: By = "", sort: Sort = "") -> Result:
    """Table of the gradients of all trainable variables, or of the tensors of TARGET.

    norm, max|x|, zero %, nan and inf of the gradient in the last run; update/w: norm of the variable's last change
    over its own norm (about 1e-3 is healthy); the norm over past steps as a sparkline. Missing gradients follow,
    each with its reason. by scope: one row for each name scope. of: the Y, by default the loss of the train op.

    Example:  grads --sort norm
    API:      dbg.grads(sort="norm")
    """
    table = dbg.grads(target, y=of, by=by, sort=sort)
    columns = (Column("variable" if not target else "tensor", "name"), Column("short", "name", 3),
               Column("shape", "text", 5),
               Column("norm", "number"), Column("max|x|", "number", 6), Column("zero %", "percent", 7),
               Column("nan", "bad", 8),
               Column("inf", "bad", 8), Column("update/w", "number", 6), Column("norms", "spark", 4))
    rows = tuple(_grad_row(row) for row in table.rows)
    notes = [f"no gradient: {row.name}: {row.reason}" for row in table.missing]
    if table.total_norm is not None:
        notes.insert(0, f"norm of all: {table.total_norm:.3g}")
    if table.hidden:
        notes.append(f"{table.hidden} more not shown")
    return Table(columns, rows, f"gradients of {table.y}, step {table.step}, from {table.source}", tuple(notes))


def _grad_row(row: GradRow) -> tuple:
    stats = row.stats
    name = row.name if row.count == 1 else f"{row.name} ({row.count})"
    dims = shape(row.shape) if row.count == 1 else ""
    if stats is None:
        return (name, row.short, dims, None, None, None, None, None, row.update, row.norms)
    return (name, row.short, dims, stats.norm, stats.max_abs, 100 * stats.zero_share, stats.nans, stats.infs,
            row.update,
            row.norms or None)


@command("hessian", group="Gradients", aliases=("hess",))
def hessian(dbg: Debugger, y: Y | None, x: X, *, rows: Slice | None = None, diag: bool = False, hvp: Word = "",
            budget: Budget = 256, cost: bool = False) -> Result:
    """Second derivatives of Y by X, X flattened; says what it costs, and refuses over the budget.

    rows: only these rows of the matrix. diag: only its diagonal. hvp: its product with V, an expression of X's
    shape. budget: MiB that the result may take. cost: only say what it would cost.

    Example:  hessian loss hidden2/biases --rows 0:4
    API:      dbg.hessian("hidden2/biases", "loss", rows=slice(0, 4))
    """
    kind = "hvp" if hvp else "diag" if diag else "rows" if rows is not None else "full"
    if cost:
        return Text(_cost(dbg.hessian_cost(x, y or "", rows=rows, kind=kind)))
    found = dbg.hessian(x, y or "", rows=rows, kind=kind, v=hvp, budget=budget << 20)
    what = {"full": "Hessian", "rows": "rows of the Hessian", "diag": "diagonal of the Hessian",
            "hvp": "Hessian times v"}[found.kind]
    notes = [_cost(found.cost), found.when]
    if found.asymmetry is not None:
        notes.append(f"largest |H - H'|: {found.asymmetry:.3g}")
    return Array(f"{what} of {found.y} by {found.x}", found.array, f"${found.number}" if found.number else "",
                 notes=tuple(note for note in notes if note))


def _cost(cost: HessianCost) -> str:
    passes = f"{cost.passes} pass{'es' * (cost.passes != 1)}"
    return (f"{cost.parameters} parameters, {cost.rows} rows, {passes}, {bytes_in_words(cost.bytes)}, "
            f"about {cost.seconds:.2g} s")
