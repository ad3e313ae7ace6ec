"""Lists of tensors as values: what TensorArrays and the histories of loops are made of.

A list is a Python list of arrays; None stands for an element that was not written, or for zeros in
the gradient of a list. Lists are never changed in place.
"""

import numpy as np

from ...core.declare import op
from ...core.dtypes import as_dtype, int32, variant
from ...core.errors import InvalidArgumentError, UnimplementedError
from ...core.infer import declared, fixed, same_shape
from ...core.op import Index, Int32, Kind, Own, Spec, blocked, build
from ...core.shapes import as_dims, is_known, show
from .shared_lists import put

List = Kind("List", allowed=(variant,))

_list = fixed(variant)


@op("ListReserve", infer=_list, no_grad="an empty list depends on its length alone")
def list_reserve(size: Int32, *, dtype=None):
    """A list of `size` elements that are not written. size: int32[]; dtype: theirs, if known. -> list."""
    if size < 0:
        raise InvalidArgumentError("Size should be >= 0.", found=int(size))
    return [None] * int(size)


@op("ListLength", infer=fixed(int32), no_grad="a length is an integer")
def list_length(items: List):
    """How many elements a list has. -> int32[]."""
    return np.int32(len(items))


def _at(items, index):
    if not 0 <= index < len(items):
        raise InvalidArgumentError(f"index {int(index)} is out of range, expected 0 <= index < {len(items)}")
    return items[int(index)]


@op("ListItem", infer=declared)
def list_item(items: List, index: Int32, *, dtype, shape=None, written=True, once=False):
    """The element at `index`. -> dtype[shape]. Fails if it was not written, and may not be zeros in place of it.

    once: no other read of this element may be part of a run; `reads_of` is checked before it.
    """
    value = _at(items, index)
    if value is None and not written:
        value = zeros(dtype, shape)
    if value is None:
        raise InvalidArgumentError(f"could not read index {int(index)}: it was not written")
    return value


def zeros(dtype, shape):
    """An element that was not written, or None if its shape is not known."""
    dims = as_dims(shape)
    return np.zeros(dims, as_dtype(dtype).as_numpy_dtype) if is_known(dims) else None


@op("ListItemOrZeros", infer=lambda items, index, like: same_shape(like))
def list_item_or_zeros(items: List, index: Int32, like: Own):
    """The element at `index`, or zeros like `like`. like: any[...] -> any[...]."""
    value = _at(items, index)
    if value is None:
        return [None] * len(like) if isinstance(like, list) else np.zeros_like(like)
    return value


@list_item.gradient
@list_item_or_zeros.gradient
def _item_gradient(node, dy):
    items, index = node.inputs[:2]
    rest = (blocked("only the shape of this input is used"),) * (len(node.inputs) - 2)
    return (build.ListOf(items, index, dy), blocked("an index is an integer"), *rest)


@op("ListOf", infer=_list)
def list_of(like: List, index: Int32, item: Own):
    """A list as long as `like` with one element. item: any[...] -> list."""
    items = [None] * len(like)
    items[int(index)] = item
    return items


@list_of.gradient
def _list_of_gradient(node, dy):
    _, index, item = node.inputs
    return (blocked("only the length of this list is used"), blocked("an index is an integer"),
            build.ListItemOrZeros(dy, index, item))


@op("ListSet", infer=_list)
def list_set(items: List, index: Int32, item: Own, *, grow=True, over=False):
    """The list with an element at `index`, if that is free or `over`. grow: it may lie past the end. -> list."""
    index = int(index)
    if grow and index > len(items):
        items = items + [None] * (index - len(items))
    if not (grow and index == len(items)) and _at(items, index) is not None and not over:
        raise InvalidArgumentError(f"could not write index {index}: it was written already")
    return put(items, index, item)


@list_set.gradient
def _list_set_gradient(node, dy):
    items, index, item = node.inputs
    return (build.ListTrim(build.ListClear(dy, index), items), blocked("an index is an integer"),
            build.ListItemOrZeros(dy, index, item))


@op("ListTrim", infer=_list)
def list_trim(items: List, like: List):
    """The first elements, as many as `like` has. -> list."""
    return items if len(items) <= len(like) else items[:len(like)]


@list_trim.gradient
def _list_trim_gradient(node, dy):
    return build.ListExtend(dy, node.inputs[0]), blocked("only the length of this list is used")


@op("ListExtend", infer=_list)
def list_extend(items: List, like: List):
    """The list with zeros appended, as long as `like`. -> list."""
    return items if len(items) >= len(like) else items + [None] * (len(like) - len(items))


@list_extend.gradient
def _list_extend_gradient(node, dy):
    return build.ListTrim(dy, node.inputs[0]), blocked("only the length of this list is used")


@op("ListClear", infer=_list)
def list_clear(items: List, index: Int32):
    """The list with zeros at `index`. -> list."""
    return put(items, int(index), None)


list_clear.gradient(lambda node, dy: (build.ListClear(dy, node.inputs[1]), blocked("an index is an integer")))


@op("ListAdd", infer=_list)
def list_add(x: List, y: List):
    """Element by element sum of two gradients of one list; the longer sets the length. -> list."""
    if len(x) < len(y):
        x, y = y, x
    total = [b if a is None else a if b is None else list_add.kernel(a, b) if isinstance(a, list) else a + b
             for a, b in zip(x, y)]
    return total + x[len(y):]


def add_item(items, like, index, item):
    """`list_add` of a list and `list_of(like, index, item)`, which needs no list of its own."""
    items, index = list_extend.kernel(items, like), int(index)
    old = items[index]
    if old is not None:
        item = list_add.kernel(old, item) if isinstance(old, list) else old + item
    return put(items, index, item)


list_add.gradient(lambda node, dy: (dy, dy))


@op("ListZeros", infer=_list, no_grad="it depends on the length alone")
def list_zeros(like: List):
    """Zeros, as a gradient of `like`. -> list."""
    return [None] * len(like)


def _stacked(items, like, *, dtype, shape=None, written=False, once=False):
    dims = as_dims(shape)
    return Spec(as_dtype(dtype), None if dims is None else (None, *dims))


@op("ListStack", infer=_stacked)
def list_stack(items: List, like: List, *, dtype, shape=None, written=False, once=False):
    """The elements on a new axis 0; those not written are zeros, unless all must be `written`. -> dtype[n, *shape].

    once: as in ListItem, for all elements.
    """
    missing = next((i for i, item in enumerate(items) if item is None), None)
    if written and missing is not None:
        raise InvalidArgumentError(f"could not read index {missing}: it was not written")
    one = next((item for item in items if item is not None), None)
    if one is None:
        one = zeros(dtype, shape)
        if one is None and items:
            raise InvalidArgumentError("cannot stack a list without one written element: its shape is not known")
        if one is None:
            raise UnimplementedError(f"TensorArray has size zero, but element shape {show(as_dims(shape))} is not "
                                     "fully defined", hint="give the TensorArray an element_shape")
        return np.zeros((len(items), *one.shape), one.dtype)
    filled = [np.zeros_like(one) if item is None else item for item in items]
    if any(np.shape(item) != np.shape(one) for item in filled):
        raise InvalidArgumentError(expected="elements of one shape", found=sorted({np.shape(i) for i in filled}))
    return np.stack(filled)


list_stack.gradient(lambda node, dy: (build.ListUnstack(dy), blocked("only the length of this list is used")))


@op("ListConcat", infer=declared)
def list_concat(items: List, like: List, *, dtype, shape=None, element=None, once=False):
    """The elements joined along their axis 0; those not written are zeros as in `like`. -> dtype[shape].

    element: the shape of one, for those that `like` lacks too. once: as in ListItem, for all elements.
    """
    spare = zeros(dtype, element)
    filled = [item if item is not None else spare if other is None else np.zeros_like(other)
              for item, other in zip(items, like)]
    missing = next((i for i, item in enumerate(filled) if not np.ndim(item)), None)
    if missing is not None:
        raise InvalidArgumentError(f"could not join element {missing}: it was not written, or is a scalar")
    if not filled and spare is None:
        raise UnimplementedError(f"TensorArray has size zero, but element_shape_except0 {show(as_dims(shape))} is not "
                                 "fully defined", hint="give the TensorArray an element_shape")
    return spare[:0] if not filled else np.concatenate(filled)


@list_concat.gradient
def _list_concat_gradient(node, dy):
    return build.ListSplit(dy, build.ListSizes(node.inputs[1])), blocked("only the sizes of this list are used")


@op("ListSizes", infer=lambda items: Spec(int32, (None,)), no_grad="sizes are integers")
def list_sizes(items: List):
    """The size of each element along its axis 0. -> int32[n]."""
    return np.array([0 if item is None else len(item) for item in items], np.int32)


@op("ListSplit", infer=lambda x, sizes: Spec(variant, ()))
def list_split(x: Own, sizes: Index):
    """Consecutive pieces along axis 0. x: any[m, ...], sizes: int[n], of the sum m -> list of n."""
    if np.ndim(x) == 0 or np.sum(sizes) != len(x):
        raise InvalidArgumentError(expected=f"sizes that add up to axis 0 of {list(np.shape(x))}", found=list(sizes))
    return list(np.split(x, np.cumsum(sizes)[:-1])) if len(sizes) else []


@list_split.gradient
def _list_split_gradient(node, dy):
    x, sizes = node.inputs
    pieces = build.ListSplit(x, sizes)
    dx = build.ListConcat(dy, pieces, dtype=x.dtype.base_dtype, shape=x.dims,
                          element=None if x.dims is None else (0, *x.dims[1:]))
    return dx, blocked("sizes are integers")


@op("ListUnstack", infer=_list)
def list_unstack(x: Own):
    """Slices along axis 0. x: any[n, ...] -> list of n."""
    return list(x)


@list_unstack.gradient
def _list_unstack_gradient(node, dy):
    x = node.inputs[0]
    return (build.ListRestack(dy, x),)


@op("ListRestack", infer=lambda items, like: same_shape(like))
def list_restack(items: List, like: Own):
    """A list as one tensor of the shape of `like`, zeros where it holds none. like: any[n, ...] -> the same."""
    total = np.zeros_like(like)
    for i, item in enumerate(items):
        if item is not None:
            total[i] = item
    return total


list_restack.gradient(lambda node, dy: (build.ListUnstack(dy), blocked("only the shape of this input is used")))


def _gathered(items, indices, *, dtype, shape=None):
    dims = as_dims(shape)
    count = None if indices.dims is None else indices.dims[0]
    return Spec(as_dtype(dtype), None if dims is None else (count, *dims))


@op("ListGather", infer=_gathered)
def list_gather(items: List, indices: Index, *, dtype, shape=None):
    """Elements at `indices` on a new axis 0. indices: int[k]. -> dtype[k, *shape]."""
    if not len(indices):
        return np.zeros((0, *(d or 0 for d in as_dims(shape) or ())), as_dtype(dtype).as_numpy_dtype)
    return np.stack([list_item.kernel(items, i, dtype=dtype) for i in indices])


@list_gather.gradient
def _list_gather_gradient(node, dy):
    items, indices = node.inputs
    return build.ListScatter(build.ListZeros(items), indices, dy), blocked("an index is an integer")


@op("ListScatter", infer=_list)
def list_scatter(items: List, indices: Index, x: Own, *, add=True, grow=True):
    """The list with rows of `x` added, or only put, at `indices`. indices: int[k], x: any[k, ...]. -> list.

    grow: they may lie past the end. Fails if an element would be put where one is already.
    """
    if len(indices) != len(x):
        raise InvalidArgumentError("Expected len(indices) == values.shape[0]", found=f"{len(indices)} and {len(x)}")
    changed = list(items)
    for i, row in zip(indices, x):
        if not grow and not 0 <= i < len(items):
            raise InvalidArgumentError(f"index {int(i)} is out of range, expected 0 <= index < {len(items)}")
        if not add and i < len(changed) and changed[int(i)] is not None:
            raise InvalidArgumentError(f"could not write index {int(i)}: it was written already")
        if i >= len(changed):
            changed.extend([None] * (int(i) + 1 - len(changed)))
        changed[int(i)] = row if changed[int(i)] is None else changed[int(i)] + row
    return changed


@list_scatter.gradient
def _list_scatter_gradient(node, dy):
    items, indices, x = node.inputs
    return build.ListTrim(dy, items), blocked("an index is an integer"), build.ListGatherOrZeros(dy, indices, x)


@op("ListGatherOrZeros", infer=lambda items, indices, like: same_shape(like))
def list_gather_or_zeros(items: List, indices: Index, like: Own):
    """Elements at `indices`, zeros where the list holds none. like: any[k, ...] -> the same."""
    rows = [items[int(i)] for i in indices]
    return np.stack([np.zeros_like(like[0]) if row is None else row for row in rows]) if rows else np.zeros_like(like)


@list_gather_or_zeros.gradient
def _list_gather_or_zeros_gradient(node, dy):
    items, indices, _ = node.inputs
    return (build.ListScatter(build.ListZeros(items), indices, dy), blocked("an index is an integer"),
            blocked("only the shape of this input is used"))
