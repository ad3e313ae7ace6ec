"""ATen's new tensors and views, and what joins, repeats, pads and turns tensors."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...model import tf
from ...onnx.arrange import depth_to_space, space_to_depth
from .common import aten, axes_of, axis_of, dims, on_axis, places, rank, shape_of, taken
from .types import as_type, is_tensor, number, promoted


def _like(x: Any, dtype: Any) -> Any:
    return x.dtype.base_dtype if dtype is None else dtype


def _filled(sizes: Any, value: Any, dtype: Any) -> Any:
    return tf.fill(shape_of(sizes), as_type(value, dtype))


def _default(value: Any) -> Any:
    kinds = {bool: tf.bool, int: tf.int64, complex: tf.complex64}
    return value.dtype.base_dtype if is_tensor(value) else kinds.get(type(value), tf.float32)


@aten.op("_new_zeros_with_same_feature_meta", note="the tangent that torch.func.jvp begins with")
def new_zeros_like(x: Any, other: Any, *, self_num_batch_dims: int = 0) -> Any:
    return _filled(dims(x)[:self_num_batch_dims] + dims(other), 0, _like(x, None))


@aten.op("arange.start", "arange.start_step")
def arange_from(start: Any, end: Any, step: Any = 1, *, dtype: Any = None) -> Any:
    if any(is_tensor(v) for v in (start, end, step)):
        found = tf.range(start, end, step)
        return as_type(found, dtype or tf.int64)
    wanted = dtype or (tf.float32 if any(isinstance(v, float) for v in (start, end, step)) else tf.int64)
    return tf.constant(np.arange(start, end, step), wanted)


@aten.op("linspace")
def linspace(start: Any, end: Any, steps: int, *, dtype: Any = None) -> Any:
    if is_tensor(start) or is_tensor(end):
        weights = tf.constant(np.linspace(0, 1, steps), dtype or tf.float32)
        return start + (end - start) * weights
    return tf.constant(np.linspace(start, end, steps), dtype or tf.float32)


aten.rows({
    "ones": lambda sizes, *, dtype=None: _filled(sizes, 1, dtype or tf.float32),
    "full_like": lambda x, value, *, dtype=None: tf.fill(tf.shape(x), as_type(value, _like(x, dtype))),
    "zero": lambda x: tf.zeros_like(x), "new_ones": lambda x, sizes, *, dtype=None: _filled(sizes, 1, _like(x, dtype)),
    "new_full": lambda x, sizes, value, *, dtype=None: _filled(sizes, value, _like(x, dtype)),
    "scalar_tensor": lambda value, *, dtype=None: as_type(value, dtype or tf.float32),
    "sym_numel": lambda x: tf.size(x), "_local_scalar_dense": lambda x: tf.stop_gradient(x),
    "full fill.empty": lambda sizes, value, *, dtype=None: _filled(sizes, value, dtype or _default(value)),
    "zeros empty empty_strided efficientzerotensor": (lambda sizes, strides=None, *, dtype=None:
        _filled(sizes, 0, dtype or tf.float32), "what is empty in torch is zero here"),
    "zeros_like empty_like": lambda x, *, dtype=None: tf.zeros_like(x, dtype=_like(x, dtype)),
    "ones_like": lambda x, *, dtype=None: tf.ones_like(x, dtype=_like(x, dtype)),
    "fill": lambda x, value: tf.fill(tf.shape(x), as_type(value, x.dtype.base_dtype)),
    "new_zeros new_empty new_empty_strided": lambda x, sizes, strides=None, *, dtype=None:
        _filled(sizes, 0, _like(x, dtype)),
    "arange.default": lambda end, *, dtype=None: arange_from(0, end, dtype=dtype),
    "logspace": lambda start, end, steps, base=10.0, *, dtype=None:
        tf.constant(np.logspace(start, end, steps, base=base), dtype or tf.float32),
    "eye eye.m": lambda rows, columns=None, *, dtype=None: tf.constant(np.eye(rows, columns), dtype or tf.float32),
    "tril_indices": lambda rows, columns, offset=0, *, dtype=None:
        tf.constant(np.stack(np.tril_indices(rows, offset, columns)), dtype or tf.int64),
    "triu_indices": lambda rows, columns, offset=0, *, dtype=None:
        tf.constant(np.stack(np.triu_indices(rows, offset, columns)), dtype or tf.int64),
    "sym_size sym_size.int": lambda x, axis: tf.shape(x)[axis],
    "one_hot": lambda x, classes=-1: tf.one_hot(x, classes, dtype=tf.int64)})


@aten.op("expand", "expand_copy", "broadcast_to")
def expand(x: Any, sizes: Any, implicit: bool = False) -> Any:
    own = dims(x)
    own = [1] * (len(sizes) - len(own)) + own
    wanted = [o if not is_tensor(s) and s == -1 else s for s, o in zip(sizes, own)]
    if not any(is_tensor(s) for s in wanted) and tuple(wanted) == tuple(x.dims):
        return tf.identity(x)
    return tf.broadcast_to(x, shape_of(wanted))


@aten.op("transpose", "transpose_copy", "swapaxes")
def transpose(x: Any, a: int, b: int) -> Any:
    order = list(range(rank(x)))
    if order:
        a, b = axis_of(a, rank(x)), axis_of(b, rank(x))
        order[a], order[b] = order[b], order[a]
    return tf.transpose(x, order)


@aten.op("squeeze", "squeeze_copy", note="only axes of size 1")
def squeeze(x: Any, axes: Any = None) -> Any:
    wanted = [a for a in (axes_of(axes, rank(x)) if axes != [] else []) if x.dims[a] == 1]
    return tf.squeeze(x, axis=wanted) if wanted else tf.identity(x)


@aten.op("slice", "slice_copy")
@on_axis
def sliced(x: Any, axis: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    end = None if end is not None and not is_tensor(end) and end >= 2**31 - 1 else end
    if start in (None, 0) and end is None and step == 1:
        return tf.identity(x)
    return x[(slice(None),) * axis + (slice(start, end, step),)]


@aten.op("split", "split_copy", "unsafe_split")
@on_axis
def split(x: Any, size: Any, axis: int = 0) -> Any:
    if isinstance(size, (list, tuple)):
        return _parts(x, size, axis)
    count = x.dims[axis]
    if count is None or is_tensor(size):
        raise NotImplementedError("split along an axis of unknown size")
    return _parts(x, [min(size, count - i) for i in range(0, max(count, 1), max(size, 1))], axis)


def strided(offset: Any, sizes: Any, strides: Any) -> np.ndarray:
    """The places of elements that lie apart by strides."""
    found = np.full(tuple(sizes), offset or 0, np.int64)
    for axis, (size, stride) in enumerate(zip(sizes, strides)):
        found += (np.arange(size) * stride).reshape([-1 if a == axis else 1 for a in range(len(sizes))])
    return found


@aten.op("unfold", "unfold_copy")
def unfold(x: Any, axis: int, size: int, step: int) -> Any:
    if not rank(x):
        return tf.reshape(x, [1])
    windows = np.lib.stride_tricks.sliding_window_view(places(x), size, axis := axis_of(axis, rank(x)))
    return taken(x, windows[(slice(None),) * axis + (slice(None, None, step),)])


def _parts(x: Any, sizes: Any, axis: int = 0) -> Any:
    return tf.split(x, shape_of(sizes), axis=axis, num=len(sizes))


@aten.op("cat", "concat", "concatenate")
def cat(tensors: Any, axis: int = 0) -> Any:
    kept = [t for t in tensors if t.dims != (0,)] or tensors
    return tf.concat(promoted(*kept), axis=axis_of(axis, rank(kept[0])))


@aten.op("repeat", "tile")
def repeat(x: Any, times: Any) -> Any:
    own = dims(x)
    if len(times) > len(own):
        x = tf.reshape(x, shape_of([1] * (len(times) - len(own)) + own))
    return tf.tile(x, shape_of([1] * (rank(x) - len(times)) + list(times)))


@aten.op("roll")
def roll(x: Any, shifts: Any, axes: Any = ()) -> Any:
    shifts = shifts if isinstance(shifts, (list, tuple)) else [shifts]
    if not axes:
        return tf.reshape(tf.roll(tf.reshape(x, [-1]), shifts[0], 0), tf.shape(x))
    axes = axes if isinstance(axes, (list, tuple)) else [axes]
    return tf.roll(x, list(shifts), [axis_of(a, rank(x)) for a in axes])


def _triangle(x: Any, function: Any, diagonal: int) -> Any:
    kept = tf.constant(function(np.ones(x.dims[-2:], bool), diagonal))
    return tf.where_v2(kept, x, tf.zeros_like(x))


@aten.op("diag_embed")
def diag_embed(x: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    count = rank(x)
    y = tf.linalg.diag(tf.pad(x, [[0, 0]] * (count - 1) + [[max(-offset, 0), max(offset, 0)]]))
    y = tf.roll(y, offset, count) if offset else y
    a, b = axis_of(dim1, count + 1), axis_of(dim2, count + 1)
    back = [*(i for i in range(count + 1) if i not in (a, b)), a, b]
    return tf.transpose(y, [back.index(i) for i in range(count + 1)])


def pairs_of(pad: Any, count: int) -> list[list[int]]:
    """torch's padding, last axis first, as one pair an axis."""
    pairs = [[0, 0] for _ in range(count)]
    for i in range(len(pad) // 2):
        pairs[count - 1 - i] = [pad[2 * i], pad[2 * i + 1]]
    return pairs


@aten.op("constant_pad_nd", note="negative padding cuts")
def constant_pad(x: Any, pad: Any, value: Any = 0) -> Any:
    pairs = pairs_of(pad, rank(x))
    if any(p < 0 for pair in pairs for p in pair):
        x = x[tuple(slice(max(-before, 0), None if after >= 0 else after) for before, after in pairs)]
    wide = [[max(p, 0) for p in pair] for pair in pairs]
    return tf.pad(x, wide, constant_values=number(value, x))


def _padded_by_place(x: Any, pad: Any, mode: str) -> Any:
    for axis, (before, after) in enumerate(pairs_of(pad, rank(x))):
        if before or after:
            size = x.dims[axis]
            wide = np.pad(np.arange(size), (max(before, 0), max(after, 0)), mode=mode)  # type: ignore[call-overload]
            x = tf.gather(x, tf.constant(wide[max(-before, 0):len(wide) - max(-after, 0)]), axis=axis)
    return x


def _in_images(rearranged: Any, x: Any, factor: int) -> Any:
    *lead, c, h, w = dims(x)
    y = rearranged(tf.reshape(x, shape_of([-1, c, h, w])), blocksize=factor, mode="CRD")
    return tf.reshape(y, shape_of([*lead, *dims(y)[1:]]))


@aten.op("channel_shuffle", "native_channel_shuffle")
def channel_shuffle(x: Any, groups: int) -> Any:
    n, c, *space = dims(x)
    y = tf.reshape(x, shape_of([n, groups, c // groups, *space]))
    return tf.reshape(tf.transpose(y, [0, 2, 1, *range(3, 3 + len(space))]), shape_of([n, c, *space]))


aten.rows({
    "repeat_interleave.self_int": lambda x, repeats, axis=None, *, output_size=None: tf.repeat(
        tf.reshape(x, [-1]) if axis is None else x, repeats, axis=axis_of(axis or 0, rank(x))),
    "select select_copy": on_axis(lambda x, axis, index: x[(slice(None),) * axis + (index,)]),
    "split_with_sizes split_with_sizes_copy unsafe_split_with_sizes": on_axis(_parts),
    "diagonal diagonal_copy": lambda x, offset=0, dim1=0, dim2=1:
        taken(x, np.diagonal(places(x), offset, axis_of(dim1, rank(x)), axis_of(dim2, rank(x)))),
    "pixel_shuffle": lambda x, factor: _in_images(depth_to_space, x, factor),
    "pixel_unshuffle": lambda x, factor: _in_images(space_to_depth, x, factor),
    "view.dtype": lambda x, dtype: tf.py_func(lambda a: a.view(dtype.as_numpy_dtype), [x], dtype),
    "narrow": lambda x, axis, start, length: sliced(x, axis, start, start + length),
    "flip": lambda x, axes: tf.reverse(x, [axis_of(a, rank(x)) for a in axes]) if axes else tf.identity(x),
    "tril": lambda x, diagonal=0: _triangle(x, np.tril, diagonal),
    "triu": lambda x, diagonal=0: _triangle(x, np.triu, diagonal),
    "_pad_circular": lambda x, pad: _padded_by_place(x, pad, "wrap"),
    "view _unsafe_view reshape _reshape_alias _reshape_copy view_copy": lambda x, sizes, strides=None:
        tf.reshape(x, shape_of(sizes)),
    "alias detach lift_fresh lift_fresh_copy clone contiguous alias_copy detach_copy lift positive": lambda x, **_:
        tf.identity(x),
    "copy": (lambda x, y, non_blocking=False:
        expand(as_type(y, x.dtype.base_dtype), dims(x)), "y with the type and shape of x"),
    "permute permute_copy": lambda x, axes: tf.transpose(x, [axis_of(a, rank(x)) for a in axes]),
    "t t_copy numpy_T": lambda x: tf.transpose(x) if rank(x) > 1 else tf.identity(x),
    "unsqueeze unsqueeze_copy": lambda x, axis: tf.expand_dims(x, axis_of(axis, rank(x) + 1)),
    "chunk unsafe_chunk": on_axis(lambda x, chunks, axis=0: split(x, -(-x.dims[axis] // chunks), axis)),
    "unbind unbind_copy": on_axis(lambda x, axis=0: tf.unstack(x, axis=axis)),
    "as_strided as_strided_copy": (lambda x, sizes, strides, offset=0:
        taken(x, strided(offset, sizes, strides)), "of a tensor that fills its storage in order"),
    "repeat_interleave.Tensor": lambda repeats, *, output_size=None:
        tf.repeat(tf.range(tf.cast(tf.size(repeats), tf.int64), dtype=tf.int64), tf.cast(repeats, tf.int32)),
    "rot90": lambda x, k=1, axes=(0, 1): taken(x, np.rot90(places(x), k, axes)),
    "reflection_pad1d reflection_pad2d reflection_pad3d": lambda x, pad: _padded_by_place(x, pad, "reflect"),
    "replication_pad1d replication_pad2d replication_pad3d": lambda x, pad: _padded_by_place(x, pad, "edge"),
    "stack": lambda tensors, axis=0: tf.stack(promoted(*tensors), axis=axis_of(axis, rank(tensors[0]) + 1))})
