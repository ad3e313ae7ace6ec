"""Models of tf.keras as estimators: what scikit-learn asks of one, without scikit-learn."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import autodiff as tf

X = np.random.RandomState(0).randn(120, 4)
layers, wrappers = tf.keras.layers, tf.keras.wrappers.scikit_learn


@pytest.fixture(autouse=True)
def own_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def classifier(units: int = 3, loss: str = "categorical_crossentropy") -> Any:
    model = tf.keras.Sequential([layers.Dense(units, "softmax" if units > 1 else "sigmoid", input_shape=(4,))])
    model.compile(tf.keras.optimizers.Adam(0.1), loss)
    return model


@pytest.mark.parametrize("coded", [False, True])
def test_classes_are_learnt_by_their_names(coded: bool) -> None:
    names = np.array(["a", "b", "c"])[X[:, :3].argmax(1)]
    made = wrappers.KerasClassifier(classifier, epochs=30, batch_size=24, verbose=0)
    y = (names[:, None] == ["a", "b", "c"]).astype(int) if coded else names
    assert len(made.fit(X, y).history["loss"]) == 30
    assert made.score(X, y) > 0.9 and made.predict_proba(X).shape == (120, 3)
    assert {*made.predict(X)} == ({0, 1, 2} if coded else {"a", "b", "c"})


def test_two_classes_share_one_output() -> None:
    made = wrappers.KerasClassifier(classifier, units=1, loss="binary_crossentropy", epochs=20, verbose=0)
    made.fit(X, X[:, 0] > 0)
    assert made.score(X, X[:, 0] > 0) > 0.9
    assert made.predict_proba(X[:5]).sum(1) == pytest.approx(np.ones(5))


def test_a_number_is_learnt() -> None:
    def regressor(rate: float = 0.1) -> Any:
        model = tf.keras.Sequential([layers.Dense(1, input_shape=(4,))])
        model.compile(tf.keras.optimizers.Adam(rate), "mse")
        return model

    made = wrappers.KerasRegressor(build_fn=regressor, nb_epoch=20, verbose=0)
    first = made.fit(X, X[:, 0]).history["loss"]
    assert len(first) == 20 and made.predict(X).shape == (120,) and -0.3 < made.score(X, X[:, 0]) < 0
    again = wrappers.KerasRegressor(**made.set_params(rate=0.01).get_params())
    assert again.get_params()["rate"] == 0.01 and again.build_fn is regressor


def test_an_option_that_nothing_takes_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing is not a legal parameter"):
        wrappers.KerasClassifier(classifier, nothing=1)
