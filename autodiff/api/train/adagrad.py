"""Adagrad."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.errors import ArgumentError
from ...core.indexed_slices import IndexedSlices
from ..variables.initializers import Constant
from .optimizer import Optimizer
from .slots import filled_like
from .steps import setting, step


class AdagradOptimizer(Optimizer):
    """accumulator += gradient ** 2; var -= learning_rate * gradient / sqrt(accumulator).

    Raises ArgumentError (ValueError) unless initial_accumulator_value > 0.
    Source: Duchi, Hazan and Singer (2011).
    """

    def __init__(self, learning_rate: Any, initial_accumulator_value: float = 0.1, use_locking: bool = False,
                 name: str = "Adagrad") -> None:
        if initial_accumulator_value <= 0.0:
            raise ArgumentError(expected="initial_accumulator_value > 0", found=initial_accumulator_value)
        super().__init__(use_locking, name)
        self._learning_rate, self._initial = learning_rate, initial_accumulator_value

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            initial = filled_like(var, Constant(self._initial), var.dtype.base_dtype)
            self._get_or_make_slot(var, initial, "accumulator", self._name)

    def _prepare(self) -> None:
        self._rate = setting(self._learning_rate, "learning_rate")

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return step("ApplyAdagrad", var, self.get_slot(var, "accumulator"), self._rate, grad)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        return step("SparseApplyAdagrad", var, self.get_slot(var, "accumulator"), self._rate, grad.values, grad.indices)
