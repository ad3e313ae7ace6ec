"""tf.train.batch and its kin: inputs that queues and their threads prepare."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...core.collections import GraphKeys
from ...core.convert import convert_to_tensor
from ...core.dtypes import float32
from ...core.errors import ArgumentError
from ...core.graph import Tensor, get_default_graph
from ...core.op import build
from ...core.sparse_tensor import SparseTensor, SparseTensorValue, as_sparse
from ..arrays.creation import identity
from ..control.control_flow import cond
from ..parsing import matching_files
from ..queues import FIFOQueue, PaddingFIFOQueue, QueueBase, RandomShuffleQueue
from ..random import random_shuffle
from ..sparse.rearrange import deserialize_sparse, serialize_many_sparse, serialize_sparse
from ..summary import scalar
from ..variables.variable import Variable
from .coordinator import QueueRunner, add_queue_runner

__all__ = ["batch", "batch_join", "input_producer", "limit_epochs", "match_filenames_once", "maybe_batch",
           "maybe_batch_join", "maybe_shuffle_batch", "maybe_shuffle_batch_join", "range_input_producer",
           "shuffle_batch", "shuffle_batch_join", "slice_input_producer", "string_input_producer"]


def limit_epochs(tensor: Any, num_epochs: int | None = None, name: str | None = None) -> Tensor:
    """The tensor, so many times; then OutOfRangeError. local_variables_initializer begins the count."""
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ArgumentError(f"num_epochs must be > 0 not {num_epochs}.")
    with get_default_graph().name_scope(name or "limit_epochs"):
        epochs = Variable(np.int64(0), name="epochs", trainable=False, collections=[GraphKeys.LOCAL_VARIABLES])
        counter = epochs.count_up_to(num_epochs)
        with get_default_graph().control_dependencies([counter]):
            return identity(tensor)


def input_producer(input_tensor: Any, element_shape: Any = None, num_epochs: int | None = None, shuffle: bool = True,
                   seed: int | None = None, capacity: int = 32, shared_name: str | None = None,
                   summary_name: str | None = None, name: str | None = None, cancel_op: Any = None) -> QueueBase:
    """A queue of the rows of a tensor, over and over; a queue runner fills it."""
    with get_default_graph().name_scope(name or "input_producer"):
        rows = convert_to_tensor(input_tensor, name="input_tensor")
        shape = rows.shape[1:].merge_with(element_shape)
        if not shape.is_fully_defined():
            raise ArgumentError("Either `input_tensor` must have a fully defined shape or `element_shape` must be "
                                "specified")
        if shuffle:
            rows = random_shuffle(rows, seed=seed)
        rows = limit_epochs(rows, num_epochs)
        queue = FIFOQueue(capacity, [rows.dtype.base_dtype], [shape], shared_name=shared_name, name="queue")
        add_queue_runner(QueueRunner(queue, [queue.enqueue_many([rows])], queue.close(), cancel_op))
        if summary_name is not None:
            scalar(summary_name, build.Cast(queue.size(), dtype=float32) * (1.0 / capacity))
        return queue


def string_input_producer(string_tensor: Any, num_epochs: int | None = None, shuffle: bool = True,
                          seed: int | None = None, capacity: int = 32, shared_name: str | None = None,
                          name: str | None = None, cancel_op: Any = None) -> QueueBase:
    """A queue of texts, such as the names of files. Raises ArgumentError (ValueError) for an empty list."""
    if not isinstance(string_tensor, Tensor) and not len(string_tensor):
        raise ArgumentError("string_input_producer requires a non-null input tensor")
    with get_default_graph().name_scope(name or "input_producer") as scope:
        texts = convert_to_tensor(string_tensor, dtype="string")
        check = build.Assert(build.Greater(build.Size(texts), 0),
                             "string_input_producer requires a non-null input tensor")
        with get_default_graph().control_dependencies([check]):
            texts = identity(texts)
        return input_producer(texts, [], num_epochs, shuffle, seed, capacity, shared_name,
                              f"fraction_of_{capacity}_full", scope, cancel_op)


def range_input_producer(limit: Any, num_epochs: int | None = None, shuffle: bool = True, seed: int | None = None,
                         capacity: int = 32, shared_name: str | None = None, name: str | None = None) -> QueueBase:
    """A queue of the numbers from 0 to limit - 1."""
    with get_default_graph().name_scope(name or "input_producer") as scope:
        return input_producer(build.Range(0, limit, 1), [], num_epochs, shuffle, seed, capacity, shared_name,
                              f"fraction_of_{capacity}_full", scope)


def slice_input_producer(tensor_list: Sequence[Any], num_epochs: int | None = None, shuffle: bool = True,
                         seed: int | None = None, capacity: int = 32, shared_name: str | None = None,
                         name: str | None = None) -> list[Tensor]:
    """One slice of each tensor, all at the same place; the places come from a queue."""
    with get_default_graph().name_scope(name or "input_producer"):
        if not tensor_list:
            raise ArgumentError("Expected at least one tensor in slice_input_producer().")
        tensors = [convert_to_tensor(t) for t in tensor_list]
        index = range_input_producer(build.Shape(tensors[0])[0], num_epochs, shuffle, seed, capacity,
                                     shared_name).dequeue()
        return [build.GatherV2(tensor, index, 0) for tensor in tensors]


def _as_tensor_list(tensors: Any) -> Any:
    """The values of a dict, in the order of its keys' words; others as they are."""
    return [tensors[key] for key in sorted(tensors, key=str)] if isinstance(tensors, dict) else tensors


def _as_original_type(original: Any, found: Any) -> Any:
    """The way back from _as_tensor_list to the list or dict that `original` is."""
    return dict(zip(sorted(original, key=str), found)) if isinstance(original, dict) else found


def _part(value: Any) -> Any:
    return as_sparse(value) if isinstance(value, (SparseTensor, SparseTensorValue)) else convert_to_tensor(value)


def _held(flat: Sequence[Any], many: bool) -> list[Tensor]:
    """Sparse tensors as the texts that a queue holds."""
    write = serialize_many_sparse if many else serialize_sparse
    return [write(t) if isinstance(t, SparseTensor) else t for t in flat]


def _restored(taken: Sequence[Tensor], kinds: Sequence[Any]) -> list[Any]:
    """What _held has written, read again. kinds: the parts of an element, before."""
    return [deserialize_sparse(t, kind.dtype.base_dtype, rank) if isinstance(kind, SparseTensor) else t
            for t, (kind, rank) in zip(taken, kinds)]


def _batched(tensors_list: Sequence[Any], batch_size: Any, make: Callable[[Any, Any], QueueBase], capacity: int, *,
             many: bool, keep: Any, shapes: Any, pads: bool, smaller: bool, threads: int, name: str) -> Any:
    if not tensors_list or not tensors_list[0]:
        raise ArgumentError("Expected at least one tensor in batch().")
    with get_default_graph().name_scope(name):
        if any(isinstance(each, dict) and each.keys() != tensors_list[0].keys() for each in tensors_list):
            raise ArgumentError("All dictionaries in tensors_list must have the same keys",
                                found=[sorted(each, key=str) for each in tensors_list])
        lists = []
        for tensors in tensors_list:
            flat = [_part(t) for t in _as_tensor_list(tensors)]
            parts = [(t, t.shape.ndims and t.shape.ndims - many if isinstance(t, SparseTensor) else None) for t in flat]
            lists.append(_held(flat, many))
        kinds = [t.dtype.base_dtype for t in lists[0]]
        for flat in lists[1:]:
            if [t.dtype.base_dtype for t in flat] != kinds:
                raise ArgumentError("tensors_list must have the same types in all of its lists", expected=kinds)
        if shapes is None and any(t.shape.ndims is None for flat in lists for t in flat):
            raise ArgumentError("Cannot infer Tensor's rank", found=[t.describe() for flat in lists for t in flat])
        found = [t.shape[1:] if many else t.shape for t in lists[0]] if shapes is None else shapes
        for flat in lists[1:] if shapes is None else ():
            found = [a.most_specific_compatible_shape(t.shape[1:] if many else t.shape) for a, t in zip(found, flat)]
        if not pads and shapes is None and not all(shape.is_fully_defined() for shape in found):
            raise ArgumentError(f"All shapes must be fully defined: {found}")
        queue = make(kinds, found)
        ops = [_enqueued(queue, flat, many, keep) for flat in lists for _ in range(threads)]
        add_queue_runner(QueueRunner(queue, ops, queue.close()))
        scalar(f"fraction_of_{capacity}_full", build.Cast(queue.size(), dtype=float32) * (1.0 / capacity))
        taken = queue.dequeue_up_to(batch_size) if smaller else queue.dequeue_many(batch_size)
        result = _as_original_type(tensors_list[0], _restored(taken if isinstance(taken, list) else [taken], parts))
        return result[0] if isinstance(result, list) and len(result) == 1 else result


def _enqueued(queue: QueueBase, flat: list[Tensor], many: bool, keep: Any) -> Any:
    if keep is True:
        return queue.enqueue_many(flat) if many else queue.enqueue(flat)
    keep = convert_to_tensor(keep, dtype="bool")
    if keep.dims is None or len(keep.dims) > 1:
        must = "dimensions must be known at graph construction" if keep.dims is None else "must be 0 or 1 dimensions"
        raise ArgumentError(f"`keep_input` {must}.", found=keep.describe())
    if keep.dims and not many:
        raise ArgumentError("`keep_input` cannot be a vector when `enqueue_many=False`.", found=keep.describe())
    if keep.dims != ():
        rows = build.GatherV2
        kept = build.Squeeze(build.Where(keep), squeeze_dims=[1])
        return queue.enqueue_many([rows(t, kept, 0) for t in flat])
    return cond(keep, lambda: queue.enqueue_many(flat) if many else queue.enqueue(flat), lambda: build.NoOp())


def _plain(capacity: int, pads: bool, shared_name: str | None) -> Callable[[Any, Any], QueueBase]:
    return partial(PaddingFIFOQueue if pads else FIFOQueue, capacity, shared_name=shared_name)


def maybe_batch(tensors: Any, keep_input: Any, batch_size: Any, num_threads: int = 1, capacity: int = 32,
                enqueue_many: bool = False, shapes: Any = None, dynamic_pad: bool = False,
                allow_smaller_final_batch: bool = False, shared_name: str | None = None,
                name: str | None = None) -> Any:
    """tf.train.batch of those elements for which keep_input holds."""
    return _batched([tensors], batch_size, _plain(capacity, dynamic_pad, shared_name), capacity, many=enqueue_many,
                    keep=keep_input, shapes=shapes, pads=dynamic_pad, smaller=allow_smaller_final_batch,
                    threads=num_threads, name=name or "batch")


def batch(tensors: Any, batch_size: Any, num_threads: int = 1, capacity: int = 32, enqueue_many: bool = False,
          shapes: Any = None, dynamic_pad: bool = False, allow_smaller_final_batch: bool = False,
          shared_name: str | None = None, name: str | None = None) -> Any:
    """Batches of what the tensors give run after run: a list or dict as `tensors`, each with one more leading axis.

    enqueue_many: each tensor has several elements already. dynamic_pad: sizes that are not known are filled up.
    """
    return maybe_batch(tensors, True, batch_size, num_threads, capacity, enqueue_many, shapes, dynamic_pad,
                       allow_smaller_final_batch, shared_name, name)


def maybe_batch_join(tensors_list: Sequence[Any], keep_input: Any, batch_size: Any, capacity: int = 32,
                     enqueue_many: bool = False, shapes: Any = None, dynamic_pad: bool = False,
                     allow_smaller_final_batch: bool = False, shared_name: str | None = None,
                     name: str | None = None) -> Any:
    """tf.train.batch_join of those elements for which keep_input holds."""
    return _batched(tensors_list, batch_size, _plain(capacity, dynamic_pad, shared_name), capacity, many=enqueue_many,
                    keep=keep_input, shapes=shapes, pads=dynamic_pad, smaller=allow_smaller_final_batch, threads=1,
                    name=name or "batch_join")


def batch_join(tensors_list: Sequence[Any], batch_size: Any, capacity: int = 32, enqueue_many: bool = False,
               shapes: Any = None, dynamic_pad: bool = False, allow_smaller_final_batch: bool = False,
               shared_name: str | None = None, name: str | None = None) -> Any:
    """tf.train.batch of several lists of tensors, a thread for each."""
    return maybe_batch_join(tensors_list, True, batch_size, capacity, enqueue_many, shapes, dynamic_pad,
                            allow_smaller_final_batch, shared_name, name)


def maybe_shuffle_batch(tensors: Any, batch_size: Any, capacity: int, min_after_dequeue: int, keep_input: Any,
                        num_threads: int = 1, seed: int | None = None, enqueue_many: bool = False, shapes: Any = None,
                        allow_smaller_final_batch: bool = False, shared_name: str | None = None,
                        name: str | None = None) -> Any:
    """tf.train.shuffle_batch of those elements for which keep_input holds."""
    return _batched([tensors], batch_size, partial(RandomShuffleQueue, capacity, min_after_dequeue, seed=seed,
        shared_name=shared_name), capacity, many=enqueue_many, keep=keep_input, shapes=shapes, pads=False,
        smaller=allow_smaller_final_batch, threads=num_threads, name=name or "shuffle_batch")


def shuffle_batch(tensors: Any, batch_size: Any, capacity: int, min_after_dequeue: int, num_threads: int = 1,
                  seed: int | None = None, enqueue_many: bool = False, shapes: Any = None,
                  allow_smaller_final_batch: bool = False, shared_name: str | None = None,
                  name: str | None = None) -> Any:
    """Batches of elements drawn from a queue in which at least min_after_dequeue stay behind. See batch."""
    return maybe_shuffle_batch(tensors, batch_size, capacity, min_after_dequeue, True, num_threads, seed, enqueue_many,
                               shapes, allow_smaller_final_batch, shared_name, name)


def maybe_shuffle_batch_join(tensors_list: Sequence[Any], batch_size: Any, capacity: int, min_after_dequeue: int,
                             keep_input: Any, seed: int | None = None, enqueue_many: bool = False, shapes: Any = None,
                             allow_smaller_final_batch: bool = False, shared_name: str | None = None,
                             name: str | None = None) -> Any:
    """tf.train.shuffle_batch_join of those elements for which keep_input holds."""
    return _batched(tensors_list, batch_size, partial(RandomShuffleQueue, capacity, min_after_dequeue, seed=seed,
        shared_name=shared_name), capacity, many=enqueue_many, keep=keep_input, shapes=shapes, pads=False,
        smaller=allow_smaller_final_batch, threads=1, name=name or "shuffle_batch_join")


def shuffle_batch_join(tensors_list: Sequence[Any], batch_size: Any, capacity: int, min_after_dequeue: int,
                       seed: int | None = None, enqueue_many: bool = False, shapes: Any = None,
                       allow_smaller_final_batch: bool = False, shared_name: str | None = None,
                       name: str | None = None) -> Any:
    """tf.train.shuffle_batch of several lists of tensors, a thread for each."""
    return maybe_shuffle_batch_join(tensors_list, batch_size, capacity, min_after_dequeue, True, seed, enqueue_many,
                                    shapes, allow_smaller_final_batch, shared_name, name)


def match_filenames_once(pattern: Any, name: str | None = None) -> Variable:
    """The names of files that fit a pattern, found when local variables are initialized."""
    return Variable(matching_files(pattern), name=name or "matching_filenames", trainable=False, validate_shape=False,
                    collections=[GraphKeys.LOCAL_VARIABLES])
