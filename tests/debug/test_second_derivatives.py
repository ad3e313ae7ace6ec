"""Losses that are made of second derivatives by what is fed, as of a differential equation."""

from pathlib import Path

import pytest

from .test_mistakes import findings, trained

_PLATE = """
v, w = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None, 2])
def net(z):
    with tf.variable_scope("net", reuse=tf.AUTO_REUSE):
        return dense(dense(dense(z, 12, tf.nn.tanh, name="a"), 12, tf.nn.tanh, name="b"), 1, name="c")
g = tf.gradients(net(v), v)[0]
h = tf.gradients(g, v)[0]  #!
loss = tf.reduce_mean(tf.square(tf.reduce_sum(h, 1) - 1)) + tf.reduce_mean(tf.square(net(w)))
fit([adam(.01).minimize(loss), loss], lambda i: {v: rng.rand(32, 2), w: rng.rand(9, 2).round()}, 24)
"""
_APART = "tf.stack([tf.gradients(g[:, i], v)[0][:, i] for i in range(2)], 1)"
_RIGHT = _PLATE.replace("tf.gradients(g, v)[0]", _APART)
_OF_EACH = "tf.reduce_sum(tf.sin(v) * tf.get_variable('amount', [2]), 1)"


def test_columns_that_are_differentiated_at_once_are_told_with_what_is_added(tmp_path: Path) -> None:
    shell = trained(_PLATE, tmp_path)
    first, *_ = shell.dbg.doctor().findings
    assert (first.kind, first.level) == ("mixed derivatives", "error") and first.place is not None
    assert first.place.text.endswith("#!") and "a gradient of 2 columns" in first.text
    assert f"h = {_APART}  #!".encode() in shell.dbg.edits.patch(1).new
    shell.close()


@pytest.mark.parametrize("text", [
    _RIGHT, _PLATE.replace("tf.gradients(net(v), v)", f"tf.gradients({_OF_EACH}, v)"),  # no mixed ones
    _PLATE.replace("tf.gradients(g, v)[0]", "tf.gradients(tf.square(tf.norm(g, axis=1) - 1), v)[0]")])
def test_columns_apart_and_what_has_no_mixed_derivatives_are_right(text: str, tmp_path: Path) -> None:
    assert {"mixed derivatives", "no second derivative"}.isdisjoint(f.kind for f in findings(text, tmp_path))


def test_straight_pieces_have_no_second_derivative(tmp_path: Path) -> None:
    shell = trained(_RIGHT.replace("tf.nn.tanh", "tf.nn.relu"), tmp_path)
    first, *_ = shell.dbg.doctor().findings
    assert first.kind == "no second derivative" and "exactly 0, all 1536 that were looked at" in first.text
    assert shell.dbg.edits.patch(1).new.count(b"tf.nn.tanh") == 2
    shell.close()
    linear = _RIGHT.replace(", tf.nn.tanh", "").replace("tf.reduce_sum(h, 1) - 1", "tf.reduce_sum(h, 1)")
    assert "no second derivative" not in [f.kind for f in findings(linear, tmp_path)]
