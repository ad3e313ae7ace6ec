"""The memory of a plan's buffers: arrays that are used again, and an order of steps in which sums wait for nothing."""
from __future__ import annotations

import ctypes
import functools
import os
import sys
from collections import Counter
from dataclasses import replace
from math import prod

import numpy as np

from ..plan.passes import is_pure
from ..plan.plan import Buffer, Plan, Step
from ..plan.zero_padding import MOST_BYTES
from .lowering import Form
from .tiled_execution import ALIGNED

KEPT = {-3: 1 << 25, -1: 1 << 28}  # M_MMAP_THRESHOLD, the largest there is, and M_TRIM_THRESHOLD of malloc.h: bytes
RECYCLED = 1 << 16  # bytes of a fetched array that is worth using again: fresh memory costs page faults


class Recycled:
    """Arrays to hand out, of one layout. One that nobody else holds any more is used again."""

    def __init__(self, layout: Buffer) -> None:
        self._layout = layout
        self._arrays: list[np.ndarray] = []  # two: the caller lets go of one when it has the next

    def take(self) -> np.ndarray:
        """An array to write to, which owns its memory."""
        shape, dtype = self._layout.shape, self._layout.dtype
        for i in range(len(self._arrays)):
            if _references(self._arrays, i) == _UNSHARED:
                array = self._arrays[i]
                if array.flags.writeable and array.shape == shape and array.dtype == dtype:  # as the caller left it
                    return array
        array = np.empty(shape, dtype)
        self._arrays = [*self._arrays[-1:], array]
        return array


def _references(arrays: list[np.ndarray], index: int) -> int:
    return sys.getrefcount(arrays[index])


_UNSHARED = _references([np.empty(0)], 0)  # of an array in the list alone: what a call adds depends on the Python


@functools.cache
def keep_freed_memory() -> bool:
    """Have the C library keep up to 256 MB that are let go of, for the next run to use; gives whether it does.

    By default it hands large arrays back to the system: the next run then pays for each page again, up to a third of
    its time. Left alone where the environment sets this, and where the library is not GNU's.
    """
    if any(name in os.environ for name in ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES")):
        return False
    try:
        set_option = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another library, or Windows
        return False
    return all([set_option(option, size) for option, size in KEPT.items()])


def allocate(plan: Plan) -> dict[int, np.ndarray]:
    """Slot -> the array that its result is written to. None of them owns its memory, so no one keeps it by mistake.

    Blocks that may be those of Paddings begin as zeros.
    """
    memory = [(np.zeros if size <= MOST_BYTES else np.empty)(size + ALIGNED, np.uint8) for size in plan.blocks]
    starts = [-block.ctypes.data % ALIGNED for block in memory]
    return {slot: np.ndarray(b.shape, b.dtype, memory[b.block], starts[b.block] + b.offset, b.strides)
            for slot, b in plan.buffers.items()}


def early_sums(plan: Plan, forms: dict[int, Form]) -> Plan:
    """The plan in which each step that frees more memory than it takes follows right after its last input.

    The gradients of a weight that is used at each of many times are made one after the other, and added at
    the end: added at once they take the memory of two, which stays in the cache.
    """
    readers = Counter([i for step in plan.steps for i in step.inputs] + list(plan.fetches))
    made = {slot for step in plan.steps for slot in step.outputs}
    missing = {i: len(made.intersection(step.inputs)) for i, step in enumerate(plan.steps)
               if _shrinks(step, forms, readers, made)}
    waiting = {slot: i for i in missing for slot in plan.steps[i].inputs if slot in made and readers[slot] == 1}
    steps: list[Step] = []
    for i, step in enumerate(plan.steps):
        ready = [step] if i not in missing else []
        while ready:
            current = ready.pop()
            steps.append(current)
            for slot in current.outputs:
                reader = waiting.get(slot)
                if reader is not None:
                    missing[reader] -= 1
                    ready += [plan.steps[reader]] if not missing[reader] else []
    return replace(plan, steps=steps)


def _shrinks(step: Step, forms: dict[int, Form], readers: Counter, made: set[int]) -> bool:
    """Whether the step is the only reader of its inputs, gives fewer bytes than it takes, and cannot fail."""
    own = [i for i in step.inputs if i in made]
    if not isinstance(step.call, np.ufunc) or not is_pure(step) or len(own) < 2 \
            or any(readers[i] != 1 for i in own) or any(i not in forms for i in (*own, *step.outputs)):
        return False
    return sum(_bytes(forms[i]) for i in own) > sum(_bytes(forms[i]) for i in step.outputs)


def _bytes(form: Form) -> int:
    return prod(form.shape) * form.dtype.itemsize
