"""Precision, recall and average precision of the k classes that are said first, against sets of labels."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import float64, int64
from ...core.errors import ArgumentError, ShapeError
from ...core.graph import Tensor
from ...core.name_scope import scope
from ...core.op import build
from ...core.sparse_tensor import SparseTensor, SparseTensorValue
from ..common.made import named
from ..common.ranks import assert_broadcastable, broadcast_weights
from ..control.dependencies import control_dependencies
from ..math.casts import in_dtype
from ..math.reductions import reduce_sum
from ..sparse.arithmetic import sparse_to_dense
from .streams import Metric, collected, in_graphs, metric_variable

__all__ = ["average_precision_at_k", "precision_at_k", "precision_at_top_k", "recall_at_k", "recall_at_top_k",
           "sparse_average_precision_at_k", "sparse_precision_at_k"]

_NONE = np.iinfo(np.int64).min  # fills the rows of sparse labels: no class's number


class Ids(NamedTuple):
    """Sets of classes, one in each row: ids int64[..., n]; those that are not `there`, bool[..., n], do not count."""

    ids: Tensor
    there: Tensor


def _labels(labels: Any, predictions: Tensor) -> Ids:
    """Labels of the rank of the predictions: of one label in each row the last axis is added."""
    if isinstance(labels, SparseTensorValue):
        labels = SparseTensor(*labels)
    if isinstance(labels, SparseTensor):
        dense = sparse_to_dense(labels.indices, labels.dense_shape, build.Cast(labels.values, dtype=int64), _NONE,
                                validate_indices=False)
        if dense.dims is None and predictions.dims is not None:
            dense.set_shape([None] * len(predictions.dims))
    else:
        dense = build.Cast(convert_to_tensor(labels), dtype=int64)
    ranks = [None if side.dims is None else len(side.dims) for side in (predictions, dense)]
    if None not in ranks and ranks[0] != ranks[1]:
        if ranks[0] == ranks[1] + 1:  # type: ignore[operator]
            dense = build.ExpandDims(dense, -1)
        else:
            raise ShapeError(f"Unexpected labels shape {dense.shape} for predictions shape {predictions.shape}.")
    return Ids(dense, build.NotEqual(dense, _NONE))


def _selected(ids: Ids, class_id: Any) -> Ids:
    return ids if class_id is None else Ids(ids.ids, build.LogicalAnd(ids.there, build.Equal(
        ids.ids, build.Cast(convert_to_tensor(class_id), dtype=int64))))


def _first_of_their_kind(ids: Ids) -> Tensor:
    """Which of a row's ids were not there before: a set has each once."""
    same = build.Equal(build.ExpandDims(ids.ids, -1), build.ExpandDims(ids.ids, -2))
    same = build.LogicalAnd(same, build.ExpandDims(ids.there, -2))
    before = build.MatrixBandPart(build.Cast(same, dtype=float64), -1, 0)
    return build.LogicalAnd(ids.there, build.LessEqual(build.Sum(before, [-1]), 1.0))


def _in_common(ids: Ids, others: Ids, *, wanted: bool) -> Tensor:
    """For each row of ids, how many of them are among the others, or are not. -> float64[...]."""
    same = build.Equal(build.ExpandDims(ids.ids, -1), build.ExpandDims(others.ids, -2))
    found = build.Any(build.LogicalAnd(same, build.ExpandDims(others.there, -2)), [-1])
    kept = build.LogicalAnd(_first_of_their_kind(ids), found if wanted else build.LogicalNot(found))
    return build.Sum(build.Cast(kept, dtype=float64), [-1])


def _name(kind: str, k: int | None, class_id: Any) -> str:
    ending = "" if class_id is None else f"_class{class_id}"
    return f"{kind}_at_k{ending}" if k is None else f"{kind}_at_{k}{ending}"


def _total(count: Tensor, weights: Any, kind: str, k: int | None, class_id: Any) -> tuple[Tensor, Tensor]:
    with scope(None, _name(kind, k, class_id), (count,)) as name:
        if weights is not None:
            weights = in_dtype(weights, float64)
            with control_dependencies([assert_broadcastable(weights, count)]):
                count = build.Mul(count, weights)
        total = metric_variable([], float64, name=name)
        return total.as_tensor(), total.assign_add(reduce_sum(count), name="update")


def _rate(kind: str, words: str) -> Callable[..., Metric]:
    def rate(labels: Any, predictions_idx: Any, k: int | None = None, class_id: Any = None, weights: Any = None,
             metrics_collections: Any = None, updates_collections: Any = None, name: str | None = None) -> Metric:
        with scope(name, _name(kind, k, class_id), (predictions_idx, labels, weights)) as full:
            said = build.Cast(convert_to_tensor(predictions_idx), dtype=int64)
            true = _selected(_labels(labels, said), class_id)
            ids = _selected(Ids(said, build.Equal(said, said)), class_id)
            hits, more_hits = _total(_in_common(ids, true, wanted=True), weights, "true_positive", k, class_id)
            missed = ("false_positive", _in_common(ids, true, wanted=False)) if kind == "precision" else \
                ("false_negative", _in_common(true, ids, wanted=False))
            misses, more_misses = _total(missed[1], weights, missed[0], k, class_id)
            value = build.RealDiv(hits, build.Add(hits, misses), name=full)
            update = build.RealDiv(more_hits, build.Add(more_hits, more_misses), name="update")
            return collected(value, update, metrics_collections, updates_collections)

    return in_graphs(named(rate, f"{kind}_at_top_k", f"{words} predictions_idx: int[..., k]; see {kind}_at_k."))


recall_at_top_k = _rate("recall", "How many of the labels are among the classes said.")
precision_at_top_k = _rate("precision", "How many of the classes said are labels.")


def _of_the_first(kind: str, rate: Callable[..., Metric], words: str) -> Callable[..., Metric]:
    def first_rate(labels: Any, predictions: Any, k: int, class_id: Any = None, weights: Any = None,
                   metrics_collections: Any = None, updates_collections: Any = None, name: str | None = None) -> Metric:
        with scope(name, _name(kind, k, class_id), (predictions, labels, weights)) as full:
            _, first = build.TopKV2(convert_to_tensor(predictions), k)
            return rate(labels, first, k, class_id, weights, metrics_collections, updates_collections, full)

    return in_graphs(named(first_rate, f"{kind}_at_k", words))


recall_at_k = _of_the_first("recall", recall_at_top_k, """\
    How many of the labels are among the k classes with the highest predictions.

    labels: int64[...] or [..., labels], dense or sparse. predictions: float[..., classes]. class_id: of this class
    alone. weights: a number, or number[...] as the rows. Gives (value, update_op): float64[] each; NaN for no labels.
    """)
precision_at_k = _of_the_first("precision", precision_at_top_k, "How many of the k classes with the highest "
                               "predictions are labels. See recall_at_k.")
sparse_precision_at_k = precision_at_k


@in_graphs
def average_precision_at_k(labels: Any, predictions: Any, k: int, weights: Any = None,
                           metrics_collections: Any = None, updates_collections: Any = None,
                           name: str | None = None) -> Metric:
    """The mean over rows of the precision at each of the first k places whose class is a label.

    Labels below 0 or from the number of classes on do not count. Raises ArgumentError (ValueError) for k < 1.
    """
    if k < 1:
        raise ArgumentError(f"Invalid k={k}.")
    with scope(name, _name("average_precision", k, None), (predictions, labels, weights)) as full:
        predictions = convert_to_tensor(predictions)
        _, first = build.TopKV2(predictions, k)
        classes = build.Cast(build.Shape(predictions)[-1], dtype=int64)
        return _average(labels, first, classes, weights, metrics_collections, updates_collections, full)


sparse_average_precision_at_k = average_precision_at_k


def _streaming_sparse_average_precision_at_top_k(labels: Any, predictions_idx: Any, weights: Any = None,
                                                 metrics_collections: Any = None, updates_collections: Any = None,
                                                 name: str | None = None) -> Metric:
    with scope(name, "average_precision_at_top_k", (predictions_idx, labels, weights)) as full:
        return _average(labels, convert_to_tensor(predictions_idx), None, weights, metrics_collections,
                        updates_collections, full)


def _average(labels: Any, said: Tensor, classes: Tensor | None, weights: Any, metrics_collections: Any,
             updates_collections: Any, name: str) -> Metric:
    each = _average_precision(labels, said, classes)
    amount = build.Cast(build.Size(each), dtype=float64)
    if weights is not None:
        weights = broadcast_weights(in_dtype(weights, float64), each)
        each, amount = build.Mul(each, weights), reduce_sum(weights)
    with scope(None, "max", (each,)) as full:
        most = metric_variable([], float64, name=full)
        new_most = most.assign_add(amount, name="update")
    with scope(None, "total", (each,)) as full:
        total = metric_variable([], float64, name=full)
        new_total = total.assign_add(reduce_sum(each), name="update")
    return collected(build.DivNoNan(total.as_tensor(), most.as_tensor(), name="mean"),
                     build.DivNoNan(new_total, new_most, name=name), metrics_collections, updates_collections)


def _sparse_average_precision_at_top_k(labels: Any, predictions_idx: Any) -> Tensor:
    return _average_precision(labels, convert_to_tensor(predictions_idx), None)


def _average_precision(labels: Any, said: Tensor, classes: Tensor | None) -> Tensor:
    """The average precision of each row. said: int[..., k]. -> float64[...]."""
    if said.dims == ():
        raise ShapeError("The rank of predictions_idx must be at least 1.")
    if said.dims is None or said.dims[-1] is None:
        raise ShapeError("The last dimension of predictions_idx must be set.")
    k = said.dims[-1]
    said = build.Cast(said, dtype=int64)
    true = _labels(labels, said)
    there = build.LogicalAnd(true.there, build.GreaterEqual(true.ids, build.Cast(convert_to_tensor(0), dtype=int64)))
    if classes is not None:
        there = build.LogicalAnd(there, build.Less(true.ids, classes))
    same = build.LogicalAnd(build.Equal(build.ExpandDims(said, -1), build.ExpandDims(true.ids, -2)),
                            build.ExpandDims(there, -2))
    relevant = build.Cast(build.Any(same, [-1]), dtype=float64)
    places = convert_to_tensor(np.arange(1.0, k + 1))
    precision = build.Mul(build.RealDiv(build.Cumsum(relevant, -1), places), relevant)
    labeled = build.Sum(build.Cast(there, dtype=float64), [-1])
    return build.RealDiv(build.Sum(precision, [-1]), build.Minimum(labeled, float(k)))
