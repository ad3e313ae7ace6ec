"""assert_gradients_close: right gradients pass, whatever is drawn or bent; wrong ones are named with their op."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.debug import assert_gradients_close


def compared(build: Callable[[Any], Any], value: Any, x: Any = None, **options: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        w = tf.Variable(np.asarray(value, np.float32), name="w")
        loss = tf.reduce_sum(build(w), name="loss")
        session.run(w.initializer)
        assert_gradients_close(options.pop("y", loss), w if x is None else x, **options)


RIGHT = {  # what is built of w, and w's value
    "large": (tf.square, [1e4, 2e4, -3e4]), "tiny": (lambda w: 1e12 * tf.square(w), [1e-8, 1e-6]),
    "both": (tf.log, [1e4, 3e-4]), "dropout": (lambda w: tf.square(tf.nn.dropout(w, 0.5)), np.arange(1.0, 9.0)),
    "drawn": (lambda w: w * tf.random_normal(tf.shape(w)), [1.0, 2.0]),
    "kinks": (lambda w: tf.nn.relu(w) + tf.abs(w) + tf.reduce_max(w), [0.0, 0.0, -1.0]),
    "rounded": (lambda w: tf.reduce_sum(w - 1e7) * w[0], [1.0, 2.0]),
    "loop": (lambda w: tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a * w), [0, w])[1], [1.5, -100.0]),
    "branch": (lambda w: tf.cond(tf.reduce_sum(w) > 0, lambda: w * w, lambda: w), [2.0, 3.0]),
    "masked": (lambda w: tf.where(w > 1.0, tf.sqrt(w), w), [2.0, -1.0]),
    "rows": (lambda w: tf.square(tf.gather(w, [0, 2, 2])), [1.0, 2.0, 3.0]),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_gradients_pass(name: str) -> None:
    compared(*RIGHT[name])


def test_lists_and_names_are_taken() -> None:
    compared(tf.square, [1.0, 2.0], x=["w", "w:0"], y="loss")
    compared(tf.square, [1.0, 2.0], x=["w"], y=["loss"], expected=[[2.0, 4.0]])
    with pytest.raises(TypeError, match="the name of one, or a list of them"):
        compared(tf.square, [1.0, 2.0], x=3)
    with pytest.raises(ValueError, match="1 expected gradients, one for each x"):
        compared(tf.square, [1.0, 2.0], x=["w"], expected=[1.0, 2.0])


@tf.custom_gradient
def crooked(x: Any) -> Any:
    return tf.square(x), lambda dy: dy * x


@pytest.mark.parametrize(("build", "value", "says"), [
    (lambda w: tf.exp(crooked(w)), [1.0, 0.5], r"wrong in 2 of 2 elements\n  at \[0\]: expected 5.4365\d, found 2.71"
     r"828\n  at .*\ncheck: the gradient rule of IdentityN .* is wrong, .*close.py:\d+: off by a factor of 0.5"),
    (lambda w: w * tf.stop_gradient(w), [1.0, 2.0], "held constant in StopGradient"),
    (lambda w: tf.py_func(lambda a: a * 2, [w], tf.float32) * w, [1.0, 2.0], "cut at PyFunc"),
    (tf.log, [-1.0, 1.0], "cannot be compared: loss:0 itself is not finite\nwhy: log\\(-1\\) = nan"),
    (tf.sqrt, [0.0, 1.0], r"not finite in 1 of 2 elements, where the slope of loss:0 is none or infinite: \[0\]"),
    (lambda w: tf.where(w > 1.0, tf.log(w), 1.0 - w), [0.0, 2.0], r"at \[0\]: expected -1, found nan"),
])
def test_wrong_ones_say_why(build: Any, value: Any, says: str) -> None:
    with pytest.raises(AssertionError, match=says):
        compared(build, value)
