"""Of branches and loops a run does what its fetches need, and nothing else."""

from typing import Any

import pytest

import autodiff as tf
from autodiff.debug.debugger import Debugger

pytestmark = pytest.mark.usefixtures("own_graph")


def unfed() -> Any:
    return tf.placeholder(tf.float32, [])


def added(p: Any) -> Any:
    return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a + p), [0, 0.0])[0]


def entering(p: Any) -> Any:
    return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2), [0, p])[0]


def through_another(p: Any) -> Any:
    return tf.while_loop(lambda i, a, b: i < 3, lambda i, a, b: (i + 1, a * p, b + a), [0, 1.0, 1.0])[0]


def of_one_branch(p: Any) -> Any:
    return tf.cond(tf.constant(True), lambda: (3, p + 1), lambda: (2, p))[0]


def inner_loop(p: Any) -> Any:
    def body(i: Any) -> Any:
        return i + tf.while_loop(lambda j, b: j < 3, lambda j, b: (j + 1, b + p), [0, 0.0])[0]
    return tf.while_loop(lambda i: i < 3, body, [0])


def mapped(p: Any) -> Any:
    return tf.map_fn(lambda x: (x, x * p), tf.constant([3.0]), dtype=(tf.float32, tf.float32))[0][0]


def differentiated(p: Any) -> Any:
    x = tf.constant(1.0)
    b = tf.while_loop(lambda i, b, c: i < 2, lambda i, b, c: (i + 1, b * x, c * p), [0, x, x])[1]
    return tf.gradients(b, x)[0]


@pytest.mark.parametrize("build", [added, entering, through_another, of_one_branch, inner_loop, mapped,
                                   differentiated])
def test_what_the_fetch_does_not_need_is_not_run(build: Any) -> None:
    p = unfed()
    fetched = build(p)
    with tf.Session() as session:
        for _ in range(20):  # the compiled function too
            assert session.run(fetched) == 3
        assert session.run([fetched], {p: 2.0}) == [3]
        assert session.start(fetched).finish() == 3


def test_what_it_needs_is() -> None:
    p = unfed()
    i, total = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a + p), [0, 0.0])
    only_if = tf.cond(tf.equal(i, 3), lambda: 1.0, lambda: p)
    with tf.Session() as session:
        assert session.run([i, total], {p: 2.0}) == [3, 6]
        for fetched in (total, only_if):
            with pytest.raises(tf.errors.InvalidArgumentError, match="must be fed"):
                session.run(fetched)


@pytest.mark.parametrize("use_resource", [False, True])
def test_assignments_of_other_parts_are_not_made(use_resource: bool) -> None:
    v = tf.Variable(0, use_resource=use_resource)
    i, changed = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a + v.assign_add(1)), [0, 0])
    with tf.Session() as session:
        session.run(v.initializer)
        assert [session.run(i), session.run(v)] == [3, 0]
        session.run(changed)
        assert session.run(v) == 3


def test_a_watch_asks_for_no_more_than_the_script_did() -> None:
    p = unfed()
    x = tf.Variable(1.0, name="x")
    i, total = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a + p), [0, x])
    dbg = Debugger(tf.get_default_graph())
    dbg.watch(total.name)
    dbg.break_at(condition="nan")
    dbg.run(2, fetches=i)
    assert dbg.result == 3
    assert "not part of this run" in str(dbg.records[-1])
