"""Ctrl-C in the midst of C code: what is waited for is said, and what ends the process is not waited for."""
from __future__ import annotations

import builtins
import ctypes
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from cli.model import hearing
from cli.model.hearing import Hearing
from cli.model.script import ModelScript
from cli.model.script_signals import STORM

PATIENCE = 20  # seconds until a test gives up; none waits for so long


class Told(queue.Queue):
    """A stream that tells what was written."""

    def write(self, text: str) -> None:
        self.put(text)

    def flush(self) -> None:
        pass


class Deaf:
    """Reads from a pipe in C code, where it is sent a signal that does not wake it up; `hear` lets it return."""

    def __init__(self) -> None:
        self._source, self._sink = os.pipe()
        self._read, self._is_in_c = ctypes.CDLL(None).read, threading.Lock()

    def wait(self, number: signal.Signals, then: Callable[[], Any]) -> None:
        def run() -> None:
            with self._is_in_c:
                signal.pthread_kill(threading.get_ident(), number)
            then()

        self._is_in_c.acquire()
        threading.Thread(target=run, daemon=True).start()
        self._is_in_c.release()
        self._read(self._source, ctypes.create_string_buffer(1), 1)

    def hear(self) -> None:
        os.write(self._sink, b".")

    def close(self) -> None:
        os.close(self._source)
        os.close(self._sink)


@pytest.fixture
def deaf() -> Iterator[Deaf]:
    saved, found = sys.getswitchinterval(), Deaf()
    sys.setswitchinterval(PATIENCE)  # another thread runs when the main one is in C code, not before
    yield found
    sys.setswitchinterval(saved)
    found.close()


def test_what_keeps_ctrl_c_waiting_is_said(deaf: Deaf, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten seconds of a product passed without a word."""
    told = Told()
    monkeypatch.setattr("sys.stderr", told)
    said = []

    def listen() -> None:
        said.append(told.get(timeout=PATIENCE))
        deaf.hear()

    x = tf.py_func(lambda: np.float32(deaf.wait(signal.SIGINT, listen) or 1.0), [], tf.float32, name="slow")
    with pytest.raises(KeyboardInterrupt), tf.Session() as session, Hearing(print, "; or").on():
        session.run(x)
    assert said[0].startswith("waiting for PyFunc at test_hearing.py:")
    assert said[0].endswith(" to end, which can not be interrupted; or\n")


def test_what_ends_the_process_is_not_kept_waiting(deaf: Deaf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cli.model.hearing.ENDING", 0.01)
    ended: list[int] = []
    saved = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        with Hearing(lambda number: (ended.append(number), deaf.hear())).on():
            deaf.wait(signal.SIGTERM, lambda: None)
    finally:
        signal.signal(signal.SIGTERM, saved)
    assert ended == [signal.SIGTERM]


def test_who_heeds_at_once_is_not_spoken_for(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    asked, heeded = hearing.is_heeded, []
    monkeypatch.setattr(hearing, "is_heeded", lambda _: heeded.append(asked(PATIENCE)) or heeded[-1])
    with Hearing(print).on():
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
    while not heeded:
        threading.Event().wait(0.001)  # what Python calls in between, it calls between two lines of this thread
    assert all(heeded)
    assert capsys.readouterr().err == ""


STUCK = """
import builtins
builtins.gate.acquire()
import autodiff as tf
"""


def test_a_script_that_hears_nothing_is_told_of_and_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While it loaded, Ctrl-C was noted for a run that was far away, and nothing else was said."""
    gate, told, said = threading.Lock(), Told(), []
    gate.acquire()
    monkeypatch.setattr("sys.stderr", told)
    monkeypatch.setattr(builtins, "gate", gate, raising=False)
    (tmp_path / "model.py").write_text(STUCK)
    script = ModelScript(str(tmp_path / "model.py"), (), lambda *_, **__: ((), None))

    def press() -> None:
        while not script.doing():
            threading.Event().wait(0.01)
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGINT)
            said.append(told.get(timeout=PATIENCE))
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()
    event = script.start()
    gate.release()
    script.close()
    now = "model.py:3: builtins.gate.acquire()"
    assert said == [f"it stops at the next run (now {now}); Ctrl-C again interrupts that\n",
                    f"waiting for {now} to end, which can not be interrupted; Ctrl-C again leaves the script there\n"]
    assert (event.kind, repr(event.error)) == ("raised", f"KeyboardInterrupt('left in the midst of {now}')")


def test_a_storm_of_ctrl_c_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = Told()
    monkeypatch.setattr("sys.stderr", told)
    (tmp_path / "model.py").write_text("import autodiff as tf\ntf.Session().run(tf.constant(1.0))\n"
                                       "while True:\n    pass\n")
    script = ModelScript(str(tmp_path / "model.py"), (), lambda session, fetches, feeds, *, call: (
        call(session, fetches, feeds), SimpleNamespace(stops=())))
    script.start()

    def press() -> None:
        while "pass" not in script.doing() and "while" not in script.doing():
            threading.Event().wait(0.01)
        for _ in range(20):
            os.kill(os.getpid(), signal.SIGINT)
        assert told.get(timeout=PATIENCE).startswith("it stops at the ")
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()
    event = script.resume(5)
    assert (event.kind, type(event.error)) == ("raised", KeyboardInterrupt)
    script.close()


def test_one_ctrl_c_ends_a_script_that_is_detached(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("import autodiff as tf\nwith tf.Session() as session:\n    while True:\n"
                                       "        session.run(tf.constant(1.0))\n")
    script = ModelScript(str(tmp_path / "model.py"), (), lambda session, fetches, feeds, *, call: (
        call(session, fetches, feeds), SimpleNamespace(stops=())))
    script.start()

    def press() -> None:
        while not script.detached or not script.doing():
            threading.Event().wait(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()
    event = script.detach()
    assert (event.kind, type(event.error)) == ("raised", KeyboardInterrupt)
    script.close()


SWALLOWS = """
import builtins
import weakref
import autodiff as tf

class Thing:
    pass

def waits(_):
    builtins.gate.set()
    while builtins.gate.is_set():
        pass

thing = Thing()
watched = weakref.ref(thing, waits)
del thing
while True:
    pass
"""


def test_ctrl_c_in_a_callback_that_swallows_it_comes_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One in thirty was lost where a script made tensors: sets of weak references call Python as they go."""
    gate = threading.Event()
    monkeypatch.setattr(builtins, "gate", gate, raising=False)
    (tmp_path / "model.py").write_text(SWALLOWS)
    script = ModelScript(str(tmp_path / "model.py"), (), lambda *_, **__: ((), None))

    def press() -> None:
        gate.wait(PATIENCE)
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGINT)
            threading.Event().wait(2 * STORM)

    threading.Thread(target=press, daemon=True).start()
    event = script.start()
    assert (event.kind, type(event.error)) == ("raised", KeyboardInterrupt)
    script.close()
