"""Maxima of sliding windows together with where they are."""

import numpy as np

from ...core.declare import op
from ...core.dtypes import REALS, as_dtype, int64
from ...core.infer import rank_of
from ...core.op import Index, Spec, blocked, build
from ..common.batch_axis import all_batched, merged_images, shared, split_images
from ..common.windows import extents, of_space, offsets, padded, pads, slide_of

_LAYOUT = "NHWC"


def _geometry(ksize, strides, padding):
    return of_space(ksize, _LAYOUT, "ksize"), slide_of(strides=strides, padding=padding, data_format=_LAYOUT)


def _pooled(input, *, ksize, strides, Targmax=int64, padding, include_batch_in_index=False):  # noqa: N803
    window, slide = _geometry(ksize, strides, padding)
    rank_of(input, exactly=4, what="input")
    n, *space, c = input.dims or (None,) * 4
    dims = (n, *extents(tuple(space), window, slide), c)
    return Spec(input.dtype.base_dtype, dims), Spec(as_dtype(Targmax), dims)


@op("MaxPoolWithArgmax", infer=_pooled, dtypes=REALS)
def max_pool_with_argmax(input, *, ksize, strides, Targmax=int64, padding, include_batch_in_index=False):  # noqa: N803
    """The largest of each window, and its place: (row * width + column) * channels + channel, the first of several.

    include_batch_in_index: places count through all images, else each image counts for itself.
    input: real[n, h, w, c] -> real[n, h', w', c], int[n, h', w', c].
    """
    window, slide = _geometry(ksize, strides, padding)
    n, *space, c = input.shape
    counts, around = extents(tuple(space), window, slide), pads(space, window, slide)
    lowest = -np.inf if input.dtype.kind == "f" else np.iinfo(input.dtype).min
    x = padded(input, around, lowest)
    numbers = np.arange(space[0] * space[1], dtype=np.int64).reshape(1, *space, 1)
    numbers = padded(numbers, around, -1)
    y = np.empty((n, *counts, c), input.dtype)
    places = np.full(y.shape, -1, np.int64)
    for _, where in offsets(window, counts, slide):
        part, number = x[where], numbers[where]
        better = (number >= 0) & ((places < 0) | (part > y))
        y = np.where(better, part, y)
        places = np.where(better, number, places)
    places = places * c + np.arange(c)
    if include_batch_in_index:
        places += np.arange(n).reshape(-1, 1, 1, 1) * (space[0] * space[1] * c)
    return y, places.astype(as_dtype(Targmax).as_numpy_dtype)


def _flat_places(argmax, image, include_batch_in_index):
    """Places through all images."""
    return argmax if include_batch_in_index else argmax + np.arange(len(argmax)).reshape(-1, 1, 1, 1) * image


@op("MaxPoolGradWithArgmax", infer=lambda input, grad, argmax, **_: Spec(grad.dtype.base_dtype, input.dims),
    dtypes=REALS)
def max_pool_grad_with_argmax(input, grad, argmax: Index, *, ksize, strides, padding, include_batch_in_index=False):
    """`grad` of each window at the place of its maximum. input: real[n, h, w, c], the others real[n, h', w', c]."""
    places = _flat_places(argmax, input[0].size if len(input) else 0, include_batch_in_index)
    dx = np.zeros(input.size, grad.dtype)
    np.add.at(dx, places.reshape(-1), grad.reshape(-1))
    return dx.reshape(input.shape)


@op("MaxPoolGradGradWithArgmax", infer=lambda input, grad, argmax, **_: Spec(grad.dtype.base_dtype, argmax.dims),
    dtypes=REALS)
def max_pool_grad_grad_with_argmax(input, grad, argmax: Index, *, ksize, strides, padding,
                                   include_batch_in_index=False):
    """The adjoint of MaxPoolGradWithArgmax: `grad` from the place of each maximum. -> real[n, h', w', c]."""
    return grad.reshape(-1)[_flat_places(argmax, input[0].size if len(input) else 0, include_batch_in_index)]


_PLACES = "places are integers"


@max_pool_with_argmax.gradient
def _(node, dy, _dplaces):
    return (build.MaxPoolGradWithArgmax(node.inputs[0], dy, node.outputs[1],
                                        **{k: v for k, v in node.attrs.items() if k != "Targmax"}),)


@max_pool_grad_with_argmax.gradient
def _(node, dz):
    x, _, places = node.inputs
    return build.ZerosLike(x), build.MaxPoolGradGradWithArgmax(x, dz, places, **node.attrs), blocked(_PLACES)


@max_pool_grad_grad_with_argmax.gradient
def _(node, dz):
    x, _, places = node.inputs
    return build.ZerosLike(x), build.MaxPoolGradWithArgmax(x, dz, places, **node.attrs), blocked(_PLACES)


@max_pool_with_argmax.batched
def _(node, args, batched):
    attrs = {**node.attrs, "include_batch_in_index": False}
    if node.attrs["include_batch_in_index"]:
        shared(node, batched, 0)  # each slice would have to count its places from 0 again
    return [split_images(part, args[0]) for part in node.definition(merged_images(args[0]), **attrs)]


@max_pool_grad_with_argmax.batched
@max_pool_grad_grad_with_argmax.batched
def _(node, args, batched):
    if node.attrs["include_batch_in_index"]:
        shared(node, batched, 0, 1, 2)
    like = args[batched.index(True)]
    return split_images(node.definition(*map(merged_images, all_batched(args, batched)), **node.attrs), like)
