"""Rows of Fourier transforms: of complex numbers by way of their real and imaginary parts, which differentiate."""

from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff as tf
from autodiff.core.op import OPS

from ..case import Case, array

PARTS = (array(2, 3, 4, 5), array(2, 3, 4, 5, seed=1))
HALF = (array(2, 3, 4, 3), array(2, 3, 4, 3, seed=1))


def of_parts(op: str, length: tuple[int, ...] = ()) -> Callable[..., Any]:
    """A number of both parts of a transform, or the real numbers that it gives."""
    def function(real: Any, imaginary: Any) -> Any:
        y = OPS[op](tf.complex(real, imaginary), *([np.array(length, np.int32)] if length else []))
        return tf.real(y) + 2 * tf.imag(y) if y.dtype.is_complex else y

    return function


def of_real(op: str, length: tuple[int, ...]) -> Callable[..., Any]:
    def function(x: Any) -> Any:
        y = OPS[op](x, np.array(length, np.int32))
        return tf.real(y) + 2 * tf.imag(y)

    return function


LENGTHS = {"": ((5,), (4,), (3,)), "2D": ((4, 5), (4, 4), (2, 3)), "3D": ((3, 4, 5), (3, 4, 4), (2, 2, 3))}
HALF_LENGTHS = {"": ((5,), (4,), (3,)), "2D": ((4, 5), (4, 4), (2, 2)), "3D": ((3, 4, 5), (3, 4, 4), (2, 2, 3))}

ROWS: list[Case] = [
    *(Case(f"{kind}FFT{rank}", PARTS, through=of_parts(f"{kind}FFT{rank}")) for kind in ("", "I") for rank in LENGTHS),
    *(Case(f"RFFT{rank}", PARTS[:1], through=of_real(f"RFFT{rank}", length), id=str(length[-1]))
      for rank, lengths in LENGTHS.items() for length in lengths),
    *(Case(f"IRFFT{rank}", HALF, through=of_parts(f"IRFFT{rank}", length), id=str(length[-1]))
      for rank, lengths in HALF_LENGTHS.items() for length in lengths),
    Case("FFT", (np.zeros((2, 0)),) * 2, through=of_parts("FFT"), id="empty"),
    Case("FFT2D", (np.zeros(3, np.complex64),), fails=ValueError, id="rank"),
    Case("FFT", (array(3),), fails=TypeError, id="real"),
    Case("RFFT", (array(3), np.array([3, 3], np.int32)), fails=ValueError, id="lengths"),
    Case("RFFT", (array(3), np.array([4], np.int32)), fails=tf.errors.InvalidArgumentError, at_run=True, id="short"),
    Case("IRFFT", (np.zeros(3, np.complex64), np.array([6], np.int32)), fails=tf.errors.InvalidArgumentError,
         at_run=True, id="short"),
]
