"""Images of another size: linear maps along rows and columns, each output a weighted sum of a few inputs."""

from typing import Any, NamedTuple

import numpy as np

from ...core.constant_value import static_entries, static_value
from ...core.declare import op
from ...core.dtypes import FLOATS, REALS, float32
from ...core.errors import ArgumentError, ShapeError
from ...core.graph import Operation, Tensor
from ...core.infer import rank_of
from ...core.op import Float32, Int32, OpDef, Spec, blocked, build
from ..common.batch_axis import merged_images, sizes, slice_by_slice

_STEPS = 1024  # places between two pixels at which TensorFlow knows the cubic's weights


class Taps(NamedTuple):
    """For each output along an axis the inputs it takes, int[out, k], in rising order, and their float32[out, k]."""

    places: np.ndarray
    weights: np.ndarray


# ---- where the outputs lie --------------------------------------------------------------

def _scale(n: int, m: int, align_corners: bool) -> np.float32:
    return np.float32(n - 1) / np.float32(m - 1) if align_corners and m > 1 else np.float32(n) / np.float32(m)


def _centers(n: int, m: int, align_corners: bool, half_pixel_centers: bool) -> np.ndarray:
    """float32[m]: where along `n` inputs each output lies."""
    if align_corners and half_pixel_centers:
        raise ArgumentError("align_corners and half_pixel_centers exclude each other: expected at most one to be True")
    i, scale = np.arange(m, dtype=np.float32), _scale(n, m, align_corners)
    return (i + np.float32(0.5)) * scale - np.float32(0.5) if half_pixel_centers else i * scale


def _bilinear(n: int, m: int, align_corners: bool, half_pixel_centers: bool) -> Taps:
    x = _centers(n, m, align_corners, half_pixel_centers)
    low = np.floor(x)
    share = x - low
    places = np.stack([np.maximum(low, 0), np.minimum(np.ceil(x), n - 1)], 1).astype(np.intp)
    return Taps(places, np.stack([1 - share, share], 1))


def _nearest(n: int, m: int, align_corners: bool, half_pixel_centers: bool) -> Taps:
    x = _centers(n, m, align_corners, half_pixel_centers)
    x = np.floor(x + np.float32(0.5) if align_corners or half_pixel_centers else x)
    return Taps(np.clip(x, 0, n - 1).astype(np.intp)[:, None], np.ones((m, 1), np.float32))


def _cubic(x: np.ndarray, a: float) -> tuple[np.ndarray, np.ndarray]:
    """Weights of pixels at a distance of x and of 1 + x, 0 <= x <= 1. Source: Keys (1981), equation 4."""
    near, y = ((a + 2) * x - (a + 3)) * x * x + 1, x + 1
    return near, ((a * y - 5 * a) * y + 8 * a) * y - 4 * a


def _bicubic(n: int, m: int, align_corners: bool, half_pixel_centers: bool) -> Taps:
    """TensorFlow has a = -0.5, and no pixels outside, with half_pixel_centers; else a = -0.75 and repeated borders."""
    x = _centers(n, m, align_corners, half_pixel_centers)
    low = np.floor(x)
    share = np.rint((x - low) * _STEPS) / _STEPS
    a = -0.5 if half_pixel_centers else -0.75
    (near, far), (next_near, next_far) = _cubic(share, a), _cubic(1 - share, a)
    weights = np.stack([far, near, next_near, next_far], 1).astype(np.float32)
    wanted = low.astype(np.intp)[:, None] + np.arange(-1, 3)
    places = np.clip(wanted, 0, n - 1)
    if half_pixel_centers:
        weights *= places == wanted
        weights /= weights.sum(1, keepdims=True)
    return Taps(places, weights)


def _area(n: int, m: int, align_corners: bool, half_pixel_centers: bool = False) -> Taps:
    """Each output is the mean of what it covers; a pixel counts by the part of it that is covered."""
    scale = _scale(n, m, align_corners)
    start = np.arange(m, dtype=np.float32) * scale
    end = np.arange(1, m + 1, dtype=np.float32) * scale
    first = np.floor(start).astype(np.intp)
    wanted = first[:, None] + np.arange(int((np.ceil(end) - first).max(initial=1)))
    covered = np.minimum(end[:, None], wanted + 1) - np.maximum(start[:, None], wanted)
    weights = np.maximum(covered, 0).astype(np.float32) / scale
    last = np.ceil(end).astype(np.intp)[:, None] - 1
    return Taps(np.minimum(np.minimum(wanted, last), n - 1), weights)


# ---- the maps on arrays -----------------------------------------------------------------

def _along(weights: np.ndarray, axis: int) -> np.ndarray:
    return weights.reshape((1,) * axis + (-1,) + (1,) * (3 - axis))


def taken(x: np.ndarray, taps: Taps, axis: int) -> np.ndarray:
    """Weighted sums along an axis. Only pixels that are taken count, so a nan stays where it is seen."""
    y = None
    for places, weights in zip(taps.places.T, taps.weights.T):
        part = x.take(places, axis) * _along(weights, axis)
        y = part if y is None else np.add(y, part, out=y)
    return y


def handed_back(dy: np.ndarray, taps: Taps, axis: int, n: int) -> np.ndarray:
    """The adjoint of `taken`: each output's share goes back to the pixels it took. Places rise, so runs are sums."""
    shape = list(dy.shape)
    shape[axis] = n
    dx = np.zeros(shape, dy.dtype)
    where = (slice(None),) * axis
    for places, weights in zip(taps.places.T, taps.weights.T):
        starts = np.flatnonzero(np.diff(places, prepend=-1))
        dx[(*where, places[starts])] += np.add.reduceat(dy * _along(weights, axis), starts, axis)
    return dx


def _working(dtype: np.dtype) -> np.dtype:
    return np.result_type(dtype, np.float32) if dtype.kind == "f" else np.dtype(np.float32)


def _resized_by(rule, images, size, **attrs):
    (n, m), (height, width) = images.shape[1:3], checked_size(size)
    if 0 in (n, m):
        raise ShapeError(expected="images with pixels", found=list(images.shape))
    x = images.astype(np.float32, copy=False)
    return taken(taken(x, rule(m, width, **attrs), 2), rule(n, height, **attrs), 1)


def _spread_by(rule, grads, space, dtype, align_corners, half_pixel_centers):
    attrs = {"align_corners": align_corners, "half_pixel_centers": half_pixel_centers}
    dy = grads.astype(_working(grads.dtype), copy=False)
    rows = handed_back(dy, rule(space[0], dy.shape[1], **attrs), 1, space[0])
    return handed_back(rows, rule(space[1], dy.shape[2], **attrs), 2, space[1]).astype(dtype, copy=False)


def checked_size(size):
    """Height and width as ints. Raises ArgumentError unless they are above 0."""
    height, width = (int(v) for v in size)
    if height <= 0 or width <= 0:
        raise ArgumentError(expected="a size above 0", found=f"{height} by {width}")
    return height, width


# ---- shapes -----------------------------------------------------------------------------

def resized(images, size, **_):
    """The Spec of images in another size."""
    rank_of(images, exactly=4, what="images")
    if size.dims is not None and (len(size.dims) != 1 or size.dims[0] not in (2, None)):
        raise ShapeError(expected="size to be a vector of 2, height and width", found=f"shape {list(size.dims)}")
    entries = static_entries(size, 2)
    if static_value(size) is not None:
        checked_size(entries)
    x = images.dims or (None,) * 4
    return Spec(images.dtype.base_dtype, (x[0], *entries, x[3]))


def _resized_to_float32(images, size, **_):
    return Spec(float32, resized(images, size).dims)


def _original(grads, original_image, **_):
    rank_of(grads, exactly=4, what="grads")
    rank_of(original_image, exactly=4, what="original_image")
    dy, x = grads.dims or (None,) * 4, original_image.dims or (None,) * 4
    return Spec(original_image.dtype.base_dtype, (dy[0], *x[1:3], dy[3]))


# ---- ops --------------------------------------------------------------------------------

@op("ResizeBilinear", infer=_resized_to_float32, dtypes=REALS)
def resize_bilinear(images, size: Int32, *, align_corners=False, half_pixel_centers=False):
    """Interpolated between the four pixels around. images: real[n, h, w, c], size: int[2] -> float32[n, *size, c]."""
    return _resized_by(_bilinear, images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers)


@op("ResizeBilinearGrad", infer=_original, dtypes=FLOATS)
def resize_bilinear_grad(grads: Float32, original_image, *, align_corners=False, half_pixel_centers=False):
    """The adjoint of ResizeBilinear; only shape and dtype of original_image count. -> float[n, h, w, c]."""
    return _spread_by(_bilinear, grads, original_image.shape[1:3], original_image.dtype, align_corners,
                      half_pixel_centers)


@op("ResizeBicubic", infer=_resized_to_float32, dtypes=REALS)
def resize_bicubic(images, size: Int32, *, align_corners=False, half_pixel_centers=False):
    """By cubics through the sixteen pixels around. images: real[n, h, w, c], size: int[2] -> float32[n, *size, c]."""
    return _resized_by(_bicubic, images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers)


@op("ResizeBicubicGrad", infer=_original, dtypes=FLOATS)
def resize_bicubic_grad(grads: Float32, original_image, *, align_corners=False, half_pixel_centers=False):
    """The adjoint of ResizeBicubic; only shape and dtype of original_image count. -> float[n, h, w, c]."""
    return _spread_by(_bicubic, grads, original_image.shape[1:3], original_image.dtype, align_corners,
                      half_pixel_centers)


@op("ResizeArea", infer=_resized_to_float32, dtypes=REALS, no_rule="TensorFlow has no gradient of ResizeArea")
def resize_area(images, size: Int32, *, align_corners=False):
    """The mean of what each new pixel covers. images: real[n, h, w, c], size: int[2] -> float32[n, *size, c]."""
    return _resized_by(_area, images, size, align_corners=align_corners)


@op("ResizeNearestNeighbor", infer=resized, dtypes=REALS)
def resize_nearest_neighbor(images, size: Int32, *, align_corners=False, half_pixel_centers=False):
    """The pixel that is nearest. images: real[n, h, w, c], size: int[2] -> real[n, *size, c]."""
    height, width = checked_size(size)
    attrs = {"align_corners": align_corners, "half_pixel_centers": half_pixel_centers}
    rows, columns = _nearest(images.shape[1], height, **attrs), _nearest(images.shape[2], width, **attrs)
    return images.take(rows.places[:, 0], 1).take(columns.places[:, 0], 2)


@op("ResizeNearestNeighborGrad", infer=resized, dtypes=REALS)
def resize_nearest_neighbor_grad(grads, size: Int32, *, align_corners=False, half_pixel_centers=False):
    """The adjoint of ResizeNearestNeighbor, to images of `size`. -> real[n, *size, c]."""
    return _spread_by(_nearest, grads, checked_size(size), grads.dtype, align_corners, half_pixel_centers)


# ---- gradients and batching: an op and its adjoint are each other's gradient --------------

def _space(x: Tensor) -> Any:
    """Height and width of images as a vector."""
    known = x.dims[1:3] if x.dims is not None else (None,)
    return np.array(known, np.int32) if None not in known else build.Shape(x)[1:3]


def _split(y: Tensor, like: Tensor) -> Tensor:
    return build.Reshape(y, build.ConcatV2(0, sizes(like)[:2], sizes(y)[1:]))


def _adjoints(forward: OpDef, adjoint: OpDef) -> None:
    @forward.gradient
    def _(node: Operation, dy: Tensor) -> Any:
        return adjoint(dy, node.inputs[0], **node.attrs), blocked("a size is made of integers")

    @adjoint.gradient
    def _(node: Operation, dz: Tensor) -> Any:
        return forward(dz, _space(node.inputs[0]), **node.attrs), blocked("only its shape is used")

    @adjoint.batched
    def _(node: Operation, args: list[Tensor], batched: list[bool]) -> Any:
        original = args[1][0] if batched[1] else args[1]
        if not batched[0]:
            return [None] if batched == [False, False] else slice_by_slice(node, args, batched)
        return _split(adjoint(merged_images(args[0]), original, **node.attrs), args[0])


def _by_merging(definition: OpDef) -> None:
    """The batching of ops of images and a size: more images."""

    @definition.batched
    def _(node: Operation, args: list[Tensor], batched: list[bool]) -> Any:
        if batched[1]:
            return slice_by_slice(node, args, batched)
        return _split(definition(merged_images(args[0]), args[1], **node.attrs), args[0])


_adjoints(resize_bilinear, resize_bilinear_grad)
_adjoints(resize_bicubic, resize_bicubic_grad)
for _definition in (resize_bilinear, resize_bicubic, resize_area, resize_nearest_neighbor,
                    resize_nearest_neighbor_grad):
    _by_merging(_definition)


def _to_the_size_before(definition: OpDef, back: OpDef) -> None:
    @definition.gradient
    def _(node: Operation, dy: Tensor) -> Any:
        return back(dy, _space(node.inputs[0]), **node.attrs), blocked("a size is made of integers")


_to_the_size_before(resize_nearest_neighbor, resize_nearest_neighbor_grad)
_to_the_size_before(resize_nearest_neighbor_grad, resize_nearest_neighbor)
