"""`why` without a word: what a script that stayed finite may meet, and of several losses the one that is nan."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from autodiff.debug.analysis.findings import Finding
from autodiff.debug.facts.records import Place
from cli.commands.diagnose import _worst
from cli.language.interpreter import execute
from cli.model.shell import Shell
from cli.view.plain import plain

START = """\
import numpy as np
import tensorflow as tf
tf.set_random_seed(2)
rows = np.random.RandomState(0).randn(64, 3).astype(np.float32)
x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None, 1])
h = tf.layers.dense(x, 8, tf.nn.relu, name="h")
"""
END = """
train = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(12):
        sess.run([train, loss], {x: rows, y: rows[:, :1] > 0})
"""
# what comes between; what is said; what is then in the file
MAY_BE = {
    "a sigmoid of a function": (
        "def net(h):\n    z = tf.layers.dense(h, 1)\n    return tf.nn.sigmoid(z), z\np, z = net(h)\n"
        "loss = -tf.reduce_mean(y * tf.log(p) + (1. - y) * tf.log(1. - p))",
        "log of 1 less a sigmoid, which rounds to 1: it gives -inf as well as that of the sigmoid",
        "tf.log(tf.maximum(1. - p, 1e-12))"),
    "a norm": (
        "e = tf.layers.dense(h, 4)\ne = e / tf.norm(e, axis=1, keepdims=True)\n"
        "loss = tf.losses.mean_squared_error(y, tf.layers.dense(e, 1))",
        "a norm, whose derivative at 0 is nan", "e = tf.nn.l2_normalize(e, 1)"),
}
TWO_LOSSES = START + """\
sigma = tf.squeeze(tf.layers.dense(h, 1, name="sigma", bias_initializer=tf.constant_initializer(0.02),
                                   kernel_initializer=tf.zeros_initializer()), 1)
policy = tf.reduce_mean(tf.log(sigma))
value = tf.reduce_mean(tf.square(tf.layers.dense(x, 1, name="value") - y))
actor, critic = tf.train.AdamOptimizer(0.01).minimize(policy), tf.train.AdamOptimizer(0.01).minimize(value)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(6):
        sess.run([critic, value], {x: rows, y: np.abs(rows[:, :1])})
        sess.run([actor, policy], {x: rows})
    sess.run([critic, value], {x: rows, y: np.abs(rows[:, :1])})
"""


def asked(text: str, folder: Path, *lines: str) -> str:
    file = folder / "model.py"
    file.write_text(text)
    shell = Shell()
    try:
        return "\n".join([plain(execute(line, shell)) for line in (f"load '{file}'", "run", *lines)][2:])
    finally:
        shell.close()


@pytest.mark.parametrize("name", MAY_BE)
def test_what_may_become_nan_is_told_and_written_where_nothing_has(name: str, tmp_path: Path) -> None:
    between, said, line = MAY_BE[name]
    answer = asked(START + between + END, tmp_path, "why", "fix 1 --write --yes")
    assert said in answer and "it did not happen in 12 training steps" in answer and "fix 1 applies it" in answer
    assert line in (tmp_path / "model.py").read_text()


def test_of_two_losses_the_one_that_is_nan_is_told_and_not_what_the_other_trains(tmp_path: Path) -> None:
    answer = asked(TWO_LOSSES, tmp_path, "why", "why none")
    assert "log(-" in answer and "softplus" in answer
    assert "no gradient is none" in answer and "does not depend on" not in answer


def test_a_rate_that_is_a_variable_is_told_after_a_training_that_is_nan(tmp_path: Path) -> None:
    model = START + ("rate = tf.Variable(1e3, name='rate')\n"
                     "loss = tf.reduce_mean(tf.square(1e3 * tf.layers.dense(h, 1) - y))\n") + END.replace(
        "AdamOptimizer(0.01)", "GradientDescentOptimizer(rate)") + "    sess.run(h, {x: rows})\n"
    answer = " ".join(asked(model, tmp_path, "why", "why none").split())
    assert answer.startswith("the training diverges")
    assert "/ ∂ rate:0" in answer and "as their rate: no gradient is wanted of it" in answer and "compute " not in (
        answer.rpartition("/ ∂ rate:0")[2])


def test_gradients_that_the_same_ops_cut_are_told_once(tmp_path: Path) -> None:
    model = START + ("codes = tf.get_variable('codes', [4, 8])\n"
                     "near = tf.argmin(tf.reduce_sum(tf.square(h[:, None] - codes), 2), 1)\n"
                     "loss = tf.losses.mean_squared_error(y, tf.layers.dense(tf.gather(codes, near), 1))") + END
    answer = " ".join(asked(model, tmp_path, "why none").split())
    assert answer.count("an index is an integer; the same of h/bias:0") == 1 == answer.count("remedy: ")
    assert "/ ∂ h/kernel:0: every path" in answer


@pytest.mark.parametrize("called, written", [
    ("tf.nn.sparse_softmax_cross_entropy_with_logits(logits=z, labels=tf.cast(y[:, 0], tf.int32))",
     "tf.nn.softmax_cross_entropy_with_logits_v2(logits=z, labels=tf.one_hot(tf.cast(y[:, 0], tf.int32), 4))"),
    ("tf.losses.sparse_softmax_cross_entropy(tf.cast(y[:, 0], tf.int32), z)",
     "tf.losses.softmax_cross_entropy(tf.one_hot(tf.cast(y[:, 0], tf.int32), 4), z)"),
    ("tf.nn.softmax_cross_entropy_with_logits_v2(logits=z, labels=tf.one_hot(tf.cast(y[:, 0], tf.int32), 4))", "")])
def test_a_second_derivative_that_tensorflow_refuses_is_said_and_written(called: str, written: str,
                                                                         tmp_path: Path) -> None:
    text = (START + f"def entropy(z):\n    return tf.reduce_mean({called})\n"
            "entropies = entropy(tf.layers.dense(h, 4))\ng, = tf.gradients(entropies, x)\n"
            "loss = entropies + 0.1 * tf.reduce_mean(tf.square(g))" + END)
    (tmp_path / "model.py").write_text(text)
    shell = Shell()
    said = [plain(execute(line, shell)).replace("\n", " ") for line in (f"load '{tmp_path / 'model.py'}'", "run")]
    shell.close()
    assert ["at model.py:8: its second" in each for each in said] == [bool(written), False]
    assert not written or "refuses that with a LookupError" in asked(text, tmp_path, "why")
    assert not written or written in asked(text, tmp_path, "why", "fix 1 --write --yes").replace("\n", " ")


@pytest.mark.parametrize("text", ["x is lost", "x is lost at m.py:3"])
def test_a_line_that_a_finding_ends_with_is_said_once(text: str) -> None:
    found = Finding(90, "habit", "", "", "", text, "keep x", "doctor", Place("m.py", 3, "<module>", "x"))
    dbg: Any = SimpleNamespace(doctor=lambda hazards: SimpleNamespace(findings=(found,)),
                               trials=SimpleNamespace(in_order_of=list))
    assert _worst(dbg).text == "x is lost at m.py:3\nremedy: keep x"
