"""ATen's gathering and scattering: by places, by masks, by slices."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...model import tf
from ...onnx.index import element_places, positive
from ...onnx.sizes import moved
from .common import aten, axis_of, dims, on_axis, places, rank, shape_of
from .reductions import gathered, renorm
from .shapes import strided
from .types import as_type, category, is_tensor, where


def _masks_as_places(indices: Any) -> list[Any]:
    found: list[Any] = []
    for index in indices:
        if index is not None and index.dtype.base_dtype in (tf.bool, tf.uint8):
            found += tf.unstack(tf.where(as_type(index, tf.bool)), num=rank(index), axis=1)
        else:
            found.append(index)
    return found


def _front(x: Any, indices: Any) -> tuple[list[int], list[Any], int]:
    """The axes that are indexed, their places, broadcast, and where the result has them."""
    listed = _masks_as_places(indices)
    axes = [a for a, index in enumerate(listed) if index is not None]
    count = max(rank(listed[a]) for a in axes)
    chosen = [positive(as_type(listed[a], tf.int64), dims(x)[a]) for a in axes]
    total = chosen[0]
    for index in chosen[1:]:
        total = total + index
    shape = tf.shape(total)
    wide = [c if c.dims == total.dims and None not in total.dims else tf.broadcast_to(c, shape) for c in chosen]
    is_joined = axes == list(range(axes[0], axes[0] + len(axes)))
    return axes, wide, axes[0] if is_joined else -count - 1


@aten.op("index", "_unsafe_index")
def index(x: Any, indices: Any) -> Any:
    axes, chosen, place = _front(x, indices)
    if len(axes) == 1:
        return tf.gather(x, chosen[0], axis=axes[0])
    others = [a for a in range(rank(x)) if a not in axes]
    front = tf.transpose(x, axes + others) if axes + others != list(range(rank(x))) else x
    found = tf.gather_nd(front, tf.stack(chosen, axis=-1))
    count = rank(chosen[0])
    if place <= 0:
        return found
    order = [*range(count, count + place), *range(count), *range(count + place, count + len(others))]
    return tf.transpose(found, order)


@aten.op("index_put", "_unsafe_index_put", "_index_put_impl")
def index_put(x: Any, indices: Any, values: Any, accumulate: bool = False, unsafe: bool = False) -> Any:
    if len([i for i in indices if i is not None]) == 1 and not accumulate:
        only = next(i for i in indices if i is not None)
        if only.dtype.base_dtype is tf.bool and indices[0] is only and not rank(values):
            mask = tf.reshape(only, shape_of(dims(only) + [1] * (rank(x) - rank(only))))
            return where(mask, values, x)
    axes, chosen, place = _front(x, indices)
    others = [a for a in range(rank(x)) if a not in axes]
    order = axes + others
    front = tf.transpose(x, order)
    where_to = tf.stack(chosen, axis=-1)
    count, sizes = rank(chosen[0]), dims(x)
    lead = dims(chosen[0])
    if place > 0:
        shape = [*(sizes[a] for a in others[:place]), *lead, *(sizes[a] for a in others[place:])]
        wide = tf.broadcast_to(values, shape_of(shape))
        back = [*range(place, place + count), *range(place), *range(place + count, len(shape))]
        wide = tf.transpose(wide, back)
    else:
        wide = tf.broadcast_to(values, shape_of([*lead, *(sizes[a] for a in others)]))
    write = tf.tensor_scatter_add if accumulate else tf.tensor_scatter_update
    return tf.transpose(write(front, where_to, as_type(wide, x.dtype.base_dtype)), list(np.argsort(order)))


@aten.op("masked_select")
def masked_select(x: Any, mask: Any) -> Any:
    shape = np.broadcast_shapes(tuple(x.dims), tuple(mask.dims)) if None not in (*x.dims, *mask.dims) else None
    if shape is not None:
        x, mask = tf.broadcast_to(x, list(shape)), tf.broadcast_to(mask, list(shape))
    return tf.boolean_mask(x, mask) if rank(x) else tf.boolean_mask(tf.reshape(x, [1]), tf.reshape(mask, [1]))


@aten.op("masked_scatter")
def masked_scatter(x: Any, mask: Any, source: Any) -> Any:
    shape = tf.broadcast_dynamic_shape(tf.shape(x), tf.shape(mask))
    x, wide = tf.broadcast_to(x, shape), tf.reshape(tf.broadcast_to(mask, shape), [-1])
    at = tf.where(wide)
    count = tf.shape(at)[0]
    flat = tf.tensor_scatter_update(tf.reshape(x, [-1]), at, tf.reshape(source, [-1])[:count])
    return tf.reshape(flat, tf.shape(x))


def _source(x: Any, index: Any, values: Any) -> Any:
    """What is scattered: the part of a tensor that `index` covers, or one number."""
    if not is_tensor(values) or not rank(values):
        return tf.fill(tf.shape(index), as_type(values, x.dtype.base_dtype))
    if dims(values) == dims(index):
        return as_type(values, x.dtype.base_dtype)
    return as_type(tf.slice(values, [0] * rank(index), tf.shape(index)), x.dtype.base_dtype)


def _scattered(write: Any, x: Any, axis: int, index: Any, values: Any) -> Any:
    return write(x, element_places(x, index, axis), _source(x, index, values))


@aten.op("scatter_reduce", "scatter.reduce", "scatter.value_reduce")
@on_axis
def scatter_reduce(x: Any, axis: int, index: Any, values: Any, reduce: str, *, include_self: bool = True) -> Any:
    """By segments: each element of the result has the values that go to it, and its own if that is included."""
    where_to = element_places(x, index, axis)
    flat_places = tf.reshape(tf.gather_nd(tf.constant(places(x)), where_to), [-1])
    given = tf.reshape(_source(x, index, values), [-1])
    own = tf.constant(places(x).ravel())
    count = places(x).size
    untouched = tf.equal(tf.unsorted_segment_sum(tf.ones_like(flat_places), flat_places, count), 0)
    if include_self:
        given, flat_places = tf.concat([tf.reshape(x, [-1]), given], 0), tf.concat([own, flat_places], 0)
    kind = {"add": "sum", "multiply": "prod", "amax": "max", "amin": "min"}.get(reduce, reduce)
    found = getattr(tf, f"unsorted_segment_{kind}")(given, flat_places, count)
    return tf.reshape(where(untouched, tf.reshape(x, [-1]), found), dims(x))


def _by_row(write: Any, x: Any, axis: int, index: Any, source: Any) -> Any:
    y = write(moved(x, axis, 0), tf.reshape(as_type(index, tf.int64), [-1, 1]),
              as_type(moved(source, axis, 0), x.dtype.base_dtype))
    return moved(y, 0, axis)


def _only(x: Any, axis: int) -> list[int]:
    """The shape of what lies along one axis of a tensor, beside it."""
    return [-1 if a == axis else 1 for a in range(rank(x))]


def put_at(x: Any, where_to: np.ndarray, source: Any) -> Any:
    """x with the elements at constant places of its flattened self replaced."""
    values = tf.reshape(as_type(source, x.dtype.base_dtype), [-1])
    flat = tf.tensor_scatter_update(tf.reshape(x, [-1]), tf.constant(where_to.reshape(-1, 1)), values)
    return tf.reshape(flat, shape_of(dims(x)))


@aten.op("put")
def put(x: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    write = tf.tensor_scatter_add if accumulate else tf.tensor_scatter_update
    flat = write(tf.reshape(x, [-1]), tf.reshape(positive(index, tf.size(x)), [-1, 1]), tf.reshape(source, [-1]))
    return tf.reshape(flat, tf.shape(x))


@aten.op("embedding")
def embedding(weight: Any, ids: Any, padding_idx: Any = -1, scale_grad_by_freq: bool = False,
              sparse: bool = False) -> Any:
    if not is_tensor(padding_idx) and padding_idx >= 0:
        row = tf.reshape(tf.equal(tf.range(dims(weight)[0]), padding_idx), [-1, 1])
        weight = where(row, tf.stop_gradient(weight), weight)
    rows = tf.gather(weight, ids)
    if scale_grad_by_freq:
        part = rows / tf.expand_dims(tf.gather(_frequencies(weight, ids), ids), -1)
        rows = part + tf.stop_gradient(rows - part)
    return rows


def _frequencies(weight: Any, ids: Any) -> Any:
    """How often each row of a table is asked for."""
    flat = tf.reshape(ids, [-1])
    return tf.unsorted_segment_sum(tf.ones_like(flat, weight.dtype.base_dtype), flat, dims(weight)[0])


@aten.op("embedding_renorm", note="of the rows that are asked for, those that are too long")
def embedding_renorm(weight: Any, ids: Any, most: float, order: float) -> Any:
    return where(tf.greater(_frequencies(weight, ids), 0)[:, None], renorm(weight, order, 0, most), weight)


@aten.op("_embedding_bag", "_embedding_bag_forward_only", note="the mean, sum or maximum of each bag")
def embedding_bag(weight: Any, ids: Any, offsets: Any, scale_grad_by_freq: bool = False, mode: int = 0,
                  sparse: bool = False, per_sample_weights: Any = None, include_last_offset: bool = False,
                  padding_idx: int = -1) -> Any:
    count = dims(offsets)[0] - int(include_last_offset)
    bags = tf.searchsorted(offsets[:count], tf.range(dims(ids)[0], dtype=offsets.dtype.base_dtype), side="right") - 1
    if padding_idx >= 0:
        counts = tf.not_equal(ids, padding_idx)
        ids, bags = tf.boolean_mask(ids, counts), tf.boolean_mask(bags, counts)
        if per_sample_weights is not None:
            per_sample_weights = tf.boolean_mask(per_sample_weights, counts)
    rows = tf.gather(weight, ids)
    if per_sample_weights is not None:
        rows = rows * tf.expand_dims(per_sample_weights, 1)
    join = (tf.unsorted_segment_sum, tf.unsorted_segment_mean, tf.unsorted_segment_max)[mode]
    found = join(rows, bags, count)
    sizes = tf.unsorted_segment_sum(tf.ones_like(bags), bags, count)
    found = where(tf.greater(sizes, 0)[:, None], found, tf.zeros_like(found))
    return found, tf.cast(bags, tf.int64), tf.cast(sizes, tf.int64), tf.zeros_like(offsets)


aten.rows({
    "index_reduce": on_axis(lambda x, axis, index, source, reduce, *, include_self=True: scatter_reduce(
        x, axis, tf.broadcast_to(tf.reshape(index, _only(x, axis)), shape_of(dims(source))), source, reduce,
        include_self=include_self)),
    "index_fill": on_axis(lambda x, axis, index, value: where(tf.reshape(tf.reduce_any(tf.equal(
        tf.range(dims(x)[axis], dtype=tf.int64)[:, None], as_type(index, tf.int64)), axis=1), _only(x, axis)),
        as_type(value, x.dtype.base_dtype), x)),
    "select_scatter": on_axis(lambda x, source, axis, index: where(
        tf.constant((np.arange(x.dims[axis]) == index % x.dims[axis]).reshape(_only(x, axis))),
        tf.expand_dims(as_type(source, x.dtype.base_dtype), axis), x)),
    "slice_scatter": on_axis(lambda x, source, axis=0, start=None, end=None, step=1: _by_row(
        tf.tensor_scatter_update, x, axis, tf.constant(np.arange(x.dims[axis])[slice(start, end, step)]), source)),
    "take": lambda x, index: tf.gather(tf.reshape(x, [-1]), positive(index, tf.size(x))),
    "nonzero argwhere": lambda x: tf.where(as_type(x, tf.bool)),
    "diagonal_scatter": lambda x, source, offset=0, dim1=0, dim2=1:
        put_at(x, np.diagonal(places(x), offset, axis_of(dim1, rank(x)), axis_of(dim2, rank(x))), source),
    "as_strided_scatter": (lambda x, source, sizes, strides, offset=0:
        put_at(x, strided(offset, sizes, strides), source), "of a tensor that fills its storage in order"),
    "is_same_size": lambda x, y:
        tf.constant(tuple(x.dims) == tuple(y.dims) and category(x.dtype.base_dtype) == category(y.dtype.base_dtype)),
    "index_select": on_axis(lambda x, axis, index: tf.gather(x, tf.reshape(index, [-1]), axis=axis)),
    "scatter.src scatter.value scatter": on_axis(lambda x, axis, index, values:
        _scattered(tf.tensor_scatter_update, x, axis, index, values)),
    "scatter_add": on_axis(lambda x, axis, index, values: _scattered(tf.tensor_scatter_add, x, axis, index, values)),
    "index_add": on_axis(lambda x, axis, index, source, *, alpha=1:
        _by_row(tf.tensor_scatter_add, x, axis, index, source if alpha == 1 else source * as_type(alpha,
            source.dtype.base_dtype))),
    "index_copy": on_axis(lambda x, axis, index, source: _by_row(tf.tensor_scatter_update, x, axis, index, source)),
    "gather": on_axis(lambda x, axis, index, *, sparse_grad=False: gathered(x, axis, index))})
