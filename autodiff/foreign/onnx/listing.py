"""An ONNX model as text: a line for each node, input and initializer, the source that its ops were made at."""
from __future__ import annotations

import linecache
from collections.abc import Iterable, Iterator
from typing import Any

from .messages import ATTRIBUTE_FIELDS, array_of, declared, dtype_of

_LONGEST = 40  # characters of an attribute


def numbered(nodes: Iterable[Any], depth: int = 0) -> Iterator[tuple[Any, int]]:
    """Nodes and those of their bodies, in the order of the file, each with how deep it lies."""
    for node in nodes:
        yield node, depth
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                yield from numbered(graph.node, depth + 1)


def listed(node: Any, depth: int) -> str:
    """`y = Softmax(x, axis=-1)`, indented."""
    given = [name or "None" for name in node.input]
    given += [f"{a.name}={_value(a)}" for a in node.attribute if not a.g.node and not a.graphs]
    return f"{'    ' * depth}{', '.join(node.output)} = {node.op_type}({', '.join(given)})"


def _value(attribute: Any) -> str:
    if attribute.ref_attr_name:
        return str(attribute.ref_attr_name)
    value = getattr(attribute, ATTRIBUTE_FIELDS.get(attribute.type, "i"))
    if attribute.type == 4:
        is_small = all(size == 1 for size in value.dims) and not value.external_data
        return str(array_of(value).tolist()) if is_small else f"tensor{list(value.dims)}"
    text = value.decode(errors="replace") if isinstance(value, bytes) else f"{value:g}" if attribute.type == 1 \
        else str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST - 1]}…"


def _given(value: Any) -> str:
    """`input x float32[?,4]` or `initializer W float32[4,3]`."""
    is_held = hasattr(value, "data_type")
    found = (dtype_of(value.data_type), tuple(value.dims)) if is_held else declared(value)
    dtype, dims = found or ("", None)
    sizes = "" if dims is None else f"[{','.join('?' if size is None else str(size) for size in dims)}]"
    return f"{'initializer' if is_held else 'input'} {value.name} {dtype}{sizes}".rstrip()


def publish(file: str, nodes: Iterable[tuple[Any, int]], given: Iterable[Any]) -> None:
    """Let Python's line cache have the text for `file`, where everything that shows lines looks for them.

    given: inputs and initializers, which stand below the nodes.
    """
    lines = [f"{text}\n" for text in (*[listed(node, depth) for node, depth in nodes], *map(_given, given))]
    linecache.cache[file] = (sum(map(len, lines)), None, lines, file)
