"""What is written by hand in a loss and not meant: doctor names it first, and finds nothing in the twin."""

import re
from pathlib import Path

import pytest

from .test_mistakes import findings

_ACTOR = """
s, r = dense(x, 16, tf.nn.tanh), tf.placeholder(tf.float32, [None])
z, v = dense(s, 4), dense(s, 1)[:, 0]
log, better = tf.nn.log_softmax(z), r - v
unsure = -tf.reduce_mean(tf.reduce_sum(tf.nn.softmax(z) * log, 1))
chosen = tf.reduce_sum(tf.one_hot(t, 4) * log, 1)
loss = -tf.reduce_mean(chosen * tf.stop_gradient(better)) + tf.reduce_mean(tf.square(better)) - .1 * unsure
fit([adam(.01).minimize(loss), loss], lambda i: {**fed(i), r: rng.rand(32)}, 12)
"""
_CODE = """
h = dense(x, 16, tf.nn.relu)
mean, spread = dense(h, 2), dense(h, 2)
code = mean + tf.exp(.5 * spread) * tf.random_normal(tf.shape(mean))
apart = -.5 * tf.reduce_sum(1 + spread - mean ** 2 - tf.exp(spread), 1)
loss = tf.reduce_mean(tf.reduce_sum(tf.square(dense(code, 36) - x), 1) + apart)
fit([adam(.01).minimize(loss), loss], steps=12)
"""
_TOWERS = """
def tower(of):
    inner = dense(of, 8, tf.nn.tanh, name="a", reuse=tf.AUTO_REUSE)
    code = dense(inner, 4, name="b", reuse=tf.AUTO_REUSE)
    return tf.nn.l2_normalize(code, 1)
other, same = tf.placeholder(tf.float32, [None, 36]), tf.placeholder(tf.float32, [None])
near = tf.reduce_sum(tower(x) * tower(other), 1)
loss = tf.reduce_mean(same * (1 - near) + (1 - same) * tf.maximum(0., near))
def pairs(i):
    k, j = rng.randint(0, 400, 32), rng.randint(0, 400, 32)
    return {x: X[k], other: X[j], same: T[k] == T[j]}
fit([adam(.03).minimize(loss), loss], pairs, 40)
"""
_BEFORE = """
words = tf.placeholder(tf.int32, [None, 6])
h = tf.nn.embedding_lookup(tf.Variable(tf.random_normal([4, 8], stddev=.5)), words)
scores = tf.matmul(tf.layers.dense(h, 8), h, transpose_b=True) / 3.
seen = tf.constant(np.tri(6) > 0)
scores = tf.where(tf.tile(seen[None], [32, 1, 1]), scores, tf.fill(tf.shape(scores), -1e9))
out = tf.layers.dense(h + tf.matmul(tf.nn.softmax(scores), h), 4)[:, :-1]
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=words[:, 1:], logits=out))
fit([adam(.01).minimize(loss), loss], lambda i: {words: rng.randint(0, 4, [32, 6])}, 12)
"""
_WORDS = """
words, until = tf.placeholder(tf.int32, [None, 8]), tf.placeholder(tf.int32, [None])
each = tf.nn.embedding_lookup(tf.get_variable("words", [9, 8]), words)
each += tf.nn.embedding_lookup(tf.get_variable("places", [8, 8]), tf.range(8))
scores, mask = dense(each, 1)[:, :, 0], tf.sequence_mask(until, 8)
weights = tf.nn.softmax(tf.where(mask, scores, tf.fill(tf.shape(scores), -1e9)))
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(tf.reduce_sum(each * weights[:, :, None], 1), 2))
def texts(i):
    n = rng.randint(2, 8, 32)
    w = rng.randint(1, 9, (32, 8)) * (np.arange(8) < n[:, None])
    return {words: w, until: n, t: w[:, 0] > 4}
fit([adam(.01).minimize(loss), loss], texts, 24)
"""
_AVERAGES = """
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(x, 4))
step = adam(.01).minimize(loss)
with tf.control_dependencies([step]):
    both = tf.train.ExponentialMovingAverage(.9).apply(tf.trainable_variables())
fit([both, loss], steps=24)
"""
_BOUNDED = """
loss = tf.losses.huber_loss(q, dense(dense(p, 8, tf.nn.relu), 1), delta=50.)
fit([sgd(.01).minimize(loss), loss], lambda i: near(i, times=40.), 24)
"""
_OVERLAP = """
s, m = dense(x, 36, tf.sigmoid), tf.to_float(x > .5)
both = 2 * tf.reduce_sum(s * m, 1) / (tf.reduce_sum(s, 1) + tf.reduce_sum(m, 1) + 1)
loss = 1 - tf.reduce_mean(both)
fit([adam(.01).minimize(loss), loss], steps=12)
"""
_RATIO = """
gain, old = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32, [None])
ratio = tf.exp(-tf.nn.sparse_softmax_cross_entropy_with_logits(labels=t, logits=dense(x, 4)) - old)
least = tf.minimum(ratio * gain, tf.clip_by_value(ratio, .8, 1.2) * gain)
loss = -tf.reduce_mean(least)
fit([adam(.01).minimize(loss), loss], lambda i: {**fed(i), gain: rng.randn(32), old: -1.4 * np.ones(32)}, 12)
"""
_NEXT = """
then, r = tf.placeholder(tf.float32, [None, 36]), tf.placeholder(tf.float32, [None])
def worth(of):
    return dense(of, 1, name="v", reuse=tf.AUTO_REUSE)[:, 0]
loss = tf.reduce_mean(tf.square(tf.stop_gradient(r + .9 * worth(then)) - worth(x)))
def moves(i):
    k = rng.randint(0, 399, 32)
    return {x: X[k], then: X[k + 1], r: rng.rand(32)}
fit([adam(.01).minimize(loss), loss], moves, 12)
"""

# kind of the finding -> program, what is right in it, and the mistake in its place
FORMULAS = {
    "wrong sign": (_OVERLAP, "1 - tf.reduce_mean(both)", "tf.reduce_mean(both)"),
    "wrong sign of a gain": (_RATIO, "-tf.reduce_mean(least)", "tf.reduce_mean(least)"),
    "target is trained": (_NEXT, "tf.stop_gradient(r + .9 * worth(then))", "(r + .9 * worth(then))"),
    "entropy minimized": (_ACTOR, "- .1 * unsure", "+ .1 * unsure"),
    "advantage is trained": (_ACTOR, "tf.stop_gradient(better)", "better"),
    "logarithm for deviation": (_CODE, "tf.exp(.5 * spread) *", "spread *"),
    "cosine of no unit vectors": (_TOWERS, "tf.nn.l2_normalize(code, 1)", "code"),
    "mask the wrong way round": (_WORDS, "mask, scores, tf.fill(tf.shape(scores), -1e9)",
                                 "mask, tf.fill(tf.shape(scores), -1e9), scores"),
    "mask the wrong way round of positions": (_BEFORE, "tri(6) > 0", "tri(6) == 0"),
    "positions clipped": (_WORDS, "tf.range(8)", "tf.minimum(tf.range(8), 3)"),
    "averages never taken": (_AVERAGES, "fit([both", "fit([step"),
    "bound of errors too low": (_BOUNDED, "delta=50.", "delta=1e-3"),
}


@pytest.mark.parametrize("kind", FORMULAS)
def test_a_formula_that_is_not_meant_is_named_first(kind: str, tmp_path: Path) -> None:
    text, right, wrong = FORMULAS[kind]
    first = findings(text.replace(right, wrong), tmp_path)[0]
    assert right in text and (first.kind, first.level == "remark") == (
        re.sub(" of (a gain|positions)", "", kind), False)
    assert first.place is not None and first.place.file.endswith("model.py")


@pytest.mark.parametrize("text", {text: None for text, *_ in FORMULAS.values()})
def test_the_right_formula_is_left_in_peace(text: str, tmp_path: Path) -> None:
    assert [f for f in findings(text, tmp_path) if f.level != "remark"] == []
