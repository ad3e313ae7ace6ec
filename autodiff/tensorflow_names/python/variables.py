"""tensorflow.python.ops.variables and resource_variable_ops: variables under the names of their classes."""
from __future__ import annotations

from typing import Any

from ...api.control.dependencies import group
from ...api.train.objects.checkpoint import Checkpoint, variables_below
from ...api.train.objects.object_graph import objects_below
from ...api.variables.eager_store import variables_by_name
from ...api.variables.initializers import Zeros
from ...api.variables.partitioned import PartitionedVariable, PartitionInfo
from ...api.variables.variable import ResourceVariable
from ...api.variables.variable import Variable as VariableV1
from ...api.variables.variable_scope import pure_variable_scope
from ...api.variables.variable_store import found_or_made
from ...core.collections import GraphKeys, get_collection
from ...core.convert import convert_to_tensor
from ...core.dtypes import as_dtype, float32, int32
from ...core.errors import ArgumentError
from ...core.graph import Tensor, get_default_graph
from ...core.infer import held
from ...core.op import build
from ...core.shapes import as_dims, is_known

__all__ = ["PartitionedVariable", "ResourceVariable", "Variable", "VariableV1"]
RefVariable = VariableV1


class _OfEveryKind(type(VariableV1)):  # type: ignore[misc]
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, VariableV1)

    def __call__(cls, *args: Any, **options: Any) -> Any:
        return VariableV1(*args, **{"use_resource": True, **options})


class Variable(VariableV1, metaclass=_OfEveryKind):
    """TensorFlow 2's class of variables, which this module has under the name: a call makes a resource variable."""


def _pure_variable_scope(name_or_scope: Any, reuse: Any = None, custom_getter: Any = None, **given: Any) -> Any:
    """variable_scope that leaves the names of ops alone."""
    return pure_variable_scope(name_or_scope, name_scope="", reuse=reuse, custom_getter=custom_getter, given=given)


def is_resource_variable(var: Any) -> bool:
    """Whether this is a variable whose reads are ordered."""
    return bool(getattr(var, "is_resource", False))


def variable_op(shape: Any, dtype: Any, name: str = "Variable", set_shape: bool = True, container: str = "",
                shared_name: str = "") -> Tensor:
    """The operation of a variable, without an initial value: its reference. set_shape: False leaves the shape open."""
    return build.VariableV2(shape=as_dims(shape) if set_shape else None, dtype=as_dtype(dtype), container=container,
                            shared_name=shared_name, name=name)


variable_op_v2 = variable_op


def variable_shape(handle: Tensor, out_type: Any = int32) -> Tensor:
    """The shape of the value behind a handle: a constant if it is known. -> int[rank]."""
    dims = held(handle).dims
    if is_known(dims):
        return convert_to_tensor(list(dims), as_dtype(out_type))  # type: ignore[arg-type]
    return build.Shape(build.ReadVariableOp(handle), out_type=out_type)


def _all_saveable_objects(scope: str | None = None) -> list[Any]:
    """What a Saver saves by default: global variables, and other state that a script has made."""
    return [*get_collection(GraphKeys.GLOBAL_VARIABLES, scope), *get_collection(GraphKeys.SAVEABLE_OBJECTS, scope)]


class VariableAggregationV2:
    """VariableAggregation without the old name."""

    NONE, SUM, MEAN, ONLY_FIRST_REPLICA = range(4)


_PartitionInfo = PartitionInfo
CheckpointV1 = Checkpoint
VARIABLE_VALUE_KEY = "VARIABLE_VALUE"  # of what a trackable object gives to be saved


class _VariableStore:
    """The variables of the default graph by their full names."""

    _vars = property(lambda self: variables_by_name(get_default_graph().outermost))
    get_variable = staticmethod(found_or_made)


def _get_default_variable_store() -> _VariableStore:
    return _VariableStore()


def add_variable(trackable: Any, name: str, shape: Any = None, dtype: Any = float32, initializer: Any = None) -> Any:
    """A variable that a trackable object holds under a name, whatever variables of the graph have it."""
    if any(name == each.name for each in trackable._checkpoint_dependencies):
        raise ArgumentError(f"A variable with the name {name!r} was already declared as a dependency of this object")
    given = initializer if callable(initializer) or initializer is None else None
    if given is not initializer:
        if shape is not None:
            raise ArgumentError("If initializer is a constant, do not specify shape.")
        return trackable._track_trackable(VariableV1(initializer, name=name, dtype=dtype, use_resource=True), name)
    begin = (given() if isinstance(given, type) else given) or Zeros()
    return trackable._track_trackable(VariableV1(lambda: begin(shape, dtype=dtype), name=name, dtype=dtype,
                                                 use_resource=True), name)


def list_objects(root: Any) -> list[Any]:
    """A trackable object and all that are below it, the nearest first."""
    return [holder for holder, _, _ in objects_below(root)]


def gather_initializers(root: Any) -> list[Any]:
    """The initializers of the variables below an object; nothing of other states."""
    return [v.initializer for v in variables_below(root)]


def shared_resources() -> list[Any]:
    """Tables and other state of the graph that is no variable."""
    return get_collection(GraphKeys.RESOURCES)


def initialize_resources(resource_list: Any, name: str = "init") -> Any:
    """The operation that initializes tables, variables and the like."""
    return group(*(resource.initializer for resource in resource_list), name=name)
