"""init_from_checkpoint and warm_start: variables whose initializers read a checkpoint."""
from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...core.collections import GraphKeys
from ...core.errors import ArgumentError, UnsupportedError
from ...core.graph import get_default_graph
from ...core.op import build
from ...core.shapes import as_dims, compatible, show
from ..variables.variable import Variable
from .checkpoint_state import latest_checkpoint
from .checkpoints import CheckpointReader, load_checkpoint
from .saved_variables import part_of


def init_from_checkpoint(ckpt_dir_or_file: Any, assignment_map: Mapping[str, Any]) -> None:
    """Let variables begin with the values of a checkpoint: their initializers read it from now on.

    assignment_map: name in the checkpoint -> variable, list of parts, or name of a variable; `scope/` -> `other/` for
    all variables of a scope, where `/` is the whole. Raises ArgumentError (ValueError) for names or scopes that are
    not there, and for shapes that differ.
    """
    reader, path = load_checkpoint(ckpt_dir_or_file), os.fspath(ckpt_dir_or_file)
    if os.path.isdir(path):
        path = latest_checkpoint(path) or path
    for name, variables in [pair for item in assignment_map.items() for pair in _pairs(reader, *item)]:
        for variable in variables:
            _initialize(reader, path, name, variable)


def warm_start(ckpt_to_initialize_from: Any, vars_to_warm_start: Any = ".*", var_name_to_vocab_info: Any = None,
               var_name_to_prev_var_name: Mapping[str, str] | None = None) -> None:
    """Let the variables of a graph begin with their values in a checkpoint.

    vars_to_warm_start: a pattern that the names of trainable variables begin with; a list of such patterns for all
    variables, or of variables; None for none. var_name_to_prev_var_name: name now -> in the checkpoint. Raises
    ArgumentError (ValueError) as init_from_checkpoint does.
    """
    if var_name_to_vocab_info:
        raise UnsupportedError("variables are taken from a checkpoint whole, not row by row of a vocabulary",
                               hint="leave out var_name_to_vocab_info where the vocabularies are the same")
    wanted, renamed = vars_to_warm_start, var_name_to_prev_var_name or {}
    graph, named = get_default_graph(), dict[str, Any]()
    if isinstance(wanted, str):
        wanted, key = [wanted], GraphKeys.TRAINABLE_VARIABLES
    else:
        key = GraphKeys.GLOBAL_VARIABLES
    for each in wanted or ():
        for variable in [v for v in graph.get_collection(key) if re.match(each, v.op.name)] \
                if isinstance(each, str) else [each]:
            full = variable.op.name if part_of(variable) is None else variable._save_slice_info.full_name
            if all(variable is not other for other in named.setdefault(renamed.get(full, full), [])):
                named[renamed.get(full, full)].append(variable)
    unknown = sorted(set(renamed) - {v.op.name for v in graph.get_collection(GraphKeys.GLOBAL_VARIABLES)})
    if unknown:
        raise ArgumentError("You provided the following variables in var_name_to_prev_var_name that were not used: "
                            f"{unknown}.  Perhaps you misspelled them?")
    init_from_checkpoint(ckpt_to_initialize_from, named)


def _pairs(reader: CheckpointReader, name: str, wanted: Any) -> Iterator[tuple[str, list[Variable]]]:
    """Name in the checkpoint, and the variable or parts that it is for."""
    if not isinstance(wanted, str):
        several = isinstance(wanted, (list, tuple)) or hasattr(wanted, "_get_variable_list")
        yield name, list(wanted) if several else [wanted]
        return
    named: dict[str, list[Variable]] = {}
    for variable in get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES):
        full = variable.op.name if part_of(variable) is None else variable._save_slice_info.full_name
        named.setdefault(full, []).append(variable)
    if not name.endswith("/"):
        if wanted not in named:
            raise ArgumentError(f"Variable {wanted} is not in the graph", hint=f"it has {', '.join(named) or 'none'}")
        yield name, named[wanted]
        return
    if not wanted.endswith("/"):
        raise ArgumentError(f"Assignment map with scope only name {wanted} should map to scope only {name}. Should be "
                            "'scope/': 'other_scope/'.")
    scope, base = wanted.lstrip("/"), name.lstrip("/")
    inside = {full: found for full, found in named.items() if full.startswith(scope)}
    if not inside:
        raise ArgumentError(f"Couldn't find variables in scope {scope!r}",
                            hint=f"there are {', '.join(named) or 'none'}")
    for full, found in inside.items():
        stored = base + full[len(scope):]
        if not reader.has_tensor(stored):
            raise ArgumentError(f"Tensor {stored} ({full} in {scope or '/'}) is not found in the checkpoint")
        yield stored, found


def _initialize(reader: CheckpointReader, path: str, name: str, variable: Variable) -> None:
    shapes = reader.get_variable_to_shape_map()
    if name not in shapes:
        raise ArgumentError(f"Tensor {name} is not found in {path} checkpoint {shapes}")
    part, dims, stored = part_of(variable), as_dims(variable.shape), tuple(shapes[name])
    if not compatible(part.full_shape if part else dims, stored):
        raise ArgumentError(f"Shape of variable {variable.op.name} ({show(dims)}) doesn't match with shape of tensor "
                            f"{name} ({show(stored)}) from checkpoint reader.")
    slices = ""
    if part is not None and dims is not None:
        extents = ":".join(f"{begin},{dim}" for begin, dim in zip(part.offset, dims))
        slices = f"{' '.join(map(str, part.full_shape))} {extents}"
    graph = variable.graph
    with graph.as_default(), graph.name_scope(""), graph.name_scope("init_from_checkpoint"):
        restored = build.RestoreV2(path, [name], [slices], dtypes=(variable.dtype.base_dtype,), name="read")[0]
        restored.set_shape(dims)
        variable._initial_value = restored
        assign = "AssignVariableOp" if variable.is_resource else "Assign"
        variable.initializer = getattr(build, assign)(variable.handle_tensor, restored, name="assign")
        variable.initializer = getattr(variable.initializer, "op", variable.initializer)
