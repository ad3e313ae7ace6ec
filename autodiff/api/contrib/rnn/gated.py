"""Cells with few gates: one, two in one, or none."""
from __future__ import annotations

from typing import Any

from ....core.graph import Tensor
from ....core.op import build
from ...arrays.shaping import concat, split
from ...math import clip_by_value, sigmoid, tanh
from ...nn.activations import bias_add
from ...nn.rnn_cell.base import LayerRNNCell, LSTMStateTuple, RNNCell, checked_dtype, input_depth
from ...variables.initializers import RandomUniform, Zeros
from ...variables.layer_base import InputSpec
from ...variables.variable_scope import get_variable, get_variable_scope, variable_scope
from .projections import linear, normed, sharded

__all__ = ["CoupledInputForgetGateLSTMCell", "IndRNNCell", "UGRNNCell"]


class UGRNNCell(RNNCell):
    """h' = g h + (1 - g) activation(c), g = sigmoid(g + forget_bias); g, c are the halves of [x, h] · kernel + bias.

    Source: Collins, Sohl-Dickstein and Sussillo (2017), section 2.
    """

    def __init__(self, num_units: int, initializer: Any = None, forget_bias: float = 1.0, activation: Any = tanh,
                 reuse: bool | None = None) -> None:
        super().__init__(_reuse=reuse)
        self._num_units, self._initializer = num_units, initializer
        self._forget_bias, self._activation = forget_bias, activation

    state_size = output_size = property(lambda self: self._num_units)

    def call(self, inputs: Tensor, state: Tensor) -> Any:
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            g, c = split(linear([concat([inputs, state], 1)], 2 * self._num_units), 2, 1)
            g = sigmoid(g + self._forget_bias)
            output = g * state + (1.0 - g) * self._activation(c)
            return output, output


class IndRNNCell(LayerRNNCell):
    """h' = activation(x · kernel_w + kernel_u h + bias): each unit sees itself alone.

    Source: Li et al. (2018), section 3.
    """

    def __init__(self, num_units: int, activation: Any = None, reuse: bool | None = None, name: Any = None,
                 dtype: Any = None) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        checked_dtype(self.dtype)
        self.input_spec = InputSpec(ndim=2)
        self._num_units, self._activation = num_units, activation or tanh

    state_size = output_size = property(lambda self: self._num_units)

    def build(self, input_shape: Any) -> None:
        self._kernel_w = self.add_weight("kernel_w", [input_depth(self.name, input_shape), self._num_units])
        self._kernel_u = self.add_weight("kernel_u", [1, self._num_units], initializer=RandomUniform(-1, 1))
        self._bias = self.add_weight("bias", [self._num_units], initializer=Zeros())
        self.built = True

    def call(self, inputs: Tensor, state: Tensor) -> Any:
        sums = build.MatMul(inputs, self._kernel_w) + state * self._kernel_u
        output = self._activation(bias_add(sums, self._bias))
        return output, output


class CoupledInputForgetGateLSTMCell(RNNCell):
    """LSTMCell whose input gate is one minus its forget gate; its variables are W_0, B, W_F_diag, W_O_diag and W_P_0.

    num_proj, proj_clip and state_is_tuple: as LSTMCell's; initializer has no effect. layer_norm: of the gates, in place
    of the bias, and of the cell state. Source: Greff et al. (2017), section 4.
    """

    def __init__(self, num_units: int, use_peepholes: bool = False, initializer: Any = None,
                 num_proj: int | None = None, proj_clip: float | None = None, num_unit_shards: int = 1,
                 num_proj_shards: int = 1, forget_bias: float = 1.0, state_is_tuple: bool = True,
                 activation: Any = tanh, reuse: bool | None = None, layer_norm: bool = False, norm_gain: float = 1.0,
                 norm_shift: float = 0.0) -> None:
        super().__init__(_reuse=reuse)
        self._num_units, self._use_peepholes, self._forget_bias = num_units, use_peepholes, forget_bias
        self._num_proj, self._proj_clip, self._activation = num_proj, proj_clip, activation
        self._unit_shards, self._proj_shards, self._state_is_tuple = num_unit_shards, num_proj_shards, state_is_tuple
        self._layer_norm, self._start = layer_norm, (norm_gain, norm_shift)

    @property
    def state_size(self) -> Any:
        sizes = LSTMStateTuple(self._num_units, self.output_size)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Any:
        return self._num_proj or self._num_units

    def _norm(self, x: Tensor, scope: str) -> Tensor:
        return normed(x, scope, *self._start) if self._layer_norm else x

    def call(self, inputs: Tensor, state: Any) -> Any:
        c, h = state if self._state_is_tuple else split(state, [self._num_units, self.output_size], 1)
        units, dtype = self._num_units, inputs.dtype.base_dtype
        rows = input_depth(self.name, inputs.shape) + self.output_size
        kernel = sharded("W", [rows, 3 * units], dtype, self._unit_shards)
        bias = get_variable("B", [3 * units], dtype, Zeros())
        sums = build.MatMul(concat([inputs, h], 1), kernel)
        parts = split(sums if self._layer_norm else bias_add(sums, bias), 3, 1)
        j, f, o = (self._norm(part, name) for part, name in zip(parts, ("transform", "forget", "output")))
        f = f + self._forget_bias
        if self._use_peepholes:
            of_f, of_o = (get_variable(f"W_{gate}_diag", [units], dtype) for gate in "FO")
            f = f + of_f * c
        f = sigmoid(f)
        c = self._norm(f * c + (1 - f) * self._activation(j), "state")
        h = sigmoid(o + of_o * c if self._use_peepholes else o) * self._activation(c)
        if self._num_proj is not None:
            h = build.MatMul(h, sharded("W_P", [units, self._num_proj], dtype, self._proj_shards))
            h = h if self._proj_clip is None else clip_by_value(h, -self._proj_clip, self._proj_clip)
        return h, LSTMStateTuple(c, h) if self._state_is_tuple else concat([c, h], 1)
