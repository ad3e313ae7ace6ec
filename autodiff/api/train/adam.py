"""Adam."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.indexed_slices import IndexedSlices
from ...core.op import build
from ..control.dependencies import control_dependencies, group
from .optimizer import Optimizer
from .steps import cast_like, setting, step


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
