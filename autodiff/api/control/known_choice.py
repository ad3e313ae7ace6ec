"""A choice that is made while the graph is built where that is possible: `smart_cond` and its like."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.constant_value import static_value
from ...core.tensor import Tensor
from .control_flow import case, cond


def smart_constant_value(pred: Any) -> Any:
    """A predicate's value, if the graph knows it; else None. Raises TypeError for what is no predicate."""
    if isinstance(pred, (bool, int)) and pred in (0, 1):
        return bool(pred)
    if hasattr(pred, "as_tensor"):
        return None
    if isinstance(pred, Tensor):
        value = static_value(pred)
        return None if value is None else value.item()
    raise TypeError(f"`pred` must be a Tensor, or a Python bool, or 1 or 0. Found instead: {pred}")


constant_value = smart_constant_value


def smart_cond(pred: Any, true_fn: Callable[[], Any] | None = None, false_fn: Callable[[], Any] | None = None,
               name: str | None = None) -> Any:
    """The taken branch's results; a tf.cond only where the predicate has no value yet."""
    if not callable(true_fn):
        raise TypeError("`true_fn` must be callable.")
    if not callable(false_fn):
        raise TypeError("`false_fn` must be callable.")
    known = smart_constant_value(pred)
    if known is None:
        return cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)
    return true_fn() if known else false_fn()


def smart_case(pred_fn_pairs: Any, default: Any = None, exclusive: bool = False, name: str = "smart_case") -> Any:
    """tf.case without the choices that the graph knows are not taken, and those after one that is taken."""
    remaining = []
    for predicate, function in pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs:
        known = smart_constant_value(predicate)
        if known:
            default = function
            break
        if known is None:
            remaining.append((predicate, function))
    if not remaining and default is not None:
        return default()
    return case(remaining, default=default, exclusive=exclusive, name=name)
