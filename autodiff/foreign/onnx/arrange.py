"""ONNX ops that give shapes, and the same elements in another arrangement."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...core.constant_value import static_dims
from ...core.errors import ArgumentError
from ...core.graph import Tensor
from ..model import tf
from .sizes import axis_of, product, rank_of, reshaped, shape_of, size_of, sizes_of, vector
from .table import Node, dtype_named, ints, like, onnx, scalar, text, value_of

_FURTHEST = np.iinfo(np.int64).max  # the end of any axis
_FAR = np.iinfo(np.int32).max  # behind the end of any axis, in the type of our slices


_KINDS = {"value_float": np.float32, "value_int": np.int64, "value_string": object}


@onnx.op("Constant")
def constant(*, value: Any = None, **given: Any) -> Any:
    if value is not None:
        return tf.constant(value)
    (kind, entries), = given.items()
    return tf.constant(np.array(entries, _KINDS[kind.removesuffix("s")]))


@onnx.op("Shape")
def shape(x: Any, *, start: int = 0, end: int = _FURTHEST) -> Any:
    whole = shape_of(x)
    return whole if (start, end) == (0, _FURTHEST) else whole[start:min(end, rank_of(x))]


@onnx.op("Size")
def size(x: Any) -> Any:
    return tf.size(x, out_type=tf.int64)


@onnx.op("Reshape", note="0 keeps the size of that axis")
def reshape(x: Any, shape: Any, *, allowzero: int = 0) -> Any:
    wanted = ints(shape)
    if wanted is None:
        y = tf.reshape(x, shape if allowzero else _with_kept(x, shape))
        y.set_shape([size or None for size in static_dims(shape) or ()] or None)
        return y
    if 0 not in wanted or allowzero:
        return tf.reshape(x, np.array(wanted, np.int64))
    entries = [size_of(x, i) if entry == 0 else entry for i, entry in enumerate(wanted)]
    return tf.reshape(x, vector(entries)) if -1 in wanted else reshaped(x, entries)


def _with_kept(x: Any, shape: Any) -> Any:
    """A shape that is not known, with the sizes of `x` where it is 0."""
    kept = tf.concat([shape_of(x), tf.zeros_like(shape)], 0)[:tf.size(shape)]
    return tf.where_v2(tf.equal(shape, 0), kept, shape)


@onnx.op("Flatten")
def flatten(x: Any, *, axis: int = 1) -> Any:
    sizes = sizes_of(x) if rank_of(x) else []
    at = axis if axis >= 0 else axis + len(sizes)
    return reshaped(x, [product(sizes[:at]), product(sizes[at:])])


@onnx.op("Squeeze")
def squeeze(x: Any, axes: Any = None) -> Any:
    if axes is None or ints(axes) is not None:
        return tf.squeeze(x, ints(axes))
    dropped = _marked(axes, rank_of(x))
    y = tf.reshape(x, tf.boolean_mask(shape_of(x), tf.equal(dropped, 0)))
    y.set_shape([None] * (rank_of(x) - int(axes.shape[0])))
    return y


def _marked(axes: Any, rank: int) -> Any:
    """int64[rank]: 1 at these axes, which are not known while the graph is built."""
    return tf.reduce_sum(tf.one_hot(tf.floormod(tf.cast(axes, tf.int64), rank), rank, dtype=tf.int64), 0)


@onnx.op("Unsqueeze")
def unsqueeze(x: Any, axes: Any) -> Any:
    known = ints(axes)
    if known is None:
        return _unsqueezed(x, axes, rank_of(x) + int(axes.shape[0]))
    if min(known, default=0) < 0:
        known = [axis_of(a, rank_of(x) + len(known)) for a in known]
    if x.dims == () and known == [0]:
        return tf.stack([x])  # a size as a part of a shape: what is known of it stays known
    for axis in sorted(known):
        x = tf.expand_dims(x, axis)
    return x


def _unsqueezed(x: Any, axes: Any, rank: int) -> Any:
    """New axes at places that are not known while the graph is built. rank: with them."""
    added = _marked(axes, rank)
    source = tf.maximum(tf.cumsum(1 - added) - 1, 0)
    sizes = tf.gather(tf.concat([shape_of(x), [1]], 0), source)
    y = tf.reshape(x, tf.where_v2(tf.equal(added, 1), tf.ones_like(added), sizes))
    y.set_shape([None] * rank)
    return y


@onnx.op("Split")
def split(x: Any, split: Any = None, *, axis: int = 0, num_outputs: int = 0, node: Node) -> Any:
    known = ints(split)
    if split is not None:
        return tf.split(x, split if known is None else known, axis, num=node.wanted)
    count, size = num_outputs or node.wanted, size_of(x, axis)
    if isinstance(size, Tensor):
        return tf.split(x, count, axis)
    step = -(-size // count)
    return tf.split(x, [min(step, size - i * step) for i in range(count)], axis)


@onnx.op("Slice", note="bounds are clipped to the axis, as NumPy's")
def slice_(x: Any, starts: Any, ends: Any, axes: Any = None, steps: Any = None) -> Any:
    given = [starts, ends, axes, steps]
    lists = [ints(v) for v in given]
    if any(found is None and v is not None for found, v in zip(lists, given)):
        begin, end, by = _whole(x, starts, ends, axes, steps)
        return tf.strided_slice(x, begin, end, by)
    first, last, at, by = lists
    first, last, rank = first or [], last or [], rank_of(x)
    pieces = [slice(None)] * rank
    for axis, start, stop, step in zip(at or range(len(first)), first, last, by or [1] * len(first)):
        start, stop = (max(-_FAR, min(_FAR, v)) for v in (start, stop))
        pieces[axis_of(axis, rank)] = slice(start, stop, step)
    return x[tuple(pieces)]


def _whole(x: Any, starts: Any, ends: Any, axes: Any, steps: Any) -> tuple[Any, Any, Any]:
    """Begin, end and step of every axis, as int64[rank], from those that are known in the run."""
    rank = rank_of(x)
    starts, ends = tf.cast(starts, tf.int64), tf.cast(ends, tf.int64)
    axes = tf.range(tf.size(starts, out_type=tf.int64)) if axes is None else tf.floormod(tf.cast(axes, tf.int64), rank)
    steps = tf.ones_like(starts) if steps is None else tf.cast(steps, tf.int64)
    place = tf.expand_dims(axes, 1)
    set_at = tf.tensor_scatter_update
    return (set_at(tf.zeros([rank], tf.int64), place, starts), set_at(shape_of(x), place, ends),
            set_at(tf.ones([rank], tf.int64), place, steps))


@onnx.op("Pad", note="negative pads cut; modes reflect, edge and wrap take slices by index")
def pad(x: Any, pads: Any, constant_value: Any = None, axes: Any = None, *, mode: Any = b"constant",
        value: float = 0.0) -> Any:
    rank, kind = rank_of(x), text(mode)
    pairs = tf.transpose(tf.reshape(tf.cast(pads, tf.int64), [2, -1]))
    if axes is not None:
        place = tf.expand_dims(tf.floormod(tf.cast(axes, tf.int64), rank), 1)
        pairs = tf.tensor_scatter_update(tf.zeros([rank, 2], tf.int64), place, pairs)
    known = value_of(pairs)
    if kind != "constant":
        return _by_index(x, kind, pairs if known is None else known)
    filling = like(value if constant_value is None else scalar(constant_value), x)
    if known is not None:
        x = x[tuple(slice(max(-a, 0), -max(-b, 0) or None) for a, b in known.tolist())] if (known < 0).any() else x
        return tf.pad(x, np.maximum(known, 0), constant_values=filling)
    begin, end = tf.maximum(-pairs[:, 0], 0), shape_of(x) + tf.minimum(pairs[:, 1], 0)
    x = tf.strided_slice(x, begin, end)
    x.set_shape([None] * rank)
    return tf.pad(x, tf.maximum(pairs, 0), constant_values=filling)


def _by_index(x: Any, kind: str, pairs: Any) -> Any:
    for axis in range(rank_of(x)):
        if isinstance(pairs, np.ndarray) and not pairs[axis].any():
            continue
        before, after = pairs[axis, 0], pairs[axis, 1]
        size = tf.cast(size_of(x, axis), tf.int64)
        place = tf.range(-tf.cast(before, tf.int64), size + tf.cast(after, tf.int64))
        if kind == "edge":
            place = tf.clip_by_value(place, 0, size - 1)
        elif kind == "wrap":
            place = tf.floormod(place, size)
        elif kind == "reflect":
            period = tf.maximum(2 * (size - 1), 1)
            place = tf.floormod(place, period)
            place = tf.minimum(place, period - place)
        else:
            raise ArgumentError(expected="a mode constant, reflect, edge or wrap", found=repr(kind))
        x = tf.gather(x, place, axis=axis)
    return x


@onnx.op("CenterCropPad")
def center_crop_pad(x: Any, shape: Any, *, axes: Any = None) -> Any:
    rank = rank_of(x)
    at = [axis_of(a, rank) for a in axes] if axes else list(range(rank))
    missing = tf.cast(shape, tf.int64) - tf.stack([tf.cast(size_of(x, axis), tf.int64) for axis in at])
    before = tf.sign(missing) * (tf.abs(missing) // 2)  # what is odd goes to the end
    return pad(x, tf.concat([before, missing - before], 0), axes=tf.constant(at, tf.int64))


@onnx.op("DepthToSpace")
def depth_to_space(x: Any, *, blocksize: int, mode: Any = b"DCR") -> Any:
    n, c, h, w = sizes_of(x)
    depth = c // (blocksize * blocksize)
    if text(mode) == "DCR":
        parts, order = [n, blocksize, blocksize, depth, h, w], [0, 3, 4, 1, 5, 2]
    else:
        parts, order = [n, depth, blocksize, blocksize, h, w], [0, 1, 4, 2, 5, 3]
    return reshaped(tf.transpose(reshaped(x, parts), order), [n, depth, h * blocksize, w * blocksize])


@onnx.op("SpaceToDepth")
def space_to_depth(x: Any, *, blocksize: int, mode: Any = b"DCR") -> Any:
    n, c, h, w = sizes_of(x)
    parts = reshaped(x, [n, c, h // blocksize, blocksize, w // blocksize, blocksize])
    order = [0, 3, 5, 1, 2, 4] if text(mode) == "DCR" else [0, 1, 3, 5, 2, 4]
    return reshaped(tf.transpose(parts, order), [n, c * blocksize * blocksize, h // blocksize, w // blocksize])


@onnx.op("Trilu")
def trilu(x: Any, k: Any = None, *, upper: int = 1) -> Any:
    shift = tf.constant(0, tf.int64) if k is None else scalar(k)
    rows, columns = (tf.range(tf.cast(size_of(x, axis), tf.int64)) for axis in (-2, -1))
    distance = tf.expand_dims(columns, 0) - tf.expand_dims(rows, 1)
    return tf.where_v2(distance >= shift if upper else distance <= shift, x, tf.zeros_like(x))


@onnx.op("EyeLike")
def eye_like(x: Any, *, dtype: int = 0, k: int = 0) -> Any:
    rows, columns = (tf.range(tf.cast(size, tf.int64)) for size in (sizes_of(x) * 2)[:2])
    found = tf.equal(tf.expand_dims(columns, 0) - tf.expand_dims(rows, 1), k)
    return tf.cast(found, dtype_named(dtype) if dtype else x.dtype.base_dtype)


onnx.rows({
    "Identity": lambda x: tf.identity(x) if isinstance(x, Tensor) else (x,),
    "ConstantOfShape": lambda shape, *, value=None:
        tf.fill(shape, tf.constant(np.float32(0) if value is None else value.reshape(()))),
    "Range": lambda start, limit, delta, *, stash_type=1: tf.range(*[tf.reshape(v, []) for v in (start, limit, delta)]),
    "Transpose": lambda x, *, perm=None: tf.transpose(x, perm),
    "Expand": lambda x, shape: tf.broadcast_to(x, tf.broadcast_dynamic_shape(shape_of(x), tf.cast(shape, tf.int64))),
    "Tile": lambda x, repeats: tf.tile(x, repeats),
    "Concat": lambda *xs, axis=1: tf.concat(list(xs), axis) if len(xs) > 1 else tf.identity(xs[0]),
    "ReverseSequence": lambda x, sequence_lens, *, batch_axis=1, time_axis=0:
        tf.reverse_sequence(x, sequence_lens, seq_axis=time_axis, batch_axis=batch_axis)})
