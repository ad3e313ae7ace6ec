"""tf.keras.regularizers: penalties on weights, as functions of a tensor."""
from __future__ import annotations

from typing import Any

from ...core.errors import ArgumentError
from ...core.graph import Tensor
from ...core.op import build
from ..common.made import Configured
from ..common.unsupported import refusing
from ..math.reductions import reduce_sum

__all__ = ["L1L2", "Regularizer", "get", "l1", "l1_l2", "l2"]


class Regularizer(Configured):
    """A function of a tensor that gives a penalty: float[]."""

    def __call__(self, x: Any) -> Any:
        return 0.0


class L1L2(Regularizer):
    """l1 · Σ|x| + l2 · Σx²."""

    def __init__(self, l1: float = 0.0, l2: float = 0.0) -> None:
        self.l1, self.l2 = float(l1), float(l2)

    def __call__(self, x: Any) -> Tensor | float:
        penalty: Any = reduce_sum(self.l1 * build.Abs(x)) if self.l1 else 0.0
        return penalty + reduce_sum(self.l2 * build.Square(x)) if self.l2 else penalty

    def get_config(self) -> dict[str, float]:
        return {"l1": self.l1, "l2": self.l2}


def l1(l: float = 0.01) -> L1L2:  # noqa: E741
    """A penalty of l · Σ|x|."""
    return L1L2(l1=l)


def l2(l: float = 0.01) -> L1L2:  # noqa: E741
    """A penalty of l · Σx²."""
    return L1L2(l2=l)


def l1_l2(l1: float = 0.01, l2: float = 0.01) -> L1L2:
    """A penalty of l1 · Σ|x| + l2 · Σx²."""
    return L1L2(l1, l2)


def get(identifier: Any) -> Any:
    """The regularizer of a name or config; one itself; None for None. Raises ArgumentError (ValueError) for others."""
    if identifier is None or callable(identifier):
        return identifier
    if isinstance(identifier, dict):
        return L1L2.from_config(identifier["config"])
    if identifier in ("l1", "l2", "l1_l2"):
        return globals()[identifier]()
    raise ArgumentError(f"Could not interpret regularizer identifier: {identifier}", expected="l1, l2 or l1_l2")


__getattr__ = refusing("tf.keras.regularizers", __name__)
