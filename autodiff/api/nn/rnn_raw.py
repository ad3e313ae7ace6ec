"""raw_rnn: a cell along time whose inputs, outputs and end are a function's choice."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core import nest
from ...core.convert import convert_to_tensor
from ...core.errors import KindError
from ...core.graph import Tensor
from ...core.op import build
from ..control.tensor_array import TensorArray
from ..control.while_loop import while_loop
from ..math import where
from ..math.reductions import reduce_all
from ..variables.variable_scope import variable_scope
from .rnn_cell.base import batch_of, check_cell, size_dims, zeros_of

__all__ = ["raw_rnn"]


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
