"""Hessians on demand: what they cost, rows of them, products with a vector, their diagonal, how eigenvalues lie.

Source of the density: Ubaru, Chen and Saad (2017), "Fast estimation of tr(f(A)) via stochastic Lanczos quadrature".
"""
from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from math import prod
from typing import Any

import numpy as np

from ...api.arrays.shaping import concat, reshape, split
from ...api.math.casts import cast
from ...core.errors import ArgumentError, AutodiffError, ResourceExhaustedError
from ...core.graph import Tensor
from ...core.indexed_slices import dense
from ...core.op import build
from ...gradients.backprop import gradients
from ...gradients.batching import vectorize
from ..facts.derivative_answers import HessianCost
from .derivatives import Derivatives, Product

Run = Callable[[list[Any], dict[Tensor, Any]], list[Any]]  # values of tensors, for these feeds
Report = Callable[[int, int], None]  # told of rows done, and of rows in all
Share = Callable[[str, list[tuple[Any, ...]]], Generator[Any, None, None]]  # calls of a method here, in order
_RESIDUAL = 100.0  # a pair is found when its residual is below so many roundings of the largest eigenvalue
_BLOCK = 64  # directions in one pass: more gain little and take memory
_PARTS, _SMALL_BLOCK = 8, 16  # blocks that a Hessian has at least, if they are not smaller than so many rows
_PROBES_OF_PART, _LARGE = 5, 10_000  # random vectors; parameters from which two gain as much from each other
PROBES, STEPS = 10, 64  # random vectors, and products with each
EXACT = 512  # rows up to which the eigenvalues themselves cost no more than that many products
ROUNDING = 1e3  # a node is right up to so many roundings of the largest one
_WEIGHT = 1e-10  # a node below this share is rounding, no eigenvalue


class Curvature:
    """The Hessian of one y by one x. run: as of the moment that is looked at. report: told of each part.

    share: has parts computed elsewhere. What is a part depends on shapes alone: so results are the same, to the bit.
    """

    def __init__(self, product: Product, shape: tuple[int, ...], dtype: Any, run: Run, *,
                 report: Report | None = None, share: Share | None = None) -> None:
        self.report, self._share = report, share
        self.product, self.shape, self.dtype, self._run = product, shape, np.dtype(dtype), run
        self.size = int(np.prod(shape))

    def rows_of(self, rows: slice | None) -> range:
        """Indices of the rows asked for, of x flattened. Raises ArgumentError if there are none."""
        found = range(self.size)[rows if rows is not None else slice(None)]
        if not found:
            raise ArgumentError(f"no rows {rows.start}:{rows.stop}: x has {self.size} elements" if rows
                                else "x is empty")
        return found

    def cost(self, kind: str, rows: slice | None) -> HessianCost:
        """What it will take; the time is measured by one product, so about the cost of two gradients."""
        count = 1 if kind == "hvp" else len(self.rows_of(rows))
        start = time.perf_counter()
        self.times(np.zeros(self.shape, self.dtype))
        once = time.perf_counter() - start
        columns = 1 if kind == "diag" else self.size
        passes = count if self.product.rows is None else len(_blocks(range(count)))
        return HessianCost(self.size, count, passes, (1 if kind == "hvp" else count) * columns * self.dtype.itemsize,
                           once * count)

    def check_budget(self, cost: HessianCost, kind: str, budget: int) -> None:
        """Raises ResourceExhaustedError if the result takes more bytes than `budget`, with what to do instead."""
        if cost.bytes <= budget:
            return
        fitting = max(budget // max(self.size * self.dtype.itemsize, 1), 1)
        enough = -(-cost.bytes // (1 << 20))
        raise ResourceExhaustedError(None, None, f"this Hessian has {cost.rows} x {self.size} elements, "
                                     f"{cost.bytes:,} bytes: more than the budget of {budget:,}",
                                     hint=f"ask for some rows (--rows 0:{min(fitting, self.size)}), the diagonal "
                                          "(--diag), a product with a vector (--hvp V), the largest eigenvalues "
                                          f"(--eig K), or allow more (--budget {enough})")

    def times(self, v: Any) -> np.ndarray:
        """The product with a vector of x's shape, as float[n]."""
        try:
            direction = np.broadcast_to(np.asarray(v, self.dtype), self.shape)
        except ValueError:
            raise ArgumentError(expected=f"a vector of x's shape {list(self.shape)}", found=list(np.shape(v))) from None
        return np.asarray(self._run([self.product.result], {self.product.direction: direction})[0]).reshape(-1)

    def matrix(self, rows: slice | None) -> np.ndarray:
        """Rows of the Hessian, float[rows, n]. Ctrl-C keeps the rows that are finished."""
        return self._gathered(self.rows_of(rows), False)

    def diagonal(self, rows: slice | None) -> np.ndarray:
        """The diagonal, float[rows]; memory for one block of rows for each worker. Ctrl-C as in `matrix`."""
        return self._gathered(self.rows_of(rows), True)

    def _gathered(self, wanted: range, diagonal: bool) -> np.ndarray:
        """The wanted rows in blocks, or the diagonal's part of them; after Ctrl-C as many as there are, if any."""
        found = np.empty(len(wanted) if diagonal else (len(wanted), self.size), self.dtype)
        done = 0
        try:
            with closing(self._parts("block", [(block, diagonal) for block in _blocks(wanted)])) as parts:
                for rows in parts:
                    found[done:done + len(rows)] = rows
                    done += len(rows)
                    if self.report is not None:
                        self.report(done, len(wanted))
        except KeyboardInterrupt:
            if not done:
                raise
        return found[:done]

    def _parts(self, method: str, tasks: list[tuple[Any, ...]]) -> Generator[Any, None, None]:
        """What a method gives for each of the arguments, here or where it is shared with."""
        yield from self._share(method, tasks) if self._share else (getattr(self, method)(*task) for task in tasks)

    def block(self, rows: range, diagonal: bool) -> np.ndarray:
        """Some rows, float[rows, n], or the diagonal's part of them, float[rows]."""
        unit = np.zeros((len(rows), self.size), self.dtype)
        unit[np.arange(len(rows)), list(rows)] = 1
        found = self._times_rows(unit)
        return found[np.arange(len(rows)), list(rows)] if diagonal else found

    def probes(self, chosen: range) -> tuple[np.ndarray, np.ndarray]:
        """Nodes and shares of some random vectors: see `quadrature`."""
        return quadrature(self._times_many, self.size, chosen)

    def eigen(self, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
        """Largest eigenvalues in absolute value, their vectors as rows, residuals |H v - lambda v|, and the products.

        Block Krylov with Rayleigh-Ritz in float64: a block wider than `count` finds multiple eigenvalues too.
        Source: Golub and Van Loan (2013), section 10.3.
        """
        if not 1 <= count <= self.size:
            raise ArgumentError(expected=f"1 to {self.size} eigenvalues", found=count)
        width = min(self.size, count + 4)
        most = min(self.size, max(10 * width, 60))
        basis, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((self.size, width)))
        images = self._times_many(basis)
        while True:
            small = basis.T @ images
            values, mixes = np.linalg.eigh((small + small.T) / 2)
            chosen = np.argsort(-np.abs(values), kind="stable")[:count]
            vectors = basis @ mixes[:, chosen]
            residuals = np.linalg.norm(images @ mixes[:, chosen] - vectors * values[chosen], axis=0)
            size = max(float(np.abs(values[chosen[0]])), 1e-300)
            if residuals.max() <= _RESIDUAL * np.finfo(self.dtype).eps * size or basis.shape[1] >= most:
                return values[chosen], vectors.T, residuals, basis.shape[1]
            new = images[:, -width:]
            for _ in range(2):  # once is not enough when the new vectors nearly lie in the old ones' span
                new = new - basis @ (basis.T @ new)
            new, weights = np.linalg.qr(new)
            new = new[:, np.abs(np.diag(weights)) > 1e-12 * size][:, :most - basis.shape[1]]
            new = new - basis @ (basis.T @ new)
            if not new.shape[1]:
                return values[chosen], vectors.T, residuals, basis.shape[1]
            new /= np.linalg.norm(new, axis=0)
            basis, images = np.hstack([basis, new]), np.hstack([images, self._times_many(new)])

    def spectrum(self) -> tuple[np.ndarray, np.ndarray, bool, int]:
        """Nodes and weights of the density of eigenvalues, whether they are the eigenvalues, and the products."""
        if self.size <= EXACT:
            rows = self.matrix(None)
            if len(rows) < self.size:
                raise KeyboardInterrupt
            return *exact(rows), True, self.size
        blocks = _cut(range(PROBES), _PROBES_OF_PART if self.size < _LARGE else 2)
        found = []
        with closing(self._parts("probes", [(block,) for block in blocks])) as parts:
            for part, block in zip(parts, blocks):
                found.append(part)
                if self.report is not None:
                    self.report(block.stop, PROBES)
        nodes, weights = map(np.concatenate, zip(*found))
        return nodes, weights, False, nodes.size

    def _times_many(self, columns: np.ndarray) -> np.ndarray:
        """The Hessian times each column, float64[n, columns]."""
        rows = columns.T.astype(self.dtype)
        found = [self._times_rows(rows[i:i + _BLOCK]) for i in range(0, len(rows), _BLOCK)]
        return np.concatenate(found).astype(np.float64).T

    def _times_rows(self, rows: np.ndarray) -> np.ndarray:
        """The Hessian times each row, float[rows, n]."""
        if self.product.rows is None:
            return np.stack([self.times(row.reshape(self.shape)) for row in rows])
        feeds: dict[Any, Any] = {self.product.directions: rows.reshape(len(rows), *self.shape)}
        return np.asarray(self._run([self.product.rows], feeds)[0]).reshape(len(rows), self.size)


def _blocks(rows: range) -> list[range]:
    """Rows as blocks, each one batched pass."""
    return _cut(rows, min(_BLOCK, max(_SMALL_BLOCK, -(-len(rows) // _PARTS))))


def _cut(whole: range, size: int) -> list[range]:
    return [whole[low:low + size] for low in range(0, len(whole), size)]


def joint_product(derivatives: Derivatives, y: Tensor, xs: Sequence[Tensor], shapes: Sequence[tuple[int, ...]],
                  dtypes: Sequence[str]) -> Product | None:
    """The product for directions float[n], n the elements of all xs; None if y depends on none of them.

    shapes, dtypes: of the values of xs. An x that y does not depend on has blocks of zeros.
    """
    firsts = [derivatives.gradient(y, x)[0] for x in xs]
    if all(first is None for first in firsts):
        return None
    sizes = [prod(shape) for shape in shapes]
    with derivatives.hidden.building():
        direction = build.Placeholder(dtype=dtypes[0], shape=[sum(sizes)], name="direction")
        parts = [cast(reshape(part, list(shape)), dtype)
                 for part, shape, dtype in zip(split(direction, sizes), shapes, dtypes)]
        known = [(dense(first), part) for first, part in zip(firsts, parts) if first is not None]
        seconds = gradients([first for first, _ in known], list(xs), grad_ys=[part for _, part in known],
                            unconnected_gradients="zero")
        flat = [cast(reshape(dense(second), [-1]), dtypes[0]) for second in seconds if second is not None]
        result = concat(flat, 0)
        directions = build.Placeholder(dtype=dtypes[0], shape=[None, sum(sizes)], name="directions")
        try:
            rows: Tensor | None = vectorize([result], {direction: directions}, build.Shape(directions)[0])[0]
        except AutodiffError:
            rows = None
    return Product(direction, result, directions, rows)


def exact(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All eigenvalues, ascending, and the share of each: float64[1, n] both."""
    _refuse_nonfinite(matrix)
    square = np.asarray(matrix, np.float64)
    values = np.linalg.eigvalsh((square + square.T) / 2)
    return values[None], np.full((1, len(values)), 1 / len(values))


def quadrature(times: Callable[[np.ndarray], np.ndarray], size: int,
               probes: range = range(PROBES)) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and their shares, float64[probes, steps]: the mean over probes of sum(share * f(node)) nears tr(f) / size.

    probes: which of the random vectors. times: the matrix times each column, float[size, k]. Lanczos without
    reorthogonalisation, so only three vectors for each probe are held: eigenvalues found again share their weight, and
    the sum stays right.
    """
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (size, PROBES))
    vectors = signs[:, probes.start:probes.stop] / np.sqrt(size)
    before, beta = np.zeros_like(vectors), np.zeros(len(probes))
    steps = min(STEPS, size)
    small = np.zeros((len(probes), steps, steps))
    for i in range(steps):
        images = times(vectors)
        _refuse_nonfinite(images)
        alpha = np.sum(images * vectors, 0)
        small[:, i, i] = alpha
        rest = images - vectors * alpha - before * beta
        beta = np.linalg.norm(rest, axis=0)
        if i + 1 < steps:
            small[:, i, i + 1] = small[:, i + 1, i] = beta
        before, vectors = vectors, np.divide(rest, beta, out=np.zeros_like(rest), where=beta > 0)
    nodes, mixes = np.linalg.eigh(small)
    return nodes, mixes[:, 0, :] ** 2


def binned(nodes: np.ndarray, shares: np.ndarray, bins: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Edges of equal bins over the nodes, the share of eigenvalues in each, and the standard error of each."""
    seen = nodes[shares > _WEIGHT]
    edges = np.histogram_bin_edges(seen, bins)
    rows = np.stack([np.histogram(node, edges, weights=share)[0] for node, share in zip(nodes, shares)])
    spread = rows.std(0, ddof=1) / np.sqrt(len(rows)) if len(rows) > 1 else np.zeros(bins)
    return edges, rows.mean(0), spread


def _refuse_nonfinite(values: np.ndarray) -> None:
    if not np.isfinite(values).all():
        raise ArgumentError(expected="a finite Hessian", found="nan or inf in it: it has no eigenvalues",
                            hint="ask: why nan")
