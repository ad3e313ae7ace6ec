"""tf.train.warm_start by vocabularies: rows and columns that an older model had for the same words."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.api.train.warm_start import load_and_remap_matrix_initializer


@pytest.fixture
def older(tmp_path: Path) -> str:
    """A checkpoint of a matrix with a row for each of `a b c d`, and of a vector."""
    for name, words in ("old", "a b c d"), ("new", "d c b a e"):
        (tmp_path / name).write_text("\n".join(words.split()))
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("w", initializer=np.float32([[1, 10], [2, 20], [3, 30], [4, 40]]))
        tf.get_variable("slow/v", initializer=[5.0])
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, str(tmp_path / "model"))
    return str(tmp_path)


def started(older: str, shape: list[int], **asked: Any) -> Any:
    """What a matrix `w` of this shape, in two parts, begins with, and the vector."""
    with tf.Graph().as_default(), tf.Session() as session:
        w = tf.get_variable("w", shape, initializer=tf.constant_initializer(9.0),
                            partitioner=tf.fixed_size_partitioner(2))
        v = tf.get_variable("slow/v", [1])
        tf.train.warm_start(older, **asked)
        session.run(tf.global_variables_initializer())
        return session.run((w.as_tensor(), v))


def info(older: str, size: int, buckets: int = 0, axis: int = 0, old: int = -1) -> tf.train.VocabInfo:
    return tf.train.VocabInfo(f"{older}/new", size, buckets, f"{older}/old", old, tf.ones_initializer(), axis)


@pytest.mark.parametrize(("shape", "asked", "expected"), [
    ([5, 2], {"size": 5}, [[4, 40], [3, 30], [2, 20], [1, 10], [1, 1]]),
    ([6, 2], {"size": 5, "buckets": 1, "old": 2}, [[1, 1], [1, 1], [2, 20], [1, 10], [1, 1], [1, 1]]),
])
def test_rows_follow_their_words(older: str, shape: list[int], asked: Any, expected: Any) -> None:
    w, v = started(older, shape, var_name_to_vocab_info={"w": info(older, **asked)})
    assert w.tolist() == expected
    assert v.tolist() == [5.0]


def test_columns_follow_their_words_and_others_are_left(older: str) -> None:
    Path(older, "old").write_text("x\na")
    w, v = started(older, [4, 5], vars_to_warm_start=None,
                   var_name_to_vocab_info={"w": info(older, 5, axis=1)})
    assert w.tolist() == [[1, 1, 1, row * 10.0, 1] for row in (1, 2, 3, 4)]
    assert v.tolist() != [5.0]


def test_patterns_match_the_names_of_variables_with_their_output(older: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("slow/v", initializer=[0.0])
        tf.train.warm_start(older, ["slow/v[^/]"])
        session.run(tf.global_variables_initializer())
        assert session.run(v).tolist() == [5.0]


@pytest.mark.parametrize(("asked", "message"), [
    ({"var_name_to_vocab_info": {"z": tf.train.VocabInfo("n", 1, 0, "o")}}, "vocab_info that were not used"),
    ({"var_name_to_prev_var_name": {"z": "y"}}, "var_name_to_prev_var_name that were not used"),
    ({"vars_to_warm_start": 3}, "must be a pattern, or a list"),
])
def test_what_is_asked_for_must_be_there(older: str, asked: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        started(older, [4, 2], **asked)


@pytest.mark.parametrize(("shape", "dtype", "error"), [
    ([4], "float32", ValueError), ([4, 3], "float32", ValueError), ([7, 2], "float32", ValueError),
    ([4, 2], "int32", TypeError),
])
def test_the_initializer_refuses_other_matrices(older: str, shape: list[int], dtype: str, error: type) -> None:
    begin = load_and_remap_matrix_initializer(f"{older}/model", "w", 4, 2, new_row_vocab_file=f"{older}/old",
                                              old_row_vocab_file=f"{older}/old")
    with tf.Graph().as_default(), pytest.raises(error):
        begin(shape, dtype)


def test_columns_of_features_tell_their_variables() -> None:
    with tf.Graph().as_default():
        known = tf.feature_column.categorical_column_with_vocabulary_file("k", "words", 4)
        made: dict[Any, Any] = {}
        tf.feature_column.linear_model({"k": tf.sparse_placeholder(tf.string)}, [known], cols_to_vars=made)
        assert [v.op.name for v in made[known]] == ["linear_model/k/weights"]
        assert [v.op.name for v in made["bias"]] == ["linear_model/bias_weights"]
        assert (known.vocabulary_file, known.vocabulary_size, known.num_oov_buckets) == ("words", 4, 0)
