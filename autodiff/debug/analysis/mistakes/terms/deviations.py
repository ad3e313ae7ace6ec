"""Codes drawn from a normal: whether what multiplies the noise is the deviation of which a divergence has the variance.
"""
from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import NamedTuple

import numpy as np

from .....core.graph import Operation, Tensor
from .....core.traversal import past
from ....facts.roles import VARIABLES, at_line, place_of
from ...findings import Finding
from ..case import Case, finding, values_behind
from ..heads import SAME, number_in
from ..signs import is_squared

_SUMS, _TOTALS = ("Add", "AddV2", "AddN", "Sub"), ("Sum", "Mean")
_FEWEST = 64  # numbers that show that they are of a standard normal
_OFF, _APART = 0.15, 1e-3  # of its mean and deviation; of a power
_DEEP = 24  # ops from a square to the loss
KIND = "deviation is the variance"


class Drawn(NamedTuple):
    """mean + deviation * noise. product: of the latter."""

    product: Operation
    mean: Tensor
    deviation: Tensor
    noise: Tensor


def drawn_in(case: Case) -> Iterator[Drawn]:
    """The codes that are drawn so, of noise that no variable makes."""
    for op in case.behind:
        if op.type not in ("Add", "AddV2") or op not in case.trained:
            continue
        for mean, scaled in permutations(op.inputs):
            product = past(scaled, SAME).op
            for deviation, noise in permutations(product.inputs) if product.type == "Mul" else ():
                if deviation.op in case.trained and mean.op in case.trained and noise.op not in case.trained and (
                        number_in(noise) is None and not any(o.type in VARIABLES for o in values_behind([noise]))):
                    yield Drawn(product, mean, deviation, noise)


def deviations_taken_for_variances(case: Case) -> Iterator[Finding]:
    """Noise times a number that a divergence from a standard normal has as it is in the place of its square."""
    for drawn in drawn_in(case) if case.looked else ():
        for square in (op for op in case.behind if _is_square_of(op, drawn.mean)):
            parts = _parts(square, case)
            power = next((p for t, c in parts.items() if t is not square.outputs[0] and np.isclose(
                c, parts[square.outputs[0]]) and (p := _power(t, drawn.deviation, case))), 2.0)
            if abs(power - 2) > _APART and _is_normal(case.series(drawn.noise)):
                said = "it is" if power == 1 else f"it is to the power of {power:.4g}"
                yield finding(68, KIND, drawn.product, f"{drawn.product.name} multiplies the noise "
                              f"{drawn.noise.name} by {drawn.deviation.name}, the deviation, and the divergence beside "
                              f"{square.name}{at_line(place_of(square))} has the same as {said} for the variance, which"
                              " is the square of a deviation: the code is drawn from another normal than the one that "
                              "is kept near the standard one", "multiply by the root of the variance: tf.exp(0.5 * v) "
                              "of the logarithm v of a variance", target=drawn.deviation.name, confidence="certain")
                return


def _is_square_of(op: Operation, mean: Tensor) -> bool:
    """Whether an op squares a mean, or how far it is from something."""
    if not is_squared(op):
        return False
    base, source = past(op.inputs[0], SAME), past(mean, SAME)
    return base is source or base.op.type == "Sub" and any(past(t, SAME) is source for t in base.op.inputs)


def _parts(square: Operation, case: Case) -> dict[Tensor, float]:
    """What a square is added up with on its way to the loss, and how often each counts there; sums and means alike."""
    behind, top = set(case.behind), square
    for _ in range(_DEEP):
        users = [c for t in top.outputs[:1] for c in t._consumers if c in behind and c.gradient_of is None and (
            c.type in (*_SUMS, "Neg", *_TOTALS, *SAME) or _factor(c, top.outputs[0]) is not None)]
        if not users:
            break
        top = users[0]
    found: dict[Tensor, float] = {}
    stack = [(top.outputs[0], 1.0)]
    while stack:
        tensor, count = stack.pop()
        op = tensor.op
        by = None if op is square else next((f for t in op.inputs if (f := _factor(op, t)) is not None), None)
        if op is not square and op.type in (*_SUMS, "Neg"):
            stack += [(t, -count if op.type == "Neg" or op.type == "Sub" and i else count)
                      for i, t in enumerate(op.inputs)]
        elif op is not square and op.type in (*_TOTALS, *SAME) and op.inputs:
            stack.append((op.inputs[0], count))
        elif by is not None:
            stack.append((next(t for t in op.inputs if number_in(t) is None), count * by))
        else:
            found[tensor] = found.get(tensor, 0.0) + count
    return found


def _factor(op: Operation, tensor: Tensor) -> float | None:
    """What an op multiplies a tensor by, where that is a number."""
    if op.type not in ("Mul", "RealDiv") or len(op.inputs) != 2 or op.type == "RealDiv" and op.inputs[0] is not tensor:
        return None
    other = number_in(op.inputs[1] if op.inputs[0] is tensor else op.inputs[0])
    return other if other is None or op.type == "Mul" else 1 / other if other else None


def _power(tensor: Tensor, base: Tensor, case: Case) -> float:
    """The power of one tensor that another is, in each step; 0 if it is none."""
    pairs = [*zip(case.series(tensor), case.series(base))]
    if not pairs or any(a.shape != b.shape or not a.size or a.min() <= 0 or b.min() <= 0 for a, b in pairs):
        return 0.0
    a, b = (np.log(np.concatenate([np.ravel(each).astype(float) for each in column])) for column in zip(*pairs))
    size = float(b @ b)
    power = float(a @ b) / size if size > _APART ** 2 * b.size else 0.0
    power = round(power) if abs(power - round(power)) < _APART else power
    return power if np.allclose(a, power * b, rtol=_APART, atol=_APART * float(np.abs(b).max())) else 0.0


def _is_normal(arrays: list[np.ndarray]) -> bool:
    """Whether numbers are those of a standard normal, and others in each step."""
    values = np.concatenate([np.ravel(each).astype(float) for each in arrays]) if arrays else np.zeros(0)
    return values.size >= _FEWEST and abs(values.mean()) < _OFF and abs(values.std() - 1) < _OFF and (
        len(arrays) == 1 or not np.array_equal(arrays[0], arrays[-1]))
