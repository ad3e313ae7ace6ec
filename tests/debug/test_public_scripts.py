"""Mistakes put into programs written as public scripts are: early steps forgotten, feeds in loops, formulas by hand."""

from pathlib import Path

import pytest

from autodiff.debug import debugger
from cli.language.interpreter import execute
from cli.model.shell import Shell
from cli.view.render import plain

from .mistaken_programs import HEAD

WIDE = """
def layer(x, size, relu=True):
    w = tf.Variable(tf.truncated_normal([int(x.shape[1]), size], stddev=0.05, seed=2))
    h = tf.matmul(x, w) + tf.Variable(tf.zeros([size]))
    return tf.nn.relu(h) if relu else h

logits = layer(layer(layer(x, 100), 100), 4, relu=False)
cost = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=logits))
train_op = adam(.001).minimize(cost)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(30):
        sess.run(train_op, fed(i))
"""
BY_HAND = """
w, b = tf.Variable(tf.truncated_normal([36, 4], stddev=.1, seed=1)), tf.Variable(tf.zeros([4]))
pred = tf.matmul(x, w) + b
cost = tf.reduce_mean(-tf.reduce_sum(y * tf.log(pred), reduction_indices=1))
step = sgd(.5).minimize(cost)
fit([step, cost], steps=30)
"""
ONE_BY_HAND = """
w, b = tf.Variable(tf.truncated_normal([3, 1], stddev=.1, seed=1)), tf.Variable([.5])
p1 = tf.matmul(p, w) + b
cost = -tf.reduce_mean(q * tf.log(p1) + (1 - q) * tf.log(1 - p1))
fit([adam(.5).minimize(cost), cost], lambda i: {p: points[:32], q: (sums[:32] > 0) + 0.}, steps=30)
"""
CODE = """
mu, logvar = dense(x, 3), dense(x, 3)
z = mu + tf.exp(logvar / 2) * tf.random_normal(tf.shape(mu), seed=1)
recon = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=dense(z, 36)), 1)
kl = 0.5 * tf.reduce_sum(tf.exp(logvar) + mu ** 2 - 1. - logvar, 1)
loss = tf.reduce_mean(recon - kl)
fit([adam(.1).minimize(loss), loss], steps=200)
"""
FEEDS = """
images = tf.placeholder(tf.float32, [None, 36])
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(images, 4))
step = sgd(.1).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(3):
        k = rng.randint(0, 400, 32)
        session.run(step, {images: X[k].reshape(32, 6, 6), t: T[k]})
    session.run(loss, {images: X, t: T})
"""
ACTOR = """
probs = dense(p, 3)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    chances = session.run(probs, {p: points[:1]})
    np.random.choice(3, p=chances.ravel())
"""
LATE_NAN = """
w1, w2 = (tf.Variable(tf.random_normal(shape, seed=1)) for shape in ([36, 200], [200, 36]))
decoder = tf.nn.sigmoid(tf.matmul(tf.nn.sigmoid(tf.matmul(x, w1)), w2))
cost = -tf.reduce_mean(x * tf.log(decoder) + (1 - x) * tf.log(1 - decoder))
fit([tf.train.RMSPropOptimizer(.01).minimize(cost), cost], steps=150)
"""
POLICY = """
sigma = dense(p, 1, name="scale")
density = tf.distributions.Normal(tf.zeros_like(sigma), sigma).prob(q)
of_policy = sgd(.01).minimize(-tf.reduce_mean(density))
value = tf.reduce_mean(tf.square(dense(p, 1, name="value") - q))
of_value = sgd(.01).minimize(value)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    state = points[:32]
    for i in range(30):
        session.run(of_policy, {p: state, q: sums[:32]})
        session.run(of_value, {p: state, q: sums[:32]})
        state = .9 * state + session.run(sigma, {p: state})
"""
UNPAIRED = """
def batch(i):
    k = rng.randint(0, 400, 40)
    return X[k], Y[rng.permutation(k)].astype(float)

images, labels = tf.data.Dataset.from_tensor_slices([*range(60)]).map(lambda i: tf.py_func(
    batch, [i], [tf.float32, tf.float64])).make_one_shot_iterator().get_next()
images.set_shape([None, 36]), labels.set_shape([None, 4])
loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=dense(images, 4)))
step = adam(.01).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(50):
        session.run([step, loss])
"""


def asked(text: str, folder: Path, *lines: str) -> list[str]:
    """What is said to each line, after the script has run."""
    (folder / "model.py").write_text(HEAD + text)
    shell = Shell()
    try:
        execute(f"load {folder / 'model.py'}", shell)
        return [" ".join(plain(execute(line, shell)).split()) for line in ("run", *lines)]
    finally:
        shell.close()


def first(text: str, folder: Path) -> str:
    """The finding that doctor tells first, "" for none above a remark."""
    (folder / "model.py").write_text(HEAD + text)
    shell = Shell()
    try:
        for line in (f"load {folder / 'model.py'}", "run"):
            execute(line, shell)
        found = [f for f in shell.dbg.doctor().findings if f.level != "remark"]
        return f"{found[0].kind}: {found[0].text}; {found[0].remedy}" if found else ""
    finally:
        shell.close()


def test_remedies_are_tried_on_first_steps_that_are_remembered_of_large_models(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debugger, "BUDGET", 1 << 20)
    turned = first(WIDE.replace("minimize(cost)", "minimize(-cost)"), tmp_path)
    assert turned.startswith("wrong sign") and "in steps 1-" in turned and "fix 1 applies it" in turned, turned
    assert first(WIDE, tmp_path) == ""


def test_a_forgotten_softmax_of_a_formula_by_hand_is_written_as_the_function(tmp_path: Path) -> None:
    _, why, diff = asked(BY_HAND, tmp_path, "why nan", "fix 1 --write")
    call = "tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=pred)"
    assert f"remedy: {call}" in why and f"+cost = tf.reduce_mean({call})" in diff, (why, diff)
    _, why = asked(ONE_BY_HAND, tmp_path, "why nan")
    assert "remedy: tf.nn.sigmoid_cross_entropy_with_logits(labels=q, logits=p1)" in why.replace(
        "tf.reduce_mean(", ""), why


def test_a_divergence_that_is_subtracted_is_added(tmp_path: Path) -> None:
    _, why, diff, doctor = asked(CODE, tmp_path, "why nan", "fix 1 --write", "doctor")
    assert "+loss = tf.reduce_mean(recon + kl)" in diff, diff
    assert why.partition("remedy: ")[2].startswith("add it, a + b in place of a - b, if it is a divergence"), why
    assert "1 error wrong sign" in doctor and "tried: a + b in place of a - b" in doctor, doctor
    assert first(CODE.replace("recon - kl", "recon + kl").replace("adam(.1)", "adam(.01)"), tmp_path) == ""


def test_of_several_feeds_the_one_in_the_loop_is_named(tmp_path: Path) -> None:
    raised, doctor = asked(FEEDS.replace("with", "feeds = {images: X, t: T}\nwith"), tmp_path, "doctor")
    assert "images: X[k].reshape(32, 6, 6)" in raised and "images: X[k].reshape(32, 6, 6)" in doctor, (raised, doctor)


def test_what_is_no_probability_is_told_where_numpy_will_not_draw_by_it(tmp_path: Path) -> None:
    raised, doctor = asked(ACTOR, tmp_path, "doctor")
    assert "model.py" in raised.partition("no probabilities remedy: end that layer in tf.nn.softmax")[0], raised
    assert ".pyx" not in raised.partition("Traceback")[0] and "end that layer in tf.nn.softmax" in doctor, doctor
    assert "no probabilities" not in asked(ACTOR.replace("dense(p, 3)", "dense(p, 3, tf.nn.softmax)"), tmp_path)[0]


def test_labels_of_another_type_from_a_dataset_are_compared_with_the_inputs(tmp_path: Path) -> None:
    found = first(UNPAIRED, tmp_path)
    assert found.startswith("labels do not follow from inputs"), found
    assert first(UNPAIRED.replace("Y[rng.permutation(k)]", "Y[k]"), tmp_path) == ""


def test_a_first_step_that_leaves_nothing_of_a_kernel_was_too_long(tmp_path: Path) -> None:
    text = """
w = tf.Variable(tf.random_uniform([36, 20], -.4, .4, seed=1))
code = tf.nn.sigmoid(tf.matmul(x, w))
cost = tf.reduce_sum(tf.pow(x - tf.nn.sigmoid(tf.matmul(code, tf.transpose(w))), 2))
fit(sgd(20.).minimize(cost), steps=40)
"""
    found = first(text, tmp_path)
    assert found.startswith(("sum for mean", "learning rate too high")), found
    assert first(text.replace("20.", ".002"), tmp_path) == ""


@pytest.mark.parametrize("activation", ["", "tf.nn.tanh"])
def test_a_missing_activation_comes_before_what_it_makes_large(activation: str, tmp_path: Path) -> None:
    text = f"""
w1, w2 = (tf.Variable(tf.random_normal(shape, seed=1)) for shape in ([36, 81], [81, 4]))
h = {activation}(tf.matmul(x, w1))
loss = tf.reduce_mean(entropy(labels=y, logits=tf.matmul(h, w2)))
fit([adam(1e-3).minimize(loss), loss], steps=30)
"""
    assert ("no activation" in first(text, tmp_path)) == (not activation)


def test_what_became_nan_in_first_steps_that_are_forgotten_otherwise_is_told(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debugger, "BUDGET", 1 << 20)
    _, why, diff = asked(LATE_NAN, tmp_path, "why nan", "fix 1 --write")
    assert "is not finite since step 1" in why and "remedy: tf." in why and "fix 1 applies it" in why, why
    assert "sigmoid_cross_entropy_with_logits(labels=x, logits=" in diff, diff


def test_data_that_are_nan_may_come_of_a_variable_that_was_nan_before(tmp_path: Path) -> None:
    _, why = asked(POLICY, tmp_path, "why nan")
    assert why.startswith("variable 'scale/") and "log(" in why and "tf.nn.softplus where it is made" in why, why
    spoiled = POLICY.replace('name="scale")', 'tf.nn.softplus, name="scale")').replace(
        "session.run(of_policy", "state[:1] = np.nan\n        session.run(of_policy")
    assert "nan was fed for 'p'" in asked(spoiled, tmp_path, "why nan")[1]


def test_local_variables_have_an_initializer_of_their_own(tmp_path: Path) -> None:
    text = """
right = tf.metrics.accuracy(t, tf.argmax(dense(x, 4), 1))[1]
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run(right, fed(0))
"""
    raised, = asked(text, tmp_path)
    assert "remedy: session.run(tf.local_variables_initializer()) before line" in raised, raised


def test_a_placeholder_that_is_not_fed_has_the_name_of_the_script(tmp_path: Path) -> None:
    text = """
is_train = tf.placeholder(tf.bool, None)
loss = tf.reduce_mean(tf.square(tf.layers.batch_normalization(dense(p, 1), training=is_train) - q))
fit(sgd(.1).minimize(loss), near)
"""
    raised, doctor = asked(text, tmp_path, "doctor")
    assert "remedy: feed is_train: True" in raised and "1 error failed" in doctor, (raised, doctor)


def test_an_argmax_along_an_axis_of_one_is_told_where_shapes_do_not_fit(tmp_path: Path) -> None:
    text = """
k = tf.placeholder(tf.int32, [None, 1])
hot = tf.one_hot(k, 4)
right = tf.equal(tf.argmax(dense(x, 4), 1), tf.argmax(hot, 1))
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run(right, {x: X[:9], k: T[:9, None]})
"""
    raised, = asked(text, tmp_path)
    assert "is along axis 1 of one_hot:0, of shape [?, 1, 4]" in raised and "tf.reshape(x, [-1, 4])" in raised, raised


def test_classes_beyond_the_depth_of_a_one_hot_code_are_told_through_a_reshape(tmp_path: Path) -> None:
    text = """
hot = tf.stop_gradient([tf.reshape(tf.one_hot(t[:, None], 3), [-1, 3])])
loss = tf.reduce_mean(entropy(labels=hot, logits=dense(x, 3)[None]))
fit([adam(.01).minimize(loss), loss])
"""
    assert first(text, tmp_path).startswith("labels out of range"), first(text, tmp_path)
    assert first(text.replace("3", "4"), tmp_path) == ""


def test_a_forgotten_softmax_of_a_relu_is_written_where_shapes_are_not_known(tmp_path: Path) -> None:
    text = """
a, b = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
model = tf.nn.relu(tf.matmul(a, tf.Variable(tf.random_uniform([36, 4], -1., 1., seed=1))))
cost = tf.reduce_mean(-tf.reduce_sum(b * tf.log(model), axis=1))
fit(sgd(.01).minimize(cost), lambda i: {a: X[:32], b: Y[:32]})
"""
    why = asked(text, tmp_path, "why nan")[1]
    assert "remedy: tf.nn.softmax in place of the relu at model.py:35" in why, why
    for linear in ("tf.nn.leaky_relu(", "("):  # whose logits may be below 0
        why = asked(text.replace("tf.nn.relu(", linear), tmp_path, "why nan")[1]
        assert "remedy: tf.nn.softmax_cross_entropy_with_logits(labels=b, logits=model)" in why, why


MENDED = {  # a script that raises: what is told of it, and a line that is written
    "one number": ("bias = tf.Variable([.5])\nwith tf.Session() as session:\n"
                   "    session.run(tf.global_variables_initializer())\n    found = session.run(bias)\n"
                   "    print('{:g}, twice {}'.format(found, 2))",
                   "found is an array of one element", "+    print('{:g}, twice {}'.format(found.item(), 2))"),
    "one example": ("row = tf.placeholder(tf.float32, [36])\ny2 = tf.reduce_sum(row * 2., -1)\n"
                    "with tf.Session() as session:\n    session.run(y2, {row: X[0]})\n    session.run(y2, {row: X})",
                    "row takes one example of 36 numbers", "+row = tf.placeholder(tf.float32, [None, 36])"),
    "text": ("class Net:\n    def __init__(self):\n        self.kind, self.output = 'mean', dense(x, 4)\n"
             "        self.cost(self.kind, self.output, y)\n\n    def cost(self, output, target, more=None):\n"
             "        self.loss = tf.reduce_mean(target * tf.log(output))\n\nNet()",
             "cost is given self.kind, the text 'mean', for output", "+        self.cost(self.output, y)"),
    "one-hot": ("from tensorflow import Session\ndel np\nwith Session() as session:\n"
                "    session.run(y * 2., {y: T})", "feed one-hot rows", "+import numpy as np"),
    "swapped": ("w = tf.Variable(tf.zeros([36, 4]))\nlogits = tf.nn.dropout(tf.matmul(x, w), .5)\n"
                "loss = tf.losses.softmax_cross_entropy(onehot_labels=logits, logits=y)\n"
                "pairs = adam(.1).compute_gradients(loss)\nfit([pairs, loss])",
                "y for the labels and logits for the logits",
                "+loss = tf.losses.softmax_cross_entropy(onehot_labels=y, logits=logits)")}


@pytest.mark.parametrize("name", MENDED)
def test_what_raised_is_told_and_written(name: str, tmp_path: Path) -> None:
    text, told, line = MENDED[name]
    _, why, diff = asked(text + "\n", tmp_path, "why", "fix 1 --write")
    assert told in why and " ".join(line.split()) in diff, (why, diff)


def test_a_run_whose_python_function_gave_a_text_is_made_again(tmp_path: Path) -> None:
    text = """
rate = tf.string_to_number(tf.py_func(lambda: b"1.5", [], tf.string))
loss = tf.reduce_mean(tf.square(q * rate - dense(p, 1)))
fit(adam(.01).minimize(loss), near, 200)
"""
    assert "12 of 200 training steps" in asked(text, tmp_path, "doctor")[1]


def test_of_a_training_without_a_gradient_no_derivative_is_told(tmp_path: Path) -> None:
    text = """
w = tf.Variable(tf.zeros([36, 4]))
error = tf.sqrt(tf.reduce_mean(tf.square(tf.matmul(x, w) - y)))
step = w.assign_add(.01 * tf.matmul(x, y - tf.matmul(x, w), transpose_a=True))
tf.summary.FileWriter("logs", tf.get_default_graph().as_graph_def()).close()
fit([step, error])
"""
    assert first(text.replace('"logs"', repr(str(tmp_path / "logs"))), tmp_path) == ""


def test_what_no_loss_needs_comes_after_what_the_training_takes_and_is_written_too(tmp_path: Path) -> None:
    text = """
made, flat = dense(p, 1), tf.reshape(q, [-1])
shown = tf.reduce_mean(tf.abs(made - flat))
loss = tf.reduce_mean(tf.square(made - flat))
fit([adam(.003).minimize(loss), loss, shown], near)
"""
    _, doctor, one, two = asked(text, tmp_path, "doctor", "fix 1 --write", "fix 2 --write")
    assert "+loss = tf.reduce_mean(tf.square(tf.squeeze(made, 1) - flat))" in one, (doctor, one)
    assert "+shown = tf.reduce_mean(tf.abs(tf.squeeze(made, 1) - flat))" in two, (doctor, two)


def test_a_probability_that_was_none_is_squashed_where_it_is_made(tmp_path: Path) -> None:
    text = """
rows = tf.data.Dataset.from_tensor_slices((X, (T % 2)[:, None])).repeat().batch(40).make_one_shot_iterator().get_next()
made = dense(rows[0], 1)
loss = tf.losses.log_loss(rows[1], made)
fit([adam(.01).minimize(loss), loss], lambda i: {})
"""
    _, why, diff, doctor = asked(text, tmp_path, "why nan", "fix 1 --write", "doctor")
    assert "+made = tf.nn.sigmoid(dense(rows[0], 1))" in diff, (why, diff)
    assert "1 error log of no probability" in doctor, doctor
    text = """
loss = -tf.reduce_sum(tf.abs(q / 9.) * tf.log(tf.clip_by_value(dense(p, 1), 1e-9, 1.)))
fit(sgd(1e-3).minimize(loss), near)
"""
    assert "square the error: tf.losses.mean_squared_error" in first(text, tmp_path)


def test_a_softmax_between_convolutions_is_told(tmp_path: Path) -> None:
    text = """
image = tf.layers.conv2d(tf.reshape(x, [-1, 6, 6, 1]), 8, 3, activation=tf.nn.softmax)
made = tf.layers.conv2d(tf.layers.max_pooling2d(image, 2, 2), 8, 2, activation=tf.nn.relu)
fit(sgd(.5).minimize(tf.reduce_mean(entropy(labels=y, logits=dense(tf.layers.flatten(made), 4)))))
"""
    assert first(text, tmp_path).startswith("softmax in a hidden layer"), first(text, tmp_path)
    assert first(text.replace("softmax", "relu"), tmp_path) == ""


def test_axes_of_a_softmax_and_a_cross_entropy_by_hand_are_told_and_written(tmp_path: Path) -> None:
    text = """
def soft(z):
    z = z - tf.reduce_max(z, axis=1, keepdims=True)
    return tf.exp(z) / tf.reduce_sum(tf.exp(z), axis=1, keepdims=True)

said = soft(dense(tf.nn.relu(dense(x, 16)), 4))
loss = tf.reduce_mean(-tf.reduce_sum(y * tf.log(said + 1e-8), axis=-1))
fit(sgd(.3).minimize(loss))
"""
    assert first(text, tmp_path) == ""
    over = text.replace("axis=1", "axis=0")
    _, doctor, diff = asked(over, tmp_path, "doctor", "fix 1 --write")
    assert "1 error softmax over the batch" in doctor and diff.count("axis=-1, keepdims=True)") == 2, (doctor, diff)
    over = text.replace("axis=-1", "axis=0").replace("sgd(.3)", "sgd(9.)")
    _, doctor, diff = asked(over, tmp_path, "doctor", "fix 1 --write")
    assert "1 error summed over the examples" in doctor and "tf.log(said + 1e-8), axis=1))" in diff, (doctor, diff)


def test_batches_of_one_class_in_ones_and_zeros_are_told(tmp_path: Path) -> None:
    text = """
loss = tf.reduce_mean(entropy(labels=y, logits=dense(x, 4)))
rows = np.where(T == 2)[0]
fit(adam(.01).minimize(loss), lambda i: {x: X[rows[i:i + 8]], y: Y[rows[i:i + 8]]}, steps=6)
"""
    assert first(text, tmp_path).startswith("one label"), first(text, tmp_path)


def test_a_second_call_that_looks_at_one_variable_leaves_the_others_their_gradients(tmp_path: Path) -> None:
    text = """
w, b = tf.Variable(tf.truncated_normal([3, 1], seed=1)), tf.Variable([0.5])
loss = tf.reduce_mean(tf.square(tf.matmul(p, w) + b - q))
step = sgd(.1).minimize(loss)
pairs = sgd(.1).compute_gradients(loss, [b])
fit([step, loss], near)
"""
    assert "no gradient" not in asked(text, tmp_path, "doctor")[1]


def test_labels_that_come_apart_from_the_inputs_on_the_way_are_told(tmp_path: Path) -> None:
    text = """
loss = tf.reduce_mean(tf.square(dense(p, 1) - q))
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    step = adam(.05).minimize(loss)
    session.run(tf.global_variables_initializer())
    for i in range(120):
        k = i % 10 * 30
        session.run([step, loss], {p: points[k:k + 30], q: sums[k:k + 30]})
        if k == 270:
            rng.shuffle(points)
"""
    assert first(text, tmp_path).startswith("labels do not follow from inputs"), first(text, tmp_path)
    assert first(text.replace("rng.shuffle(points)", "pass"), tmp_path) == ""


def test_what_an_accuracy_compares_is_written_though_no_loss_depends_on_it(tmp_path: Path) -> None:
    text = """
said, truth = dense(p, 1), tf.cast(q > 0., tf.float32)
loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=truth, logits=said))
right = tf.reduce_mean(tf.cast(tf.equal(tf.greater(truth, .5), tf.greater(said, .5)), tf.float32))
fit([adam(.05).minimize(loss), loss, right], near)
"""
    _, doctor, diff = asked(text, tmp_path, "doctor", "fix 1 --write")
    assert "not tried: the loss does not depend on it; fix 1 applies it" in doctor, doctor
    assert "tf.greater(tf.sigmoid(said), .5)" in diff, diff
    text = text.replace("tf.greater(truth, .5), tf.greater(said, .5)", "tf.argmax(truth, 1), tf.argmax(said, 1)")
    _, doctor, diff = asked(text, tmp_path, "doctor", "fix 1 --write")
    assert "tf.cast(tf.squeeze(truth, 1) > 0.5, tf.int64), tf.cast(tf.squeeze(said, 1) > 0.0, tf.int64)" in diff, diff
