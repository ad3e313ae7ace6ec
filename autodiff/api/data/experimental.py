"""tf.data.experimental, and tf.contrib.data: transformations to hand to Dataset.apply."""
from __future__ import annotations

import bisect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...core import nest
from ...core.convert import convert_to_tensor
from ...core.dtypes import int64
from ...core.errors import ArgumentError, InvalidArgumentError
from ...core.graph import Graph
from ...core.shapes import TensorShape
from ...runtime.session import Session
from ..common.unsupported import refusing
from ..control.while_loop import flatten_shapes
from .dataset import Dataset, ElementFunction
from .elements import Element

__all__ = ["AUTOTUNE", "batch_and_drop_remainder", "bucket_by_sequence_length", "group_by_window", "map_and_batch",
           "parallel_interleave", "shuffle_and_repeat", "unbatch"]
AUTOTUNE = -1
Transformation = Callable[[Dataset], Dataset]


def shuffle_and_repeat(buffer_size: int, count: int | None = None, seed: int | None = None) -> Transformation:
    """The elements mixed, again and again; `count` times in all."""
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def map_and_batch(map_func: Callable[..., Any], batch_size: int, num_parallel_batches: int | None = None,
                  drop_remainder: bool = False, num_parallel_calls: int | None = None) -> Transformation:
    """Batches of map_func of the elements."""
    return lambda dataset: dataset.map(map_func).batch(batch_size, drop_remainder)


def batch_and_drop_remainder(batch_size: int) -> Transformation:
    """Batches of one size; elements that are left over at the end are dropped."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def parallel_interleave(map_func: Callable[..., Dataset], cycle_length: int, block_length: int = 1,
                        sloppy: bool = False, buffer_output_elements: int | None = None,
                        prefetch_input_elements: int | None = None) -> Transformation:
    """Dataset.interleave; in its order, also if sloppy."""
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length)


def unbatch() -> Transformation:
    """The elements of batches."""
    return lambda dataset: dataset.flat_map(lambda *parts: Dataset.from_tensor_slices(
        parts[0] if len(parts) == 1 else parts))


def group_by_window(key_func: Callable[..., Any], reduce_func: Callable[[Any, Dataset], Dataset],
                    window_size: Any = None, window_size_func: Callable[[Any], Any] | None = None) -> Transformation:
    """The elements of reduce_func(key, window), for windows of window_size elements that have one key.

    key_func: of an element, int64[]; window_size_func: of a key, in place of one size for all. Windows that are left
    over at the end are smaller, in the order of their keys. Raises ArgumentError (ValueError) for both sizes or none.
    """
    if (window_size is None) == (not window_size_func):
        raise ArgumentError("Must pass either window_size or window_size_func.")

    def change(dataset: Dataset) -> Dataset:
        key_of = ElementFunction(key_func, dataset._structure)
        size_of = ElementFunction(window_size_func or (lambda _: convert_to_tensor(window_size)), Element(int64, ()))

        def reduced(key: int, window: Dataset) -> Dataset:
            with Graph().as_default() as graph:
                found = reduce_func(np.int64(key), window)  # a number: functions of `map` are graphs of their own
                values = Session(graph=graph).run(found._sources) if found._sources else ()
                return Dataset(lambda _: found._elements(list(values)), found._structure)

        return _in_windows(dataset, key_of, size_of, reduced, reduced(0, dataset)._structure)

    return change


def _in_windows(dataset: Dataset, key_of: Callable[[Any], Any], size_of: Callable[[Any], Any],
                reduced: Callable[[int, Dataset], Dataset], structure: Any) -> Dataset:
    def made(key: int, rows: Sequence[Any]) -> Iterator[Any]:
        return reduced(key, Dataset(lambda _: iter(rows), dataset._structure))._elements([])

    def windows(items: Iterator[Any]) -> Iterator[Any]:
        waiting: dict[int, list[Any]] = {}
        for item in items:
            key = int(key_of(item))
            waiting.setdefault(key, []).append(item)
            if len(waiting[key]) >= int(size_of(np.int64(key))):
                yield from made(key, waiting.pop(key))
        for key in sorted(waiting):
            yield from made(key, waiting[key])

    return dataset._with(windows, structure)


def bucket_by_sequence_length(element_length_func: Callable[..., Any], bucket_boundaries: Sequence[int],
                              bucket_batch_sizes: Sequence[int], padded_shapes: Any = None, padding_values: Any = None,
                              pad_to_bucket_boundary: bool = False, no_padding: bool = False,
                              drop_remainder: bool = False) -> Transformation:
    """Batches of elements whose lengths lie between the same boundaries, padded to the longest of the batch.

    element_length_func: of an element, int[]. bucket_boundaries: ascending, a bucket ends before its boundary.
    bucket_batch_sizes: one more than these. pad_to_bucket_boundary: to one less than the boundary; a longer element
    raises InvalidArgumentError.
    """
    if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
        raise ArgumentError("len(bucket_batch_sizes) must equal len(bucket_boundaries) + 1",
                            found=f"{len(bucket_batch_sizes)} and {len(bucket_boundaries)}")

    def change(dataset: Dataset) -> Dataset:
        length_of = ElementFunction(element_length_func, dataset._structure)
        shapes = flatten_shapes(padded_shapes or dataset.output_shapes, dataset._structure)

        def batched(window: Dataset, size: int, fill: int | None) -> Dataset:
            if no_padding:
                return window.batch(size, drop_remainder)
            wanted = [None if dims is None else TensorShape([fill if n is None else n for n in dims])
                      for dims in shapes]
            return window.padded_batch(size, nest.pack_sequence_as(dataset._structure, wanted), padding_values,
                                       drop_remainder)

        def reduced(bucket: int, window: Dataset) -> Dataset:
            if pad_to_bucket_boundary and bucket == len(bucket_boundaries):
                raise InvalidArgumentError(None, None, "assertion failed: [When pad_to_bucket_boundary=True, elements "
                                           "must have length < max(bucket_boundaries).]")
            fill = bucket_boundaries[bucket] - 1 if pad_to_bucket_boundary else None
            return batched(window, bucket_batch_sizes[bucket], fill)

        structure = nest.map_structure(lambda spec: Element(spec.dtype, spec.dims and (None, *spec.dims[1:])),
                                       batched(dataset, 1, None)._structure)
        return _in_windows(dataset, lambda item: bisect.bisect_right(bucket_boundaries, int(length_of(item))),
                           lambda bucket: bucket_batch_sizes[bucket], reduced, structure)

    return change


__getattr__ = refusing("tf.data.experimental", __name__)
