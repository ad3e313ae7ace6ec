"""The session and the phase that Keras keeps of a graph, and values that it reads and sets there."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...core.defaults import get_default_session
from ...core.graph import get_default_graph, reset_default_graph
from ...core.site import capture, resolve
from ...runtime.session import Session
from ..arrays.creation import placeholder_with_default
from ..variables.assignment import global_variables, is_variable_initialized, variables_initializer
from ..variables.variable import Variable

__all__ = ["clear_session", "get_session", "get_value", "learning_phase", "set_learning_phase", "set_session",
           "set_value", "track_variable"]
_SET = 200  # of the values that a number was given, the last ones, of which it is known where
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
    """Begin anew with an empty default graph, as tf.reset_default_graph; its first tensor is the learning phase."""
    is_eager = get_default_graph().executing_eagerly
    _kept().clear()
    if not is_eager:
        reset_default_graph()
        learning_phase()


def get_value(x: Any) -> Any:
    """The value of a variable or tensor."""
    return x.numpy() if get_default_graph().executing_eagerly else get_session().run(x)


def set_value(x: Variable, value: Any, site: tuple[str, int] | None = None) -> None:
    """Assign to a variable. site: the file and line that says so, where that is not what calls this."""
    if not get_default_graph().executing_eagerly:
        kept = get_default_graph().outermost.extras.setdefault("set by keras", {}).setdefault(x.op.name, [])
        kept += [(float(value), site or tuple(resolve(capture()[:1])[0])[:2])] if np.ndim(value) == 0 else []
        del kept[1:-_SET]
    value = np.asarray(value, x.dtype.base_dtype.as_numpy_dtype)
    x.assign(value) if get_default_graph().executing_eagerly else x.load(value, get_session())


def track_variable(v: Variable) -> None:
    """Nothing: every variable gets its first value when it is needed."""
