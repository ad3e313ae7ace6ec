"""tf.keras.backend: the session and the phase that Keras keeps, its variables, and functions by Keras' names."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...core.errors import UnsupportedError
from ...core.name_scope import scope
from ...core.op import build
from ...gradients import backprop
from .. import math, random
from ..arrays.creation import placeholder as _placeholder
from ..common.unsupported import refusing
from ..control.control_flow import cond
from ..debugging import Print
from ..variables.variable import Variable
from . import losses
from .functions.arrays import *  # noqa: F403
from .functions.arrays import FLOAT, expand_dims, ndim, numpy_seed, reshape, shape_of
from .functions.networks import *  # noqa: F403
from .losses import EPSILON
from .phases import *  # noqa: F403
from .phases import _Eager, _kept, get_session, get_value, learning_phase, set_learning_phase, set_value  # noqa: F401


def placeholder(shape: Any = None, ndim: int | None = None, dtype: Any = None, sparse: bool = False,
                name: str | None = None) -> Any:
    """A placeholder of a shape, or of so many unknown sizes."""
    return _placeholder(dtype or FLOAT, [None] * ndim if shape is None and ndim else shape, name=name)


def floatx() -> str:
    """The dtype of weights."""
    return FLOAT


def set_floatx(value: str) -> None:
    """Raises UnsupportedError for what is not float32."""
    if value != FLOAT:
        raise UnsupportedError(f"weights are {FLOAT} by default", hint="give each layer its dtype")


def epsilon() -> float:
    """What keeps a division from zero."""
    return EPSILON


def binary_crossentropy(target: Any, output: Any, from_logits: bool = False) -> Any:
    """The cross entropy of each probability, in nats."""
    return losses.binary_crossentropy(expand_dims(target, -1), expand_dims(output, -1), from_logits)


def function(inputs: Any, outputs: Any, updates: Any = None, **_: Any) -> Any:
    """What gives the values of outputs for a list of values of inputs, and makes the updates."""
    made = [each[0].assign(each[1]) if isinstance(each, tuple) else each for each in updates or ()]
    return lambda values: get_session().run([outputs, made], dict(zip(inputs, values)))[0]


gradients, update, sparse_categorical_crossentropy = (
    backprop.gradients, Variable.assign, losses.sparse_categorical_crossentropy)


def categorical_crossentropy(target: Any, output: Any, from_logits: bool = False, axis: int = -1) -> Any:
    """The cross entropy of each example, in nats, of classes along the last axis."""
    return losses.categorical_crossentropy(target, output, from_logits)


def zeros(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A variable of zeros."""
    return variable(np.zeros(shape), dtype, name)


def ones(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A variable of ones."""
    return variable(np.ones(shape), dtype, name)


def variable(value: Any, dtype: Any = None, name: str | None = None, constraint: Any = None) -> Variable:
    """A variable that begins with a value."""
    return Variable(value, dtype=dtype or FLOAT, name=name, constraint=constraint, use_resource=True)


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
    if not ndim(condition):
        return cond(math.cast(condition, "bool"), one, other)
    sizes = shape_of(condition)
    chosen = math.cast(reshape(condition, sizes + [1] * (len(shape_of(one())) - len(sizes))), "bool")
    return build.SelectV2(chosen, one(), other())


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


def eye(size: int, dtype: Any = None, name: str | None = None) -> Variable:
    """A variable that begins as the identity matrix."""
    return variable(np.eye(size), dtype, name)


def random_normal_variable(shape: Any, mean: float, scale: float, dtype: Any = None, name: str | None = None,
                           seed: Any = None) -> Variable:
    """A variable that begins with numbers of a normal distribution."""
    return variable(random.random_normal(shape, mean, scale, dtype or FLOAT, numpy_seed(seed, 10 ** 9)), dtype, name)


def random_uniform_variable(shape: Any, low: float, high: float, dtype: Any = None, name: str | None = None,
                            seed: Any = None) -> Variable:
    """A variable that begins with numbers from low to high."""
    return variable(random.random_uniform(shape, low, high, dtype or FLOAT, numpy_seed(seed, 10 ** 9)), dtype, name)


def get_uid(prefix: str = "") -> int:
    """How often this was asked of a prefix, from 1 on."""
    counts = _kept().setdefault("uids", {})
    counts[prefix] = counts.get(prefix, 0) + 1
    return int(counts[prefix])


def reset_uids() -> None:
    """Let `get_uid` begin anew."""
    _kept().pop("uids", None)


def name_scope(name: str, default_name: str | None = None, values: Any = None) -> Any:
    """Inside, names begin with this one."""
    return scope(name, default_name or "", values or ())


def manual_variable_initialization(value: bool) -> None:
    """Raises UnsupportedError for True: variables get their first values when they are first asked for."""
    if value:
        raise UnsupportedError("Keras gives variables their first values itself", hint="leave this call out")


eval = get_value
__getattr__ = refusing("tf.keras.backend", __name__)
