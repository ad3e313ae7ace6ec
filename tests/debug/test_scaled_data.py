"""What mends a divergence: data scaled by numbers that are written, the loss at fault, what goes down furthest."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import autodiff as tf
from autodiff.debug import Debugger
from autodiff.debug.analysis.advice import advice_of
from autodiff.debug.engine.questions.came_from import since_leap

from .pains import START
from .test_trials import loaded, said

HOUSES = """
random = np.random.RandomState(0)
sizes, rooms = random.uniform(800, 4000, 64), random.randint(1, 6, 64)
data = np.c_[np.ones(64), sizes, rooms]
target = (50.0 + 0.1 * sizes + 8.0 * rooms).reshape(-1, 1)
"""
TRAINED = """
w = tf.Variable(tf.zeros([3, 1]), name="w")
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y), name="loss")
step = tf.train.GradientDescentOptimizer(0.05).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(40):
        session.run([step, loss], FEEDS)
"""
FED = ('x, y = tf.placeholder(tf.float32, [None, 3], "x"), tf.placeholder(tf.float32, [None, 1], "y")',
       "{x: data, y: target}", "{x: (np.asarray(data) - [0, 2400, 2.8]) / [1, 890, 1.3], y: target}")
KEPT = ("x = tf.constant(data, tf.float32)\ny = tf.constant(target, tf.float32)", "{}",
        "x = (tf.constant(data, tf.float32) - [0, 2400, 2.8]) / [1, 890, 1.3]")


TAKEN = ("""pairs = tf.data.Dataset.from_tensor_slices((data.astype("f"), target.astype("f"))).repeat().batch(32)
x, y = pairs.make_one_shot_iterator().get_next()  # of both""", "{}",
         ".get_next()  # of both\nx = (x - [0, ")
SLICED = (TAKEN[0].replace("x, y = ", "pair = ").replace("# of both", "\nx, y = pair"), "{}",
          "from_tensor_slices((((data.astype(\"f\") - [0, ")

COLUMNS = """
import numpy as np
random = np.random.RandomState(0)
def read():
    table = {"size": random.uniform(900, 1100, 64).astype("f"), "of it": random.uniform(0, 300, 64).astype("f")}
    return table, (0.5 * table["size"] + table["of it"]).astype("f")
READ
parts, y = pairs.repeat().batch(32).make_one_shot_iterator().get_next()
x = tf.stack([parts["size"], parts["of it"]], 1)
loss = tf.losses.mean_squared_error(y, tf.layers.dense(tf.layers.dense(x, 20), 1)[:, 0])
step = tf.train.GradientDescentOptimizer(0.05).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(40):
        session.run([step, loss])
"""
READ = {"given, told = read()\npairs = tf.data.Dataset.from_tensor_slices((given, told))":
        "given, told = read()\ngiven = dict(given, **{'of it': (given['of it'] - ",
        "def of(given, told):\n    return tf.data.Dataset.from_tensor_slices((given, told))\npairs = of(*read())":
        "def of(given, told):\n    given = dict(given, **{'of it': (given['of it'] - "}


@pytest.mark.parametrize("made", READ, ids=["made there", "an argument"])
def test_columns_of_a_dict_are_scaled_together_where_they_are_made(made: str, tmp_path: Path,
                                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is a component of what one op takes; a loss of other units comes first all the same."""
    with loaded(START + COLUMNS.replace("READ", made), tmp_path, monkeypatch, "run -f nonfinite") as shell:
        found = said("why nan", shell)
        text = shell.dbg.edits.patch(1).new.decode()
    assert "remedy: scale component " in found.partition("tried:")[0], found
    assert READ[made] in text and "given = dict(given, size=(given['size'] - " in text and "(given, (told - " in text
    with loaded(text, tmp_path, monkeypatch, "run -f nonfinite") as shell:
        assert shell.dbg.records[-1].loss < 0.1 * shell.dbg.records[1].loss


@pytest.mark.parametrize("given", [FED, KEPT, TAKEN, SLICED], ids=["fed", "constant", "taken", "sliced"])
def test_columns_are_scaled_but_not_that_of_ones(given: tuple[str, str, str], tmp_path: Path,
                                                 monkeypatch: pytest.MonkeyPatch) -> None:
    """As targets that fit then need not be scaled too, they stay what they are."""
    made, feeds, written = given
    text = START + HOUSES + made + TRAINED.replace("FEEDS", feeds)
    with loaded(text, tmp_path, monkeypatch, "run -f nonfinite") as shell:
        assert "remedy: scale " in (found := said("why nan", shell)), found
        text = shell.dbg.edits.patch(1).new.decode()
    assert written in text
    with loaded(text, tmp_path, monkeypatch, "run -f nonfinite") as shell:
        assert shell.dbg.records[-1].loss < 0.1 * shell.dbg.records[1].loss


def test_the_loss_whose_variables_outgrew_the_others_is_mended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                                               ) -> None:
    """One that is weighted with what another gives falls without a bound, and is not at fault."""
    text = START + """
random = np.random.RandomState(0)
s, a, r = (tf.placeholder(tf.float32, [None, n], name) for n, name in ((4, "s"), (3, "a"), (1, "r")))
v = tf.layers.dense(s, 1, name="critic")
log_p = tf.reduce_sum(a * tf.nn.log_softmax(tf.layers.dense(s, 3, name="actor")), 1)
fit = tf.reduce_mean(tf.square(r - v))
loss = -tf.reduce_mean(log_p * tf.stop_gradient(r - v)[:, 0])
steps = [tf.train.GradientDescentOptimizer(rate).minimize(y, var_list=tf.trainable_variables(name))
         for rate, y, name in ((9.0, fit, "critic"), (0.001, loss, "actor"))]
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(60):
        states = random.randn(32, 4)
        session.run([steps, loss], {s: states, a: np.eye(3)[random.randint(0, 3, 32)], r: 3.0 * states[:, :1]})
"""
    with loaded(text, tmp_path, monkeypatch, "run -f nonfinite") as shell:
        found = said("why nan", shell)
        assert "no lower bound" not in found and "; critic/" in found, found
        assert "remedy: lower the learning rate from 9 to" in found, found


def test_all_logarithms_of_sigmoids_of_a_function_are_mended_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                                                      ) -> None:
    text = START + """
x = tf.placeholder(tf.float32, [2], "x")
w = tf.Variable(1.0)
right = tf.log(tf.sigmoid(x[0] * w))
wrong = tf.log(1.0 - tf.sigmoid(x[1] * w))
loss = -right - wrong
step = tf.train.GradientDescentOptimizer(0.001).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(3):
        session.run([step, loss], {x: [1.0, 300.0] if i < 2 else [-300.0, 1.0]})
"""
    with loaded(text, tmp_path, monkeypatch, "run -f nonfinite") as shell:
        assert "model.py:7, as well as at model.py:6: tf.log_sigmoid(-(x[1] * w))" in said("why nan", shell)
        assert "right = tf.log_sigmoid(x[0] * w)\n" in shell.dbg.edits.patch(1).new.decode()


SUMMED = START + """
random = np.random.RandomState(0)
u, v = (tf.Variable(random.randn(n, 4).astype("f") * 1.5, name=name) for n, name in ((30, "u"), (20, "v")))
ratings = 3.0 + random.randn(30, 2).dot(random.randn(2, 20))
loss = tf.reduce_sum(tf.square(tf.matmul(u, v, transpose_b=True) - ratings), name="loss")
step = tf.train.GradientDescentOptimizer(0.02).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(40):
        session.run([step, loss])
"""


def test_a_mean_that_hardly_learns_is_told_after_a_rate_that_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                                                  ) -> None:
    """A mean of 600 numbers makes the steps 600 times smaller, where a tenth of the rate is enough."""
    with loaded(SUMMED, tmp_path, monkeypatch, "run -f nonfinite") as shell:
        found = said("why nan", shell)
        words = [remedy.words for remedy, *_ in shell.dbg.trials.tried]
    assert "the loss is a sum of 600 numbers" in found and not words[0].startswith("tf.reduce_mean"), found
    assert any(each.startswith("lower the learning rate") for each in words), words


def test_a_script_that_makes_its_own_steps_is_offered_scaled_data_before_a_lower_rate() -> None:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        w = tf.Variable([[0.5], [0.25]], name="w")
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w)), name="loss")
        slope = tf.gradients(loss, w)[0]
    graph.extras["step_call"] = "loss.backward()"
    advice_of(graph).written = lambda finding: {("train.py", 1): finding.kind}
    with tf.Session(graph=graph) as session:
        session.run(w.initializer)
        dbg = Debugger(graph, session)
        for scale in (1.0, 1e14, 1e34):
            w.load(np.full([2, 1], scale, np.float32), session)
            dbg.on_run(session, [loss, slope], {x: [[300.0, 1.0], [200.0, 2.0], [290.0, 7.0]]})
        why = dbg.why(kind="nan")
        remedies = dbg.trials.of(why)
    assert why.diverges and [*remedies[0].lines.values()] == ["inputs not scaled"]
    assert [remedy.words.partition(":")[0] for remedy in remedies] == [
        "scale what is fed for x", "lower the learning rate, ten times at first"]


def test_what_weights_multiply_is_to_blame_not_larger_targets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, feeds, _ = FED
    text = START + HOUSES + "target *= 1e4\n" + made + TRAINED.replace("FEEDS", feeds)
    with loaded(text, tmp_path, monkeypatch, "run -f nonfinite") as shell:
        found = said("why nan", shell)
    assert "was fed for 'x'" in found.partition("remedy:")[0] and "was fed for 'y'" not in found, found


JOINED = """
import numpy as np
random = np.random.RandomState(0)
one, two, three = (random.uniform(high / 2, high, [64, 1]) for high in (1, 3000, 90))
a, b, c, y = (tf.placeholder(tf.float32, [None, 1], name) for name in "abcy")
x = tf.concat([a, b, c], 1)
loss = tf.losses.mean_squared_error(y, tf.layers.dense(tf.layers.dense(x, 20), 1))
step = tf.train.GradientDescentOptimizer(0.05).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(40):
        session.run([step, loss], {a: one, b: two, c: three, y: one + 0.001 * two})
"""


def test_columns_that_are_joined_are_scaled_where_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with loaded(START + JOINED, tmp_path, monkeypatch, "run -f nonfinite") as shell:
        found = said("why nan", shell)
        said("fix 1 --write --yes", shell)
    assert "scale the data of concat: (x - mean) / std of each column, which reach 0.994, 2.97e+03" in found, found
    assert "x = (tf.concat([a, b, c], 1) - [0.75, 22" in (tmp_path / "model.py").read_text()


def test_trials_begin_before_a_variable_leapt() -> None:
    runs = [SimpleNamespace(variables={"w": np.float32(0.5 if i < 3 else 1e6 + i), "other": i}) for i in range(40)]
    assert since_leap(runs, ["w"], 20) == runs[2:22]
    assert since_leap(runs[:3], ["w"], 2) == runs[1:3]
    assert since_leap(runs[3:], ["w"], 20) == runs[-20:]
    assert since_leap([], ["w"], 20) == []


PIXELS = """
random = np.random.RandomState(0)
images = random.randint(0, 256, (64, 4, 5)).astype(np.uint8)
x = tf.placeholder(tf.uint8, [None, 4, 5], "x")
seen = tf.to_float(tf.reshape(x, [-1, 20]))
code = tf.layers.dense(seen, 6)
size = tf.reduce_mean(tf.exp(tf.layers.dense(code, 3)))
back = tf.layers.dense(code, 20)
loss = size + tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=seen, logits=back))
step = tf.train.AdamOptimizer(0.001).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(20):
        session.run([step, loss], {x: images})
"""


@pytest.mark.parametrize("text, question", [
    (PIXELS, "why nan"), (PIXELS.replace("tf.exp(", "tf.square(").replace("Adam", "GradientDescent"), "why")])
def test_pixels_are_parts_of_255_where_they_become_real_numbers(text: str, question: str, tmp_path: Path,
                                                                monkeypatch: pytest.MonkeyPatch) -> None:
    """As they are labels too, no bound that leaves them as they are is a remedy."""
    with loaded(START + text, tmp_path, monkeypatch, "run") as shell:
        found = said(question, shell)
        assert "scale the pixels fed for x: x / 255" in found.partition("tried:")[0], found
        assert question == "why" or "of pixels from 0 to 255 that nothing scales" in found and "fix 2" not in found
        assert "seen = tf.to_float(tf.reshape(x, [-1, 20])) / 255.0\n" in shell.dbg.edits.patch(1).new.decode()
