"""tensorflow.python.ops.custom_gradient: a module of that name, with the decorator of that name in it."""
from __future__ import annotations

from typing import Any

from ...api.control.custom import custom_gradient
from ...api.control.recompute import grad_pass_through, recompute_grad
from ...api.variables.assignment import trainable_variables
from ...core import nest
from ...core.graph import Operation
from ...core.op import REGISTERED_GRADIENTS
from ...core.traversal import reached

__all__ = ["copy_handle_data", "custom_gradient", "get_dependent_variables", "grad_pass_through", "recompute_grad"]


def copy_handle_data(source_t: Any, target_t: Any) -> None:
    """Without effect: what a handle stands for is found by where it comes from."""


def get_dependent_variables(input_ops: Any, output_ops: Any) -> list[Any]:
    """The trainable variables that gradients of the outputs reach on another way than through the inputs.

    input_ops, output_ops: nested tensors of the default graph.
    """
    ends = {tensor.op for tensor in nest.flatten(input_ops)}

    def behind(op: Operation) -> list[Operation]:
        rule = REGISTERED_GRADIENTS.get(op.override or op.type, op.definition.gradient_rule)
        return [] if rule is None or op in ends else [tensor.op for tensor in op.inputs]

    found = reached([tensor.op for tensor in nest.flatten(output_ops)], behind) - ends
    return [variable for variable in trainable_variables() if variable.op in found]
