"""SessionManager: sessions whose variables have the values of a checkpoint, or of their initializers."""
from __future__ import annotations

import os
import time
from typing import Any

import numpy as np

from ....core.errors import ArgumentError, DeadlineExceededError, FailedPreconditionError, StateError
from ....core.graph import Graph, get_default_graph
from ....runtime.session import Session
from ...logging import info
from ..checkpoint_state import get_checkpoint_state


class SessionManager:
    """Makes sessions that are ready: whose ready_op names no variable without a value.

    local_init_op is run once ready_for_local_init_op names none. Raises ArgumentError (ValueError) for the latter
    without the former. recovery_wait_secs: seconds between two looks at what another session is to initialize.
    """

    def __init__(self, local_init_op: Any = None, ready_op: Any = None, ready_for_local_init_op: Any = None,
                 graph: Graph | None = None, recovery_wait_secs: float = 30, local_init_run_options: Any = None,
                 local_init_feed_dict: dict | None = None) -> None:
        if ready_for_local_init_op is not None and local_init_op is None:
            raise ArgumentError("If you pass a ready_for_local_init_op you must also pass a local_init_op , "
                                f"ready_for_local_init_op [{ready_for_local_init_op}]")
        self._local_init_op, self._local_feeds, self._local_options = (
            local_init_op, local_init_feed_dict, local_init_run_options)
        self._ready_op, self._ready_for_local = ready_op, ready_for_local_init_op
        self._graph, self._wait = graph or get_default_graph(), recovery_wait_secs

    def prepare_session(self, master: str = "", init_op: Any = None, saver: Any = None,
                        checkpoint_dir: str | None = None, checkpoint_filename_with_path: str | None = None,
                        wait_for_checkpoint: bool = False, max_wait_secs: float = 7200, config: Any = None,
                        init_feed_dict: dict | None = None, init_fn: Any = None) -> Session:
        """A session with the checkpoint's values, else with those of init_op and init_fn(session).

        Raises StateError (RuntimeError) if a variable has no value then, or nothing would give it one.
        """
        session, is_loaded = self._restored(master, saver, checkpoint_dir, checkpoint_filename_with_path,
                                            wait_for_checkpoint, max_wait_secs, config)
        if not is_loaded:
            if init_op is None and init_fn is None and self._local_init_op is None:
                raise StateError("Model is not initialized and no init_op or init_fn or local_init_op was given")
            if init_op is not None:
                session.run(init_op, init_feed_dict)
            if init_fn is not None:
                init_fn(session)
        for what, unready in (("ready for local_init.  ", self._local_init), ("ready.  ", self._unready)):
            why = unready(session)
            if why:
                raise StateError(f"Init operations did not make model {what}Init op: {getattr(init_op, 'name', '')}, "
                                 f"init fn: {init_fn}, local_init_op: {self._local_init_op!r}, error: {why}")
        return session

    def recover_session(self, master: str = "", saver: Any = None, checkpoint_dir: str | None = None,
                        checkpoint_filename_with_path: str | None = None, wait_for_checkpoint: bool = False,
                        max_wait_secs: float = 7200, config: Any = None) -> tuple[Session, bool]:
        """A session with the checkpoint's values, and whether it is ready."""
        session, is_loaded = self._restored(master, saver, checkpoint_dir, checkpoint_filename_with_path,
                                            wait_for_checkpoint, max_wait_secs, config)
        why = self._local_init(session)
        return session, is_loaded and not why and not self._unready(session)

    def wait_for_session(self, master: str = "", config: Any = None, max_wait_secs: float = float("inf")) -> Session:
        """A session that somebody else makes ready. Raises DeadlineExceededError if that takes longer."""
        ends = time.monotonic() + (float("inf") if max_wait_secs is None else max_wait_secs)
        while True:
            session = Session(master, self._graph, config)
            why = self._local_init(session) or self._unready(session)
            if not why:
                return session
            session.close()
            if time.monotonic() + self._wait > ends:
                raise DeadlineExceededError(None, None, f"Session was not ready after waiting {max_wait_secs} secs: "
                                                        f"{why}")
            info("Waiting for model to be ready: %s", why)
            time.sleep(self._wait)

    def _restored(self, master: str, saver: Any, folder: str | None, path: str | None, waits: bool, longest: float,
                  config: Any) -> tuple[Session, bool]:
        """A new session, and whether it has a checkpoint's values."""
        session = Session(master, self._graph, config)
        if folder and path:
            raise ArgumentError("Can not provide both checkpoint_dir and checkpoint_filename_with_path.")
        if saver is None or not (folder or path):
            return session, False
        if not path:
            ends, state = time.monotonic() + longest, get_checkpoint_state(folder)
            while waits and (state is None or not state.model_checkpoint_path) and time.monotonic() < ends:
                info("Waiting for checkpoint to be available.")
                time.sleep(min(self._wait, max(ends - time.monotonic(), 0)))
                state = get_checkpoint_state(folder)
            if state is None or not state.model_checkpoint_path:
                return session, False
            path = str(state.model_checkpoint_path)
            saver.restore(session, path)
            saver.recover_last_checkpoints(state.all_model_checkpoint_paths)
        else:
            saver.restore(session, os.fspath(path))
        return session, True

    def _local_init(self, session: Session) -> str:
        """Run local_init_op; why that was not possible, or ""."""
        if self._local_init_op is None:
            return ""
        why = _unready(session, self._ready_for_local)
        if not why:
            session.run(self._local_init_op, self._local_feeds, self._local_options)
        return why

    def _unready(self, session: Session) -> str:
        return _unready(session, self._ready_op)


def _unready(session: Session, op: Any) -> str:
    """What an operation says is not initialized; "" for nothing."""
    if op is None:
        return ""
    try:
        names = session.run(op)
    except FailedPreconditionError as error:
        if "uninitialized" not in str(error):
            raise
        return f"an exception was raised: {error}"
    if names is None or np.asarray(names).dtype == np.int32 or not np.size(names):
        return ""  # the op of old, assert_variables_initialized, gives ranks
    return "Variables not initialized: " + ", ".join(name.decode() for name in np.ravel(names))
