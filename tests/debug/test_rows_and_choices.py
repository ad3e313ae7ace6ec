"""Rows that are all one, datasets that are thrown away, choices and next states that no loss takes; what is right."""

from pathlib import Path

import pytest

from .programs_of_keras import KERAS
from .test_mistakes import findings, trained

_COPIES = """
class Rows:
    at = 0
    def next(self, n=16):
        taken, kinds = [], []
        for row in range(self.at, self.at + n):
            taken.append(X[self.at] * 1.0)
            kinds.append(T[self.at])
        self.at = (self.at + n) % 384
        return {x: np.stack(taken), t: kinds}
rows = Rows()
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(x, 4))
fit([sgd(.1).minimize(loss), loss], lambda i: rows.next())
"""
_DATASET = """
order = np.argsort(T, kind="stable")
def read(rows, kinds):
    data = tf.data.Dataset.from_tensor_slices((rows, kinds))
    data.shuffle(400)
    return data.repeat().batch(16)
rows, kinds = read(X[order], T[order]).make_one_shot_iterator().get_next()
loss = tf.losses.sparse_softmax_cross_entropy(kinds, dense(rows, 4))
fit([sgd(.1).minimize(loss), loss], lambda i: {}, 60)
"""
_CHOICES = """
back = tf.placeholder(tf.float32, [None, 1])
chances = dense(x, 3, tf.nn.softmax)
loss = -tf.reduce_mean(tf.log(chances) * back)
fit([adam(.01).minimize(loss), loss], lambda i: {x: X[i * 9:i * 9 + 16], back: rng.randn(16, 1)})
"""
_NEXT = """
here, there = tf.placeholder(tf.float32, [None, 36]), tf.placeholder(tf.float32, [None, 36])
reward, chosen = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int32, [None])
with tf.variable_scope("values"):
    value = dense(dense(here, 8, tf.nn.relu), 4)
with tf.variable_scope("late"):
    late = dense(dense(here, 8, tf.nn.relu), 4)
goal = tf.stop_gradient(reward + .9 * tf.reduce_max(late, 1))
loss = tf.reduce_mean(tf.square(goal - tf.reduce_sum(value * tf.one_hot(chosen, 4), 1)))
copy = [tf.assign(b, a) for a, b in zip(tf.global_variables("values"), tf.global_variables("late"))]
def steps(i):
    k = rng.randint(0, 399, 16)
    return {here: X[k], there: X[k + 1], reward: T[k] / 3, chosen: T[k + 1]}
fit([adam(.01).minimize(loss), loss], steps)
"""
_FEATURES = KERAS + """
flow = keras.preprocessing.image.ImageDataGenerator().flow
base = keras.Sequential([layers.Flatten(input_shape=(3, 3, 1)), layers.Dense(9, "tanh")])
base.compile("sgd", "mse")
pictures = np.sort(T)[:, None, None, None] * rng.uniform(.9, 1.1, [400, 3, 3, 1])
mixed = flow(pictures, batch_size=40)
features = base.predict_generator(mixed, 10)
m = keras.Sequential([layers.Dense(4, "softmax", input_shape=(9,))])
m.compile("adam", "sparse_categorical_crossentropy")
m.fit(features, np.sort(T), 40, 12, verbose=0)
"""
WRONG = {
    "one example in a batch": (_COPIES, "error", "the 16 rows of x:0 are one example, 16 times", "append(X[row] * "),
    "sorted by class": (_DATASET, "error", "data.shuffle(400) gives is thrown away", "    data = data.shuffle(400)"),
    "dataset thrown away": (_DATASET.replace("X[order], T[order]", "X, T"), "warning", "data.shuffle(400) gives",
                            "    data = data.shuffle(400)"),
    "choices not used": (_CHOICES, "error", "which one was taken is nowhere in it", ""),
    "next state not used": (_NEXT, "error", "but no op takes it", "late = dense(dense(there, 8"),
    "labels do not follow from inputs": (_FEATURES, "error", "", "batch_size=40, shuffle=False)"),
}
QUIET = {
    "rows by their numbers": _COPIES.replace("[self.at]", "[row]"),
    "labels that differ for one input": _COPIES.replace("T[self.at]", "T[row]").replace(
        "sparse_softmax_cross_entropy(t", "sparse_softmax_cross_entropy(t * 1"),
    "a dataset that is kept": _DATASET.replace("    data.shuffle", "    data = data.shuffle"),
    "what is no dataset": _DATASET.replace("    data.shuffle(400)", "    np.repeat(kinds, 2)").replace(
        "X[order], T[order]", "X, T"),
    "the choice that was taken": _CHOICES.replace("tf.log(chances) * back", "tf.one_hot(t, 3) * tf.log(chances) * back"
                                                  ).replace("{x: X", "{t: rng.randint(0, 3, 16), x: X"),
    "weights of each choice": _CHOICES.replace("[None, 1])", "[None, 3])").replace("randn(16, 1)", "rand(16, 3)"),
    "an entropy": _CHOICES.replace("tf.log(chances) * back", "chances * tf.log(chances)").replace(", back: rng.randn("
                                                                                                "16, 1)", ""),
    "the next state": _NEXT.replace("late = dense(dense(here", "late = dense(dense(there"),
    "two nets that are trained": _NEXT.replace("tf.stop_gradient(reward", "(reward"),
    "features in order": _FEATURES.replace("batch_size=40", "batch_size=40, shuffle=False"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_is_wrong_is_told_at_its_line_and_written(kind: str, tmp_path: Path) -> None:
    text, level, told, mended = WRONG[kind]
    shell = trained(text, tmp_path)
    found = shell.dbg.doctor().findings
    assert (found[0].kind, found[0].level) == (kind, level) and told in found[0].text
    if mended:
        assert mended in shell.dbg.edits.patch(1).new.decode()
    shell.close()


@pytest.mark.parametrize("name", QUIET)
def test_what_is_right_is_nothing_to_tell(name: str, tmp_path: Path) -> None:
    assert not {f.kind for f in findings(QUIET[name], tmp_path)} & WRONG.keys()
