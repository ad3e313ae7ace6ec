"""Supervisor: a session with the values of the last checkpoint, which is saved as time goes on."""
from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ....core.collections import GraphKeys
from ....core.errors import AbortedError, ArgumentError, StateError
from ....core.graph import get_default_graph
from ....runtime.session import Session
from ...file_writer import FileWriter
from ..coordinator import Coordinator, LooperThread
from ..global_step import get_global_step
from ..saver import write_graph
from .scaffold import Scaffold
from .session_manager import SessionManager


def basic_train_loop(supervisor: "Supervisor", train_step_fn: Any, args: Any = (), kwargs: Any = None,
                     master: str = "") -> None:
    """Call `train_step_fn(session, *args, **kwargs)` until the supervisor should stop, anew after an AbortedError."""
    again = True
    while again:
        again = False
        try:
            with supervisor.managed_session(master) as session:
                while not supervisor.should_stop():
                    train_step_fn(session, *(args or ()), **(kwargs or {}))
        except AbortedError:
            again = True


class Supervisor:
    """Restores or initializes a model, and saves it and its summaries to `logdir` while it is trained.

    What is not given is made of the graph, which is closed then; None leaves it out. Saved is at the beginning, and
    when should_stop() is asked save_model_secs, or save_summaries_secs, after the last time: there are no threads for
    it. Raises ArgumentError (ValueError) unless is_chief: there is one process.
    """

    USE_DEFAULT = 0

    def __init__(self, graph: Any = None, ready_op: Any = USE_DEFAULT, ready_for_local_init_op: Any = USE_DEFAULT,
                 is_chief: bool = True, init_op: Any = USE_DEFAULT, init_feed_dict: Any = None,
                 local_init_op: Any = USE_DEFAULT, logdir: str | None = None, summary_op: Any = USE_DEFAULT,
                 saver: Any = USE_DEFAULT, global_step: Any = USE_DEFAULT, save_summaries_secs: float | None = 120,
                 save_model_secs: float | None = 600, recovery_wait_secs: float = 30, stop_grace_secs: float = 120,
                 checkpoint_basename: str = "model.ckpt", session_manager: Any = None,
                 summary_writer: Any = USE_DEFAULT, init_fn: Any = None, local_init_run_options: Any = None) -> None:
        if not is_chief:
            raise ArgumentError("there is one process: expected is_chief=True")
        self.graph, self.is_chief, self.coord = graph or get_default_graph(), True, Coordinator()
        given = {"ready_op": ready_op, "ready_for_local_init_op": ready_for_local_init_op, "init_op": init_op,
                 "local_init_op": local_init_op, "summary_op": summary_op, "saver": saver}
        with self.graph.as_default():
            made = Scaffold()
            for name, value in given.items():
                setattr(made, name, None if value == Supervisor.USE_DEFAULT else value)
            self.global_step = get_global_step() if global_step == Supervisor.USE_DEFAULT else global_step
            made.finalize()
        for name, value in given.items():
            setattr(self, name, None if value is None else getattr(made, name))
        self.saver: Any
        self.summary_op: Any
        self.init_op: Any
        self._init = init_feed_dict, init_fn
        self.session_manager = session_manager or SessionManager(
            made.local_init_op, made.ready_op, made.ready_for_local_init_op, self.graph, recovery_wait_secs)
        self._folder, self._grace = logdir, stop_grace_secs
        self.save_path = os.path.join(logdir, checkpoint_basename) if logdir else None
        self.summary_writer = summary_writer if summary_writer != Supervisor.USE_DEFAULT else \
            FileWriter(logdir, self.graph) if logdir else None
        self._services = [(save_model_secs, self._save), (save_summaries_secs, self._summarize)]
        self._due: list[float] = []
        self._session: Any = None

    @contextmanager
    def managed_session(self, master: str = "", config: Any = None, start_standard_services: bool = True,
                        close_summary_writer: bool = True) -> Iterator[Session]:
        """A session for a `with` block, at whose end everything is stopped; an error in it is raised then."""
        session = self.prepare_or_wait_for_session(master, config, start_standard_services=start_standard_services)
        try:
            yield session
        except Exception as error:  # the coordinator knows which errors are an end
            self.request_stop(error)
        finally:
            try:
                self.stop(close_summary_writer=close_summary_writer)
            finally:
                session.close()

    def prepare_or_wait_for_session(self, master: str = "", config: Any = None, wait_for_checkpoint: bool = False,
                                    max_wait_secs: float = 7200, start_standard_services: bool = True) -> Session:
        """A session with the values of the last checkpoint in logdir, or of the initializers; queues are filled."""
        self.coord.clear_stop()
        feeds, function = self._init
        with self.graph.as_default():
            session: Session = self.session_manager.prepare_session(
                master, self.init_op, self.saver, self._folder, None, wait_for_checkpoint, max_wait_secs, config, feeds,
                function)
        self._session = session
        if start_standard_services and self._folder:
            write_graph(self.graph.as_graph_def(add_shapes=True), self._folder, "graph.pbtxt")
            self._due = [time.monotonic()] * len(self._services)
            self._serve()
        self.start_queue_runners(session)
        return session

    def start_queue_runners(self, sess: Session, queue_runners: Any = None) -> list[Any]:
        """Fill the queues of the graph. -> the threads that do."""
        with self.graph.as_default():
            runners = self.graph.get_collection(GraphKeys.QUEUE_RUNNERS) if queue_runners is None else queue_runners
            return [thread for runner in runners for thread in
                    runner.create_threads(sess, coord=self.coord, daemon=True, start=True)]

    def loop(self, timer_interval_secs: float | None, target: Any, args: Any = None, kwargs: Any = None) -> Any:
        """A thread that calls a function every so many seconds until all stops."""
        return LooperThread.loop(self.coord, timer_interval_secs, target, args, kwargs)

    def summary_computed(self, sess: Session, summary: Any, global_step: int | None = None) -> None:
        """Write a summary. Raises StateError (RuntimeError) without a writer."""
        if self.summary_writer is None:
            raise StateError("Writing a summary requires a summary writer.", hint="give the Supervisor a logdir")
        self.summary_writer.add_summary(summary, self._step(sess) if global_step is None else global_step)

    def should_stop(self) -> bool:
        """Whether somebody asked to stop. What is due is saved first."""
        self._serve()
        return self.coord.should_stop()

    def request_stop(self, ex: Any = None) -> None:
        self.coord.request_stop(ex)

    def stop(self, threads: Any = None, close_summary_writer: bool = True, ignore_live_threads: bool = False) -> None:
        """Wait for the threads, close the writer. Raises the error that was the reason to stop."""
        self.coord.request_stop()
        try:
            self.coord.join(threads, self._grace, ignore_live_threads)
        finally:
            self._due = []
            if close_summary_writer and self.summary_writer is not None:
                self.summary_writer.close()

    def _serve(self) -> None:
        for i, due in enumerate(self._due):
            seconds, service = self._services[i]
            if seconds and due <= time.monotonic():
                self._due[i] = time.monotonic() + seconds
                service(self._session)

    def _step(self, session: Session) -> int | None:
        return None if self.global_step is None else int(session.run(self.global_step))

    def _save(self, session: Session) -> None:
        if self.saver is not None:
            self.saver.save(session, self.save_path, global_step=self.global_step)

    def _summarize(self, session: Session) -> None:
        if self.summary_op is not None and self.summary_writer is not None and (step := self._step(session)):
            self.summary_writer.add_summary(session.run(self.summary_op), step)
