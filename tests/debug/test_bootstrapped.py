"""Targets of rewards and the best that follows: told where no end of an episode is in them, quiet where one is."""

from pathlib import Path

import pytest

from .mistaken_programs import HEAD
from .test_mistakes import findings, trained

_ACTED = """
said, told = dense(dense(p, 16, tf.nn.relu), 2), tf.placeholder(tf.float32, [None, 2])
train = adam(.01).minimize(tf.losses.huber_loss(told, said))
memory = [(points[k], int(rng.randint(2)), 1., points[(k + 1) % 300], k % 10 == 9) for k in range(300)]
def learn(batch):
    states = np.stack([each[0] for each in batch])
    chosen = np.array([each[1] for each in batch])
    won = np.array([each[2] for each in batch])
    after = np.stack([each[3] for each in batch])
    over = np.array([each[4] for each in batch])
    worth = won + .9 * np.max(session.run(said, {p: after}), axis=1)
    targets = session.run(said, {p: states})
    targets[np.arange(len(batch)), chosen] = worth
    session.run(train, {p: states, told: targets})
session = tf.Session()
session.run(tf.global_variables_initializer())
for i in range(40):
    learn([memory[k] for k in rng.randint(0, 300, 16)])
"""
_VALUED = """
said, told = dense(dense(p, 16, tf.nn.relu), 2), tf.placeholder(tf.float32, [None])
which = tf.placeholder(tf.int32, [None])
mine = tf.reduce_sum(tf.one_hot(which, 2) * said, 1)
train = adam(.01).minimize(tf.reduce_mean(tf.square(told - mine)))
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(80):
        k = rng.randint(0, 300)
        state, action, won, later, over = points[k], k % 2, float(k % 3), points[(k + 1) % 300], k % 10 == 9
        best = won + .9 * session.run(said, {p: [later]}).max()
        session.run(train, {p: [state], told: [best], which: [action]})
"""
LEFT_OUT = {  # the program, what is wrong in it, what is right
    "rows of a table": (_ACTED, "axis=1)", "axis=1) * ~over"),
    "the reward alone": (_ACTED, "axis=1)", "axis=1)\n    worth[over] = -1."),
    "one at a time": (_VALUED, ".max()", ".max() * (not over)")}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_targets_that_no_end_is_in_are_told_and_written(name: str, tmp_path: Path) -> None:
    text, wrong, right = LEFT_OUT[name]
    shell = trained(text, tmp_path)
    first = next(f for f in shell.dbg.doctor().findings if f.kind == "targets never end")
    assert first.place is not None and ("np.max" in first.place.text or ".max()" in first.place.text)
    assert "over at model.py:" in first.text and "the reward + 0.9 * the best" in first.text
    number = int(first.remedy.partition("; fix ")[2].partition(" ")[0])
    assert (HEAD + text).replace(wrong, f"{wrong} * (1 - over)", 1).encode() == shell.dbg.edits.patch(number).new
    shell.close()
    assert "targets never end" not in {f.kind for f in findings(text.replace(wrong, right), tmp_path)}


def test_targets_beyond_all_rewards_are_an_error(tmp_path: Path) -> None:
    text = _ACTED.replace("axis=1)", "axis=1) + 0 * over").replace("[each[2] for", "[each[2] * .01 for")
    first, *_ = findings(text.replace("dense(p, 16, tf.nn.relu), 2)", "dense(p, 16, tf.nn.relu), 2) + 1."), tmp_path)
    assert (first.kind, first.level) == ("targets never end", "error")
    assert "where rewards of at most 0.01 sum to 0.1" in first.text


def test_a_task_without_an_end_is_right(tmp_path: Path) -> None:
    text = _ACTED.replace("    over = np.array([each[4] for each in batch])\n", "")
    assert "targets never end" not in {f.kind for f in findings(text, tmp_path)}
