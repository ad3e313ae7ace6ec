"""Waiting for the checkpoints that another program writes."""
from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from ..logging import info
from .checkpoint_state import latest_checkpoint


def wait_for_new_checkpoint(checkpoint_dir: str, last_checkpoint: str | None = None, seconds_to_sleep: float = 1,
                            timeout: float | None = None) -> str | None:
    """The latest checkpoint of a directory, once it is another than the last one; None after `timeout` seconds."""
    info("Waiting for new checkpoint at %s", checkpoint_dir)
    ends = None if timeout is None else time.time() + timeout
    while True:
        found = latest_checkpoint(checkpoint_dir)
        if found is not None and found != last_checkpoint:
            info("Found new checkpoint at %s", found)
            return found
        if ends is not None and time.time() + seconds_to_sleep > ends:
            return None
        time.sleep(seconds_to_sleep)


def checkpoints_iterator(checkpoint_dir: str, min_interval_secs: float = 0, timeout: float | None = None,
                         timeout_fn: Callable[[], Any] | None = None) -> Iterator[str]:
    """Each new checkpoint of a directory. timeout_fn: asked after so many seconds without one whether to end."""
    last = None
    while True:
        found = wait_for_new_checkpoint(checkpoint_dir, last, timeout=timeout)
        if found is None:
            if timeout_fn is None or timeout_fn():
                return
            continue
        began, last = time.time(), found
        yield found
        time.sleep(max(began + min_interval_secs - time.time(), 0))
