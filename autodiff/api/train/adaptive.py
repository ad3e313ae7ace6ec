"""Optimizers that fit the rate of each element to its gradients: Adagrad, Adadelta, RMSProp, Adam, FTRL."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.errors import ArgumentError
from ...core.indexed_slices import IndexedSlices
from ...core.op import build
from ..control.dependencies import control_dependencies, group
from ..variables.initializers import Constant, Ones
from .one_op import OneOpOptimizer, above_zero, cast_like, setting, step
from .optimizer import Optimizer


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


class AdamOptimizer(Optimizer):
    """The mean gradient over its root mean square, both corrected for starting at zero.

    epsilon is added outside of the correction ("epsilon hat"). With a sparse gradient every row moves, as the means of
    rows that were not looked up decay. Source: Kingma and Ba (2015), algorithm 1 and the remark before section 2.1.
    """

    _use_nesterov = False

    def __init__(self, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-8,
                 use_locking: bool = False, name: str = "Adam") -> None:
        super().__init__(use_locking, name)
        self._lr, self._beta1, self._beta2, self._epsilon = learning_rate, beta1, beta2, epsilon

    def _get_beta_accumulators(self) -> tuple[Any, Any]:
        return self._get_non_slot_variable("beta1_power"), self._get_non_slot_variable("beta2_power")

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        first = min(var_list, key=lambda var: var.name)
        self._create_non_slot_variable(self._call_if_callable(self._beta1), "beta1_power", first)
        self._create_non_slot_variable(self._call_if_callable(self._beta2), "beta2_power", first)
        for var in var_list:
            self._zeros_slot(var, "m", self._name)
            self._zeros_slot(var, "v", self._name)

    def _prepare(self) -> None:
        given = self._lr, self._beta1, self._beta2, self._epsilon
        self._settings = tuple(map(setting, given, ("learning_rate", "beta1", "beta2", "epsilon")))

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        powers = [power.as_tensor() for power in self._get_beta_accumulators()]
        return step("ApplyAdam", var, self.get_slot(var, "m"), self.get_slot(var, "v"), *powers, *self._settings, grad,
                    use_nesterov=self._use_nesterov)

    def _settings_for(self, var: Any) -> tuple[Any, Any, Any, Any]:
        """The rate, corrected for starting at zero, beta1, beta2 and epsilon in the dtype of the variable."""
        beta1_power, beta2_power = (cast_like(p.as_tensor(), var) for p in self._get_beta_accumulators())
        rate, beta1, beta2, epsilon = (cast_like(tensor, var) for tensor in self._settings)
        return rate * build.Sqrt(1 - beta2_power) / (1 - beta1_power), beta1, beta2, epsilon

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        rate, beta1, beta2, epsilon = self._settings_for(var)
        mean = decayed(self.get_slot(var, "m"), beta1, grad.values * (1 - beta1), grad)
        square = decayed(self.get_slot(var, "v"), beta2, grad.values * grad.values * (1 - beta2), grad)
        update = var.assign_sub(rate * mean / (build.Sqrt(square) + epsilon))
        return group(update, mean, square)

    def _finish(self, update_ops: Sequence[Any], name_scope: str) -> Any:
        with control_dependencies(update_ops):
            beta1_power, beta2_power = self._get_beta_accumulators()
            powers = [beta1_power.assign(beta1_power * cast_like(self._settings[1], beta1_power)),
                      beta2_power.assign(beta2_power * cast_like(self._settings[2], beta2_power))]
        return group(*update_ops, *powers, name=name_scope)


def decayed(slot: Any, beta: Any, rows: Any, grad: IndexedSlices) -> Any:
    """The whole slot times beta, plus rows; gives its value afterwards."""
    with control_dependencies([slot.assign(slot * beta)]):
        return slot.scatter_add(IndexedSlices(rows, grad.indices, grad.dense_shape))


class RMSPropOptimizer(OneOpOptimizer):
    """The gradient over the root of its mean square, with momentum. The mean square begins at 1.

    decay: how much of the mean is kept. centered: over the deviation in place of the root mean square.
    Source: Tieleman and Hinton (2012), lecture 6.5; centered: Graves (2013).
    """

    def __init__(self, learning_rate: Any, decay: Any = 0.9, momentum: Any = 0.0, epsilon: Any = 1e-10,
                 use_locking: bool = False, centered: bool = False, name: str = "RMSProp") -> None:
        super().__init__(use_locking, name, "CenteredRMSProp" if centered else "RMSProp",
                         {"rms": Ones(), **({"mg": None} if centered else {}), "momentum": None}, {
            "learning_rate": learning_rate, "decay": decay, "momentum": momentum, "epsilon": epsilon})

    def _slots_of(self, var: Any) -> list[Any]:
        return [self.get_slot(var, slot) for slot in ("mg", "rms", "momentum") if slot in self._kept]


class FtrlOptimizer(OneOpOptimizer):
    """The variable computed anew from sums of past gradients, small ones at exactly zero.

    learning_rate_power: <= 0; -0.5 divides by the root of the squares. l1, l2: penalties; l2_shrinkage: one on
    magnitude that does not enter the sum of squares. Raises ArgumentError (ValueError) for negative penalties, a
    negative initial accumulator or a positive power. Source: McMahan et al. (2013), algorithm 1.
    """

    def __init__(self, learning_rate: Any, learning_rate_power: float = -0.5, initial_accumulator_value: float = 0.1,
                 l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0,
                 use_locking: bool = False, name: str = "Ftrl", accum_name: str | None = None,
                 linear_name: str | None = None, l2_shrinkage_regularization_strength: float = 0.0) -> None:
        penalties = {"l1_regularization_strength": l1_regularization_strength,
                     "l2_regularization_strength": l2_regularization_strength,
                     "l2_shrinkage_regularization_strength": l2_shrinkage_regularization_strength}
        for what, value in {"initial_accumulator_value": initial_accumulator_value, **penalties}.items():
            if value < 0.0:
                raise ArgumentError(expected=f"{what} >= 0", found=value)
        if learning_rate_power > 0.0:
            raise ArgumentError(expected="learning_rate_power <= 0", found=learning_rate_power)
        if not l2_shrinkage_regularization_strength:
            del penalties["l2_shrinkage_regularization_strength"]
        super().__init__(use_locking, name, "FtrlV2" if l2_shrinkage_regularization_strength else "Ftrl",
                         {"accum": Constant(initial_accumulator_value), "linear": None},
                         {"learning_rate": learning_rate, **penalties, "learning_rate_power": learning_rate_power},
                         before=0, scopes={"accum": accum_name, "linear": linear_name})
