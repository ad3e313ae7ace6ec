"""Sums over the examples that a loss takes for the score of one; and reshapes that deal examples out, of any head."""

from pathlib import Path

import pytest

from .test_mistakes import findings, trained

_PAIRED = """
one, other, far = (tf.placeholder(tf.int32, [None], name=name) for name in ("one", "other", "far"))
table, ends = (tf.Variable(tf.random_uniform([60, 8], -.3, .3)) for _ in range(2))
here = tf.gather(table, one)
def score(ids):
    return tf.reduce_sum(here * tf.gather(ends, ids), axis=-1)
loss = LOSS
def pairs(i):
    a, b = rng.randint(0, 60, (2, 32))
    return {one: a, other: (a + 1) % 60, far: b}
fit([adam(.02).minimize(loss), loss], pairs, 24)
"""
_RANKED = "-tf.log_sigmoid(tf.reduce_sum(here * tf.gather(ends, other)) - tf.reduce_sum(here * tf.gather(ends, far)))"
_EACH = "-tf.reduce_mean(tf.log_sigmoid(score(other) - score(far)))"
_SIDED = """
side = tf.where(q > 0, tf.ones_like(q), -tf.ones_like(q))
loss = LOSS
fit([adam(.02).minimize(loss), loss], near, 24)
"""
_AGAINST = """
r = tf.placeholder(tf.float32, [None, 3])
with tf.variable_scope("worth", reuse=tf.AUTO_REUSE):
    worth = lambda v: dense(dense(v, 16, tf.nn.tanh, name="a"), 1, name="b")
    loss = LOSS
def two(i):
    a, b = rng.randint(0, 300, (2, 32))
    return {p: np.maximum(points[a], points[b]), r: np.minimum(points[a], points[b])}
def drawn(i):
    a, b = rng.randint(0, 300, (2, 32))
    return {p: points[a], r: points[b]}
def runs(i):
    a, b = rng.randint(0, 10, 2)
    return {p: points[30 * a:][:30], r: points[30 * b:][:30]}
fit([adam(.02).minimize(loss), loss], FEED, 40)
"""
_MARGIN = ("tf.nn.relu(1. + tf.reduce_mean(tf.square(here - tf.gather(ends, other)))"
           " - tf.reduce_mean(tf.square(here - tf.gather(ends, far))))")
WRONG = {
    "pairs": (_PAIRED, _RANKED, _EACH),
    "a hinge of pairs": (_PAIRED, _MARGIN, "tf.reduce_mean(tf.nn.relu(1. + score(far) - score(other)))"),
    "scores with a side": (_SIDED, "-tf.log(tf.sigmoid(tf.reduce_mean(side * dense(p, 1))))",
                           "tf.reduce_mean(tf.nn.softplus(-side * dense(p, 1)))"),
    "rows that come again": (_AGAINST.replace("FEED", "drawn"),
                             "tf.nn.softplus(tf.reduce_mean(worth(r)) - tf.reduce_mean(worth(p)))",
                             "tf.reduce_mean(tf.nn.softplus(worth(r) - worth(p)))"),
}
_KIND = "summed before the loss"
QUIET = {
    "rows in their order, as of a way": _AGAINST.replace("FEED", "runs").replace(
        "LOSS", "tf.nn.softplus(tf.reduce_sum(worth(r)) - tf.reduce_sum(worth(p)))"),
    "a bag with one label": _AGAINST.replace("FEED", "lambda i: {p: points[rng.randint(0, 300, 32)], r: [[i % 2] * 3]}")
    .replace("LOSS", "tf.nn.softplus((1. - 2. * r[0, 0]) * tf.reduce_mean(worth(p)))").replace(
        "tf.float32, [None, 3])", "tf.float32, [1, 3])"),
    "a penalty of the mean": _SIDED.replace("LOSS", "(lambda z: tf.reduce_mean(tf.square(z - q)) + .1 * tf.nn.relu("
                                            "tf.reduce_mean(z) - .5))(dense(p, 1))"),
    "one pair": _PAIRED.replace("LOSS", "-tf.log_sigmoid(tf.reduce_sum(tf.reduce_mean(here, 0) * tf.gather(ends, far[0]"
                                ")))"),
    "the logarithm of a mean": _AGAINST.replace("FEED", "drawn").replace(
        "LOSS", "tf.log(tf.reduce_mean(tf.exp(worth(r)))) - tf.reduce_mean(worth(p))"),
}
_AGAINST_EACH = """
z = tf.placeholder(tf.float32, SHAPE)
h = dense(p, 16, tf.nn.tanh)
one = dense(h, 1)
said = SAID
loss = tf.reduce_mean(tf.square(z - said)) + .01 * tf.reduce_mean(tf.square(one - tf.reduce_mean(dense(h, 1))))
def each(i):
    k = rng.randint(0, 300, 32)
    return {p: points[k], z: sums[k][:, 0] if SHAPE == [None] else sums[k]}
fit([adam(.02).minimize(loss), loss], each)
"""
ALL_TO_ONE = {  # what is said, the shape of the targets, and as it is mended
    "products": ("tf.reduce_sum(dense(h, 4) * tf.one_hot(tf.zeros_like(p[:, 0], tf.int32), 4))", "[None]",
                 "4), axis=1)"),
    "a column": ("2. * tf.reduce_sum(dense(h, 4)) + 1.", "[None, 1]", "(dense(h, 4), axis=1, keepdims=True) + 1."),
    "a mean of numbers": ("tf.reduce_mean(tf.squeeze(one, 1))", "[None]", "said = tf.squeeze(one, 1)"),
}
ONE_BY_RIGHT = {
    "a bias": "tf.reduce_sum(tf.Variable(tf.zeros([32]))) + one", "a mean taken out": "one - tf.reduce_mean(one)",
    "what is stopped": "one + tf.stop_gradient(tf.reduce_mean(one))", "each": "tf.reduce_sum(h, 1, True)"}
_DEALT = """
cells = [tf.nn.rnn_cell.GRUCell(8, name=name) for name in "ab"]
shown = tf.reshape(x, [-1, 6, 6])
_, states = tf.nn.bidirectional_dynamic_rnn(*cells, shown, dtype=tf.float32)
moved = tf.reshape(tf.transpose(dense(shown, 32), [0, 2, 1]), [-1, 192])
both = tf.reshape(tf.stack(states), [-1, 16])
loss = (tf.reduce_mean(tf.square(dense(moved, 1) - tf.to_float(t)[:, None]))
        + tf.losses.sparse_softmax_cross_entropy(t, dense(both, 4)))
fit(adam(.01).minimize(loss), steps=12)
"""


@pytest.mark.parametrize("name", WRONG)
def test_a_sum_before_the_loss_is_told_first_and_each_loss_apart_is_right(name: str, tmp_path: Path) -> None:
    text, wrong, right = WRONG[name]
    first, *_ = findings(text.replace("LOSS", wrong), tmp_path)
    assert first.kind == _KIND and first.level == "error" and "of all 32 examples" in first.text
    assert "by their own scores" in first.text
    assert [(f.kind, f.text) for f in findings(text.replace("LOSS", right), tmp_path) if f.level != "remark"] == []


@pytest.mark.parametrize("name", QUIET)
def test_what_is_one_number_by_right_is_none(name: str, tmp_path: Path) -> None:
    assert _KIND not in [f.kind for f in findings(QUIET[name], tmp_path)]


def test_the_features_alone_are_summed_and_the_mean_is_of_the_losses(tmp_path: Path) -> None:
    shell = trained(_PAIRED.replace("LOSS", _RANKED), tmp_path)
    first, *_ = shell.dbg.doctor().findings
    assert "the loss so mended goes from " in first.remedy and "; fix 1 applies it" in first.remedy
    assert (b"loss = tf.reduce_mean(-tf.log_sigmoid(tf.reduce_sum(here * tf.gather(ends, other), axis=-1) - "
            b"tf.reduce_sum(here * tf.gather(ends, far), axis=-1)))") in shell.dbg.edits.patch(1).new
    shell.close()


@pytest.mark.parametrize("name", ALL_TO_ONE)
def test_one_number_against_the_targets_of_all_is_told_and_mended(name: str, tmp_path: Path) -> None:
    said, shape, mended = ALL_TO_ONE[name]
    shell = trained(_AGAINST_EACH.replace("SAID", said).replace("SHAPE", shape), tmp_path)
    first, *_ = shell.dbg.doctor().findings
    assert (first.kind, first.level) == (_KIND, "error") and "of all 32 examples together" in first.text
    assert mended in shell.dbg.edits.patch(1).new.decode()
    shell.close()


@pytest.mark.parametrize("name", ONE_BY_RIGHT)
def test_numbers_beside_those_of_each_example_are_no_answers(name: str, tmp_path: Path) -> None:
    text = _AGAINST_EACH.replace("SAID", ONE_BY_RIGHT[name]).replace("SHAPE", "[None, 1]")
    assert _KIND not in [f.kind for f in findings(text, tmp_path)]


def test_the_second_of_two_heads_is_looked_at_too(tmp_path: Path) -> None:
    assert "reshape for transpose" in [f.kind for f in findings(_DEALT, tmp_path)]
    right = _DEALT.replace("tf.reshape(tf.stack(states), [-1, 16])", "tf.concat(states, 1)")
    assert "reshape for transpose" not in [f.kind for f in findings(right, tmp_path)]
