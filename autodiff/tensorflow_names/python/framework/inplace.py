"""tensorflow.python.ops.inplace_ops: tensors with some of their rows changed; the tensors given stay as they are."""
from __future__ import annotations

import functools
from typing import Any

from ....api.arrays.creation import zeros
from ....core.convert import convert_to_tensor
from ....core.dtypes import float32
from ....core.errors import InvalidArgumentError
from ....core.graph import Tensor
from ....core.op import OPS, build
from ....core.shapes import compatible, show


def _rows_changed(op: str, x: Any, i: Any, v: Any) -> Tensor:
    """i: rows, one row (v is of the rank below then), or None for all of x."""
    x = convert_to_tensor(x)
    v = convert_to_tensor(v, x.dtype)
    if i is None:
        return OPS[op](build.ExpandDims(x, 0), [[0]], build.ExpandDims(v, 0))[0]
    i = convert_to_tensor(i)
    if i.dims == ():
        i, v = build.ExpandDims(i, 0), build.ExpandDims(v, 0)
    if None not in (x.dims, i.dims, v.dims):
        if len(i.dims) != 1:
            raise InvalidArgumentError(f"i must be a vector. {show(i.dims)}")
        if len(x.dims) != len(v.dims) or not compatible(x.dims[1:], v.dims[1:]):
            raise InvalidArgumentError(f"x and v shape doesn't match behind the first axis: {show(x.dims)} "
                                       f"and {show(v.dims)}")
        if not compatible(i.dims, v.dims[:1]):
            raise InvalidArgumentError(f"i and x shape doesn't match at index 0: {show(i.dims)} and {show(v.dims)}")
    rows = build.FloorMod(i, build.Cast(build.Shape(x)[0], dtype=i.dtype))
    return OPS[op](x, build.ExpandDims(rows, 1), v)


# Of x: any[n, ...], i: int[k], v: any[k, ...] -> x with v in, added to, or subtracted from rows i.
inplace_update, inplace_add, inplace_sub = (functools.partial(_rows_changed, f"TensorScatter{kind}") for kind in (
    "Update", "Add", "Sub"))


def empty(shape: Any, dtype: Any = float32, init: bool = False) -> Tensor:
    """A tensor of this shape: zeros, whether init asks for them or not."""
    return zeros(shape, dtype)


def empty_like(x: Any, init: bool | None = None) -> Tensor:
    """Zeros of the shape and dtype of x."""
    return build.ZerosLike(x)
