"""Optimizers by name: any of tf.train's, as a command or a call of the debugger names it."""
from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from typing import Any

from ...api import train
from ...core.errors import ArgumentError, KindError
from ...core.names import did_you_mean

_SHORT = {"sgd": "gradientdescent"}
_USUAL: dict[type, Mapping[str, Any]] = {train.MomentumOptimizer: {"momentum": 0.9}}  # without a default in TensorFlow


def _all() -> dict[str, type]:
    """By their short names, in their order."""
    kinds = {name.removesuffix("Optimizer").lower(): kind for name, kind in vars(train).items()
             if name.endswith("Optimizer") and name != "Optimizer"}
    return {**{short: kinds[long] for short, long in _SHORT.items()}, **{name: kinds[name] for name in sorted(kinds)}}


OPTIMIZERS = _all()  # short name -> class


def optimizer_kind(name: str) -> type:
    """The class that a name stands for: `adam`, `AdamOptimizer`, or a beginning of one alone. Raises ArgumentError."""
    key = name.lower().removesuffix("optimizer")
    near = [known for known in OPTIMIZERS if known.startswith(key)] if key else []
    if key not in OPTIMIZERS and len(near) != 1:
        raise ArgumentError(f"no optimizer is called {name!r}: there are {', '.join(OPTIMIZERS)}",
                            hint=did_you_mean(key, OPTIMIZERS) or "train LOSS --optimizer adam")
    return OPTIMIZERS[key if key in OPTIMIZERS else near[0]]


def optimizer_of(chosen: Any, lr: float) -> Any:
    """An Optimizer as it is; of a name, or a function of the learning rate, one with this learning rate."""
    if isinstance(chosen, train.Optimizer):
        return chosen
    if isinstance(chosen, str):
        kind = optimizer_kind(chosen)
        chosen = functools.partial(kind, **usual_options(kind))
    if not callable(chosen):
        raise ArgumentError(expected="an Optimizer, or the name of one", found=type(chosen).__name__,
                            hint=f"names: {', '.join(OPTIMIZERS)}")
    try:
        return chosen(**{"learning_rate": lr, **getattr(chosen, "keywords", {})})
    except TypeError as error:
        raise KindError(f"the optimizer does not take these options: {error}",
                        hint="help train shows how options are given") from None


def usual_options(kind: type) -> Mapping[str, Any]:
    """What an optimizer has to be given besides its learning rate, in the default graph."""
    if "global_step" in inspect.signature(kind).parameters:
        return {"global_step": train.get_or_create_global_step()}
    return _USUAL.get(kind, {})
