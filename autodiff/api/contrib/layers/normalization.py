"""Normalizing layers: by batch, layer, instance and length."""
from __future__ import annotations

from typing import Any

from ....core.collections import GraphKeys
from ....core.convert import convert_to_tensor
from ....core.dtypes import float16, float32
from ....core.errors import ArgumentError, ShapeError, UnsupportedError
from ....core.graph import Tensor, get_default_graph
from ....core.op import build
from ....ops.common.op_counts import counted_as
from ...layers.core import chosen, truth
from ...layers.normalization import BatchNormalization, moved
from ...math.reductions import reduce_sum
from ...nn.normalization import batch_normalization, fused_batch_norm, moments, weighted_moments
from ...variables.named_initializers import ONES, ZEROS
from ...variables.variable_scope import variable_scope
from ..arg_scope import add_arg_scope
from ..framework import model_variable
from .utils import channels_first, collect, collections_for, finished, renaming_getter

__all__ = ["batch_norm", "instance_norm", "layer_norm", "unit_norm"]

_PARAMETERS = ("beta", "gamma", "moving_mean", "moving_variance")
_STARTS = {"beta": ZEROS, "gamma": ONES, "moving_mean": ZEROS, "moving_variance": ONES}


@add_arg_scope
def batch_norm(inputs: Any, decay: float = 0.999, center: bool = True, scale: bool = False, epsilon: float = 0.001,
               activation_fn: Any = None, param_initializers: Any = None, param_regularizers: Any = None,
               updates_collections: Any = GraphKeys.UPDATE_OPS, is_training: Any = True, reuse: Any = None,
               variables_collections: Any = None, outputs_collections: Any = None, trainable: bool = True,
               batch_weights: Any = None, fused: bool | None = None, data_format: str = "NHWC",
               zero_debias_moving_mean: bool = False, scope: Any = None, renorm: bool = False,
               renorm_clipping: Any = None, renorm_decay: float = 0.99, adjustment: Any = None) -> Tensor:
    """(inputs - mean) / sqrt(variance + epsilon) * gamma + beta, for each channel.

    In training by the batch's moments, and the moving ones move toward them by 1 - decay: by operations in
    updates_collections, or at once with the output if that is None. batch_weights: float[n], how much each row counts.
    param_initializers, param_regularizers: dicts by 'beta', 'gamma', 'moving_mean', 'moving_variance'. fused: by
    default True where it can be; then the variance moves toward the unbiased one.
    Source: Ioffe and Szegedy (2015). renorm, adjustment and zero_debias_moving_mean are not supported.
    """
    for what, given in (("renorm", renorm), ("adjustment", adjustment),
                        ("zero_debias_moving_mean", zero_debias_moving_mean)):
        if given:
            raise UnsupportedError(f"batch_norm with {what} is not supported", hint=f"leave {what} out")
    layout = channels_first(data_format)
    inputs = convert_to_tensor(inputs)
    rank = None if inputs.dims is None else len(inputs.dims)
    if rank is None:
        raise ShapeError(expected="inputs of known rank to normalize", found=inputs.describe())
    fused = fused is not False and batch_weights is None and rank in (2, 4)
    by_layer = batch_weights is None and updates_collections == GraphKeys.UPDATE_OPS and not (fused and rank == 2)
    getter = renaming_getter() if by_layer else None
    starts, regularizers = {**_STARTS, **(param_initializers or {})}, param_regularizers or {}
    with variable_scope(scope, "BatchNorm", [inputs], reuse=reuse, custom_getter=getter) as sc:
        if by_layer:
            layer = BatchNormalization(
                1 if layout == "channels_first" else -1, decay, epsilon, center, scale, starts["beta"], starts["gamma"],
                starts["moving_mean"], starts["moving_variance"], regularizers.get("beta"), regularizers.get("gamma"),
                fused=fused, trainable=trainable, name=sc.name, _scope=sc, _reuse=reuse)
            outputs = layer(inputs, training=is_training)
            for name in _PARAMETERS:
                collect(getattr(layer, name), variables_collections, name)
        else:
            norm = _Norm(inputs, layout, fused, epsilon)
            norm.make({"beta": center, "gamma": scale}, starts, regularizers, variables_collections, trainable)
            norm.decay, norm.training, norm.updates = decay, is_training, updates_collections
            outputs = norm.fused(inputs) if fused else norm.by_moments(inputs, batch_weights)
            outputs.set_shape(inputs.dims)
        return finished(outputs, activation_fn, outputs_collections, sc.name)


class _Norm:
    """The parameters of one batch_norm that is no layer, and what they are used for."""

    decay, training, updates = 0.999, True, None

    def __init__(self, inputs: Tensor, layout: str, fused: bool, epsilon: float) -> None:
        dims = inputs.dims or ()
        self.axis, self.epsilon, self.rank = 1 if layout == "channels_first" else len(dims) - 1, epsilon, len(dims)
        self.channels = _known(inputs, self.axis)
        own = inputs.dtype.base_dtype
        self.dtype = float32 if fused and own is float16 else own
        self.values: dict[str, Any] = {}

    def make(self, wanted: dict[str, bool], starts: Any, regularizers: Any, collections: Any, trainable: bool) -> None:
        for name in _PARAMETERS:
            if not wanted.get(name, True):
                self.values[name] = None
                continue
            moving = name.startswith("moving")
            self.values[name] = model_variable(
                name, [self.channels], self.dtype, starts[name], None if moving else regularizers.get(name),
                trainable and not moving, collections_for(collections, name))

    def fused(self, inputs: Tensor) -> Tensor:
        """By one operation, of images or of rows as images of one pixel."""
        x = build.Reshape(inputs, [-1, 1, 1, self.channels]) if self.rank == 2 else inputs
        layout = "NCHW" if self.rank == 4 and self.axis == 1 else "NHWC"
        beta = self.values["beta"] if self.values["beta"] is not None else self._constant(0.0)
        gamma = self.values["gamma"] if self.values["gamma"] is not None else self._constant(1.0)
        mean, variance = self.values["moving_mean"], self.values["moving_variance"]
        outputs, *batch = chosen(
            self.training, lambda: fused_batch_norm(x, gamma, beta, epsilon=self.epsilon, data_format=layout),
            lambda: fused_batch_norm(x, gamma, beta, mean, variance, self.epsilon, layout, is_training=False))
        if truth(self.training) is not False:
            outputs = self._moving(batch, [outputs])[0]
        return build.Reshape(outputs, build.Shape(inputs)) if self.rank == 2 else outputs

    def _constant(self, value: float) -> Tensor:
        with counted_as(1):
            return build.Fill([self.channels], convert_to_tensor(value, self.dtype))

    def by_moments(self, inputs: Tensor, weights: Any) -> Tensor:
        others = [axis for axis in range(self.rank) if axis != self.axis]
        mean, variance = (self.values[name].as_tensor() for name in ("moving_mean", "moving_variance"))
        if truth(self.training) is not False:
            if weights is None:
                batch = moments(inputs, others)
            else:
                rows = build.Reshape(convert_to_tensor(weights), [-1, *[1] * (self.rank - 1)])
                batch = weighted_moments(inputs, others, rows)
            now = self._moving(batch, list(batch))
            mean, variance = (chosen(self.training, lambda new=new: new, lambda old=old: build.Identity(old))
                              for new, old in zip(now, (mean, variance)))
        return batch_normalization(inputs, self._spread(mean), self._spread(variance),
                                   self._spread(self.values["beta"]), self._spread(self.values["gamma"]), self.epsilon)

    def _spread(self, value: Any) -> Any:
        if value is None or self.axis == self.rank - 1:
            return value
        return build.Reshape(value, [1, self.channels, *[1] * (self.rank - 2)])

    def _moving(self, batch: Any, results: list[Tensor]) -> list[Tensor]:
        """Move the moving moments: along with `results`, or by operations put into collections."""
        variables = [self.values["moving_mean"], self.values["moving_variance"]]

        def move() -> list[Tensor]:
            return [moved(variable, value, self.decay) for variable, value in zip(variables, batch)]

        if self.updates is None:
            def with_moves() -> list[Tensor]:
                with get_default_graph().control_dependencies(move()):
                    return [build.Identity(result) for result in results]
            found = chosen(self.training, with_moves, lambda: [build.Identity(result) for result in results])
            return list(found) if isinstance(found, (list, tuple)) else [found]
        for update in chosen(self.training, move, lambda: [build.Identity(v.as_tensor()) for v in variables]):
            get_default_graph().add_to_collections(self.updates, update)
        return results


def _known(inputs: Tensor, axis: int) -> int:
    size = inputs.dims[axis] if inputs.dims else None
    if size is None:
        raise ShapeError(expected="inputs with a known number of channels to normalize", found=inputs.describe())
    return size


def _affine(shape: Any, dtype: Any, center: bool, scale: bool, starts: Any, collections: Any,
            trainable: bool) -> tuple[Any, Any]:
    """beta and gamma, or None."""
    made = [model_variable(name, shape, dtype, starts.get(name, _STARTS[name]), None, trainable,
                           collections_for(collections, name)) if wanted else None
            for name, wanted in (("beta", center), ("gamma", scale))]
    return made[0], made[1]


@add_arg_scope
def layer_norm(inputs: Any, center: bool = True, scale: bool = True, activation_fn: Any = None, reuse: Any = None,
               variables_collections: Any = None, outputs_collections: Any = None, trainable: bool = True,
               begin_norm_axis: int = 1, begin_params_axis: int = -1, scope: Any = None) -> Tensor:
    """Each row normalized by its own moments over the axes from begin_norm_axis on.

    gamma and beta have the shape of the axes from begin_params_axis on. Source: Ba, Kiros and Hinton (2016).
    """
    with variable_scope(scope, "LayerNorm", [inputs], reuse=reuse) as sc:
        inputs = convert_to_tensor(inputs)
        if inputs.dims is None:
            raise ShapeError(expected="inputs of known rank to normalize", found=inputs.describe())
        rank = len(inputs.dims)
        first = begin_norm_axis + rank if begin_norm_axis < 0 else begin_norm_axis
        if begin_params_axis >= rank or first >= rank:
            raise ArgumentError(expected=f"begin_params_axis and begin_norm_axis below {rank}, the rank of the inputs",
                                found=f"{begin_params_axis} and {begin_norm_axis}")
        shape = inputs.dims[begin_params_axis:]
        if None in shape:
            raise ShapeError(expected=f"known sizes from axis {begin_params_axis} on", found=inputs.describe())
        dtype = inputs.dtype.base_dtype
        beta, gamma = _affine(shape, dtype, center, scale, {}, variables_collections, trainable)
        mean, variance = moments(inputs, list(range(first, rank)), keep_dims=True)
        outputs = batch_normalization(inputs, mean, variance, beta, gamma, 1e-3 if dtype is float16 else 1e-12)
        outputs.set_shape(inputs.dims)
        return finished(outputs, activation_fn, outputs_collections, sc.name)


@add_arg_scope
def instance_norm(inputs: Any, center: bool = True, scale: bool = True, epsilon: float = 1e-6,
                  activation_fn: Any = None, param_initializers: Any = None, reuse: Any = None,
                  variables_collections: Any = None, outputs_collections: Any = None, trainable: bool = True,
                  data_format: str = "NHWC", scope: Any = None) -> Tensor:
    """Each channel of each image normalized by its own moments. Source: Ulyanov, Vedaldi and Lempitsky (2016)."""
    layout = channels_first(data_format)
    inputs = convert_to_tensor(inputs)
    if inputs.dims is None:
        raise ShapeError(expected="inputs of known rank to normalize", found=inputs.describe())
    with variable_scope(scope, "InstanceNorm", [inputs], reuse=reuse) as sc:
        rank = len(inputs.dims)
        axis = 1 if layout == "channels_first" else rank - 1
        channels = _known(inputs, axis)
        beta, gamma = _affine([channels], inputs.dtype.base_dtype, center, scale, param_initializers or {},
                         variables_collections, trainable)
        if layout == "channels_first":
            beta, gamma = (None if v is None else build.Reshape(v, [1, channels, *[1] * (rank - 2)])
                           for v in (beta, gamma))
        mean, variance = moments(inputs, [a for a in range(1, rank) if a != axis], keep_dims=True)
        outputs = batch_normalization(inputs, mean, variance, beta, gamma, epsilon, name="instancenorm")
        return finished(outputs, activation_fn, outputs_collections, sc.name)


@add_arg_scope
def unit_norm(inputs: Any, dim: int, epsilon: float = 1e-7, scope: Any = None) -> Tensor:
    """Inputs divided by their lengths along one axis: x / sqrt(epsilon + sum of squares)."""
    with variable_scope(scope, "UnitNorm", [inputs]):
        inputs = convert_to_tensor(inputs)
        if inputs.dims is None or not 0 <= dim < len(inputs.dims):
            raise ArgumentError(expected="inputs of known rank and an axis >= 0 of them",
                                found=f"{inputs.describe()} and {dim}")
        lengths = build.Sqrt(epsilon + reduce_sum(build.Square(inputs), dim, keepdims=True))
        return inputs / lengths
