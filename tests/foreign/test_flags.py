"""Flags that a script holds and gives to no op: what of them is found, and how they are written into a target."""

from types import SimpleNamespace

import numpy as np
import pytest

import autodiff as tf
from autodiff.core.graph import Graph
from autodiff.debug.analysis.advice import Flag
from autodiff.debug.analysis.mistakes.targets.left_open import bootstraps_of
from autodiff.foreign.flags import Flags
from autodiff.foreign.new_lines import product_times

ROWS = 6
ENDS = np.array([0, 1, 0, 0, 0, 1])


def target(reward, following, done):
    return reward + 0.9 * following


def loss_of(made=target, *, said="network", discount=True):
    """A loss of a network against a target that another makes, and what is fed."""
    graph = Graph()
    with graph.as_default():
        state, after = (tf.placeholder(tf.float32, [ROWS, 3], name=name) for name in ("state", "after"))
        reward, done = (tf.placeholder(tf.float32, [ROWS], name=name) for name in ("reward", "done"))
        weights, old = (tf.Variable(np.ones((3, 2), np.float32), name=name) for name in ("w", "old"))
        following = tf.stop_gradient(tf.reduce_max(tf.matmul(after, old), 1))
        goal = made(reward, following, done)
        mine = tf.reduce_max(tf.matmul(state, weights), 1) if said == "network" else state[:, 0]
        loss = tf.reduce_mean(tf.square(mine - goal))
    return loss, {state: np.ones((ROWS, 3)), after: np.ones((ROWS, 3)), reward: np.arange(ROWS), done: ENDS}


@pytest.mark.parametrize(["made", "said", "count"], [
    (target, "network", 1), (lambda r, v, _: v * 0.99 + r, "network", 1), (lambda r, v, _: r + v, "network", 0),
    (lambda r, v, _: r + 2.0 * v, "network", 0), (lambda r, v, _: 0.9 * v + v, "network", 0),
    (lambda r, v, _: r + 0.9 * r, "network", 0), (target, "data", 0)])
def test_a_target_of_a_reward_and_a_part_of_what_is_said_of_the_next_state_is_known(made, said, count):
    assert len(bootstraps_of(loss_of(made, said=said)[0])) == count


def beside(*steps, made=target):
    """What is found in a function that holds these, one after the other."""
    loss, feeds = loss_of(made)
    flags = Flags(SimpleNamespace, lambda each: each.held)

    def wait(held):  # where a step is asked for
        return flags.beside(loss, feeds)
    found = [wait(held) for held in steps][-1]
    return {text: flag for text, flag in found.items() if text.startswith("held")}


@pytest.mark.parametrize(["held", "text", "ones"], [
    (1 - ENDS, "held", 4), ((1 - ENDS).reshape(-1, 1) > 0, "held", 4), ([True, False] * 3, "held", 3),
    ({"r": np.arange(6), "last": 1 - ENDS}, "held['last']", 4), ((np.arange(6), 1 - ENDS), "held[1]", 4),
    (SimpleNamespace(shape=(6,), held=1 - ENDS), "held", 4), (SimpleNamespace(shape=(7,), held=1 - ENDS), "", 0),
    (np.arange(6), "", 0), (ENDS[:5], "", 0), ("010010", "", 0), (True, "", 0), (ENDS * 0.5, "", 0)])
def test_what_is_0_or_1_for_each_row_is_a_flag_wherever_it_is_held(held, text, ones):
    assert {name: flag.ones for name, flag in beside(held).items()} == ({text: ones} if text else {})


def test_flags_of_several_steps_are_counted_and_what_is_none_in_one_is_none():
    assert beside(ENDS * 0, 1 - ENDS)["held"] == Flag(4, 2 * ROWS, "")
    assert beside(1 - ENDS, np.arange(6), 1 - ENDS) == {}


def test_what_goes_into_the_loss_is_no_flag_that_is_left_out():
    assert beside(ENDS, made=lambda r, v, done: r + 0.9 * v + done) == {} != beside(ENDS)


def test_a_flag_is_written_where_the_target_can_read_it(tmp_path):
    loss, feeds = loss_of()
    flags = Flags(SimpleNamespace, lambda each: each, "{}", "as_array({})")
    called = target.__code__, {"done": (1 - ENDS).reshape(-1, 1)}
    assert flags.beside(loss, feeds, called)["done"].kept == "(1 - as_array(done).reshape(-1))"
    file = tmp_path / "train.py"
    file.write_text("goal = r + gamma * q.max(1)\nboth = a * b + c * d\n")
    assert [*product_times(str(file), 1, "(1 - done)").values()] == ["goal = r + gamma * q.max(1) * (1 - done)"]
    assert product_times(str(file), 2, "(1 - done)") == {} == product_times(str(file), 1, "1 - done")
