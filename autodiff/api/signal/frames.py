"""Signals in frames that overlap: tf.signal.frame, its way back, windows, and Fourier transforms of frames."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.constant_value import known, static_value
from ...core.convert import convert_to_tensor
from ...core.dtypes import as_dtype, float32, int32
from ...core.errors import ArgumentError
from ...core.graph import Tensor
from ...core.infer import axis_in, rank_of
from ...core.name_scope import scope
from ...core.op import build


def _number(value: Any, name: str) -> Any:
    """A whole number: as such if it is known, else as a tensor. Raises ShapeError (ValueError) for several."""
    tensor = convert_to_tensor(value, name=name)
    rank_of(tensor, exactly=0, what=name)
    if not tensor.dtype.is_integer:
        raise ArgumentError(f"{name} must be an integer. Got {tensor.dtype.name}")
    found = static_value(tensor)
    return build.Cast(tensor, dtype=int32) if found is None else int(found)


def _size(x: Tensor, axis: int) -> Any:
    size = None if x.dims is None else x.dims[axis]
    return build.Shape(x)[axis] if size is None else size


def _places(count: Any, length: Any, step: Any) -> Any:
    """Which entries of the signal each frame has: int32[count, length]; an array where all is known."""
    if isinstance(count, Tensor) or isinstance(length, Tensor) or isinstance(step, Tensor):
        return build.ExpandDims(build.Range(0, count, 1) * step, -1) + build.Range(0, length, 1)
    return np.arange(count, dtype=np.int32)[:, None] * np.int32(step) + np.arange(length, dtype=np.int32)


def frame(signal: Any, frame_length: Any, frame_step: Any, pad_end: bool = False, pad_value: Any = 0, axis: int = -1,
          name: str | None = None) -> Tensor:
    """An axis cut into frames that begin frame_step apart: any[..., n, ...] -> any[..., frames, frame_length, ...].

    pad_end: as many frames as there are steps, filled up with pad_value.
    """
    with scope(name, "frame", [signal, frame_length, frame_step, pad_value]):
        x = convert_to_tensor(signal, name="signal")
        length, step = _number(frame_length, "frame_length"), _number(frame_step, "frame_step")
        rank_of(x, at_least=1, what="signal")
        fill = convert_to_tensor(pad_value, x.dtype.base_dtype, "pad_value")
        rank_of(fill, exactly=0, what="pad_value")
        at = axis if x.dims is None else axis_in(axis, len(x.dims)) - len(x.dims)
        size = _size(x, at)
        count = -(-size // step) if pad_end else (size - length) // step + 1
        count = build.Maximum(count, 0) if isinstance(count, Tensor) else max(count, 0)
        places = convert_to_tensor(_places(count, length, step))
        if not pad_end:
            return build.GatherV2(x, places, at)
        inside = build.Less(places, size)
        for _ in range(-at - 1):
            inside = build.ExpandDims(inside, -1)
        last = build.Maximum(size - 1, 0)
        return build.SelectV2(inside, build.GatherV2(x, build.Minimum(places, known(last)), at), fill)


def overlap_and_add(signal: Any, frame_step: Any, name: str | None = None) -> Tensor:
    """The signal whose frames, frame_step apart, add up: number[..., frames, frame_length] -> number[..., n]."""
    with scope(name, "overlap_and_add", [signal, frame_step]):
        x = convert_to_tensor(signal, name="signal")
        rank_of(x, at_least=2, what="signal")
        step = _number(frame_step, "frame_step")
        count, length = _size(x, -2), _size(x, -1)
        if x.dims is not None and not isinstance(step, Tensor) and length == step:
            return build.Reshape(x, build.ConcatV2(0, build.Shape(x)[:-2], [-1]), name="fast_path")
        size = length + step * (count - 1)
        places = build.Reshape(_places(count, length, step), [-1])
        rows = build.Reshape(x, build.ConcatV2(0, [-1], build.Pack(count * length, axis=0)))
        total = build.Transpose(build.UnsortedSegmentSum(build.Transpose(rows, [1, 0]), places, size), [1, 0])
        return build.Reshape(total, build.ConcatV2(0, build.Shape(x)[:-2], build.Pack(size, axis=0)))


def _raised_cosine(default: str, height: float, swing: float) -> Callable[..., Tensor]:
    def window(window_length: Any, periodic: Any = True, dtype: Any = float32, name: str | None = None) -> Tensor:
        """Weights of a frame's entries, from its edges to its middle and back. -> dtype[window_length]."""
        wanted = as_dtype(dtype)
        if not wanted.is_floating:
            raise ArgumentError("dtype must be a floating point type.", found=wanted)
        with scope(name, default, [window_length, periodic]):
            length = convert_to_tensor(window_length, int32, "window_length")
            rank_of(length, exactly=0, what="window_length")
            even = build.Cast(convert_to_tensor(periodic, "bool"), dtype=int32) * (1 - length % 2)
            last = build.Maximum(length + even - 1, 1)  # a window of one entry is 1
            angle = 2 * math.pi * build.Cast(build.Range(0, length, 1), dtype=wanted) / build.Cast(last, dtype=wanted)
            return build.SelectV2(build.Equal(length, 1), build.OnesLike(angle), height - swing * build.Cos(angle))

    window.__name__ = default
    return window


hann_window, hamming_window = _raised_cosine("hann_window", 0.5, 0.5), _raised_cosine("hamming_window", 0.54, 0.46)
