"""Kinds of Adam, and decay of weights apart from the loss."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....core.convert import convert_to_tensor
from ....core.graph import Tensor
from ....core.indexed_slices import IndexedSlices
from ....core.op import build
from ...arrays.gathering import gather
from ...control.dependencies import control_dependencies, group
from ...train.adaptive import AdamOptimizer, decayed
from ...train.gradient_descent import MomentumOptimizer
from ...train.one_op import cast_like, step
from ...train.optimizer import GradsAndVars

__all__ = ["AdaMaxOptimizer", "AdamWOptimizer", "DecoupledWeightDecayExtension", "LazyAdamOptimizer",
           "MomentumWOptimizer", "NadamOptimizer", "extend_with_decoupled_weight_decay"]


def _rows(values: Any, grad: IndexedSlices) -> IndexedSlices:
    return IndexedSlices(values, grad.indices, grad.dense_shape)


class _Adam(AdamOptimizer):
    def _moments(self, var: Any) -> tuple[Any, Any]:
        return self.get_slot(var, "m"), self.get_slot(var, "v")


class NadamOptimizer(AdamOptimizer):
    """Adam that looks a step ahead along its mean, as Nesterov's momentum does. Source: Dozat (2016), algorithm 8."""

    _use_nesterov = True

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        rate, beta1, beta2, epsilon = self._settings_for(var)
        mean = decayed(self.get_slot(var, "m"), beta1, grad.values * (1 - beta1), grad)
        square = decayed(self.get_slot(var, "v"), beta2, grad.values * grad.values * (1 - beta2), grad)
        ahead = grad.values * (1 - beta1) + beta1 * gather(mean, grad.indices)
        change = rate * ahead / (build.Sqrt(gather(square, grad.indices)) + epsilon)
        return group(var.scatter_sub(_rows(change, grad)), mean, square)


class LazyAdamOptimizer(_Adam):
    """Adam that with a sparse gradient moves, and lets decay, only the rows that were looked up."""

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        rate, beta1, beta2, epsilon = self._settings_for(var)
        m, v = self._moments(var)
        mean = beta1 * gather(m, grad.indices) + (1 - beta1) * grad.values
        square = beta2 * gather(v, grad.indices) + (1 - beta2) * build.Square(grad.values)
        change = rate * mean / (build.Sqrt(square) + epsilon)
        return group(var.scatter_sub(_rows(change, grad)), m.scatter_update(_rows(mean, grad)),
                     v.scatter_update(_rows(square, grad)))


class AdaMaxOptimizer(_Adam):
    """The mean gradient over its largest size, which decays. Source: Kingma and Ba (2015), algorithm 2."""

    def __init__(self, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-8,
                 use_locking: bool = False, name: str = "AdaMax") -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _get_beta_accumulators(self) -> Any:
        return self._get_non_slot_variable("beta1_power")

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        self._create_non_slot_variable(self._beta1, "beta1_power", min(var_list, key=lambda var: var.name))
        for var in var_list:
            self._zeros_slot(var, "m", self._name)
            self._zeros_slot(var, "v", self._name)

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return step("ApplyAdaMax", var, *self._moments(var), self._get_beta_accumulators().as_tensor(),
                    *self._settings, grad)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        rate, beta1, beta2, epsilon = (cast_like(tensor, var) for tensor in self._settings)
        m, v = self._moments(var)
        mean = gather(m, grad.indices) * beta1 + grad.values * (1 - beta1)
        largest = build.Maximum(gather(v, grad.indices) * beta2, build.Abs(grad.values))
        power = cast_like(self._get_beta_accumulators().as_tensor(), var)
        change = rate / (1 - power) * (mean / (largest + epsilon))
        return group(var.scatter_sub(_rows(change, grad)), m.scatter_update(_rows(mean, grad)),
                     v.scatter_update(_rows(largest, grad)))

    def _finish(self, update_ops: Sequence[Any], name_scope: str) -> Any:
        with control_dependencies(update_ops):
            power = self._get_beta_accumulators()
            return group(*update_ops, power.assign(power * cast_like(self._settings[1], power)), name=name_scope)


class DecoupledWeightDecayExtension:
    """Before an optimizer, as a base class: it first takes weight_decay times itself from each variable.

    decay_var_list: only of these, of apply_gradients; minimize has it without effect, as in TensorFlow.
    Source: Loshchilov and Hutter (2019), algorithm 2.
    """

    _decayed_ones: Any = ()

    def __init__(self, weight_decay: Any, **options: Any) -> None:
        self._weight_decay = weight_decay
        super().__init__(**options)

    def minimize(self, loss: Any, *args: Any, decay_var_list: Any = None, **options: Any) -> Any:
        """The operation that takes one step against the gradient of `loss`; see Optimizer."""
        return super().minimize(loss, *args, **options)  # type: ignore[misc]

    def apply_gradients(self, grads_and_vars: GradsAndVars, global_step: Any = None, name: str | None = None,
                        decay_var_list: Any = None) -> Any:
        """The operation that takes one step with given gradients; see Optimizer."""
        self._decayed_ones = set(decay_var_list or ())
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)  # type: ignore[misc]

    def _prepare(self) -> None:
        given = self._weight_decay() if callable(self._weight_decay) else self._weight_decay
        self._decay_tensor = convert_to_tensor(given, name="weight_decay")
        super()._prepare()  # type: ignore[misc]

    def _decays(self, grad: Tensor, var: Any, rows: IndexedSlices | None = None) -> Any:
        """The operations that the step waits for; a gradient is of what the variable was before."""
        if self._decayed_ones and var not in self._decayed_ones:
            return control_dependencies([])
        with control_dependencies([grad]):
            factor = cast_like(self._decay_tensor, var)
            if rows is None:
                return control_dependencies([var.assign_sub(factor * var)])
            return control_dependencies([var.scatter_sub(_rows(factor * gather(var, rows.indices), rows))])

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        with self._decays(grad, var):
            return super()._apply_dense(grad, var)  # type: ignore[misc]

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        with self._decays(grad.values, var, grad):
            return super()._apply_sparse(grad, var)  # type: ignore[misc]


def extend_with_decoupled_weight_decay(base_optimizer: type) -> type:
    """The class of an optimizer with decay of weights: its first argument is weight_decay, the others have names."""
    class OptimizerWithDecoupledWeightDecay(DecoupledWeightDecayExtension, base_optimizer):
        """The optimizer, after a decay of the weights."""

    return OptimizerWithDecoupledWeightDecay


class MomentumWOptimizer(DecoupledWeightDecayExtension, MomentumOptimizer):
    """MomentumOptimizer with decay of weights."""

    def __init__(self, weight_decay: Any, learning_rate: Any, momentum: Any, use_locking: bool = False,
                 name: str = "MomentumW", use_nesterov: bool = False) -> None:
        super().__init__(weight_decay, learning_rate=learning_rate, momentum=momentum, use_locking=use_locking,
                         name=name, use_nesterov=use_nesterov)


class AdamWOptimizer(DecoupledWeightDecayExtension, AdamOptimizer):
    """AdamOptimizer with decay of weights."""

    def __init__(self, weight_decay: Any, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999,
                 epsilon: Any = 1e-8, use_locking: bool = False, name: str = "AdamW") -> None:
        super().__init__(weight_decay, learning_rate=learning_rate, beta1=beta1, beta2=beta2, epsilon=epsilon,
                         use_locking=use_locking, name=name)
