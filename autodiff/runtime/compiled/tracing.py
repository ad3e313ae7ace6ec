"""The ufunc calls of a kernel, traced with stand-ins that know a dtype and a shape."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.op import OpDef
from ...ops.math.comparison import choose

Shape = tuple[int, ...]


class Reduction(NamedTuple):
    """`ufunc.reduce` over some axes, called like a ufunc."""

    ufunc: np.ufunc
    axes: tuple[int, ...]
    keepdims: bool

    def __call__(self, x: Any, out: Any = None) -> Any:
        return self.ufunc.reduce(x, axis=self.axes, dtype=x.dtype, out=out, keepdims=self.keepdims)


Function = Any  # a ufunc, a Reduction, or `choose`


class Entry(NamedTuple):
    """One call: function(*operands) of this dtype and shape. operands: Traced values and arrays."""

    function: Function
    operands: tuple[Any, ...]
    value: "Traced"


class Traced(np.lib.mixins.NDArrayOperatorsMixin):
    """Stands for an array: every ufunc it is given to is appended to `entries`; it refuses to be looked at."""

    __slots__ = ("entries", "shape", "dtype")

    def __init__(self, entries: list[Entry], shape: Shape, dtype: np.dtype) -> None:
        self.entries, self.shape, self.dtype = entries, shape, dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    def astype(self, dtype: Any, copy: bool = True) -> "Traced":
        """Itself; a cast is not traced."""
        if np.dtype(dtype) != self.dtype:
            raise TypeError("a cast is not traced")
        return self

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("the kernel looked at its argument")

    __bool__ = __float__ = __int__ = __index__ = __len__ = __iter__ = __array__
    __hash__ = None  # type: ignore[assignment]

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        if keywords.pop("out", None) not in (None, (None,)):
            return NotImplemented
        if method == "__call__" and not keywords and ufunc.nout == 1 and ufunc.signature is None:
            return self._call(ufunc, inputs)
        if method == "reduce":
            return self._reduce(ufunc, *inputs, **keywords)
        return NotImplemented

    def __array_function__(self, function: Function, types: Any, args: Any, keywords: Any) -> Any:
        if function is not np.where or keywords or len(args) != 3 or _dtype(args[0]) != np.bool_:
            return NotImplemented
        dtype = _dtype(args[1])
        return NotImplemented if dtype is None or dtype != _dtype(args[2]) else self._append(choose, tuple(args), dtype)

    def _call(self, ufunc: np.ufunc, inputs: tuple[Any, ...]) -> "Traced":
        kinds = [type(x) if isinstance(x, (int, float, complex)) and not isinstance(x, np.generic)
                 else _dtype(x) for x in inputs]
        found = ufunc.resolve_dtypes((*kinds, None))
        operands = tuple([x if isinstance(x, Traced) else np.asarray(x, dtype) for x, dtype in zip(inputs, found)])
        return self._append(ufunc, operands, found[-1])

    def _reduce(self, ufunc: np.ufunc, x: Any, axis: Any = 0, dtype: Any = None, keepdims: bool = False) -> Any:
        if dtype is None or np.dtype(dtype) != x.dtype:
            return NotImplemented
        axes = axis if isinstance(axis, tuple) else tuple(range(x.ndim)) if axis is None else (axis,)
        axes = tuple(sorted(a % x.ndim for a in axes))
        shape = tuple([1 if i in axes else n for i, n in enumerate(x.shape) if keepdims or i not in axes])
        value = Traced(self.entries, shape, x.dtype)
        self.entries.append(Entry(Reduction(ufunc, axes, keepdims), (x,), value))
        return value

    def _append(self, function: Function, operands: tuple[Any, ...], dtype: np.dtype) -> "Traced":
        value = Traced(self.entries, np.broadcast_shapes(*[x.shape for x in operands]), dtype)
        self.entries.append(Entry(function, operands, value))
        return value


def _dtype(x: Any) -> np.dtype | None:
    return x.dtype if isinstance(x, (Traced, np.ndarray, np.generic)) else None


def trace(definition: OpDef, inputs: Sequence[Any], attrs: dict[str, Any]) -> tuple[list[Traced], list[Entry]] | None:
    """The calls that the kernel makes, the last one giving its result; None if it does anything else.

    inputs: (shape, dtype) for what differs from run to run, arrays for constants. Gives the stand-in
    of each of the former, in order, and the calls.
    """
    entries: list[Entry] = []
    given = [x if isinstance(x, (np.ndarray, np.generic)) else Traced(entries, *x) for x in inputs]
    try:
        result = definition.kernel(*given, **attrs)
    except Exception:  # the kernel asked a stand-in for something that it does not have
        return None
    if not entries or result is not entries[-1].value:
        return None
    return [x for x in given if isinstance(x, Traced)], entries
