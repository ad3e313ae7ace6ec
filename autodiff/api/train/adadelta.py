"""Adadelta."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.indexed_slices import IndexedSlices
from .optimizer import Optimizer
from .steps import setting, step


class AdadeltaOptimizer(Optimizer):
    """The gradient times the root mean square of past steps over that of past gradients.

    rho: how much of the means is kept. Source: Zeiler (2012).
    """

    def __init__(self, learning_rate: Any = 0.001, rho: Any = 0.95, epsilon: Any = 1e-8, use_locking: bool = False,
                 name: str = "Adadelta") -> None:
        super().__init__(use_locking, name)
        self._given = learning_rate, rho, epsilon

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            self._zeros_slot(var, "accum", self._name)
            self._zeros_slot(var, "accum_update", self._name)

    def _prepare(self) -> None:
        self._settings = tuple(map(setting, self._given, ("lr", "rho", "epsilon")))

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return step("ApplyAdadelta", var, self.get_slot(var, "accum"), self.get_slot(var, "accum_update"),
                    *self._settings, grad)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        return step("SparseApplyAdadelta", var, self.get_slot(var, "accum"), self.get_slot(var, "accum_update"),
                    *self._settings, grad.values, grad.indices)
