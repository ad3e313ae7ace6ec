"""Factorizations of matrices in the last two axes: Cholesky, LU, QR, eigenvalues, singular values."""
from __future__ import annotations

from typing import Any, NamedTuple

from ...core.dtypes import as_dtype, int32
from ...core.graph import Tensor
from ...core.name_scope import scope
from ...core.op import build
from ..common.arguments import or_answered

__all__ = ["Lu", "Qr", "cholesky", "eigh", "eigvalsh", "expm", "logm", "lu", "matrix_square_root", "qr",
           "self_adjoint_eig", "self_adjoint_eigvals", "sqrtm", "svd"]


@or_answered
def cholesky(input: Any, name: str | None = None) -> Tensor:
    """The lower triangle L with L @ adjoint(L) = input. input: float[..., n, n], positive definite."""
    return build.Cholesky(input, name=name)


def self_adjoint_eig(tensor: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Eigenvalues, ascending, and eigenvectors (columns); reads the lower triangle. tensor: float[..., n, n]."""
    e, v = build.SelfAdjointEigV2(tensor, compute_v=True, name=name)
    return e, v


def self_adjoint_eigvals(tensor: Any, name: str | None = None) -> Tensor:
    """Eigenvalues, ascending. tensor: float[..., n, n], its lower triangle is read -> float[..., n]."""
    return build.SelfAdjointEigV2(tensor, compute_v=False, name=name)[0]


def svd(tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None) -> Any:
    """(s, u, v) with tensor = u @ diag(s) @ adjoint(v); s alone unless compute_uv. tensor: float[..., m, n].

    v is not transposed, unlike NumPy's.
    """
    s, u, v = build.Svd(tensor, compute_uv=compute_uv, full_matrices=full_matrices, name=name)
    s = build.Real(s) if s.dtype.is_complex else s
    return (s, u, v) if compute_uv else s


class Qr(NamedTuple):
    """Orthogonal columns q and upper triangle r."""

    q: Tensor
    r: Tensor


def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> Qr:
    """input = q @ r. input: float[..., m, n] -> q float[..., m, k], r float[..., k, n], k = min(m, n) unless full."""
    return Qr(*build.Qr(input, full_matrices=full_matrices, name=name))


def expm(input: Any, name: str | None = None) -> Tensor:
    """The matrix exponential. input: float[..., n, n]."""
    with scope(name, "matrix_exponential", [input]) as full:
        return build.MatrixExponential(input, name=full)


def logm(input: Any, name: str | None = None) -> Tensor:
    """The principal logarithm of matrices. input: complex[..., n, n]."""
    return build.MatrixLogarithm(input, name=name)


class Lu(NamedTuple):
    """Both triangles in one, lu, and the order of the rows, p."""

    lu: Tensor
    p: Tensor


def lu(input: Any, output_idx_type: Any = int32, name: str | None = None) -> Lu:
    """L @ U = input[p]: L below a diagonal of ones, U from the diagonal on, in one matrix; rows in the order p.

    input: float[..., n, n] -> float[..., n, n], int[..., n]. Singular: InvalidArgumentError when it runs.
    """
    return Lu(*build.Lu(input, output_idx_type=as_dtype(output_idx_type), name=name))


def matrix_square_root(input: Any, name: str | None = None) -> Tensor:
    """The principal root y, y @ y = input; nan if there is none. input: float[..., n, n] -> float[..., n, n]."""
    return build.MatrixSquareRoot(input, name=name)
eigh, eigvalsh = self_adjoint_eig, self_adjoint_eigvals
sqrtm = matrix_square_root
