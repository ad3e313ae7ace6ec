"""What layers are made of, as Keras' backend has it: activations, convolutions, windows, normalization, CTC."""
from __future__ import annotations

from typing import Any

from ....core.op import build
from ....ops.common.op_counts import counting
from ... import math, nn
from ...arrays.rearrange import pad
from ...common.made import named
from ...image.resizing import resize_images_v2
from ...nn.ctc import dense_labels_to_sparse
from ...nn.normalization import moments
from . import arrays

__all__ = [
    "batch_normalization", "bias_add", "conv1d", "conv2d", "conv2d_transpose", "conv3d", "ctc_batch_cost",
    "ctc_label_dense_to_sparse", "dropout", "elu", "hard_sigmoid", "in_top_k", "l2_normalize",
    "normalize_batch_in_training", "pool2d", "pool3d", "relu", "resize_images", "separable_conv2d", "sigmoid",
    "softmax", "softplus", "softsign", "spatial_2d_padding", "spatial_3d_padding", "tanh", "temporal_padding"]

_LAYOUTS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}  # by dimensions: channels last, first
_EPSILON = 1e-7  # of Keras
in_top_k, l2_normalize, sigmoid, softplus, softsign, tanh = (
    nn.in_top_k, nn.l2_normalize, math.sigmoid, nn.softplus, nn.softsign, math.tanh)


def relu(x: Any, alpha: float = 0.0, max_value: float | None = None, threshold: float = 0.0) -> Any:
    """x where it is above the threshold, else alpha · (x - threshold); at most max_value."""
    if max_value == 6 and not (alpha or threshold):
        return nn.relu6(x)
    if threshold:
        y = x * math.cast(x > threshold, x.dtype)
        y = y + alpha * math.minimum(x - threshold, 0.0) if alpha else y
    else:
        y = nn.leaky_relu(x, alpha) if alpha else nn.relu(x)
    return y if max_value is None else math.minimum(y, max_value)


def elu(x: Any, alpha: float = 1.0) -> Any:
    """x above 0, else alpha · (exp(x) - 1)."""
    y = nn.elu(x)
    return y if alpha == 1 else build.SelectV2(x > 0.0, y, alpha * y)


def softmax(x: Any, axis: int = -1) -> Any:
    """Shares along an axis that add up to 1."""
    return nn.softmax(x, axis)


def hard_sigmoid(x: Any) -> Any:
    """A line from 0 at -2.5 to 1 at 2.5."""
    return math.clip_by_value(0.2 * x + 0.5, 0.0, 1.0)


def bias_add(x: Any, bias: Any, data_format: str | None = None) -> Any:
    """x with a bias for each channel."""
    return nn.bias_add(x, bias, _layout(2, data_format))


def dropout(x: Any, level: float, noise_shape: Any = None, seed: Any = None) -> Any:
    """x without a share of it, whatever the phase."""
    return nn.dropout(x, rate=level, noise_shape=noise_shape, seed=arrays.numpy_seed(seed))


def _layout(dimensions: int, data_format: str | None) -> str:
    return _LAYOUTS[dimensions][data_format == "channels_first"]


def _in_plane(strides: Any, data_format: str | None) -> tuple[str, list[int]]:
    """The layout of images, and the strides for each of its axes."""
    layout, steps = _layout(2, data_format), _each(strides, 2)
    return layout, [1, 1, *steps] if layout == "NCHW" else [1, *steps, 1]


def _convolution(dimensions: int) -> Any:
    def convolved(x: Any, kernel: Any, strides: Any = 1, padding: str = "valid", data_format: str | None = None,
                  dilation_rate: Any = 1) -> Any:
        return nn.convolution(x, kernel, padding.upper(), _each(strides, dimensions), _each(dilation_rate, dimensions),
                              data_format=_layout(dimensions, data_format))
    return named(convolved, f"conv{dimensions}d", f"The convolution in {dimensions} dimensions, by a kernel "
                 "float[*window, channels, filters]. padding: 'valid' or 'same'.")


def _each(value: Any, dimensions: int) -> list[int]:
    return [value] * dimensions if isinstance(value, int) else list(value)


conv1d, conv2d, conv3d = map(_convolution, (1, 2, 3))


def conv2d_transpose(x: Any, kernel: Any, output_shape: Any, strides: Any = (1, 1), padding: str = "valid",
                     data_format: str | None = None, dilation_rate: Any = (1, 1)) -> Any:
    """The adjoint of a convolution. kernel: float[*window, filters, channels]."""
    layout, steps = _in_plane(strides, data_format)
    return nn.conv2d_transpose(x, kernel, output_shape, steps, padding.upper(), layout)


def separable_conv2d(x: Any, depthwise_kernel: Any, pointwise_kernel: Any, strides: Any = (1, 1),
                     padding: str = "valid", data_format: str | None = None, dilation_rate: Any = (1, 1)) -> Any:
    """A convolution of each channel, and of their results at each place."""
    layout, steps = _in_plane(strides, data_format)
    return nn.separable_conv2d(x, depthwise_kernel, pointwise_kernel, steps, padding.upper(), _each(dilation_rate, 2),
                               data_format=layout)


def _pooling(dimensions: int) -> Any:
    def pooled(x: Any, pool_size: Any, strides: Any = 1, padding: str = "valid", data_format: str | None = None,
               pool_mode: str = "max") -> Any:
        return nn.pool(x, _each(pool_size, dimensions), pool_mode.upper(), padding.upper(),
                       strides=_each(strides, dimensions), data_format=_layout(dimensions, data_format))
    return named(pooled, f"pool{dimensions}d", "The largest of each window, or with pool_mode 'avg' its mean.")


pool2d, pool3d = map(_pooling, (2, 3))


def temporal_padding(x: Any, padding: Any = (1, 1)) -> Any:
    """Zeros before and after the steps in time. x: float[b, time, k]."""
    return pad(x, [[0, 0], list(padding), [0, 0]])


def _padding(dimensions: int) -> Any:
    def padded(x: Any, padding: Any = ((1, 1),) * dimensions, data_format: str | None = None) -> Any:
        inner, no = [list(each) for each in padding], [0, 0]
        return pad(x, [no, no, *inner] if data_format == "channels_first" else [no, *inner, no])
    return named(padded, f"spatial_{dimensions}d_padding", "Zeros around images, so many on each side.")


spatial_2d_padding, spatial_3d_padding = map(_padding, (2, 3))


@counting(8)
def resize_images(x: Any, height_factor: int, width_factor: int, data_format: str | None = None,
                  interpolation: str = "nearest") -> Any:
    """Images so many times as high and as wide. interpolation: 'nearest' or 'bilinear'."""
    is_first = data_format == "channels_first"
    x = arrays.permute_dimensions(x, (0, 2, 3, 1)) if is_first else x
    sizes = [size * factor for size, factor in zip(arrays.shape_of(x)[1:3], (height_factor, width_factor))]
    y = resize_images_v2(x, sizes, interpolation)
    return arrays.permute_dimensions(y, (0, 3, 1, 2)) if is_first else y


def batch_normalization(x: Any, mean: Any, var: Any, beta: Any, gamma: Any, axis: int = -1,
                        epsilon: float = 1e-3) -> Any:
    """(x - mean) / sqrt(var + epsilon) · gamma + beta; the moments have one number for each place along the axis."""
    rank = arrays.ndim(x) or 0
    if axis not in (-1, rank - 1):
        like = [1] * rank
        like[axis] = -1
        mean, var, beta, gamma = (each if each is None else arrays.reshape(each, like) for each in (
            mean, var, beta, gamma))
    return nn.batch_normalization(x, mean, var, beta, gamma, epsilon)


def normalize_batch_in_training(x: Any, gamma: Any, beta: Any, reduction_axes: Any, epsilon: float = 1e-3) -> Any:
    """x normalized by its own moments over axes, and these: (y, mean, variance)."""
    mean, var = moments(x, list(reduction_axes), keep_dims=True)
    like = [1 if axis in reduction_axes else -1 for axis in range(arrays.ndim(x) or 0)]
    beta, gamma = (each if each is None or like.count(-1) != 1 else arrays.reshape(each, like) for each in (
        beta, gamma))
    y = nn.batch_normalization(x, mean, var, beta, gamma, epsilon)
    return y, arrays.squeeze(mean, list(reduction_axes)), arrays.squeeze(var, list(reduction_axes))


def ctc_label_dense_to_sparse(labels: Any, label_lengths: Any) -> Any:
    """Labels of sequences, as many of each as it is long, as a SparseTensor."""
    return dense_labels_to_sparse(labels, label_lengths)


def ctc_batch_cost(y_true: Any, y_pred: Any, input_length: Any, label_length: Any) -> Any:
    """-log of the probability of each sequence of labels, in nats; the last class is the blank. -> float[b, 1].

    y_true: int[b, n], y_pred: softmax outputs float[b, time, classes]; input_length, label_length: int[b, 1].
    """
    lengths, sizes = (math.cast(arrays.squeeze(each, -1), "int32") for each in (input_length, label_length))
    labels = math.cast(ctc_label_dense_to_sparse(math.cast(y_true, "int32"), sizes), "int32")
    scores = math.log(arrays.permute_dimensions(y_pred, (1, 0, 2)) + _EPSILON)
    return arrays.expand_dims(nn.ctc_loss(labels, scores, lengths), 1)
