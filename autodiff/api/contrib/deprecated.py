"""tf.contrib.deprecated: summaries as before TensorFlow 1.0, whose tags are tensors apart from the names of ops."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...core.collections import GraphKeys
from ...core.convert import convert_to_tensor
from ...core.dtypes import float32
from ...core.graph import Tensor, get_default_graph
from ...core.name_scope import scope
from ...core.op import OPS
from .. import summary
from ..common.unsupported import refusing

__all__ = ["audio_summary", "histogram_summary", "image_summary", "merge_all_summaries", "merge_summary",
           "scalar_summary"]


def scalar_summary(tags: Any, values: Any, collections: Iterable[Any] | None = None, name: str | None = None) -> Tensor:
    """Numbers, each under its tag. tags: string[...], values: real[...] -> string[]."""
    return _summary("ScalarSummary", tags, values, collections, name)


def histogram_summary(tag: Any, values: Any, collections: Iterable[Any] | None = None,
                      name: str | None = None) -> Tensor:
    """Counts of the elements under a tag. values: real[...] -> string[]."""
    return _summary("HistogramSummary", tag, values, collections, name)


def image_summary(tag: Any, tensor: Any, max_images: int = 3, collections: Iterable[Any] | None = None,
                  name: str | None = None) -> Tensor:
    """The first images under a tag. tensor: uint8 or float [n, h, w, 1, 3 or 4] -> string[]."""
    return _summary("ImageSummary", tag, tensor, collections, name, max_images=max_images)


def audio_summary(tag: Any, tensor: Any, sample_rate: Any, max_outputs: int = 3,
                  collections: Iterable[Any] | None = None, name: str | None = None) -> Tensor:
    """The first sounds under a tag. tensor: float32[n, frames, channels] or [n, frames], -1 to 1 -> string[]."""
    return _summary("AudioSummaryV2", tag, tensor, collections, name, sample_rate, max_outputs=max_outputs)


def merge_summary(inputs: Sequence[Any], collections: Iterable[Any] | None = None, name: str | None = None) -> Tensor:
    """Several summaries in one. inputs: string[] each -> string[]."""
    return summary.merge(inputs, collections, name or "MergeSummary")


def merge_all_summaries(key: Any = GraphKeys.SUMMARIES) -> Tensor | None:
    """All summaries of the default graph in one; None if there are none."""
    found = get_default_graph().get_collection(key)
    return merge_summary(found) if found else None


def _summary(kind: str, tag: Any, values: Any, collections: Iterable[Any] | None, name: str | None,
             sample_rate: Any = None, **attrs: Any) -> Tensor:
    with scope(name, kind.removesuffix("V2"), [tag, values]) as full:
        rate = () if sample_rate is None else (convert_to_tensor(sample_rate, float32, name="sample_rate"),)
        tag = convert_to_tensor(tag, name="tags" if kind == "ScalarSummary" else "tag")
        made = OPS[kind](tag, values, *rate, name=full, **attrs)
    get_default_graph().add_to_collections([GraphKeys.SUMMARIES] if collections is None else collections, made)
    return made


__getattr__ = refusing("tf.contrib.deprecated", __name__)
