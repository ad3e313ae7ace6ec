"""Batch normalization as a layer, with moving averages for inference."""
from __future__ import annotations

from typing import Any

from ...core.convert import convert_to_tensor
from ...core.dtypes import float16, float32
from ...core.errors import ArgumentError, KindError, ShapeError, UnsupportedError
from ...core.graph import Tensor, get_default_graph
from ...core.op import build
from ...core.shapes import TensorShape, as_dims
from ..nn.normalization import batch_normalization as normalized
from ..nn.normalization import fused_batch_norm, moments
from ..variables.assignment import assign_sub
from ..variables.layer_base import InputSpec, Layer
from ..variables.named_initializers import ONES, ZEROS
from ..variables.variable import Variable
from ..variables.variable_kinds import VariableSynchronization
from .core import chosen, truth


class BatchNormalization(Layer):
    """(inputs - mean) / sqrt(variance + epsilon) * gamma + beta, for each index of `axis`.

    In training mean and variance are those of the batch, and the updates (in UPDATE_OPS, to be run along with the
    training) move moving_mean and moving_variance toward them by 1 - momentum; else they are the moving ones.
    fused: one operation for images, by default where it can be; it moves the variance toward the unbiased one.
    Source: Ioffe and Szegedy (2015). renorm, virtual_batch_size and adjustment are not supported.
    """

    def __init__(self, axis: Any = -1, momentum: float = 0.99, epsilon: float = 1e-3, center: bool = True,
                 scale: bool = True, beta_initializer: Any = ZEROS, gamma_initializer: Any = ONES,
                 moving_mean_initializer: Any = ZEROS, moving_variance_initializer: Any = ONES,
                 beta_regularizer: Any = None, gamma_regularizer: Any = None, beta_constraint: Any = None,
                 gamma_constraint: Any = None, renorm: bool = False, renorm_clipping: Any = None,
                 renorm_momentum: float = 0.99, fused: bool | None = None, trainable: bool = True,
                 virtual_batch_size: int | None = None, adjustment: Any = None, name: Any = None,
                 **options: Any) -> None:
        super().__init__(trainable, name, **options)
        for what, given in (("renorm", renorm), ("virtual_batch_size", virtual_batch_size), ("adjustment", adjustment)):
            if given:
                raise UnsupportedError(f"batch normalization with {what} is not supported", hint=f"leave {what} out")
        if not isinstance(axis, (int, list)):
            raise KindError(expected="an int or a list as axis", found=repr(axis))
        self.axis = [axis] if isinstance(axis, int) else list(axis)
        self.momentum, self.epsilon, self.center, self.scale, self.fused = momentum, epsilon, center, scale, fused
        self.beta_initializer, self.gamma_initializer = beta_initializer, gamma_initializer
        self.moving_mean_initializer = moving_mean_initializer
        self.moving_variance_initializer = moving_variance_initializer
        self.beta_regularizer, self.gamma_regularizer = beta_regularizer, gamma_regularizer
        self.beta_constraint, self.gamma_constraint = beta_constraint, gamma_constraint
        self.gamma: Any = None
        self.beta: Any = None
        self._bessels_correction_test_only = True

    def build(self, input_shape: Any) -> None:
        dims = as_dims(input_shape)
        if not dims:
            raise ShapeError(f"layer {self.name!r}", expected="inputs of known rank", found=input_shape)
        self.axis = [a + len(dims) if a < 0 else a for a in self.axis]
        if any(not 0 <= a < len(dims) for a in self.axis) or len(set(self.axis)) != len(self.axis):
            raise ArgumentError(expected=f"different axes of {len(dims)}", found=self.axis)
        sizes = {a: dims[a] for a in self.axis}
        if None in sizes.values():
            raise ShapeError(f"layer {self.name!r}", expected=f"a known size of axis {self.axis}", found=input_shape)
        images = len(dims) == 4 and self.axis in ([1], [3])
        self.fused = images and self.fused is not False
        self.input_spec = InputSpec(ndim=len(dims), axes=sizes)
        several = len(sizes) > 1
        self._make([sizes.get(i, 1) for i in range(len(dims))] if several else list(sizes.values()))

    def _make(self, shape: Any) -> None:
        dtype = float32 if self.dtype is float16 else self.dtype
        if self.scale:
            self.gamma = self.add_weight("gamma", shape, dtype, self.gamma_initializer, self.gamma_regularizer,
                                         constraint=self.gamma_constraint)
        if self.center:
            self.beta = self.add_weight("beta", shape, dtype, self.beta_initializer, self.beta_regularizer,
                                        constraint=self.beta_constraint)
        self.moving_mean = self.add_weight("moving_mean", shape, dtype, self.moving_mean_initializer, trainable=False,
                                           synchronization=VariableSynchronization.ON_READ)
        self.moving_variance = self.add_weight(
            "moving_variance", shape, dtype, self.moving_variance_initializer, trainable=False,
            synchronization=VariableSynchronization.ON_READ)
        self.built = True

    def call(self, inputs: Tensor, training: Any = False) -> Tensor:
        return self._fused(inputs, training) if self.fused else self._by_moments(inputs, training)

    def _fused(self, inputs: Tensor, training: Any) -> Tensor:
        shape, dtype = self.moving_mean.shape, self.moving_mean.dtype.base_dtype
        gamma = self.gamma if self.scale else build.Fill(shape.as_list(), convert_to_tensor(1.0, dtype))
        beta = self.beta if self.center else build.Fill(shape.as_list(), convert_to_tensor(0.0, dtype))
        layout = "NCHW" if self.axis == [1] else "NHWC"
        output, mean, variance = chosen(
            training,
            lambda: fused_batch_norm(inputs, gamma, beta, epsilon=self.epsilon, data_format=layout),
            lambda: fused_batch_norm(inputs, gamma, beta, self.moving_mean, self.moving_variance, self.epsilon, layout,
                                     is_training=False))
        known = truth(training)
        if known is not False:
            if not self._bessels_correction_test_only:  # as TensorFlow's tests ask for: the variance itself
                counts = build.Cast(build.Size(inputs) // build.Size(variance), dtype=dtype)
                variance = variance * (counts - 1.0) / counts
            momentum = self.momentum if known else chosen(training, lambda: convert_to_tensor(self.momentum, dtype),
                                                          lambda: convert_to_tensor(1.0, dtype))
            self.add_update([lambda: moved(self.moving_mean, mean, momentum),
                             lambda: moved(self.moving_variance, variance, momentum)])
        return output

    def _by_moments(self, inputs: Tensor, training: Any) -> Tensor:
        rank = len(inputs.dims)  # type: ignore[arg-type]
        others = [i for i in range(rank) if i not in self.axis]
        mean, variance = self.moving_mean.as_tensor(), self.moving_variance.as_tensor()
        if truth(training) is not False:
            batch = moments(_as(inputs, mean.dtype), others, keep_dims=len(self.axis) > 1)
            mean, variance = (chosen(training, lambda now=now: now, lambda old=old: build.Identity(old))
                              for now, old in zip(batch, (mean, variance)))
            self.add_update([self._update(self.moving_mean, mean, training),
                             self._update(self.moving_variance, variance, training)])

        def spread(v: Any) -> Any:
            if v is None:
                return None
            v = _as(convert_to_tensor(v), inputs.dtype)
            if len(v.dims) == rank or others == list(range(rank - 1)):
                return v
            return build.Reshape(v, [inputs.dims[i] if i in self.axis else 1 for i in range(rank)])  # type: ignore[index]

        outputs = normalized(inputs, spread(mean), spread(variance), spread(self.beta), spread(self.gamma),
                             self.epsilon)
        outputs.set_shape(inputs.dims)
        return outputs

    def _update(self, variable: Variable, value: Tensor, training: Any) -> Any:
        return lambda: chosen(training, lambda: moved(variable, value, self.momentum), lambda: variable.as_tensor())

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        return TensorShape(input_shape)


def moved(variable: Variable, value: Any, momentum: Any) -> Any:
    """The operation that moves a variable by 1 - momentum of the way toward a value."""
    with get_default_graph().name_scope("AssignMovingAvg") as scope:
        dtype = variable.dtype.base_dtype
        decay = convert_to_tensor(1.0 - momentum, dtype, name="decay")
        return assign_sub(variable, (variable - _as(value, dtype)) * decay, name=scope)


def _as(x: Tensor, dtype: Any) -> Tensor:
    return x if x.dtype.base_dtype is dtype.base_dtype else build.Cast(x, dtype=dtype.base_dtype)


def batch_normalization(inputs: Any, axis: Any = -1, momentum: float = 0.99, epsilon: float = 1e-3,
                        center: bool = True, scale: bool = True, beta_initializer: Any = ZEROS,
                        gamma_initializer: Any = ONES, moving_mean_initializer: Any = ZEROS,
                        moving_variance_initializer: Any = ONES, beta_regularizer: Any = None,
                        gamma_regularizer: Any = None, beta_constraint: Any = None, gamma_constraint: Any = None,
                        training: Any = False, trainable: bool = True, name: Any = None, reuse: bool | None = None,
                        renorm: bool = False, renorm_clipping: Any = None, renorm_momentum: float = 0.99,
                        fused: bool | None = None, virtual_batch_size: int | None = None,
                        adjustment: Any = None) -> Tensor:
    """The output of a new BatchNormalization layer. training: a Python bool or a bool[] tensor."""
    layer = BatchNormalization(axis, momentum, epsilon, center, scale, beta_initializer, gamma_initializer,
                               moving_mean_initializer, moving_variance_initializer, beta_regularizer,
                               gamma_regularizer, beta_constraint, gamma_constraint, renorm, renorm_clipping,
                               renorm_momentum, fused, trainable, virtual_batch_size, adjustment, name, _scope=name,
                               _reuse=reuse)
    return layer(inputs, training=training)


batch_norm = batch_normalization
