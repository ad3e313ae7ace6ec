"""An argument that nothing has foreseen is an error that names it, at the user's line; the user's own errors pass."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import autodiff as tf
from autodiff.core.errors import AutodiffError
from autodiff.runtime.eager import EagerContext


@pytest.mark.parametrize(("call", "kind", "words"), [
    (lambda: tf.nn.relu([1.0], name=3.5), TypeError, "a name is no string: expected a string, found 3.5"),
    (lambda: tf.nn.avg_pool(tf.zeros([1, 4, 4, 1]), [1, 2, 2, 1], [1, 1, 1, 1], 3), TypeError,
     "avg_pool cannot take 'padding': expected a string, found padding=3"),
    (lambda: tf.assign("a", 3), TypeError, "assign cannot take 'ref': found ref='a'"),
    (lambda: tf.add_to_collections(3.5, 1), TypeError, "add_to_collections cannot take 'names': found names=3.5"),
    (lambda: tf.train.AdamOptimizer(0.1).apply_gradients(3), TypeError, "AdamOptimizer.apply_gradients cannot take"),
    (lambda: tf.contrib.layers.summarize_tensor("x"), TypeError, "summarize_tensor cannot take 'tensor'"),
    (lambda: tf.layers.MaxPooling2D(2, 2, data_format=5), TypeError, "MaxPooling2D cannot take 'data_format'"),
    (lambda: tf.Variable(1.0, use_resource=tf.constant([1, 2])), TypeError, "as a Python `bool`"),
    (lambda: tf.DeviceSpec(device_type=["cpu"]), TypeError, "DeviceSpec cannot take 'device_type'"),
    (lambda: tf.as_dtype(tf.constant(1.0)), TypeError, "to a TensorFlow DType"),
    (lambda: tf.TensorShape(tf.AUTO_REUSE), TypeError, "expected a dimension")], ids=lambda value: "")
def test_the_argument_is_named(call: Callable[[], object], kind: type[Exception], words: str) -> None:
    with pytest.raises(AutodiffError) as caught:
        call()
    assert isinstance(caught.value, kind) and words in str(caught.value)


def test_a_room_of_contrib_that_another_brings_along_is_at_the_door_too() -> None:
    code = "import autodiff as tf; tf.contrib.legacy_seq2seq; tf.contrib.layers.summarize_tensor('x')"
    said = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], capture_output=True, text=True,
                          check=False, timeout=60).stderr
    assert "summarize_tensor cannot take 'tensor'" in said


def test_the_line_and_what_the_function_does_follow() -> None:
    with pytest.raises(TypeError) as caught:
        tf.assign("a", 3)
    where, what = str(caught.value).split("\n")[1:]
    assert "test_wrong_arguments.py" in where and what.startswith("assign: Give a variable a new value")
    assert isinstance(caught.value.__cause__, AttributeError)


@pytest.mark.parametrize("call", [
    lambda: tf.map_fn(lambda x: x.nothing, tf.ones([3])), lambda: tf.map_fn(lambda x, y: x, tf.ones([3])),
    lambda: tf.cond(tf.constant(True), lambda: {}["key"], lambda: 1.0), lambda: tf.nn.relu(),
    lambda: tf.nn.relu([1.0], nothing=1)], ids=["attribute", "arity", "key", "missing", "unknown"])
def test_errors_of_the_users_own_functions_and_calls_are_pythons(call: Callable[[], object]) -> None:
    with pytest.raises((TypeError, AttributeError, KeyError)) as caught:
        call()
    assert not isinstance(caught.value, AutodiffError)


@pytest.mark.parametrize("known", [False, True])
def test_a_run_refuses_values_that_numpy_would_repeat(known: bool) -> None:
    def fed(*shape: int) -> tf.Tensor:
        return tf.placeholder_with_default(tf.ones(shape), [None] * len(shape) if known else None)

    cases = [tf.add_n([fed(2, 3), fed(1, 3)]), tf.where(fed(2, 3) > 0.0, fed(2, 3), fed(1, 3)),
             tf.nn.bias_add(fed(2, 3), fed(1)), tf.matrix_solve(fed(1, 2, 2), fed(3, 2, 2)),
             tf.einsum("ij,jk->ik", fed(2, 1), fed(3, 2)), tf.cumsum(fed(2, 3), tf.placeholder_with_default(7, []))]
    with tf.Session() as session:
        for fetch in cases:
            for _ in range(2):
                with pytest.raises(tf.errors.InvalidArgumentError):
                    session.run(fetch)
        rows = tf.placeholder(tf.float32, [None, 3])
        total = tf.add_n([rows, rows * 2.0])
        assert [session.run(total, {rows: np.ones((n, 3))}).shape[0] for n in (2, 1, 0, 2)] == [2, 1, 0, 2]


def test_wrong_values_in_a_run_are_refused_as_a_build_refuses_their_shapes() -> None:
    x, y, axis = tf.placeholder(tf.float32), tf.placeholder(tf.float32), tf.placeholder(tf.int32)
    cases = [(tf.matmul(x, y), r"In\[0\] mismatch In\[1\] shape"),
             (x + y, r"Incompatible shapes: \[2,3\] vs. \[2,2\]"),
             (tf.concat([x, y], 0), r"ConcatOp : Dimensions of inputs should match: shape\[0\] = \[2,3\] vs."),
             (tf.argmax(x, axis), r"Expected dimension in the range \[-2, 2\), but got 7"),
             (tf.reduce_max(x, axis), r"Invalid reduction dimension \(7 for input with 2 dimension"),
             (tf.add_n([x, y]), r"must have the same size and shape.  Input 0: \[2,3\] != input 1: \[2,2\]"),
             (tf.nn.bias_add(x, y), r"Biases must be 1D: \[2,2\]"),
             (tf.tile(x, [2]), "a vector of length 2 but got length 1"),
             (tf.stack([x, y]), r"Shapes of all inputs must match: values\[0\].shape = \[2,3\] != values\[1\]"),
             (tf.reshape(x, [5]), "is a tensor with 6 values, but the requested shape has 5")]
    with tf.Session() as session:
        for fetch, words in cases:
            with pytest.raises(tf.errors.InvalidArgumentError, match=words):
                session.run(fetch, {x: [[1, 2, 3], [4, 5, 6]], y: [[1.0, 2.0], [3.0, 4.0]], axis: 7})


def test_eagerly_the_kernels_sentence_comes_first() -> None:
    with EagerContext().as_default():
        for call, words in [(lambda: tf.ones([2]) + tf.ones([3]), "Incompatible shapes: [2] vs. [3]"),
                            (lambda: tf.matmul([[1.0, 2.0]], [[1.0, 2.0]]),
                             "Matrix size-incompatible: In[0]: [1,2], In[1]: [1,2]"),
                            (lambda: tf.reshape([1.0, 2.0], [3]),
                             "Input to reshape is a tensor with 2 values, but the requested shape has 3")]:
            with pytest.raises(tf.errors.InvalidArgumentError) as caught:
                call()
            assert str(caught.value).startswith(words) and "test_wrong_arguments.py" in str(caught.value)
