"""Which runs are the debugger's own: nothing stops at them."""
from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def asking() -> Iterator[None]:
    """Runs made in this thread inside the block are the debugger's own, for an answer."""
    thread = threading.current_thread()
    saved = getattr(thread, "asks", False)
    thread.asks = True  # type: ignore[attr-defined]
    try:
        yield
    finally:
        thread.asks = saved  # type: ignore[attr-defined]


def is_asking(session: Any) -> bool:
    """Whether a run that is begun now is the debugger's own: then nothing stops at it."""
    return getattr(session, "is_repeat", False) or getattr(threading.current_thread(), "asks", False)
