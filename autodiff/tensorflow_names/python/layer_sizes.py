"""tensorflow.python.layers.utils: sizes of windows and data formats, read and checked."""
from __future__ import annotations

from typing import Any


def convert_data_format(data_format: str, ndim: int) -> str:
    """`NHWC` for channels_last of 4 axes. Raises ValueError for other words or numbers of axes."""
    inner = {3: "W", 4: "HW", 5: "DHW"}.get(ndim)
    if inner is None:
        raise ValueError(f"Input rank not supported: {ndim}")
    if data_format == "channels_last":
        return f"N{inner}C"
    if data_format == "channels_first":
        return f"NC{inner}"
    raise ValueError(f"Invalid data_format: {data_format}")


def normalize_tuple(value: Any, n: int, name: str) -> tuple[int, ...]:
    """A number for each of n axes. Raises ValueError for anything but a whole number or n of them."""
    if isinstance(value, int):
        return (value,) * n
    try:
        values = tuple(int(v) for v in value)
    except (TypeError, ValueError):
        values = ()
    if len(values) != n:
        raise ValueError(f"The `{name}` argument must be a tuple of {n} integers. Received: {value}")
    return values


def normalize_data_format(value: str) -> str:
    """`channels_first` or `channels_last`, in lower case. Raises ValueError for other words."""
    found = value.lower()
    if found not in ("channels_first", "channels_last"):
        raise ValueError('The `data_format` argument must be one of "channels_first", "channels_last". '
                         f"Received: {value}")
    return found


def normalize_padding(value: str) -> str:
    """`valid` or `same`, in lower case. Raises ValueError for other words."""
    found = value.lower()
    if found not in ("valid", "same"):
        raise ValueError(f'The `padding` argument must be one of "valid", "same". Received: {found}')
    return found


def conv_output_length(input_length: int | None, filter_size: int, padding: str, stride: int,
                       dilation: int = 1) -> int | None:
    """How long the result of a convolution over one axis is; None for an unknown length."""
    if input_length is None:
        return None
    window = filter_size + (filter_size - 1) * (dilation - 1)
    length = {"same": input_length, "valid": input_length - window + 1, "full": input_length + window - 1}[padding]
    return (length + stride - 1) // stride


def conv_input_length(output_length: int | None, filter_size: int, padding: str, stride: int) -> int | None:
    """How long an axis must be for a convolution's result of a length; None for an unknown one."""
    if output_length is None:
        return None
    pad = {"same": filter_size // 2, "valid": 0, "full": filter_size - 1}[padding]
    return (output_length - 1) * stride - 2 * pad + filter_size


def deconv_output_length(input_length: int | None, filter_size: int, padding: str, stride: int) -> int | None:
    """How long the result of a transposed convolution over one axis is; None for an unknown length."""
    if input_length is None:
        return None
    more = {"valid": max(filter_size - stride, 0), "full": -(stride + filter_size - 2)}.get(padding, 0)
    return input_length * stride + more
