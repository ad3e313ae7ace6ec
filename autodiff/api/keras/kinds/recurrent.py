"""Layers of Keras that run along time: they call a cell at each step."""
from __future__ import annotations

from typing import Any

import numpy as np

from ....core import nest
from ....core.errors import ArgumentError, StateError
from ....core.graph import Tensor, get_default_graph
from ....core.op import build
from ....core.shapes import TensorShape
from ....ops.common.op_counts import counted_as
from ...arrays.creation import zeros, zeros_like
from ...arrays.shaping import stack, transpose, unstack
from ...common.made import named
from ...control.map_and_scan import scan
from ...layers import InputSpec, Layer
from ...variables.layer_calls import HISTORY, takes
from ...variables.variable import Variable
from .. import activations, backend
from .cells import ConvLSTMCell, GRUCell, LSTMCell, SimpleRNNCell, StackedRNNCells, begun, is_known_cell
from .plain import Weights, make_inside

__all__ = ["ConvLSTM2D", "CuDNNGRU", "CuDNNLSTM", "GRU", "LSTM", "RNN", "SimpleRNN"]


class RNN(Weights, Layer):
    """A cell, step by step. float[b, time, k] -> float[b, units], or [b, time, units] if return_sequences.

    return_state: the last states too. stateful: a batch begins with the last states of the one before it.
    zero_output_for_mask: steps that do not count give zeros, not the output of the step before.
    go_backwards: from the last step on. unroll: without a loop in the graph.
    """

    _untracked = Weights._untracked | {"states"}  # which are not among the weights

    def __init__(self, cell: Any, return_sequences: bool = False, return_state: bool = False,
                 go_backwards: bool = False, stateful: bool = False, unroll: bool = False,
                 zero_output_for_mask: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self.cell: Any = StackedRNNCells(cell) if isinstance(cell, (list, tuple)) else cell
        self.return_sequences, self.return_state = return_sequences, return_state
        self._backwards, self._unroll, self.stateful = go_backwards, unroll, stateful
        self.input_spec = InputSpec(ndim=getattr(self.cell, "sequence_rank", 3))
        self.zero_output_for_mask = zero_output_for_mask
        self.states: Any = None

    def _inside(self) -> list[Any]:
        return [self.cell] if hasattr(self.cell, "trainable_weights") else []

    def __call__(self, inputs: Any, initial_state: Any = None, **options: Any) -> Any:  # type: ignore[override]
        """The output for these inputs, or for a list of them and of the first states."""
        if isinstance(inputs, (list, tuple)) and len(inputs) > 1:
            inputs, *initial_state = inputs
        states = nest.flatten(initial_state) if initial_state is not None else []
        if not any(HISTORY in vars(state) for state in states if isinstance(state, Tensor)):
            return super().__call__(inputs, initial_state=initial_state, **options)
        spec, self.input_spec = self.input_spec, [self.input_spec, *[None] * len(states)]
        try:  # what layers made is part of a model that ends here
            return super().__call__([inputs, *states], **options)
        finally:
            self.input_spec = spec

    def build(self, input_shape: Any) -> None:
        """The cell makes its variables in the scope of this layer."""
        shape = TensorShape(nest.flatten(input_shape)[0] if isinstance(input_shape, list) else input_shape)
        make_inside(self.cell, self, TensorShape([shape[0], *shape[2:]]))
        self.built = True

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        return nest.flatten(mask)[0] if mask is not None and self.return_sequences else None

    def reset_states(self, states: Any = None) -> None:
        """Begin anew, with zeros or given arrays. Raises StateError (RuntimeError) of a layer that is not stateful."""
        if not self.stateful or self.states is None:
            raise StateError("Layer must be stateful.", found="a layer without states yet" if self.stateful else None)
        kept = nest.flatten(self.states)
        for variable, value in zip(kept, nest.flatten(states) if states is not None else [None] * len(kept)):
            backend.set_value(variable, np.zeros(variable.shape.as_list()) if value is None else value)

    def _kept(self, inputs: Any) -> Any:
        """The states that are kept from batch to batch, as variables."""
        if self.states is None:
            if None in inputs.dims[:1]:
                raise ArgumentError("If a RNN is stateful, it needs to know its batch size. Specify the batch size of "
                                    "your input tensors, by batch_input_shape.")
            made = begun(self.cell, inputs)
            self.states = nest.map_structure(lambda zero: Variable(
                np.zeros([inputs.dims[0], *zero.dims[1:]], np.float32), trainable=False, use_resource=True), made)
        return nest.map_structure(lambda variable: variable.as_tensor(), self.states)

    def call(self, inputs: Any, initial_state: Any = None, training: Any = None, mask: Any = None) -> Any:
        mask = nest.flatten(mask)[0] if mask is not None else None
        if isinstance(inputs, list):
            inputs, *initial_state = inputs
            initial_state = nest.pack_sequence_as(self.cell.state_size, initial_state) if initial_state else None
        state = initial_state if initial_state is not None else self._kept(inputs) if self.stateful else \
            begun(self.cell, inputs)
        state = list(state) if isinstance(state, (list, tuple)) else [state]
        told = {"training": training} if takes(self.cell, "training") else {}
        time_first = [1, 0, *range(2, len(inputs.dims))]
        steps: Any = transpose(inputs, time_first)
        counted = None if mask is None else transpose(mask, [1, 0])

        def step(last: Any, x: Any) -> Any:
            x, counts = x if isinstance(x, tuple) else (x, None)
            output, new = self.cell.call(x, last[1], **told)
            new = nest.pack_sequence_as(state, nest.flatten(new))
            if counts is None:
                return output, new
            before = last[0] if last[0] is not None and not self.zero_output_for_mask else \
                zeros(build.Shape(output), output.dtype)
            return nest.map_structure(lambda this, other: build.Select(counts, this, other), (output, new),
                                      (before, last[1]))

        if self._unroll or get_default_graph().executing_eagerly:
            taken = unstack(steps) if counted is None else list(zip(unstack(steps), unstack(counted)))
            outputs, last = [], (None, state)
            for x in reversed(taken) if self._backwards else taken:
                last = step(last, x)
                outputs.append(last[0])
            whole, final = stack(outputs), last[1]
        else:
            first = nest.flatten(state[-1] if hasattr(self.cell, "cells") else state)[0]
            if not is_known_cell(self.cell):  # only a call tells what its outputs are like
                first = zeros_like(self.cell.call(inputs[:, 0], state, **told)[0])
            first = first if counted is None else zeros(build.Shape(first), first.dtype)
            steps = nest.map_structure(lambda each: build.ReverseV2(each, [0]) if self._backwards else each,
                                       steps if counted is None else (steps, counted))
            whole, states = scan(step, steps, (first, state))
            final = nest.map_structure(lambda each: each[-1], states)
        for variable, value in zip(nest.flatten(self.states), nest.flatten(final)) if self.stateful else ():
            self.add_update(variable.assign(value))
        output = transpose(whole, time_first) if self.return_sequences else whole[-1]
        return [output, *nest.flatten(final)] if self.return_state else output


def _layer_of(kind: Any, name: str, words: str) -> Any:
    own = {"return_sequences", "return_state", "go_backwards", "stateful", "unroll", "name", "input_shape", "dtype",
           "zero_output_for_mask", "batch_input_shape", "input_dim", "trainable", "activity_regularizer", "batch_size"}

    class Made(RNN):
        def __init__(self, units: int, *args: Any, **options: Any) -> None:
            self._is_usual = options.get("use_bias", True) and not any(map(
                options.get, ("dropout", "recurrent_dropout", "unroll", "stateful")))
            for unused in ("implementation", "input_length", "time_major"):
                options.pop(unused, None)
            told = {key: value for key, value in options.items() if key not in own}
            super().__init__(kind(units, *args, **told), **{key: value for key, value in options.items() if key in own})
            self.units = units

        def call(self, inputs: Any, initial_state: Any = None, training: Any = None, mask: Any = None) -> Any:
            count, hard = self.cell._operations
            count += 2 * self._backwards + hard * (self.cell.recurrent_activation is activations.hard_sigmoid)
            with counted_as(count if self._is_usual and not isinstance(inputs, list) and initial_state is None
                            and mask is None else None):
                return super().call(inputs, initial_state, training, mask)

    return named(Made, name, words)


SimpleRNN = _layer_of(SimpleRNNCell, "SimpleRNN", "A SimpleRNNCell, step by step, as RNN.")
GRU = _layer_of(GRUCell, "GRU", "A GRUCell, step by step, as RNN.")
LSTM = _layer_of(LSTMCell, "LSTM", "An LSTMCell, step by step, as RNN.")
ConvLSTM2D = _layer_of(ConvLSTMCell, "ConvLSTM2D", "An LSTM of images: float[b, time, h, w, k], by convolutions.")
CuDNNLSTM = _layer_of(lambda units, **told: LSTMCell(units, recurrent_activation="sigmoid", **told), "CuDNNLSTM",
                      "An LSTM with a sigmoid at its gates, on any machine.")
CuDNNGRU = _layer_of(lambda units, **told: GRUCell(units, recurrent_activation="sigmoid", **told), "CuDNNGRU",
                     "A GRU with a sigmoid at its gates, on any machine; as GRU, of one bias, without reset_after.")
