"""ONNX's Fourier transforms, windows and mel scale. A complex number is a last axis of two."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.graph import Tensor
from ..model import tf
from .sizes import axis_of, rank_of, size_of
from .table import Node, dtype_named, in_numpy, like, onnx, scalar


def _turns(rows: Any, columns: Any, length: Any, x: Any) -> tuple[Any, Any]:
    """cos and sin of 2 pi i j / length. The product is reduced as an integer, so that large ones lose nothing."""
    i, j = (tf.range(tf.cast(n, tf.int64)) for n in (rows, columns))
    part = tf.floormod(tf.expand_dims(i, 1) * tf.expand_dims(j, 0), tf.cast(length, tf.int64))
    angle = like(part, x) * (2 * math.pi / like(tf.cast(length, tf.int64), x))
    return tf.cos(angle), tf.sin(angle)


def _transformed(x: Any, length: Any, inverse: bool, onesided: bool, parts: Any) -> Any:
    """The transform of float[..., n, parts] along its axis n, which is cut or filled with zeros to `length`.

    parts: 2 for complex numbers, 1 for real ones.
    """
    n, real = size_of(x, -2), x[..., 0]
    imaginary = x[..., 1] if parts == 2 else None
    count = length // 2 + 1 if onesided and not inverse else length
    cos, sin = _turns(n, count, length, x)
    used = tf.expand_dims(tf.range(tf.cast(n, tf.int64)), 1)
    if inverse and onesided:  # each frequency stands for its mirror image too, but the first and the middle one
        middle = tf.logical_or(tf.equal(used, 0), tf.equal(2 * used, tf.cast(length, tf.int64)))
        factor = tf.where_v2(middle, like(1, x), like(2, x))
    else:
        factor = tf.where_v2(used < tf.cast(length, tf.int64), like(1, x), like(0, x))
    factor = factor / like(tf.cast(length, tf.int64), x) if inverse else factor
    cos, sin = cos * factor, sin * factor * (-1 if inverse else 1)
    re, im = tf.tensordot(real, cos, 1), -tf.tensordot(real, sin, 1)
    if imaginary is not None:
        re, im = re + tf.tensordot(imaginary, sin, 1), im + tf.tensordot(imaginary, cos, 1)
    return tf.expand_dims(re, -1) if inverse and onesided else tf.stack([re, im], -1)


@onnx.op("DFT", note="a product with the matrix of cosines and sines, so any length and its gradient; axis may be fed")
def dft(x: Any, dft_length: Any = None, axis: Any = None, *, inverse: int = 0, onesided: int = 0, node: Node) -> Any:
    order = _swap(1 if axis is None and node.version < 20 else -2 if axis is None else scalar(axis), rank_of(x))
    rows = tf.transpose(x, order)
    length = size_of(rows, -2) if dft_length is None else scalar(dft_length)
    if dft_length is None and inverse and onesided:
        length = 2 * (length - 1)
    return tf.transpose(_transformed(rows, length, bool(inverse), bool(onesided), size_of(x, -1)), order)


def _swap(axis: Any, rank: int) -> Any:
    """The order of axes in which `axis` and the last but one change places."""
    if not isinstance(axis, Tensor):
        at = axis_of(axis, rank)
        return [rank - 2 if i == at else at if i == rank - 2 else i for i in range(rank)]
    at = tf.reshape(tf.floormod(tf.cast(axis, tf.int64), rank), [1])
    order = tf.tensor_scatter_update(tf.range(tf.constant(rank, tf.int64)), [[rank - 2]], at)
    return tf.tensor_scatter_update(order, tf.reshape(at, [1, 1]), [rank - 2])


@onnx.op("STFT")
def stft(x: Any, frame_step: Any, window: Any = None, frame_length: Any = None, *, onesided: int = 1) -> Any:
    x = tf.expand_dims(x, -1) if rank_of(x) == 2 else x
    given = size_of(x, 1) if window is None else size_of(window, 0)
    length = given if frame_length is None else scalar(frame_length)
    step, whole = scalar(frame_step), size_of(x, 1)
    count = 1 + (whole - length) // step
    starts = tf.range(tf.cast(count, tf.int64)) * step
    frames = tf.gather(x, tf.expand_dims(starts, 1) + tf.range(tf.cast(length, tf.int64)), axis=1)
    if window is not None:
        frames = frames * tf.reshape(window, [-1, 1])
    return _transformed(frames, length, False, bool(onesided), size_of(x, -1))


def _window(name: str, *weights: float) -> None:
    """Declare a window that is a sum of cosines."""
    @onnx.op(name)
    def build(size: Any, *, output_datatype: int = 1, periodic: int = 1) -> Any:
        dtype, count = dtype_named(output_datatype), scalar(size)
        whole = tf.cast(count if periodic else count - 1, dtype)
        turn = tf.cast(tf.range(count), dtype) * (2 * math.pi) / whole
        return sum((w * tf.cos(i * turn) for i, w in enumerate(weights) if i), weights[0])


_window("HannWindow", 0.5, -0.5)
_window("HammingWindow", 25 / 46, -21 / 46)
_window("BlackmanWindow", 0.42, -0.5, 0.08)


@onnx.op("MelWeightMatrix", note="a constant, or made in the run: nothing can be differentiated by its inputs")
def mel_weight_matrix(bins: Any, dft_length: Any, sample_rate: Any, low: Any, high: Any, *,
                      output_datatype: int = 1) -> Any:
    def made(bins: Any, length: Any, rate: Any, low: Any, high: Any) -> tuple[np.ndarray]:
        count = int(bins)
        mel = 2595 * np.log10(1 + np.array([low, high], float).ravel() / 700)
        edges = mel[0] + np.arange(count + 2) * (mel[1] - mel[0]) / (count + 2)
        at = np.floor((int(length) + 1) * 700 * (10 ** (edges / 2595) - 1) / int(rate)).astype(int)
        found = np.zeros((int(length) // 2 + 1, count))
        for i, (first, middle, last) in enumerate(zip(at, at[1:], at[2:])):
            up, down = np.arange(first, middle + 1), np.arange(middle, last)
            found[up, i] = (up - first) / (middle - first) if middle > first else 1
            if last > middle:
                found[down, i] = (last - down) / (last - middle)
        return (found,)

    matrix, = in_numpy(made, [dtype_named(output_datatype)], *[tf.reshape(v, []) for v in (
        bins, dft_length, sample_rate, low, high)])
    matrix.set_shape([None, None])
    return matrix
