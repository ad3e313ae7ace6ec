"""Lookup tables: filled once or changed, from lists and files, in sessions that each have their own."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from autodiff.contrib import lookup as old

import autodiff as tf
from autodiff import lookup
from autodiff.ops.state import tables

WORDS = ["emerson", "lake", "palmer"]


@pytest.fixture
def session() -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def test_a_static_table(session: Any) -> None:
    table = lookup.StaticHashTable(lookup.KeyValueTensorInitializer(WORDS, [0, 1, 2], value_dtype=tf.int64), -1)
    found = table.lookup(tf.constant([["lake", "no"], ["palmer", "emerson"]]))
    assert found.shape == (2, 2)
    with pytest.raises(tf.errors.FailedPreconditionError, match="Table not initialized"):
        session.run(found)
    for _ in range(2):  # a second time changes nothing
        session.run(tf.tables_initializer())
    assert session.run(found).tolist() == [[1, -1], [2, 0]]
    assert session.run([table.size(), *table.export()])[0] == 3
    with pytest.raises(TypeError, match="Signature mismatch"):
        table.lookup(tf.constant([1]))
    with tf.Session() as other, pytest.raises(tf.errors.FailedPreconditionError):
        other.run(found)


def test_words_that_no_list_has_are_hashed(session: Any) -> None:
    table = old.index_table_from_tensor(WORDS, num_oov_buckets=3)
    sparse = tf.SparseTensor([[0, 0], [1, 1]], ["lake", "king"], [2, 2])
    found = table.lookup(sparse)
    session.run(tf.tables_initializer())
    assert session.run(found).values.tolist() == [1, 4]  # as in TensorFlow 1.15
    assert session.run(table.size()) == 6
    back = old.index_to_string_table_from_tensor(WORDS)
    session.run(tf.tables_initializer())
    assert session.run(back.lookup(tf.constant([2, 7], tf.int64))).tolist() == [b"palmer", b"UNK"]


def test_a_table_of_a_file(session: Any, tmp_path: Path) -> None:
    file = tmp_path / "words"
    file.write_text("a 5\nb 6\n")
    table = old.index_table_from_file(str(file), key_column_index=0, value_column_index=1, delimiter=" ")
    session.run(tf.tables_initializer())
    assert session.run(table.lookup(tf.constant(["b", "x"]))).tolist() == [6, -1]
    lines = old.index_to_string_table_from_file(str(file))
    wrong = old.index_table_from_file(str(file), key_column_index=2)
    longer = old.index_table_from_file(str(file), vocab_size=5)
    session.run(lines.initializer)
    assert session.run(lines.lookup(tf.constant([0], tf.int64))).tolist() == [b"a 5"]
    for table, words in ((wrong, "Invalid number of columns"), (longer, "Invalid vocab_size")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=words):
            session.run(table.initializer)
    with pytest.raises(ValueError, match="vocab_size must be greater than 0, got 0"):
        old.index_table_from_file(str(file), vocab_size=0)


def test_a_table_that_changes(session: Any) -> None:
    table = old.MutableHashTable(tf.string, tf.float32, [0.0, 0.0])
    insert, ask = table.insert(["x", "y", "x"], [[1.0, 1.5], [2.0, 2.5], [3.0, 3.5]]), table.lookup(["x", "z"])
    session.run(insert)
    assert session.run(ask).tolist() == [[3.0, 3.5], [0.0, 0.0]]
    session.run(table.remove(tf.constant("x")))
    keys, values = session.run(table.export())
    assert keys.tolist() == [b"y"]
    np.testing.assert_array_equal(values, [[2.0, 2.5]])


def test_keys_that_are_vectors(session: Any) -> None:
    table = lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, empty_key=[0, 0], deleted_key=[-1, -1])
    session.run(table.insert([[1, 2], [256, 1]], [5, 6]))
    assert session.run(table.lookup([[256, 1], [1, 2], [2, 1]])).tolist() == [6, 5, -1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="empty_key"):
        session.run(table.lookup([[0, 0]]))


def test_a_table_made_in_a_loop_is_made_once(session: Any) -> None:
    def twice(x: tf.Tensor) -> tf.Tensor:
        return lookup.StaticHashTable(lookup.KeyValueTensorInitializer([1, 2], [5, 10]), -1).lookup(x)

    found = tf.map_fn(twice, np.int32([2, 4, 1]))
    session.run(tf.tables_initializer())
    assert session.run(found).tolist() == [10, -1, 5]


def test_a_dense_table_is_exported_with_its_buckets(session: Any) -> None:
    table = lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, empty_key=0, deleted_key=-1,
                                               initial_num_buckets=4)
    keys, values = table.export()

    def exported() -> list[int]:
        assert keys.shape.as_list() == values.shape.as_list() == [None, 1]
        return sorted(session.run(keys)[:, 0].tolist())

    session.run(table.insert([11, 12, 13], [0, 1, 2]))
    assert exported() == [0, 11, 12, 13]
    session.run(table.remove(tf.constant([12], tf.int64)))
    assert exported() == [-1, 0, 11, 13] and len(session.run(values)) == 4
    session.run(table.insert([13, 14, 15, 16, 17], [3, 4, 5, 6, 7]))
    assert exported() == [0] * 10 + [11, 13, 14, 15, 16, 17]
    held = session.run([keys, values])
    session.run(tf.raw_ops.LookupTableImportV2(table_handle=table.resource_handle, keys=held[0], values=held[1]))
    assert len(exported()) == 16 and session.run(table.size()) == 6


@pytest.mark.parametrize(("keys", "places"), [
    (np.array([5, 6, 13, 21, -3]), [5, 6, 0, 3, 7]),
    (np.array([b"a", b"bc", b"def", b"x", b"longer words here"], object), [4, 6, 1, 0, 5]),
    (np.array([[1, 2], [3, 4], [2, 1], [9, 9], [1, 10]]), [3, 7, 4, 0, 6])])
def test_keys_are_saved_where_tensorflow_looks_for_them(keys: np.ndarray, places: list[int]) -> None:
    """The places that TensorFlow 1.15.5 gave them in its checkpoints."""
    assert tables._buckets_of(keys, 8).tolist() == places
    assert sorted(tables._buckets_of(np.arange(7), 7).tolist()) == list(range(7))
