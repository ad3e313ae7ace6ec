"""Units that are dead or saturated: seen in what activations were given in several steps."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....core.graph import Operation
from ..attenuation import SATURATING
from ..findings import Finding
from .case import finding

_DEAD = 0.9  # share of inputs of a relu that are <= 0 above which it counts as dead
_UNITS = 0.25  # share of units of a relu layer that no example gets through
_FAR = 0.5  # share of saturated inputs above which a squashing function counts as saturated
_EXAMPLES = 64  # fewer rows than these do not show that a unit is dead
_RELUS = ("Relu", "Relu6")
ACTIVATIONS = (*_RELUS, *SATURATING)
_REVIVE = "lower the learning rate, initialize biases above 0, or use tf.nn.leaky_relu"


def unit_findings(op: Operation, arrays: Sequence[np.ndarray], *, learns: bool) -> list[Finding]:
    """What the inputs of an activation in several steps show. learns: the loss falls all the same."""
    value = _rows(arrays)
    if not value.size or value.dtype.kind != "f":
        return []
    return _dead(op, value, learns) if op.type in _RELUS else _saturated(op, value)


def _rows(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """What an activation was given in several steps, as one array of all examples where their shapes allow it."""
    first = arrays[0]
    fitting = [a for a in arrays if a.ndim == first.ndim > 1 and a.shape[1:] == first.shape[1:]]
    return np.concatenate(fitting) if len(fitting) > 1 else first


def _dead(op: Operation, value: np.ndarray, learns: bool) -> list[Finding]:
    dead = float((value <= 0).mean())
    units = ((value <= 0).reshape(-1, value.shape[-1]).all(axis=0) if value.ndim > 1 else np.zeros(1, bool))
    rows = value.size // max(value.shape[-1], 1) if value.ndim > 1 else value.size
    if dead >= _DEAD:
        weight, kind = (58 if dead == 1 else 40), "dead relu"
        what = f"{dead:.0%} of its inputs are <= 0, where relu lets nothing through"
    elif units.mean() > _UNITS and rows >= _EXAMPLES:
        weight, kind, what = 28, "dead units", f"{units.sum()} of its {units.size} units are 0 for every example"
    else:
        return []
    return [finding(min(weight, 38) if learns else weight, kind, op, f"{op.name} ({op.type}): {what}", _REVIVE,
                    target=op.outputs[0].name, ask=f"print /d {op.inputs[0].name}")]


def _saturated(op: Operation, value: np.ndarray) -> list[Finding]:
    far = float((np.abs(value) > (4 if op.type == "Sigmoid" else 2)).mean())
    if far < _FAR:
        return []
    return [finding(38, "saturated", op, f"{op.name} ({op.type}): {far:.0%} of its inputs are saturated (largest "
                    f"{np.abs(value).max():.3g})", "scale the inputs or initial weights down, or normalize the layer",
                    target=op.outputs[0].name, ask=f"print /d {op.inputs[0].name}")]
