"""Moving averages of variables, for evaluation with steadier parameters."""
from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from ...core.collections import GraphKeys
from ...core.convert import convert_to_tensor
from ...core.dtypes import FLOATS, float32
from ...core.errors import ArgumentError, KindError
from ...core.graph import get_default_graph
from ...core.op import build
from ..control.dependencies import control_dependencies, group, init_scope, name_scope
from ..variables.assignment import global_variables, moving_average_variables, trainable_variables
from ..variables.initializers import Zeros
from ..variables.variable import Variable
from ..variables.variable_scope import get_variable, variable_scope
from .one_op import cast_like
from .slots import create_slot, create_zeros_slot


class ExponentialMovingAverage:
    """Keeps average = decay * average + (1 - decay) * variable, for each variable.

    num_updates: a count of steps; decay is then at most (1 + num_updates) / (10 + num_updates).
    zero_debias: averages of tensors, which begin at 0, are corrected for that; those of variables
    begin at the initial value. Source: Polyak and Juditsky (1992), with forgetting.
    """

    def __init__(self, decay: Any, num_updates: Any = None, zero_debias: bool = False,
                 name: str = "ExponentialMovingAverage") -> None:
        self._decay, self._num_updates, self._zero_debias, self.name = decay, num_updates, zero_debias, name
        self._averages: dict[Any, Variable] = {}
        self._debiased: set[Variable] = set()

    def apply(self, var_list: Sequence[Any] | None = None) -> Any:
        """The operation that updates the averages; the trainable variables' by default.

        Raises KindError (TypeError) for other than floating variables and tensors.
        """
        variables = trainable_variables() if var_list is None else list(var_list)
        for var in variables:
            if var.dtype.base_dtype not in FLOATS:
                raise KindError(expected="floating variables to average",
                                found=f"{var.name!r} of dtype {var.dtype.name}")
            if var not in self._averages:
                self._averages[var] = self._new(var)
        with name_scope(self.name) as scope:
            decay = self._present_decay()
            updates = [assign_moving_average(self._averages[v], v, decay, self._averages[v] in self._debiased)
                       for v in variables]
            return group(*updates, name=scope)

    def _new(self, var: Any) -> Variable:
        with init_scope():
            if isinstance(var, Variable):
                average = create_slot(var, var.initialized_value(), self.name)
                var.graph.add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, var)
                return average
            average = create_zeros_slot(var, self.name)
            if self._zero_debias:
                self._debiased.add(average)
            return average

    def _present_decay(self) -> Any:
        decay = convert_to_tensor(self._decay, name="decay")
        if self._num_updates is None:
            return decay
        updates = build.Cast(self._num_updates, dtype=float32, name="num_updates")
        return build.Minimum(decay, (1.0 + updates) / (10.0 + updates))

    def average(self, var: Any) -> Variable | None:
        """The variable that holds the average of `var`, or None."""
        return self._averages.get(var)

    def average_name(self, var: Any) -> str:
        """The name of the average of `var`, made or not."""
        if var in self._averages:
            return self._averages[var].op.name
        return get_default_graph().unique_name(f"{var.op.name}/{self.name}", mark_as_used=False)

    def variables_to_restore(self, moving_avg_variables: Sequence[Variable] | None = None) -> dict[str, Variable]:
        """Variables by the name of what to load into them: averages where there are, else their own."""
        if moving_avg_variables is None:
            averaged = dict.fromkeys([*trainable_variables(), *moving_average_variables()])
        else:
            averaged = dict.fromkeys(moving_avg_variables)
        names = {self.average_name(v): v for v in averaged}
        taken = {v.name for v in averaged}
        names.update({v.op.name: v for v in dict.fromkeys(global_variables())
                      if v.name not in taken and v.op.name not in names})
        return names


def assign_moving_average(variable: Variable, value: Any, decay: Any, zero_debias: bool = True,
                          name: str | None = None) -> Any:
    """variable -= (1 - decay) * (variable - value); gives the reference after it.

    zero_debias: the average so far is divided by the weight it has had, 1 - decay ** steps.
    """
    with name_scope(name, "AssignMovingAvg", [value]) as scope:
        kept = cast_like(convert_to_tensor(1.0 - decay, name="decay"), variable)
        if zero_debias:
            return _debiased(variable, value, kept)
        return variable.assign_sub((variable.as_tensor() - value) * kept, name=scope)


def weighted_moving_average(value: Any, decay: Any, weight: Any, truediv: bool = True, collections: Any = None,
                            name: str | None = None) -> Any:
    """The average of value * weight over that of weight, both moved by 1 - decay. collections: of the variables."""
    with variable_scope(name, "WeightedMovingAvg", [value, weight]):
        value, weight = convert_to_tensor(value), convert_to_tensor(weight)
        parts = []
        for part, x in (("value_x_weight", value * weight), ("weight", weight)):
            kept = get_variable(part, x.shape, x.dtype.base_dtype, initializer=Zeros(), trainable=False,
                                collections=collections)
            parts.append(assign_moving_average(kept, x, decay, zero_debias=False))
        return parts[0] / parts[1] if truediv else parts[0] // parts[1]


def _debiased(variable: Variable, value: Any, kept: Any) -> Any:
    """The average of a tensor: its biased sum and its count of steps are variables of their own."""
    if not variable.shape.is_fully_defined():
        raise ArgumentError(expected=f"a known shape to correct the bias of {variable.name!r}", found=variable.shape)
    dtype = variable.dtype.base_dtype
    with variable_scope(variable.name.rpartition(":")[0], values=[value]) as scope:
        def own(name: str, shape: Any) -> Variable:
            """The variable of that name; another one where it is there and not reused."""
            there = {v.name.rpartition(":")[0] for v in scope.global_variables()}
            names = (name if i == 0 else f"{name}_{i}" for i in itertools.count())
            free = name if scope.reuse else next(n for n in names if f"{scope.name}/{n}" not in there)
            return get_variable(free, shape, dtype, initializer=Zeros(), trainable=False)

        biased, count = own("biased", variable.shape), own("local_step", [])
    total = biased.assign_sub((biased.as_tensor() - value) * kept)
    steps = count.assign_add(1)
    with control_dependencies([total, steps]):
        return variable.assign(biased.read_value() / (1 - (1 - kept) ** count.read_value()))
