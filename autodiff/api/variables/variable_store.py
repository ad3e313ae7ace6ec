"""The variables of a graph by their full names: found, or made with their initializer."""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from ...core.collections import GraphKeys
from ...core.convert import convert_to_tensor
from ...core.dtypes import DType, as_dtype, float32, string
from ...core.errors import ArgumentError, GraphError, ShapeError
from ...core.graph import Graph, get_default_graph
from ...core.shapes import TensorShape, as_dims, compatible, is_known, show
from ..control.dependencies import init_scope
from .eager_store import partitioned_by_name, variables_by_name
from .initializers import GlorotUniform, Zeros
from .partitioned import PartitionedVariable, parted
from .variable import Variable


def found_or_made(name: str, shape: Any = None, dtype: Any = float32, initializer: Any = None, regularizer: Any = None,
                   reuse: Any = None, **options: Any) -> Any:
    """The variable of this full name. What a custom getter is given as `getter`."""
    graph = get_default_graph().outermost
    partitioner = options.pop("partitioner", None)
    whole = partitioned_by_name(graph).get(name)
    if partitioner is None and reuse is True and whole is not None:
        return whole
    if partitioner is not None and shape is None and initializer is not None and not callable(initializer):
        shape = convert_to_tensor(initializer).dims
    dtype, dims = as_dtype(dtype or float32).base_dtype, as_dims(shape)
    if partitioner is not None and dims != ():
        if dims is None or not is_known(dims):
            raise ShapeError(f"Shape of a new partitioned variable ({name}) must be fully defined, but instead was "
                             f"{show(dims)}.")
        parts = list(partitioner(shape=TensorShape(dims), dtype=dtype))
        if whole is not None:
            return _shared_parts(whole, name, dims, dtype, reuse, parts)
        default = _default_initializer(name, dtype) if initializer is None else initializer
        whole = partitioned_by_name(graph)[name] = parted(
            name, dims, dtype, default, parts, lambda part, own_shape, own: found_or_made(
                part, own_shape, dtype, own, regularizer, reuse, **options))
        return whole
    store = variables_by_name(graph)
    if graph.executing_eagerly:  # as TensorFlow has it, whatever the scope says
        reuse = "AUTO_REUSE"
    if name in store:
        return _shared(store[name], name, dims, dtype, reuse)
    if reuse is True:
        raise GraphError(f"Variable {name} does not exist, or was not created with tf.get_variable(). Did you mean to "
                         "set reuse=tf.AUTO_REUSE in VarScope?", hint="reuse=False, too, makes it here")
    variable = store[name] = made_apart(None, name, shape, dtype, initializer, **options)
    if graph.executing_eagerly and store is variables_by_name(graph):  # the collections are the store's
        graph.add_to_collections([*(options.get("collections") or [GraphKeys.GLOBAL_VARIABLES]),
                                  *[GraphKeys.TRAINABLE_VARIABLES] * variable.trainable], variable)
    if regularizer:  # an empty dict of them is none
        _regularize(graph, variable, regularizer, name)
    return variable


def made_apart(getter: Any, name: str, shape: Any = None, dtype: Any = float32, initializer: Any = None,
               regularizer: Any = None, reuse: Any = None, partitioner: Any = None, **options: Any) -> Variable:
    """A variable that no name finds again, as those of Keras' layers. A custom getter, which makes it as a whole."""
    initial_value, own_dtype = _initial(name, initializer, shape, as_dims(shape), as_dtype(dtype or float32).base_dtype,
                                        options.get("validate_shape", True))
    return Variable(initial_value, name=name, dtype=own_dtype, **options)


def _shared_parts(whole: PartitionedVariable, name: str, dims: Any, dtype: DType, reuse: Any,
                  partitions: list[int]) -> PartitionedVariable:
    if reuse is False:
        raise GraphError(f"Partitioned variable with name {name} already exists. Did you mean to set reuse=True?",
                         hint="use reuse=True or reuse=tf.AUTO_REUSE in its variable_scope to share it")
    if whole._get_partitions() != partitions:
        raise ArgumentError(f"Trying to reuse partitioned variable {name}, but specified partitions {partitions} and "
                            f"found partitions {whole._get_partitions()}.")
    if not compatible(dims, whole.shape.dims_tuple) or whole.dtype is not dtype:
        raise ShapeError(f"Trying to reuse partitioned variable {name}, but specified shape {show(dims)} {dtype.name} "
                         f"and found shape {show(whole.shape.dims_tuple)} {whole.dtype.name}.")
    return whole


def _shared(variable: Variable, name: str, dims: Any, dtype: DType, reuse: Any) -> Variable:
    if reuse is False:  # a custom getter that passes None takes what there is, or makes it
        raise GraphError(f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or "
                         f"reuse=tf.AUTO_REUSE in VarScope? Originally defined at:\n{variable.op.site}",
                         hint=f"it was made at {variable.op.site}: to share it, with reuse=tf.AUTO_REUSE in a "
                              "tf.variable_scope around both; to have another, in a variable_scope of another name; to "
                              "make the model anew, as in a loop or a notebook, after tf.reset_default_graph()")
    if not compatible(dims, variable.shape.dims_tuple):
        raise ShapeError(f"Trying to share variable {name}, but specified shape {show(dims)} and found shape "
                         f"{show(variable.shape.dims_tuple)}.\nmade at {variable.op.site}")
    if variable.dtype.base_dtype is not dtype:
        raise ArgumentError(f"Trying to share variable {name}, but specified dtype {dtype.name} and found dtype "
                            f"{variable.dtype.base_dtype.name}.\nmade at {variable.op.site}")
    return variable


def _initial(name: str, initializer: Any, shape: Any, dims: Any, dtype: DType, validate_shape: bool) -> tuple[Any, Any]:
    """The arguments of Variable: an initial value or a function that makes it, and the dtype or None."""
    if initializer is not None and not callable(initializer):
        if shape is not None and dims is not None:
            raise ArgumentError(f"variable {name!r}: if the initializer is a constant, do not specify shape")
        return initializer, None
    initializer = _default_initializer(name, dtype) if initializer is None else initializer
    if inspect.isclass(initializer):
        initializer = initializer()
    if is_known(dims):
        asked = {"partition_info": None} if _takes(initializer, "partition_info") else {}
        return functools.partial(initializer, list(dims), dtype=dtype, **asked), dtype
    if dims is None and shape is None and _takes_nothing(initializer):
        return initializer, None
    if shape is None and not _takes(initializer, "shape"):
        raise ArgumentError("The initializer passed is not valid. It should be a callable with no arguments and the "
                            "shape should not be provided or an instance of `tf.keras.initializers.*' and `shape` "
                            f"should be fully defined.\nvariable {name!r} has no shape, and {initializer!r}")
    if shape is None or validate_shape:
        raise ShapeError(f"Shape of a new variable ({name}) must be fully defined, but instead was {show(dims)}",
                         hint="pass shape, or a tensor or value as the initializer")
    raise ArgumentError(f"variable {name!r}: the initializer needs a fully defined shape, found {show(dims)}")


def _default_initializer(name: str, dtype: DType) -> Any:
    if dtype.is_floating:
        return GlorotUniform()
    if dtype.is_integer or dtype.is_bool or dtype is string:
        return Zeros()
    raise ArgumentError(f"an initializer for variable {name!r} of dtype {dtype.name} is required")


def _takes(function: Callable[..., Any], name: str) -> bool:
    try:
        return name in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def _takes_nothing(function: Callable[..., Any]) -> bool:
    try:
        inspect.signature(function).bind()
    except (TypeError, ValueError):
        return False
    return True


def _regularize(graph: Graph, variable: Variable, regularizer: Callable[[Any], Any], name: str) -> None:
    with init_scope(), get_default_graph().name_scope(f"{name}/Regularizer/"):
        loss = regularizer(variable)
    if loss is not None:
        graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
