"""tf.summary: ops that give values under tags, and the writers that take them to event files."""
from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from ..core.collections import GraphKeys
from ..core.convert import convert_to_tensor
from ..core.dtypes import float32, string
from ..core.errors import ArgumentError
from ..core.graph import get_default_graph
from ..core.op import OPS, build
from ..core.tensor import Tensor
from .common.unsupported import refusing
from .file_writer import FileWriter, FileWriterCache
from .messages import Event, HistogramProto, SessionLog, Summary, SummaryDescription, SummaryMetadata, TaggedRunMetadata

__all__ = ["Event", "FileWriter", "FileWriterCache", "HistogramProto", "SessionLog", "Summary", "SummaryDescription",
           "SummaryMetadata", "TaggedRunMetadata", "audio", "get_summary_description", "histogram", "image",
           "initialize", "merge", "merge_all", "scalar", "tensor_summary", "text"]

TEXT = SummaryMetadata(plugin_data={"plugin_name": "text"})


def scalar(name: str, tensor: Any, collections: Iterable[Any] | None = None, family: str | None = None) -> Tensor:
    """A number under a tag: the name, in its name scope. tensor: real[] -> string[]."""
    return _summary("ScalarSummary", "tags", name, tensor, collections, family)


def histogram(name: str, values: Any, collections: Iterable[Any] | None = None, family: str | None = None) -> Tensor:
    """Counts of the elements under a tag; the run fails if one is NaN or infinite. values: real[...] -> string[]."""
    return _summary("HistogramSummary", "tag", name, values, collections, family)


def image(name: str, tensor: Any, max_outputs: int = 3, collections: Iterable[Any] | None = None,
          family: str | None = None) -> Tensor:
    """The first images under a tag. tensor: uint8 or float [n, h, w, 1, 3 or 4] -> string[]."""
    return _summary("ImageSummary", "tag", name, tensor, collections, family, max_images=max_outputs)


def text(name: str, tensor: Any, collections: Iterable[Any] | None = None) -> Tensor:
    """Texts under a tag. tensor: string[...] -> string[]. Raises ArgumentError (ValueError) for numbers."""
    found = convert_to_tensor(tensor)
    if found.dtype.base_dtype is not string:
        raise ArgumentError(expected=f"tensor {found.name!r} to have dtype string", found=found.dtype.name)
    return tensor_summary(name, found, summary_metadata=TEXT, collections=collections)


def tensor_summary(name: str, tensor: Any, summary_description: Any = None, collections: Iterable[Any] | None = None,
                   summary_metadata: Any = None, family: str | None = None, display_name: str | None = None) -> Tensor:
    """A tensor under a tag, for a plugin of TensorBoard that summary_metadata names. tensor: any[...] -> string[]."""
    metadata = SummaryMetadata()
    metadata.CopyFrom(summary_metadata or SummaryMetadata())
    if display_name is not None:
        metadata.display_name = display_name
    if summary_description is not None:
        metadata.summary_description = summary_description
    return _summary("TensorSummaryV2", "tag", name, tensor, collections, family, (metadata.SerializeToString(),))


def audio(name: str, tensor: Any, sample_rate: Any, max_outputs: int = 3, collections: Iterable[Any] | None = None,
          family: str | None = None) -> Tensor:
    """The first sounds under a tag. tensor: float32[n, frames, channels] or [n, frames], -1 to 1 -> string[]."""
    rate = convert_to_tensor(sample_rate, float32)
    return _summary("AudioSummaryV2", "tag", name, tensor, collections, family, (rate,), max_outputs=max_outputs)


def initialize(graph: Any = None, session: Any = None) -> None:
    """Nothing: it is for writers of TensorFlow 2."""


def get_summary_description(node_def: Any) -> Any:
    """The SummaryDescription of a TensorSummary node. Raises ArgumentError (ValueError) for other nodes."""
    if node_def.op != "TensorSummary":
        raise ArgumentError(f"Can't get_summary_description on {node_def.op}")
    return SummaryDescription()


def merge(inputs: Sequence[Any], collections: Iterable[Any] | None = None, name: str | None = None) -> Tensor:
    """Several summaries in one. inputs: string[] each -> string[]."""
    graph = get_default_graph()
    with graph.name_scope("Merge" if name is None else name):
        merged = build.MergeSummary(*inputs)
    graph.add_to_collections(collections or [], merged)
    return merged


def merge_all(key: Any = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None) -> Tensor | None:
    """All summaries of the default graph in one; None if there are none."""
    found = get_default_graph().get_collection(key, scope)
    return merge(found, name=name) if found else None


def _summary(kind: str, tag_name: str, name: str, tensor: Any, collections: Iterable[Any] | None, family: str | None,
             more: Sequence[Any] = (), **attrs: Any) -> Tensor:
    graph = get_default_graph()
    with graph.name_scope(_clean(name) if family is None else f"{_clean(family)}/{_clean(name)}") as scope:
        tag = scope.rstrip("/") if family is None else f"{_clean(family)}/{scope.rstrip('/')}"
        made = OPS[kind](convert_to_tensor(tag, name=tag_name), convert_to_tensor(tensor), *more, name=scope, **attrs)
    graph.add_to_collections([GraphKeys.SUMMARIES] if collections is None else collections, made)
    return made


def _clean(name: str) -> str:
    return re.sub(r"[^-/\w\.]", "_", name).lstrip("/")


__getattr__ = refusing("tf.summary", __name__)
