"""Cells of Keras: one step along time, of inputs and states."""
from __future__ import annotations

from typing import Any

from ....core import nest
from ....core.errors import UnsupportedError
from ....core.op import build
from ....core.shapes import TensorShape
from ...arrays.creation import ones, zeros
from ...arrays.shaping import concat, split, stack
from ...layers import Layer
from ...layers.core import chosen
from ...nn.convolutions import conv2d
from ...nn.normalization import dropout
from ...variables.layer_calls import takes
from .. import backend
from .plain import Weights, function_of, make_inside

__all__ = ["GRUCell", "LSTMCell", "SimpleRNNCell", "StackedRNNCells"]


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


class ConvLSTMCell(LSTMCell):
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
    output_size = property(lambda self: size_of(self.cells[-1]))

    def _inside(self) -> list[Any]:
        return self.cells

    def build(self, input_shape: Any) -> None:
        """Each cell makes its variables in the scope of this one."""
        shape = TensorShape(nest.flatten(input_shape)[0] if isinstance(input_shape, list) else input_shape)
        for cell in self.cells:
            make_inside(cell, self, shape)
            shape = TensorShape([shape[0], size_of(cell)])
        self.built = True

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        """Those of the cells."""
        return [begun(cell, inputs, batch_size, dtype) for cell in self.cells]

    def call(self, inputs: Any, states: Any, training: Any = None) -> Any:
        new = []
        for cell, state in zip(self.cells, states):
            told = {"training": training} if takes(cell, "training") else {}
            inputs, following = cell.call(inputs, state if isinstance(state, (list, tuple)) else [state], **told)
            new.append(nest.pack_sequence_as(state, nest.flatten(following)))
        return inputs, new


def copied(cell: Any) -> Any:
    """A cell, or several, made anew of the same settings."""
    if isinstance(cell, (list, tuple)):
        return [copied(each) for each in cell]
    if isinstance(cell, StackedRNNCells):
        return StackedRNNCells(copied(cell.cells))
    if isinstance(cell, _Cell):
        args, options = cell._arguments
        return type(cell)(*args, **options)
    return type(cell).from_config(cell.get_config())


def is_known_cell(cell: Any) -> bool:
    """Whether it is one of these, whose outputs are like their first state."""
    return all(isinstance(each, _Cell) for each in getattr(cell, "cells", [cell]))


def size_of(cell: Any) -> Any:
    """How many numbers the output of a cell has: as many as its first state, where it does not say."""
    size = getattr(cell, "output_size", None)
    return nest.flatten(cell.state_size)[0] if size is None else size


def begun(cell: Any, inputs: Any, batch_size: Any = None, dtype: Any = None) -> Any:
    """The states of a cell before its first step: zeros, where it does not say. As in TensorFlow, a cell of the user's
    is told the size of the batch in place of the inputs."""
    if isinstance(cell, (_Cell, StackedRNNCells)):
        return cell.get_initial_state(inputs, batch_size, dtype)
    if inputs is not None:
        batch_size, dtype = build.Shape(inputs)[0], inputs.dtype
    if hasattr(cell, "get_initial_state"):
        return cell.get_initial_state(inputs=None, batch_size=batch_size, dtype=dtype)

    def zero(size: Any) -> Any:
        sizes = TensorShape(size).as_list() if isinstance(size, TensorShape) else [size]
        made = zeros(stack([batch_size, *sizes]), dtype)
        made.set_shape([None, *sizes])
        return made
    return nest.map_structure(zero, cell.state_size)
