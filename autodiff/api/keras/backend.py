"""tf.keras.backend: the session and the phase that Keras keeps, and functions of tf by Keras' names."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...core.defaults import get_default_session
from ...core.graph import get_default_graph
from ...gradients import backprop
from ...runtime.session import Session
from .. import math, nn, random
from ..arrays import creation, gathering, rearrange, shaping
from ..arrays.creation import placeholder as _placeholder
from ..arrays.creation import placeholder_with_default
from ..common.unsupported import refusing
from ..linalg.products import matmul, tensordot
from ..variables.assignment import global_variables, is_variable_initialized, variables_initializer
from ..variables.variable import Variable
from . import losses
from .losses import EPSILON

_KEPT = "keras"  # in a graph's extras: its session, phase and names


class _Eager:
    """What holds while there is no graph."""

    phase = False


def _kept() -> dict[str, Any]:
    kept: dict[str, Any] = get_default_graph().outermost.extras.setdefault(_KEPT, {})
    return kept


def get_session() -> Session:
    """The default session, or one of Keras' own for this graph; variables without values get those they begin with."""
    kept = _kept()
    session = get_default_session() or kept.get("session")
    if session is None or session.graph is not get_default_graph().outermost:
        session = kept["session"] = Session()
    known = kept.setdefault(f"known {id(session)}", set())
    made = (*global_variables(), *get_default_graph().outermost.extras.get("metrics", ()))
    fresh = [v for v in made if v not in known]
    if fresh:
        known.update(fresh)
        lacking = [v for v, has in zip(fresh, session.run([is_variable_initialized(v) for v in fresh])) if not has]
        if lacking:
            session.run(variables_initializer(lacking))
    return session


def set_session(session: Session) -> None:
    """Let Keras use this session for its graph."""
    _kept()["session"] = session


def learning_phase() -> Any:
    """Whether layers behave as in training: a bool[] to feed, False by default; a bool while executing eagerly."""
    if get_default_graph().executing_eagerly:
        return _Eager.phase
    kept = _kept()
    if "phase" not in kept:
        with get_default_graph().outermost.as_default(), get_default_graph().name_scope(""):
            kept["phase"] = placeholder_with_default(np.bool_(False), [], name="keras_learning_phase")
    return kept["phase"]


def set_learning_phase(value: Any) -> None:
    """Let it be known: 1 for training, 0 otherwise."""
    _Eager.phase = bool(value)
    if not get_default_graph().executing_eagerly:
        _kept()["phase"] = bool(value)


def clear_session() -> None:
    """Forget the session and the phase of this graph."""
    _kept().clear()


def placeholder(shape: Any = None, ndim: int | None = None, dtype: Any = None, sparse: bool = False,
                name: str | None = None) -> Any:
    """A placeholder of a shape, or of so many unknown sizes."""
    return _placeholder(dtype or floatx(), [None] * ndim if shape is None and ndim else shape, name=name)


def get_value(x: Any) -> Any:
    """The value of a variable or tensor."""
    return x.numpy() if get_default_graph().executing_eagerly else get_session().run(x)


def set_value(x: Variable, value: Any) -> None:
    """Assign to a variable."""
    value = np.asarray(value, x.dtype.base_dtype.as_numpy_dtype)
    x.assign(value) if get_default_graph().executing_eagerly else x.load(value, get_session())


def track_variable(v: Variable) -> None:
    """Nothing: every variable gets its first value when it is needed."""


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

__getattr__ = refusing("tf.keras.backend", __name__)
