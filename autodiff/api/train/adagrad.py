"""Adagrad, plain, with dual averaging, and with penalties that set small elements to exactly zero; Adadelta."""
from __future__ import annotations

from typing import Any

from ...core.op import build
from .one_op import OneOpOptimizer, above_zero
from .steps import setting


class AdagradOptimizer(OneOpOptimizer):
    """accumulator += gradient ** 2; var -= learning_rate * gradient / sqrt(accumulator).

    Raises ArgumentError (ValueError) unless initial_accumulator_value > 0. Source: Duchi, Hazan and Singer (2011).
    """

    def __init__(self, learning_rate: Any, initial_accumulator_value: float = 0.1, use_locking: bool = False,
                 name: str = "Adagrad") -> None:
        super().__init__(use_locking, name, "Adagrad", {"accumulator": above_zero(
            "initial_accumulator_value", initial_accumulator_value)}, {"learning_rate": learning_rate})


class AdagradDAOptimizer(OneOpOptimizer):
    """Each step computes the variable anew from the sums of all gradients and their squares.

    global_step: the variable that counts steps; the penalties grow with it. Raises ArgumentError (ValueError) unless
    initial_gradient_squared_accumulator_value > 0. Source: Duchi, Hazan and Singer (2011), section 5.
    """

    def __init__(self, learning_rate: Any, global_step: Any, initial_gradient_squared_accumulator_value: float = 0.1,
                 l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0,
                 use_locking: bool = False, name: str = "AdagradDA") -> None:
        first = above_zero("initial_gradient_squared_accumulator_value", initial_gradient_squared_accumulator_value)
        super().__init__(use_locking, name, "AdagradDA", {
            "gradient_accumulator": None, "gradient_squared_accumulator": first}, {"learning_rate": learning_rate},
            before=0)
        self._global_step = global_step
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def _step(self, kind: str, var: Any, *gradient: Any, behind: Any = ()) -> Any:
        next_step = build.Cast(self._global_step + 1, dtype="int64")
        return super()._step(kind, var, *gradient, behind=(setting(self._l1, "l1"), setting(self._l2, "l2"), next_step))


class ProximalAdagradOptimizer(OneOpOptimizer):
    """Adagrad, then shrinking toward zero by l1 and l2. Source: Duchi and Singer (2009).

    Raises ArgumentError (ValueError) unless initial_accumulator_value > 0.
    """

    def __init__(self, learning_rate: Any, initial_accumulator_value: float = 0.1,
                 l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0,
                 use_locking: bool = False, name: str = "ProximalAdagrad") -> None:
        super().__init__(use_locking, name, "ProximalAdagrad", {
            "accumulator": above_zero("initial_accumulator_value", initial_accumulator_value)}, {
            "learning_rate": learning_rate, "l1_regularization_strength": l1_regularization_strength,
            "l2_regularization_strength": l2_regularization_strength})


class AdadeltaOptimizer(OneOpOptimizer):
    """The gradient times the root mean square of past steps over that of past gradients.

    rho: how much of the means is kept. Source: Zeiler (2012).
    """

    def __init__(self, learning_rate: Any = 0.001, rho: Any = 0.95, epsilon: Any = 1e-8, use_locking: bool = False,
                 name: str = "Adadelta") -> None:
        super().__init__(use_locking, name, "Adadelta", {"accum": None, "accum_update": None},
                         {"lr": learning_rate, "rho": rho, "epsilon": epsilon})
