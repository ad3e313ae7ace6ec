"""Ops that make tensors out of numbers: ranges, evenly spaced points, one-hot rows, masks of lengths."""

import math

import numpy as np

from ...core.constant_value import static_dims, static_value
from ...core.declare import op
from ...core.dtypes import FLOATS, REALS, int32, int64, uint8
from ...core.errors import ArgumentError, ShapeError
from ...core.infer import axis_in, rank_of
from ...core.op import Index, Int32, Kind, Spec, blocked, build
from ...core.shapes import Dims, show
from ..common.batch_axis import all_batched, joined, numbered, repeated, sizes, unvaried

Label = Kind("Label", allowed=(uint8, int32, int64), default=int32)


def _ranged(start, limit, delta):
    for value, what in ((start, "start"), (limit, "limit"), (delta, "delta")):
        rank_of(value, exactly=0, what=what)
    values = [static_value(v) for v in (start, limit, delta)]
    dims: Dims = (None if any(v is None for v in values) else _steps(*(v.item() for v in values)),)
    return Spec(start.dtype.base_dtype, dims)


def _steps(start, limit, delta):
    """Count of entries of a range."""
    if delta == 0:
        raise ArgumentError("expected delta other than 0")
    if (limit - start) * delta < 0:
        raise ArgumentError(expected=f"start {'<=' if delta > 0 else '>='} limit when delta is {delta}",
                            found=f"start {start} and limit {limit}")
    return math.ceil((limit - start) / delta)


@op("Range", infer=_ranged, dtypes=REALS, no_grad="a range is made of constants")
def range_(start, limit, delta):
    """start, start + delta, … up to but without limit. start, limit, delta: real[] -> real[n]."""
    n = _steps(start.item(), limit.item(), delta.item())
    if start.dtype.kind == "f":
        return (start + np.arange(n, dtype=start.dtype) * delta).astype(start.dtype, copy=False)
    return np.arange(n, dtype=start.dtype) * delta + start


range_.batched(unvaried(0, 1, 2))


def _spaced(start, stop, num):
    for value, what in ((start, "start"), (stop, "stop"), (num, "num")):
        rank_of(value, exactly=0, what=what)
    count = static_value(num)
    if count is not None and count < 1:
        raise ArgumentError(expected="num >= 1", found=count)
    return Spec(start.dtype.base_dtype, (None if count is None else int(count),))


@op("LinSpace", infer=_spaced, dtypes=FLOATS, no_grad="TensorFlow declares evenly spaced points not differentiable")
def lin_space(start, stop, num: Index):
    """`num` evenly spaced points from start to stop, both included. start, stop: float[], num: int[] -> float[num]."""
    return np.linspace(start, stop, int(num), dtype=start.dtype)


@lin_space.batched_if_same(2)
def _(node, args, batched):
    start, stop = all_batched(args[:2], batched[:2])
    steps = build.LinSpace(np.zeros((), start.dtype.as_numpy_dtype), np.ones((), start.dtype.as_numpy_dtype), args[2])
    return start[:, None] + (stop - start)[:, None] * steps


def _one_hot_dims(indices, depth, on_value, off_value, *, axis=-1):
    count = static_value(depth)
    if count is not None and count < 0:
        raise ArgumentError(expected="depth >= 0", found=count)
    if indices.dims is None:
        return Spec(on_value.dtype.base_dtype, None)
    i = axis_in(axis, len(indices.dims) + 1)
    size = None if count is None else int(count)
    return Spec(on_value.dtype.base_dtype, (*indices.dims[:i], size, *indices.dims[i:]))


@op("OneHot", infer=_one_hot_dims, no_grad="indices are integers")
def one_hot(indices: Label, depth: Int32, on_value, off_value, *, axis=-1):
    """on_value where the new axis has the index, else off_value. indices: int[...] -> any[..., depth, ...]."""
    hot = np.expand_dims(indices, axis) == _along(np.arange(depth), axis, indices.ndim + 1)
    return np.where(hot, on_value, off_value)


def _along(vector, axis, rank):
    return vector.reshape([-1 if i == axis % rank else 1 for i in range(rank)])


@one_hot.batched_if_same(1, 2, 3)
def _(node, args, batched):
    axis = node.attrs["axis"]
    return build.OneHot(*args, axis=axis + 1 if axis >= 0 else axis)


def _densified(sparse_indices, output_shape, sparse_values, default_value, *, validate_indices=True):
    rank_of(output_shape, exactly=1, what="output_shape")
    return Spec(sparse_values.dtype.base_dtype, static_dims(output_shape))


@op("SparseToDense", infer=_densified)
def sparse_to_dense(sparse_indices: Index, output_shape: Index, sparse_values, default_value, *, validate_indices=True):
    """default_value, with sparse_values at sparse_indices. indices: int[n, rank], values: any[n] or any[]."""
    index = sparse_indices.reshape(-1, sparse_indices.shape[1] if sparse_indices.ndim == 2 else 1)
    if default_value.ndim:
        raise ArgumentError("default_value should be a scalar.", found=f"shape {show(default_value.shape)}")
    if index.shape[1] != len(output_shape):
        raise ArgumentError(f"output_shape has {len(output_shape)} sizes, expected {index.shape[1]} like an index")
    if sparse_values.shape not in ((), index.shape[:1]):
        raise ArgumentError(f"sparse_values has incorrect shape {show(sparse_values.shape)}, should be [] or "
                            f"[{len(index)}]")
    outside = ((index < 0) | (index >= output_shape)).any(axis=1)
    if outside.any():
        i = int(outside.argmax())
        raise ArgumentError(f"indices[{i}] = {index[i].tolist()} is out of bounds: need 0 <= index < "
                            f"{output_shape.tolist()}")
    out = np.full(tuple(output_shape.tolist()), default_value, sparse_values.dtype)
    if validate_indices and len(index) > 1:
        flat = np.ravel_multi_index(tuple(index.T), out.shape)
        wrong = np.flatnonzero(np.diff(flat) <= 0)
        if len(wrong):
            i = int(wrong[0]) + 1
            how = "repeated" if flat[i] == flat[i - 1] else "out of order"
            raise ArgumentError(f"indices[{i}] = {index[i].tolist()} is {how}: expected them sorted, each once")
    out[tuple(index.T)] = sparse_values
    return out


@sparse_to_dense.gradient
def _(node, dy):
    indices, _, values, _ = node.inputs
    rank = node.outputs[0].dims
    index = indices if indices.dims is not None and len(indices.dims) == 2 else build.Reshape(
        indices, [-1, len(rank)] if rank is not None else build.Pack(-1, build.Size(node.inputs[1]), axis=0))
    dvalues = build.GatherNd(dy, index)
    rest = build.Sum(dy, build.Range(0, build.Rank(dy), 1)) - build.Sum(dvalues, [0])
    return (blocked("indices are integers"), blocked("a shape is made of integers"),
            build.SumTo(dvalues, sizes(values)), rest)


@sparse_to_dense.batched_if_same(0, 1, 3)
def _(node, args, batched):
    indices, shape, values, default = args
    if node.outputs[0].dims is None:
        raise ShapeError("cannot vectorize an output of unknown rank", node=f"{node.name}: {node.describe()}")
    rows = build.Reshape(indices, [-1, len(node.outputs[0].dims)])
    if node.inputs[2].dims == ():
        values = build.BroadcastTo(values[:, None], build.ConcatV2(0, build.Shape(values), build.Shape(rows)[:1]))
    whole = build.Fill(joined(build.Shape(values)[:1], shape), default)
    return build.TensorScatterUpdate(whole, numbered(repeated(rows, values)), values)
