"""GraphDef: what is in a graph as plain data, to be read, printed and imported again."""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NoReturn

from .errors import UnsupportedError


@dataclass
class NodeDef:
    """One operation. op: its type. input: `x` for x:0, `x:1`, and `^x` for an operation that it waits for."""

    name: str = ""
    op: str = ""
    input: list[str] = field(default_factory=list)
    device: str = ""
    attr: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [f'  name: "{self.name}"', f'  op: "{self.op}"', *(f'  input: "{name}"' for name in self.input)]
        return "\n".join(["node {", *lines, *([f'  device: "{self.device}"'] if self.device else []), "}"])


class GraphDef:
    """The operations of a graph, in the order they were made. node: list of NodeDef."""

    def __init__(self, node: Iterable[NodeDef] = ()) -> None:
        self.node = list(node)

    def __str__(self) -> str:
        """The text format of protocol buffers, without attributes."""
        return "".join(f"{node}\n" for node in self.node)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GraphDef) and str(self) == str(other)

    __hash__ = None  # type: ignore[assignment]

    def ByteSize(self) -> int:  # noqa: N802
        """The length of the text, in bytes."""
        return len(str(self).encode())

    def ParseFromString(self, data: bytes) -> NoReturn:  # noqa: N802
        """Raises UnsupportedError: stored graphs are not read."""
        raise UnsupportedError("gradbg does not read stored graphs\nrun the script that builds the graph")

    def SerializeToString(self) -> NoReturn:  # noqa: N802
        """Raises UnsupportedError: graphs are not stored."""
        raise UnsupportedError("gradbg does not store graphs in TensorFlow's format\nuse str(graph_def) for a text of "
                             "names, types and inputs")


def node_def_of(operation: Any) -> NodeDef:
    """The plain data of an Operation."""
    inputs = [t.op.name if t.value_index == 0 else t.name for t in operation.inputs]
    return NodeDef(operation.name, operation.type, [*inputs, *(f"^{op.name}" for op in operation.control_inputs)],
                   operation.device, dict(operation.attrs))
