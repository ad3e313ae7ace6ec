"""Follow the regularized leader."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.errors import ArgumentError
from ...core.indexed_slices import IndexedSlices
from ..variables.initializers import Constant
from .optimizer import Optimizer
from .slots import filled_like
from .steps import setting, step


class FtrlOptimizer(Optimizer):
    """The variable computed anew from sums of past gradients, small ones at exactly zero.

    learning_rate_power: <= 0; -0.5 divides by the root of the squares. l1, l2: penalties;
    l2_shrinkage: one on magnitude that does not enter the sum of squares. Raises ArgumentError
    (ValueError) for negative penalties, a negative initial accumulator or a positive power.
    Source: McMahan et al. (2013), algorithm 1.
    """

    def __init__(self, learning_rate: Any, learning_rate_power: float = -0.5, initial_accumulator_value: float = 0.1,
                 l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0,
                 use_locking: bool = False, name: str = "Ftrl", accum_name: str | None = None,
                 linear_name: str | None = None, l2_shrinkage_regularization_strength: float = 0.0) -> None:
        super().__init__(use_locking, name)
        for what, value in (("initial_accumulator_value", initial_accumulator_value),
                            ("l1_regularization_strength", l1_regularization_strength),
                            ("l2_regularization_strength", l2_regularization_strength),
                            ("l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength)):
            if value < 0.0:
                raise ArgumentError(expected=f"{what} >= 0", found=value)
        if learning_rate_power > 0.0:
            raise ArgumentError(expected="learning_rate_power <= 0", found=learning_rate_power)
        self._initial, self._accum_name, self._linear_name = initial_accumulator_value, accum_name, linear_name
        self._learning_rate, self._power = learning_rate, learning_rate_power
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength
        self._shrinkage = l2_shrinkage_regularization_strength

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            initial = filled_like(var, Constant(self._initial), var.dtype.base_dtype)
            self._get_or_make_slot(var, initial, "accum", self._accum_name or self._name)
            self._zeros_slot(var, "linear", self._linear_name or self._name)

    def _prepare(self) -> None:
        self._settings = [setting(self._learning_rate, "learning_rate"),
                          setting(self._l1, "l1_regularization_strength"),
                          setting(self._l2, "l2_regularization_strength")]
        if self._shrinkage > 0:
            self._settings.append(setting(self._shrinkage, "l2_shrinkage_regularization_strength"))
        self._settings.append(setting(self._power, "learning_rate_power"))

    def _step(self, kind: str, var: Any, *gradient: Any) -> Any:
        return step(f"{kind}V2" if self._shrinkage > 0 else kind, var, self.get_slot(var, "accum"),
                    self.get_slot(var, "linear"), *gradient, *self._settings)

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._step("ApplyFtrl", var, grad)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        return self._step("SparseApplyFtrl", var, grad.values, grad.indices)
