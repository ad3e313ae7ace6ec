"""The chain from what was fed, kept or loaded to nan: each link with its line and step, the origin first."""

from pathlib import Path

import pytest

from .pains import START
from .test_trials import loaded, said

MANY = """
step = tf.train.GradientDescentOptimizer(RATE).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(8):
        session.run([step, loss], FEEDS)
"""
HEAD = START + "x = tf.placeholder(tf.float32, [None, 2], name='x')\nw = tf.Variable([[0.5], [1.5]], name='w')\n"
# what is computed, rate, feeds -> the sentence of the origin, and the first link with its step
CHAINS = {
    ("p = tf.sigmoid(tf.matmul(x, w))\nloss = tf.reduce_mean(tf.log(1.0 - p))", "1e-9",
     "{x: [[1.0, 2.0], [3.0, 30.0 if i == 5 else 0.5]]}"):
        "because 30 was fed for 'x' at row 1, column 1, where most steps before had 3 at most, then sigmoid(46.5) = 1: "
        "it is saturated | step 6 30 was fed",
    ("p = tf.exp(-0.5 * tf.square(x[:, :1] - w[:, 0])) * 0.1\n"
     "loss = -tf.reduce_mean(tf.log(tf.reduce_sum(p, 1)))", "1e-9", "{x: [[1.0, 0], [16.0, 0]]}"):
        "because 'x' is 16 in row 1, far from every component, the nearest at 1.5 at model.py:6: the largest "
        "exponential is exp(-105) | step 1 'x' is 16",
    ("h = tf.nn.relu(tf.matmul(x, w) - 3.0)\nloss = tf.reduce_sum(h / tf.reduce_sum(h, 0))", "1e-9",
     "{x: [[1.0, 0.5 + 3 * (i != 4)]]}"): "because relu(-1.75) = 0 at model.py:6 | step 5 relu(-1.75) = 0 model.py:6",
    ("loss = tf.reduce_mean(tf.matmul(x, w) ** 2)", "0.01", "{x: np.ones((0 if i == 3 else 4, 2))}"):
        "because an array of shape [0, 2] was fed for 'x' | step 4 an array",
    ("loss = tf.reduce_sum(tf.log(w)) + tf.reduce_sum(x)", "0.3", "{x: [[1.0, 1.0]]}"):
        "because w[0,0] is -0.1 since the update of step 1, 0.5 before step 1; the learning rate is 0.3 | step 1",
    ("m, v = tf.nn.moments(x, [0])\nloss = tf.reduce_sum((x - m) / tf.sqrt(v)) + tf.reduce_sum(w)", "0.1",
     "{x: [[1.0, i], [7.0 if i == 2 else 2.0, i + 1 + (i == 6)]] if i != 5 else [[4.0, 1], [4.0, 2]]}"):
        "because 4 was fed for 'x' throughout column 0, then squareddifference(4, 4) = 0 | step 6 4 was fed",
    ("mask = tf.placeholder(tf.bool, [2, 2], name='mask')\n"
     "a = tf.nn.softmax(tf.where(mask, x, tf.fill([2, 2], -np.inf)))\nloss = tf.reduce_sum(tf.matmul(a, w))", "0.1",
     "{x: [[1.0, 2.0], [0.5, 0.5]], mask: [[True, False], [i < 3, False]]}"):
        "because False was fed for 'mask' throughout row 1 | step 4 False was fed",
    ("_, r = tf.while_loop(lambda n, r: n < 4, lambda n, r: (n + 1, r / tf.reduce_sum(tf.abs(r) * w)), [0, x])\n"
     "loss = tf.reduce_sum(r)", "1e-9", "{x: [[1.0, 0.0], [1.0, 1.0]] if i < 2 else [[0.0, 0.0], [0.0, 0.0]]}"):
        "because 0 was fed for 'x' throughout | step 3 0 was fed",
    ("_, r = tf.while_loop(lambda n, r: n < 60, lambda n, r: (n + 1, r * 3.0), [0, x])\n"
     "loss = tf.reduce_sum(tf.exp(r) * w[0])", "1e-9", "{x: [[1.0, 1.0]]}"):
        "it grows from 3 to 4.24e+28 in 60 iterations, 3 times in each | step 1",
    ("def body(n, r, rows):\n    r = r * 3.0\n    return n + 1, r, rows.write(n, r)\n"
     "_, _, rows = tf.while_loop(lambda n, *_: n < 60, body, [0, x, tf.TensorArray(tf.float32, 60)])\n"
     "loss = tf.reduce_sum(tf.exp(rows.stack()[-1]) * w[0])", "1e-9", "{x: [[1.0, 1.0]]}"):
        "it grows from 3 to 4.24e+28 in 60 iterations, 3 times in each at model.py:7 | step 1",
    ("def body(n, r, rows):\n    r = r + 0.5 * (r + tf.cast(n > 4, tf.float32) * x)\n"
     "    return n + 1, r, rows.write(n, r)\n"
     "_, _, rows = tf.while_loop(lambda n, *_: n < 90, body, [0, 0 * x, tf.TensorArray(tf.float32, 90)])\n"
     "loss = tf.reduce_sum(tf.exp(rows.stack()[-1]) * w[0])", "1e-9", "{x: [[1.0, 1.0]]}"):
        "remedy: each turn makes 1.5 times the state of it at model.py:7: let it decay, a + rate * (-a + …)"
        " | step 1 TensorArrayStack gives 9.28e+14: it grows from 0.5 to 9.28e+14 in 85 iterations, 1.52 times in each",
    ("p = tf.sigmoid(tf.matmul(x, w))[:, 0]\nt = x[:, 1]\nloss = tf.reduce_sum(tf.log(t * p + (1.0 - t) * (1.0 - p)))",
     "1e-9", "{x: [[90.0 * (i == 3), 0.0]]}"): "at most, then sigmoid(45) = 1: it is saturated | step 4 90 was fed",
    ("b = tf.Variable([0.0])\nh = tf.reduce_sum(tf.abs(tf.matmul(x, w) + b), 1)\nloss = tf.reduce_mean(h / h)", "1e-9",
     "{x: [[1.0, 2.0], [0.0 if i == 2 else 3.0, 0.0]]}"): "because 0 was fed for 'x' throughout row 1 | step 3 0 was",
    ("loss = tf.reduce_sum(x * w[0])", "0.1", "{x: [[1.0, 2.0], [3.0, np.nan if i == 2 else 4.0]]}"):
        "because nan was fed for 'x' at row 1, column 1 |",
}


@pytest.mark.parametrize("computed", CHAINS, ids=range(len(CHAINS)))
def test_the_origin_is_told_with_its_step_and_line(computed: tuple[str, str, str], tmp_path: Path,
                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    model, rate, feeds = computed
    text = f"import numpy as np\n{HEAD}{model}{MANY.replace('RATE', rate).replace('FEEDS', feeds)}"
    with loaded(text, tmp_path, monkeypatch, "run -f nonfinite") as shell:
        found = said("why nan", shell)
    because, link = (part.strip() for part in CHAINS[computed].split("|"))
    assert because in found
    assert not link or f"how it came to that, the origin first: {link}" in found, found


def test_what_a_checkpoint_brought_is_said_to_be_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = START + """
w = tf.Variable([1.0, 2.0], name="w")
loss = tf.reduce_sum(w)
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
saver = tf.train.Saver()
with tf.Session() as session:
    session.run(w.initializer)
    w.load([1.0, float("nan")], session)
    path = saver.save(session, "./kept")
    session.run(w.initializer)
    saver.restore(session, path)
    session.run([step, loss])
"""
    with loaded(text, tmp_path, monkeypatch, "record ./run", "run -f nan", "record off") as shell:
        found = said("why nan", shell)
        shell.open_recording("./run")
        recorded = said("why nan", shell)
        assert "nothing is written: model.py:" in said("fix 1 --write", shell) or not shell.dbg.trials.tried
    assert found.startswith("variable 'w' contains nan, as it was loaded from ./kept in w at model.py:")
    assert recorded.startswith("variable 'w' contains nan, since it was set after run 3 (before step 1), by no run")
