"""The density of a symmetric matrix's eigenvalues, by stochastic Lanczos quadrature: products with vectors alone.

Source: Ubaru, Chen and Saad (2017), "Fast estimation of tr(f(A)) via stochastic Lanczos quadrature".
"""
from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...core.errors import ArgumentError

PROBES, STEPS = 10, 64  # random vectors, and products with each
EXACT = 512  # rows up to which the eigenvalues themselves cost no more than that many products
ROUNDING = 1e3  # a node is right up to so many roundings of the largest one
_WEIGHT = 1e-10  # a node below this share is rounding, no eigenvalue


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
