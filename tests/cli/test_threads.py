"""Scripts with several threads: each run is whole and counted, one that waits lets others pass, nothing hangs."""
from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import autodiff as tf
from cli.language.interpreter import execute
from cli.model.results import error_in
from cli.model.shell import Shell
from cli.view.json_text import to_json
from cli.view.render import plain
from cli.wrap import DebugSession

MODEL = """
import threading
import tensorflow.compat.v1 as tf
w = tf.Variable(0.0, name="w")
loss = tf.square(w - 3.0, name="loss")
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
session = tf.Session()
session.run(w.initializer)
losses = []
def work():
    for _ in range(3):
        losses.append(session.run([loss, train])[0])
threads = [threading.Thread(target=work, name=f"worker-{i}") for i in range(3)]
for thread in threads:
    thread.start()
"""
JOINED = MODEL + "for thread in threads:\n    thread.join()\nsession.run(w)\n"
FOREVER = MODEL.replace("for _ in range(3)", "while True")
QUEUE = """
import threading
import tensorflow.compat.v1 as tf
queue = tf.FIFOQueue(2, tf.float32, shapes=[[]])
fed = tf.placeholder(tf.float32, [])
put = queue.enqueue(fed)
w = tf.Variable(1.0, name="w")
x = queue.dequeue()
loss = tf.square(w * x - 3.0, name="loss")
train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
session = tf.Session()
session.run(w.initializer)
def work(count):
    for _ in range(count):
        session.run([loss, train])
threads = [threading.Thread(target=work, args=(3,), name=f"worker-{i}") for i in range(2)]
for thread in threads:
    thread.start()
for i in range(6):
    session.run(put, {fed: i / 2})
"""
STEPPED = QUEUE.partition("def work")[0] + """
def give():
    session.run(put, {fed: 2.0})
threading.Thread(target=give, name="giver").start()
session.run([loss, train])
"""
WAITING = """
import threading
import numpy as np
import tensorflow.compat.v1 as tf
came = threading.Event()
w = tf.Variable(1.0, name="w")
def wait():
    assert came.wait(20)
    return np.float32(2.0)
x = tf.py_func(wait, [], tf.float32)
loss = tf.multiply(w, x, name="loss")
session = tf.Session()
session.run(w.initializer)
def double():
    session.run(w.assign(w * 5.0))
    came.set()
threading.Thread(target=double).start()
given = session.run([loss, w.assign_add(1.0)])
"""
RUNNERS = """
import tensorflow.compat.v1 as tf
queue = tf.FIFOQueue(2, tf.float32, shapes=[[]])
runner = tf.train.QueueRunner(queue, [queue.enqueue(1.0)] * 2)
x = queue.dequeue()
with tf.Session() as session:
    coordinator = tf.train.Coordinator()
    threads = runner.create_threads(session, coordinator, start=True)
    for _ in range(3):
        session.run(x)
    if STOPS:
        coordinator.request_stop()
        coordinator.join(threads)
"""


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    monkeypatch.setattr(threading, "excepthook", threading.__excepthook__)  # pytest's own minds SystemExit
    shell = Shell()
    yield shell
    shell.close()


def load(shell: Shell, folder: Path, script: str) -> None:
    (folder / "model.py").write_text(script)
    typed(shell, f"load '{folder / 'model.py'}'")


def typed(shell: Shell, line: str) -> str:
    result = execute(line, shell)
    assert error_in(result) is None, plain(result)
    return plain(result)


def left(before: list[threading.Thread]) -> list[str]:
    return [t.name for t in threading.enumerate() if t not in before and not t.name.startswith("autodiff")]


@pytest.mark.parametrize("script", [MODEL, JOINED])
def test_runs_of_threads_are_steps_as_any_others(shell: Shell, tmp_path: Path, script: str) -> None:
    """Runs of other threads than the main one were not seen: `step 2` of 10, with an update of 0."""
    load(shell, tmp_path, script)
    typed(shell, "next")
    assert "step 5 in thread worker-" in typed(shell, "next 5")
    assert "after a Session.run at model.py:12" in (where := typed(shell, "where")) and "threading.py" not in where
    typed(shell, "next 4")
    typed(shell, "continue")
    dbg = shell.dbg
    steps = [record for record in dbg.records if record.trains]
    assert [dbg.at(record).step for record in steps] == [*range(1, 10)]
    assert sorted(record.thread for record in steps) == [f"worker-{i}" for i in range(3) for _ in range(3)]
    assert [record.loss for record in steps] == shell.script.namespace["losses"]  # type: ignore[union-attr]
    assert all(dbg.value("loss", step=i).array == record.loss for i, record in enumerate(steps, 1))
    assert dbg.records[0].thread == "" and "worker-2" in typed(shell, "info runs")
    found = execute("goto step 2", shell)
    assert "in the past" in plain(found)


def test_a_run_that_waits_lets_others_pass(shell: Shell, tmp_path: Path) -> None:
    load(shell, tmp_path, QUEUE)
    typed(shell, "continue")
    records = shell.dbg.records
    assert shell.script.state == "ended" and len(records) == 13  # type: ignore[union-attr]
    steps = [record for record in records if record.trains]
    for i, record in enumerate(steps, 1):  # each follows from what it was fed and w as the run before has left it
        assert shell.dbg.value("loss", step=i).array == record.loss
        x, w = (float(shell.dbg.value(name, step=i).array) for name in ("x", "w"))
        assert record.loss == pytest.approx((w * x - 3.0) ** 2, rel=1e-6)


def test_a_run_goes_on_with_what_others_have_made_of_the_variables(shell: Shell, tmp_path: Path) -> None:
    load(shell, tmp_path, WAITING)
    typed(shell, "continue")
    assert shell.script.namespace["given"] == [10.0, 6.0]  # type: ignore[union-attr]
    assert [record.fetches[0] for record in shell.dbg.records] == ["w/Assign", "Assign:0", "loss:0"]
    assert [float(shell.dbg.evaluate(name).array) for name in ("loss", "w")] == [10.0, 6.0]
    typed(shell, "goto run 3")
    assert [float(shell.dbg.evaluate(name).array) for name in ("loss", "w")] == [10.0, 5.0]


def test_ops_of_a_run_that_waits_are_gone_through_one_by_one(shell: Shell, tmp_path: Path) -> None:
    """The prompt waited for an element that the other thread could not give, as the stopped one had the turn."""
    load(shell, tmp_path, STEPPED)
    while "loss" not in typed(shell, "next").partition("about to run")[2]:
        if shell.script.request.thread == "":  # type: ignore[union-attr]
            break
    typed(shell, "step 3")
    typed(shell, "continue")
    assert sorted(record.thread for record in shell.dbg.records) == ["", "", "giver"]


def test_leaving_ends_all_threads(shell: Shell, tmp_path: Path, capfd: pytest.CaptureFixture) -> None:
    before = threading.enumerate()
    load(shell, tmp_path, FOREVER)
    typed(shell, "break step 5")
    assert "stop: step 5" in typed(shell, "continue")
    told = json.loads(to_json("next", execute("next", shell)))
    assert told["data"]["runs"][0]["thread"].startswith("worker-")
    threads = shell.script.namespace["threads"]  # type: ignore[union-attr]
    shell.close()
    for thread in filter(threading.Thread.is_alive, threads):  # some may not have been started when it ended
        thread.join(20)
    assert (left(before), capfd.readouterr().err) == ([], "")


def test_an_error_in_a_thread_is_shown_as_the_scripts(shell: Shell, tmp_path: Path,
                                                      capsys: pytest.CaptureFixture) -> None:
    load(shell, tmp_path, JOINED.replace("losses.append(", "losses.append(1 / 0 or "))
    typed(shell, "continue")
    said = capsys.readouterr().err
    assert said.count("Exception in thread worker-") == said.count("ZeroDivisionError") == 3
    assert "model.py" in said and "/cli/" not in said


@pytest.mark.parametrize("stops", [True, False])
def test_queue_runners_end_with_their_session(shell: Shell, tmp_path: Path, stops: bool) -> None:
    """Who waited for room in a queue waited for good; so did join, and the end of the program."""
    before = threading.enumerate()
    load(shell, tmp_path, RUNNERS.replace("STOPS", str(stops)))
    typed(shell, "continue")
    assert shell.script.state == "ended"  # type: ignore[union-attr]
    shell.close()
    exec(compile(RUNNERS.replace("STOPS", str(stops)).replace("tensorflow.compat.v1", "autodiff"), "plain", "exec"), {})
    for thread in threading.enumerate():
        if thread.name in left(before):
            thread.join(20)
    assert left(before) == []


def test_a_wrapped_session_counts_the_runs_of_all_threads(capsys: pytest.CaptureFixture) -> None:
    tf.reset_default_graph()
    w = tf.Variable(0.0, name="w")
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.square(w - 3.0, name="loss"))
    with DebugSession(tf.Session(), ["break step 4", "continue", "info runs", "continue", "info runs"]) as session:
        session.run(w.initializer)
        threads = [threading.Thread(target=session.run, args=(train,), name=f"own-{i}") for i in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        assert not any(thread.is_alive() for thread in threads)
    shown = capsys.readouterr().out
    assert "step 4 in thread own-" in shown
    assert "7 runs, 6 of them steps" in shown


def test_a_script_within_another_is_counted_once(shell: Shell, tmp_path: Path) -> None:
    load(shell, tmp_path, JOINED)
    with contextlib.closing(Shell()) as inner:
        load(inner, tmp_path, JOINED)
        assert "step 9" in typed(inner, "continue")
