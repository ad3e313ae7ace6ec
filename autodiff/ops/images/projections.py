"""Images seen through a projective transform: turned, moved, sheared, in perspective."""

import numpy as np

from ...core.constant_value import static_dims
from ...core.declare import op
from ...core.dtypes import float16, float32, float64, int32, int64, uint8
from ...core.errors import ArgumentError, InvalidArgumentError
from ...core.infer import rank_of
from ...core.op import Float32, Int32, Kind, Spec, blocked, build
from ..common.batch_axis import slice_by_slice

Pixels = Kind("Pixels", allowed=(uint8, int32, int64, float16, float32, float64))


def _projected(images, transforms, output_shape, *, interpolation):
    rank_of(images, exactly=4, what="images")
    rank_of(transforms, exactly=2, what="transforms")
    if interpolation not in ("NEAREST", "BILINEAR"):
        raise ArgumentError(f"Invalid interpolation {interpolation}. Supported types: NEAREST, BILINEAR")
    height, width = static_dims(output_shape) or (None, None)
    batch, *_, channels = images.dims or (None,) * 4
    return Spec(images.dtype.base_dtype, (batch, height, width, channels))


@op("ImageProjectiveTransformV2", infer=_projected, batched=slice_by_slice)
def projected(images: Pixels, transforms: Float32, output_shape: Int32, *, interpolation):
    """Images whose point (x, y) is what the given ones have at ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k).

    images: real[n, h, w, c]; transforms: float32[n or 1, 8], a0, a1, a2, b0, b1, b2, c0, c1, with k = c0 x + c1 y + 1;
    output_shape: int32[2]. -> real[n, *output_shape, c], 0 where that is outside.
    """
    if len(transforms) not in (1, len(images)) or transforms.shape[1] != 8:
        raise InvalidArgumentError("Input transform should be num_images x 8 or 1 x 8", found=transforms.shape)
    y, x = np.indices(tuple(output_shape), np.float32)
    a0, a1, a2, b0, b1, b2, c0, c1 = transforms.T[:, :, None, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        k = c0 * x + c1 * y + np.float32(1)
        across, down = (np.where(k == 0, np.float32(-2), over / k) for over in (
            a0 * x + a1 * y + a2, b0 * x + b1 * y + b2))
    if interpolation == "NEAREST":
        return _pixels(images, *(np.copysign(np.floor(np.abs(at) + np.float32(0.5)), at) for at in (down, across)))
    top, left = np.floor(down), np.floor(across)
    below, right = (down - top)[..., None], (across - left)[..., None]
    upper, lower = ((1 - right) * _pixels(images, row, left).astype(np.float32)
                    + right * _pixels(images, row, left + 1).astype(np.float32) for row in (top, top + 1))
    return ((1 - below) * upper + below * lower).astype(images.dtype)


def _pixels(images, rows, columns):
    """The pixels at these places, 0 where they are outside. rows, columns: whole float32[n or 1, ...]."""
    (count, height, width, _), shape = images.shape, rows.shape[1:]
    is_inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    rows, columns = (np.where(is_inside, places, 0).astype(np.intp) for places in (rows, columns))
    if not images.size:
        return np.zeros((count, *shape, images.shape[3]), images.dtype)
    found = images[np.arange(count)[:, None, None], rows, columns]
    return np.where(is_inside[..., None], found, images.dtype.type(0))


@projected.gradient
def _(node, dy):
    """As in TensorFlow the inverse transform of dy, which is the gradient where neighbors stay neighbors."""
    images, transforms, _ = node.inputs
    count = build.Shape(transforms)[0]
    rows = build.ConcatV2(1, transforms, build.Fill(build.Pack(count, 1), np.float32(1)))
    inverse = build.Reshape(build.MatrixInverse(build.Reshape(rows, [-1, 3, 3])), [-1, 9])
    inverse = inverse / inverse[:, 8:9]
    dx = build.ImageProjectiveTransformV2(dy, inverse[:, :8], build.Shape(images)[1:3], **node.attrs)
    return dx, blocked("TensorFlow has no gradient for the transform"), blocked("a shape is an integer")
