"""Training programs with a mistake that raises nothing: doctor names it first, and finds nothing in the twin."""

import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import autodiff as tf
from autodiff.debug.analysis.advice import advice_of
from autodiff.debug.analysis.findings import Finding
from autodiff.debug.analysis.mistakes.all_mistakes import explained, ranked
from autodiff.debug.analysis.mistakes.modes import _is_of_a_step
from autodiff.debug.analysis.mistakes.units import unit_findings
from cli.language.interpreter import execute
from cli.model.results import Text
from cli.model.shell import Shell

from .mistaken_programs import HEAD, PROGRAMS
from .more_mistaken_programs import MORE_PROGRAMS
from .programs_of_classes import PROGRAMS_OF_CLASSES, PROGRAMS_OF_EXAMPLES
from .programs_of_keras import KERAS, PROGRAMS_OF_KERAS
from .right_programs import RIGHT

SHOWN = {  # kinds whose remedies the remembered steps show to help
    "equal initial values", "learning rate too high", "learning rate too low", "learning rate decayed to nothing",
    "sum for mean", "inputs not scaled", "double softmax", "double sigmoid", "relu on the logits",
    "log of no probability", "targets out of range", "softmax in a hidden layer", "reshape for transpose",
    "penalty too large", "clipped too hard", "clipped by value", "clipped always", "epsilon too large",
    "vanishing gradient", "broadcast", "initial values too small", "sigmoid over classes", "squared error of classes",
    "error not squared"}


def trained(text: str, folder: Path) -> Shell:
    (folder / "model.py").write_text(HEAD + text)
    shell = Shell()
    execute(f"load {folder / 'model.py'}", shell)
    execute("run", shell)
    return shell


def findings(text: str, folder: Path) -> tuple[Finding, ...]:
    shell = trained(text, folder)
    found = shell.dbg.doctor().findings
    shell.close()
    return found


def test_a_remedy_that_somebody_has_as_lines_can_be_written(tmp_path: Path) -> None:
    shell = trained("x = tf.Variable(1.0)\nstep = tf.train.GradientDescentOptimizer(0.1).minimize(x * x)\n"
                    "session = tf.Session()\nsession.run(tf.global_variables_initializer())\nsession.run(step)\n",
                    tmp_path)
    file, advice = str(tmp_path / "model.py"), advice_of(shell.dbg.graph)
    advice.findings = lambda: [Finding(90, "habit", "", "", "", "it is bad", "call f()", "doctor", None)]
    advice.written = lambda finding: {(file, 1): "f()"} if finding.kind == "habit" else {}
    first = shell.dbg.doctor().findings[0]
    assert first.remedy == "call f(); fix 1 runs it so from its beginning"
    assert shell.dbg.edits.patch(1).new.startswith(b"f()\n")
    assert execute("why", shell).text.startswith("it is bad\nremedy: call f()")  # nothing has stopped
    advice.written = lambda finding: {}
    assert shell.dbg.doctor().findings[0].remedy == "call f()"
    shell.close()


def test_an_error_of_the_script_has_its_cause_and_remedy(tmp_path: Path) -> None:
    shell = trained("x = tf.placeholder(tf.float32, [2])\nsession = tf.Session()\nsession.run(x * 2, {x: [1.0] * 3})\n",
                    tmp_path)
    found = next(f for f in shell.dbg.doctor().findings if f.kind == "script error")
    assert shell.dbg.model.raised[2].strip() == f"remedy: {found.remedy}"
    shell.close()


@pytest.mark.parametrize(("kind", "program"), [*PROGRAMS.items(), *MORE_PROGRAMS.items(),
                                                *PROGRAMS_OF_CLASSES.items(), *PROGRAMS_OF_EXAMPLES.items()])
def test_a_mistake_comes_first_and_its_twin_has_none(kind: str, program: tuple[str, str, str], tmp_path: Path) -> None:
    text, wrong, right = program
    assert wrong in text
    first, *others = findings(text, tmp_path)
    assert not kind.startswith("learning rate") or "no step" not in {f.kind for f in others}
    assert "; tried: " in first.remedy if kind in SHOWN else (
        "tried: " in first.remedy or first.remedy.endswith("; fix 1 runs it so from its beginning"))
    assert kind not in SHOWN or "in steps 1-" in first.remedy
    assert (first.kind, first.level == "remark") == (kind.partition(":")[0], False)
    assert first.place is not None and first.place.file.endswith("model.py") and first.remedy
    harmless = findings(text.replace(wrong, right), tmp_path)
    assert [f for f in harmless if f.level != "remark"] == []


@pytest.mark.parametrize(("kind", "loss"), [
    ("no activation", "tf.losses.sparse_softmax_cross_entropy(t, dense(dense(x, 16), 4))"),
    ("two activations", "-tf.reduce_mean(tf.reduce_sum(y * tf.log(tf.nn.softmax(dense(dense(x, 24, tf.nn.relu), 4, "
     "tf.nn.relu)) + 1e-8), 1))"),
    ("relu on the logits", "tf.losses.softmax_cross_entropy(y, dense(dense(x, 24, tf.nn.relu), 4, tf.nn.relu))"),
    ("initial values too large", "tf.losses.softmax_cross_entropy(y, tf.matmul(tf.sigmoid(tf.matmul(x, "
     "tf.Variable(tf.random_normal([36, 64], stddev=3.)))), tf.Variable(tf.random_normal([64, 4]))))"),
    ("dropout is off", "tf.losses.softmax_cross_entropy(y, dense(tf.layers.dropout(dense(x, 16, tf.nn.relu), .4), 4))"),
])
def test_what_is_unusual_is_a_remark_where_the_loss_falls(kind: str, loss: str, tmp_path: Path) -> None:
    first, *others = findings(f"loss = {loss}\nfit([adam(.01).minimize(loss), loss])\n", tmp_path)
    assert (first.kind, first.level) == (kind, "remark") and all(f.level == "remark" for f in others)


@pytest.mark.parametrize("other", ["dense", "tf.identity"])
def test_an_embedding_that_a_probe_reads_needs_no_activation(other: str, tmp_path: Path) -> None:
    text = f"""a, c = tf.get_variable("a", [36, 16]), tf.get_variable("c", [16, 4])
code = tf.matmul(x, a)
likeness = tf.reduce_mean(tf.square(tf.tanh(tf.matmul(x + .1, a) if "{other}" == "dense" else x)))
loss = tf.losses.softmax_cross_entropy(y, tf.matmul(code, c)) + likeness
fit([sgd(.0).minimize(loss), loss])
"""
    kinds = {f.kind for f in findings(text, tmp_path)}
    assert ("no activation" in kinds) == (other != "dense")


def test_what_there_is_no_time_for_is_not_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shell = trained("loss = tf.losses.mean_squared_error(q, dense(p, 1))\n"
                    "fit([sgd(.1).minimize(loss), loss], near, 6)\n", tmp_path)
    assert "not all" not in shell.dbg.doctor().looked[0]
    monkeypatch.setattr("autodiff.debug.engine.questions.case_of._SECONDS", -1.0)
    diagnosis = shell.dbg.doctor()
    assert diagnosis.findings == () and ", not all of what they computed: a step takes " in diagnosis.looked[0]
    shell.close()


def test_tokens_tell_where_sequences_end_as_lengths_do(tmp_path: Path) -> None:
    before, ends, after = MORE_PROGRAMS["padding counts"][0].partition("embedded, ends,")
    assert ends and "padding counts" in {f.kind for f in findings(f"{before}embedded, None,{after}", tmp_path)}


@pytest.mark.parametrize(("kind", "program"), PROGRAMS_OF_KERAS.items())
def test_a_mistake_of_a_keras_model_is_told_with_its_line(kind: str, program: tuple[str, str, str],
                                                          tmp_path: Path) -> None:
    text, wrong, right = program
    first = findings(KERAS + text, tmp_path)[0]
    assert (first.kind, first.level == "remark") == (kind.partition(":")[0], False) and first.place is not None
    assert (HEAD + KERAS + text).splitlines()[first.place.line - 1].endswith("#!")
    assert wrong in text
    assert [f for f in findings(KERAS + text.replace(wrong, right), tmp_path) if f.level != "remark"] == []


def test_a_table_that_no_layer_made_is_not_trained_by_a_keras_model(tmp_path: Path) -> None:
    text = KERAS + """
table = keras.backend.variable(.1 * draw.randn(8, 16))
m = keras.Sequential([layers.Lambda(lambda v: tf.tanh(tf.matmul(v, table)), input_shape=(8,)),
                      layers.Dense(4, "softmax")])
m.compile("adam", "sparse_categorical_crossentropy")
m.fit(data, classes, 24, 3, verbose=0)
"""
    first = findings(text, tmp_path)[0]
    assert (first.kind, first.level) == ("no gradient", "error") and "no layer made it" in first.text
    fixed = text.replace("keras.backend.variable(.1 * draw.randn(8, 16))", "tf.constant(.1 * draw.randn(8, 16), 'f')")
    assert [f for f in findings(fixed, tmp_path) if f.level != "remark"] == []


INNER = KERAS + """
inner = keras.Sequential([layers.Dense(8, "relu", input_shape=(8,))], name="inner")
inner.set_weights(inner.get_weights())
m = keras.Sequential([layers.Lambda(lambda v: inner(v) - v, input_shape=(8,)), layers.Dense(4, "softmax")])
m.compile("adam", "sparse_categorical_crossentropy", metrics=["mae"])
m.fit(data, classes, 24, 3, verbose=0)
"""


def test_layers_that_a_lambda_calls_are_no_weights_of_the_model(tmp_path: Path) -> None:
    found = [f for f in findings(INNER.replace("inner.set_weights(inner.get_weights())", ""), tmp_path)
             if f.level == "error"]
    assert {f.target for f in found} == {"dense/kernel:0", "dense/bias:0"}
    assert "it is of inner, which a Lambda at model.py:" in found[0].text and "Lambda(" in found[0].place.text
    assert not [f for f in findings(INNER, tmp_path) if f.level == "error"]  # what the script gave it, it may keep


def test_a_number_of_the_same_variables_is_no_other_loss(tmp_path: Path) -> None:
    text = """
said = dense(dense(p, 8, tf.nn.relu, name="body"), 1, name="head")
loss, off = tf.losses.mean_squared_error(q, said), tf.reduce_mean(tf.abs(q - said))
fit([sgd(.05).minimize(loss, var_list=tf.trainable_variables("head")), off], near, 60)
"""
    assert "part of the loss" not in {f.kind for f in findings(text, tmp_path)}


@pytest.mark.parametrize("name", RIGHT)
def test_nothing_is_said_against_what_is_right(name: str, tmp_path: Path) -> None:
    found = findings(RIGHT[name], tmp_path)
    assert [(f.kind, f.text) for f in found if f.level != "remark"] == []
    assert name != "clipping that never bites" or "clipping never bites" in {f.kind for f in found}
    assert "batch norm in evaluation mode" not in {f.kind for f in found}


def test_a_model_that_only_predicts_is_said_to_lead_to_what_it_predicts(tmp_path: Path) -> None:
    found = findings(KERAS + """
def made():
    return keras.Sequential([layers.Dense(4, "softmax", input_shape=(8,), name=f"answers_{len(models)}")])
models = []
models += [made()]
models += [made()]
models[1].compile("adam", "sparse_categorical_crossentropy")
models[0].predict(data)
models[1].fit(data, classes, 24, 3, verbose=0)
""", tmp_path)
    assert "VarIsInitialized" not in str(found)


def test_what_is_half_built_where_the_script_ends_lacks_no_gradient(tmp_path: Path) -> None:
    found = findings("""
h = tf.layers.dense(p, 4, kernel_regularizer=tf.contrib.layers.l2_regularizer(.1))
tf.matmul(h, tf.zeros([3, 1]))
""", tmp_path)
    assert {f.kind for f in found if f.level != "remark"} == {"script error"}


def test_doctor_looks_at_the_graph_that_trained_where_another_ran_since(tmp_path: Path) -> None:
    shell = trained("""
fit(sgd(.1).minimize(tf.losses.softmax_cross_entropy(y, dense(x, 4))), steps=2)
with tf.Graph().as_default(), tf.Session() as session:
    w = tf.Variable(1.0, trainable=False)
    session.run(w.initializer)
    session.run(w * 2)
""", tmp_path)
    assert shell.dbg.doctor().looked[0].startswith("step 2, 2 of 2 training steps")
    assert "x:0" in shell.dbg.resolve("x")
    shell.close()


def test_doctor_fails_on_errors_that_are_not_ignored_and_says_what_it_looked_at(tmp_path: Path) -> None:
    text, wrong, right = PROGRAMS["mean of integers"]
    shell = trained(text, tmp_path)
    assert execute("doctor", shell).exit_code == 0 and execute("doctor --fail", shell).exit_code == 3
    ignored = execute("doctor --fail --ignore 'mean of integers, dead units'", shell)
    shell.close()
    assert ignored.exit_code == 0 and isinstance(ignored, Text)
    assert ignored.text.startswith("nothing looks wrong (step 40, 12 of 40 training steps, 1 to 40, loss 1.")


def test_a_script_without_a_graph_was_not_looked_at(tmp_path: Path) -> None:
    tf.reset_default_graph()
    (tmp_path / "model.py").write_text("x = 1\n")
    shell = Shell()
    execute(f"load {tmp_path / 'model.py'}", shell)
    execute("run", shell)
    assert "nothing was looked at" in execute("doctor", shell).text
    shell.close()


def test_doctor_reads_a_recording(tmp_path: Path) -> None:
    shell = trained(PROGRAMS["relu on the logits"][0], tmp_path)
    execute(f"record '{tmp_path / 'some.rec'}' steps 1:41", shell)
    execute(f"load '{tmp_path / 'some.rec'}'", shell)
    found = shell.dbg.doctor().findings
    shell.close()
    assert found[0].kind == "relu on the logits" and "are 0" in found[0].text


def test_relu_before_a_log_softmax_that_labels_weigh(tmp_path: Path) -> None:
    found = findings('''
loss = -tf.reduce_mean(tf.reduce_sum(y * tf.nn.log_softmax(dense(x, 4, tf.nn.relu)), 1))
fit([adam(.01).minimize(loss), loss])
''', tmp_path)
    assert "relu on the logits" in [f.kind for f in found]


def test_a_loss_made_by_a_function_is_told_at_its_call(tmp_path: Path) -> None:
    found = findings('''
far = lambda a, b: tf.reduce_mean(tf.square(a - b))
one = far(dense(p, 1), q)
other = far(dense(p, 1), q[:, 0])
fit(adam(.01).minimize(one + other), near, 4)
''', tmp_path)
    assert [f.place.text for f in found if f.kind == "broadcast" and f.place] == ["other = far(dense(p, 1), q[:, 0])"]


@pytest.mark.parametrize(("kind", "text"), [
    ("inputs not scaled", "loss = tf.losses.sparse_softmax_cross_entropy(t, dense(dense(x, 32, tf.sigmoid), 4))\n"
     "fit([adam(.05).minimize(loss), loss], lambda i: {x: X[i * 8:][:32] * 255, t: T[i * 8:][:32]})"),
    ("broadcast", "loss = tf.reduce_mean(tf.square(dense(p, 1) - q[:, 0]))\n"
     "fit([adam(.3).minimize(loss), loss], near)"),
    ("wrong sign", "won, done = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int32, [None])\n"
     "better = tf.stop_gradient(won - dense(p, 1)[:, 0])\n"
     "likely = tf.reduce_sum(tf.nn.softmax(dense(p, 2)) * tf.one_hot(done, 2), 1)\n"
     "fit(adam(.01).minimize(tf.reduce_mean(tf.log(likely + 1e-8) * better)),\n"
     "    lambda i: {p: points[:32], done: rng.randint(0, 2, 32), won: rng.rand(32)}, 4)"),
    ("too few steps", "loss = tf.losses.mean_squared_error(q, dense(p, 1))\n"
     "fit(sgd(.001).minimize(loss), lambda i: {p: points, q: sums}, 3)"),
    ("script error", "fit(sgd(.1).minimize(tf.losses.mean_squared_error(q, dense(p, 1))), near, 3)\nfit[0]")])
def test_what_harms_though_the_loss_falls_is_told(kind: str, text: str, tmp_path: Path) -> None:
    first = findings(text, tmp_path)[0]
    assert (first.kind, first.level == "remark") == (kind.partition(":")[0], False) and first.place is not None
    assert kind != "script error" or "TypeError" in first.text and first.place.text == "fit[0]"


def test_a_rate_that_grows_is_told_with_what_it_grows_to(tmp_path: Path) -> None:
    first = findings("rate = tf.placeholder(tf.float32, [])\n"
                     "loss = tf.losses.sparse_softmax_cross_entropy(t, dense(dense(x, 16, tf.nn.relu), 4))\n"
                     "fit([adam(rate).minimize(loss), loss], lambda i: {**fed(i), rate: .001 * 1.3 ** i})",
                     tmp_path)[0]
    assert first.kind == "learning rate too high" and "the rate grows from 0.001 to 27.8 by step 40" in first.text


def test_a_variable_that_a_loop_reads_by_its_name_may_be_not_finite(tmp_path: Path) -> None:
    found = findings('''
large = tf.constant_initializer(9.)
cell = tf.keras.layers.SimpleRNN(3, activation="relu", recurrent_initializer=large, input_shape=(12, 3))
m = tf.keras.Sequential([cell, tf.keras.layers.Dense(1)])
m.compile("sgd", "mse")
m.fit(X.reshape(400, 12, 3)[:32], T[:32], batch_size=8, verbose=0)
''', tmp_path)
    assert found[0].kind == "growing loop" and "inf" in [f.kind for f in found]


def test_an_error_that_follows_from_a_loss_of_nan_comes_after_its_cause(tmp_path: Path) -> None:
    found = findings("fit(sgd(1e25).minimize(tf.losses.mean_squared_error(q, dense(p, 1))), near, 6)\nfit[0]", tmp_path)
    assert [f.kind for f in found][0] == "learning rate too high" and "script error" in [f.kind for f in found]


def test_what_nothing_takes_of_what_is_fed_is_a_remark(tmp_path: Path) -> None:
    loss = "tf.losses.sparse_softmax_cross_entropy(t, dense(x, 4))"
    found = findings(f"fit(adam(.01).minimize({loss}), steps=4)", tmp_path)
    assert [(f.target, f.level) for f in found if f.kind == "fed in vain"] == [("y:0", "remark")]


@pytest.mark.parametrize("how, sign", [("assign_add", []), ("assign_sub", ["wrong sign"])])
def test_a_gain_is_climbed(how: str, sign: list[str], tmp_path: Path) -> None:
    found = findings(f'''
w = tf.Variable(tf.zeros([3, 1]))
gain = -tf.reduce_mean(tf.square(tf.matmul(p, w) - q))
fit([w.{how}(.05 * tf.gradients(gain, w)[0]), gain], near, 8)
''', tmp_path)
    assert [f.kind for f in found] == sign


@pytest.mark.parametrize("rate, kinds", [
    ("tf.reduce_mean(r)", []), ("tf.reduce_mean(0. * q)", ["log of no probability"])])
def test_the_logarithm_of_a_rate_is_of_no_probability_that_lacks(rate: str, kinds: list[str], tmp_path: Path) -> None:
    found = findings(f'''
r = dense(p, 1)
fit(sgd(.001).minimize({rate} - tf.reduce_mean(tf.abs(q) * tf.log(r))), near, 6)
''', tmp_path)
    assert [f.kind for f in found if f.kind == "log of no probability"] == kinds


@pytest.mark.parametrize("y, climbed", [
    ("-.5 * tf.reduce_sum(tf.square(z - 2), 1)", True), ("tf.reduce_sum(tf.square(z - 2), 1)", False),
    ("tf.reduce_logsumexp(tf.stack([-tf.reduce_sum((z - 2) ** 2, 1), -tf.reduce_sum((z + 2) ** 2, 1)]), 0)", True),
    ("tf.log(tf.abs(tf.reduce_sum(tf.exp(-tf.square(z - 1)), 1)))", True)])
def test_a_density_is_climbed(y: str, climbed: bool, tmp_path: Path) -> None:
    found = findings(f'''
z = tf.Variable(.3 * tf.ones([9, 2]))
density = tf.reduce_sum({y})
fit([z.assign_add(.02 * tf.gradients(density, z)[0]), density], steps=8)
''', tmp_path)
    assert ("wrong sign" not in [f.kind for f in found]) is climbed


def test_statistics_that_are_0_and_1_at_first_are_no_flags(tmp_path: Path) -> None:
    found = findings('''
best = tf.reduce_max(dense(x, 8), 1) + tf.placeholder_with_default(tf.zeros([32]), [32])
done = tf.placeholder(tf.float32, [32])
fit([adam(.01).minimize(tf.reduce_mean(tf.square(best - 1))), best], lambda i: {x: X[:32], done: i * np.ones(32)}, 6)
''', tmp_path)
    assert [f.level for f in found if f.kind == "fed in vain"] == ["remark"]


MEANT = ['''
likely = tf.nn.log_softmax(dense(x, 4))
heavy = tf.placeholder_with_default([1., 2., 3., 1.], [4])  # weights of classes
fit([adam(.01).minimize(-tf.reduce_mean(tf.reduce_sum(heavy * likely, 1)))], lambda i: {x: X[:32]}, 6)
''', '''
table = tf.Variable(tf.random_normal([9]))
spot = tf.minimum(tf.reshape(x, [-1])[:32], 6.5)
low = tf.cast(spot, tf.int32)
between = tf.gather(table, low) + (spot - tf.cast(low, tf.float32)) * tf.gather(table, low + 1)
fit([adam(.01).minimize(tf.reduce_mean(tf.square(between - 1)))], lambda i: {x: np.abs(X[:32] * 3)}, 6)
''', '''
chosen = tf.where(t > 1)[:, 0]  # as many as there are
hits = tf.reduce_mean(tf.cast(tf.equal(tf.reshape(tf.range(32, dtype=tf.int64), [32, 1]), chosen), tf.float32))
fit([adam(.01).minimize(tf.reduce_mean(tf.square(dense(x, 4)))), hits], lambda i: {x: X[:32], t: T[:32]}, 6)
''']


@pytest.mark.parametrize("text", MEANT)
def test_weights_of_classes_places_between_elements_and_choices_are_meant(text: str, tmp_path: Path) -> None:
    assert {"labels out of range", "cast cuts fractions", "compared crosswise", "script error"}.isdisjoint(
        f.kind for f in findings(text, tmp_path))


@pytest.mark.parametrize("use, told", [("tf.nn.softmax(p)", False), ("tf.exp(p)", True)])
def test_what_is_fed_to_leave_elements_out_of_a_softmax_is_meant(use: str, told: bool, tmp_path: Path) -> None:
    found = findings(f"fit([sgd(.1).minimize(tf.reduce_mean(tf.square({use} * dense(x, 3))))], lambda i: {{x: X[:32], "
                     "p: np.where(np.arange(3) == i % 3, -np.inf, points[:32])}, 6)\n", tmp_path)
    assert ("nan in the data" in [f.kind for f in found]) is ("masked inf" in [f.kind for f in found]) is told


@pytest.mark.parametrize("loss, told", [("tf.sqrt(z - z)", False), ("tf.square(z)", True)])
def test_data_that_is_nan_after_the_variables_are_is_made_with_them(loss: str, told: bool, tmp_path: Path) -> None:
    found = findings(f"z = dense(p, 1)\nfit([sgd(.1).minimize(tf.reduce_mean({loss}))], "
                     "lambda i: {p: points[:32] * (np.nan if i > 1 else 1.)}, 6)\n", tmp_path)
    assert ("nan in the data" in [f.kind for f in found]) is told


def test_one_question_for_each_example_is_no_row_of_classes(tmp_path: Path) -> None:
    found = findings('''
is_large = tf.placeholder(tf.float32, [32])
z = tf.reshape(dense(x, 1), [32])
loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=is_large, logits=z))
fit([sgd(.001).minimize(loss), loss], lambda i: {x: X[i * 8:][:32], is_large: (T[i * 8:][:32] > 1) * 1.}, 10)
''', tmp_path)
    assert "binary cross entropy of classes" not in [f.kind for f in found]


def test_a_sign_that_is_turned_twice_is_wrong_where_it_is_turned_last(tmp_path: Path) -> None:
    found = findings('''
mu, logvar = dense(x, 3), dense(x, 3)
errors = tf.reduce_sum(tf.square(dense(mu + tf.exp(.5 * logvar) * tf.random_normal(tf.shape(mu)), 36) - x), 1)
apart = -.5 * tf.reduce_sum(1 + logvar - tf.square(mu) - tf.exp(logvar), 1)
loss = tf.reduce_mean(errors - apart)
fit([adam(.002).minimize(loss), loss], steps=10)
''', tmp_path)
    assert [f.place.text for f in found if f.kind == "wrong sign" and f.place] == [
        "loss = tf.reduce_mean(errors - apart)"]


def test_a_likelihood_that_is_a_part_of_the_loss_is_turned_there(tmp_path: Path) -> None:
    found = findings('''
won, done = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int32, [None])
value, likely = dense(p, 1)[:, 0], tf.nn.log_softmax(dense(p, 2))
chosen = tf.reduce_mean(tf.reduce_sum(likely * tf.one_hot(done, 2), 1) * tf.stop_gradient(won - value))
loss = chosen + .5 * tf.reduce_mean(tf.square(won - value))
fit([adam(.01).minimize(loss), loss], lambda i: {p: points[:32], done: rng.randint(0, 2, 32), won: rng.rand(32)}, 9)
''', tmp_path)
    first = next(f for f in found if f.kind == "wrong sign")
    assert first.place is not None and first.place.text.startswith("chosen = ") and "fix 1" in first.remedy


def test_the_best_may_be_picked_where_it_stands(tmp_path: Path) -> None:
    found = findings('''
q_of = tf.layers.Dense(2)
after = q_of(tf.sin(p))
best = tf.reshape(q, [-1]) + .9 * tf.gather(after, tf.argmax(after, 1), batch_dims=1)
loss = tf.reduce_mean(tf.square(best - q_of(p)[:, 0]))
fit([adam(.001).minimize(loss), loss], near, 8)
''', tmp_path)
    assert "target is trained" in [f.kind for f in found]


def test_a_copy_of_the_network_that_is_trained_too_is_no_target(tmp_path: Path) -> None:
    program = '''
after = WRAPPED(tf.layers.dense(tf.sin(p), 2, name="target"))
loss = tf.reduce_mean(tf.square(tf.reshape(q, [-1]) + .9 * tf.reduce_max(after, 1) - tf.layers.dense(p, 2)[:, 0]))
fit([adam(.001).minimize(loss), loss], near, 8)
'''
    (found,) = (f for f in findings(program.replace("WRAPPED", ""), tmp_path) if f.kind == "target is trained")
    assert "variables of its own make (target/bias" in found.text
    right = findings(program.replace("WRAPPED", "tf.stop_gradient"), tmp_path)
    assert "target is trained" not in [f.kind for f in right]


def test_a_nan_is_told_with_the_row_that_was_fed(tmp_path: Path) -> None:
    found = findings('''
lengths = tf.placeholder(tf.int32, [None], name="lengths")
mask = tf.expand_dims(tf.sequence_mask(lengths, 3, dtype=tf.float32), 2)
mean = tf.reduce_sum(dense(tf.expand_dims(p, 2), 2) * mask, 1) / tf.reduce_sum(mask, 1)
loss = tf.losses.mean_squared_error(q, dense(mean, 1))
fit([adam(.01).minimize(loss), loss], lambda i: {**near(i), lengths: np.arange(32) + i % 2}, 4)
''', tmp_path)
    assert (found[0].kind, found[0].op_type) == ("nan", "RealDiv")
    assert "0 / 0 = nan in truediv; because 0 was fed for 'lengths' at row 0" in found[0].text


def test_a_train_op_for_each_run_makes_the_graph_grow(tmp_path: Path) -> None:
    found = findings('''
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(x, 4))
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(5):
        session.run(sgd(.1).minimize(loss), fed(i))
''', tmp_path)
    assert (found[0].kind, found[0].op) == ("graph grows", "GradientDescent")


OTHERS = {  # kind and the same otherwise made: program, what is wrong in it, what mends it
    "not updated": ('''
h = tf.layers.batch_normalization(dense(x, 8), training=tf.placeholder_with_default(True, []))
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(tf.nn.relu(h), 4))
train = adam(.01).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(12):
        session.run([train, loss], fed(i))
        session.run(loss, {**fed(i), "PlaceholderWithDefault:0": False})
''', "train = adam(.01).minimize(loss)",
        "train = tf.group(adam(.01).minimize(loss), tf.get_collection(tf.GraphKeys.UPDATE_OPS))"),
    "not updated: by Keras": ('''
norm = tf.keras.layers.BatchNormalization()
h = norm(dense(x, 8), training=tf.placeholder_with_default(True, []))
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(tf.nn.relu(h), 4))
with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
    train = adam(.01).minimize(loss)
fit([train, loss])
''', "train = adam(.01).minimize(loss)", "train = tf.group(adam(.01).minimize(loss), norm.updates)"),
    "penalty left out": ('''
layer = tf.keras.layers.Dense(4, kernel_regularizer="l2")
loss = tf.losses.sparse_softmax_cross_entropy(t, layer(x)) + tf.losses.get_regularization_loss()
fit([adam(.01).minimize(loss), loss])
''', "tf.losses.get_regularization_loss()", "tf.add_n(layer.losses)"),
    "mask the wrong way round": ('''
ids = tf.placeholder(tf.int32, [None, 5])
read = tf.nn.embedding_lookup(tf.get_variable("e", [9, 8]), ids)
mask = tf.cast(tf.not_equal(ids, 0), tf.float32)
shares = tf.nn.softmax(tf.reduce_sum(read * tf.get_variable("q", [8]), -1) + mask * -1e9)
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(tf.reduce_sum(read * shares[:, :, None], 1), 4))
train = adam(.01).minimize(loss)
fit([train, loss], lambda i: {t: T[:32], ids: rng.randint(1, 9, (32, 5)) * (np.arange(5) < 1 + T[:32, None])}, steps=5)
''', "mask * -1e9", "(1 - mask) * -1e9"),
    "targets are the inputs": ('''
ids, following = (tf.placeholder(tf.int32, [None, 6]) for _ in range(2))
told, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(8), tf.one_hot(ids, 5), dtype=tf.float32)
loss = tf.losses.sparse_softmax_cross_entropy(following, dense(told, 5))
train = adam(.01).minimize(loss)

def read(i):
    text = rng.randint(0, 5, (8, 7))
    return {ids: text[:, :-1], following: np.roll(text[:, :-1], 1, 1)}

fit([train, loss], read, steps=5)
''', "np.roll(text[:, :-1], 1, 1)", "text[:, 1:]"),
    "no activation": ('''
a, c = tf.get_variable("a", [3, 16]), tf.get_variable("c", [16], initializer=tf.zeros_initializer())
h = tf.identity(tf.matmul(p, a) + tf.broadcast_to(c, [50, 16]))
loss = tf.reduce_mean(tf.square(dense(h, 1) - tf.reduce_sum(p[:, :2], 1, keepdims=True) ** 2))
fit([adam(.01).minimize(loss), loss], lambda i: {p: rng.randn(50, 3) + [0, 0, 2]}, 40)
''', "tf.identity(", "tf.nn.relu("),
    "flattened in another order": ('''
ids, following = (tf.placeholder(tf.int32, [None, 6]) for _ in range(2))
rows = tf.reshape(tf.transpose(dense(tf.one_hot(ids, 5), 5), [1, 0, 2]), [-1, 5])
loss = tf.losses.sparse_softmax_cross_entropy(tf.reshape(following, [-1]), rows)
train = adam(.02).minimize(loss)
fit([train, loss], lambda i: {ids: (text := rng.randint(0, 5, (8, 6))), following: 4 - text}, steps=24)
''', "tf.transpose(dense(tf.one_hot(ids, 5), 5), [1, 0, 2])", "dense(tf.one_hot(ids, 5), 5)"),
    "classes of no weight": ('''
kind = tf.placeholder(tf.int32, [None])
loss = tf.losses.sparse_softmax_cross_entropy(kind, dense(x, 6), tf.gather([1., 1., 0., 0., 0., 0.], kind))
train = adam(.1).minimize(loss)
fit([train, loss], lambda i: {kind: (k := rng.randint(0, 36, 24)) % 6, x: np.eye(36)[k]}, steps=20)
''', "0., 0., 0., 0.", "1., 1., 1., 1."),
    "fed in vain": ('''
user, item, stars = (tf.placeholder(kind, [None]) for kind in (tf.int32, tf.int32, tf.float32))
users, items = (tf.Variable(tf.random_normal([9, 4], stddev=.3)) for _ in range(2))
pair = tf.gather(users, user) * tf.gather(items, user)
loss = tf.reduce_mean(tf.square(tf.reduce_sum(pair, 1) - stars))
train = adam(.01).minimize(loss)
fit([train, loss], lambda i: {user: T[i:i + 32], item: T[i:i + 32] + 1, stars: T[i:i + 32]}, steps=5)
''', "tf.gather(items, user)", "tf.gather(items, item)"),
    "same batch": ('''
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(x, 4))
train = adam(.01).minimize(loss)
fit([train, loss], lambda i: {x: X[(k := i * 16 % 320 // (320 // 8)):k + 16], t: T[k:k + 16]}, steps=30)
''', "% 320 // (320 // 8)", "% 320"),
    "labels do not follow from inputs": ('''
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(x, 4))
train = adam(.01).minimize(loss)
fit([train, loss], lambda i: {x: X[i * 30:i * 30 + 30], t: T[0 * i:0 * i + 30]}, steps=12)
''', "T[0 * i:0 * i + 30]", "T[30 * i:30 * i + 30]"),
    "compared with itself": ('''
scores = dense(x, 4)
same = tf.equal(tf.argmax(scores, 1), tf.argmax(y, 1)), tf.equal(tf.argmax(y, 1), tf.argmax(y, 1))
fit([adam(.01).minimize(tf.reduce_mean(entropy(labels=y, logits=scores))), *same], steps=3)
''', "tf.equal(tf.argmax(y, 1), tf.argmax(y, 1))", "tf.equal(tf.argmax(y, 1)[:, None], tf.argmax(y, 1)[None])"),
    "logits for probabilities": ('''
told, truth = dense(p, 1), tf.cast(q > 0, tf.float32)
right = tf.equal(tf.round(told), truth), tf.equal(told > .5, q > 0)
loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=truth, logits=told))
fit([adam(.01).minimize(loss), right], near, 3)
''', "told), truth), tf.equal(told >", "tf.sigmoid(told)), truth), tf.equal(tf.sigmoid(told) >"),
    "wrong sign": ('''
h = dense(p, 1, tf.sigmoid)
fed_truth = tf.placeholder(tf.float32, [None, 1])
loss = tf.reduce_mean(-fed_truth * tf.log(h + 1e-7) + (1 - fed_truth) * tf.log(1 - h + 1e-7))
fit([sgd(.1).minimize(loss), loss], lambda i: {p: points[:50], fed_truth: sums[:50] > 0}, 12)
''', "+ (1 - fed", "- (1 - fed"),
    "learning rate decayed to nothing": ('''
rate = tf.Variable(.1, trainable=False)
loss = tf.reduce_mean(tf.square(dense(dense(p, 8, tf.nn.tanh), 1) - q))
fit([sgd(rate).minimize(loss), rate.assign(rate * .8), loss], near, 40)
''', "* .8", "* .97"),
    "inputs scaled otherwise": ('''
loss = tf.reduce_mean(tf.square(dense(p, 1) - q))
train = sgd(.01).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(8):
        session.run(train, near(i))
    session.run(loss, near(i, 100.))
''', "near(i, 100.)", "near(i, 2.)"),
    "metric never reset": ('''
scores = dense(x, 4)
train = adam(.01).minimize(tf.losses.sparse_softmax_cross_entropy(t, scores))
share, add = tf.metrics.accuracy(t, tf.argmax(scores, 1))
reset = tf.variables_initializer(tf.local_variables())
with tf.Session() as session:
    session.run([tf.global_variables_initializer(), reset])
    for i in range(3):
        session.run(train, fed(i))
        session.run([]), session.run(add, fed(i))
''', "run([])", "run(reset)"),
    "initialized again": ('''
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(x, 4))
train, start = adam(.01).minimize(loss), tf.global_variables_initializer()
with tf.Session() as session:
    session.run(start)
    for epoch in range(3):
        session.run(start)
        for k in range(0, 400, 25):
            session.run(train, {x: X[k:k + 25], t: T[k:k + 25]})
''', "        session.run(start)\n", ""),
    "copied too late": ('''
w, before = (tf.Variable(tf.zeros([3, 1]), trainable=trained) for trained in (True, False))
loss = tf.reduce_mean(tf.square(tf.matmul(p, w) - q))
train, keep, moved = sgd(.01).minimize(loss), before.assign(w), tf.norm(w - before)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(6):
        session.run(train, near(i)), session.run(keep)
        session.run(moved)
''', "session.run(train, near(i)), session.run(keep)", "session.run(keep), session.run(train, near(i))"),
    "learning rate too high": ('''
loss = tf.losses.mean_squared_error(q, dense(dense(p, 8, tf.nn.relu), 1))
fit([tf.train.MomentumOptimizer(1., .9).minimize(loss), loss], near, 40)
''', "(1., .9)", "(.01, .9)"),
    "mean before square": ('''
def net(v):
    with tf.variable_scope("net", reuse=tf.AUTO_REUSE):
        return dense(dense(v, 8, tf.nn.tanh, name="a"), 1, name="b")

left = tf.gradients(net(p), p)[0][:, 0] - p[:, 0]
loss = tf.reduce_mean(left) ** 2 + .5 * tf.reduce_sum((net(tf.zeros([1, 3])) - 1.) ** 2)
fit([adam(.01).minimize(loss), loss], near, 24)
''', "tf.reduce_mean(left) ** 2", "tf.reduce_mean(left ** 2)"),
    "reshape for transpose": ('''
said = tf.transpose(tf.layers.conv1d(tf.reshape(x, [-1, 12, 3]), 4, 3, padding="same"), [0, 2, 1])
z = tf.nn.relu(tf.reshape(said, [-1, 4]))
loss = tf.losses.sparse_softmax_cross_entropy(t, tf.reduce_mean(tf.reshape(dense(z, 4), [-1, 12, 4]), 1))
fit([adam(.01).minimize(loss), loss], steps=24)
''', "tf.reshape(said, [-1, 4])", "tf.reshape(tf.transpose(said, [0, 2, 1]), [-1, 4])"),
    "one class": ('''
steps = dense(tf.reshape(x, [-1, 12, 3]), 8, tf.nn.tanh)
weights = tf.nn.softmax(dense(steps, 1), axis=-1)
z = dense(tf.squeeze(tf.matmul(weights, steps, transpose_a=True), 1), 4)
loss = tf.losses.sparse_softmax_cross_entropy(t, z)
fit([adam(.01).minimize(loss), loss], steps=12)
''', "axis=-1", "axis=1"),
    "global_step not advanced": ('''
count = tf.train.get_or_create_global_step()
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(x, 4))
fit([adam(.01).minimize(loss), loss, tf.identity(count)], steps=12)
''', "minimize(loss)", "minimize(loss, count)")}


@pytest.mark.parametrize("kind", OTHERS)
def test_a_mistake_that_is_made_in_another_way_has_the_same_kind(kind: str, tmp_path: Path) -> None:
    text, wrong, right = OTHERS[kind]
    first, *_ = findings(text, tmp_path)
    assert (first.kind, first.level == "remark") == (kind.partition(":")[0], False)
    assert [f for f in findings(text.replace(wrong, right), tmp_path) if f.level != "remark"] == []


def test_places_are_kept_where_a_loop_is_written_out(tmp_path: Path) -> None:
    text = OTHERS["targets are the inputs"][0].replace("told, _ = tf.nn.dynamic_rnn(", "told, _ = tf.nn.static_rnn(")
    text = text.replace("tf.one_hot(ids, 5)", "tf.unstack(tf.one_hot(ids, 5), axis=1)").replace(
        "dense(told, 5)", "dense(tf.stack(told, 1), 5)")
    first, *_ = findings(text, tmp_path)
    assert first.kind == "targets are the inputs"


def test_a_train_op_that_the_script_has_not_come_to_is_not_missed(tmp_path: Path) -> None:
    text = MORE_PROGRAMS["never trained"][0].replace("steps=12", "steps=20") + "fit([train, loss])\n"
    (tmp_path / "model.py").write_text(HEAD + text)
    shell = Shell()
    execute(f"load {tmp_path / 'model.py'}", shell)
    execute("run --times 16", shell)
    found = shell.dbg.doctor().findings
    shell.close()
    assert "never trained" not in {each.kind for each in found}


def test_labels_of_a_cross_entropy_by_hand_that_are_drawn_apart_do_not_follow(tmp_path: Path) -> None:
    first, *_ = findings('''
scores = tf.matmul(tf.nn.tanh(dense(p, 16)), tf.get_variable("w", [16, 4]))
loss = tf.reduce_mean(-tf.reduce_sum(y * tf.nn.log_softmax(scores), 1))
fit([adam(.003).minimize(loss), loss], lambda i: {p: points[(k := rng.randint(0, 300, 32))], y: fed(i)[y]}, 40)
''', tmp_path)
    assert first.kind == "labels do not follow from inputs"


@pytest.mark.parametrize("text", ["""
v = tf.placeholder(tf.float32)
fit(sgd(.01).minimize(tf.square(v * tf.Variable(1.0))), lambda i: {v: points[:32]}, 12)
with tf.Session() as session:
    session.run(v + 1, {v: 3.0})
""", """
truth = tf.placeholder(tf.bool, [None, 1])
loss = tf.losses.sigmoid_cross_entropy(tf.cast(truth, tf.float32), dense(p, 1))
fit(adam(.01).minimize(loss), lambda i: {p: near(i)[p], truth: sums[:32] > 0}, 12)
""", """
ids, tags = tf.placeholder(tf.int32, [None, 6]), tf.placeholder(tf.bool, [None, 6])
said = dense(tf.nn.embedding_lookup(tf.get_variable("e", [5, 8]), ids), 1)[:, :, 0]
loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.cast(tags, tf.float32), logits=said))
fit(adam(.01).minimize(loss), lambda i: {ids: (k := rng.randint(0, 5, (8, 6))), tags: k > 2}, 4)
""", """
rate = tf.Variable(.1, trainable=False)
fit([sgd(rate).minimize(tf.reduce_mean(tf.square(dense(p, 1) - q))), rate.assign(rate * .99)], near, 90)
"""], ids=["a number later", "bool labels", "bool tags", "steps that are forgotten"])
def test_doctor_takes_what_is_fed_and_remembered_of_any_kind(text: str, tmp_path: Path,
                                                             monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autodiff.debug.history.ring._MOST", 20)  # runs
    assert [f.kind for f in findings(text, tmp_path) if f.level == "error"] == []


def test_what_is_not_finite_is_looked_at_without_a_warning(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = findings('''
p = tf.nn.softmax(dense(x, 4) * 1e4)
loss = -tf.reduce_mean(tf.reduce_sum(tf.one_hot(t, 4) * tf.log(p), 1))
fit([adam(.01).minimize(loss), loss], steps=30)
''', tmp_path)
    assert found[0].kind in ("nan", "inf")


def test_a_number_that_is_no_other_than_itself_is_asked_for_nan(tmp_path: Path) -> None:
    text = """scores = dense(x, 4)
odd = tf.not_equal(y, y)
fit([adam(.01).minimize(tf.reduce_mean(entropy(labels=y, logits=scores))), odd], steps=3)
"""
    assert "compared with itself" not in {f.kind for f in findings(text, tmp_path)}
    assert "compared with itself" in {f.kind for f in findings(text.replace("tf.not_", "tf."), tmp_path)}


def test_logits_that_labels_pick_from_their_sum_of_exp_are_no_probabilities(tmp_path: Path) -> None:
    text = """scores = tf.nn.softmax(dense(x, 4))
picked = tf.squeeze(tf.batch_gather(scores, t[:, None]), 1)
fit([adam(.01).minimize(tf.reduce_mean(tf.reduce_logsumexp(scores, 1) - picked))])
"""
    first, *_ = findings(text, tmp_path)
    assert (first.kind, first.level) == ("double softmax", "error") and "from before the softmax" in first.remedy
    right = findings(text.replace("tf.nn.softmax(dense(x, 4))", "dense(x, 4)"), tmp_path)
    assert [f for f in right if f.level != "remark"] == []


def test_a_run_behind_a_forgotten_one_may_ask_for_the_loss_of_that_step() -> None:
    after, before = (SimpleNamespace(number=number, trains=False, fetched=(), feeds={}) for number in (27, 26))
    assert _is_of_a_step(after, SimpleNamespace(runs=[after], y=None))
    assert not _is_of_a_step(after, SimpleNamespace(runs=[before, after], y=None))


def test_a_variable_that_is_listed_twice_is_told_of_the_list(tmp_path: Path) -> None:
    text = """
loss = tf.reduce_mean(tf.square(dense(p, 1) - q))
listed = tf.trainable_variables()
fit([adam(.01).minimize(loss, var_list=listed + listed[:1]), loss], near, 8)
"""
    twice = [f for f in findings(text, tmp_path) if f.kind == "updated twice"]
    assert len(twice) == 1 and "twice in its list" in twice[0].text and "var_list" in twice[0].remedy


def test_a_sparse_relu_whose_units_wake_is_no_warning() -> None:
    tf.reset_default_graph()
    op = tf.nn.relu(tf.placeholder(tf.float32, [None, 20])).op
    sparse = np.where(np.random.RandomState(0).rand(200, 20) < .06, 1., -1.)
    dead = np.where(np.arange(20) < 1, sparse, -1.)
    for values, level in ((sparse, "remark"), (dead, "warning"), (-np.abs(sparse), "warning")):
        found, = unit_findings(op, [values], learns=False)
        assert (found.kind, found.level) == ("dead relu", level)


def told(kind: str, severity: int, text: str = "") -> Finding:
    return Finding(severity, kind, "op", "Op", "", text, "", "", None)


@pytest.mark.parametrize("found, kinds", [
    ([told("learning rate too low", 70), told("global_step not advanced", 63)],
     ["global_step not advanced", "learning rate too low"]),
    ([told("learning rate too low", 70), told("optimizer state left", 65)],
     ["optimizer state left", "learning rate too low"]),
    ([told("learning rate too low", 70), told("division", 63)], ["learning rate too low", "division"]),
    ([told("nan", 110, "softmax of a row that is -inf"), told("mask the wrong way round", 73)],
     ["mask the wrong way round", "nan"]),
    ([told("nan", 110, "log of 0"), told("mask the wrong way round", 73)], ["nan", "mask the wrong way round"]),
    ([told("script error", 120, "a variable needed for gradient computation was changed"), told("no gradient", 90)],
     ["script error"]),
    ([told("script error", 120, "no such file"), told("no gradient", 90)], ["script error", "no gradient"]),
])
def test_what_only_follows_is_told_behind_its_cause(found: list[Finding], kinds: list[str]) -> None:
    assert [f.kind for f in ranked(explained(found), ())] == kinds
