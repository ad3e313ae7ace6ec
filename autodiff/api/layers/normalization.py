"""Batch normalization as a layer, with moving averages for inference."""
from __future__ import annotations

from typing import Any

from ...core.convert import convert_to_tensor
from ...core.dtypes import float16, float32
from ...core.errors import ArgumentError, KindError, ShapeError
from ...core.graph import Tensor, get_default_graph
from ...core.op import build
from ...core.shapes import TensorShape, as_dims
from ...ops.common.op_counts import count_more, counted_as
from ..math.casts import in_dtype
from ..nn.normalization import batch_normalization as normalized
from ..nn.normalization import fused_batch_norm, moments
from ..variables.assignment import assign_sub
from ..variables.layer_base import InputSpec, Layer
from ..variables.named_initializers import ONES, ZEROS, named_initializer
from ..variables.variable import Variable
from ..variables.variable_kinds import VariableSynchronization
from .core import chosen, truth


class BatchNormalization(Layer):
    """(inputs - mean) / sqrt(variance + epsilon) * gamma + beta, for each index of `axis`.

    In training mean and variance are those of the batch, and the updates (in UPDATE_OPS, to be run along with the
    training) move moving_mean and moving_variance toward them by 1 - momentum; else they are the moving ones.
    fused: one operation for images, by default where it can be; it moves the variance toward the unbiased one.
    renorm: corrected toward moving values, of which renorm_clipping bounds rmin, rmax and dmax. virtual_batch_size: the
    batch is normalized in parts of so many. adjustment: shape -> factor and offset of what is normalized in training.
    Source: Ioffe and Szegedy (2015); Ioffe (2017) for renorm.
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
        self.renorm, self.virtual_batch_size, self.adjustment = renorm, virtual_batch_size, adjustment
        self.renorm_clipping, self.renorm_momentum = renorm_clipping or {}, renorm_momentum
        special = {"renorm": renorm, "virtual_batch_size": virtual_batch_size is not None,
                   "adjustment": adjustment is not None}
        for what, given in special.items():
            if given and fused:
                raise ArgumentError(f"Passing both `fused=True` and `{what}` is not supported")
        if virtual_batch_size is not None and (virtual_batch_size <= 0 or adjustment is not None):
            raise ArgumentError("virtual_batch_size must be a positive integer that divides the true batch size of the "
                                "input Tensor" if adjustment is None else
                                "When using virtual_batch_size, adjustment cannot be specified")
        unknown = set(self.renorm_clipping) - {"rmin", "rmax", "dmax"}
        if unknown:
            raise ArgumentError(f"renorm_clipping {renorm_clipping} contains keys not in ['rmax', 'rmin', 'dmax']")
        fused = False if any(special.values()) else fused
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
        shape = [sizes.get(i, 1) for i in range(len(dims))]
        if self.virtual_batch_size is not None:
            if 0 in self.axis:
                raise ArgumentError("When using virtual_batch_size, the batch dimension must be 0 and thus axis cannot "
                                    "include 0")
            self.axis, shape = [a + 1 for a in self.axis], [shape[0], 1, *shape[1:]]
            self._make(shape)
        else:
            self._make(shape if len(sizes) > 1 else list(sizes.values()))

    def _make(self, shape: Any) -> None:
        dtype = float32 if self.dtype is float16 else self.dtype
        if self.scale:
            self.gamma = self.add_weight("gamma", shape, dtype, self.gamma_initializer, self.gamma_regularizer,
                                         constraint=self.gamma_constraint)
        if self.fused:
            count_more((not self.scale) + (not self.center))  # constants in their place
        if self.center:
            self.beta = self.add_weight("beta", shape, dtype, self.beta_initializer, self.beta_regularizer,
                                        constraint=self.beta_constraint)
        def kept(name: str, initializer: Any) -> Variable:
            return self.add_weight(name, shape, dtype, initializer, trainable=False,
                                   synchronization=VariableSynchronization.ON_READ)

        self.moving_mean = kept("moving_mean", self.moving_mean_initializer)
        self.moving_variance = kept("moving_variance", self.moving_variance_initializer)
        if self.renorm:
            begin = named_initializer(self.moving_variance_initializer)
            self.moving_stddev = kept("moving_stddev", lambda *args, **options: build.Sqrt(begin(*args, **options)))
            self.renorm_mean = kept("renorm_mean", self.moving_mean_initializer)
            self.renorm_stddev = kept("renorm_stddev", lambda *args, **options: build.Sqrt(begin(*args, **options)))
        self.built = True

    def call(self, inputs: Tensor, training: Any = False) -> Tensor:
        if self.virtual_batch_size is None:
            with counted_as(None if self.renorm else self._operations(truth(training))):
                return self._fused(inputs, training) if self.fused else self._by_moments(inputs, training)
        dims = [-1 if dim is None else dim for dim in inputs.dims[1:]]  # type: ignore[index]
        parts = build.Reshape(inputs, [self.virtual_batch_size, -1, *dims])
        return build.Reshape(self._by_moments(parts, training), [-1, *dims])

    def _operations(self, training: Any) -> int:
        """How many operations TensorFlow makes of a call; a resource is read once more at each of some places."""
        lacks = (not self.scale) + (not self.center)
        read = (10 - (lacks * 2 if self.fused else lacks)) * self._named_once
        counts = {None: (56, 36), True: (24, 14), False: (8, 2)}[training]
        return counts[bool(self.fused)] - (not self.scale and not self.fused) + read * (training is None)

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
                             lambda: moved(self.moving_variance, variance, momentum)], inputs)
        return output

    def _by_moments(self, inputs: Tensor, training: Any) -> Tensor:
        rank = len(inputs.dims)  # type: ignore[arg-type]
        virtual = self.virtual_batch_size is not None
        others = [i for i in range(rank) if i not in self.axis and not (virtual and i == 1)]

        def spread(v: Any) -> Any:
            if v is None:
                return None
            v = in_dtype(convert_to_tensor(v), inputs.dtype)
            if len(v.dims) == rank or others == list(range(rank - 1)):
                return v
            return build.Reshape(v, [inputs.dims[i] if i in self.axis else 1 for i in range(rank)])  # type: ignore[index]

        mean, variance = self.moving_mean.as_tensor(), self.moving_variance.as_tensor()
        scale, offset = spread(self.gamma), spread(self.beta)
        if truth(training) is not False:
            if self.adjustment is not None:
                scale, offset = _then(*_in_training(training, *self.adjustment(build.Shape(inputs))), scale, offset)
            batch = moments(in_dtype(inputs, mean.dtype), others, keep_dims=virtual or len(self.axis) > 1)
            mean, variance = (chosen(training, lambda now=now: now, lambda old=old: build.Identity(old))
                              for now, old in zip(batch, (mean, variance)))
            new = [build.Mean(each, 1, keep_dims=True) for each in (mean, variance)] if virtual else [mean, variance]
            if self.renorm:
                r, d, *new = self._corrections(new[0], new[1], training)
                scale, offset = _then(spread(r), spread(d), scale, offset)
            self.add_update([self._update(self.moving_mean, new[0], training),
                             self._update(self.moving_variance, new[1], training)], inputs)
        outputs = normalized(inputs, spread(mean), spread(variance), offset, scale, self.epsilon)
        outputs.set_shape(inputs.dims)
        return outputs

    def _update(self, variable: Variable, value: Tensor, training: Any) -> Any:
        def move() -> Any:
            if not self.renorm or variable is not self.moving_variance:
                return moved(variable, value, self.momentum)
            deviation = moved(self.moving_stddev, build.Sqrt(value + self.epsilon), self.momentum)
            return variable.assign(build.Relu(deviation * deviation - self.epsilon))

        return lambda: chosen(training, move, lambda: variable.as_tensor())

    def _corrections(self, mean: Tensor, variance: Tensor, training: Any) -> tuple[Any, ...]:
        """(r, d) by which what is normalized is corrected toward the moving values, which move; mean and variance."""
        deviation, least = build.Sqrt(variance + self.epsilon), self.epsilon ** 0.5
        known = build.Maximum(self.renorm_stddev.as_tensor(), least)
        r, d = deviation / known, (mean - self.renorm_mean.as_tensor()) / known
        graph, bounds = get_default_graph(), self.renorm_clipping
        with graph.control_dependencies([r, d]):
            mean, deviation = build.Identity(mean), build.Identity(deviation)
        for name, bounded in (("rmin", build.Maximum), ("rmax", build.Minimum)):
            r = r if bounds.get(name) is None else bounded(r, bounds[name])
        if bounds.get("dmax") is not None:
            d = build.Minimum(build.Maximum(d, -bounds["dmax"]), bounds["dmax"])
        r, d = _in_training(training, r, d)
        moves = [chosen(training, lambda v=v, value=value: moved(v, value, self.renorm_momentum),
                        lambda v=v: build.Identity(v.as_tensor()))
                 for v, value in ((self.renorm_mean, mean), (self.renorm_stddev, deviation))]
        with graph.control_dependencies(moves):
            return build.StopGradient(r), build.StopGradient(d), build.Identity(mean), build.Identity(variance)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        return TensorShape(input_shape)


def _in_training(training: Any, scale: Any, offset: Any) -> tuple[Any, Any]:
    """A factor and an offset in training, else 1 and 0."""
    return (chosen(training, lambda: scale, lambda: build.OnesLike(scale)),
            chosen(training, lambda: offset, lambda: build.ZerosLike(offset)))


def _then(scale: Any, offset: Any, then_scale: Any, then_offset: Any) -> tuple[Any, Any]:
    """Two linear functions, one after the other, as one. None: a factor of 1, an offset of 0."""
    if then_scale is not None:
        scale, offset = scale * then_scale, offset * then_scale
    return scale, offset if then_offset is None else offset + then_offset


def moved(variable: Variable, value: Any, momentum: Any) -> Any:
    """The operation that moves a variable by 1 - momentum of the way toward a value."""
    with get_default_graph().name_scope("AssignMovingAvg") as scope:
        dtype = variable.dtype.base_dtype
        decay = convert_to_tensor(1.0 - momentum, dtype, name="decay")
        return assign_sub(variable, (variable - in_dtype(value, dtype)) * decay, name=scope)


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
