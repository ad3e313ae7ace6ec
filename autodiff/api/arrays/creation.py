"""Constants, placeholders, fills, and what passes a tensor on: TensorFlow's functions."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...core.convert import as_array, constant_in, convert_to_tensor, holds_tensor, to_tensor
from ...core.dtypes import as_dtype, float32, float64, int32, int64, string
from ...core.errors import ArgumentError, DTypeError, KindError, ShapeError
from ...core.graph import Operation, Tensor, get_default_graph, graph_of
from ...core.op import build
from ...core.shapes import TensorShape, as_dims, is_known, num_elements, show

_FOLDED = 1000  # elements; TensorFlow makes larger fills of zeros and ones when they are run


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str | None = "Const",
             verify_shape: bool = False) -> Tensor:
    """A fixed tensor. With `shape`, missing elements repeat the last one; zeros if there is none.

    Raises KindError (TypeError) for tensors and for a shape that differs when verify_shape is set,
    ArgumentError (ValueError) for too many elements.
    """
    if isinstance(value, Tensor) or holds_tensor(value):
        raise KindError(expected="numbers or arrays to make a constant of", found=repr(value),
                        hint="use tf.identity or tf.stack for tensors")
    array = as_array(value, None if dtype is None else as_dtype(dtype).base_dtype)
    if shape is not None:
        array = _in_shape(array, as_dims(shape), verify_shape)
    return constant_in(get_default_graph(), array, "Const" if name is None else name)


def _in_shape(array: np.ndarray, dims: Any, verify: bool) -> np.ndarray:
    if not is_known(dims):
        raise ShapeError(expected="a fully known shape for a constant", found=show(dims))
    if verify and array.shape != dims:
        raise KindError(expected=f"a value of shape {show(dims)}", found=show(array.shape))
    if not array.size or not num_elements(dims) and array.ndim == 0:
        return np.zeros(dims, array.dtype)
    missing = num_elements(dims) - array.size  # type: ignore[operator]
    if missing < 0:
        raise ArgumentError(f"Too many elements provided. Needed at most {num_elements(dims)}, but received "
                            f"{array.size}", found=f"shape {show(dims)}")
    flat = array.ravel()
    return (np.concatenate([flat, np.repeat(flat[-1:], missing)]) if missing else flat).reshape(dims)


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Tensor:
    """A tensor whose value each run is given in feed_dict. shape: None or unknown sizes accept any."""
    return build.Placeholder(dtype=as_dtype(dtype), shape=as_dims(shape), name=name)


def placeholder_with_default(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """`input`, unless a run feeds another value of `shape`."""
    return build.PlaceholderWithDefault(input, shape=as_dims(shape), name=name)


def identity(input: Any, name: str | None = None) -> Tensor:
    """A tensor of the same value, under another name."""
    return build.Identity(input, name=name)


def bitcast(input: Any, type: Any, name: str | None = None) -> Tensor:
    """The same bits, read as another dtype; an axis more, or less, where its elements have another size."""
    return build.Bitcast(input, type=as_dtype(type), name=name)


def identity_n(input: Any, name: str | None = None) -> list[Tensor]:
    """Tensors of the same values; none is ready before all are."""
    return build.IdentityN(*input, name=name)


def guarantee_const(input: Any, name: str | None = None) -> Tensor:
    """A tensor of the same value, promised not to change between runs."""
    return build.GuaranteeConst(input, name=name)


def stop_gradient(input: Any, name: str | None = None) -> Tensor:
    """The same value, held constant when differentiated."""
    return build.StopGradient(input, name=name)


def no_op(name: str | None = None) -> Operation:
    """An operation that does nothing."""
    return build.NoOp(name=name)


def fill(dims: Any, value: Any, name: str | None = None) -> Tensor:
    """A tensor of shape `dims`, each element `value`."""
    return build.Fill(dims, value, name=name)


def zeros(shape: Any, dtype: Any = float32, name: str | None = None) -> Tensor:
    """Zeros (False, empty strings) of a static shape or shape tensor."""
    return _filled(shape, 0, dtype, name or "zeros")


def ones(shape: Any, dtype: Any = float32, name: str | None = None) -> Tensor:
    """Ones (True) of a static shape or shape tensor."""
    return _filled(shape, 1, dtype, name or "ones")


def _filled(shape: Any, value: int, dtype: Any, name: str) -> Tensor:
    dtype = as_dtype(dtype).base_dtype
    scalar = np.array(b"" if dtype is string else value, dtype.as_numpy_dtype)
    if not isinstance(shape, Tensor) and not holds_tensor(shape):
        dims = as_dims(shape)
        if not is_known(dims):
            error = ShapeError if shape is None or isinstance(shape, TensorShape) else KindError
            raise error(expected="a fully known shape", found=show(dims),
                        hint="use tf.shape(x) or tf.zeros_like(x) for sizes that are known only when it runs")
        if num_elements(dims) < _FOLDED:  # type: ignore[operator]
            return constant_in(get_default_graph(), np.full(dims, scalar), name)  # type: ignore[arg-type]
        with get_default_graph().name_scope(name) as name:
            shape = convert_to_tensor(np.array(dims, np.int32), None, "shape_as_tensor")
    with graph_of([shape]).name_scope(name) as scope:
        shape = convert_to_tensor(shape)
        if shape.dims == ():
            shape = build.Reshape(shape, [-1])
        return build.Fill(shape, constant_in(shape.graph, scalar, "Const"), name=scope)


def zeros_like(tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True) -> Tensor:
    """Zeros of the shape of `tensor`, and of its dtype unless another is given."""
    return _alike(tensor, 0, dtype, name or "zeros_like", optimize)


def ones_like(tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True) -> Tensor:
    """Ones of the shape of `tensor`, and of its dtype unless another is given."""
    return _alike(tensor, 1, dtype, name or "ones_like", optimize)


def _alike(tensor: Any, value: int, dtype: Any, name: str, optimize: bool) -> Tensor:
    with graph_of([tensor]).name_scope(name) as scope:
        tensor = convert_to_tensor(tensor, None, "tensor")
        wanted = tensor.dtype.base_dtype if dtype is None else as_dtype(dtype).base_dtype
        if optimize and is_known(tensor.dims) and value == 0:
            return _filled(tensor.dims, value, wanted, scope)
        if wanted is tensor.dtype.base_dtype and value == 0:
            return build.ZerosLike(tensor, name=scope)
        shape = build.Shape(tensor) if not (optimize and is_known(tensor.dims)) else \
            convert_to_tensor(np.array(tensor.dims, np.int32), None, "Shape")
        made = _filled(shape, value, wanted, scope)
        made.set_shape(tensor.dims)
        return made


def linspace(start: Any, stop: Any, num: Any, name: str | None = None) -> Tensor:
    """`num` evenly spaced points from start to stop, both included."""
    return build.LinSpace(start, stop, num, name=name)


lin_space = linspace


def one_hot(indices: Any, depth: Any, on_value: Any = None, off_value: Any = None, axis: int | None = None,
            dtype: Any = None, name: str | None = None) -> Tensor:
    """on_value (1) where the new axis of size `depth` has the index, else off_value (0).

    Raises DTypeError (TypeError) if the values differ in dtype, from each other or from `dtype`.
    """
    graph = graph_of([indices, depth, on_value, off_value])
    with graph.name_scope(name or "one_hot") as scope:
        given = [None if v is None else convert_to_tensor(v, name=what)
                 for v, what in ((on_value, "on_value"), (off_value, "off_value"))]
        found = next((v.dtype.base_dtype for v in given if v is not None), float32)
        wanted = found if dtype is None else as_dtype(dtype)
        for value in given:
            if value is not None and value.dtype.base_dtype is not wanted:
                raise DTypeError(expected=f"on_value and off_value of dtype {wanted.name}", found=value.dtype.name)
        on, off = (to_tensor(graph, number, wanted, what) if value is None else value
                   for value, number, what in zip(given, (1, 0), ("on_value", "off_value")))
        return build.OneHot(indices, depth, on, off, axis=-1 if axis is None else axis, name=scope)


_WIDER = (int32, int64, float32, float64)  # a range takes the widest type of its bounds


def range(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str = "range") -> Tensor:
    """start, start + delta, … up to but without limit; `range(limit)` starts at 0."""
    if limit is None:
        start, limit = 0, start
    with graph_of([start, limit, delta]).name_scope(name or "range") as scope:
        wanted = None if dtype is None else as_dtype(dtype).base_dtype
        tensors = [convert_to_tensor(value, wanted, what)
                   for value, what in ((start, "start"), (limit, "limit"), (delta, "delta"))]
        if wanted is None:
            widest = max((t.dtype.base_dtype for t in tensors), key=_WIDER.index)
            tensors = [t if t.dtype.base_dtype is widest else build.Cast(t, dtype=widest) for t in tensors]
        return build.Range(*tensors, name=scope)
