"""The basic, gated and long short-term memory cells."""
from __future__ import annotations

from typing import Any

from ....core.graph import Tensor
from ....core.op import build
from ...arrays.shaping import concat, split
from ...math import clip_by_value, sigmoid, tanh
from ...variables.initializers import Constant, Zeros
from ...variables.layer_base import InputSpec
from ..activations import bias_add
from ..named_activations import named_activation
from .base import LayerRNNCell, LSTMStateTuple, checked_dtype, input_depth


class _Gated(LayerRNNCell):
    """The base of these cells: their number of units and their activation, tanh by default."""

    def __init__(self, num_units: int, activation: Any = None, reuse: bool | None = None, name: Any = None,
                 dtype: Any = None, **options: Any) -> None:
        super().__init__(name=name, dtype=dtype, _reuse=reuse, **options)
        checked_dtype(self.dtype)
        self.input_spec = InputSpec(ndim=2)
        self._num_units, self._activation = num_units, named_activation(activation) or tanh

    state_size = output_size = property(lambda self: self._num_units)

    def _affine(self, inputs: list[Tensor], kernel: Any, bias: Any) -> Tensor:
        return bias_add(build.MatMul(concat(inputs, 1), kernel), bias)


class BasicRNNCell(_Gated):
    """h' = activation([x, h] · kernel + bias). kernel: float[k + units, units]."""

    def build(self, input_shape: Any) -> None:
        depth = input_depth(self.name, input_shape)
        self._kernel = self.add_weight("kernel", [depth + self._num_units, self._num_units])
        self._bias = self.add_weight("bias", [self._num_units], initializer=Zeros())
        self.built = True

    def call(self, inputs: Tensor, state: Tensor) -> Any:
        output = self._activation(self._affine([inputs, state], self._kernel, self._bias))
        return output, output


class GRUCell(_Gated):
    """Gated recurrent unit: h' = u h + (1 - u) activation([x, r h] · W + b), r and u = sigmoid([x, h] · V + c).

    gates/kernel: float[k + units, 2 units] of r, u; candidate/kernel: float[k + units, units]. The gates' bias starts
    at 1. Source: Cho et al. (2014), section 2.3.
    """

    _gates, _candidate = ("gates/kernel", "gates/bias"), ("candidate/kernel", "candidate/bias")

    def __init__(self, num_units: int, activation: Any = None, reuse: bool | None = None,
                 kernel_initializer: Any = None, bias_initializer: Any = None, name: Any = None, dtype: Any = None,
                 **options: Any) -> None:
        super().__init__(num_units, activation, reuse, name, dtype, **options)
        self._kernel_initializer, self._bias_initializer = kernel_initializer, bias_initializer

    def build(self, input_shape: Any) -> None:
        rows, units = input_depth(self.name, input_shape) + self._num_units, self._num_units
        self._gate_kernel, self._gate_bias = self._weights_of(self._gates, rows, 2 * units, Constant(1.0))
        self._candidate_kernel, self._candidate_bias = self._weights_of(self._candidate, rows, units, Zeros())
        self.built = True

    def _weights_of(self, names: tuple[str, str], rows: int, columns: int, start: Any) -> tuple[Any, Any]:
        """A kernel, and a bias that begins as `start` unless it is told otherwise."""
        return (self.add_weight(names[0], [rows, columns], initializer=self._kernel_initializer),
                self.add_weight(names[1], [columns], initializer=self._bias_initializer or start))

    def call(self, inputs: Tensor, state: Tensor) -> Any:
        gates = sigmoid(self._affine([inputs, state], self._gate_kernel, self._gate_bias))
        r, u = split(gates, 2, 1)
        c = self._activation(self._affine([inputs, r * state], self._candidate_kernel, self._candidate_bias))
        output = u * state + (1 - u) * c
        return output, output


class _LongShortTerm(_Gated):
    """State (c, h) as an LSTMStateTuple, or side by side in one tensor if not state_is_tuple."""

    def __init__(self, num_units: int, state_is_tuple: bool, num_outputs: int, *args: Any, **options: Any) -> None:
        super().__init__(num_units, *args, **options)
        self._state_is_tuple, self._num_outputs = state_is_tuple, num_outputs

    @property
    def state_size(self) -> Any:
        sizes = LSTMStateTuple(self._num_units, self._num_outputs)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Any:
        return self._num_outputs

    def _parts(self, state: Any) -> Any:
        return state if self._state_is_tuple else split(state, [self._num_units, self._num_outputs], 1)

    def _joined(self, c: Tensor, h: Tensor) -> Any:
        return LSTMStateTuple(c, h) if self._state_is_tuple else concat([c, h], 1)


class BasicLSTMCell(_LongShortTerm):
    """c' = sigmoid(f + forget_bias) c + sigmoid(i) activation(j), h' = sigmoid(o) activation(c').

    i, j, f, o are the quarters of [x, h] · kernel + bias. kernel: float[k + units, 4 units].
    Source: Zaremba, Sutskever and Vinyals (2014), section 3.1.
    """

    def __init__(self, num_units: int, forget_bias: float = 1.0, state_is_tuple: bool = True, activation: Any = None,
                 reuse: bool | None = None, name: Any = None, dtype: Any = None, **options: Any) -> None:
        super().__init__(num_units, state_is_tuple, num_units, activation, reuse, name, dtype, **options)
        self._forget_bias = forget_bias

    def build(self, input_shape: Any) -> None:
        rows = input_depth(self.name, input_shape) + self._num_units
        self._kernel = self.add_weight("kernel", [rows, 4 * self._num_units])
        self._bias = self.add_weight("bias", [4 * self._num_units], initializer=Zeros())
        self.built = True

    def call(self, inputs: Tensor, state: Any) -> Any:
        c, h = self._parts(state)
        i, j, f, o = split(self._affine([inputs, h], self._kernel, self._bias), 4, 1)
        c = build.Add(build.Mul(c, sigmoid(build.Add(f, self._forget_bias))),
                      build.Mul(sigmoid(i), self._activation(j)))
        h = build.Mul(self._activation(c), sigmoid(o))
        return h, self._joined(c, h)


class LSTMCell(_LongShortTerm):
    """BasicLSTMCell with peepholes (gates see the cell state), clipping and a projection of the output.

    cell_clip: c' is kept within ±cell_clip. num_proj: h' becomes h' · projection/kernel, then within ±proj_clip.
    initializer: of all kernels. num_unit_shards and num_proj_shards are accepted without effect.
    Source: Sak, Senior and Beaufays (2014), section 2.
    """

    _peepholes = "fio"  # the order in which their variables are made

    def __init__(self, num_units: int, use_peepholes: bool = False, cell_clip: float | None = None,
                 initializer: Any = None, num_proj: int | None = None, proj_clip: float | None = None,
                 num_unit_shards: int | None = None, num_proj_shards: int | None = None, forget_bias: float = 1.0,
                 state_is_tuple: bool = True, activation: Any = None, reuse: bool | None = None, name: Any = None,
                 dtype: Any = None, **options: Any) -> None:
        super().__init__(num_units, state_is_tuple, num_proj or num_units, activation, reuse, name, dtype, **options)
        self._use_peepholes, self._initializer, self._forget_bias = use_peepholes, initializer, forget_bias
        self._cell_clip, self._num_proj, self._proj_clip = cell_clip, num_proj, proj_clip

    def build(self, input_shape: Any) -> None:
        rows, units = input_depth(self.name, input_shape) + self._num_outputs, self._num_units
        self._kernel = self.add_weight("kernel", [rows, 4 * units], initializer=self._initializer)
        self._bias = self.add_weight("bias", [4 * units], initializer=Zeros())
        if self._use_peepholes:
            diagonals = {gate: self.add_weight(f"w_{gate}_diag", [units], initializer=self._initializer)
                         for gate in self._peepholes}
            self._w_f_diag, self._w_i_diag, self._w_o_diag = (diagonals[gate] for gate in "fio")
        if self._num_proj is not None:
            self._proj_kernel = self.add_weight("projection/kernel", [units, self._num_proj],
                                                initializer=self._initializer)
        self.built = True

    def call(self, inputs: Tensor, state: Any) -> Any:
        c, h = self._parts(state)
        i, j, f, o = split(self._affine([inputs, h], self._kernel, self._bias), 4, 1)
        f = f + self._forget_bias
        if self._use_peepholes:
            f, i = f + self._w_f_diag * c, i + self._w_i_diag * c
        c = sigmoid(f) * c + sigmoid(i) * self._activation(j)
        if self._cell_clip is not None:
            c = clip_by_value(c, -self._cell_clip, self._cell_clip)
        if self._use_peepholes:
            o = o + self._w_o_diag * c
        h = sigmoid(o) * self._activation(c)
        if self._num_proj is not None:
            h = build.MatMul(h, self._proj_kernel)
            h = h if self._proj_clip is None else clip_by_value(h, -self._proj_clip, self._proj_clip)
        return h, self._joined(c, h)
