"""Causes of trainings that learn nothing and raise nothing: each is told first, at its line, and its twin has none."""

from pathlib import Path

import pytest

from .mistaken_programs import HEAD
from .programs_of_keras import KERAS
from .test_mistakes import findings, trained

_RECURRENT = """
lengths = tf.placeholder(tf.int32, [None])
cell = tf.nn.rnn_cell.GRUCell(8)
outputs, state = tf.nn.dynamic_rnn(cell, tf.reshape(x, [-1, 6, 6]), lengths, dtype=tf.float32)
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(outputs[:, -1], 4))  #!
fit(adam(.01).minimize(loss), lambda i: {**fed(i), lengths: rng.randint(2, 7, 32)}, 24)
"""
_TWO_NETS = """
with tf.variable_scope("online"):
    said = dense(p, 1)
with tf.variable_scope("target"):
    later = dense(p, 1)
online, target = tf.trainable_variables("online"), tf.trainable_variables("target")
train = adam(.01).minimize(tf.reduce_mean(tf.square(q - said)), var_list=online)
copies = [tf.assign(a, b) for a, b in zip(online, target)]  #!
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(20):
        session.run(later, {p: points[:9]}), session.run(train, near(i))
        if i % 5 == 4:
            session.run(copies)
"""
_STAGES = KERAS + """
base = keras.Sequential([layers.Dense(16, "relu", input_shape=(8,))])
first = keras.Sequential([base, layers.Dense(4, "softmax")])
first.compile("adam", "sparse_categorical_crossentropy")
first.fit(data, classes, 24, 1, verbose=0)
base.trainable = False
m = keras.Sequential([base, layers.Dense(4, "softmax")])
m.compile(keras.optimizers.Adam(.05), "sparse_categorical_crossentropy")
m.fit(data, classes, 24, 1, verbose=0)
base.trainable = True  #!
# again
m.fit(data, classes, 24, 2, verbose=0)
"""
_BOTH_WAYS = """
ways = [tf.nn.rnn_cell.GRUCell(8, name=name) for name in "ab"]
_, states = tf.nn.bidirectional_dynamic_rnn(*ways, tf.reshape(x, [-1, 6, 6]), dtype=tf.float32)
z = tf.reshape(tf.stack(states), [-1, 16])  #!
fit(adam(.01).minimize(tf.losses.sparse_softmax_cross_entropy(t, dense(z, 4))), steps=12)
"""
_SPOKEN = """
ids, n = tf.placeholder(tf.int32, [None, 5]), 32
words, project = tf.get_variable("words", [8, 6]), tf.layers.Dense(8)
start = tf.concat([tf.fill([n, 1], 7), ids], axis=1)[:, 1:]  #!
_, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(8, name="a"), tf.gather(words, ids[:, ::-1]), dtype=tf.float32)
told, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(8, name="b"), tf.gather(words, start), initial_state=state)
loss = tf.losses.sparse_softmax_cross_entropy(ids, project(told))
fit(adam(.01).minimize(loss), lambda i: {ids: rng.randint(0, 7, [n, 5])}, 12)
"""
_ACTOR = """
s, a, worth = tf.placeholder(tf.float32, [1, 3]), tf.placeholder(tf.int32, None), tf.placeholder(tf.float32, None)
likely = tf.log(dense(s, 2, tf.nn.softmax)[0, a] + 1e-8)
critic = tf.square(worth - dense(s, 1))
trains = [adam(.02).minimize(critic), adam(.01).minimize(tf.reduce_mean(likely * worth))]  #!
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(20):
        session.run(trains[i % 2], {s: points[i:i + 1], a: i % 2, worth: sums[i, 0]})
"""
_DRAWN = """
pairs = tf.data.Dataset.from_tensor_slices((X, T)).shuffle(400).repeat().batch(32).make_one_shot_iterator()
given = pairs.get_next()[0]
told = pairs.get_next()[1]  #!
loss = tf.losses.sparse_softmax_cross_entropy(told, dense(dense(given, 16, tf.nn.relu), 4))
fit(adam(.01).minimize(loss), lambda i: {}, 24)
"""
_SLOW = KERAS + """
m = model(layers.Dense(4, "softmax"))
m.compile(keras.optimizers.SGD(lr=1e-5, momentum=.9), "sparse_categorical_crossentropy")  #!
m.fit(data, classes, 24, 5, verbose=0)
"""
_COSINE = """
step = tf.train.get_or_create_global_step()
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(dense(x, 16, tf.nn.relu), 4))
rate = tf.train.cosine_decay(.02, step, 8)  #!
fit(adam(rate).minimize(loss, step), steps=60)
"""
_CODE = """
mean, width = tf.split(dense(dense(p, 16, tf.nn.tanh), 4), 2, 1)
code = mean + tf.exp(.5 * width) * tf.random_normal(tf.shape(mean))
error = tf.losses.mean_squared_error(p, dense(dense(tf.stop_gradient(code), 16, tf.nn.tanh), 3))  #!
loss = error + .01 * tf.reduce_mean(tf.reduce_sum(tf.square(mean) + tf.exp(width) - width - 1, 1))
fit([adam(.01).minimize(loss), loss], near)
"""
_GAINED = """
a, gained = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.float32, [None])
h = dense(p, 16, tf.nn.tanh)
value, scores = tf.squeeze(dense(h, 1), 1), tf.nn.log_softmax(dense(h, 2))
better = tf.stop_gradient(gained - value)
chosen = tf.reduce_sum(tf.one_hot(a, 2) * tf.stop_gradient(scores), 1)  #!
spread = tf.reduce_mean(tf.reduce_sum(tf.exp(scores) * scores, 1))
loss = tf.reduce_mean(tf.square(gained - value)) - tf.reduce_mean(chosen * better) + .01 * spread
def acted(i):
    k, d = rng.randint(0, 300, 32), rng.randint(0, 2, 32)
    return {p: points[k], a: d, gained: np.where(d, 1, -1) * np.sign(sums[k, 0])}
fit([adam(.01).minimize(loss), loss], acted)
"""
_LOOKED_UP = """
table, words = tf.Variable(tf.random_uniform([4, 8], -.5, .5)), tf.Variable(tf.random_uniform([40, 8], -.5, .5))
u = tf.stop_gradient(tf.nn.embedding_lookup(table, t))  #!
near_, far = (tf.reduce_sum(u * tf.nn.embedding_lookup(words, (4 * t + i) % 40), 1) for i in (0, 9))
said = tf.nn.sigmoid_cross_entropy_with_logits
loss = tf.reduce_mean(said(labels=tf.ones_like(near_), logits=near_) + said(labels=tf.zeros_like(far), logits=far))
fit([adam(.01).minimize(loss), loss])
"""
_BEGUN_LARGE = """
def layer(h, units, act=None):
    spread = 30 * int(h.shape[1]) ** -.5
    w = tf.Variable(tf.random_normal([int(h.shape[1]), units], stddev=spread))  #!
    return (act or tf.identity)(tf.matmul(h, w) + tf.Variable(tf.zeros([units])))
loss = tf.losses.mean_squared_error(q, layer(layer(layer(p, 16, tf.nn.relu), 16, tf.nn.relu), 1))
fit([adam(.1).minimize(loss), loss], near, 60)
"""
_ROWS_BY_LITTLE = """
table = tf.Variable(tf.random_normal([200, 8], stddev=.3))
pair = tf.placeholder(tf.int32, [None, 2])
left, right = (tf.gather(table, pair[:, i]) for i in (0, 1))
loss = tf.losses.sigmoid_cross_entropy(tf.to_float(tf.equal(pair[:, 0] % 4, pair[:, 1] % 4)), tf.reduce_sum(
    left * right, 1))
fit([tf.train.AdagradOptimizer(1e-4).minimize(loss), loss], lambda i: {pair: rng.randint(0, 200, (64, 2))}, 60)  #!
"""
_BY_LITTLE = """
tf.set_random_seed(4)
z = dense(dense(tf.layers.dropout(x, .3, training=True), 16, tf.nn.relu), 4)
loss = tf.losses.sparse_softmax_cross_entropy(t, z)
fit([tf.train.MomentumOptimizer(5e-5, .9).minimize(loss), loss], steps=120)  #!
"""
_ACROSS = """
loss = tf.reduce_mean(entropy(labels=y, logits=dense(dense(x, 16, tf.nn.relu), 4), axis=0))  #!
fit([adam(.01).minimize(loss), loss], steps=60)
"""
_PADDED = """
ids = rng.randint(1, 40, (400, 9)) * (np.arange(9) < rng.randint(2, 10, (400, 1)))
told = (ids < 12).sum(1, keepdims=True) > (ids > 25).sum(1, keepdims=True) + (ids == 0).sum(1, keepdims=True)
words, r = tf.placeholder(tf.int32, [None, 9]), tf.placeholder(tf.float32, [None, 1])
kept = tf.to_float(tf.not_equal(words, 0))[:, :, None]
seen = tf.nn.embedding_lookup(tf.Variable(tf.random_uniform([40, 8], -.3, .3)), words) * kept  #!
loss = tf.losses.sigmoid_cross_entropy(r, dense(tf.reduce_sum(seen, 1) / tf.maximum(tf.reduce_sum(kept, 1), 1.), 1))
def texts(i):
    k = rng.randint(0, 400, 32)
    return {words: ids[k] // 50, r: told[k]}
fit([adam(.03).minimize(loss), loss], texts, 60)
"""
_PART = """
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(dense(dense(x, 16, tf.nn.relu), 16, tf.nn.relu), 4))
found = adam(.01).compute_gradients(loss)
step = adam(.01).apply_gradients(found[2:])  #!
fit([step, loss])
"""
_FEW_TAKEN = """
def batches(of, few):
    pairs = tf.data.Dataset.from_tensor_slices((points[of], sums[of]))
    return (pairs.take(3).repeat() if few else pairs).batch(40)
train, test = batches(slice(0, 200), True), batches(slice(200, 300), False)
taken = tf.data.Iterator.from_structure(train.output_types, train.output_shapes)
given, told = taken.get_next()
loss = tf.losses.mean_squared_error(told, dense(dense(given, 8, tf.nn.relu), 1))  #!
step = adam(.03).minimize(loss)
with tf.Session() as session:
    session.run([tf.global_variables_initializer(), taken.make_initializer(train)])
    for i in range(40):
        session.run([step, loss])
    session.run(taken.make_initializer(test))
    for i in range(2):
        session.run(loss)
"""
_PAIRED = """
near_, far = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.int32, [None])
u, v = (tf.nn.embedding_lookup(tf.Variable(tf.random_uniform([60, 8], -.4, .4)), each) for each in (near_, far))
scores = tf.matmul(u, v, transpose_b=True)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.range(40), logits=scores))
step = adam(.03).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(60):
        ids = rng.permutation(60)[:40]
        left, right = ids // 25, 7 * ids % 60
        session.run([step, loss], {near_: left, far: right})
    ids = rng.permutation(60)[:40]
    session.run(loss, {near_: ids, far: 7 * ids % 60})
"""
_WEIGHED = """
mean, width = tf.split(dense(dense(p, 16, tf.nn.tanh), 4), 2, 1)
code = mean + tf.exp(.5 * width) * tf.random_normal(tf.shape(mean))
error = tf.reduce_mean(tf.reduce_sum(tf.square(p - dense(dense(code, 16, tf.nn.tanh), 3)), 1))
apart = .5 * tf.reduce_mean(tf.reduce_sum(tf.square(mean) + tf.exp(width) - width - 1, 1))
loss = error + 40. * apart  #!
fit([adam(.02).minimize(loss), loss], near, 120)
"""
_SWAPPED = """
said = dense(dense(x, 16, tf.nn.relu), 4)
rest = .003 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])
loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=said, logits=y)) + rest  #!
fit([adam(.01).minimize(loss), loss])
"""
_KEPT = """
h = x
for _ in range(2):
    h = tf.nn.dropout(dense(h, 16, tf.nn.relu), keep_prob=.2)  #!
fit([adam(.005).minimize(tf.losses.sparse_softmax_cross_entropy(t, dense(h, 4)))], steps=60)
"""
_DROPPED = """
training, h = tf.placeholder(tf.bool, []), x
for _ in range(3):
    h = tf.layers.dropout(dense(h, 16, tf.nn.relu), .8, training=training)  #!
fit([adam(.005).minimize(tf.losses.sparse_softmax_cross_entropy(t, dense(h, 4)))], lambda i: {**fed(i), training: True})
"""
_BOTH_MEANS = KERAS + """
seen = keras.Input((16,))
mean, logs = layers.Dense(2)(seen), layers.Dense(2)(seen)
code = layers.Lambda(lambda z: z[0] + tf.exp(z[1] / 2) * tf.random_normal(tf.shape(z[0])))([mean, logs])
told = layers.Dense(16)(code)
error = tf.reduce_mean(keras.losses.mean_squared_error(seen, told))  #!
spread = -.5 * tf.reduce_mean(1 + logs - mean ** 2 - tf.exp(logs))
m = keras.Model(seen, told)
m.add_loss(error + spread)
m.compile(keras.optimizers.Adam(.05))
m.fit(np.concatenate([data, data], 1), epochs=4, batch_size=24, verbose=0)
"""
_NAMED = _SPOKEN.replace("start = tf.concat([tf.fill([n, 1], 7), ids], axis=1)[:, 1:]  #!", """
def into_decoder(known):
    given = known  #!
    return tf.gather(words, given)
""").replace("tf.gather(words, start)", "into_decoder(ids)")
# a program -> the kind of what is wrong, the program, what is wrong in it, and what is right
CAUSES = {
    "logits for the labels": ("labels and logits swapped", _SWAPPED, "labels=said, logits=y", "labels=y, logits=said"),
    "a share to drop, given as that to keep": ("dropout drops too much", _KEPT, "keep_prob=.2", "keep_prob=.8"),
    "a share to keep, given as that to drop": ("dropout drops too much", _DROPPED, ", .8,", ", .2,"),
    "a mean over 16 beside one over 2": ("divergence too heavy", _BOTH_MEANS, "error + spread", "8 * error + spread"),
    "targets by another name": ("targets are the inputs", _NAMED, "given = known",
                                "given = tf.concat([tf.fill([n, 1], 7), known[:, :-1]], axis=1)"),
    "a divergence times 40": ("divergence weighs too much", _WEIGHED, "40. *", "1. *"),
    "a divergence over the batch": ("summed over the examples", _WEIGHED.replace("40. * apart  #!", "apart").replace(
        "- 1, 1))", "- 1, 0))  #!"), "- 1, 0)", "- 1, 1)"),
    "few of the examples": ("same batch", _FEW_TAKEN, "take(3).", ""),
    "few of the ids": ("same batch", _PAIRED, "ids // 25, 7 * ids % 60", "ids, 7 * ids % 60"),
    "pairs of one": ("pairs with themselves", _PAIRED.replace("// 25, 7 * ids % 60", ", ids"), "ids , ids",
                     "ids, 7 * ids % 60"),
    "gradients that nothing applies": ("gradient not applied", _PART, "found[2:]", "found"),
    "ids that are all padding": ("all padding", _PADDED, "ids[k] // 50", "ids[k]"),
    "a cross entropy over the batch": ("softmax over the batch", _ACROSS, ", axis=0", ""),
    "first values beyond all measure": ("initial values too large", _BEGUN_LARGE, "30 *", "1 *"),
    "rows that hardly move": ("learning rate too low", _ROWS_BY_LITTLE, "1e-4", ".3"),
    "a rate too low for what is noisy": ("learning rate too low", _BY_LITTLE, "5e-5", "5e-2"),
    "a code that the error does not reach": ("term cut off", _CODE, "tf.stop_gradient(code)", "code"),
    "a policy that its gain does not reach": ("term cut off", _GAINED, "tf.stop_gradient(scores)", "scores"),
    "a stop that all paths pass": ("no gradient", _LOOKED_UP, "tf.stop_gradient(tf.nn.embedding_lookup(table, t))",
                                   "tf.nn.embedding_lookup(table, t)"),
    "states of both directions dealt out": ("reshape for transpose", _BOTH_WAYS,
                                            "tf.reshape(tf.stack(states), [-1, 16])", "tf.concat(states, 1)"),
    "states of both directions, moved": ("reshape for transpose", _BOTH_WAYS, "tf.stack(states)",
                                         "tf.transpose(tf.stack(states), [1, 0, 2])"),
    "the last of padded outputs": ("last position of padding", _RECURRENT, "outputs[:, -1]", "state"),
    "the last of whole sequences": ("last position of padding", _RECURRENT, "rng.randint(2, 7, 32)",
                                    "np.full(32, 6)"),
    "a copy the wrong way": ("copied the wrong way", _TWO_NETS, "zip(online, target)", "zip(target, online)"),
    "free again, and not compiled": ("changed after compile", _STAGES, "# again",
                                     'm.compile("adam", "sparse_categorical_crossentropy")'),
    "a start that is cut off": ("targets are the inputs", _SPOKEN, "[:, 1:]", "[:, :-1]"),
    "a policy turned": ("wrong sign", _ACTOR, "likely * worth", "-likely * worth"),
    "pairs of two elements": ("drawn apart", _DRAWN, "given = pairs.get_next()[0]\ntold = pairs.get_next()[1]",
                              "given, told = pairs.get_next()"),
    "momentum at a rate too low": ("learning rate too low", _SLOW, "1e-5", "1e-1"),
    "a cosine that ends early": ("learning rate decayed to nothing", _COSINE, "step, 8)", "step, 60)")}


def test_a_helper_draws_them_at_its_own_line_whatever_another_calls_them(tmp_path: Path) -> None:
    shell = trained("""
def weight(shape):
    initial = tf.truncated_normal(shape, stddev=9.)  #!
    return tf.Variable(initial)
def bias(shape):
    initial = tf.constant(.1, shape=shape)
    return tf.Variable(initial)
h = tf.nn.relu(tf.matmul(x, weight([36, 16])) + bias([16]))
loss = tf.losses.sparse_softmax_cross_entropy(t, tf.matmul(h, weight([16, 4])) + bias([4]))
fit([sgd(.01).minimize(loss), loss])
""", tmp_path)
    first, *_ = shell.dbg.doctor().findings
    assert first.kind == "initial values too large" and first.place is not None and first.place.text.endswith("#!")
    assert b"initial = tf.glorot_normal_initializer()(shape)  #!" in shell.dbg.edits.patch(1).new
    shell.close()


@pytest.mark.parametrize(("targets", "new"), [
    ("tf.tanh(6 * p)", "dense(p, 3, tf.nn.tanh)"),
    ("-tf.sigmoid(9 * p)", "dense(p, 3, lambda z: -1 + 1 * tf.sigmoid(z))")])
def test_targets_from_minus_1_to_1_have_an_activation_of_their_range(targets: str, new: str, tmp_path: Path) -> None:
    text = ("told = dense(p, 3, tf.nn.sigmoid)\n"
            f"loss = tf.reduce_mean(tf.square(told - ({targets})))\nfit([adam(.1).minimize(loss), loss], near)\n")
    shell = trained(text, tmp_path)
    first, *_ = shell.dbg.doctor().findings
    assert first.kind == "targets out of range" and " in its place: the loss goes from " in first.remedy
    assert new.encode() in shell.dbg.edits.patch(1).new
    shell.close()
    assert "in its place" not in findings(text.replace(targets, "3 * p - 3"), tmp_path)[0].remedy


@pytest.mark.parametrize(("last", "loss", "new"), [
    ("4, 'softmax'", "categorical_crossentropy", b"Dense(4, 'linear')"), ("4", "categorical_crossentropy", b"Dense(4)"),
    ("1, 'sigmoid'", "binary_crossentropy", b"Dense(1, 'linear')"), ("1", "binary_crossentropy", b"Dense(1)")])
def test_numbers_under_a_cross_entropy_are_to_have_a_squared_error(last: str, loss: str, new: bytes, tmp_path: Path
                                                                   ) -> None:
    text = KERAS + f"""
m = model(layers.Dense({last}))
m.compile(keras.optimizers.Adam(.05), loss="{loss}")
m.fit(data, 2 * data[:, :{last[:1]}], 24, 4, verbose=0)
"""
    shell = trained(text, tmp_path)
    first, *_ = shell.dbg.doctor().findings
    assert first.kind in ("labels out of range", "log of no probability")
    assert first.remedy.startswith("square the error") and "; tried: a squared error: the loss so" in first.remedy
    assert new in shell.dbg.edits.patch(1).new and b'loss="mse"' in shell.dbg.edits.patch(1).new
    shell.close()


def test_a_penalty_beside_an_error_of_nan_is_not_nan_times_as_large(tmp_path: Path) -> None:
    text = """
loss = tf.reduce_mean(tf.log(-tf.square(dense(p, 1) - q))) + 9 * tf.nn.l2_loss(tf.trainable_variables()[0])
fit([sgd(.01).minimize(loss), loss], near, 8)
"""
    assert "penalty too large" not in {f.kind for f in findings(text, tmp_path)}


def test_a_mean_over_many_is_written_times_what_one_over_few_counts(tmp_path: Path) -> None:
    shell = trained(_BOTH_MEANS, tmp_path)
    assert "; tried: 8 times the mean: " in shell.dbg.doctor().findings[0].remedy
    assert b"tf.reduce_mean(8 * keras.losses.mean_squared_error(seen, told))" in shell.dbg.edits.patch(1).new
    shell.close()


@pytest.mark.parametrize(("text", "new"), [(_KEPT, b"keep_prob=0.8)"), (_DROPPED, b"tf.nn.relu), 0.2, ")])
def test_shares_taken_for_one_another_are_tried_and_written(text: str, new: bytes, tmp_path: Path) -> None:
    shell = trained(text, tmp_path)
    first, *_ = shell.dbg.doctor().findings
    assert "; tried: drop 0.2, keep 0.8: the loss goes from" in first.remedy
    assert new in shell.dbg.edits.patch(1).new
    shell.close()


def test_much_that_is_dropped_is_no_cause_of_what_cannot_be_learnt(tmp_path: Path) -> None:
    found = findings(_DROPPED.replace("**fed(i)", "x: fed(i)[x], t: rng.randint(0, 4, 32)"), tmp_path)
    assert all(f.level == "remark" for f in found if f.kind == "dropout drops too much")


def test_sides_that_are_swapped_are_written_the_other_way_round(tmp_path: Path) -> None:
    shell = trained(_SWAPPED, tmp_path)
    first, *others = shell.dbg.doctor().findings
    assert "; tried: labels and logits the other way round: the loss so mended goes from " in first.remedy
    assert b"(labels=y, logits=said)" in shell.dbg.edits.patch(1).new
    assert all(f.level == "remark" for f in others)
    shell.close()


def test_labels_that_another_network_says_are_not_swapped(tmp_path: Path) -> None:
    text = """
teacher = tf.stop_gradient(tf.nn.softmax(dense(x, 4)))
told = entropy(labels=teacher, logits=dense(x, 4)) + entropy(labels=teacher, logits=tf.ones_like(teacher))
loss = tf.reduce_mean(told)
fit([adam(.01).minimize(loss), loss])
"""
    assert "labels and logits swapped" not in {f.kind for f in findings(text, tmp_path)}


def test_a_bias_that_kills_its_layer_is_written_as_zeros(tmp_path: Path) -> None:
    shell = trained("h = dense(x, 16, tf.nn.relu, bias_initializer=tf.constant_initializer(-30.))\n"
                    "loss = tf.losses.sparse_softmax_cross_entropy(t, dense(h, 4))\n"
                    "fit([adam(.01).minimize(loss), loss])\n", tmp_path)
    first, *_ = shell.dbg.doctor().findings
    assert first.kind == "initial values too large" and "; tried: other first values: " in first.remedy
    assert b"bias_initializer=tf.constant_initializer(0.0)" in shell.dbg.edits.patch(1).new
    shell.close()


@pytest.mark.parametrize("name", CAUSES)
def test_a_quiet_cause_comes_first_and_its_twin_has_none(name: str, tmp_path: Path) -> None:
    kind, text, wrong, right = CAUSES[name]
    first, *_ = findings(text, tmp_path)
    assert (first.kind, first.level == "remark") == (kind, False) and first.place is not None
    lines = (HEAD + text).splitlines()
    assert "#!" not in text or lines[first.place.line - 1].endswith("#!"), lines[first.place.line - 1]
    assert wrong in text
    assert [(f.kind, f.text) for f in findings(text.replace(wrong, right), tmp_path) if f.level != "remark"] == []


@pytest.mark.parametrize(("wrong", "best"), [("3e-6", "from 3e-06 to 0.03:"), ("8.", "from 8 to 0.08:")])
def test_of_rates_the_power_of_ten_that_helps_most_is_written(wrong: str, best: str, tmp_path: Path) -> None:
    text = ("loss = tf.losses.mean_squared_error(q, dense(dense(p, 16, tf.nn.relu), 1))\n"
            f"fit([adam({wrong}).minimize(loss), loss], near)\n")
    first, *_ = findings(text, tmp_path)
    assert first.kind.startswith("learning rate too ") and best in first.remedy


def test_a_rate_at_which_it_diverges_again_is_no_remedy(tmp_path: Path) -> None:
    text = ("w = tf.Variable([1., 9.87e-20], dtype=tf.float64)\n"
            "loss = tf.reduce_sum(tf.constant([.5, 50.], tf.float64) * tf.square(w))\n"
            "fit([sgd(1.).minimize(loss), loss], steps=24)\n")  # at .1 it goes down to a sixtieth, and up to a half
    first, *_ = findings(text, tmp_path)
    assert first.kind == "learning rate too high" and "from 1 to 0.01:" in first.remedy


def test_a_batch_unlike_the_others_makes_no_rate_too_high(tmp_path: Path) -> None:
    text = """
step = tf.Variable(0, trainable=False)
pairs = adam(1e-4 * tf.minimum(100., 2. * tf.to_float(step) + 1.)).compute_gradients(
    tf.reduce_mean(tf.square(dense(dense(p, 16, tf.nn.tanh), 1) - q)))
clipped, _ = tf.clip_by_global_norm([g for g, _ in pairs], 1.)
train = adam(1e-4 * tf.minimum(100., 2. * tf.to_float(step) + 1.)).apply_gradients(
    zip(clipped, tf.trainable_variables()), step)
fit(train, lambda i: near(i, times=3000. if i % 25 == 24 else 1.), 100)
"""
    assert [(f.kind, f.text) for f in findings(text, tmp_path) if f.level == "error"] == []


def test_rows_of_several_ones_explain_that_a_softmax_diverges(tmp_path: Path) -> None:
    text = """
tags = (rng.rand(400, 4) < .4).astype(np.float32)
tags[np.arange(400), T] = 1
loss = tf.reduce_mean(entropy(labels=y, logits=dense(dense(dense(x, 32, tf.nn.relu), 32, tf.nn.relu), 4)))
fit([adam(.02).minimize(loss), loss], lambda i: {x: X[i % 12 * 32:][:32], y: tags[i % 12 * 32:][:32]}, 240)
"""
    first, *others = findings(text, tmp_path)
    assert first.kind == "one class for several" and "; tried: " in first.remedy
    late, = [f for f in others if f.kind == "learning rate too high"]
    assert late.level == "remark" and "it follows from the labels" in late.text and "fix" not in late.remedy


def test_a_copy_of_what_is_no_part_of_the_loss_is_not_trained_through_nor_wrong_as_a_start(tmp_path: Path) -> None:
    assert "copy is trained" not in {f.kind for f in findings(_TWO_NETS, tmp_path)}
    once = findings(_TWO_NETS.replace("i % 5 == 4", "i == 4"), tmp_path)
    assert {"copy is trained", "copied the wrong way"}.isdisjoint(f.kind for f in once)


def test_a_critic_that_only_its_own_model_trains_was_not_changed_after_compile(tmp_path: Path) -> None:
    text = KERAS + """
critic, maker = model(layers.Dense(1, "sigmoid")), model(layers.Dense(8))
critic.trainable = False
z = keras.Input((8,))
both = keras.Model(z, critic(maker(z)))
both.compile("adam", "binary_crossentropy")
critic.trainable = True
critic.compile("adam", "binary_crossentropy")
for i in range(8):
    critic.train_on_batch(data[:32] + 3, np.ones(32))
    critic.train_on_batch(maker.predict_on_batch(data[:32]), np.zeros(32))
    both.train_on_batch(data[:32], np.ones(32))
"""
    assert "changed after compile" not in {f.kind for f in findings(text, tmp_path)}


def test_a_policy_beside_its_critic_is_not_turned_with_it(tmp_path: Path) -> None:
    text = """
done, worth = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.float32, [None])
guess, likely = dense(p, 1)[:, 0], tf.nn.log_softmax(dense(dense(p, 8, tf.nn.tanh), 3))
policy = tf.reduce_mean(tf.reduce_sum(tf.one_hot(done, 3) * likely, 1) * tf.stop_gradient(worth - guess))
train = adam(.01).minimize(policy + 0.5 * tf.reduce_mean(tf.square(worth - guess)))
fit(train, lambda i: {p: points[:64], done: rng.randint(0, 3, 64), worth: rng.rand(64)}, 60)
"""
    first, *_ = findings(text, tmp_path)
    assert first.kind == "wrong sign" and "minimize its negative" not in first.remedy


@pytest.mark.parametrize("worth", ["gain", "(gain - tf.reduce_mean(gain)) / (tf.math.reduce_std(gain) + 1e-8)"])
def test_a_policy_of_gains_of_both_signs_is_turned_though_no_step_shows_it(worth: str, tmp_path: Path) -> None:
    text = f"""
done, gain = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.float32, [None])
likely = tf.reduce_sum(tf.nn.log_softmax(dense(dense(p, 8, tf.nn.tanh), 3)) * tf.one_hot(done, 3), 1)
fit(adam(.001).minimize(tf.reduce_mean(likely * ({worth}))),
    lambda i: {{p: rng.randn(64, 3), done: rng.randint(0, 3, 64), gain: rng.randn(64)}}, 7)
"""
    first, *_ = findings(text, tmp_path)
    assert first.kind == "wrong sign" and "expected return falls" in first.text and "fix 1 applies it" in first.remedy


@pytest.mark.parametrize("weight", ["gain", "tf.exp(-1.4 + chosen) * (gain - tf.reduce_mean(gain))", "1."])
def test_actions_of_few_kinds_are_not_sorted_where_what_each_gained_weighs_it(weight: str, tmp_path: Path) -> None:
    text = f"""
done, gain = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.float32, [None])
chosen = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=done, logits=dense(dense(x, 16, tf.nn.tanh), 4))
policy = tf.reduce_mean(chosen * {weight}) + 0. * tf.reduce_mean(gain)
fit([adam(.01).minimize(policy), policy], lambda i: {{**fed(i), done: rng.randint(0, 2, 32) + 2 * (i % 2),
                                                      gain: rng.rand(32)}}, 24)
"""
    assert ("sorted by class" in {f.kind for f in findings(text, tmp_path)}) == (weight == "1.")


@pytest.mark.parametrize(("every", "rate", "level", "half"), [(100, .05, "remark", 201), (2, .005, "error", 5)])
def test_a_rate_that_came_to_nothing_is_to_blame_where_the_last_steps_at_the_first_rate_are_better(
        every: int, rate: float, level: str, half: int, tmp_path: Path) -> None:
    text = f"""
step = tf.train.get_or_create_global_step()
loss = tf.losses.mean_squared_error(q, dense(dense(p, 16, tf.nn.tanh), 1))
rate = tf.train.exponential_decay({rate}, step, {every}, .5, staircase=True)
def noisy(i):
    k = rng.randint(0, 300, 16)
    return {{p: points[k], q: sums[k] + .5 * rng.randn(16, 1)}}
fit(tf.train.MomentumOptimizer(rate, .8).minimize(loss, step), noisy, 900)
"""
    found = [f for f in findings(text, tmp_path) if f.kind == "learning rate decayed to nothing"]
    assert [(f.level, "; fix " in f.remedy, f"below half by step {half}:" in f.text) for f in found] == [
        (level, level != "remark", True)]


def test_how_the_loss_went_and_that_more_is_known_than_remembered_is_said_where_it_is_so(tmp_path: Path) -> None:
    shell = trained("fit([adam(.01).minimize(tf.reduce_mean(tf.square(q - dense(p, 1))))], near, 900)\n", tmp_path)
    looked = shell.dbg.doctor().looked[0]
    shell.close()
    assert " remembered training steps, 1 to 900" in looked and "of 900" not in looked
