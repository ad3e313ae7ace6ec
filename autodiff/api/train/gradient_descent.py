"""Gradient descent."""
from __future__ import annotations

from typing import Any

from ...core.indexed_slices import IndexedSlices
from .optimizer import Optimizer
from .steps import cast_like, setting, step


class GradientDescentOptimizer(Optimizer):
    """var -= learning_rate * gradient. learning_rate: a number, scalar tensor, or function that gives one."""

    def __init__(self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent") -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate

    def _prepare(self) -> None:
        self._rate = setting(self._learning_rate, "learning_rate")

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return step("ApplyGradientDescent", var, self._rate, grad)

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Any) -> Any:
        delta = IndexedSlices(grad.values * cast_like(self._rate, var), grad.indices, grad.dense_shape)
        return var.scatter_sub(delta)
