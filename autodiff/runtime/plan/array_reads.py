"""Reads of TensorArrays: TensorFlow clears what was read, so that a second read in one run is an error."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...core.constant_value import static_value
from ...core.errors import InvalidArgumentError
from ...core.graph import Operation, Tensor
from ...core.traversal import past

_READS = frozenset(("ListItem", "ListStack", "ListConcat"))
_SAME_ARRAY = frozenset(("ListSet", "ListScatter", "Identity"))


def check_reads(operations: Iterable[Operation]) -> None:
    """Raises InvalidArgumentError if two of these read one element of an array that is cleared by its reads.

    Only elements whose index is known beforehand are looked at. What a gradient reads again does not count.
    """
    seen: dict[Tensor, dict[Any, Operation]] = {}
    for op in operations:
        if op.type not in _READS or not op.attrs["once"] or op.origin is not None:
            continue
        index = static_value(op.inputs[1]) if op.type == "ListItem" else None
        if op.type == "ListItem" and index is None:
            continue
        key = None if index is None else int(index)  # None: all elements
        readers = seen.setdefault(past(op.inputs[0], _SAME_ARRAY), {})
        first = readers.get(key) or (next(iter(readers.values()), None) if key is None else readers.get(None))
        if first is not None:
            raise InvalidArgumentError(
                None, op, f"TensorArray {op.inputs[0].op.name}: Could not read index {key or 0} twice because it was "
                "cleared after a previous read (perhaps try setting clear_after_read = false?)",
                node=f"{op.name}: {op.describe()}\nread before by {first.name}, written at {first.site}",
                line=str(op.site))
        readers[key] = op
