"""The global step: the variable that counts how often a model was trained."""
from __future__ import annotations

from typing import Any

from ...core.collections import GraphKeys
from ...core.dtypes import int64
from ...core.errors import ArgumentError, GraphError, KindError
from ...core.graph import Graph, Tensor, get_default_graph
from ..variables.initializers import Zeros
from ..variables.variable import Variable
from ..variables.variable_scope import get_variable

_READ = "global_step_read_op_cache"  # collection of the one tensor that reads the global step before it counts


def get_global_step(graph: Graph | None = None) -> Variable | None:
    """The variable in the collection GLOBAL_STEP, or named `global_step`; None if there is none.

    Raises KindError (TypeError) for one that is not an integer scalar.
    """
    graph = get_default_graph() if graph is None else graph
    found = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(found) > 1:
        raise GraphError(expected="one global step in the collection", found=[v.name for v in found])
    named = [v for v in graph.get_collection(GraphKeys.GLOBAL_VARIABLES) if v.name == "global_step:0"]
    step = next(iter(found or named), None)
    if step is not None:
        assert_global_step(step)
    return step


def create_global_step(graph: Graph | None = None) -> Variable:
    """A new global step, int64, beginning at 0. Raises GraphError (ValueError) if there is one already."""
    graph = get_default_graph() if graph is None else graph
    if get_global_step(graph) is not None:
        raise GraphError('"global_step" already exists.', hint="use tf.train.get_or_create_global_step()")
    with graph.as_default(), graph.name_scope(None):
        return get_variable(GraphKeys.GLOBAL_STEP, shape=[], dtype=int64, initializer=Zeros(), trainable=False,
                            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP])


def get_or_create_global_step(graph: Graph | None = None) -> Variable:
    """The global step, made if there is none."""
    graph = get_default_graph() if graph is None else graph
    found = get_global_step(graph)
    return create_global_step(graph) if found is None else found


def assert_global_step(global_step_tensor: Any) -> None:
    """Raises KindError (TypeError) unless it is a variable or tensor holding one integer."""
    if not isinstance(global_step_tensor, (Variable, Tensor)):
        raise KindError(expected="the global step to be a variable or tensor", found=repr(global_step_tensor))
    if not global_step_tensor.dtype.base_dtype.is_integer:
        raise KindError(f'Existing "global_step" does not have integer type: {global_step_tensor.dtype.name}')
    if global_step_tensor.get_shape().ndims not in (0, None):
        raise KindError(f'Existing "global_step" is not scalar: {global_step_tensor.get_shape()}')


def global_step(sess: Any, global_step_tensor: Any) -> int:
    """The value of a global step in a session."""
    return int(sess.run(global_step_tensor))


def global_step_read(graph: Graph | None = None) -> Tensor | None:
    """The global step before a run counts it up, the same tensor each time; None if there is none."""
    graph = get_default_graph() if graph is None else graph
    made, found = graph.get_collection(_READ), get_global_step(graph)
    if made or found is None:
        return made[0] if made else None
    with graph.as_default(), graph.name_scope(None), graph.name_scope(f"{found.op.name}/"):
        read: Tensor = found.as_tensor() + 0
    graph.add_to_collection(_READ, read)
    return read


_get_or_create_global_step_read = global_step_read


def _increment_global_step(increment: int, graph: Graph | None = None) -> Tensor:
    """Count the global step up by so many. Raises ArgumentError (ValueError) if there is none."""
    found = get_global_step(graph)
    if found is None:
        raise ArgumentError("Global step tensor should be created by tf.train.get_or_create_global_step before calling "
                            "increment.")
    assert_global_step(found)
    with found.graph.as_default(), found.graph.control_dependencies([global_step_read(found.graph)]), \
            found.graph.name_scope(f"{found.op.name}/"):
        return found.assign_add(increment)
