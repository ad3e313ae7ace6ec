"""Shape and dtype inference that many ops share."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .dtypes import DType, as_dtype, bool_
from .errors import ArgumentError, ShapeError
from .graph import Tensor
from .op import Spec
from .shapes import Dims, as_dims, broadcast, merge, show

_made = tuple.__new__  # of a Spec, whose own is a function in Python


def same_shape(x: Tensor, *_: Tensor, **__: Any) -> Spec:
    """The first input's dtype and shape."""
    return _made(Spec, (x.dtype.base_dtype, x.dims))


def declared(*_: Tensor, dtype: Any, shape: Any = None, **__: Any) -> Spec:
    """The dtype and shape that attributes name."""
    return Spec(as_dtype(dtype), as_dims(shape))


def merged_shape(x: Tensor, *others: Tensor, **_: Any) -> Spec:
    """The dtype of the first input, and the shape that agrees with all of them."""
    dims = x.dims
    for other in others:
        dims = merge(dims, other.dims)
    return Spec(x.dtype.base_dtype, dims)


def broadcast_shape(x: Tensor, y: Tensor, **_: Any) -> Spec:
    """The broadcast shape of two inputs of one dtype."""
    dims = x.dims
    return _made(Spec, (x.dtype.base_dtype, dims if dims == y.dims else broadcast(dims, y.dims)))


KEEPING = frozenset((same_shape, merged_shape, broadcast_shape))  # of inputs of one shape and dtype they give these


def broadcast_test(x: Tensor, y: Tensor, **_: Any) -> Spec:
    """Booleans of the broadcast shape."""
    return Spec(bool_, broadcast(x.dims, y.dims))


def same_shape_test(x: Tensor, **_: Any) -> Spec:
    """Booleans of the input's shape."""
    return Spec(bool_, x.dims)


def no_outputs(*_: Tensor, **__: Any) -> tuple:
    """For ops that are run for their effect alone."""
    return ()


def fixed(dtype: DType, dims: Dims | None = ()) -> Callable[..., Spec]:
    """Always this dtype and shape."""
    return lambda *_, **__: Spec(dtype, dims)


def held(handle: Tensor) -> Spec:
    """Dtype and shape of the value that a variable's reference or handle stands for."""
    if handle.dtype.name != "resource":
        return Spec(handle.dtype.base_dtype, handle.dims)
    if handle.graph.executing_eagerly:
        return handle.array.spec  # type: ignore[attr-defined]
    op = handle.op
    while op.inputs or op.type == "Captured":
        op = (op.inputs[0] if op.inputs else op.attrs["external"]).op
    return Spec(as_dtype(op.attrs["dtype"]), as_dims(op.attrs["shape"]))


def rank_of(x: Tensor, *, at_least: int = 0, exactly: int | None = None, what: str = "input") -> int | None:
    """The rank of `x`, or None. Raises ShapeError if it is known and wrong."""
    if x.dims is None:
        return None
    rank = len(x.dims)
    if exactly is not None and rank != exactly:
        raise ShapeError(f"Shape must be rank {exactly} but is rank {rank}: {what} is {show(x.dims)}")
    if rank < at_least:
        raise ShapeError(f"Shape must be at least rank {at_least} but is rank {rank}: {what} is {show(x.dims)}")
    return rank


def ranked(infer: Callable[..., Any], place: int = 0, *, at_least: int = 0, exactly: int | None = None,
           what: str = "input") -> Callable[..., Any]:
    """`infer`, which first checks the rank of the input at `place`."""
    def checked(*inputs: Tensor, **attrs: Any) -> Any:
        rank_of(inputs[place], at_least=at_least, exactly=exactly, what=what)
        return infer(*inputs, **attrs)

    return checked


def axis_in(axis: int, rank: int) -> int:
    """`axis` counted from 0. Raises ArgumentError (ValueError) unless -rank <= axis < rank."""
    if not -rank <= axis < rank:
        raise ArgumentError(f"axis = {axis} not in [{-rank}, {rank}): it is out of valid range")
    return axis + rank if axis < 0 else axis


def square_matrix(x: Tensor, **_: Any) -> Spec:
    """The input's shape. Raises ShapeError unless its last two sizes are equal."""
    rank_of(x, at_least=2, what="matrix")
    if x.dims is None:
        return Spec(x.dtype.base_dtype, None)
    m, n = x.dims[-2:]
    if m is not None and n is not None and m != n:
        raise ShapeError(expected="a square matrix", found=show(x.dims))
    n = n if m is None else m
    return Spec(x.dtype.base_dtype, (*x.dims[:-2], n, n))
