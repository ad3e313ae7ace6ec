"""Ops of two sparse tensors entry by entry, an absent one being zero: sum, greater, smaller."""

import numpy as np

from ...core.constant_value import static_dims, static_value
from ...core.declare import op
from ...core.dtypes import COMPLEX, NUMBERS, REALS, complex64, float32, float64
from ...core.errors import ArgumentError, DTypeError, ShapeError
from ...core.infer import rank_of
from ...core.op import Index, Number, Spec, blocked, build
from ...core.shapes import merge, show
from ..common.batch_axis import unvaried
from ..common.coordinates import INDICES, SHAPE, coordinates, numbers


def _keys(indices, shape):
    """The number of each index, and how many equal ones come before it: int64[n, 2]."""
    places = numbers(indices, shape)
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    is_first = np.concatenate(([True], ordered[1:] != ordered[:-1])) if len(places) else np.zeros(0, bool)
    at = np.arange(len(places))
    before = np.empty_like(at)
    before[order] = at - np.maximum.accumulate(np.where(is_first, at, 0))
    return np.stack([places, before], axis=1)


def _union(a_indices, a_values, a_shape, b_indices, b_values, b_shape):
    """The indices of either, in order, and at each the value of a, that of b, and whether it is in both."""
    if not np.array_equal(a_shape, b_shape):
        same_rank = len(a_shape) == len(b_shape)
        what = "Operands' shapes do not match" if same_rank else "Operands do not have the same ranks"
        raise ArgumentError(f"{what}; got shapes: {a_shape.tolist()} and {b_shape.tolist()}")
    for indices, values in ((a_indices, a_values), (b_indices, b_values)):
        if indices.ndim != 2 or indices.shape != (values.size, a_shape.size):
            raise ArgumentError(expected=f"indices [{values.size},{a_shape.size}]", found=show(indices.shape))
    keys = np.concatenate([_keys(a_indices, a_shape), _keys(b_indices, b_shape)])
    _, first, place = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    place = place.reshape(-1)
    a, b = np.zeros(len(first), a_values.dtype), np.zeros(len(first), a_values.dtype)
    a[place[:len(a_values)]], b[place[len(a_values):]] = a_values, b_values
    return np.concatenate([a_indices, b_indices])[first], a, b, np.bincount(place, minlength=len(first)) == 2


@op("SparseMatch", infer=lambda sought, indices, shape: Spec(indices.dtype.base_dtype, (
    sought.dims[0] if sought.dims else None,)), no_grad="positions are integers")
def sparse_match(sought: Index, indices: Index, shape: Index):
    """Where each sought index stands among others, -1 if it does not. int[m, rank], int[n, rank] -> int[m]."""
    keys = np.concatenate([_keys(sought, shape), _keys(indices, shape)])
    place = np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)
    positions = np.full(len(keys), -1, indices.dtype)
    positions[place[len(sought):]] = np.arange(len(indices))
    return positions[place[:len(sought)]]


sparse_match.batched(unvaried(0, 1, 2))


def _both(a_indices, a_values, a_shape, b_indices, b_values, b_shape):
    coordinates(b_indices, b_values, b_shape)
    rank = coordinates(a_indices, a_values, a_shape)[1]
    return Spec(a_indices.dtype.base_dtype, (None, rank)), Spec(a_values.dtype.base_dtype, (None,))


def _added(a_indices, a_values, a_shape, b_indices, b_values, b_shape, thresh):
    rank_of(thresh, exactly=0, what="thresh")
    dtype = a_values.dtype.base_dtype
    wanted = (float32 if dtype is complex64 else float64) if dtype in COMPLEX else dtype
    if thresh.dtype.base_dtype is not wanted:
        raise DTypeError(expected=f"a threshold of dtype {wanted.name}", found=thresh.describe())
    try:
        merge(static_dims(a_shape), static_dims(b_shape))
    except ShapeError as error:
        raise ShapeError(f"{error.sentence}: the sparse tensors have other shapes") from None
    indices, values = _both(a_indices, a_values, a_shape, b_indices, b_values, b_shape)
    return indices, values, Spec(a_shape.dtype.base_dtype, indices.dims[1:])


@op("SparseAdd", infer=_added, dtypes=NUMBERS)
def sparse_add(a_indices: Index, a_values, a_shape: Index, b_indices: Index, b_values, b_shape: Index, thresh: Number):
    """The sums of entries, without sums of two that are below `thresh`. Gives indices, values and the shape.

    a_indices: int[n, rank], a_values: number[n], in row-major order; b the same. thresh: real[].
    """
    indices, a, b, in_both = _union(a_indices, a_values, a_shape, b_indices, b_values, b_shape)
    sums = a + b
    kept = ~in_both | (np.abs(sums) >= thresh)
    return indices[kept], sums[kept], a_shape


@op("SparseSparseMaximum", infer=_both, dtypes=REALS)
def sparse_sparse_maximum(a_indices: Index, a_values, a_shape: Index, b_indices: Index, b_values, b_shape: Index):
    """The greater of two entries, an absent one being zero. Gives indices and values. a_values: real[n]."""
    indices, a, b, _ = _union(a_indices, a_values, a_shape, b_indices, b_values, b_shape)
    return indices, np.maximum(a, b)


@op("SparseSparseMinimum", infer=_both, dtypes=REALS)
def sparse_sparse_minimum(a_indices: Index, a_values, a_shape: Index, b_indices: Index, b_values, b_shape: Index):
    """The smaller of two entries, an absent one being zero. Gives indices and values. a_values: real[n]."""
    indices, a, b, _ = _union(a_indices, a_values, a_shape, b_indices, b_values, b_shape)
    return indices, np.minimum(a, b)


@sparse_add.gradient
def _(node, dindices, dvalues, dshape):
    a_indices, _, shape, b_indices = node.inputs[:4]
    da, db = (build.GatherOrZero(dvalues, build.SparseMatch(i, node.outputs[0], shape)) for i in (a_indices, b_indices))
    return INDICES, da, SHAPE, INDICES, db, SHAPE, blocked("a threshold only selects")


@sparse_sparse_maximum.gradient
@sparse_sparse_minimum.gradient
def _extreme_gradient(node, dindices, dvalues):
    """The one that was taken gets it; of two equal ones the first."""
    union, shape = node.outputs[0], node.inputs[2]
    a, b = (build.GatherOrZero(v, build.SparseMatch(union, i, shape)) for i, v in _operands(node.inputs))
    takes_a = build.GreaterEqual(a, b) if node.type == "SparseSparseMaximum" else build.LessEqual(a, b)
    none = build.ZerosLike(dvalues)
    shares = build.Select(takes_a, dvalues, none), build.Select(takes_a, none, dvalues)
    da, db = (build.GatherOrZero(share, build.SparseMatch(i, union, shape))
              for share, (i, _) in zip(shares, _operands(node.inputs)))
    return INDICES, da, SHAPE, INDICES, db, SHAPE


def _operands(inputs):
    return (inputs[0], inputs[1]), (inputs[3], inputs[4])


@sparse_add.batched_if_same(0, 2, 3, 5)
@sparse_sparse_maximum.batched_if_same(0, 2, 3, 5)
@sparse_sparse_minimum.batched_if_same(0, 2, 3, 5)
def _pairs_batched(node, args, batched):
    if node.type == "SparseAdd" and (batched[6] or static_value(args[6]) is None or static_value(args[6]) > 0):
        raise ShapeError(f"cannot vectorize a sum that drops entries below a threshold: {node.describe()}")
    combine = {"SparseAdd": build.Add, "SparseSparseMaximum": build.Maximum, "SparseSparseMinimum": build.Minimum}
    union, shape = node.outputs[0], args[2]
    a, b = (_spread(v, build.SparseMatch(union, i, shape), is_batched)
            for (i, v), is_batched in zip(_operands(args), (batched[1], batched[4])))
    return [None, combine[node.type](a, b)] + [None] * (len(node.outputs) - 2)


def _spread(values, places, is_batched):
    """Entries at the places of the union, zero where there is none."""
    if not is_batched:
        return build.GatherOrZero(values, places)
    return build.Transpose(build.GatherOrZero(build.Transpose(values, [1, 0]), places), [1, 0])
