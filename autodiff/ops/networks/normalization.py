"""Normalization over a batch and over neighboring channels."""

import numpy as np

from ...core.declare import op
from ...core.dtypes import FLOATS, int32
from ...core.errors import ShapeError
from ...core.infer import rank_of
from ...core.op import Kind, Spec, T, blocked, build
from ...core.shapes import merge, show
from ..common.batch_axis import slice_by_slice
from ..common.threads import by_rows
from ..math.elementwise import is_zero
from ..math.reductions import summed


def _axes(data_format, rank=4):
    """The channels' axis, and the others."""
    channel = 1 if data_format.startswith("NC") else rank - 1
    return channel, tuple(i for i in range(rank) if i != channel)


def _along(vector, data_format):
    """A vector of channels that broadcasts with the images."""
    return vector.reshape(1, -1, 1, 1) if data_format.startswith("NC") else vector


def _batch_normed(x, scale, offset, mean, variance, *, epsilon=1e-4, data_format="NHWC", is_training=True):
    rank_of(x, exactly=4, what="x")
    channel, _ = _axes(data_format)
    size = None if x.dims is None else x.dims[channel]
    given = [(scale, "scale"), (offset, "offset")] + ([] if is_training else [(mean, "mean"), (variance, "variance")])
    for vector, what in given:
        rank_of(vector, exactly=1, what=what)
        try:
            (size,) = merge((size,), vector.dims if vector.dims is not None else (None,))
        except ShapeError:
            raise ShapeError(f"one {what} for each channel", expected=size, found=show(vector.dims)) from None
    dims = list(x.dims or (None,) * 4)
    dims[channel] = size
    of_moments = Spec(scale.dtype.base_dtype, (size,))
    return Spec(x.dtype.base_dtype, tuple(dims)), of_moments, of_moments


_Moments = Kind("U", allowed=FLOATS)  # of half precision images they are single


def _mean(x, axes, count):
    """The mean over axes of `count` elements, added in single precision at least."""
    sums = summed(x.astype(np.result_type(x, np.float32), copy=False), axes)
    return np.divide(sums, count).astype(x.dtype)


@op("FusedBatchNormV3", infer=_batch_normed, dtypes=FLOATS, batched=slice_by_slice)
def fused_batch_norm(x: T, scale: _Moments, offset: _Moments, mean: _Moments, variance: _Moments, *, epsilon=1e-4,
                     data_format="NHWC", is_training=True):
    """Channels with the mean and variance of the batch (training) or given ones (inference) taken out.

    x: float[n, h, w, c], scale, offset: float[c]; mean, variance: float[c] for inference, unread in training.
    -> y of x's shape, the mean float[c], the variance float[c], in training the unbiased one.
    Source: Ioffe and Szegedy (2015), Batch normalization, algorithms 1 and 2.
    """
    own, x = x.dtype, x.astype(scale.dtype, copy=False)
    number, axes = x.dtype.type, _axes(data_format)[1]
    used = mean, variance
    if is_training:
        count = x.size // max(1, x.shape[_axes(data_format)[0]])
        mean = _mean(x, axes, count)
        centered = x - _along(mean, data_format)
        biased = _mean(np.square(centered), axes, count)
        used = mean, biased * number(count / max(1, count - 1))
        variance = biased
    else:
        centered = x - _along(mean, data_format)
    factor = scale / np.sqrt(variance + number(epsilon))
    centered *= _along(factor, data_format)
    centered += _along(offset, data_format)
    return centered.astype(own, copy=False), *used


@fused_batch_norm.gradient
def _(node, dy, dmean, dvariance):
    images, scale, _, mean, variance = node.inputs
    own, dtype = images.dtype.base_dtype, scale.dtype.base_dtype
    x, dy = (images, dy) if own is dtype else (build.Cast(t, dtype=dtype) for t in (images, dy))
    epsilon, layout, training = (node.attrs[k] for k in ("epsilon", "data_format", "is_training"))
    channel, axes = _axes(layout)
    axes = list(axes)

    def along(vector):
        return build.Reshape(vector, [1, -1, 1, 1]) if channel == 1 else vector

    def as_images(t):
        return t if own is dtype else build.Cast(t, dtype=own)

    unread = blocked("in training the batch's own mean and variance are used")
    if training and channel == 3 and is_zero(dmean) and is_zero(dvariance):
        dx, dscale, doffset = build.BatchNormGrad(dy, x, scale, *node.outputs[1:], epsilon=epsilon)
        return as_images(dx), dscale, doffset, unread, unread
    mean = build.Mean(x, axes) if training else mean
    centered = x - along(mean)
    variance = build.Mean(build.Square(centered), axes) if training else variance
    inverse = build.Rsqrt(variance + epsilon)
    normal = centered * along(inverse)
    dscale, doffset = build.Sum(dy * normal, axes), build.Sum(dy, axes)
    factor = scale * inverse
    if not training:
        dmean_in = dmean - doffset * factor
        dvariance_in = dvariance - 0.5 * dscale * scale * build.Square(inverse)
        return as_images(dy * along(factor)), dscale, doffset, dmean_in, dvariance_in
    dx = along(factor) * (dy - along(build.Mean(dy, axes)) - normal * along(build.Mean(dy * normal, axes)))
    if not is_zero(dmean) or not is_zero(dvariance):
        count = build.Cast(build.FloorDiv(build.Size(x), build.Size(mean)), dtype=x.dtype.base_dtype)
        dx = dx + along(dmean) / count + along(dvariance) * centered * (2.0 / (count - 1.0))
    return as_images(dx), dscale, doffset, unread, unread


def _normed_back(dy, x, scale, mean, variance, *, epsilon=1e-4):
    of_moments = Spec(scale.dtype.base_dtype, scale.dims)
    return Spec(x.dtype.base_dtype, x.dims), of_moments, of_moments


@op("BatchNormGrad", infer=_normed_back, dtypes=FLOATS, batched=slice_by_slice)
def batch_norm_grad(dy: T, x: T, scale: T, mean: T, variance: T, *, epsilon=1e-4):
    """What a normalization by the moments of the batch gives back, its channels last; see FusedBatchNormV3.

    dy, x: float[n, h, w, c], scale, mean, variance (the unbiased one): float[c] -> dx of x's shape, dscale and doffset
    float[c]. Source: Ioffe and Szegedy (2015), section 3.
    """
    number, count = x.dtype.type, max(1, x.size // max(1, len(scale)))
    inverse = 1 / np.sqrt(variance * number(max(1, count - 1) / count) + number(epsilon))
    whole = np.empty(x.shape, x.dtype)
    dy, x, dx = (np.ascontiguousarray(a).reshape(-1, len(scale)) for a in (dy, x, whole))
    sums = {}

    def add(part):
        products = x[part] - mean
        products *= dy[part]
        sums[part.start] = summed(products, 0), summed(dy[part], 0)

    by_rows(add, *x.shape)
    products, doffset = (sum([sums[start][i] for start in sorted(sums)], np.zeros_like(scale)) for i in (0, 1))
    dscale, factor = products * inverse, scale * inverse
    slope, shift = factor * inverse * dscale / number(-count), factor * doffset / number(-count)

    def write(part):
        y = np.subtract(x[part], mean, out=dx[part])
        y *= slope
        y += shift
        y += dy[part] * factor

    by_rows(write, *x.shape)
    return whole, dscale, doffset


@batch_norm_grad.gradient
def _(node, g, gscale, goffset):
    dy, x, scale, mean, variance = node.inputs
    axes = [0, 1, 2]
    count = build.Cast(build.FloorDiv(build.Size(x), build.Size(mean)), dtype=x.dtype.base_dtype)
    share = build.Maximum(count - 1.0, build.OnesLike(count)) / count
    inverse = build.Rsqrt(variance * share + node.attrs["epsilon"])
    centered = x - mean
    normal, factor = centered * inverse, scale * inverse
    projected, along_g = build.Mean(dy * normal, axes), build.Mean(g * normal, axes)
    both = build.Sum(g * (dy - build.Mean(dy, axes)), axes) - count * projected * along_g
    of_normal = gscale * dy - factor * (along_g * dy + projected * g)
    of_inverse = scale * both + build.Sum(of_normal * centered, axes)
    return (factor * (g - build.Mean(g, axes) - normal * along_g) + gscale * normal + goffset, of_normal * inverse,
            inverse * both, -build.Sum(of_normal, axes) * inverse, of_inverse * -0.5 * share * inverse ** 3)


def _images(input, **_):
    rank_of(input, exactly=4, what="input")
    return Spec(input.dtype.base_dtype, input.dims or (None,) * 4)


@op("LRN", infer=_images, dtypes=FLOATS)
def lrn(input, *, depth_radius=5, bias=1.0, alpha=1.0, beta=0.5):
    """x / (bias + alpha * sum of squares of the channels within depth_radius)^beta.

    input: float[n, h, w, c] -> float[n, h, w, c]. Source: Krizhevsky et al. (2012), section 3.3.
    """
    squares, total = np.square(input), np.square(input)
    for i in range(1, min(depth_radius, input.shape[-1] - 1) + 1):
        total[..., i:] += squares[..., :-i]
        total[..., :-i] += squares[..., i:]
    number = input.dtype.type
    return input * np.power(number(bias) + number(alpha) * total, number(-beta))


@lrn.gradient
def _(node, dy):
    x = node.inputs[0]
    radius, bias, alpha, beta = (node.attrs[k] for k in ("depth_radius", "bias", "alpha", "beta"))
    channels = build.Shape(x)[3:]
    one = build.Cast(1, dtype=x.dtype.base_dtype)
    wide = build.Minimum(build.Cast(radius, dtype=int32), channels[0])
    near = build.MatrixBandPart(build.Fill(build.ConcatV2(0, channels, channels), one), wide, wide)

    def around(values):
        """Sums over the channels within the radius: a product with a band of ones."""
        rows = build.MatMul(build.Reshape(values, build.ConcatV2(0, [-1], channels)), near)
        return build.Reshape(rows, build.Shape(x))

    n = bias + alpha * around(build.Square(x))
    power = build.Pow(n, -beta)
    return (dy * power - 2.0 * alpha * beta * x * around(dy * x * power / n),)


@lrn.batched
def _(node, args, batched):
    shape = build.Shape(args[0])
    merged = build.Reshape(args[0], build.ConcatV2(0, [-1], shape[2:]))
    return build.Reshape(build.LRN(merged, **node.attrs), shape)
