"""Softmaxes over axis 0: of the examples, or of the steps of time, which come first in some layouts."""

from pathlib import Path

import pytest

from .test_mistakes import findings, trained

_PROGRAM = """
FIRST, NORM, (T, B) = {first}, {norm}, ({sizes})
words, right = tf.placeholder(tf.int32, [B, T] if FIRST else [T, B]), tf.placeholder(tf.int32, [B])
h = tf.nn.embedding_lookup(tf.Variable(rng.randn(30, 8).astype("f") * .3), words)
score = tf.layers.dense(h, 1)
w = tf.nn.softmax(score, axis={axis})
mixed = {mixed}
if NORM:
    mean, var = tf.nn.moments(mixed, [0])
    mixed = (mixed - mean) / tf.sqrt(var + 1e-3)
logits = tf.layers.dense(tf.layers.dense(mixed, 16, tf.nn.tanh), 5)
loss = tf.losses.sparse_softmax_cross_entropy(right, logits)
def each(i):
    numbers = rng.randint(0, 30, (B, T))
    return dict([(words, numbers if FIRST else numbers.T), (right, numbers[:, 2] % 5)])
fit([adam(.02).minimize(loss), loss], each)
"""
_SUMMED, _PRODUCT = "tf.reduce_sum(w * h, {0})", "tf.einsum('ijk,ijd->{1}d', w, h)"


def _program(axis: int, mixed: str, *, first: bool = False, norm: bool = False, sizes: str = "9, 16") -> str:
    mixed = mixed.format(*((1, "i") if first else (0, "j")))
    return _PROGRAM.format(axis=axis, mixed=mixed, first=first, norm=norm, sizes=sizes)


@pytest.mark.parametrize("mixed", [_SUMMED, _PRODUCT])
@pytest.mark.parametrize("norm", [False, True])
@pytest.mark.parametrize("sizes", ["9, 16", "12, 12"])
def test_a_softmax_over_the_steps_of_time_is_right_where_they_come_first(mixed: str, norm: bool, sizes: str,
                                                                         tmp_path: Path) -> None:
    assert not [f for f in findings(_program(0, mixed, norm=norm, sizes=sizes), tmp_path) if f.level != "remark"]


@pytest.mark.parametrize("mixed, sizes", [(_SUMMED, "9, 16"), (_PRODUCT, "9, 16"), (_PRODUCT, "12, 12")])
def test_a_softmax_over_the_examples_is_told_where_they_come_first(mixed: str, sizes: str, tmp_path: Path) -> None:
    found = findings(_program(0, mixed, first=True, sizes=sizes), tmp_path)
    assert (found[0].kind, found[0].level) == ("softmax over the batch", "error") and "axis=1" in found[0].remedy


@pytest.mark.parametrize("first, mixed", [(True, _SUMMED), (False, _SUMMED), (True, _PRODUCT), (False, _PRODUCT)])
def test_shares_of_one_element_are_to_be_over_the_steps_of_time(first: bool, mixed: str, tmp_path: Path) -> None:
    shell = trained(_program(-1, mixed, first=first), tmp_path)
    told = next(f for f in shell.dbg.doctor().findings if f.kind == "one class")
    assert f"over axis {int(first)}, which has 9 places" in told.remedy
    assert f"nn.softmax(score, axis={int(first)})" in shell.dbg.edits.patch(1).new.decode()
    shell.close()
