"""How parameters went from step to step, as a door tells doctor of it; no framework is needed for that."""

import numpy as np
import pytest

import autodiff as tf
from autodiff.foreign.course import Course, Turn, Use, not_updated, too_far, uphill
from autodiff.foreign.steps import ForeignStep

USE = Use(None, "; used at train.py:9", "subtract it", "update it")


def turns(rate, *, curve=2.0, count=12, noise=0.0, lift=0.0):
    """Steps of w = 1 on curve / 2 * w ** 2, by a rate; noise: what different batches add to the loss, and lift."""
    course, w, found = Course(), np.array([1.0]), []
    with tf.Graph().as_default():
        x, loss = tf.placeholder(tf.float32, [1]), tf.constant(0.0)
    rng = np.random.default_rng(0)
    for _ in range(count):
        g, data = curve * w, rng.standard_normal(1) if noise else np.zeros(1)
        found = course.note(loss, Turn(ForeignStep(loss, {"w": w}, {x: data}, {"w": g}),
                                       float(curve / 2 * w[0] ** 2 + noise * abs(data[0]) + lift)))
        w = w - rate * g
    return found


@pytest.mark.parametrize(("rate", "look", "kind"), [
    (0.0, not_updated, "never updated"), (-0.1, uphill, "uphill"), (1.2, too_far, "steps too large")])
def test_each_course_has_its_name(rate, look, kind):
    found = {each: [f.kind for f in each(turns(rate), USE)] for each in (not_updated, uphill, too_far)}
    assert found == {each: [kind] if each is look else [] for each in found}
    assert look(turns(rate), USE)[0].text.endswith("used at train.py:9")


def test_a_right_course_is_not_spoken_of():
    rest = turns(0.7, count=40)
    for i, turn in enumerate(rest):
        turn.loss = 1e-9 * (1 + i)  # it has come to its end
    for steps in (rest, turns(0.1), turns(0.1, count=3), turns(0.001, noise=1.0), turns(0.001, noise=1.0, lift=-9.0)):
        assert [f for look in (not_updated, uphill, too_far) for f in look(steps, USE)] == []


def test_some_parameters_may_be_meant_to_stay():
    course, w, v = Course(), np.array([1.0]), np.array([2.0])
    for _ in range(6):
        steps = course.note("loss", Turn(ForeignStep("loss", {"w": w, "v": v}, {}, {"w": w, "v": v}), float(w @ w)))
        w = 0.9 * w
    assert [f.target for f in not_updated(steps, USE)] == ["v"] and not_updated(steps, USE, some_may=True) == []


def test_what_a_schedule_has_brought_to_rest_was_updated():
    course, w = Course(), np.array([1.0])
    for step in range(30):
        steps = course.note("loss", Turn(ForeignStep("loss", {"w": w}, {}, {"w": w}), float(w @ w)))
        w = w if step > 8 else 0.9 * w
    assert len(steps) == 12 and not_updated(steps, USE) == []


def test_a_divergence_comes_before_what_it_makes():
    assert too_far(turns(3.0), USE)[0].severity > 95 > too_far(turns(1.1, count=8), USE)[0].severity


@pytest.mark.parametrize(("start", "speed", "kept"), [(0.02, 0.2, 0.99), (1e-15, 1e-6, 0.9), (1.0, 1e-3, 0.9)])
def test_momentum_that_goes_on_past_the_gradient_is_no_wrong_sign(start, speed, kept):
    course, w, d = Course(), np.array([start, -start]), np.array([speed, -speed])
    for _ in range(12):
        g = w if start == 0.02 else w * 1e-12 if start == 1.0 else np.array([1e-15, -1e-15])
        steps = course.note("loss", Turn(ForeignStep("loss", {"w": w}, {}, {"w": g}), float(np.sum(w * w))))
        d = kept * d - 1e-3 * g
        w = w + d
    assert uphill(steps, USE) == []


@pytest.mark.parametrize("kept", [0.5, 0.9, 0.99])
def test_a_wrong_sign_shows_beside_momentum(kept):
    course, w, d = Course(), np.array([1.0, -2.0]), np.zeros(2)
    for _ in range(12):
        steps = course.note("loss", Turn(ForeignStep("loss", {"w": w}, {}, {"w": w}), float(np.sum(w * w))))
        d = kept * d + 1e-2 * w
        w = w + d
    assert [f.kind for f in uphill(steps, USE)] == ["uphill"]


@pytest.mark.parametrize("sign, kinds", [(1.0, ["uphill"]), (-1.0, [])])
def test_rows_that_batches_move_by_turns_go_up_all_together(sign, kinds):
    course, w, mean = Course(), np.full(40, 1.0), np.zeros(40)
    for step in range(24):
        g = np.where(np.arange(40) % 8 == step % 8, w, 0.0)
        steps = course.note("loss", Turn(ForeignStep("loss", {"w": w}, {}, {"w": g}), float(w @ w)), shape=step % 2)
        mean = 0.9 * mean + 0.1 * g
        w = w + sign * 0.05 * np.sign(mean)
        found = uphill(steps, USE)
    assert [f.kind for f in found] == kinds


def test_what_two_losses_share_may_go_up_one_of_them():
    course, w = Course(), np.array([1.0])
    for _ in range(6):
        for key, g in (("critic", np.ones(1)), ("actor", -np.ones(1))):
            steps = course.note(key, Turn(ForeignStep(key, {"w": w}, {}, {"w": g}), 1.0))
        w = w - 0.1
    assert steps[-1].step.loss == "actor" and uphill(steps, USE) == []


def test_a_network_in_place_of_the_last_begins_a_course_of_its_own():
    course = Course()
    for step in range(12):
        w = np.array([0.5 ** (step % 4 + 1) * 4 ** (step // 4)])  # three trainings of four steps, each from further up
        now = ForeignStep("loss", {"w": w}, {}, {"w": w}, ages={"w": step // 4})
        steps = course.note("loss", Turn(now, float(w @ w)))
    assert len(steps) == 4 and too_far(steps, USE) == []
