"""Answers go on behind the op that failed: to the script's own numbers, a dataset's column, a matrix's rows, a zero."""

from pathlib import Path

import pytest

from .test_trials import loaded, said

HEAD = """import numpy as np
import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 2], name="x")
w = tf.Variable([[0.5], [0.25]], name="w")
"""
RUN = """
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(2):
        session.run([step, loss], {x: [[1.0, 2.0], [3.0, 5.0]]})
"""
ANSWERS = {
    "cap = np.float32('nan')\nloss = tf.reduce_sum(tf.minimum(tf.matmul(x, w), cap))":
        ("run -f nonfinite", "why nan", "the script gave it as nan: a missing value"),
    "v = tf.Variable([[np.inf, 2.0]])\nloss = tf.reduce_sum(tf.matmul(x, w) * v)":
        ("run -f nonfinite", "why nan", "the script itself computed these first values of Variable"),
    "d = tf.data.Dataset.from_tensor_slices(np.float32([[1, np.nan], [2, np.nan]])).repeat().batch(2)\n"
    "loss = tf.reduce_sum(tf.matmul(d.make_one_shot_iterator().get_next(), w))":
        ("run -f nonfinite", "why nan", "the dataset gave nan throughout column 1 of its component 0"),
    "slope = tf.gradients(tf.nn.relu(tf.matmul(x, w)), x)[0]\n"
    "loss = tf.reduce_sum(tf.square(tf.gradients(slope, x)[0] - 1.0))":
        ("next 2", "why zero", "the second derivative of relu is 0"),
    "gate = tf.nn.relu(-tf.square(x) - 1.0)\nloss = tf.reduce_sum(tf.matmul(x * gate, w) * 3.0)":
        ("next 2", "why zero", "as Relu (Relu at model.py:5) gives nothing but zeros: 100% of its inputs are <= 0"),
}


@pytest.mark.parametrize("model", ANSWERS, ids=range(len(ANSWERS)))
def test_the_origin_is_told(model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    move, question, expected = ANSWERS[model]
    with loaded(HEAD + model + RUN, tmp_path, monkeypatch, move) as shell:
        found = said(question, shell)
    assert expected in found, found


def test_a_refused_matrix_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = "loss = tf.reduce_sum(w) + tf.reduce_sum(tf.cholesky(tf.matmul(x, tf.transpose(x)) * 0.0 + 1.0))"
    with loaded(HEAD + model + RUN, tmp_path, monkeypatch) as shell:
        said("run", shell)
        found = said("why nan", shell)
    assert "its rows 0 and 1 are equal, its smallest eigenvalue is" in found and "1e-6 * tf.eye(n)" in found, found
