"""Boxes cut out of images and brought to one size, and the gradients for the images and the boxes."""

from typing import NamedTuple

import numpy as np

from ...core.constant_value import static_dims
from ...core.declare import op
from ...core.dtypes import REALS, as_dtype, float16, float32, float64, int32
from ...core.errors import ArgumentError, OutOfRangeError, ShapeError
from ...core.infer import rank_of
from ...core.op import Float32, Int32, Kind, Spec, blocked, build
from ...core.shapes import compatible, show
from ..common.batch_axis import sizes

Image = Kind("Image", allowed=REALS)

_METHODS = ("bilinear", "nearest")


class _Places(NamedTuple):
    """Along one axis, for each box and each row of its crop: where it is in the image."""

    at: np.ndarray  # float32[n, size]
    is_inside: np.ndarray
    low: np.ndarray  # the row before
    high: np.ndarray  # and after
    part: np.ndarray  # how far from low to high


def _places(first, last, size, extent, method):
    scale = (last - first) * np.float32(extent - 1)
    if size > 1:
        at = first[:, None] * np.float32(extent - 1) + np.arange(size, dtype=np.float32) * (
            scale / np.float32(size - 1))[:, None]
    else:
        at = np.float32(0.5) * (first + last)[:, None] * np.float32(extent - 1)
    is_inside = (at >= 0) & (at <= extent - 1)
    safe = np.where(is_inside, at, 0)
    if method == "nearest":
        low = high = np.floor(safe + np.float32(0.5)).astype(np.intp)
    else:
        low, high = np.floor(safe).astype(np.intp), np.ceil(safe).astype(np.intp)
    return _Places(at, is_inside, low, high, (safe - low).astype(np.float32))


def _both(shape, boxes, crop, method):
    y1, x1, y2, x2 = boxes.T
    return _places(y1, y2, crop[0], shape[1], method), _places(x1, x2, crop[1], shape[2], method)


def _corners(image, box_ind, y, x):
    """The four neighbors of each place: [n, rows, columns, channels] each."""
    b = box_ind[:, None, None]
    return [image[b, row[:, :, None], column[:, None, :]].astype(np.float32)
            for row in (y.low, y.high) for column in (x.low, x.high)]


def _check_boxes(box_ind, count):
    if box_ind.size and (box_ind.min() < 0 or box_ind.max() >= count):
        raise OutOfRangeError("box_index has values outside [0, batch_size)", expected=f"0 to {count - 1}",
                              found=box_ind.tolist())


# ---- shapes -------------------------------------------------------------------------------

def _check_inputs(boxes, box_ind, method):
    if method not in _METHODS:
        raise ArgumentError(expected="a method 'bilinear' or 'nearest'", found=repr(method))
    rank_of(boxes, exactly=2, what="boxes")
    rank_of(box_ind, exactly=1, what="box_ind")
    if boxes.dims is not None and boxes.dims[1] not in (None, 4):
        raise ShapeError(expected="boxes [y1, x1, y2, x2]", found=f"shape {show(boxes.dims)}")
    if boxes.dims is not None and box_ind.dims is not None and not compatible(boxes.dims[:1], box_ind.dims):
        raise ShapeError(f"boxes and box_ind differ in number: {show(boxes.dims)} and {show(box_ind.dims)}")


def _cropped(image, boxes, box_ind, crop_size, *, method="bilinear", extrapolation_value=0.0):
    _check_inputs(boxes, box_ind, method)
    rank_of(image, exactly=4, what="image")
    size = static_dims(crop_size)
    if size is not None and len(size) != 2:
        raise ShapeError(expected="a crop_size [height, width]", found=list(size))
    count = boxes.dims[0] if boxes.dims is not None else None
    return Spec(float32, (count, *(size or (None, None)), image.dims[3] if image.dims is not None else None))


def _image_like(grads, boxes, box_ind, image_size, *, T, method="bilinear"):  # noqa: N803
    _check_inputs(boxes, box_ind, method)
    return Spec(as_dtype(T), static_dims(image_size) or (None,) * 4)


# ---- ops ----------------------------------------------------------------------------------

@op("CropAndResize", infer=_cropped)
def crop_and_resize(image: Image, boxes: Float32, box_ind: Int32, crop_size: Int32, *, method="bilinear",
                    extrapolation_value=0.0):
    """Each box of its image, brought to one size. image: real[b, h, w, c]. boxes: float32[n, 4], (y1, x1, y2, x2).

    Corners are parts of the image's height and width, 0 and 1 its first and last pixel; a box may be turned or reach
    outside, where extrapolation_value stands. box_ind: int32[n], which image. method: bilinear or nearest.
    -> float32[n, *crop_size, c].
    """
    _check_boxes(box_ind, len(image))
    if np.any(crop_size <= 0):
        raise ValueError(f"crop dimensions must be positive, found {crop_size.tolist()}")
    y, x = _both(image.shape, boxes, crop_size.tolist(), method)
    top_left, top_right, low_left, low_right = _corners(image, box_ind, y, x)
    across, down = x.part[:, None, :, None], y.part[:, :, None, None]
    top = top_left + (top_right - top_left) * across
    low = low_left + (low_right - low_left) * across
    is_inside = y.is_inside[:, :, None, None] & x.is_inside[:, None, :, None]
    return np.where(is_inside, top + (low - top) * down, np.float32(extrapolation_value))


@op("CropAndResizeGradImage", infer=_image_like)
def crop_and_resize_grad_image(grads: Float32, boxes: Float32, box_ind: Int32, image_size: Int32, *, T,  # noqa: N803
                               method="bilinear"):
    """The adjoint of CropAndResize in the image: `grads` where each was read. -> T[image_size]."""
    shape = tuple(image_size.tolist())
    _check_boxes(box_ind, shape[0])
    y, x = _both(shape, boxes, grads.shape[1:3], method)
    found = np.zeros(shape, np.float32)
    dy = grads * (y.is_inside[:, :, None, None] & x.is_inside[:, None, :, None])
    for row, down in ((y.low, 1 - y.part), (y.high, y.part)):
        for column, across in ((x.low, 1 - x.part), (x.high, x.part)):
            if method == "nearest" and (row is not y.low or column is not x.low):
                continue
            weight = 1 if method == "nearest" else down[:, :, None, None] * across[:, None, :, None]
            np.add.at(found, (box_ind[:, None, None], row[:, :, None], column[:, None, :]), dy * weight)
    return found.astype(as_dtype(T).as_numpy_dtype)


@op("CropAndResizeGradBoxes", infer=lambda grads, image, boxes, box_ind, *, method="bilinear": Spec(
    float32, boxes.dims), no_rule="the second slope of a crop by its box is not defined")
def crop_and_resize_grad_boxes(grads: Float32, image: Image, boxes: Float32, box_ind: Int32, *, method="bilinear"):
    """The gradient of a bilinear CropAndResize for the boxes. -> float32[n, 4]."""
    _check_boxes(box_ind, len(image))
    height, width = grads.shape[1:3]
    y, x = _both(image.shape, boxes, (height, width), "bilinear")
    top_left, top_right, low_left, low_right = _corners(image, box_ind, y, x)
    across, down = x.part[:, None, :, None], y.part[:, :, None, None]
    dy = grads * (y.is_inside[:, :, None, None] & x.is_inside[:, None, :, None])
    by_y = (dy * ((low_left - top_left) * (1 - across) + (low_right - top_right) * across)).sum(axis=(2, 3))
    by_x = (dy * ((top_right - top_left) * (1 - down) + (low_right - low_left) * down)).sum(axis=(1, 3))
    found = np.empty(boxes.shape, np.float32)
    for slot, slope, size, extent in ((0, by_y, height, image.shape[1]), (1, by_x, width, image.shape[2])):
        share = np.arange(size, dtype=np.float32) / (size - 1) if size > 1 else np.float32([0.5])
        found[:, slot] = (slope * (1 - share)).sum(axis=1) * (extent - 1)
        found[:, slot + 2] = (slope * share).sum(axis=1) * (extent - 1)
    return found


@crop_and_resize.gradient
def _(node, dy):
    image, boxes, box_ind, _ = node.inputs
    dtype = image.dtype.base_dtype
    by_image = build.CropAndResizeGradImage(dy, boxes, box_ind, sizes(image), T=dtype, method=node.attrs["method"]) \
        if dtype in (float16, float32, float64) else blocked(f"the image is of dtype {dtype.name}")
    return (by_image, build.CropAndResizeGradBoxes(dy, image, boxes, box_ind),
            blocked("indices are integers"), blocked("a size is made of integers"))


@crop_and_resize_grad_image.gradient
def _(node, dz):
    grads, boxes, box_ind, _ = node.inputs
    cropped = build.CropAndResize(dz, boxes, box_ind, build.Shape(grads, out_type=int32)[1:3],
                                  method=node.attrs["method"])
    return (cropped, build.CropAndResizeGradBoxes(grads, dz, boxes, box_ind),
            blocked("indices are integers"), blocked("a size is made of integers"))


@crop_and_resize.batched
@crop_and_resize_grad_image.batched
@crop_and_resize_grad_boxes.batched
def _(node, args, batched):
    raise ShapeError(f"cannot vectorize {node.type}: expected the same images and boxes for each slice",
                     hint="use one call over more boxes")
