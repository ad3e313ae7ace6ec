"""RMSProp."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.indexed_slices import IndexedSlices
from ..variables.initializers import Ones
from .optimizer import Optimizer
from .slots import filled_like
from .steps import setting, step


class RMSPropOptimizer(Optimizer):
    """The gradient over the root of its mean square, with momentum. The mean square begins at 1.

    decay: how much of the mean is kept. centered: over the deviation in place of the root mean square.
    Source: Tieleman and Hinton (2012), lecture 6.5; centered: Graves (2013).
    """

    def __init__(self, learning_rate: Any, decay: Any = 0.9, momentum: Any = 0.0, epsilon: Any = 1e-10,
                 use_locking: bool = False, centered: bool = False, name: str = "RMSProp") -> None:
        super().__init__(use_locking, name)
        self._given, self._centered = (learning_rate, decay, momentum, epsilon), centered

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            self._get_or_make_slot(var, filled_like(var, Ones(), var.dtype.base_dtype), "rms", self._name)
            if self._centered:
                self._zeros_slot(var, "mg", self._name)
            self._zeros_slot(var, "momentum", self._name)

    def _prepare(self) -> None:
        self._settings = tuple(map(setting, self._given, ("learning_rate", "decay", "momentum", "epsilon")))

    def _kept(self, var: Any) -> list[Any]:
        names = ("mg", "rms", "momentum") if self._centered else ("rms", "momentum")
        return [self.get_slot(var, name) for name in names]

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        kind = "ApplyCenteredRMSProp" if self._centered else "ApplyRMSProp"
        return step(kind, var, *self._kept(var), *self._settings, grad)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        kind = "SparseApplyCenteredRMSProp" if self._centered else "SparseApplyRMSProp"
        return step(kind, var, *self._kept(var), *self._settings, grad.values, grad.indices)
