"""Summaries of tensors by their kind: scalars as numbers, activations as histograms."""
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ....core.collections import GraphKeys, get_collection
from ....core.dtypes import bool_, float32, string
from ....core.graph import Tensor
from ....core.op import build
from ... import summary
from ...math.reductions import reduce_mean

__all__ = ["summarize_activation", "summarize_activations", "summarize_collection", "summarize_tensor",
           "summarize_tensors"]


def summarize_tensor(tensor: Any, tag: str | None = None) -> Tensor | None:
    """A scalar or histogram summary; None for strings and booleans."""
    if tensor.dtype.base_dtype in (string, bool_):
        return None
    function = summary.scalar if tensor.shape.ndims == 0 else summary.histogram
    return function(tag or f"{tensor.op.name}_summary", tensor)


def summarize_activation(op: Tensor) -> Tensor:
    """A histogram summary of an activation; for a relu also the part of its inputs below 0 (and, of relu6, above 6)."""
    if op.op.type in ("Relu", "Softplus", "Relu6"):
        summary.scalar(f"{op.op.name}/zeros", _part(build.Less(op.op.inputs[0], 0.0)))
    if op.op.type == "Relu6":
        summary.scalar(f"{op.op.name}/sixes", _part(build.Greater(op.op.inputs[0], 6.0)))
    return summary.histogram(f"{op.op.name}/activation", op)


def _part(holds: Tensor) -> Tensor:
    return reduce_mean(build.Cast(holds, dtype=float32))


def summarize_tensors(tensors: Any, summarizer: Callable[[Any], Any] = summarize_tensor) -> list[Any]:
    """The summary of each."""
    return [summarizer(tensor) for tensor in tensors]


def summarize_collection(collection: str, name_filter: str | None = None,
                         summarizer: Callable[[Any], Any] = summarize_tensor) -> list[Any]:
    """The summaries of a collection's tensors, of those whose names begin as the regex name_filter says."""
    return summarize_tensors([t for t in get_collection(collection)
                              if name_filter is None or re.match(name_filter, t.op.name)], summarizer)


def summarize_activations(name_filter: str | None = None,
                          summarizer: Callable[[Any], Any] = summarize_activation) -> list[Any]:
    """The summaries of the collection ACTIVATIONS."""
    return summarize_collection(GraphKeys.ACTIVATIONS, name_filter, summarizer)
