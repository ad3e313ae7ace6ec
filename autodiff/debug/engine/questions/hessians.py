"""Hessians: curvature, as matrices, diagonals, products, eigenvalues and their spread."""
from __future__ import annotations

import numpy as np

from ....core.errors import ArgumentError
from ....core.graph import Tensor
from ...analysis.why import why_none
from ...derivatives.curvature import Curvature, Report
from ...derivatives.spectrum import ROUNDING, binned
from ...facts.answers import Eigen, Hessian, HessianCost, Spectrum
from ...history.replay import Moment
from ..state import State
from .evaluate import Values


class Hessians:
    """Gives second derivatives of anything by anything, in the last run."""

    def __init__(self, state: State, values: Values) -> None:
        self.state, self.model, self.values = state, state.model, values

    def cost(self, x: str, y: str = "", *, rows: slice | None = None, kind: str = "full") -> HessianCost:
        """What `hessian` would take; measured by one product with a vector."""
        top, bottom = self.model.y_of(y), self.model.targets.outside(x)
        return self._curvature(top, bottom, self.state.moment_for([top, bottom])).cost(kind, rows)

    def hessian(self, x: str, y: str = "", *, rows: slice | None = None, kind: str = "full", v: str = "",
                budget: int = 256 << 20, jobs: int = 1, report: Report | None = None) -> Hessian:
        """Second derivatives of y by x, x flattened, in the last run.

        kind: "full", "rows" (of `rows`), "diag", or "hvp": the product with v, an expression of x's shape. budget:
        bytes of the result. Raises ResourceExhaustedError, with what to do instead, when it takes more. jobs: threads
        that compute blocks of rows; StateError if an op needs its session. KeyboardInterrupt ends it with the rows
        finished so far, and is raised only if there are none. report: called with the rows done and all rows.
        """
        if kind not in ("full", "rows", "diag", "hvp"):
            raise ArgumentError(expected="full, rows, diag or hvp", found=repr(kind))
        top, bottom = self.model.y_of(y), self.model.targets.outside(x)
        at = self.state.moment_for([top, bottom])
        curvature = self._curvature(top, bottom, at, report)
        cost = curvature.cost(kind, rows)
        curvature.check_budget(cost, kind, budget)
        asymmetry = None
        if kind == "hvp":
            array = curvature.times(self.values.as_value(v)).reshape(curvature.shape)
        elif kind == "diag":
            array = curvature.diagonal(rows, jobs)
        else:
            array = curvature.matrix(rows, jobs)
            if array.shape[0] == array.shape[1] and rows is None:
                asymmetry = float(np.max(np.abs(array - array.T))) if array.size else 0.0
        kept = self.values.keep(f"hessian {top.name} {bottom.name}", array, self.state.when(at), (bottom.name,))
        complete = kind == "hvp" or len(array) == cost.rows
        return Hessian(top.name, bottom.name, kind, array, kept.stats, cost, kept.number, kept.when, asymmetry,
                       complete, curvature.shape)

    def eigen(self, x: str, y: str = "", *, count: int = 1, verify: bool = False) -> Eigen:
        """The `count` eigenvalues of largest absolute value of the Hessian of y by x, by products with vectors alone.

        verify: take the residuals from products of the final vectors, made anew.
        """
        top, bottom = self.model.y_of(y), self.model.targets.outside(x)
        at = self.state.moment_for([top, bottom])
        curvature = self._curvature(top, bottom, at)
        values, vectors, residuals, products = curvature.eigen(count)
        if verify:
            pairs = zip(values, vectors)
            residuals = np.array([np.linalg.norm(curvature.times(v.reshape(curvature.shape)) - value * v)
                                  for value, v in pairs])
            products += count
        return Eigen(top.name, bottom.name, values, residuals, vectors, products, curvature.size, self.state.when(at))

    def spectrum(self, x: str, y: str = "", *, bins: int = 20) -> Spectrum:
        """How the eigenvalues of the Hessian of y by x are spread; estimated by products, exact for a small x."""
        if bins < 1:
            raise ArgumentError(expected="at least 1 bin", found=bins)
        top, bottom = self.model.y_of(y), self.model.targets.outside(x)
        at = self.state.moment_for([top, bottom])
        curvature = self._curvature(top, bottom, at)
        curvature.rows_of(None)
        nodes, weights, is_exact, products = curvature.spectrum()
        edges, shares, errors = binned(nodes, weights, bins)
        noise = ROUNDING * np.finfo(curvature.dtype).eps * float(np.abs(edges).max())
        return Spectrum(top.name, bottom.name, edges, shares, errors, nodes, weights, is_exact,
                        float(np.sum(nodes * weights) / len(nodes) * curvature.size),
                        float(np.sum(weights[nodes < -noise]) / len(nodes)), products, curvature.size,
                        self.state.when(at))

    def _curvature(self, y: Tensor, x: Tensor, at: Moment, report: Report | None = None) -> Curvature:
        product = self.model.derivatives.product(y, x)
        if product is None:
            raise ArgumentError(f"there is no Hessian: {why_none(y, x).text}", hint=f"ask: why {x.name}")
        value = np.asarray(self.state.values([x], at)[0] if x.dtype.name != "resource" else at.variables[x.op.name])
        return Curvature(product, value.shape, value.dtype,
                         lambda tensors, feeds: self.state.values(tensors, at, feeds),
                         lambda result, direction: self.state.replayer.recipe(at, result, direction), report=report)
