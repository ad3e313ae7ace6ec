"""A line that several calls share: whose call is at fault, and no remedy there that would spoil the others."""

from pathlib import Path

import pytest

from .pains import START
from .test_trials import loaded, said

RUN = """
step = tf.train.GradientDescentOptimizer(1e-3).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(3):
        session.run([step, loss], FEEDS)
"""


def test_the_call_that_gave_bad_numbers_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = START + """
def unit(v):
    return v / tf.sqrt(tf.reduce_sum(tf.square(v), axis=1, keepdims=True))
x, y = tf.placeholder(tf.float32, [None, 2], "x"), tf.placeholder(tf.float32, [None, 2], "y")
w = tf.Variable([[1.0, 0.0], [0.0, 1.0]])
a = unit(tf.matmul(x, w))
b = unit(y)
loss = tf.reduce_mean(a * b)
"""
    first = RUN.replace("FEEDS", "{x: [[1.0, 2.0]], y: [[0.0, 0.0]]}")
    with loaded(text + first, tmp_path, monkeypatch, "run -f nonfinite") as shell:
        assert "0 / 0 = nan in truediv_1 at model.py:5, called at model.py:9" in said("why nan", shell)
    both = RUN.replace("FEEDS", "{x: [[0.0, 0.0]], y: [[0.0, 0.0]]}")
    with loaded(text + both, tmp_path, monkeypatch, "run -f nonfinite") as shell:
        assert ", called at" not in said("why nan", shell)  # none of them is better than the other


def test_logits_of_one_call_are_not_written_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = START + """
def log(p):
    return tf.log(p)
x = tf.placeholder(tf.float32, [2, 2], "x")
w = tf.Variable([[1.0], [1.0]])
p = tf.sigmoid(tf.matmul(x, w))
loss = -tf.reduce_mean(3.0 * p * log(p) + x[:, :1] * log(1.0 - p))
""" + RUN.replace("FEEDS", "{x: [[60.0, 30.0], [0.1, 0.2]]}")
    with loaded(text, tmp_path, monkeypatch, "run -f nonfinite") as shell:
        found = said("why nan", shell)
        assert "remedy: tf.log(tf.maximum(p, 1e-12)) at model.py:5" in found, found
        assert not any("log_sigmoid" in remedy.words for remedy, *_ in shell.dbg.trials.tried), found
        assert "return tf.log(tf.maximum(p, 1e-12))\n" in shell.dbg.edits.patch(1).new.decode()


def test_what_a_run_gave_that_is_fed_to_the_next_is_explained_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                                                    ) -> None:
    text = START + """
s = tf.placeholder(tf.float32, [3, 1], "s")
old = tf.placeholder(tf.float32, [3, 1], "old")
w = tf.Variable([[1.0]], name="w")
scale = tf.nn.relu(tf.matmul(s, w))
score = -tf.log(scale) - tf.square(s / scale)
loss = tf.reduce_mean(tf.exp(score - old))
step = tf.train.GradientDescentOptimizer(1e-3).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for states in ([[1.0], [2.0], [3.0]], [[1.0], [-2.0], [3.0]]):
        given = session.run(score, {s: states})
        session.run([step, loss], {s: states, old: given})
"""
    with loaded(text, tmp_path, monkeypatch, "run -f nonfinite") as shell:
        found = said("why nan", shell)
        assert "'old' is fed what run 4 (after step 1) gave for sub at model.py:8: log(0) = -inf" in found, found
        assert "because relu(-" in found and "tf.nn.softplus(tf.matmul(s, w)) + 1e-6" in found, found


@pytest.mark.parametrize(("made", "formula", "written"), [
    ("tf.Variable(0.0, name='v')", "w / v", "v = tf.Variable(1.0, name='v')\n"),
    ("tf.get_variable('v', [1], initializer=tf.zeros_initializer())", "w / v",
     "v = tf.get_variable('v', [1], initializer=tf.ones_initializer())\n"),
    ("tf.Variable(-0.5, name='v')", "w * tf.log(v)", "v = tf.nn.softplus(tf.Variable(-0.5, name='v'))\n"),
    ("tf.Variable(-0.5, name='v')\nclip = v.assign(tf.minimum(v, 2.0))", "w * tf.log(v)", ""),
])
def test_first_values_and_bounds_are_written_where_the_variable_is_made(
        made: str, formula: str, written: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But not around one that is assigned to as well: what stands there then is no variable."""
    text = f"{START}w = tf.Variable([2.0])\nv = {made}\nloss = tf.reduce_sum({formula})" + RUN.replace("FEEDS", "{}")
    with loaded(text, tmp_path, monkeypatch, "run -f nonfinite") as shell:
        said("why nan", shell)
        patch = shell.dbg.edits.patch(1)
    assert written in patch.new.decode() if written else "more than one expression" in patch.why
