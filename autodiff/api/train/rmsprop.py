"""RMSProp."""
from __future__ import annotations

from typing import Any

from ..variables.initializers import Ones
from .one_op import OneOpOptimizer


class RMSPropOptimizer(OneOpOptimizer):
    """The gradient over the root of its mean square, with momentum. The mean square begins at 1.

    decay: how much of the mean is kept. centered: over the deviation in place of the root mean square.
    Source: Tieleman and Hinton (2012), lecture 6.5; centered: Graves (2013).
    """

    def __init__(self, learning_rate: Any, decay: Any = 0.9, momentum: Any = 0.0, epsilon: Any = 1e-10,
                 use_locking: bool = False, centered: bool = False, name: str = "RMSProp") -> None:
        super().__init__(use_locking, name, "CenteredRMSProp" if centered else "RMSProp",
                         {"rms": Ones(), **({"mg": None} if centered else {}), "momentum": None}, {
            "learning_rate": learning_rate, "decay": decay, "momentum": momentum, "epsilon": epsilon})

    def _slots_of(self, var: Any) -> list[Any]:
        return [self.get_slot(var, slot) for slot in ("mg", "rms", "momentum") if slot in self._kept]
