"""Operation: one node of a graph, and where it came from."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import site
from .defaults import session_for
from .devices import device_of, name_of
from .errors import ArgumentError, GraphError, InvalidArgumentError, OutOfRangeError
from .graph_parts import written_as
from .names import OF_RULE
from .op import OpDef, Spec
from .shapes import compatible, show
from .tensor import Lean, Tensor, TensorSlots, seldom

if TYPE_CHECKING:
    from .graph import Graph


_NEW: Any = object.__new__


class _Changeable:
    """What code that rewrites graphs changes of an operation that is made; a session that ran it knows the old one."""

    __slots__ = ()

    def _add_control_input(self, op: Any) -> None:
        self._add_control_inputs([op])

    def _add_control_inputs(self: Any, ops: Any) -> None:
        self._changed(waits_for=tuple(dict.fromkeys((*self.waits_for, *ops))))

    def _remove_all_control_inputs(self: Any) -> None:
        self._changed(waits_for=())

    def _update_input(self: Any, index: int, tensor: Any) -> None:
        """Take another tensor as input. Raises OutOfRangeError for an index, InvalidArgumentError for another kind."""
        if tensor.graph is not self.graph:
            raise GraphError(f"{tensor!r} must be from the same graph as {self.name!r}")
        if index >= len(self.inputs):
            raise OutOfRangeError(None, self, f"Cannot update edge. Input index [{index}] is greater than the number "
                                  f"of total inputs [{len(self.inputs)}].")
        old = self.inputs[index]
        if not compatible(tensor.dims, old.dims):
            raise InvalidArgumentError(None, self, f"Cannot update edge, incompatible shapes: {show(tensor.dims)} and "
                                       f"{show(old.dims)}")
        if tensor.dtype.base_dtype is not old.dtype.base_dtype:
            raise InvalidArgumentError(None, self, f"Input {index} of node {self.name} was passed {tensor.dtype.name} "
                                       f"from {tensor.name} incompatible with expected {old.dtype.name}")
        self._changed(inputs=(*self.inputs[:index], tensor, *self.inputs[index + 1:]))
        readers = list(old._consumers)
        readers.remove(self)
        old._consumers = readers
        tensor.add_consumer(self)
        if self.type == "Merge":
            written_as("closed frame", self)

    def _set_attr(self: Any, attr_name: str, attr_value: Any) -> None:
        """Give an attribute that no kernel reads, as an AttrValue; `_gradient_op_type` names a registered gradient."""
        value = None if attr_value is None else written_as("value of AttrValue", attr_value, attr_name)
        if attr_name == "_gradient_op_type":
            self.override = value
        self._given = {**self._given, attr_name: value}

    def _changed(self: Any, **parts: Any) -> None:
        """Have other inputs, with the graph's operations in an order in which those come first.

        Raises InvalidArgumentError for a circle; then nothing has changed.
        """
        self.graph.operations.link()  # by what they take now
        self.graph.is_rewired = True
        before = {name: getattr(self, name) for name in parts}
        for name, value in parts.items():
            setattr(self, name, value)
        try:
            _settle(self)
        except InvalidArgumentError:
            for name, value in before.items():
                setattr(self, name, value)
            raise


class _Text(str):
    """A text among attributes: functions here take it, and scripts find in it the bytes that TensorFlow has there."""

    __slots__ = ()

    def decode(self, *encoding: str) -> str:
        return str(self)

    def __eq__(self, other: object) -> bool:
        return str(self) == (other.decode() if isinstance(other, bytes) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


def _needs(op: Any) -> set[Any]:
    return {*(t.op for t in op.inputs if t.op.type != "NextIteration"), *op.waits_for}


def _settle(op: Any) -> None:
    """Move an operation, and those after it that need it, behind the last of what it needs now."""
    first, needs, listed = op.index, _needs(op), op.graph.operations.listed
    end = max((each.index for each in needs), default=-1) + 1
    if end <= first:
        return
    behind = {op}
    for each in listed[first + 1:]:
        if not behind.isdisjoint(_needs(each)):
            behind.add(each)
    if not behind.isdisjoint(needs):
        raise InvalidArgumentError(None, None, f"Graph is invalid, contains a cycle with {len(behind)} nodes")
    op.graph.operations.put(first, sorted(listed[first:end], key=behind.__contains__))


class OperationSlots:
    """What each operation has, to be set while it is made. `_name`: all of it, or (outer scope, last part) of a rule's.

    `_index` is None until asked for, `_outputs` the tensor if there is one only.
    """

    __slots__ = ("graph", "definition", "_name", "inputs", "attrs", "_outputs", "origin", "gradient_of", "_index",
                 "_frames", "_more", "__weakref__")
    graph: "Graph"
    definition: OpDef
    _name: str | tuple[str, str]
    inputs: tuple[Tensor, ...]
    attrs: dict[str, Any]
    _outputs: Any
    origin: "Operation | None"
    gradient_of: Tensor | None
    _index: int | None
    _frames: site.RawFrames


class Operation(_Changeable, Lean, OperationSlots):
    """One node of a graph. Knows the user's line, and for a gradient op the op it belongs to.

    type: the op's registered name. attrs: its attributes. origin: the forward Operation whose
    gradient rule made this one, or None. gradient_of: the y of that gradient. index: place in
    the order of making, from 0. waits_for: its control inputs. Its index, a name in a scope, and the tuple of one
    output, are made when they are asked for.
    """

    __slots__ = ()
    waits_for = seldom("waits_for", ())
    override = seldom("override", None)
    device = seldom("device", "")
    _device_assignments = seldom("_device_assignments", ())
    _colocation_dict = seldom("_colocation_dict", {})
    _colocated = seldom("_colocated", None)
    _given = seldom("_given", {})  # attributes set later

    def __new__(cls, *node_def_and_graph: Any, **options: Any) -> "Operation":
        """The operation of a NodeDef, as TensorFlow's own code makes one; Graph.enter makes all others.

        Without one an operation that is yet to begin, for `copy`.
        """
        if not node_def_and_graph:
            return object.__new__(cls)
        return written_as("Operation of NodeDef", *node_def_and_graph, **options)

    @staticmethod
    def begun(graph: "Graph", definition: OpDef, name: str | tuple[str, str], inputs: tuple[Tensor, ...],
              attrs: dict[str, Any], specs: Sequence[Spec]) -> "Operation":
        """An operation that is yet to be listed."""
        self: Any = _NEW(OperationSlots)
        self.graph, self.definition, self._name = graph, definition, name
        self.inputs, self.attrs = inputs, attrs
        self.origin, self.gradient_of = graph.backprop_origin
        self._index = self._more = None
        known = graph.made_from
        self._frames = known.frames if known is not None and known.frame is None else site.capture(known, 5)
        if len(specs) == 1:  # without a call
            self._outputs = tensor = _NEW(TensorSlots)
            tensor.op, (tensor.dtype, tensor.dims), tensor._takers, tensor._more = self, specs[0], None, None
            tensor.__class__ = Tensor
        else:
            self._outputs = tuple([Tensor.of(self, spec) for spec in specs])
        self.__class__ = Operation
        if graph.overrides and definition.name in graph.overrides:
            self.override = graph.overrides[definition.name]
        if graph.placement:
            self.device, self._device_assignments = device_of(self, graph.placement), graph.asked
        return self

    @property
    def index(self) -> int:
        if self._index is None:
            self.graph.operations.number()
        return -1 if self._index is None else self._index  # of one that no graph lists, as a copy

    @index.setter
    def index(self, place: int) -> None:
        self._index = place

    @property
    def name(self) -> str:
        found = self._name
        if isinstance(found, tuple):
            of_rule = f"{self.origin.name}{OF_RULE}"  # type: ignore[union-attr]
            found = self._name = f"{found[0]}/{of_rule}/{found[1]}"
        return found

    @property
    def outputs(self) -> tuple[Tensor, ...]:
        """Its tensors, in order."""
        made = self._outputs
        return made if type(made) is tuple else (made,)

    @property
    def type(self) -> str:
        return self.definition.name

    @property
    def control_inputs(self) -> list["Operation"]:
        """The operations that this one waits for without taking their outputs."""
        return list(self.waits_for)

    _control_inputs = control_inputs

    @property
    def _control_outputs(self) -> list["Operation"]:
        return [op for op in self.graph.operations.values() if self in op.waits_for]

    @property
    def span(self) -> site.Span | None:
        """Where the expression that made it stands in the user's file; None if nobody knows."""
        return site.span(self._frames)

    @property
    def spans(self) -> tuple[site.Span, ...]:
        """Where the expressions that led here stand, innermost first."""
        found = (site.span(self._frames[i:]) for i in range(len(self._frames)))
        return tuple(each for each in found if each is not None)

    @property
    def traceback(self) -> tuple[site.Site, ...]:
        """The user's lines that led here, innermost first."""
        return site.resolve(self._frames)

    @property
    def site(self) -> site.Site | None:
        """The user's line that made this operation; None outside of any file."""
        return site.resolve(self._frames[:1])[0] if self._frames else None

    @property
    def forward_op(self) -> "Operation":
        """For a gradient op of any order the op of the user's own that it goes back to; else itself."""
        op = self
        while op.origin is not None:
            op = op.origin
        return op

    def stand_with(self, names: tuple[str, ...]) -> None:
        """Note the operations with which this one is to be placed."""
        self._colocated = names

    def colocated_names(self) -> tuple[str, ...]:
        """The operations with which this one is placed; itself if there are none."""
        named = self._colocated  # () for what was made as it is, without a look at its op's arguments
        of_variables = [name for t in self.inputs if t.dtype.is_ref for name in t.op.colocated_names()]
        return tuple(dict.fromkeys((*(named or ()), *(of_variables if named != () else ())))) or (self.name,)

    def colocation_groups(self) -> list[bytes]:
        """`loc:@name` of each operation with which this one is placed."""
        return [f"loc:@{name}".encode() for name in self.colocated_names()]

    def get_attr(self, name: str) -> Any:
        """An attribute by name. Raises ArgumentError for an unknown one."""
        if name == "_class" and self.colocated_names() != (self.name,):
            return self.colocation_groups()
        if name == "_gradient_op_type" and self.override is not None:
            return self.override.encode()
        given = self._given.get(name)
        if given is not None:
            return given.encode() if isinstance(given, str) else given
        if name not in self.attrs:
            if name == "T":  # not kept: it is the type of the inputs that share theirs
                for parameter, tensor in zip(self.definition.parameters, self.inputs):
                    if parameter.kind.shared:
                        return tensor.dtype.base_dtype
            raise ArgumentError(f"Operation '{self.name}' has no attr named '{name}'. {self.describe()} has "
                                f"{sorted(self.attrs)}")
        value = self.attrs[name]
        if isinstance(value, str):
            return value.encode() if name in ("container", "shared_name") else _Text(value)
        if isinstance(value, list):
            return [_Text(item) if isinstance(item, str) else item for item in value]
        return value

    def values(self) -> tuple[Tensor, ...]:
        return self.outputs

    @property
    def _original_op(self) -> "Operation | None":
        return self.origin

    @property
    def op_def(self) -> Any:
        """The arguments, results and attributes of its op as an OpDef."""
        return written_as("OpDef", self)

    @property
    def node_def(self) -> Any:
        """Name, op type, names of inputs and attributes as a NodeDef."""
        return written_as("NodeDef", self)

    @property
    def _input_types(self) -> list[Any]:
        return [t.dtype for t in self.inputs]

    @property
    def _output_types(self) -> list[Any]:
        return [t.dtype for t in self.outputs]

    def _get_control_flow_context(self) -> Any:
        """The graph of the branch or loop that it is a part of; None outside of all."""
        return self.graph if self.graph.building_function else None

    def _set_device(self, device: Any) -> None:
        self.device = name_of(device)

    def run(self, feed_dict: dict | None = None, session: Any = None) -> None:
        """Run this operation in `session` or the default session."""
        session_for(self.graph, session, "execute operation using `run()`").run(self, feed_dict)

    def describe(self) -> str:
        """`MatMul(h:0 float32[?,784], w:0 float32[100,10])`."""
        return f"{self.type}({', '.join(t.describe() for t in self.inputs)})"

    def __str__(self) -> str:
        return str(self.node_def)

    def __repr__(self) -> str:
        return f"<tf.Operation {self.name!r} type={self.type}>"
