"""Matrices of data that layers are multiplied by again and again, as adjacencies of graphs, whose rows sum to much."""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ....core.dtypes import int32
from ....core.graph import Operation, Tensor
from ....core.op import build
from ....core.traversal import ancestors, in_order, past
from ...facts.roles import PLACEHOLDERS, VARIABLES, at_line, place_of
from ..arithmetic_rules import number
from ..edits.in_graph import Edit, around, constant, replaced
from ..edits.in_source import Fed, Rewrite

_PRODUCTS = ("MatMul", "BatchMatMulV2")
_PASSES = ("Identity", "Cast")
_MUCH = 3.0  # what rows sum to on the average, which makes each layer as much larger
_LAYERS = 2  # that are multiplied by it
_LEAST = 1e-12
_MEANS = f"{{0}} / tf.maximum(tf.reduce_sum({{0}}, -1, keepdims=True), {_LEAST:g})"


class Summing(NamedTuple):
    """A matrix of nothing but data, and what its rows sum to at most."""

    matrix: Tensor
    most: float

    @property
    def text(self) -> str:
        """What it does to the layers."""
        op = self.matrix.op
        return (f"the rows of {op.name}{at_line(place_of(op))} sum to up to {number(self.most)}: each layer that is "
                "multiplied by it adds up as much")


def summing(y: Tensor, values_of: Callable[[Sequence[Operation]], Mapping[Tensor, Any]]) -> list[Summing]:
    """The square matrices without negative numbers that at least two products behind y take. values_of: of ops."""
    uses: dict[Tensor, int] = {}
    places = Counter[Any]()  # of arrays that each line makes a constant of anew
    behind = in_order(ancestors([y]))
    trained = {op for op in behind if op.type in VARIABLES or any(t.op.type in VARIABLES for t in op.inputs)}
    for op in behind:  # each after what it is made of
        if any(t.op in trained for t in op.inputs):
            trained.add(op)
        if op.type in _PRODUCTS and op.gradient_of is None and sum(t.op in trained for t in op.inputs) == 1:
            data = past(next(t for t in op.inputs if t.op not in trained), _PASSES)
            uses[data] = uses.get(data, 0) + 1
            places[data.op.site, data.op.span] += 1
    several = [t for t, count in uses.items() if t.dtype.is_floating and (
        count >= _LAYERS or t.op.type == "Const" and places[t.op.site, t.op.span] >= _LAYERS)]
    values = values_of([t.op for t in several]) if several else {}
    found = []
    for t in several:
        value = np.asarray(values.get(t, 0.0))
        if value.ndim >= 2 and value.shape[-1] == value.shape[-2] > 1 and value.min() >= 0:
            sums = value.sum(axis=-1, dtype=np.float64)
            if sums.mean() > _MUCH:
                found.append(Summing(t, float(sums.max())))
    return found


def divided(matrix: Tensor) -> Edit:
    """The same with rows that sum to 1."""
    op = matrix.op
    words = f"divide the rows of {op.name} by their sums, as a mean over neighbors does"

    def made(x: Tensor) -> Tensor:
        last = build.Const(value=np.asarray(-1, np.int32), dtype=int32)
        return build.RealDiv(x, build.Maximum(build.Sum(x, last, keep_dims=True), constant(_LEAST, x)))

    edit = replace(replaced(matrix, words, made), explains=True)
    if op.type in PLACEHOLDERS:
        return replace(edit, line=Fed(op, f"{{0}} / {{np}}.maximum({{np}}.sum({{0}}, -1, keepdims=True), {_LEAST:g})"))
    users = [c for c in matrix._consumers if c.gradient_of is None]
    if op.type == "Const" and len(users) == 1 and users[0].span == op.span:  # an array that became one
        i = users[0].inputs.index(matrix)
        return replace(edit, line=Rewrite(users[0], i, _MEANS.replace("tf.", "{tf}."), ((users[0], i),)))
    return replace(edit, line=around(op, _MEANS))
