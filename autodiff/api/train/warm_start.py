"""init_from_checkpoint and warm_start: variables whose initializers read a checkpoint."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ...core.collections import GraphKeys
from ...core.dtypes import as_dtype, float32
from ...core.errors import ArgumentError, KindError
from ...core.graph import get_default_graph
from ...core.op import build
from ...core.shapes import as_dims, compatible, show
from ..arrays.shaping import concat
from ..common.grouped import grouped
from ..variables.initializers import TruncatedNormal, zeros
from ..variables.partitioned import PartitionInfo
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
    reader, path = load_checkpoint(ckpt_dir_or_file), _file(ckpt_dir_or_file)
    for name, variables in [pair for item in assignment_map.items() for pair in _pairs(reader, *item)]:
        for variable in variables:
            _initialize(reader, path, name, variable)


class VocabInfo(NamedTuple):
    """Which older vocabulary a matrix had in a checkpoint, along an axis of 0 or 1. Sizes: of the lines that count.

    backup_initializer: of entries that are new, or of words out of the vocabulary; zeros by default.
    """

    new_vocab: str
    new_vocab_size: int
    num_oov_buckets: int
    old_vocab: str
    old_vocab_size: int = -1
    backup_initializer: Any = None
    axis: int = 0


def warm_start(ckpt_to_initialize_from: Any, vars_to_warm_start: Any = ".*", var_name_to_vocab_info: Any = None,
               var_name_to_prev_var_name: Mapping[str, str] | None = None) -> None:
    """Let the variables of a graph begin with their values in a checkpoint.

    vars_to_warm_start: a pattern that the names of trainable variables begin with; a list of such patterns for all
    variables, or of variables; None for those with a vocabulary alone. var_name_to_vocab_info: name -> VocabInfo.
    var_name_to_prev_var_name: name now -> in the checkpoint. Raises ArgumentError (ValueError) as init_from_checkpoint
    does, and for names that are of no variable to warm start.
    """
    renamed, vocabularies = var_name_to_prev_var_name or {}, var_name_to_vocab_info or {}
    named = _grouped(vars_to_warm_start)
    for what, given in (("prev_var_name", renamed), ("vocab_info", vocabularies)):
        unknown = sorted(set(given) - set(named))
        if unknown:
            raise ArgumentError(f"You provided the following variables in var_name_to_{what} that were not used: "
                                f"{unknown}.  Perhaps you misspelled them?  Here is the list of viable variable names: "
                                f"{list(named)}")
    whole, keys = {}, load_checkpoint(ckpt_to_initialize_from).keys_by_name()
    for name, variables in named.items():
        before = renamed.get(name, keys.get(name, name))
        if name in vocabularies:
            info = vocabularies[name]
            warm_start_with_vocabulary(variables, info.new_vocab, info.new_vocab_size, ckpt_to_initialize_from,
                                       info.old_vocab, info.old_vocab_size, info.num_oov_buckets, before,
                                       info.backup_initializer, info.axis)
        elif vars_to_warm_start:
            whole[before] = variables
    init_from_checkpoint(ckpt_to_initialize_from, whole)


def _grouped(wanted: Any) -> dict[str, list[Variable]]:
    """Name -> the variable, or the parts of it, that warm_start is asked for."""
    found: Any = wanted
    if wanted is None or isinstance(wanted, str):
        found = get_default_graph().get_collection(GraphKeys.TRAINABLE_VARIABLES, wanted)
    elif not isinstance(wanted, list) or len({isinstance(each, str) for each in wanted}) > 1:
        raise ArgumentError("`vars_to_warm_start` must be a pattern, or a list of patterns or of variables",
                            found=repr(wanted))
    elif wanted and isinstance(wanted[0], str):
        found = [v for each in wanted for v in get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES, each)]
    return grouped((_full_name(variable), variable) for variable in dict.fromkeys(found))


def _full_name(variable: Variable) -> str:
    return variable.op.name if part_of(variable) is None else variable._save_slice_info.full_name


def _infer_var_name(var: Any) -> str:
    return _full_name(var[0])


def _get_var_info(var: Any, prev_tensor_name: str | None = None) -> tuple[str, Any]:
    parts = _parts(var)
    return prev_tensor_name or _full_name(parts[0]), var if isinstance(var, Variable) else parts


def _parts(var: Any) -> list[Variable]:
    parts = var._get_variable_list() if hasattr(var, "_get_variable_list") else var if isinstance(var, list) else [var]
    if not all(isinstance(part, Variable) for part in parts):
        raise KindError("var MUST be one of the following: a Variable, list of Variable or PartitionedVariable, but is "
                        f"{type(var)}")
    return parts


def warm_start_with_vocabulary(var: Any, current_vocab_path: Any, current_vocab_size: int,  # noqa: PLR0913
                               prev_ckpt: Any, prev_vocab_path: Any, previous_vocab_size: int = -1,
                               current_oov_buckets: int = 0, prev_tensor_name: str | None = None,
                               initializer: Any = None, axis: int = 0) -> None:
    """Let a matrix begin with the rows (axis 0) or columns (1) that an older vocabulary's entries have in a checkpoint.

    initializer: of entries that are new or out of the vocabulary; zeros by default. Raises ArgumentError (ValueError)
    for an argument that is empty, KindError (TypeError) for what is no variable.
    """
    if not (current_vocab_path and current_vocab_size and prev_ckpt and prev_vocab_path):
        raise ArgumentError("Invalid args: Must provide all of [current_vocab_path, current_vocab_size, prev_ckpt, "
                            "prev_vocab_path}.")
    if axis not in (0, 1):
        raise ArgumentError(f"The only supported values for the axis argument are 0 and 1.  Provided axis: {axis}")
    parts = _parts(var)
    rows = sum(part.shape.as_list()[0] or 0 for part in parts)
    columns: Any = parts[0].shape.as_list()[1]
    files = {f"{age}_{('row', 'col')[axis]}_vocab_file": path
             for age, path in (("old", prev_vocab_path), ("new", current_vocab_path))}
    begin = load_and_remap_matrix_initializer(
        _file(prev_ckpt), prev_tensor_name or _full_name(parts[0]), rows if axis else current_vocab_size,
        current_vocab_size if axis else columns, -1 if axis else previous_vocab_size, initializer=initializer,
        **{f"num_{('row', 'col')[axis]}_oov_buckets": current_oov_buckets}, **files)
    for part in parts:
        info = part_of(part)
        with part.graph.as_default():
            _begin_with(part, begin(part.shape.as_list(), partition_info=info and PartitionInfo(
                list(info.full_shape), list(info.offset))))


_warm_start_var_with_vocab = warm_start_with_vocabulary


def load_and_remap_matrix(ckpt_path: Any, old_tensor_name: str, new_row_vocab_offset: int,  # noqa: PLR0913
                          num_rows_to_load: int, new_col_vocab_size: int, initializer: Any,
                          old_row_vocab_size: int = -1, old_row_vocab_file: Any = None, new_row_vocab_file: Any = None,
                          old_col_vocab_file: Any = None, new_col_vocab_file: Any = None, num_row_oov_buckets: int = 0,
                          num_col_oov_buckets: int = 0, max_rows_in_memory: int = -1) -> Any:
    """A checkpoint's matrix by other vocabularies, what is new from the initializer, then rows and columns for words
    out of the vocabularies. -> float32[num_rows_to_load + num_row_oov_buckets, new_col_vocab_size + …].

    Raises ArgumentError (ValueError) for one file without the other, none at all, and negative counts.
    """
    for what, count, files in (("row", num_row_oov_buckets, (old_row_vocab_file, new_row_vocab_file)),
                               ("col", num_col_oov_buckets, (old_col_vocab_file, new_col_vocab_file))):
        if count < 0:
            raise ArgumentError(f"num_{what}_oov_buckets must be >= 0, but received {count}")
        if bool(files[0]) != bool(files[1]):
            raise ArgumentError(f"old_{what}_vocab_file and new_{what}_vocab_file must both be specified or left "
                                f"unspecified. old_{what}_vocab_file='{files[0]}', new_{what}_vocab_file='{files[1]}'")
    if not new_row_vocab_file and not new_col_vocab_file:
        raise ArgumentError("Must provide either row or column vocab files. If no remapping is necessary, consider "
                            "using `tf.contrib.framework.init_from_checkpoint` instead.")
    rows: Any = np.arange(new_row_vocab_offset, new_row_vocab_offset + num_rows_to_load)
    columns: Any = np.zeros(0, np.int64)
    known_rows, known_columns = num_rows_to_load, new_col_vocab_size
    if new_row_vocab_file:
        rows, known_rows = build.GenerateVocabRemapping(
            new_row_vocab_file, old_row_vocab_file, new_vocab_offset=new_row_vocab_offset,
            num_new_vocab=num_rows_to_load, old_vocab_size=old_row_vocab_size)
    if new_col_vocab_file:
        columns, known_columns = build.GenerateVocabRemapping(
            new_col_vocab_file, old_col_vocab_file, new_vocab_offset=0, num_new_vocab=new_col_vocab_size)
    new = initializer([num_rows_to_load * new_col_vocab_size - known_rows * known_columns, 1])
    made = build.LoadAndRemapMatrix(ckpt_path, old_tensor_name, rows, columns, new, num_rows=num_rows_to_load,
                                    num_cols=new_col_vocab_size, max_rows_in_memory=max_rows_in_memory)
    if num_row_oov_buckets:
        made = concat([made, initializer([num_row_oov_buckets, new_col_vocab_size])], 0)
    if num_col_oov_buckets:
        made = concat([made, initializer([num_rows_to_load + num_row_oov_buckets, num_col_oov_buckets])], 1)
    return made


def load_and_remap_matrix_initializer(ckpt_path: Any, old_tensor_name: str, new_row_vocab_size: int,
                                      new_col_vocab_size: int, old_row_vocab_size: int = -1, *,
                                      num_row_oov_buckets: int = 0, num_col_oov_buckets: int = 0,
                                      initializer: Any = None, **vocabularies: Any) -> Callable[..., Any]:
    """The initializer of a matrix, or of parts of its rows, that load_and_remap_matrix gives. initializer: zeros.

    Its own errors are ArgumentError (ValueError) for another shape, KindError (TypeError) for another dtype.
    """
    if initializer is not None and not callable(initializer):
        raise KindError(f"initializer must be callable, instead of being {initializer} of type {type(initializer)}.")
    begin, columns = initializer or zeros(), new_col_vocab_size + num_col_oov_buckets

    def begins(shape: Any, dtype: Any = float32, partition_info: Any = None) -> Any:
        if as_dtype(dtype) is not float32:
            raise KindError(f"Currently, only float32 is supported. Received dtype: {dtype}")
        if len(shape) != 2 or shape[0] <= 0 or shape[1] != columns:
            raise ArgumentError(f"Expected 2-dim shape of some rows and new_col_vocab_size ({new_col_vocab_size}) + "
                                f"num_col_oov_buckets ({num_col_oov_buckets}) columns, but received shape: {shape}")
        offset = 0 if partition_info is None else partition_info.single_offset(shape)
        beyond = min(shape[0], max(0, offset + shape[0] - new_row_vocab_size))
        if beyond > num_row_oov_buckets:
            raise ArgumentError(f"Trying to initialize {shape[0]} additional rows after {offset} rows have already "
                                "been initialized, which would exceed expected total row count of new_row_vocab_size "
                                f"({new_row_vocab_size}) + num_row_oov_buckets ({num_row_oov_buckets}).")
        if offset > new_row_vocab_size:
            return begin(shape)
        return load_and_remap_matrix(
            ckpt_path, old_tensor_name, offset, shape[0] - beyond, new_col_vocab_size, begin, old_row_vocab_size,
            num_row_oov_buckets=beyond, num_col_oov_buckets=num_col_oov_buckets, **vocabularies)
    return begins


def _load_embedding_initializer(ckpt_path: Any, embedding_tensor_name: str, new_vocab_size: int, embedding_dim: int,
                                old_vocab_file: Any, new_vocab_file: Any, old_vocab_size: int = -1,
                                num_oov_buckets: int = 0, initializer: Any = None) -> Callable[..., Any]:
    return load_and_remap_matrix_initializer(
        ckpt_path, embedding_tensor_name, new_vocab_size, embedding_dim, old_vocab_size,
        old_row_vocab_file=old_vocab_file, new_row_vocab_file=new_vocab_file, num_row_oov_buckets=num_oov_buckets,
        initializer=initializer or TruncatedNormal(stddev=embedding_dim ** -0.5))


_load_and_remap_matrix, _load_and_remap_matrix_initializer = load_and_remap_matrix, load_and_remap_matrix_initializer


def _file(ckpt_dir_or_file: Any) -> str:
    path = os.fspath(ckpt_dir_or_file)
    return (latest_checkpoint(path) or path) if os.path.isdir(path) else path


def _pairs(reader: CheckpointReader, name: str, wanted: Any) -> Iterator[tuple[str, list[Variable]]]:
    """Name in the checkpoint, and the variable or parts that it is for."""
    if not isinstance(wanted, str):
        several = isinstance(wanted, (list, tuple)) or hasattr(wanted, "_get_variable_list")
        yield name, list(wanted) if several else [wanted]
        return
    named = grouped((_full_name(variable), variable)
                    for variable in get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES))
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
        _begin_with(variable, restored)


def _begin_with(variable: Variable, value: Any) -> None:
    variable._initial_value = value
    assign = "AssignVariableOp" if variable.is_resource else "Assign"
    variable.initializer = getattr(build, assign)(variable.handle_tensor, value, name="assign")
    variable.initializer = getattr(variable.initializer, "op", variable.initializer)
