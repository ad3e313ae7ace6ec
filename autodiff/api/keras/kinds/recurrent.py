"""Layers of Keras that run along time: cells, and the layers that call a cell at each step."""
from __future__ import annotations

from typing import Any

import numpy as np

from ....core import nest
from ....core.errors import ArgumentError, StateError, UnsupportedError
from ....core.graph import get_default_graph
from ....core.op import build
from ....core.shapes import TensorShape
from ....ops.common.op_counts import counted_as
from ...arrays.creation import ones, zeros
from ...arrays.shaping import concat, split, stack, transpose, unstack
from ...common.made import named
from ...control.map_and_scan import scan
from ...layers import InputSpec, Layer
from ...layers.core import chosen
from ...nn.convolutions import conv2d
from ...nn.normalization import dropout
from ...variables.variable import Variable
from .. import activations, backend
from .plain import Weights, function_of

__all__ = ["ConvLSTM2D", "CuDNNGRU", "CuDNNLSTM", "GRU", "GRUCell", "LSTM", "LSTMCell", "RNN", "SimpleRNN",
           "SimpleRNNCell", "StackedRNNCells"]


def _activation(value: Any) -> Any:
    found = function_of("activation", value)
    return found if found is not None else lambda x: x


class _Cell(Weights, Layer):
    """One step: call(inputs, states) -> (output, new states). kernel: float[k, gates · units].

    dropout, recurrent_dropout: how much of inputs and of states is dropped while training.
    """

    _gates = 1
    _operations = (94, 0)  # that TensorFlow makes of a layer of such steps, and more with hard sigmoids
    _states = 1

    def __init__(self, units: int, activation: Any = "tanh", recurrent_activation: Any = "hard_sigmoid",
                 use_bias: bool = True, kernel_initializer: Any = "glorot_uniform",
                 recurrent_initializer: Any = "orthogonal", bias_initializer: Any = "zeros",
                 kernel_regularizer: Any = None, recurrent_regularizer: Any = None, bias_regularizer: Any = None,
                 kernel_constraint: Any = None, recurrent_constraint: Any = None, bias_constraint: Any = None,
                 dropout: float = 0.0, recurrent_dropout: float = 0.0, **options: Any) -> None:
        super().__init__(**options)
        self.units, self.use_bias = units, use_bias
        self.activation, self.recurrent_activation = _activation(activation), _activation(recurrent_activation)
        self._made: tuple[Any, ...] = (
            (kernel_initializer, kernel_regularizer, kernel_constraint),
            (recurrent_initializer, recurrent_regularizer, recurrent_constraint),
            (bias_initializer, bias_regularizer, bias_constraint))
        self._dropped = dropout, recurrent_dropout

    @property
    def state_size(self) -> Any:
        return [self.units] * self._states if self._states > 1 else self.units

    @property
    def output_size(self) -> int:
        return self.units

    def build(self, input_shape: Any) -> None:
        first = nest.flatten(input_shape)[0] if isinstance(input_shape, list) else input_shape
        shapes = self._shapes(TensorShape(first).as_list()[-1])
        self.kernel: Any
        self.recurrent_kernel: Any
        self.bias: Any
        self.kernel, self.recurrent_kernel, self.bias = (
            self.add_weight(name, shape, initializer=initializer, regularizer=regularizer, constraint=constraint)
            if name != "bias" or self.use_bias else None for name, shape, (initializer, regularizer, constraint) in zip(
                ("kernel", "recurrent_kernel", "bias"), shapes, self._made))

    def _shapes(self, size: Any) -> Any:
        return [size, self._gates * self.units], [self.units, self._gates * self.units], [self._gates * self.units]

    def _product(self, x: Any, kernel: Any) -> Any:
        return build.MatMul(x, kernel)

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        """Zeros for a batch like that of the inputs."""
        size = batch_size if inputs is None else build.Shape(inputs)[0]
        made = [zeros(stack([size, self.units]), inputs.dtype if inputs is not None else dtype)
                for _ in range(self._states)]
        for state in made:
            state.set_shape([None, self.units])
        return made if self._states > 1 else made[0]

    def call(self, inputs: Any, states: Any, training: Any = None) -> Any:
        states = nest.flatten(states)
        kept, recurrent = self._dropped
        if kept or recurrent:
            training = backend.learning_phase() if training is None else training
            x, h = inputs, states[0]
            inputs = chosen(training, lambda: dropout(x, rate=kept), lambda: build.Identity(x)) if kept else x
            states = [chosen(training, lambda: dropout(h, rate=recurrent), lambda: build.Identity(h)) if recurrent
                      else h, *states[1:]]
        x = self._product(inputs, self.kernel)
        return self._step(x + self.bias if self.use_bias else x, states)

    def _step(self, x: Any, states: list[Any]) -> Any:
        """x: inputs · kernel + bias."""
        raise NotImplementedError(f"{type(self).__name__} has no step")


class SimpleRNNCell(_Cell):
    """activation(inputs · kernel + state · recurrent_kernel + bias)."""

    def _step(self, x: Any, states: list[Any]) -> Any:
        h = self.activation(x + build.MatMul(states[0], self.recurrent_kernel))
        return h, [h]


class GRUCell(_Cell):
    """A gated recurrent unit; the reset gate acts before the matrix. Gates: update, reset, candidate."""

    _gates = 3
    _operations = (210, 28)

    def __init__(self, units: int, *args: Any, reset_after: bool = False, **options: Any) -> None:
        super().__init__(units, *args, **options)
        if reset_after:
            raise UnsupportedError("reset_after=True of GRUCell is not there: the reset gate acts before the matrix")

    def _step(self, x: Any, states: list[Any]) -> Any:
        h, n = states[0], self.units
        gates = self.recurrent_activation(x[:, :2 * n] + build.MatMul(h, self.recurrent_kernel[:, :2 * n]))
        update, reset = gates[:, :n], gates[:, n:]
        candidate = self.activation(x[:, 2 * n:] + build.MatMul(reset * h, self.recurrent_kernel[:, 2 * n:]))
        h = update * h + (1.0 - update) * candidate
        return h, [h]


class LSTMCell(_Cell):
    """Long short-term memory. States: output and memory. Gates: input, forget, candidate, output."""

    _gates, _states = 4, 2
    _operations = (198, 42)

    def __init__(self, units: int, *args: Any, unit_forget_bias: bool = True, **options: Any) -> None:
        super().__init__(units, *args, **options)
        if unit_forget_bias:
            first = function_of("initializer", self._made[2][0])

            def with_ones(shape: Any, dtype: Any = None, **kept: Any) -> Any:
                return concat([first([units], dtype=dtype), ones([units], dtype), first([2 * units], dtype=dtype)], 0)
            self._made = *self._made[:2], (with_ones, *self._made[2][1:])

    def _step(self, x: Any, states: list[Any]) -> Any:
        h, memory = states
        taken, kept, new, shown = split(x + self._product(h, self.recurrent_kernel), 4, axis=-1)
        memory = self.recurrent_activation(kept) * memory + self.recurrent_activation(taken) * self.activation(new)
        h = self.recurrent_activation(shown) * self.activation(memory)
        return h, [h, memory]


class _ConvLSTMCell(LSTMCell):
    """An LSTMCell whose products are convolutions of images, those of the state with zeros around it."""

    sequence_rank = 5

    def __init__(self, units: int, kernel_size: Any, strides: Any = 1, padding: str = "valid", **options: Any) -> None:
        super().__init__(units, **options)
        self._window, self._strides = ([each] * 2 if isinstance(each, int) else [*each] for each in (
            kernel_size, strides))
        self._padding = padding.upper()

    def _shapes(self, channels: int) -> Any:
        return [*self._window, channels, 4 * self.units], [*self._window, self.units, 4 * self.units], [4 * self.units]

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        sizes = inputs.dims[-3:-1] if self._padding == "SAME" else [
            size - width + 1 for size, width in zip(inputs.dims[-3:-1], self._window)]
        images = [-(-size // step) for size, step in zip(sizes, self._strides)]
        made = [zeros(stack([build.Shape(inputs)[0], *images, self.units]), inputs.dtype) for _ in range(2)]
        for state in made:
            state.set_shape([inputs.dims[0], *images, self.units])
        return made

    def _product(self, x: Any, kernel: Any) -> Any:
        is_state = kernel is self.recurrent_kernel
        return conv2d(x, kernel, [1, 1, 1, 1] if is_state else [1, *self._strides, 1], "SAME" if is_state else
                      self._padding)


class StackedRNNCells(Weights, Layer):
    """Cells as one: each is given the output of the one before it."""

    def __init__(self, cells: Any, **options: Any) -> None:
        super().__init__(**options)
        self.cells = list(cells)

    state_size = property(lambda self: tuple(cell.state_size for cell in self.cells))
    output_size = property(lambda self: self.cells[-1].output_size)

    def _inside(self) -> list[Any]:
        return self.cells

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        """Those of the cells."""
        return [cell.get_initial_state(inputs, batch_size, dtype) for cell in self.cells]

    def call(self, inputs: Any, states: Any, training: Any = None) -> Any:
        new = []
        for cell, state in zip(self.cells, states):
            inputs, following = cell(inputs, state)
            new.append(following if isinstance(state, list) else following[0])
        return inputs, new


class RNN(Weights, Layer):
    """A cell, step by step. float[b, time, k] -> float[b, units], or [b, time, units] if return_sequences.

    return_state: the last states too. stateful: a batch begins with the last states of the one before it.
    zero_output_for_mask: steps that do not count give zeros, not the output of the step before.
    go_backwards: from the last step on. unroll: without a loop in the graph.
    """

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
        return [self.cell]

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
            made = self.cell.get_initial_state(inputs)
            self.states = nest.map_structure(lambda zero: Variable(
                np.zeros([inputs.dims[0], *zero.dims[1:]], np.float32), trainable=False, use_resource=True), made)
        return nest.map_structure(lambda variable: variable.as_tensor(), self.states)

    def call(self, inputs: Any, initial_state: Any = None, training: Any = None, mask: Any = None) -> Any:
        mask = nest.flatten(mask)[0] if mask is not None else None
        state = initial_state if initial_state is not None else self._kept(inputs) if self.stateful else \
            self.cell.get_initial_state(inputs)
        if isinstance(state, (list, tuple)) and len(state) == 1 and not hasattr(self.cell, "cells"):
            state = state[0]
        time_first = [1, 0, *range(2, len(inputs.dims))]
        steps: Any = transpose(inputs, time_first)
        counted = None if mask is None else transpose(mask, [1, 0])

        def step(last: Any, x: Any) -> Any:
            x, counts = x if isinstance(x, tuple) else (x, None)
            output, new = self.cell(x, last[1])
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
            self.cell(inputs[:, 0], state)  # its variables are made outside of the loop
            first = nest.flatten(state[-1] if hasattr(self.cell, "cells") else state)[0]
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

        def build(self, input_shape: Any) -> None:
            self.cell._scope = self._scope  # the variables are the layer's
            first = nest.flatten(input_shape)[0] if isinstance(input_shape, list) else input_shape
            self.cell.build(TensorShape([TensorShape(first)[0], *TensorShape(first)[2:]]))
            self.cell.built = self.built = True

        def call(self, inputs: Any, initial_state: Any = None, training: Any = None, mask: Any = None) -> Any:
            count, hard = self.cell._operations
            count += 2 * self._backwards + hard * (self.cell.recurrent_activation is activations.hard_sigmoid)
            with counted_as(count if self._is_usual and initial_state is None and mask is None else None):
                return super().call(inputs, initial_state, training, mask)

    return named(Made, name, words)


SimpleRNN = _layer_of(SimpleRNNCell, "SimpleRNN", "A SimpleRNNCell, step by step, as RNN.")
GRU = _layer_of(GRUCell, "GRU", "A GRUCell, step by step, as RNN.")
LSTM = _layer_of(LSTMCell, "LSTM", "An LSTMCell, step by step, as RNN.")
ConvLSTM2D = _layer_of(_ConvLSTMCell, "ConvLSTM2D", "An LSTM of images: float[b, time, h, w, k], by convolutions.")
CuDNNLSTM = _layer_of(lambda units, **told: LSTMCell(units, recurrent_activation="sigmoid", **told), "CuDNNLSTM",
                      "An LSTM with a sigmoid at its gates, on any machine.")
CuDNNGRU = _layer_of(lambda units, **told: GRUCell(units, recurrent_activation="sigmoid", **told), "CuDNNGRU",
                     "A GRU with a sigmoid at its gates, on any machine; as GRU, of one bias, without reset_after.")
