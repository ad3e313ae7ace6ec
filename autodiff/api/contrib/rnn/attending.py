"""Cells around cells: one that attends to its own last outputs, one with a gate past the cell."""
from __future__ import annotations

from typing import Any

from ....core import nest
from ....core.errors import ArgumentError
from ....core.graph import Tensor
from ....core.op import build
from ...arrays.shaping import concat, split
from ...math import sigmoid, tanh
from ...math.reductions import reduce_sum
from ...math.softmax import softmax
from ...nn.activations import xw_plus_b
from ...nn.convolutions import conv2d
from ...nn.rnn_cell.base import RNNCell
from ...nn.rnn_cell.wrappers import RNNCellWrapper
from ...variables.initializers import Constant
from ...variables.variable_scope import get_variable, variable_scope
from .projections import linear

__all__ = ["AttentionCellWrapper", "HighwayWrapper"]


class AttentionCellWrapper(RNNCellWrapper):
    """A cell that attends to its last attn_length outputs; the state is (cell's, attention, outputs side by side).

    attn_size: of outputs and attention, attn_vec_size: of the query, by default the cell's output_size. input_size: of
    what the cell reads, by default that of the input. Source: Bahdanau, Cho and Bengio (2015).
    """

    def __init__(self, cell: Any, attn_length: int, attn_size: int | None = None, attn_vec_size: int | None = None,
                 input_size: int | None = None, state_is_tuple: bool = True, reuse: bool | None = None) -> None:
        super().__init__(cell, _reuse=reuse)
        if nest.is_sequence(cell.state_size) and not state_is_tuple:
            raise ArgumentError("Cell returns tuple of states, but the flag state_is_tuple is not set. State size is: "
                                f"{cell.state_size}")
        if attn_length <= 0:
            raise ArgumentError(f"attn_length should be greater than zero, got {attn_length}")
        self._length, self._size = attn_length, cell.output_size if attn_size is None else attn_size
        self._query_size = self._size if attn_vec_size is None else attn_vec_size
        self._input_size, self._state_is_tuple = input_size, state_is_tuple

    @property
    def state_size(self) -> Any:
        sizes = self.cell.state_size, self._size, self._size * self._length
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Any:
        return self._size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        return RNNCell.zero_state(self, batch_size, dtype)

    def call(self, inputs: Tensor, state: Any) -> Any:
        if not self._state_is_tuple:
            state = split(state, [self.cell.state_size, self._size, self._size * self._length], 1)
        state, attended, outputs = state
        outputs = build.Reshape(outputs, [-1, self._length, self._size])
        read = linear([inputs, attended], self._input_size or inputs.dims[1])  # type: ignore[index]
        output, state = self.cell(read, state)
        attended = self._attended(concat(nest.flatten(state), 1) if self._state_is_tuple else state, outputs)
        with variable_scope("attn_output_projection"):
            output = linear([output, attended], self._size)
        outputs = build.Reshape(concat([outputs[:, 1:], build.ExpandDims(output, 1)], 1),
                                [-1, self._length * self._size])
        return output, (state, attended, outputs) if self._state_is_tuple else concat([state, attended, outputs], 1)

    def _attended(self, query: Tensor, outputs: Tensor) -> Tensor:
        with variable_scope("attention"):
            kernel = get_variable("attn_w", [1, 1, self._size, self._query_size])
            v = get_variable("attn_v", [self._query_size])
            hidden = build.Reshape(outputs, [-1, self._length, 1, self._size])
            features = conv2d(hidden, kernel, [1, 1, 1, 1], "SAME")
            y = build.Reshape(linear([query], self._query_size), [-1, 1, 1, self._query_size])
            weights = softmax(reduce_sum(v * tanh(features + y), [2, 3]))
            mean = reduce_sum(build.Reshape(weights, [-1, self._length, 1, 1]) * hidden, [1, 2])
            return build.Reshape(mean, [-1, self._size])


class HighwayWrapper(RNNCellWrapper):
    """A cell with a way past it: carry x + transform output, carry = sigmoid(x · carry_w + carry_b).

    couple_carry_transform_gates: transform is 1 - carry, else a gate of its own. Source: Zilly et al. (2017).
    """

    def __init__(self, cell: Any, couple_carry_transform_gates: bool = True, carry_bias_init: float = 1.0) -> None:
        super().__init__(cell)
        self._coupled, self._bias = couple_carry_transform_gates, carry_bias_init

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:  # type: ignore[override]
        outputs, state = self.cell(inputs, state, scope=scope)
        for x, y in zip(nest.flatten(inputs), nest.flatten(outputs)):
            x.shape.assert_is_compatible_with(y.shape)
        return nest.map_structure(self._passed, inputs, outputs), state

    def _passed(self, x: Tensor, y: Tensor) -> Tensor:
        def gate(name: str, bias: float) -> Tensor:
            size = x.dims[1]  # type: ignore[index]
            weights = get_variable(f"{name}_w", [size, size])
            return sigmoid(xw_plus_b(x, weights, get_variable(f"{name}_b", [size], initializer=Constant(bias))))

        carry = gate("carry", self._bias)
        return x * carry + y * (1 - carry if self._coupled else gate("transform", -self._bias))
