"""tensorflow.python.compat.compat: dates until which old graphs must be read. All changes count as made."""
from __future__ import annotations

import contextlib
from collections.abc import Iterator


def forward_compatible(year: int, month: int, day: int) -> bool:
    """Always True."""
    return True


@contextlib.contextmanager
def forward_compatibility_horizon(year: int, month: int, day: int) -> Iterator[None]:
    """Nothing changes inside."""
    yield
