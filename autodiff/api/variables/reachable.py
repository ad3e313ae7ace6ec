"""What is computed from some tensors."""
from __future__ import annotations

from typing import Any

from ...core import nest
from ...core.traversal import reached


def get_reachable_from_inputs(inputs: Any, targets: Any = None) -> set[Any]:
    """The tensors that depend on some tensors, and those themselves. targets: nothing else is wanted."""
    found = {item for item in reached_from(inputs) if hasattr(item, "consumers")}
    return found if targets is None else found.intersection(nest.flatten(targets))


def reached_from(inputs: Any) -> set[Any]:
    """The tensors and operations that depend on some tensors, and those themselves."""
    return reached(nest.flatten(inputs), lambda item: item.consumers() if hasattr(item, "consumers") else item.outputs)
