"""Hessians: curvature, as matrices, diagonals, products, eigenvalues and their spread."""
from __future__ import annotations

from collections.abc import Generator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ....core.errors import ArgumentError
from ....core.graph import Tensor
from ...analysis.why import why_none
from ...derivatives.curvature import ROUNDING, Curvature, Report, Share, binned, joint_product
from ...derivatives.derivatives import Product
from ...facts.derivative_answers import Eigen, Hessian, HessianCost, Spectrum
from ...facts.graph_lists import trainable_tensors
from ...history.gathering import gathered
from ...history.packing import HoldsPythonError, Pack, opened, pack
from ...history.replay import Moment
from ..state import State
from .evaluate import Values

if TYPE_CHECKING:
    from concurrent.futures import Executor


class _Second(NamedTuple):
    """What is differentiated twice: y, at a moment, by each of the axes, which are name and shape.

    here: what holds Python code, if that is why nothing is sent to workers.
    """

    y: Tensor
    at: Moment
    curvature: Curvature
    axes: tuple[tuple[str, tuple[int, ...]], ...]
    here: tuple[str, ...] = ()

    @property
    def x(self) -> str:
        return ", ".join(name for name, _ in self.axes)


class _Sent(NamedTuple):
    """A Curvature for workers. names: of the product's tensors, None for those that are not needed."""

    pack: Pack
    names: tuple[str | None, ...]
    shape: tuple[int, ...]
    dtype: str

    @classmethod
    def of(cls, product: Product, at: Moment, shape: tuple[int, ...], dtype: str) -> _Sent:
        """Raises HoldsPythonError."""
        is_batched = product.rows is not None
        used = (None, None, product.directions, product.rows) if is_batched else (product.direction, product.result)
        given, result = [t for t in used if t is not None]
        names = tuple(None if t is None else t.name for t in used)
        return cls(pack(at, [result], [given]), names, shape, dtype)


def _on(executor: Executor, sent: _Sent, method: str, tasks: Sequence[tuple[Any, ...]]) -> Generator[Any, None, None]:
    return gathered(executor, part_of, [(sent, method, *task) for task in tasks])


def part_of(sent: _Sent, method: str, *task: Any) -> Any:
    """What a method of the Curvature gives: what a worker does."""
    here = opened(sent.pack)
    tensors: list[Any] = [None if name is None else here.tensor(name) for name in sent.names]
    return getattr(Curvature(Product(*tensors), sent.shape, sent.dtype, here.values), method)(*task)


class Hessians:
    """Gives second derivatives of anything by anything, in the last run."""

    def __init__(self, state: State, values: Values) -> None:
        self.state, self.model, self.values = state, state.model, values
        self._joints: dict[Any, Product | None] = {}

    def cost(self, x: str | Sequence[str], y: str = "", *, rows: slice | None = None,
             kind: str = "full") -> HessianCost:
        """What `hessian` would take; measured by one product with a vector."""
        return self._second(x, y).curvature.cost(kind, rows)

    def hessian(self, x: str | Sequence[str], y: str = "", *, rows: slice | None = None, kind: str = "full",
                v: str | Sequence[str] = "", budget: int = 256 << 20, executor: Executor | None = None,
                report: Report | None = None) -> Hessian:
        """Second derivatives of y by x, x flattened, in the last run; several xs are one behind the other.

        No x, (): all trainable variables that a gradient flows to. kind: "full", "rows" (of `rows`), "diag", or "hvp":
        the product with v, an expression of x's shape, of several xs one for each, or one of as many elements as all
        have. budget: bytes of the result. Raises ResourceExhaustedError, with what to do instead, when it takes more.
        executor: where blocks of rows are computed, the same to the bit; what holds Python code is not sent, and named
        in `here`. KeyboardInterrupt ends it with the rows finished so far, and is raised only if there are none.
        report: called with the rows done and all rows.
        """
        if kind not in ("full", "rows", "diag", "hvp"):
            raise ArgumentError(expected="full, rows, diag or hvp", found=repr(kind))
        second = self._second(x, y, report, executor)
        curvature = second.curvature
        cost = curvature.cost(kind, rows)
        curvature.check_budget(cost, kind, budget)
        asymmetry = None
        if kind == "hvp":
            array = curvature.times(self._direction(second, v)).reshape(curvature.shape)
        elif kind == "diag":
            array = curvature.diagonal(rows)
        else:
            array = curvature.matrix(rows)
            if array.shape[0] == array.shape[1] and rows is None:
                asymmetry = float(np.max(np.abs(array - array.T))) if array.size else 0.0
        names = tuple(name for name, _ in second.axes)
        kept = self.values.keep(f"hessian {second.y.name} {' '.join(names)}", array, self.state.when(second.at), names)
        complete = kind == "hvp" or len(array) == cost.rows
        return Hessian(second.y.name, ", ".join(names), kind, array, kept.stats, cost, kept.number, kept.when,
                       asymmetry, complete, second.axes, second.here)

    def _direction(self, second: _Second, v: str | Sequence[str]) -> Any:
        """The vector that expressions give: one for each x, or one for all."""
        texts = [v] if isinstance(v, str) else list(v)
        values = [self.values.as_value(text) for text in texts]
        if len(values) == 1:
            return values[0]
        if len(values) != len(second.axes):
            raise ArgumentError(expected=f"a vector for each of {len(second.axes)} xs, or one for all",
                                found=f"{len(values)} expressions")
        try:
            return np.concatenate([np.broadcast_to(value, shape).reshape(-1)
                                   for value, (_, shape) in zip(values, second.axes)])
        except ValueError:
            raise ArgumentError(expected=f"vectors of the shapes {[list(shape) for _, shape in second.axes]}",
                                found=[list(np.shape(value)) for value in values]) from None

    def eigen(self, x: str | Sequence[str], y: str = "", *, count: int = 1, verify: bool = False) -> Eigen:
        """The `count` eigenvalues of largest absolute value of the Hessian of y by x, by products with vectors alone.

        verify: take the residuals from products of the final vectors, made anew.
        """
        second = self._second(x, y)
        curvature = second.curvature
        values, vectors, residuals, products = curvature.eigen(count)
        if verify:
            pairs = zip(values, vectors)
            residuals = np.array([np.linalg.norm(curvature.times(v.reshape(curvature.shape)) - value * v)
                                  for value, v in pairs])
            products += count
        return Eigen(second.y.name, second.x, values, residuals, vectors, products, curvature.size,
                     self.state.when(second.at))

    def spectrum(self, x: str | Sequence[str], y: str = "", *, bins: int = 20, executor: Executor | None = None,
                 report: Report | None = None) -> Spectrum:
        """How the eigenvalues of the Hessian of y by x are spread; estimated by products, exact for a small x.

        executor, report: as of `hessian`.
        """
        if bins < 1:
            raise ArgumentError(expected="at least 1 bin", found=bins)
        second = self._second(x, y, report, executor)
        curvature = second.curvature
        curvature.rows_of(None)
        nodes, weights, is_exact, products = curvature.spectrum()
        edges, shares, errors = binned(nodes, weights, bins)
        noise = ROUNDING * np.finfo(curvature.dtype).eps * float(np.abs(edges).max())
        return Spectrum(second.y.name, second.x, edges, shares, errors, nodes, weights, is_exact,
                        float(np.sum(nodes * weights) / len(nodes) * curvature.size),
                        float(np.sum(weights[nodes < -noise]) / len(nodes)), products, curvature.size,
                        self.state.when(second.at), second.here)

    def _second(self, x: str | Sequence[str], y: str, report: Report | None = None,
                executor: Executor | None = None) -> _Second:
        """What there is to differentiate twice. Raises ArgumentError if y depends on no x."""
        top, xs = self.model.y_of(y), [self.model.targets.outside(name) for name in ([x] if isinstance(x, str) else x)]
        xs = xs or [each for each in trainable_tensors(self.model.graph) if why_none(top, each).kind == "flows"]
        if not xs:
            raise ArgumentError(f"no gradient flows from {top.name} to a trainable variable",
                                hint="name what to differentiate by: hessian Y X")
        at = self.state.moment_for([top, *xs])
        values = [np.asarray(self.state.values([each], at)[0] if each.dtype.name != "resource"
                             else self.state.variable_value(each, at.variables)) for each in xs]
        product = self.model.derivatives.product(top, xs[0]) if len(xs) == 1 else self._joint(top, xs, values)
        if product is None:
            raise ArgumentError(f"there is no Hessian: {why_none(top, xs[0]).text}", hint=f"ask: why {xs[0].name}")
        shape = values[0].shape if len(xs) == 1 else (sum(value.size for value in values),)
        share: Share | None = None
        here: tuple[str, ...] = ()
        if executor is not None:
            try:
                share = partial(_on, executor, _Sent.of(product, at, shape, values[0].dtype.name))
            except HoldsPythonError as error:
                here = error.names
        curvature = Curvature(product, shape, values[0].dtype,
                              lambda tensors, feeds: self.state.values(tensors, at, feeds), report=report, share=share)
        return _Second(top, at, curvature, tuple((each.name, value.shape) for each, value in zip(xs, values)), here)

    def _joint(self, y: Tensor, xs: list[Tensor], values: list[np.ndarray]) -> Product | None:
        """The product by several xs together, built once for the same ones."""
        key = (y, *((x, value.shape) for x, value in zip(xs, values)))
        if key not in self._joints:
            self._joints[key] = joint_product(self.model.derivatives, y, xs, [value.shape for value in values],
                                              [value.dtype.name for value in values])
        return self._joints[key]
