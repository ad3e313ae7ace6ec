"""tf.summary: summary ops run as in TensorFlow; what they give goes to a FileWriter that writes no file."""
from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from ..core.collections import GraphKeys
from ..core.convert import convert_to_tensor
from ..core.dtypes import string
from ..core.errors import ArgumentError
from ..core.graph import Graph, get_default_graph
from ..core.op import OPS, build
from ..core.tensor import Tensor
from ..ops.common.summary_messages import HistogramProto, Summary
from .common.unsupported import refusing
from .logging import info

__all__ = ["FileWriter", "FileWriterCache", "HistogramProto", "Summary", "histogram", "image", "merge", "merge_all",
           "scalar", "text"]


def scalar(name: str, tensor: Any, collections: Iterable[Any] | None = None, family: str | None = None) -> Tensor:
    """A number under a tag: the name, in its name scope. tensor: real[] -> string[]."""
    return _summary("ScalarSummary", "tags", name, tensor, collections, family)


def histogram(name: str, values: Any, collections: Iterable[Any] | None = None, family: str | None = None) -> Tensor:
    """Counts of the elements under a tag; the run fails if one is NaN or infinite. values: real[...] -> string[]."""
    return _summary("HistogramSummary", "tag", name, values, collections, family)


def image(name: str, tensor: Any, max_outputs: int = 3, collections: Iterable[Any] | None = None,
          family: str | None = None) -> Tensor:
    """Sizes of the first images under a tag, without their pixels. tensor: real[n, h, w, c] -> string[]."""
    return _summary("ImageSummary", "tag", name, tensor, collections, family, max_images=max_outputs)


def text(name: str, tensor: Any, collections: Iterable[Any] | None = None) -> Tensor:
    """Texts under a tag. tensor: string[...] -> string[]. Raises ArgumentError (ValueError) for numbers."""
    found = convert_to_tensor(tensor)
    if found.dtype.base_dtype is not string:
        raise ArgumentError(f"expected tensor {found.name!r} to have dtype string, found {found.dtype.name}")
    return _summary("TensorSummaryV2", "tag", name, found, collections, None)


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
             **attrs: Any) -> Tensor:
    graph = get_default_graph()
    with graph.name_scope(_clean(name) if family is None else f"{_clean(family)}/{_clean(name)}") as scope:
        tag = scope.rstrip("/") if family is None else f"{_clean(family)}/{scope.rstrip('/')}"
        made = OPS[kind](convert_to_tensor(tag, name=tag_name), convert_to_tensor(tensor), name=scope, **attrs)
    graph.add_to_collections([GraphKeys.SUMMARIES] if collections is None else collections, made)
    return made


def _clean(name: str) -> str:
    return re.sub(r"[^-/\w\.]", "_", name).lstrip("/")


class FileWriter:
    """Takes summaries and writes nothing: there is no event file, and `tf.logging.info` says so once for each writer.

    logdir: where TensorFlow would write. last: the step and message that came last, for a look from the prompt.
    """

    def __init__(self, logdir: str, graph: Graph | None = None, max_queue: int = 10, flush_secs: float = 120,
                 graph_def: Any = None, filename_suffix: str | None = None, session: Any = None) -> None:
        self._logdir = logdir
        self.last: tuple[int | None, Summary] | None = None
        info("summaries for %s are computed and not written: gradbg keeps no event files", logdir)

    def get_logdir(self) -> str:
        """Where TensorFlow would write."""
        return self._logdir

    def add_summary(self, summary: Any, global_step: Any = None) -> None:
        """Take a message, or its bytes. Raises DataLossError for bytes that are no summary."""
        message = summary if isinstance(summary, Summary) else Summary.FromString(summary)
        self.last = None if global_step is None else int(global_step), message

    def add_graph(self, graph: Any, global_step: Any = None, graph_def: Any = None) -> None:
        """Nothing: the graph is the debugger's to show."""

    add_event = add_meta_graph = add_run_metadata = add_graph

    def add_session_log(self, session_log: Any, global_step: Any = None) -> None:
        """Nothing."""

    def flush(self) -> None:
        """Nothing."""

    close = reopen = flush

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()


class FileWriterCache:
    """One FileWriter for each directory."""

    _writers: dict[str, FileWriter] = {}

    @staticmethod
    def get(logdir: str) -> FileWriter:
        """The writer of a directory."""
        return FileWriterCache._writers.setdefault(logdir, FileWriter(logdir))

    @staticmethod
    def clear() -> None:
        """Forget all writers."""
        FileWriterCache._writers.clear()


__getattr__ = refusing("tf.summary", __name__)
