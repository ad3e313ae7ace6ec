"""Loops whose passes do not depend on each other, as one pass with one more axis."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core import nest
from ...core.constant_value import known
from ...core.convert import convert_to_tensor
from ...core.dtypes import int32
from ...core.errors import ArgumentError, NoGradientError
from ...core.graph import Operation, Tensor, get_default_graph
from ...core.op import build
from ...gradients.batching import vectorize
from .map_and_scan import map_fn


def pfor(loop_fn: Callable[[Tensor], Any], iters: Any, parallel_iterations: int | None = None) -> Any:
    """What `loop_fn(i)` gives for each i below iters, stacked along a new axis 0. iters: an int or int32[].

    Where an op has no batching rule the passes are made one after the other.
    """
    count = known(convert_to_tensor(iters, int32))
    count = count if isinstance(count, Tensor) else int(count)
    rows = build.Range(0, count, 1)
    with get_default_graph().name_scope("loop_body"):
        index = build.Identity(convert_to_tensor(0))
        results = loop_fn(index)
    return _stacked(results, {index: rows}, count, lambda: map_fn(loop_fn, rows, _kinds(results)))


def vectorized_map(fn: Callable[[Any], Any], elems: Any) -> Any:
    """`fn` of each slice of `elems` along axis 0, stacked; the slices are taken all at once.

    elems: nested tensors [n, ...]. Raises ArgumentError (ValueError) for a scalar.
    """
    flat = [convert_to_tensor(e) for e in nest.flatten(elems)]
    for tensor in flat:
        if tensor.dims == ():
            raise ArgumentError(expected="tensors of rank 1 or more to take slices of", found=tensor.describe())
    count = known(build.StridedSlice(build.Shape(flat[0]), [0], [1], [1], shrink_axis_mask=1))
    count = count if isinstance(count, Tensor) else int(count)
    with get_default_graph().name_scope("loop_body"):
        index = build.Identity(convert_to_tensor(0))  # a derivative by what a slice was made of asks which slice it was
        first = [build.GatherV2(tensor, index, 0) for tensor in flat]
        results = fn(nest.pack_sequence_as(elems, first))
    return _stacked(results, {index: build.Range(0, count, 1), **dict(zip(first, flat))}, count,
                    lambda: map_fn(fn, elems, _kinds(results)))


def _stacked(results: Any, replaced: dict[Tensor, Tensor], count: Any, one_by_one: Callable[[], Any]) -> Any:
    if get_default_graph().executing_eagerly:  # there is no body to look at
        return one_by_one()
    leaves = [leaf if leaf is None or isinstance(leaf, Operation) else convert_to_tensor(leaf)
              for leaf in nest.flatten(results)]
    try:
        rows = iter(vectorize([leaf for leaf in leaves if isinstance(leaf, Tensor)], replaced, count))
    except NoGradientError:
        return one_by_one()
    return nest.pack_sequence_as(results, [next(rows) if isinstance(leaf, Tensor) else leaf for leaf in leaves])


def _kinds(results: Any) -> Any:
    return nest.map_structure(lambda leaf: convert_to_tensor(leaf).dtype.base_dtype, results)
