"""Summing the gradients that reach one tensor over several paths."""
from __future__ import annotations

import functools
from collections.abc import Sequence

from ..core.errors import ArgumentError
from ..core.graph import Graph, Tensor
from ..core.indexed_slices import IndexedSlices, dense
from ..core.op import build

Gradient = Tensor | IndexedSlices


class AggregationMethod:
    """How several gradients of one tensor are added: all at once, pairwise, or accumulated."""

    ADD_N = DEFAULT = 0
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


def check_method(method: int | None) -> int:
    """`method`, or the default for None. Raises ArgumentError for an unknown one."""
    if method is None:
        return AggregationMethod.DEFAULT
    if method not in (0, 1, 2):
        raise ArgumentError(f"aggregation_method is {method!r}, expected one of AggregationMethod's ADD_N (0), "
                            "EXPERIMENTAL_TREE (1), EXPERIMENTAL_ACCUMULATE_N (2)")
    return method


def total(graph: Graph, terms: Sequence[Gradient], op_name: str, method: int) -> Gradient:
    """The sum of `terms`; a single term is passed on as it is, and rows stay rows if all are."""
    if len(terms) == 1:
        return terms[0]
    if all(isinstance(term, IndexedSlices) for term in terms):
        return _joined(terms)  # type: ignore[arg-type]
    tensors = [dense(term) for term in terms]
    if tensors[0].dtype.name == "variant":
        return functools.reduce(build.ListAdd, tensors)
    if method == AggregationMethod.EXPERIMENTAL_TREE:
        return _pairwise(graph, tensors, op_name)
    if method == AggregationMethod.EXPERIMENTAL_ACCUMULATE_N and len(tensors) > 2:
        return build.AccumulateNV2(*tensors)
    return build.AddN(*tensors)


def _joined(terms: Sequence[IndexedSlices]) -> IndexedSlices:
    indices = [term.indices for term in terms]
    if any(i.dtype is not indices[0].dtype for i in indices):
        indices = [build.Cast(i, dtype="int64") for i in indices]
    return IndexedSlices(build.ConcatV2(0, *(term.values for term in terms), name="concat"),
                         build.ConcatV2(0, *indices, name="concat"), terms[0].dense_shape)


def _pairwise(graph: Graph, terms: list[Tensor], op_name: str) -> Tensor:
    with graph.name_scope(f"{op_name}_gradient_sum"):
        while len(terms) > 1:
            paired = [build.AddN(*terms[i:i + 2]) for i in range(0, len(terms) - 1, 2)]
            terms = paired + terms[len(paired) * 2:]
    return terms[0]
