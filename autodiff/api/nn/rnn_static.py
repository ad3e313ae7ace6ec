"""Cells along time, written out step by step: TensorFlow's static recurrent networks."""
from __future__ import annotations

from typing import Any

from ...core import nest
from ...core.convert import convert_to_tensor
from ...core.dtypes import int32
from ...core.errors import ArgumentError, KindError, ShapeError
from ...core.graph import Tensor
from ...core.op import build
from ...core.shapes import merge
from ..arrays.rearrange import reverse_sequence
from ..arrays.shaping import concat, stack, unstack
from ..variables.variable_scope import variable_scope
from .rnn_cell.base import batch_of, called, check_cell, zeros_of
from .rnn_dynamic import first_state, output_dtype, until

__all__ = ["static_bidirectional_rnn", "static_rnn", "static_state_saving_rnn"]


def static_rnn(cell: Any, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None,
               scope: Any = None) -> tuple[list[Any], Any]:
    """(outputs, final state) of a cell for a list of inputs. inputs: t times float[n, k]; outputs likewise.

    sequence_length: int[n]; beyond it outputs are 0 and the state stays. initial_state: by default the cell's zero
    state of `dtype`.
    """
    check_cell("cell", cell)
    _check_inputs(inputs)
    outputs = []
    with variable_scope(scope or "rnn") as opened:
        first = nest.flatten(inputs)[0]
        batch = batch_of(first, 0)
        state = first_state(cell, batch, initial_state, dtype)
        if sequence_length is not None:
            lengths = build.Cast(convert_to_tensor(sequence_length, name="sequence_length"), dtype=int32)
            if lengths.dims is not None and len(lengths.dims) != 1:
                raise ShapeError("sequence_length must be a vector of length batch_size", found=lengths.describe())
            wanted = output_dtype(dtype, state)
            zero = nest.map_structure(lambda size: zeros_of(batch, size, wanted), cell.output_size)
        for time, now in enumerate(inputs):
            if time > 0:
                opened.reuse_variables()
            output, new_state = called(cell, now, state)
            if sequence_length is not None:
                output, new_state = until(build.LessEqual(lengths, time), zero, state, output, new_state)
            outputs.append(output)
            state = new_state
        return outputs, state


def _check_inputs(inputs: Any) -> None:
    if not nest.is_sequence(inputs):
        raise KindError(expected="a list of inputs, one a step", found=repr(inputs), hint="use tf.unstack for a tensor")
    if not inputs:
        raise ArgumentError(expected="at least one step", found="no inputs")
    for x in nest.flatten(inputs):
        if x.dims is None or len(x.dims) > 1 and None in x.dims[1:]:
            raise ShapeError(expected="inputs with known sizes behind the batch", found=x.describe())


def static_state_saving_rnn(cell: Any, inputs: Any, state_saver: Any, state_name: Any, sequence_length: Any = None,
                            scope: Any = None) -> tuple[list[Any], Any]:
    """static_rnn that takes its state from `state_saver.state(name)` and gives it to `save_state(name, value)`."""
    if nest.is_sequence(cell.state_size) != nest.is_sequence(state_name):
        raise ArgumentError(expected=f"state_name of the form of the state size {cell.state_size}",
                            found=repr(state_name))
    names = nest.flatten(state_name)
    start = nest.pack_sequence_as(cell.state_size, [state_saver.state(name) for name in names])
    outputs, state = static_rnn(cell, inputs, start, sequence_length=sequence_length, scope=scope)
    saved = [state_saver.save_state(name, part) for name, part in zip(names, nest.flatten(state))]
    with nest.flatten(outputs[-1])[0].graph.control_dependencies(saved):
        outputs[-1] = nest.map_structure(build.Identity, outputs[-1])
        return outputs, nest.map_structure(build.Identity, state)


def static_bidirectional_rnn(cell_fw: Any, cell_bw: Any, inputs: Any, initial_state_fw: Any = None,
                             initial_state_bw: Any = None, dtype: Any = None, sequence_length: Any = None,
                             scope: Any = None) -> tuple[list[Any], Any, Any]:
    """(outputs of both cells side by side, final state forwards, final state backwards), as static_rnn."""
    check_cell("cell_fw", cell_fw)
    check_cell("cell_bw", cell_bw)
    _check_inputs(inputs)
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as inner:
            forwards, state_fw = static_rnn(cell_fw, inputs, initial_state_fw, dtype, sequence_length, scope=inner)
        with variable_scope("bw") as inner:
            backwards, state_bw = static_rnn(cell_bw, _turned(inputs, sequence_length), initial_state_bw, dtype,
                                             sequence_length, scope=inner)
    backwards = _turned(backwards, sequence_length)
    outputs = [nest.map_structure(lambda a, b: concat([a, b], 1), fw, bw) for fw, bw in zip(forwards, backwards)]
    return outputs, state_fw, state_bw


def _turned(series: Any, lengths: Any) -> list[Any]:
    """A list of steps from the last to the first; with lengths, in each row only so many of them."""
    if lengths is None:
        return list(reversed(series))
    by_leaf = [_rows_turned(list(steps), lengths) for steps in zip(*(nest.flatten(now) for now in series))]
    return [nest.pack_sequence_as(series[0], leaves) for leaves in zip(*by_leaf)]


def _rows_turned(steps: list[Tensor], lengths: Any) -> list[Tensor]:
    dims = steps[0].dims
    for other in steps[1:]:
        dims = merge(dims, other.dims)
    turned = unstack(reverse_sequence(stack(steps), lengths, 0, 1), num=len(steps))
    for one in turned:
        one.set_shape(dims)
    return turned
