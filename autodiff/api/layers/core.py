"""Dense, Dropout and Flatten, as classes and as the functions tf.layers has for them."""
from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ...core.constant_value import static_value
from ...core.errors import ArgumentError, KindError, ShapeError
from ...core.graph import Tensor, get_default_graph
from ...core.op import build
from ...core.shapes import TensorShape, as_dims, num_elements
from ...ops.common.op_counts import counted_as, operations_so_far
from ..arrays.shaping import transpose
from ..control.control_flow import cond
from ..linalg.products import tensordot
from ..nn.activations import bias_add
from ..nn.named_activations import named_activation
from ..nn.normalization import dropout as dropped_out
from ..variables.layer_base import InputSpec, Layer, callable_or_none
from ..variables.named_initializers import ZEROS

_BEFORE_DRAW, _OF_DROPOUT, _OF_FLATTEN = 9, 24, 8  # operations in TensorFlow


class Dense(Layer):
    """activation(inputs · kernel + bias) over the last axis.

    inputs: float[..., k] -> float[..., units]. kernel: float[k, units], bias: float[units].
    """

    def __init__(self, units: int, activation: Any = None, use_bias: bool = True, kernel_initializer: Any = None,
                 bias_initializer: Any = ZEROS, kernel_regularizer: Any = None, bias_regularizer: Any = None,
                 activity_regularizer: Any = None, kernel_constraint: Any = None, bias_constraint: Any = None,
                 trainable: bool = True, name: Any = None, **options: Any) -> None:
        super().__init__(trainable, name, activity_regularizer=activity_regularizer, **options)
        self.units, self.use_bias, self.activation = int(units), use_bias, named_activation(activation)
        self.kernel_initializer, self.bias_initializer = kernel_initializer, bias_initializer
        self.kernel_regularizer = callable_or_none(kernel_regularizer, "kernel_regularizer")
        self.bias_regularizer = callable_or_none(bias_regularizer, "bias_regularizer")
        self.kernel_constraint, self.bias_constraint = kernel_constraint, bias_constraint
        self.input_spec = InputSpec(min_ndim=2)
        self.kernel: Any = None
        self.bias: Any = None

    def build(self, input_shape: Any) -> None:
        dims = as_dims(input_shape)
        if not dims or dims[-1] is None:
            raise ShapeError("The last dimension of the inputs to `Dense` should be defined. Found `None`.",
                             found=f"shape {input_shape}")
        self.input_spec = InputSpec(min_ndim=2, axes={-1: dims[-1]})
        self.kernel = self.add_weight("kernel", [dims[-1], self.units], initializer=self.kernel_initializer,
                                      regularizer=self.kernel_regularizer, constraint=self.kernel_constraint)
        if self.use_bias:
            self.bias = self.add_weight("bias", [self.units], initializer=self.bias_initializer,
                                        regularizer=self.bias_regularizer, constraint=self.bias_constraint)
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        rank = len(inputs.dims)  # type: ignore[arg-type]
        if rank > 2:
            outputs = tensordot(inputs, self.kernel, [[rank - 1], [0]])
            outputs.set_shape((*inputs.dims[:-1], self.units))  # type: ignore[index]
        else:
            outputs = build.MatMul(inputs, self.kernel)
        if self.use_bias:
            outputs = bias_add(outputs, self.bias)
        return outputs if self.activation is None else self.activation(outputs)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        dims = as_dims(input_shape)
        if dims is None or len(dims) < 2 or dims[-1] is None:
            raise ShapeError(expected="rank >= 2 and a known last size", found=input_shape)
        return TensorShape((*dims[:-1], self.units))


class Dropout(Layer):
    """Where `training` holds, elements become 0 with probability `rate` and the others grow by 1 / (1 - rate)."""

    def __init__(self, rate: Any = 0.5, noise_shape: Any = None, seed: int | None = None, name: Any = None,
                 **options: Any) -> None:
        super().__init__(name=name, **options)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed

    def call(self, inputs: Tensor, training: Any = False) -> Tensor:
        is_known, seed, graph = truth(training) is not None, self.seed, get_default_graph()
        if not is_known and seed is None and graph.seed is not None:
            seed = operations_so_far(graph) + _BEFORE_DRAW

        def dropped() -> Tensor:
            return dropped_out(inputs, noise_shape=self.noise_shape, seed=seed, rate=self.rate)
        with counted_as(None if is_known else _OF_DROPOUT):
            return chosen(training, dropped, lambda: build.Identity(inputs))

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        return TensorShape(input_shape)


def as_function(name: str, layer: type[Layer], *, of: type[Layer] | None = None, without: str = "",
                reuses: bool = True) -> Callable[..., Any]:
    """A layer as a function of inputs, which makes one of its other arguments and calls it once.

    of: the class whose arguments it takes, if they are not its own; without: one that it does not take. reuses: whether
    the last argument is `reuse`, which shares the variables of that name.
    """
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    own = [each for each in inspect.signature((of or layer).__init__).parameters.values()
           if each.kind is kind and each.name not in ("self", without)]
    signature = inspect.Signature([inspect.Parameter("inputs", kind), *own,
                                   *[inspect.Parameter("reuse", kind, default=None)] * reuses])

    def called(*args: Any, **options: Any) -> Tensor:
        try:
            given = signature.bind(*args, **options).arguments
        except TypeError as error:
            raise KindError(f"{name}() {error}") from None
        inputs, reuse = given.pop("inputs"), given.pop("reuse", None)
        return layer(**given, **({"_scope": given.get("name"), "_reuse": reuse} if reuses else {}))(inputs)

    called.__name__ = called.__qualname__ = name
    called.__doc__ = f"The output of a new {layer.__name__} layer. {layer.__doc__}"
    called.__module__, called.__signature__ = layer.__module__, signature  # type: ignore[attr-defined]
    return called


def truth(condition: Any) -> bool | None:
    """The constant value of a condition: True, False, or None for a tensor that must be run."""
    if isinstance(condition, Tensor) or hasattr(condition, "as_tensor"):
        value = static_value(condition)
        return None if value is None else bool(value)
    return bool(condition)


def chosen(condition: Any, if_true: Any, if_false: Any) -> Any:
    """The result of the function that the condition selects: in Python where it is known, else by cond."""
    known = truth(condition)
    if known is not None:
        return if_true() if known else if_false()
    return cond(condition, if_true, if_false)


class Flatten(Layer):
    """All axes after the first in one. inputs: [n, ...] -> [n, k]; a vector becomes a column."""

    def __init__(self, data_format: str | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.data_format = checked_format(data_format)
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs: Tensor) -> Tensor:
        rank = len(inputs.dims)  # type: ignore[arg-type]
        if self.data_format == "channels_first" and rank > 1:
            inputs = transpose(inputs, [0, *range(2, rank), 1])
        size = num_elements(inputs.dims[1:])  # type: ignore[index]
        batch = inputs.dims[0]  # type: ignore[index]
        with counted_as(_OF_FLATTEN if batch is None else None):
            if size is not None:
                return build.Reshape(inputs, [-1 if batch is None or not size else batch, size] if size else [0, 0])
            return build.Reshape(inputs, [batch if batch is not None else build.Shape(inputs)[0], -1])

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        dims = as_dims(input_shape) or ()
        return TensorShape((*dims[:1], num_elements(dims[1:])))


def checked_format(data_format: str | None) -> str:
    """'channels_last' or 'channels_first'. Raises ArgumentError (ValueError) for anything else."""
    found = (data_format or "channels_last").lower()
    if found not in ("channels_last", "channels_first"):
        raise ArgumentError(expected="a data_format 'channels_last' or 'channels_first'", found=repr(data_format))
    return found


dense = as_function("dense", Dense)


def dropout(inputs: Any, rate: Any = 0.5, noise_shape: Any = None, seed: int | None = None, training: Any = False,
            name: Any = None) -> Tensor:
    """The output of a Dropout layer. training: a Python bool or a bool[] tensor."""
    return Dropout(rate, noise_shape, seed, name)(inputs, training=training)


def flatten(inputs: Any, name: Any = None, data_format: str = "channels_last") -> Tensor:
    """All axes after the first in one. inputs: [n, ...] -> [n, k]."""
    return Flatten(data_format, name=name)(inputs)
