"""Order: the k largest of a row, and places in a sorted one."""

import numpy as np

from ...core.constant_value import static_value
from ...core.declare import op
from ...core.dtypes import REALS, as_dtype, int32
from ...core.errors import ArgumentError, DTypeError
from ...core.infer import rank_of
from ...core.op import Int32, Spec, blocked, build
from ...core.shapes import merge
from ..common.batch_axis import all_batched, sizes, unvaried


def _largest(input, k, *, sorted=True):
    rank_of(input, at_least=1, what="input")
    rank_of(k, exactly=0, what="k")
    count = static_value(k)
    count = None if count is None else int(count)
    dims = input.dims
    if count is not None and (count < 0 or dims is not None and dims[-1] is not None and dims[-1] < count):
        raise ArgumentError(f"input must have last dimension >= k = {count} >= 0", found=input.describe())
    dims = None if dims is None else (*dims[:-1], count)
    return Spec(input.dtype.base_dtype, dims), Spec(int32, dims)


@op("TopKV2", infer=_largest, dtypes=REALS)
def top_k(input, k: Int32, *, sorted=True):
    """The k largest of each row, largest first, and their places; of equal ones the first. input: real[..., n]."""
    if not 0 <= k <= input.shape[-1]:
        raise ValueError(f"Need k >= 0, got {k}" if k < 0 else f"input must have at least k columns. Had "
                         f"{input.shape[-1]}, needed {k}")
    turned = input[..., ::-1]  # a stable ascending sort of the reverse puts equal ones in order when read backwards
    order = input.shape[-1] - 1 - np.argsort(turned, axis=-1, kind="stable")[..., ::-1][..., :int(k)]
    return np.take_along_axis(input, order, axis=-1), order.astype(np.int32)


@top_k.gradient
def _(node, dvalues, dindices):
    x = node.inputs[0]
    places = node.outputs[1]
    rank = len(places.dims) if places.dims is not None else None
    if rank == 1:
        return build.ScatterNd(build.ExpandDims(places, -1), dvalues, sizes(x)), blocked("a count is an integer")
    rows = build.Reshape(x, build.ConcatV2(0, [-1], build.Shape(x)[-1:]))
    taken = build.ConcatV2(0, [-1], build.Shape(places)[-1:])
    dx = build.GatherGrad(build.Shape(rows), build.Reshape(places, taken), 1, build.Reshape(dvalues, taken),
                          batch_dims=1)
    return build.Reshape(dx, sizes(x)), blocked("a count is an integer")


top_k.batched(unvaried(1))


def _nth(input, n, *, reverse=False):
    rank_of(input, at_least=1, what="input")
    if n.dims:
        raise ArgumentError(f"Dimension must be a scalar but has rank {len(n.dims)}: n")
    place, dims = static_value(n), input.dims
    if place is not None and place < 0:
        raise ArgumentError(f"Dimension must be non-negative but is {place}: n")
    if place is not None and dims is not None and dims[-1] is not None and dims[-1] <= place:
        raise ArgumentError(f"Input must have last dimension > n = {place} but is {dims[-1]}")
    return Spec(input.dtype.base_dtype, None if dims is None else dims[:-1])


@op("NthElement", infer=_nth, dtypes=REALS)
def nth_element(input, n: Int32, *, reverse=False):
    """What would stand at place n of each row if it were sorted. input: real[..., m], n: int32[] -> real[...]."""
    size = input.shape[-1]
    place = size - 1 - int(n) if reverse else int(n)
    return np.partition(input, place if place >= 0 else size, axis=-1)[..., place]  # which NumPy refuses outside


@nth_element.gradient
def _(node, dy):
    """To each element that equals the one chosen, an equal share."""
    x = node.inputs[0]
    chosen = build.Cast(build.Equal(build.ExpandDims(node.outputs[0], -1), x), dtype=x.dtype.base_dtype)
    return chosen * build.ExpandDims(dy / build.Sum(chosen, -1), -1), blocked("a place is an integer")


nth_element.batched(unvaried(1))


def _places_in(sorted_inputs, values, *, out_type=int32):
    rank_of(sorted_inputs, exactly=2, what="sorted_inputs")
    rank_of(values, exactly=2, what="values")
    if sorted_inputs.dims is not None and values.dims is not None:
        merge(sorted_inputs.dims[:1], values.dims[:1])
    return Spec(as_dtype(out_type), values.dims)


def _searched(sorted_inputs, values, out_type, side):
    rows = [np.searchsorted(row, wanted, side) for row, wanted in zip(sorted_inputs, values)]
    return np.array(rows, as_dtype(out_type).as_numpy_dtype).reshape(values.shape)


@op("LowerBound", infer=_places_in, no_rule="places are integers")
def lower_bound(sorted_inputs, values, *, out_type=int32):
    """For each value the first place in its sorted row that is not less. real[n, m], values: real[n, k]."""
    return _searched(sorted_inputs, values, out_type, "left")


@op("UpperBound", infer=_places_in, no_rule="places are integers")
def upper_bound(sorted_inputs, values, *, out_type=int32):
    """For each value the first place in its sorted row that is greater. real[n, m], values: real[n, k]."""
    return _searched(sorted_inputs, values, out_type, "right")


@lower_bound.batched
@upper_bound.batched
def _(node, args, batched):
    rows, values = all_batched(args, batched)
    found = node.definition(*(build.Reshape(x, build.ConcatV2(0, [-1], build.Shape(x)[2:])) for x in (rows, values)),
                            **node.attrs)
    return build.Reshape(found, build.Shape(values))


def _bins(input, *, boundaries):
    if not isinstance(boundaries, (list, tuple)):
        raise DTypeError(f"Expected list for 'boundaries' argument to 'bucketize' Op, not {boundaries!r}.")
    return Spec(int32, input.dims)


@op("Bucketize", infer=_bins, elementwise=True, dtypes=REALS, no_grad="bins are integers")
def bucketize(input, *, boundaries):
    """How many of the sorted boundaries are at most each element. input: real[...] -> int32[...].

    Raises InvalidArgumentError for boundaries that are not sorted.
    """
    if list(boundaries) != sorted(boundaries):
        raise ArgumentError("Expected sorted boundaries", found=list(boundaries))
    return np.searchsorted(boundaries, input, "right").astype(np.int32)
