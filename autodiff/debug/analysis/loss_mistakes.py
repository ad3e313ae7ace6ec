"""Mistakes in how a loss is put together: each op does what it should, but it is hardly what is meant."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...core.graph import Operation, Tensor
from ..facts.roles import at_line, place_of
from .findings import Finding
from .remedies import origin_of

_ENTROPIES = ("SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits")
_DIFFERENCES = ("Sub", "SquaredDifference")
_ALMOST = 1e-3  # by which rows of labels may miss 1

Values = Mapping[Tensor, Any]


def suspicions(y: Tensor, ops: Iterable[Operation]) -> list[Finding]:
    """What shows in the graph alone. ops: the forward ones between the trainable variables and y."""
    found = [_vector(y)] if y.dims is not None and len(y.dims) else []
    for op in ops:
        found += _twice(op) + _single(op)
    return found


def value_suspicions(y: Tensor, ops: Sequence[Operation], values: Values) -> list[Finding]:
    """What shows in the values of a run."""
    found = []
    for op in ops:
        known = [np.asarray(values[t]) for t in map(unbroadcast, op.inputs) if t in values]
        if len(known) == len(op.inputs):
            found += _labels(op, known) + _crossed(op, known)
    return found


def unbroadcast(tensor: Tensor) -> Tensor:
    """What was broadcast to make a tensor, or itself."""
    while tensor.op.type in ("BroadcastTo", "Identity") and tensor.op.inputs:
        tensor = tensor.op.inputs[0]
    return tensor


def _finding(severity: int, kind: str, op: Operation, text: str, remedy: str) -> Finding:
    return Finding(severity, kind, op.name, op.type, "", text, remedy, f"info op {op.name}", place_of(op))


def _vector(y: Tensor) -> Finding:
    shape = "[" + ", ".join("?" if n is None else str(n) for n in y.dims or ()) + "]"
    return _finding(46, "loss is no scalar", y.op, f"{y.name} has the shape {shape}: its gradient is that of the sum "
                    "of its elements, so the steps grow with the batch",
                    "take tf.reduce_mean of it; grad --per-example shows the parts")


def _twice(op: Operation) -> list[Finding]:
    """A cross entropy that squashes its logits itself, given what is squashed already."""
    if op.type in _ENTROPIES:
        source = origin_of(op.inputs[0])
        if source.type in ("Softmax", "Sigmoid"):
            return [_finding(66, "double softmax", op, f"the logits of {op.name} are the {source.type.lower()} of "
                             f"{source.inputs[0].name}: the softmax is taken twice, which flattens the gradient",
                             f"give it {source.inputs[0].name}, from before the {source.type.lower()}")]
    if op.type == "LogSoftmax":
        source = origin_of(op.inputs[0])
        if source.type in ("Softmax", "LogSoftmax"):
            return [_finding(66, "double softmax", source, f"{op.name} (LogSoftmax{at_line(place_of(op))}) takes the "
                             f"softmax of {source.outputs[0].name}, which is one already: it is taken twice, which "
                             "flattens the gradient", f"give it {source.inputs[0].name}, from before the softmax")]
    if op.type == "Softplus" and op.inputs[0].op.type == "Neg":  # log(1 + exp(-x)): a logistic loss by hand
        source = origin_of(op.inputs[0].op.inputs[0])
        if source.type == "Sigmoid":
            return [_finding(66, "double sigmoid", source, f"the logistic loss {op.name}{at_line(place_of(op))} takes "
                             f"the sigmoid of {source.outputs[0].name}, which is one already: it is taken twice, which "
                             "flattens the gradient", f"give it {source.inputs[0].name}, from before the sigmoid")]
    if "logistic_loss" in op.name and op.type == "Mul":  # of logits and labels
        for tensor in op.inputs:
            if tensor.op.type == "Sigmoid" and "logistic_loss" not in tensor.op.name:
                logits = tensor.op.inputs[0].name
                return [_finding(66, "double sigmoid", op, "the logits of sigmoid_cross_entropy_with_logits are the "
                                 f"sigmoid of {logits}: it is taken twice, which flattens the gradient",
                                 f"give it {logits}, from before the sigmoid")]
    return []


def _single(op: Operation) -> list[Finding]:
    if op.type not in (*_ENTROPIES, "Softmax", "LogSoftmax") or not op.inputs[0].dims or op.inputs[0].dims[-1] != 1:
        return []
    return [_finding(66, "one class", op, f"{op.name} ({op.type}) is over one element, of which the softmax is 1 "
                     "whatever it is: no gradient comes through", "use tf.sigmoid, or tf.nn.sigmoid_cross_entropy_with_"
                     "logits, for a single output; or give it one column for each class")]


def _labels(op: Operation, known: Sequence[np.ndarray]) -> list[Finding]:
    if op.type != "SoftmaxCrossEntropyWithLogits" or len(known) < 2 or not known[1].size:
        return []
    sums = known[1].sum(axis=-1)
    wrong = np.abs(sums - 1) > _ALMOST
    if not wrong.any():
        return []
    first = int(np.flatnonzero(wrong.ravel())[0])
    return [_finding(52, "labels", op, f"{wrong.sum()} of {wrong.size} rows of the labels of {op.name} do not sum to "
                     f"1: row {first} sums to {sums.ravel()[first]:.3g}", "give it probabilities, such as tf.one_hot "
                     "of the classes; a row of zeros pulls at nothing")]


def _crossed(op: Operation, known: Sequence[np.ndarray]) -> list[Finding]:
    """Predictions float[n, 1] less targets float[n]: a table of n by n differences."""
    if op.type not in _DIFFERENCES or {known[0].ndim, known[1].ndim} != {1, 2}:
        return []
    column, row = sorted(known, key=lambda value: -value.ndim)
    if column.shape != (row.size, 1) or row.size < 2:
        return []
    return [_finding(64, "broadcast", op, f"{op.name} ({op.type}) subtracts shapes {list(known[0].shape)} and "
                     f"{list(known[1].shape)}: all pairs, a table of {row.size} by {row.size}, not {row.size} errors",
                     "give both the same shape: tf.squeeze(prediction, 1), or tf.expand_dims(target, 1)")]
