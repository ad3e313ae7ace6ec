"""Readers of files that a queue names, and fields of lines; as TensorFlow 1.15.5 gives them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff as tf

pytestmark = pytest.mark.usefixtures("own_graph")


def read_all(reader: Any, *names: str) -> list[tuple[bytes, bytes]]:
    """All that a reader reads of some files."""
    queue = tf.FIFOQueue(10, tf.string, shapes=())
    record, counts = reader.read(queue), [reader.num_records_produced(), reader.num_work_units_completed()]
    found = []
    with tf.Session() as session:
        session.run(queue.enqueue_many([list(names)]))
        session.run(queue.close())
        with pytest.raises(tf.errors.OutOfRangeError, match="is closed and has insufficient elements"):
            while True:
                found.append(tuple(session.run(record)))
        assert session.run(counts) == [len(found), len(names)]
        session.run(reader.reset())
        assert session.run(counts) == [0, 0]
    return found


def test_each_reader_gives_keys_and_values(tmp_path: Path) -> None:
    text, data, records = (str(tmp_path / name) for name in ("a.txt", "b.bin", "c.tfrecord"))
    Path(text).write_bytes(b"head\none\r\ntwo\n")
    Path(data).write_bytes(b"HHabcdefF")
    with tf.python_io.TFRecordWriter(records) as writer:
        writer.write(b"first")
        writer.write(b"second")
    key = text.encode()
    assert read_all(tf.TextLineReader(skip_header_lines=1), text) == [(key + b":2", b"one"), (key + b":3", b"two")]
    assert read_all(tf.WholeFileReader(), text, text) == [(key, b"head\none\r\ntwo\n")] * 2
    assert read_all(tf.IdentityReader(), "x", "y") == [(b"x", b"x"), (b"y", b"y")]
    assert [v for _, v in read_all(tf.FixedLengthRecordReader(2, header_bytes=2, footer_bytes=1), data)] == [
        b"ab", b"cd", b"ef"]
    assert [v for _, v in read_all(tf.FixedLengthRecordReader(2, header_bytes=2, footer_bytes=1, hop_bytes=1), data)
            ] == [b"ab", b"bc", b"cd", b"de", b"ef"]
    key = records.encode()
    assert read_all(tf.TFRecordReader(), records) == [(key + b":0", b"first"), (key + b":21", b"second")]


def test_records_of_a_file_come_together(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1\n2\n3\n")
    queue = tf.FIFOQueue(10, tf.string, shapes=())
    keys, values = tf.TextLineReader().read_up_to(queue, 2)
    assert values.shape.as_list() == [None]
    with tf.Session() as session:
        session.run(queue.enqueue_many([[str(tmp_path / "a")] * 2]))
        assert [session.run(values).tolist() for _ in range(3)] == [[b"1", b"2"], [b"3"], [b"1", b"2"]]


def test_fields_of_lines_have_their_kinds_and_defaults() -> None:
    lines = [["1,2.5,\"a,\"\"b\"\"\"", ",nan,NA"]]
    whole, number, text = tf.decode_csv(lines, [[7], [0.0], [b"none"]], na_value="NA")
    assert whole.shape.as_list() == [1, 2]
    assert tf.io.decode_csv("5\t6", [tf.constant([1], tf.int64)], "\t", select_cols=[1])[0].dtype is tf.int64
    with tf.Session() as session:
        assert session.run(whole).tolist() == [[1, 7]]
        np.testing.assert_array_equal(session.run(number), np.array([[2.5, np.nan]], np.float32))
        assert session.run(text).tolist() == [[b'a,"b"', b"none"]]
        assert session.run(tf.decode_csv('5"\t6', [[1]], "\t", use_quote_delim=False, select_cols=[1])) == [6]


@pytest.mark.parametrize(("line", "defaults", "text"), [
    ("1,2", [[1]], "Expect 1 fields but have 2 in record 0"),
    ("x", [[1]], "Field 0 in record 0 is not a valid int32: x"),
    (",", [[1], np.zeros(0, np.float32)], "Field 1 is required but missing in record 0!"),
    ('a"b', [["x"]], "Unquoted fields cannot have quotes/CRLFs inside"),
])
def test_lines_that_do_not_fit_fail_in_the_run(line: str, defaults: Any, text: str) -> None:
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=text):
        session.run(tf.decode_csv(line, defaults))


@pytest.mark.parametrize(("arguments", "text"), [
    ({"field_delim": ", "}, "field_delim should be only 1 char"), ({"select_cols": [1, 2]}, "match output size"),
    ({"record_defaults": [[True]]}, "float32, float64, int32, int64 or string"),
])
def test_wrong_arguments_of_decode_csv_are_refused(arguments: dict[str, Any], text: str) -> None:
    with pytest.raises((ValueError, TypeError), match=text):
        tf.decode_csv("1", **{"record_defaults": [[1]], **arguments})


def test_what_the_projector_shows_is_written_beside_the_events(tmp_path: Path) -> None:
    projector = tf.contrib.tensorboard.plugins.projector
    config = projector.ProjectorConfig()
    shown = config.embeddings.add()
    shown.tensor_name, shown.metadata_path = "embedding:0", "labels.tsv"
    shown.sprite.single_image_dim.extend([28, 28])
    projector.visualize_embeddings(tf.summary.FileWriter(str(tmp_path)), config)
    assert (tmp_path / "projector_config.pbtxt").read_text() == (
        'embeddings {\n  tensor_name: "embedding:0"\n  metadata_path: "labels.tsv"\n  sprite {\n'
        "    single_image_dim: 28\n    single_image_dim: 28\n  }\n}\n")


def test_gradients_of_functions_by_variables_and_arguments() -> None:
    tfe = tf.contrib.eager
    with tf.Graph().as_default():
        w = tf.get_variable("w", initializer=3.0, use_resource=True)
        pairs = tfe.implicit_gradients(lambda x: w * w * x)(2.0)
        value, gradients = tfe.value_and_gradients_function(lambda a, b: a * b, params=[1])(5.0, 2.0)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            assert session.run([pairs[0][0], value, gradients[0]]) == [12.0, 10.0, 5.0] and pairs[0][1] is w
        with pytest.raises(ValueError, match="No trainable variables were accessed"):
            tfe.implicit_gradients(lambda: tf.constant(1.0))()
        with pytest.raises(ValueError, match="Cannot differentiate a function that returns None"):
            tfe.implicit_gradients(lambda: None)()
        assert len(tfe.gradients_function(lambda a, b: a * b)(1.0, 2.0)) == 2
