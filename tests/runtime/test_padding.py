"""Gradients of parts lie among zeros that are written once: the bits are those of the plain way."""
from __future__ import annotations

import numpy as np
import pytest

import autodiff as tf
from autodiff.runtime.compiled.codegen import Generated
from autodiff.runtime.plan.interpreter import interpret
from autodiff.runtime.plan.zero_padding import Padding

HOT = 40
PARTS = [
    lambda x: [x[1:], x[:-1], x[2:5]],
    lambda x: [x[1:] * 2, x[1:]],
    lambda x: [x[::2], x[5:2:-1], x[3:4]],
    lambda x: [x[-3:], x[0:0], x[:]],
    lambda x: [tf.slice(x, [2] + [0] * (x.shape.ndims - 1), [3] + [-1] * (x.shape.ndims - 1)), x[4]],
]


def _model(shape, parts, dtype=tf.float32):
    x, v = [tf.placeholder(dtype, shape) for _ in range(2)]
    y = tf.add_n([tf.reduce_sum(part * part * float(i + 1)) for i, part in enumerate(parts(x))])
    gradient = tf.gradients(y, x)[0]
    return x, v, gradient, tf.gradients(tf.reduce_sum(gradient * gradient * v), x)[0]


@pytest.mark.parametrize("shape", [[8], [8, 3], [8, 2, 3]])
@pytest.mark.parametrize("parts", PARTS)
def test_hot_runs_give_the_bits_of_the_plain_way(shape, parts):
    with tf.Graph().as_default(), tf.Session() as session:
        x, v, gradient, second = _model(shape, parts)
        rng = np.random.default_rng(0)
        plain = session.plan([gradient, second], [x, v])
        for _ in range(HOT):
            fed = [rng.standard_normal(shape).astype(np.float32) * rng.integers(0, 2, shape) * -1 for _ in range(2)]
            fed = [array.astype(np.float32) for array in fed]  # many of them -0.0
            expected = interpret(plain, session.new_run(), fed)
            for value, other in zip(session.run([gradient, second], {x: fed[0], v: fed[1]}), expected):
                assert value.tobytes() == np.asarray(other).tobytes()


def test_rows_are_written_among_the_zeros():
    with tf.Graph().as_default(), tf.Session() as session:
        x, v, _, second = _model([8], lambda x: [x[1:], x[:-1]])
        for _ in range(HOT):
            session.run(second, {x: np.ones(8, np.float32), v: np.ones(8, np.float32)})
        plan = session.plan(second, [x, v])
        pads = [step for step in plan.steps if isinstance(step.call, Padding)]
        blocks = [plan.buffers[step.outputs[0]].block for step in pads]
        assert pads and len(set(blocks)) == len(blocks)
        assert blocks == [plan.buffers[step.inputs[0]].block for step in pads]
        others = {buffer.block for slot, buffer in plan.buffers.items()
                  if all(slot not in (*step.inputs, *step.outputs) for step in pads)}
        assert others.isdisjoint(blocks)
        source = Generated(plan, session._program(session._wanted(second), (x, v)).loop).source
        assert source.count("\n") < len(plan.steps) + 2


def test_a_padding_writes_all_of_a_buffer():
    pad = Padding((5, 2), 1, 3)
    rows, buffer = np.arange(4.0).reshape(2, 2), np.full((5, 2), 7.0)
    assert pad(rows, buffer) is buffer
    assert buffer.tolist() == pad(rows).tolist() == [[0, 0], [0, 1], [2, 3], [0, 0], [0, 0]]


def test_a_fetched_gradient_of_a_part_is_the_callers():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [4])
        gradient = tf.gradients(tf.reduce_sum(tf.square(x[1:])), x)[0]
        kept = [session.run(gradient, {x: np.full(4, i, np.float32)}) for i in range(HOT)]
        for i, value in enumerate(kept):
            assert value.tolist() == [0, *[2 * i] * 3]
            value[:] = -1
