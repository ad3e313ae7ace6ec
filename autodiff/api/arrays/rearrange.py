"""Repeating, padding, turning round, blocks and diagonals: TensorFlow's functions."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...core.constant_value import known, static_dims, static_value
from ...core.convert import constant_in, convert_to_tensor, to_tensor
from ...core.dtypes import as_dtype, bool_, float32, int32
from ...core.errors import ArgumentError, KindError, ShapeError, UnsupportedError
from ...core.graph import Tensor, graph_of
from ...core.infer import axis_in
from ...core.op import build
from ...core.shapes import is_known, merge
from ..common.arguments import one_of, or_answered
from . import creation
from .gathering import boolean_mask


def tile(input: Any, multiples: Any, name: str | None = None) -> Tensor:
    """`input` repeated so many times along each axis."""
    return build.Tile(input, multiples, name=name)


def pad(tensor: Any, paddings: Any, mode: str = "CONSTANT", name: str | None = None,
        constant_values: Any = 0) -> Tensor:
    """More entries before and after each axis: a constant, or a mirror image (REFLECT, SYMMETRIC)."""
    mode = mode.upper()
    if mode == "CONSTANT":
        if not isinstance(constant_values, Tensor) and constant_values == 0:
            return build.Pad(tensor, paddings, name=name)
        return build.PadV2(tensor, paddings, constant_values, name=name)
    if mode not in ("REFLECT", "SYMMETRIC"):
        raise ArgumentError(f"Unknown padding mode: {mode}", expected="'CONSTANT', 'REFLECT' or 'SYMMETRIC'")
    return build.MirrorPad(tensor, paddings, mode=mode, name=name)


def reverse(tensor: Any, axis: Any, name: str | None = None) -> Tensor:
    """`tensor` turned round along a list of axes."""
    return build.ReverseV2(tensor, axis, name=name)


reverse_v2 = reverse


def reverse_sequence(input: Any, seq_lengths: Any, seq_axis: int | None = None, batch_axis: int | None = None,
                     name: str | None = None, seq_dim: int | None = None, batch_dim: int | None = None) -> Tensor:
    """The first seq_lengths[i] entries of row i turned round. seq_dim, batch_dim: old names of the axes."""
    seq_axis = one_of("seq_axis", seq_axis, "seq_dim", seq_dim)
    batch_axis = one_of("batch_axis", batch_axis, "batch_dim", batch_dim)
    if seq_axis is None:
        raise ArgumentError("reverse_sequence needs seq_axis")
    return build.ReverseSequence(input, seq_lengths, seq_dim=seq_axis, batch_dim=batch_axis or 0, name=name)


def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Tensor:
    """Elements moved round by `shift` along `axis`."""
    return build.Roll(input, shift, axis, name=name)


def repeat(input: Any, repeats: Any, axis: int | None = None, name: str | None = None) -> Tensor:
    """Each entry along an axis (of the flat tensor without one) so many times in a row."""
    with graph_of([input, repeats]).name_scope(name or "Repeat"):
        data, repeats = convert_to_tensor(input, name="data"), convert_to_tensor(repeats, name="repeats")
        if axis is None or data.dims == ():
            data, axis = build.Reshape(data, [-1]), 0
        if not isinstance(axis, int):
            raise KindError(expected="an int as axis", found=repr(axis))
        if data.dims is None or repeats.dims is None:
            raise ShapeError(expected="inputs of known rank", found=f"{data.describe()} and {repeats.describe()}")
        axis = axis_in(axis, len(data.dims))
        if repeats.dims == ():
            return _tiled_along(data, axis, repeats)
        merge(repeats.dims, data.dims[axis:axis + 1])
        longest = build.Maximum(0, build.Max(repeats, [0]))
        mask = sequence_mask(repeats, longest)
        lead = build.Shape(data)[:axis + 1]
        mask = build.BroadcastTo(mask, build.ConcatV2(0, lead, build.ExpandDims(_int32(longest), 0)))
        mask.set_shape((None,) * (axis + 2))
        kept = boolean_mask(_tiles(data, axis, longest), mask)
        shape = build.Shape(data)
        made = build.Reshape(kept, build.ConcatV2(0, shape[:axis], [-1], shape[axis + 1:])) if axis else kept
        made.set_shape((*data.dims[:axis], None, *data.dims[axis + 1:]))
        return made


def _tiles(data: Tensor, axis: int, times: Tensor) -> Tensor:
    """`times` copies of each entry on a new axis behind `axis`."""
    multiples = [1] * (len(data.dims) + 1)  # type: ignore[arg-type]
    packed = build.Pack(*multiples[:axis + 1], _int32(times), *multiples[axis + 2:], axis=0)
    return build.Tile(build.ExpandDims(data, axis + 1), packed)


def _tiled_along(data: Tensor, axis: int, times: Tensor) -> Tensor:
    tiles = _tiles(data, axis, times)
    size, count = data.dims[axis], static_value(times)  # type: ignore[index]
    length = -1 if size is None or count is None else size * int(count)
    shape = build.Shape(data)
    return build.Reshape(tiles, build.ConcatV2(0, shape[:axis], [length], shape[axis + 1:]))


def _int32(x: Tensor) -> Tensor:
    return x if x.dtype is int32 else build.Cast(x, dtype=int32)


def sequence_mask(lengths: Any, maxlen: Any = None, dtype: Any = bool_, name: str | None = None) -> Tensor:
    """Rows whose first lengths[i] entries are true, of `maxlen` entries or as many as the longest needs."""
    with graph_of([lengths, maxlen]).name_scope(name or "SequenceMask"):
        lengths = convert_to_tensor(lengths)
        if maxlen is None:
            axes = build.Range(0, build.Rank(lengths), 1) if lengths.dims is None else [*range(len(lengths.dims))]
            maxlen = build.Maximum(0, build.Max(lengths, axes))
        else:
            maxlen = convert_to_tensor(maxlen)
        if maxlen.dims not in ((), None):
            raise ArgumentError("maxlen must be scalar for sequence_mask", found=maxlen.describe())
        places = build.Range(creation.zeros([], maxlen.dtype), maxlen, creation.ones([], maxlen.dtype))
        column = build.ExpandDims(lengths, -1)
        mask = build.Less(places, column if column.dtype is maxlen.dtype else build.Cast(column, dtype=maxlen.dtype))
        return mask if dtype is None or as_dtype(dtype) is mask.dtype else build.Cast(mask, dtype=as_dtype(dtype))


def space_to_depth(input: Any, block_size: int, name: str | None = None, data_format: str = "NHWC") -> Tensor:
    """Each block of pixels as one pixel with more channels."""
    return build.SpaceToDepth(input, block_size=block_size, data_format=data_format, name=name)


def depth_to_space(input: Any, block_size: int, name: str | None = None, data_format: str = "NHWC") -> Tensor:
    """Each pixel as a block of pixels with fewer channels."""
    return build.DepthToSpace(input, block_size=block_size, data_format=data_format, name=name)


def space_to_batch_nd(input: Any, block_shape: Any, paddings: Any, name: str | None = None) -> Tensor:
    """Padded; then positions within blocks moved to the batch."""
    return build.SpaceToBatchND(input, block_shape, paddings, name=name)


def batch_to_space_nd(input: Any, block_shape: Any, crops: Any, name: str | None = None) -> Tensor:
    """Blocks put together from the batch, then cropped."""
    return build.BatchToSpaceND(input, block_shape, crops, name=name)


def space_to_batch(input: Any, paddings: Any, block_size: int | None = None, name: str | None = None,
                   block_shape: Any = None) -> Tensor:
    """space_to_batch_nd of images, with square blocks."""
    return _in_squares(space_to_batch_nd, input, paddings, block_size, name, block_shape)


def batch_to_space(input: Any, crops: Any, block_size: int | None = None, name: str | None = None,
                   block_shape: Any = None) -> Tensor:
    """batch_to_space_nd of images, with square blocks."""
    return _in_squares(batch_to_space_nd, input, crops, block_size, name, block_shape)


def _in_squares(of: Any, input: Any, edges: Any, block_size: Any, name: str | None, block_shape: Any) -> Tensor:
    size = one_of("block_shape", block_shape, "block_size", block_size)
    made: Tensor = of(input, np.array([size, size], np.int64), edges, name)
    made.set_shape([None] * 4)
    return made


def required_space_to_batch_paddings(input_shape: Any, block_shape: Any, base_paddings: Any = None,
                                     name: str | None = None) -> tuple[Tensor, Tensor]:
    """Paddings that make sizes multiples of the blocks, and the crops that undo the addition."""
    with graph_of([input_shape, block_shape]).name_scope(name or "required_space_to_batch_paddings"):
        sizes = convert_to_tensor(input_shape, int32, "input_shape")
        blocks = convert_to_tensor(block_shape, int32, "block_shape")
        count = blocks.dims[0] if blocks.dims else None
        if count is None:
            raise ShapeError(expected="block_shape of known length", found=blocks.describe())
        base = creation.zeros([count, 2], int32) if base_paddings is None else convert_to_tensor(
            base_paddings, int32, "base_paddings")
        sizes, blocks, base = known(sizes), known(blocks), known(base)
        start, end = base[:, 0], base[:, 1]
        extra = (blocks - (sizes + start + end) % blocks) % blocks
        graph = graph_of([input_shape, block_shape])
        columns = [to_tensor(graph, v, int32, "column") for v in (start, end + extra, np.zeros(count, np.int32), extra)]
        return build.Pack(*columns[:2], axis=1, name="paddings"), build.Pack(*columns[2:], axis=1, name="crops")


def meshgrid(*args: Any, indexing: str = "xy", name: str = "meshgrid") -> list[Tensor]:
    """Coordinates of a grid, one tensor for each axis; 'xy' swaps the first two axes, 'ij' does not."""
    if indexing not in ("xy", "ij"):
        raise ArgumentError(f"indexing is {indexing!r}, expected 'xy' or 'ij'")
    with graph_of(args).name_scope(name or "meshgrid"):
        tensors = [convert_to_tensor(x) for x in args]
        places = list(range(len(tensors)))
        if indexing == "xy" and len(tensors) > 1:
            places[:2] = [1, 0]
        shaped = [build.Reshape(x, [-1 if i == at else 1 for i in range(len(tensors))])
                  for x, at in zip(tensors, places)]
        order = np.argsort(places)
        shape = to_tensor(graph_of(args), [known(build.Size(tensors[i])) for i in order], int32, "shape")
        return [build.BroadcastTo(x, shape, name="mul") for x in shaped]


def diag(diagonal: Any, name: str | None = None) -> Tensor:
    """Zeros with `diagonal` on the diagonal; twice as many axes."""
    return build.Diag(diagonal, name=name)


def diag_part(input: Any, name: str | None = None) -> Tensor:
    """The diagonal of a tensor whose two halves of axes are alike."""
    return build.DiagPart(input, name=name)


def matrix_diag(diagonal: Any, name: str = "diag", k: int = 0, num_rows: int = -1, num_cols: int = -1,
                padding_value: Any = 0) -> Tensor:
    """Square matrices with these diagonals. Only the main diagonal is supported."""
    _main_diagonal_only(k=k or None, num_rows=None if num_rows == -1 else num_rows,
                        num_cols=None if num_cols == -1 else num_cols, padding_value=padding_value or None)
    return build.MatrixDiag(diagonal, name=name)


@or_answered
def matrix_diag_part(input: Any, name: str = "diag_part", k: int = 0, padding_value: Any = 0) -> Tensor:
    """The main diagonals of matrices."""
    _main_diagonal_only(k=k or None)
    return build.MatrixDiagPart(input, name=name)


def matrix_set_diag(input: Any, diagonal: Any, name: str = "set_diag", k: int = 0) -> Tensor:
    """Matrices with their main diagonals replaced."""
    _main_diagonal_only(k=k or None)
    return build.MatrixSetDiag(input, diagonal, name=name)


def _main_diagonal_only(**given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            raise UnsupportedError(f"{name}={value!r} is not supported: only whole main diagonals are",
                                   hint="use tf.pad or tf.gather_nd to place others")


def matrix_band_part(input: Any, num_lower: Any, num_upper: Any, name: str | None = None) -> Tensor:
    """Matrices with zeros beyond so many diagonals below and above the main one; -1 keeps a side whole."""
    return build.MatrixBandPart(input, num_lower, num_upper, name=name)


def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> Tensor:
    """The last two axes swapped."""
    with graph_of([a]).name_scope(name or "matrix_transpose"):
        a = convert_to_tensor(a, name="a")
        swap = build.ConjugateTranspose if conjugate and a.dtype.is_complex else build.Transpose
        if a.dims is None:
            first = build.Range(0, build.Rank(a) - 2, 1)
            last = build.Pack(build.Rank(a) - 1, build.Rank(a) - 2, axis=0)
            return swap(a, build.ConcatV2(0, first, last), name="transpose")
        if len(a.dims) < 2:
            raise ShapeError("Argument 'a' should be a (batch) matrix, with rank >= 2.", found=a.describe())
        return swap(a, [*range(len(a.dims) - 2), len(a.dims) - 1, len(a.dims) - 2], name="transpose")


def eye(num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: Any = float32,
        name: str | None = None) -> Tensor:
    """Identity matrices, square unless num_columns is given."""
    columns = num_rows if num_columns is None else num_columns
    graph = graph_of([num_rows, columns, batch_shape])
    dtype = as_dtype(dtype)
    with graph.name_scope(name or "eye") as scope:
        batch = convert_to_tensor([] if batch_shape is None else batch_shape, int32, "shape")
        rows, width = (convert_to_tensor(n, int32, "size") for n in (num_rows, columns))
        whole = build.ConcatV2(0, batch, build.Pack(rows, width, axis=0))
        shape = static_dims(whole)
        if shape is not None and is_known(shape):
            identity = np.eye(*shape[-2:], dtype=dtype.as_numpy_dtype)
            last = "diag" if num_columns is None else "set_diag"
            return constant_in(graph, np.broadcast_to(identity, shape), f"{scope}{last}/")
        ones = build.Fill(build.ConcatV2(0, batch, build.Pack(build.Minimum(rows, width), axis=0)),
                          creation.ones([], dtype))
        return build.MatrixSetDiag(build.Fill(whole, creation.zeros([], dtype)), ones, name=scope)
