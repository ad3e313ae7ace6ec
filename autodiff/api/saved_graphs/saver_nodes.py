"""A Saver in a stored graph: nodes that save and restore its variables, and the SaverDef that names them.

Savers here add no operations to the graph itself.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...files.graph_messages import GRAPH_MESSAGES
from ...files.meta_graph_messages import META_GRAPH_MESSAGES
from .attributes import plain_node

NodeDef, SaverDef = GRAPH_MESSAGES["NodeDef"], META_GRAPH_MESSAGES["SaverDef"]


def saver_nodes(variables: Mapping[str, Sequence[Any]], taken: set[str]) -> tuple[list[Any], Any]:
    """NodeDefs and SaverDef. variables: by name in the checkpoint, several ones for parts. taken: names of nodes."""
    scope = next(name for i in range(len(taken) + 1) if f"{(name := f'save_{i}' if i else 'save')}/Const" not in taken)
    rows = [(name, _slices(variable), variable) for name, found in variables.items() for variable in found]
    types = [variable.dtype.base_dtype for _, _, variable in rows]
    prefix = f"{scope}/Const"
    nodes = [_constant(f"{scope}/filename", [], b"model"),
             plain_node(prefix, "PlaceholderWithDefault", [f"{scope}/filename"], dtype=("type", "string"),
                   shape=("shape", ()))]
    columns = []
    for step in ("SaveV2", "RestoreV2"):
        columns = [f"{scope}/{step}/tensor_names", f"{scope}/{step}/shape_and_slices"]
        nodes += [_constant(columns[0], [len(rows)], *(name.encode() for name, _, _ in rows)),
                  _constant(columns[1], [len(rows)], *(slices.encode() for _, slices, _ in rows))]
        sources = [(v._snapshot if v.is_resource else v.handle_tensor).name.removesuffix(":0") for _, _, v in rows]
        nodes.append(plain_node(f"{scope}/{step}", step, [prefix, *columns, *(sources if step == "SaveV2" else ())],
                                dtypes=("list(type)", types)))
    nodes.append(plain_node(f"{scope}/control_dependency", "Identity", [prefix, f"^{scope}/SaveV2"],
                            T=("type", "string")))
    assigned = []
    for i, (_, _, variable) in enumerate(rows):
        source = f"{scope}/RestoreV2:{i}" if i else f"{scope}/RestoreV2"
        nodes.append(_assign(f"{scope}/Assign_{i}", variable, source))
        assigned.append(f"^{scope}/Assign_{i}")
    nodes.append(plain_node(f"{scope}/restore_all", "NoOp", assigned))
    return nodes, SaverDef(filename_tensor_name=f"{prefix}:0", save_tensor_name=f"{scope}/control_dependency:0",
                           restore_op_name=f"{scope}/restore_all", version="V2")


def _slices(variable: Any) -> str:
    """`7 2 0,3:0,2` for a part, empty for a whole variable."""
    info = getattr(variable, "_save_slice_info", None)
    if info is None:
        return ""
    extents = ":".join(f"{begin},{length}" for begin, length in zip(info.var_offset, info.var_shape))
    return f"{' '.join(map(str, info.full_shape))} {extents}"


def _constant(name: str, shape: Sequence[int], *texts: bytes) -> Any:
    array = np.array(texts, object).reshape(shape)
    return plain_node(name, "Const", [], dtype=("type", "string"), value=("tensor", array))


def _assign(name: str, variable: Any, source: str) -> Any:
    target, dtype = variable.handle_tensor.name.removesuffix(":0"), variable.dtype.base_dtype
    if variable.is_resource:
        return plain_node(name, "AssignVariableOp", [target, source], dtype=("type", dtype))
    return plain_node(name, "Assign", [target, source], T=("type", dtype), use_locking=("bool", True),
                 validate_shape=("bool", True))
