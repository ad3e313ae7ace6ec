"""Reductions over axes: sums, products, extremes, and the indices of extremes."""

import math

import numpy as np

from ...core.constant_value import static_dims, static_value
from ...core.declare import op
from ...core.dtypes import NUMBERS, REALS, as_dtype, bool_, int64
from ...core.errors import ArgumentError, ShapeError
from ...core.infer import axis_in
from ...core.op import Bool, Index, Spec, blocked, build
from ...core.shapes import is_known, num_elements, show
from ..common.batch_axis import axes_behind
from .elementwise import conjugate

# ---- which axes, and what shape is left ---------------------------------------------------

def axes_of(reduction_indices, rank):
    """The axes a kernel is given, for NumPy: each once."""
    if not reduction_indices.ndim:
        return int(reduction_indices)
    axes = tuple(reduction_indices.tolist())
    return tuple({a % rank for a in axes}) if len(axes) > 1 and -rank <= min(axes) <= max(axes) < rank else axes


def kept_dims(x, axes):
    """Static dims of `x` with 1 for the reduced axes, or None; raises for an axis out of range."""
    if x.dims is None:
        return None
    if axes is None:
        return (None,) * len(x.dims)
    rank = len(x.dims)
    for axis in np.atleast_1d(axes):
        if not -rank <= axis < rank:
            raise ArgumentError(f"Invalid reduction dimension {axis} for input with {rank} dimensions: "
                                f"axis = {axis} not in [{-rank}, {rank})")
    reduced = {int(axis) % rank for axis in np.atleast_1d(axes)}
    return tuple(1 if i in reduced else size for i, size in enumerate(x.dims))


def reduced_spec(input, reduction_indices, *, keep_dims=False):
    """What is inferred of a reduction over constant or unknown axes."""
    if reduction_indices.dims is not None and len(reduction_indices.dims) > 1:
        raise ShapeError(f"Shape must be at most rank 1 but is rank {len(reduction_indices.dims)}",
                         expected="axes as a scalar or a vector", found=show(reduction_indices.dims))
    axes = static_value(reduction_indices)
    dims = kept_dims(input, axes)
    if not keep_dims:
        if dims is not None and axes is not None:
            gone = {int(axis) % len(dims) for axis in np.atleast_1d(axes)}
            dims = tuple(size for i, size in enumerate(dims) if i not in gone)
        else:
            dims = None
    return Spec(input.dtype.base_dtype, dims)


def sizes_of(x):
    """The shape of `x` as something to give to an op: a list if it is known."""
    return list(x.dims) if is_known(x.dims) else build.Shape(x)


def kept_shape(x, axis):
    """The shape of `x` with 1 for the reduced axes, as something to give to an op."""
    dims = kept_dims(x, static_value(axis))
    return list(dims) if is_known(dims) and static_value(axis) is not None else build.KeptShape(build.Shape(x), axis)


def widened(node, value):
    """A reduction's output (or its gradient) with the reduced axes put back as 1."""
    if node.attrs["keep_dims"] or node.outputs[0].dims == ():
        return value
    return build.Reshape(value, kept_shape(node.inputs[0], node.inputs[1]))


@op("KeptShape", infer=lambda shape, axis: Spec(shape.dtype.base_dtype, shape.dims),
    no_grad="a shape is made of integers")
def kept_shape_of(shape: Index, axis: Index):
    """A shape with 1 for the given axes. shape: int[rank], axis: int[] or int[k] -> int[rank]."""
    kept = np.array(shape)
    kept[axis] = 1
    return kept


# ---- sums and means -----------------------------------------------------------------------

_FEWEST_ADDED, _FEWEST_LAST, _LONGEST_LAST, _WIDEST_SLICE = 4096, 1 << 15, 1024, 512  # elements


def summed(x, axes, out=None, keep_dims=False):
    """np.add.reduce in the type of `x`, as a product with ones where that pays."""
    if x.size <= _FEWEST_ADDED or x.dtype not in (np.float32, np.float64):
        return np.add.reduce(x, axes, x.dtype, out, keep_dims)
    places = sorted([axis % x.ndim for axis in (axes if isinstance(axes, tuple) else (axes,))])
    low, high = places[0] if places else 0, places[-1] + 1 if places else 0
    total = _sum_as_product(x, low, high) if high - low == len(places) > 0 else None
    if total is None:
        return np.add.reduce(x, axes, x.dtype, out, keep_dims)
    total = total.reshape(*x.shape[:low], *(1,) * (high - low) * keep_dims, *x.shape[high:])
    if out is None:
        return total
    np.copyto(out, total)
    return out


def _sum_as_product(x, low, high):
    """The sum over the axes from low to high as a product with ones, which BLAS does; None where that does not pay.

    3 to 20 times as fast as a reduction over axes that are not long and last, and no less exact: those are added
    one after another too, while long last axes are left to NumPy, which adds them pairwise.
    """
    before, count, behind = (math.prod(part) for part in (x.shape[:low], x.shape[low:high], x.shape[high:]))
    ones = np.ones(count, x.dtype)
    if behind == 1:
        return np.dot(x.reshape(before, count), ones) if count <= _LONGEST_LAST and x.size > _FEWEST_LAST else None
    if before == 1:
        return np.dot(ones, x.reshape(count, behind))
    return np.matmul(ones, x.reshape(before, count, behind)) if behind <= _WIDEST_SLICE else None


@op("Sum", infer=reduced_spec, dtypes=NUMBERS)
def total(input, reduction_indices: Index, *, keep_dims=False, out=None):
    """The sum over some axes. input: number[...], reduction_indices: int[] or int[k] -> number[...]."""
    return summed(input, axes_of(reduction_indices, input.ndim), out, keep_dims)


@total.gradient
def _(node, dy):
    return build.BroadcastTo(widened(node, dy), sizes_of(node.inputs[0]), name="Tile"), blocked("axes are integers")


@op("Mean", infer=reduced_spec, dtypes=NUMBERS)
def mean(input, reduction_indices: Index, *, keep_dims=False):
    """The mean over some axes, rounded toward 0 for integers. input: number[...] -> number[...]."""
    wide = np.float32 if input.dtype == np.float16 else input.dtype
    axes = axes_of(reduction_indices, input.ndim)
    sums = summed(input, axes, None, keep_dims) if wide == input.dtype else np.add.reduce(input, axes, wide, None,
                                                                                         keep_dims)
    count = input.size // max(sums.size, 1)
    if input.dtype.kind in "iu":
        return (np.sign(sums) * (np.abs(sums) // max(count, 1))).astype(input.dtype)
    return np.divide(sums, wide.type(count) if isinstance(wide, np.dtype) else count).astype(input.dtype, copy=False)


@mean.gradient
def _(node, dy):
    x, y = node.inputs[0], node.outputs[0]
    dx = build.BroadcastTo(widened(node, _per_element(dy, x, y)), sizes_of(x))
    return dx, blocked("axes are integers")


def _per_element(dy, x, y):
    """dy divided by how many elements each mean is of."""
    elements, means = num_elements(x.dims), num_elements(y.dims)
    if elements is not None and means is not None:
        return dy / max(elements // max(means, 1), 1)
    count = build.FloorDiv(build.Size(x), build.Maximum(build.Size(y), 1))
    return dy / build.Cast(build.Maximum(count, 1), dtype=dy.dtype)


@op("EuclideanNorm", infer=reduced_spec, dtypes=NUMBERS)
def euclidean_norm(input, reduction_indices: Index, *, keep_dims=False):
    """The root of the sum of squares over some axes; over none the input, as in TensorFlow. -> number[...]."""
    if not reduction_indices.size:
        return input
    squares = input * np.conj(input) if input.dtype.kind == "c" else np.square(input)
    sums = np.add.reduce(squares, axes_of(reduction_indices, input.ndim), input.dtype, None, keep_dims)
    return np.asarray(np.sqrt(sums)).astype(input.dtype, copy=False)


@euclidean_norm.gradient
def _(node, dy):
    """Of a zero vector 0, as of sqrt; written by quotients, so that it can be differentiated again."""
    slope = build.DivNoNan(node.inputs[0], widened(node, node.outputs[0]))
    return slope * widened(node, dy), blocked("axes are integers")


@op("SumTo", infer=lambda x, shape: Spec(x.dtype.base_dtype, static_dims(shape)), dtypes=NUMBERS)
def sum_to(x, shape: Index):
    """The sum over the axes that broadcasting `shape` to x adds. x: number[...], shape: int[k] -> number[shape]."""
    target = tuple(shape.tolist())
    if x.shape == target:
        return x
    lead = x.ndim - len(target)
    axes = (*range(lead), *[lead + i for i, size in enumerate(target) if size == 1 and x.shape[lead + i] != 1])
    return summed(x, axes).reshape(target)


def ones_for(shape, dtype, target):
    """The vector of ones by which `sum_to` multiplies a matrix of this shape; None if it adds in another way."""
    is_product = len(shape) == 2 and target == shape[1:] and shape[1] > 1 and math.prod(shape) > _FEWEST_ADDED
    return np.ones(shape[0], dtype) if is_product and dtype in (np.float32, np.float64) else None


@sum_to.gradient
def _(node, dy):
    return build.BroadcastTo(dy, sizes_of(node.inputs[0])), blocked("a shape is made of integers")


# ---- products -----------------------------------------------------------------------------

@op("Prod", infer=reduced_spec, dtypes=NUMBERS)
def prod(input, reduction_indices: Index, *, keep_dims=False, out=None):
    """The product over some axes. input: number[...], reduction_indices: int[] or int[k] -> number[...]."""
    return np.multiply.reduce(input, axes_of(reduction_indices, input.ndim), input.dtype, out, keep_dims)


@prod.gradient
def _(node, dy):
    x, axis = node.inputs
    return widened(node, dy) * conjugate(build.ProdOfOthers(x, axis)), blocked("axes are integers")


# ---- extremes -----------------------------------------------------------------------------

def lowest(dtype):
    """The number that any other is at least."""
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


def _highest(dtype):
    return np.inf if dtype.kind == "f" else np.iinfo(dtype).max


@op("Max", infer=reduced_spec, dtypes=REALS)
def greatest(input, reduction_indices: Index, *, keep_dims=False, out=None):
    """The greatest over some axes; the lowest number if there is none. input: real[...] -> real[...]."""
    if input.size:
        return np.maximum.reduce(input, axes_of(reduction_indices, input.ndim), None, out, keep_dims)
    return np.maximum.reduce(input, axes_of(reduction_indices, input.ndim), None, out, keep_dims, lowest(input.dtype))


@op("Min", infer=reduced_spec, dtypes=REALS)
def smallest(input, reduction_indices: Index, *, keep_dims=False, out=None):
    """The smallest over some axes; the highest number if there is none. input: real[...] -> real[...]."""
    if input.size:
        return np.minimum.reduce(input, axes_of(reduction_indices, input.ndim), None, out, keep_dims)
    return np.minimum.reduce(input, axes_of(reduction_indices, input.ndim), None, out, keep_dims, _highest(input.dtype))


@greatest.gradient
@smallest.gradient
def _extreme_gradient(node, dy):
    """Elements that tie share the gradient equally."""
    x, axis = node.inputs
    is_extreme = build.Cast(build.Equal(widened(node, node.outputs[0]), x), dtype=x.dtype.base_dtype)
    count = build.Sum(is_extreme, axis, keep_dims=True)
    return is_extreme / count * widened(node, dy), blocked("axes are integers")


@op("All", infer=reduced_spec, dtypes=(bool_,), no_rule="booleans have no gradient")
def every(input: Bool, reduction_indices: Index, *, keep_dims=False, out=None):
    """Whether all are true along some axes. input: bool[...] -> bool[...]."""
    return np.logical_and.reduce(input, axes_of(reduction_indices, input.ndim), None, out, keep_dims)


@op("Any", infer=reduced_spec, dtypes=(bool_,), no_rule="booleans have no gradient")
def some(input: Bool, reduction_indices: Index, *, keep_dims=False, out=None):
    """Whether any is true along some axes. input: bool[...] -> bool[...]."""
    return np.logical_or.reduce(input, axes_of(reduction_indices, input.ndim), None, out, keep_dims)


def _index_shape(input, dimension, *, output_type=int64):
    dims = input.dims
    axis = static_value(dimension)
    if dims is not None:
        if axis is None:
            dims = (None,) * max(len(dims) - 1, 0)
        else:
            place = axis_in(int(axis), len(dims))
            dims = dims[:place] + dims[place + 1:]
    return Spec(as_dtype(output_type), dims)


@op("ArgMax", infer=_index_shape, dtypes=NUMBERS, no_grad="an index is an integer")
def arg_max(input, dimension: Index, *, output_type=int64):
    """Index of the greatest along one axis, the first of several; nan is passed over. number[...] -> int[...]."""
    found = _without_nan(input, -np.inf, dimension).argmax(int(dimension))
    return np.asarray(found, as_dtype(output_type).as_numpy_dtype)


@op("ArgMin", infer=_index_shape, dtypes=NUMBERS, no_grad="an index is an integer")
def arg_min(input, dimension: Index, *, output_type=int64):
    """Index of the smallest along one axis, the first of several; nan is passed over. number[...] -> int[...]."""
    found = _without_nan(input, np.inf, dimension).argmin(int(dimension))
    return np.asarray(found, as_dtype(output_type).as_numpy_dtype)


def _without_nan(x, instead, axis):
    if not x.shape[axis]:
        raise ShapeError(f"Reduction axis {axis} is empty in shape {show(x.shape)}")
    if x.dtype.kind != "f" or not np.isnan(np.maximum.reduce(x, None, initial=-np.inf)):
        return x
    return np.where(np.isnan(x), x.dtype.type(instead), x)


# ---- batching: one more leading axis --------------------------------------------------------

def _refuse_batched(node, is_batched, what):
    if is_batched:
        raise ShapeError(expected=f"the same {what} for each slice", found=f"{what} that vary: {node.describe()}")


@total.batched
@mean.batched
@prod.batched
@euclidean_norm.batched
@greatest.batched
@smallest.batched
@every.batched
@some.batched
@arg_max.batched
@arg_min.batched
def _along_axes(node, args, batched):
    _refuse_batched(node, batched[1], "axes")
    return node.definition(args[0], axes_behind(args[1]), **node.attrs)


@kept_shape_of.batched
def _(node, args, batched):
    _refuse_batched(node, True, "shapes")


@sum_to.batched
def _(node, args, batched):
    _refuse_batched(node, batched[1], "shapes")
    x, shape = args
    count = build.StridedSlice(build.Shape(x, out_type=shape.dtype.base_dtype), [0], [1], [1])
    rank, target = node.inputs[0].dims, node.inputs[1].dims
    if rank is None or target is None or target[0] is None:
        raise ShapeError(expected="inputs of known rank to vectorize a sum", found=node.describe(),
                         hint="use set_shape to give the rank")
    missing = len(rank) - target[0]
    result = build.SumTo(x, build.ConcatV2(0, count, *[[1] * missing] * bool(missing), shape))
    return build.Reshape(result, build.ConcatV2(0, count, shape)) if missing else result
