"""Causes of loud failures: what NumPy made, cut gradients, no bound, counters, adjacencies, states without a bound."""

from pathlib import Path

import pytest

import autodiff as tf
from autodiff.debug.analysis.scripts.straight_through import _arranged

from .pains import START
from .test_trials import loaded, said

RUN = """
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(STEPS):
        session.run([step, loss], FEEDS)
"""
X = 'x, y = tf.placeholder(tf.float32, [None, 4], "x"), tf.placeholder(tf.float32, [None, 1], "y")\n'
DENSE = "h = tf.layers.dense(x, 8, activation=tf.nn.tanh)\npred = tf.layers.dense(h, 1)\n"
DATA = "tf.set_random_seed(3)\nrandom = np.random.RandomState(0)\ndata = random.randn(32, 4)\ntarget = data[:, :1]\n"
PAIR = "{x: data, y: target}"

LOGGED = (DATA + "import warnings\nwarnings.simplefilter('default')\n"
          "raw = random.poisson(1.0, (32, 4)).astype('f')\nlogged = np.log(raw)\n"
          "logged = (logged - logged.mean(0)) / logged.std(0)\n" + X + DENSE +
          "loss = tf.reduce_mean(tf.square(pred - y))\nstep = tf.train.AdamOptimizer(0.01).minimize(loss)\n"
          + RUN.replace("STEPS", "3").replace("FEEDS", "{x: logged, y: target}"))
INPUTS = (DATA + "data[3, 2] = np.nan\npairs = tf.data.Dataset.from_tensor_slices({'x': data.astype('f'), "
          "'y': target.astype('f')})\ntaken = pairs.repeat().batch(32).make_one_shot_iterator().get_next()\n"
          "x, y = taken['x'], taken['y']\n" + DENSE + "loss = tf.reduce_mean(tf.square(pred - y))\n"
          "step = tf.train.AdamOptimizer(0.01).minimize(loss)\n"
          + RUN.replace("STEPS", "3").replace("FEEDS", "{}"))
DEEP = "h = tf.layers.dense(tf.layers.dense(x, 16, tf.nn.relu), 16, tf.nn.relu)\npred = tf.layers.dense(h, 1)\n"
MARGIN = (DATA + X + DEEP + "loss = tf.reduce_mean(1.0 - tf.sign(y) * pred)\n"
          "step = tf.train.GradientDescentOptimizer(0.3).minimize(loss)\n"
          + RUN.replace("STEPS", "60").replace("FEEDS", PAIR))
ERROR = (DATA + X + DEEP + "loss = tf.reduce_mean(pred - y)\n"
         "step = tf.train.GradientDescentOptimizer(0.3).minimize(loss)\n"
         + RUN.replace("STEPS", "60").replace("FEEDS", PAIR))
COUNTED = (DATA + X + "w = tf.Variable(tf.zeros([4, 1]))\nt = tf.Variable(0.0, trainable=False)\n"
           "v = tf.Variable(tf.zeros([4, 1]), trainable=False)\n"
           "loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))\ng, = tf.gradients(loss, [w])\n"
           "new = 0.999 * v + 0.001 * tf.square(g)\nhat = new / (1 - 0.999 ** t)\n"
           "with tf.control_dependencies([v.assign(new), "
           "w.assign_sub(0.01 * g / (1 - 0.9 ** t) / (tf.sqrt(hat) + 1e-8))]):\n"
           "    step = t.assign_add(1.0)\n" + RUN.replace("STEPS", "3").replace("FEEDS", PAIR))
GRAPH = (DATA + "near = (random.rand(32, 32) < 0.6).astype('f') + np.eye(32, dtype='f')\n" + X +
         "near = tf.constant(near, name='near')\nh = x\nfor i in range(5):\n"
         "    h = tf.nn.relu(tf.matmul(near, tf.matmul(h, tf.get_variable('w%d' % i, [h.shape[1], 8]))))\n"
         "loss = tf.reduce_mean(tf.square(tf.layers.dense(h, 1) - y))\n"
         "step = tf.train.GradientDescentOptimizer(0.5).minimize(loss)\n"
         + RUN.replace("STEPS", "12").replace("FEEDS", PAIR))
STATE = (DATA + "series = random.randn(8, 60, 3).astype('f') + 2\n"
         "x, y = tf.placeholder(tf.float32, [None, 60, 3], 'x'), tf.placeholder(tf.float32, [None, 1], 'y')\n"
         "cell = tf.nn.rnn_cell.LSTMCell(32, activation=tf.nn.relu)\n"
         "outputs, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)\n"
         "loss = tf.reduce_mean(tf.square(tf.layers.dense(outputs[:, -1], 1) - y))\n"
         "step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)\n"
         + RUN.replace("STEPS", "40").replace("FEEDS", "{x: series, y: series[:, -1, :1]}"))
RATE = (DATA + X + "rate = tf.nn.softplus(tf.layers.dense(x, 1)) + 90.0\n"
        "loss = tf.reduce_mean(tf.nn.log_poisson_loss(tf.abs(y) + 80.0, rate))\n"
        "step = tf.train.AdamOptimizer(0.01).minimize(loss)\n" + RUN.replace("STEPS", "3").replace("FEEDS", PAIR))
STANDARD = (DATA + "import warnings\nwarnings.simplefilter('default')\ndata[:, 2] = 49\n"
            "def standard(table):\n    mean, deviation = table.mean(0), table.std(0)\n"
            "    return (table - mean) / deviation\n"
            "columns = dict(zip('abcd', standard(data).T.astype('f')))\n"
            "pairs = tf.data.Dataset.from_tensor_slices((columns, target.astype('f'))).repeat().batch(32)\n"
            "taken, y = pairs.make_one_shot_iterator().get_next()\nx = tf.stack([taken[k] for k in 'abcd'], 1)\n"
            + DENSE + "loss = tf.reduce_mean(tf.square(pred - y))\n"
            "step = tf.train.AdamOptimizer(0.01).minimize(loss)\n"
            + RUN.replace("STEPS", "3").replace("FEEDS", "{}"))
STEPS = (DATA + "x, y = tf.placeholder(tf.float32, [None, 30, 2], 'x'), tf.placeholder(tf.float32, [None, 1], 'y')\n"
         "u = tf.Variable(tf.random_normal([2, 64], stddev=0.1))\n"
         "w = tf.Variable((np.eye(64) + 0.01 * random.randn(64, 64)).astype('f'))\n"
         "v = tf.Variable(tf.random_normal([64, 1], stddev=0.1))\nh = tf.zeros([16, 64])\n"
         "for each in tf.unstack(x, axis=1):\n    h = tf.nn.relu(tf.matmul(each, u) + tf.matmul(h, w))\n"
         "loss = tf.reduce_mean(tf.square(tf.matmul(h, v) - y))\n"
         "step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)\n"
         "def batch():\n    rows = random.rand(16, 30, 2)\n    rows[..., 1] = rows[..., 1] < 0.3\n"
         "    return {x: rows, y: rows.prod(2).sum(1, keepdims=True)}\n"
         + RUN.replace("STEPS", "8").replace("FEEDS", "batch()"))
ENTROPY = (DATA + X + "p = tf.layers.dense(tf.layers.dense(900.0 * x, 8), 4, tf.nn.softmax)\n"
           "entropy = tf.reduce_mean(tf.reduce_sum(p * tf.log(p), 1))\nloss = entropy + tf.reduce_mean(p * y)\n"
           "step = tf.train.AdamOptimizer(0.01).minimize(loss)\n"
           + RUN.replace("STEPS", "3").replace("FEEDS", PAIR))
SQUASHED = (DATA + X + "def act():\n    u = 30.0 * tf.layers.dense(x, 1) + tf.random_normal(tf.shape(y))\n"
            "    a = tf.tanh(u)\n    return a, tf.log1p(-a ** 2)\na, likely = act()\n"
            "loss = tf.reduce_mean(tf.square(a - y)) - 0.01 * tf.reduce_mean(likely)\n"
            "step = tf.train.AdamOptimizer(0.01).minimize(loss)\n"
            + RUN.replace("STEPS", "3").replace("FEEDS", PAIR))
SINKHORN = ("EPSILON = 0.01\nclass Plan(object):\n    def __init__(self, small, turns=9):\n"
            "        self.small, self.turns = small, turns\n    def __call__(self, a, b):\n"
            "        far = tf.reduce_sum(tf.square(a[:, None] - b), -1)\n        near = tf.exp(-far / self.small)\n"
            "        half = lambda turn, u, v: (turn + 1, 1.0 / tf.matmul(near, v), v)\n"
            "        _, u, v = tf.while_loop(lambda turn, u, v: turn < self.turns, half, [0, tf.ones([8, 1]),\n"
            "            tf.ones([8, 1])])\n        return tf.reduce_mean(u * near * far * tf.transpose(v))\n"
            "w = tf.Variable(np.random.RandomState(0).randn(8, 2).astype('f'))\n"
            "loss = Plan(EPSILON)(w, 3.0 + tf.random_normal([8, 2], seed=1))\n"
            "step = tf.train.AdamOptimizer(0.01).minimize(loss)\n" + RUN.replace("STEPS", "3").replace("FEEDS", "{}"))
RULED = ("from autodiff.foreign.rules import ruled\nsqrt = ruled(\n"  # a gradient of another framework's is no script's
         "    __import__('uuid').uuid4().hex, 'Sqrt', lambda op, dy: dy / (2 * op.outputs[0]), tf.sqrt)\n" + DATA + X +
         "w = tf.Variable(tf.zeros([4, 1]))\nloss = tf.reduce_mean(sqrt(tf.square(tf.matmul(x, w))) - y)\n"
         "step = tf.train.AdamOptimizer(0.01).minimize(loss)\n" + RUN.replace("STEPS", "3").replace("FEEDS", PAIR))
SPREAD = ("import warnings\nwarnings.simplefilter('default')\n"
          "def scaled(train, test):\n    mean, spread = train.mean(0), train.std(0)\n"
          "    return (train - mean) / spread, (test - mean) / spread\n" + DATA + X + DENSE +
          "data[:, 2] = 3.0\ndata, other = scaled(data, data[:8])\nloss = tf.reduce_mean(tf.square(pred - y))\n"
          "step = tf.train.AdamOptimizer(0.01).minimize(loss)\n" + RUN.replace("STEPS", "3").replace("FEEDS", PAIR))
SHARED = (DATA + X + "def linear(v, name):\n    w = tf.get_variable(name, [v.shape[1], 1])\n"
          "    out = tf.matmul(v, w) + 0.1\n    return out\n"
          "def head(v, name):\n    return linear(tf.tanh(v), name)\nmiddle = head(x, 'middle')\n"
          "scale = head(x, 'scale')\n"
          "loss = tf.reduce_mean(0.5 * tf.square((y - middle) / scale) + tf.log(scale))\n"
          "step = tf.train.AdamOptimizer(0.01).minimize(loss)\n" + RUN.replace("STEPS", "3").replace("FEEDS", PAIR))
NEGATED = (DATA + X + DEEP.replace("h, 1", "h, 3") + "label = tf.to_int32(y[:, 0] > 0)\n"
           "wrong = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=label, logits=pred)\n"
           "loss = -tf.reduce_mean(wrong) + 1e-4 * tf.nn.l2_loss(tf.trainable_variables()[0])\n"
           "step = tf.train.MomentumOptimizer(0.3, 0.9).minimize(loss)\n"
           + RUN.replace("STEPS", "60").replace("FEEDS", PAIR))
SPREADS = (DATA + X + "def layer(v, n, act=None):\n    h = tf.layers.dense(v, n)\n"
           "    return act(h) if act is not None else h\nbody = layer(x, 8, tf.nn.relu)\nmiddle = layer(body, 1)\n"
           "scale = layer(body, 1, act=tf.nn.relu)\n"
           "loss = tf.reduce_mean(0.5 * tf.square((y - middle) / scale) + tf.log(scale))\n"
           "step = tf.train.AdamOptimizer(0.01).minimize(loss)\n" + RUN.replace("STEPS", "9").replace("FEEDS", PAIR))
HELD = SPREADS.replace("def layer(v, n, act=None):\n    h = tf.layers.dense(v, n)\n"
                       "    return act(h) if act is not None else h\n",
                       "class Layer:\n    def __init__(self, act):\n        self.act = act\n"
                       "    def __call__(self, v, n):\n        return tf.layers.dense(v, n, activation=self.act)\n")
for old, new in (("layer(body, 1, act=tf.nn.relu)", "Layer(tf.nn.relu)(body, 1)"),
                 ("layer(x, 8, tf.nn.relu)", "Layer(tf.tanh)(x, 8)"), ("layer(body, 1)", "tf.layers.dense(body, 1)")):
    HELD = HELD.replace(old, new)
LISTED = (DATA + X + "specs = [(8, tf.nn.relu), (1, None)]\nh = x\nfor n, act in specs:\n"
          "    h = tf.layers.dense(h, n, activation=act)\nt = tf.cast(y > 0, tf.float32)\n"
          "loss = -tf.reduce_mean(3.0 * t * tf.log(h + 1e-7) + (1 - t) * tf.log(1 - h + 1e-7))\n"
          "step = tf.train.AdamOptimizer(0.01).minimize(loss)\n" + RUN.replace("STEPS", "9").replace("FEEDS", PAIR))
PROGRAMS = {
    "negated": (NEGATED, "it falls as what it negates grows", "loss = tf.reduce_mean(wrong) + 1e-4"),
    "spreads": (SPREADS, "= 0 at model.py:13", "scale = layer(body, 1, act=lambda v: tf.nn.softplus(v) + 1e-6)"),
    "held": (HELD, "because", "Layer(lambda v: tf.nn.softplus(v) + 1e-6)(body, 1)"),
    "listed": (LISTED, "as the last layer has none", "(8, tf.nn.relu), (1, tf.nn.sigmoid)]"),
    "spread": (SPREAD, "invalid value encountered in divide",
               "(train - mean) / (spread + 1e-08), (test - mean) / (spread + 1e-08)"),
    "shared": (SHARED, "nothing keeps add_1 above 0", "scale = tf.nn.softplus(head(x, 'scale'))"),
    "ruled": (RULED, "the gradient of Sqrt", "sqrt(tf.square(tf.matmul(x, w)) + 1e-"),
    "sinkhorn": (SINKHORN, "too small for the type", "EPSILON = 0.3\n"),
    "squashed": (SQUASHED, "log1p(-1) = -inf", "return a, 2.0 * (0.6931472 - u - tf.nn.softplus(-2.0 * u))"),
    "standard": (STANDARD, "the dataset gave nan throughout of its component 'c'",
                 "(table - mean) / (deviation + 1e-08)"),
    "logged": (LOGGED, "divide by zero encountered in log", "np.log(np.maximum(raw, 1e-08))"),
    "inputs": (INPUTS, "the dataset gave nan at row 3, column 2", "np.nan_to_num(data.astype('f'), posinf=0.0"),
    "margin": (MARGIN, "no hinge keeps the margin above 0", "tf.maximum(1.0 - tf.sign(y) * pred, 0.0)"),
    "error": (ERROR, "the mean or sum of the errors themselves", "tf.square(pred - y)"),
    "counted": (COUNTED, "t is 0, as it was in the beginning", "t = tf.Variable(1.0, trainable=False)"),
    "graph": (GRAPH, "the rows of near", "tf.maximum(tf.reduce_sum(value, -1, keepdims=True), 1e-12)"),
    "steps": (STEPS, "each step takes the state through relu", "Optimizer(0.0001)"),
    "entropy": (ENTROPY, "log(0) = -inf", "tf.reduce_sum(p * tf.nn.log_softmax("),
    "state": (STATE, "each step takes the state through relu", "LSTMCell(32, activation=tf.tanh)"),
    "rate": (RATE, "", "rate = tf.log((tf.nn.softplus(tf.layers.dense(x, 1)) + 90.0) + 1e-08)")}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_cause_is_told_and_its_remedy_written(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, cause, written = PROGRAMS[name]
    with loaded(START + text, tmp_path, monkeypatch, "run") as shell:
        found = said("why nan", shell)
        assert cause in found, found
        assert written in (new := shell.dbg.edits.patch(1).new.decode()), found
    with loaded(new, tmp_path, monkeypatch, "run") as shell:
        assert "is not finite" not in said("why nan", shell)


RIGHT = {"state": STATE.replace("activation=tf.nn.relu", "activation=tf.tanh").replace(
    "Optimizer(0.1)", "Optimizer(1e4)"),
         "graph": GRAPH.replace("near = tf.constant(near,", "near = tf.constant(near / near.sum(1, keepdims=True),")
         .replace("Optimizer(0.5)", "Optimizer(1e6)")}


@pytest.mark.parametrize("name", RIGHT)
def test_a_rate_that_is_too_high_is_not_told_as_another_cause(name: str, tmp_path: Path,
                                                              monkeypatch: pytest.MonkeyPatch) -> None:
    with loaded(START + RIGHT[name], tmp_path, monkeypatch, "run") as shell:
        found = said("why nan", shell)
        assert PROGRAMS[name][1] not in found, found


def test_what_was_arranged_anew_is_known_in_each_of_its_shapes() -> None:
    with tf.Graph().as_default():
        x = tf.tanh(tf.zeros([2, 6]), name="x")
        assert [t.dims for t in _arranged(tf.expand_dims(tf.reshape(x, [4, 3]), 1))] == [(2, 6), (4, 3), (4, 1, 3)]


def test_what_only_one_user_of_a_scale_would_be_kept_from_is_not_offered(tmp_path: Path,
                                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    with loaded(START + SHARED, tmp_path, monkeypatch, "run") as shell:
        assert "tf.maximum(scale" not in said("why nan", shell)
    alone = SHARED.replace(" / scale)", ")")
    with loaded(START + alone, tmp_path, monkeypatch, "run") as shell:
        assert "tf.maximum(scale" in said("why nan", shell)


def test_a_loss_of_data_alone_is_told_before_its_nan_and_no_bound_is_offered(tmp_path: Path,
                                                                            monkeypatch: pytest.MonkeyPatch) -> None:
    text = DATA + X + ("w = tf.Variable(tf.ones([4, 1]))\npred = tf.sigmoid(tf.matmul(x, w))\n"
                       "loss = -tf.reduce_sum(LABELS * tf.log(OF))\ng, = tf.gradients(loss, [w])\n"
                       "step = tf.no_op() if g is None else w.assign_sub(0.1 * g)\n")
    text = START + text + RUN.replace("STEPS", "3").replace("FEEDS", "{x: data, y: target > 0}")
    with loaded(text.replace("LABELS", "y").replace("OF", "y"), tmp_path, monkeypatch, "run") as shell:
        found = said("why", shell)
        assert found.startswith("the loss is computed of data alone: no trainable variable reaches it"), found
        assert "; tried: step" not in found and "not tried: compute the loss of what the model gives" in found
    with loaded(text.replace("LABELS", "pred").replace("OF", "y"), tmp_path, monkeypatch, "run") as shell:
        assert "data alone" not in said("why", shell)
