"""How much of chance a guard takes: a fixed share, or what `scripts/check --long MINUTES` gives it."""
from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

MINUTES = "GRADBG_GUARD_MINUTES"  # in all, of all cores


class Share:
    """What one guard may take. seconds: until then; None for a fixed count. count: seeds so far."""

    count = 0

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    def seeds(self, count: int) -> Iterator[int]:
        """`count` seeds, always the same; with more time given, new ones until it is over."""
        for self.count in range(1, count + 1):
            yield self.count - 1
        seed = time.time_ns() % 1_000_000_007
        while self._end is not None and time.monotonic() < self._end:
            seed += 1
            self.count += 1
            yield seed


@pytest.fixture
def is_long() -> bool:
    """Whether there is more time than the suite has."""
    return MINUTES in os.environ


@pytest.fixture
def share(request: pytest.FixtureRequest) -> Iterator[Share]:
    minutes = os.environ.get(MINUTES)
    found = Share(None)
    if minutes is not None:
        sharing = sum("share" in getattr(item, "fixturenames", ()) for item in request.session.items)
        workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", 1))
        found = Share(60 * float(minutes) * workers / sharing)
    yield found
    request.node.user_properties.append(("seeds", found.count))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """With more time given, how much of it was what."""
    counts: Counter[tuple[str, str]] = Counter()
    for report in (each for reports in terminalreporter.stats.values() for each in reports):
        for what, count in getattr(report, "user_properties", ()) if MINUTES in os.environ else ():
            guard = report.nodeid.partition("::")[2].partition("[")[0]
            counts[guard, what] += count if report.when == "teardown" else 0
    for (guard, what), count in sorted(counts.items()):
        terminalreporter.write_line(f"{guard}: {count:,} {what}")
