"""Gradient descent with momentum."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.indexed_slices import IndexedSlices
from .optimizer import Optimizer
from .steps import setting, step


class MomentumOptimizer(Optimizer):
    """accumulation = momentum * accumulation + gradient; var -= learning_rate * accumulation.

    use_nesterov: the gradient counts as if it were taken after the next step.
    Source: Sutskever et al. (2013), section 2.
    """

    def __init__(self, learning_rate: Any, momentum: Any, use_locking: bool = False, name: str = "Momentum",
                 use_nesterov: bool = False) -> None:
        super().__init__(use_locking, name)
        self._learning_rate, self._momentum, self._use_nesterov = learning_rate, momentum, use_nesterov

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            self._zeros_slot(var, "momentum", self._name)

    def _prepare(self) -> None:
        self._rate = setting(self._learning_rate, "learning_rate")
        self._momentum_tensor = setting(self._momentum, "momentum")

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return step("ApplyMomentum", var, self.get_slot(var, "momentum"), self._rate, grad, self._momentum_tensor,
                    use_nesterov=self._use_nesterov)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        return step("SparseApplyMomentum", var, self.get_slot(var, "momentum"), self._rate, grad.values, grad.indices,
                    self._momentum_tensor, use_nesterov=self._use_nesterov)
