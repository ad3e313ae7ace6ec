"""The variables of a Saver: by their names in checkpoints, their values, and which checkpoints fit."""
from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.errors import (
    ArgumentError,
    FailedPreconditionError,
    GraphError,
    InvalidArgumentError,
    KindError,
    NotFoundError,
    StateError,
)
from ...core.graph import get_default_graph
from ...core.op import build
from ...core.shapes import as_dims, compatible, is_known, show
from ...files.checkpoint import Part
from ..variables.saved_parts import SaveableObject, SaveSpec
from ..variables.variable import Variable
from .checkpoints import CheckpointReader

_FAILED = "Restoring from checkpoint failed. This is most likely due to"
_ENSURE = ("Please ensure that you have not altered the graph expected based on the checkpoint. " "Original error:")


def named_variables(wanted: Any) -> dict[str, list[Variable]]:
    """Name in the checkpoint -> the variable; several ones are the parts of a partitioned variable.

    wanted: variables, or a mapping from names to them. Raises KindError (TypeError) for what is no variable,
    ArgumentError (ValueError) for two variables of one name, or two names of one variable.
    """
    if not isinstance(wanted, (Mapping, list, tuple, set)):
        raise KindError(expected="a list or dict of variables", found=repr(wanted))
    found: dict[str, list[Variable]] = {}
    for name, variable in _pairs(wanted):
        part = part_of(variable)
        name = name or (variable.name.rpartition(":")[0] if part is None else variable._save_slice_info.full_name)
        if name in found and (part is None or part_of(found[name][0]) is None):
            raise ArgumentError(f"At least two variables have the same name: {name}")
        found.setdefault(name, []).append(variable)
    named: dict[int, str] = {}
    for name, variables in found.items():
        for variable in variables:
            first = named.setdefault(id(variable), name)
            if first != name:
                raise ArgumentError(f"The same saveable will be restored with two names: {first}",
                                    found=f"{name!r}, too")
    return found


def _pairs(wanted: Any) -> Iterator[tuple[str | None, Any]]:
    """(name or None, variable), with the parts of partitioned variables one by one."""
    for name, item in wanted.items() if isinstance(wanted, Mapping) else ((None, each) for each in wanted):
        several = isinstance(item, (list, tuple)) or hasattr(item, "_get_variable_list")
        for variable in item if several else [item]:
            if not isinstance(variable, Variable):
                raise KindError(expected="variables to save", found=repr(variable))
            yield name, variable


def part_of(variable: Any) -> Part | None:
    """Of which whole a variable is a part; None for a whole one."""
    info = getattr(variable, "_save_slice_info", None)
    return None if info is None else Part(tuple(info.full_shape), tuple(info.var_offset))


def arrays_of(session: Any, variables: Mapping[str, list[Variable]]) -> dict[str, Any]:
    """The values in a session, for `write_checkpoint`; without one, their own, while executing eagerly.

    Raises FailedPreconditionError for a missing value.
    """
    return {name: [(_value(session, v), part_of(v)) for v in found] if part_of(found[0]) else _value(session, found[0])
            for name, found in variables.items()}


def _value(session: Any, variable: Any) -> np.ndarray:
    if session is None:
        return np.asarray(variable.numpy())
    value = session.variables.get(variable.op.name)
    if value is None:
        raise FailedPreconditionError(None, variable.op, f"Attempting to use uninitialized value {variable.op.name}",
                                      hint="run tf.global_variables_initializer() before saving")
    return value


def fitting(reader: CheckpointReader, name: str, variable: Variable, *, reshape: bool) -> np.ndarray:
    """A checkpoint's value for a variable, or for a part.

    Raises NotFoundError if there is none, InvalidArgumentError for another dtype or shape; reshape: as many elements
    are enough.
    """
    op = None if get_default_graph().executing_eagerly else variable.op
    if not reader.has_tensor(name):
        raise NotFoundError(None, op, f"{_FAILED} a Variable name or other graph key that is missing from the "
                            f"checkpoint. {_ENSURE}\n\nKey {name} not found in checkpoint\nit holds: "
                            f"{', '.join(reader.get_variable_to_shape_map()) or 'nothing'}", hint="build it under the "
                            "names it was saved with, or map them: tf.train.Saver({name in the checkpoint: variable})")
    value, dtype = reader.array(name), reader.get_variable_to_dtype_map()[name]
    part = part_of(variable)
    wanted, dims = variable.dtype.base_dtype, as_dims(variable.shape)
    if dtype is not wanted:
        raise InvalidArgumentError(None, op, f"tensor_name = {name}; expected dtype {wanted.name} does not equal "
                                   f"original dtype {dtype.name}")
    if part is not None and dims is not None and value.shape == part.full_shape:
        value = value[tuple(slice(begin, begin + dim) for begin, dim in zip(part.offset, dims))]
    if dims is None or compatible(dims, value.shape):
        return np.ascontiguousarray(value).reshape(value.shape)
    if reshape and is_known(dims) and value.size == np.prod(dims):
        return value.reshape(dims)
    raise InvalidArgumentError(None, op, f"{_FAILED} a mismatch between the current graph and the graph from the "
                               f"checkpoint. {_ENSURE}\n\nAssign requires shapes of both tensors to match. variable "
                               f"{name!r} has shape {show(dims)}, the checkpoint has {show(value.shape)}",
                               hint="build the model as it was when it was saved, or leave the variable out of the "
                                    "Saver's var_list")


def without_states(wanted: Any) -> tuple[Any, list[SaveableObject]]:
    """What of a Saver's var_list are variables, and the states of what is none: SaveableObjects, tables.

    Raises ArgumentError (ValueError) for two states of one name.
    """
    if not isinstance(wanted, (Mapping, list, tuple, set)):
        return wanted, []
    rest, states = [], []
    named: dict[int, str | None] = {}
    for name, item in wanted.items() if isinstance(wanted, Mapping) else ((None, each) for each in wanted):
        if isinstance(item, SaveableObject):
            first = named.setdefault(id(item), name)
            if first != name:
                raise ArgumentError(f"The same saveable will be restored with two names: {first}",
                                    found=f"{name!r}, too")
            states.append(item)
        elif hasattr(item, "_gather_saveables_for_checkpoint"):
            states += [make() if callable(make) else make for make in item._gather_saveables_for_checkpoint().values()]
        else:
            rest.append((name, item))
    names = [spec.name for state in states for spec in state.specs]
    if len(set(names)) < len(names):
        raise ArgumentError(f"At least two variables have the same name: {max(names, key=names.count)}")
    return dict(rest) if isinstance(wanted, Mapping) else [item for _, item in rest], states


class Restoring:
    """The operation that restores a state, made once, and what it is fed."""

    def __init__(self, state: SaveableObject) -> None:
        self.state = state
        tensors = [spec.tensor() if callable(spec.tensor) else spec.tensor for spec in state.specs]
        self.tensors = {spec.name: tensor for spec, tensor in zip(state.specs, tensors)}
        graph = get_default_graph()
        if graph.executing_eagerly:
            return
        with graph.name_scope(None), graph.name_scope("save"), graph.control_dependencies(None):
            self._fed = [build.Placeholder(dtype=tensor.dtype.base_dtype, shape=None) for tensor in tensors]
            self._restored = state.restore(self._fed, None)

    def arrays(self, session: Any) -> dict[str, Any]:
        """The state in a session, or while executing eagerly when this was made, by its names in checkpoints."""
        if session is None:
            return {name: np.asarray(tensor) for name, tensor in self.tensors.items()}
        return session.run(self.tensors)

    def run(self, session: Any, reader: CheckpointReader) -> None:
        """Give the state what a checkpoint has. Raises NotFoundError for a name that it lacks."""
        for name, tensor in self.tensors.items():
            if not reader.has_tensor(name):
                raise NotFoundError(None, tensor.op, f"Key {name} not found in checkpoint")
        arrays = [reader.array(name) for name in self.tensors]
        if session is None:
            self.state.restore([convert_to_tensor(array) for array in arrays], None)
        else:
            session.run(self._restored, dict(zip(self._fed, arrays)))


class BaseSaverBuilder:
    """The classes of state that scripts derive theirs from."""

    SaveableObject = VariableSaveable = ResourceVariableSaveable = SaveableObject
    SaveSpec = SaveSpec


def load_into(session: Any, variable: Variable, value: np.ndarray, path: Any) -> None:
    """Make a value of a checkpoint a variable's in a session; without one its own. Raises GraphError for another graph.
    """
    if session is None:
        variable.assign(value)
        return
    if variable.graph is not session.graph:
        raise GraphError(f"variable {variable.name!r} is of another graph than the session")
    session.variables[variable.op.name] = value
    if path is not None:
        session.loaded[variable.op.name] = os.fspath(path), session.runs


def bare_session(sess: Any) -> Any:
    """The session itself that is inside of a monitored or debugged one; None while executing eagerly."""
    if get_default_graph().executing_eagerly:
        return None
    if not hasattr(sess, "variables") and hasattr(sess, "_tf_sess"):
        sess = sess._tf_sess()
    if not hasattr(sess, "variables"):
        raise KindError(expected="a tf.Session", found=repr(sess))
    if sess.closed:
        raise StateError("Attempted to use a closed Session.")
    return sess
