"""Pauses of Python's garbage collector, while many objects are made that live on.

A full collection over a graph of 20,000 operations takes 0.1 to 0.3 s, which nothing can interrupt.
"""
from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the collector inside the block."""
    was_collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_collecting:
            gc.enable()
