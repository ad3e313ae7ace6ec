"""Python's search for garbage: not while many objects are made that stay.

A full search through the objects of a graph of 20,000 operations takes 0.1 to 0.3 s, which nothing can interrupt.
"""
from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def keeping_all() -> Iterator[None]:
    """Inside, no garbage is looked for: what is made there stays."""
    was_collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_collecting:
            gc.enable()


def pass_over() -> None:
    """Leave out what there is now from any search to come, until `look_again`."""
    gc.freeze()


def look_again() -> None:
    """Search all objects again."""
    gc.unfreeze()
