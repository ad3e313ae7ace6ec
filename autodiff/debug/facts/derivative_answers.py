"""Answers about derivatives: gradients, also registered ones, their stages, Hessians; frozen, never a Tensor."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .records import Place, Stats
from .steps import When


@dataclass(frozen=True)
class Gradient:
    """d y / d x. summed: y has several elements and they were added up. stages: name and value of each stage.

    array is None if there is no gradient; reason says why. rows: per-example gradients, [n, ...], if asked.
    """

    y: str
    x: str
    y_shape: tuple[int, ...] | None
    summed: bool
    order: int
    array: np.ndarray | None
    stats: Stats | None
    number: int
    when: str
    source: str
    reason: str = ""


@dataclass(frozen=True)
class GradRow:
    """A line of the gradient table. norms: of past steps, oldest first. update: norm of the last change of the
    variable over the norm of the variable. reason: why there is no gradient, or ""."""

    name: str
    short: str
    handle: str
    shape: tuple[int | None, ...] | None
    stats: Stats | None
    update: float | None
    norms: tuple[float | None, ...]
    reason: str = ""
    gradient_name: str = ""
    place: Place | None = None
    count: int = 1


@dataclass(frozen=True)
class GradTable:
    """Gradients of y in one run. source: "train op", "the script's gradient call", "the prompt's …" or "built …"."""

    y: str
    at: When
    rows: tuple[GradRow, ...]
    missing: tuple[GradRow, ...]
    total_norm: float | None
    source: str
    hidden: int = 0


@dataclass(frozen=True)
class StageRow:
    """One variable's gradient on its way into the variable. raw: d y / d variable. given: what the update op was given.

    change: the variable's change in that step. between: ops from raw to given (clipping and the like), their names.
    Any of the figures is None where it is not known.
    """

    name: str
    raw: Stats | None
    given: Stats | None
    change: Stats | None
    between: tuple[str, ...]
    update_op: str
    place: Place | None


@dataclass(frozen=True)
class Stages:
    """Gradients of y in stages, in one run. notes: what happened between raw and given, in words."""

    y: str
    at: When
    rows: tuple[StageRow, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Examples:
    """Gradients of single examples, largest norm first. rows: index of the example, figures of its gradient.

    count: of all examples. weight: what the mean or sum above multiplies each of them by.
    """

    y: str
    x: str
    rows: tuple[tuple[int, Stats], ...]
    count: int
    when: str


@dataclass(frozen=True)
class Eigen:
    """The eigenvalues of a Hessian that are largest in absolute value. residuals: |H v - lambda v| of each, |v| = 1.

    vectors: float[k, n]. products: Hessian-vector products that it took.
    """

    y: str
    x: str
    values: np.ndarray
    residuals: np.ndarray
    vectors: np.ndarray
    products: int
    parameters: int
    when: str


@dataclass(frozen=True)
class Spectrum:
    """How the eigenvalues of a Hessian are spread. shares: of all eigenvalues, those between `edges[i]` and the next.

    errors: standard error of each share. nodes, weights: the quadrature, float[probes, steps], or all eigenvalues if
    `exact`. trace: their sum. negative: the share below zero. products: Hessian-vector products that it took. here: as
    of Hessian.
    """

    y: str
    x: str
    edges: np.ndarray
    shares: np.ndarray
    errors: np.ndarray
    nodes: np.ndarray
    weights: np.ndarray
    exact: bool
    trace: float
    negative: float
    products: int
    parameters: int
    when: str
    here: tuple[str, ...] = ()


@dataclass(frozen=True)
class HessianCost:
    """What a Hessian will take, before it is computed. bytes of the result; seconds estimated from one product."""

    parameters: int
    rows: int
    passes: int
    bytes: int
    seconds: float


@dataclass(frozen=True)
class Hessian:
    """Second derivatives of y by x, x flattened: array float[rows, n], or float[n] for the diagonal or a product.

    asymmetry: max |H - H^T| where the whole is known. kind: "full", "rows", "diag" or "hvp". complete: False if it
    was interrupted: the array then has the first of the `cost.rows` rows. axes: name and shape of each x, in order.
    here: operations that hold Python code, if that is why it was computed in this process, and not by the executor.
    """

    y: str
    x: str
    kind: str
    array: np.ndarray
    stats: Stats
    cost: HessianCost
    number: int
    when: str
    asymmetry: float | None = None
    complete: bool = True
    axes: tuple[tuple[str, tuple[int, ...]], ...] = ()
    here: tuple[str, ...] = ()


@dataclass(frozen=True)
class GradientPart:
    """The gradient of all ys together at one x. array None: there is none, and reason says why. number: its `$n`."""

    x: str
    array: Any
    stats: Stats | None
    number: int
    reason: str = ""


@dataclass(frozen=True)
class GradientsOf:
    """The gradients of the sum of ys. weights: what each y received, in words; empty for ones. held: constants.

    own: xs that were held constant themselves, so that each keeps its own partial derivative alone.
    """

    ys: tuple[str, ...]
    weights: tuple[str, ...]
    held: tuple[str, ...]
    own: tuple[str, ...]
    parts: tuple[GradientPart, ...]
    when: str


@dataclass(frozen=True)
class Identified:
    """A forwarded identity. handle: the name that stands for it from now on. name, of: of the identity, and of what it
    forwards.
    """

    handle: str
    name: str
    of: str


@dataclass(frozen=True)
class Registered:
    """The gradient tensor that a GradientsDebugger has for an x-tensor.

    debugger: its name. y: what was differentiated, "" if that is not known. value: in the last run that can tell it,
    None before any; stats: its figures. when: which run that was, or "". place: the line of the x-tensor.
    """

    debugger: str
    x: str
    gradient: str
    y: str
    dtype: str
    shape: tuple[int | None, ...] | None
    value: Any
    stats: Stats | None
    when: str
    place: Place | None


@dataclass(frozen=True)
class DebuggerRow:
    """A GradientsDebugger. name: the script's for it, or "the prompt". y: its y_tensor, "" if it takes in gradients of
    anything. graph: "this graph", "another graph" or "none yet". registered: x-tensors with a gradient. awaited:
    those that are watched and have none.
    """

    name: str
    y: str
    graph: str
    registered: tuple[str, ...]
    awaited: tuple[str, ...]
