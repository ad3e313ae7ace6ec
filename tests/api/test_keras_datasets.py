"""Keras' data sets: read from the files that it keeps, with nothing but plain values made of pickles."""
import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.files.disk.reading import read_pickle


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / ".keras" / "datasets"
    folder.mkdir(parents=True)
    return folder


def objects(*rows: list[int]) -> Any:
    found = np.empty(len(rows), object)
    found[:] = rows
    return found


def test_photographs_are_read_channels_last(kept: Path) -> None:
    batch = {b"data": np.arange(2 * 3072).reshape(2, 3072).astype(np.uint8), b"labels": [3, 7]}
    (kept / "cifar-10-batches-py").mkdir()
    for name in [*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"]:
        (kept / "cifar-10-batches-py" / name).write_bytes(pickle.dumps(batch))
    (x, y), (tests, truth) = tf.keras.datasets.cifar10.load_data()
    assert x.shape == (10, 32, 32, 3) and y[:4].tolist() == [[3], [7], [3], [7]] and truth.shape == (2, 1)
    assert tests[0, 0, :2].tolist() == [[0, 0, 0], [1, 1, 1]] and tests[1, 0, 0].tolist() == [0, 0, 0]


def test_ranks_of_words_begin_with_a_start_and_rare_ones_are_unknown(kept: Path) -> None:
    np.savez(kept / "imdb.npz", x_train=objects([1, 5, 9], [2]), y_train=[0, 1], x_test=objects([9]), y_test=[1])
    (x, y), (tests, _) = tf.keras.datasets.imdb.load_data(num_words=9)
    assert dict(zip(y.tolist(), x.tolist())) == {0: [1, 4, 8, 2], 1: [1, 5]} and tests.tolist() == [[1, 2]]
    (x, y), _ = tf.keras.datasets.imdb.load_data(maxlen=3, start_char=None)
    assert (x.tolist(), y.tolist()) == ([[5]], [1])


def test_a_missing_file_is_named_with_where_it_is_had_from() -> None:
    with pytest.raises(ValueError, match=r"no file is fetched from https://\S+/boston_housing.npz\n.*put it at .*/"
                       r"\.keras/datasets/boston_housing.npz"):
        tf.keras.datasets.boston_housing.load_data()


def test_nothing_but_plain_values_is_made_of_a_pickle() -> None:
    with pytest.raises(tf.errors.DataLossError, match="it holds a .*Path, which is never made"):
        read_pickle(io.BytesIO(pickle.dumps({"data": Path("a")})))
