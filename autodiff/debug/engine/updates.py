"""What a step did to a variable."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..history.replay import Moment
from .state import State


def before_and_after(state: State, name: str, at: Moment) -> tuple[Any, Any]:
    """A variable's values before and after a remembered run; None for each that is not known.

    What another framework's step does to its parameters is known with the next one.
    """
    index = next((i for i, m in enumerate(state.moments) if m is at), None)
    old = at.variables.get(name)
    if old is None or index is None:
        return old, None
    is_last = index + 1 == len(state.moments)
    if is_last and state.model.is_foreign:
        return old, None
    following = state.model.session.variables if is_last else state.moments[index + 1].variables
    new = following.get(name)
    return old, None if new is None or np.shape(new) != np.shape(old) else new


def update_ratio(state: State, name: str, run: int) -> float | None:
    """Norm of a variable's change in a run over its norm before it; None if it is no variable."""
    at = next((m for m in state.moments if m.run == run), None)
    op = name.partition(":")[0]
    if at is None or op not in at.variables:
        return None
    old, new = before_and_after(state, op, at)
    if new is None or np.asarray(old).dtype.kind not in "fc":
        return None
    if new is old:
        return 0.0
    with np.errstate(all="ignore"):
        size = float(np.linalg.norm(np.asarray(old).ravel()))
        return float(np.linalg.norm(np.asarray(new - old).ravel())) / size if size else None
