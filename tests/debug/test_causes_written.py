"""Causes of trainings that learn little: each is told first, `fix 1` writes what mends it, and the twin has none."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from autodiff.core.errors import ArgumentError
from autodiff.debug.analysis.edits.in_source import Number, _numbered
from autodiff.debug.analysis.scripts.source_tree import Source

from .mistaken_programs import HEAD
from .programs_of_keras import KERAS
from .test_mistakes import findings, trained

_TARGET_NET = """
def values(v, name):
    with tf.variable_scope(name):
        return dense(dense(v, 8, tf.nn.relu), 2)

said, later = values(p, "acting"), values(tf.sin(p), "target")
acting, target = tf.trainable_variables("acting"), tf.trainable_variables("target")
aim = tf.stop_gradient(q[:, 0] + .9 * tf.reduce_max(later, 1))
train = adam(.005).minimize(tf.reduce_mean(tf.square(aim - said[:, 0])), var_list=acting)
copies = []
for a, b in zip(acting, target):
    copies.append(a.assign(b))
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(24):
        session.run(train, near(i))
        if i % 6 == 5:
            session.run(copies)
"""
_TARGET_MODEL = KERAS + """
acting, target = model(layers.Dense(4)), model(layers.Dense(4))
acting.compile(keras.optimizers.Adam(.01), "mse")
for i in range(12):
    acting.train_on_batch(data[:32], 1.0 + 0.9 * target.predict_on_batch(data[32:64]))
    if i % 4 == 3:
        acting.set_weights(target.get_weights())
"""
_CRITIC = """
body = dense(p, 16, tf.nn.tanh)
worth, likely = dense(body, 1), tf.nn.log_softmax(dense(body, 2))[:, :1]
expected = tf.stop_gradient(worth)
off = q - expected
loss = tf.reduce_mean(off * off) - 0.1 * tf.reduce_mean(likely * off)
fit([adam(.01).minimize(loss), loss], near)
"""
_RATINGS = """
full = np.clip(3 + rng.randn(200, 1).dot(rng.randn(1, 20)), 1, 5) * (rng.rand(200, 20) < .3)
r = tf.placeholder(tf.float32, [None, 20])
known = tf.cast(tf.not_equal(r, 0.0), tf.float32)
off = tf.abs(r - dense(dense(r, 8, tf.nn.sigmoid), 20))
loss = tf.reduce_mean(off)
told = tf.reduce_sum(known * off) / tf.reduce_sum(known)
fit([adam(.01).minimize(loss), told], lambda i: {r: full[rng.randint(0, 200, 32)]})
"""
_KEPT = """
keep = tf.placeholder(tf.float32)
h = tf.nn.dropout(dense(x, 32, tf.nn.relu), keep)
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(tf.nn.dropout(dense(h, 16), keep), 4))
train = adam(.001).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(10):
        session.run([train, loss], {**fed(i), keep: 0.1})
        session.run(loss, {**fed(i), keep: 1.0})
"""
_DROPPED = """
RATE = 0.9
h = tf.layers.dropout(dense(x, 32, tf.nn.relu), RATE, training=True)
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(h, 4))
fit([adam(.001).minimize(loss), loss], steps=10)
"""
_EPOCHS = """
step = tf.Variable(0, trainable=False)
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(dense(x, 16, tf.nn.relu), 4))
rate = tf.train.natural_exp_decay(.3, step, decay_steps=2, decay_rate=1.0)
orders = np.concatenate([rng.permutation(400) for _ in range(3)])
fit([sgd(rate).minimize(loss, step), loss], lambda i: {x: X[orders[20 * i:][:20]], t: T[orders[20 * i:][:20]]}, 60)
"""
_NUMBERS = KERAS + """
kinds = data[:, :3].argmax(1)
inputs = keras.Input((8,))
m = keras.Model(inputs, layers.Dense(1, activation="sigmoid")(layers.Dense(16, "relu")(inputs)))
m.compile(optimizer="adam", loss="binary_crossentropy")
m.fit(data, kinds, 24, 4, verbose=0)
"""
_NEAREST = """
code = dense(x, 3)

def nearest(rows, table):
    far = tf.reduce_sum(tf.square(rows[:, None] - table), -1)
    return tf.gather(table, tf.argmin(far, axis=-1))

table = tf.get_variable("table", [16, 3])
chosen = nearest(code, table)
loss = tf.reduce_mean(tf.square(dense(tf.nn.relu(dense(chosen, 16)), 36) - x))
fit([adam(.01).minimize(loss + tf.reduce_mean(tf.square(tf.stop_gradient(code) - chosen))), loss])
"""
_TURNED = """
def nearest(z):
    rows = tf.reshape(tf.transpose(z, [0, 2, 1]), [-1, 3])
    far = tf.reduce_sum(rows ** 2, 1, keepdims=True) - tf.matmul(2.0 * rows, table, transpose_b=True)
    index = tf.argmin(far + tf.reduce_sum(table ** 2, 1), axis=1)
    e = tf.transpose(tf.reshape(tf.gather(table, index), [-1, 4, 3]), [0, 2, 1])
    return e, tf.reduce_mean(tf.square(tf.stop_gradient(z) - e))

table = tf.get_variable("table", [16, 3])
code = tf.reshape(dense(x, 12), [-1, 3, 4])
chosen, apart = nearest(code)
out = dense(tf.nn.relu(dense(tf.reshape(chosen, [-1, 12]), 16)), 36)
fit([adam(.01).minimize(tf.reduce_mean(tf.square(out - x)) + apart)])
"""
_SCHEDULE = KERAS + """
m = model(layers.Dense(4, "softmax"))
m.compile(keras.optimizers.SGD(.01), "sparse_categorical_crossentropy")
fade = keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate * .6 ** epoch)
m.fit(data, classes, 24, 8, verbose=0, callbacks=[fade])
"""
_SEVERAL = KERAS + """
m = model(layers.Dense(4, "softmax"))
m.compile("adam", "binary_crossentropy")
m.fit(data, (data[:, :4] > 0).astype(np.float32), 24, 3, verbose=0)
"""
_WEIGHTS = KERAS + """
m = model(layers.Dense(1, "sigmoid"))
m.compile("adam", "binary_crossentropy")
share = np.mean(data[:, 0] > 1)
weights = {0: 1 - share, 1: share}
m.fit(data, data[:, 0] > 1, 24, 3, verbose=0, class_weight=weights)
"""
_PADDED = """
lengths = tf.placeholder(tf.int32, [None])
outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(8), tf.reshape(x, [-1, 6, 6]), lengths, dtype=tf.float32)
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(outputs[:, -1], 4))
fit(adam(.01).minimize(loss), lambda i: {**fed(i), lengths: rng.randint(2, 7, 32)}, 24)
"""
_ACTOR = """
z, v, r = dense(x, 4), dense(x, 1, name="critic")[:, 0], tf.placeholder(tf.float32, [None])
chosen = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=t, logits=z)
better = r - v
loss = tf.reduce_mean(chosen * better) + 2 * tf.reduce_mean(ERROR)
fit([adam(.01).minimize(loss), loss], lambda i: {**fed(i), r: rng.rand(32)}, 24)
"""
_ATTENDED = """
rows = np.where(np.arange(6) < rng.randint(2, 6, 400)[:, None], rng.randint(1, 9, (400, 6)), 0)
ids = tf.placeholder(tf.int32, [None, 6])
e = tf.nn.embedding_lookup(tf.get_variable("table", [9, 8]), ids)
near = tf.matmul(dense(e, 8), dense(e, 8), transpose_b=True)
out = tf.cast(tf.not_equal(ids, 0), tf.float32)
mixed = tf.matmul(tf.nn.softmax(near - 1e9 * out[:, None]), e)
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(tf.reduce_mean(mixed, 1), 4))

def some(i):
    k = rng.randint(0, 400, 64)
    return {ids: rows[k], t: rows[k, 0] % 4}

fit([adam(.01).minimize(loss), loss], some)
"""
_WEIGHED = """
steps = dense(tf.reshape(x, [-1, 12, 3]), 8, tf.nn.tanh)
z = dense(steps, 1)
e = tf.exp(z - tf.reduce_max(z, 2, keepdims=True))
shares = e / tf.reduce_sum(e, axis=-1, keepdims=True)
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(tf.reduce_sum(shares * steps, 1), 4))
fit([adam(.01).minimize(loss), loss], steps=24)
"""
_ONE_COLUMN = """
yes = tf.placeholder(tf.float32, [None, 1])
z = dense(dense(x, 8, tf.nn.relu), 1)
loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=yes, logits=z))
fit([adam(.02).minimize(loss), loss], lambda i: {x: X[:64], yes: T[:64, None] % 2}, 24)
"""
_ONE_UNIT = KERAS + """
m = model(layers.Dense(1, "softmax"))
m.compile("adam", "categorical_crossentropy")
m.fit(data, data[:, :1] > 0, 24, 3, verbose=0)
"""
# a program -> the kind of what is wrong, the program, and what is wrong in it with what is right
CAUSES = {
    "a copy the wrong way": ("copied the wrong way", _TARGET_NET, {"a.assign(b)": "b.assign(a)"}),
    "weights the wrong way": ("copied the wrong way", _TARGET_MODEL, {
        "acting.set_weights(target.get_weights())": "target.set_weights(acting.get_weights())"}),
    "a critic that is stopped": ("no gradient", _CRITIC, {"tf.reduce_mean(off * off)":
                                                          "tf.reduce_mean(tf.square(q - worth))"}),
    "rows chosen as the nearest": ("no gradient", _NEAREST, {
        "dense(chosen, 16)": "dense(code + tf.stop_gradient(chosen - code), 16)",
        "tf.square(tf.stop_gradient(code) - chosen)": "tf.square(tf.stop_gradient(code) - chosen) "
                                                      "+ 0.25 * tf.square(code - tf.stop_gradient(chosen))"}),
    "ratings that are missing": ("missing counts", _RATINGS, {
        "tf.reduce_mean(off)": "tf.reduce_sum(known * off) / tf.reduce_sum(known)"}),
    "an error that weighs": ("advantage is trained", _ACTOR.replace("ERROR", "tf.square(better)"), {
        "chosen * better": "chosen * tf.stop_gradient(better)"}),
    "an advantage of its own": ("advantage is trained", _ACTOR.replace("ERROR", "tf.square(v - r)"), {
        "better = r - v": "better = tf.stop_gradient(r - v)"}),
    "a share that is fed": ("dropout drops too much", _KEPT, {"keep: 0.1": "keep: 0.9"}),
    "a share by its name": ("dropout drops too much", _DROPPED, {"RATE = 0.9": "RATE = 0.1"}),
    "epochs for steps": ("learning rate decayed to nothing", _EPOCHS, {"decay_steps=2": "decay_steps=2 * (400 // 20)"}),
    "a rate that is smaller already": ("learning rate decayed to nothing", _SCHEDULE, {": rate * .6": ": 0.01 * .6"}),
    "one answer of several": ("one class for several", _SEVERAL, {'(4, "softmax")': "(4, 'sigmoid')"}),
    "weights by shares": ("class weights the wrong way round", _WEIGHTS, {
        "1 - share, 1: share": "share, 1: 1 - share"}),
    "a mask the wrong way": ("mask the wrong way round", _ATTENDED, {"tf.not_equal(ids, 0)": "tf.equal(ids, 0)"}),
    "the last of padding": ("last position of padding", _PADDED, {"outputs, _": "outputs, last_state",
                                                                  "outputs[:, -1]": "last_state.h"}),
    "shares of one": ("one class", _WEIGHED, {"reduce_max(z, 2": "reduce_max(z, 1",
                                              "(e, axis=-1": "(e, axis=1"}),
    "a softmax of one column": ("one class", _ONE_COLUMN, {
        "softmax_cross_entropy_with_logits_v2": "sigmoid_cross_entropy_with_logits"}),
    "a softmax of one column, each weighed": (
        "one class", _ONE_COLUMN.replace("(tf.nn", "(tf.ones_like(z)[:, 0] * tf.nn"), {
            "tf.nn.softmax_cross_entropy_with_logits_v2(labels=yes, logits=z)":
            "tf.squeeze(tf.nn.sigmoid_cross_entropy_with_logits(labels=yes, logits=z), -1)"}),
    "a softmax of one column, of its loss": (
        "one class", _ONE_COLUMN.replace("tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=yes, "
                                         "logits=z))", "tf.losses.softmax_cross_entropy(onehot_labels=yes, logits=z)"),
        {"softmax_cross_entropy(onehot_labels": "sigmoid_cross_entropy(multi_class_labels"}),
    "a softmax of one unit": ("one class", _ONE_UNIT, {'"softmax"': '"sigmoid"', '"categorical_': '"binary_'}),
    "numbers of classes": ("labels out of range", _NUMBERS, {
        "Dense(1, activation=\"sigmoid\")": "Dense(3, activation=\"softmax\")",
        "\"binary_crossentropy\"": "\"sparse_categorical_crossentropy\""})}


@pytest.mark.parametrize("name", CAUSES)
def test_a_cause_comes_first_and_what_mends_it_is_written(name: str, tmp_path: Path) -> None:
    kind, text, changes = CAUSES[name]
    mended = text
    for wrong, right in changes.items():
        assert wrong in text
        mended = mended.replace(wrong, right)
    shell = trained(text, tmp_path)
    first, *others = shell.dbg.doctor().findings
    assert (first.kind, first.level == "remark") == (kind, False)
    assert {f.kind for f in others if f.level != "remark"}.isdisjoint({"copy is trained", "not trained", "wrong sign"})
    assert "fix 1 " in first.remedy and shell.dbg.edits.patch(1).new.decode() == HEAD + mended
    shell.close()
    assert [(f.kind, f.text) for f in findings(mended, tmp_path) if f.level != "remark"] == []


@pytest.mark.parametrize(["order", "changes"], [
    ("[-1, 4, 3]), [0, 2, 1])", {"return e,": "return z + tf.stop_gradient(e - z),", "(z) - e))":
                                 "(z) - e) + 0.25 * tf.square(z - tf.stop_gradient(e)))"}),
    ("[-1, 3, 4]), [0, 1, 2])", {
        "tf.gather(table, index)": "rows + tf.stop_gradient(tf.gather(table, index) - rows)"})])
def test_chosen_rows_that_are_turned_are_let_past_where_they_lie_as_what_they_are_near_to(
        order: str, changes: dict[str, str], tmp_path: Path) -> None:
    mended = text = _TURNED.replace("[-1, 4, 3]), [0, 2, 1])", order)
    shell = trained(text, tmp_path)
    first = shell.dbg.doctor().findings[0]
    assert (first.kind, "fix 1 " in first.remedy) == ("no gradient", True)
    for wrong, right in changes.items():
        mended = mended.replace(wrong, right)
    assert shell.dbg.edits.patch(1).new.decode() == HEAD + mended
    shell.close()


def test_zeros_of_a_code_and_squashes_beside_a_skip_are_not_told(tmp_path: Path) -> None:
    text = """
codes = np.eye(5, dtype=np.float32)[rng.randint(0, 4, 300)]
c = tf.placeholder(tf.float32, [None, 5])
h = dense(c, 8)
for _ in range(6):
    h = h + dense(h, 8, tf.nn.tanh)
loss = tf.losses.mean_squared_error(q, dense(h, 1))
fit([adam(.01).minimize(loss), loss], lambda i: {c: codes[:64], q: codes[:64, :1]}, 12)
"""
    assert {"constant columns", "squashing chain"}.isdisjoint(f.kind for f in findings(text, tmp_path))
    assert "squashing chain" in {f.kind for f in findings(text.replace("h + dense(", "dense("), tmp_path)}


def test_hinges_that_are_kept_choices_among_data_and_paths_that_go_on_straight_are_not_told(tmp_path: Path) -> None:
    text = """
h = dense(x, 8)
table = tf.get_variable("table", [16, 8])
rows = tf.gather(table, tf.argmin(tf.reduce_sum(tf.square(h[:, None] - table), -1), 1))
k = h + tf.stop_gradient(rows - h)
far = tf.where(x > 0.5, tf.log(x), x)
size = tf.reduce_sum(tf.square(k), 1)
most = .999 * tf.reduce_max(size)
loss = tf.reduce_mean(tf.nn.relu(size - most)) + .1 * tf.reduce_mean(tf.square(dense(k, 36) - x + .01 * far))
loss += tf.reduce_mean(tf.square(tf.stop_gradient(h) - rows))
fit([adam(.01).minimize(loss), loss])
"""
    kinds = {"dead relu", "where trap", "cut path"}
    assert kinds.isdisjoint(f.kind for f in findings(text, tmp_path))
    text = text.replace("tf.reduce_mean(tf.nn.relu(size - most))", "tf.reduce_mean(dense(tf.nn.relu(h - 1e3), 1))")
    text = text.replace("tf.where(x > 0.5, tf.log(x), x)", "tf.where(k > 0.5, tf.log(k), k)[:, :1]")
    text = text.replace("k = h + tf.stop_gradient(rows - h)", "k = h + rows")
    assert kinds <= {f.kind for f in findings(text, tmp_path)}


@pytest.mark.parametrize(("call", "value", "mended"), [
    ("f(x, key_padding_mask=m)", -np.inf, "f(x, key_padding_mask=m & ~m.all(-1, keepdim=True))"),
    ("f(x, key_padding_mask=g(m))", -np.inf, ""), ("f(x, key_padding_mask=m)", 0.5, ""), ("f(x, mask=m)", -np.inf, "")])
def test_a_mask_that_leaves_out_all_keys_lets_them_in(call: str, value: float, mended: str) -> None:
    op = SimpleNamespace(name="Const", span=SimpleNamespace(line=1, column=4, end_line=1, end_column=4 + len(call)))
    source, number = Source(f"y = {call}\n"), Number(op, value, "-1e9")  # type: ignore[arg-type]
    if not mended:
        with pytest.raises(ArgumentError, match="no places"):
            _numbered(source, number)
        return
    (start, stop, text), = _numbered(source, number)
    assert f"y = {call}"[:start] + text + f"y = {call}"[stop:] == f"y = {mended}"
