"""Layers of Keras that look around, rules, metrics, sequences, models told as text; sums of sizes are TensorFlow's."""
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff as tf

KERAS, LAYERS, K = tf.keras, tf.keras.layers, tf.keras.backend
DRAW = np.random.RandomState(0)
Q, V, W = (DRAW.randn(2, n, 4).astype("f") for n in (3, 5, 5))
IMAGES, FILMS = DRAW.randn(2, 7, 6, 3).astype("f"), DRAW.randn(2, 4, 7, 6, 3).astype("f")
ROWS = DRAW.randn(40, 4).astype("f")
KINDS = (ROWS[:, :1] > 0).astype("f")


@pytest.fixture(autouse=True)
def _fresh() -> None:
    tf.reset_default_graph()


@pytest.mark.parametrize(("layer", "given", "shape", "size"), [
    (lambda: LAYERS.Attention(), [Q, V], (2, 3, 4), 16.0566),
    (lambda: LAYERS.Attention(use_scale=True), [Q, V, W], (2, 3, 4), 11.0262),
    (lambda: LAYERS.Attention(causal=True), [V, V], (2, 5, 4), 33.4255),
    (lambda: LAYERS.AdditiveAttention(), [Q, V, W], (2, 3, 4), 10.6796),
    (lambda: LAYERS.LocallyConnected2D(4, (3, 2), strides=(2, 1), activation="relu"), [IMAGES], (2, 3, 5, 4), 50.6076),
    (lambda: LAYERS.LocallyConnected1D(4, 3, strides=2), [Q.repeat(3, 1)], (2, 4, 4), 26.3918),
    (lambda: LAYERS.ConvLSTM2D(3, 3, padding="same", return_sequences=True), [FILMS], (2, 4, 7, 6, 3), 150.5149),
    (lambda: LAYERS.ConvLSTM2D(3, (3, 2)), [FILMS], (2, 5, 5, 3), 25.1305),
    (lambda: LAYERS.UpSampling3D(2), [FILMS], (2, 8, 14, 12, 3), 6228.2315),
    (lambda: LAYERS.ZeroPadding3D((1, 2, 1)), [FILMS], (2, 6, 11, 8, 3), 778.5289),
    (lambda: LAYERS.Cropping3D(((1, 0), (1, 1), (0, 1))), [FILMS], (2, 3, 5, 5, 3), 347.113),
    (lambda: LAYERS.AlphaDropout(.3), [V], (2, 5, 4), 33.2855),
    (lambda: LAYERS.ActivityRegularization(.1), [V], (2, 5, 4), 33.2855)])
def test_layers_give_what_tensorflows_give(layer, given, shape, size):
    draw, inputs = np.random.RandomState(5), [KERAS.Input(x.shape[1:]) for x in given]
    model = KERAS.Model(inputs, layer()(inputs if len(inputs) > 1 else inputs[0]))
    model.set_weights([np.asarray(draw.randn(*w.shape) * .3) for w in model.get_weights()])
    made = model.predict(given if len(given) > 1 else given[0])
    assert made.shape == shape
    assert np.abs(made).astype(float).sum() == pytest.approx(size, rel=1e-5)


def test_an_alpha_dropout_keeps_mean_and_deviation():
    made = K.get_session().run(LAYERS.AlphaDropout(.2)(tf.nn.selu(tf.random_normal([400, 400])), training=True))
    assert (abs(made.mean()), abs(made.std() - 1)) < (.02, .02)


class Batches(KERAS.utils.Sequence):
    """Four batches with weights."""

    ends = 0

    def __len__(self):
        return 4

    def __getitem__(self, i):
        return ROWS[10 * i:10 * i + 10], KINDS[10 * i:10 * i + 10], np.arange(10.) / 5

    def on_epoch_end(self):
        self.ends += 1


def logistic():
    return KERAS.Sequential([LAYERS.Dense(1, "sigmoid", kernel_initializer="ones", input_shape=(4,))])


def test_a_sequence_trains_by_ftrl_and_weighted_metrics_as_in_tensorflow():
    given, model = Batches(), logistic()
    model.compile(KERAS.optimizers.Ftrl(.1, l1_regularization_strength=.01, l2_regularization_strength=.02,
                                        l2_shrinkage_regularization_strength=.01), "binary_crossentropy",
                  metrics=["mse"], weighted_metrics=["accuracy", "mae"])
    told = model.fit_generator(given, epochs=3, shuffle=False, verbose=0).history
    assert {name: round(sum(values), 4) for name, values in told.items()} == {
        "loss": 1.6451, "mean_squared_error": .575, "weighted_acc": 2.2056, "weighted_mean_absolute_error": 1.3232}
    assert given.ends == 2  # the last pass ends with the training
    assert sum(model.evaluate(given, verbose=0)) == pytest.approx(1.9086, abs=1e-4)
    assert np.shape(model.predict(given)) == (40, 1)


def test_models_are_told_as_text_copied_and_kept(tmp_path: Path):
    model = logistic()
    model.compile("adam", "mse", metrics=["mae"])
    model.fit(ROWS, KINDS, verbose=0)
    other = KERAS.models.model_from_json(model.to_json())
    assert [other.layers[0].activation.__name__, other.count_params()] == ["sigmoid", 5]
    copied = KERAS.Sequential.from_config(model.get_config())
    copied.set_weights(model.get_weights())
    np.testing.assert_array_equal(copied.predict(ROWS), model.predict(ROWS))
    path = str(tmp_path / "model.h5")
    model.save(path)
    expected = model.predict(ROWS)
    model.fit(ROWS, KINDS, verbose=0)
    again = KERAS.models.load_model(path)
    np.testing.assert_array_equal(again.predict(ROWS), expected)
    assert again.evaluate(ROWS, KINDS, verbose=0)[1] < 1
    with pytest.raises(AttributeError, match="not saved by this program"):
        KERAS.models.load_model("other.h5")


def test_callbacks_write_lines_and_end_what_is_nan(tmp_path: Path, capsys):
    model = logistic()
    model.compile(KERAS.optimizers.SGD(.1), "mse")
    path = tmp_path / "log.csv"
    model.fit(ROWS, KINDS, epochs=2, verbose=0, callbacks=[KERAS.callbacks.CSVLogger(path)])
    lines = path.read_text().splitlines()
    assert (lines[0], lines[2][:2], len(lines)) == ("epoch,loss", "1,", 3)
    ended = model.fit(ROWS * np.nan, KINDS, epochs=3, verbose=0, callbacks=[KERAS.callbacks.TerminateOnNaN()])
    assert len(ended.epoch) == 1 and "Invalid loss, terminating training" in capsys.readouterr().out


def test_functions_of_the_backend():
    q, v = K.constant(Q), K.constant(V)
    values = {
        "batch_dot": (K.batch_dot(q, K.permute_dimensions(v, (0, 2, 1))), 43.6576),
        "of vectors": (K.batch_dot(q[:, 0], v[:, 0], axes=1), 3.7851), "by axes": (K.batch_dot(q, v, [2, 2]), 43.6576),
        "std": (K.std(q, axis=1), 5.8251), "var": (K.var(q, keepdims=True), 1.0556),
        "repeated": (K.repeat_elements(q, 2, 1), 41.5642), "repeat": (K.repeat(q[:, 0], 3), 21.1323),
        "switch": (K.switch(q[:, 0, 0] > 0, q, -q), 20.7821), "hard_sigmoid": (K.hard_sigmoid(q), 13.9325),
        "flat": (K.batch_flatten(q), 20.7821), "phase": (K.in_train_phase(q, 0 * q), 0.0)}
    for name, (tensor, size) in values.items():
        assert np.abs(K.eval(tensor)).astype(float).sum() == pytest.approx(size, abs=1e-3), name
    kept = K.variable(np.ones(3))
    moved = K.moving_average_update(kept, K.zeros(3), .9)
    K.get_session().run(moved)
    np.testing.assert_allclose(K.batch_get_value([kept])[0], .9)
    with K.learning_phase_scope(1):
        assert K.in_train_phase(1.0, 2.0) == 1.0


def test_inputs_that_do_not_fit_are_refused_in_kerass_words() -> None:
    def fitted(*inputs: Any, shape: Any = (3,)) -> Any:
        with tf.Graph().as_default():
            x = [tf.keras.Input(shape, name=name) for name in ("a", "b")[:len(inputs[1:]) + 1]]
            y = tf.keras.layers.concatenate(x) if len(x) > 1 else x[0]
            model = tf.keras.Model(x, tf.keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")(y))
            model.compile("sgd", "mse")
            return model.predict(inputs[0])

    rows = np.ones((4, 3))
    for given, words in ((np.ones((4, 3, 1)), "expected a to have 2 dimensions, but got array with shape (4, 3, 1)"),
                         (np.ones((4, 2)), "expected a to have shape (3,) but got array with shape (2,)"),
                         ([rows, rows], "Expected to see 1 array(s), but instead got the following list of 2 arrays"),
                         ({"c": rows}, 'No data provided for "a". Need data for each key in: [\'a\']')):
        with pytest.raises(ValueError, match=re.escape(words)):
            fitted(given)
    assert fitted({"b": 2 * rows, "a": rows * [1, 0, 0]}, None)[0].tolist() == [7.0]  # by names, whatever their order
    with tf.Graph().as_default():
        x, y = tf.keras.Input((3,)), tf.keras.Input((3,), name="other")
        with pytest.raises(ValueError, match='Graph disconnected: .* at layer "other"'):
            tf.keras.Model(x, tf.keras.layers.Dense(1)(y))
        inner = tf.keras.layers.Dense(2)(x)
        assert tf.keras.Model(inner, tf.keras.layers.Dense(1)(inner)).output_shape == (None, 1)
        with pytest.raises(TypeError, match="must be an instance of class Layer. Found: Tensor"):
            tf.keras.Sequential([inner])
    with tf.Graph().as_default(), pytest.raises(ValueError, match="expected ndim=3, found ndim=2"):
        tf.keras.layers.LSTM(2)(tf.zeros([4, 3]))
    with tf.Graph().as_default(), pytest.raises(ValueError, match=r"matching shapes .* \[\(4, 3\), \(4, 3, 1\)\]"):
        tf.keras.layers.concatenate([tf.zeros([4, 3]), tf.zeros([4, 3, 1])])


def test_the_layers_of_a_branching_model_stand_by_how_far_they_are_from_its_outputs() -> None:
    a, b, c = (KERAS.Input((n,), name=name) for name, n in (("a", 4), ("b", 4), ("c", 3)))
    first, second = LAYERS.Dense(3, name="d1")(b), LAYERS.Dense(3, name="d2")(a)
    third = LAYERS.Dense(3, name="d3")(second)
    ends = [LAYERS.Dense(2, name="f")(first), LAYERS.Dense(2, name="e")(LAYERS.add([first, third, c], name="s"))]
    model = KERAS.Model([c, a, b], ends)
    assert [layer.name for layer in model.layers] == ["a", "b", "d2", "d1", "d3", "c", "s", "f", "e"]
    assert model.input_names == ["c", "a", "b"]
    assert [v.name for v in model.weights[::2]] == [f"{name}/kernel:0" for name in ("d2", "d1", "d3", "f", "e")]


def test_a_model_takes_of_what_a_shared_one_adds_only_what_its_own_inputs_make() -> None:
    class Measured(LAYERS.Layer):
        def call(self, x: Any) -> Any:
            self.add_loss(K.mean(K.square(x)), inputs=x)
            return x

    begin = KERAS.Input((4,))
    tower = KERAS.Model(begin, Measured()(begin))
    left, right = KERAS.Input((4,)), KERAS.Input((4,))
    model = KERAS.Model([left, right], LAYERS.subtract([tower(left), tower(right)]))
    model.compile("sgd", "mse")
    assert model.evaluate([ROWS, 2 * ROWS], -ROWS, verbose=0) == pytest.approx(5 * np.square(ROWS).mean(), rel=1e-4)


def test_labels_come_to_losses_in_the_type_of_the_outputs() -> None:
    model = KERAS.Sequential([LAYERS.Dense(1, activation="sigmoid", input_shape=(4,))])
    model.compile("sgd", lambda y, p: K.mean(K.square(y - p)), metrics=[lambda y, p: K.sum(y * K.round(p))])
    assert np.isfinite(model.train_on_batch(ROWS, KINDS.astype(np.int64))).all()


def test_classes_of_a_dataset_are_not_weighed_in_a_graph() -> None:
    def fitted(x: Any, *y: Any, **options: Any) -> Any:
        tf.reset_default_graph()
        model = KERAS.Sequential([LAYERS.Dense(1, activation="sigmoid", input_shape=(4,), kernel_initializer="ones")])
        model.compile("sgd", "binary_crossentropy")
        return model.fit(x() if callable(x) else x, *y, verbose=0, **options).history["loss"]

    def data() -> Any:
        return tf.data.Dataset.from_tensor_slices((ROWS, KINDS)).batch(40)

    weights = {"class_weight": {0: 1.0, 1: 5.0}}
    assert fitted(data, steps_per_epoch=1) == fitted(data, steps_per_epoch=1, **weights)
    assert fitted(ROWS, KINDS) != fitted(ROWS, KINDS, **weights)


def test_a_function_makes_updates_that_are_operations_too() -> None:
    x, v = K.placeholder((None, 4)), K.variable(np.ones((4, 1)))
    loss = K.mean(K.dot(x, v))
    step = K.function([x], [loss], updates=[*KERAS.optimizers.SGD(0.1).get_updates(loss, [v]), tf.no_op(), (v, v)])
    assert step([ROWS])[0] != step([ROWS])[0]


def test_averages_of_a_model_frozen_after_it_was_compiled_move_when_it_is_trained() -> None:
    inner = KERAS.Sequential([LAYERS.BatchNormalization(momentum=0.5, input_shape=(4,)), LAYERS.Dense(1)])
    inner.compile("sgd", "mse")
    inner.trainable = False
    outer = KERAS.Sequential([LAYERS.Dense(4, input_shape=(4,)), inner])
    outer.compile("sgd", "mse")
    mean = inner.layers[0].moving_mean
    inner.train_on_batch(ROWS, KINDS)
    np.testing.assert_allclose(K.get_value(mean), 0.5 * ROWS.mean(0), rtol=1e-4)
    outer.train_on_batch(ROWS, KINDS)
    np.testing.assert_allclose(K.get_value(mean), 0.5 * ROWS.mean(0), rtol=1e-4)


def test_layers_of_one_function_are_told_by_their_settings() -> None:
    for layer in (LAYERS.LeakyReLU(0.1), LAYERS.LeakyReLU(alpha=0.1, name="l"), LAYERS.Dropout(0.25)):
        config = layer.get_config()
        assert "args" not in config and {0.1, 0.25} & {value for value in config.values() if type(value) is float}
        assert type(layer).from_config(config).get_config() == config


# What TensorFlow 1.15.5 made of five rows, of which each step looks some up, in six steps.
BY_ROWS = {
    "nadam": (lambda: KERAS.optimizers.Nadam(0.1),
                [0.405, 0.5012, 0.5045, 0.6022, 0.5891, 0.6871, 0.8425, 0.9276, 1.0044, 1.0059]),
    "adamax": (lambda: KERAS.optimizers.Adamax(0.1),
                [0.3168, 0.4163, 0.3513, 0.4514, 0.5054, 0.6049, 0.8301, 0.9211, 1.0156, 1.0449]),
    "rmsprop": (lambda: KERAS.optimizers.RMSprop(0.1, momentum=0.3, centered=True),
                [1.0112, 1.0304, 1.0755, 1.1065, 0.9801, 1.0471, 1.0599, 1.0084, 0.9528, 0.9377]),
    "ftrl": (lambda: KERAS.optimizers.Ftrl(0.1),
                [0.3091, 0.3903, 0.4081, 0.4803, 0.4646, 0.5173, 0.7044, 0.7485, 0.5183, 0.3321])}


@pytest.mark.parametrize("name", BY_ROWS)
def test_rows_that_no_gradient_reaches_stay_as_tensorflow_has_it(name: str) -> None:
    optimizer, expected = BY_ROWS[name]
    random = np.random.RandomState(0)
    v = tf.Variable(np.arange(10, dtype=np.float32).reshape(5, 2) * 0.1, use_resource=True)
    rows = tf.placeholder(tf.int32, [None])
    step = optimizer().get_updates(tf.reduce_sum(tf.square(tf.nn.embedding_lookup(v, rows) - 1.0)), [v])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(6):
            session.run(step, {rows: random.randint(0, 5, 4)})
        np.testing.assert_allclose(np.ravel(session.run(v)), expected, atol=2e-4)


def test_layers_keep_updates_and_penalties_out_of_collections_as_tensorflow_has_it() -> None:
    layers = tf.keras.layers
    with tf.Graph().as_default() as graph:
        h = layers.BatchNormalization()(tf.placeholder(tf.float32, [None, 4]), training=True)
        dense = layers.Dense(3, kernel_regularizer="l2")
        h = dense(h)
        assert len(dense.losses) == 1 and not tf.losses.get_regularization_losses()
        assert not graph.get_collection(tf.GraphKeys.UPDATE_OPS)
        tf.layers.batch_normalization(h, training=True)
        assert len(graph.get_collection(tf.GraphKeys.UPDATE_OPS)) == 2
