"""Moments, batch normalization and dropout: TensorFlow's tf.nn functions."""
from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from ...core.constant_value import static_dims, static_value
from ...core.convert import convert_to_tensor
from ...core.dtypes import float16, float32
from ...core.errors import ArgumentError, ShapeError
from ...core.graph import Tensor
from ...core.name_scope import scope
from ...core.op import build
from ...core.shapes import merge
from ...ops.common.op_counts import count_more
from ..common.arguments import one_of
from ..math.reductions import reduce_mean, reduce_sum
from ..random import random_uniform

__all__ = ["batch_norm_with_global_normalization", "batch_normalization", "dropout", "fused_batch_norm",
           "local_response_normalization", "lrn", "moments", "normalize_moments", "sufficient_statistics",
           "weighted_moments"]

_LEAST_EPSILON = 1.001e-5  # what TensorFlow raises a smaller epsilon to


def _kept(keepdims: bool | None, keep_dims: bool | None) -> bool:
    return bool(one_of("keepdims", keepdims, "keep_dims", keep_dims))


def _axes(axes: Any) -> list[int]:
    known = static_value(axes)
    if known is None:
        raise ArgumentError(expected="axes that are known while the graph is built", found="a tensor")
    return [int(a) for a in np.atleast_1d(known)]


def moments(x: Any, axes: Any, shift: Any = None, name: str | None = None, keep_dims: bool | None = None,
            keepdims: bool | None = None) -> tuple[Tensor, Tensor]:
    """Mean and variance (of the population, not unbiased) over axes. float16 is computed in float32.

    Both depend on x through the mean, too, so that second derivatives are right. shift is not used.
    """
    keep, axes = _kept(keepdims, keep_dims), _axes(axes)
    with scope(name, "moments", [x]):
        x = convert_to_tensor(x, name="x")
        y = build.Cast(x, dtype=float32) if x.dtype is float16 else x
        mean = reduce_mean(y, axes, keepdims=True, name="mean")
        variance = reduce_mean(build.SquaredDifference(y, mean), axes, keepdims=True, name="variance")
        found = mean, variance
        count_more(1)  # a StopGradient around the mean
        if not keep:
            found = build.Squeeze(mean, squeeze_dims=axes), build.Squeeze(variance, squeeze_dims=axes)
        return tuple(build.Cast(m, dtype=float16) for m in found) if x.dtype is float16 else found


def weighted_moments(x: Any, axes: Any, frequency_weights: Any, name: str | None = None, keep_dims: bool | None = None,
                     keepdims: bool | None = None) -> tuple[Tensor, Tensor]:
    """Mean and variance over axes, each element counted `frequency_weights` times (broadcast with x)."""
    keep, axes = _kept(keepdims, keep_dims), _axes(axes)
    with scope(name, "weighted_moments", [x, frequency_weights]):
        x = convert_to_tensor(x, name="x")
        weights = convert_to_tensor(frequency_weights, name="frequency_weights")
        is_half = x.dtype is float16
        wide = float32 if is_half else x.dtype.base_dtype
        x, weights = (t if t.dtype.base_dtype is wide else build.Cast(t, dtype=wide) for t in (x, weights))
        total = reduce_sum(weights + build.ZerosLike(x), axes, keepdims=True)
        mean = reduce_sum(weights * x, axes, keepdims=True) / total
        variance = reduce_sum(weights * build.SquaredDifference(x, mean), axes, keepdims=True) / total
        found = mean, variance
        if not keep:
            found = build.Squeeze(mean, squeeze_dims=axes), build.Squeeze(variance, squeeze_dims=axes)
        return tuple(build.Cast(m, dtype=float16) for m in found) if is_half else found


def sufficient_statistics(x: Any, axes: Any, shift: Any = None, keep_dims: bool | None = None, name: str | None = None,
                          keepdims: bool | None = None) -> tuple[Tensor, Tensor, Tensor, Any]:
    """(count, sum, sum of squares, shift) over axes, of x - shift if there is one."""
    keep, axes = _kept(keepdims, keep_dims), _axes(axes)
    with scope(name, "sufficient_statistics", [x, shift]):
        x = convert_to_tensor(x, name="x")
        dims = x.dims
        if dims is not None and all(dims[a] is not None for a in axes):
            count = convert_to_tensor(float(np.prod([dims[a] for a in axes])), dtype=x.dtype.base_dtype, name="count")
        else:
            sizes = build.GatherV2(build.Shape(x), np.array(axes, np.int32), 0)
            count = build.Cast(build.Prod(sizes, [0]), dtype=x.dtype.base_dtype, name="count")
        if shift is not None:
            shift = convert_to_tensor(shift, dtype=x.dtype.base_dtype, name="shift")
            x = x - shift
        return (count, reduce_sum(x, axes, keepdims=keep, name="mean_ss"),
                reduce_sum(build.Square(x), axes, keepdims=keep, name="var_ss"), shift)


def normalize_moments(counts: Any, mean_ss: Any, variance_ss: Any, shift: Any,
                      name: str | None = None) -> tuple[Tensor, Tensor]:
    """Mean and variance from sufficient statistics."""
    with scope(name, "normalize", [counts, mean_ss, variance_ss, shift]):
        divisor = build.Reciprocal(counts, name="divisor")
        shifted = build.Mul(mean_ss, divisor, name="mean")
        variance = build.Sub(build.Mul(variance_ss, divisor), build.Square(shifted), name="variance")
        return (shifted if shift is None else shifted + shift), variance


def batch_normalization(x: Any, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: Any,
                        name: str | None = None) -> Tensor:
    """(x - mean) / sqrt(variance + epsilon) * scale + offset; offset and scale may be None. All broadcast with x."""
    with scope(name, "batchnorm", [x, mean, variance, scale, offset]):
        x = convert_to_tensor(x, name="x")
        factor = build.Rsqrt(convert_to_tensor(variance) + variance_epsilon)
        if scale is not None:
            factor = factor * scale
        shift = -mean * factor if offset is None else offset - mean * factor
        return x * _cast(factor, x) + _cast(shift, x)


def _cast(value: Tensor, x: Tensor) -> Tensor:
    return value if value.dtype is x.dtype else build.Cast(value, dtype=x.dtype.base_dtype)


def batch_norm_with_global_normalization(t: Any = None, m: Any = None, v: Any = None, beta: Any = None,
                                         gamma: Any = None,
                                         variance_epsilon: Any = None, scale_after_normalization: bool | None = None,
                                         name: str | None = None, input: Any = None, mean: Any = None,
                                         variance: Any = None) -> Tensor:
    """batch_normalization under its oldest name. t: float[n, h, w, c]; m, v, beta, gamma: float[c]."""
    return batch_normalization(one_of("input", input, "t", t), one_of("mean", mean, "m", m),
                               one_of("variance", variance, "v", v), beta,
                               gamma if scale_after_normalization else None, variance_epsilon, name)


def fused_batch_norm(x: Any, scale: Any, offset: Any, mean: Any = None, variance: Any = None, epsilon: float = 0.001,
                     data_format: str = "NHWC", is_training: bool = True,
                     name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """(y, mean, variance) of batch normalization. x: float[n, h, w, c]; scale, offset: float[c].

    In training the batch's own moments are used, and mean and variance must be None, else ArgumentError (ValueError);
    the variance returned is the unbiased one. In inference the given moments are used and returned.
    """
    if is_training and (mean is not None or variance is not None):
        raise ArgumentError(expected="mean and variance to be None if is_training", found="others")
    x = convert_to_tensor(x, name="input")
    dtype = float32 if x.dtype.base_dtype is float16 else x.dtype.base_dtype  # its parameters and moments are single
    scale = convert_to_tensor(scale, dtype=dtype, name="scale")
    offset = convert_to_tensor(offset, dtype=dtype, name="offset")
    given = [convert_to_tensor([] if v is None else v, dtype=dtype) for v in (mean, variance)]
    y, mean, variance = build.FusedBatchNormV3(x, scale, offset, *given, epsilon=max(epsilon, _LEAST_EPSILON),
                                             data_format=data_format, is_training=is_training, name=name)
    return y, mean, variance


def lrn(input: Any, depth_radius: int = 5, bias: float = 1, alpha: float = 1, beta: float = 0.5,
        name: str | None = None) -> Tensor:
    """x / (bias + alpha * sum of squares of the channels within depth_radius)^beta. input: float[n, h, w, c]."""
    return build.LRN(input, depth_radius=depth_radius, bias=bias, alpha=alpha, beta=beta, name=name)


local_response_normalization = lrn


def dropout(x: Any, keep_prob: Any = None, noise_shape: Any = None, seed: int | None = None, name: str | None = None,
            rate: Any = None) -> Tensor:
    """Each element 0 with probability `rate`, else divided by 1 - rate. x: float[...] -> float[...].

    keep_prob: 1 - rate, the old way to say it. noise_shape: where it has 1, one choice serves the whole axis.
    Raises ArgumentError (ValueError) unless 0 <= rate < 1, and for integers.
    """
    if keep_prob is not None and rate is not None:
        raise ArgumentError(expected="'rate' or its complement 'keep_prob'", found="both")
    if keep_prob is None and rate is None:
        raise ArgumentError("dropout needs a rate")
    if isinstance(rate if keep_prob is None else keep_prob, (list, tuple)):
        raise ShapeError("rate must be a scalar", found=repr(rate if keep_prob is None else keep_prob))
    rate = 1 - keep_prob if rate is None else rate
    with scope(name, "dropout", [x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_floating:
            raise ArgumentError("x has to be a floating point tensor since it's going to be scaled. Got a "
                                f"{x.dtype!r} tensor instead.", found=x.describe())
        if isinstance(rate, numbers.Real) and not 0 <= float(rate) < 1:
            raise ArgumentError(f"rate must be a scalar tensor or a float in the range [0, 1), got {rate:g}")
        if isinstance(rate, numbers.Real) and rate == 0:
            return x
        rate = convert_to_tensor(rate, dtype=x.dtype.base_dtype, name="rate")
        merge(rate.dims, ())
        if _is_zero(rate):
            return x
        chance = random_uniform(_noise_shape(x, noise_shape), dtype=x.dtype.base_dtype, seed=seed)
        scale = 1.0 / (1.0 - rate)
        kept = build.GreaterEqual(chance, rate)
        y = x * scale * build.Cast(kept, dtype=x.dtype.base_dtype)
        y.set_shape(x.dims)
        return y


def _is_zero(rate: Tensor) -> bool:
    value = static_value(rate)
    return value is not None and float(value) == 0.0


def _noise_shape(x: Tensor, noise_shape: Any) -> Any:
    """The shape of the choices: None in `noise_shape` takes the size of x."""
    if noise_shape is None:
        return build.Shape(x)
    if isinstance(noise_shape, Tensor) or not any(size is None for size in noise_shape):
        return noise_shape
    known = static_dims(build.Shape(x)) if x.dims is None else x.dims
    return [size if size is not None else known[i] for i, size in enumerate(noise_shape)]  # type: ignore[index]
