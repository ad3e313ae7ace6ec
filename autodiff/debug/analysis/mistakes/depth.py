"""Depth: gradients that vanish on the way from the last layer to the first."""
from __future__ import annotations

import numpy as np

from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors
from ...facts.roles import at_line, place_of
from ..attenuation import SATURATING
from ..findings import Finding
from .case import Case, finding, held
from .updates import gradients_of

_LOST = 1e-3  # of the size of the gradient at the last layer
_DIMMED, _STUCK, _MANY = 0.05, 0.95, 20  # the same of sigmoids, if in so many steps so much of a guess is left
_LAYERS = ("MatMul", "Conv2D")


def depth_mistakes(case: Case) -> list[Finding]:
    """A first layer whose gradient is next to nothing beside that of the last, in a training that does not get on."""
    if not case.steps or case.learns or case.is_spoiled:
        return []
    squashing = [op for op in case.behind if op.type in SATURATING and op in case.trained]
    is_stuck = len(case.steps) >= _MANY and case.last_loss > _STUCK * min(case.first_loss, case.guess)
    lost = _DIMMED if is_stuck and sum(op.type == "Sigmoid" for op in squashing) > 2 else _LOST
    sizes = _sizes(case)
    if not sizes or not any(0 < size < lost * sizes[-1][2] for _, _, size in sizes):
        return []
    sizes = _in_line(sizes)
    (first, product, size), (last, _, end) = sizes[0], sizes[-1]
    if len(sizes) < 3 or not 0 < size < lost * end:
        return []
    what = (f"{len(squashing)} squashing functions ({squashing[0].type}{at_line(place_of(squashing[0]))}) lie between"
            if squashing else "each layer between shrinks it")
    return [finding(64, "vanishing gradient", squashing[0] if squashing else product, f"the gradient vanishes on the "
                    f"way back: at step {case.looked[0].step} an element of that of {last.name}, the last layer, is "
                    f"{end:.2g}, and of {first.name}, the first, {size:.2g}: {what}, so the first layers hardly "
                    "learn, and the loss stays at "
                    f"{case.last_loss:.4g}", "use tf.nn.relu in hidden layers, skip connections, or batch "
                    "normalization", target=first.name, step=case.looked[0].step)]


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
