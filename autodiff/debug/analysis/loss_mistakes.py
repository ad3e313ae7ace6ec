"""Mistakes in how a loss is put together: each op does what it should, but it is hardly what is meant."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...core.graph import Operation, Tensor
from ..facts.graph_lists import calls_of
from ..facts.roles import VARIABLES, at_line, place_of
from .findings import Finding
from .mistakes.case import held
from .mistakes.heads import unbroadcast
from .mistakes.signs import is_of_one
from .remedies import origin_of

_DIFFERENCES = ("Sub", "SquaredDifference")
_ALMOST = 1e-3  # by which rows of labels may miss 1

Values = Mapping[Tensor, Any]


def suspicions(y: Tensor, ops: Iterable[Operation]) -> list[Finding]:
    """What shows in the graph alone. ops: the forward ones between the trainable variables and y."""
    found = [_vector(y)] if y.dims is not None and len(y.dims) and _trains(y) else []
    for op in ops:
        found += _twice(op)
    return found


def value_suspicions(ops: Sequence[Operation], values: Values) -> list[Finding]:
    """What shows in the values of a run."""
    found = []
    for op in ops:
        known = [np.asarray(values[t]) for t in map(unbroadcast, op.inputs) if t in values]
        if len(known) == len(op.inputs):
            found += _labels(op, known) + _crossed(op, known)
    return found


def _finding(severity: int, kind: str, op: Operation, text: str, remedy: str) -> Finding:
    return Finding(severity, kind, op.name, op.type, "", text, remedy, f"info op {op.name}", place_of(op))


def _trains(y: Tensor) -> bool:
    """Whether variables are what the gradient of y is asked of, if any is: that of an input shows what it looks at."""
    asked = [held(x).type in VARIABLES for call in calls_of(y.graph) if y in call.ys for x in call.xs]
    return any(asked) or not asked


def _vector(y: Tensor) -> Finding:
    shape = "[" + ", ".join("?" if n is None else str(n) for n in y.dims or ()) + "]"
    return _finding(46, "loss is no scalar", y.op, f"{y.name} has the shape {shape}: its gradient is that of the sum "
                    "of its elements, so the steps grow with the batch",
                    "take tf.reduce_mean of it; grad --per-example shows the parts")


def _twice(op: Operation) -> list[Finding]:
    """A cross entropy that squashes its logits itself, given what is squashed already."""
    if op.type == "LogSoftmax":
        source = origin_of(op.inputs[0])
        if source.type == "Softmax":
            return [_finding(66, "double softmax", source, f"{op.name} (LogSoftmax{at_line(place_of(op))}) takes the "
                             f"softmax of {source.outputs[0].name}, which is one already: it is taken twice, which "
                             "flattens the gradient", f"give it {source.inputs[0].name}, from before the softmax")]
    return []


def _labels(op: Operation, known: Sequence[np.ndarray]) -> list[Finding]:
    if op.type != "SoftmaxCrossEntropyWithLogits" or len(known) < 2 or not known[1].size:
        return []
    sums = known[1].sum(axis=-1)
    wrong = np.abs(sums - 1) > _ALMOST
    if not wrong.any():
        return []
    first = int(np.flatnonzero(wrong.ravel())[0])
    source = origin_of(op.inputs[1])
    if source.type == "OneHot" and not sums[wrong].any():
        depth = known[1].shape[-1]
        return [_finding(64, "labels out of range", source, f"{wrong.sum()} of {wrong.size} rows that {source.name} "
                         f"makes for {op.name}{at_line(place_of(op))} are all 0, such as row {first}: their classes "
                         f"are not among 0 to {depth - 1}, so these examples teach nothing",
                         f"raise the depth {depth} to the count of classes; labels that begin with 1: y - 1")]
    is_scaled = bool(wrong.all()) and np.ptp(sums) < _ALMOST * np.abs(sums).max()
    return [_finding(77 if is_scaled else 52, "labels", op, f"{wrong.sum()} of {wrong.size} rows of the labels of "
                     f"{op.name} do not sum to 1: row {first} sums to {sums.ravel()[first]:.3g}", "give it "
                     "probabilities, such as tf.one_hot of the classes; a row of zeros pulls at nothing")]


def _crossed(op: Operation, known: Sequence[np.ndarray]) -> list[Finding]:
    """Predictions float[n, 1] less targets float[n]: a table of n by n differences."""
    if op.type not in _DIFFERENCES or {known[0].ndim, known[1].ndim} != {1, 2} or is_of_one(op):
        return []
    column, row = sorted(known, key=lambda value: -value.ndim)
    if column.shape != (row.size, 1) or row.size < 2:
        return []
    return [_finding(64, "broadcast", op, f"{op.name} ({op.type}) subtracts shapes {list(known[0].shape)} and "
                     f"{list(known[1].shape)}: all pairs, a table of {row.size} by {row.size}, not {row.size} errors",
                     "give both the same shape: tf.squeeze(prediction, 1), or tf.expand_dims(target, 1)")]
