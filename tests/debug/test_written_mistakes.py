"""The remedies of silent mistakes as changes of the user's file: where they go, and that all else is kept."""

from pathlib import Path

import pytest

from autodiff.debug.engine.questions import mended

from .pains import START
from .test_trials import loaded, said

BEGIN = """
rng = np.random.RandomState(0)
X = rng.randn(500, 10).astype(np.float32)
K = X[:, :4].argmax(1)
x = tf.placeholder(tf.float32, [None, 10]); k = tf.placeholder(tf.int32, [None])
y = tf.one_hot(k, 4)
h = tf.layers.dense(x, 20, tf.nn.tanh)
"""
TRAIN = """
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(40):
        b = rng.randint(0, 500, 32)
        session.run([step, loss], {x: X[b], k: K[b]})
"""
# Two losses of what `judge` says of what is real and what is fake, and the steps of both, `own` and `step`.
AGAINST = """entropy = lambda z, k: tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=k(z), logits=z))
against = entropy(judge(real), tf.ones_like) + entropy(judge(fake), tf.zeros_like)
loss = entropy(judge(fake), tf.ones_like)
"""
IN_TURN = """with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(24):
        fed = {noise: np.random.RandomState(i).randn(16, 3), real: 2 + np.random.RandomState(99 + i).randn(16, 2)}
        session.run([own, against], fed)
        session.run([step, loss], fed)
"""
ENTROPY = "loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=z))"
# name -> the lines, what is wrong in them, and what is written in its place
WRITTEN = {
    "a softmax around a layer": (f"z = tf.nn.softmax(tf.layers.dense(h, 4))\n{ENTROPY}",
                                 "tf.nn.softmax(tf.layers.dense(h, 4))", "tf.layers.dense(h, 4)"),
    "an activation that a layer is given": (f"z = tf.layers.dense(h, 4, activation=tf.nn.softmax)\n{ENTROPY}",
                                            "activation=tf.nn.softmax", "activation=None"),
    "the same by its place": (f"z = tf.layers.dense(h, 4, tf.nn.relu)\n{ENTROPY}", "4, tf.nn.relu", "4, None"),
    "sides of an entropy": (f"y, z = tf.layers.dense(h, 4), y\n{ENTROPY}", "labels=y, logits=z", "labels=z, logits=y"),
    "a squared error": ("z = tf.layers.dense(h, 4)\nloss = tf.reduce_mean(tf.square(y - tf.nn.softmax(z)))",
                        "tf.square(y - tf.nn.softmax(z))",
                        "tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=z)"),
    "first values that are alike": (f"V = tf.Variable(tf.ones([20, 12], tf.float32))\n"
                                    f"z = tf.layers.dense(tf.nn.tanh(tf.matmul(h, V)), 4)\n{ENTROPY}",
                                    "tf.ones([20, 12], tf.float32)",
                                    "tf.truncated_normal([20, 12], stddev=0.1, dtype=tf.float32)"),
    "those of NumPy": (f"V = tf.Variable(np.ones((20, 12)), dtype=tf.float32)\n"
                       f"z = tf.layers.dense(tf.nn.tanh(tf.matmul(h, V)) + 0.1, 4)\n{ENTROPY}",
                       "np.ones((20, 12))", "np.random.normal(0.0, 0.1, (20, 12))"),
    "those of a layer": (f"g = tf.layers.dense(h, 12, tf.nn.tanh, kernel_initializer=tf.constant_initializer(0.5))\n"
                         f"z = tf.layers.dense(g, 4)\n{ENTROPY}",
                         "tf.constant_initializer(0.5)", "tf.glorot_uniform_initializer()"),
    "one of two factors of zeros": (f"V = tf.get_variable('V', [4, 20], initializer=tf.zeros_initializer())\n"
                                    f"U = tf.get_variable('U', [4, 20], initializer=tf.constant_initializer(0.0))\n"
                                    f"z = tf.reduce_sum(h[:, None] * (U * V), 2)\n{ENTROPY}",
                                    "tf.zeros_initializer()", "tf.glorot_uniform_initializer()"),
    "what is named of all": ("p = tf.nn.softmax(tf.layers.dense(h, 4))\nloss = -tf.reduce_mean(tf.log(p))",
                             "tf.log(p)", "tf.log(tf.reduce_sum(tf.one_hot(k, 4) * p, -1, keepdims=True))"),
    "the same of its logarithm": (
        "p = tf.layers.dense(h, 4)\nloss = -tf.reduce_mean(tf.nn.log_softmax(p))", "tf.nn.log_softmax(p)",
        "tf.reduce_sum(tf.one_hot(k, 4) * tf.nn.log_softmax(p), -1, keepdims=True)"),
    "all pairs of what has no shape": (
        "of = tf.placeholder_with_default(x[:, :1], None)\n"
        "loss = tf.reduce_mean((tf.tensordot(h, tf.Variable(tf.zeros([20])), 1) - of) ** 2)", "- of",
        "- tf.squeeze(of, 1)"),
    "a mean beside a divergence": (
        "m, v = 0.1 * tf.layers.dense(h, 2), 0.1 * tf.layers.dense(h, 2)\n"
        "told = tf.layers.dense(m + tf.exp(v / 2) * tf.random_normal(tf.shape(m)), 10)\n"
        "error = tf.reduce_mean(tf.square(x - told), 1)\n"
        "loss = tf.reduce_mean(error - 0.5 * tf.reduce_sum(1 + v - m * m - tf.exp(v), 1))",
        "error = ", "error = 10 * "),
    **{name: (f"class Net:\n    def __init__(self):\n        said = .3 * tf.layers.dense(h, 1)\n        {old}\n"
              "        self.loss = tf.reduce_mean(tf.abs(said - .1 * x[:, :1] - 4))\nloss = Net().loss", old, new)
       for name, old, new in (
           ("a bound that all is below", "said = 1 + tf.maximum(1.5, said)", "said = 1 + said"),
           ("bounds on both sides", "said = tf.clip_by_value(1 + said, 2, 9)", "said = 1 + said"),
           ("bounds one around the other", "said = tf.minimum(tf.maximum(said, 1.5), 9.0)",
            "said = tf.minimum(said, 9.0)"))},
    "an axis": ("z = tf.nn.softmax(tf.layers.dense(h, 4), axis=0)\n"
                "loss = -tf.reduce_mean(tf.reduce_sum(y * tf.log(z + 1e-8), 1))", ", axis=0", ""),
    "a residual": ("loss = tf.reduce_mean(tf.layers.dense(h, 4) - y)", "tf.layers.dense(h, 4) - y",
                   "tf.square(tf.layers.dense(h, 4) - y)"),
    "a column": ("loss = tf.reduce_mean(tf.square(x[:, 0] - tf.layers.dense(h, 1)))", "- tf.layers.dense(h, 1)",
                 "- tf.squeeze(tf.layers.dense(h, 1), 1)"),
    "a weight of one class": ("z = tf.layers.dense(h, 1)\nloss = tf.reduce_mean("
                              "tf.nn.weighted_cross_entropy_with_logits(y[:, :1] * tf.nn.relu(tf.sign(x[:, 4:5])), z, "
                              "pos_weight=0.2))", "pos_weight=0.2", "pos_weight=1.0 / 0.2"),
    "weights of a mean": ("z = tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=tf.layers.dense(h, 4))\n"
                          "loss = tf.reduce_mean(tf.gather([0.2, 1.0, 2.0, 3.0], k) * tf.reduce_mean(z))",
                          "tf.reduce_mean(z)", "z"),
    "averages that no run updates": ("z = tf.layers.dense(tf.layers.batch_normalization(h, training=True), 4)\n"
                                     + ENTROPY, "tf.train.GradientDescentOptimizer(0.1).minimize(loss)",
                                     "tf.group(tf.train.GradientDescentOptimizer(0.1).minimize(loss), "
                                     "tf.get_collection(tf.GraphKeys.UPDATE_OPS))"),
    "a list of variables": ("z = tf.layers.dense(h, 4, name='last')\n" + ENTROPY + "\nmine = tf.trainable_variables("
                            "'dense')", "minimize(loss, var_list=mine)", "minimize(loss)"),
    "a sum": ("z = 9.0 * tf.layers.dense(h, 4)\n" + ENTROPY.replace("reduce_mean", "reduce_sum"), "tf.reduce_sum",
              "tf.reduce_mean"),
    "the square of a mean": ("loss = tf.square(tf.reduce_mean(tf.layers.dense(h, 4) - y))",
                             "tf.square(tf.reduce_mean(tf.layers.dense(h, 4) - y))",
                             "tf.reduce_mean(tf.square(tf.layers.dense(h, 4) - y))"),
    "units that a reshape takes for places": (
        "c = tf.layers.dense(x[:, :, None], 4)\nz = tf.reshape(tf.transpose(c, [0, 2, 1]), [-1, 4])\n"
        f"y = tf.reshape(tf.tile(y[:, None], [1, 10, 1]), [-1, 4])\n{ENTROPY}", "tf.transpose(c, [0, 2, 1])",
        "tf.transpose(tf.transpose(c, [0, 2, 1]), [0, 2, 1])"),
    "weights of places": (
        "g = tf.layers.dense(x[:, :, None], 6, tf.nn.tanh)\na = tf.nn.softmax(tf.layers.dense(g, 1))\n"
        f"z = tf.layers.dense(tf.reduce_sum(a * g, 1), 4)\n{ENTROPY}", "tf.layers.dense(g, 1)",
        "tf.layers.dense(g, 1), axis=1"),
    "a mean beside a sum": (
        "m, v = 0.1 * tf.layers.dense(h, 2), 0.1 * tf.layers.dense(h, 2)\n"
        "told = tf.layers.dense(m + tf.exp(v / 2) * tf.random_normal(tf.shape(m)), 10)\n"
        "found = tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.sigmoid(x), logits=told)\n"
        "apart = -.5 * tf.reduce_sum(1 + v - m * m - tf.exp(v))\nloss = tf.reduce_mean(found) + apart",
        "tf.reduce_mean(found)", "tf.reduce_sum(found)"),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_the_remedy_of_a_mistake_is_written_where_it_was_made(name: str, tmp_path: Path,
                                                              monkeypatch: pytest.MonkeyPatch) -> None:
    script, wrong, right = WRITTEN[name]
    text = f"{START}import numpy as np\n{BEGIN}{script}{TRAIN}".replace(right, wrong, "var_list" in wrong)
    with loaded(text, tmp_path, monkeypatch, "run") as shell:
        shell.dbg.doctor()
        found = [shell.dbg.edits.patch(n) for n in range(1, len(shell.dbg.trials.tried) + 1)]
        assert "nothing is written" not in said("fix 1 --write", shell)
    assert text.count(wrong) == 1 and text.replace(wrong, right) in [each.new.decode() for each in found]


@pytest.mark.parametrize("seconds, said_of_it", [(-1.0, "a step takes too long; fix 1"), (0.0, "fix 1")])
def test_what_is_certainly_wrong_is_written_where_there_is_no_time_to_try_it(
        seconds: float, said_of_it: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mended, "_EACH", seconds)
    monkeypatch.setattr(mended, "_SECONDS", seconds)
    script, wrong, right = WRITTEN["a softmax around a layer"]
    text = f"{START}import numpy as np\n{BEGIN}{script}{TRAIN}"
    with loaded(text, tmp_path, monkeypatch, "run") as shell:
        assert said_of_it in said("doctor", shell)
        assert shell.dbg.edits.patch(1).new.decode() == text.replace(wrong, right)


@pytest.mark.parametrize("counter", ["counted", "tf.counted"])
def test_a_schedule_is_given_the_counter_that_it_follows(counter: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                                         ) -> None:
    schedule = (f"{counter} = tf.Variable(0, trainable=False)\n"
                f"rate = tf.train.exponential_decay(0.1, {counter}, 10, 0.5)\n")
    text = f"{START}import numpy as np\n{BEGIN}{schedule}z = tf.layers.dense(h, 4)\n{ENTROPY}{TRAIN}".replace(
        "Optimizer(0.1)", "Optimizer(rate)")
    with loaded(text, tmp_path, monkeypatch, "run") as shell:
        assert "; fix 1 runs it so from its beginning" in said("doctor", shell)
        assert shell.dbg.edits.patch(1).new.decode() == text.replace("(loss)", f"(loss, global_step={counter})")
        assert "minimize(loss)" in next(f.place.text for f in shell.dbg.doctor().findings if f.place)


def test_a_line_that_no_graph_can_change_is_run_from_the_beginning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                                                   ) -> None:
    text = f"{START}import numpy as np\n{BEGIN}{WRITTEN['averages that no run updates'][0]}{TRAIN}"
    with loaded(text, tmp_path, monkeypatch, "run") as shell:
        assert "; fix 1 runs it so from its beginning" in said("doctor", shell)
        assert [f.place.line for f in shell.dbg.doctor().findings if f.kind == "not updated" and f.place] == [
            text[:text.index("step = ")].count("\n") + 1]
        assert "runs from its beginning with that" in said("fix 1", shell)
        assert "not updated" not in said("run", shell) + said("doctor", shell)
        assert "not updated" in said("load", shell) + said("run", shell) + said("doctor", shell)  # as it is again


def test_what_is_fed_is_scaled_where_it_is_fed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"{START}import numpy as np\n{BEGIN}z = tf.layers.dense(h, 4)\n{ENTROPY}{TRAIN}".replace(
        "h = ", "X = X * 900.0 + 500.0\nh = ")
    with loaded(text, tmp_path, monkeypatch, "run") as shell:
        shell.dbg.doctor()
        found = shell.dbg.edits.patch(1)
    assert not found.why and "{x: (np.asarray(X[b]) - [" in found.new.decode() and "]) / [" in found.new.decode()


def test_first_values_given_elsewhere_are_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = f"v = tf.ones([20, 12])\nV = tf.Variable(v)\nz = tf.layers.dense(tf.tanh(tf.matmul(h, V)), 4)\n{ENTROPY}"
    with loaded(f"{START}import numpy as np\n{BEGIN}{made}{TRAIN}", tmp_path, monkeypatch, "run") as shell:
        first, *_ = shell.dbg.doctor().findings
    assert first.kind == "equal initial values" and "; fix " not in first.remedy


@pytest.mark.parametrize("alone", [True, False])
def test_an_optimizer_is_given_the_variables_of_its_own_scope(alone: bool, tmp_path: Path,
                                                              monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"""{START}import numpy as np
def judge(v):
    with tf.variable_scope("judge", reuse=tf.AUTO_REUSE):
        return tf.layers.dense(tf.layers.dense(v, 8, tf.nn.tanh, name="a"), 1, name="b")
noise, real = tf.placeholder(tf.float32, [16, 3]), tf.placeholder(tf.float32, [16, 2])
with tf.variable_scope("maker"):
    fake = tf.layers.dense(noise, 2)
{AGAINST}adam = tf.train.AdamOptimizer(0.01)
own = adam.apply_gradients(adam.compute_gradients(against{', var_list=tf.trainable_variables("judge")' * alone}))
step = tf.train.AdamOptimizer(0.01).minimize(loss)
{IN_TURN}"""
    with loaded(text, tmp_path, monkeypatch, "run") as shell:
        assert "two losses train the same" in said("doctor", shell)
        new = shell.dbg.edits.patch(1).new.decode()
    assert "minimize(loss, var_list=tf.trainable_variables('maker/'))" in new
    assert ("compute_gradients(against, var_list=tf.trainable_variables('judge/'))" in new) != alone


@pytest.mark.parametrize(("scopes", "picked", "new"), [
    (("judge", "no_judge"), "tf.trainable_variables() if 'judge' in v.name", "if v.name.startswith('judge')]"),
    (("all/judge", "all/made/judge_net"), "tf.trainable_variables() if key in v.op.name", "if key + '/' in v.op.name]"),
    (("judge", "judged"), "tf.trainable_variables(scope=key)", "tf.trainable_variables(scope=key + '/')")])
def test_variables_picked_by_a_part_of_their_names(scopes: tuple[str, str], picked: str, new: str, tmp_path: Path,
                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"""{START}import numpy as np
class Two:
    def net(self, v, n, scope):
        with tf.variable_scope(scope, reuse=tf.AUTO_REUSE):
            return tf.layers.dense(tf.layers.dense(v, 8, tf.nn.tanh, name="a"), n, name="b")
    def of(self, key):
        return [v for v in {picked}]
    def train(self, loss, key=None, theirs=None):
        adam = tf.train.AdamOptimizer(0.01)
        return adam.apply_gradients(adam.compute_gradients(loss, theirs or self.of(key)))
noise, real = tf.placeholder(tf.float32, [16, 3]), tf.placeholder(tf.float32, [16, 2])
two = Two()
fake = two.net(noise, 2, {scopes[1]!r})
judge = lambda v: two.net(v, 1, {scopes[0]!r})
{AGAINST}own = two.train(against, "judge")
step = two.train(loss, theirs=tf.trainable_variables({scopes[1]!r}))
{IN_TURN}"""
    with loaded(text, tmp_path, monkeypatch, "run") as shell:
        first, *_ = shell.dbg.doctor().findings
        assert first.kind == "two losses train the same" and "of add:0 picks them by 'judge', which is in" in first.text
        assert first.place is not None and first.place.text.startswith("return [v for v in")
        assert new in shell.dbg.edits.patch(1).new.decode()


@pytest.mark.parametrize(("scopes", "picked", "new"), [
    (("img_judge", "g_net"), "mine = [v for v in every if 'g_' in v.name]", "if v.name.startswith('g_')]"),
    (("all/img_judge", "all/g_net"), "mine = []\nfor v in every:\n    if 'g_' in v.name:\n        mine.append(v)",
     "if '/g_' in v.name:"),
    (("makers", "maker"), "mine = list(filter(lambda v: v.name.startswith('maker'), every))", "startswith('maker/')"),
    (("all/judge", "all/maker"), "mine = [v for v in every if 'all' in v.name]", "tf.trainable_variables('all/maker/")])
def test_the_list_that_holds_too_much_is_to_blame(scopes: tuple[str, str], picked: str, new: str, tmp_path: Path,
                                                  monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"""{START}import numpy as np
def net(v, n, scope):
    with tf.variable_scope(scope, reuse=tf.AUTO_REUSE):
        return tf.layers.dense(tf.layers.dense(v, 8, tf.nn.tanh, name="a"), n, name="b")
noise, real = tf.placeholder(tf.float32, [16, 3]), tf.placeholder(tf.float32, [16, 2])
fake = net(noise, 2, {scopes[1]!r})
judge = lambda v: net(v, 1, {scopes[0]!r})
{AGAINST}every = tf.trainable_variables()
{picked}
theirs = [v for v in every if {scopes[0][-5:]!r} in v.name]
own = tf.train.AdamOptimizer(0.01).minimize(against, var_list=theirs)
step = tf.train.AdamOptimizer(0.01).minimize(loss, var_list=mine)
{IN_TURN}"""
    with loaded(text, tmp_path, monkeypatch, "run") as shell:
        first, *_ = shell.dbg.doctor().findings
        assert first.kind == "two losses train the same"
        assert new in shell.dbg.edits.patch(1).new.decode()
        assert "the var_list of Mean_2:0 picks them by" in first.text or "trainable_variables" in new
