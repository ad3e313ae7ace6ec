"""Inputs and labels that are taken of datasets: in the same run and order, or not."""

from pathlib import Path

import pytest

from .test_mistakes import findings

_TWO = """
parts = [tf.data.Dataset.from_tensor_slices(each)ORDER.repeat().batch(32) for each in (points, sums)]
given, told = [each.make_one_shot_iterator().get_next() for each in parts]
fit([adam(.02).minimize(tf.reduce_mean(tf.square(dense(given, 1) - told)))], lambda i: {})
"""
_RUNS = """
both = tf.data.Dataset.from_tensor_slices((points, sums)).shuffle(300).repeat().batch(32)
given, told = both.make_one_shot_iterator().get_next()
train = adam(.02).minimize(tf.reduce_mean(tf.square(dense(p, 1) - q)))
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(40):
        TAKEN
        session.run(train, {p: a, q: b})
"""
WRONG = {
    "one is shuffled": (_TWO.replace("ORDER", "").replace("parts]", "(parts[0].shuffle(9), parts[1])]"),
                        "are in the order given"),
    "both are": (_TWO.replace("ORDER", ".shuffle(300)"), "come of two iterators"),
    "two runs": (_RUNS.replace("TAKEN", "a = session.run(given); b = session.run(told)"),
                 "steps looked at: each takes"),
}
RIGHT = {
    "in order": _TWO.replace("ORDER", ""), "one seed": _TWO.replace("ORDER", ".shuffle(300, seed=5)"),
    "one run": _RUNS.replace("TAKEN", "a, b = session.run([given, told]); session.run(told)"),
}


@pytest.mark.parametrize("name", WRONG)
def test_labels_that_are_not_drawn_with_their_inputs_are_told_by_the_draw(name: str, tmp_path: Path) -> None:
    text, told = WRONG[name]
    first, *_ = findings(text, tmp_path)
    assert (first.kind, first.level) == ("drawn apart", "error") and told in first.text


@pytest.mark.parametrize("name", RIGHT)
def test_labels_that_are_drawn_with_their_inputs_are_not(name: str, tmp_path: Path) -> None:
    assert "drawn apart" not in [f.kind for f in findings(RIGHT[name], tmp_path)]
