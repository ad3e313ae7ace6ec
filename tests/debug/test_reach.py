"""What came close to nan is told though the training stayed finite; what is kept away from it is not."""

from pathlib import Path

import pytest

from .pains import START
from .test_trials import loaded, said

FOCAL = START + """
tf.set_random_seed(2)
data = np.random.RandomState(2).randn(64, 2).astype("f") * 5
def focal(p, labels):
    pt = tf.where(tf.equal(labels, 1), p, 1 - p)
    return -tf.reduce_mean(tf.pow(1 - pt, 2.0) * tf.log(pt))
x = tf.placeholder(tf.float32, [None, 2], name="x")
t = tf.placeholder(tf.float32, [None, 1], name="t")
p = tf.sigmoid(tf.matmul(x, tf.Variable([[0.3], [-0.7]])) * SHARP)
loss = focal(p, t)
step = tf.train.GradientDescentOptimizer(0.02).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(12):
        session.run([step, loss], {x: data, t: (data.sum(1, keepdims=True) > 0).astype("f")})
"""


def test_a_logarithm_that_came_close_to_0_is_told_and_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = FOCAL.replace("SHARP", "1.5")
    with loaded(text, tmp_path, monkeypatch, "run") as shell:
        assert "log(" in (answer := said("why", shell)) and "this training stayed finite, but" in answer, answer
        new = shell.dbg.edits.patch(1).new.decode()
    assert new == text.replace("tf.log(pt)", "tf.log(tf.maximum(pt, 1e-12))")
    with loaded(new, tmp_path, monkeypatch, "run") as shell:
        assert "stayed finite" not in said("doctor", shell)


@pytest.mark.parametrize("text", [FOCAL.replace("SHARP", "0.3"),
                                  FOCAL.replace("SHARP", "1.5").replace("tf.log(pt)", "tf.log(pt + 1e-7)")])
def test_what_is_kept_from_0_or_far_from_it_is_not_told(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                                        ) -> None:
    with loaded(text, tmp_path, monkeypatch, "run") as shell:
        assert "stayed finite" not in said("doctor", shell)


@pytest.mark.parametrize(("made", "is_told"), [("z", True), ("tf.nn.softplus(z)", False), ("z + 3.0", False)])
def test_what_nothing_keeps_above_0_is_told_where_it_came_near(made: str, is_told: bool, tmp_path: Path,
                                                               monkeypatch: pytest.MonkeyPatch) -> None:
    text = START + f"""
x = tf.placeholder(tf.float32, [None, 1], name="x")
z = tf.matmul(x, tf.Variable([[1.0]]))
loss = tf.reduce_mean(tf.square(tf.log({made}) - tf.log(x)))
step = tf.train.GradientDescentOptimizer(0.001).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(12):
        session.run([step, loss], {{x: [[1.0], [2.0], [0.05]]}})
"""
    with loaded(text, tmp_path, monkeypatch, "run") as shell:
        assert ("nothing keeps that above 0" in said("doctor", shell)) is is_told


@pytest.mark.parametrize(("base", "is_told"), [
    ("1 - pt", True), ("1 - pt + 1e-6", False), ("1 - tf.clip_by_value(pt, 1e-6, 1 - 1e-6)", False),
    ("1 - tf.minimum(pt, 1.0)", True)])
def test_a_slope_at_0_that_a_saturated_probability_may_reach_is_told(base: str, is_told: bool, tmp_path: Path,
                                                                     monkeypatch: pytest.MonkeyPatch) -> None:
    """All labels are those that are far from what is said, of which the power is not of 0."""
    text = FOCAL.replace("SHARP", "9.0").replace("tf.pow(1 - pt, 2.0) * tf.log(pt)", f"tf.pow({base}, 0.5)").replace(
        "data.sum(1, keepdims=True) > 0", "data @ [[0.3], [-0.7]] < 0")
    with loaded(text, tmp_path, monkeypatch, "run") as shell:
        found = said("doctor", shell)
    assert ("of 0 where Sigmoid is 1 and right" in found or "of 0 where Sigmoid is 0 and right" in found) is is_told
    assert "a power whose derivative" not in found or is_told
