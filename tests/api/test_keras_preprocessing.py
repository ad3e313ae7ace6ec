"""tf.keras.preprocessing gives the numbers of TensorFlow 1.15.5, where chance has no part; where it has, in bounds."""
from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import autodiff as tf

TEXTS = ["The cat sat on the mat, the cat!", "A dog; the dog ran.", ["one", "Cat"]]
ASKED = ["the cat and the dog", "ran"]
text, sequence, image = tf.keras.preprocessing.text, tf.keras.preprocessing.sequence, tf.keras.preprocessing.image
IMAGES = np.arange(2 * 4 * 4 * 3.0).reshape(2, 4, 4, 3)


@pytest.mark.parametrize(("options", "numbers", "words"), [
    ({}, [[1, 2, 1, 3], [8]], ["the cat the dog", "ran"]),
    ({"num_words": 4}, [[1, 2, 1, 3], []], ["the cat the dog", ""]),
    ({"num_words": 4, "oov_token": "?"}, [[2, 3, 1, 2, 1], [1]], ["the cat ? the ?", "?"]),
    ({"oov_token": "x"}, [[2, 3, 1, 2, 4], [9]], ["the cat x the dog", "ran"]),
    ({"char_level": True, "lower": False}, [[2, 4, 5, 1, 7, 3, 2, 1, 3, 8, 9, 1, 2, 4, 5, 1, 9, 6, 10], [18, 3, 8]],
     ["t h e   c a t   a n d   t h e   d o g", "r a n"])])
def test_words_become_numbers_and_again_words(options: dict[str, Any], numbers: list[list[int]],
                                              words: list[str]) -> None:
    made = text.Tokenizer(**options)
    made.fit_on_texts(TEXTS)
    for tokenizer in (made, text.tokenizer_from_json(made.to_json())):
        found = tokenizer.texts_to_sequences(ASKED)
        assert found == numbers and tokenizer.sequences_to_texts(found) == words


@pytest.mark.parametrize(("mode", "row"), [
    ("binary", [0, 1, 1, 1]), ("count", [0, 2, 1, 1]), ("freq", [0, 0.5, 0.25, 0.25]),
    ("tfidf", [0, 1.1736, 0.6931, 0.9163])])
def test_texts_become_rows(mode: str, row: list[float]) -> None:
    tokenizer = text.Tokenizer(4)
    tokenizer.fit_on_texts(TEXTS)
    found = tokenizer.texts_to_matrix(["the cat the dog", "on"], mode)
    assert found == pytest.approx(np.array([row, [0] * 4]), abs=1e-4)


def test_words_and_their_hashes() -> None:
    assert text.text_to_word_sequence("Hi, there-you! a_b") == ["hi", "there", "you", "a", "b"]
    assert text.hashing_trick("a b a", 10, "md5") == [2, 5, 2]
    with pytest.raises(ValueError, match="Unknown vectorization mode: some"):
        text.Tokenizer(3).texts_to_matrix(["a"], "some")


def test_windows_of_a_series() -> None:
    made = sequence.TimeseriesGenerator(np.arange(20), 2 * np.arange(20), 4, sampling_rate=2, stride=3, batch_size=3)
    assert [[part.tolist() for part in made[i]] for i in range(len(made))] == [
        [[[0, 2], [3, 5], [6, 8]], [8, 14, 20]], [[[9, 11], [12, 14], [15, 17]], [26, 32, 38]]]
    with pytest.raises(ValueError, match=r"`start_index\+length=30 > end_index=19` is disallowed"):
        sequence.TimeseriesGenerator(np.arange(20), np.arange(20), 30)


def test_pairs_of_neighbours() -> None:
    found = sequence.skipgrams([1, 2, 0, 3], 5, window_size=1, negative_samples=0, shuffle=False)
    assert found == ([[1, 2], [2, 1]], [1, 1])
    pairs, labels = sequence.skipgrams([1, 2, 3, 4], 9, window_size=2, seed=3)
    assert len(pairs) == 20 and sum(labels) == 10 and all(1 <= word < 9 for pair in pairs for word in pair)
    assert sequence.make_sampling_table(6, 1e-3) == pytest.approx(
        [0.03152, 0.03152, 0.05476, 0.07416, 0.09128, 0.10684], abs=1e-5)


@pytest.mark.parametrize(("options", "begins"), [
    ({"rescale": 1 / 7, "samplewise_center": True, "samplewise_std_normalization": True},
     [-1.6963, -1.6241, -1.552, -1.4798, -1.4076]),
    ({"featurewise_center": True, "featurewise_std_normalization": True},
     [-1.6787, -1.6787, -1.6787, -1.5704, -1.5704])])
def test_images_are_standardized(options: dict[str, Any], begins: list[float]) -> None:
    made = image.ImageDataGenerator(**options)
    made.fit(IMAGES)
    flow = made.flow(IMAGES, np.array([0, 1]), batch_size=2, shuffle=False)
    images, targets = next(flow)
    assert images.ravel()[:5] == pytest.approx(begins, abs=1e-4)
    assert targets.tolist() == [0, 1] and len(flow) == 1 and images.dtype == np.float32


def test_images_are_moved() -> None:
    made = image.ImageDataGenerator(width_shift_range=[1], fill_mode="constant", cval=-1.0)
    moved = made.random_transform(IMAGES[0], 2)
    assert (moved == -1).sum() == 12 and {*np.unique(moved[moved >= 0])} <= {*np.unique(IMAGES[0])}
    turned = image.ImageDataGenerator(rotation_range=90, zoom_range=0.5, shear_range=20).random_transform(IMAGES[0], 1)
    assert turned.shape == (4, 4, 3) and {*np.unique(turned)} <= {*np.unique(IMAGES[0])}
    mirrored = [image.ImageDataGenerator(horizontal_flip=True).random_transform(IMAGES[0], seed) for seed in range(8)]
    assert {each[0, 0, 0] for each in mirrored} == {0.0, 9.0}


def test_images_of_folders_are_read_by_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("cat/2.png", "cat/1.jpg", "dog/3.png", "dog/notes.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name.partition(".")[0][-1])
    opened = SimpleNamespace(open=lambda path: SimpleNamespace(convert=lambda mode: SimpleNamespace(
        resize=lambda size, way: np.full((size[1], size[0], 3), float(Path(path).read_text())))),
        Resampling=SimpleNamespace(NEAREST=0))
    monkeypatch.setitem(sys.modules, "PIL", SimpleNamespace(Image=opened))
    flow = image.ImageDataGenerator(rescale=0.5).flow_from_directory(
        str(tmp_path), target_size=(4, 2), batch_size=3, shuffle=False)
    images, targets = next(flow)
    assert images.shape == (3, 4, 2, 3) and images[:, 0, 0, 0].tolist() == [0.5, 1.0, 1.5]
    assert targets.tolist() == [[1, 0], [1, 0], [0, 1]] and flow.class_indices == {"cat": 0, "dog": 1}
    binary = image.ImageDataGenerator().flow_from_directory(str(tmp_path), class_mode="binary", classes=["dog", "cat"])
    assert sorted(next(binary)[1].tolist()) == [0, 1, 1] and binary.samples == 3


def test_a_model_trains_on_them() -> None:
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        model = tf.keras.Sequential([tf.keras.layers.Flatten(input_shape=(4, 4, 3)), tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        flow = image.ImageDataGenerator(rescale=0.01, validation_split=0.5).flow(
            np.concatenate([IMAGES] * 4), np.ones(8), batch_size=2, subset="training", seed=0)
        losses = model.fit_generator(flow, steps_per_epoch=3, epochs=4, verbose=0).history["loss"]
        assert losses[-1] < losses[0]
