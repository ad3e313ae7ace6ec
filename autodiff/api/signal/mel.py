"""Cosine transforms, and what is built of them for speech: mel frequencies and their cepstral coefficients."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.constant_value import static_value
from ...core.convert import convert_to_tensor
from ...core.dtypes import as_dtype, float32
from ...core.errors import ArgumentError, NoValueError
from ...core.graph import Tensor
from ...core.name_scope import scope
from ...core.op import build
from ..arrays.creation import constant
from ..arrays.rearrange import pad
from .transforms import irfft, rfft

__all__ = ["dct", "idct", "linear_to_mel_weight_matrix", "mfccs_from_log_mel_spectrograms"]


def dct(input: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None,  # noqa: PLR0913
        name: str | None = None) -> Tensor:
    """Discrete cosine transforms of the last axis. input: float32[..., samples] -> float32[..., n].

    type: 1, 2 or 3. n: samples beyond are left out, and zeros put where there are fewer. norm: None, or 'ortho' for an
    orthogonal matrix, of types 2 and 3. Raises ArgumentError (ValueError) for others, NoValueError
    (NotImplementedError) for another axis.
    """
    with scope(name, "dct", [input]):
        x = convert_to_tensor(input, float32)
        size = None if x.dims is None else x.dims[-1]
        _check(type, n, axis, norm, size)
        if n is not None:
            x = pad(x[..., :n], [*[[0, 0]] * (len(x.dims or ()) - 1), [0, max(n - (size or n), 0)]])
        if type == 1:
            return build.Real(rfft(build.ConcatV2(-1, x, x[..., -2:0:-1])))
        count = n or size or build.Shape(x)[-1]
        length = build.Cast(convert_to_tensor(count), dtype=float32)
        turn = build.Range(0.0, length, 1.0) * (math.pi / 2) / length
        first = build.OneHot(0, count, *(convert_to_tensor(v, float32) for v in (1.0, 0.0)))
        if type == 2:
            y = rfft(build.ConcatV2(-1, x, build.ReverseV2(x, [-1])))[..., :count]
            y = build.Real(y * build.Complex(build.Cos(turn), -build.Sin(turn)))
            return y if norm is None else y * build.Rsqrt(2.0 * length * (1.0 + first))
        weights = 2.0 * length if norm is None else build.Sqrt(2.0 * length * (1.0 + first))
        turned = build.Complex(x * weights * build.Cos(turn), x * weights * build.Sin(turn))
        return irfft(turned, [2 * count])[..., :count]


def idct(input: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None,  # noqa: PLR0913
         name: str | None = None) -> Tensor:
    """The inverse of dct, of the same type; without norm of 2n times the samples, of 2(n - 1) for type 1."""
    return dct(input, {2: 3, 3: 2}.get(type, type), n, axis, norm, name or "idct")


def _check(kind: int, n: int | None, axis: int, norm: str | None, size: int | None) -> None:
    if axis != -1:
        raise NoValueError(f"axis must be -1. Got: {axis}")
    for wrong, words in (
            (n is not None and n < 1, "n should be a positive integer or None"),
            (kind not in (1, 2, 3), "Only Types I, II and III (I)DCT are supported."),
            (kind == 1 and norm == "ortho", "Normalization is not supported for the Type-I DCT."),
            (kind == 1 and size == 1, "Type-I DCT requires the dimension to be greater than one."),
            (norm not in (None, "ortho"), f"Unknown normalization. Expected None or 'ortho', got: {norm}")):
        if wrong:
            raise ArgumentError(words, found=(kind, n, norm))


def linear_to_mel_weight_matrix(num_mel_bins: int = 20, num_spectrogram_bins: Any = 129,  # noqa: PLR0913
                                sample_rate: Any = 8000, lower_edge_hertz: Any = 125.0,
                                upper_edge_hertz: Any = 3800.0, dtype: Any = float32,
                                name: str | None = None) -> Tensor:
    """The weights of triangular bands, evenly spaced in mels, for spectra: float[num_spectrogram_bins, num_mel_bins].

    The spectrum's bins are from 0 to half the sample rate, of which the first is left out. All arguments are numbers,
    or tensors that are constant. Raises ArgumentError (ValueError) for others and for edges out of order.
    Source: Stevens, Volkmann and Newman (1937) for the scale, as HTK has it: 1127 ln(1 + hertz / 700).
    """
    dtype = as_dtype(dtype)
    known: list[Any] = [
        static_value(build.Cast(value, dtype="float64")) if isinstance(value, Tensor) else value
        for value in (num_spectrogram_bins, sample_rate, lower_edge_hertz, upper_edge_hertz)]
    if None in known:
        raise ArgumentError("sample_rate must be a number or a constant Tensor, so the edges", found=known)
    bins, rate, lower, upper = (float(number) for number in known)
    if num_mel_bins <= 0 or bins < 1 or rate <= 0.0 or not dtype.is_floating:
        raise ArgumentError("num_mel_bins, num_spectrogram_bins and sample_rate must be positive, and dtype one of "
                            "floating point", found=(num_mel_bins, bins, rate, dtype.name))
    if not 0.0 <= lower < upper <= rate / 2:
        raise ArgumentError("lower_edge_hertz must be non-negative and smaller than upper_edge_hertz, which must not "
                            f"be larger than the Nyquist frequency {rate / 2}", found=(lower, upper))
    mels = 1127.0 * np.log1p(np.linspace(0.0, rate / 2, int(bins))[1:, None] / 700.0)
    first, last = (1127.0 * math.log1p(edge / 700.0) for edge in (lower, upper))
    edges = np.linspace(first, last, num_mel_bins + 2)
    rising = (mels - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - mels) / (edges[2:] - edges[1:-1])
    weights = np.maximum(0.0, np.minimum(rising, falling))
    return constant(np.pad(weights, [[1, 0], [0, 0]]), dtype, name=name or "linear_to_mel_weight_matrix")


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: Any, name: str | None = None) -> Tensor:
    """Cepstral coefficients: the cosine transform of type 2, scaled by sqrt(1 / 2n) as HTK's. float32[..., n]."""
    with scope(name, "mfccs_from_log_mel_spectrograms", [log_mel_spectrograms]):
        x = convert_to_tensor(log_mel_spectrograms, float32)
        if x.dims and x.dims[-1] == 0:
            raise ArgumentError("num_mel_bins must be positive.", found=x.describe())
        return dct(x) * build.Rsqrt(2.0 * build.Cast(build.Shape(x)[-1], dtype=float32))
