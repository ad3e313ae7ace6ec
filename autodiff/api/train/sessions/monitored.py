"""Monitored sessions: initialize or restore, call hooks around each run, and end in order."""
from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ....core.errors import ArgumentError, OutOfRangeError, StateError
from ....core.graph import get_default_graph
from ....runtime.session import Session
from ..coordinator import Coordinator, start_queue_runners
from ..hooks import CheckpointSaverHook, SessionRunHook, StepCounterHook, SummarySaverHook
from .scaffold import Scaffold
from .session_manager import SessionManager
from .wrapped import StepContext, _CoordinatedSession, _HookedSession, _RecoverableSession

__all__ = ["ChiefSessionCreator", "MonitoredSession", "MonitoredTrainingSession", "SingularMonitoredSession",
           "WorkerSessionCreator"]

_DEFAULT = object()


class _SessionCreator:
    """Makes sessions out of a scaffold."""

    def __init__(self, scaffold: Scaffold | None, master: str, config: Any) -> None:
        self.scaffold = self._scaffold = scaffold or Scaffold()
        self._master, self._config = master, config

    def _manager(self) -> SessionManager:
        scaffold = self.scaffold.finalize()
        return SessionManager(scaffold.local_init_op, scaffold.ready_op, scaffold.ready_for_local_init_op,
                              get_default_graph(), local_init_feed_dict=scaffold.local_init_feed_dict)


class ChiefSessionCreator(_SessionCreator):
    """Makes sessions whose variables have values: of the latest checkpoint, or of the initializers."""

    def __init__(self, scaffold: Scaffold | None = None, master: str = "", config: Any = None,
                 checkpoint_dir: str | None = None, checkpoint_filename_with_path: str | None = None) -> None:
        super().__init__(scaffold, master, config)
        self._folder, self._path = checkpoint_dir, checkpoint_filename_with_path

    def create_session(self) -> Session:
        """A new session. Raises StateError (RuntimeError) if a variable has no value then."""
        manager, scaffold = self._manager(), self.scaffold
        return manager.prepare_session(self._master, scaffold.init_op, scaffold.saver, self._folder, self._path,
                                       config=self._config, init_feed_dict=scaffold.init_feed_dict,
                                       init_fn=scaffold.init_fn)


class WorkerSessionCreator(_SessionCreator):
    """Makes sessions whose variables somebody else gives values, for which it waits so many seconds."""

    def __init__(self, scaffold: Scaffold | None = None, master: str = "", config: Any = None,
                 max_wait_secs: float = 30 * 60) -> None:
        super().__init__(scaffold, master, config)
        self._longest = max_wait_secs

    def create_session(self) -> Session:
        """A new session. Raises DeadlineExceededError if a variable has no value in time."""
        return self._manager().wait_for_session(self._master, self._config, self._longest)


class _CoordinatedSessionCreator:
    """Makes sessions with hooks and a coordinator of their own. tf_sess, coord: of the newest one."""

    def __init__(self, session_creator: Any, hooks: Sequence[SessionRunHook], stop_grace_period_secs: float) -> None:
        self._session_creator, self._hooks, self._grace = session_creator, hooks, stop_grace_period_secs
        self.tf_sess: Any = None
        self.coord: Any = None

    def create_session(self) -> Any:
        """A new session; its hooks know of it, and its queues are filled."""
        self.tf_sess, self.coord = self._session_creator.create_session(), Coordinator(())
        start_queue_runners(self.tf_sess, self.coord)
        for hook in self._hooks:
            hook.after_create_session(self.tf_sess, self.coord)
        return _CoordinatedSession(_HookedSession(self.tf_sess, self._hooks), self.coord, self._grace)


class MonitoredSession:
    """A session that calls hooks around each run, and is made anew where a worker is lost.

    In a `with` block OutOfRangeError and StopIteration end it as a request to stop does.
    """

    StepContext = StepContext
    _recovers = True

    def __init__(self, session_creator: Any = None, hooks: Iterable[SessionRunHook] | None = None,
                 stop_grace_period_secs: float = 120) -> None:
        self._hooks = list(hooks or ())
        self._was_finalized = get_default_graph().finalized
        for hook in self._hooks:
            hook.begin()
        self._coordinated_creator = _CoordinatedSessionCreator(session_creator or ChiefSessionCreator(), self._hooks,
                                                               stop_grace_period_secs)
        self._sess: Any = _RecoverableSession(self._coordinated_creator) if self._recovers \
            else self._coordinated_creator.create_session()

    @property
    def graph(self) -> Any:
        """The session's graph; None when it is closed."""
        return None if self._tf_sess() is None else self._tf_sess().graph

    def _tf_sess(self) -> Any:
        return self._coordinated_creator.tf_sess

    def should_stop(self) -> bool:
        """Whether a hook asked to stop, or the session is closed."""
        return self._sess is None or self._sess.should_stop()

    def run(self, fetches: Any, feed_dict: dict | None = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Session.run, with what the hooks want. Raises StateError (RuntimeError) after a request to stop.

        Raises StateError too if two of hooks and caller feed the same tensor.
        """
        return self._open().run(fetches, feed_dict, options, run_metadata)

    def run_step_fn(self, step_fn: Callable[..., Any]) -> Any:
        """Call a function with a context: `session`, `run_with_hooks` and `request_stop()`.

        Raises ArgumentError (ValueError) unless its one argument is named step_context.
        """
        names = tuple(inspect.getfullargspec(step_fn).args)
        if names not in (("step_context",), ("self", "step_context")):
            raise ArgumentError("`step_fn` may either have one `step_context` argument, or `self` and `step_context` "
                                f"arguments if it's an instance method. Got {names} instead.")
        return self._open().run_step_fn(step_fn, self._tf_sess(), None)

    def _open(self) -> Any:
        if self._sess is None:
            raise StateError("Run called even after the session is closed.")
        return self._sess

    def close(self) -> None:
        """End the hooks, and the session. Raises StateError (RuntimeError) if it is closed."""
        self._close(None)

    def _close(self, kind: Any) -> None:
        """Close the session, and open the graph again that this one has closed. kind: what ended the `with` block."""
        graph = self.graph
        try:
            if kind is None and self._tf_sess() is not None:
                for hook in self._hooks:
                    hook.end(self._tf_sess())
        finally:
            if self._sess is None:
                raise StateError("Session is already closed.")
            try:
                self._sess.close()
            finally:
                self._sess = self._coordinated_creator.tf_sess = self._coordinated_creator.coord = None
                graph.finalized = self._was_finalized

    def __enter__(self) -> "MonitoredSession":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        if kind in (OutOfRangeError, StopIteration):
            kind = None
        self._close(kind)
        return kind is None


class SingularMonitoredSession(MonitoredSession):
    """A MonitoredSession that is made of a checkpoint or of the initializers, and is not made anew."""

    _recovers = False

    def __init__(self, hooks: Iterable[SessionRunHook] | None = None, scaffold: Scaffold | None = None,
                 master: str = "", config: Any = None,
                 checkpoint_dir: str | None = None, stop_grace_period_secs: float = 120,
                 checkpoint_filename_with_path: str | None = None) -> None:
        creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path)
        super().__init__(creator, hooks, stop_grace_period_secs)

    def raw_session(self) -> Any:
        """The session inside, whose runs no hook sees."""
        return self._tf_sess()


def MonitoredTrainingSession(master: str = "", is_chief: bool = True, checkpoint_dir: str | None = None,  # noqa: N802
                             scaffold: Scaffold | None = None, hooks: Sequence[SessionRunHook] | None = None,
                             chief_only_hooks: Sequence[SessionRunHook] | None = None,
                             save_checkpoint_secs: Any = _DEFAULT,
                             save_summaries_steps: Any = _DEFAULT, save_summaries_secs: Any = _DEFAULT,
                             config: Any = None,
                             stop_grace_period_secs: float = 120, log_step_count_steps: int | None = 100,
                             max_wait_secs: float = 7200, save_checkpoint_steps: Any = _DEFAULT,
                             summary_dir: str | None = None) -> MonitoredSession:
    """A MonitoredSession that continues from checkpoint_dir, and saves there: by default every 600 seconds.

    Raises ArgumentError (ValueError) for a worker that is not the chief: there is one process.
    save_summaries_*: by default every 100 steps; summary_dir: where, by default beside the checkpoints.
    max_wait_secs is accepted without effect.
    """
    if not is_chief:
        raise ArgumentError("there is one process: expected is_chief=True")
    scaffold = scaffold or Scaffold()
    if save_checkpoint_secs is _DEFAULT and save_checkpoint_steps is _DEFAULT:
        save_checkpoint_secs, save_checkpoint_steps = 600, None
    seconds, steps = (None if v is _DEFAULT else v for v in (save_checkpoint_secs, save_checkpoint_steps))
    if save_summaries_steps is _DEFAULT and save_summaries_secs is _DEFAULT:
        save_summaries_steps, save_summaries_secs = 100, None
    each, every = (None if v is _DEFAULT else v for v in (save_summaries_steps, save_summaries_secs))
    summary_dir = summary_dir or checkpoint_dir
    own: list[SessionRunHook] = []
    if summary_dir and log_step_count_steps:
        own.append(StepCounterHook(every_n_steps=log_step_count_steps, output_dir=summary_dir))
    if summary_dir and (each or every):
        own.append(SummarySaverHook(each or None, every or None, summary_dir, scaffold=scaffold))
    if checkpoint_dir and (seconds or steps):
        own.append(CheckpointSaverHook(checkpoint_dir, save_secs=seconds or None, save_steps=steps or None,
                                       scaffold=scaffold))
    creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir)
    return MonitoredSession(creator, [*(hooks or ()), *own, *(chief_only_hooks or ())], stop_grace_period_secs)
