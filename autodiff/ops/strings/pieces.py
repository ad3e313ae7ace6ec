"""Strings put together and taken apart."""

import re

import numpy as np

from ...core.dtypes import int64, string
from ...core.errors import ArgumentError, InvalidArgumentError, OutOfRangeError
from ...core.infer import rank_of
from ...core.op import Index, Int32, Own, Spec
from ...core.shapes import merge, show
from ..common.texts import Text, in_brackets, plain, text_op
from ..math.reductions import reduced_spec
from ..math.segments import unsorted_shape


def _array(parts, shape):
    return np.array(parts, object).reshape(shape)


# ---- together -----------------------------------------------------------------------------

def _joined(*inputs, separator=""):
    dims = ()
    for given in inputs:
        if given.dims is None:
            dims = None if dims == () else dims
        elif given.dims:
            dims = given.dims if not dims else merge(dims, given.dims)
    return Spec(string, dims)


@text_op("StringJoin", infer=_joined)
def string_join(*inputs: Text, separator=""):
    """Strings at one place, one after the other; a scalar is at all. inputs: string[...] or string[] -> string[...]."""
    arrays = [np.asarray(given, object) for given in inputs]
    shapes = {array.shape for array in arrays if array.ndim}
    if len(shapes) > 1:
        raise InvalidArgumentError(f"Input shapes do not match: {' vs. '.join(map(show, sorted(shapes)))}")
    shape = shapes.pop() if shapes else ()
    flat = [np.broadcast_to(array, shape).ravel().tolist() for array in arrays]
    return _array([separator.encode().join(parts) for parts in zip(*flat)], shape)


@text_op("ReduceJoin", infer=lambda inputs, axes, *, keep_dims=False, separator="": reduced_spec(
    inputs, axes, keep_dims=keep_dims))
def reduce_join(inputs: Text, reduction_indices: Int32, *, keep_dims=False, separator=""):
    """Strings along axes, joined, the first of the axes first. inputs: string[...], reduction_indices: int32[k]."""
    whole = np.asarray(inputs, object)
    axes = [int(axis) for axis in np.atleast_1d(reduction_indices)]
    for axis in axes:
        if not -whole.ndim <= axis < whole.ndim:
            raise OutOfRangeError(f"Invalid reduction dimension {axis} for input with {whole.ndim} dimension(s)")
    places = [axis % whole.ndim for axis in axes]
    twice = [axis for i, axis in enumerate(places) if axis in places[:i]]
    if twice:
        raise InvalidArgumentError(f"Duplicate reduction dimension {twice[0]}")
    rest = [axis for axis in range(whole.ndim) if axis not in places]
    kept = [whole.shape[axis] for axis in rest]
    rows = whole.transpose(*rest, *reversed(places)).reshape(int(np.prod(kept)), -1 if whole.size else 0)
    shape = [1 if i in places else n for i, n in enumerate(whole.shape)] if keep_dims else kept
    return _array([separator.encode().join(row) for row in rows.tolist()], shape) if places else whole


@text_op("UnsortedSegmentJoin", infer=lambda inputs, segment_ids, num_segments, *, separator="": unsorted_shape(
    inputs, segment_ids, num_segments))
def unsorted_segment_join(inputs: Text, segment_ids: Index, num_segments: Index, *, separator=""):
    """Strings of one number, joined. inputs: string[*n, ...], segment_ids: int[*n] -> string[num_segments, ...]."""
    whole, count = np.asarray(inputs, object), int(num_segments)
    if not segment_ids.ndim or segment_ids.shape != whole.shape[:segment_ids.ndim]:
        raise InvalidArgumentError(f"Segment dimension is {show(segment_ids.shape)} while input dimension is "
                                   f"{show(whole.shape)}")
    if segment_ids.size and not 0 <= segment_ids.min() <= segment_ids.max() < count:
        raise InvalidArgumentError("segment_ids are not allowed to exceed num_segments or to have negative values")
    rest = whole.shape[segment_ids.ndim:]
    rows, width = whole.reshape(segment_ids.size, -1 if whole.size else 0), int(np.prod(rest))
    parts = [[] for _ in range(count * width)]
    for number, row in zip(segment_ids.ravel().tolist(), rows.tolist()):
        for i, text in enumerate(row):
            parts[number * width + i].append(text)
    return _array([separator.encode().join(part) for part in parts], (count, *rest))


# ---- apart --------------------------------------------------------------------------------

def _splits(input, delimiter, **_):
    rank_of(input, exactly=1, what="the strings to split")
    rank_of(delimiter, exactly=0, what="the delimiter")
    return Spec(int64, (None, 2)), Spec(string, (None,)), Spec(int64, (2,))


def _sparse(rows):
    widest = max(map(len, rows), default=0)
    indices = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
    values = _array([part for row in rows for part in row], -1)
    return np.array(indices, np.int64).reshape(-1, 2), values, np.array([len(rows), widest])


def _single(delimiter):
    if np.ndim(np.asarray(delimiter, object)):
        raise InvalidArgumentError("delimiter must be a scalar, got shape: "
                                   f"{show(np.asarray(delimiter, object).shape)}")
    return plain(delimiter)


@text_op("StringSplit", infer=_splits)
def string_split(input: Text, delimiter: Text, *, skip_empty=True):
    """Strings cut at any byte of `delimiter`, into bytes if it is empty. input: string[n] -> a sparse string[n, k]."""
    marks = _single(delimiter)
    cut = re.compile(b"[" + re.escape(marks) + b"]").split if marks else lambda text: [
        text[i:i + 1] for i in range(len(text))]
    rows = [cut(text) if text else [] for text in np.asarray(input, object).tolist()]
    return _sparse([[part for part in row if part or not skip_empty] for row in rows])


@text_op("StringSplitV2", infer=_splits)
def string_split_v2(input: Text, sep: Text, *, maxsplit=-1):
    """Strings cut as Python's split does, at white space if sep is empty. input: string[n] -> a sparse string[n, k]."""
    mark = _single(sep) or None
    return _sparse([text.split(mark, maxsplit) for text in np.asarray(input, object).tolist()])


# ---- into a template ----------------------------------------------------------------------

def _formatted(*inputs, template="%s", placeholder="%s", summarize=3):
    if template.count(placeholder) != len(inputs):
        raise ArgumentError(f"num placeholders in template and num inputs must match: {template.count(placeholder)} "
                            f"vs. {len(inputs)}")
    return Spec(string, ())


@text_op("StringFormat", infer=_formatted)
def string_format(*inputs: Own, template="%s", placeholder="%s", summarize=3):
    """A template with tensors in its places, of long ones `summarize` entries at each end. inputs: any -> string[]."""
    texts = [*template.split(placeholder)]
    shown = [in_brackets(value, summarize) for value in inputs]
    return "".join([texts[0], *(part for pair in zip(shown, texts[1:]) for part in pair)]).encode()
