"""Slots: the variables that an optimizer keeps for each variable it trains."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.dtypes import DType
from ...core.errors import GraphError
from ...core.graph import Graph
from ...core.op import build
from ...core.shapes import is_known
from ..control.dependencies import init_scope
from ..variables.initializers import Zeros
from ..variables.saved_parts import SaveSliceInfo
from ..variables.variable import Variable
from ..variables.variable_scope import variable_scope


def create_slot(primary: Any, initial_value: Any, name: str, dtype: DType | None = None) -> Variable:
    """A variable `<primary>/<name>`, not trained. primary: a variable or tensor.

    initial_value: a tensor, or a function that gives one in the shape of `primary`.
    """
    known = is_known(primary.shape.dims_tuple if callable(initial_value) else initial_value.dims)
    owner = primary._shared_name if isinstance(primary, Variable) else primary.op.name
    with init_scope(), variable_scope(None, f"{owner}/{name}") as scope:
        if scope.reuse is True:  # as get_variable, which TensorFlow makes slots with
            raise GraphError(f"Variable {scope.name}/ does not exist, or was not created with tf.get_variable(). Did "
                             "you mean to set reuse=tf.AUTO_REUSE in VarScope?")
        slot = Variable(initial_value, name=f"{scope.name}/", trainable=False, dtype=dtype, validate_shape=known,
                        use_resource=getattr(primary, "is_resource", False))
        whole = getattr(primary, "_save_slice_info", None)
        if whole:  # the slot of a part is a part, too
            slot._set_save_slice_info(SaveSliceInfo(f"{whole.full_name}/{slot.op.name.removeprefix(owner + '/')}",
                                                    whole.full_shape, whole.var_offset, whole.var_shape))
        return slot


def create_zeros_slot(primary: Any, name: str, dtype: DType | None = None) -> Variable:
    """A variable `<primary>/<name>` of zeros in the shape of `primary`, also when that is known only in a run."""
    dtype = primary.dtype.base_dtype if dtype is None else dtype
    return create_slot(primary, filled_like(primary, Zeros(), dtype), name, dtype)


def filled_like(primary: Any, initializer: Callable[..., Any], dtype: DType) -> Callable[[], Any]:
    """A function that calls `initializer` with the shape of `primary`."""
    dims = primary.shape.dims_tuple
    like = primary.initialized_value if isinstance(primary, Variable) else lambda: primary
    if is_known(dims):
        return lambda: initializer(list(dims), dtype=dtype)
    return lambda: initializer(build.Shape(like()), dtype=dtype)


class Slots:
    """An optimizer's variables: per (name, variable), and shared ones by name and graph."""

    def __init__(self) -> None:
        self._slots: dict[str, dict[Variable, Variable]] = {}
        self._shared: dict[tuple[str, Graph], Variable] = {}

    def get(self, var: Variable, name: str) -> Variable | None:
        return self._slots.get(name, {}).get(var)

    def names(self) -> list[str]:
        return sorted(self._slots)

    def kept(self, var: Variable, slot_name: str, made: Callable[[], Variable]) -> Variable:
        """The slot, made the first time."""
        slots = self._slots.setdefault(slot_name, {})
        if var not in slots:
            slots[var] = made()
        return slots[var]

    def make(self, var: Variable, slot_name: str, op_name: str, initial_value: Any) -> Variable:
        return self.kept(var, slot_name, lambda: create_slot(var, initial_value, op_name))

    def zeros(self, var: Variable, slot_name: str, op_name: str) -> Variable:
        return self.make(var, slot_name, op_name, filled_like(var, Zeros(), var.dtype.base_dtype))

    def shared(self, initial_value: Any, name: str, like: Variable) -> Variable:
        """A variable kept once for all, made the first time; a resource if `like` is."""
        key = name, like.graph
        if key not in self._shared:
            self._shared[key] = Variable(initial_value, name=name, trainable=False, use_resource=like.is_resource)
        return self._shared[key]

    def get_shared(self, name: str, graph: Graph) -> Variable | None:
        return self._shared.get((name, graph))

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self._shared) + sum(map(len, self._slots.values()))

    def of_variables(self) -> list[tuple[str, Any, Variable]]:
        """(name, variable, slot) of all that are for one variable."""
        return [(name, variable, slot) for name, slots in sorted(self._slots.items())
                for variable, slot in slots.items()]

    def shared_in(self, graph: Graph) -> dict[str, Variable]:
        """Name -> variable of those that are kept once for all, in `graph`."""
        return {name: variable for (name, where), variable in sorted(self._shared.items(), key=lambda item: item[0][0])
                if where is graph}

    def variables(self, graph: Graph) -> list[Variable]:
        """All slots that are in `graph`, sorted by name."""
        found = [*self._shared.values(), *(slot for slots in self._slots.values() for slot in slots.values())]
        return sorted((v for v in found if v.graph is graph), key=lambda v: v.name)
