"""Reductions of rows by segment: one segment number for each row."""

import numpy as np

from ...core.constant_value import static_value
from ...core.declare import op
from ...core.dtypes import NUMBERS, REALS
from ...core.errors import ArgumentError, ShapeError
from ...core.infer import rank_of
from ...core.op import Index, Int32, Number, Spec, blocked, build
from ...core.shapes import compatible, show
from ..common.batch_axis import all_batched
from ..common.coordinates import reduced
from ..common.refusals import first_outside

_IDS = "segment numbers are integers"
_SMALL = 1 << 14  # elements that are added up one by one


# ---- kernels ----------------------------------------------------------------------------

def _sorted_count(segment_ids):
    """How many segments sorted numbers make. Raises ArgumentError if they fall or are negative."""
    if not segment_ids.size:
        return 0
    count, falls = int(segment_ids[-1]) + 1, np.flatnonzero(np.diff(segment_ids) < 0)
    if count <= 0:
        raise ArgumentError("segment ids must be >= 0", found=segment_ids[:20].tolist())
    if len(falls) or segment_ids[0] < 0:
        met = segment_ids[:falls[0]] if len(falls) else segment_ids  # by TensorFlow, before the fall
        met = met[met != segment_ids[falls[0]]] if len(falls) else met
        outside = met[(met < 0) | (met >= count)]
        if len(outside):
            raise ArgumentError(f"Segment id {outside[0]} out of range [0, {count}), possibly because 'segment_ids' "
                                "input is not sorted", found=segment_ids[:20].tolist())
        raise ArgumentError("segment ids are not increasing", expected="numbers from 0 or more that never fall",
                            found=segment_ids[:20].tolist())
    return count


@op("SortedIds", infer=lambda segment_ids, num_segments: Spec(segment_ids.dtype.base_dtype, segment_ids.dims),
    no_grad=_IDS)
def sorted_ids(segment_ids: Index, num_segments: Index):
    """The segment numbers, which must rise from 0 or more, and stay below num_segments. segment_ids: int[n] -> int[n].

    num_segments: int[], -1 for any number.
    """
    count = _sorted_count(segment_ids)
    if 0 <= num_segments < count:
        raise ArgumentError("segment ids must be < num_segments", found=segment_ids[-20:].tolist())
    return segment_ids


@sorted_ids.batched
def _(node, args, batched):
    raise ShapeError(expected="the same segment numbers for each slice", found=f"varying ones: {node.describe()}")


def _checked(data, segment_ids):
    if data.shape[:segment_ids.ndim] != segment_ids.shape or not segment_ids.ndim:
        raise ArgumentError("segment_ids should be the same size as dimension 0 of input: "
                            f"data {show(data.shape)} and segment ids {show(segment_ids.shape)}")


def _reduced(ufunc, data, segment_ids, count, start):
    """Rows reduced by a ufunc into `count` segments that begin as `start`; negative numbers are left out."""
    _checked(data, segment_ids)
    ids = segment_ids.reshape(-1)
    rows = data.reshape(ids.size, *data.shape[segment_ids.ndim:])
    if not rows.size:  # TensorFlow looks at no number then
        return np.full((count, *rows.shape[1:]), start, data.dtype)
    if ids.size and ids.min() < 0:
        rows, ids = rows[ids >= 0], ids[ids >= 0]
    if ids.size and ids.max() >= count:
        raise ArgumentError(first_outside(segment_ids, count, "segment_ids", "out of range", lowest=None))
    if ufunc is np.add and data.dtype in (np.float32, np.float64) and count <= 4 * ids.size and rows.size <= _SMALL:
        return _summed(rows, ids, count)
    return reduced(ufunc, rows, ids, count, start)


def _summed(rows, ids, count):
    """Sums by np.bincount: no sorting, but slower than rows as a whole if they are many."""
    width = int(np.prod(rows.shape[1:], dtype=np.int64))
    places = ids if width == 1 else (ids[:, None].astype(np.intp) * width + np.arange(width)).reshape(-1)
    sums = np.bincount(places, rows.reshape(-1), count * width)
    return sums.astype(rows.dtype, copy=False).reshape(count, *rows.shape[1:])


def known_count(count):
    """The number that a tensor has while the graph is built; None if it is unknown."""
    value = static_value(count)
    return None if value is None else int(value)


# ---- sorted -----------------------------------------------------------------------------

def _sorted_shape(data, segment_ids):
    rank_of(data, at_least=1, what="data")
    rank_of(segment_ids, exactly=1, what="segment_ids")
    if data.dims is None:
        return Spec(data.dtype.base_dtype, None)
    return Spec(data.dtype.base_dtype, (None, *data.dims[1:]))


@op("SegmentSum", infer=_sorted_shape, dtypes=NUMBERS)
def segment_sum(data, segment_ids: Index):
    """Sums of rows with one number; numbers rise. data: number[n, ...], segment_ids: int[n] -> number[k, ...]."""
    return _reduced(np.add, data, segment_ids, _sorted_count(segment_ids), 0)


segment_sum.gradient(lambda node, dy: (build.GatherV2(dy, node.inputs[1], 0), blocked(_IDS)))


@op("SegmentMean", infer=_sorted_shape, dtypes=NUMBERS)
def segment_mean(data, segment_ids: Index):
    """Means of rows with one number, 0 of none. data: number[n, ...], segment_ids: int[n] -> number[k, ...]."""
    count = _sorted_count(segment_ids)
    sums = _reduced(np.add, data, segment_ids, count, 0)
    sizes = np.maximum(np.bincount(segment_ids, minlength=count), 1).astype(sums.dtype)
    sizes = sizes.reshape(-1, *[1] * (data.ndim - 1))
    return sums // sizes if sums.dtype.kind in "iu" else sums / sizes


@segment_mean.gradient
def _(node, dy):
    data, ids = node.inputs
    ones = build.Reshape(build.OnesLike(build.Cast(ids, dtype=dy.dtype)), build.ConcatV2(
        0, build.Shape(ids), build.Fill(build.Pack(build.Rank(data) - 1, axis=0), 1)))
    return build.GatherV2(dy / build.Maximum(build.SegmentSum(ones, ids), 1.0), ids, 0), blocked(_IDS)


@op("SegmentProd", infer=_sorted_shape, dtypes=NUMBERS, no_rule="TensorFlow has none for it; use unsorted_segment_prod")
def segment_prod(data, segment_ids: Index):
    """Products of rows with one number, 1 of none. data: number[n, ...], segment_ids: int[n] -> number[k, ...]."""
    return _reduced(np.multiply, data, segment_ids, _sorted_count(segment_ids), 1)


@op("SegmentMax", infer=_sorted_shape, dtypes=REALS)
def segment_max(data, segment_ids: Index):
    """The greatest of rows with one number, 0 of none. data: real[n, ...], segment_ids: int[n] -> real[k, ...]."""
    return _zero_if_empty(np.maximum, data, segment_ids)


@op("SegmentMin", infer=_sorted_shape, dtypes=REALS)
def segment_min(data, segment_ids: Index):
    """The smallest of rows with one number, 0 of none. data: real[n, ...], segment_ids: int[n] -> real[k, ...]."""
    return _zero_if_empty(np.minimum, data, segment_ids)


def _zero_if_empty(ufunc, data, segment_ids):
    return _reduced(ufunc, data, segment_ids, _sorted_count(segment_ids), 0)


@segment_max.gradient
@segment_min.gradient
def _segment_extreme_gradient(node, dy):
    data, ids = node.inputs
    is_extreme = build.Cast(build.Equal(build.GatherV2(node.outputs[0], ids, 0), data), dtype=dy.dtype)
    shared = dy / build.Maximum(build.SegmentSum(is_extreme, ids), 1.0)
    return is_extreme * build.GatherV2(shared, ids, 0), blocked(_IDS)


# ---- unsorted ---------------------------------------------------------------------------

def unsorted_shape(data, segment_ids, num_segments):
    """What is inferred of a reduction of rows by number."""
    rank_of(num_segments, exactly=0, what="num_segments")
    count = known_count(num_segments)
    if count is not None and count < 0:
        raise ShapeError("Dimension size must be non-negative", expected="num_segments >= 0", found=count)
    if data.dims is None or segment_ids.dims is None:
        return Spec(data.dtype.base_dtype, None)
    rank = len(segment_ids.dims)
    if not compatible(segment_ids.dims, data.dims[:rank]):
        raise ShapeError(f"shapes differ: data {show(data.dims)} and segment ids {show(segment_ids.dims)}")
    return Spec(data.dtype.base_dtype, (count, *data.dims[rank:]))


@op("UnsortedSegmentSum", infer=unsorted_shape, dtypes=NUMBERS)
def unsorted_segment_sum(data, segment_ids: Index, num_segments: Index):
    """Sums of rows by number. data: number[*n, ...], segment_ids: int[*n], num_segments: int[] -> number[k, ...]."""
    return _reduced(np.add, data, segment_ids, int(num_segments), 0)


@unsorted_segment_sum.gradient
def _(node, dy):
    return build.GatherOrZero(dy, node.inputs[1]), blocked(_IDS), blocked("a count is an integer")


@op("GatherOrZero", infer=lambda params, indices: Spec(params.dtype.base_dtype, None if (
    params.dims is None or indices.dims is None) else indices.dims + params.dims[1:]), dtypes=NUMBERS)
def gather_or_zero(params, indices: Index):
    """Rows by number, zeros for a negative one. params: number[k, ...], indices: int[*n] -> number[*n, ...]."""
    rows = np.take(params, np.maximum(indices, 0), axis=0) if params.size else np.zeros(
        indices.shape + params.shape[1:], params.dtype)
    if indices.size and indices.min() < 0:
        rows[indices < 0] = 0
    return rows


@gather_or_zero.gradient
def _(node, dy):
    params, indices = node.inputs
    return build.UnsortedSegmentSum(dy, indices, build.Shape(params)[0]), blocked("row numbers are integers")


@op("UnsortedSegmentProd", infer=unsorted_shape, dtypes=NUMBERS)
def unsorted_segment_prod(data, segment_ids: Index, num_segments: Index):
    """Products of rows by number. data: number[*n, ...], segment_ids: int[*n] -> number[k, ...]."""
    return _reduced(np.multiply, data, segment_ids, int(num_segments), 1)


@unsorted_segment_prod.gradient
def _(node, dy):
    """By the product of the others; where one factor is 0, that of all factors but the zeros."""
    data, ids, count = node.inputs
    is_zero = build.Equal(data, build.ZerosLike(data))
    zeros = build.UnsortedSegmentSum(build.Cast(is_zero, dtype=dy.dtype), ids, count)
    without_zeros = build.UnsortedSegmentProd(build.Select(is_zero, build.OnesLike(data), data), ids, count)
    lone = build.Cast(build.LessEqual(zeros, 1.0), dtype=dy.dtype)
    at_zero = build.GatherOrZero(dy * without_zeros * lone, ids)
    elsewhere = build.DivNoNan(build.GatherOrZero(dy * node.outputs[0], ids), data)
    return build.Select(is_zero, at_zero, elsewhere), blocked(_IDS), blocked("a count is an integer")


@op("UnsortedSegmentMax", infer=unsorted_shape, dtypes=REALS)
def unsorted_segment_max(data, segment_ids: Index, num_segments: Index):
    """The greatest of rows by number, of none the lowest finite. data: real[*n, ...] -> real[k, ...]."""
    lowest = np.finfo(data.dtype).min if data.dtype.kind == "f" else np.iinfo(data.dtype).min
    return _reduced(np.maximum, data, segment_ids, int(num_segments), lowest)


@op("UnsortedSegmentMin", infer=unsorted_shape, dtypes=REALS)
def unsorted_segment_min(data, segment_ids: Index, num_segments: Index):
    """The smallest of rows by number, of none the highest finite. data: real[*n, ...] -> real[k, ...]."""
    highest = np.finfo(data.dtype).max if data.dtype.kind == "f" else np.iinfo(data.dtype).max
    return _reduced(np.minimum, data, segment_ids, int(num_segments), highest)


@unsorted_segment_max.gradient
@unsorted_segment_min.gradient
def _unsorted_extreme_gradient(node, dy):
    data, ids, count = node.inputs
    is_extreme = build.Cast(build.Equal(build.GatherOrZero(node.outputs[0], ids), data), dtype=dy.dtype)
    shared = dy / build.Maximum(build.UnsortedSegmentSum(is_extreme, ids, count), 1.0)
    return is_extreme * build.GatherOrZero(shared, ids), blocked(_IDS), blocked("a count is an integer")


@op("Bincount", infer=lambda arr, size, weights: Spec(weights.dtype.base_dtype, (known_count(size),)),
    no_rule="TensorFlow has none for it; use unsorted_segment_sum for the weights' gradient")
def bincount(arr: Int32, size: Int32, weights: Number):
    """How often 0, 1, … size - 1 occur, or the sums of their weights. arr: int32[...], weights: its shape or empty."""
    numbers = arr.reshape(-1)
    if numbers.size and numbers.min() < 0:
        raise ArgumentError(expected="numbers >= 0 to count", found=numbers.min())
    within = numbers < size
    given = weights.reshape(-1)[within] if weights.size else None
    counts = np.bincount(numbers[within], given, int(size))
    return counts.astype(weights.dtype, copy=False)


# ---- batching: the segment axis of a batched tensor is moved to the front ------------------

def _same_numbers(node, batched):
    if any(batched[1:]):
        raise ShapeError(expected="the same segment numbers for each slice", found=f"varying ones: {node.describe()}")


def _axis_moved(x, source, target):
    """x with axis `source` moved to `target`. Its rank must be known."""
    if x.dims is None:
        raise ShapeError(expected="a tensor of known rank to vectorize a segment op", found=x.describe())
    order = [i for i in range(len(x.dims)) if i != source]
    order.insert(target, source)
    return build.Transpose(x, order)


@segment_sum.batched
@segment_mean.batched
@segment_prod.batched
@segment_max.batched
@segment_min.batched
@unsorted_segment_sum.batched
@unsorted_segment_prod.batched
@unsorted_segment_max.batched
@unsorted_segment_min.batched
def _segments_batched(node, args, batched):
    if batched[1] and len(args) == 3 and not batched[2]:
        return _by_numbers_of_their_own(node, args, batched)
    _same_numbers(node, batched)
    rank = len(node.inputs[1].dims)
    return _axis_moved(node.definition(_axis_moved(args[0], 0, rank), *args[1:]), 1, 0)


def _by_numbers_of_their_own(node, args, batched):
    """The slices one after another, each with as many numbers of its own; negative ones stay, which count nowhere."""
    data, ids = all_batched(args[:2], batched[:2])
    count, slices = build.Cast(args[2], dtype=ids.dtype.base_dtype), build.Shape(ids, out_type=ids.dtype.base_dtype)[:1]
    first = build.Range(build.ZerosLike(count), slices[0], 1) * count
    for _ in node.inputs[1].dims:
        first = build.ExpandDims(first, -1)
    flat = node.definition(data, build.Select(build.Less(ids, 0), ids, ids + first), slices[0] * count)
    rest = build.Shape(flat, out_type=ids.dtype.base_dtype)[1:]
    return build.Reshape(flat, build.ConcatV2(0, slices, build.ExpandDims(count, 0), rest))


@bincount.batched
def _(node, args, batched):
    raise ShapeError(expected="the same counts for each slice",
                     found=f"numbers or weights that vary: {node.describe()}")


@gather_or_zero.batched
def _(node, args, batched):
    _same_numbers(node, batched)
    return _axis_moved(build.GatherOrZero(_axis_moved(args[0], 0, 1), args[1]), len(node.inputs[1].dims), 0)
