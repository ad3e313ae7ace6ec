"""Calls of cross entropies as calls of others: of classes by number as of rows, of one column as of two classes."""
from __future__ import annotations

import ast
from typing import NamedTuple

from ....core.errors import ArgumentError
from ....core.graph import Operation
from ....core.traversal import past
from ..mistakes.heads import SAME, through
from ..scripts.calls import given, is_call, word_of
from ..scripts.changes import Change
from ..scripts.expressions import name_of
from ..scripts.source_tree import Source

_BY_NUMBER = {"sparsesoftmaxcrossentropywithlogits": "nn.softmax_cross_entropy_with_logits_v2",
              "sparsesoftmaxcrossentropy": "losses.softmax_cross_entropy"}
_OF_TWO = {"softmaxcrossentropywithlogits": "nn.sigmoid_cross_entropy_with_logits",
           "softmaxcrossentropywithlogitsv2": "nn.sigmoid_cross_entropy_with_logits",
           "softmaxcrossentropy": "losses.sigmoid_cross_entropy"}
_LOSSES = ("softmaxcrossentropy",)  # that give one number


class Dense(NamedTuple):
    """The cross entropy of classes by number as that of their rows of ones and zeros."""

    op: Operation


class OneUnit(NamedTuple):
    """The cross entropy of a softmax over one column as that of a sigmoid."""

    op: Operation


def dense(source: Source, rewrite: Dense) -> list[Change]:
    """Another function by a name that is longer or shorter, and the labels made into rows as long as the logits'."""
    calls = [node for node in source.spanned(rewrite.op) if is_call(node, *_BY_NUMBER)]
    sides = [given(call, place, word) for call in calls for place, word in ((0, "labels"), (1, "logits"))]
    if [*map(len, sides)] != [1, 1] or isinstance(sides[0][0], ast.Starred):
        raise ArgumentError("the labels are not written there")
    (call,), ((labels,), (logits,)) = calls, sides
    assert isinstance(call, ast.Call)
    (start, end), tf = source.range(call.func), source.module()
    name = f"{tf}.{_BY_NUMBER[name_of(call.func)]}"
    count = (rewrite.op.inputs[0].dims or (None,))[-1] or f"{tf}.shape({source.written(logits)})[-1]"
    return [(start, end, name), (*source.range(labels), f"{tf}.one_hot({source.written(labels)}, {count})")]


def for_one_unit(source: Source, rewrite: OneUnit) -> list[Change]:
    """Another function of the same arguments; a vector is made of its column where one number for each row is wanted.
    """
    op = rewrite.op
    calls = [node for node in source.spanned(op) if is_call(node, *_OF_TWO)]
    if len(calls) != 1 or word_of(calls[0], "axis", "dim", "weights", "label_smoothing") is not None or len(
            calls[0].args) > 2:  # type: ignore[attr-defined]
        raise ArgumentError("it is given more than labels and logits")
    (call,), tf = calls, source.module()
    assert isinstance(call, ast.Call)
    changes = [(*source.range(call.func), f"{tf}.{_OF_TWO[name_of(call.func)]}")]
    word = word_of(call, "onehot_labels")
    if word is not None:
        start = source.range(word)[0]
        changes.append((start, start + len("onehot_labels"), "multi_class_labels"))
    if past(op.inputs[1], SAME).dtype.is_integer:
        labels, = given(call, 0 if is_call(call, *_LOSSES) else None, "labels", "onehot_labels")
        changes.append((*source.range(labels), f"{tf}.cast({source.written(labels)}, {tf}.float32)"))
    takers = [c for c in through(op.outputs[0]) if c.type not in SAME and c.type != "Neg" and c.gradient_of is None]
    if not is_call(call, *_LOSSES) and not all(c.type in ("Mean", "Sum") and c.outputs[0].dims == () for c in takers):
        start, end = source.range(call)
        changes += [(start, start, f"{tf}.squeeze("), (end, end, ", -1)")]
    return changes
