"""First values that are too large: told as what a training diverges of, and written as large as is usual."""

from pathlib import Path

import pytest

from .pains import START
from .test_trials import loaded, said

DEEP = START + """
tf.set_random_seed(1)
def weights(rows, columns):
    return MADE
x = tf.placeholder(tf.float32, [None, 40], name="x")
h = x
for width in (120, 120, 120, 120):
    h = tf.nn.relu(tf.matmul(h, weights(int(h.shape[1]), width)))
loss = tf.reduce_mean(tf.square(tf.matmul(h, weights(120, 1)) - x[:, :1]), name="loss")
step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
feed = {x: np.random.RandomState(0).randn(32, 40)}
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(12):
        session.run([step, loss], feed)
"""
# how weights are made -> as they are written
MADE = {
    "tf.Variable(tf.random_normal([rows, columns]))":
        "tf.Variable(tf.glorot_normal_initializer()([rows, columns]))",
    "tf.Variable(initial_value=tf.truncated_normal(shape=[rows, columns], stddev=2.0))":
        "tf.Variable(initial_value=tf.glorot_normal_initializer()([rows, columns]))",
    "tf.Variable(np.random.randn(rows, columns).astype('f'))":
        "tf.Variable(np.random.randn(rows, columns).astype('f') / rows ** 0.5)",
    "tf.Variable(np.random.normal(0, 1, size=[rows, columns]), dtype=tf.float32)":
        "tf.Variable(np.random.normal(0, 1, size=[rows, columns]) / rows ** 0.5, dtype=tf.float32)",
    "tf.get_variable(f'w{np.random.rand()}', [rows, columns], initializer=tf.random_normal_initializer())":
        "tf.get_variable(f'w{np.random.rand()}', [rows, columns], initializer=tf.glorot_normal_initializer())",
}


@pytest.mark.parametrize("made", MADE)
def test_first_values_are_written_as_large_as_is_usual(made: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                                       ) -> None:
    with loaded(DEEP.replace("MADE", made), tmp_path, monkeypatch, "run") as shell:
        assert "the training diverges: the initial values of " in (answer := said("why nan", shell))
        assert " as tf.glorot_normal_initializer() has them at model.py:6 tried: " in answer
        assert not (patch := shell.dbg.edits.patch(1)).why, patch.why
    text = patch.new.decode()
    assert text == DEEP.replace("MADE", MADE[made])
    with loaded(text, tmp_path, monkeypatch, "run") as shell:
        first, last = (shell.dbg.records[i].loss for i in (1, -1))
        assert first is not None and last is not None and last < first < 100


def test_of_a_rate_that_is_too_high_first_values_are_not_to_blame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                                                  ) -> None:
    text = DEEP.replace("MADE", MADE[next(iter(MADE))]).replace("0.01", "500.0").replace("range(12)", "range(40)")
    with loaded(text, tmp_path, monkeypatch, "run") as shell:
        assert "initial values" not in said("why nan", shell)


def test_a_cells_initializer_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = START + """
tf.set_random_seed(1)
x = tf.placeholder(tf.float32, [None, 60, 3], name="x")
cell = tf.nn.rnn_cell.LSTMCell(32, activation=tf.nn.relu, initializer=tf.random_normal_initializer(stddev=0.6))
outputs, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
loss = tf.reduce_mean(tf.square(tf.reduce_mean(outputs[:, -1], 1) - x[:, 0, 0]), name="loss")
step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
feed = {x: np.random.RandomState(0).rand(8, 60, 3)}
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(4):
        session.run([step, loss], feed)
"""
    with loaded(text, tmp_path, monkeypatch, "run") as shell:
        answer = said("why nan", shell)
        assert answer.startswith("the training diverges: the initial values of rnn/lstm_cell/kernel are too large")
        assert "remedy: smaller initial values: rnn/lstm_cell/kernel as tf.glorot_normal_initializer()" in answer
        assert ", initializer=tf.glorot_normal_initializer())\n" in shell.dbg.edits.patch(1).diff
