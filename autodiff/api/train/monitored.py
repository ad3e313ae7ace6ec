"""Monitored sessions: initialize or restore, call hooks around each run, and end in order."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...core.collections import GraphKeys
from ...core.errors import ArgumentError, OutOfRangeError, StateError
from ...core.graph import Graph, get_default_graph
from ...runtime.session import Session
from .. import summary
from ..control.dependencies import group
from ..variables.assignment import (
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)
from .checkpoint_state import latest_checkpoint
from .coordinator import Coordinator, start_queue_runners
from .hooks import (
    CheckpointSaverHook,
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
    StepCounterHook,
    SummarySaverHook,
)
from .saver import Saver

_DEFAULT = object()


class Scaffold:
    """The operations that a training session needs; what is not given is made of the graph by finalize()."""

    def __init__(self, init_op: Any = None, init_feed_dict: dict | None = None,
                 init_fn: Callable[..., Any] | None = None, ready_op: Any = None,
                 ready_for_local_init_op: Any = None, local_init_op: Any = None,
                 summary_op: Any = None, saver: Saver | None = None, copy_from_scaffold: "Scaffold | None" = None,
                 local_init_feed_dict: dict | None = None) -> None:
        base: Any = copy_from_scaffold
        self.init_op: Any = _first(init_op, base and base.init_op)
        self.init_feed_dict: Any = _first(init_feed_dict, base and base.init_feed_dict)
        self.init_fn: Any = None if init_fn is None else lambda session: init_fn(self, session)
        self.ready_op: Any = _first(ready_op, base and base.ready_op)
        self.ready_for_local_init_op: Any = _first(ready_for_local_init_op, base and base.ready_for_local_init_op)
        self.local_init_op: Any = _first(local_init_op, base and base.local_init_op)
        self.local_init_feed_dict: Any = _first(local_init_feed_dict, base and base.local_init_feed_dict)
        self.summary_op: Any = _first(summary_op, base and base.summary_op)
        self.saver: Any = _first(saver, base and base.saver)

    def finalize(self) -> "Scaffold":
        """Make what is missing, and close the graph to further operations."""
        default = self.get_or_default
        self.init_op = self.init_op if self.init_op is not None else default(
            "init_op", GraphKeys.INIT_OP, global_variables_initializer)
        self.ready_op = self.ready_op if self.ready_op is not None else default(
            "ready_op", GraphKeys.READY_OP, report_uninitialized_variables)
        self.local_init_op = self.local_init_op if self.local_init_op is not None else default(
            "local_init_op", GraphKeys.LOCAL_INIT_OP, lambda: group(local_variables_initializer()))
        self.summary_op = self.summary_op if self.summary_op is not None else default(
            "summary_op", GraphKeys.SUMMARY_OP, summary.merge_all)
        self.saver = self.saver if self.saver is not None else default(
            "saver", GraphKeys.SAVERS, lambda: Saver(allow_empty=True))
        get_default_graph().finalize()
        return self

    @staticmethod
    def get_or_default(arg_name: str, collection_key: Any, default_constructor: Callable[[], Any]) -> Any:
        """The one item of a collection, or what is made now and put there. Raises StateError for several items."""
        graph = get_default_graph()
        found = graph.get_collection(collection_key)
        if len(found) > 1:
            raise StateError(f"more than one item in collection {collection_key!r}: pass {arg_name} to the Scaffold")
        if found:
            return found[0]
        made = default_constructor()
        if made is not None:
            graph.add_to_collection(collection_key, made)
        return made


def _first(value: Any, other: Any) -> Any:
    return value if value is not None else other


class ChiefSessionCreator:
    """Makes sessions whose variables have values: of the latest checkpoint, or of the initializers."""

    def __init__(self, scaffold: Scaffold | None = None, master: str = "", config: Any = None,
                 checkpoint_dir: str | None = None, checkpoint_filename_with_path: str | None = None) -> None:
        self.scaffold = scaffold or Scaffold()
        self._master, self._config = master, config
        self._folder, self._path = checkpoint_dir, checkpoint_filename_with_path

    def create_session(self) -> Session:
        """A new session. Raises StateError (RuntimeError) if a variable has no value then."""
        scaffold = self.scaffold.finalize()
        session = Session(self._master, get_default_graph(), self._config)
        path = self._path or (latest_checkpoint(self._folder) if self._folder else None)
        if path:
            scaffold.saver.restore(session, path)
        else:
            session.run(scaffold.init_op, scaffold.init_feed_dict)
            if scaffold.init_fn is not None:
                scaffold.init_fn(session)
        session.run(scaffold.local_init_op, scaffold.local_init_feed_dict)
        missing = session.run(scaffold.ready_op)
        if missing is not None and len(missing):
            names = ", ".join(name.decode() for name in missing)
            raise StateError(f"variables without a value after initializing: {names}",
                             hint=f"the checkpoint {path!r} does not hold them" if path else
                             "the Scaffold's init_op does not initialize them")
        return session


class MonitoredSession:
    """A session that calls hooks around each run.

    In a `with` block OutOfRangeError and StopIteration end it as a request to stop does.
    """

    def __init__(self, session_creator: Any = None, hooks: Iterable[SessionRunHook] | None = None,
                 stop_grace_period_secs: float = 120) -> None:
        self._hooks, self._grace = list(hooks or ()), stop_grace_period_secs
        self._graph: Graph = get_default_graph()
        self._was_finalized = self._graph.finalized
        for hook in self._hooks:
            hook.begin()
        self._session = (session_creator or ChiefSessionCreator()).create_session()
        self._coordinator = Coordinator()
        self._stopped = False
        start_queue_runners(self._session, self._coordinator)
        for hook in self._hooks:
            hook.after_create_session(self._session, self._coordinator)

    @property
    def graph(self) -> Graph:
        return self._graph

    def raw_session(self) -> Session:
        """The session inside, whose runs no hook sees."""
        return self._session

    def _tf_sess(self) -> Session:
        return self._session

    def should_stop(self) -> bool:
        """Whether a hook asked to stop, or the session is closed."""
        return self._stopped or self._session.closed or self._coordinator.should_stop()

    def run(self, fetches: Any, feed_dict: dict | None = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Session.run, with what the hooks want. Raises StateError (RuntimeError) after a request to stop.

        Raises StateError too if two of hooks and caller feed the same tensor.
        """
        if self._session.closed:
            raise StateError("Run called even after the session is closed.")
        if self.should_stop():
            raise StateError("Run called even after should_stop requested.")
        context = SessionRunContext(SessionRunArgs(fetches, feed_dict, options), self._session)
        asked = {hook: hook.before_run(context) for hook in self._hooks}
        feeds = dict(feed_dict or {})
        for found in asked.values():
            for tensor, value in ((found and found.feed_dict) or {}).items():
                if tensor in feeds:
                    others = "a SessionRunHook and user" if tensor in (feed_dict or {}) else "two hooks"
                    raise StateError(f"Same tensor is fed by {others}: {tensor!r}")
                feeds[tensor] = value
        wanted = {i: found.fetches for i, found in enumerate(asked.values()) if found and found.fetches is not None}
        results = self._session.run({"caller": fetches, "hooks": wanted}, feeds or None, options, run_metadata)
        for i, hook in enumerate(asked):
            hook.after_run(context, SessionRunValues(results["hooks"].get(i), options, run_metadata))
        self._stopped = self._stopped or context.stop_requested
        return results["caller"]

    def run_step_fn(self, step_fn: Callable[..., Any]) -> Any:
        """Call a function with a context: `session`, `run_with_hooks` and `request_stop()`."""
        return step_fn(_StepContext(self))

    def close(self) -> None:
        """End the hooks, and the session."""
        if self._session.closed:
            return
        try:
            for hook in self._hooks:
                hook.end(self._session)
            self._coordinator.request_stop()
            self._coordinator.join(stop_grace_period_secs=self._grace)
        finally:
            self._release()

    def _release(self) -> None:
        """Close the session, and open the graph again that this one has closed."""
        self._session.close()
        self._graph.finalized = self._was_finalized

    def __enter__(self) -> "MonitoredSession":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        if kind is None or issubclass(kind, (OutOfRangeError, StopIteration)):
            self.close()
            return kind is not None
        self._release()
        return False


class _StepContext:
    """The argument of run_step_fn's function."""

    def __init__(self, monitored: MonitoredSession) -> None:
        self.session, self.run_with_hooks = monitored.raw_session(), monitored.run

    def request_stop(self) -> None:
        """Leave the loop, as the end of the data does."""
        raise StopIteration("step_fn has requested the iterations to stop.")


class _HookedSession(MonitoredSession):
    """Hooks around the runs of a session that is there already; they neither begin nor end with it."""

    def __init__(self, sess: Session, hooks: Iterable[SessionRunHook]) -> None:
        self._hooks, self._grace, self._session, self._stopped = list(hooks), 0.0, sess, False
        self._graph, self._was_finalized, self._coordinator = sess.graph, sess.graph.finalized, Coordinator()


class _WrappedSession(_HookedSession):
    """A session with `should_stop`."""

    def __init__(self, sess: Session) -> None:
        super().__init__(sess, ())


class SingularMonitoredSession(MonitoredSession):
    """A MonitoredSession that is made of a checkpoint or of the initializers."""

    def __init__(self, hooks: Iterable[SessionRunHook] | None = None, scaffold: Scaffold | None = None,
                 master: str = "", config: Any = None,
                 checkpoint_dir: str | None = None, stop_grace_period_secs: float = 120,
                 checkpoint_filename_with_path: str | None = None) -> None:
        creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path)
        super().__init__(creator, hooks, stop_grace_period_secs)


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
