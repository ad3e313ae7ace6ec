"""What an operation and its tensor take, and that they take any attribute though they have no dict of their own."""

import copy
import tracemalloc

import pytest

import autodiff as tf
from autodiff.core.op import OPS


def test_scripts_set_their_own_attributes_of_tensors_and_operations():
    with tf.Graph().as_default():
        x, y = tf.constant(1.0), tf.constant(2.0)
        for one, other in ((x, y), (x.op, y.op)):
            one.mine = 3
            assert one.mine == 3 and vars(one)["mine"] == 3 and not hasattr(other, "mine") and vars(other) == {}
            with pytest.raises(AttributeError, match="no attribute 'mine'"):
                print(other.mine)
            del one.mine
            assert getattr(one, "mine", None) is None
            with pytest.raises(AttributeError):
                del one.mine
        with pytest.raises(AttributeError, match="name"):
            x.op.name = "another"


def test_a_copy_of_an_operation_is_changed_alone():
    with tf.Graph().as_default():
        made = tf.constant(1.0).op
        made.mine = 1
        other = copy.copy(made)
        other.mine, other.override, other.inputs = 2, "Own", (made.outputs[0],)
        assert (made.mine, made.override, made.inputs) == (1, None, ())
        assert other.name == made.name and other.waits_for == () and other.type == "Const"


def test_takers_are_in_the_order_of_making_whenever_they_are_asked_for():
    def takers(*, early: bool) -> list[str]:
        with tf.Graph().as_default():
            x, z = tf.placeholder(tf.float32, [2], name="x"), tf.placeholder(tf.float32, [2], name="z")
            y = tf.multiply(x, x, name="y")
            if early:
                assert [op.name for op in x.consumers()] == ["y", "y"]
            last = tf.add(x, z, name="sum")
            tf.gradients(last * y, x)
            last.op._update_input(0, z)
            return [op.name for tensor in (x, z) for op in tensor.consumers()]

    assert takers(early=False) == takers(early=True)
    assert takers(early=False) == ["y", "y", "gradients/y_grad/Mul", "gradients/y_grad/Mul_1", "sum", "sum"]


def test_ops_that_keep_a_shape_are_made_as_their_rules_of_shapes_say():
    kept = [d for d in OPS.values() if d.keeps_shape and d.is_simple]
    assert {"Sin", "Add", "Mul", "SigmoidGrad"} <= {d.name for d in kept}
    for definition in kept:
        for dims in ((2, 3), (None, 3), (), None):
            with tf.Graph().as_default():
                x = [tf.placeholder(definition.dtypes[0], dims) for _ in definition.parameters]
                made = definition(*x)
                assert (made.dtype, made.dims) == definition.infer(*x), definition.name


def test_an_operation_with_its_tensor_takes_little_memory():
    def chain(count: int) -> tf.Graph:
        with tf.Graph().as_default() as graph:
            x, a = (tf.placeholder(tf.float32, [4]) for _ in range(2))
            y = x
            for i in range(count):
                y = y + a if i % 3 == 0 else y * a if i % 3 == 1 else tf.sin(y)
            assert len(tf.gradients(y, [x])) == 1
        return graph

    chain(3)  # what is made once
    tracemalloc.start()
    try:
        graph = chain(1000)
        assert tracemalloc.get_traced_memory()[0] / len(graph.get_operations()) < 330
    finally:
        tracemalloc.stop()
