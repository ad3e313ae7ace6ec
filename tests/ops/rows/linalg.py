"""Rows of linear systems, determinants and matrix factors."""

import numpy as np
from autodiff.errors import InvalidArgumentError, ShapeError

import autodiff as tf

from ..case import Case, array


def regular(*shape: int, seed: int = 0) -> np.ndarray:
    """Square matrices far from singular."""
    return array(*shape, seed=seed) + 3 * np.eye(shape[-1])


def positive(*shape: int) -> np.ndarray:
    """Symmetric positive definite matrices with distinct eigenvalues."""
    x = array(*shape)
    return x @ np.swapaxes(x, -1, -2) + np.diag(np.arange(1.0, shape[-1] + 1))


def logarithm(x: tf.Tensor) -> tf.Tensor:
    """Of x and x turned by a quarter, as real numbers."""
    turned = tf.linalg.logm(tf.complex(x, x))
    return tf.concat([tf.math.real(turned), tf.math.imag(turned)], -1)


ROWS: list[Case] = [
    Case("MatrixInverse", (regular(2, 3, 3),)),
    Case("MatrixInverse", (regular(3, 3),), {"adjoint": True}, id="adjoint"),
    Case("MatrixInverse", (array(2, 3),), fails=ValueError, id="rectangle"),
    Case("MatrixInverse", (np.zeros((3, 3)),), fails=InvalidArgumentError, at_run=True, id="singular"),
    Case("MatrixSolve", (regular(2, 3, 3), array(2, 3, 4))),
    Case("MatrixSolve", (regular(3, 3), array(3, 4)), {"adjoint": True}, id="adjoint"),
    Case("MatrixSolve", (regular(3, 3), array(4, 2)), fails=ValueError, id="rows"),
    Case("TridiagonalSolve", (array(2, 3, 5), array(2, 5, 4))),
    Case("TridiagonalSolve", (np.array([[2.0, 1, 0], [0, 0, 2], [0, 3, 4]]), array(3, 2)), id="swapped"),
    Case("TridiagonalSolve", (np.zeros((3, 2)), array(2, 4)), fails=InvalidArgumentError, at_run=True, id="singular"),
    Case("TridiagonalSolve", (array(2, 5), array(5, 4)), fails=ShapeError, id="two"),
    Case("MatrixTriangularSolve", (regular(2, 3, 3), array(2, 3, 4))),
    Case("MatrixTriangularSolve", (regular(3, 3), array(3, 4)), {"lower": False}, id="upper"),
    Case("MatrixTriangularSolve", (regular(3, 3), array(3, 4)), {"adjoint": True}, id="adjoint"),
    Case("MatrixDeterminant", (regular(2, 3, 3),)),
    Case("LogMatrixDeterminant", (regular(2, 3, 3),)),
    Case("MatrixSquareRoot", (positive(2, 3, 3) + 0.3 * array(2, 3, 3, seed=4),)),
    Case("MatrixSquareRoot", (np.array([[4.0, 1.0], [0.0, 4.0]]),), id="defective", differentiable=()),
    Case("MatrixSquareRoot", (array(2, 3),), fails=ValueError, id="rectangle"),
    *(Case("MatrixLogarithm", (x,), through=logarithm, id=name) for name, x in (
        ("positive", positive(2, 3, 3)), ("defective", np.array([[4.0, 1.0], [0.0, 4.0]])))),
    Case("MatrixLogarithm", (array(2, 3).astype(np.complex128),), fails=ValueError, id="rectangle"),
    Case("Sylvester", (regular(2, 3, 3), array(2, 3, 3, seed=2))),
    Case("Lu", (array(2, 3, 3),)),
    Case("Lu", (np.zeros((3, 3)),), fails=InvalidArgumentError, at_run=True, id="singular"),
    Case("Cholesky", (positive(2, 3, 3),), differentiable=()),  # reads one triangle: not a function of all elements
    Case("Cholesky", (-np.eye(3),), fails=InvalidArgumentError, at_run=True, id="negative"),
    Case("Cholesky", (positive(2, 3, 3),), {"raises": False}, differentiable=(), id="or nan"),
    Case("SelfAdjointEigV2", (positive(2, 3, 3),), {"compute_v": False}),
    Case("SelfAdjointEigV2", (positive(2, 3, 3),), {"raises": False}, differentiable=(), id="or nan"),
    Case("SelfAdjointEigV2", (np.full((3, 3), np.nan),), fails=InvalidArgumentError, at_run=True, id="of nan"),
    Case("Svd", (array(2, 4, 3),), {"compute_uv": False}, id="values"),
    Case("Svd", (regular(3, 3) * np.array([1.0, 2.0, 4.0]),)),
    Case("Svd", (array(5, 3) * np.array([1.0, 2.0, 4.0]),), id="tall"),
    Case("Svd", (array(3, 5) * np.array([[1.0], [2.0], [4.0]]),), id="wide"),
    Case("Qr", (array(2, 5, 3),)),
    Case("Qr", (regular(3, 3),), {"full_matrices": True}, id="full"),
    Case("MatrixExponential", (array(2, 3, 3),)),
    Case("MatrixExponential", (array(3, 3) * 9,), id="scaled"),
    Case("Einsum", (array(2, 3, 4), array(2, 4, 5)), {"equation": "bij,bjk->bki"}),
    Case("Einsum", (array(2, 3), array(4, 3), array(4)), {"equation": "ij,kj,k->i"}, id="three"),
    Case("Einsum", (array(2, 3), array(4, 5)), {"equation": "ij,kl->ki"}, id="alone"),
    Case("Einsum", (array(2, 3, 4),), {"equation": "ijk->kj"}, id="one"),
    Case("Einsum", (array(2, 3), array(4, 5)), {"equation": "ij,jk->ik"}, fails=ValueError, id="sizes"),
]
