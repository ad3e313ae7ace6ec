"""Ops whose inputs or attributes have another form here than in TensorFlow."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

Item = TypeVar("Item")

# op -> name of an attribute here -> its name in TensorFlow
RENAMED: dict[str, dict[str, str]] = {
    "Cast": {"dtype": "DstT"}, "DynamicStitch": {"n": "N"}, "SparseConcat": {"n": "N"},
}
# Ops that stand first here with the input that comes last in TensorFlow.
_ROTATED = frozenset(("ConcatV2",))

# Ops that give, in TensorFlow, the moments once more for their gradient to read.
RESERVING = frozenset(("FusedBatchNormV3",))


def theirs(op: str, inputs: Sequence[Item]) -> list[Item]:
    """Inputs in TensorFlow's order."""
    return [*inputs[1:], inputs[0]] if op in _ROTATED and inputs else list(inputs)


def ours(op: str, inputs: Sequence[Item]) -> list[Item]:
    """Inputs in the order that ops here have."""
    return [inputs[-1], *inputs[:-1]] if op in _ROTATED and inputs else list(inputs)


def their_name(op: str, attribute: str) -> str:
    """An attribute's name in TensorFlow."""
    return RENAMED.get(op, {}).get(attribute, attribute)


def with_their_names(op: str, attributes: dict[str, Any]) -> dict[str, Any]:
    """Attributes by TensorFlow's names."""
    return {their_name(op, name): value for name, value in attributes.items()}
