"""Which operations gradients flow through, found in one pass or along the takers."""

import random

import pytest

import autodiff as tf
from autodiff.gradients.between import _reached_from, _reached_in_order, counted_back, ops_between

WAYS = (lambda x, y: x + y, lambda x, y: tf.cast(tf.cast(x, tf.int32), tf.float32) * y,
        lambda x, y: tf.unstack(tf.stack([x, y]))[0], lambda x, y: tf.where(x > y, x, y))


@pytest.mark.parametrize("seed", range(8))
def test_one_pass_finds_what_the_takers_lead_to(seed):
    chance = random.Random(seed)
    with tf.Graph().as_default():
        tensors = [tf.placeholder(tf.float32, [2]) for _ in range(4)]
        for _ in range(60):
            x, y = chance.choices(tensors, k=2)
            tensors.append(chance.choice(WAYS)(x, y))
        xs, ys = chance.choices(tensors, k=3), chance.choices(tensors, k=2)
        assert _reached_in_order(ys, xs)
        assert ops_between(ys, xs) == counted_back(ys, _reached_from(xs))


def test_of_a_graph_that_was_rewired_the_takers_say_it():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2])
        y = tf.identity(tf.constant([1.0, 2.0]))
        z = y * 3.0
        y.op._update_input(0, x * x)
        assert not _reached_in_order([z], [x]) and {z.op, y.op, x.op} < ops_between([z], [x]).keys()
        assert ops_between([], [x]) == {} and ops_between([z], []) == {}
