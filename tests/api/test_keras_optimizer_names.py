"""Variables of Keras' optimizers: their names and order in TensorFlow 1.15.5."""

from typing import Any

import numpy as np
import pytest

import autodiff as tf

pytestmark = pytest.mark.usefixtures("own_graph")
keras = tf.keras
X = np.ones((4, 3), np.float32)
MADE: dict[str, tuple[str, str]] = {  # settings, slots of the kernel
    "sgd": ("decay learning_rate momentum", ""), "adam": ("beta_1 beta_2 decay learning_rate", "m v"),
    "rmsprop": ("decay learning_rate momentum rho", "rms"), "adagrad": ("decay learning_rate", "accumulator"),
    "adadelta": ("decay learning_rate rho", "accum_grad accum_var"),
    "adamax": ("beta_1 beta_2 decay learning_rate", "m v"),
    "nadam": ("beta_1 beta_2 decay learning_rate momentum_cache", "m v"),
    "ftrl": ("decay l1_regularization_strength l2_regularization_strength learning_rate learning_rate_power",
             "accumulator linear")}


def model(optimizer: Any) -> Any:
    made = keras.Sequential([keras.layers.Dense(1, input_shape=(3,))])
    made.compile(optimizer, "mse")
    return made


def new_names(since: int) -> list[str]:
    return [v.op.name for v in tf.global_variables()][since:]


@pytest.mark.parametrize("kind", MADE)
def test_variables_of_optimizers_are_in_the_scope_of_training(kind: str) -> None:
    settings, slots = (each.split() for each in MADE[kind])
    trained = model(kind)
    trained.train_on_batch(X, X[:, :1])
    scope = f"training/{trained.optimizer.get_name()}"
    pairs = [f"dense/{v}/{s}" for v in ("kernel", "bias") for s in slots] if kind == "ftrl" else [
        f"dense/{v}/{s}" for s in slots for v in ("kernel", "bias")]
    assert new_names(2) == [f"{scope}/{name}" for name in ["iter", *settings, *pairs]]
    kept = ["iter", "momentum_cache"] if kind == "nadam" else ["iter"]
    assert [v.op.name for v in trained.optimizer.weights] == [f"{scope}/{name}" for name in [*kept, *pairs]]


def test_each_training_has_a_scope_of_its_own() -> None:
    first = model("sgd")
    first.fit(X, X[:, :1], verbose=0)
    first.compile(keras.optimizers.SGD(name="mine"), "mse")
    first.fit(X, X[:, :1], verbose=0)
    assert [name for name in new_names(2) if name.endswith("iter")] == ["training/SGD/iter", "training_2/mine/iter"]
    with tf.name_scope("around"):
        model("adam").train_on_batch(X, X[:, :1])
    assert new_names(-1) == ["around/training/Adam/around/dense_1/bias/v"]


def test_without_a_model_the_scope_is_the_optimizers() -> None:
    w = tf.Variable([1.0], name="w", use_resource=True)
    keras.optimizers.SGD(momentum=0.5).apply_gradients([(tf.constant([1.0]), w)])
    assert new_names(1) == ["SGD/iter", "SGD/decay", "SGD/learning_rate", "SGD/momentum", "SGD/w/momentum"]


def test_a_model_that_has_predicted_is_compiled() -> None:
    made = keras.Sequential([keras.layers.Dense(1, input_shape=(3,))])
    assert made.predict(X).shape == (4, 1)
    made.compile("adam", "mse")
    assert made.evaluate(X, made.predict(X), verbose=0) == 0
