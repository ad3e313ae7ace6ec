"""Diagonals of matrices, and bands beside them."""

import numpy as np

from ...core.declare import op
from ...core.dimensions import merge_sizes
from ...core.errors import ArgumentError, ShapeError
from ...core.infer import rank_of, ranked, same_shape
from ...core.op import Index, Spec, blocked, build
from ...core.shapes import merge, show
from ..common.batch_axis import in_front, rank_in, unvaried

_COUNTS = "counts of diagonals are integers"


def _on_diagonal(diagonal):
    dims = diagonal.dims
    rank_of(diagonal, at_least=1, what="diagonal")
    return Spec(diagonal.dtype.base_dtype, None if dims is None else (*dims, *dims))


@op("Diag", infer=_on_diagonal)
def diag(diagonal):
    """Zeros, with the input on the diagonal. diagonal: any[d...] -> any[d..., d...]."""
    return np.diag(np.ravel(diagonal)).reshape(np.shape(diagonal) * 2)


def _halved(input):
    dims = input.dims
    if dims is None:
        return Spec(input.dtype.base_dtype, None)
    half = len(dims) // 2
    if not dims or len(dims) % 2:
        raise ShapeError(f"input has rank {len(dims)} {show(dims)}, expected an even rank > 0")
    return Spec(input.dtype.base_dtype, merge(dims[:half], dims[half:]))


@op("DiagPart", infer=_halved)
def diag_part(input):
    """The diagonal of a tensor whose two halves of axes are alike. input: any[d..., d...] -> any[d...]."""
    half = input.shape[:input.ndim // 2]
    if half != input.shape[input.ndim // 2:]:
        raise ValueError(f"expected two equal halves of axes, found {show(input.shape)}")
    return np.diagonal(input.reshape(2 * (int(np.prod(half)),))).reshape(half)


diag.gradient(lambda node, dy: build.DiagPart(dy))


diag_part.gradient(lambda node, dy: build.Diag(dy))


@diag.batched
def _(node, args, batched):
    shape = build.Shape(args[0])
    matrices = build.MatrixDiag(build.Reshape(args[0], build.ConcatV2(0, shape[:1], [-1])))
    return build.Reshape(matrices, build.ConcatV2(0, shape, shape[1:]))


@diag_part.batched
def _(node, args, batched):
    half = build.Shape(args[0])[1:1 + rank_in(node) // 2]
    total, count = build.Prod(half, [0]), build.Shape(args[0])[:1]
    square = build.Reshape(args[0], build.ConcatV2(0, count, build.Pack(total, total, axis=0)))
    return build.Reshape(build.MatrixDiagPart(square), build.ConcatV2(0, count, half))


def _square(diagonal):
    rank_of(diagonal, at_least=1, what="diagonal")
    dims = diagonal.dims
    return Spec(diagonal.dtype.base_dtype, None if dims is None else (*dims, dims[-1]))


@op("MatrixDiag", infer=_square, batched=in_front)
def matrix_diag(diagonal):
    """Square matrices with these diagonals, zero elsewhere. diagonal: any[..., n] -> any[..., n, n]."""
    n = diagonal.shape[-1]
    out = np.zeros((*diagonal.shape, n), diagonal.dtype)
    np.einsum("...ii->...i", out)[...] = diagonal
    return out


def _main(input):
    rank_of(input, at_least=2, what="input")
    if input.dims is None:
        return Spec(input.dtype.base_dtype, None)
    *batch, rows, columns = input.dims
    return Spec(input.dtype.base_dtype, (*batch, None if None in (rows, columns) else min(rows, columns)))


@op("MatrixDiagPart", infer=_main, batched=in_front)
def matrix_diag_part(input):
    """The main diagonals of matrices. input: any[..., m, n] -> any[..., min(m, n)]."""
    return np.diagonal(input, axis1=-2, axis2=-1)


matrix_diag.gradient(lambda node, dy: build.MatrixDiagPart(dy))


@matrix_diag_part.gradient
def _(node, dy):
    x = node.inputs[0]
    if x.dims is not None and x.dims[-1] is not None and x.dims[-1] == x.dims[-2]:
        return build.MatrixDiag(dy)
    return build.MatrixSetDiag(build.ZerosLike(x), dy)


def _with_diagonal(input, diagonal):
    rank_of(input, at_least=2, what="input")
    rank_of(diagonal, at_least=1, what="diagonal")
    if input.dims is not None and diagonal.dims is not None:
        *batch, rows, columns = input.dims
        if len(diagonal.dims) != len(batch) + 1:
            raise ShapeError(f"diagonal has shape {show(diagonal.dims)}, expected one axis fewer than "
                             f"{show(input.dims)}")
        merge(tuple(batch), diagonal.dims[:-1])
        if None not in (rows, columns):
            merge_sizes(diagonal.dims[-1], min(rows, columns))
    return same_shape(input)


@op("MatrixSetDiag", infer=_with_diagonal, batched=in_front)
def matrix_set_diag(input, diagonal):
    """Matrices with their main diagonals replaced. input: any[..., m, n], diagonal: any[..., min(m, n)]."""
    out = np.array(input)
    n = min(out.shape[-2:])
    np.einsum("...ii->...i", out[..., :n, :n])[...] = diagonal
    return out


@matrix_set_diag.gradient
def _(node, dy):
    return build.MatrixSetDiag(dy, build.ZerosLike(node.inputs[1])), build.MatrixDiagPart(dy)


@op("MatrixBandPart", infer=ranked(same_shape, at_least=2))
def matrix_band_part(input, num_lower: Index, num_upper: Index):
    """Matrices with all but so many diagonals below and above the main one set to zero; -1 keeps all of a side.

    Raises ArgumentError for more diagonals than rows or columns.
    """
    for side, count, size in ("lower", num_lower, "rows"), ("upper", num_upper, "columns"):
        most = input.shape[-2 if size == "rows" else -1]
        if count > most:
            raise ArgumentError(f"num_{side} must be negative or less or equal to number of {size} ({most}) got: "
                                f"{count}")
    rows, columns = np.ogrid[:input.shape[-2], :input.shape[-1]]
    kept = ((num_lower < 0) | (rows - columns <= num_lower)) & ((num_upper < 0) | (columns - rows <= num_upper))
    return np.where(kept, input, np.zeros((), input.dtype))


@matrix_band_part.gradient
def _(node, dy):
    return build.MatrixBandPart(dy, *node.inputs[1:]), blocked(_COUNTS), blocked(_COUNTS)


matrix_band_part.batched(unvaried(1, 2))
