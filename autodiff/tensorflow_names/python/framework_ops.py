"""tensorflow.python.framework.ops: conversions of several values, the stacks of defaults, what graphs register."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...api.control.dependencies import device, name_scope
from ...api.messages import NodeDef
from ...api.saved_graphs.meta_graph import PROTO_FUNCTIONS
from ...api.type_specs import CompositeTensor
from ...core.convert import convert_to_tensor
from ...core.defaults import STACKS, get_default_session
from ...core.devices import name_of
from ...core.errors import NoGradientError
from ...core.graph import Graph, Operation, Tensor, get_default_graph, graph_of
from ...core.indexed_slices import IndexedSlices
from ...core.op import OPS, REGISTERED_GRADIENTS
from ...core.sparse_tensor import SparseTensor, SparseTensorValue
from ...runtime.eager import EagerTensor, eager_mode, executing_eagerly
from ...runtime.session import Session

__all__ = ["EagerTensor", "device", "name_scope"]
convert_to_tensor_v2 = convert_to_tensor
device_v2, name_scope_v1, name_scope_v2 = device, name_scope, name_scope
_USER_DEFAULT_SESSION = Session


def internal_convert_to_tensor(value: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False,
                               preferred_dtype: Any = None, *without_effect: Any, **options: Any) -> Tensor:
    """tf.convert_to_tensor. as_ref: of a variable the handle or reference itself, not its value."""
    handle = getattr(value, "handle_tensor", None)
    return handle if as_ref and handle is not None else convert_to_tensor(value, dtype, name, preferred_dtype)


def _NodeDef(op_type: str, name: str, device: Any = None, attrs: Any = None) -> Any:  # noqa: N802
    return NodeDef(op=op_type, name=name, device=name_of(device), attr=attrs or {})


def _create_c_op(graph: Graph, node_def: Any, inputs: Sequence[Any], control_inputs: Sequence[Any]) -> Operation:
    """The operation itself: there is none beneath it."""
    return Operation(node_def, graph, inputs, control_inputs=control_inputs)


class _Stack:
    """The default graphs of this thread, as code takes hold of them to begin anew."""

    stack = property(lambda self: STACKS.graphs)
    get_default = staticmethod(get_default_graph)

    def reset(self) -> None:
        """Leave no default graph but a fresh one."""
        STACKS.graphs.clear()
        STACKS.bottom = None

    def is_cleared(self) -> bool:
        return not STACKS.graphs

    def get_controller(self, default: Graph) -> Any:
        return default.as_default()


_default_graph_stack = _Stack()


class _SessionStack:
    """The default sessions of this thread."""

    stack = property(lambda self: STACKS.sessions)
    get_default = staticmethod(get_default_session)

    def reset(self) -> None:
        """Leave no default session."""
        STACKS.sessions.clear()


_default_session_stack = _SessionStack()


def has_default_graph() -> bool:
    """Whether a graph was made the default one."""
    return bool(STACKS.graphs)


def executing_eagerly_outside_functions() -> bool:
    """Whether ops run at once where no function is being built."""
    return executing_eagerly()


def inside_function() -> bool:
    """Whether a function's body is being built."""
    return get_default_graph().building_function


def get_name_scope() -> str:
    """The current name scope, without its `/`."""
    return get_default_graph().get_name_scope()


def strip_name_scope(name: str, export_scope: str | None) -> str:
    """A name without the scope it begins with; what says `^` or `loc:@` of a name says it of the rest."""
    mark, plain = _marked(name)
    scope = (export_scope or "").removesuffix("/")
    return mark + plain[len(scope):].lstrip("/") if scope and plain.startswith(f"{scope}/") else name


def prepend_name_scope(name: str, import_scope: str | None) -> str:
    """A name within a scope; what says `^` or `loc:@` of a name says it of the whole."""
    mark, plain = _marked(name)
    return f"{mark}{import_scope.removesuffix('/')}/{plain}" if import_scope else name


def _marked(name: str | bytes) -> tuple[str, str]:
    text = name.decode() if isinstance(name, bytes) else name
    mark = next((mark for mark in ("^", "loc:@") if text.startswith(mark)), "")
    return mark, text.removeprefix(mark)


def convert_n_to_tensor(values: Sequence[Any], dtype: Any = None, name: str | None = None,
                        preferred_dtype: Any = None) -> list[Tensor]:
    """Each value as a tensor, named by its place. Raises TypeError for what is no sequence."""
    return [convert_to_tensor(value, dtype, own_name, preferred_dtype) for value, own_name in _named(values, name)]


def _named(values: Any, name: str | None) -> list[tuple[Any, str | None]]:
    if not isinstance(values, (list, tuple)):
        raise TypeError("values must be a sequence.")
    return [(value, None if name is None else f"{name}_{i}") for i, value in enumerate(values)]


internal_convert_n_to_tensor = convert_n_to_tensor


def convert_to_tensor_or_indexed_slices(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A value as a tensor; IndexedSlices, sparse and other composite tensors stay as they are."""
    if isinstance(value, (IndexedSlices, SparseTensor, CompositeTensor)):
        return value
    return convert_to_tensor(value, dtype, name)


convert_to_tensor_or_composite = internal_convert_to_tensor_or_indexed_slices = convert_to_tensor_or_indexed_slices


def convert_n_to_tensor_or_indexed_slices(values: Sequence[Any], dtype: Any = None,
                                          name: str | None = None) -> list[Any]:
    """Each value as convert_to_tensor_or_indexed_slices has it; None stays None."""
    return [None if value is None else convert_to_tensor_or_indexed_slices(value, dtype, own_name)
            for value, own_name in _named(values, name)]


convert_n_to_tensor_or_composite = convert_n_to_tensor_or_indexed_slices


def get_gradient_function(op: Any) -> Any:
    """The function registered, or declared, as an operation's gradient. Raises LookupError if there is none."""
    name = op.override or op.type
    if name == "PyFunc" and op.attrs["gradient"] is None:
        return None
    if name in REGISTERED_GRADIENTS:
        return REGISTERED_GRADIENTS[name]
    if name in OPS and (OPS[name].gradient_rule or OPS[name].no_grad):
        return OPS[name].gradient_rule
    raise NoGradientError(f"No gradient defined for operation '{op.name}' (op type: {op.type})",
                          found=f"no gradient named {name!r}" if name != op.type else "")


def _get_graph_from_inputs(op_input_list: Sequence[Any], graph: Graph | None = None) -> Graph:
    return graph or graph_of(op_input_list)


def enable_eager_execution_internal(*args: Any, **options: Any) -> Any:
    """Run ops at once from here on."""
    return eager_mode().__enter__()


def RegisterShape(op_type: str, *more: str) -> Any:  # noqa: N802
    """A decorator that leaves a function as it is: ops say their shapes themselves."""
    return lambda f: f


_STATISTICS: dict[tuple[str, str], Any] = {}


class OpStats:
    """A count that belongs to an operation, such as "flops". value: None where nobody knows it."""

    def __init__(self, statistic_type: str, value: Any = None) -> None:
        self.statistic_type, self.value = statistic_type, value

    def __iadd__(self, other: "OpStats") -> "OpStats":
        self.value = other.value if self.value is None else self.value + (other.value or 0)
        return self


def RegisterStatistics(op_type: str, statistic_type: str) -> Any:  # noqa: N802
    """A decorator: the function (graph, node_def) gives the OpStats of nodes of this type."""
    return lambda f: _STATISTICS.setdefault((op_type, statistic_type), f)


def get_stats_for_node_def(graph: Graph, node: Any, statistic_type: str) -> OpStats:
    """What the function registered for a node's type says; without one, a count that nobody knows."""
    return _STATISTICS.get((node.op, statistic_type), lambda *_: OpStats(statistic_type))(graph, node)


def _set_call_cpp_shape_fn(call_cpp_shape_fn: Any) -> None:
    """Nothing is set."""


_DENSE: list[type] = [Tensor]


def register_dense_tensor_like_type(tensor_type: type) -> None:
    """Note a class whose objects are to be taken for tensors: it has `name` and `dtype` properties."""
    for attribute in ("name", "dtype"):
        if not isinstance(getattr(tensor_type, attribute, None), property):
            raise TypeError(f"Type {tensor_type.__name__} does not define a `{attribute}` property")
    _DENSE.append(tensor_type)


def is_dense_tensor_like(t: Any) -> bool:
    """Whether this is a tensor, a variable, or of a class noted as one."""
    return isinstance(t, tuple(_DENSE)) or hasattr(t, "as_tensor")


def is_sparse(tensor: Any) -> bool:
    """Whether this is a SparseTensor, or the value of one."""
    return isinstance(tensor, (SparseTensor, SparseTensorValue))


def register_symbolic_tensor_type(cls: type) -> None:
    """Nothing is noted: Keras's own models, which would ask, are not here."""


def register_proto_function(collection_name: str, proto_type: Any = None, to_proto: Any = None,
                            from_proto: Any = None) -> None:
    """Note how what a collection holds becomes a message, and an object again."""
    PROTO_FUNCTIONS[collection_name] = proto_type, to_proto, from_proto


def get_to_proto_function(collection_name: str) -> Any:
    """What was noted for a collection; None if nothing was."""
    return PROTO_FUNCTIONS.get(collection_name, (None, None, None))[1]


def get_from_proto_function(collection_name: str) -> Any:
    """What was noted for a collection; None if nothing was."""
    return PROTO_FUNCTIONS.get(collection_name, (None, None, None))[2]
