"""Coordinator and queue runners: threads that end together."""
from __future__ import annotations

import contextlib
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ...core.collections import GraphKeys, add_to_collection, get_collection
from ...core.defaults import get_default_session
from ...core.errors import ArgumentError, KindError, OutOfRangeError, StateError, exception_type_from_error_code
from ...core.graph import get_default_graph
from ..messages import QueueRunnerDef
from ..saved_graphs.meta_graph import PROTO_FUNCTIONS


class Coordinator:
    """Tells threads when to stop, and raises in the main one what was raised in them.

    clean_stop_exception_types: exceptions that end the threads and are no failure; OutOfRangeError by default.
    """

    def __init__(self, clean_stop_exception_types: tuple[type[BaseException], ...] | None = None) -> None:
        self._clean = (OutOfRangeError,) if clean_stop_exception_types is None else tuple(clean_stop_exception_types)
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self._lock, self._registered_threads = threading.Lock(), set()  # type: Any, set[threading.Thread]
        self.joined = False

    def request_stop(self, ex: Any = None) -> None:
        """Ask all threads to stop. ex: why, an exception or sys.exc_info(), which join raises."""
        error = ex[1] if isinstance(ex, tuple) else ex
        if self.joined and isinstance(error, BaseException):
            raise error
        if not self._stop.is_set():
            self._error = None if isinstance(error, self._clean) else error
            self._stop.set()

    def clear_stop(self) -> None:
        """Begin anew."""
        self._stop.clear()
        self._error, self.joined = None, False

    def should_stop(self) -> bool:
        """Whether a stop was requested."""
        return self._stop.is_set()

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Wait for so many seconds; whether a stop was requested."""
        return self._stop.wait(timeout)

    @contextlib.contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """A context in which an error requests a stop, and goes no further."""
        try:
            yield
        except BaseException as error:
            self.request_stop(error)

    def register_thread(self, thread: threading.Thread) -> None:
        """A thread that join waits for."""
        with self._lock:
            self._registered_threads.add(thread)

    def join(self, threads: Iterable[threading.Thread] | None = None, stop_grace_period_secs: float = 120,
             ignore_live_threads: bool = False) -> None:
        """Wait until the threads have ended; then raise what was given to request_stop.

        Once a stop is requested they have so many seconds; raises StateError (RuntimeError) if one goes on.
        """
        waited = [*self._registered_threads, *(threads or ())]
        while any(t.is_alive() for t in waited) and not self.wait_for_stop(0.01):
            pass
        ends = time.monotonic() + stop_grace_period_secs
        for thread in waited:
            thread.join(max(ends - time.monotonic(), 0))
        self.joined = True
        self._registered_threads = set()
        if self._error is not None:
            raise self._error
        alive = [t.name for t in waited if t.is_alive()]
        if alive and not ignore_live_threads:
            raise StateError(f"Coordinator stopped with threads still running: {' '.join(alive)}")

    def raise_requested_exception(self) -> None:
        """Raise the exception that was given to request_stop, if any."""
        if self._error is not None:
            raise self._error


class LooperThread(threading.Thread):
    """A thread that calls run_loop each so many seconds until its coordinator stops; 0: without a pause."""

    def __init__(self, coord: Coordinator, timer_interval_secs: float | None, target: Callable[..., Any] | None = None,
                 args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None) -> None:
        super().__init__(daemon=True)
        if not isinstance(coord, Coordinator):
            raise ArgumentError(expected="a Coordinator", found=repr(coord))
        self._coord, self._interval = coord, timer_interval_secs
        self._call: tuple[Any, Sequence[Any], dict[str, Any]] = target, args, kwargs or {}
        coord.register_thread(self)

    @staticmethod
    def loop(coord: Coordinator, timer_interval_secs: float | None, target: Callable[..., Any],
             args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None) -> "LooperThread":
        """A thread that runs, and calls a function."""
        thread = LooperThread(coord, timer_interval_secs, target, args, kwargs)
        thread.start()
        return thread

    def run(self) -> None:
        with self._coord.stop_on_exception():
            while not self._coord.wait_for_stop(self._interval or 0):
                self.run_loop()

    def run_loop(self) -> None:
        """One call."""
        target, args, kwargs = self._call
        if target is not None:
            target(*args, **kwargs)


class QueueRunner:
    """Threads that run operations over and over until OutOfRangeError. queue: the last thread to end closes it.

    cancel_op: what a thread of its own runs when a coordinator stops, so that nobody waits for room any more.
    """

    def __init__(self, queue: Any = None, enqueue_ops: Sequence[Any] | None = None, close_op: Any = None,
                 cancel_op: Any = None, queue_closed_exception_types: Any = None, queue_runner_def: Any = None,
                 import_scope: Any = None) -> None:
        if queue_runner_def is not None:
            found, prefix = get_default_graph().as_graph_element, f"{import_scope}/" if import_scope else ""
            queue, close_op, cancel_op = (found(prefix + name) if name else None for name in (
                queue_runner_def.queue_name, queue_runner_def.close_op_name, queue_runner_def.cancel_op_name))
            enqueue_ops = [found(prefix + name) for name in queue_runner_def.enqueue_op_name]
            queue_closed_exception_types = [exception_type_from_error_code(code) for code in
                                            queue_runner_def.queue_closed_exception_types]
        if queue is None or not enqueue_ops:
            raise ArgumentError("expected a queue and at least one operation to run")
        self.queue, self.enqueue_ops = queue, list(enqueue_ops)
        self.close_op = queue.close() if close_op is None else close_op
        self.cancel_op = queue.close(cancel_pending_enqueues=True) if cancel_op is None else cancel_op
        self.queue_closed_exception_types = tuple(queue_closed_exception_types or (OutOfRangeError,))
        self.exceptions_raised: list[Exception] = []  # in threads without a coordinator
        self._lock = threading.Lock()
        self._running: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()  # session -> threads

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The QueueRunnerDef, its names without export_scope; None for a queue that is not below it."""
        prefix = f"{export_scope}/" if export_scope else ""
        if not self.queue.name.startswith(prefix):
            return None
        queue, close, cancel, *adds = (each.name.removeprefix(prefix) for each in (
            self.queue, self.close_op, self.cancel_op, *self.enqueue_ops))
        return QueueRunnerDef(queue_name=queue, close_op_name=close, cancel_op_name=cancel, enqueue_op_name=adds,
                              queue_closed_exception_types=[kind.error_code for kind in
                                                            self.queue_closed_exception_types])

    @classmethod
    def from_proto(cls, queue_runner_def: Any, import_scope: str | None = None) -> QueueRunner:
        """The queue runner of operations that the default graph has already."""
        return cls(queue_runner_def=queue_runner_def, import_scope=import_scope)

    @property
    def name(self) -> str:
        return getattr(self.queue, "name", "queue")

    def create_threads(self, sess: Any, coord: Coordinator | None = None, daemon: bool = False,
                       start: bool = False) -> list[threading.Thread]:
        """A thread for each operation, and one that cancels them; none where those of this session still run."""
        with self._lock:
            if self._running.get(sess, 0):
                return []
            self._running[sess] = len(self.enqueue_ops)
            self.exceptions_raised.clear()
        calls: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [(self._run, (sess, op, coord))
                                                                   for op in self.enqueue_ops]
        if coord is not None:
            calls.append((self._cancel, (sess, coord)))
        names = [getattr(op, "name", str(op)) for op in self.enqueue_ops] + ["close_on_stop"]
        threads = [threading.Thread(target=target, args=args, daemon=daemon,
                                    name=f"QueueRunnerThread-{self.name}-{name}")
                   for (target, args), name in zip(calls, names)]
        for thread in threads:
            if coord is not None:
                coord.register_thread(thread)
            if start:
                thread.start()
        return threads

    def _run(self, sess: Any, op: Any, coord: Coordinator | None) -> None:
        is_closed = False
        try:
            while coord is None or not coord.should_stop():
                sess.run(op)
        except self.queue_closed_exception_types:
            is_closed = True
        except Exception as error:
            if coord is None:
                self.exceptions_raised.append(error)
                raise
            coord.request_stop(error)
        finally:
            with self._lock:
                self._running[sess] -= 1
                is_last = not self._running[sess]
            if is_closed and is_last:
                with contextlib.suppress(Exception):  # it may be closed already, or the session
                    sess.run(self.close_op)

    def _cancel(self, sess: Any, coord: Coordinator) -> None:
        coord.wait_for_stop()
        with contextlib.suppress(Exception):  # as above
            sess.run(self.cancel_op)


PROTO_FUNCTIONS[GraphKeys.QUEUE_RUNNERS] = QueueRunnerDef, QueueRunner.to_proto, QueueRunner.from_proto


def add_queue_runner(qr: QueueRunner, collection: Any = GraphKeys.QUEUE_RUNNERS) -> None:
    """Add a queue runner to a list of the default graph."""
    add_to_collection(collection, qr)


def start_queue_runners(sess: Any = None, coord: Coordinator | None = None, daemon: bool = True, start: bool = True,
                        collection: Any = GraphKeys.QUEUE_RUNNERS) -> list[threading.Thread]:
    """Threads of all queue runners of the graph; none in a MonitoredSession, which has its own.

    Raises ArgumentError (ValueError) without a session.
    """
    sess = get_default_session() if sess is None else sess
    if sess is None:
        raise ArgumentError("cannot start queue runners: no default session", hint="pass sess=")
    if type(sess).__name__ in ("MonitoredSession", "SingularMonitoredSession"):
        return []
    if not hasattr(sess, "run"):
        raise KindError(expected="a tf.Session", found=repr(sess))
    return [thread for runner in get_collection(collection)
            for thread in runner.create_threads(sess, coord, daemon=daemon, start=start)]
