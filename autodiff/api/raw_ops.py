"""tf.raw_ops: each op of the table under its own name, called with keywords as TensorFlow's are."""
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ..core import nest
from ..core.constant_value import static_value
from ..core.convert import convert_to_tensor
from ..core.errors import ArgumentError, KindError
from ..core.graph import Graph, Operation
from ..core.names import is_op_name
from ..core.op import OPS, build
from ..files.graph_messages import GRAPH_MESSAGES
from .common.unsupported import refusing
from .linalg.products import einsum
from .nn.pooling import max_pool
from .saved_graphs.attributes import AttrValue, value_of
from .saved_graphs.missing_ops import RECIPES

NodeDef = GRAPH_MESSAGES["NodeDef"]
_missing = refusing("tf.raw_ops", __name__)
# What TensorFlow calls a tensor where a kernel says otherwise is taken by place; of attributes these tell types, which
# the inputs have.
_TYPES = frozenset(("T", "Tidx", "Tshape", "Tpaddings", "N", "Tdim", "Tindices", "Index", "use_cudnn_on_gpu"))


@functools.cache
def raw_op(name: str) -> Callable[..., Any]:
    """The function that adds this op. Arguments: its tensors in order or by name, then its attributes."""
    definition = OPS[name]

    def add(*inputs: Any, name: str | None = None, **options: Any) -> Any:
        tensors = [*inputs]
        for parameter in definition.parameters[len(inputs):]:
            if parameter.name in options:
                tensors.append(options.pop(parameter.name))
        known = {key: None for key in definition.kernel.__code__.co_varnames
                 if key in definition.attributes or key in definition.required}  # in the order of the declaration
        attributes = {key: options.pop(key) for key in list(options) if key in known}
        rest = [value for key, value in options.items() if key not in _TYPES]
        tensors += rest[:max(len(definition.parameters) - len(tensors), 0)]
        if len(tensors) > 1 and isinstance(tensors[0], (list, tuple)) and not isinstance(tensors[-1], (list, tuple)) \
                and len(definition.parameters) > 1 and definition.parameters[-1].variadic:
            tensors = [*tensors[1:], tensors[0]]  # TensorFlow has the list in front, we behind
        if definition.parameters and definition.parameters[-1].variadic and tensors and \
                isinstance(tensors[-1], (list, tuple)):
            tensors[-1:] = tensors[-1]
        extra = len(tensors) - len(definition.parameters)
        if extra > 0 and not (definition.parameters and definition.parameters[-1].variadic):
            names = [key for key in known if key not in attributes]  # attributes given by place
            attributes.update(zip(names, tensors[-extra:]))
            del tensors[-extra:]
        return definition(*tensors, name=name, **attributes)

    add.__name__ = name
    return add


def created(graph: Graph, op_type: str, inputs: Sequence[Any], input_types: Any = None, name: str | None = None,
            attrs: dict[str, Any] | None = None, **without_effect: Any) -> Operation:
    """Graph.create_op: the operation, of the attributes that the op has. Raises ArgumentError for an unknown op."""
    if op_type not in OPS:
        raise ArgumentError(f"Op type not registered '{op_type}'")
    definition = OPS[op_type]
    known = {**definition.attributes, **dict.fromkeys(definition.required)}
    given = {key: value_of(value, key) if isinstance(value, AttrValue) else value
             for key, value in (attrs or {}).items() if key in known}
    with graph.as_default():
        made = definition(*inputs, name=name, **given)
    op = made if isinstance(made, Operation) else nest.flatten(made)[0].op
    op._colocated = op._colocated or ()
    return op


def of_node_def(node_def: Any, g: Graph, inputs: Sequence[Any] | None = None, output_types: Any = None,
                control_inputs: Sequence[Any] | None = None, input_types: Any = None,
                original_op: Operation | None = None, op_def: Any = None) -> Operation:
    """The operation that a NodeDef describes, of these inputs, under its very name.

    output_types and input_types are those that the op has. Raises KindError (TypeError) for what is no NodeDef,
    ArgumentError (ValueError) for a name that no operation can have.
    """
    if not isinstance(node_def, NodeDef):
        raise KindError(f"node_def needs to be a NodeDef: {node_def!r}")
    if not is_op_name(node_def.name):
        raise ArgumentError(f"'{node_def.name}' is not a valid node name", expected="letters, digits and _.\\-/")
    with g.name_scope(None), g.control_dependencies(control_inputs or ()):
        made = created(g, node_def.op, inputs or (), name=f"{g.unique_name(node_def.name)}/", attrs=node_def.attr)
    made.device, made.origin = node_def.device or made.device, original_op
    return made


def _pooled(input: Any, ksize: Any, strides: Any, padding: str, data_format: str = "NHWC",
            name: str | None = None) -> Any:
    sizes, steps = (static_value(convert_to_tensor(given)) for given in (ksize, strides))
    if sizes is None or steps is None:
        return build.MaxPoolV2(input, ksize, strides, padding=padding, data_format=data_format, name=name)
    return max_pool(input, sizes, steps, padding, data_format, name)


_INSTEAD = {  # einsum has the equation in front, which may have dots; known sizes of windows have a gradient
    "Einsum": lambda inputs, equation, name=None: einsum(equation, *inputs, name=name), "MaxPoolV2": _pooled}


def __getattr__(name: str) -> Any:
    if name in _INSTEAD:
        return _INSTEAD[name]
    return raw_op(name) if name in OPS else RECIPES[name] if name in RECIPES else _missing(name)


def __dir__() -> list[str]:
    return sorted({*OPS, *RECIPES})
