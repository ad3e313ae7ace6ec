"""Which rows Keras trains with, validates with and goes on with; and what its callbacks watch."""

from pathlib import Path

import pytest

from autodiff.core.errors import AutodiffError
from autodiff.debug.analysis.scripts.changes import changed
from cli.language.interpreter import execute

from .programs_of_keras import KERAS
from .test_mistakes import findings, trained

_SORTED = KERAS + """
order = np.argsort(classes, kind="stable")
data, classes = data[order], classes[order]
m = model(layers.Dense(4, "softmax"))
m.compile("adam", "sparse_categorical_crossentropy", ["accuracy"])
m.fit(data, classes, 24, 4, verbose=0, validation_split=.2)
"""
_GOES_ON = KERAS + """
series = np.sin(.1 * np.arange(1200)).reshape(10, 12, 10, 1)
rows, next_ones = np.concatenate(np.moveaxis(series, 1, 0)), np.zeros([120, 1])
m = keras.Sequential([layers.GRU(4, stateful=True, batch_input_shape=(10, 10, 1)), layers.Dense(1)])
m.compile("adam", "mse")
m.fit(rows, next_ones, 10, 3, verbose=0)
"""
_WATCHED = KERAS + """
m = model(layers.Dense(4, "softmax"))
m.compile("adam", "sparse_categorical_crossentropy", ["accuracy"])
m.fit(data, classes, 24, 4, verbose=0, callbacks=[keras.callbacks.EarlyStopping(patience=2)])
"""
_PLATEAU = KERAS + """
m = model(layers.Dense(4, "softmax"))
m.compile(keras.optimizers.SGD(.05), "sparse_categorical_crossentropy", ["accuracy"])
slower = keras.callbacks.ReduceLROnPlateau("loss", .1, patience=0, min_delta=.5, min_lr=1e-5)
history = m.fit(data, classes, 24, 12, verbose=0, callbacks=[slower])
"""
WRONG = {
    "classes never trained": (_SORTED.replace("split=.2", "split=.4"), "error", "% of them are of class 3, and of the",
                              "data, classes = data[order1], classes[order1]"),
    "validated by one class": (_SORTED.replace("classes[order]", "classes[order] > 1"), "warning",
                               "all of them are of class 1", "classes[order1]"),
    "states of other rows": (_GOES_ON, "error", "each row of a batch goes on where", "3, verbose=0, shuffle=False)"),
    "watched in vain": (_WATCHED, "warning", "the numbers of an epoch are loss, acc", "patience=2, monitor='loss')"),
}
QUIET = {
    "mixed": _SORTED.replace("np.argsort(classes, kind=\"stable\")", "rng.permutation(len(classes))"),
    "in order": _GOES_ON.replace("3, verbose=0", "3, verbose=0, shuffle=False"),
    "begun anew": _GOES_ON.replace("m.fit(", "begin = keras.callbacks.LambdaCallback(on_batch_begin=lambda *_: "
                                   "m.reset_states())\nm.fit(").replace("verbose=0", "verbose=0, callbacks=[begin]"),
    "watched": _WATCHED.replace("EarlyStopping(", "EarlyStopping('acc', "),
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_a_call_of_fit_does_to_rows_is_told_and_written(kind: str, tmp_path: Path) -> None:
    text, level, told, mended = WRONG[kind]
    shell = trained(text, tmp_path)
    found = shell.dbg.doctor().findings
    number, said = next((i + 1, each) for i, each in enumerate(found) if each.kind == kind)
    assert said.level == level and told in said.text
    assert mended in shell.dbg.edits.patch(number).new.decode()
    shell.close()


@pytest.mark.parametrize("name", QUIET)
def test_rows_in_the_right_order_are_nothing_to_tell(name: str, tmp_path: Path) -> None:
    assert not {f.kind for f in findings(QUIET[name], tmp_path)} & WRONG.keys()


def test_a_rate_that_a_callback_lowers_is_told_of_it_and_what_trains_is_no_rate(tmp_path: Path) -> None:
    shell = trained(_PLATEAU, tmp_path)
    found = shell.dbg.doctor().findings
    said = next(each for each in found if "decayed" in each.kind)
    assert "; ReduceLROnPlateau at model.py:" in said.text and "lowers it after epochs 2, 3, 4" in said.text
    assert "each time that loss was no better for 0 epochs" in said.text and "decay_steps" not in said.remedy
    assert said.place is not None and "ReduceLROnPlateau(" in said.place.text
    assert said.remedy.endswith("it is to be written by hand")
    shell.close()
    of_schedule = _PLATEAU.replace('ReduceLROnPlateau("loss", .1, patience=0, min_delta=.5, min_lr=1e-5)',
                                   "LearningRateScheduler(lambda epoch: .05 * .3 ** epoch)")
    said = next(each for each in findings(of_schedule, tmp_path) if "decayed" in each.kind)
    assert "LearningRateScheduler at model.py:" in said.text and "decay_steps" not in said.remedy


@pytest.mark.parametrize(("old", "new", "fits"), [
    ("x = Embedding(9, 3)(ids)", "x = Embedding(9, 3)(ids, mask_zero=True)", False),
    ("x = Embedding(9, 3)(ids)", "x = Embedding(9, 3, mask_zero=True)(ids)", True),
    ("x = LSTM(3)(ids)", "x = LSTM(3)(ids, mask=m)", True), ("h = m.fit(x, y)", "h = max(m.fit(x, y), 0.1)", False),
    ("h = m.fit(x, y)", "h = 2 * m.fit(x, y)", False), ("f(m.fit(x, y), 1)", "f(m.fit(x, y), 2)", True)])
def test_a_change_that_no_call_could_mean_is_none(old: str, new: str, fits: bool) -> None:
    if fits:
        assert changed(old, [(0, len(old), new)]) == new
    else:
        with pytest.raises(AutodiffError, match="the edit does not fit there"):
            changed(old, [(0, len(old), new)])


def test_a_weight_that_nothing_reads_is_told_before_the_error_that_it_ends_in_and_left_out(tmp_path: Path) -> None:
    shell = trained(KERAS + """
class Mixed(layers.Layer):
    def build(self, shape):
        self.kernel = self.add_weight("kernel", (int(shape[-1]), 4))
        self.offset = self.add_weight("offset", (4,),
                                      initializer="zeros")
    def call(self, x):
        return tf.matmul(x, self.kernel)
m = keras.Sequential([layers.Dense(8, "relu", input_shape=(data.shape[1],)), Mixed(), layers.Softmax()])
m.compile("adam", "sparse_categorical_crossentropy")
m.fit(data, classes, 24, 2, verbose=0)
""", tmp_path)
    first, second = shell.dbg.doctor().findings[:2]
    assert (first.kind, first.level, second.kind) == ("no gradient", "error", "script error")
    assert "self.offset" in first.place.text
    execute("fix 1 --write --yes", shell)
    written = (tmp_path / "model.py").read_text()
    assert "offset" not in written and 'initializer="zeros"' not in written and "self.kernel" in written
    shell.close()
