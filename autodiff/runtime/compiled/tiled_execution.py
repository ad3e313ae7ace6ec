"""Running a group of elementwise calls tile by tile, on two threads where that pays."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...ops.common.threads import share
from ..plan.plan import Step
from .fusion_groups import Tiles
from .lowering import Form
from .tracing import Reduction, Shape

CACHE = 3 << 19  # bytes that the arrays of one tile may take together: about the second-level cache
SMALLEST_TILE, LARGEST_TILE = 1 << 15, 1 << 18  # bytes of one array's tile
THREADED_TILE = 1 << 18  # two threads want fewer and longer calls: between two of them one may wait for the other
THREADED = 128 * 1024  # elements for which a second thread pays
ALIGNED = 64  # bytes: a cache line, and the widest vector register
KEYWORD_OUT = (np.maximum, np.minimum)  # NumPy warns when these are given `out` by position


class TileProgram:
    """A group made ready to run. inputs, outputs: slots, in the order of its arguments and results."""

    def __init__(self, tiles: Tiles, inputs: Sequence[int], outputs: Sequence[int], forms: dict[int, Form],
                 constants: dict[int, Any], threads: int) -> None:
        self._shape, self._flat = tiles.shape, tiles.flat
        writer = _TileWriter(tiles, inputs, outputs, forms, constants)
        self.source = writer.source()
        names: dict[str, Any] = writer.names
        exec(compile(self.source, "<tile>", "exec"), names)
        self._function: Callable[..., Any] = names["tile"]
        self._registers = writer.registers
        self._taken = [not _is_number(slot, constants) for slot in inputs]
        self._sliced = [self._is_sliced(forms[slot].shape) for slot, taken in zip(inputs, self._taken) if taken]
        sums = [step.outputs[0] for step in tiles.steps if isinstance(step.call, Reduction)]
        self._sums = [sums.index(slot) if slot in sums else -1 for slot in outputs]
        self._results = [forms[slot] for slot in outputs]
        size = int(np.prod(tiles.shape))
        self._threads = threads if size >= THREADED else 1
        self.bounds = self._bounds(size, max([1, *[t.itemsize for t in self._registers],
                                              *[form.dtype.itemsize for form in self._results]]))
        self._longest = max(high - low for low, high in zip(self.bounds, self.bounds[1:]))
        self._spare: list[tuple[np.ndarray, ...]] = []

    def _is_sliced(self, shape: Shape) -> bool:
        return int(np.prod(shape)) != 1 if self._flat else len(shape) == len(self._shape) and shape[0] == self._shape[0]

    def _bounds(self, size: int, itemsize: int) -> list[int]:
        """The places where tiles begin, and the end. Flat tiles split where NumPy's pairwise sum does."""
        wanted = min(max(CACHE // (len(self._registers) + 2), SMALLEST_TILE), LARGEST_TILE)
        if self._threads > 1:
            wanted = max(wanted, THREADED_TILE)
        elements = wanted // itemsize
        if self._flat:
            return [*leaves(0, size, elements), size]
        rows = max(elements // max(size // self._shape[0], 1), 1)
        return [*range(0, self._shape[0], rows), self._shape[0]]

    def __call__(self, arguments: Sequence[Any], outs: Sequence[Any]) -> list[Any]:
        """The outputs' values. outs: where to write each, or None for an array of its own."""
        results: list[Any] = [None if total >= 0 else np.empty(form.shape, form.dtype) if out is None else out
                              for out, form, total in zip(outs, self._results, self._sums)]
        given = [a for a, taken in zip(arguments, self._taken) if taken]
        arrays = [*zip(given, self._sliced), *[(r, True) for r in results if r is not None]]
        if self._flat:
            arrays = [(a.reshape(-1) if is_sliced else a.reshape(()), is_sliced) for a, is_sliced in arrays]
        count = len(self.bounds) - 1
        sums: list[Any] = [None] * count

        def work(index: int) -> None:
            low, high = self.bounds[index], self.bounds[index + 1]
            whole = self._spare.pop() if self._spare else self._scratch()
            scratch = whole if high - low == self._longest else tuple([a[:high - low] for a in whole])
            sums[index] = self._function(scratch, *[a[low:high] if is_sliced else a for a, is_sliced in arrays])
            self._spare.append(whole)

        if self._threads > 1:
            share(work, count)
        else:
            for index in range(count):
                work(index)
        return [r if total < 0 else self._total([s[total] for s in sums]) for r, total in zip(results, self._sums)]

    def _scratch(self) -> tuple[np.ndarray, ...]:
        """Memory for the values inside of a tile, for one thread at a time."""
        inner = () if self._flat else self._shape[1:]
        return tuple([aligned((self._longest, *inner), t) for t in self._registers])

    def _total(self, parts: list[Any]) -> Any:
        return tree_sum(dict(zip(self.bounds, parts)), 0, self.bounds[-1])


def aligned(shape: Shape, dtype: np.dtype) -> np.ndarray:
    """A new array that begins with a cache line: calls on arrays in the cache are a fifth faster then."""
    memory = np.empty(int(np.prod(shape)) * dtype.itemsize + ALIGNED, np.uint8)
    return np.ndarray(shape, dtype, memory, -memory.ctypes.data % ALIGNED)


def leaves(low: int, high: int, largest: int) -> list[int]:
    """Beginnings of the pieces of at most `largest` elements that repeated halving gives."""
    size = high - low
    if size <= max(largest, 256):
        return [low]
    middle = low + _half(size)
    return leaves(low, middle, largest) + leaves(middle, high, largest)


def _half(size: int) -> int:
    half = size // 2
    return half - half % 8


def tree_sum(parts: dict[int, Any], low: int, high: int) -> Any:
    """The sum of the pieces from low to high, added as NumPy adds the halves of one array. parts: beginning -> sum."""
    middle = low + _half(high - low)
    if middle not in parts or middle == low:
        return parts[low]
    return tree_sum(parts, low, middle) + tree_sum(parts, middle, high)


def _is_number(slot: int, constants: dict[int, Any]) -> bool:
    """Whether this is a constant of one element, which the function of a tile knows by itself."""
    return slot in constants and np.size(constants[slot]) == 1


class _TileWriter:
    """Writes the function of one tile.

    Names: t* scratch, v* other values, e* arguments, c* constants, k* functions, q* sums.
    """

    def __init__(self, tiles: Tiles, inputs: Sequence[int], outputs: Sequence[int], forms: dict[int, Form],
                 constants: dict[int, Any]) -> None:
        self.names: dict[str, Any] = {"copyto": np.copyto}
        self.registers: list[np.dtype] = []
        self._tiles, self._forms = tiles, forms
        self._where: dict[int, str] = {}
        self._free: dict[np.dtype, list[str]] = {}
        self._arguments: list[str] = []
        self._last = {slot: i for i, step in enumerate(tiles.steps) for slot in step.inputs}
        self._kept = {}
        sums = {step.outputs[0] for step in tiles.steps if isinstance(step.call, Reduction)}
        for slot in inputs:
            if _is_number(slot, constants):
                value = constants[slot]
                self._where[slot] = self._name("c", np.reshape(value, ()) if tiles.flat else value)
            else:
                self._where[slot] = self._argument()
        for slot in outputs:
            if slot not in sums:
                self._kept[slot] = self._argument()

    def source(self) -> str:
        lines, sums = [], []
        for i, step in enumerate(self._tiles.steps):
            operands = [self._where[s] for s in step.inputs]
            out = step.outputs[0]
            if isinstance(step.call, Reduction):
                sums.append(f"q{i}")
                function = self._name("k", step.call.ufunc.reduce)
                lines.append(f"q{i} = {function}({operands[0]})")
            elif step.call is None:
                function = self._name("k", partial(step.op.definition.kernel, **step.op.attrs))
                kept = self._kept.get(out)
                self._where[out] = kept or f"v{i}"
                call = f"{function}({', '.join(operands)})"
                lines.append(f"copyto({kept}, {call})" if kept else f"v{i} = {call}")
            else:
                if isinstance(step.call, np.ufunc):  # it may overwrite its inputs
                    self._let_go(i, step)
                self._where[out] = self._kept.get(out) or self._register(self._forms[out].dtype)
                function = self._name("k", step.call)
                keyword = "out=" if step.call in KEYWORD_OUT else ""
                lines.append(f"{function}({', '.join(operands)}, {keyword}{self._where[out]})")
            self._let_go(i, step)
        scratch = "".join(f"t{i}, " for i in range(len(self.registers)))
        head = [f"def tile({', '.join(['scratch', *self._arguments])}):"]
        head += [f"    {scratch} = scratch"] if scratch else []
        return "\n".join([*head, *[f"    {line}" for line in lines], f"    return [{', '.join(sums)}]"])

    def _let_go(self, index: int, step: Step) -> None:
        for slot in {*step.inputs, *step.outputs}:
            if self._last.get(slot, -1) <= index:
                name = self._where.get(slot, "")
                if name.startswith("t"):
                    del self._where[slot]
                    self._free[self._forms[slot].dtype].append(name)

    def _register(self, dtype: np.dtype) -> str:
        free = self._free.setdefault(dtype, [])
        if free:
            return free.pop()
        self.registers.append(dtype)
        return f"t{len(self.registers) - 1}"

    def _argument(self) -> str:
        self._arguments.append(f"e{len(self._arguments)}")
        return self._arguments[-1]

    def _name(self, prefix: str, value: Any) -> str:
        name = f"{prefix}{len(self.names)}"
        self.names[name] = value
        return name
