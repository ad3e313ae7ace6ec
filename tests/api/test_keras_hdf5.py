"""Models of Keras in HDF5 files, laid out as Keras 2.3 and TensorFlow 1.15.5 lay them out; h5py where it is there."""
import json
from pathlib import Path

import numpy as np
import pytest

import autodiff as tf
from autodiff.api.keras.saved import hdf5

KERAS, LAYERS = tf.keras, tf.keras.layers
ROWS = np.random.RandomState(0).randn(6, 4).astype(np.float32)
KERNEL, BIAS = ROWS[:4, :2], np.float32([0.5, -0.5])
DENSE = {"name": "d", "trainable": True, "dtype": "float32", "units": 2, "activation": "relu", "use_bias": True,
         "kernel_initializer": {"class_name": "VarianceScaling", "config": {
             "scale": 2.0, "mode": "fan_in", "distribution": "uniform", "seed": None}},
         "bias_initializer": {"class_name": "Zeros", "config": {}}, "bias_regularizer": None,
         "kernel_regularizer": {"class_name": "L1L2", "config": {"l1": 0.0, "l2": 0.1}}, "activity_regularizer": None,
         "kernel_constraint": {"class_name": "MaxNorm", "config": {"max_value": 9, "axis": 0}}, "bias_constraint": None}
MODEL = {"class_name": "Model", "config": {
    "name": "m", "input_layers": [["i", 0, 0]], "output_layers": [["sum", 0, 0]], "layers": [
        {"class_name": "InputLayer", "name": "i", "inbound_nodes": [], "config": {
            "batch_input_shape": [None, 4], "dtype": "float32", "sparse": False, "name": "i"}},
        {"class_name": "Add", "name": "sum", "inbound_nodes": [[["d", 0, 0, {}], ["drop", 0, 0, {}]]],
         "config": {"name": "sum", "trainable": True, "dtype": "float32"}},
        {"class_name": "Dropout", "name": "drop", "inbound_nodes": [[["d", 0, 0, {"training": False}]]],
         "config": {"name": "drop", "trainable": True, "dtype": "float32", "rate": 0.5, "noise_shape": None,
                    "seed": None}},
        {"class_name": "Dense", "name": "d", "inbound_nodes": [[["i", 0, 0, {}]]], "config": DENSE}]}}
TRAINING = {"optimizer_config": {"class_name": "Adam", "config": {"learning_rate": 0.25, "decay": 0.0}},
            "loss": "mse", "metrics": ["mae"], "weighted_metrics": None, "loss_weights": None}


@pytest.fixture(autouse=True)
def _fresh() -> None:
    tf.reset_default_graph()


def test_a_model_that_keras_has_written_is_read_with_its_values_and_how_it_is_trained(tmp_path: Path):
    h5py, path = pytest.importorskip("h5py"), tmp_path / "m.h5"
    with h5py.File(path, "w") as file:
        file.attrs.update({"keras_version": b"2.3.1", "backend": b"tensorflow",
                           "model_config": json.dumps(MODEL), "training_config": json.dumps(TRAINING).encode()})
        group = file.create_group("model_weights")
        group.attrs["layer_names0"], group.attrs["layer_names1"] = [b"i", b"d"], [b"drop", b"sum"]
        for name in ("i", "d", "drop", "sum"):
            group.create_group(name).attrs["weight_names"] = [b"d/kernel:0", b"d/bias:0"] if name == "d" else []
        group["d/d/kernel:0"], group["d/d/bias:0"] = KERNEL, BIAS
    model = KERAS.models.load_model(str(path))
    expected = 2 * np.maximum(ROWS @ KERNEL + BIAS, 0)
    np.testing.assert_allclose(model.predict(ROWS), expected, rtol=1e-5)
    assert (model.optimizer.get_config()["learning_rate"], model.loss) == (0.25, "mse")
    assert len(model.evaluate(ROWS, expected, verbose=0)) == 2
    other = KERAS.Sequential([LAYERS.Dense(2, input_shape=(4,)), LAYERS.Dense(2, name="d")])
    with pytest.raises(ValueError, match="a weight file containing 1 layers into a model with 2 layers"):
        other.load_weights(path)
    with pytest.raises(ValueError, match=r"'d' has other variables.*\(2, 2\).*\(4, 2\)"):
        other.load_weights(path, by_name=True)
    assert KERAS.models.load_model(path, compile=False).optimizer is None


def test_what_is_written_is_read_by_a_program_that_did_not_write_it(tmp_path: Path):
    pytest.importorskip("h5py")
    begin = LAYERS.Input((4,))
    inner = KERAS.Sequential([LAYERS.Dense(4, activation="tanh", input_shape=(4,)), LAYERS.BatchNormalization()])
    steps = LAYERS.Bidirectional(LAYERS.LSTM(2))(LAYERS.Reshape((2, 2))(inner(inner(begin))))
    model = KERAS.Model(begin, LAYERS.Dense(1)(LAYERS.concatenate([steps, begin])))
    model.compile("sgd", "mae")
    model.fit(ROWS, ROWS[:, :1], verbose=0)
    expected = model.predict(ROWS)
    model.save(tmp_path / "m.h5")
    model.save_weights(tmp_path / "w.hdf5")
    tf.reset_default_graph()
    again = KERAS.models.load_model(tmp_path / "m.h5")
    np.testing.assert_allclose(again.predict(ROWS), expected, rtol=1e-5)
    again.set_weights([0 * weight for weight in again.get_weights()])
    again.load_weights(tmp_path / "w.hdf5")
    np.testing.assert_allclose(again.predict(ROWS), expected, rtol=1e-5)


def test_without_h5py_it_is_said_how_to_have_it(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(hdf5, "is_installed", lambda: False)
    path = tmp_path / "m.h5"
    path.write_bytes(b"\x89HDF\r\n\x1a\n")
    with pytest.raises(ImportError, match=r"`load_model` requires h5py.(?s:.*)pip install h5py"):
        KERAS.models.load_model(path)
    with pytest.raises(ImportError, match="`load_weights` requires h5py"):
        KERAS.Sequential([LAYERS.Dense(1, input_shape=(4,))]).load_weights(path)
