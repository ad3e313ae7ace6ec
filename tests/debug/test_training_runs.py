"""Which runs train: those that update a trainable variable otherwise than by its initializer."""
from __future__ import annotations

import pytest

import autodiff as tf
from autodiff.debug.debugger import Debugger


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.usefixtures("own_graph")
def test_only_updates_of_trainable_variables_train(use_resource: bool) -> None:
    w = tf.Variable([1.0, 2.0], use_resource=use_resource)
    count = tf.Variable(0, trainable=False, use_resource=use_resource)
    loss = tf.reduce_sum(w * w)
    runs = [tf.global_variables_initializer(), w.initializer, loss, tf.assign_add(count, 1),
            tf.train.GradientDescentOptimizer(0.1).minimize(loss), tf.train.AdamOptimizer().minimize(loss),
            tf.assign_sub(w, [1.0, 1.0])]
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    dbg = Debugger(session=session)
    for fetches in runs:
        dbg.on_run(session, fetches)
    assert [record.trains for record in dbg.records] == [False] * 4 + [True] * 3
