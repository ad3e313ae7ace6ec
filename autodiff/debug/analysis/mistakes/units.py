"""Units that are dead or saturated, as what activations were given in several steps shows; gradients that vanish with
depth."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors
from ...facts.roles import at_line, place_of
from ..attenuation import SATURATING
from ..findings import Finding
from .case import Case, finding, gradients_of, held

_DEAD = 0.9  # share of inputs of a relu that are <= 0 above which it counts as dead
_UNITS = 0.25  # share of units of a relu layer that no example gets through
_FAR = 0.5  # share of saturated inputs above which a squashing function counts as saturated
_EXAMPLES = 64  # fewer rows than these do not show that a unit is dead
_RELUS = ("Relu", "Relu6")
ACTIVATIONS = (*_RELUS, *SATURATING)
_LOST = 1e-3  # of the size of the gradient at the last layer
_DIMMED, _STUCK, _MANY = 0.05, 0.95, 20  # the same of sigmoids, if in so many steps so much of a guess is left
_LAYERS = ("MatMul", "Conv2D")
_FEWEST = 4  # steps that show whether a training gets on
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


def depth_mistakes(case: Case) -> list[Finding]:
    """A first layer whose gradient is next to nothing beside that of the last, in a training that does not get on."""
    if len(case.steps) < _FEWEST or case.learns or case.is_spoiled:
        return []
    squashing = [op for op in case.behind if op.type in SATURATING and op in case.trained]
    is_stuck = len(case.steps) >= _MANY and case.last_loss > _STUCK * min(case.first_loss, case.guess)
    sizes = _sizes(case)
    layers = min(sum(op.type == "Sigmoid" for op in squashing), len({x for x, *_ in sizes}) - 1)  # not steps in time
    lost = _DIMMED if is_stuck and layers > 2 else _LOST
    if not sizes or not any(0 < size < lost * sizes[-1][2] for _, _, size in sizes):
        return []
    sizes = _in_line(sizes)
    (first, product, size), (last, _, end) = sizes[0], sizes[-1]
    if len(sizes) < 3 or not 0 < size < lost * end:
        return []
    what = (f"{len(squashing)} squashing functions ({squashing[0].type}{at_line(place_of(squashing[0]))}) lie between"
            if squashing else "each layer between shrinks it")
    return [finding(64, "vanishing gradient", squashing[0] if squashing else product, "the gradient vanishes on the "
                    f"way back: at step {case.looked[0].step} an element of that of {last.name}, the last layer, is "
                    f"{end:.2g}, and of {first.name}, the first, {size:.2g}: {what}, so the first layers hardly learn, "
                    f"and the loss stays at {case.last_loss:.4g}", "use tf.nn.relu in hidden layers, skip connections, "
                    "or batch normalization", target=first.name, step=case.looked[0].step)]


def _sizes(case: Case) -> list[tuple[Tensor, Operation, float]]:
    """Kernels in the order of their layers, with the root mean square of their first gradients."""
    raw = gradients_of(case)
    case.want(*raw.values())
    values = case.values(case.looked[0])
    found = []
    for op in case.behind:
        x = held(op.inputs[1]).outputs[0] if op.type in _LAYERS else None
        if x is not None and raw.get(x) in values:
            found.append((x, op, float(np.sqrt(np.mean(np.square(values[raw[x]], dtype=float))))))
    return found


def _in_line(sizes: list[tuple[Tensor, Operation, float]]) -> list[tuple[Tensor, Operation, float]]:
    """The layers that all later ones come after: not those beside others, such as the queries of an attention."""
    found: list[tuple[Tensor, Operation, float]] = []
    shared: set[Operation] | None = None  # what all later ones are computed from
    for each in reversed(sizes):
        if shared is None or each[1] in shared:
            found.insert(0, each)
        below = ancestors([each[1].outputs[0]])
        shared = below if shared is None else shared & below
    return found
