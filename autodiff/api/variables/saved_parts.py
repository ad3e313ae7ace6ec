"""What a variable is outside of its graph: its VariableDef, the whole that a part belongs to, values from elsewhere."""
from __future__ import annotations

import functools
from typing import Any, NamedTuple, cast

from ...core.defaults import session_for
from ...core.errors import NoValueError, StateError
from ...core.graph_parts import written_as
from .trackable import Trackable


class SaveSliceInfo:
    """Which part of a whole a variable is. full_name, full_shape: of the whole; var_offset, var_shape: of the part."""

    def __init__(self, full_name: str | None = None, full_shape: Any = None, var_offset: Any = None,
                 var_shape: Any = None, save_slice_info_def: Any = None, import_scope: str | None = None) -> None:
        given = save_slice_info_def
        if given is not None:
            full_name = f"{import_scope}/{given.full_name}" if import_scope else given.full_name
            full_shape, var_offset, var_shape = list(given.full_shape), list(given.var_offset), list(given.var_shape)
        self.full_name, self.full_shape = full_name, full_shape
        self.var_offset, self.var_shape = var_offset, var_shape

    @property
    def spec(self) -> str:
        """`10 4 0,5:0,4`: the whole's sizes, then start and size of the part along each axis; as checkpoints say it."""
        sizes = "".join(f"{size} " for size in self.full_shape)
        return sizes + ":".join(f"{start},{size}" for start, size in zip(self.var_offset, self.var_shape))


class SaveSpec(NamedTuple):
    """A tensor of a state, or a function that gives it, its name in checkpoints; and its dtype and device."""

    tensor: Any
    slice_spec: str
    name: str
    dtype: Any = None
    device: Any = None


class SaveableObject:
    """What a kind of state tells a Saver: its op, the SaveSpecs of its tensors, its name; `restore` takes them back."""

    def __init__(self, op: Any, specs: Any, name: str) -> None:
        self.op, self.specs, self.name = op, specs, name

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """The operation that makes restored tensors the state."""
        raise NotImplementedError("Calling an abstract method.")


class Saved(Trackable):
    """The methods of a variable for files, and for values that do not come from the graph."""

    SaveSliceInfo = SaveSliceInfo
    _save_slice_info: Any = None
    _checkpoint_dependencies = ()

    def load(self, value: Any, session: Any = None) -> None:
        """Put a value into `session`, or the default one, without adding to the graph; eagerly, into the variable."""
        variable: Any = self
        if variable.graph.executing_eagerly:
            variable.assign(value)
        else:
            session_for(variable.graph, session, f"load a value into {variable.name!r}").run(
                variable.initializer, {variable.initializer.inputs[1]: value})

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """Another variable of the present value. Raises NoValueError (NotImplementedError) in a graph."""
        variable: Any = self
        if not variable.graph.executing_eagerly:
            raise NoValueError("__deepcopy__() is only available when eager execution is enabled.")
        return type(self)(variable.read_value(), name=variable.name.partition(":")[0], trainable=variable.trainable)  # type: ignore[call-arg]

    def __reduce__(self) -> Any:
        variable, kind = cast(Any, self), cast(Any, type(self))
        if not variable.graph.executing_eagerly:
            raise NoValueError("a variable of a graph cannot be pickled: its value is in a session.")
        options = {"name": variable._shared_name, "dtype": variable.dtype, "trainable": variable.trainable}
        return functools.partial(kind, variable.numpy(), **options), ()

    def _ref(self) -> Any:
        return self.handle_tensor  # type: ignore[attr-defined]

    def _set_save_slice_info(self, save_slice_info: Any) -> None:
        self._save_slice_info = save_slice_info

    def _get_save_slice_info(self) -> Any:
        return self._save_slice_info

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The VariableDef, its names without export_scope; None for a variable that is not below it.

        Raises StateError (RuntimeError) when executing eagerly.
        """
        if self.graph.executing_eagerly:  # type: ignore[attr-defined]
            raise StateError("to_proto not supported in EAGER mode.")
        return written_as("VariableDef", self, export_scope)

    @staticmethod
    def from_proto(variable_def: Any, import_scope: str | None = None) -> Any:
        """The variable of operations that the default graph has already."""
        return written_as("variable of VariableDef", variable_def, import_scope)
