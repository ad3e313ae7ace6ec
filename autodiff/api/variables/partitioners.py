"""Partitioners: into how many parts each axis of a variable is cut."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...core.dtypes import as_dtype
from ...core.errors import ArgumentError
from ...core.shapes import TensorShape

Partitioner = Callable[..., list[int]]


def _sizes(shape: Any) -> list[int]:
    """The sizes of a fully known shape. Raises ArgumentError (ValueError) for others."""
    known = TensorShape(shape)
    known.assert_is_fully_defined()
    return [size for size in known.as_list() if size is not None]


def fixed_size_partitioner(num_shards: int, axis: int = 0) -> Partitioner:
    """So many parts along an axis, at most one for each row."""

    def partition(shape: Any, **_: Any) -> list[int]:
        sizes = _sizes(shape)
        parts = [1] * len(sizes)
        parts[axis] = min(num_shards, sizes[axis])
        return parts

    return partition


def variable_axis_size_partitioner(max_shard_bytes: int, axis: int = 0, bytes_per_string_element: int = 16,
                                   max_shards: int | None = None) -> Partitioner:
    """Parts along an axis of at most so many bytes, as long as a row fits. Raises ArgumentError (ValueError)."""
    for name, number in (("max_shard_bytes", max_shard_bytes), ("bytes_per_string_element", bytes_per_string_element),
                         ("max_shards", 1 if max_shards is None else max_shards)):
        if number < 1:
            raise ArgumentError(f"{name} must be positive", found=number)

    def partition(shape: Any, dtype: Any) -> list[int]:
        sizes, kind = _sizes(shape), as_dtype(dtype)
        width = bytes_per_string_element if kind.name == "string" else kind.size
        rows = sizes[axis]
        per_row = math.prod(sizes[:axis] + sizes[axis + 1:]) * width
        parts = [1] * len(sizes)
        if per_row <= max_shard_bytes:
            per_part = max(1, max_shard_bytes // max(per_row, 1))
            wanted = math.ceil(rows / per_part)
        else:
            wanted = rows
        parts[axis] = max(1, min(wanted, rows, max_shards or wanted))
        return parts

    return partition


def min_max_variable_partitioner(max_partitions: int = 1, axis: int = 0, min_slice_size: int = 256 << 10,
                                 bytes_per_string_element: int = 16) -> Partitioner:
    """As many parts along an axis as keep each at min_slice_size bytes or more, up to max_partitions."""

    def partition(shape: Any, dtype: Any) -> list[int]:
        if axis >= len(TensorShape(shape)):
            raise ArgumentError(f"Cannot partition variable along axis {axis} when shape is only {shape}")
        sizes, kind = _sizes(shape), as_dtype(dtype)
        width = bytes_per_string_element if kind.name == "string" else kind.size
        fitting = (width * math.prod(sizes) + min_slice_size - 1) // min_slice_size
        parts = [1] * len(sizes)
        parts[axis] = min(sizes[axis], max(1, min(max_partitions, fitting)))
        return parts

    return partition
