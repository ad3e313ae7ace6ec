"""A remedy as a change of the user's file: where it goes, what is kept, and what is never written."""

import ast
import os
import sysconfig
from pathlib import Path

import numpy as np
import pytest

import autodiff as tf
from autodiff.core.errors import ArgumentError
from autodiff.debug.analysis.advice import advice_of
from autodiff.debug.analysis.edits.clipping import ClipGradients
from autodiff.debug.analysis.edits.in_source import Argument, LowerRate, rewritten
from autodiff.debug.analysis.scripts.changes import changed
from autodiff.debug.analysis.scripts.source_tree import Source
from autodiff.debug.engine.questions.patches import _is_own
from autodiff.debug.engine.questions.trials import Trials
from cli.language.interpreter import execute, typed
from cli.model.results import Patch, error_in
from cli.model.shell import Shell
from cli.view.json_text import data
from cli.view.render import plain

from .pains import START
from .test_trials import loaded, said

HEAD = "# café ☕\n" + START
TAIL = """
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run([step, loss])
"""
EAGER = """import tensorflow as tf
tf.enable_eager_execution()
w = tf.Variable(2.0)
for step in range(8):
"""
# what the script computes -> the text that takes its place, or why nothing does
WRITTEN = {
    "loss = tf.reduce_sum(  tf.log(  w*0.0 ))  # 'é'": ("tf.log(  w*0.0 )", "tf.log(  tf.maximum(w*0.0, 1e-12) )"),
    "s = 'ü☕'; loss = tf.sqrt(w[0] * 0.0)": ("tf.sqrt(w[0] * 0.0)", "tf.sqrt((w[0] * 0.0) + 1e-12)"),
    "h = w * 0.0\nloss = tf.reduce_sum(tf.where(h > 0,\n    h / h,   # ratio\n    w))":
        ("    h / h,", "    h / tf.where(h > 0, h, tf.ones_like(h)),"),
    "loss = tf.norm(\n    w * 0.0,\n    axis=0, name='n')":
        ("tf.norm(\n    w * 0.0,\n    axis=0, name='n')", "tf.sqrt(tf.reduce_sum(tf.square(w * 0.0), axis=0) + 1e-12)"),
    "z = w * 200.0\np = tf.nn.softmax(z)\nloss = -tf.reduce_sum(tf.log(p))":
        ("tf.log(p)", "tf.nn.log_softmax(z)"),
    "y = [[0.0, 1.0]]\np = tf.nn.softmax(tf.layers.dense(w[None] * 9e3, 2))\n"
    "loss = -tf.reduce_mean(tf.reduce_sum(y * tf.log(p), axis=1))":
        ("p = tf.nn.softmax(tf.layers.dense(w[None] * 9e3, 2))\n"
         "loss = -tf.reduce_mean(tf.reduce_sum(y * tf.log(p), axis=1))",
         "logits = tf.layers.dense(w[None] * 9e3, 2)\np = tf.nn.softmax(logits)\n"
         "loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=logits))"),
    "r = tf.constant(np.float32([np.nan, 1.0]) - 0.5)\nloss = tf.reduce_sum(w * r)":
        ("np.float32([np.nan, 1.0]) - 0.5", "np.nan_to_num(np.float32([np.nan, 1.0]) - 0.5, posinf=0.0, neginf=0.0)"),
    "c = np.float32([np.inf, 1.0])\nloss = tf.reduce_sum(tf.nn.relu(w - 9.0) * c)":
        ("* c)", "* np.nan_to_num(c, posinf=0.0, neginf=0.0))"),
    "loss = tf.reduce_mean(w[:0])":
        ("tf.reduce_mean(w[:0])", "tf.div_no_nan(tf.reduce_sum(w[:0]), tf.cast(tf.size(w[:0]), tf.float32))"),
    "def net(z):\n    return tf.nn.softmax(z * 200.0, axis=0)\np = net(w)\nloss = -tf.reduce_sum(tf.log(p))":
        ("return tf.nn.softmax(z * 200.0, axis=0)\np = net(w)\nloss = -tf.reduce_sum(tf.log(p))",
         "return z * 200.0\nlogits = net(w)\np = tf.nn.softmax(logits, axis=0)\n"
         "loss = -tf.reduce_sum(tf.nn.log_softmax(logits, axis=0))"),
    "def net(z):\n    q = tf.sigmoid(z * 200.0)\n    return q\na = net(-w ** 2)\nb = net(w ** 2)\n"
    "loss = tf.reduce_sum(tf.log(a) + tf.log(1. - b))":
        ("q = tf.sigmoid(z * 200.0)\n    return q\na = net(-w ** 2)\nb = net(w ** 2)\n"
         "loss = tf.reduce_sum(tf.log(a) + tf.log(1. - b))",
         "q = z * 200.0\n    return q\nlogits = net(-w ** 2)\na = tf.sigmoid(logits)\nlogits1 = net(w ** 2)\n"
         "b = tf.sigmoid(logits1)\nloss = tf.reduce_sum(tf.log_sigmoid(logits) + tf.log_sigmoid(-logits1))"),
    "def net(z):\n    return tf.nn.softmax(z * 200.0)\nloss = -tf.reduce_sum(tf.log(net(w)))":
        "gets no name",
    "p = tf.layers.dense(w[None] * 9e3, 2, activation='softmax')\nloss = -tf.reduce_sum(tf.log(p))":
        ("p = tf.layers.dense(w[None] * 9e3, 2, activation='softmax')\nloss = -tf.reduce_sum(tf.log(p))",
         "logits = tf.layers.dense(w[None] * 9e3, 2, activation=None)\np = tf.nn.softmax(logits)\n"
         "loss = -tf.reduce_sum(tf.nn.log_softmax(logits))"),
    "class Net:\n    def make(self):\n        self.p = tf.nn.softmax(w * 200.0)\n    def judge(self):\n"
    "        return -tf.reduce_sum(tf.log(self.p))\nnet = Net()\nnet.make()\nloss = net.judge()":
        ("self.p = tf.nn.softmax(w * 200.0)\n    def judge(self):\n        return -tf.reduce_sum(tf.log(self.p))",
         "self.p_logits = w * 200.0\n        self.p = tf.nn.softmax(self.p_logits)\n    def judge(self):\n"
         "        return -tf.reduce_sum(tf.nn.log_softmax(self.p_logits))"),
    "def entropy(p, y):\n    return -tf.reduce_mean(tf.reduce_sum(y * tf.log(p), axis=1))\ny = [[0.0, 1.0]]\n"
    "z = w[None] * 200.0\nloss = entropy(y=y, p=tf.nn.softmax(z))":
        ("entropy(y=y, p=tf.nn.softmax(z))",
         "tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=z))"),
    "logits = 2.0\nfor i in range(1): p = tf.nn.softmax(tf.nn.relu(w * 200.0))\nloss = -tf.reduce_sum(tf.log(p))":
        ("tf.log(p)", "tf.nn.log_softmax(tf.nn.relu(w * 200.0))"),
    "logits = 2.0\nfor i in range(1):\n  p = tf.nn.softmax(tf.nn.relu(w * 200.0))\n  loss = -tf.reduce_sum(tf.log(p))":
        ("p = tf.nn.softmax(tf.nn.relu(w * 200.0))\n  loss = -tf.reduce_sum(tf.log(p)",
         "logits1 = tf.nn.relu(w * 200.0)\n  p = tf.nn.softmax(logits1)\n  loss = -tf.reduce_sum(tf.nn.log_softmax("
         "logits1)"),
    "import random\nif True:\n  p = tf.nn.softmax(w[:, None] * tf.layers.dense(w[None] * 2e4, 2, kernel_initializer="
    "tf.constant_initializer([[1.0, -0.5], [0.25, 0.75]])))\n"
    "loss = -tf.reduce_sum(tf.log(p))": "would be made twice",
    "def f(z):\n    return tf.log(1 + tf.exp(z))\nloss = tf.reduce_sum(f(w * 200.0) + f(w * 200.0))":
        ("tf.log(1 + tf.exp(z))", "tf.nn.softplus(z)"),
    "h = tf.layers.dense(w[:, None] * 0.0, 2, bias_initializer=tf.constant_initializer(-1.0))\n"
    "loss = tf.reduce_sum(tf.log(h))":
        ("tf.layers.dense(w[:, None] * 0.0, 2, bias_initializer=tf.constant_initializer(-1.0))",
         "tf.nn.softplus(tf.layers.dense(w[:, None] * 0.0, 2, bias_initializer=tf.constant_initializer(-1.0)))"),
    "z = w * 200.0\nloss = tf.reduce_sum((1.0 / (1.0 + tf.exp(-z)) - 0.5) ** 2)":
        ("1.0 / (1.0 + tf.exp(-z))", "tf.sigmoid(z)"),
    "z = w * 200.0\nloss = tf.reduce_sum((1.0 / (tf.exp(z - 1.0) + 1.0) - 0.5) ** 2)":
        ("1.0 / (tf.exp(z - 1.0) + 1.0)", "tf.sigmoid(-(z - 1.0))"),
    "z = w * 200.0\nloss = tf.reduce_sum((tf.exp(z) / (1.0 + tf.exp(z)) - 0.5) ** 2 + w)":
        ("tf.exp(z) / (1.0 + tf.exp(z))", "tf.sigmoid(z)"),
    "y, z = tf.constant([0.0, 1.0]), w * 200.0\np = 1 / (1 + tf.exp(-z))\n"
    "loss = -tf.reduce_sum(y * tf.log(p) + (1 - y) * tf.log(1 - p))":
        ("-tf.reduce_sum(y * tf.log(p) + (1 - y) * tf.log(1 - p))",
         "tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=z))"),
    "low = float('-inf')  # a mask\nloss = tf.reduce_sum(tf.nn.softmax(w * 0.0 + low)) + w[0]":
        ("float('-inf')", "-1e+09"),
    "z = w * 200.0\np = tf.nn.softmax(z)\nz = w\nloss = -tf.reduce_sum(tf.log(p))": "'z' is something else there",
    "def p():\n    return tf.nn.softmax(w * 200.0)\nloss = -tf.reduce_sum(tf.log(p()))": "in another function",
    "args = (w * 0.0,)\nloss = tf.reduce_sum(tf.log(*args))": "not written one by one",
    "loss = w[0] * 0.0\nloss /= w[0] * 0.0": ("loss /= w[0] * 0.0", "loss = tf.div_no_nan(loss, w[0] * 0.0)"),
    "loss = w[0] * 0.0\nloss **= 0.5": ("loss **= 0.5", "loss = tf.maximum(loss, 1e-12) ** 0.5"),
    "z = w * 0.0\nz /= tf.reduce_sum(tf.abs(z))\nloss = tf.reduce_sum(z)":
        ("tf.reduce_sum(tf.abs(z))", "(tf.reduce_sum(tf.abs(z)) + 1e-08)"),
}


@pytest.mark.parametrize("computed", WRITTEN)
def test_the_expression_is_found_and_all_else_kept(computed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                                   ) -> None:
    wanted = WRITTEN[computed]
    text = f"{HEAD}w = tf.Variable([1.0, -2.0], name='w')\n{computed}{TAIL}"
    with loaded(text, tmp_path, monkeypatch, "run -f nonfinite", "why nan") as shell:
        found = shell.dbg.edits.patch(1)
        shown = said("fix 1 --write", shell)
    assert (tmp_path / "model.py").read_text() == text
    if isinstance(wanted, str):
        assert wanted in found.why and shown.startswith("nothing is written: model.py:") and "by hand: tf." in shown
        return
    assert not found.why, found.why
    assert found.new.decode() == text.replace(*wanted, 1) and found.new.decode() != text
    assert shown.startswith("--- model.py +++ model.py @@")
    assert shown.endswith("not written: fix 1 --write --yes writes it")


def test_what_is_written_keeps_ends_of_lines_encoding_rights_and_the_old_text(tmp_path: Path,
                                                                              monkeypatch: pytest.MonkeyPatch) -> None:
    script = "# -*- coding: latin-1 -*-\n# é\n" + START + "w = tf.Variable(1.0)\nloss = tf.sqrt(w - w)" + TAIL
    data_before = script.replace("\n", "\r\n").encode("latin-1")
    with loaded(script, tmp_path, monkeypatch, "run -f nonfinite", "why nan") as shell:
        target = tmp_path / "model.py"
        target.write_bytes(data_before)
        target.chmod(0o750)
        (tmp_path / "link.py").symlink_to(target)
        (tmp_path / "model.py~").write_text("older")
        result = execute("fix 1 --write --yes", shell)
        assert error_in(result) is None, plain(result)
        again = said("fix 1 --write", shell)
    assert target.read_bytes() == data_before.replace(b"w - w", b"(w - w) + 1e-12")
    assert (tmp_path / "model.py~1").read_bytes() == data_before and (tmp_path / "model.py~").read_text() == "older"
    assert {oct(path.stat().st_mode & 0o777) for path in (target, tmp_path / "model.py~1")} == {"0o750"}
    assert "model.py is written; what it was is in model.py~1" in plain(result)
    assert "cannot be edited surely" in again  # it is not what the program ran any more


def test_yes_as_the_next_line_confirms_and_anything_else_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                                                  ) -> None:
    text = START + "w = tf.Variable(1.0)\nloss = tf.log(w - w)" + TAIL
    with loaded(text, tmp_path, monkeypatch, "run -f nonfinite", "why nan") as shell:
        assert not shell.offered
        shell.interactive = True
        for answers in (["", "yes"], ["info vars", "y"], ["n", "y"], ["y"]):
            result = execute(typed("fix 1 --write", shell), shell)
            assert "yes or no" in plain(result) and (tmp_path / "model.py").read_text() == text
            lines = [typed(answer, shell) for answer in answers]
            assert lines[0] != "n"  # an answer, and not `next`
            assert lines[0] != "fix 1 --write --no" or "nothing was written" in said(lines[0], shell)
        shown = data(result.parts[0])
        assert typed("fix 1 --write", shell) and execute("fix 1 --write", shell) and typed("no", shell).endswith("--no")
        execute(lines[-1], shell)
    assert lines == ["fix 1 --write --yes"] and isinstance(result.parts[0], Patch)
    assert shown == {"file": "model.py", "diff": shown["diff"], "backup": ""}
    assert "tf.log(tf.maximum(w - w, 1e-12))" in (tmp_path / "model.py").read_text()


def test_ctrl_c_in_the_trials_keeps_the_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Trials, "_try", interrupted)
    with loaded(START + "w = tf.Variable(1.0)\nloss = tf.log(w - w)" + TAIL, tmp_path, monkeypatch, "run -f nonfinite"
                ) as shell:
        assert "log(0) = -inf" in (shown := said("why nan", shell)) and "remedy, not tried: " in shown


def test_a_script_that_computes_its_steps_itself_runs_anew_with_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                                                         ) -> None:
    text = EAGER + "".join(f"    {line}\n" for line in (
        "with tf.GradientTape() as tape:", "    loss = tf.sqrt(w * 0.0) + w * w", "g = tape.gradient(loss, w)",
        "w.assign_sub(0.1 * g)"))
    with loaded(text, tmp_path, monkeypatch, "run -f nan", "why nan") as shell:
        shown = said("fix 1", shell)
        execute("run --times 6", shell)
        after = shell.dbg.log.records[-1].loss
        execute("fix 1 --write --yes", shell)
        written = (tmp_path / "model.py").read_text()
        execute("load", shell)
    assert "+ loss = tf.sqrt((w * 0.0) + 1e-12) + w * w" in shown and "runs from its beginning with that" in shown
    assert after is not None and 0.0 < after < 4.0
    assert written == text.replace("w * 0.0", "(w * 0.0) + 1e-12")


def test_a_file_that_is_not_the_users_is_never_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    script = str(tmp_path / "model.py")
    assert _is_own(script, script) and _is_own(str(tmp_path / "part" / "net.py"), script)
    assert not _is_own(str(tmp_path / "env" / "site-packages" / "net.py"), script)
    assert not _is_own(os.path.join(sysconfig.get_paths()["stdlib"], "random.py"), script)
    assert not _is_own(str(tmp_path.parent / "net.py"), script) and not _is_own("<prompt>", "")


def test_a_learning_rate_is_lowered_where_it_is_written_once() -> None:
    text = "RATE = 0.5\nstep = tf.train.AdamOptimizer(\n    learning_rate=RATE).minimize(loss)\n"
    assert rewritten(text, [LowerRate(0.5, 0.05)]) == text.replace("RATE = 0.5", "RATE = 0.05")
    assert "RATE = 0.01" in rewritten(text.replace("0.5", "0.1"), [LowerRate(0.10000000149, 0.01)])
    with pytest.raises(ArgumentError, match="in 2 places"):
        rewritten(text + "other = tf.train.AdamOptimizer(0.5)\n", [LowerRate(0.5, 0.05)])


@pytest.mark.parametrize(("given", "optimizer"), [
    ("flags.DEFINE_float('learning_rate', 0.5, 'what')\nflags.DEFINE_float('decay', 0.5, '')",
     "SGDOptimizer(FLAGS.learning_rate)"),
    ("p.add_argument('--learning-rate', '-l', type=float, default=0.5)\np.add_argument('--keep', default=0.5)",
     "SGDOptimizer(args.learning_rate)"),
    ("p.add_argument('-l', dest='rate', default=0.5)", "SGDOptimizer(learning_rate=args.rate)"),
    ("class Config:\n    lr: float = 0.5\n    keep = 0.5", "SGDOptimizer(Config.lr)"),
    ("config = {'lr': 0.5, 'keep': 0.5}", "SGDOptimizer(config['lr'])"),
    ("config = dict(lr=0.5, keep=0.5)", "SGDOptimizer(config['lr'])"),
    ("batch, lr = 32, 0.5", "SGDOptimizer(lr)"),
    ("def make(loss, lr=0.1):\n    return tf.train.SGDOptimizer(lr)", "make(loss, 0.5)"),
    ("class Net:\n    def __init__(self, size, lr=1e-3):\n        self.lr = lr\nnet = Net(8, lr=0.5)",
     "SGDOptimizer(net.lr)"),
    ("lr = tf.train.exponential_decay(0.5, step, 100, 0.96)", "SGDOptimizer(lr)"),
    ("from keras.optimizers import SGD", "SGD(lr=0.5)"),
])
def test_a_learning_rate_is_lowered_where_its_number_is_given(given: str, optimizer: str) -> None:
    text = f"{given}\nused = {optimizer}\n"
    changed = rewritten(text, [LowerRate(0.5, 0.05)])
    assert changed == text.replace("0.5", "0.05", 1) and changed != text


@pytest.mark.parametrize(("argument", "changed"), [
    ("base * 2", "(base * 2) * 0.1"), ("lr[step]", "lr[step] * 0.1"), ("make(0.5)", "make(0.5) * 0.1")])
def test_a_learning_rate_without_a_number_of_its_own_is_multiplied(argument: str, changed: str) -> None:
    text = f"keep = 0.5\nopt = tf.train.AdamOptimizer({argument}, epsilon=1e-4)\n"
    assert rewritten(text, [LowerRate(0.5, 0.05)]) == text.replace(argument, changed)


KERAS = """
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
model.compile(loss="mse", optimizer=tf.keras.optimizers.SGD(lr=RATE))
model.fit(np.ones((8, 3), np.float32) * 9, np.ones((8, 1), np.float32), epochs=40, verbose=0)
"""
WARMED = """w = tf.Variable([1.0, -2.0])
loss = tf.reduce_sum(w ** 2)
lr = {} * tf.minimum(1.0, {})
step = tf.train.GradientDescentOptimizer(lr).minimize(loss)
run(step, loss)
"""


@pytest.mark.parametrize(("script", "number"), [
    (KERAS, "lr=5.0"),
    ("w = tf.Variable([1.0, -2.0])\nloss = tf.reduce_sum(w ** 2)\nall_of_it = {'sgd': tf.train.MomentumOptimizer}\n"
     "step = all_of_it['sgd'](RATE, 0.1).minimize(loss)\nother = tf.train.AdamOptimizer(1.0)\nrun(step, loss)", "5.0"),
    ("w = tf.Variable([1.0, -2.0])\nloss = tf.reduce_sum(w ** 2)\nalpha = RATE\n"
     "step = w.assign_sub(alpha * tf.gradients(loss, w)[0])\nrun(step, loss)", "alpha = 5.0"),
    (WARMED.format("RATE * 4", 0.25), "tf.train.GradientDescentOptimizer(lr * 5.0"),
    (WARMED.format("RATE", 1.0), "lr = 5.0"),
])
def test_the_rate_is_found_of_the_optimizer_that_diverged(script: str, number: str, tmp_path: Path,
                                                          monkeypatch: pytest.MonkeyPatch) -> None:
    text = START + "import numpy as np\n" + RUN + script.replace("RATE", "5.0")
    with loaded(text, tmp_path, monkeypatch, "run -f nonfinite", "why nan") as shell:
        assert "the learning rate is 5 at model.py:" in said("why nan", shell)
        found = shell.dbg.edits.patch(1)
    assert not found.why, found.why
    changed = {*found.new.decode().splitlines()} - {*text.splitlines()}
    assert len(changed) == 1 and number[:-3] in changed.pop()


RUN = """
def run(step, loss):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(200):
            session.run([step, loss])
"""


TWO = """
w, v = tf.Variable([1.0, -2.0], name="w"), tf.Variable(2.0, name="v")
loss = tf.reduce_mean((w * v - 3.0) ** 2)
slow = tf.train.SLOW(1e-3).minimize(loss, var_list=[w])
fast = tf.train.GradientDescentOptimizer(5.0).minimize(loss, var_list=[v])
run([slow, fast], loss)
"""


def test_of_two_optimizers_the_gradients_of_the_one_that_diverged_are_clipped(tmp_path: Path,
                                                                              monkeypatch: pytest.MonkeyPatch) -> None:
    """As the loss falls by that as well as with a lower rate, it is told too."""
    text = START + RUN + TWO.replace("SLOW", "GradientDescentOptimizer")
    with loaded(text, tmp_path, monkeypatch, "run -f nonfinite", "why nan") as shell:
        number = 1 + next(i for i, (each, *_) in enumerate(shell.dbg.trials.tried) if each.words.startswith("clip"))
        written = shell.dbg.edits.patch(number).new.decode()
    assert "gradients, _ = tf.clip_by_global_norm(gradients, 1.0)\nfast = optimizer.apply_gradients(" in written
    assert "slow = tf.train.GradientDescentOptimizer(1e-3).minimize(" in written


@pytest.mark.parametrize("slow", ["GradientDescentOptimizer", "AdamOptimizer"])
def test_of_two_optimizers_the_rate_of_the_one_that_diverged_is_lowered(slow: str, tmp_path: Path,
                                                                        monkeypatch: pytest.MonkeyPatch) -> None:
    text = START + RUN + TWO.replace("SLOW", slow)
    with loaded(text, tmp_path, monkeypatch, "run -f nonfinite", "why nan") as shell:
        assert "the learning rate is 5 at model.py:" in said("why nan", shell)
        found = shell.dbg.edits.patch(1)
        told = {each.kind: each for each in shell.dbg.doctor().findings}
    changed = {*found.new.decode().splitlines()} - {*text.splitlines()}
    assert not found.why and len(changed) == 1 and "fast = " in changed.pop()
    high = told["learning rate too high"]
    assert "update_v" in high.op and "lower the learning rate from 5 to 0.05: " in high.remedy
    assert {"fix 1 applies it" in each.remedy for each in (high, told["inf"])} == {True}  # one remedy, one number


def test_a_learning_rate_is_lowered_where_its_schedule_begins() -> None:
    text = "rate = tf.train.exponential_decay(0.5, gs, 0.5, 0.9)\nstep = tf.train.AdamOptimizer(rate).minimize(loss)\n"
    assert "exponential_decay(0.05, gs, 0.5" in rewritten(text, [LowerRate(0.5, 0.05)])
    named = text.replace("0.5, gs, 0.5, 0.9", "learning_rate=START").replace("rate = ", "START = 0.5\nrate = ", 1)
    assert "START = 0.05" in rewritten(named, [LowerRate(0.5, 0.05)])


def test_a_loss_layer_is_given_its_word_where_it_is_made() -> None:
    text = "class Net(nn.Module):\n    def __init__(self):\n        self.ctc = nn.CTCLoss(blank=0)\n"
    with tf.Graph().as_default() as graph:
        advice_of(graph).words = (("tf.", "torch."),)
        line = Argument(tf.no_op(), "zero_infinity", "True")
    assert "CTCLoss(blank=0, zero_infinity=True)" in rewritten(text, [line])
    with pytest.raises(ArgumentError):
        rewritten(text.replace("CTC", "MSE"), [line])


def test_a_momentum_is_lowered_where_it_is_written() -> None:
    text = "t = tf.train.MomentumOptimizer(1.1, 1.1, use_nesterov=True)"
    assert "(1.1, 0.9, use" in rewritten(text, [LowerRate(1.1, 0.9, "momentum")])
    assert "momentum=0.9)" in rewritten("t = tf.train.RMSPropOptimizer(2.0, momentum=2.0)", [
        LowerRate(2.0, 0.9, "momentum")])


@pytest.mark.parametrize(("before", "after"), [
    ("    self.step = opt.minimize(\n        loss, gs, var_list=some)  # here\n",
     "    gradients, variables = zip(*opt.compute_gradients(loss, var_list=some))\n"
     "    gradients, _ = tf.clip_by_global_norm(gradients, 1.0)\n"
     "    self.step = opt.apply_gradients(zip(gradients, variables), global_step=gs)  # here\n"),
    ("    a = 1; t = Adam(0.1).minimize(loss=a, name='n')\n",
     "    a = 1; optimizer = Adam(0.1); gradients, variables = zip(*optimizer.compute_gradients(a)); "
     "gradients, _ = tf.clip_by_global_norm(gradients, 1.0); "
     "t = optimizer.apply_gradients(zip(gradients, variables), name='n')\n"),
    ("    t = opt.apply_gradients([(g, v) for g, v in pairs if g is not None], global_step=gs)\n",
     "    gradients, variables = zip(*[(g, v) for g, v in pairs if g is not None])\n"
     "    gradients, _ = tf.clip_by_global_norm(gradients, 1.0)\n"
     "    t = opt.apply_gradients(zip(gradients, variables), global_step=gs)\n"),
])
def test_gradients_are_clipped_where_they_are_applied(before: str, after: str) -> None:
    head = "import tensorflow as tf\nif True:\n"
    assert rewritten(head + before, [ClipGradients(1.0)]) == head + after
    for text, about in ((before * 2, "in 2 places"), ("    f(*x.minimize(*y))\n", "not written one by one"),
                       ("    if o.minimize(y): pass\n", "within another statement")):
        with pytest.raises(ArgumentError, match=about):
            rewritten(head + text, [ClipGradients(1.0)])


TWO_ROWS = """
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(9):
        session.run([step, loss], {x: [[1.0, 0.5], [0.3, 0.8]]})
"""


def test_a_fix_takes_back_the_update_of_what_it_mends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That was finite, and large, though the loss was nan."""
    text = START + """
x = tf.placeholder(tf.float32, [None, 2], name="x")
def layer(given, name):
    w = tf.get_variable(name, [2, 1], initializer=tf.constant_initializer(-0.5))
    return tf.matmul(given, w) + 0.1
mean = layer(x, "m")
sigma = layer(x, "s")
loss = tf.reduce_mean(tf.log(sigma) + tf.square((1.0 - mean) / sigma))
step = tf.train.AdamOptimizer(0.01).minimize(loss)
""" + TWO_ROWS
    with loaded(text, tmp_path, monkeypatch, "run -f nan") as shell:
        assert np.isfinite(shell.dbg.session.variables["s"]).all()
        assert "remedy: tf.nn.softplus where it is made" in said("why nan", shell)
        assert "variables are what they were before step 1" in said("fix 1", shell)
        assert (shell.dbg.session.variables["s"] == -0.5).all()


def test_all_logarithms_of_one_sigmoid_are_mended_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = START + """
x = tf.placeholder(tf.float32, [None, 2], name="x")
def judge(given):
    with tf.variable_scope("judge", reuse=tf.AUTO_REUSE):
        return tf.sigmoid(tf.matmul(given, tf.get_variable("w", [2, 1], initializer=tf.ones_initializer())))
real, fake = judge(x), judge(x * 30.0)
loss = -tf.reduce_mean(tf.log(real) + tf.log(1.0 - fake))
other = -tf.reduce_mean(tf.log(fake))
step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
""" + TWO_ROWS
    with loaded(text, tmp_path, monkeypatch, "run -f nonfinite") as shell:
        found = said("why nan", shell)
        assert ("remedy: tf.log_sigmoid(x); tf.log_sigmoid(-x) at model.py:9, as well as at model.py:10: x are the "
                "logits, what sigmoid is given at model.py:7") in found, found
        assert "tf.log(tf.maximum(1.0 - fake, 1e-12)) at model.py:9, as well as at model.py:10" in found, found


APART = """    with tf.GradientTape() as tape:
        loss = entropy(net(w), [0.0, 1.0])
    w.assign_sub(0.1 * tape.gradient(loss, w))
"""


def test_a_remedy_of_two_functions_is_told_in_the_names_of_both_and_not_as_applied(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    functions = ("def net(x):\n    return tf.nn.softmax(x * [200.0, -200.0])\ndef entropy(probs, target):\n"
                 "    return -tf.reduce_sum(target * tf.log(probs))\n")
    text = EAGER.replace("for ", functions + "for ") + APART
    with loaded(text, tmp_path, monkeypatch, "run -f nan", "why nan") as shell:
        why, fixed = said("why nan", shell), said("fix 1", shell)
    assert "fix 1 applies it" not in why and "it is to be written by hand" in why, why
    assert "x * [200.0, -200.0] as at line 5" in why and "labels=target" in why, why
    assert "made of is written in another function" in fixed and "<ast" not in fixed, fixed


@pytest.mark.parametrize("call, first", [("self.softmax(x)", "x"), ("x.softmax(1)", "x"), ("self.softmax()", "self"),
                                         ("other.softmax(x)", "other")])
def test_what_an_objects_own_layer_is_given_comes_first(call: str, first: str) -> None:
    source = Source(f"import torch\nclass Net:\n    def forward(self, x, other):\n        return {call}\n",
                    (("tf.nn.relu", "torch.relu"),))
    made = next(node for node in ast.walk(source.tree) if isinstance(node, ast.Call))
    assert ast.unparse(source.operand(made, tf.constant(1.0).op, 0)) == first


@pytest.mark.parametrize(("start", "made", "old", "new"), [
    ("w = tf.Variable(np.float16([1e-5, 2.0]), name='w')", "tf.train.AdamOptimizer(2e-3)", "Optimizer(2e-3)",
     "Optimizer(2e-3, epsilon=0.001)"),
    ("w = tf.Variable([1.0, -2.0], name='w')\nstep = tf.train.create_global_step()\n"
     "lr = tf.train.exponential_decay(0.05, step, 10, 1.5)", "tf.train.GradientDescentOptimizer(lr)", "10, 1.5)",
     "10, 0.95)"),
], ids=["epsilon of 16 bits", "a rate that grows"])
def test_what_an_optimizer_is_given_is_written_where_it_is_made(start: str, made: str, old: str, new: str,
                                                                tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                                                ) -> None:
    text = START + f"""
{start}
loss = tf.reduce_sum(tf.square(w))
train = {made}.minimize(loss, tf.train.get_or_create_global_step())
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(200):
        session.run([train, loss])
"""
    with loaded(text, tmp_path, monkeypatch, "run -f nonfinite") as shell:
        assert "fix 1 applies it" in (found := said("why nan", shell)), found
        assert shell.dbg.edits.patch(1).new.decode() == text.replace(old, new)


def test_an_edit_within_what_another_one_writes_is_made_in_that() -> None:
    text = "kl = tf.log(p / q) + tf.log(q / p)\n"
    inner, outer = (12, 17, "tf.div_no_nan(p, q)"), (12, 17, "tf.maximum(p / q, 1e-12)")
    assert changed(text, [outer, inner]) == "kl = tf.log(tf.maximum(tf.div_no_nan(p, q), 1e-12)) + tf.log(q / p)\n"
    with pytest.raises(ArgumentError, match="two edits"):
        changed(text, [inner, (14, 17, "2 * q")])


def test_what_is_clipped_for_nothing_is_applied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = START + """
w = tf.Variable([1.0, -2.0], name="w")
loss = tf.reduce_sum(w ** 4)
optimizer = tf.train.GradientDescentOptimizer(0.2)
pairs = optimizer.compute_gradients(loss)
slopes, _ = zip(*pairs)
clipped, _ = tf.clip_by_global_norm(slopes, 0.5)
train = optimizer.apply_gradients(pairs)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(40):
        session.run([train, loss])
"""
    with loaded(text, tmp_path, monkeypatch, "run -f nonfinite") as shell:
        found = said("why nan", shell)
        assert found.startswith("the training diverges: the gradients are clipped at model.py:9, but applied as they"
                                " are; "), found
        assert shell.dbg.edits.patch(1).new.decode() == text.replace("(pairs)\nwith", "(zip(clipped, [v for _, v in "
                                                                     "pairs]))\nwith")
        told = said("doctor", shell)
        assert "1 error clipping not applied" in told and "; fix 1 applies it" in told
        assert b"(zip(clipped, [v for _, v in pairs]))" in shell.dbg.edits.patch(1).new


@pytest.mark.parametrize("is_run", [False, True])
def test_bounds_that_no_run_keeps_are_run_too(is_run: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = START + """
w = tf.Variable([1.0, -2.0], name="w")
loss = tf.reduce_sum(w ** 2)
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
bound = tf.group(*[v.assign(tf.clip_by_value(v, -1.0, 1.0)) for v in [w]])
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(30):
        session.run([step, loss])
        if BOUND:
            session.run(bound)
""".replace("BOUND", str(is_run))
    with loaded(text, tmp_path, monkeypatch, "run") as shell:
        found = said("doctor", shell)
        assert ("never bounded" in found) != is_run, found
        if not is_run:
            new = shell.dbg.edits.patch(1).new.decode()
            assert new == text.replace("loss])\n", "loss])\n        session.run(bound)\n")


MIXTURE = """
x = tf.placeholder(tf.float32, [None, 1], name="x")
w = tf.Variable([[0.1, 0.2]], name="w")
def parts():
    p = tf.exp(w - 1.0)
    return p / tf.reduce_sum(p, 1, True), tf.exp(w)
def density(mean, size):
    far = -0.5 * tf.square((x - mean) / size)
    return tf.exp(far) / size
def error(p, size):
    both = tf.reduce_sum(density(w, size) * p, 1)
    return -tf.reduce_mean(tf.log(both))
loss = error(*parts())
step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run([step, loss], {x: [[90.0], [0.1]]})
"""


def test_what_can_be_written_comes_before_words_about_several_functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                                                        ) -> None:
    """And these words are in the script's names, with the sum's axis. A sum that is read elsewhere stays what it is."""
    text = START + MIXTURE.replace("    return -", "    tf.summary.scalar('least', tf.reduce_min(both))\n    return -")
    with loaded(text, tmp_path, monkeypatch, "run -f nonfinite") as shell:
        found = said("why nan", shell)
        assert shell.dbg.edits.patch(1).diff
    assert "remedy: tf.log(tf.maximum(both, 1e-12)) at model.py:" in found.partition("tried:")[0], found
    assert "remedy: tf.reduce_logsumexp(far - " in found and ", 1) with far as at line " in found, found


def test_a_logarithm_of_what_several_functions_make_is_taken_in_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                                                     ) -> None:
    """Of a mixture, whose data are far from all components: the clamp that leaves these no gradient comes after it."""
    with loaded(START + MIXTURE, tmp_path, monkeypatch, "run -f nonfinite") as shell:
        found = said("why nan", shell)
        written = [line[1:].strip() for line in shell.dbg.edits.patch(1).diff.splitlines() if line[:2] == "+ "]
    assert "remedy: tf.reduce_logsumexp(density(w, size) + p, 1) with logarithms in lines" in found, found
    assert found.index("fix 1 applies it") < found.index("tf.log(tf.maximum(both, 1e-12))"), found
    assert written == ["p = w - 1.0", "return p - tf.reduce_logsumexp(p, 1, True), tf.exp(w)",
                       "return far - tf.log(size)", "both = tf.reduce_logsumexp(density(w, size) + p, 1)",
                       "return -tf.reduce_mean(both)"]


def test_a_logarithm_that_is_negated_where_it_is_taken_is_put_in_parentheses(tmp_path: Path,
                                                                             monkeypatch: pytest.MonkeyPatch) -> None:
    """And what picks of exponentials picks of the exponents as it is written."""
    script = START + """x = tf.placeholder(tf.float32, [2, 2])
w = tf.Variable([[1.0, 0.0], [0.0, 1.0]])
e = tf.exp(tf.matmul(x, w) / 0.01)
own = e[:, 0]
loss = -tf.log(own / tf.reduce_sum(e, 1))[0]
step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run([step, loss], {x: [[1.0, 0.9], [0.9, 1.0]]})
"""
    with loaded(script, tmp_path, monkeypatch, "run -f nonfinite") as shell:
        said("why nan", shell)
        written = [line[1:] for line in shell.dbg.edits.patch(1).diff.splitlines() if line[:1] == "+"][1:]
    assert written == ["e = tf.matmul(x, w) / 0.01", "loss = -(own - tf.reduce_logsumexp(e, 1))[0]"], written


@pytest.mark.parametrize("rounded, mended", [
    ("tf.round(h)", "h + tf.stop_gradient(tf.round(h) - h)"),
    ("tf.floor(4.0 * h) / 4.0", "((4.0 * h) + tf.stop_gradient(tf.floor(4.0 * h) - (4.0 * h))) / 4.0"),
    ("tf.stop_gradient(h)", "h")])
def test_a_gradient_is_let_straight_past_what_rounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rounded: str,
                                                     mended: str) -> None:
    script = START + f"""x = tf.placeholder(tf.float32, [None, 2])
w, v = tf.Variable([[1.0, 0.3], [0.2, 1.0]]), tf.Variable([[1.0], [0.5]])
h = tf.matmul(x, w)
q = {rounded}
loss = tf.reduce_mean(tf.square(tf.matmul(q, v)))
step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run([step, loss], {{x: [[1.0, 0.9], [0.9, 1.0]]}})
"""
    with loaded(script, tmp_path, monkeypatch, "run") as shell:
        assert "fix 1" in said("why none", shell)
        assert f"+q = {mended}" in shell.dbg.edits.patch(1).diff


def test_the_text_of_a_line_is_that_of_the_file_as_it_was_loaded(tmp_path: Path) -> None:
    shell, texts = Shell(), []
    for size in ("3.0", "4.0"):
        (tmp_path / "model.py").write_text(f"import tensorflow as tf\nx = tf.constant({size}, name='x')\n")
        execute(f"load '{tmp_path / 'model.py'}'", shell)
        texts.append(plain(execute("info op x", shell)))
    shell.close()
    assert "tf.constant(3.0" in texts[0] and "tf.constant(4.0" in texts[1]


def test_a_run_with_a_fix_takes_the_next_element_of_a_dataset_and_no_other(tmp_path: Path,
                                                                           monkeypatch: pytest.MonkeyPatch) -> None:
    script = START + """data = tf.data.Dataset.from_tensor_slices(np.arange(1.0, 7.0, dtype="f").reshape(6, 1)).batch(2)
x = data.make_one_shot_iterator().get_next()
loss = tf.reduce_mean(tf.log(tf.nn.relu(tf.matmul(x, tf.Variable([[-1.0]])))))
seen = []
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(3):
        seen.append(session.run([tf.train.GradientDescentOptimizer(0.01).minimize(loss), loss, x])[1:])
"""
    with loaded(script, tmp_path, monkeypatch, "run -f nan") as shell:
        said("why nan", shell)
        said("fix 1", shell)
        said("run", shell)
        assert shell.script is not None
        seen = shell.script.namespace["seen"]
        assert [each.ravel().tolist() for _, each in seen] == [[1, 2], [3, 4], [5, 6]]
        assert [bool(np.isfinite(loss)) for loss, _ in seen] == [False, True, True]


def test_what_a_fix_computes_is_no_data_of_the_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = START + """x, s = tf.placeholder(tf.float32, [None, 1]), tf.placeholder(tf.float32, [])
loss = tf.reduce_mean(tf.exp(s) * tf.log(tf.nn.relu(tf.matmul(x, tf.Variable([[-1.0]])))))
step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for size in (0.0, 1000.0):
        session.run([step, loss], {x: [[1.0], [2.0]], s: size})
"""
    with loaded(script, tmp_path, monkeypatch, "run -f nan") as shell:
        for line in ("why nan", "fix 1", "run"):
            said(line, shell)
        found = shell.dbg.doctor().findings
        assert found and "nan in the data" not in {each.kind for each in found}, found
