"""A logarithm of products and sums of exponentials, where a script makes these in several places: taken in each."""
from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ....core.constant_value import static_value
from ....core.errors import ArgumentError
from ....core.graph import Operation, Tensor
from ....core.traversal import past, users_of
from ..scripts.changes import Change, changed
from ..scripts.source_tree import Source

_ARRANGED = ("Identity", "Reshape", "Squeeze", "ExpandDims", "Transpose", "DiagPart", "MatrixDiagPart", "GatherV2",
             "GatherNd", "Slice", "StridedSlice")  # which give a logarithm as what it is of
_KEPT = ("Add", "AddV2", "Maximum")  # with a tiny number, which is not needed any more
_WAY = ("Log", "Exp", "Mul", "Sum", "RealDiv", *_KEPT, *_ARRANGED)
_TINY = 1e-3


class Carried(NamedTuple):
    """What is written so that each of the ops on the way to the logarithm `op`, its own last, gives a logarithm."""

    op: Operation
    way: tuple[Operation, ...]


def carried(log: Operation) -> Carried | None:
    """The way from exponentials that nothing else uses to a logarithm; None where it is not of one."""
    way, level = [log], [log.inputs[0].op]
    while level:
        op = level.pop(0)
        if op in way or op.type not in _WAY or op.span is None or op.type == "Log" or any(
                each not in way for each in users_of(op)) or op.type in _KEPT and _kept(op) is None:
            continue
        way.append(op)
        level += [t.op for t in op.inputs] if op.type != "Exp" else []
    needed = {op for op in way if op.type == "Exp"}
    for op in sorted(way, key=lambda each: each.index):
        if any(t.op in needed for t in op.inputs):
            needed.add(op)
    return Carried(log, tuple(op for op in reversed(way) if op in needed)) if log in needed else None


def _kept(op: Operation) -> Tensor | None:
    """What a tiny number keeps from 0."""
    for t, other in (op.inputs, op.inputs[::-1]):
        value = static_value(other)
        if value is not None and np.all((0 < value) & (value <= _TINY)):
            return t
    return None


def in_logarithms(source: Source, line: Carried) -> list[Change]:
    """Each expression of the way as its logarithm; that of the sum last. Raises ArgumentError."""
    made = [op for op in line.way if op.type not in _ARRANGED]
    same = {each for op in made for each in op.graph.operations.values() if each.type == op.type
            and each.span == op.span and each.site == op.site and each.gradient_of is None}
    alike = {each for op in same if op.type == "Log" and (found := carried(op)) is not None for each in found.way}
    if not same <= alike:
        raise ArgumentError("the same lines make what no logarithm is taken of")
    nodes = {source.expression(op): op for op in made}
    texts = _Logarithms(source, nodes)
    whole = [node for node in nodes if not any(each in nodes for each in source.around(node))]
    ends = [node for node in whole if any(isinstance(each, ast.expr) and nodes.get(each, line.op).type == "Sum"
                                          for each in ast.walk(node))]
    return [source.put(node, texts.of(node)) for node in sorted(whole, key=lambda each: each in ends[-1:])]


class _Logarithms(NamedTuple):
    """nodes: the expressions of the way, with the ops that they make."""

    source: Source
    nodes: Mapping[ast.expr, Operation]

    def of(self, node: ast.expr) -> str:
        """The logarithm of an expression of the way; of any other what it is with those in it."""
        op, source = self.nodes.get(node), self.source
        if op is None:
            inner = [each for each in ast.walk(node) if isinstance(each, ast.expr) and each in self.nodes and next(
                around for around in source.around(each) if around is node or around in self.nodes) is node]
            start, end = source.range(node)
            text = changed(f"({source.text[start:end]})", [
                (a - start + 1, b - start + 1, f"({self.of(each)})") for each in inner for a, b in [
                    source.range(each)]]) if inner else f"({source.raw(node)})"
            return text[1:-1]
        sides = [source.operand(node, op, i) for i in range(len(op.inputs) if op.type != "Sum" else 1)]
        if op.type in ("Exp", "Log"):
            return self.of(sides[0])
        if op.type in _KEPT:
            return self.of(sides[[*op.inputs].index(kept)]) if (kept := _kept(op)) is not None else ""
        if op.type == "Sum":
            rest = source.arguments(node, op, None) if isinstance(node, ast.Call) else ""
            return source.spelled("{tf}.reduce_logsumexp(") + self.of(sides[0]) + f"{rest})"
        left, right = (self._side(side, t) for side, t in zip(sides, op.inputs))
        is_loose = isinstance(ast.parse(right, mode="eval").body, ast.BinOp)
        return f"{left} + {right}" if op.type == "Mul" else f"{left} - " + (f"({right})" if is_loose else right)

    def _side(self, node: ast.expr, tensor: Tensor) -> str:
        """The logarithm of a factor, as it is written."""
        op = past(tensor, _ARRANGED).op
        if op in self.nodes.values():
            return self.of(node)
        tiny = " + 1e-12" if op.type in ("Softmax", "Sigmoid") else ""
        return f"{self.source.spelled('{tf}.log')}({self.source.raw(node)}{tiny})"
