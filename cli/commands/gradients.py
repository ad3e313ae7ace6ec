"""Gradients and curvature: grad, grads, explain, hessian."""
from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np

from autodiff.core.errors import FailedPreconditionError, InvalidArgumentError
from autodiff.debug.analysis.gradient_tree import Factor
from autodiff.debug.debugger import Debugger
from autodiff.debug.engine.questions.gradients import AGGREGATIONS
from autodiff.debug.facts.derivative_answers import (
    Eigen,
    Examples,
    GradientPart,
    GradientsOf,
    GradRow,
    HessianCost,
    Spectrum,
    Stages,
)
from autodiff.debug.facts.derivative_answers import Hessian as SecondDerivatives
from autodiff.debug.facts.records import Stats
from autodiff.debug.facts.roles import is_variable

from ..language.argument_kinds import ChoiceKind, Count, IntKind, Slice, Workers
from ..language.command import command
from ..language.target_kinds import Expressions, Target, Targets, X, Y, Ys
from ..model.results import Array, Axis, Column, Hessian, Result, Table, Text
from ..model.usage_error import UsageError
from ..view.debugger_rows import FIGURES, bytes_in_words, called, computed_here, figures, place, shape
from ..view.drawn.progress import counted
from ..view.text import count_of, number

Order = Annotated[int, IntKind(1)]
Jobs = Annotated[int, IntKind(1)]
Budget = Annotated[int, IntKind(1, "MIB")]
Unconnected = Annotated[str, ChoiceKind("none", "zero")]
Aggregation = Annotated[str, ChoiceKind(*AGGREGATIONS)]
By = Annotated[str, ChoiceKind("scope")]
_BEGIN, _END = 7, 6  # factors of a long chain that are shown
Sort = Annotated[str, ChoiceKind("name", "norm", "max", "zero", "nan", "inf", "update")]


@command("grad", group="Gradients", aliases=("g",))
def grad(dbg: Debugger, ys: Ys | None, x: X, *more: X, per_example: bool = False, order: Order = 1,
         top: Count | None = None, stages: bool = False, weights: Expressions = (), stop: Targets = (),
         unconnected: Unconnected = "none", aggregation: Aggregation = "") -> Result:
    """Show d Y / d X, for any tensor X; built on demand, while the script's graph stays as it is.

    One argument is X, and Y is then the loss of the train op. If Y has several elements they are summed, and the
    head says so. Several Ys are one argument with commas, and are summed too; several Xs give a table.
    weights: what each Y receives in place of ones (grad_ys). stop: tensors to hold constant (stop_gradients).
    unconnected: None or zeros where no way leads to X. aggregation: how terms are added.
    per-example: one row for each example of the batch; Y is then a vector, or the mean or sum of one. top: only
    the figures of the N examples with the largest gradients. order 2: the gradient of the gradient's sum. stages:
    the figures of X's gradient raw, as its update was given it, and of X's change.

    Example:  grad loss hidden1/weights
              grad loss,logits hidden1/weights hidden1/biases --weights 1,0.5 --stop hidden2/weights
    API:      dbg.grad("hidden1/weights", "loss"), dbg.gradients.examples("hidden1/weights", "losses"),
              dbg.gradients_with.of(["hidden1/weights"], ["loss", "logits"], weights=["1", "0.5"])
    """
    if more or len(ys or ()) > 1 or weights or stop or unconnected != "none" or aggregation:
        if per_example or top is not None or stages or order != 1:
            raise UsageError("--per-example, --top, --stages and --order are of one Y by one X",
                             "grad loss X --order 2")
        return gradients_result(dbg.gradients_with.of((x, *more), ys or (), weights=weights, stops=stop,
                                                      unconnected=unconnected, aggregation=aggregation))
    y = ys[0] if ys else ""
    if stages:
        return _stages(dbg.stages(y), dbg.resolve(x))
    if top is not None:
        return _examples(dbg.gradients.examples(x, y, top=top))
    found = dbg.grad(x, y, order=order, per_example=per_example)
    of = f"sum({found.y}{shape(found.y_shape)})" if found.summed else called(dbg, found.y)
    head = f"∂ {of} / ∂ {found.x}" if found.order == 1 else f"∂^{found.order} {of} / ∂ {found.x}^{found.order}"
    if found.array is None:
        return Text(f"{head} is None: {found.reason}\nwhy {found.x} says more", "warning")
    notes = tuple(note for note in (found.when, found.source) if note)
    return Array(head, found.array, f"${found.number}" if found.number else "", notes=("; ".join(notes),))


@command("grads", group="Gradients", aliases=("gs",))
def grads(dbg: Debugger, target: Target = "", *, of: Target = "", by: By = "", sort: Sort = "",
          stages: bool = False) -> Result:
    """Table of the gradients of all trainable variables, or of the tensors of TARGET.

    norm, max|x|, zero %, nan and inf of the gradient in the last run; update/w: norm of the variable's last change
    over its own norm (about 1e-3 is healthy); the norm over past steps as a sparkline. Missing gradients follow,
    each with its reason. by scope: one row for each name scope. of: the Y, by default the loss of the train op.
    stages: the norms raw, as the update op was given them (clipped), and of the change applied to the variable.

    Example:  grads --sort norm
    API:      dbg.grads(sort="norm"), dbg.stages()
    """
    if stages:
        return _stages(dbg.stages(of), dbg.resolve(target) if target else ())
    try:
        table = dbg.grads(target, y=of, by=by, sort=sort)
    except FailedPreconditionError as error:  # a dataset or queue that no run has taken from
        if target or of or error.op is None or any(dbg.at(record).is_step for record in dbg.records):
            raise
        return Text(f"no run so far took what the loss needs: {error.op.name} has given nothing\nnext, or run --times "
                    "N, goes on to a run that trains", "warning")
    except InvalidArgumentError as error:
        op = error.op
        if target or of or not dbg.records or getattr(op, "type", "") != "Placeholder":
            raise
        return Text(f"no run so far feeds all that the loss needs: {op.name} is missing\nnext, or run --times N, goes "
                    f"on to a run that trains; feed {op.name} = VALUE gives it a value for questions", "warning")
    columns: tuple[Column, ...] = (
        Column("variable" if not target else "tensor", "name"), Column("short", "name", 3), Column("shape", "text", 5),
        Column("norm", "number"), Column("max|x|", "number", 6), Column("zero %", "percent", 7),
        Column("nan", "bad", 8), Column("inf", "bad", 8), Column("update/w", "number", 6), Column("norms", "spark", 8))
    rows = tuple(_grad_row(row) for row in table.rows)
    handles = [handle if (handle := dbg.model.spoken(row.name)).isidentifier() else "" for row in table.rows]
    if any(handle and handle != row.name.removesuffix(":0") for handle, row in zip(handles, table.rows)):
        columns = (columns[0], Column("handle", "text", 4), *columns[1:])
        rows = tuple((row[0], handle, *row[1:]) for handle, row in zip(handles, rows))
    notes = [f"no gradient: {row.name}: {row.reason}" for row in table.missing]
    if table.total_norm is not None:
        notes.insert(0, f"norm of all: {table.total_norm:.3g}")
    if table.hidden:
        notes.append(f"{table.hidden} more not shown")
    if not target:
        notes += _registered_too(dbg, {row.name for row in table.rows})
    title = f"gradients of {called(dbg, table.y)}, {table.at}, from {table.source}"
    return Table(columns, rows, title, tuple(notes))


def _registered_too(dbg: Debugger, known: set[str]) -> list[str]:
    """What GradientsDebuggers have besides the gradients of variables."""
    found = [(row.name, [x for x in row.registered if x not in known]) for row in dbg.debuggers.rows()]
    return [f"{name} has gradients of {', '.join(xs[:6])}{' …' * (len(xs) > 6)} too: gradient_tensors shows them"
            for name, xs in found if xs]


def _grad_row(row: GradRow) -> tuple:
    stats = row.stats
    name = row.name if row.count == 1 else f"{row.name} ({row.count})"
    dims = shape(row.shape) if row.count == 1 else ""
    if stats is None:
        return (name, row.short, dims, None, None, None, None, None, row.update, row.norms)
    return (name, row.short, dims, stats.norm, stats.max_abs, 100 * stats.zero_share, stats.nans, stats.infs,
            row.update,
            row.norms or None)


@command("explain", group="Diagnose")
def explain(dbg: Debugger, x: X, *, of: Target = "") -> Result:
    """Write out the chain rule from the loss to X: each factor, its op and line, with the numbers of the last run.

    Along the path that carries most. A factor between numbers is the derivative itself; between tensors it is by how
    much the norm of the gradient changes. gradient: at the input of the op, over all paths. of: the Y, by default the
    loss of the train op.

    Example:  explain hidden1/biases
    API:      dbg.explain.chain("hidden1/biases", "loss")
    """
    found = dbg.explain.chain(x, of)
    if not found.factors:
        return Text(f"no gradient flows from {found.y} to {found.x}; why {found.x} says why", "warning")
    rows = [_row(factor) for factor in found.factors]
    if len(rows) > _BEGIN + _END:
        left_out = found.factors[_BEGIN:-_END]
        known = [factor.value for factor in left_out if factor.value is not None]
        rows[_BEGIN:-_END] = [(f"… {len(left_out)} factors", "", "", math.prod(known) if len(known) == len(left_out)
                               else None, left_out[-1].gradient, "")]
    columns = (Column("factor"), Column("op", "text", 7), Column("shapes", "text", 4), Column("is", "number"),
               Column("gradient", "number", 6), Column("made at", "place", 8))
    values = [factor.value for factor in found.factors if factor.value is not None]
    notes = []
    if len(values) == len(found.factors):
        what = "multiplied" if all(factor.is_number for factor in found.factors) else "gains multiplied"
        notes.append(f"{what}: {number(math.prod(values))}")
    fix, named = dbg.state.overrides.overlay, dbg.model.targets.named
    if fix is not None and any((op := named(factor.op)) is not None and fix.replaces(op) for factor in found.factors):
        notes.append(f"factors of what the fix replaces are of the script as it is written, not of its runs with "
                     f"{fix.words}")
    if found.paths > 1:
        notes.append(f"{found.paths} paths lead there, this one carries most; the gradient is the sum over all; "
                     f"path {found.y} {found.x} draws them")
    if found.gradient is not None:
        notes.append(f"∂ {found.y} / ∂ {found.x} = {number(found.gradient)}" if found.factors[-1].shapes[1] == ()
                     else f"norm of ∂ {found.y} / ∂ {found.x} = {number(found.gradient)}")
    return Table(columns, tuple(rows), f"∂ {found.y} / ∂ {found.x}, factor by factor, {found.when}", tuple(notes))


def _row(factor: Factor) -> tuple:
    above, below = (name.removesuffix(":0") for name in (factor.output, factor.input))
    shapes = " by ".join(map(shape, factor.shapes))
    return f"∂ {above} / ∂ {below}", factor.op_type, shapes, factor.value, factor.gradient, place(factor.place)


@command("hessian", group="Gradients", aliases=("hess",))
def hessian(dbg: Debugger, y: Y | None, x: X, *more: X, rows: Slice | None = None, diag: bool = False,
            hvp: Expressions = (), eig: Count | None = None, verify: bool = False, budget: Budget = 256,
            cost: bool = False, jobs: Jobs = 1, spectrum: bool = False, on: Workers = "") -> Result:
    """Second derivatives of Y by X, X flattened; says what it costs, and refuses over the budget.

    One argument is X; of several the first is Y, if it is no variable; Y alone is by all variables that it trains.
    Several Xs are taken together, one behind the other: the matrix then has the block of each pair, the mixed ones too.
    rows: only these rows of the matrix. diag: only its diagonal. hvp: its product with V, an expression of X's
    shape, or one for each X. eig: the K eigenvalues of largest absolute value, by products alone, each with its
    residual |Hv - λv|; verify: the residuals from products made anew. budget: MiB that the result may take. cost: only
    say what it would cost. Ctrl-C keeps the rows that are finished. spectrum: how the eigenvalues are spread, by
    stochastic Lanczos quadrature; exact up to 512 parameters. on: where rows and the spectrum are computed, the same to
    the bit: threads, processes, or the workers of a dask cluster. jobs N: on threads:N.

    Example:  hessian loss hidden2/biases --rows 0:4
    API:      dbg.hessian("hidden2/biases", "loss", rows=slice(0, 4)), dbg.hessians.eigen("hidden2/biases"),
              dbg.hessian(("hidden2/biases", "hidden1/biases"), kind="diag"), dbg.hessians.cost("hidden2/biases"),
              dbg.hessians.spectrum("hidden2/biases"), dbg.hessian("hidden2/biases", executor=ThreadPoolExecutor(2))
    """
    xs = (x, *more)
    if y and dbg.model.y and is_variable(dbg.model.targets.one(y)):
        xs, y = (y, *xs), None
    elif not y and dbg.model.targets.one(x).name == dbg.model.y:
        xs, y = (), x
    on = on or (f"threads:{jobs}" if jobs > 1 else "")
    if on and (eig is not None or hvp or cost):
        raise UsageError("--on is for rows, --diag and --spectrum", "one product needs one worker: leave it out")
    if spectrum:
        with counted("probes") as report, dbg.workers(on) as executor:
            return _spectrum(dbg.hessians.spectrum(xs, y or "", executor=executor, report=report))
    if eig is not None:
        return _eigen(dbg.hessians.eigen(xs, y or "", count=eig, verify=verify))
    kind = "hvp" if hvp else "diag" if diag else "rows" if rows is not None else "full"
    if cost:
        return Text(_cost(dbg.hessians.cost(xs, y or "", rows=rows, kind=kind)))
    with counted("rows") as report, dbg.workers(on) as executor:
        found = dbg.hessian(xs, y or "", rows=rows, kind=kind, v=hvp, budget=budget << 20, executor=executor,
                            report=report)
    return _hessian(dbg, found, (rows.start or 0) if rows is not None else 0)


def _hessian(dbg: Debugger, found: SecondDerivatives, first: int) -> Result:
    """first: the number of the first row, from the end if it is negative."""
    what = {"full": "Hessian", "rows": "rows of the Hessian", "diag": "diagonal of the Hessian",
            "hvp": "Hessian times v"}[found.kind]
    notes = [_cost(found.cost), found.when]
    notes += computed_here(found.here)
    if not found.complete:
        notes.insert(0, f"stopped by Ctrl-C: {len(found.array)} of {found.cost.rows} rows")
    ref = f"${found.number}" if found.number else ""
    name, said = f"{what} of {called(dbg, found.y)} by {found.x}", tuple(note for note in notes if note)
    if found.kind not in ("full", "rows"):
        return Array(name, found.array, ref, notes=said)
    return Hessian(name, found.array, ref, notes=said, axes=tuple(Axis(*axis) for axis in found.axes),
                   first=first if first >= 0 else found.cost.parameters + first, asymmetry=found.asymmetry)


def _spectrum(found: Spectrum) -> Table:
    rows = tuple((float(low), float(high), 100 * float(share), 100 * float(error), float(share) * found.parameters)
                 for low, high, share, error in zip(found.edges, found.edges[1:], found.shares, found.errors))
    columns = (Column("from", "number"), Column("to", "number"), Column("share %", "percent"),
               Column("± %", "percent", 5), Column("eigenvalues", "number"))
    how = "exact" if found.exact else f"estimated by {found.products} products with {len(found.nodes)} random vectors"
    return Table(columns, rows, f"eigenvalues of the Hessian of {found.y} by {found.x}, {found.parameters} parameters",
                 (f"{how}; {found.when}", f"sum: {found.trace:.3g}; below zero: {100 * found.negative:.3g} %",
                  *computed_here(found.here)))


def _eigen(found: Eigen) -> Table:
    size = max(abs(float(found.values[0])), 1e-300)
    rows = tuple((i + 1, float(value), float(residual), float(residual) / size)
                 for i, (value, residual) in enumerate(zip(found.values, found.residuals)))
    columns = (Column("#", "count"), Column("eigenvalue", "number"), Column("residual |Hv - λv|", "number"),
               Column("relative", "number", 5))
    return Table(columns, rows, f"largest eigenvalues of the Hessian of {found.y} by {found.x}, "
                                f"{found.parameters} parameters", (f"{found.products} products, {found.when}",))


def _examples(found: Examples) -> Table:
    rows = tuple((index, *figures(stats)) for index, stats in found.rows)
    return Table((Column("example", "count"), *FIGURES), rows, f"∂ {found.y} / ∂ {found.x}, example by example",
                 (f"{len(rows)} of {found.count} examples, largest norm first; {found.when}",))


def _stages(found: Stages, names: tuple[str, ...]) -> Table:
    def norm(stats: Stats | None) -> float | None:
        if stats is None:
            return None
        return math.nan if stats.nans else math.inf if stats.infs else stats.norm

    rows = tuple((row.name, norm(row.raw), norm(row.given), norm(row.change), row.update_op,
                  ", ".join(row.between[:2]) + (" …" if len(row.between) > 2 else ""))
                 for row in found.rows if not names or row.name in names)
    columns = (Column("variable", "name"), Column("raw", "number"), Column("clipped", "number"),
               Column("applied", "number"), Column("by", "name", 5), Column("passes", "name", 2))
    return Table(columns, rows, f"norms of the gradients of {found.y} in stages, {found.at}",
                 ("raw: from backpropagation; clipped: what the update op was given; applied: change of the variable",
                  *found.notes))


def _cost(cost: HessianCost) -> str:
    passes = f"{cost.passes} pass{'es' * (cost.passes != 1)}"
    return (f"{count_of(cost.parameters, 'parameter')}, {count_of(cost.rows, 'row')}, {passes}, "
            f"{bytes_in_words(cost.bytes)}, about {cost.seconds:.2g} s")


def gradients_result(found: GradientsOf) -> Result:
    """One x as a value, several as a table; with what was held constant."""
    weighted = [f"{weight} * {y}" for weight, y in zip(found.weights, found.ys)] or list(found.ys)
    of = weighted[0] if len(weighted) == 1 and not found.weights else f"({' + '.join(weighted)})"
    notes = _notes(found)
    if len(found.parts) > 1:
        columns = (Column("x", "name"), Column("gradient", "name", 8), Column("shape", "text", 6),
                   Column("value", "text", 5), Column("norm", "number"), Column("none because", "text", 4))
        used = columns if any(part.reason for part in found.parts) else columns[:-1]
        return Table(used, tuple(_cells(part)[:len(used)] for part in found.parts), f"∂ {of} / ∂ x", notes)
    part = found.parts[0]
    head = f"∂ {of} / ∂ {part.x}"
    if part.array is None:
        return Text("\n".join((f"{head} is None: {part.reason}", *notes, f"why {part.x} says more; --unconnected zero "
                               "gives zeros in its place")), "warning")
    return Array(head, np.asarray(part.array), f"${part.number}", notes=notes)


def _notes(found: GradientsOf) -> tuple[str, ...]:
    notes = [found.when, "built on demand"]
    if found.held:
        notes.append(f"held constant: {', '.join(found.held)}")
    lines = ["; ".join(note for note in notes if note)]
    if found.own:
        lines.append(f"{', '.join(found.own)}: held constant {'itself' if len(found.own) == 1 else 'themselves'}, so "
                     "what is left is the partial derivative, without the ways through the others")
    return tuple(lines)


def _cells(part: GradientPart) -> tuple[Any, ...]:
    if part.array is None:
        return (part.x, "None", "", "", None, part.reason)
    array = np.asarray(part.array)
    return (part.x, f"${part.number}", shape(array.shape), _written(array), part.stats.norm if part.stats else None, "")


def _written(array: np.ndarray, most: int = 4) -> str:
    """The elements of a small array; empty for a larger one."""
    if array.size > most or array.dtype.kind not in "fiu":
        return ""
    items = [number(item) for item in array.reshape(-1).tolist()]
    return items[0] if array.ndim == 0 else f"[{', '.join(items)}]"
