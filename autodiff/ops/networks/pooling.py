"""Maxima and averages of sliding windows, with gradients of every order, in two and three dimensions."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.constant_value import static_dims
from ...core.declare import op
from ...core.dtypes import FLOATS, REALS
from ...core.graph import Operation, Tensor
from ...core.infer import rank_of
from ...core.op import Int32, OpDef, Spec, blocked, build
from ..common import windows
from ..common.batch_axis import all_batched, merged_images, sizes, split_images
from ..common.threads import share
from ..math.reductions import lowest


def _geometry(ksize: Any, strides: Any, padding: str, data_format: str) -> tuple[tuple[int, ...], windows.Slide]:
    slide = windows.slide_of(strides=strides, padding=padding, data_format=data_format)
    return windows.of_space(ksize, data_format, "ksize"), slide


def _pooled(input, *, ksize, strides, padding, data_format):
    window, slide = _geometry(ksize, strides, padding, data_format)
    rank_of(input, exactly=len(data_format), what="input")
    x = input.dims or (None,) * len(data_format)
    first = windows.channels_first(data_format)
    counts = windows.extents(x[2:] if first else x[1:-1], window, slide)
    return Spec(input.dtype.base_dtype, (x[0], x[1], *counts) if first else (x[0], *counts, x[-1]))


def _input_like(orig_input, orig_output, grad, **_):
    return Spec(orig_input.dtype.base_dtype, orig_input.dims)


def _output_like(orig_input, orig_output, grad, **_):
    return Spec(orig_input.dtype.base_dtype, orig_output.dims)


def _sized(orig_input_shape, grad, *, data_format, **_):
    return Spec(grad.dtype.base_dtype, static_dims(orig_input_shape) or (None,) * len(data_format))


# ---- on arrays --------------------------------------------------------------------------

_AT_ONCE = 1 << 20  # bytes of images that are handled together: their windows then stay in the cache


def _by_images(work: Callable[[slice], Any], x: np.ndarray) -> None:
    """Call `work` for some images at a time."""
    step = max(1, _AT_ONCE // max(1, x[:1].nbytes))
    share(lambda i: work(slice(i * step, (i + 1) * step)), -(-len(x) // step))


def _reduced(x: np.ndarray, combine: Any, window: tuple[int, ...], counts: tuple[int, ...], slide: windows.Slide,
             out: np.ndarray | None = None) -> np.ndarray:
    """Windows of the padded `x` combined, one axis of space after another; the last one in `out`, if it can be."""
    for axis, (k, s, n) in enumerate(zip(window, slide.strides, counts), 1):
        parts = [x[(slice(None),) * axis + (slice(i, i + (n - 1) * s + 1, s),)] for i in range(k)]
        x = parts[0] if k == 1 else combine(parts[0], parts[1], out=out if axis == len(window) else None)
        for part in parts[2:]:
            combine(x, part, out=x)
    return x


def _first_maxima(x, y, window, slide):
    """For each place in the window: where it is, and which windows have their first maximum there."""
    x = windows.padded(x, windows.pads(x.shape[1:-1], window, slide), lowest(x.dtype))
    free = np.ones(y.shape, bool)
    for _, where in windows.offsets(window, y.shape[1:-1], slide):
        hit = np.equal(x[where], y)
        hit &= free
        free ^= hit
        yield where, hit


def _real_sizes(space: tuple[int, ...], window: tuple[int, ...], counts: tuple[int, ...], slide: windows.Slide,
                dtype: Any) -> np.ndarray:
    """How many elements of each window are not padding: [*counts, 1]."""
    ones = np.ones((1, *space, 1), dtype)
    return _reduced(windows.padded(ones, windows.pads(space, window, slide)), np.add, window, counts, slide)[0]


# ---- ops --------------------------------------------------------------------------------

@op("MaxPool", infer=_pooled, dtypes=REALS)
def max_pool(input, *, ksize, strides, padding, data_format="NHWC", out=None):
    """The largest of each window. input: real[n, h, w, c] -> real[n, h', w', c]."""
    window, slide = _geometry(ksize, strides, padding, data_format)
    x = windows.channels_last(input, data_format)
    counts, widened = windows.extents(x.shape[1:-1], window, slide), windows.pads(x.shape[1:-1], window, slide)
    is_fit = out is not None and not windows.channels_first(data_format)
    y = out if is_fit else np.empty((len(x), *counts, x.shape[-1]), x.dtype)

    def work(images):
        part, room = windows.padded(x[images], widened, lowest(x.dtype)), y[images]
        windows.placed(_reduced(part, np.maximum, window, counts, slide, room), room)

    _by_images(work, x)
    return windows.placed(windows.restored(y, data_format), out)


@op("MaxPoolV2", infer=lambda input, ksize, strides, **_: Spec(input.dtype.base_dtype, (None,) * 4), dtypes=REALS,
    no_rule="max_pool with sizes that are numbers has a gradient")
def max_pool_v2(input, ksize: Int32, strides: Int32, *, padding, data_format="NHWC"):
    """MaxPool by sizes that are values. input: real[n, h, w, c], ksize, strides: int32[4] -> real[n, h', w', c']."""
    sizes, steps, depth = ksize.tolist(), strides.tolist(), int(ksize[-1]) if data_format == "NHWC" else 1
    if depth > 1:
        input = input.reshape(*input.shape[:-1], input.shape[-1] // depth, depth).max(-1)
        sizes[-1] = steps[-1] = 1
    return max_pool.kernel(input, ksize=sizes, strides=steps, padding=padding, data_format=data_format)


@max_pool_v2.batched_if_same(1, 2)
def _(node, args, batched):
    return split_images(build.MaxPoolV2(merged_images(args[0]), *args[1:], **node.attrs), args[0])


@op("MaxPool3D", infer=_pooled, dtypes=FLOATS)
def max_pool3d(input, *, ksize, strides, padding, data_format="NDHWC"):
    """The largest of each window. input: float[n, d, h, w, c] -> float[n, d', h', w', c]."""
    return max_pool.kernel(input, ksize=ksize, strides=strides, padding=padding, data_format=data_format)


@op("MaxPoolGrad", infer=_input_like, dtypes=REALS)
def max_pool_grad(orig_input, orig_output, grad, *, ksize, strides, padding, data_format="NHWC", out=None):
    """dy of each window at its first maximum, row by row. orig_input: x, orig_output: y, grad: dy -> x's shape."""
    window, slide = _geometry(ksize, strides, padding, data_format)
    x, y, dy = (windows.channels_last(a, data_format) for a in (orig_input, orig_output, grad))
    space = x.shape[1:-1]
    widened = windows.pads(space, window, slide)
    wide = (*(a + n + b for n, (a, b) in zip(space, widened)), x.shape[-1])
    covers = wide == x.shape[1:] and all(k == s and k * n == size for k, s, n, size in zip(
        window, slide.strides, dy.shape[1:-1], space))  # each place then belongs to exactly one window
    apart = all(k <= s for k, s in zip(window, slide.strides))  # to at most one
    dx = out if out is not None and not windows.channels_first(data_format) else np.empty(x.shape, dy.dtype)

    def work(images):
        part = dx[images]
        total = part if covers else np.zeros((len(part), *wide), dy.dtype)
        for where, hit in _first_maxima(x[images], y[images], window, slide):
            if apart:
                np.multiply(dy[images], hit, out=total[where])
            else:
                total[where] += dy[images] * hit
        windows.placed(total if covers else total[windows.inside(space, widened)], part)

    _by_images(work, x)
    return windows.placed(windows.restored(dx, data_format), out)


@op("MaxPool3DGrad", infer=_input_like, dtypes=FLOATS)
def max_pool3d_grad(orig_input, orig_output, grad, *, ksize, strides, padding, data_format="NDHWC"):
    """dy of each window at its first maximum. orig_input: x, orig_output: y, grad: dy -> x's shape."""
    return max_pool_grad.kernel(orig_input, orig_output, grad,
                                ksize=ksize, strides=strides, padding=padding, data_format=data_format)


@op("MaxPoolGradGrad", infer=_output_like, dtypes=REALS)
def max_pool_grad_grad(orig_input, orig_output, grad, *, ksize, strides, padding, data_format="NHWC"):
    """The adjoint of MaxPoolGrad: `grad` where each window has its first maximum. -> y's shape."""
    window, slide = _geometry(ksize, strides, padding, data_format)
    x, y, dz = (windows.channels_last(a, data_format) for a in (orig_input, orig_output, grad))
    dz = windows.padded(dz, windows.pads(dz.shape[1:-1], window, slide))
    dy = np.zeros(y.shape, dz.dtype)
    for where, hit in _first_maxima(x, y, window, slide):
        dy += dz[where] * hit
    return windows.restored(dy, data_format)


@op("MaxPool3DGradGrad", infer=_output_like, dtypes=FLOATS)
def max_pool3d_grad_grad(orig_input, orig_output, grad, *, ksize, strides, padding, data_format="NDHWC"):
    """The adjoint of MaxPool3DGrad: `grad` where each window has its first maximum. -> y's shape."""
    return max_pool_grad_grad.kernel(orig_input, orig_output, grad,
                                     ksize=ksize, strides=strides, padding=padding, data_format=data_format)


@op("AvgPool", infer=lambda value, **attrs: _pooled(value, **attrs), dtypes=FLOATS)
def avg_pool(value, *, ksize, strides, padding, data_format="NHWC"):
    """The mean of each window; padding does not count. value: float[n, h, w, c] -> float[n, h', w', c]."""
    window, slide = _geometry(ksize, strides, padding, data_format)
    x = windows.channels_last(value, data_format)
    space, counts = x.shape[1:-1], windows.extents(x.shape[1:-1], window, slide)
    total = _reduced(windows.padded(x, windows.pads(space, window, slide)), np.add, window, counts, slide)
    return windows.restored(total / _real_sizes(space, window, counts, slide, x.dtype), data_format)


@op("AvgPool3D", infer=_pooled, dtypes=FLOATS)
def avg_pool3d(input, *, ksize, strides, padding, data_format="NDHWC"):
    """The mean of each window; padding does not count. input: float[n, d, h, w, c] -> float[n, d', h', w', c]."""
    return avg_pool.kernel(input, ksize=ksize, strides=strides, padding=padding, data_format=data_format)


@op("AvgPoolGrad", infer=_sized, dtypes=FLOATS)
def avg_pool_grad(orig_input_shape: Int32, grad, *, ksize, strides, padding, data_format="NHWC"):
    """dy shared equally in each window. orig_input_shape: int32[4], grad: dy -> float[orig_input_shape]."""
    window, slide = _geometry(ksize, strides, padding, data_format)
    dy = windows.channels_last(grad, data_format)
    n, *rest = (int(v) for v in orig_input_shape)
    space = tuple(rest[1:] if windows.channels_first(data_format) else rest[:-1])
    counts, widened = dy.shape[1:-1], windows.pads(space, window, slide)
    share = dy / _real_sizes(space, window, counts, slide, dy.dtype)
    dx = np.zeros((n, *(a + size + b for size, (a, b) in zip(space, widened)), dy.shape[-1]), dy.dtype)
    for _, where in windows.offsets(window, counts, slide):
        dx[where] += share
    return windows.restored(np.ascontiguousarray(dx[windows.inside(space, widened)]), data_format)


@op("AvgPool3DGrad", infer=_sized, dtypes=FLOATS)
def avg_pool3d_grad(orig_input_shape: Int32, grad, *, ksize, strides, padding, data_format="NDHWC"):
    """dy shared equally in each window. orig_input_shape: int32[5], grad: dy -> float[orig_input_shape]."""
    return avg_pool_grad.kernel(orig_input_shape, grad,
                                ksize=ksize, strides=strides, padding=padding, data_format=data_format)


# ---- gradients and batching -------------------------------------------------------------

_SIZES = "a shape is made of integers"


def _max_rules(forward: OpDef, grad: OpDef, grad_grad: OpDef) -> None:
    @forward.gradient
    def _(node: Operation, dy: Tensor) -> Any:
        return (grad(node.inputs[0], node.outputs[0], dy, **node.attrs),)

    @grad.gradient
    def _(node: Operation, dz: Tensor) -> Any:
        x, y, _ = node.inputs
        return build.ZerosLike(x), build.ZerosLike(y), grad_grad(x, y, dz, **node.attrs)

    @grad_grad.gradient
    def _(node: Operation, dz: Tensor) -> Any:
        x, y, _ = node.inputs
        return build.ZerosLike(x), build.ZerosLike(y), grad(x, y, dz, **node.attrs)


def _average_rules(forward: OpDef, grad: OpDef) -> None:
    @forward.gradient
    def _(node: Operation, dy: Tensor) -> Any:
        return (grad(sizes(node.inputs[0]), dy, **node.attrs),)

    @grad.gradient
    def _(node: Operation, dz: Tensor) -> Any:
        return blocked(_SIZES), forward(dz, **node.attrs)

    @grad.batched
    def _(node: Operation, args: list[Tensor], batched: list[bool]) -> Any:
        dy = merged_images(args[1])
        shape = build.ConcatV2(0, build.Shape(dy)[:1], args[0][1:])
        return split_images(grad(shape, dy, **node.attrs), args[1])


_max_rules(max_pool, max_pool_grad, max_pool_grad_grad)
_max_rules(max_pool3d, max_pool3d_grad, max_pool3d_grad_grad)
_average_rules(avg_pool, avg_pool_grad)
_average_rules(avg_pool3d, avg_pool3d_grad)


@max_pool.batched
@max_pool3d.batched
@avg_pool.batched
@avg_pool3d.batched
@max_pool_grad.batched
@max_pool3d_grad.batched
@max_pool_grad_grad.batched
@max_pool3d_grad_grad.batched
def _images(node: Operation, args: list[Tensor], batched: list[bool]) -> Tensor:
    like = args[batched.index(True)]
    return split_images(node.definition(*map(merged_images, all_batched(args, batched)), **node.attrs), like)
