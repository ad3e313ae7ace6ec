"""Hessians, spectra and checks on executors: the same to the bit, whatever happens to a worker."""
from __future__ import annotations

import dataclasses
import os
import signal
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from autodiff.errors import ArgumentError, AutodiffError, InvalidArgumentError, StateError

import autodiff as tf
from autodiff.debug import Debugger
from autodiff.debug.derivatives.curvature import Curvature
from autodiff.debug.engine.processes import Processes
from autodiff.debug.engine.questions.check import checks_of
from autodiff.debug.engine.questions.hessians import part_of
from autodiff.debug.history.gathering import gathered

RNG = np.random.default_rng(3)
INPUTS = RNG.standard_normal((9, 12)).astype(np.float32)


@pytest.fixture(scope="module")
def dbg() -> Debugger:
    """Four steps of a net of 612 weights in its first layer, with a branch, a loop and random numbers in it."""
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [None, 12], name="x")
        w = tf.Variable(RNG.standard_normal((12, 51)).astype(np.float32), name="w")
        v = tf.Variable(RNG.standard_normal((51, 1)), name="v", dtype=tf.float32)
        h = tf.nn.dropout(tf.tanh(tf.matmul(x, w)), 0.9)
        h = tf.cond(tf.reduce_sum(x) > 1e6, lambda: h, lambda: tf.sin(h), name="branch")
        h = tf.while_loop(lambda i, _: i < 2, lambda i, h: (i + 1, h * 1.1), [0, h], name="loop")[1]
        loss = tf.reduce_mean(tf.square(tf.matmul(h, v)), name="loss")
        tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    found = Debugger(graph)
    found.feeds.feed("x", INPUTS)
    found.run(4)
    return found


class Inline(Executor):
    """Computes at once, in this thread. breaks: which submissions lose their worker. closed: after how many it is."""

    def __init__(self, breaks: Callable[[int], bool] = lambda i: False, closed: float = np.inf) -> None:
        self.breaks, self.closed, self.count, self.seen = breaks, closed, 0, []  # type: ignore[var-annotated]

    def submit(self, function: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        self.count += 1
        if self.count > self.closed:
            raise BrokenExecutor("closed")
        self.seen.append(args)
        future: Future[Any] = Future()
        try:
            if self.breaks(self.count):
                raise BrokenExecutor("lost")
            future.set_result(function(*args, **options))
        except Exception as error:
            future.set_exception(error)
        return future


def same(found: Any, expected: Any) -> None:
    """Every field of two answers, but for times and numbers of values."""
    for name in set(dataclasses.asdict(expected)) - {"cost", "number"}:
        np.testing.assert_equal(getattr(found, name), getattr(expected, name))


def test_a_process_that_is_killed_costs_its_rows_and_the_bits_are_the_same(dbg: Debugger) -> None:
    killed: list[int | None] = []
    processes = Processes(1)

    def report(done: int, total: int) -> None:
        if not killed:
            killed.extend(processes.pids)
            os.kill(killed[0], signal.SIGKILL)

    some = slice(0, 300, 3)
    same(dbg.hessian("w", kind="rows", rows=some, executor=processes, report=report),
         dbg.hessian("w", kind="rows", rows=some))
    assert len(processes.pids) == 1 and processes.pids != killed
    same(dbg.check(executor=processes), dbg.check())
    processes.shutdown()


def test_the_spectrum_is_shared_by_its_random_vectors() -> None:
    graph = tf.Graph()
    with graph.as_default():
        w = tf.Variable(np.linspace(-1, 1, 600, dtype=np.float32), name="w")
        tf.reduce_sum(w ** 4, name="loss")
    quartic, executor = Debugger(graph), Inline()
    quartic.run(1)
    same(quartic.hessians.spectrum("w", executor=executor), quartic.hessians.spectrum("w"))
    assert executor.count == 2


@pytest.mark.parametrize(("executor", "handed_out"), [
    (Inline(), 8), (Inline(lambda i: i in (2, 5)), 10), (Inline(lambda i: i == 3, closed=5), 6),
    (Inline(closed=0), 1)])
def test_only_what_was_lost_is_computed_again(dbg: Debugger, executor: Inline, handed_out: int) -> None:
    told: list[int] = []
    found = dbg.hessian("w", kind="rows", rows=slice(3, 300, 2), executor=executor,
                        report=lambda done, _: told.append(done))
    same(found, dbg.hessian("w", kind="rows", rows=slice(3, 300, 2)))
    assert told == [19, 38, 57, 76, 95, 114, 133, 149]
    assert min(executor.count, executor.closed + 1) == min(handed_out, executor.closed + 1)


def test_what_always_loses_its_worker_is_given_up(dbg: Debugger) -> None:
    with pytest.raises(StateError, match="part 1 of 7 lost its worker 4 times"):
        dbg.hessian("w", kind="diag", rows=slice(100), executor=Inline(lambda i: True))


@pytest.mark.parametrize("ask", [
    lambda dbg, executor: dbg.hessian("w", rows=slice(50), kind="rows", executor=executor),
    lambda dbg, executor: dbg.check(executor=executor)])
def test_what_is_sent_is_arrays_and_json_and_names(dbg: Debugger, ask: Any) -> None:
    executor = Inline()
    ask(dbg, executor)
    for function, sent, *rest in executor.seen:
        assert function in (part_of, checks_of)
        pack = getattr(sent, "pack", sent)
        assert pack.data.startswith(b"PK")
        assert b"pickle" not in pack.data
        plain = [part for each in (*rest, *(sent[1:] if pack is not sent else ())) for part in
                 (each if isinstance(each, (list, tuple)) else [each])]
        assert all(isinstance(part, (str, int, range, type(None))) for part in plain)


@pytest.fixture(scope="module")
def with_python() -> Debugger:
    """x^3, whose gradient is a function of the script's and its gradient's gradient a NumPy function; and a branch."""
    graph = tf.Graph()
    with graph.as_default():
        @tf.custom_gradient
        def square(x: Any) -> Any:
            return 3 * x * x, lambda dy: dy * tf.numpy_function(lambda a: 6 * a, [x], tf.float64)

        @tf.custom_gradient
        def cube(x: Any) -> Any:
            return x ** 3, lambda dy: dy * square(x)

        w = tf.Variable(np.arange(1.0, 4.0), name="w")
        tf.reduce_sum(tf.exp(cube(w) / 30), name="loss")
    found = Debugger(graph)
    found.run(1)
    return found


def test_what_holds_python_code_stays_here_and_is_named(with_python: Debugger) -> None:
    executor = Inline()
    found = with_python.hessian("w", executor=executor)
    assert executor.count == 0
    assert [name.partition(" (")[2][:6] for name in found.here] == ["PyFunc"]
    assert "test_workers.py:" in found.here[0]
    np.testing.assert_array_equal(found.array, with_python.hessian("w").array)
    assert with_python.hessian("w").here == ()
    checked = with_python.check(executor=executor)
    assert executor.count == 1
    assert [name.partition(" (")[2][:9] for name in checked.here] == ["IdentityN"]
    assert checked.right == with_python.check().right >= 3


def test_ctrl_c_keeps_what_is_done_and_cancels_the_rest(dbg: Debugger, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(done: int, total: int) -> None:
        if done >= 128:
            raise KeyboardInterrupt

    executor = ThreadPoolExecutor(1)
    found = [dbg.hessian("w", report=interrupted, executor=each) for each in (None, executor)]
    executor.shutdown()
    for each in found:
        assert (each.array.shape, each.cost.rows, each.complete, each.asymmetry) == ((128, 612), 612, False, None)
        np.testing.assert_array_equal(each.array, dbg.hessian("w", kind="rows", rows=slice(128)).array[:128])
    stopped = [dbg.check(report=lambda done, _: interrupted(64 * done, 0), executor=each) for each in (None, Inline())]
    assert stopped[0].text == stopped[1].text
    assert "stopped by Ctrl-C after 2 of" in stopped[0].text
    monkeypatch.setattr(Curvature, "block", lambda *_: interrupted(128, 0))
    with pytest.raises(KeyboardInterrupt):
        dbg.hessian("w")


def raises(error: Exception) -> None:
    raise error


def test_errors_of_workers_arrive() -> None:
    with ThreadPoolExecutor(1) as executor:
        with pytest.raises(InvalidArgumentError, match="wrong"):
            list(gathered(executor, raises, [(InvalidArgumentError(None, tf.no_op(), "wrong"),)]))
        with pytest.raises(StateError, match="a worker failed: MemoryError: too much"):
            list(gathered(executor, raises, [(MemoryError("too much"),)]))


@pytest.mark.parametrize(("on", "error", "text"), [
    ("thread:2", ArgumentError, "expected threads:4, processes:8 or dask://HOST:PORT, found 'thread:2'"),
    ("processes:0", ArgumentError, "found 'processes:0'"), ("dask://here", ArgumentError, "found 'dask://here'")])
def test_workers_of_unknown_names_are_refused(dbg: Debugger, on: str, error: type[AutodiffError], text: str) -> None:
    with pytest.raises(error, match=text), dbg.workers(on):
        pass
