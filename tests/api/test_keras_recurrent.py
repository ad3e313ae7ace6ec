"""Keras' layers around cells and layers: names and outputs as in TensorFlow 1.15.5."""

from typing import Any

import numpy as np
import pytest

import autodiff as tf

pytestmark = pytest.mark.usefixtures("own_graph")
keras = tf.keras
layers = keras.layers
A = np.sin(np.arange(24.0)).reshape(2, 3, 4).astype(np.float32)


class MinimalCell(layers.Layer):
    """A cell as Keras' own documentation writes one: it does not say how it begins."""

    def __init__(self, units: int, **options: Any) -> None:
        self.units = self.state_size = units
        super().__init__(**options)

    def build(self, input_shape: Any) -> None:
        self.kernel = self.add_weight(shape=(input_shape[-1], self.units), initializer="uniform", name="kernel")
        self.recurrent_kernel = self.add_weight(shape=(self.units, self.units), name="recurrent_kernel")
        self.built = True

    def call(self, inputs: Any, states: Any) -> Any:
        output = keras.backend.dot(inputs, self.kernel) + keras.backend.dot(states[0], self.recurrent_kernel)
        return output, [output]


class CellOfTwo(MinimalCell):
    """A cell whose output is not like its state; it is told the size of the batch, not the inputs."""

    def __init__(self, units: int) -> None:
        super().__init__(units)
        self.state_size, self.output_size = [units, 2], units + 2

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        return [tf.ones([batch_size, self.units], dtype), tf.zeros([batch_size, 2], dtype)]

    def call(self, inputs: Any, states: Any) -> Any:
        output, _ = super().call(inputs, states)
        return tf.concat([output, states[1]], 1), [output, states[1] + output[:, :2]]


def stacked(x: Any) -> Any:
    x = layers.RNN([layers.GRUCell(2), layers.SimpleRNNCell(3)], return_sequences=True)(x)
    return layers.RNN(layers.GRUCell(2, name="mine"), name="outer")(x)


def at_each_step(x: Any) -> Any:
    x = layers.TimeDistributed(layers.Dense(2))(x)
    return layers.Dense(1)(layers.LSTM(2)(x))


def own(x: Any) -> Any:
    x = layers.RepeatVector(2)(layers.RNN(MinimalCell(3))(x))
    return layers.RNN([MinimalCell(3), MinimalCell(2)], name="second")(x)


def begun(x: Any) -> Any:
    _, *states = layers.LSTM(3, return_state=True)(x)
    return layers.RNN(layers.LSTMCell(3), return_sequences=True)(x, initial_state=states)


ONE, TWO = (f"{{0}}/kernel{i} {{0}}/recurrent_kernel{i} {{0}}/bias{i}" for i in ("", "_1"))
CASES: dict[str, Any] = {
    "stacked": (stacked, f"{ONE} {TWO}".format("rnn") + " " + ONE.format("outer"), [-0.2744, 0.2656, -0.3322, 0.2403]),
    "steps": (at_each_step, "time_distributed/kernel time_distributed/bias " + ONE.format("lstm")
              + " dense_1/kernel dense_1/bias", [1.0218, 1.007]),
    "own": (own, "rnn/kernel rnn/recurrent_kernel second/kernel second/recurrent_kernel second/kernel_1 "
                 "second/recurrent_kernel_1", [-0.152, -0.128, -0.1271, -0.107]),
    "two": (lambda x: layers.RNN(CellOfTwo(3), return_sequences=True)(x), "rnn/kernel rnn/recurrent_kernel",
            [0.552, -0.2609, -0.8339, 0, 0, -0.8343, -0.7264, 0.0493]),
    "tf": (lambda x: layers.RNN(tf.nn.rnn_cell.BasicLSTMCell(3))(x), "basic_lstm_cell/kernel basic_lstm_cell/bias",
           [-0.0555, 0.029, 0.0839]),
    "begun": (begun, ONE.format("lstm") + " " + ONE.format("rnn"), [0.1432, -0.0996, -0.1609, 0.1599, 0, 0.0758])}


def outputs_of(model: Any, inputs: Any = A) -> Any:
    model.set_weights([np.cos(np.arange(value.size) + i).reshape(value.shape)
                       for i, value in enumerate(model.get_weights())])
    return model.predict(inputs).ravel()


@pytest.mark.parametrize("case", CASES)
def test_variables_of_cells_are_named_by_the_layer_around_them(case: str) -> None:
    build, names, outputs = CASES[case]
    x = keras.Input((3, 4))
    model = keras.Model(x, build(x))
    assert [v.op.name for v in tf.global_variables()] == names.split()
    np.testing.assert_allclose(outputs_of(model)[:len(outputs)], outputs, atol=1e-4)


def test_each_direction_has_a_cell_of_its_own() -> None:
    x = keras.Input((3, 4))
    y = layers.Bidirectional(layers.LSTM(3, return_sequences=True))(x)
    y = layers.Bidirectional(layers.RNN(layers.GRUCell(2)))(y)
    assert [v.op.name for v in tf.global_variables()][6:] == " ".join(
        ONE.format(f"bidirectional_1/{way}_rnn") for way in ("forward", "backward")).split()
    np.testing.assert_allclose(outputs_of(keras.Model(x, y))[:4], [0.402, 0.6721, -0.206, -0.1996], atol=1e-4)


@pytest.mark.parametrize("kind", [layers.LSTM, lambda units, **options: layers.RNN(layers.LSTMCell(units), **options)])
def test_an_encoder_that_a_decoder_begins_with_is_part_of_the_model(kind: Any) -> None:
    x, z = keras.Input((3, 4)), keras.Input((2, 4))
    _, *states = kind(3, return_state=True)(x)
    model = keras.Model([x, z], layers.Dense(2)(kind(3, return_sequences=True)(z, initial_state=states)))
    assert len(model.trainable_weights) == 8
    np.testing.assert_allclose(outputs_of(model, [A, A[:, :2]]), [
        1.0409, 0.0524, 0.8438, -0.0246, 1.0735, -0.0178, 0.9797, 0.0413], atol=1e-4)


def test_states_that_are_kept_are_no_weights() -> None:
    x = keras.Input(batch_shape=(2, 3, 4))
    layer = layers.RNN(MinimalCell(3), stateful=True)
    model = keras.Model(x, layer(x))
    model.set_weights([np.cos(np.arange(12.0)).reshape(4, 3), np.sin(np.arange(9.0)).reshape(3, 3)])
    for expected in ([0.8643, 0.5909, -0.2257], [0.8664, 0.5936, -0.225]):
        np.testing.assert_allclose(model.predict(A)[0], expected, atol=1e-4)
    assert [v.op.name for v in tf.global_variables()] == ["rnn/kernel", "rnn/recurrent_kernel", "rnn/Variable"]
