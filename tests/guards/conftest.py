"""How much of chance a guard takes: a fixed share, or what `scripts/check --long MINUTES` gives it."""
from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest

MINUTES = "GRADBG_GUARD_MINUTES"  # in all, of all cores


class Share:
    """What one guard may take. seconds: until then; None for a fixed count."""

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    def seeds(self, count: int) -> Iterator[int]:
        """`count` seeds, always the same; with more time given, new ones until it is over."""
        yield from range(count)
        seed = time.time_ns() % 1_000_000_007
        while self._end is not None and time.monotonic() < self._end:
            seed += 1
            yield seed


@pytest.fixture
def is_long() -> bool:
    """Whether there is more time than the suite has."""
    return MINUTES in os.environ


@pytest.fixture
def share(request: pytest.FixtureRequest) -> Share:
    minutes = os.environ.get(MINUTES)
    if minutes is None:
        return Share(None)
    sharing = sum("share" in getattr(item, "fixturenames", ()) for item in request.session.items)
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", 1))
    return Share(60 * float(minutes) * workers / sharing)
