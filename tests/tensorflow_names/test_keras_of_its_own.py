"""`import keras`, as scripts of TensorFlow 1's time have it: tf.keras, with Keras' own rates and words of Keras 1."""
from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.tensorflow_names.alias import is_answered, standing_in


@pytest.fixture
def keras() -> Iterator[Any]:
    with standing_in(shadow=True), tf.Graph().as_default():
        yield importlib.import_module("keras")


@pytest.mark.parametrize("line", [
    "from keras.models import Sequential, Model, load_model", "from keras.layers import Dense, Input, concatenate",
    "from keras.layers.core import Dense, Dropout, Activation", "from keras.layers.convolutional import Convolution2D",
    "from keras.layers.normalization import BatchNormalization", "from keras.layers.embeddings import Embedding",
    "from keras.layers.advanced_activations import LeakyReLU", "from keras.layers.recurrent import GRU",
    "from keras.layers.wrappers import TimeDistributed", "from keras.layers.merge import add",
    "from keras.engine.topology import Layer", "from keras.engine import InputSpec", "from keras.utils import np_utils",
    "from keras.utils.np_utils import to_categorical", "from keras.optimizers import SGD, Adadelta, Adam",
    "from keras.objectives import mean_squared_error", "from keras.regularizers import l2",
    "import keras.backend as K", "from keras.callbacks import EarlyStopping",
    "from keras.preprocessing import sequence", "from keras import losses", "from keras.constraints import maxnorm",
    "from keras.utils import get_file, plot_model", "from keras.wrappers.scikit_learn import KerasClassifier"])
@pytest.mark.usefixtures("keras")
def test_its_modules_have_their_names(line: str) -> None:
    exec(line, {})


def test_what_is_lacking_is_told_with_its_name(keras: Any) -> None:
    with pytest.raises(ModuleNotFoundError, match=r"tf\.keras\.nothing"):
        importlib.import_module("keras.nothing")
    with pytest.raises(AttributeError, match=r"keras\.layers\.Nothing"):
        _ = keras.layers.Nothing


def test_keras_on_another_framework_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERAS_BACKEND", "torch")
    assert not is_answered("keras.models") and is_answered("tensorflow.keras")


@pytest.mark.parametrize(("name", "rate"), [("adadelta", 1.0), ("adagrad", 0.01), ("adamax", 0.002), ("nadam", 0.002),
                                            ("sgd", 0.01), ("adam", 0.001), ("rmsprop", 0.001)])
def test_rates_that_are_not_given_are_those_of_keras(keras: Any, name: str, rate: float) -> None:
    model = keras.models.Sequential([keras.layers.Dense(1, input_dim=2)])
    model.compile(name, "mse")
    model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0)
    assert keras.backend.get_value(model.optimizer.lr) == pytest.approx(rate)
    kind = type(model.optimizer)
    assert keras.backend.get_value(kind(lr=0.25).lr) == keras.backend.get_value(kind(0.25).lr) == 0.25


def test_the_words_of_keras_1(keras: Any) -> None:
    layers, regularizers = keras.layers, keras.regularizers
    model = keras.models.Sequential()
    model.add(layers.Convolution2D(4, 3, 3, border_mode="same", subsample=(2, 2), dim_ordering="tf", init="he_normal",
                                   W_regularizer=regularizers.l2(0.01), input_shape=(8, 8, 1)))
    model.add(layers.MaxPooling2D((2, 2), border_mode="valid"))
    model.add(layers.Flatten())
    model.add(layers.Dropout(p=0.0))
    model.add(layers.Dense(output_dim=3, init="uniform", bias=False, activation="softmax"))
    model.compile(loss="categorical_crossentropy", optimizer="sgd")
    history = model.fit(np.ones((4, 8, 8, 1)), np.eye(3)[[0, 1, 2, 0]], nb_epoch=3, verbose=0).history
    assert len(history["loss"]) == 3 and model.output_shape == (None, 3)
    assert [w.shape.as_list() for w in model.weights] == [[3, 3, 1, 4], [4], [16, 3]]
    assert len(model.losses) == 1 and isinstance(model, tf.keras.Sequential)
    cell = keras.models.Sequential([layers.LSTM(output_dim=2, inner_activation="sigmoid", dropout_W=0.5, input_dim=3,
                                                input_length=5)])
    assert cell.input_shape == (None, 5, 3) and cell.output_shape == (None, 2)
    x = layers.Input((3,))
    assert keras.models.Model(input=x, output=layers.Dense(2)(x)).output_shape == (None, 2)


def test_adagrad_divides_by_gradients_alone(keras: Any) -> None:
    model = keras.models.Sequential([keras.layers.Dense(1, input_dim=1, use_bias=False, kernel_initializer="ones")])
    model.compile("adagrad", "mse")
    model.fit(np.full((1, 1), 1.0), np.full((1, 1), 3.0), verbose=0)  # gradient -4: the step is the rate
    assert model.get_weights()[0].item() == pytest.approx(1.01, abs=1e-6)


def test_a_clipping_by_0_is_none(keras: Any) -> None:
    x = tf.Variable([3.0, 4.0])
    step = keras.optimizers.SGD(1.0, clipnorm=0.0, clipvalue=0.0).minimize(tf.reduce_sum(x * x) / 2)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        assert session.run(x).tolist() == [0.0, 0.0]


def test_layers_are_made_again_of_their_settings(keras: Any) -> None:
    model = keras.models.Sequential([keras.layers.Convolution2D(4, 3, 3, init="zeros", input_shape=(8, 8, 1)),
                                     keras.layers.Flatten(), keras.layers.Dense(output_dim=2)])
    again = keras.models.model_from_json(model.to_json())
    assert again.count_params() == model.count_params() and again.layers[0].get_config()["filters"] == 4


def test_files_are_those_that_are_there(keras: Any, tmp_path: Path) -> None:
    (tmp_path / "datasets").mkdir()
    (tmp_path / "datasets" / "a.txt").write_text("words")
    assert keras.utils.get_file("a.txt", "http://x/a.txt", cache_dir=str(tmp_path)).endswith("a.txt")
    with pytest.raises(ValueError, match="no file is fetched from http://x/b.txt"):
        keras.utils.get_file("b.txt", "http://x/b.txt", cache_dir=str(tmp_path))
    with pytest.raises(ImportError, match="Failed to import pydot"):
        keras.utils.plot_model(None)
