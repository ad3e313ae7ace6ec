"""tensorflow.python.framework.subscribe: side effects that a tensor has whenever it is computed for somebody."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ....core import nest
from ....core.errors import KindError
from ....core.graph import Operation, Tensor
from ....core.op import build


def subscribe(tensors: Any, side_effects: Any) -> Any:
    """The tensors, in a structure or alone, such that whatever takes one runs its side effects first.

    side_effects: functions of the tensor to a list of what is to run, or one such function. Returns the identities
    that operations made so far take from now on; a tensor has one, however often this is called. Raises KindError
    (TypeError) for what is neither tensor nor variable.
    """
    functions = [side_effects] if callable(side_effects) else side_effects
    waiting: dict[Operation, list[Operation]] = {}
    return nest.map_structure(lambda tensor: _subscribed(tensor, functions, waiting), tensors)


def _is_subscribed_identity(tensor: Tensor) -> bool:
    return tensor.op.type == "Identity" and tensor.op.name.startswith(f"{tensor.op.inputs[0].op.name}/subscription/")


def _subscribed(given: Any, functions: Sequence[Callable[[Tensor], Any]],
                waiting: dict[Operation, list[Operation]]) -> Tensor:
    """waiting: what waited, before all this, for the operations of tensors that were had so far."""
    tensor = given.value() if hasattr(given, "as_tensor") else given
    if not isinstance(tensor, Tensor):
        raise KindError(f"{given!r} has invalid type {type(given)}: expected a tensor, a variable or several")
    if not tensor.dtype.is_numpy_compatible:
        return tensor
    source = tensor.op.inputs[0] if _is_subscribed_identity(tensor) else tensor
    known = next((op.outputs[0] for op in source.consumers() if _is_subscribed_identity(op.outputs[0])), None)
    waiting.setdefault(source.op, source.op._control_outputs)
    graph, taken, scope = source.graph, source.consumers(), f"{source.op.name}/subscription/"
    with graph.as_default(), graph.device(source.op.device or None), graph.name_scope(scope):
        effects = [effect for function in functions for effect in function(source)]
        if known is not None:
            known.op._add_control_inputs([getattr(effect, "op", effect) for effect in effects])
            return known
        with graph.control_dependencies(effects):
            found = build.Identity(source)
    for op in taken:
        for index, old in enumerate(op.inputs):
            if old is source:
                op._update_input(index, found)
    for op in waiting[source.op]:
        op._changed(waits_for=(*(other for other in op.waits_for if other is not source.op), found.op))
    return found
