"""Commands run beside the screen, so that it always answers; Ctrl-C reaches them there."""
from __future__ import annotations

import queue
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..model.hearing import is_heeded
from ..model.results import Text
from ..model.script_signals import handled, raise_in

WAKES = signal.SIGURG  # it does nothing, but sleeps are over at it
CALLS, HEARD = 5, 0.02  # how often, after how many seconds each, the main thread is woken up for what it has not heard
INTERRUPTED = Text("interrupted", "warning")


@dataclass(frozen=True)
class Job:
    """Something to run. told: is given what came of it. behind: nobody waits for it, so what is typed next ends it."""

    name: str
    run: Callable[[], Any]
    told: Callable[[Any], None]
    behind: bool = False


class Worker:
    """Runs jobs one after the other, in the thread that calls work().

    busy: name of the job that somebody waits for, or "". behind: name of the one that nobody does, or "".
    """

    def __init__(self) -> None:
        self._jobs: queue.Queue[Job | None] = queue.Queue()
        self.busy = self.behind = ""
        self._is_closed = False  # a job that says so could be lost to an interruption
        self._thread = threading.current_thread()
        self._turn = threading.Lock()

    def submit(self, job: Job) -> None:
        """Run a job behind those that are waiting; one that nobody waits for makes room."""
        if job.behind:
            self._jobs.put(job)
            return
        self.busy = job.name
        self._jobs.put(job)
        with self._turn:  # a signal must reach the job it is for, not the one that comes next
            if self.behind:
                self._signal()

    def close(self) -> None:
        """Let work() come to its end; what runs is interrupted."""
        self._is_closed = True
        self._jobs.put(None)
        self.interrupt()

    def interrupt(self) -> bool:
        """Ctrl-C for the job that runs, as a terminal would give it; False if none does."""
        if not self.busy and not self.behind:
            return False
        self._signal()
        return True

    def _signal(self) -> None:
        if self._thread is threading.main_thread():
            main = threading.main_thread().ident or 0
            signal.pthread_kill(main, signal.SIGINT)  # it wakes up what sleeps, but for what is about to fall asleep
            for _ in range(CALLS):
                if is_heeded(HEARD):
                    break
                signal.pthread_kill(main, WAKES)
        else:
            raise_in(self._thread, KeyboardInterrupt)

    def work(self) -> None:
        """Run what is submitted until closed."""
        with handled(WAKES, lambda *_: None):  # it is heard without effect
            self._work()

    def _work(self) -> None:
        job: Job | None = None
        while not self._is_closed:
            try:
                job = self._jobs.get()
                if job is None:
                    return
                if job.behind and self.busy:
                    continue  # somebody waits for another by now
                self._enter(job)
                try:
                    found = job.run()
                    with self._turn:
                        self.behind = ""
                except KeyboardInterrupt:
                    found = INTERRUPTED
            except KeyboardInterrupt:  # it came a moment too soon or too late
                job, found = self._waiting(job), INTERRUPTED
                if job is None:
                    return
            if job is not None:
                self._tell(job, found)
                job = None

    def _enter(self, job: Job) -> None:
        self.busy, self.behind = ("", job.name) if job.behind else (job.name, "")

    def _waiting(self, job: Job | None) -> Job | None:
        """The job that was about to begin; the last one if there is none; None if work is to end."""
        try:
            return self._jobs.get_nowait()
        except queue.Empty:
            return job or Job("", lambda: None, lambda found: None, behind=True)

    def _tell(self, job: Job, found: Any) -> None:
        told = False
        while not told:
            try:
                self.busy = "" if not job.behind else self.busy
                self.behind = ""
                job.told(found)
                told = True
            except KeyboardInterrupt:
                continue
