"""Examples and record files by TensorFlow's names: what 1.15.5 wrote is read, other things are told as it tells."""

from pathlib import Path

import numpy as np
import pytest

import autodiff as tf
from autodiff.tensorflow_names import json_format

pytestmark = pytest.mark.usefixtures("own_graph")
FIXTURES = Path(__file__).parents[1] / "files" / "fixtures"
FEATURES = {"image": tf.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([1], tf.int64),
            "weights": tf.VarLenFeature(tf.float32), "more": tf.FixedLenFeature([2], tf.float32, [7.0, 8.0])}


def example(**lists: object) -> bytes:
    return tf.train.Example(features=tf.train.Features(feature={
        key: tf.train.Feature(int64_list=tf.train.Int64List(value=value)) for key, value in lists.items()  # type: ignore
    })).SerializeToString()


@pytest.mark.parametrize(("name", "compression"), [("plain", ""), ("gzip", "GZIP"), ("zlib", "ZLIB")])
def test_a_pipeline_reads_what_tensorflow_wrote(name: str, compression: str) -> None:
    def parse(text: tf.Tensor) -> tuple:
        found = tf.parse_single_example(text, FEATURES)
        dense = tf.sparse_tensor_to_dense(found["weights"])
        return tf.decode_raw(found["image"], tf.uint8), found["label"], tf.reduce_sum(dense), found["more"]

    path = str(FIXTURES / f"{name}.tfrecord")
    dataset = tf.data.TFRecordDataset([path, path], compression_type=compression).map(parse).batch(4)
    images, labels, sums, more = tf.Session().run(dataset.make_one_shot_iterator().get_next())
    assert images.tolist() == [[0, 1, 2], [1, 1, 2], [2, 1, 2], [0, 1, 2]]
    assert labels.tolist() == [[0], [1], [2], [0]]
    assert sums.tolist() == [0, 0.5, 1, 0]
    assert more.tolist() == [[7, 8]] * 4


def test_a_batch_is_parsed_at_once() -> None:
    texts = list(tf.python_io.tf_record_iterator(str(FIXTURES / "plain.tfrecord")))
    found = tf.parse_example(tf.constant(texts), FEATURES)
    assert sorted(found) == ["image", "label", "more", "weights"]
    values = tf.Session().run(found)
    assert values["image"].tolist() == [b"\0\1\2", b"\1\1\2", b"\2\1\2"]
    assert values["weights"].indices.tolist() == [[1, 0], [2, 0], [2, 1]]
    assert values["weights"].dense_shape.tolist() == [3, 2]
    assert values["more"].tolist() == [[7, 8]] * 3


def test_one_feature_alone_is_one_tensor() -> None:
    features = {"x": tf.FixedLenFeature([1], tf.int64)}
    text = example(x=[3])
    found = tf.Session().run([tf.parse_example([text], features), tf.parse_single_example(text, features)])
    assert [values["x"].tolist() for values in found] == [[[3]], [3]]


def test_sequences_of_any_length_are_padded_and_sparse_features_joined() -> None:
    texts = [example(n=[1, 2, 3], i=[4, 0], v=[40, 5]), example(n=[4], i=[2], v=[20])]
    found = tf.parse_example(texts, {"n": tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
                                     "s": tf.SparseFeature("i", "v", tf.int64, 6)})
    values = tf.Session().run({"n": found["n"], "s": tf.sparse_tensor_to_dense(found["s"])})
    assert values["n"].tolist() == [[1, 2, 3], [4, 0, 0]]
    assert values["s"].tolist() == [[5, 0, 0, 0, 40, 0], [0, 0, 20, 0, 0, 0]]


@pytest.mark.parametrize(("text", "says"), [
    (example(y=[1]), r"Feature: x .data type: int64. is required but could not be found"),
    (example(x=[1, 2]), "Key: x, Index: 0.  Number of int64 values != expected.  values size: 2 but output shape"),
    (b"\xff\xff", "Could not parse example input")])
def test_an_example_that_does_not_fit_is_told_as_tensorflow_tells(text: bytes, says: str) -> None:
    found = tf.parse_example([text], {"x": tf.FixedLenFeature([1], tf.int64)})
    with pytest.raises(tf.errors.InvalidArgumentError, match=says):
        tf.Session().run(found)


def test_a_sequence_has_context_and_steps() -> None:
    """As TensorFlow 1.15.5 parses the same bytes."""
    def values(*numbers: int) -> dict:
        return {"int64_list": {"value": numbers}}

    text = tf.train.SequenceExample(
        context={"feature": {"id": values(7)}},
        feature_lists={"feature_list": {"pairs": {"feature": [values(1, 2), values(3, 4), values(5, 6)]},
                                        "any": {"feature": [values(1), values(), values(2, 3)]}}}).SerializeToString()
    context, steps = tf.io.parse_single_sequence_example(
        text, {"id": tf.FixedLenFeature([], tf.int64), "more": tf.VarLenFeature(tf.float32)},
        {"pairs": tf.FixedLenSequenceFeature([2], tf.int64), "any": tf.VarLenFeature(tf.int64),
         "none": tf.FixedLenSequenceFeature([3], tf.float32, allow_missing=True)})
    found = tf.Session().run([context, steps])
    assert found[0]["id"] == 7 and found[0]["more"].dense_shape.tolist() == [0]
    assert found[1]["pairs"].tolist() == [[1, 2], [3, 4], [5, 6]]
    assert found[1]["any"].indices.tolist() == [[0, 0], [2, 0], [2, 1]]
    assert (found[1]["any"].values.tolist(), found[1]["any"].dense_shape.tolist()) == ([1, 2, 3], [3, 2])
    assert found[1]["none"].shape == (0, 3)
    _, steps = tf.io.parse_single_sequence_example(text, None, {"gone": tf.FixedLenSequenceFeature([], tf.int64)})
    with pytest.raises(tf.errors.InvalidArgumentError, match="Feature list 'gone' is required"):
        tf.Session().run(steps)


def test_sequences_of_a_batch_are_filled_up_and_counted() -> None:
    """As TensorFlow 1.15.5 parses the same bytes."""
    def text(rows: list, word: bytes) -> bytes:
        steps = [{"int64_list": {"value": row}} for row in rows]
        return tf.train.SequenceExample(context={"feature": {"w": {"bytes_list": {"value": [word]}}}}, feature_lists={
            "feature_list": {"a": {"feature": steps}, "v": {"feature": steps[:1]}}}).SerializeToString()

    texts = [text([[1, 2]], b"x"), text([[3, 4], [5, 6]], b"y")]
    found = tf.io.parse_sequence_example(texts, {"w": tf.FixedLenFeature([], tf.string)}, {
        "a": tf.FixedLenSequenceFeature([2], tf.int64), "v": tf.VarLenFeature(tf.int64)})
    context, steps, lengths = tf.Session().run(found)
    assert (context["w"].tolist(), lengths["a"].tolist()) == ([b"x", b"y"], [1, 2])
    assert steps["a"].tolist() == [[[1, 2], [0, 0]], [[3, 4], [5, 6]]]
    assert steps["v"].indices.tolist() == [[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 1]]
    assert (steps["v"].values.tolist(), steps["v"].dense_shape.tolist()) == ([1, 2, 3, 4], [2, 1, 2])
    wrong = tf.io.parse_sequence_example(texts, None, {"a": tf.VarLenFeature(tf.float32)}, example_names=["p", "q"])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Name: p, Feature list: a, Index: 0.  Data types don't"):
        tf.Session().run(wrong)


def test_examples_go_to_json_and_back() -> None:
    example = tf.train.Example(features={"feature": {
        "i": {"int64_list": {"value": [-1, 2]}}, "f": {"float_list": {"value": [0.5, 3.0]}},
        "b": {"bytes_list": {"value": [b"\x00hi"]}}}})
    text = json_format.MessageToJson(example, indent=None)
    assert text == ('{"features": {"feature": {"b": {"bytesList": {"value": ["AGhp"]}}, "f": {"floatList": {"value": '
                    '[0.5, 3.0]}}, "i": {"int64List": {"value": ["-1", "2"]}}}}}')
    assert json_format.Parse(text, tf.train.Example()) == example
    assert json_format.MessageToDict(example, preserving_proto_field_name=True)["features"]["feature"]["i"] == {
        "int64_list": {"value": ["-1", "2"]}}
    assert tf.train.Example.FromString(tf.Session().run(tf.decode_json_example([text]))[0]) == example
    with pytest.raises(json_format.ParseError, match='no field named "gone"'):
        json_format.ParseDict({"gone": 1}, tf.train.Example())


def test_texts_of_any_length_are_decoded_to_a_fixed_one() -> None:
    assert tf.Session().run(tf.decode_raw(["abc", "d"], tf.uint8, fixed_length=2)).tolist() == [[97, 98], [100, 0]]


@pytest.mark.parametrize(("features", "says"), [
    ({"x": tf.FixedLenFeature([1, None], tf.int64)}, "All dimensions of shape for feature x need to be known"),
    ({}, "Missing: features"), ({"x": tf.FixedLenFeature([None], tf.int64)}, "First dimension of shape for feature x"),
    ({"x": tf.FixedLenSequenceFeature([], tf.int64)}, "requires allow_missing"), ({"x": 3}, "Unsupported")])
def test_wrong_features_are_told_at_once(features: dict, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        tf.parse_single_example(b"", features)


def test_records_are_written_and_read(tmp_path: Path) -> None:
    path = str(tmp_path / "r")
    options = tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.GZIP)
    with tf.python_io.TFRecordWriter(path, options) as writer:
        writer.write(example(x=[1]))
        with pytest.raises(TypeError, match="expected bytes"):
            writer.write(3)
    (text,) = tf.io.tf_record_iterator(path, options)
    assert tf.train.Example.FromString(text).features.feature["x"].int64_list.value == [1]
    with pytest.raises(tf.errors.NotFoundError, match="No such file"):
        list(tf.python_io.tf_record_iterator(str(tmp_path / "none")))
    with pytest.raises(ValueError, match="Not a valid compression_type"):
        tf.io.TFRecordOptions("LZ4")
    assert options.get_compression_type_string(tf.io.TFRecordOptions(options)) == "GZIP"


def test_text_and_fixed_records_are_datasets(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one\ntwo\r\nthree")
    (tmp_path / "b").write_bytes(b"HHabcdefF")
    lines = tf.data.TextLineDataset(tf.data.Dataset.from_tensor_slices([str(tmp_path / "a")]))
    pieces = tf.data.FixedLengthRecordDataset(str(tmp_path / "b"), 3, header_bytes=2, footer_bytes=1)
    session = tf.Session()
    for dataset, expected in ((lines, [b"one", b"two", b"three"]), (pieces, [b"abc", b"def"])):
        item = dataset.make_one_shot_iterator().get_next()
        assert [session.run(item) for _ in expected] == expected
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(item)


def test_tensors_and_files_go_through_texts(tmp_path: Path) -> None:
    session, path = tf.Session(), str(tmp_path / "x.bin")
    session.run(tf.write_file(path, tf.io.serialize_tensor(np.float32([[1, 2]]))))
    assert session.run(tf.io.parse_tensor(tf.read_file(path), tf.float32)).tolist() == [[1, 2]]
    assert session.run(tf.matching_files(str(tmp_path / "*.bin"))).tolist() == [path.encode()]


def test_a_closed_writer_takes_nothing_more(tmp_path) -> None:
    for compression in (None, "GZIP"):
        writer = tf.python_io.TFRecordWriter(str(tmp_path / "x"), tf.python_io.TFRecordOptions(compression))
        writer.write(b"a")
        writer.close()
        writer.close()
        for act in (writer.flush, lambda writer=writer: writer.write(b"b")):
            with pytest.raises(tf.errors.FailedPreconditionError, match="Writer is closed"):
                act()


def test_features_of_any_name_with_defaults_of_as_many_elements() -> None:
    features = {"has a:tricky*name": tf.FixedLenFeature((1, 2, 1), tf.float32, default_value=[3.0, -3.0])}
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(tf.parse_example(["", ""], features, example_names=["in1", "in2"]))
    assert found["has a:tricky*name"].tolist() == [[[[3.0], [-3.0]]]] * 2
    with tf.Graph().as_default(), pytest.raises(ValueError, match="Missing shape for feature a"):
        tf.parse_example([""], {"a": tf.FixedLenFeature(None, tf.float32)})
