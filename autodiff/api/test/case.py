"""The test case: a fresh default graph, sessions, values of tensors, threads whose failures count."""
from __future__ import annotations

import contextlib
import functools
import os
import random
import tempfile
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...core import nest
from ...core.defaults import STACKS, get_default_session
from ...core.graph import Graph, get_default_graph, reset_default_graph
from ...core.sparse_tensor import SparseTensor, SparseTensorValue
from ...runtime.eager import EagerTensor, executing_eagerly
from ...runtime.session import Session
from .assertions import Assertions

SEED = 87654321  # of Python, NumPy and the graph as a test begins


@functools.cache
def get_temp_dir() -> str:
    """A directory for files of this process' tests."""
    return tempfile.mkdtemp(prefix="gradbg-test-")


class TestCase(Assertions):
    """A test case that begins with an empty default graph, and compares arrays and tensors' values."""

    _tempdir: str | None = None
    __test__ = False  # for pytest: the subclasses of a script are tests, this is not

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.__test__ = vars(cls).get("__test__", True)

    def __init__(self, methodName: str = "runTest") -> None:  # noqa: N803
        super().__init__(methodName)
        self._threads: list[CheckedThread] = []
        self._cached_session: Session | None = None

    def setUp(self) -> None:
        super().setUp()
        self._forget_session()
        random.seed(SEED)
        np.random.seed(SEED)
        STACKS.graphs.clear()  # a test that failed may have left its own
        reset_default_graph()
        get_default_graph().seed = SEED
        if self._testMethodName == "test_session":  # unittest takes the method below for a test
            self.skipTest("not a test")

    def tearDown(self) -> None:
        for thread in self._threads:
            if not thread.is_joined:
                self.fail("a checkedThread was not joined")
        self._forget_session()
        super().tearDown()

    def get_temp_dir(self) -> str:
        """A directory of this test's own, and of the one mode that it runs in where it runs in two."""
        self._tempdir = self._tempdir or tempfile.mkdtemp(dir=get_temp_dir(), prefix=f"{self.id()}-")
        return self._tempdir

    def _at_once(self) -> Any:
        """What stands for a session while ops run at once: the values are there already."""
        return SimpleNamespace(run=lambda fetches, feed_dict=None: self.evaluate(fetches))

    @contextlib.contextmanager
    def session(self, graph: Graph | None = None, config: Any = None, use_gpu: bool = False,
                force_gpu: bool = False) -> Iterator[Any]:
        """A session of its own, default inside the block, in the default graph or the one given."""
        if executing_eagerly():
            yield self._at_once()
            return
        with Session(graph=graph, config=config) as session:
            yield session

    @contextlib.contextmanager
    def cached_session(self, graph: Graph | None = None, config: Any = None, use_gpu: bool = False,
                       force_gpu: bool = False) -> Iterator[Any]:
        """The test's one session: blocks after the first find the variables as they were left."""
        if executing_eagerly():
            yield self._at_once()
            return
        if self._cached_session is None:
            self._cached_session, self._cached_force_gpu = Session(graph=graph, config=config), force_gpu
        session = self._cached_session
        if force_gpu is not self._cached_force_gpu:
            raise ValueError("The force_gpu value used to get the cached session is different than the one that was "
                             "used to create the session.")
        if graph is not None and session.graph is not graph:
            raise ValueError("The graph used to get the cached session is different than the one that was used to "
                             "create the session.")
        with session.graph.as_default(), session.as_default():
            yield session

    def test_session(self, graph: Graph | None = None, config: Any = None, use_gpu: bool = False,
                     force_gpu: bool = False) -> Any:
        """`cached_session`, or `session` for a graph given, under their old name."""
        return (self.cached_session if graph is None else self.session)(graph, config, use_gpu, force_gpu)

    def evaluate(self, tensors: Any) -> Any:
        """Values of tensors in the default session, or their own where they are eager; in the same structure.

        Executing eagerly, a function stands for the tensors that it gives.
        """
        if not executing_eagerly():
            session = get_default_session()
            if session is not None:
                return session.run(tensors)
            with self.test_session() as session:
                return session.run(tensors)
        return nest.map_structure(_value, tensors() if callable(tensors) else tensors)

    def _forget_session(self) -> None:
        if self._cached_session is not None:
            self._cached_session.close()
            self._cached_session = None

    def checkedThread(self, target: Callable[..., Any], args: Any = None,  # noqa: N802
                      kwargs: Any = None) -> CheckedThread:
        """A thread whose exception fails the test when it is joined."""
        thread = CheckedThread(self, target, args or (), kwargs or {})
        self._threads.append(thread)
        return thread

    @contextlib.contextmanager
    def captureWritesToStream(self, stream: Any) -> Iterator[Any]:  # noqa: N802
        """What is written to this stream's file descriptor inside; `contents()` of what is yielded gives it."""
        stream.flush()
        descriptor = stream.fileno()
        kept = os.dup(descriptor)
        with tempfile.TemporaryFile(dir=get_temp_dir()) as file:
            written = Written(stream, file)
            os.dup2(file.fileno(), descriptor)
            try:
                yield written
            finally:
                written.end()
                os.dup2(kept, descriptor)
                os.close(kept)


class CheckedThread:
    """A thread of a test. error: what its target raised."""

    def __init__(self, case: TestCase, target: Callable[..., Any], args: Any, kwargs: Any) -> None:
        self.error: BaseException | None = None
        self.is_joined = False
        self._case, self._call = case, functools.partial(target, *args, **kwargs)
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        try:
            self._call()
        except BaseException as error:
            self.error = error

    def start(self) -> None:
        self._thread.start()

    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def join(self) -> None:
        """Wait for its end. Fails the test if it raised."""
        self.is_joined = True
        self._thread.join()
        if self.error is not None:
            self._case.fail(f"Error in checkedThread: {self.error}")


class Written:
    """What went to a stream meanwhile."""

    def __init__(self, stream: Any, file: Any) -> None:
        self._stream, self._file = stream, file
        self._all: str | None = None

    def end(self) -> None:
        """Keep what was written, of a file that is closed now."""
        self._all = self.contents()

    def contents(self) -> str:
        """All of it so far."""
        if self._all is not None:
            return self._all
        self._stream.flush()
        self._file.seek(0)
        return self._file.read().decode(errors="replace")


def _value(part: Any) -> Any:
    if part is None or isinstance(part, (str, bytes)):
        return part
    if isinstance(part, SparseTensor):
        return SparseTensorValue(*map(_value, (part.indices, part.values, part.dense_shape)))
    if isinstance(part, EagerTensor):
        return part.numpy()
    return part.read_value().numpy() if hasattr(part, "read_value") else part() if callable(part) else part
