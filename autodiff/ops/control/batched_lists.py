"""Lists whose elements have one more leading axis, in vectorized loops."""

import numpy as np

from ...core.declare import op
from ...core.dtypes import int32, variant
from ...core.infer import fixed
from ...core.op import Int32, blocked, build
from .tensor_lists import List

_list = fixed(variant)


def _each(function, items):
    return [None if item is None else _each(function, item) if isinstance(item, list) else function(item)
            for item in items]


@op("ListFirstSlices", infer=_list, no_grad="it only stands in for one slice while a loop is vectorized")
def list_first_slices(items: List, *, axis=0):
    """The first slice of each element along `axis`. -> list."""
    return _each(lambda item: item.take(0, axis), items)


@op("ListRepeat", infer=_list)
def list_repeat(items: List, size: Int32):
    """Each element `size` times on a new axis 0. -> list."""
    return _each(lambda item: np.broadcast_to(item, (int(size), *np.shape(item))), items)


list_repeat.gradient(lambda node, dy: (build.ListSumSlices(dy), blocked("a size is an integer")))


@op("ListSumSlices", infer=_list)
def list_sum_slices(items: List):
    """Each element summed over its axis 0. items: list of number[b, ...]. -> list."""
    return _each(lambda item: item.sum(axis=0), items)


list_sum_slices.gradient(lambda node, dy: build.ListRepeat(dy, build.ListBatchSize(node.inputs[0])))


@op("ListBatchSize", infer=fixed(int32), no_grad="a size is an integer")
def list_batch_size(items: List):
    """The size of the elements' axis 0; 0 if no element is written. -> int32[]."""
    for item in items:
        if item is not None:
            return np.int32(list_batch_size.kernel(item) if isinstance(item, list) else len(item))
    return np.int32(0)


@op("ListSwapAxes", infer=_list)
def list_swap_axes(items: List, *, axis=0):
    """Each element with `axis` and the one after it exchanged. -> list."""
    return _each(lambda item: np.swapaxes(item, axis, axis + 1), items)


list_swap_axes.gradient(lambda node, dy: build.ListSwapAxes(dy, axis=node.attrs["axis"]))
