"""tensorflow.python.ops.parallel_for: loops whose passes do not depend on each other, vectorized."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...api.arrays.rearrange import eye
from ...api.control.dependencies import control_dependencies
from ...api.control.map_and_scan import map_fn
from ...api.control.tensor_array import TensorArray
from ...api.control.vectorized import pfor, vectorized_map
from ...api.control.while_loop import while_loop
from ...api.debugging import assert_equal
from ...core import nest
from ...core.convert import convert_to_tensor
from ...core.dtypes import as_dtype
from ...core.errors import ArgumentError
from ...core.op import build
from ...gradients.backprop import gradients

__all__ = ["batch_jacobian", "for_loop", "gradients", "jacobian", "pfor"]


def jacobian(output: Any, inputs: Any, use_pfor: bool = True, parallel_iterations: int | None = None) -> Any:
    """d output / d input for each input: output.shape + input.shape, or None where nothing connects them."""
    sources = nest.flatten(inputs)
    connected = [dy is not None for dy in gradients(output, sources)]
    wanted = [x for x, is_there in zip(sources, connected) if is_there]
    count, shape = build.Size(output), build.Shape(output)
    directions = build.Reshape(eye(count, dtype=output.dtype), build.ConcatV2(0, build.Pack(count, axis=0), shape))
    rows = iter(_each(lambda dy: gradients(output, wanted, dy), directions, wanted, use_pfor))
    found: list[Any] = []
    for x, is_there in zip(sources, connected):
        if not is_there:
            found.append(None)
            continue
        row = build.Reshape(next(rows), build.ConcatV2(0, shape, build.Shape(x)))
        if output.dims is not None and x.shape.ndims is not None:
            row.set_shape([*output.dims, *x.shape.as_list()])
        found.append(row)
    return nest.pack_sequence_as(inputs, found)


def batch_jacobian(output: Any, inp: Any, use_pfor: bool = True, parallel_iterations: int | None = None) -> Any:
    """Row by row: d output[b] / d inp[b], of shape [b] + output.shape[1:] + inp.shape[1:]; None if not connected.

    Raises ValueError for first dimensions that differ or are unknown together with it.
    """
    if output.dims is not None and inp.dims is not None and not output.shape[:1].is_compatible_with(inp.shape[:1]):
        raise ArgumentError(f"Need first dimension of output shape ({output.shape}) and inp shape ({inp.shape}) to "
                            "match.")
    size = build.Shape(output)[0]
    if None in (*(output.dims or (None,))[:1], *(inp.dims or (None,))[:1]):
        with control_dependencies([assert_equal(size, build.Shape(inp)[0])]):
            size = build.Identity(size)
    flat = build.Reshape(output, build.Pack(size, -1, axis=0))
    if gradients(flat, inp)[0] is None:
        return None
    width = build.Shape(flat)[1]
    directions = build.BroadcastTo(eye(width, dtype=output.dtype)[:, None], build.Pack(width, size, width, axis=0))
    rows, = _each(lambda dy: gradients(flat, [inp], dy), directions, [inp], use_pfor)
    moved = build.Transpose(build.Reshape(rows, build.Pack(width, size, -1, axis=0)), [1, 0, 2])
    shape = build.ConcatV2(0, build.Shape(output), build.Slice(build.Shape(inp), [1], [-1]))
    result = build.Reshape(moved, shape)
    if output.dims is not None and inp.dims is not None:
        result.set_shape([*output.dims, *inp.dims[1:]])
    return result


def _each(function: Callable[..., Any], directions: Any, sources: list[Any], at_once: bool) -> Any:
    def dense(direction: Any) -> list[Any]:
        return [convert_to_tensor(part) for part in function(direction)]

    if at_once or not sources:
        return vectorized_map(dense, directions) if sources else []
    return map_fn(dense, directions, [x.dtype.base_dtype for x in sources])


def for_loop(loop_fn: Callable[[Any], Any], loop_fn_dtypes: Any, iters: Any,
             parallel_iterations: int | None = None) -> Any:
    """What `loop_fn(i)` gives for each i below iters, stacked; one pass after the other."""
    kinds = [None if kind is None else as_dtype(kind) for kind in nest.flatten(loop_fn_dtypes)]
    arrays = [TensorArray(kind, size=iters) for kind in kinds if kind is not None]

    def step(i: Any, written: list[TensorArray]) -> Any:
        values = [value for value in nest.flatten(loop_fn(i)) if value is not None]
        return i + 1, [array.write(i, convert_to_tensor(value)) for array, value in zip(written, values)]

    _, written = while_loop(lambda i, _: i < iters, step, (0, arrays),
                            parallel_iterations=10 if parallel_iterations is None else parallel_iterations)
    stacked = iter(array.stack() for array in written)
    return nest.pack_sequence_as(loop_fn_dtypes, [None if kind is None else next(stacked) for kind in kinds])
