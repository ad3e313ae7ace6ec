"""Event files: summaries are what TensorFlow 1.15.5 makes of the same values, and the writer writes them all."""

from pathlib import Path

import numpy as np
import pytest

import autodiff as tf
from autodiff.files.media import read_png

pytestmark = pytest.mark.usefixtures("own_graph")
FIXTURE = Path(__file__).parents[1] / "files" / "fixtures" / "events" / "events.out.tfevents.1"


def test_each_kind_of_summary_is_tensorflows() -> None:
    tf.summary.scalar("loss", tf.constant(0.5))
    tf.summary.histogram("weights", tf.constant([1.0, 2.0, 2.5]))
    tf.summary.image("picture", tf.constant(np.arange(12, dtype=np.uint8).reshape(1, 2, 2, 3)))
    tf.summary.text("note", tf.constant("hello"))
    ours = tf.Summary.FromString(tf.Session().run(tf.summary.merge_all()))
    theirs = next(e.summary for e in tf.train.summary_iterator(str(FIXTURE)) if e.HasField("summary"))
    for a, b in zip(ours.value, theirs.value, strict=True):
        if a.HasField("image"):
            assert np.array_equal(read_png(a.image.encoded_image_string), read_png(b.image.encoded_image_string))
            a.image.ClearField("encoded_image_string")
            b.image.ClearField("encoded_image_string")
        assert a == b


@pytest.mark.parametrize(("image", "expected"), [
    ([0.0, 0.5, 2.0], [0, 63, 255]), ([-1.0, 0.0, 1.0], [1, 128, 255]), ([0.0, 0.0, 0.0], [0, 0, 0])])
def test_floats_become_pixels_as_in_tensorflow(image: list[float], expected: list[int]) -> None:
    """Source: the scaling that tf.summary.image's documentation gives."""
    summary = tf.summary.image("i", np.float32(image).reshape(1, 1, 3, 1), max_outputs=1)
    value = tf.Summary.FromString(tf.Session().run(summary)).value[0]
    assert read_png(value.image.encoded_image_string).ravel().tolist() == expected


def test_a_sound_is_kept_as_wav() -> None:
    summary = tf.summary.audio("a", np.float32([[0.0, 1.0, -1.0]]), 8000, max_outputs=1)
    audio = tf.Summary.FromString(tf.Session().run(summary)).value[0].audio
    assert (audio.sample_rate, audio.num_channels, audio.length_frames) == (8000, 1, 3)
    assert audio.encoded_audio_string[:4] == b"RIFF"
    assert np.frombuffer(audio.encoded_audio_string[-6:], "<i2").tolist() == [0, 32767, -32767]


def test_a_writer_writes_everything_it_is_given(tmp_path: Path) -> None:
    writer = tf.summary.FileWriter(str(tmp_path / "logs"), filename_suffix=".x")
    assert not (tmp_path / "logs").exists()
    note = tf.Session().run(tf.summary.text("note", tf.constant("hello")))
    writer.add_summary(note, 1)
    writer.add_summary(note, np.int64(2))
    writer.add_session_log(tf.SessionLog(status=tf.SessionLog.STOP), 3)
    writer.flush()
    path = next((tmp_path / "logs").glob("events.out.tfevents.*.x"))
    version, first, second, log = tf.train.summary_iterator(str(path))
    assert [event.step for event in (first, second, log)] == [1, 2, 3]
    assert first.summary.value[0].HasField("metadata") and not second.summary.value[0].HasField("metadata")
    assert log.session_log.status == tf.SessionLog.STOP
    writer.close()
    writer.add_summary(note, 4)
    assert len(list(tf.train.summary_iterator(str(path)))) == 4
    with pytest.raises(TypeError, match="must be an instance of `Graph`"):
        writer.add_graph("graph")


def test_a_monitored_session_leaves_its_summaries(tmp_path: Path) -> None:
    x = tf.get_variable("v", initializer=np.float32(2.0))
    tf.summary.scalar("x", x)
    train = tf.train.GradientDescentOptimizer(0.25).minimize(x * x, tf.train.get_or_create_global_step())
    with tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path), save_summaries_steps=1) as session:
        for _ in range(2):
            session.run(train)
    path = next(tmp_path.glob("events.out.tfevents.*"))
    found = [(e.step, v.simple_value) for e in tf.train.summary_iterator(str(path)) for v in e.summary.value
             if v.tag == "x"]
    assert [step for step, _ in found] == [1, 2]
