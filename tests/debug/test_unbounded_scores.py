"""The mean score of the right classes, raised without end; and scores that something else holds."""

from pathlib import Path

import pytest

from autodiff.debug.analysis.mistakes.terms.unbounded_scores import KIND

from .test_mistakes import findings, trained

_PROGRAM = """
right = tf.placeholder(tf.int32, [None])
hot = tf.one_hot(right, 4)
scores = dense(dense(p, 16, tf.nn.relu), 4)
other = dense(dense(q, 16, tf.nn.relu), 4)
weights = tf.Variable(tf.ones([3, 4]))
rest = 0.001 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()[:1]])
loss = LOSS
def each(i):
    k = rng.randint(0, 300, 32)
    return {p: points[k], q: sums[k], right: (points[k] @ [1, 2, 3] > 0) + 2 * (points[k, 0] > 0)}
fit([adam(.01).minimize(loss), loss], each)
"""
_PICKED = "tf.reduce_mean(tf.reduce_sum(hot * scores, 1))"
_GATHERED = "tf.reduce_mean(tf.gather_nd(scores, tf.stack([tf.range(32), right], 1)))"


@pytest.mark.parametrize("loss", [f"-{_PICKED}", f"-{_GATHERED}", f"rest - {_PICKED}",
                                  "-tf.reduce_sum(scores * hot) / 32."])
def test_scores_of_right_classes_without_a_bound_are_told(loss: str, tmp_path: Path) -> None:
    shell = trained(_PROGRAM.replace("LOSS", loss), tmp_path)
    first, *_ = shell.dbg.doctor().findings
    assert (first.kind, first.level) == (KIND, "error") and "Raised by 1000, it falls by 1000" in first.text
    assert "nn.log_softmax(" in shell.dbg.edits.patch(1).new.decode()
    shell.close()


def _of(scores: str) -> str:
    return _PICKED.replace("scores", scores)


@pytest.mark.parametrize("loss", [
    f"tf.reduce_mean(tf.reduce_logsumexp(scores, 1)) - {_PICKED}", f"-{_of('tf.nn.log_softmax(scores)')}",
    f"-{_of('tf.tanh(scores)')}", f"-{_of('tf.nn.l2_normalize(scores, 1)')}",
    f"tf.reduce_mean((p ** 2) @ weights * hot) - {_of('p @ weights')}", f"tf.reduce_mean(scores ** 2) - {_PICKED}",
    "tf.reduce_mean(tf.nn.relu(1. - tf.reduce_sum(hot * scores, 1)))",
    f"tf.reduce_mean(tf.reduce_max(scores - 9. * hot, 1)) - {_PICKED}"])
def test_scores_that_something_holds_are_right(loss: str, tmp_path: Path) -> None:
    assert KIND not in [f.kind for f in findings(_PROGRAM.replace("LOSS", loss), tmp_path)]
