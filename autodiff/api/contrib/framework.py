"""tf.contrib.framework: model variables, looking variables up by name, arg_scope."""
from __future__ import annotations

import functools
import re
from typing import Any

import numpy as np

from ...core.collections import GraphKeys, get_collection
from ...core.convert import convert_to_tensor
from ...core.dtypes import float32
from ...core.errors import ArgumentError, KindError, ShapeError
from ...core.graph import Graph, get_default_graph
from ...core.names import did_you_mean
from ..arrays.creation import placeholder
from ..common import nest_shallow as nest  # noqa: F401  tf.contrib.framework.nest
from ..common.made import named
from ..common.unsupported import refusing
from ..control.dependencies import device as on_device
from ..control.dependencies import group
from ..control.known_choice import smart_cond
from ..train.checkpoints import list_variables, load_checkpoint, load_variable
from ..train.global_step import assert_global_step, create_global_step, get_global_step, get_or_create_global_step
from ..train.saved_variables import fitting, named_variables
from ..train.saver import Saver
from ..train.warm_start import init_from_checkpoint
from ..variables.convolution_initializers import *
from ..variables.convolution_initializers import __all__ as _initializer_names
from ..variables.variable import Variable
from ..variables.variable_scope import VariableScope, get_variable, get_variable_scope
from .arg_scope import *
from .arg_scope import __all__ as _arg_scope_names

__all__ = ["add_model_variable", "assert_global_step", "assert_or_get_global_step", "assert_scalar",
           "assign_from_checkpoint", "assign_from_checkpoint_fn", "assign_from_values", "assign_from_values_fn",
           "create_global_step", "filter_variables", "get_global_step",
           "get_local_variables", "get_model_variables",
           "get_or_create_global_step", "get_trainable_variables", "get_unique_variable", "get_variable_full_name",
           "get_variables", "get_variables_by_name", "get_variables_by_suffix", "get_variables_to_restore",
           "global_variable", "init_from_checkpoint", "is_tensor", "list_variables", "load_checkpoint",
           "load_variable", "local_variable", "model_variable", "smart_cond", "variable", *_arg_scope_names,
           *_initializer_names]


@add_arg_scope
def variable(name: str, shape: Any = None, dtype: Any = None, initializer: Any = None, regularizer: Any = None,
             trainable: bool = True, collections: Any = None, caching_device: Any = None, device: Any = None,
             partitioner: Any = None, custom_getter: Any = None, use_resource: bool | None = None,
             synchronization: Any = None, aggregation: Any = None) -> Variable:
    """get_variable, with a device. custom_getter: called in its place, in the reuse of the current scope."""
    joined = list(dict.fromkeys([GraphKeys.GLOBAL_VARIABLES] if collections is None else collections))
    getter = get_variable
    if custom_getter is not None:
        getter = functools.partial(custom_getter, reuse=get_variable_scope().reuse)
    with on_device(device or ""):
        return getter(name, shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer,
                      trainable=trainable, collections=joined, caching_device=caching_device, partitioner=partitioner,
                      use_resource=use_resource, synchronization=synchronization, aggregation=aggregation)


@add_arg_scope
def model_variable(name: str, shape: Any = None, dtype: Any = float32, initializer: Any = None,
                   regularizer: Any = None, trainable: bool = True, collections: Any = None, *args: Any,
                   **options: Any) -> Variable:
    """A variable that joins MODEL_VARIABLES, too."""
    joined = [*(collections or ()), GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES]
    return variable(name, shape, dtype, initializer, regularizer, trainable, joined, *args, **options)


def _untrained(kind: str, collection: str, words: str) -> Any:
    def variable(initial_value: Any, validate_shape: bool = True, name: str | None = None,
                 use_resource: bool | None = None) -> Variable:
        return Variable(initial_value, trainable=False, collections=[collection], validate_shape=validate_shape,
                        name=name, use_resource=use_resource)

    return named(variable, kind, words)


local_variable = _untrained("local_variable", GraphKeys.LOCAL_VARIABLES, "A variable neither trained nor saved.")
global_variable = _untrained("global_variable", GraphKeys.GLOBAL_VARIABLES, "A variable that is saved and not trained.")


def add_model_variable(var: Variable) -> None:
    """Add a variable to MODEL_VARIABLES, once."""
    if not any(var is other for other in get_collection(GraphKeys.MODEL_VARIABLES)):
        get_default_graph().add_to_collection(GraphKeys.MODEL_VARIABLES, var)


def assert_or_get_global_step(graph: Graph | None = None, global_step_tensor: Any = None) -> Any:
    """The given global step, checked, or the graph's."""
    if global_step_tensor is None:
        return get_global_step(graph)
    assert_global_step(global_step_tensor)
    return global_step_tensor


def get_variables(scope: Any = None, suffix: str | None = None,
                  collection: str = GraphKeys.GLOBAL_VARIABLES) -> list[Variable]:
    """The variables of a collection whose names begin with `scope` and end with `suffix`. Both are regexes."""
    start = scope.name if isinstance(scope, VariableScope) else scope
    if suffix is not None:
        start = f"{start or ''}.*{suffix if ':' in suffix else suffix + ':'}"
    return get_collection(collection, start)


def _variables_of(collection: str) -> Any:
    def listed(scope: Any = None, suffix: str | None = None) -> list[Variable]:
        return get_variables(scope, suffix, collection)

    return named(listed, f"get_{collection}", f"get_variables of {collection.upper()}.")


get_model_variables, get_local_variables, get_trainable_variables = map(_variables_of, (
    GraphKeys.MODEL_VARIABLES, GraphKeys.LOCAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES))


def get_variables_by_suffix(suffix: str, scope: Any = None) -> list[Variable]:
    """The variables whose names end so."""
    return get_variables(scope, suffix)


def get_variables_by_name(given_name: str, scope: Any = None) -> list[Variable]:
    """The variables whose names, without their scopes, are this."""
    return get_variables(scope, f"/{given_name}:|^{given_name}:")


def get_unique_variable(var_op_name: str) -> Variable:
    """The variable of this full name. Raises ArgumentError (ValueError) if there is none."""
    for found in get_variables(var_op_name):
        if found.op.name == var_op_name:
            return found
    names = [variable.op.name for variable in get_variables()]
    raise ArgumentError(f"there is no variable {var_op_name!r}\n{did_you_mean(var_op_name, names)}".rstrip())


def get_variable_full_name(var: Variable) -> str:
    """The name of a variable without its `:0`."""
    return var.op.name


def get_variables_to_restore(include: Any = None, exclude: Any = None) -> list[Variable]:
    """The variables in any of the scopes `include` (by default all) and in none of `exclude`."""
    for what, scopes in (("include", include), ("exclude", exclude)):
        if scopes is not None and not isinstance(scopes, (list, tuple)):
            raise KindError(expected=f"a list of scopes as {what}", found=repr(scopes))
    wanted = get_variables() if include is None else [v for scope in include for v in get_variables(scope)]
    unwanted = {id(v) for scope in exclude or () for v in get_variables(scope)}
    return [v for v in wanted if id(v) not in unwanted]


def filter_variables(var_list: Any, include_patterns: Any = None, exclude_patterns: Any = None,
                     reg_search: bool = True) -> list[Variable]:
    """The variables whose names a regex of include_patterns finds and none of exclude_patterns does.

    reg_search: find the regex anywhere in the name, else from its start.
    """
    matches = re.search if reg_search else re.match
    kept = [v for v in var_list if not include_patterns or any(matches(p, v.op.name) for p in include_patterns)]
    return [v for v in kept if not any(matches(p, v.op.name) for p in exclude_patterns or ())]


def assign_from_values(var_names_to_values: dict[str, Any]) -> tuple[Any, dict[Any, Any]]:
    """(operation, feeds) that give variables new values by name."""
    feeds, assigned = {}, []
    for name, value in var_names_to_values.items():
        target = get_unique_variable(name)
        source = placeholder(target.dtype.base_dtype, target.shape, name=f"placeholder/{target.op.name}")
        assigned.append(target.assign(source))
        feeds[source] = np.reshape(value, target.shape.as_list())  # type: ignore[arg-type]
    return group(*assigned), feeds


def assign_from_values_fn(var_names_to_values: dict[str, Any]) -> Any:
    """A function of a session that gives variables new values by name."""
    operation, feeds = assign_from_values(var_names_to_values)
    return lambda session: session.run(operation, feeds)


def assign_from_checkpoint(model_path: str, var_list: Any, ignore_missing_vars: bool = False) -> tuple[Any, dict]:
    """(operation, feeds) that give variables what a checkpoint holds. var_list: variables, or name in it -> variable.

    Raises ArgumentError (ValueError) for a name that it lacks, unless ignore_missing_vars, or for another shape.
    """
    reader, values = load_checkpoint(model_path), {}
    for name, variables in named_variables(var_list).items():
        if not reader.has_tensor(name):
            if ignore_missing_vars:
                continue
            raise ArgumentError(f"Checkpoint is missing variable [{name}]")
        for variable in variables:
            values[variable] = fitting(reader, name, variable, reshape=False)
    feeds, assigned = {}, []
    for variable, value in values.items():
        source = placeholder(variable.dtype.base_dtype, value.shape)
        assigned.append(variable.assign(source))
        feeds[source] = value
    return group(*assigned), feeds


def assign_from_checkpoint_fn(model_path: str, var_list: Any, ignore_missing_vars: bool = False,
                              reshape_variables: bool = False) -> Any:
    """A function of a session that restores variables; None if the checkpoint has none of them."""
    found = named_variables(var_list)
    if ignore_missing_vars:
        reader = load_checkpoint(model_path)
        found = {name: variables for name, variables in found.items() if reader.has_tensor(name)}
    if not found:
        return None
    listed = {name: variables if len(variables) > 1 else variables[0] for name, variables in found.items()}
    saver = Saver(listed, reshape=reshape_variables)
    return lambda session: saver.restore(session, model_path)


def is_tensor(x: Any) -> bool:
    """Whether this is a tensor, a variable or IndexedSlices."""
    return hasattr(x, "op") and (hasattr(x, "as_tensor") or hasattr(x, "dtype"))


def assert_scalar(tensor: Any, name: str | None = None) -> Any:
    """The tensor. Raises ShapeError (ValueError) if it is known to have axes."""
    found = convert_to_tensor(tensor)
    if found.dims not in ((), None):
        raise ShapeError(expected="a scalar", found=found.describe())
    return found


__getattr__ = refusing("tf.contrib.framework", __name__)
