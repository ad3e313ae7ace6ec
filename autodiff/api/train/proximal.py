"""Descent and Adagrad with a proximal step: penalties that set small elements to exactly zero."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.errors import ArgumentError
from ...core.indexed_slices import IndexedSlices
from ..variables.initializers import Constant
from .optimizer import Optimizer
from .slots import filled_like
from .steps import setting, step


class ProximalGradientDescentOptimizer(Optimizer):
    """Gradient descent, then shrinking toward zero by l1 and l2. Source: Duchi and Singer (2009)."""

    def __init__(self, learning_rate: Any, l1_regularization_strength: float = 0.0,
                 l2_regularization_strength: float = 0.0, use_locking: bool = False,
                 name: str = "ProximalGradientDescent") -> None:
        super().__init__(use_locking, name)
        self._given = learning_rate, l1_regularization_strength, l2_regularization_strength

    def _prepare(self) -> None:
        self._settings = tuple(map(setting, self._given, _SETTINGS))

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return step("ApplyProximalGradientDescent", var, *self._settings, grad)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        return step("SparseApplyProximalGradientDescent", var, *self._settings, grad.values, grad.indices)


class ProximalAdagradOptimizer(Optimizer):
    """Adagrad, then shrinking toward zero by l1 and l2. Source: Duchi and Singer (2009).

    Raises ArgumentError (ValueError) unless initial_accumulator_value > 0.
    """

    def __init__(self, learning_rate: Any, initial_accumulator_value: float = 0.1,
                 l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0,
                 use_locking: bool = False, name: str = "ProximalAdagrad") -> None:
        if initial_accumulator_value <= 0.0:
            raise ArgumentError(expected="initial_accumulator_value > 0", found=initial_accumulator_value)
        super().__init__(use_locking, name)
        self._initial = initial_accumulator_value
        self._given = learning_rate, l1_regularization_strength, l2_regularization_strength

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            initial = filled_like(var, Constant(self._initial), var.dtype.base_dtype)
            self._get_or_make_slot(var, initial, "accumulator", self._name)

    def _prepare(self) -> None:
        self._settings = tuple(map(setting, self._given, _SETTINGS))

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return step("ApplyProximalAdagrad", var, self.get_slot(var, "accumulator"), *self._settings, grad)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        return step("SparseApplyProximalAdagrad", var, self.get_slot(var, "accumulator"), *self._settings, grad.values,
                    grad.indices)


_SETTINGS = ("learning_rate", "l1_regularization_strength", "l2_regularization_strength")
