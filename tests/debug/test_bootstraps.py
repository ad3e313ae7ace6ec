"""The end of an episode that a target leaves out: told where the script holds it and no op is given it."""

from pathlib import Path

import pytest

from autodiff.debug.analysis.advice import Flag, advice_of

from .test_mistakes import trained

PROGRAM = """after, reward = tf.placeholder(tf.float32, [50, 3]), tf.placeholder(tf.float32, [50])
{extra}
v = tf.get_variable("v", [3, 2])
following = tf.stop_gradient(tf.reduce_max(tf.matmul(after, v), 1))
goal = {goal}
loss = tf.reduce_mean(tf.square(tf.reduce_max(dense(p, 2), 1) - goal))
train = sgd(.01).minimize(loss)
def read(i):
    return {{p: rng.randn(50, 3), after: rng.randn(50, 3), reward: {reward}, {fed}}}
fit([train, loss], read, 8)
"""


def told(tmp_path: Path, flags: dict[str, Flag], *, goal: str = "reward + .9 * following", extra: str = "",
         fed: str = "", reward: str = "np.full(50, 5.)") -> list[tuple[str, str, str]]:
    text = PROGRAM.format(goal=goal, extra=extra, fed=fed, reward=reward)
    shell = trained(text, tmp_path)
    advice_of(shell.dbg.model.graph).flags = flags
    found = [(f.level, f.text, f.remedy) for f in shell.dbg.doctor().findings if f.kind == "targets never end"]
    shell.close()
    return found


DONE = {"done": Flag(9, 200, "(1 - done)")}


def test_an_end_that_nothing_uses_is_told_and_worse_where_values_are_beyond_all_rewards(tmp_path: Path) -> None:
    (level, text, remedy), = told(tmp_path, DONE)
    assert level == "warning" and "done is 1 in 9 of 200 rows" in text and "(1 - done)" in remedy
    (level, text, _), = told(tmp_path, DONE, reward="np.full(50, .01)")
    assert level == "error" and "though no sum of rewards is above 0.1, 0.01 / (1 - 0.9)" in text


@pytest.mark.parametrize("flags", [{}, {"done": Flag(0, 200, "")}, {"done": Flag(150, 200, "")},
                                   {"_": Flag(9, 200, "(1 - _)")}])
def test_where_nothing_is_known_to_end_nothing_is_told(flags: dict[str, Flag], tmp_path: Path) -> None:
    assert told(tmp_path, flags) == []


@pytest.mark.parametrize("goal", ["reward + .9 * following * mask", "reward + .9 * tf.where(mask > 0, following, 0 * "
                                  "following)", "reward + .9 * (following * tf.cast(mask > .5, tf.float32))"])
def test_a_target_with_a_mask_is_right_whatever_else_is_held(goal: str, tmp_path: Path) -> None:
    extra = "mask = tf.placeholder(tf.float32, [50])"
    assert told(tmp_path, DONE, goal=goal, extra=extra, fed="mask: rng.rand(50) < .8") == []
    assert told(tmp_path, DONE, extra=extra, fed="mask: rng.rand(50) < .8")
