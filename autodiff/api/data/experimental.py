"""tf.data.experimental, and tf.contrib.data: transformations to hand to Dataset.apply."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..common.unsupported import refusing
from .dataset import Dataset

__all__ = ["AUTOTUNE", "batch_and_drop_remainder", "map_and_batch", "parallel_interleave", "shuffle_and_repeat",
           "unbatch"]
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


__getattr__ = refusing("tf.data.experimental", __name__)
