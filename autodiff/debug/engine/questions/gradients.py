"""Gradients and curvature, in tables and alone."""
from __future__ import annotations

from typing import Any

import numpy as np

from ....core.errors import ArgumentError, AutodiffError
from ....core.graph import Graph, Tensor
from ....runtime.session import Session
from ...analysis.why import why_none
from ...derivatives.curvature import Curvature, Report
from ...derivatives.spectrum import ROUNDING, binned
from ...facts.answers import Eigen, Examples, Gradient, GradRow, GradTable, Hessian, HessianCost, Spectrum
from ...facts.graph_lists import trainable_tensors
from ...facts.roles import is_variable, place_of
from ...facts.stats import statistics
from ...history.replay import Moment
from ...language.targets import is_forward
from .evaluate import Valuing, plain

_SPARK = 20  # runs in the history of a norm
_SORTS = ("name", "norm", "max", "zero", "nan", "inf", "update")


class Differentiating(Valuing):
    """Gives derivatives of anything by anything, in the last run."""

    def _begin(self, graph: Graph, session: Session | None) -> None:
        super()._begin(graph, session)
        self._spark: dict[tuple[int, Any], float | None] = {}

    # ---- gradients ----------------------------------------------------------------------
    def grad(self, x: str, y: str = "", *, order: int = 1, per_example: bool = False,
             step: int | None = None) -> Gradient:
        """d y / d x, x any tensor; built on demand, the script's graph looks as before.

        order: 2 gives d (sum of the gradient) / d x, and so on. per_example: one row for each element of y.
        """
        top, bottom = self._y_of(y), self.targets.one(x)
        if order < 1:
            raise ArgumentError(f"expected an order of at least 1, found {order}")
        at = self._moment_for([top, bottom], step)
        shape = None if top.dims is None or None in top.dims else tuple(top.dims)
        if self.targets.inner.has(bottom):
            return self._gradient_inside(top, bottom, at, order, per_example)
        if per_example:
            return self._per_example(top, bottom, at)
        tensor, call = self.derivatives.gradient(top, bottom)
        for _ in range(order - 1):
            if tensor is not None:
                tensor, call = self.derivatives.gradient(self.derivatives.dense(tensor), bottom)
        source = "the script's gradient call" if order == 1 and call is self.derivatives.script_call(top) else (
            "built on demand")
        summed = shape != ()
        if tensor is None:
            reason = why_none(top, bottom).text if order == 1 else "the gradient does not depend on it: it is constant"
            return Gradient(top.name, bottom.name, shape, summed, order, None, None, 0, self._when(at), source, reason)
        value = plain(self._values([tensor], at)[0])
        kept = self._keep(f"grad {top.name} {bottom.name}", value, self._when(at), (bottom.name,), statistics(value),
                          keep=True)
        return Gradient(top.name, bottom.name, shape, summed, order, value, kept.stats, kept.number, kept.when, source)

    def _gradient_inside(self, y: Tensor, x: Tensor, at: Moment, order: int, per_example: bool) -> Gradient:
        if order > 1 or per_example:
            raise ArgumentError(f"{x.name!r} is inside of a branch or loop: only its first gradient can be asked for")
        turns = self._gradient_turns(y, x, at)
        value, when = turns.stacked(), ", ".join(filter(None, (self._when(at), turns.where())))
        shape = None if y.dims is None or None in y.dims else tuple(y.dims)
        kept = self._keep(f"grad {y.name} {x.name}", value, when, (x.name,), statistics(value), keep=True)
        return Gradient(y.name, x.name, shape, shape != (), 1, value, kept.stats, kept.number, when,
                        "followed through the calls")

    def _per_example(self, y: Tensor, x: Tensor, at: Moment) -> Gradient:
        y = self._examples_of(y)
        tensor = self.derivatives.per_example(y, x)
        shape = None if y.dims is None or None in y.dims else tuple(y.dims)
        if tensor is None:
            return Gradient(y.name, x.name, shape, False, 1, None, None, 0, self._when(at), "built on demand",
                            why_none(y, x).text)
        value = np.asarray(self._values([tensor], at)[0])
        kept = self._keep(f"grad {y.name} {x.name}", value, self._when(at), (x.name,), statistics(value), keep=True)
        return Gradient(y.name, x.name, shape, False, 1, value, kept.stats, kept.number, kept.when, "built on demand")

    def _examples_of(self, y: Tensor) -> Tensor:
        """The tensor with one element for each example: y, or what y is the mean or sum of."""
        found = y
        while found.dims == () and found.op.type in ("Identity", "Mean", "Sum") and found.op.inputs[0].dims != ():
            found = found.op.inputs[0]
        while found.dims == () and found.op.type == "Identity":
            return self._examples_of(found.op.inputs[0])
        if found.dims == ():
            raise ArgumentError(f"{y.name} is one number: its examples are summed up already\nname the loss of each "
                                "example: the vector that the mean or sum is taken of")
        return found

    def examples(self, x: str, y: str = "", *, top: int = 10) -> Examples:
        """The gradients of single examples at x, those of largest norm first; nan and inf before all."""
        found = self.grad(x, y, per_example=True)
        if found.array is None:
            raise ArgumentError(f"there is no gradient: {found.reason}\nask: why {found.x}")
        figures = [statistics(row) for row in found.array]
        order = sorted(range(len(figures)), key=lambda i: (-figures[i].nonfinite, -(figures[i].norm or 0.0)))
        return Examples(found.y, found.x, tuple((i, figures[i]) for i in order[:top]), len(figures), found.when)

    def grads(self, target: str = "", *, y: str = "", by: str = "", sort: str = "") -> GradTable:
        """Gradients of the trainable variables (or of the tensors of `target`) in the last run.

        by="scope" adds up name scopes. sort: name, norm, max, zero, nan, inf or update, largest first.
        """
        if by not in ("", "scope") or sort and sort not in _SORTS:
            raise ArgumentError(f"expected by 'scope' and sort one of {', '.join(_SORTS)}, found {by or sort!r}")
        top = self._y_of(y)
        tensors = [t for t in self.targets.all(target) if is_forward(t) and t.dtype.base_dtype.is_differentiable or
                   is_variable(t)] if target else trainable_tensors(self.graph)
        inside = [t for t in tensors if self.targets.inner.has(t)]
        outside = [t for t in tensors if t not in inside]
        self.derivatives.prepare(top, outside)
        found, missing, refused = {}, [], {}
        for tensor in outside:
            try:
                gradient = self.derivatives.gradient(top, tensor)[0]
            except AutodiffError as error:
                gradient, refused[tensor] = None, error.message.partition("\n")[0]
            if gradient is None:
                missing.append(self._row_without(tensor, refused.get(tensor) or why_none(top, tensor).text))
            else:
                found[tensor] = gradient
        at = self._moment_for([top])
        values = self._values(list(found.values()), at) if found else []
        past = self._norms_of(list(found.values())) if found else {}
        rows = [self._grad_row(t, g, v, at, tuple(past[g])) for (t, g), v in zip(found.items(), values)]
        for tensor in inside:
            try:
                rows.append(self._grad_row(tensor, None, self._gradient_turns(top, tensor, at).stacked(), at, ()))
            except AutodiffError as error:
                missing.append(self._row_without(tensor, error.message.partition("\n")[0]))
        norms = [row.stats.norm for row in rows if row.stats is not None and row.stats.norm is not None]
        total = float(np.linalg.norm(norms)) if norms else None
        if any(row.stats and row.stats.nonfinite for row in rows):
            total = float("nan")
        call = self.derivatives.script_call(top)
        source = "train op" if self._train_op is not None and top is self._y else (
            "tf.gradients in the script" if call is not None else "built on demand")
        if by:
            rows = _by_scope(rows)
        return GradTable(top.name, at.step, tuple(_sorted(rows, sort)), tuple(missing), total, source)

    def _grad_row(self, tensor: Tensor, gradient: Any, value: Any, at: Moment,
                  norms: tuple[float | None, ...]) -> GradRow:
        stats = statistics(value)
        dims = tensor.dims if tensor.dtype.name != "resource" else tuple(np.shape(plain(value)))
        return GradRow(tensor.name, self.targets.short(tensor, "g"), self.targets.handle_of(tensor), dims, stats,
                       self._update_ratio(tensor.name, at.step), norms, "",
                       "" if gradient is None else gradient.name, place_of(tensor.op))

    def _norms_of(self, gradients: list[Any]) -> dict[Any, list[float | None]]:
        """Norms of gradients in the last runs, oldest first; replayed, so that runs need not look at them."""
        recent = list(self.moments)[-_SPARK:]
        self._spark = {key: norm for key, norm in self._spark.items() if recent and key[0] >= recent[0].step}
        for moment in recent:
            missing = [g for g in gradients if (moment.step, g) not in self._spark]
            values = self._replayer.values_if_possible(moment, missing) if missing else {}
            self._spark.update({(moment.step, g): statistics(values[g]).norm for g in missing if g in values})
        return {g: [self._spark[m.step, g] for m in recent if (m.step, g) in self._spark] for g in gradients}

    def _row_without(self, tensor: Tensor, reason: str) -> GradRow:
        return GradRow(tensor.name, self.targets.short(tensor), self.targets.handle_of(tensor), tensor.dims, None, None,
                       (),
                       reason, "", place_of(tensor.op))

    # ---- curvature ----------------------------------------------------------------------
    def hessian_cost(self, x: str, y: str = "", *, rows: slice | None = None, kind: str = "full") -> HessianCost:
        """What `hessian` would take; measured by one product with a vector."""
        top, bottom = self._y_of(y), self.targets.outside(x)
        return self._curvature(top, bottom, self._moment_for([top, bottom])).cost(kind, rows)

    def hessian(self, x: str, y: str = "", *, rows: slice | None = None, kind: str = "full", v: str = "",
                budget: int = 256 << 20, jobs: int = 1, report: Report | None = None) -> Hessian:
        """Second derivatives of y by x, x flattened, in the last run.

        kind: "full", "rows" (of `rows`), "diag", or "hvp": the product with v, an expression of x's shape. budget:
        bytes of the result. Raises ResourceExhaustedError, with what to do instead, when it takes more. jobs: threads
        that compute blocks of rows; StateError if an op needs its session. KeyboardInterrupt ends it with the rows
        finished so far, and is raised only if there are none. report: called with the rows done and all rows.
        """
        if kind not in ("full", "rows", "diag", "hvp"):
            raise ArgumentError(f"expected full, rows, diag or hvp, found {kind!r}")
        top, bottom = self._y_of(y), self.targets.outside(x)
        at = self._moment_for([top, bottom])
        curvature = self._curvature(top, bottom, at)
        curvature.report = report
        cost = curvature.cost(kind, rows)
        curvature.check_budget(cost, kind, budget)
        asymmetry = None
        if kind == "hvp":
            array = curvature.times(self._as_value(v)).reshape(curvature.shape)
        elif kind == "diag":
            array = curvature.diagonal(rows, jobs)
        else:
            array = curvature.matrix(rows, jobs)
            if array.shape[0] == array.shape[1] and rows is None:
                asymmetry = float(np.max(np.abs(array - array.T))) if array.size else 0.0
        kept = self._keep(f"hessian {top.name} {bottom.name}", array, self._when(at), (bottom.name,), statistics(array),
                          keep=True)
        complete = kind == "hvp" or len(array) == cost.rows
        return Hessian(top.name, bottom.name, kind, array, kept.stats, cost, kept.number, kept.when, asymmetry,
                       complete)

    def eigen(self, x: str, y: str = "", *, count: int = 1, verify: bool = False) -> Eigen:
        """The `count` eigenvalues of largest absolute value of the Hessian of y by x, by products with vectors alone.

        verify: take the residuals from products of the final vectors, made anew.
        """
        top, bottom = self._y_of(y), self.targets.outside(x)
        at = self._moment_for([top, bottom])
        curvature = self._curvature(top, bottom, at)
        values, vectors, residuals, products = curvature.eigen(count)
        if verify:
            pairs = zip(values, vectors)
            residuals = np.array([np.linalg.norm(curvature.times(v.reshape(curvature.shape)) - value * v)
                                  for value, v in pairs])
            products += count
        return Eigen(top.name, bottom.name, values, residuals, vectors, products, curvature.size, self._when(at))

    def spectrum(self, x: str, y: str = "", *, bins: int = 20) -> Spectrum:
        """How the eigenvalues of the Hessian of y by x are spread; estimated by products, exact for a small x."""
        if bins < 1:
            raise ArgumentError(f"expected at least 1 bin, found {bins}")
        top, bottom = self._y_of(y), self.targets.outside(x)
        at = self._moment_for([top, bottom])
        curvature = self._curvature(top, bottom, at)
        curvature.rows_of(None)
        nodes, weights, is_exact, products = curvature.spectrum()
        edges, shares, errors = binned(nodes, weights, bins)
        noise = ROUNDING * np.finfo(curvature.dtype).eps * float(np.abs(edges).max())
        return Spectrum(top.name, bottom.name, edges, shares, errors, nodes, weights, is_exact,
                        float(np.sum(nodes * weights) / len(nodes) * curvature.size),
                        float(np.sum(weights[nodes < -noise]) / len(nodes)), products, curvature.size, self._when(at))

    def _curvature(self, y: Tensor, x: Tensor, at: Moment) -> Curvature:
        product = self.derivatives.product(y, x)
        if product is None:
            raise ArgumentError(f"there is no Hessian: {why_none(y, x).text}\nask: why {x.name}")
        value = np.asarray(self._values([x], at)[0] if x.dtype.name != "resource" else at.variables[x.op.name])
        return Curvature(product, value.shape, value.dtype, lambda tensors, feeds: self._values(tensors, at, feeds),
                         lambda result, direction: self._replayer.recipe(at, result, direction))


def _sorted(rows: list[GradRow], field: str) -> list[GradRow]:
    if not field:
        return rows
    if field == "name":
        return sorted(rows, key=lambda row: row.name)

    def size(row: GradRow) -> float:
        stats = row.stats
        assert stats is not None
        value = {"norm": stats.norm, "max": stats.max_abs, "zero": stats.zero_share, "nan": stats.nans,
                 "inf": stats.infs,
                 "update": row.update}[field]
        return -float("inf") if value is None else float(value)

    return sorted(rows, key=size, reverse=True)


def _by_scope(rows: list[GradRow]) -> list[GradRow]:
    """One row for each name scope: norms combined, counts added."""
    groups: dict[str, list[GradRow]] = {}
    for row in rows:
        groups.setdefault(row.name.rpartition("/")[0] or "(top)", []).append(row)
    return [_combined(scope, members) for scope, members in groups.items()]


def _combined(scope: str, rows: list[GradRow]) -> GradRow:
    stats = [row.stats for row in rows if row.stats is not None]
    first = stats[0]
    lows = [s.minimum for s in stats if s.minimum is not None]
    highs = [s.maximum for s in stats if s.maximum is not None]
    count = sum(s.count for s in stats)
    together = type(first)(
        first.dtype, (count,), count, sum(s.nans for s in stats), sum(s.positive_infs for s in stats),
        sum(s.negative_infs for s in stats), sum(s.zeros for s in stats), min(lows) if lows else None,
        max(highs) if highs else None, sum((s.mean or 0.0) * s.count for s in stats) / count if count else None,
        float(np.linalg.norm([s.norm or 0.0 for s in stats])))
    updates = [row.update for row in rows if row.update is not None]
    return GradRow(scope, "", "", None, together, max(updates) if updates else None, (), count=len(rows))

