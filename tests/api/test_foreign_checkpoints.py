"""Checkpoints that TensorFlow 1.15.5 wrote, in models of ours."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import autodiff as tf
from autodiff.api.contrib import framework

pytestmark = pytest.mark.usefixtures("own_graph")
FIXTURES = Path(__file__).parents[1] / "files" / "fixtures"
MODEL = str(FIXTURES / "checkpoint" / "model-1")
W = np.arange(12, dtype=np.float32).reshape(3, 4) / 8


def after_a_step() -> np.ndarray:
    """W after a step of Adam at 0.25 down the gradient of its sum of squares."""
    return W - 0.25 * np.sign(W)


def test_a_model_goes_on_where_tensorflow_left_it() -> None:
    w = tf.get_variable("w", [3, 4])
    step = tf.train.get_or_create_global_step()
    train = tf.train.AdamOptimizer(0.25).minimize(tf.reduce_sum(w * w), step)
    session = tf.Session()
    tf.train.Saver().restore(session, MODEL)
    np.testing.assert_allclose(session.run(w), after_a_step(), rtol=1e-4, atol=1e-6)
    session.run(train)
    assert session.run(step) == 2
    first = 0.1 * 2 * W  # Adam's mean of gradients, after one step of TensorFlow's and one of ours
    np.testing.assert_allclose(session.run("w/Adam:0"), 0.9 * first + 0.1 * 2 * after_a_step(), rtol=1e-4, atol=1e-6)


def test_it_is_listed_and_read() -> None:
    assert tf.train.latest_checkpoint(str(FIXTURES / "checkpoint")) == MODEL
    assert ("part", [7, 2]) in tf.train.list_variables(str(FIXTURES / "checkpoint"))
    assert tf.train.load_variable(MODEL, "global_step") == 1
    reader = tf.train.NewCheckpointReader(MODEL)
    assert reader.get_variable_to_dtype_map()["text"] is tf.string
    assert reader.get_tensor("text")[2] == b"h\xc3\xa9llo\x00"
    assert b"half (DT_HALF) [2]" in reader.debug_string()


def test_a_monitored_session_begins_with_it(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(FIXTURES / "checkpoint", folder)
    w = tf.get_variable("w", [3, 4])
    tf.train.get_or_create_global_step()
    with tf.train.MonitoredTrainingSession(checkpoint_dir=str(folder), save_summaries_steps=None) as session:
        np.testing.assert_allclose(session.run(w), after_a_step(), rtol=1e-4, atol=1e-6)
    assert tf.train.latest_checkpoint(str(folder)) is not None


@pytest.mark.parametrize(("given", "name"), [
    ({"w": "other/w"}, "other/w"), ({"/": "w_only/"}, "w_only/w"), ({"w": "VARIABLE"}, "v")])
def test_variables_begin_with_a_checkpoint(given: dict, name: str) -> None:
    variable = tf.get_variable(name, [3, 4])
    given = {key: variable if value == "VARIABLE" else value for key, value in given.items()}
    tf.train.init_from_checkpoint(MODEL, given)
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    np.testing.assert_allclose(session.run(variable), after_a_step(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(("given", "text"), [
    ({"none": "v"}, "Tensor none is not found in"), ({"w": "none"}, "Variable none is not in the graph"),
    ({"/": "no/"}, "Couldn't find variables in scope 'no/'"), ({"half": "v"}, "Shape of variable v .* doesn't match"),
    ({"/": "v"}, "Assignment map with scope only name"), ({"/": "/"}, "Tensor v .v in /. is not found")])
def test_what_does_not_fit_is_told_at_once(given: dict, text: str) -> None:
    tf.get_variable("v", [3, 4])
    with pytest.raises(ValueError, match=text):
        tf.train.init_from_checkpoint(MODEL, given)


def test_assign_from_checkpoint_leaves_out_what_is_missing_if_told_to() -> None:
    w, other = tf.get_variable("w", [3, 4]), tf.get_variable("other", [2])
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    framework.assign_from_checkpoint_fn(MODEL, [w, other], ignore_missing_vars=True)(session)
    np.testing.assert_allclose(session.run(w), after_a_step(), rtol=1e-4, atol=1e-6)
    operation, feeds = framework.assign_from_checkpoint(MODEL, {"w": w})
    session.run(operation, feeds)
    with pytest.raises(ValueError, match="Checkpoint is missing variable .other."):
        framework.assign_from_checkpoint(MODEL, [other])


def test_the_version_before_and_our_own_archives_are_restored() -> None:
    w = tf.get_variable("w", [2, 3])
    session = tf.Session()
    for path in ("old_checkpoint/model.ckpt", "npz_checkpoint/model"):
        session.run(w.initializer)
        tf.train.Saver().restore(session, str(FIXTURES / path))
        assert session.run(w).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert tf.train.load_variable(str(FIXTURES / "npz_checkpoint/model"), "text").tolist() == [b"a", b"b"]
