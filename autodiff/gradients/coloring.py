"""Which elements of a Jacobian can differ from zero, read off the graph; and rows that one backward pass can share.

Curtis, Powell and Reid (1974), On the estimation of sparse Jacobian matrices: rows without a common
column are found in one pass, as their sum.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.constant_value import static_value
from ..core.graph import Operation, Tensor
from ..core.shapes import is_known, num_elements
from .batching import depending_on

LARGEST = 1 << 14  # columns: the pattern is held as bits, one row for each element of each tensor
BUDGET = 1 << 26  # bytes for one tensor's rows; beyond it all its elements are taken to depend on the same

_MOVES = frozenset(("Reshape", "Transpose", "ExpandDims", "Squeeze", "StridedSlice", "StridedSliceGrad", "Slice", "Pad",
                    "ConcatV2", "Pack", "Unpack", "Split", "SplitV", "ReverseV2", "Tile", "BroadcastTo", "GatherV2",
                    "Roll", "Diag", "DiagPart"))  # they only move elements, and may add zeros
_READS = frozenset(("ReadVariableOp", "Identity"))
_SUMS = {"AddN": 0, "AddV2": 0, "Add": 0, "Sub": 0, "ConcatV2": 1, "Pack": 0}  # op -> the first of its terms or parts
_LINEAR_IN = {  # op -> inputs; if one of them is zero, so is the output
    "Mul": (0, 1), "MatMul": (0, 1), "BatchMatMulV2": (0, 1), "RealDiv": (0,), "Neg": (0,), "Sum": (0,), "Mean": (0,),
    "SumTo": (0,), "TanhGrad": (1,), "SigmoidGrad": (1,), "ReluGrad": (0,), "Reshape": (0,), "Transpose": (0,),
    "ExpandDims": (0,), "Squeeze": (0,), "StridedSlice": (0,), "StridedSliceGrad": (4,), "Slice": (0,), "Pad": (0,),
    "BroadcastTo": (0,), "Identity": (0,), "Conv2D": (0, 1), "Conv2DBackpropInput": (1, 2),
    "Conv2DBackpropFilter": (0, 2), "MaxPoolGrad": (2,), "MaxPoolGradGrad": (2,)}


def pattern(y: Tensor, x: Tensor) -> np.ndarray | None:
    """bool[size of y, size of x], True where dy/dx may differ from zero; None if shapes are not known or too large."""
    rows, columns = num_elements(y.dims), num_elements(x.dims)
    if rows is None or columns is None or not 0 < columns <= LARGEST:
        return None
    depends = _depending(y, x)
    if depends is None or y not in depends:
        return None
    return np.unpackbits(depends[y].reshape(rows, -1), axis=1, count=columns).astype(bool)


def vanishing(found: Tensor, direction: Tensor) -> dict[Tensor, np.ndarray]:
    """Which elements of `direction` the tensors between the two need: bool[size], for those known to be linear in it.

    Where all of these are zero, so is the tensor. Empty if shapes are not known or too large.
    """
    columns = num_elements(direction.dims)
    if columns is None or not 0 < columns <= LARGEST:
        return {}
    depends = _depending(found, direction) or {}
    linear = {direction}
    for op in depending_on([found], {direction: direction}):
        if _is_linear(op, depends, linear):
            linear.update(op.outputs)
    return {t: np.unpackbits(_union(bits), count=columns).astype(bool) for t, bits in depends.items() if t in linear}


def _is_linear(op: Operation, depends: dict[Tensor, np.ndarray], linear: set[Tensor]) -> bool:
    """Whether the op's outputs are linear in what its inputs are linear in."""
    if op.type in _SUMS:
        return all(t in linear for t in op.inputs[_SUMS[op.type]:])
    places = _LINEAR_IN.get(op.type, ())
    return all(t in linear and i in places for i, t in enumerate(op.inputs) if t in depends)


def _depending(y: Tensor, x: Tensor) -> dict[Tensor, np.ndarray] | None:
    """For each tensor between the two the elements of x that it depends on, as bits; None if a shape is not known."""
    depends: dict[Tensor, np.ndarray] = {}
    columns = num_elements(x.dims) or 0
    start = np.packbits(np.eye(columns, dtype=bool), axis=1).reshape(*x.dims, -1)  # type: ignore[misc]
    if not x.dtype.is_ref and x.dtype.name != "resource":
        depends[x] = start
    for op in depending_on([y], {x: x}):
        if op.type in _READS and op.inputs[0] is x:
            depends[op.outputs[0]] = start
        elif not _follow(op, depends):
            return None
    return depends


def _follow(op: Operation, depends: dict[Tensor, np.ndarray]) -> bool:
    """Note what the outputs of an op depend on; False if a shape is not known."""
    if not all(is_known(t.dims) for t in op.outputs):
        return False
    given = [t for t in op.inputs if t in depends]
    if not given:
        return True
    width = depends[given[0]].shape[-1]
    if any(int(np.prod((*t.dims, width), dtype=np.int64)) > BUDGET for t in op.outputs):  # type: ignore[misc]
        everything = _union(np.stack([_union(depends[t]) for t in given]))
        depends.update((t, np.broadcast_to(everything, (*t.dims, width))) for t in op.outputs)  # type: ignore[misc]
        return True
    found = _moved(op, depends) if op.type in _MOVES else None
    if found is None and (op.definition.elementwise or op.type == "AddN"):
        found = [_broadcast(op.outputs[0].dims, [_aligned(depends[t], op.outputs[0].dims) for t in given])]
    if found is None and op.type in ("Sum", "Mean", "SumTo"):
        found = _summed(op, depends[given[0]])
    if found is None:
        anything = np.bitwise_or.reduce([_union(depends[t]) for t in given])
        found = [np.broadcast_to(anything, (*t.dims, anything.size)) for t in op.outputs]  # type: ignore[misc]
    depends.update(zip(op.outputs, found))
    return True


def _union(bits: np.ndarray) -> np.ndarray:
    return np.bitwise_or.reduce(bits.reshape(-1, bits.shape[-1]), axis=0)


def _aligned(bits: np.ndarray, dims: Any) -> np.ndarray:
    return bits.reshape((1,) * (len(dims) + 1 - bits.ndim) + bits.shape)


def _broadcast(dims: Any, parts: Sequence[np.ndarray]) -> np.ndarray:
    total = np.broadcast_to(parts[0], (*dims, parts[0].shape[-1]))
    for part in parts[1:]:
        total = total | part
    return total


def _moved(op: Operation, depends: dict[Tensor, np.ndarray]) -> list[np.ndarray] | None:
    """By the kernel itself, run on numbers of elements: 0 stands for what depends on nothing."""
    args: list[Any] = []
    rows = [np.zeros((1, next(iter(depends.values())).shape[-1]), np.uint8)]
    count = 1
    for tensor in op.inputs:
        if tensor in depends:
            bits = depends[tensor]
            bits = bits.reshape(-1, bits.shape[-1])
            args.append(np.arange(count, count + len(bits)).reshape(tensor.dims))
            rows.append(bits)
            count += len(bits)
        elif (value := static_value(tensor)) is not None and tensor.dtype.base_dtype.is_integer:
            args.append(value)
        elif is_known(tensor.dims):
            args.append(np.zeros(tensor.dims, np.int64))
        else:
            return None
    places = op.definition.kernel(*args, **op.attrs)
    table = np.concatenate(rows)
    return [table[p] for p in ([places] if len(op.outputs) == 1 else places)]


def _summed(op: Operation, bits: np.ndarray) -> list[np.ndarray] | None:
    dims = op.outputs[0].dims
    if op.type == "SumTo":
        shape = (1,) * (bits.ndim - 1 - len(dims)) + tuple(dims)  # type: ignore[arg-type]
        axes: Any = tuple(i for i, n in enumerate(shape) if n == 1)
    else:
        axes = static_value(op.inputs[1])
        if axes is None:
            return None
        axes = tuple(int(a) % (bits.ndim - 1) for a in np.atleast_1d(axes))
    total = np.bitwise_or.reduce(bits, axis=axes, keepdims=True) if axes else bits
    return [total.reshape(*dims, -1)]  # type: ignore[misc]


def colored(rows: np.ndarray, most: int) -> list[int] | None:
    """A color for each row, so that rows of one color have no column in common; None if it takes more than `most`."""
    sums: list[int] = []
    colors = []
    for row in np.packbits(rows, axis=1):
        bits = int.from_bytes(row.tobytes(), "big")
        color = next((c for c, taken in enumerate(sums) if not taken & bits), len(sums))
        if color == most:
            return None
        if color == len(sums):
            sums.append(0)
        sums[color] |= bits
        colors.append(color)
    return colors
