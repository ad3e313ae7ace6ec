"""Fourier transforms: TensorFlow's tf.signal and tf.spectral."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import complex64, float32, int32
from ...core.graph import Tensor
from ...core.name_scope import scope
from ...core.op import OPS, build
from .frames import frame, hann_window, overlap_and_add

__all__ = ["fft", "fft2d", "fft3d", "fftshift", "ifft", "ifft2d", "ifft3d", "ifftshift", "inverse_stft",
           "inverse_stft_window_fn", "irfft", "irfft2d", "irfft3d", "rfft", "rfft2d", "rfft3d", "stft"]


def _transform(op: str) -> Callable[..., Tensor]:
    definition = OPS[op]

    def function(input: Any, name: str | None = None) -> Tensor:
        if not hasattr(input, "as_tensor") and not isinstance(input, Tensor):
            input = convert_to_tensor(np.asarray(input).astype(np.complex64), name="input")
        return definition(input, name=name)

    function.__name__, function.__doc__ = op.lower(), definition.doc
    return function


fft, ifft, fft2d, ifft2d, fft3d, ifft3d = map(_transform, ("FFT", "IFFT", "FFT2D", "IFFT2D", "FFT3D", "IFFT3D"))


def _real(op: str, rank: int) -> Callable[..., Tensor]:
    definition, is_inverse = OPS[op], op.startswith("I")

    def function(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
        with scope(name, op.lower(), [input_tensor, fft_length]) as full:
            is_typed = isinstance(input_tensor, Tensor) or hasattr(input_tensor, "as_tensor")
            x = convert_to_tensor(input_tensor, dtype=None if is_typed else complex64 if is_inverse else float32)
            if fft_length is None:
                lengths = _inferred(x, rank, is_inverse)
            else:
                lengths = convert_to_tensor(fft_length, dtype=int32)
                x = _padded(x, rank, lengths, is_inverse)
            return definition(x, lengths, name=full)

    function.__name__ = op.lower()
    function.__doc__ = definition.doc + " fft_length: that of the input if None; a shorter input is padded with zeros."
    return function


def _inferred(x: Tensor, rank: int, is_inverse: bool) -> Any:
    """The lengths that an input of this shape has, or comes from."""
    if x.dims is not None and None not in x.dims[-rank:]:
        sizes = list(x.dims[-rank:])
        if is_inverse:
            sizes[-1] = max(0, 2 * (sizes[-1] - 1))
        return convert_to_tensor(np.array(sizes, np.int32))
    lengths = build.Shape(x)[-rank:]
    return lengths if not is_inverse else build.ConcatV2(0, lengths[:-1], build.Maximum(0, 2 * (lengths[-1:] - 1)))


def _padded(x: Tensor, rank: int, lengths: Tensor, is_inverse: bool) -> Tensor:
    """`x` with zeros after its last axes, where there are fewer elements than the transform reads."""
    wanted = build.ConcatV2(0, lengths[:-1], build.FloorDiv(lengths[-1:], 2) + 1) if is_inverse else lengths
    missing = build.Maximum(0, wanted - build.Shape(x)[-rank:])
    before = build.Fill(build.Pack(build.Rank(x) - rank, 2, axis=0), 0)
    return build.Pad(x, build.ConcatV2(0, before, build.Pack(build.ZerosLike(missing), missing, axis=1)))


rfft, rfft2d, rfft3d = _real("RFFT", 1), _real("RFFT2D", 2), _real("RFFT3D", 3)
irfft, irfft2d, irfft3d = _real("IRFFT", 1), _real("IRFFT2D", 2), _real("IRFFT3D", 3)


def fftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """`x` with the frequency 0 in the middle of these axes, all of them if None. x: any[...]."""
    return _rolled(x, axes, name or "fftshift", lambda size: size // 2)


def ifftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """The inverse of fftshift. x: any[...]."""
    return _rolled(x, axes, name or "ifftshift", lambda size: -(size // 2))


def _rolled(x: Any, axes: Any, name: str, shift: Callable[[Any], Any]) -> Tensor:
    with scope(name, name, [x]) as full:
        x = convert_to_tensor(x)
        axes = list(range(len(x.shape))) if axes is None else axes
        sizes = [build.Shape(x)[axis] for axis in np.atleast_1d(axes).tolist()]
        return build.Roll(x, build.Pack(*[shift(size) for size in sizes], axis=0), np.atleast_1d(axes).astype(np.int32),
                          name=full)


def _power_of_two(length: Any) -> Any:
    """The least power of two that is not below a length."""
    if not isinstance(length, Tensor):
        return 1 << max(int(length) - 1, 0).bit_length()
    exponent = build.Ceil(build.Log(build.Cast(length, dtype=float32)) / np.float32(np.log(2.0)))
    return build.Cast(build.Pow(2.0, exponent), dtype=int32)


def stft(signals: Any, frame_length: Any, frame_step: Any, fft_length: Any = None, window_fn: Any = hann_window,
         pad_end: bool = False, name: str | None = None) -> Tensor:
    """The Fourier transforms of a signal's frames. signals: float[..., n] -> complex[..., frames, fft_length // 2 + 1].

    fft_length: the power of two that holds a frame, if None. window_fn: of (length, dtype=), or None.
    """
    with scope(name, "stft", [signals, frame_length, frame_step]):
        framed = frame(signals, frame_length, frame_step, pad_end=pad_end)
        if window_fn is not None:
            framed = framed * window_fn(frame_length, dtype=framed.dtype)
        return rfft(framed, [_power_of_two(frame_length) if fft_length is None else fft_length])


def inverse_stft_window_fn(frame_step: Any, forward_window_fn: Any = hann_window,
                           name: str | None = None) -> Callable[..., Tensor]:
    """The window of inverse_stft that undoes one of stft: that one, over the sum of its squares where it overlaps."""
    def window(frame_length: Any, dtype: Any) -> Tensor:
        with scope(name, "inverse_stft_window_fn", [frame_length]):
            forward = forward_window_fn(frame_length, dtype=dtype)
            overlaps = -(-frame_length // frame_step)
            squares = build.Pad(build.Square(forward), [[0, overlaps * frame_step - frame_length]])
            whole = build.Sum(build.Reshape(squares, [overlaps, frame_step]), [0], keep_dims=True)
            return forward / build.Reshape(build.Tile(whole, [overlaps, 1]), [-1])[:frame_length]
    return window


def inverse_stft(stfts: Any, frame_length: Any, frame_step: Any, fft_length: Any = None, window_fn: Any = hann_window,
                 name: str | None = None) -> Tensor:
    """The signal that has these transforms of frames, if stft's window is undone. -> float[..., n]."""
    with scope(name, "inverse_stft", [stfts]):
        frames = irfft(stfts, [_power_of_two(frame_length) if fft_length is None else fft_length])[..., :frame_length]
        missing = build.Maximum(frame_length - build.Shape(frames)[-1], 0)
        frames = build.ConcatV2(-1, frames, build.Fill(build.ConcatV2(0, build.Shape(frames)[:-1], [missing]),
                                                       build.Cast(0.0, dtype=frames.dtype)))
        if window_fn is not None:
            frames = frames * window_fn(frame_length, dtype=frames.dtype)
        return overlap_and_add(frames, frame_step)
