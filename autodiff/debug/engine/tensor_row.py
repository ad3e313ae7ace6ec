"""A tensor as a row of a table: its names, type and place, with figures as far as they are known."""
from __future__ import annotations

from ...core.graph import Tensor
from ..facts.answers import TensorRow
from ..facts.records import Stats
from ..facts.roles import place_of, role_of
from .model import Model


def tensor_row(model: Model, tensor: Tensor, stats: Stats | None, gradient: Stats | None = None,
               handle: str | None = None) -> TensorRow:
    """handle: the script's name for it, if that was looked up for many tensors together."""
    known = model.targets.handle_of(tensor) if handle is None else handle
    return TensorRow(tensor.name, model.targets.short(tensor), tensor.op.type, tensor.dtype.base_dtype.name,
                     tensor.dims, role_of(tensor.op), known, place_of(tensor.op), stats, gradient)
