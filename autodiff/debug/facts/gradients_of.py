"""What tf.gradients with all of its arguments gives, as frozen answers."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .records import Stats


@dataclass(frozen=True)
class GradientPart:
    """The gradient of all ys together at one x. array None: there is none, and reason says why. number: its `$n`."""

    x: str
    array: Any
    stats: Stats | None
    number: int
    reason: str = ""


@dataclass(frozen=True)
class GradientsOf:
    """The gradients of the sum of ys. weights: what each y received, in words; empty for ones. held: constants.

    own: xs that were held constant themselves, so that each keeps its own partial derivative alone.
    """

    ys: tuple[str, ...]
    weights: tuple[str, ...]
    held: tuple[str, ...]
    own: tuple[str, ...]
    parts: tuple[GradientPart, ...]
    when: str
