"""Variables as a whole: lists of them, initializing, assigning."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.collections import GraphKeys, get_collection
from ...core.convert import convert_to_tensor
from ...core.errors import ArgumentError, KindError
from ...core.graph import Operation, Tensor, get_default_graph
from ...core.name_scope import scope
from ...core.op import build
from ..arrays.gathering import full_places
from ..common.made import named
from ..control.dependencies import group
from .variable import Variable


def _variables_of(name: str, words: str) -> Callable[..., list[Variable]]:
    """`scope` is a regex for the start of their names."""
    def listed(scope: str | None = None) -> list[Variable]:
        return get_collection(getattr(GraphKeys, name.upper()), scope)

    return named(listed, name, words)


global_variables = all_variables = _variables_of("global_variables", "Variables of the default graph that sessions "
                                                 "keep; `scope` is a regex for the start of their names.")
local_variables = _variables_of("local_variables", "Variables that are not saved, such as counters of metrics.")
trainable_variables = _variables_of("trainable_variables", "Variables that optimizers change by default.")
model_variables = _variables_of("model_variables", "Variables in the collection MODEL_VARIABLES.")
moving_average_variables = _variables_of("moving_average_variables", "The variables that have a moving average.")


def variables_initializer(var_list: Sequence[Variable], name: str = "init") -> Operation:
    """The operation that gives these variables their initial values."""
    return group(*[v.initializer for v in var_list if v.initializer is not None], name=name)


def global_variables_initializer() -> Operation:
    """The operation that gives all global variables their initial values."""
    return variables_initializer(global_variables())


def local_variables_initializer() -> Operation:
    """The operation that gives all local variables their initial values."""
    return variables_initializer(local_variables())


def tables_initializer(name: str = "init_all_tables") -> Operation:
    """The operation that fills all lookup tables."""
    return group(*get_collection(GraphKeys.TABLE_INITIALIZERS), name=name)


initialize_all_tables = tables_initializer
initialize_variables = variables_initializer
initialize_all_variables = global_variables_initializer
initialize_local_variables = local_variables_initializer


def is_variable_initialized(variable: Any, name: str | None = None) -> Tensor:
    """Whether the session holds a value for the variable, or for that of a reference. -> bool[]."""
    if hasattr(variable, "is_initialized"):
        return variable.is_initialized(name)
    return build.IsVariableInitialized(variable, name=name)


def report_uninitialized_variables(var_list: Sequence[Variable] | None = None,
                                   name: str = "report_uninitialized_variables") -> Tensor:
    """Names of the variables without a value; of all global and local ones by default. -> string[n]."""
    variables = [*global_variables(), *local_variables()] if var_list is None else list(var_list)
    with get_default_graph().name_scope(name) as scope:
        if not variables:
            return convert_to_tensor([], "string", name=scope)
        missing = build.LogicalNot(build.Pack(*[v.is_initialized() for v in variables], axis=0))
        names = convert_to_tensor([v.op.name for v in variables])
        return build.GatherV2(names, build.Reshape(build.Where(missing), [-1]), 0, name=scope)


def assert_variables_initialized(var_list: Sequence[Variable] | None = None) -> Tensor | None:
    """A tensor whose evaluation fails unless all variables have values; None if there are none."""
    variables = [*global_variables(), *local_variables()] if var_list is None else list(var_list)
    return None if not variables else build.Pack(*[build.Rank(v.as_tensor()) for v in variables], axis=0)


def assign(ref: Variable, value: Any, validate_shape: bool | None = None, use_locking: bool | None = None,
           name: str | None = None) -> Any:
    """Give a variable a new value; gives the reference after it.

    validate_shape: False allows a value of another shape. Raises ShapeError (ValueError) for a
    shape that differs, DTypeError (TypeError) for a dtype that does.
    """
    reference = getattr(ref, "handle_tensor", ref)
    if not isinstance(reference, Tensor) or hasattr(ref, "assign") and (
            reference is ref or reference.dtype.name == "resource"):
        return ref.assign(value, name=name)  # of a part of a variable, or of a resource variable
    return build.Assign(reference, value, validate_shape=validate_shape is not False, name=name)


def assign_add(ref: Variable, value: Any, use_locking: bool | None = None, name: str | None = None) -> Any:
    """Add to a variable; gives the reference after it."""
    return ref.assign_add(value, name=name) if hasattr(ref, "assign_add") else build.AssignAdd(ref, value, name=name)


def assign_sub(ref: Variable, value: Any, use_locking: bool | None = None, name: str | None = None) -> Any:
    """Subtract from a variable; gives the reference after it."""
    return ref.assign_sub(value, name=name) if hasattr(ref, "assign_sub") else build.AssignSub(ref, value, name=name)


def count_up_to(ref: Variable, limit: int, name: str | None = None) -> Tensor:
    """Add 1 to an integer scalar variable and give what it was; OutOfRangeError once it has reached the limit."""
    reference = getattr(ref, "handle_tensor", ref)
    counting = build.ResourceCountUpTo if reference.dtype.name == "resource" else build.CountUpTo
    return counting(reference, limit=limit, name=name)


def _scatter(kind: str, text: str) -> Callable[..., Any]:
    def scatter(ref: Variable, indices: Any, updates: Any, use_locking: bool = True, name: str | None = None) -> Any:
        if not isinstance(ref, Variable):
            raise KindError(expected="a variable to change", found=repr(ref))
        return ref._rows_changed(kind, indices, updates, name)

    scatter.__doc__ = text
    return scatter


scatter_update = _scatter("ScatterUpdate", "Set rows: ref[indices] = updates; gives the reference after it.")
scatter_add = _scatter("ScatterAdd", "Add to rows, duplicates included; gives the reference after it.")
scatter_sub = _scatter("ScatterSub", "Subtract from rows, duplicates included; gives the reference after it.")
scatter_mul = _scatter("ScatterMul", "Multiply rows, duplicates included; gives the reference after it.")
scatter_div = _scatter("ScatterDiv", "Divide rows, duplicates included; gives the reference after it.")
scatter_min = _scatter("ScatterMin", "Keep the smaller of old and new rows; gives the reference after it.")
scatter_max = _scatter("ScatterMax", "Keep the larger of old and new rows; gives the reference after it.")
scatter_nd_update = _scatter("ScatterNdUpdate", "Set elements or slices by index vectors; gives the reference.")
scatter_nd_add = _scatter("ScatterNdAdd", "Add to elements or slices by index vectors; gives the reference.")
scatter_nd_sub = _scatter("ScatterNdSub", "Subtract from elements or slices by index vectors; gives the reference.")


def batch_scatter_update(ref: Variable, indices: Any, updates: Any, use_locking: bool = True,
                         name: str | None = None) -> Any:
    """Set slices along the last axis of the indices, each at its place of the leading ones; gives the reference.

    ref: any[b..., n, ...], indices: int[b..., k], updates: any[b..., k, ...]. Raises ArgumentError (ValueError) for
    indices of unknown rank.
    """
    with scope(name, "batch_scatter_update", [indices, updates]):
        indices = convert_to_tensor(indices, name="indices")
        if indices.dims is None:
            raise ArgumentError("batch_gather does not allow indices with unknown shape.")
        places = build.ExpandDims(indices, -1)
        if len(indices.dims) > 1:
            places = full_places(places, len(indices.dims) - 1)
        return scatter_nd_update(ref, places, updates)
