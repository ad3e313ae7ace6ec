"""tf.keras.backend: the session and the phase that Keras keeps, and functions of tf by Keras' names."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...core.defaults import get_default_session
from ...core.graph import get_default_graph
from ...runtime.session import Session
from .. import math, nn
from ..arrays import rearrange, shaping
from ..arrays.creation import placeholder as _placeholder
from ..arrays.creation import placeholder_with_default
from ..common.unsupported import refusing
from ..variables.assignment import global_variables, is_variable_initialized, variables_initializer
from ..variables.variable import Variable
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
    fresh = [v for v in global_variables() if v not in known]
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


mean, sum, max, min, prod = map(_reduction, (math.reduce_mean, math.reduce_sum, math.reduce_max, math.reduce_min,
                                             math.reduce_prod))
abs, argmax, cast, clip, equal, exp, greater, less = (
    math.abs, math.argmax, math.cast, math.clip_by_value, math.equal, math.exp, math.greater, math.less)
log, maximum, minimum, pow, round, sigmoid, sqrt, square, tanh = (
    math.log, math.maximum, math.minimum, math.pow, math.round, math.sigmoid, math.sqrt, math.square, math.tanh)
relu, softmax, softplus = nn.relu, nn.softmax, nn.softplus
concatenate, expand_dims, ndim, reshape, shape, squeeze, stack = (
    shaping.concat, shaping.expand_dims, lambda x: len(x.dims), shaping.reshape, shaping.shape, shaping.squeeze,
    shaping.stack)
reverse = rearrange.reverse

__getattr__ = refusing("tf.keras.backend", __name__)
