"""Operation: one node of a graph, and where it came from."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import site
from .defaults import session_for
from .devices import device_of
from .errors import ArgumentError
from .graph_parts import written_as
from .op import OpDef, Spec
from .tensor import Tensor

if TYPE_CHECKING:
    from .graph import Graph


class Operation:
    """One node of a graph. Knows the user's line, and for a gradient op the op it belongs to.

    type: the op's registered name. attrs: its attributes. origin: the forward Operation whose
    gradient rule made this one, or None. gradient_of: the y of that gradient. index: place in
    the order of making, from 0. waits_for: its control inputs.
    """

    __slots__ = ("graph", "definition", "name", "inputs", "attrs", "outputs", "waits_for", "origin",
                 "gradient_of", "index", "device", "override", "_frames", "__weakref__", "__dict__")

    def __init__(self, graph: "Graph", definition: OpDef, name: str, inputs: tuple[Tensor, ...],
                 attrs: dict[str, Any], specs: Sequence[Spec], waits_for: tuple["Operation", ...]) -> None:
        self.graph, self.definition, self.name = graph, definition, name
        self.inputs, self.attrs, self.waits_for = inputs, attrs, waits_for
        self.origin, self.gradient_of = graph.backprop_origin
        self.override: str | None = graph.overrides.get(definition.name) if graph.overrides else None
        self.index = len(graph.operations)
        known = graph.made_from
        self._frames = known.frames if known is not None and known.frame is None else site.capture(known)
        self.outputs = ((Tensor(self, 0, specs[0]),) if len(specs) == 1 else
                        tuple([Tensor(self, i, spec) for i, spec in enumerate(specs)]))
        for tensor in inputs:
            tensor.add_consumer(self)
        self.device: str = device_of(self, graph.placement) if graph.placement else ""

    @property
    def type(self) -> str:
        return self.definition.name

    @property
    def control_inputs(self) -> list["Operation"]:
        """The operations that this one waits for without taking their outputs."""
        return list(self.waits_for)

    _control_inputs = control_inputs

    @property
    def span(self) -> site.Span | None:
        """Where the expression that made it stands in the user's file; None if nobody knows."""
        return site.span(self._frames)

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
        return getattr(self, "_colocated", (self.name,))

    def colocation_groups(self) -> list[bytes]:
        """`loc:@name` of each operation with which this one is placed."""
        return [f"loc:@{name}".encode() for name in self.colocated_names()]

    def get_attr(self, name: str) -> Any:
        """An attribute by name. Raises ArgumentError for an unknown one."""
        if name == "_class" and hasattr(self, "_colocated"):
            return self.colocation_groups()
        if name == "_gradient_op_type" and self.override is not None:
            return self.override.encode()
        if name not in self.attrs:
            if name == "T":  # not kept: it is the type of the inputs that share theirs
                for parameter, tensor in zip(self.definition.parameters, self.inputs):
                    if parameter.kind.shared:
                        return tensor.dtype.base_dtype
            raise ArgumentError(f"Operation '{self.name}' has no attr named '{name}'. {self.describe()} has "
                                f"{sorted(self.attrs)}")
        return self.attrs[name]

    def values(self) -> tuple[Tensor, ...]:
        return self.outputs

    @property
    def node_def(self) -> Any:
        """Name, op type, names of inputs and attributes as a NodeDef."""
        return written_as("NodeDef", self)

    def run(self, feed_dict: dict | None = None, session: Any = None) -> None:
        """Run this operation in `session` or the default session."""
        session_for(self.graph, session, "execute operation").run(self, feed_dict)

    def describe(self) -> str:
        """`MatMul(h:0 float32[?,784], w:0 float32[100,10])`."""
        return f"{self.type}({', '.join(t.describe() for t in self.inputs)})"

    def __str__(self) -> str:
        return f"name: {self.name!r} op: {self.type!r} inputs: {[t.name for t in self.inputs]}"

    def __repr__(self) -> str:
        return f"<tf.Operation {self.name!r} type={self.type}>"
