"""Variables as VariableDefs: the names of the operations that one consists of."""
from __future__ import annotations

from typing import Any

from ...core.errors import ArgumentError
from ...core.graph import Graph, Operation, Tensor, get_default_graph
from ...files.meta_graph_messages import META_GRAPH_MESSAGES
from .saved_parts import SaveSliceInfo
from .variable import ResourceVariable, Variable

VariableDef = META_GRAPH_MESSAGES["VariableDef"]


def variable_def_of(variable: Variable, export_scope: str | None = None) -> Any:
    """The VariableDef of a variable; None if it is not below export_scope, which names are written without."""
    prefix = f"{export_scope.rstrip('/')}/" if export_scope else ""
    if not variable.name.startswith(prefix):
        return None
    named: dict[str, Any] = {"variable_name": variable.handle_tensor, "initializer_name": variable.initializer,
             "snapshot_name": variable._snapshot, "initial_value_name": variable.initial_value}
    made = VariableDef(**{field: each.name.removeprefix(prefix) for field, each in named.items() if each is not None},
                       trainable=variable.trainable, is_resource=variable.is_resource,
                       synchronization=variable.synchronization or 0, aggregation=variable.aggregation or 0)
    info = variable._save_slice_info
    if info is not None:
        made.save_slice_info_def.MergeFrom(type(made.save_slice_info_def)(
            full_name=info.full_name.removeprefix(prefix), full_shape=info.full_shape, var_offset=info.var_offset,
            var_shape=info.var_shape))
    return made


def variable_of_def(variable_def: Any, import_scope: str | None = None, graph: Graph | None = None) -> Variable:
    """The variable of operations that are in the graph already. Raises UnknownNameError (KeyError) if they are not.

    import_scope: the name scope that they were imported below.
    """
    graph = graph or get_default_graph()

    def named(name: str) -> Any:
        return graph.as_graph_element(f"{import_scope}/{name}" if import_scope else name)

    kind = ResourceVariable if variable_def.is_resource else Variable
    handle = named(variable_def.variable_name)
    made = object.__new__(kind)
    snapshot = named(variable_def.snapshot_name) if variable_def.snapshot_name else handle
    initial = named(variable_def.initial_value_name) if variable_def.initial_value_name else None
    initializer = named(variable_def.initializer_name)
    if not isinstance(initializer, Operation) or not all(isinstance(t, Tensor) for t in (handle, snapshot)):
        raise ArgumentError(expected=f"a variable {handle.name!r} with an operation that initializes it",
                            found=f"{initializer.name!r} and {snapshot.name!r}")
    made.adopt(graph, handle, initializer, snapshot, initial, trainable=variable_def.trainable)
    made.synchronization, made.aggregation = variable_def.synchronization, variable_def.aggregation
    if variable_def.HasField("save_slice_info_def"):
        made._save_slice_info = SaveSliceInfo(save_slice_info_def=variable_def.save_slice_info_def,
                                              import_scope=import_scope)
    return made
