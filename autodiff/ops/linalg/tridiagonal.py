"""Systems of equations whose matrix has three diagonals."""

import numpy as np

from ...core.declare import op
from ...core.dtypes import COMPLEX, float32, float64
from ...core.errors import ShapeError
from ...core.infer import rank_of
from ...core.op import Spec, build
from ...core.shapes import compatible, merge, show
from ..common.batch_axis import in_front

_DTYPES = (float32, float64, *COMPLEX)


def _solution(diagonals, rhs, *, partial_pivoting=True):
    rank_of(diagonals, at_least=2, what="diagonals")
    rank_of(rhs, at_least=2, what="rhs")
    if diagonals.dims is None or rhs.dims is None:
        return Spec(rhs.dtype.base_dtype, rhs.dims)
    rows = (*diagonals.dims[:-2], diagonals.dims[-1])
    if not compatible(diagonals.dims[-2:-1], (3,)) or not compatible(rows, rhs.dims[:-1]):
        raise ShapeError(f"diagonals [..., 3, M] and a right side [..., M, K] do not fit: {show(diagonals.dims)} and "
                         f"{show(rhs.dims)}")
    return Spec(rhs.dtype.base_dtype, (*merge(rows, rhs.dims[:-1]), rhs.dims[-1]))


@op("TridiagonalSolve", infer=_solution, dtypes=_DTYPES, batched=in_front)
def tridiagonal_solve(diagonals, rhs, *, partial_pivoting=True):
    """x with A @ x = rhs. diagonals: float[..., 3, m], those above, on and below the middle, rhs: float[..., m, k].

    The last entry above and the first below do not count. Rows change places for the greater pivot, which costs
    little, whether or not partial_pivoting asks for it. Raises InvalidArgumentError for a singular matrix.
    Source: Golub and Van Loan (2013), section 4.3.
    """
    size = diagonals.shape[-1]
    above, middle, below = (np.moveaxis(diagonals[..., i, :], -1, 0).copy() for i in range(3))
    x, far = np.moveaxis(rhs, -2, 0).copy(), np.zeros_like(above)  # far: what swaps bring two places above
    above[-1:] = 0
    for i in range(size - 1):
        swap = np.abs(below[i + 1]) > np.abs(middle[i])
        first = np.stack((middle[i], above[i], far[i]))
        second = np.stack((below[i + 1], middle[i + 1], above[i + 1]))
        middle[i], above[i], far[i] = np.where(swap, second, first)
        low, middle[i + 1], above[i + 1] = np.where(swap, first, second)
        x[i:i + 2] = np.where(swap[..., None], x[i:i + 2][::-1], x[i:i + 2])
        _check_pivot(middle[i])
        factor = low / middle[i]
        middle[i + 1] -= factor * above[i]
        above[i + 1] -= factor * far[i]
        x[i + 1] -= factor[..., None] * x[i]
    for i in reversed(range(size)):
        _check_pivot(middle[i])
        if i + 1 < size:
            x[i] -= above[i][..., None] * x[i + 1]
        if i + 2 < size:
            x[i] -= far[i][..., None] * x[i + 2]
        x[i] /= middle[i][..., None]
    return np.ascontiguousarray(np.moveaxis(x, 0, -2))


def _check_pivot(pivot):
    if not np.all(pivot):
        raise ValueError("The first element of diagonals is zero, or the matrix is not invertible")


def _shifted(row, by):
    """A diagonal moved along by one, with a zero where nothing comes from."""
    zero = build.ZerosLike(row[..., :1])
    return build.ConcatV2(-1, zero, row[..., :-1]) if by > 0 else build.ConcatV2(-1, row[..., 1:], zero)


def _adjoint(diagonals):
    above, middle, below = (diagonals[..., i, :] for i in range(3))
    return build.Conj(build.Pack(_shifted(below, -1), middle, _shifted(above, 1), axis=-2))


@tridiagonal_solve.gradient
def _(node, dy):
    drhs = build.TridiagonalSolve(_adjoint(node.inputs[0]), dy, **node.attrs)
    x = build.Conj(node.outputs[0])
    zero = build.ZerosLike(x[..., :1, :])
    higher, lower = build.ConcatV2(-2, x[..., 1:, :], zero), build.ConcatV2(-2, zero, x[..., :-1, :])
    return -build.Pack(*(build.Sum(drhs * part, -1) for part in (higher, x, lower)), axis=-2), drhs
