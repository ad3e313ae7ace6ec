"""Faults of Keras programs outside of the model: generators, shuffled arrays, rare classes, rates that are set."""

from pathlib import Path

import pytest

from cli.language.interpreter import execute
from cli.view.render import plain

from .mistaken_programs import HEAD
from .programs_of_keras import KERAS
from .test_mistakes import findings, trained

BINARY = KERAS + """
kinds = (data[:, 0] > 0).astype(np.float32)
m = model(layers.Dense(1, "sigmoid"))
"""
ENTROPY = 'm.compile("adam", "binary_crossentropy")\n'
CLASSES = KERAS + """
m = model(layers.Dense(4, "softmax"))
m.compile(keras.optimizers.SGD(.1), "sparse_categorical_crossentropy")
"""
PIXELS = KERAS + """
images = draw.randint(0, 256, (240, 30))
labels = (images[:, :15].sum(1) > images[:, 15:].sum(1)).astype(int)
class Batches(keras.utils.Sequence):
    def __len__(self):
        return 10
    def __getitem__(self, i):
        at = slice(24 * i, 24 * i + 24)
        return images[at].astype("float32"), labels[at]  #!
def batches():
    while True:
        i = np.random.randint(0, 240, 24)
        yield images[i].astype("float32"), labels[i]  #!
m = keras.Sequential([layers.Dense(16, "tanh", input_shape=(30,)), layers.Dense(2, "softmax")])
m.compile("sgd", "sparse_categorical_crossentropy")
"""
# a program, the kind of the finding, the line that `fix 1` writes, and what makes the program right
ARRANGED = {
    "two shuffles": (BINARY + "np.random.shuffle(data)\nnp.random.shuffle(kinds)  #!\n" + ENTROPY + """
m.fit(data, kinds, 24, 12, verbose=0)
""", "labels do not follow from inputs", "np.random.set_state(order)\nnp.random.shuffle(kinds)", (
        "np.random.shuffle(data)\nnp.random.shuffle(kinds)", "")),
    "two permutations": (BINARY + """data = data[draw.permutation(240)]
kinds = kinds[draw.permutation(240)]  #!
""" + ENTROPY + """
m.fit(data, kinds, 24, 12, verbose=0)
""", "labels do not follow from inputs", "kinds = kinds[order]", (
        "kinds = kinds[draw.permutation(240)]", "kinds = (data[:, 0] > 0).astype(np.float32)")),
    "rows drawn twice": (BINARY + """def drawn():
    while True:
        i, j = np.random.randint(0, 240, 24), np.random.randint(0, 240, 24)
        yield data[i], kinds[j]  #!
""" + ENTROPY + """
m.fit_generator(drawn(), steps_per_epoch=12, epochs=12, verbose=0)
""", "labels do not follow from inputs", "yield data[i], kinds[i]", ("kinds[j]", "kinds[i]")),
    "datasets that a function shuffles": (BINARY + """def stream(values):
    return tf.data.Dataset.from_tensor_slices(values).shuffle(240)  #!
both = tf.data.Dataset.zip({"rows": stream(data), "told": stream(kinds)}).map(lambda each: (each["rows"], each["told"]))
""" + ENTROPY + """
m.fit(both.repeat().batch(24), steps_per_epoch=10, epochs=12, verbose=0)
""", "labels do not follow from inputs", ".shuffle(240, seed=1)", (".shuffle(240)", ".shuffle(240, seed=4)")),
    "datasets of two seeds": (BINARY + """rows = tf.data.Dataset.from_tensor_slices(data).shuffle(240, seed=7)
told = tf.data.Dataset.from_tensor_slices(kinds).shuffle(240, seed=8)  #!
""" + ENTROPY + """
m.fit(tf.data.Dataset.zip((rows, told)).repeat().batch(24), steps_per_epoch=10, epochs=12, verbose=0)
""", "labels do not follow from inputs", "(kinds).shuffle(240, seed=7)", ("seed=8", "seed=7")),
    "told not to shuffle": (CLASSES + """order = np.argsort(classes)
m.fit(data[order], classes[order], 12, 2, verbose=0,
      shuffle=False)  #!
""", "sorted by class", "shuffle=True)", ("shuffle=False", "shuffle=True")),
    "a dataset in order": (CLASSES + """order = np.argsort(classes)
pairs = tf.data.Dataset.from_tensor_slices((data[order], classes[order]))
m.fit(pairs.batch(12).repeat(), steps_per_epoch=20, epochs=2, verbose=0)  #!
""", "sorted by class", "pairs.shuffle(10000).batch(12)", ("pairs.batch", "pairs.shuffle(240).batch")),
    "a class is rare": (BINARY + 'm.compile("sgd", "binary_crossentropy")\n' + """
m.fit(data, data[:, 0] > 1.9, 24, 2, verbose=0)  #!
""", "unbalanced classes", "verbose=0, class_weight={0: 1.0, 1:", ("> 1.9", "> 0.1")),
    "a generator of pixels": (PIXELS.replace("  #!\ndef", "\ndef") + """
m.fit_generator(batches(), steps_per_epoch=10, epochs=4, verbose=0)
""", "inputs not scaled", "yield ", ('astype("float32")', 'astype("float32") / 255')),
    "a sequence of pixels": (PIXELS.replace("labels[i]  #!", "labels[i]") + """
m.fit(Batches(), epochs=4, verbose=0)
""", "inputs not scaled", "return ", ('astype("float32")', 'astype("float32") / 255')),
    "a rate that is set": (CLASSES + """m.fit(data, classes, 24, 1, verbose=0)
keras.backend.set_value(m.optimizer.lr, 60.0)  #!
m.fit(data, classes, 24, 3, verbose=0)
""", "learning rate too high", "set_value(m.optimizer.lr, 0.1)", ("60.0", "0.05")),
    "a schedule that ends": (CLASSES + """def schedule(epoch):
    return 0.1 * 0.001 ** epoch  #!
m.fit(data, classes, 24, 4, verbose=0, callbacks=[keras.callbacks.LearningRateScheduler(schedule)])
""", "learning rate decayed to nothing", "return max(0.1 * 0.001 ** epoch, 0.1)", ("0.001 **", "0.9 **")),
}

# a program, the line that `fix 1` writes
SWITCHED = {
    "frozen": (CLASSES + """for layer in m.layers:
    layer.trainable = False  #!
m.compile("adam", "sparse_categorical_crossentropy")
m.fit(data, classes, 24, 2, verbose=0)
""", "layer.trainable = True"),
    "frozen too late": (CLASSES + """m.layers[0].trainable = False  #!
m.fit(data, classes, 24, 2, verbose=0)
""", """m.layers[0].trainable = False  #!
m.compile(keras.optimizers.SGD(.1), "sparse_categorical_crossentropy")
"""),
    "for ever in evaluation": (KERAS + """x = keras.Input((8,))
h = layers.BatchNormalization()(layers.Dense(16)(x), training=False)  #!
m = keras.Model(x, layers.Dense(4, "softmax")(h))
m.compile("adam", "sparse_categorical_crossentropy")
m.fit(data, classes, 24, 2, verbose=0)
""", "(layers.Dense(16)(x))"),
    "a loss of no weight": (KERAS + """x = keras.Input((8,))
h = layers.Dense(16, "relu")(x)
m = keras.Model(x, [layers.Dense(4, "softmax")(h), layers.Dense(1)(h)])
m.compile("adam", ["sparse_categorical_crossentropy", "mse"], loss_weights=[1.0, 0.0])  #!
m.fit(data, [classes, 9 * data[:, :1]], 24, 3, verbose=0)
""", "loss_weights=[1.0, 1.0]"),
}


@pytest.mark.parametrize("name", SWITCHED)
def test_a_switch_of_keras_is_written_anew(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text, written = SWITCHED[name]
    shell = trained(text, tmp_path)
    first = shell.dbg.doctor().findings[0]
    assert first.place is not None and "#!" in first.place.text
    execute("fix 1 --write --yes", shell)
    shell.close()
    assert written in (tmp_path / "model.py").read_text()


@pytest.mark.parametrize("name", ARRANGED)
def test_the_line_that_arranges_the_data_is_told_and_written_anew(name: str, tmp_path: Path,
                                                                  monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text, kind, written, (wrong, right) = ARRANGED[name]
    shell = trained(text, tmp_path)
    first = shell.dbg.doctor().findings[0]
    assert first.kind == kind and first.place is not None and "#!" in first.place.text
    if "fix 1" in first.remedy:
        execute("fix 1 --write --yes", shell)
        now = (tmp_path / "model.py").read_text()
        assert written in now and now != HEAD + text
    else:
        assert kind == "inputs not scaled"  # whose first steps do not always show that it helps
    shell.close()
    assert wrong in text
    assert [f for f in findings(text.replace(wrong, right), tmp_path) if f.level != "remark"] == []


def test_a_rate_that_grows_to_nan_is_kept_where_it_is_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shell = trained(KERAS + """
m = model(layers.Dense(8, "relu"), layers.Dense(1))
m.compile(keras.optimizers.SGD(.01), "mse")
rates = keras.callbacks.LearningRateScheduler(lambda epoch: .01 * 9 ** epoch)
m.fit(data, data.sum(1), 24, 9, verbose=0, callbacks=[rates])
""", tmp_path)
    told = plain(execute("why nan", shell))
    assert "keep the learning rate at 0.01, where it began" in told
    number = told.partition("keep the learning rate")[2].partition("; fix ")[2][:1]
    execute(f"fix {number} --write --yes", shell)
    shell.close()
    assert "lambda epoch: min(.01 * 9 ** epoch, 0.01)" in (tmp_path / "model.py").read_text()


@pytest.mark.filterwarnings("always")
@pytest.mark.parametrize("power, said, line", [
    ("float(.1 * (1 - epoch / np.float64(END)) ** .9)", "set to nan, as END is 3, and fit has 5", "END = 5"),
    ("float(.1 * np.sqrt(1 - .4 * epoch))", "made by NumPy at model.py", "np.sqrt(np.maximum(1 - .4 * epoch, 0))")])
def test_a_rate_that_a_schedule_makes_nan_is_told_where_it_does(power: str, said: str, line: str,
                                                                tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                                                ) -> None:
    """The schedule is a method, bound to its object."""
    monkeypatch.chdir(tmp_path)
    shell = trained(KERAS + f"""
END = 3
class Schedule:
    def rate(self, epoch):
        return {power}
m = model(layers.Dense(8, "relu"), layers.Dense(1))
m.compile(keras.optimizers.SGD(.01), "mse")
m.fit(data, data.sum(1), 24, 5, verbose=0, callbacks=[keras.callbacks.LearningRateScheduler(Schedule().rate)])
""", tmp_path)
    told = " ".join(plain(execute("why nan", shell)).split())
    execute("fix 1 --write --yes", shell)
    shell.close()
    assert said in told and "-inf" not in told
    assert line in (tmp_path / "model.py").read_text()
