"""assert_gradients_close: are gradients right, asked by a test, and answered with the reason where they are not."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.defaults import session_for
from ..core.graph import Tensor
from ..core.indexed_slices import dense
from ..gradients.backprop import gradients
from ..runtime.session import Session
from .debugger import Debugger
from .facts.roles import is_variable

__all__ = ["assert_gradients_close"]

MOST = 100  # elements of x that are moved; of a larger x, a sample


def assert_gradients_close(y: Tensor, x: Any, feed_dict: Mapping[Any, Any] | None = None, *, expected: Any = None,
                           session: Session | None = None, rtol: float = 1e-3, atol: float = 1e-4,
                           delta: float = 1e-3) -> None:
    """Fail, and say why, unless d sum(y) / d x is what it should be in the session (the default one if None).

    x: a tensor or variable of floats. expected: the right gradient, of x's shape; without it central differences, with
    steps of `delta` in x's units, of at most 100 elements of x. Raises AssertionError, whose text says which elements
    differ, and what `why` finds.
    """
    tensor = getattr(x, "handle_tensor", x)
    session = session_for(y.graph, session, "check a gradient")
    feeds = dict(feed_dict or {})
    made = gradients(y, tensor)[0]
    value = np.asarray(session.run(tensor, feeds))
    if made is None:
        raise AssertionError(f"there is no gradient of {y.name} by {tensor.name}\n{_why(session, y, tensor, feeds)}")
    found = np.asarray(session.run(dense(made), feeds))
    if expected is not None:
        where = np.arange(value.size)
        right = np.broadcast_to(np.asarray(expected), value.shape).reshape(-1)
    else:
        where = np.arange(value.size) if value.size <= MOST else np.sort(
            np.random.default_rng(0).choice(value.size, MOST, replace=False))
        right = np.array([_slope(session, y, tensor, feeds, value, int(at), delta) for at in where])
    got = found.reshape(-1)[where]
    wrong = np.flatnonzero(~np.isclose(got, right, rtol=rtol, atol=atol, equal_nan=expected is not None))
    if len(wrong):
        shown = "\n".join(f"  at {_index(where[i], value.shape)}: expected {right[i]:.6g}, found {got[i]:.6g}"
                          for i in wrong[:5])
        raise AssertionError(f"the gradient of {y.name} by {tensor.name} is wrong in {len(wrong)} of {len(where)} "
                             f"elements\n{shown}\n{_why(session, y, tensor, feeds)}")


def _index(flat: int, shape: tuple[int, ...]) -> str:
    return f"[{','.join(str(int(i)) for i in np.unravel_index(flat, shape))}]"


def _slope(session: Session, y: Tensor, x: Tensor, feeds: dict, value: np.ndarray, at: int, delta: float) -> float:
    """Central difference of sum(y) by one element of x."""
    ends = []
    for step in (delta, -delta):
        moved = value.copy()
        moved.reshape(-1)[at] += step
        ends.append(float(np.sum(np.asarray(_at(session, y, x, feeds, moved), np.float64))))
    return (ends[0] - ends[1]) / (2 * delta)


def _at(session: Session, y: Tensor, x: Tensor, feeds: dict, value: np.ndarray) -> Any:
    """y with another value of x; of a variable, while it has that value."""
    if not is_variable(x):
        return session.run(y, {**feeds, x: value})
    variables, name = session.variables, x.op.name
    saved = variables[name]
    variables[name] = value
    try:
        return session.run(y, feeds)
    finally:
        variables[name] = saved


def _why(session: Session, y: Tensor, x: Tensor, feeds: dict) -> str:
    """What the debugger's `why` says, with the place and the remedy."""
    debugger = Debugger(y.graph, session)
    for key, value in feeds.items():
        debugger.feed(key.name, value)
    findings = debugger.why(x.name, y.name)
    lines = []
    for finding in findings if isinstance(findings, (list, tuple)) else (findings,):
        lines.append(f"why: {finding.text}")
        for cut in getattr(finding, "cuts", ())[:3]:
            lines.append(f"  cut at {cut.op}" + (f" ({cut.place.file}:{cut.place.line})" if cut.place else "")
                         + f": {cut.reason}")
        if getattr(finding, "remedy", ""):
            lines.append(f"  remedy: {finding.remedy}")
    return "\n".join(lines)
