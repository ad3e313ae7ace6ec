"""Sessions around sessions: what calls hooks, what minds a coordinator, what begins anew after a lost worker.

Only what a run raises is handled: whoever makes such a session builds no graph through it.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ....core.errors import AbortedError, OpError, StateError, UnavailableError
from ....files.event_file import EVENT_MESSAGES
from ....runtime.config import RunOptions
from ...logging import info
from ..hooks import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues

LOST: tuple[type[OpError], ...] = (AbortedError, UnavailableError)  # a worker has gone: another session may do it


class StepContext:
    """The argument of run_step_fn's function. session: whose runs no hook sees. run_with_hooks: runs with them."""

    def __init__(self, session: Any, run_with_hooks_fn: Callable[..., Any]) -> None:
        self.session, self.run_with_hooks = session, run_with_hooks_fn

    def request_stop(self) -> None:
        """Leave the loop, as the end of the data does."""
        raise StopIteration("step_fn has requested the iterations to stop.")


class _WrappedSession:
    """A session with `should_stop`."""

    def __init__(self, sess: Any) -> None:
        self._sess: Any = sess

    @property
    def graph(self) -> Any:
        return self._sess.graph

    @property
    def sess_str(self) -> Any:
        return self._sess.sess_str

    def should_stop(self) -> bool:
        """Whether it is closed, or a session of those inside wants to stop."""
        if self._check_stop() or self._sess is None:
            return True
        return isinstance(self._sess, _WrappedSession) and self._sess.should_stop()

    def _check_stop(self) -> bool:
        """Whether this session, of those around each other, wants to stop."""
        return False

    def close(self) -> None:
        """Close the session inside, unless that is done."""
        inside, self._sess = self._sess, None
        if inside is not None:
            try:
                inside.close()
            except LOST as error:
                info("A worker was lost while a session was closed: %s", error)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Session.run."""
        return self._sess.run(*args, **kwargs)

    def run_step_fn(self, step_fn: Callable[..., Any], raw_session: Any, run_with_hooks: Any) -> Any:
        """Call a function with a StepContext."""
        return step_fn(StepContext(raw_session, run_with_hooks or self.run))


class _RecoverableSession(_WrappedSession):
    """Makes its session anew, and runs again, when a worker is lost."""

    def __init__(self, sess_creator: Any) -> None:
        self._sess_creator = sess_creator
        super().__init__(self._create_session())

    def _create_session(self) -> Any:
        while True:
            try:
                return self._sess_creator.create_session()
            except LOST as error:
                info("A worker was lost while a session was being created. A new session will be created: %s", error)

    def _check_stop(self) -> bool:
        try:
            return self._sess is None or self._sess._check_stop()
        except LOST as error:
            self._begin_anew(error)
            return False
        except Exception:  # run or close raises it, and the loop that asks whether to stop does not
            return True

    def _begin_anew(self, error: Exception) -> None:
        info("A worker was lost. The session is closed and a new one is created: %s", error)
        self.close()
        self._sess = self._create_session()

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Session.run, again after a lost worker."""
        while True:
            try:
                return self._sess.run(*args, **kwargs)
            except LOST as error:
                self._begin_anew(error)

    def run_step_fn(self, step_fn: Callable[..., Any], raw_session: Any, run_with_hooks: Any) -> Any:
        """As _WrappedSession, again after a lost worker."""
        while True:
            try:
                return self._sess.run_step_fn(step_fn, raw_session, self._sess.run)
            except LOST as error:
                self._begin_anew(error)


class _CoordinatedSession(_WrappedSession):
    """Stops with a coordinator, and raises what one of its threads has raised."""

    def __init__(self, sess: Any, coord: Any, stop_grace_period_secs: float = 120) -> None:
        super().__init__(sess)
        self._coord, self._grace = coord, stop_grace_period_secs

    def _check_stop(self) -> bool:
        self._coord.raise_requested_exception()
        return self._coord.should_stop()

    def close(self) -> None:
        """End the coordinator's threads, then the session."""
        self._coord.request_stop()
        try:
            self._coord.join(stop_grace_period_secs=self._grace, ignore_live_threads=True)
        finally:
            super().close()

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Session.run. An error that a thread has raised goes before its consequence in a run."""
        try:
            return self._sess.run(*args, **kwargs)
        except LOST:
            raise
        except Exception:
            self._coord.raise_requested_exception()
            raise


class _HookedSession(_WrappedSession):
    """Calls hooks around each run; they neither begin nor end with it."""

    def __init__(self, sess: Any, hooks: Iterable[SessionRunHook]) -> None:
        super().__init__(sess)
        self._hooks, self._should_stop = list(hooks), False

    def _check_stop(self) -> bool:
        return self._should_stop

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Session.run, with what the hooks want. Raises StateError (RuntimeError) after a request to stop.

        Raises StateError too if two of hooks and caller feed the same tensor.
        """
        if self.should_stop():
            raise StateError("Run called even after should_stop requested.")
        options, run_metadata = options or RunOptions(), run_metadata or EVENT_MESSAGES["RunMetadata"]()
        context = SessionRunContext(SessionRunArgs(fetches, feed_dict), self._sess)
        asked = {hook: request for hook in self._hooks if (request := hook.before_run(context)) is not None}
        fed = feed_dict
        for request in asked.values():
            if request.feed_dict:
                fed = _fed_too(fed or {}, request.feed_dict, feed_dict or {})
            if request.options:
                _merge(options, request.options)
        wanted: dict[Any, Any] = {hook: request.fetches for hook, request in asked.items()
                                  if request.fetches is not None}
        results = self._sess.run(fetches={"caller": fetches, **wanted}, feed_dict=fed, options=options,
                                 run_metadata=run_metadata)
        for hook in self._hooks:
            hook.after_run(context, SessionRunValues(results.get(hook), options, run_metadata))
        self._should_stop = self._should_stop or context.stop_requested
        return results["caller"]


def _fed_too(fed: dict, more: dict, by_user: dict) -> dict:
    """What is fed, and a hook's feeds too. Raises StateError if a tensor is among both."""
    twice = [tensor for tensor in more if tensor in fed]
    if twice:
        others = "a SessionRunHook and user" if twice[0] in by_user else "two hooks"
        raise StateError(f"Same tensor is fed by {others}: {twice[0]!r}")
    return {**fed, **more}


def _merge(options: RunOptions, more: Any) -> None:
    """Have a run trace as much, wait as long, and watch as much as either asks for."""
    for name in ("trace_level", "timeout_in_ms", "output_partition_graphs"):
        setattr(options, name, max(getattr(options, name), getattr(more, name)))
    options.debug_options.debug_tensor_watch_opts.extend(more.debug_options.debug_tensor_watch_opts)  # type: ignore[attr-defined]
