"""Remedies that are arguments of Keras' and other layers, or of fit: what is written, and where data are told."""

from pathlib import Path

import numpy as np
import pytest

from autodiff.debug.analysis.findings import Finding
from autodiff.debug.analysis.mistakes.all_mistakes import explained, ranked
from autodiff.debug.analysis.scripts.source_tree import Source
from autodiff.debug.analysis.scripts.thrown_away import kept
from cli.language.interpreter import execute
from cli.view.render import plain

from .mistaken_programs import HEAD
from .programs_of_keras import KERAS
from .test_mistakes import findings, trained

HOUSES = KERAS + """
houses = np.stack([draw.uniform(40, 220, 240), draw.uniform(1, 6, 240)], 1)
prices = 1200.0 * houses[:, 0] + 9000.0 * houses[:, 1]
m = keras.Sequential([layers.Dense(16, "relu", input_shape=(2,)), layers.Dense(1)])
"""
_CODE = KERAS + """
seen = keras.Input((8,))
mean, logs = layers.Dense(2)(seen), layers.Dense(2)(seen)
code = layers.Lambda(lambda z: z[0] + tf.exp(z[1] / 2) * tf.random_normal(tf.shape(z[0])))([mean, logs])
m = keras.Model(seen, layers.Dense(8)(code))
spread = lambda: -.5 * tf.reduce_sum(1 + logs - mean ** 2 - tf.exp(logs), 1)
"""
# a program, a question before `fix 1 --write`, and the line that it writes
WRITTEN = {
    "data, where they are given and predicted": (HOUSES + """
m.compile("sgd", "mse")
m.fit(houses, y=prices, epochs=9, validation_data=(houses, prices), verbose=0)
m.evaluate(houses, prices, verbose=0)
said = m.predict(houses)[:3]
""", "doctor", ("m.fit((np.asarray(houses) - [", "], y=(np.asarray(prices) - ",
                 "validation_data=((np.asarray(houses) - [",
                 "m.evaluate((np.asarray(houses) - [",
                 "said = (m.predict((np.asarray(houses) - [")),
    "data that are divided twice": (KERAS + """
pixels = 60 * np.abs(data) / 255
m = keras.Sequential([layers.Lambda(lambda v: v / 255, input_shape=(8,)), layers.Dense(16, "tanh"),
                      layers.Dense(4, "softmax")])
m.compile(keras.optimizers.SGD(.5), "sparse_categorical_crossentropy")
m.fit(pixels, np.abs(data[:, :4]).argmax(1), 24, 4, verbose=0)
""", "doctor", ("lambda v: v, input_shape",)),
    "the same of what is fed": ("""
z = dense(dense(x * (1 / 400.0), 16, tf.nn.relu), 4)
loss = tf.losses.sparse_softmax_cross_entropy(t, z)
fit([sgd(.1).minimize(loss), loss])
""", "doctor", ("dense(dense(x, 16",)),
    "data that are scaled in vain": (HOUSES + """
def scaled(table, of):
    mean = of.mean(0)
    return (table - mean) / of.std(0)
scaled(houses, houses)
m.compile("sgd", "mse")
m.fit(houses, prices / 9e4, epochs=9, verbose=0)
""", "doctor", ("houses = scaled(houses, houses)\nm.compile",)),
    "the same, as why has it": (HOUSES.replace("16,", "64,") + """
class Scaler:
    def __init__(self, rows):
        self.mean, self.spread = rows.mean(0), rows.std(0)
    def transform(self, rows):
        return (rows - self.mean) / self.spread
train, test = houses[40:], houses[:40]
of_train = Scaler(train)
for _ in range(1):
    of_train.transform(train)
    of_train.transform(test)
m.compile(keras.optimizers.SGD(.05), "mse")
m.fit(train, prices[40:] / 9e4, epochs=9, verbose=0)
""", "why", ("    train = of_train.transform(train)\n    test = of_train.transform(test)\n",)),
    "data, of which datasets are made": (HOUSES.replace(" 9000.0", " 900.0") + """
held = tf.data.Dataset.from_tensor_slices((houses[:40], prices[:40] / 9e4)).batch(20)
pairs = tf.data.Dataset.from_tensor_slices((houses.astype("f"), prices / 9e4)).repeat().batch(24)
m.compile("sgd", "mse")
m.fit(pairs, epochs=9, steps_per_epoch=10, validation_data=held, validation_steps=2, verbose=0)
""", "why", ("from_tensor_slices((((houses[:40] - [", "from_tensor_slices((((houses.astype(\"f\") - [",
             "]).astype('float32'), prices / 9e4)")),
    "a dict of feeds": ("""
houses = rng.uniform(40, 220, [300, 3])
loss = tf.reduce_mean(tf.square(dense(p, 1) - q))
fit(sgd(.1).minimize(loss), lambda i: {p: houses, q: sums})
""", "why nan", ("{p: (np.asarray(houses) - [",)),
    "a layer that a Lambda calls": (KERAS + """
class Net:
    def __init__(self):
        self.inner = [layers.Dense(8, "tanh"), layers.Dense(8)]
        self.model = keras.Sequential()
        self.model.add(layers.Lambda(lambda v: sum(each(v) for each in self.inner), input_shape=(8,)))
        self.model.add(layers.Dense(4, "softmax"))
m = Net().model
m.compile("adam", "sparse_categorical_crossentropy")
m.fit(data, classes, 24, 4, verbose=0)
""", "doctor", ("        holder = layers.Lambda(lambda v: sum(each(v) for each in self.inner), input_shape=(8,))\n"
                 "        holder.inner = self.inner\n        self.model.add(holder)",)),
    "an optimizer by its name": (HOUSES + """
m.compile(optimizer="sgd", loss="mse")
m.fit(houses / 50.0, prices / 200.0, epochs=9, verbose=0)
""", "doctor", ('m.compile(optimizer=tf.keras.optimizers.SGD(learning_rate=', '), loss="mse"')),
    "an optimizer without a rate": (HOUSES + """
m.compile(keras.optimizers.SGD(momentum=.9), "mse")
m.fit(houses / 50.0, prices / 200.0, epochs=9, verbose=0)
""", "doctor", ("SGD(momentum=.9, learning_rate=",)),
    "from_logits": (KERAS + """
m = model(layers.Dense(4, "softmax"))
m.compile(keras.optimizers.Adam(.05), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
m.fit(data, classes, 24, 4, verbose=0)
""", "doctor", ("from_logits=False",)),
    "a layer of a class": (KERAS + """
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.out = layers.Dense(1, activation="softmax")
    def call(self, x):
        return self.out(x)
m = Net()
m.compile("adam", "binary_crossentropy")
m.fit(data, data[:, 0] > 0, 24, 4, verbose=0)
""", "doctor", ("self.out = layers.Dense(1, activation='sigmoid')",)),
    "factors of zeros, of layers that a function makes": (KERAS + """
def table(name):
    return layers.Embedding(40, 3, name=name,
                            embeddings_initializer="zeros")
a, b = (keras.Input((1,)) for _ in range(2))
m = keras.Model([a, b], layers.Flatten()(layers.Dot(2)([table("rows")(a), table("columns")(b)])))
m.compile(keras.optimizers.Adam(.05), "mse")
one, other = (draw.randint(0, 40, (240, 1)) for _ in range(2))
m.fit([one, other], np.sin(one) * np.sin(other) * 9, 24, 9, verbose=0)
""", "doctor", ('embeddings_initializer="glorot_uniform")',)),
    "a mean beside a divergence, in a loss of the script's": (_CODE + """
def loss(x, told):
    error = keras.losses.mean_squared_error(x, told)
    return tf.reduce_mean(error + spread())
m.compile(keras.optimizers.Adam(.05), loss=loss)
m.fit(data, data, epochs=4, batch_size=24, verbose=0)
""", "doctor", ("error = 8 * keras.losses",)),
    "the same of Keras": (_CODE + """
m.add_loss(tf.reduce_mean(spread()))
m.compile(keras.optimizers.Adam(.05), "mse")
m.fit(data, data, epochs=4, batch_size=24, verbose=0)
""", "doctor", ('"mse", loss_weights=[8])',)),
    "a layer that has none": (KERAS + """
m = model(layers.Dense(4))
m.compile("adam", "sparse_categorical_crossentropy")
m.fit(data, classes, 24, 4, verbose=0)
""", "doctor", ("layers.Dense(4, activation='softmax')",)),
    "an activation by position": (KERAS + """
m = model(layers.Dense(1, "tanh"))
m.compile("rmsprop", "mse")
m.fit(data, 9 * data[:, 0], 40, 3, verbose=0)
""", "doctor", ("layers.Dense(1, None)",)),
    "a decay": (KERAS + """
m = model(layers.Dense(4, "softmax"))
m.compile(keras.optimizers.SGD(.3, decay=9.0, momentum=.9), "sparse_categorical_crossentropy")
m.fit(data, classes, 24, 4, verbose=0)
""", "doctor", ("SGD(.3, decay=0, momentum=.9)",)),
    "a regularizer": (KERAS + """
m = keras.Sequential([
    layers.Dense(16, "relu", kernel_regularizer=keras.regularizers.l2(2.0)),
    layers.Dense(4, "softmax")])
m.compile(keras.optimizers.Adam(.01), "sparse_categorical_crossentropy")
m.fit(data, classes, 24, 4, verbose=0)
""", "doctor", ("keras.regularizers.l2(0.0",)),
    "a dropout after the last layer": (KERAS + """
m = model(layers.Dense(4, "softmax"))
m.add(layers.Dropout(.5))
m.compile("adam", "categorical_crossentropy")
m.fit(data, np.eye(4)[classes], 24, 4, verbose=0)
""", "doctor", ('m = model(layers.Dense(4, "softmax"))\nm.compile(',)),
    "a dropout after the last layer, in a list": (KERAS + """
m = keras.Sequential([layers.Dense(16, "relu", input_shape=(8,)), layers.BatchNormalization(),
                      layers.Dense(4, "softmax"),
                      layers.Dropout(0.1)])
m.compile("adam", "categorical_crossentropy")
m.fit(data, np.eye(4)[classes], 24, 4, verbose=0)
""", "doctor", ('layers.BatchNormalization(),\n                      layers.Dense(4, "softmax")])',)),
    "a normalization of a tensor": (KERAS + """
a = layers.Input((8,))
b = layers.Dense(4, "softmax")(a)
b = layers.BatchNormalization()(b)
m = keras.Model(a, b)
m.compile("adam", "categorical_crossentropy")
m.fit(data, np.eye(4)[classes], 24, 4, verbose=0)
""", "doctor", ('b = layers.Dense(4, "softmax")(a)\nm = keras',)),
    "a dropout of the logits": ("""
z = tf.layers.dropout(tf.layers.dense(x, 4), rate=.4, training=True)
fit(adam(.1).minimize(tf.losses.sparse_softmax_cross_entropy(t, z)))
""", "doctor", ("z = tf.layers.dense(x, 4)\n",)),
    "a regularizer of two layers": (KERAS + """
heavy = dict(kernel_regularizer=keras.regularizers.l2(9.0))
m = keras.Sequential([layers.Dense(16, "relu", **heavy), layers.Dense(4, "softmax", **heavy)])
m.compile(keras.optimizers.Adam(.01), "sparse_categorical_crossentropy")
m.fit(data, classes, 24, 4, verbose=0)
""", "doctor", ("keras.regularizers.l2(0.0",)),
    "equal first values by a name": (KERAS + """
start = keras.initializers.Constant(.1)
m = keras.Sequential([layers.Dense(16, "tanh", kernel_initializer=start), layers.Dense(
    1, "sigmoid", kernel_initializer=start)])
m.compile("adam", "binary_crossentropy")
m.fit(data, data[:, 0] * data[:, 1] > 0, 24, 4, verbose=0)
""", "doctor", ("start = tf.glorot_uniform_initializer()",)),
    "units": (KERAS + """
m = model(layers.Dense(1, "relu"), layers.Dense(4, "softmax"))
m.compile("sgd", "sparse_categorical_crossentropy")
m.fit(data, classes, 24, 3, verbose=0)
""", "doctor", ('layers.Dense(8, "relu"), layers.Dense(4',)),
    "compiled again before a rate is set": (KERAS + """
first = layers.Dense(8, "relu")
class Stages:
    def __init__(self):
        self.net = model(first, layers.Dense(4, "softmax"))
        first.trainable = False
        self.net.compile("adam", "sparse_categorical_crossentropy")
        self.net.fit(data, classes, 24, 3, verbose=0)
        keras.backend.set_value(self.net.optimizer.lr, 5e-4)
        first.trainable = True
        rate = keras.backend.get_value(self.net.optimizer.lr)
        self.net.fit(data, classes, 24, 3, verbose=0)
Stages()
""", "doctor", ('= True\n        rate = keras.backend.get_value(self.net.optimizer.lr)\n'
                 '        self.net.compile("adam", "sparse_categorical_crossentropy")\n'
                 "        keras.backend.set_value(self.net.optimizer.lr, 5e-4)\n        self.net.fit(",)),
    "compiled again where it is set free": (KERAS + """
m = model(layers.Dense(4, "softmax"))
m.layers[0].trainable = False
m.compile("adam", "sparse_categorical_crossentropy")
m.fit(data, classes, 24, 2, verbose=0)
m.layers[0].trainable = True
seen = m.fit(data, classes, 24, 8, verbose=0)
""", "doctor", ('= True\nm.compile("adam", "sparse_categorical_crossentropy")\nseen',)),
    "rates of dropout": (KERAS + """
m = model(layers.Dropout(.96), layers.Dense(16, "relu"), layers.Dropout(rate=.95), layers.Dense(4, "softmax"))
m.compile("sgd", "sparse_categorical_crossentropy")
m.fit(data, classes, 24, 3, verbose=0)
""", "doctor", ("Dropout(0.04), layers.Dense(16", "rate=0.05")),
    "a momentum that is not given": (KERAS + """
m = model(layers.BatchNormalization(), layers.Dense(4, "softmax"), hidden=None)
m.compile("adam", "sparse_categorical_crossentropy")
m.fit(9 + 3 * data, classes, 24, 4, verbose=0)
m.evaluate(9 + 3 * data, classes, verbose=0)
""", "doctor", ("layers.BatchNormalization(momentum=0.9)",)),
    "another metric": (KERAS + """
m = model(layers.Dense(1))
m.compile("adam", "mse", metrics=["accuracy"])
m.fit(data, np.sin(data).sum(1), 40, 2, verbose=0)
""", "doctor", ('metrics=["mae"]',)),
    "another loss": (KERAS + """
m = model(layers.Dense(4, "softmax"))
m.compile("sgd", loss="binary_crossentropy")
m.fit(data, np.eye(4)[classes], 24, 3, verbose=0)
""", "doctor", ('loss="categorical_crossentropy"',)),
    "loss and activation of classes": (KERAS + """
m = keras.Sequential([layers.Dense(16, "sigmoid"), layers.Dense(4, "sigmoid")])
m.compile("sgd", "mse")
m.fit(data, np.eye(4)[classes], 24, 3, verbose=0)
""", "doctor", ('layers.Dense(4, "softmax")', 'm.compile("sgd", "categorical_crossentropy")')),
    "activation and loss of several answers": (KERAS + """
m = model(layers.Dense(3), layers.Activation("softmax"))
m.compile("sgd", "mse")
m.fit(data, data[:, :3] > 0, 24, 3, verbose=0)
""", "doctor", ('layers.Activation("sigmoid")', 'm.compile("sgd", "binary_crossentropy")')),
    "a softmax for a relu": (KERAS + """
m = model(layers.Dense(4), layers.Activation("relu"))
m.compile("adam", "categorical_crossentropy")
m.fit(data, np.eye(4)[classes], 24, 3, verbose=0)
""", "doctor", ("layers.Activation('softmax')",)),
    "a sigmoid for a softmax of one": (KERAS + """
m = model(layers.Dense(1), layers.Activation("softmax"))
m.compile("sgd", "mse")
m.fit(data, data[:, 0] > 0, 24, 3, verbose=0)
""", "doctor", ("layers.Activation('sigmoid')",)),
    "units, loss and activation of classes": (KERAS + """
m = model(layers.Dense(1))
m.compile("adam", "mse", metrics=["accuracy"])
m.fit(data, classes, 24, 3, verbose=0)
""", "doctor", ("layers.Dense(4, activation='softmax')", '"adam", "sparse_categorical_crossentropy"')),
    "units by a name": (KERAS + """
count = 1
m = model(layers.Dense(count, activation="sigmoid"))
m.compile("adam", "binary_crossentropy")
m.fit(data, classes, 24, 3, verbose=0)
""", "doctor", ('layers.Dense(4, activation="softmax")', '"adam", "sparse_categorical_crossentropy"')),
    "frozen before its own compile": (KERAS + """
critic = keras.Sequential([layers.Dense(8, "relu", input_shape=(8,)), layers.Dense(1, "sigmoid")])
critic.trainable = False
maker = keras.Sequential([layers.Dense(8, input_shape=(4,))])
critic.compile("sgd", "binary_crossentropy")
both = keras.Sequential([maker, critic])
both.compile("sgd", "binary_crossentropy")
for i in range(24):
    noise = draw.randn(16, 4)
    critic.train_on_batch(np.r_[data[:16], maker.predict(noise)], np.r_[np.ones(16), np.zeros(16)])
    both.train_on_batch(noise, np.ones(16))
""", "doctor", ('(8,)), layers.Dense(1, "sigmoid")])\nmaker',
                 '"binary_crossentropy")\ncritic.trainable = False\nboth')),
    "a mode": (KERAS + """
m = model(layers.Dense(4, "softmax"))
m.compile("adam", "sparse_categorical_crossentropy", ["acc"])
m.fit(data, classes, 24, 9, callbacks=[keras.callbacks.ReduceLROnPlateau('acc', mode='min')], verbose=0)
""", "doctor", ("mode='max'",)),
    "a mode that a dict has": (KERAS + """
settings = {"rate": .01, "stop": {"monitor": "val_loss", "mode": "max", "patience": 2}}
def watchers(some):
    return [keras.callbacks.EarlyStopping(restore_best_weights=True, **some["stop"])]
m = model(layers.Dense(4, "softmax"))
m.compile(keras.optimizers.Adam(settings["rate"]), "sparse_categorical_crossentropy")
m.fit(data, classes, 24, 9, validation_data=(data, classes), callbacks=watchers(settings), verbose=0)
""", "doctor", ('"mode": "min", "patience"',)),
    "a mode that a name has": (KERAS + """
which = "max"
class Kept:
    def __init__(self, way):
        self.way = way
    def watch(self):
        return [keras.callbacks.ReduceLROnPlateau("loss", mode=self.way)]
m = model(layers.Dense(4, "softmax"))
m.compile("adam", "sparse_categorical_crossentropy")
m.fit(data, classes, 24, 9, callbacks=Kept(which).watch(), verbose=0)
""", "doctor", ('which = "min"',)),
    "contrib's relu": ("""
z = tf.contrib.layers.fully_connected(tf.contrib.layers.fully_connected(x, 16), 4, scope="z")
fit(sgd(.5).minimize(tf.losses.sparse_softmax_cross_entropy(t, z)))
""", "doctor", ('4, scope="z", activation_fn=None)',)),
    "a call": ("""
z = tf.nn.relu(dense(tf.nn.relu(dense(x, 16)), 4))
fit(sgd(.5).minimize(tf.losses.sparse_softmax_cross_entropy(t, z)))
""", "doctor", ("z = dense(tf.nn.relu(dense(x, 16)), 4)",)),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_a_remedy_is_written_where_the_script_has_what_it_changes(name: str, tmp_path: Path,
                                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text, question, expected = WRITTEN[name]
    shell = trained(text, tmp_path)
    execute(question, shell)
    execute("fix 1 --write --yes", shell)
    shell.close()
    written = (tmp_path / "model.py").read_text()
    assert written != HEAD + text and [each for each in expected if each not in written] == []


def test_labels_that_follow_a_little_are_not_blamed_for_data_of_any_size(tmp_path: Path) -> None:
    said = findings(KERAS + """
draw = np.random.RandomState(1)
table = np.c_[draw.uniform(0, 400, 240), draw.randint(0, 2, (240, 2)), draw.normal(0, 9, (240, 5))]
told = (table[:, 1] + draw.normal(0, .7, 240) > .9).astype("f")
m = keras.Sequential([layers.Dense(64, "relu", input_shape=(8,)), layers.Dense(1, "sigmoid")])
m.compile(keras.optimizers.SGD(.1), "binary_crossentropy")
m.fit(table, told, 4, 1, verbose=0)
""", tmp_path)
    assert said[0].kind == "inputs not scaled" and "labels do not follow from inputs" not in {f.kind for f in said}


def test_a_script_as_the_remedy_has_it_learns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text, question, _ = WRITTEN["data, where they are given and predicted"]
    shell = trained(text, tmp_path)
    first = shell.dbg.doctor().findings[0]
    assert "scale y as fit is given it" in first.remedy
    assert first.place is not None and first.place.text.startswith("m.fit(houses")
    execute("fix 1 --write --yes", shell)
    shell.close()
    written = (tmp_path / "model.py").read_text().removeprefix(HEAD).replace("epochs=9", "epochs=60")
    mended = trained(written, tmp_path)
    assert mended.script is not None
    said, prices = mended.script.namespace["said"], mended.script.namespace["prices"]
    assert np.abs(said[:, 0] - prices[:3]).max() < 2e4
    assert [f for f in mended.dbg.doctor().findings if f.level != "remark"] == []
    mended.close()


MODEL = """
def model_fn(features, labels, mode, params):
    h = tf.layers.dense(features["x"], 16, tf.nn.relu)
    z = tf.layers.dense(h, 4)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, z)
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss)
    step = tf.train.GradientDescentOptimizer(params["rate"]).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)
given = tf.estimator.inputs.numpy_input_fn({"x": SCALE * X}, Y.argmax(1), 24, num_epochs=None, shuffle=True)
made = tf.estimator.Estimator(model_fn, params={"rate": RATE})
made.train(given, steps=40)
made.evaluate(given, steps=3)
"""


def test_doctor_goes_back_to_the_graph_that_trained(tmp_path: Path) -> None:
    first, *_ = findings(MODEL.replace("SCALE", "1").replace("RATE", "80.0"), tmp_path)
    assert (first.kind, first.step > 0) == ("learning rate too high", True) and "fix 1" in first.remedy
    shell = trained(MODEL.replace("SCALE", "1").replace("RATE", "0.1"), tmp_path)
    found = shell.dbg.doctor()
    assert found.looked[0].startswith("step 40, 12 of 40 training steps")
    assert [f for f in found.findings if f.level != "remark"] == []
    assert any("graph that trained" in note for note in shell.dbg.model.take_notes())
    shell.close()


def test_data_of_a_queue_may_be_unscaled_too(tmp_path: Path) -> None:
    first, *_ = findings(MODEL.replace("SCALE", "1e3").replace("RATE", "0.1"), tmp_path)
    assert first.kind == "inputs not scaled" and "(x - mean) / std" in first.remedy


def test_a_loss_that_began_beyond_all_measure_is_no_sign_that_the_data_fit(tmp_path: Path) -> None:
    text = """
ages = SCALE * rng.uniform(30, 90, [300, 3]).astype("f")
z = tf.layers.dense(p, 1, kernel_initializer=tf.constant_initializer(START))
loss = tf.reduce_mean(tf.exp(z) * tf.abs(q) - z)
fit(adam(.02).minimize(loss), lambda i: {p: ages[i * 6:i * 6 + 32], q: sums[i * 6:i * 6 + 32]})
"""
    first, *_ = findings(text.replace("SCALE", "1.0").replace("START", "0.08"), tmp_path)
    assert (first.kind, first.target, first.level) == ("inputs not scaled", "p:0", "error")
    assert [f for f in findings(text.replace("SCALE", "0.015").replace("START", "0.8"), tmp_path)
            if f.level != "remark"] == []


def test_dropout_that_an_evaluation_does_too_is_told(tmp_path: Path) -> None:
    text = "x = y = t = p = q = tf.reset_default_graph()" + MODEL.replace("SCALE", "1").replace("RATE", "0.1").replace(
        "    z =", "    h = tf.layers.dropout(h, 0.3, training=WHEN)\n    z =")
    found = findings(text.replace("WHEN", "True"), tmp_path)
    assert [(f.kind, f.level) for f in found if f.level != "remark"] == [("dropout in evaluation", "warning")]
    assert found[0].place is not None and "WHEN" in text.splitlines()[found[0].place.line - len(HEAD.splitlines()) - 1]
    assert [f for f in findings(text.replace("WHEN", 'mode == "train"'), tmp_path) if f.level != "remark"] == []


def test_elements_of_a_dataset_that_fit_feeds_are_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are no state that is fed back; and what is no array is not written anew."""
    monkeypatch.chdir(tmp_path)
    shell = trained(HOUSES + """
m = keras.Sequential([layers.Dense(1, input_shape=(2,))])
m.compile("sgd", "mse")
pairs = tf.data.Dataset.from_tensor_slices((houses.astype(np.float32), prices[:, None].astype(np.float32)))
m.fit(pairs.batch(24).repeat(), steps_per_epoch=10, epochs=3, verbose=0)
""", tmp_path)
    told = plain(execute("why nan", shell))
    assert "scale x as fit is given it" in told.partition("remedy: lower the learning rate")[0]
    assert "what trains is no pair of arrays" in plain(execute("fix 1 --write", shell))
    shell.close()


def test_remedies_are_numbered_as_they_are_told(tmp_path: Path) -> None:
    shell = trained(WRITTEN["a dropout after the last layer"][0], tmp_path)
    found = shell.dbg.doctor().findings
    assert [f.kind for f in found[:2]] == ["dropout of the logits", "nan"]
    assert "fix 1 applies it" in found[0].remedy and "fix 2 tries it" in found[1].remedy
    assert shell.dbg.trials.numbered(1)[0].words == "without the dropout"
    shell.close()


def test_what_keras_does_by_itself_is_no_alarm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    loaded = findings(KERAS + """
m = model(layers.Dense(1))
m.compile("adam", "mse")
m.fit(data, data.sum(1), 24, 9, verbose=0)
m.save("kept")
keras.models.load_model("kept").predict(1e3 * data)
""", tmp_path)
    masked = findings(KERAS + """
rows = np.where(np.arange(8) < draw.randint(2, 8, (240, 1)), data, 0.0)[:, :, None]
m = keras.Sequential([layers.Masking(0.0, input_shape=(8, 1)), layers.GRU(4, return_sequences=True), layers.Dense(1)])
m.compile("adam", "mse")
m.fit(rows, rows, 24, 3, verbose=0)
""", tmp_path)
    stopped = findings(KERAS + """
m = model(layers.Dense(4, "softmax"))
m.compile(keras.optimizers.Adam(.03), "sparse_categorical_crossentropy")
for _ in range(3):
    best = keras.callbacks.EarlyStopping("val_loss", patience=1, restore_best_weights=True)
    m.fit(data, classes, 24, 9, validation_data=(data[::-1], classes), callbacks=[best], verbose=0)
""", tmp_path)
    weighed = findings(KERAS + """
m = model(layers.Dense(4, "softmax"))
focal = lambda told, p: -tf.reduce_sum(told * (1 - p) ** 2 * tf.log(p + 1e-7), -1)
m.compile("adam", focal)
m.fit(data, np.eye(4)[classes], 24, 9, verbose=0)
""", tmp_path)
    assert "squared error of a softmax" not in {f.kind for f in weighed}
    assert [(f.kind, f.text) for f in (*loaded, *masked, *stopped, *weighed) if f.level != "remark"] == []
    assert "mean counts the masked" in {f.kind for f in masked}


def test_activations_that_are_all_missing_come_before_the_rate_that_they_do_not_bear(tmp_path: Path) -> None:
    program = KERAS + """
m = keras.Sequential([layers.Dense(16, HIDDEN, input_shape=(8,)), layers.Dense(4, LAST)])
m.compile(keras.optimizers.SGD(lr=2.0), "mse")
m.fit(data, np.eye(4)[classes], 24, 3, verbose=0)
"""
    first, *others = findings(program.replace("HIDDEN", "None").replace("LAST", "None"), tmp_path)
    assert first.kind == "no activation" and "learning rate too high" in {f.kind for f in others}
    bounded = findings(program.replace("HIDDEN", "'sigmoid'").replace("LAST", "'softmax'"), tmp_path)
    assert {f.kind for f in bounded}.isdisjoint(("no activation", "learning rate too high"))


def test_what_only_follows_or_measures_comes_later(tmp_path: Path) -> None:
    kinds = [f.kind for f in findings(KERAS + """
m = model(layers.Dense(16, "relu"), layers.Dense(1))
m.compile(keras.optimizers.SGD(lr=.2), "mse", metrics=["accuracy"])
m.fit(data, 30 * np.sin(data).sum(1) ** 2, 24, 6, verbose=0)
""", tmp_path)]
    assert kinds[0] == "learning rate too high" and "accuracy of a regression" in kinds
    found = [Finding(severity, kind, "", "", "", "", "", "", None)
             for kind, severity in {"exploding gradient": 75, "labels out of range": 74}.items()]
    assert ranked(explained(found), ())[0].kind == "labels out of range"
    found = [Finding(63, kind, "", "", "", "", "", "", None)
             for kind in ("labels do not follow from inputs", "inputs not scaled")]
    assert [f.kind for f in explained(found)] == ["inputs not scaled"]
    found = [Finding(severity, kind, "", "", "", "", "", "", None) for kind, severity in {
        "learning rate too high": 104, "gradients accumulate": 92}.items()]
    first, second = ranked(explained(found), ())
    assert (first.kind, second.text) == ("gradients accumulate", "; it may follow from the gradients that pile up")


def test_a_batch_of_zeros_is_no_zero_gradient(tmp_path: Path) -> None:
    said = findings(KERAS + """
m = keras.Sequential([layers.Dense(4, "tanh", input_shape=(2,)), layers.Dense(1, "sigmoid")])
m.compile("sgd", "binary_crossentropy")
m.fit(np.array([[1., 1], [1, 0], [0, 1], [0, 0]]), np.array([0., 1, 1, 0]), 3, 9, shuffle=False, verbose=0)
""", tmp_path)
    assert "zero gradient" not in {f.kind for f in said if f.level != "remark"}


@pytest.mark.parametrize(("text", "line"), [
    ("def f(a):\n    b = a - 1\n    return b\nx = 2\nf(x)\n", 5),
    ("def f(a):\n    a -= 1\n    return a / 2\nx = 2\nf(x)\n", 0),
    ("def f(a):\n    a[0] = 1 - a\n    return a\nx = 2\nf(x)\n", 0),
    ("def f(a):\n    return a / 255\nx = 2\ndef g():\n    f(x)\nfor each in (x, x):\n    f(each)\n", 0),
    ("import numpy as np\nx = 2\nnp.random.shuffle(x)\nx.astype('f')\n", 4)])
def test_only_what_changes_nothing_is_thrown_away(text: str, line: int) -> None:
    found = kept(Source(text))
    assert (0 if found is None else found[0]) == line
