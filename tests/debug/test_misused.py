"""Ops that take, or make, another thing than is meant show in the graph alone; nothing is said of what is meant."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import autodiff as tf
from autodiff.core.graph import Tensor
from autodiff.debug import Debugger
from autodiff.debug.facts.stats import statistics


def kinds(model: Callable[[bool], Tensor], wrong: bool) -> set[str]:
    with tf.Graph().as_default() as graph:
        loss = model(wrong)
        if not graph.get_collection("train_op"):
            tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        return {f.kind for f in Debugger(graph, handles={"loss": loss}).doctor(static=True).findings}


def bias(wrong: bool) -> Tensor:
    x = tf.placeholder(tf.float32, [None, 8, 8, 1])
    w, b = tf.get_variable("w", [3, 3, 1, 4]), tf.get_variable("b", [4])
    made = tf.nn.conv2d(x, w + b if wrong else w, [1, 1, 1, 1], "SAME")
    return tf.reduce_mean(tf.square(made if wrong else made + b))


def target(wrong: bool) -> Tensor:
    x, r = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None])
    later = tf.layers.dense(x, 2, trainable=False)
    best = tf.to_float(tf.argmax(later, 1)) if wrong else tf.reduce_max(later, 1)
    return tf.losses.mean_squared_error(r + 0.9 * best, tf.layers.dense(x, 1)[:, 0])


def last_step(wrong: bool) -> Tensor:
    x = tf.placeholder(tf.float32, [None, 5, 3])
    out, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(4), x, dtype=tf.float32)
    return tf.reduce_mean(tf.square(tf.layers.dense(out[:, 0 if wrong else -1], 1)))


def example(wrong: bool) -> Tensor:
    x = tf.placeholder(tf.float32, [None, 5, 3])
    out, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(4), x, dtype=tf.float32)
    return tf.reduce_mean(tf.square(tf.layers.dense((out if wrong else tf.transpose(out, [1, 0, 2]))[-1], 1)))


def attention(wrong: bool) -> Tensor:
    x = tf.placeholder(tf.float32, [None, 7, 8])
    q, k, v = (tf.layers.dense(x, 4, name=name) for name in "qkv")
    weights = tf.nn.softmax(tf.matmul(q, k, transpose_b=True), axis=1 if wrong else 2)
    return tf.reduce_mean(tf.square(tf.matmul(weights, v)))


def clipping(wrong: bool) -> Tensor:
    loss = tf.reduce_mean(tf.square(tf.get_variable("w", [3, 2])))
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    raw = optimizer.compute_gradients(loss)
    clipped = [(tf.clip_by_norm(g, 1.0), v) for g, v in raw]
    tf.add_to_collection("train_op", optimizer.apply_gradients(raw if wrong else clipped))
    return loss


def critic(wrong: bool) -> Tensor:
    real, z = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None, 3])
    made = tf.layers.dense(z, 2, name="generator")
    said = [tf.layers.dense(each, 1, name="critic", reuse=i > 0) for i, each in enumerate((real, made))]
    labels = tf.ones_like(said[0]), (tf.ones_like if wrong else tf.zeros_like)(said[1])
    loss = tf.add_n([tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(logits=s, labels=t))
                     for s, t in zip(said, labels)])
    tf.train.AdamOptimizer().minimize(loss, var_list=tf.trainable_variables("critic"))
    return loss


def hinge(wrong: bool) -> Tensor:
    x = tf.placeholder(tf.float32, [None, 2])
    error = tf.reduce_sum(tf.square(tf.layers.dense(x, 2)), 1) - 1.0
    return tf.reduce_mean((tf.minimum if wrong else tf.maximum)(error, 0.0))


def policy(wrong: bool) -> Tensor:
    s, a, r = (tf.placeholder(t, d) for t, d in ((tf.float32, [None, 3]), (tf.int32, [None]), (tf.float32, [None])))
    p, v = tf.nn.softmax(tf.layers.dense(s, 2)), tf.layers.dense(s, 1)[:, 0]
    advantage = (r - v) if wrong else tf.stop_gradient(r - v)
    said = tf.reduce_sum(tf.log(p + 1e-8) * tf.one_hot(a, 2), 1)
    return -tf.reduce_mean(said * advantage) + tf.reduce_mean(tf.square(r - v))


def norm(wrong: bool) -> Tensor:
    x = tf.layers.dense(tf.placeholder(tf.float32, [None, 3]), 4)
    return tf.reduce_mean(tf.square(tf.nn.l2_normalize(x, 0 if wrong else 1) - 1.0))


def tags(wrong: bool) -> Tensor:
    x, y = tf.placeholder(tf.float32, [None, 5, 3]), tf.placeholder(tf.float32, [None, 5, 4])
    p = tf.nn.softmax(tf.layers.dense(x, 4), axis=1 if wrong else 2)
    return -tf.reduce_mean(tf.reduce_sum(y * tf.log(p + 1e-9), axis=2))


MODELS = {"norm over the batch": norm, "softmax over the wrong axis of labels": tags,
          "hinge the wrong way": hinge, "advantage is trained": policy,
          "bias in the kernel": bias, "index for value": target, "first time step": last_step,
          "one example for one step": example, "softmax over the wrong axis": attention,
          "clipping not applied": clipping, "critic told the same of both": critic}


@pytest.mark.parametrize("kind", MODELS)
def test_what_is_misused_shows_without_a_run(kind: str) -> None:
    named = kind.removesuffix(" of labels")
    assert named in kinds(MODELS[kind], True)
    assert named not in kinds(MODELS[kind], False)


def test_what_a_loop_never_wrote_is_left_out_of_figures() -> None:
    found = statistics([np.ones((2, 3), np.float32), None, np.zeros(3, np.float32)])
    assert (found.count, found.zeros) == (9, 3)
