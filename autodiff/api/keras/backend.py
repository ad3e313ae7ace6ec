"""tf.keras.backend: the session and the phase that Keras keeps, and functions of tf by Keras' names."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...core.errors import UnsupportedError
from ...core.op import build
from ...gradients import backprop
from .. import math, nn, random
from ..arrays import creation, gathering, rearrange, shaping
from ..arrays.creation import placeholder as _placeholder
from ..common.unsupported import refusing
from ..control import map_and_scan
from ..control.control_flow import cond
from ..debugging import Print
from ..linalg.products import matmul, tensordot
from ..variables.variable import Variable
from . import activations, losses
from .losses import EPSILON
from .phases import (  # noqa: F401
    _Eager,
    _kept,
    clear_session,
    get_session,
    get_value,
    learning_phase,
    set_learning_phase,
    set_session,
    set_value,
    track_variable,
)


def placeholder(shape: Any = None, ndim: int | None = None, dtype: Any = None, sparse: bool = False,
                name: str | None = None) -> Any:
    """A placeholder of a shape, or of so many unknown sizes."""
    return _placeholder(dtype or floatx(), [None] * ndim if shape is None and ndim else shape, name=name)


def floatx() -> str:
    """The dtype of weights."""
    return "float32"


def epsilon() -> float:
    """What keeps a division from zero."""
    return EPSILON


def int_shape(x: Any) -> Any:
    """The sizes that are known, None for others."""
    return None if x.dims is None else tuple(x.dims)


def _reduction(reduce: Any) -> Any:
    def reduced(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return reduce(x, axis=axis, keepdims=keepdims)
    reduced.__doc__ = reduce.__doc__
    return reduced


mean, sum, max, min, prod, all, any = map(_reduction, (
    math.reduce_mean, math.reduce_sum, math.reduce_max, math.reduce_min, math.reduce_prod, math.reduce_all,
    math.reduce_any))
abs, argmax, cast, clip, equal, exp, greater, less = (
    math.abs, math.argmax, math.cast, math.clip_by_value, math.equal, math.exp, math.greater, math.less)
log, maximum, minimum, pow, round, sigmoid, sqrt, square, tanh = (
    math.log, math.maximum, math.minimum, math.pow, math.round, math.sigmoid, math.sqrt, math.square, math.tanh)
relu, softmax, softplus, softsign, elu, bias_add, in_top_k, l2_normalize = (
    nn.relu, nn.softmax, nn.softplus, nn.softsign, nn.elu, nn.bias_add, nn.in_top_k, nn.l2_normalize)
argmin, cos, sin, sign, greater_equal, less_equal, not_equal = (
    math.argmin, math.cos, math.sin, math.sign, math.greater_equal, math.less_equal, math.not_equal)
random_normal, random_uniform, truncated_normal = random.random_normal, random.random_uniform, random.truncated_normal
one_hot, stop_gradient, ones_like, zeros_like = (
    creation.one_hot, creation.stop_gradient, creation.ones_like, creation.zeros_like)
concatenate, expand_dims, ndim, reshape, shape, squeeze, stack = (
    shaping.concat, shaping.expand_dims, lambda x: len(x.dims), shaping.reshape, shaping.shape, shaping.squeeze,
    shaping.stack)
reverse, tile, gather = rearrange.reverse, rearrange.tile, gathering.gather


def dot(x: Any, y: Any) -> Any:
    """Σ over the last axis of x and the one before the last of y."""
    return matmul(x, y) if ndim(x) == ndim(y) == 2 else tensordot(x, y, [[-1], [-2 if ndim(y) > 1 else 0]])


def binary_crossentropy(target: Any, output: Any, from_logits: bool = False) -> Any:
    """The cross entropy of each probability, in nats."""
    return losses.binary_crossentropy(expand_dims(target, -1), expand_dims(output, -1), from_logits)


def function(inputs: Any, outputs: Any, updates: Any = None, **_: Any) -> Any:
    """What gives the values of outputs for a list of values of inputs, and makes the updates."""
    made = [each if hasattr(each, "op") else each[0].assign(each[1]) for each in updates or ()]
    return lambda values: get_session().run([outputs, made], dict(zip(inputs, values)))[0]


gradients, update, categorical_crossentropy, sparse_categorical_crossentropy = (
    backprop.gradients, Variable.assign, losses.categorical_crossentropy, losses.sparse_categorical_crossentropy)

def zeros(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A variable of zeros."""
    return variable(np.zeros(shape), dtype, name)


def ones(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A variable of ones."""
    return variable(np.ones(shape), dtype, name)


def variable(value: Any, dtype: Any = None, name: str | None = None, constraint: Any = None) -> Variable:
    """A variable that begins with a value."""
    return Variable(value, dtype=dtype or floatx(), name=name, constraint=constraint, use_resource=True)


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str | None = None) -> Any:
    """A constant, of floats unless a type is told."""
    return creation.constant(value, dtype or floatx(), shape, name or "Const")


def batch_dot(x: Any, y: Any, axes: Any = None) -> Any:
    """The products of two batches, each example with its own, summed over an axis of each."""
    one, other = (axes, axes) if isinstance(axes, int) else axes or (ndim(x) - 1, ndim(y) - 2 or 1)
    given = ndim(x), ndim(y)
    x = expand_dims(x, 1) if given[0] == 2 else x
    y = expand_dims(y, -1) if given[1] == 2 else y
    made = matmul(x, y, transpose_a=given[0] > 2 and one == given[0] - 2, transpose_b=given[1] > 2 and
                  other == given[1] - 1)
    made = squeeze(made, 1) if given[0] == 2 else made
    made = squeeze(made, -1) if given[1] == 2 else made
    return expand_dims(made, 1) if ndim(made) == 1 else made


def batch_flatten(x: Any) -> Any:
    """Each example as a vector."""
    sizes = x.dims[1:]
    return reshape(x, [-1, int(np.prod(sizes)) if None not in sizes else math.reduce_prod(shape(x)[1:])])


def flatten(x: Any) -> Any:
    """All numbers in a row."""
    return reshape(x, [-1])


def permute_dimensions(x: Any, pattern: Any) -> Any:
    """The axes in another order."""
    return shaping.transpose(x, pattern)


def repeat_elements(x: Any, rep: int, axis: int) -> Any:
    """Each slice along an axis so many times."""
    return rearrange.repeat(x, rep, axis=axis)


def repeat(x: Any, n: int) -> Any:
    """Each vector n times. float[b, k] -> float[b, n, k]."""
    return tile(expand_dims(x, 1), [1, n, 1])


def var(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The mean of (x - mean)²."""
    return math.reduce_variance(x, axis, keepdims)


def std(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The root of `var`."""
    return math.reduce_std(x, axis, keepdims)


def dropout(x: Any, level: float, noise_shape: Any = None, seed: Any = None) -> Any:
    """x without a share of it, whatever the phase."""
    return nn.dropout(x, rate=level, noise_shape=noise_shape, seed=seed)


def in_train_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """x in training, otherwise alt; both may be functions that make it."""
    training = learning_phase() if training is None else training
    one, other = (each if callable(each) else lambda each=each: each for each in (x, alt))
    return (one if training else other)() if isinstance(training, (bool, int)) else switch(training, one, other)


def in_test_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """alt in training, otherwise x."""
    return in_train_phase(alt, x, training)


def switch(condition: Any, then_expression: Any, else_expression: Any) -> Any:
    """One of two tensors, or of functions that make them; element by element for a condition of some rank."""
    one, other = ((lambda each=each: each() if callable(each) else build.Identity(each))
                  for each in (then_expression, else_expression))
    if not condition.dims:
        return cond(math.cast(condition, "bool"), one, other)
    chosen = math.cast(reshape(condition, [*shape_of(condition), *[1] * (ndim(one()) - ndim(condition))]), "bool")
    return build.SelectV2(chosen, one(), other())


def shape_of(x: Any) -> list[Any]:
    """The sizes, as numbers where they are known."""
    return [shape(x)[i] if dim is None else dim for i, dim in enumerate(x.dims)]


def update_add(x: Variable, increment: Any) -> Any:
    """The op that adds to a variable."""
    return x.assign_add(increment)


def update_sub(x: Variable, decrement: Any) -> Any:
    """The op that subtracts from a variable."""
    return x.assign_sub(decrement)


def moving_average_update(x: Variable, value: Any, momentum: float) -> Any:
    """The op that moves a variable towards a value."""
    return x.assign_sub((x - value) * (1.0 - momentum))


def batch_get_value(tensors: Any) -> list[Any]:
    """The values of some variables."""
    return [get_value(each) for each in tensors]


def batch_set_value(tuples: Any) -> None:
    """Assign to some variables."""
    for each, value in tuples:
        set_value(each, value)


def count_params(x: Any) -> int:
    """How many numbers it holds."""
    return int(np.prod(x.shape.as_list()))


def dtype(x: Any) -> str:
    """The name of its type."""
    return str(x.dtype.base_dtype.name)


def image_data_format() -> str:
    """Where the channels of images are."""
    return "channels_last"


def set_image_data_format(data_format: str) -> None:
    """Raises UnsupportedError for what is not channels_last."""
    if data_format != "channels_last":
        raise UnsupportedError("images are channels_last by default", hint="give each layer its data_format")


def print_tensor(x: Any, message: str = "") -> Any:
    """x, which is printed with every run."""
    return Print(x, [x], message)


@contextmanager
def learning_phase_scope(value: Any) -> Iterator[None]:
    """Inside, it is training, or is not."""
    kept, before = _kept(), _kept().get("phase")
    set_learning_phase(value)
    try:
        yield
    finally:
        kept.pop("phase") if before is None else kept.update(phase=before)


eval, batch_normalization, hard_sigmoid = get_value, nn.batch_normalization, activations.hard_sigmoid
random_binomial = lambda shape, p=0.0, dtype=None, seed=None: cast(  # noqa: E731
    random.random_uniform(shape, dtype=dtype or floatx(), seed=seed) <= p, dtype or floatx())
arange, cumsum, cumprod, map_fn, foldl, foldr, transpose = (
    creation.range, math.cumsum, math.cumprod, map_and_scan.map_fn, map_and_scan.foldl, map_and_scan.foldr,
    shaping.transpose)
__getattr__ = refusing("tf.keras.backend", __name__)
