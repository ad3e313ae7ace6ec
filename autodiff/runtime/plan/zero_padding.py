"""Rows among zeros, as the gradient of x[1:] is: in memory of their own, whose zeros are written once."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from ...ops.arrays.slice import index_of
from .plan import Buffer, Step

MOST_BYTES = 1 << 18  # of such memory: nothing else may use it


@dataclass(frozen=True)
class Padding:
    """Zeros of `shape`, with the rows from `low` to `high` taken from an array."""

    shape: tuple[int, ...]
    low: int
    high: int
    __name__ = "pad"

    def __call__(self, rows: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        if out is None:
            out = np.zeros(self.shape, rows.dtype)
        else:
            out[:self.low] = out[self.high:] = 0
        out[self.low:self.high] = rows
        return out


def padded(step: Step, constants: Mapping[int, Any]) -> Step:
    """The step; if it is the gradient of a part x[low:high], as a Padding of its rows."""
    if step.op.type != "StridedSliceGrad" or step.call is not None or any(i not in constants for i in step.inputs[:4]):
        return step
    shape, *bounds = [constants[i] for i in step.inputs[:4]]
    index, sizes = index_of(*bounds, **step.op.attrs), shape.tolist()
    if not index or len(index) > len(sizes) or not all(isinstance(part, slice) for part in index):
        return step
    rows, *others = [range(size)[part] for part, size in zip(index, sizes)]
    if not rows or rows.step != 1 or any(whole != range(size) for whole, size in zip(others, sizes[1:])):
        return step
    return replace(step, inputs=step.inputs[4:], call=Padding(tuple(sizes), rows.start, rows.stop))


def parts_of_paddings(steps: Sequence[Step], steady: Mapping[int, Buffer],
                      taken: set[int]) -> dict[int, tuple[int, int]]:
    """Slot -> the Padding that it is the rows of, and at which byte, where a ufunc can write them in their place.

    steady: the results that may have a buffer. taken: of them, those that have their place elsewhere.
    """
    parts: dict[int, tuple[int, int]] = {}
    written = {step.outputs[0] for step in steps if isinstance(step.call, np.ufunc)} - taken
    for step in steps:
        if not isinstance(step.call, Padding):
            continue
        (rows,), (whole,) = step.inputs, step.outputs
        if rows not in written or rows in parts or whole in taken or rows not in steady or whole not in steady \
                or steady[rows].strides != steady[whole].strides:
            continue
        size = prod(step.call.shape[1:]) * steady[whole].dtype.itemsize
        if step.call.shape[0] * size <= MOST_BYTES:
            parts[rows] = whole, step.call.low * size
    return parts
