"""Debugged steps take no more memory the more of them there are."""

import gc
import tracemalloc

import numpy as np

import autodiff as tf
from autodiff.debug import Debugger
from autodiff.debug.engine import log
from autodiff.debug.history import ring


def test_long_trainings_stay_flat_and_keep_their_shape(monkeypatch):
    monkeypatch.setattr(log, "_MOST", 400)
    monkeypatch.setattr(log, "_NEWEST", 20)
    monkeypatch.setattr(ring, "_MOST", 20)
    graph = tf.Graph()
    with graph.as_default():
        x, w = tf.placeholder(tf.float32, [4, 3], name="x"), tf.Variable(np.ones([3, 2], np.float32), name="w")
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w)), name="loss")
        step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    with tf.Session(graph=graph) as session:
        session.run(w.initializer)
        dbg = Debugger(graph, session)
        dbg.watch("w", "loss")

        def train(steps):
            for i in range(steps):
                dbg.on_run(session, [loss, step], {x: np.full([4, 3], i, np.float32)})
            gc.collect()
            return tracemalloc.get_traced_memory()[0]

        train(200)
        tracemalloc.start()
        try:
            before = train(250)
            grown = train(500) - before
        finally:
            tracemalloc.stop()
    assert grown < 500 * 100  # bytes a step: its number among the steps
    runs = [record.run for record in dbg.records]
    assert runs[0] == 1 and runs[-40:] == [*range(911, 951)] and len(runs) < 250
    assert np.diff(runs).max() <= 1 + 8 * 64 and dbg.at(dbg.records[3]).step == runs[3]


def test_of_a_training_of_which_the_end_is_remembered_doctor_can_be_asked(monkeypatch):
    monkeypatch.setattr(ring, "_MOST", 12)
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [4, 3], name="x")
        loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 2) - 1.0), name="loss")
        step = tf.train.AdamOptimizer(0.01).minimize(loss)
        start = tf.global_variables_initializer()
    with tf.Session(graph=graph) as session:
        session.run(start)
        dbg = Debugger(graph, session)
        for i in range(60):
            dbg.on_run(session, [loss, step], {x: np.random.RandomState(i).rand(4, 3)})
        assert [f for f in dbg.doctor().findings if f.level != "remark"] == []
