"""Operators applied by Fourier transforms: circulant, of one to three nested blocks, and Toeplitz."""
from __future__ import annotations

from typing import Any

import numpy as np

from ....core.convert import convert_to_tensor
from ....core.dtypes import as_dtype, complex64, complex128, float64
from ....core.errors import ArgumentError
from ....core.graph import Tensor
from ....core.name_scope import scope
from ....core.op import build
from ....core.shapes import Dimension, TensorShape
from ...arrays.creation import ones
from ...arrays.rearrange import matrix_transpose
from ...arrays.shaping import broadcast_static_shape
from ...debugging import assert_equal, assert_positive
from ...math.casts import cast, conj, real
from ...math.elementwise import abs as modulus
from ...signal import fft, fft2d, fft3d, ifft, ifft2d, ifft3d
from ..solvers import adjoint as adjoint_of
from . import algebra, support
from .base import LinearOperator
from .support import Hint, Hints, commuting, hints_of, settled

__all__ = ["LinearOperatorCirculant", "LinearOperatorCirculant2D", "LinearOperatorCirculant3D",
           "LinearOperatorToeplitz"]

_TRANSFORMS = {1: (fft, ifft), 2: (fft2d, ifft2d), 3: (fft3d, ifft3d)}


def _to_complex(x: Any) -> Tensor:
    return cast(x, complex128 if x.dtype.base_dtype in (float64, complex128) else complex64)


class _Circulant(LinearOperator):
    """F^-1 D F, with F the Fourier transform over `block_depth` axes and D the spectrum.

    spectrum: number[..., n1, ... n_depth], whose product is the size of the vectors; a real one belongs to self-adjoint
    matrices. input_output_dtype: that of vectors; a real one gives the real part.
    """

    block_depth: int

    def __init__(self, spectrum: Any, input_output_dtype: Any = complex64, is_non_singular: Hint = None,
                 is_self_adjoint: Hint = None, is_positive_definite: Hint = None, is_square: Hint = True,
                 name: str = "LinearOperatorCirculant") -> None:
        with scope(name, name, [spectrum]):
            self.spectrum = support.with_rank(convert_to_tensor(spectrum, name="spectrum"), "spectrum",
                                               self.block_depth)
        if not self.spectrum.dtype.is_complex:
            is_self_adjoint = settled(is_self_adjoint, True,
                                      "A real spectrum always corresponds to a self-adjoint operator.")
        is_square = settled(is_square, True, "A [[nested] block] circulant operator is always square.")
        super().__init__(as_dtype(input_output_dtype), [self.spectrum], is_non_singular, is_self_adjoint,
                         is_positive_definite, is_square, name)

    @property
    def block_shape(self) -> TensorShape:
        return self.spectrum.shape[-self.block_depth:]

    def block_shape_tensor(self) -> Tensor:
        return build.Shape(self.spectrum)[-self.block_depth:]

    def convolution_kernel(self, name: str = "convolution_kernel") -> Tensor:
        """The first column, in blocks: what vectors are convolved with."""
        with self._name_scope(name):
            return cast(self._transformed(_to_complex(self.spectrum), inverse=True), self.dtype)

    def _transformed(self, x: Tensor, *, inverse: bool) -> Tensor:
        return _TRANSFORMS[self.block_depth][inverse](x)

    def _shape(self) -> TensorShape:
        if self.spectrum.shape.ndims is None:
            return TensorShape(None)
        size = Dimension(1)
        for block in self.block_shape.dims or ():
            size = size * block
        return self.spectrum.shape[:-self.block_depth].concatenate([size, size])

    def _shape_tensor(self) -> Tensor:
        size = build.ExpandDims(build.Prod(self.block_shape_tensor(), [0]), 0)
        return build.ConcatV2(0, build.Shape(self.spectrum)[:-self.block_depth], size, size)

    def assert_hermitian_spectrum(self, name: str = "assert_hermitian_spectrum") -> Any:
        """The operation that fails unless the convolution kernel is real, up to rounding."""
        with self._name_scope(name):
            kernel = self._transformed(_to_complex(self.spectrum), inverse=True)
            eps = float(np.finfo(as_dtype(self.dtype).real_dtype.as_numpy_dtype).eps)
            size = cast(self.domain_dimension_tensor(), build.Imag(kernel).dtype)
            return assert_positive(5 * eps * size - modulus(build.Imag(kernel)), message=(
                "Imaginary convolution kernel.  Thus the spectrum was not Hermitian"))

    def _assert_non_singular(self) -> Any:
        return support.assert_no_entries_with_modulus_zero(
            self.spectrum, message="Singular operator:  Spectrum contained zero values.")

    def _assert_positive_definite(self) -> Any:
        return assert_positive(real(self.spectrum), message=(
            "Not positive definite operator:  Real part of spectrum was not all positive."))

    def _assert_self_adjoint(self) -> Any:
        return support.assert_zero_imag_part(self.spectrum, message=(
            "Not self-adjoint:  The spectrum contained non-zero imaginary part."))

    def _filtered(self, x: Tensor, spectrum: Any, adjoint_arg: bool) -> Tensor:
        """Columns of x whose transforms are multiplied by the spectrum."""
        rows = conj(x) if adjoint_arg else matrix_transpose(x)
        blocks = build.Reshape(rows, build.ConcatV2(0, build.Shape(rows)[:-1], self.block_shape_tensor()))
        changed = self._transformed(build.ExpandDims(spectrum, -1 - self.block_depth)
                                    * self._transformed(_to_complex(blocks), inverse=False), inverse=True)
        sizes = build.Shape(changed)[:-self.block_depth]
        flat = build.Reshape(changed, build.ConcatV2(0, sizes, self.domain_dimension_tensor()[None]))
        return cast(matrix_transpose(flat), self.dtype)

    def _complex_spectrum(self, adjoint: bool) -> Tensor:
        spectrum = _to_complex(self.spectrum)
        return build.Conj(spectrum) if adjoint else spectrum

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._filtered(x, self._complex_spectrum(adjoint), adjoint_arg)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._filtered(rhs, build.Reciprocal(self._complex_spectrum(adjoint)), adjoint_arg)

    def _axes(self) -> list[int]:
        return list(range(-self.block_depth, 0))

    def _determinant(self) -> Tensor:
        return cast(build.Prod(_to_complex(self.spectrum), self._axes()), self.dtype)

    def _log_abs_determinant(self) -> Tensor:
        return cast(build.Sum(build.Log(modulus(self.spectrum)), self._axes()), self.dtype)

    def _trace(self) -> Tensor:
        total = build.Sum(self.spectrum, self._axes())
        return cast(real(total) if self.is_self_adjoint or not self.dtype.is_complex else total, self.dtype)

    def _diag_part(self) -> Tensor:
        mean = self.trace() / cast(self.domain_dimension_tensor(), self.dtype)
        return build.ExpandDims(mean, -1) * ones(self._diag_shape(), self.dtype)


class LinearOperatorCirculant(_Circulant):
    """F^-1 D F, with F the Fourier transform over the last axis of the spectrum."""

    block_depth = 1


class LinearOperatorCirculant2D(_Circulant):
    """F^-1 D F, with F the Fourier transform over the last two axes of the spectrum."""

    block_depth = 2


class LinearOperatorCirculant3D(_Circulant):
    """F^-1 D F, with F the Fourier transform over the last three axes of the spectrum."""

    block_depth = 3


class LinearOperatorToeplitz(LinearOperator):
    """Matrices with equal elements along each diagonal. col, row: number[..., n], the first of each."""

    def __init__(self, col: Any, row: Any, is_non_singular: Hint = None, is_self_adjoint: Hint = None,
                 is_positive_definite: Hint = None, is_square: Hint = None,
                 name: str = "LinearOperatorToeplitz") -> None:
        with scope(name, name, [row, col]):
            self.row = support.with_rank(convert_to_tensor(row, name="row"), "row", 1)
            self.col = support.with_rank(convert_to_tensor(col, name="col"), "col", 1)
            if not Dimension(self.row.shape[-1]).is_compatible_with(self.col.shape[-1]):
                raise ArgumentError("Expected square matrix, got row and col with mismatched dimensions.")
            around = build.ConcatV2(-1, self.col, build.ZerosLike(self.col[..., :1]),
                                    build.ReverseV2(self.row[..., 1:], [-1]))
            self._circulant = LinearOperatorCirculant(fft(_to_complex(around)), self.row.dtype)
        is_square = settled(is_square, True, "Only square Toeplitz operators currently supported.")
        super().__init__(self.row.dtype, [self.row, self.col], is_non_singular, is_self_adjoint,
                         is_positive_definite, is_square, name)

    def _shape(self) -> TensorShape:
        sizes = broadcast_static_shape(self.row.shape, self.col.shape)
        return sizes.concatenate(sizes[-1:])

    def _shape_tensor(self) -> Tensor:
        sizes = build.BroadcastArgs(build.Shape(self.row), build.Shape(self.col))
        return build.ConcatV2(0, sizes, sizes[-1:])

    def _assert_self_adjoint(self) -> Any:
        return assert_equal(self.row, self.col, message=(
            "row and col are not the same, and so this operator is not self-adjoint."))

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        x = adjoint_of(x) if adjoint_arg else x
        whole = self._circulant.matmul(build.ConcatV2(-2, x, build.ZerosLike(x)), adjoint=adjoint)
        return cast(whole[..., :self.domain_dimension_tensor(), :], self.dtype)

    def _trace(self) -> Tensor:
        return cast(self.domain_dimension_tensor(), self.dtype) * self.col[..., 0]

    def _diag_part(self) -> Tensor:
        return self.col[..., :1] * ones(self._diag_shape(), self.dtype)


def _of_spectrum(like: _Circulant, spectrum: Any, hints: Hints) -> LinearOperator:
    return type(like)(spectrum, like.dtype, **hints)


algebra.adjoint.rule(_Circulant)(lambda a: _of_spectrum(a, conj(a.spectrum), hints_of(a)))
algebra.inverse.rule(_Circulant)(lambda a: _of_spectrum(a, 1.0 / a.spectrum, hints_of(a)))
for _kind in (LinearOperatorCirculant, LinearOperatorCirculant2D, LinearOperatorCirculant3D):
    algebra.matmul.rule(_kind, _kind)(lambda a, b: _of_spectrum(a, a.spectrum * b.spectrum, commuting(a, b)))
    algebra.solve.rule(_kind, _kind)(lambda a, b: _of_spectrum(a, b.spectrum / a.spectrum, commuting(a, b)))
