"""RNNCell: one step of a recurrent network, a layer of an input and a state."""
from __future__ import annotations

from typing import Any, NamedTuple

from ....core import nest
from ....core.constant_value import static_value
from ....core.convert import convert_to_tensor
from ....core.dtypes import DType, as_dtype
from ....core.errors import ArgumentError, KindError, ShapeError
from ....core.graph import Tensor, get_default_graph
from ....core.op import build
from ....core.shapes import as_dims
from ....ops.common.op_counts import counted_as
from ...arrays.creation import zeros
from ...variables.layer_base import Layer, add_once
from ...variables.variable import Variable
from ...variables.variable_scope import get_variable_scope, variable_scope


class LSTMStateTuple(NamedTuple):
    """c: the cell state, float[n, units]. h: the output, float[n, units]."""

    c: Any
    h: Any

    @property
    def dtype(self) -> DType:
        """The dtype of both. Raises KindError (TypeError) if they differ."""
        if self.c.dtype.base_dtype is not self.h.dtype.base_dtype:
            raise KindError(f"c and h have different dtypes: {self.c.dtype.name} and {self.h.dtype.name}")
        return self.c.dtype


class RNNCell(Layer):
    """`output, new_state = cell(inputs, state)`.

    inputs: float[n, k]; state: float[n, s], or a structure of such as state_size is. Variables that `call` makes with
    get_variable are the cell's.
    """

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:  # type: ignore[override]
        """(output, new state). scope: the variable scope in place of one of the cell's name."""
        with variable_scope(get_variable_scope() if scope is None else scope, custom_getter=self._noted,
                            auxiliary_name_scope=scope is not None) as opened:
            return super().__call__(inputs, state, scope=None if scope is None else opened)

    def _noted(self, getter: Any, *args: Any, **options: Any) -> Variable:
        variable = getter(*args, **options)
        add_once(self._trainable_weights if variable.trainable else self._non_trainable_weights, variable)
        return variable

    @property
    def state_size(self) -> Any:
        """An int, a shape, or a structure of them: of the state, without the batch."""
        raise NotImplementedError(f"{type(self).__name__} does not say how large its state is")

    @property
    def output_size(self) -> Any:
        """As state_size, of the output."""
        raise NotImplementedError(f"{type(self).__name__} does not say how large its output is")

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        """zero_state for the given batch size and dtype, or for the batch size and dtype of `inputs`."""
        if inputs is not None:
            tensor = convert_to_tensor(inputs, name="inputs")
            own = tensor.dims[0] if tensor.dims else None
            for what, mine, said in (("batch size", own, batch_size), ("dtype", tensor.dtype, dtype)):
                if said is not None and mine != (static_value(said) if isinstance(said, Tensor) else said):
                    raise ArgumentError(f"{what} from input tensor is different from the input param. Input tensor: "
                                        f"{mine}, param: {said}")
            batch_size, dtype = batch_of(tensor, 0), tensor.dtype
        if batch_size is None or dtype is None:
            raise ArgumentError("batch_size and dtype cannot be None", expected="both, of the initial state",
                                found=f"{batch_size} and {dtype}")
        return self.zero_state(batch_size, dtype)

    def get_config(self) -> dict[str, Any]:
        """Its settings by name, as they were given; cells among them by the names of their classes, and theirs."""
        return {**super().get_config(), **{name: _told(value) for name, value in self._given().items()}}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """A cell of such settings. Raises ArgumentError (ValueError) for a class of cells that is not known."""
        return cls(**{name: _made(value, custom_objects or {}) for name, value in config.items()})

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Zeros in the structure of state_size. batch_size: an int or int32[]."""
        with get_default_graph().name_scope(f"{type(self).__name__}ZeroState"):
            with counted_as(len(nest.flatten(self.state_size)) * (10 if isinstance(batch_size, Tensor) else 8)):
                return nest.map_structure(lambda size: zeros_of(batch_size, size, dtype), self.state_size)


def _told(value: Any) -> Any:
    if isinstance(value, RNNCell):
        return {"class_name": type(value).__name__, "config": value.get_config()}
    return [_told(each) for each in value] if isinstance(value, (list, tuple)) else value


def _made(value: Any, known: dict[str, Any]) -> Any:
    if isinstance(value, dict) and "class_name" in value:
        kinds = {kind.__name__: kind for kind in _below(RNNCell)} | known
        if value["class_name"] not in kinds:
            raise ArgumentError(f"Unknown object: {value['class_name']}", hint="give custom_objects")
        return kinds[value["class_name"]].from_config(value["config"], custom_objects=known)
    return [_made(each, known) for each in value] if isinstance(value, list) else value


def _below(kind: Any) -> list[Any]:
    direct = kind.__subclasses__()
    return [each for below in map(_below, direct) for each in below] + direct


class LayerRNNCell(RNNCell):
    """A cell that makes its variables in `build`, as layers do."""

    def __call__(self, inputs: Any, state: Any, scope: Any = None, *args: Any, **options: Any) -> Any:  # type: ignore[override]
        """(output, new state). scope: the variable scope in place of one of the cell's name."""
        for tensor in nest.flatten([inputs, state]):
            checked_dtype(getattr(tensor, "dtype", None))
        return Layer.__call__(self, inputs, state, *args, scope=scope, **options)


def zeros_of(batch_size: Any, size: Any, dtype: Any) -> Tensor:
    """Zeros of shape [batch_size, *size]. size: an int or a shape."""
    rest = size_dims(size)
    if None in rest:
        raise ShapeError(expected="known sizes of a state", found=list(rest))
    return zeros([batch_size, *rest], as_dtype(dtype))


def size_dims(size: Any) -> tuple[int | None, ...]:
    """The dimensions that a state_size or output_size stands for."""
    return (int(size),) if not hasattr(size, "__len__") else as_dims(size) or ()


def checked_dtype(dtype: Any) -> None:
    """Raises ArgumentError (ValueError) for a dtype that a cell cannot compute in."""
    if dtype is not None and not (as_dtype(dtype).is_floating or as_dtype(dtype).is_complex):
        raise ArgumentError(f"RNN cell only supports floating point inputs, but saw dtype: {as_dtype(dtype).name}")


def input_depth(name: str, shape: Any) -> int:
    """The last size of the inputs. Raises ShapeError (ValueError) if it is unknown."""
    dims = as_dims(shape)
    if not dims or dims[-1] is None:
        raise ShapeError(f"cell {name!r}", expected="inputs with a known last size", found=f"shape {shape}")
    return dims[-1]


def check_cell(what: str, cell: Any) -> None:
    """Raises KindError (TypeError) for anything that is no cell."""
    if isinstance(cell, type) or not callable(cell) or not hasattr(type(cell), "output_size") \
            or not hasattr(type(cell), "state_size") \
            or not (hasattr(cell, "zero_state") or hasattr(cell, "get_initial_state")):
        raise KindError(expected=f"an RNNCell as {what}", found=repr(cell))


def called(cell: Any, x: Any, state: Any) -> Any:
    """(output, new state) of a cell; one of Keras wants and gives a list of states, even of one."""
    if hasattr(cell, "zero_state") or nest.is_sequence(state):
        return cell(x, state)
    output, states = cell(x, [state])
    return output, states[0]


def batch_of(tensor: Tensor, axis: int) -> Any:
    """The size of the batch, which lies along `axis`: an int where it is known, else int32[]."""
    known = tensor.dims[axis] if tensor.dims is not None and len(tensor.dims) > axis else None
    return known if known is not None else build.Shape(tensor)[axis]
