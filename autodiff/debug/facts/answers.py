"""What the Debugger answers: frozen, names and numbers (arrays included), never a Tensor."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .records import Place, Stats


@dataclass(frozen=True)
class TensorRow:
    """One tensor in a list. short: `%12`, valid wherever a target is. handle: the script's variable, or "".

    shape: static, None per unknown size, None altogether for unknown rank. stats, gradient: of the last run, where
    they were asked for. role: "forward", "gradient", "variable", "constant", "placeholder" or "training".
    harmful: whether what is not finite in it reaches y or a gradient; None where that was not asked.
    """

    name: str
    short: str
    op_type: str
    dtype: str
    shape: tuple[int | None, ...] | None
    role: str
    handle: str = ""
    place: Place | None = None
    stats: Stats | None = None
    gradient: Stats | None = None
    gradient_missing: str = ""
    harmful: bool | None = None


@dataclass(frozen=True)
class OpRow:
    """One operation in a list."""

    name: str
    type: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    role: str
    place: Place | None


@dataclass(frozen=True)
class OpCard:
    """All about one operation. rule: what its gradient does, in words. forward_op: for a gradient op, whose.

    inputs, outputs: with figures of the last run where it can be evaluated. why_no_gradient: the declared reason.
    """

    name: str
    type: str
    doc: str
    role: str
    attributes: tuple[tuple[str, str], ...]
    inputs: tuple[TensorRow, ...]
    outputs: tuple[TensorRow, ...]
    control_inputs: tuple[str, ...]
    consumers: tuple[str, ...]
    rule: str
    why_no_gradient: str
    forward_op: str
    gradient_of: str
    traceback: tuple[Place, ...]


@dataclass(frozen=True)
class VariableRow:
    """One variable. used: whether y depends on it. reason: why it gets no gradient, or "".

    initialized: whether the session holds a value; stats of that value.
    """

    name: str
    handle: str
    dtype: str
    shape: tuple[int | None, ...] | None
    trainable: bool
    initialized: bool
    used: bool
    reason: str
    stats: Stats | None
    place: Place | None = None


@dataclass(frozen=True)
class WatchRow:
    """A watch or breakpoint. kind: "watch" or "break". targets: as typed. names: tensors it now stands for.

    condition: as typed, "" for none. with_gradient: how many of the names a gradient is built for. inside: whether the
    condition is asked inside of runs. temporary: it goes at its first stop. place: file and line of the script that it
    stops before, else None.
    """

    number: int
    kind: str
    targets: tuple[str, ...]
    names: tuple[str, ...]
    condition: str
    every: int
    level: str
    enabled: bool
    hits: int
    ignore: int
    exclude: str
    commands: tuple[str, ...]
    with_gradient: int = 0
    inside: bool = False
    temporary: bool = False
    place: tuple[str, int] | None = None


@dataclass(frozen=True)
class Value:
    """A value. expression: what was asked. number: of `$n`. when: "step 12", "now", "step 12, op 7 of 40"."""

    expression: str
    number: int
    array: Any
    stats: Stats
    when: str
    names: tuple[str, ...] = ()


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
    """Gradients of y. source: "train op", "the script's gradient call" or "built on demand"."""

    y: str
    step: int
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
    """Gradients of y in stages, in one step. notes: what happened between raw and given, in words."""

    y: str
    step: int
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
    `exact`. trace: their sum. negative: the share below zero. products: Hessian-vector products that it took.
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


@dataclass(frozen=True)
class Runs:
    """What `run` did: records of its steps, and why it stopped (None: it did all it was asked for)."""

    records: tuple[Any, ...]
    stop: Any | None
    asked: int


@dataclass(frozen=True)
class Cursor:
    """Where a run stands between two ops. position counts executed ops. phase: "forward", "backward", "update".

    op: the op just executed, "" at the start. next_op: the one to come, "" at the end.
    """

    step: int
    position: int
    total: int
    op: str
    op_type: str
    phase: str
    place: Place | None
    outputs: tuple[TensorRow, ...]
    next_op: str
    finished: bool
    error: str = ""


@dataclass(frozen=True)
class Position:
    """Where in time one looks. step: looked at; last: of all. first: the oldest kept; kept: how many.

    bytes: that the kept steps take in memory; budget: that they may; fit: how many such steps fit into it, 0 if
    unknown. on_disk: how many of them are there instead; disk_bytes: that these take; disk_limit: that they may, 0 if
    nothing is put on disk; folder: where.
    """

    step: int
    last: int
    is_present: bool
    first: int
    kept: int
    bytes: int
    budget: int
    fit: int
    on_disk: int = 0
    disk_bytes: int = 0
    disk_limit: int = 0
    folder: str = ""


@dataclass(frozen=True)
class Recorded:
    """A recording. steps: in it so far. goes_on: whether the steps to come are added."""

    path: str
    steps: int
    goes_on: bool


@dataclass(frozen=True)
class Feed:
    """What the next run feeds. text: the value in short. source: "constant", "the last run" or a callable's name."""

    name: str
    text: str
    stats: Stats | None
    source: str


@dataclass(frozen=True)
class SourceLine:
    """A line of the script with what it made. ops: types of its forward ops. norms: gradient norm of each named
    tensor of the line, where known. current: whether the run stands here."""

    number: int
    text: str
    ops: tuple[str, ...]
    tensors: tuple[str, ...]
    gradient_norm: float | None
    current: bool


@dataclass(frozen=True)
class Source:
    """Part of a script."""

    file: str
    lines: tuple[SourceLine, ...]


@dataclass(frozen=True)
class Neighbors:
    """An op with its producers and consumers, and the lines that made it, innermost first."""

    op: OpRow
    producers: tuple[OpRow, ...]
    consumers: tuple[OpRow, ...]
    traceback: tuple[Place, ...]


@dataclass(frozen=True)
class Memory:
    """Bytes held. largest: name and bytes of the biggest things, biggest first."""

    variables: int
    constants: int
    history: int
    records: int
    largest: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Script:
    """The script under the debugger. ops: total; forward, gradient: of these."""

    file: str
    ops: int
    forward: int
    gradient: int
    variables: int
    parameters: int
    placeholders: tuple[str, ...]
    handles: tuple[tuple[str, str], ...]
    y: str
    train_op: str


@dataclass(frozen=True)
class Changed:
    """A value that `set` changed. kind: "variable" or "tensor" (then it overrides from the next run on)."""

    name: str
    kind: str
    before: Stats | None
    after: Stats
