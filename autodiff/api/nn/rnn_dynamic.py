"""Cells along time, in a loop: TensorFlow's dynamic, bidirectional and raw recurrent networks."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import nest
from ...core.convert import convert_to_tensor
from ...core.dtypes import as_dtype, int32
from ...core.errors import ArgumentError, KindError, ShapeError
from ...core.graph import Tensor, get_default_graph
from ...core.op import build
from ...core.shapes import merge
from ...ops.common.op_counts import count_more, counted_as
from ..arrays.rearrange import reverse, reverse_sequence
from ..arrays.shaping import stack
from ..control.tensor_array import TensorArray
from ..control.while_loop import while_loop
from ..math import where
from ..math.casts import in_dtype
from ..math.reductions import reduce_all, reduce_max
from ..variables.variable_scope import variable_scope
from .rnn_cell.base import batch_of, called, check_cell, size_dims, zeros_of

__all__ = ["bidirectional_dynamic_rnn", "dynamic_rnn", "raw_rnn"]


def dynamic_rnn(cell: Any, inputs: Any, sequence_length: Any = None, initial_state: Any = None, dtype: Any = None,
                parallel_iterations: int | None = None, swap_memory: bool = False, time_major: bool = False,
                scope: Any = None) -> tuple[Any, Any]:
    """(outputs, final state) of a cell along time, in a loop.

    inputs: float[n, t, ...], or float[t, n, ...] if time_major, or a structure of such; outputs likewise.
    sequence_length: int[n]; beyond it outputs are 0 and the state stays. initial_state: by default the cell's zero
    state of `dtype`. Raises ArgumentError (ValueError) without both, ShapeError (ValueError) for unknown depths.
    """
    check_cell("cell", cell)
    with variable_scope(scope or "rnn"):
        series = nest.map_structure(lambda x: convert_to_tensor(x) if time_major else swapped(convert_to_tensor(x)),
                                    inputs)
        flat = nest.flatten(series)
        _check_series(flat)
        batch = batch_of(flat[0], 1)
        lengths = None if sequence_length is None else _lengths(sequence_length, batch)
        state = first_state(cell, batch, initial_state, dtype)
        outputs, state = _looped(cell, series, state, lengths, batch, dtype)
        return (outputs if time_major else nest.map_structure(swapped, outputs)), state


def swapped(x: Tensor) -> Tensor:
    """The first two axes exchanged; less than two axes stay as they are."""
    if x.dims is not None:
        if len(x.dims) < 2:
            return x
        with counted_as(8):  # a permutation that is put together in the graph
            return build.Transpose(x, [1, 0, *range(2, len(x.dims))], name="transpose")
    return build.Transpose(x, build.ConcatV2(0, [1, 0], build.Range(2, build.Rank(x), 1)), name="transpose")


def _check_series(flat: list[Tensor]) -> None:
    for x in flat:
        if x.dims is None or len(x.dims) < 3 or None in x.dims[2:]:
            raise ShapeError(f"Shape {x.shape} must have rank at least 3", found=x.describe(),
                             expected="batch, time and depth, with known sizes behind batch and time")
        merge(x.dims[:2], flat[0].dims[:2])  # type: ignore[index]


def _lengths(sequence_length: Any, batch: Any) -> Tensor:
    """The lengths as int32[n], with a check in the run that each row has one."""
    lengths = in_dtype(sequence_length, int32)
    if lengths.dims is not None and len(lengths.dims) != 1:
        raise ShapeError("sequence_length must be a vector of length batch_size", found=lengths.describe())
    lengths = build.Identity(lengths, name="sequence_length")
    if lengths.dims is not None and None not in lengths.dims and isinstance(batch, int) and lengths.dims[0] == batch:
        return build.Identity(lengths, name="CheckSeqLen")
    count_more(3)  # what the assertion says
    shape = build.Shape(lengths)
    fits = reduce_all(build.Equal(shape, stack([batch])))
    check = build.Assert(fits, convert_to_tensor("expected one sequence_length for each row, found shape"), shape)
    with get_default_graph().control_dependencies([check]):
        return build.Identity(lengths, name="CheckSeqLen")


def first_state(cell: Any, batch: Any, initial_state: Any, dtype: Any) -> Any:
    """`initial_state`, or the cell's zeros. Raises ArgumentError (ValueError) without it and without a dtype."""
    if initial_state is not None:
        return nest.map_structure(lambda x: convert_to_tensor(x) if isinstance(x, np.ndarray) else x, initial_state)
    if not dtype:
        raise ArgumentError("If there is no initial_state, you must give a dtype.")
    if hasattr(cell, "get_initial_state"):
        return cell.get_initial_state(inputs=None, batch_size=batch, dtype=dtype)
    return cell.zero_state(batch, dtype)


def output_dtype(dtype: Any, state: Any) -> Any:
    """The dtype of the outputs: the requested one, else the state's. Raises ArgumentError if the state has several."""
    if dtype is not None:
        return as_dtype(dtype)
    found = {tensor.dtype.base_dtype for tensor in nest.flatten(state) if not isinstance(tensor, TensorArray)}
    if len(found) != 1:
        raise ArgumentError(expected="a state of one dtype, or the argument dtype", found=sorted(d.name for d in found))
    return found.pop()


def _looped(cell: Any, series: Any, state: Any, lengths: Tensor | None, batch: Any, dtype: Any) -> tuple[Any, Any]:
    flat, sizes = nest.flatten(series), nest.flatten(cell.output_size)
    wanted, known = output_dtype(dtype, state), flat[0].dims[:2]
    with counted_as(_count_before(len(flat), len(sizes), known, lengths is not None)):
        steps = batch_of(flat[0], 0)
        zero_output = nest.pack_sequence_as(cell.output_size, [zeros_of(batch, size, wanted) for size in sizes])
        read = [TensorArray(x.dtype.base_dtype, steps, element_shape=x.dims[1:]).unstack(x) for x in flat]
        written = [TensorArray(wanted, steps, element_shape=(known[1], *size_dims(size))) for size in sizes]
        longest = steps if lengths is None else build.Minimum(steps, build.Maximum(1, reduce_max(lengths)))

    def step(time: Tensor, written: list[TensorArray], state: Any) -> Any:
        now = nest.pack_sequence_as(series, [array.read(time) for array in read])
        over = None if lengths is None else build.LessEqual(lengths, time)
        output, new_state = called(cell, now, state)
        if over is not None:
            output, new_state = until(over, zero_output, state, output, new_state)
        return time + 1, [a.write(time, y) for a, y in zip(written, nest.flatten(output))], new_state

    _, written, state = while_loop(lambda time, *_: time < longest, step,
                                   (convert_to_tensor(0, name="time"), written, state), maximum_iterations=steps)
    joined = [array.stack() for array in written]  # steps that no row reached are zeros
    count_more(len(sizes) * (1 if None in known else 2))  # constants of the shape around time
    for output, size in zip(joined, sizes):
        output.set_shape((known[0], known[1], *size_dims(size)))
    return nest.pack_sequence_as(cell.output_size, joined), state


def _count_before(inputs: int, outputs: int, known: Any, has_lengths: bool) -> int:
    """The operations before the loop in TensorFlow: sizes, zeros, arrays, what is read from them, the last step.

    known: sizes of time and batch.
    """
    sizes, zeros = (5, 6) if known[1] is not None else (10, 7)
    limit = 3 - (known[0] is not None)  # which is a constant of the loop's in here
    shared = known[0] is None and not has_lengths  # with the last step, by the loop in here
    return sizes + zeros * outputs + 4 * has_lengths + 10 * inputs + outputs + limit + shared


def until(over: Tensor, zero_output: Any, state: Any, output: Any, new_state: Any) -> tuple[Any, Any]:
    """Output and state of a step: zero and the old one in rows whose length is reached, where `over` holds."""
    nest.assert_same_structure(zero_output, output)
    nest.assert_same_structure(state, new_state)
    def choose(old: Any, new: Any) -> Any:
        if isinstance(old, TensorArray) or old.dims == ():
            return new
        chosen = where(over, old, new)
        chosen.set_shape(old.dims)
        return chosen

    return nest.map_structure(choose, zero_output, output), nest.map_structure(choose, state, new_state)


def bidirectional_dynamic_rnn(cell_fw: Any, cell_bw: Any, inputs: Any, sequence_length: Any = None,
                              initial_state_fw: Any = None, initial_state_bw: Any = None, dtype: Any = None,
                              parallel_iterations: int | None = None, swap_memory: bool = False,
                              time_major: bool = False, scope: Any = None) -> tuple[Any, Any]:
    """((outputs forwards, outputs backwards), (final state of each)) of two cells, as dynamic_rnn.

    The second cell sees each row from its end; its outputs are in the order of the inputs.
    """
    check_cell("cell_fw", cell_fw)
    check_cell("cell_bw", cell_bw)
    axis, batch_axis = (0, 1) if time_major else (1, 0)

    def turned(x: Any) -> Tensor:
        if sequence_length is None:
            return reverse(x, axis=[axis])
        return reverse_sequence(x, sequence_length, seq_axis=axis, batch_axis=batch_axis)

    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as inner:
            forwards, state_fw = dynamic_rnn(cell_fw, inputs, sequence_length, initial_state_fw, dtype,
                                             time_major=time_major, scope=inner)
        with variable_scope("bw") as inner:
            backwards, state_bw = dynamic_rnn(cell_bw, nest.map_structure(turned, inputs), sequence_length,
                                              initial_state_bw, dtype, time_major=time_major, scope=inner)
    return (forwards, nest.map_structure(turned, backwards)), (state_fw, state_bw)


def raw_rnn(cell: Any, loop_fn: Callable[..., Any], parallel_iterations: int | None = None, swap_memory: bool = False,
            scope: Any = None) -> tuple[Any, Any, Any]:
    """(TensorArrays of what was emitted, final state, final loop state).

    loop_fn(time, cell output, cell state, loop state) -> (finished bool[n], next input, next state, what to emit, next
    loop state). The first call has time 0 and None else; it gives the first input and state, and for what is emitted
    tensors of its form without the batch, or None for the cell's output. Rows that have finished emit zeros and keep
    their state; the loop ends when all have.
    """
    check_cell("cell", cell)
    if not callable(loop_fn):
        raise KindError(expected="a function as loop_fn", found=repr(loop_fn))
    with variable_scope(scope or "rnn"):
        time = convert_to_tensor(0, name="time")
        finished, first_input, state, emitted, loop_state = loop_fn(time, None, None, None)
        state = nest.map_structure(convert_to_tensor, state)
        nest.assert_same_structure(state, cell.state_size, check_types=False)
        first = nest.flatten(first_input)[0]
        arrays, zeros = _to_emit(cell, emitted, state, batch_of(first, 0))
        body = _body(cell, loop_fn, zeros)
        start = [time, finished, first_input, arrays, state, convert_to_tensor(0) if loop_state is None else loop_state]
        *_, arrays, state, last = while_loop(
            lambda time, finished, *_: build.LogicalNot(reduce_all(finished)), body, start)
        return arrays, state, None if loop_state is None else last


def _to_emit(cell: Any, emitted: Any, state: Any, batch: Any) -> tuple[Any, Any]:
    """Empty TensorArrays and zeros, in the structure of what is emitted."""
    if emitted is None:
        structure: Any = cell.output_size
        dtype = nest.flatten(state)[0].dtype.base_dtype
        forms = [(size_dims(size), dtype) for size in nest.flatten(structure)]
    else:
        structure = emitted
        forms = [(tensor.dims, tensor.dtype.base_dtype) for tensor in nest.flatten(emitted)]
    known = batch if isinstance(batch, int) else None
    arrays = [TensorArray(dtype, size=0, dynamic_size=True, element_shape=(known, *dims)) for dims, dtype in forms]
    zeros = [zeros_of(batch, list(dims), dtype) for dims, dtype in forms]
    return nest.pack_sequence_as(structure, arrays), nest.pack_sequence_as(structure, zeros)


def _body(cell: Any, loop_fn: Callable[..., Any], zeros: Any) -> Callable[..., Any]:
    """One step: the cell, then loop_fn, with finished rows held."""
    def step(time: Tensor, finished: Tensor, now: Any, arrays: Any, state: Any, loop_state: Any) -> Any:
        output, cell_state = cell(now, state)
        nest.assert_same_structure(state, cell_state)
        now_finished, next_input, next_state, emit, next_loop_state = loop_fn(time + 1, output, cell_state, loop_state)
        nest.assert_same_structure(state, next_state)

        def held(old: Any, new: Any) -> Any:
            return new if isinstance(old, TensorArray) or old.dims == () else where(finished, old, new)

        emit = nest.map_structure(held, zeros, emit)
        next_state = nest.map_structure(held, state, next_state)
        arrays = nest.map_structure(lambda array, value: array.write(time, value), arrays, emit)
        return (time + 1, build.LogicalOr(finished, now_finished), next_input, arrays, next_state,
                loop_state if next_loop_state is None else next_loop_state)

    return step
