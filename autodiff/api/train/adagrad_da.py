"""Adagrad with dual averaging."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.errors import ArgumentError
from ...core.indexed_slices import IndexedSlices
from ...core.op import build
from ..variables.initializers import Constant
from .optimizer import Optimizer
from .slots import filled_like
from .steps import setting, step


class AdagradDAOptimizer(Optimizer):
    """Each step computes the variable anew from the sums of all gradients and their squares.

    global_step: the variable that counts steps; the penalties grow with it. Raises ArgumentError
    (ValueError) unless initial_gradient_squared_accumulator_value > 0.
    Source: Duchi, Hazan and Singer (2011), section 5.
    """

    def __init__(self, learning_rate: Any, global_step: Any, initial_gradient_squared_accumulator_value: float = 0.1,
                 l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0,
                 use_locking: bool = False, name: str = "AdagradDA") -> None:
        if initial_gradient_squared_accumulator_value <= 0.0:
            raise ArgumentError(expected="initial_gradient_squared_accumulator_value > 0",
                                found=initial_gradient_squared_accumulator_value)
        super().__init__(use_locking, name)
        self._learning_rate, self._global_step = learning_rate, global_step
        self._initial = initial_gradient_squared_accumulator_value
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            self._zeros_slot(var, "gradient_accumulator", self._name)
            initial = filled_like(var, Constant(self._initial), var.dtype.base_dtype)
            self._get_or_make_slot(var, initial, "gradient_squared_accumulator", self._name)

    def _prepare(self) -> None:
        self._rate = setting(self._learning_rate, "learning_rate")

    def _inputs(self, var: Any, *gradient: Any) -> tuple[Any, ...]:
        next_step = build.Cast(self._global_step + 1, dtype="int64")
        return (var, self.get_slot(var, "gradient_accumulator"), self.get_slot(var, "gradient_squared_accumulator"),
                *gradient, self._rate, setting(self._l1, "l1"), setting(self._l2, "l2"), next_step)

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return step("ApplyAdagradDA", *self._inputs(var, grad))

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        return step("SparseApplyAdagradDA", *self._inputs(var, grad.values, grad.indices))
