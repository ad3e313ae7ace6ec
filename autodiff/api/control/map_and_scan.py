"""map_fn, scan, foldl and foldr: loops over the first axis, on while_loop and TensorArray."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core import nest
from ...core.constant_value import static_value
from ...core.convert import convert_to_tensor
from ...core.dtypes import as_dtype
from ...core.errors import ArgumentError, AutodiffError, KindError
from ...core.graph import Tensor, get_default_graph
from ...core.op import build
from ...ops.common.op_counts import count_more
from .tensor_array import TensorArray
from .while_loop import while_loop


def _slices(elems: Any) -> tuple[list[Tensor], Any, Callable[[Any], Any], int | None]:
    """Flat tensors, their count, a function from an index to the structure of slices, and a static count."""
    flat = [convert_to_tensor(e) for e in nest.flatten(elems)]
    scalar = next((t for t in flat if t.dims == ()), None)
    if scalar is not None:
        raise ArgumentError("elems must be a 1+ dimensional Tensor, not a scalar" if len(flat) == 1 else
                            "elements in elems must be 1+ dimensional Tensors, not scalars", found=scalar.describe())
    known = {t.dims[0] for t in flat if t.dims}
    if len(known - {None}) > 1:
        raise ArgumentError(expected="elems of one length", found=[t.describe() for t in flat])
    static = next(iter(known - {None}), None)
    count = build.Shape(flat[0])[0] if static is None else convert_to_tensor(static)
    arrays = [TensorArray(t.dtype.base_dtype, size=count).unstack(t) for t in flat]
    return flat, count, lambda i: nest.pack_sequence_as(elems, [a.read(i) for a in arrays]), static


def _joined(arrays: list[TensorArray], static: int | None) -> list[Tensor]:
    stacked = [a.stack() for a in arrays]
    for tensor in stacked:
        if tensor.dims is not None:
            tensor.set_shape((static, *tensor.dims[1:]))
    return stacked


def map_fn(fn: Callable[..., Any], elems: Any, dtype: Any = None, parallel_iterations: int | None = None,
           back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True, name: str | None = None) -> Any:
    """`fn` of each slice of `elems` along axis 0, stacked. dtype: of the results, where they differ from elems'.

    elems: nested tensors [n, ...]. Raises KindError (TypeError) unless fn is callable.
    """
    if not callable(fn):
        raise KindError(f"fn must be callable, found {fn!r}")
    with get_default_graph().name_scope(name or "map"):
        flat, count, at, static = _slices(elems)
        structure = dtype if dtype is not None else nest.pack_sequence_as(elems, [t.dtype for t in flat])
        arrays = [TensorArray(as_dtype(d), size=count, infer_shape=infer_shape) for d in nest.flatten(structure)]

        def step(i: Tensor, written: list[TensorArray]) -> Any:
            result = fn(at(i))
            try:
                nest.assert_same_structure(structure, result)
            except AutodiffError as error:
                error.explain(hint="give dtype= in the structure of what fn gives")
                raise
            return i + 1, [a.write(i, v) for a, v in zip(written, nest.flatten(result))]

        _count_limit(count, len(flat) + len(arrays))
        _, written = while_loop(lambda i, _: i < count, step, (0, arrays), back_prop=back_prop)
        return nest.pack_sequence_as(structure, _joined(written, static))


def _count_limit(count: Any, arrays: int) -> None:
    """TensorFlow counts iterations beside the loop's own variable, up to the number of slices.

    arrays: of slices and of results; it makes a constant for the size of each.
    """
    count_more(11 if static_value(count) is None else 12 + arrays)


def scan(fn: Callable[..., Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
         back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True, reverse: bool = False,
         name: str | None = None) -> Any:
    """All partial results of `a = fn(a, slice)` over axis 0, stacked. The first slice starts it without initializer.

    reverse: from the last slice to the first; the results stay in the order of the slices.
    """
    if not callable(fn):
        raise KindError(f"fn must be callable, found {fn!r}")
    with get_default_graph().name_scope(name or "scan"):
        flat, count, at, static = _slices(elems)
        start, begun = _start(at, initializer, count, reverse)
        arrays = [TensorArray(t.dtype.base_dtype, size=count, infer_shape=infer_shape) for t in nest.flatten(start)]
        if begun:
            arrays = [a.write(count - 1 if reverse else 0, t) for a, t in zip(arrays, nest.flatten(start))]

        def step(i: Tensor, total: Any, written: list[TensorArray]) -> Any:
            total = _alike(fn(total, at(i)), total)
            written = [a.write(i, t) for a, t in zip(written, nest.flatten(total))]
            return i + (-1 if reverse else 1), total, written

        first = (count - 1 - begun) if reverse else convert_to_tensor(begun)
        _count_limit(count, len(flat) + len(arrays))
        _, _, written = while_loop(lambda i, *_: i >= 0 if reverse else i < count, step, (first, start, arrays),
                                   back_prop=back_prop)
        return nest.pack_sequence_as(start, _joined(written, static))


def _start(at: Callable[[Any], Any], initializer: Any, count: Any, reverse: bool) -> tuple[Any, int]:
    """The first partial result, and how many slices it has used."""
    if initializer is not None:
        return nest.map_structure(convert_to_tensor, initializer), 0
    return at(count - 1 if reverse else 0), 1


def _alike(result: Any, total: Any) -> Any:
    nest.assert_same_structure(total, result)
    return nest.pack_sequence_as(total, [convert_to_tensor(t) for t in nest.flatten(result)])


def foldl(fn: Callable[..., Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
          back_prop: bool = True, swap_memory: bool = False, name: str | None = None) -> Any:
    """The last of `a = fn(a, slice)` over axis 0, from the first slice on."""
    return _fold(fn, elems, initializer, back_prop, name or "foldl", reverse=False)


def foldr(fn: Callable[..., Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
          back_prop: bool = True, swap_memory: bool = False, name: str | None = None) -> Any:
    """The last of `a = fn(a, slice)` over axis 0, from the last slice back."""
    return _fold(fn, elems, initializer, back_prop, name or "foldr", reverse=True)


def _fold(fn: Callable[..., Any], elems: Any, initializer: Any, back_prop: bool, name: str, *, reverse: bool) -> Any:
    if not callable(fn):
        raise KindError(f"fn must be callable, found {fn!r}")
    with get_default_graph().name_scope(name):
        flat, count, at, _ = _slices(elems)
        start, begun = _start(at, initializer, count, reverse)
        first = (count - 1 - begun) if reverse else convert_to_tensor(begun)
        step = -1 if reverse else 1
        _count_limit(count, len(flat))
        _, total = while_loop(lambda i, _: i >= 0 if reverse else i < count,
                              lambda i, a: (i + step, _alike(fn(a, at(i)), a)), (first, start), back_prop=back_prop)
        return total
