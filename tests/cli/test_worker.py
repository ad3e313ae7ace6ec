"""Jobs beside the screen: in order, interrupted one by one, and those that nobody waits for make room."""

import queue
import threading
import time

import pytest

from cli.model.results import Text
from cli.screen.worker import Job, Worker


@pytest.fixture
def told() -> list[object]:
    return []


def job(name: str, told: list[object], run: object = None, *, behind: bool = False) -> Job:
    return Job(name, run or (lambda: name), told.append, behind)  # type: ignore[arg-type]


def test_jobs_run_in_order_and_work_ends(told: list[object]) -> None:
    worker = Worker()
    for name in "abc":
        worker.submit(job(name, told))
    worker._jobs.put(None)
    worker.work()
    assert told == ["a", "b", "c"] and worker.busy == ""


def test_what_nobody_waits_for_makes_room(told: list[object]) -> None:
    """A line typed while an explanation is computed ends the explanation, never the line."""
    worker = Worker()
    begun = threading.Event()

    def long() -> str:
        begun.set()
        ends = time.monotonic() + 60
        while time.monotonic() < ends:  # as what computes: a signal just before a long wait would be heard after it
            time.sleep(0.01)
        return "never"

    def person() -> None:
        begun.wait(60)
        worker.submit(job("typed", told))
        worker._jobs.put(None)

    worker.submit(job("why nan", told, long, behind=True))
    hand = threading.Thread(target=person)
    hand.start()
    worker.work()
    hand.join(60)
    assert told == [Text("interrupted", "warning"), "typed"]


def test_it_is_not_even_begun_where_somebody_waits(told: list[object]) -> None:
    worker = Worker()
    worker.submit(job("typed", told))
    worker.submit(job("panes", told, behind=True))
    worker._jobs.queue.rotate(1)  # it comes first
    worker._jobs.put(None)
    worker.work()
    assert told == ["typed"]


def test_the_end_is_not_lost_to_an_interruption(monkeypatch: pytest.MonkeyPatch, told: list[object]) -> None:
    """Ctrl-C between taking the word that it is over and heeding it: work went on waiting for good."""
    worker = Worker()
    waits = []

    def taken() -> None:
        assert not waits, "it waits again"
        waits.append(1)
        worker.close()
        raise KeyboardInterrupt

    monkeypatch.setattr(worker._jobs, "get", taken)
    monkeypatch.setattr(worker._jobs, "get_nowait", lambda: (_ for _ in ()).throw(queue.Empty))
    worker.work()
    assert waits == [1]
