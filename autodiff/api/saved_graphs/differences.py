"""Ops whose inputs or attributes have another form here than in TensorFlow."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from ...core.function_graph import functions_of
from ...core.graph import Operation, Tensor
from ...files.op_table import op_schema

Item = TypeVar("Item")

# op -> name of an attribute here -> its name in TensorFlow
RENAMED: dict[str, dict[str, str]] = {
    "Cast": {"dtype": "DstT"}, "DynamicStitch": {"n": "N"}, "SparseConcat": {"n": "N"}}
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


def their_op(op: Operation) -> str:
    """The op's name in TensorFlow, where what changes a resource variable is an op of its own."""
    if op.type == "NotServed":
        return str(op.attrs["type"])
    resource = f"Resource{op.type}"
    on_resource = bool(op.inputs) and op.inputs[0].dtype.name == "resource" and op_schema(op.type) is not None
    return resource if on_resource and op_schema(resource) is not None else op.type


def kept_of(loop: Operation) -> list[Tensor]:
    """The inner tensors of a While of which it has a list each."""
    return [*loop.attrs["body"].arguments, *loop.attrs["body"].kept] if loop.type == "While" else []


def kept_by(loop: Operation) -> dict[Tensor, Tensor]:
    """The lists of a While that some operation reads -> the inner tensor of which they have each iteration's value."""
    pairs = zip(loop.outputs[len(loop.attrs["shapes"]):], kept_of(loop))
    return {items: inner for items, inner in pairs if items.consumers()}


def their_index(tensor: Tensor) -> int:
    """Which output of its op a tensor is in TensorFlow: a loop gives its captures too, and then its lists."""
    op, at = tensor.op, tensor.value_index
    if op.type != "While" or at < len(op.attrs["shapes"]):
        return at
    given = len(op.attrs["shapes"] if takes_references(op) else op.inputs)
    return given + list(kept_by(op)).index(tensor)


def takes_references(op: Operation) -> bool:
    """Whether an If or While is given a variable by reference, which functions of TensorFlow cannot take."""
    return any(t.dtype.is_ref for t in op.inputs) and bool(functions_of(op))
