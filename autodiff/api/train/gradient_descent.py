"""Gradient descent: plain, with momentum, and with penalties that set small elements to exactly zero."""
from __future__ import annotations

from typing import Any

from ...core.indexed_slices import IndexedSlices
from .one_op import OneOpOptimizer, cast_like


class GradientDescentOptimizer(OneOpOptimizer):
    """var -= learning_rate * gradient. learning_rate: a number, scalar tensor, or function that gives one."""

    def __init__(self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent") -> None:
        super().__init__(use_locking, name, "GradientDescent", {}, {"learning_rate": learning_rate})

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Any) -> Any:
        delta = IndexedSlices(grad.values * cast_like(self._learning_rate_tensor, var), grad.indices, grad.dense_shape)
        return var.scatter_sub(delta)


class MomentumOptimizer(OneOpOptimizer):
    """accumulation = momentum * accumulation + gradient; var -= learning_rate * accumulation.

    use_nesterov: the gradient counts as if it were taken after the next step.
    Source: Sutskever et al. (2013), section 2.
    """

    def __init__(self, learning_rate: Any, momentum: Any, use_locking: bool = False, name: str = "Momentum",
                 use_nesterov: bool = False) -> None:
        super().__init__(use_locking, name, "Momentum", {"momentum": None}, {
            "learning_rate": learning_rate, "momentum": momentum}, before=1, use_nesterov=use_nesterov)
        self._momentum, self._use_nesterov = momentum, use_nesterov


class ProximalGradientDescentOptimizer(OneOpOptimizer):
    """Gradient descent, then shrinking toward zero by l1 and l2. Source: Duchi and Singer (2009)."""

    def __init__(self, learning_rate: Any, l1_regularization_strength: float = 0.0,
                 l2_regularization_strength: float = 0.0, use_locking: bool = False,
                 name: str = "ProximalGradientDescent") -> None:
        super().__init__(use_locking, name, "ProximalGradientDescent", {}, {
            "learning_rate": learning_rate, "l1_regularization_strength": l1_regularization_strength,
            "l2_regularization_strength": l2_regularization_strength})
