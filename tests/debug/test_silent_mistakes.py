"""Mistakes that raise nothing, each with its twin, in which it is mended: the one is found, the other left in peace."""

import warnings
from pathlib import Path

import pytest

from autodiff.debug.analysis.mistakes import comparisons
from cli.language.interpreter import execute
from cli.model.shell import Shell

START = """
import numpy as np
import tensorflow as tf
rng = np.random.RandomState(0)
tf.set_random_seed(0)
x = tf.placeholder(tf.float32, [None, 4], name="x")
t = tf.placeholder(tf.int32, [None], name="t")
"""
END = """
train = tf.train.GradientDescentOptimizer(0.05).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(5):
        session.run([train, loss], {x: SCALE * rng.randn(32, 4), t: rng.randint(0, CLASSES, 32)})
"""

# name -> script, what is wrong in it, what mends it, kind of the finding
MISTAKES = {
    "softmax over the batch": ("""
p = tf.nn.softmax(tf.layers.dense(x, 3), axis=0)  # here
loss = -tf.reduce_mean(tf.reduce_sum(tf.one_hot(t, 3) * tf.log(p + 1e-8), axis=1))
""", "axis=0", "axis=-1"),
    "softmax by hand over the batch": ("""
e = tf.exp(tf.layers.dense(x, 3))
p = e / tf.reduce_sum(e, axis=0, keepdims=True)  # here
loss = -tf.reduce_mean(tf.reduce_sum(tf.one_hot(t, 3) * tf.log(p + 1e-8), axis=1))
""", "axis=0", "axis=1"),
    "decay twice": ("""
logits = tf.layers.dense(x, 3, kernel_regularizer=tf.nn.l2_loss, name="d")
decay = 0.01 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])  # here
loss = tf.losses.sparse_softmax_cross_entropy(t, logits) + decay + tf.losses.get_regularization_loss()
""", "decay + tf.losses.get_regularization_loss()", "decay"),
    "wrong sign": ("""
logp = tf.nn.log_softmax(tf.layers.dense(x, 3))
loss = tf.reduce_mean(tf.reduce_sum(tf.one_hot(t, 3) * logp, axis=1))  # here
""", "tf.reduce_mean(tf.reduce_sum(tf.one_hot(t, 3) * logp, axis=1))",
                   "-tf.reduce_mean(tf.reduce_sum(tf.one_hot(t, 3) * logp, axis=1))"),
    "copy is trained": ("""
online, target = tf.layers.dense(x, 1, name="online"), tf.layers.dense(x, 1, name="target")
sync = [a.assign(b) for a, b in zip(tf.trainable_variables("target"), tf.trainable_variables("online"))]
loss = tf.reduce_mean(tf.square(1.0 + 0.9 * target - online))  # here
""", "0.9 * target", "0.9 * tf.stop_gradient(target)"),
    "inputs not scaled": ("""
SCALE = 500.0
loss = tf.losses.sparse_softmax_cross_entropy(t, tf.layers.dense(tf.layers.dense(x, 8, tf.nn.tanh), 3))  # here
""", "SCALE = 500.0", "SCALE = 1.0"),
    "one label": ("""
CLASSES = 1
loss = tf.losses.sparse_softmax_cross_entropy(t, tf.layers.dense(x, 3))  # here
""", "CLASSES = 1", "CLASSES = 3"),
    "growing loop": ("""
u = tf.Variable(np.float32(2.0 * np.eye(4)), name="u")
_, h = tf.while_loop(lambda i, h: i < 40, lambda i, h: (i + 1, tf.matmul(h, u)), [0, 1e-3 * x])  # here
loss = tf.reduce_mean(tf.square(h)) * 1e-20
""", "2.0 * np.eye(4)", "1.0 * np.eye(4)"),
}


def kinds(text: str, folder: Path) -> dict[str, str]:
    """The kinds of doctor's findings -> file and line."""
    (folder / "model.py").write_text(text)
    shell = Shell()
    execute(f"load {folder / 'model.py'}", shell)
    execute("run --times 6", shell)
    found = {finding.kind: f"{finding.place.file}:{finding.place.line}" if finding.place else ""
             for finding in shell.dbg.doctor().findings}
    shell.close()
    return found


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_found_and_its_twin_left_in_peace(name: str, tmp_path: Path) -> None:
    script, wrong, right = MISTAKES[name]
    text = START + "SCALE, CLASSES = 1.0, 3\n" + script + END
    kind = name.replace("softmax by hand", "softmax")
    found = kinds(text, tmp_path)
    assert kind in found
    here = next((i for i, line in enumerate(text.split("\n"), 1) if line.endswith("# here")), 0)
    if kind != "copy is trained":  # its place is the train op
        assert found[kind].endswith(f":{here}")
    assert wrong in text
    assert kind not in kinds(text.replace(wrong, right), tmp_path)


CORRECT = {
    "a small relu layer": """
loss = tf.losses.sparse_softmax_cross_entropy(t, tf.layers.dense(tf.layers.dense(x, 16, tf.nn.relu), 3))
""",
    "dropout beside a choice": """
h = tf.layers.dropout(tf.layers.dense(x, 16, tf.nn.tanh), 0.3, training=True)
loss = tf.losses.sparse_softmax_cross_entropy(t, tf.layers.dense(tf.where(h > 0, h, 0.1 * h), 3))
""",
    "weights divided by their size, in two calls": """
w = tf.get_variable("w", [4, 4])
unit = lambda: w / tf.maximum(1.0, tf.sqrt(tf.reduce_sum(tf.square(w))))
loss = tf.losses.sparse_softmax_cross_entropy(t, tf.layers.dense(tf.nn.relu(tf.tanh(x @ unit()) @ unit()), 3))
""",
    "a norm that is guarded, of weights divided": """
w = tf.get_variable("w", [4, 3])
total = tf.reduce_sum(tf.square(w / tf.reduce_sum(tf.abs(w))), 1)
norm = tf.sqrt(tf.where(tf.equal(total, 0), tf.ones_like(total), total))
loss = tf.losses.sparse_softmax_cross_entropy(t, x @ w) + tf.reduce_sum(norm)
""",
    "a logarithm of what is kept in bounds": """
spread = tf.exp(0.5 * tf.clip_by_value(tf.layers.dense(x, 3), -6, 2))
loss = tf.reduce_mean(tf.square(spread / [1., 2., 3.]) - tf.log(tf.square(spread / [1., 2., 3.])))
""",
    "an unrolled cell": """
cell = tf.nn.rnn_cell.LSTMCell(4)
outputs, _ = tf.nn.static_rnn(cell, [x] * 12, dtype=tf.float32)
loss = tf.losses.sparse_softmax_cross_entropy(t, tf.layers.dense(outputs[-1], 3))
""",
}


@pytest.mark.parametrize("name", CORRECT)
def test_a_right_program_has_no_finding_that_counts(name: str, tmp_path: Path) -> None:
    text = START + "SCALE, CLASSES = 1.0, 3\n" + CORRECT[name] + END
    assert not {"dead units", "where trap", "squashing chain", "log", "decay twice"} & set(kinds(text, tmp_path))


def test_a_logarithm_of_what_has_no_bound_below_is_told(tmp_path: Path) -> None:
    text = START + "SCALE, CLASSES = 1.0, 3\n" + """
spread = tf.exp(-0.5 * tf.maximum(tf.layers.dense(x, 3), -6)) / [1., 2., 3.]
loss = tf.reduce_mean(spread - tf.log(tf.square(spread)))
""" + END
    assert "log" in kinds(text, tmp_path)


def test_a_class_that_weighs_more_has_labels_of_0_and_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = START + """
y = tf.cast(tf.expand_dims(tf.minimum(t, LABEL), 1), tf.float32)
p = tf.sigmoid(tf.layers.dense(x, 1))
loss = -tf.reduce_mean(3.0 * y * tf.log(p + 1e-7) + (1.0 - y) * tf.log(1.0 - p + 1e-7))
""" + END.replace("SCALE", "1.0").replace("CLASSES", "4")
    monkeypatch.chdir(tmp_path)
    for label, is_told in (("1", False), ("2", True)):
        (tmp_path / "model.py").write_text(text.replace("LABEL", label))
        shell = Shell()
        try:
            execute("load model.py", shell)
            execute("next 5", shell)
            told = [each.kind for each in shell.dbg.doctor().findings]
        finally:
            shell.close()
        assert ("labels out of range" in told) == is_told, told


def test_where_no_values_are_known_nothing_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparisons, "masks_beside", lambda *_: [comparisons.Masked(None, 0)])  # type: ignore[arg-type]
    monkeypatch.setattr(comparisons.Masked, "mask", None)
    monkeypatch.setattr(comparisons, "_values", lambda *_: [])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [*comparisons._counted(None, None, None)] == []  # type: ignore[arg-type]
