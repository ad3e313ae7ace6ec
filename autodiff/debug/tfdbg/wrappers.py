"""The sessions and hooks of TensorFlow's debugger, as scripts use them."""
from __future__ import annotations

import os
import time
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...api.train.hooks import SessionRunArgs, SessionRunHook
from ...core import nest
from ...core.errors import ArgumentError
from ...core.graph import Operation, Tensor
from ...core.traversal import ancestors
from ...files.debug_dump import write_dump

__all__ = ["DumpingDebugHook", "DumpingDebugWrapperSession", "GrpcDebugHook", "LocalCLIDebugHook",
           "LocalCLIDebugWrapperSession", "TensorBoardDebugHook", "TensorBoardDebugWrapperSession", "WatchOptions"]


class LocalCLIDebugWrapperSession:
    """A session that hands everything on to the one inside: the prompt is gradbg's own."""

    def __init__(self, sess: Any, *options: Any, **more: Any) -> None:
        self._sess = sess

    @property
    def session(self) -> Any:
        """The session inside."""
        return self._sess

    def add_tensor_filter(self, filter_name: str, tensor_filter: Any) -> None:
        """Nothing: at gradbg's prompt `run --until 'x has nan'` stops at a condition."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_sess":
            raise AttributeError(name)
        return getattr(self._sess, name)

    def __enter__(self) -> LocalCLIDebugWrapperSession:
        self._sess.__enter__()
        return self

    def __exit__(self, *exc: Any) -> Any:
        return self._sess.__exit__(*exc)


TensorBoardDebugWrapperSession = LocalCLIDebugWrapperSession


class LocalCLIDebugHook(SessionRunHook):
    """A hook that does nothing: the prompt is gradbg's own."""

    def __init__(self, *options: Any, **more: Any) -> None:
        """Take what tfdbg's hook takes."""

    def add_tensor_filter(self, filter_name: str, tensor_filter: Any) -> None:
        """Nothing."""


GrpcDebugHook = TensorBoardDebugHook = LocalCLIDebugHook


class WatchOptions:
    """Which tensors a dump has: patterns of names, op types and dtypes, which are accepted without effect."""

    def __init__(self, debug_ops: Any = None, node_name_regex_whitelist: Any = None,
                 op_type_regex_whitelist: Any = None, tensor_dtype_regex_whitelist: Any = None,
                 tolerate_debug_op_creation_failures: bool = False) -> None:
        self.debug_ops = debug_ops or ["DebugIdentity"]


def dumpable(fetches: Iterable[Any]) -> list[Tensor]:
    """The tensors that a run computes and a dump can hold, in the order of making."""
    wanted = [t for fetch in fetches for t in _tensors_of(fetch)]
    ops = sorted(ancestors(wanted), key=lambda op: op.index)
    return [t for op in ops for t in op.outputs if t.dtype.base_dtype.name not in ("variant", "resource")
            and not t.dtype.is_ref]


def _tensors_of(fetch: Any) -> list[Tensor]:
    if isinstance(fetch, Tensor):
        return [fetch]
    if isinstance(fetch, Operation):
        return [*fetch.inputs, *(t for op in fetch.control_inputs for t in _tensors_of(op))]
    inside = getattr(fetch, "values", None)
    return [inside] if isinstance(inside, Tensor) else []


def write_run(folder: str, graph: Any, tensors: list[Tensor], values: list[Any], *, fetches: Any, feeds: Any) -> None:
    """A dump of one run."""
    arrays = {t.name: _array(value) for t, value in zip(tensors, values)}
    write_dump(folder, arrays, graph.as_graph_def(), fetches=repr(fetches), feeds=repr(list(feeds or ())),
               timestamp=int(time.time() * 1e6))


def _array(value: Any) -> np.ndarray:
    return np.array(value, object) if isinstance(value, (bytes, str)) else np.asarray(value)


class DumpingDebugWrapperSession(LocalCLIDebugWrapperSession):
    """A session that leaves a dump of each run in a directory below session_root.

    Raises ArgumentError (ValueError) for a file, or a directory that holds something.
    """

    def __init__(self, sess: Any, session_root: Any, watch_fn: Any = None, *options: Any, **more: Any) -> None:
        super().__init__(sess)
        self._root, self._runs = os.fspath(session_root), 0
        if os.path.isfile(self._root):
            raise ArgumentError(f"session_root path points to a file: {self._root}")
        if os.path.isdir(self._root) and os.listdir(self._root):
            raise ArgumentError(f"session_root path points to a non-empty directory: {self._root}")

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Run, and dump every tensor that was computed."""
        graph = self._sess.graph
        elements = [graph.as_graph_element(f) if not isinstance(f, Tensor) else f for f in nest.flatten(fetches)
                    if isinstance(f, (str, Tensor, Operation)) or hasattr(f, "_as_graph_element")]
        tensors = dumpable(elements)
        result, values = self._sess.run([fetches, tensors], feed_dict, options, run_metadata)
        folder = os.path.join(self._root, f"run_{int(time.time() * 1e6)}_{self._runs}")
        self._runs += 1
        write_run(folder, graph, tensors, values, fetches=fetches, feeds=feed_dict)
        return result


class DumpingDebugHook(SessionRunHook):
    """A hook that leaves a dump of each run of a monitored session in a directory below session_root."""

    def __init__(self, session_root: Any, watch_fn: Any = None, *options: Any, **more: Any) -> None:
        self._root, self._runs = os.fspath(session_root), 0
        self._tensors: list[Tensor] = []

    def before_run(self, run_context: Any) -> Any:
        """Ask for every tensor that the run computes."""
        graph = run_context.session.graph
        asked = nest.flatten(run_context.original_args.fetches)
        self._tensors = dumpable(graph.as_graph_element(f) for f in asked if f is not None)
        return SessionRunArgs(self._tensors) if self._tensors else None

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Write them."""
        folder = os.path.join(self._root, f"run_{int(time.time() * 1e6)}_{self._runs}")
        self._runs += 1
        args = run_context.original_args
        write_run(folder, run_context.session.graph, self._tensors, run_values.results or [], fetches=args.fetches,
                  feeds=args.feed_dict)
