"""Reductions, running totals and segments: TensorFlow's functions that make fewer numbers of many."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.constant_value import static_value
from ...core.convert import constant_in, convert_to_tensor, to_tensor
from ...core.dtypes import DType, as_dtype, bool_, int32, int64
from ...core.errors import ArgumentError, KindError
from ...core.graph import Tensor, graph_of
from ...core.op import OPS, OpDef, build
from ...ops.math import segments as rows
from ..common.arguments import one_of
from ..common.made import named

__all__ = ["accumulate_n", "add_n", "arg_max", "arg_min", "argmax", "argmin", "bincount", "count_nonzero", "cumprod",
           "cumsum", "cumulative_logsumexp", "reduce_all", "reduce_any", "reduce_euclidean_norm", "reduce_logsumexp",
           "reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_std", "reduce_sum", "reduce_variance",
           "segment_max", "segment_mean", "segment_min", "segment_prod", "segment_sum", "sparse_segment_mean",
           "sparse_segment_sqrt_n", "sparse_segment_sum", "unsorted_segment_max", "unsorted_segment_mean",
           "unsorted_segment_min", "unsorted_segment_prod", "unsorted_segment_sqrt_n", "unsorted_segment_sum"]


def _all_axes(x: Tensor) -> Tensor:
    """All axes of `x`: an op named `Const` if their count is known."""
    if x.dims is not None:
        return constant_in(x.graph, np.arange(len(x.dims), dtype=np.int32), "Const")
    return build.Range(0, build.Rank(x, name="Rank"), 1, name="range")


def _reduce(op: str, x: Any, axis: Any, *, keepdims: bool = False, name: str | None = None) -> Tensor:
    tensor = _tensor(x, bool_ if op in ("All", "Any") and isinstance(x, (list, tuple)) else None)
    result = OPS[op](tensor, _all_axes(tensor) if axis is None else axis, keep_dims=bool(keepdims), name=name)
    if axis is None and not keepdims:
        result.set_shape(())
    return result


def _tensor(x: Any, dtype: DType | None = None) -> Tensor:
    return x if isinstance(x, Tensor) else to_tensor(graph_of([x]), x, dtype, "input_tensor")


def _reduction(op: str, sentence: str) -> Callable[..., Tensor]:
    """The user's function for a reducing op, with the arguments' old names."""

    def reduce(input_tensor: Any, axis: Any = None, keepdims: bool | None = None, name: str | None = None,
               reduction_indices: Any = None, keep_dims: bool | None = None) -> Tensor:
        axis = one_of("axis", axis, "reduction_indices", reduction_indices)
        keep = one_of("keepdims", keepdims, "keep_dims", keep_dims)
        return _reduce(op, input_tensor, axis, keepdims=bool(keep), name=name)

    return named(reduce, f"reduce_{op.lower()}", f"""{sentence}

    input_tensor: [...]. axis: an int, several, or None for all. keepdims: leave the reduced axes as 1.
    reduction_indices and keep_dims are the old names of axis and keepdims. Raises ArgumentError
    (ValueError) for an axis out of range and for an argument given under both names.
    """)


reduce_sum = _reduction("Sum", "The sum over axes.")
reduce_mean = _reduction("Mean", "The mean over axes, of the input's dtype: rounded toward 0 for integers.")
reduce_prod = _reduction("Prod", "The product over axes.")
reduce_max = _reduction("Max", "The greatest over axes.")
reduce_min = _reduction("Min", "The smallest over axes.")
reduce_all = _reduction("All", "Whether all are true along axes.")
reduce_any = _reduction("Any", "Whether any is true along axes.")


def reduce_logsumexp(input_tensor: Any, axis: Any = None, keepdims: bool | None = None, name: str | None = None,
                     reduction_indices: Any = None, keep_dims: bool | None = None) -> Tensor:
    """log(sum(exp(x))) over axes without overflow. Arguments as of reduce_sum."""
    axis = one_of("axis", axis, "reduction_indices", reduction_indices)
    keep = bool(one_of("keepdims", keepdims, "keep_dims", keep_dims))
    with graph_of([input_tensor]).name_scope(name or "ReduceLogSumExp"):
        x = _tensor(input_tensor)
        highest = _reduce("Max", x, axis, keepdims=True)
        highest = build.StopGradient(build.Select(build.IsFinite(highest), highest, build.ZerosLike(highest)))
        result = build.Log(_reduce("Sum", build.Exp(x - highest), axis, keepdims=keep))
        return build.Add(result, highest if keep else build.Reshape(highest, build.Shape(result)))


def reduce_variance(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """The mean of squared distances from the mean, over axes. input_tensor: float[...]."""
    with graph_of([input_tensor]).name_scope(name or "reduce_variance"):
        x = _tensor(input_tensor)
        if x.dtype.is_integer:
            raise ArgumentError(expected="floats", found=x.describe(), hint="use tf.cast first")
        distances = x - _reduce("Mean", x, axis, keepdims=True)
        return _reduce("Mean", build.Square(distances), axis, keepdims=keepdims)


def reduce_std(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """The square root of the variance, over axes. input_tensor: float[...]."""
    with graph_of([input_tensor]).name_scope(name or "reduce_std"):
        return build.Sqrt(reduce_variance(input_tensor, axis, keepdims))


def reduce_euclidean_norm(input_tensor: Any, axis: Any = None, keepdims: bool = False,
                          name: str | None = None) -> Tensor:
    """The square root of the sum of squares, over axes. input_tensor: number[...]."""
    return _reduce("EuclideanNorm", input_tensor, axis, keepdims=keepdims, name=name)


def count_nonzero(input_tensor: Any = None, axis: Any = None, keepdims: bool | None = None, dtype: Any = int64,
                  name: str | None = None, reduction_indices: Any = None, keep_dims: bool | None = None,
                  input: Any = None) -> Tensor:
    """How many elements are not 0 (or not False, or not empty), over axes. Arguments as of reduce_sum."""
    x = _tensor(one_of("input_tensor", input_tensor, "input", input))
    axis = one_of("axis", axis, "reduction_indices", reduction_indices)
    with x.graph.name_scope(name or "count_nonzero"):
        zero: Any = b"" if x.dtype.kind == "O" else x.dtype.base_dtype.as_numpy_dtype()
        ones = build.Cast(build.NotEqual(x, zero), dtype=int64)
        total = _reduce("Sum", ones, axis, keepdims=bool(one_of("keepdims", keepdims, "keep_dims", keep_dims)))
        return total if as_dtype(dtype) is int64 else build.Cast(total, dtype=dtype)


def _place(op: str, what: str) -> Callable[..., Tensor]:
    def place(input: Any, axis: Any = None, name: str | None = None, dimension: Any = None,
              output_type: Any = int64) -> Tensor:
        axis = one_of("axis", axis, "dimension", dimension)
        return OPS[op](input, 0 if axis is None else axis, output_type=as_dtype(output_type), name=name)

    return named(place, op.lower(), f"Index of the {what} along one axis (0 by default), the first of several. "
                 "dimension: axis's old name.")


argmax, argmin = _place("ArgMax", "greatest"), _place("ArgMin", "smallest")


def arg_max(input: Any, dimension: Any, output_type: Any = int64, name: str | None = None) -> Tensor:
    """argmax under its old name."""
    return argmax(input, dimension, name, output_type=output_type)


def arg_min(input: Any, dimension: Any, output_type: Any = int64, name: str | None = None) -> Tensor:
    """argmin under its old name."""
    return argmin(input, dimension, name, output_type=output_type)


def _of_one_kind(inputs: Any, what: str) -> list[Tensor]:
    if isinstance(inputs, Tensor) or hasattr(inputs, "as_tensor"):
        raise KindError(f"{what} takes a list of tensors, found {inputs!r}")
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise ArgumentError(f"{what} takes a list of at least one tensor, found {inputs!r}")
    graph = graph_of(inputs)
    dtype: DType | None = next((x.dtype.base_dtype for x in inputs if isinstance(x, Tensor)), None)
    return [to_tensor(graph, x, None if isinstance(x, Tensor) or hasattr(x, "as_tensor") else dtype, f"inputs_{i}")
            for i, x in enumerate(inputs)]


def add_n(inputs: Any, name: str | None = None) -> Tensor:
    """The sum of a list of tensors of one shape and dtype; a single one is passed on as it is.

    Raises ArgumentError (ValueError) for anything but a list with a tensor in it.
    """
    tensors = _of_one_kind(inputs, "add_n")
    if len(tensors) == 1:
        return build.Identity(tensors[0], name=name) if name else tensors[0]
    return build.AddN(*tensors, name=name)


def accumulate_n(inputs: Any, shape: Any = None, tensor_dtype: Any = None, name: str | None = None) -> Tensor:
    """The sum of a list of tensors of one shape and dtype, added as they come.

    shape, tensor_dtype: what they must be. Raises ArgumentError (ValueError), or KindError (TypeError) for the dtype.
    """
    tensors = _of_one_kind(inputs, "accumulate_n")
    dtypes = {x.dtype.base_dtype.name for x in tensors}
    if len(dtypes) > 1:
        raise ArgumentError(expected="tensors of one dtype", found=', '.join(sorted(dtypes)))
    if tensor_dtype is not None and as_dtype(tensor_dtype).name not in dtypes:
        raise KindError(f"tensor_dtype is {as_dtype(tensor_dtype)}, but input is of type {dtypes.pop()}")
    if len(tensors) == 1 and name is None:
        return tensors[0]
    total = build.AccumulateNV2(*tensors, name=name)
    if shape is not None:
        total.set_shape(shape)
    return total


def _running(kind: str, op: str, words: str) -> Callable[..., Tensor]:
    def running(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False,
                name: str | None = None) -> Tensor:
        return OPS[op](x, axis, exclusive=bool(exclusive), reverse=bool(reverse), name=name)

    return named(running, kind, f"Running {words} along one axis. exclusive: without the element itself. reverse: from "
                 "the end.")


cumsum, cumprod = _running("cumsum", "Cumsum", "sums"), _running("cumprod", "Cumprod", "products")
cumulative_logsumexp = _running("cumulative_logsumexp", "CumulativeLogsumexp", "log(sum(exp(x))), without overflow,")


def _segments(definition: OpDef) -> Callable[..., Tensor]:
    def segment(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
        return definition(data, segment_ids, name=name)

    return named(segment, definition.kernel.__name__, definition.doc)


def _unsorted_segments(definition: OpDef) -> Callable[..., Tensor]:
    def segment(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Tensor:
        return definition(data, segment_ids, num_segments, name=name)

    return named(segment, definition.kernel.__name__, definition.doc)


segment_sum, segment_mean, segment_prod = map(_segments, (rows.segment_sum, rows.segment_mean, rows.segment_prod))
segment_max, segment_min = map(_segments, (rows.segment_max, rows.segment_min))
unsorted_segment_sum, unsorted_segment_prod, unsorted_segment_max, unsorted_segment_min = map(_unsorted_segments, (
    rows.unsorted_segment_sum, rows.unsorted_segment_prod, rows.unsorted_segment_max, rows.unsorted_segment_min))


def unsorted_segment_mean(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Tensor:
    """Means of rows by number, 0 of none. data: float[*n, ...], segment_ids: int[*n] -> float[k, ...]."""
    return _over_counts(data, segment_ids, num_segments, name=name or "UnsortedSegmentMean", root=False)


def unsorted_segment_sqrt_n(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Tensor:
    """Sums of rows by number over the root of their count. data: float[*n, ...], segment_ids: int[*n]."""
    return _over_counts(data, segment_ids, num_segments, name=name or "UnsortedSegmentSqrtN", root=True)


def _over_counts(data: Any, segment_ids: Any, num_segments: Any, *, name: str, root: bool) -> Tensor:
    with graph_of([data, segment_ids, num_segments]).name_scope(name):
        data, ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
        sums = build.UnsortedSegmentSum(data, ids, num_segments)
        ones = build.OnesLike(build.Cast(ids, dtype=data.dtype.base_dtype))
        counts = build.Maximum(build.UnsortedSegmentSum(ones, ids, num_segments), 1)
        inner = build.Fill(build.Pack(build.Rank(sums) - 1, axis=0), 1)
        counts = build.Reshape(counts, build.ConcatV2(0, build.Shape(counts), inner))
        return sums / (build.Sqrt(counts) if root else counts)


def _sparse_segments(kind: str, scope: str, words: str) -> Callable[..., Tensor]:
    def segments(data: Any, indices: Any, segment_ids: Any, name: str | None = None,
                 num_segments: Any = None) -> Tensor:
        count = static_value(num_segments) if isinstance(num_segments, Tensor) else num_segments
        if count is not None and count < 0:
            raise ArgumentError("Cannot specify a negative value for num_segments", found=count)
        with graph_of([data, indices, segment_ids]).name_scope(name or scope):
            rows = build.GatherV2(data, indices, 0)
            ids = build.SortedIds(segment_ids, -1 if num_segments is None else num_segments)
            if num_segments is None:
                num_segments = build.Maximum(build.Max(ids, 0) + 1, 0)  # none where there are no ids
            if kind == "sum":
                return build.UnsortedSegmentSum(rows, ids, num_segments)
            return _over_counts(rows, ids, num_segments, name=kind, root=kind == "sqrt_n")

    return named(segments, f"sparse_segment_{kind}", f"{words} indices, segment_ids: int[n], the latter rising from 0.")


sparse_segment_sum = _sparse_segments("sum", "SparseSegmentSum", "Sums of the rows `indices` of data by segment.")
sparse_segment_mean = _sparse_segments("mean", "SparseSegmentMean", "Means of the rows `indices` of data by segment.")
sparse_segment_sqrt_n = _sparse_segments("sqrt_n", "SparseSegmentSqrtN", "The sums of the rows `indices` of data by "
                                         "segment, over the root of their count.")


def bincount(arr: Any, weights: Any = None, minlength: Any = None, maxlength: Any = None, dtype: Any = int32,
             name: str | None = None) -> Tensor:
    """How often each number occurs in `arr`, or the sum of its weights. arr: int32[...] -> number[greatest + 1].

    minlength, maxlength: bounds of the answer's length. dtype: of the counts; weights keep theirs.
    """
    with graph_of([arr, weights, minlength, maxlength]).name_scope(name or "bincount"):
        arr = convert_to_tensor(arr, dtype=int32, name="arr")
        is_there = build.Cast(build.Greater(build.Size(arr), 0), dtype=int32)
        length = is_there * (_reduce("Max", arr, None) + 1)
        if minlength is not None:
            length = build.Maximum(minlength, length)
        if maxlength is not None:
            length = build.Minimum(maxlength, length)
        none = constant_in(arr.graph, np.zeros(0, as_dtype(dtype).as_numpy_dtype), "Const")
        return build.Bincount(arr, length, none if weights is None else weights)
