"""Threads that share blocks of work: no bit depends on them, and the BLAS is as it was after a run."""
import multiprocessing
import threading
import time

import numpy as np
import pytest

import autodiff as tf
from autodiff.ops.common import threads
from autodiff.ops.linalg import matmul


@pytest.fixture
def three(monkeypatch):
    """Three threads, however many processors there are."""
    monkeypatch.setattr(threads, "processors", lambda: 3)
    monkeypatch.setattr(threads, "_shared", threads._Shared())
    monkeypatch.setattr(threads, "WORTH_IT", 1)
    monkeypatch.setattr(threads, "LATE", np.inf)
    with threads.as_kernels_run(3):
        yield


@pytest.fixture
def helped(monkeypatch):
    """An event that another thread sets by taking blocks; the first one waits for it, however busy the machine is."""
    came, take = threading.Event(), threads._take

    def taking(*args):
        assert came.wait(60) if threading.current_thread() is threading.main_thread() else came.set() is None
        return take(*args)

    monkeypatch.setattr(threads, "_take", taking)
    return came


def test_each_block_is_done_once_by_whoever_is_free(three, helped):
    done = []
    threads.share(done.append, 12)
    assert sorted(done) == list(range(12)) and helped.is_set()


def test_help_that_comes_late_is_not_asked_for_again_at_once(three, monkeypatch):
    monkeypatch.setattr(threads, "LATE", 0.9)
    monkeypatch.setattr(threads, "_ask", lambda helps: pytest.fail("help was asked for"))
    pauses = []
    for took in (1.0, 1.0, 0.6, 1.0):
        threads._judge(took, 1.0)
        pauses.append(threads._shared.alone)
        for _ in range(pauses[-1]):
            threads.share(lambda index: None, 6)
        assert not threads._shared.alone
    assert pauses == [1, 3, 0, 1]


def test_what_a_block_raises_is_raised(three):
    def work(index):
        assert index != 5
        time.sleep(0.001)

    with pytest.raises(AssertionError):
        threads.share(work, 12)


def results():
    """Values of large products and convolutions, forward and backward, as bytes."""
    rng = np.random.default_rng(1)
    with tf.Graph().as_default(), tf.Session() as session:
        x, w = tf.constant(rng.standard_normal((9, 20, 20, 3))), tf.constant(rng.standard_normal((5, 5, 3, 8)))
        y = tf.nn.conv2d(x, w, [1, 2, 1, 1], "SAME")
        a, b = (tf.constant(rng.standard_normal(shape)) for shape in ((300, 150), (150, 200)))
        c = tf.matmul(a, b)
        found = session.run([y, c, tf.matmul(b, a, True, True), *tf.gradients(tf.reduce_sum(y ** 2), [x, w]),
                             *tf.gradients(tf.reduce_sum(c ** 2), [a, b]), *pooled(x), *trained(session), *chosen(a)])
    return [value.tobytes() for value in found]


def pooled(x):
    y = tf.nn.max_pool(x, 3, 2, "SAME")
    return [y, *tf.gradients(tf.reduce_sum(y ** 2), x)]


def chosen(a):
    """What is made row by row, and matrix by matrix."""
    p, labels = tf.nn.softmax(a), tf.range(300) % 150
    losses = [tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels % k, logits=a[:, :k]) for k in (150, 7)]
    many = tf.reshape(a, [3, 10, 10, 150])
    return [p, *losses, *tf.gradients(losses, a), tf.matmul(many, many, transpose_b=True)]


def trained(session):
    """What optimizers make of a variable that they update in pieces, the last of them shorter."""
    start = np.random.default_rng(2).standard_normal(9000).astype(np.float32)
    updates, variables = [], []
    for optimizer in (tf.train.AdamOptimizer(), tf.train.MomentumOptimizer(0.1, 0.9), tf.train.RMSPropOptimizer(0.1),
                      tf.train.AdagradOptimizer(0.1), tf.train.GradientDescentOptimizer(0.1)):
        variables.append(tf.Variable(start))
        updates.append(optimizer.minimize(tf.reduce_sum(tf.sin(variables[-1])), var_list=variables[-1:]))
    session.run(tf.global_variables_initializer())
    session.run(updates)
    return tf.global_variables()


def test_bits_do_not_depend_on_threads(three, helped, monkeypatch):
    monkeypatch.setattr(matmul, "_BLOCK", 1 << 18)
    monkeypatch.setattr(matmul, "_BATCH", 1 << 14)
    monkeypatch.setattr(threads, "PIECE", 1 << 12)
    monkeypatch.setattr("autodiff.ops.networks.softmax._PIECE", 1 << 10)
    monkeypatch.setattr("autodiff.ops.networks.pooling._AT_ONCE", 1 << 14)
    monkeypatch.setattr("autodiff.ops.common.correlate._COLUMNS", 1 << 15)
    many = results()
    assert helped.is_set()
    monkeypatch.setattr(threads, "processors", lambda: 1)
    with threads.as_kernels_run(1):
        assert results() == many


def test_the_blas_has_its_threads_again_after_a_run():
    count, set_count = threads._blas()
    before = count()
    set_count(2)
    seen = []
    try:
        with tf.Graph().as_default(), tf.Session() as session:
            session.run(tf.py_func(lambda: seen.append(count()) or 1.0, [], tf.float64))
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(tf.placeholder(tf.float32))
        assert seen == [1] and count() == 2
    finally:
        set_count(before)


def test_omp_num_threads_is_respected(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert threads.processors() == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    assert threads.processors() >= 1


def test_a_child_has_threads_of_its_own(three):
    threads.share(lambda index: None, 6)
    ours = threads._shared

    def child(pipe):
        done = []
        with threads.as_kernels_run(3):
            threads.share(done.append, 6)
        pipe.send((sorted(done), threads._shared is ours))

    here, there = multiprocessing.get_context("fork").Pipe()
    process = multiprocessing.get_context("fork").Process(target=child, args=(there,))
    process.start()
    assert here.poll(20) and here.recv() == (list(range(6)), False)
    process.join(20)


def test_an_interrupt_on_the_way_into_a_run_leaves_all_as_it_was(monkeypatch):
    count, set_count = threads._blas()
    before = count()
    set_count(2)

    def interrupted(number):
        set_count(number)
        if number == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(threads, "_blas", lambda: (count, interrupted))
    try:
        with pytest.raises(KeyboardInterrupt):
            threads.as_kernels_run().__enter__()
        assert (count(), threads.limit(), threads._shared.runs, threads._flush()) == (2, 1, 0, False)
        assert np.float32(1e-30) * np.float32(1e-10) > 0
    finally:
        set_count(before)


def test_help_that_has_not_begun_when_all_is_done_never_begins(three):
    begun = []
    late = threads._Help(begun.append, iter([1]), 2)
    late.end()
    late()
    assert not begun
