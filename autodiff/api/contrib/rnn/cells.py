"""Cells beside those of tf.nn: fused ones under their names, one with normalization, one that a search found."""
from __future__ import annotations

from typing import Any

from ....core.errors import ArgumentError
from ....core.graph import Tensor
from ....core.op import build
from ...arrays.shaping import concat, split
from ...math import sigmoid, tanh
from ...nn.activations import bias_add, relu
from ...nn.normalization import dropout
from ...nn.rnn_cell.base import LayerRNNCell, LSTMStateTuple, RNNCell, input_depth
from ...nn.rnn_cell.cells import GRUCell, LSTMCell
from ...variables.initializers import Zeros
from ...variables.variable_scope import get_variable
from .projections import normed

__all__ = ["GRUBlockCell", "GRUBlockCellV2", "LSTMBlockCell", "LayerNormBasicLSTMCell", "NASCell"]


class LSTMBlockCell(LSTMCell):
    """LSTMCell of fixed activation, in a scope named `lstm_cell`."""

    _peepholes = "ifo"

    def __init__(self, num_units: int, forget_bias: float = 1.0, cell_clip: float | None = None,
                 use_peephole: bool = False, dtype: Any = None, reuse: bool | None = None,
                 name: Any = "lstm_cell") -> None:
        clip = cell_clip if cell_clip is not None and cell_clip > 0 else None
        super().__init__(num_units, use_peephole, clip, forget_bias=forget_bias, reuse=reuse, name=name, dtype=dtype)


class GRUBlockCellV2(GRUCell):
    """GRUCell of fixed activation, in a scope named `gru_cell`."""

    def __init__(self, num_units: int | None = None, cell_size: int | None = None, reuse: bool | None = None,
                 name: Any = "gru_cell") -> None:
        if (num_units is None) == (cell_size is None):
            raise ArgumentError(expected="num_units or its old name cell_size", found=f"{num_units} and {cell_size}")
        super().__init__(num_units or cell_size or 0, reuse=reuse, name=name)


class GRUBlockCell(GRUBlockCellV2):
    """GRUBlockCellV2 whose variables are w_ru, b_ru (gates), w_c, b_c (candidate)."""

    _gates, _candidate = ("w_ru", "b_ru"), ("w_c", "b_c")


class LayerNormBasicLSTMCell(RNNCell):
    """BasicLSTMCell with layer normalization of its gates and cell state, and dropout of what enters the memory.

    Source: Ba, Kiros and Hinton (2016); Semeniuta, Severyn and Barth (2016) for the dropout.
    """

    def __init__(self, num_units: int, forget_bias: float = 1.0, input_size: Any = None, activation: Any = tanh,
                 layer_norm: bool = True, norm_gain: float = 1.0, norm_shift: float = 0.0,
                 dropout_keep_prob: Any = 1.0, dropout_prob_seed: int | None = None,
                 reuse: bool | None = None) -> None:
        super().__init__(_reuse=reuse)
        self._num_units, self._forget_bias, self._activation = num_units, forget_bias, activation
        self._layer_norm, self._gain, self._shift = layer_norm, norm_gain, norm_shift
        self._keep_prob, self._seed = dropout_keep_prob, dropout_prob_seed

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> Any:
        return self._num_units

    def _norm(self, x: Tensor, scope: str) -> Tensor:
        return normed(x, scope, self._gain, self._shift) if self._layer_norm else x

    def call(self, inputs: Tensor, state: Any) -> Any:
        c, h = state
        x = concat([inputs, h], 1)
        kernel = get_variable("kernel", [x.dims[-1], 4 * self._num_units], x.dtype.base_dtype)  # type: ignore[index]
        gates = build.MatMul(x, kernel)
        if not self._layer_norm:
            gates = bias_add(gates, get_variable("bias", [4 * self._num_units], x.dtype.base_dtype))
        i, j, f, o = (self._norm(part, name) for part, name in
                      zip(split(gates, 4, 1), ("input", "transform", "forget", "output")))
        g = self._activation(j)
        if not isinstance(self._keep_prob, float) or self._keep_prob < 1:
            g = dropout(g, self._keep_prob, seed=self._seed)
        c = self._norm(c * sigmoid(f + self._forget_bias) + sigmoid(i) * g, "state")
        h = self._activation(c) * sigmoid(o)
        return h, LSTMStateTuple(c, h)


class NASCell(LayerRNNCell):
    """The cell that architecture search found. num_proj: the output becomes h · projection_weights.

    Source: Zoph and Le (2017), appendix.
    """

    def __init__(self, num_units: int, num_proj: int | None = None, use_bias: bool = False, reuse: bool | None = None,
                 **options: Any) -> None:
        super().__init__(_reuse=reuse, **options)
        self._num_units, self._num_proj, self._use_bias = num_units, num_proj, use_bias

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self) -> Any:
        return self._num_proj or self._num_units

    def build(self, input_shape: Any) -> None:
        depth, columns = input_depth(self.name, input_shape), 8 * self._num_units
        self.recurrent_kernel = self.add_weight("recurrent_kernel", [self.output_size, columns])
        self.kernel = self.add_weight("kernel", [depth, columns])
        if self._use_bias:
            self.bias = self.add_weight("bias", [columns], initializer=Zeros())
        if self._num_proj is not None:
            self.projection_weights = self.add_weight("projection_weights", [self._num_units, self._num_proj])
        self.built = True

    def call(self, inputs: Tensor, state: Any) -> Any:
        c, h = state
        before = build.MatMul(h, self.recurrent_kernel)
        now = split(build.MatMul(inputs, self.kernel), 8, 1)
        then = split(bias_add(before, self.bias) if self._use_bias else before, 8, 1)
        a = [sigmoid(now[0] + then[0]), relu(now[1] + then[1]), sigmoid(now[2] + then[2]), relu(now[3] * then[3]),
             tanh(now[4] + then[4]), sigmoid(now[5] + then[5]), tanh(now[6] + then[6]), sigmoid(now[7] + then[7])]
        b = [tanh(a[0] * a[1]), tanh(a[2] + a[3]), tanh(a[4] * a[5]), sigmoid(a[6] + a[7])]
        c = tanh(b[0] + c) * b[1]
        h = tanh(c * tanh(b[2] + b[3]))
        h = h if self._num_proj is None else build.MatMul(h, self.projection_weights)
        return h, LSTMStateTuple(c, h)
