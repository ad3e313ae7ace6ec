"""Blocks of space moved into the depth or the batch, and back."""

import numpy as np

from ...core.constant_value import static_value
from ...core.declare import op
from ...core.errors import ArgumentError, ShapeError
from ...core.infer import rank_of
from ...core.op import Index, Spec, blocked, build
from ...core.shapes import is_known, show
from ..common.batch_axis import rank_in

_BLOCKS = "blocks and paddings are integers"


def _scaled(input, block_size, data_format, *, deeper):
    """Shape after space_to_depth (deeper) or depth_to_space."""
    rank_of(input, exactly=4, what="input")
    if block_size < 2:
        raise ArgumentError(expected="block_size >= 2", found=block_size)
    if data_format not in ("NHWC", "NCHW"):
        raise ArgumentError(f"data_format is {data_format!r}, expected 'NHWC' or 'NCHW'")
    if input.dims is None:
        return Spec(input.dtype.base_dtype, (None,) * 4)
    depth = 3 if data_format == "NHWC" else 1
    dims = []
    for axis, size in enumerate(input.dims):
        by = 1 if axis == 0 else block_size ** 2 if axis == depth else block_size
        if size is not None and by > 1 and deeper != (axis == depth) and size % by:
            raise ShapeError(f"axis {axis} of {show(input.dims)} has size {size}, expected a multiple of {by}")
        dims.append(None if size is None else size * by if deeper == (axis == depth) else size // by if axis else size)
    return Spec(input.dtype.base_dtype, tuple(dims))


@op("SpaceToDepth", infer=lambda input, *, block_size, data_format="NHWC": _scaled(
    input, block_size, data_format, deeper=True))
def space_to_depth(input, *, block_size, data_format="NHWC"):
    """Each block of block_size x block_size pixels as one pixel. input: any[n, h, w, c] -> any[n, h/b, w/b, c*b*b]."""
    b = block_size
    if data_format == "NCHW":
        n, c, h, w = input.shape
        x = input.reshape(n, c, h // b, b, w // b, b).transpose(0, 3, 5, 1, 2, 4)
        return x.reshape(n, b * b * c, h // b, w // b)
    n, h, w, c = input.shape
    return input.reshape(n, h // b, b, w // b, b, c).transpose(0, 1, 3, 2, 4, 5).reshape(n, h // b, w // b, b * b * c)


@op("DepthToSpace", infer=lambda input, *, block_size, data_format="NHWC": _scaled(
    input, block_size, data_format, deeper=False))
def depth_to_space(input, *, block_size, data_format="NHWC"):
    """Each pixel as a block of pixels. input: any[n, h, w, c] -> any[n, h*b, w*b, c/b/b]."""
    b = block_size
    if data_format == "NCHW":
        n, c, h, w = input.shape
        x = input.reshape(n, b, b, c // (b * b), h, w).transpose(0, 3, 4, 1, 5, 2)
        return x.reshape(n, c // (b * b), h * b, w * b)
    n, h, w, c = input.shape
    return input.reshape(n, h, w, b, b, c // (b * b)).transpose(0, 1, 3, 2, 4, 5).reshape(n, h * b, w * b, c // (b * b))


space_to_depth.gradient(lambda node, dy: build.DepthToSpace(dy, **node.attrs))


depth_to_space.gradient(lambda node, dy: build.SpaceToDepth(dy, **node.attrs))


@space_to_depth.batched
@depth_to_space.batched
def _(node, args, batched):
    shape = build.Shape(args[0])
    merged = build.Reshape(args[0], build.ConcatV2(0, [-1], shape[2:]))
    made = node.definition(merged, **node.attrs)
    return build.Reshape(made, build.ConcatV2(0, shape[:2], build.Shape(made)[1:]))


def _regrouped(input, block_shape, borders, to_batch):
    """Shape after space_to_batch_nd (to_batch) or batch_to_space_nd."""
    dtype = input.dtype.base_dtype
    blocks, edges = static_value(block_shape), static_value(borders)
    if input.dims is None:
        return Spec(dtype, None)
    if blocks is None:
        behind = 1 + block_shape.dims[0] if block_shape.dims and is_known(block_shape.dims) else len(input.dims)
        return Spec(dtype, (None,) * behind + input.dims[behind:])
    m = len(blocks)
    rank_of(input, at_least=1 + m, what="input")
    if edges is not None and edges.min(initial=0) < 0:
        raise ArgumentError("paddings must be non-negative" if to_batch else "crops must be non-negative",
                            found=edges.tolist())
    if blocks.min(initial=1) < 1 or edges is not None and edges.shape != (m, 2):
        raise ArgumentError(expected=f"blocks >= 1 and {m} rows of two",
                            found=f"{blocks.tolist()} and {show(borders.dims)}")
    batch, total = input.dims[0], int(np.prod(blocks))
    if batch is not None and not to_batch and batch % total:
        raise ShapeError(f"the batch has size {batch}, expected a multiple of {total}")
    dims = [None if batch is None else batch * total if to_batch else batch // total]
    for i, (size, block) in enumerate(zip(input.dims[1:1 + m], blocks.tolist())):
        edge = None if edges is None else int(edges[i].sum())
        dims.append(None if size is None or edge is None else _regrouped_size(size, block, edge, to_batch))
    return Spec(dtype, (*dims, *input.dims[1 + m:]))


def _regrouped_size(size, block, edge, to_batch):
    if to_batch and (size + edge) % block:
        raise ShapeError(expected=f"a padded size that is a multiple of {block}", found=f"{size} + {edge}")
    if not to_batch and size * block < edge:
        raise ShapeError(expected=f"crops of at most {size * block}", found=edge)
    return (size + edge) // block if to_batch else size * block - edge


@op("SpaceToBatchND", infer=lambda input, block_shape, paddings: _regrouped(input, block_shape, paddings, True))
def space_to_batch_nd(input, block_shape: Index, paddings: Index):
    """Positions within blocks moved to the batch. any[n, s..., ...], block_shape: int[m] -> any[n*b, s/b..., ...]."""
    m, blocks = len(block_shape), block_shape.tolist()
    rest = input.ndim - 1 - m
    x = np.pad(input, [(0, 0), *paddings.tolist(), *[(0, 0)] * rest])
    _check_multiples(x.shape[1:1 + m], blocks)
    split = [part for n, b in zip(x.shape[1:], blocks) for part in (n // b, b)]
    x = x.reshape(x.shape[0], *split, *x.shape[1 + m:])
    order = [*range(2, 2 * m + 1, 2), 0, *range(1, 2 * m, 2), *range(2 * m + 1, x.ndim)]
    x = x.transpose(order)
    return x.reshape(-1 if x.size else int(np.prod(x.shape[:m + 1])), *x.shape[m + 1:])


def _check_multiples(shape, blocks):
    for n, b in zip(shape, blocks):
        if n % b:
            raise ValueError(f"expected a padded size that is a multiple of {b}, found {n}")


@op("BatchToSpaceND", infer=lambda input, block_shape, crops: _regrouped(input, block_shape, crops, False))
def batch_to_space_nd(input, block_shape: Index, crops: Index):
    """Blocks put together from the batch. any[n*b, s..., ...], block_shape: int[m] -> any[n, s*b - crops..., ...]."""
    m, blocks = len(block_shape), block_shape.tolist()
    total = int(np.prod(blocks))
    _check_multiples(input.shape[:1], [total])
    x = input.reshape(*blocks, input.shape[0] // total, *input.shape[1:])
    order = [m, *(i for k in range(m) for i in (m + 1 + k, k)), *range(2 * m + 1, x.ndim)]
    x = x.transpose(order)
    merged = [n * b for n, b in zip(input.shape[1:], blocks)]
    x = x.reshape(x.shape[0], *merged, *input.shape[1 + m:])
    return x[(slice(None), *(slice(a, n - b) for n, (a, b) in zip(merged, crops.tolist())))]


@space_to_batch_nd.gradient
def _(node, dy):
    return build.BatchToSpaceND(dy, *node.inputs[1:]), blocked(_BLOCKS), blocked(_BLOCKS)


@batch_to_space_nd.gradient
def _(node, dy):
    return build.SpaceToBatchND(dy, *node.inputs[1:]), blocked(_BLOCKS), blocked(_BLOCKS)


@space_to_batch_nd.batched_if_same(1, 2)
@batch_to_space_nd.batched_if_same(1, 2)
def _(node, args, batched):
    rank = rank_in(node)
    last = build.Transpose(args[0], [*range(1, rank + 1), 0])  # the leading axis is one more that is left alone
    return build.Transpose(node.definition(last, *args[1:]), [rank, *range(rank)])
