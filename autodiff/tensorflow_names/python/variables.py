"""tensorflow.python.ops.variables and resource_variable_ops: variables under the names of their classes."""
from __future__ import annotations

from typing import Any

from ...api.variables.partitioned import PartitionedVariable, PartitionInfo
from ...api.variables.variable import ResourceVariable, Variable

__all__ = ["PartitionedVariable", "ResourceVariable"]
VariableV1 = RefVariable = Variable


def is_resource_variable(var: Any) -> bool:
    """Whether this is a variable whose reads are ordered."""
    return bool(getattr(var, "is_resource", False))


class Trackable:
    """What object-based checkpoints follow; they are not written here."""


AutoTrackable = Trackable


_PartitionInfo = PartitionInfo
