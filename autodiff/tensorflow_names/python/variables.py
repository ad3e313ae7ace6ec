"""tensorflow.python.ops.variables and resource_variable_ops: variables under the names of their classes."""
from __future__ import annotations

from typing import Any

from ...api.variables.partitioned import PartitionedVariable, PartitionInfo
from ...api.variables.variable import ResourceVariable
from ...api.variables.variable import Variable as VariableV1

__all__ = ["PartitionedVariable", "ResourceVariable", "Variable", "VariableV1"]
RefVariable = VariableV1


class _OfEveryKind(type(VariableV1)):  # type: ignore[misc]
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, VariableV1)

    def __call__(cls, *args: Any, **options: Any) -> Any:
        return VariableV1(*args, **{"use_resource": True, **options})


class Variable(VariableV1, metaclass=_OfEveryKind):
    """TensorFlow 2's class of variables, which this module has under the name: a call makes a resource variable."""


def is_resource_variable(var: Any) -> bool:
    """Whether this is a variable whose reads are ordered."""
    return bool(getattr(var, "is_resource", False))


class Trackable:
    """What object-based checkpoints follow; they are not written here."""


AutoTrackable = Trackable


_PartitionInfo = PartitionInfo
