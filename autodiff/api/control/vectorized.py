"""Loops whose passes do not depend on each other, as one pass with one more axis."""
from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ...core import nest
from ...core.constant_value import known
from ...core.convert import convert_to_tensor
from ...core.dtypes import int32
from ...core.errors import ArgumentError, NoGradientError
from ...core.graph import Graph, Operation, Tensor, get_default_graph
from ...core.op import build
from ...core.sparse_tensor import SparseTensor
from ...core.traversal import ancestors, dependencies, descendants
from ...gradients.batching import vectorize
from ...runtime.session import Session
from .map_and_scan import map_fn
from .parts import SparseParts, parted


def pfor(loop_fn: Callable[..., Any], iters: Any, parallel_iterations: int | None = None) -> Any:
    """What `loop_fn(i)` gives for each i below iters, stacked along a new axis 0. iters: an int or int32[].

    Where an op has no batching rule the passes are made one after the other. A loop_fn with a parameter `pfor_config`
    is given a PForConfig. Raises ArgumentError (ValueError) for parallel_iterations below 2 or beside a pfor_config.
    """
    if parallel_iterations is not None and parallel_iterations < 1:
        raise ArgumentError("parallel_iterations must be None or a positive integer", found=parallel_iterations)
    if parallel_iterations == 1:
        raise ArgumentError("Found parallel_iterations == 1. Use for_loop instead.")
    wants_config = "pfor_config" in inspect.signature(loop_fn).parameters
    if wants_config and parallel_iterations is not None:
        raise ArgumentError("parallel_iterations currently unsupported in combination with reductions")
    if wants_config and get_default_graph().executing_eagerly:  # passes that are made one by one know no other
        with Graph().as_default() as graph:
            stacked = pfor(loop_fn, iters)
        return nest.map_structure(convert_to_tensor, Session(graph=graph).run(stacked))
    count = known(convert_to_tensor(iters, int32))
    count = count if isinstance(count, Tensor) else int(count)
    rows = build.Range(0, count, 1)
    with get_default_graph().name_scope("loop_body"):
        index = build.Identity(convert_to_tensor(0))
        if wants_config:
            config = PForConfig({index: rows}, count)
            return _stacked(loop_fn(index, pfor_config=config), {index: rows}, count, None)
        results = loop_fn(index)
    return _stacked(results, {index: rows}, count, lambda: map_fn(_in_parts(loop_fn), rows, _kinds(results)))


class PForConfig:
    """What a pass of pfor may know of all passes."""

    def __init__(self, replaced: dict[Tensor, Tensor], count: Any) -> None:
        self._replaced, self._count = replaced, count

    def reduce_concat(self, x: Any) -> Tensor:
        """The values that x has in all passes, stacked."""
        return vectorize([convert_to_tensor(x)], self._replaced, self._count)[0]

    def reduce_mean(self, x: Any) -> Tensor:
        """The mean of x over all passes."""
        return build.Mean(self.reduce_concat(x), 0)

    def reduce_sum(self, x: Any) -> Tensor:
        """The sum of x over all passes."""
        return build.Sum(self.reduce_concat(x), 0)


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
                    lambda: map_fn(_in_parts(fn), elems, _kinds(results)))


def _in_parts(fn: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *slices: parted(fn(*slices))


def _stacked(results: Any, replaced: dict[Tensor, Tensor], count: Any, one_by_one: Callable[[], Any] | None) -> Any:
    results = parted(results)
    if get_default_graph().executing_eagerly and one_by_one is not None:  # there is no body to look at
        return _rejoined(one_by_one(), count)
    leaves = [leaf if leaf is None or isinstance(leaf, Operation) else convert_to_tensor(leaf)
              for leaf in nest.flatten(results)]
    tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
    waited_for = (dependencies(tensors) - ancestors(tensors)) & descendants(replaced)
    try:
        if one_by_one is not None and any(op.definition.stateful for op in waited_for):
            raise NoGradientError("passes wait for effects of their own")
        rows = iter(vectorize(tensors, replaced, count))
    except NoGradientError:
        if one_by_one is None:
            raise
        return _rejoined(one_by_one(), count)
    stacked = [next(rows) if isinstance(leaf, Tensor) else leaf for leaf in leaves]
    return _rejoined(nest.pack_sequence_as(results, stacked), count)


def _rejoined(structure: Any, count: Any) -> Any:
    """What was stacked with the SparseTensors made of their parts: one of each pass becomes one with one more axis."""
    if not nest.is_sequence(structure):
        return structure
    if not isinstance(structure, SparseParts):
        return nest.like(structure, [_rejoined(child, count) for child in nest.children(structure)])
    indices, values, sizes = structure  # [n, k, rank], [n, k], [n, rank]
    each, rank = build.Shape(indices)[1:2], build.Shape(indices)[2:3]
    passes = build.Cast(build.Range(0, count, 1), dtype=indices.dtype)
    numbers = build.Tile(build.Reshape(passes, [-1, 1, 1]), build.ConcatV2(0, [1], each, [1]))
    wide = build.ConcatV2(0, [-1], rank + 1)
    dense_shape = build.ConcatV2(0, build.Reshape(build.Cast(count, dtype=sizes.dtype), [1]), build.Max(sizes, 0))
    return SparseTensor(build.Reshape(build.ConcatV2(2, numbers, indices), wide), build.Reshape(values, [-1]),
                        dense_shape)


def _kinds(results: Any) -> Any:
    return nest.map_structure(lambda leaf: convert_to_tensor(leaf).dtype.base_dtype, parted(results))
