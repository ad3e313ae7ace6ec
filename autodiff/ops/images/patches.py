"""Windows of images, each laid out as the channels of one place, and the adjoint."""

import numpy as np

from ...core.constant_value import static_dims
from ...core.declare import op
from ...core.dtypes import REALS
from ...core.infer import rank_of
from ...core.op import Int32, Spec, blocked, build
from ..common.batch_axis import joined, merged_images, sizes, split_images
from ..common.windows import extents, inside, of_space, offsets, padded, pads, slide_of, views

_LAYOUT = "NHWC"


def _geometry(ksizes, strides, rates, padding):
    return of_space(ksizes, _LAYOUT, "ksizes"), slide_of(strides=strides, padding=padding, data_format=_LAYOUT,
                                                         dilations=rates)


def _patched(images, *, ksizes, strides, rates, padding):
    window, slide = _geometry(ksizes, strides, rates, padding)
    rank_of(images, exactly=4, what="images")
    n, *space, c = images.dims or (None,) * 4
    depth = None if c is None else window[0] * window[1] * c
    return Spec(images.dtype.base_dtype, (n, *extents(tuple(space), window, slide), depth))


@op("ExtractImagePatches", infer=_patched, dtypes=REALS)
def extract_image_patches(images, *, ksizes, strides, rates, padding):
    """The pixels of each window, row by row, as channels of one place; 0 outside.

    images: real[n, h, w, c] -> real[n, h', w', kh * kw * c]. rates: the distance of pixels in a window.
    """
    window, slide = _geometry(ksizes, strides, rates, padding)
    space = images.shape[1:3]
    counts = extents(space, window, slide)
    found = views(padded(images, pads(space, window, slide)), window, counts, slide)
    return found.reshape(len(images), *counts, images.shape[3] * int(np.prod(window)))


@op("ExtractImagePatchesGrad", infer=lambda image_sizes, grad, **_: Spec(
    grad.dtype.base_dtype, static_dims(image_sizes) or (None,) * 4), dtypes=REALS)
def extract_image_patches_grad(image_sizes: Int32, grad, *, ksizes, strides, rates, padding):
    """The adjoint of ExtractImagePatches: each pixel's sum over the windows that have it. -> real[image_sizes]."""
    window, slide = _geometry(ksizes, strides, rates, padding)
    n, *space, c = image_sizes.tolist()
    around, counts = pads(space, window, slide), grad.shape[1:3]
    wide = np.zeros((n, *(a + size + b for size, (a, b) in zip(space, around)), c), grad.dtype)
    parts = grad.reshape(n, *counts, *window, c)
    for (i, j), where in offsets(window, counts, slide):
        wide[where] += parts[:, :, :, i, j]
    return np.ascontiguousarray(wide[inside(space, around)])


@extract_image_patches.gradient
def _(node, dy):
    return (build.ExtractImagePatchesGrad(sizes(node.inputs[0]), dy, **node.attrs),)


@extract_image_patches_grad.gradient
def _(node, dz):
    return blocked("a shape is made of integers"), build.ExtractImagePatches(dz, **node.attrs)


@extract_image_patches.batched
def _(node, args, batched):
    return split_images(node.definition(merged_images(args[0]), **node.attrs), args[0])


@extract_image_patches_grad.batched_if_same(0)
def _(node, args, batched):
    dy = merged_images(args[1])
    shape = joined(build.Shape(dy)[:1], args[0][1:])
    return split_images(node.definition(shape, dy, **node.attrs), args[1])
