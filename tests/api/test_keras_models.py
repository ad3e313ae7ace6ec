"""tf.keras: models built in three ways, trained on what TensorFlow 1.15.5 computed, callbacks, cells and layers."""
from collections.abc import Iterator

import numpy as np
import pytest

import autodiff as tf
from autodiff.runtime.eager import eager_mode

KERAS = tf.keras
ROWS = np.random.RandomState(0).randn(60, 5).astype(np.float32)
LABELS = (ROWS.sum(1) > 0).astype(np.int32)
HOT = KERAS.utils.to_categorical(LABELS, 2)


@pytest.fixture(autouse=True)
def _fresh() -> None:
    tf.reset_default_graph()


def given(seed, *shape):
    return tf.constant_initializer(np.random.RandomState(seed).randn(*shape).astype(np.float32) * 0.4)


def classifier(last="softmax"):
    return KERAS.Sequential([
        KERAS.layers.Dense(4, activation="tanh", input_shape=(5,), kernel_initializer=given(1, 5, 4),
                           kernel_regularizer=KERAS.regularizers.l2(0.01)),
        KERAS.layers.Dense(2, activation=last, kernel_initializer=given(2, 4, 2))])


def fitted(model, targets=LABELS, **options):
    return model.fit(ROWS, targets, batch_size=16, epochs=3, verbose=0, shuffle=False, validation_split=0.2,
                     **options).history


# What TensorFlow 1.15.5 computed from the same initial weights.
BY_OPTIMIZER = {
    "sgd": ([0.8949, 0.8750, 0.8557], [1.1161, 1.1049, 1.0940]),
    "rmsprop": ([0.8931, 0.8742, 0.8608], [1.1152, 1.1071, 1.1003]),
    "adam": ([0.8982, 0.8887, 0.8794], [1.1228, 1.1176, 1.1124]),
    "adagrad": ([0.8986, 0.8928, 0.8889], [1.1238, 1.1214, 1.1196]),
}


@pytest.mark.parametrize("name", BY_OPTIMIZER)
def test_losses_of_epochs_are_tensorflows(name):
    model = classifier()
    model.compile(name, "sparse_categorical_crossentropy", metrics=["accuracy", "mae"])
    history = fitted(model)
    assert list(history) == ["loss", "acc", "mean_absolute_error", "val_loss", "val_acc", "val_mean_absolute_error"]
    np.testing.assert_allclose([history["loss"], history["val_loss"]], BY_OPTIMIZER[name], atol=6e-5)
    if name == "sgd":
        np.testing.assert_allclose(model.evaluate(ROWS, LABELS, verbose=0), [0.8928, 0.35, 0.5], atol=6e-5)
        np.testing.assert_allclose(model.predict(ROWS[:1]), [[0.5303, 0.4697]], atol=6e-5)
        np.testing.assert_allclose(model.get_weights()[1], [0.0004, 0.0025, 0.0011, -0.0015], atol=6e-5)


def test_several_inputs_and_outputs_through_recurrent_layers_are_tensorflows():
    layers, random = KERAS.layers, np.random.RandomState(0)
    random.randn(60, 5)
    a, b = layers.Input((4, 3)), KERAS.Input(shape=(4,), dtype="int32")
    both = layers.Concatenate()([a, layers.Embedding(7, 3, embeddings_initializer=given(3, 7, 3))(b)])
    sequence = layers.LSTM(3, kernel_initializer=given(4, 6, 12), recurrent_initializer=given(5, 3, 12),
                           return_sequences=True)(both)
    last = layers.GRU(3, kernel_initializer=given(6, 3, 9), recurrent_initializer=given(7, 3, 9))(sequence)
    ways = layers.Bidirectional(layers.SimpleRNN(2, kernel_initializer=given(8, 6, 2),
                                                 recurrent_initializer=given(9, 2, 2)))(both)
    added = layers.add([last, layers.Dense(3, kernel_initializer=given(11, 4, 3))(ways)])
    one = layers.Dense(1, name="one", kernel_initializer=given(10, 3, 1))(added)
    normal = layers.BatchNormalization()(layers.Dropout(0.0)(last))
    two = layers.Dense(2, activation="softmax", name="two", kernel_initializer=given(12, 3, 2))(normal)
    model = KERAS.Model([a, b], [one, two])
    model.compile("adam", {"one": "mse", "two": "categorical_crossentropy"}, metrics={"two": ["accuracy"]},
                  loss_weights=[1.0, 0.5])
    x = [random.randn(20, 4, 3).astype(np.float32), random.randint(0, 7, (20, 4))]
    y = [random.randn(20, 1), KERAS.utils.to_categorical(random.randint(0, 2, 20), 2)]
    history = model.fit(x, y, batch_size=8, epochs=2, verbose=0, shuffle=False).history
    np.testing.assert_allclose([history[name] for name in ("loss", "one_loss", "two_loss", "two_acc")],
                               [[1.0299, 1.0178], [0.7223, 0.7115], [0.6696, 0.6641], [0.65, 0.65]], atol=6e-5)
    made = model.predict(x)
    np.testing.assert_allclose(made[0][:2, 0], [-0.6146, 0.8029], atol=6e-5)
    np.testing.assert_allclose(made[1][:2], [[0.5187, 0.4813], [0.5089, 0.4911]], atol=6e-5)
    assert [v.op.name for v in model.trainable_weights][:4] == [
        "embedding/embeddings", "lstm/kernel", "lstm/recurrent_kernel", "lstm/bias"]
    assert model.get_layer("one").units == 1
    replayed = model([tf.constant(x[0]), tf.constant(x[1])])
    np.testing.assert_allclose(KERAS.backend.get_session().run(replayed[0]), made[0], rtol=1e-5)


class Own(KERAS.Model):
    """A model of one's own, with a layer in a list."""

    def __init__(self):
        super().__init__()
        self.first = KERAS.layers.Dense(3, activation="relu", kernel_initializer=given(1, 5, 3))
        self.more = [KERAS.layers.Dense(2, kernel_initializer=given(2, 3, 2))]

    def call(self, x, training=None):
        return tf.nn.softmax(self.more[0](self.first(x)))


def test_a_model_of_ones_own_is_trained_by_generators_and_datasets_and_saved(tmp_path):
    model = Own()
    model.compile(tf.train.GradientDescentOptimizer(0.1), "categorical_crossentropy")
    generated = model.fit_generator(iter(lambda: (ROWS[:20], HOT[:20]), None), steps_per_epoch=2, epochs=2, verbose=0)
    data = tf.data.Dataset.from_tensor_slices((ROWS[:20], HOT[:20])).batch(20).repeat()
    further = model.fit(data, steps_per_epoch=2, verbose=0)
    losses = [*generated.history["loss"], *further.history["loss"]]
    assert losses == sorted(losses, reverse=True) and len(losses) == 3
    kept = model.get_weights()
    model.save_weights(tmp_path / "w")
    model.set_weights([0 * weight for weight in kept])
    model.load_weights(tmp_path / "w")
    for before, after in zip(kept, model.get_weights()):
        np.testing.assert_array_equal(before, after)
    model.save_weights(tmp_path / "w.h5")
    model.load_weights(tmp_path / "w.h5")


def test_callbacks_stop_schedule_and_keep(tmp_path, capsys):
    model, seen = classifier(), []
    model.compile("adam", "sparse_categorical_crossentropy")
    history = model.fit(ROWS, LABELS, epochs=9, batch_size=30, validation_data=(ROWS, 1 - LABELS), callbacks=[
        KERAS.callbacks.EarlyStopping("val_loss", patience=1, restore_best_weights=True),
        KERAS.callbacks.LearningRateScheduler(lambda epoch: 0.1 / (epoch + 1)),
        KERAS.callbacks.TensorBoard(str(tmp_path)),
        KERAS.callbacks.LambdaCallback(on_batch_end=lambda batch, logs: seen.append((batch, logs["size"])))]).history
    np.testing.assert_allclose(history["lr"], [0.1, 0.05], rtol=1e-6)
    assert len(history["loss"]) == 2 and seen == [(0, 30), (1, 30)] * 2
    assert "Epoch 2/9" in capsys.readouterr().out
    assert [each.name.split(".")[1] for each in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize(("options", "drawn"), [({}, 0.313274), ({"shuffle": False}, 0.999041)])
def test_validation_draws_an_order_of_its_own(options, drawn):
    """The next number of np.random after a fit of 10 rows, validated with 7, is that of TensorFlow 1.15."""
    model, rows = KERAS.Sequential([KERAS.layers.Dense(1, input_dim=1)]), np.arange(10.0)[:, None]
    model.compile("sgd", "mse")
    np.random.seed(1)
    model.fit(rows, rows, epochs=1, batch_size=4, verbose=0, validation_data=(rows[:7], rows[:7]), **options)
    model.evaluate(rows, rows, verbose=0)
    np.testing.assert_allclose(np.random.rand(), drawn, rtol=1e-5)


@pytest.mark.parametrize("mode", ["min", "max"])
def test_callbacks_begin_anew_with_each_training(mode):
    stop = KERAS.callbacks.EarlyStopping("loss", patience=2, mode=mode, restore_best_weights=True)
    plateau = KERAS.callbacks.ReduceLROnPlateau("loss", patience=2, mode=mode)
    for each in (stop, plateau):
        each.set_model(classifier())
        each.best, each.wait = (0.0 if mode == "min" else 9.0), 1  # of a training before
        each.on_train_begin()
        assert each.best == (np.inf if mode == "min" else -np.inf) and each.wait == 0
    stop.on_epoch_end(0, {"loss": 0.5})
    assert stop.best == 0.5 and stop.wait == 0 and len(stop.best_weights) == len(stop.model.get_weights())


def test_layers_of_shapes_and_merges():
    layers, x = KERAS.layers, np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4) - 5
    with tf.Session() as session:
        found = session.run([
            layers.ZeroPadding2D(1)(x), layers.UpSampling2D((2, 1))(x), layers.GlobalAveragePooling2D()(x),
            layers.Reshape((3, -1))(x), layers.Permute((2, 3, 1))(x), layers.RepeatVector(2)(x[:, 0, 0]),
            layers.LeakyReLU(0.5)(x), layers.ReLU(3.0)(x), layers.subtract([x, 2 * x]), layers.Average()([x, 3 * x]),
            layers.TimeDistributed(layers.Flatten())(x)])
    wanted = [np.pad(x, [(0, 0), (1, 1), (1, 1), (0, 0)]), x.repeat(2, 1), x.mean((1, 2)), x.reshape(1, 3, 8),
              x.transpose(0, 2, 3, 1), x[:, [0, 0], 0], np.where(x > 0, x, x / 2), x.clip(0, 3), -x, 2 * x,
              x.reshape(1, 2, 12)]
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other)


def test_eager_training_and_cells_are_tensorflows():
    layers = KERAS.layers
    with eager_mode():
        model = KERAS.Sequential([layers.Dense(4, tf.nn.relu, input_shape=(5,), kernel_initializer=given(1, 5, 4)),
                                  layers.Dropout(0.0), layers.Dense(2, kernel_initializer=given(2, 4, 2))])
        losses, ours, keras = [], tf.train.AdamOptimizer(0.01), KERAS.optimizers.Adam(0.01)
        for rows, labels in tf.data.Dataset.from_tensor_slices((ROWS, LABELS)).batch(20):
            with tf.GradientTape() as tape:
                each = KERAS.losses.sparse_categorical_crossentropy(labels, model(rows), from_logits=True)
                loss = tf.reduce_mean(each)
            gradients = tape.gradient(loss, model.variables)
            ours.apply_gradients(zip(gradients, model.variables))
            keras.apply_gradients(zip(gradients, model.variables))
            losses.append(float(loss))
        np.testing.assert_allclose(losses, [0.81073, 0.67849, 0.96325], atol=1e-5)
        model.compile(KERAS.optimizers.SGD(0.1), KERAS.losses.SparseCategoricalCrossentropy(from_logits=True), ["acc"])
        history = model.fit(ROWS, LABELS, epochs=2, batch_size=20, shuffle=False, verbose=0).history
        np.testing.assert_allclose([history["loss"], history["acc"]], [[0.6782, 0.594], [0.6833, 0.7333]], atol=6e-5)
        found = model.evaluate(tf.constant(ROWS), tf.constant(LABELS), verbose=0)
        np.testing.assert_allclose(found, [0.5462, 0.7667], atol=6e-5)
        assert KERAS.metrics.Mean()([1.0, 5.0]).numpy() == 3
        ones = tf.ones([1, 3, 4])
        cell = layers.SimpleRNNCell(2, kernel_initializer=given(3, 4, 2), recurrent_initializer=given(4, 2, 2))
        np.testing.assert_allclose(layers.RNN(cell)(ones).numpy(), [[0.7342, -0.7766]], atol=6e-5)
        stacked = layers.StackedRNNCells([
            layers.GRUCell(2, kernel_initializer=given(3, 4, 6), recurrent_initializer=given(4, 2, 6)),
            layers.LSTMCell(2, kernel_initializer=given(5, 2, 8), recurrent_initializer=given(6, 2, 8))])
        np.testing.assert_allclose(layers.RNN(stacked)(ones).numpy(), [[0.0134, -0.0724]], atol=6e-5)


@pytest.mark.parametrize("wrong, words", [
    (lambda: classifier().fit(ROWS, LABELS), "You must compile your model"),
    (lambda: KERAS.Sequential([3]), "must be an instance of class Layer"),
    (lambda: KERAS.optimizers.get("sdg"), "Could not interpret optimizer identifier: sdg"),
    (lambda: KERAS.optimizers.SGD(rate=1), "Unexpected keyword argument passed to optimizer: rate"),
    (lambda: KERAS.losses.get("mes"), "Unknown loss function:mes"),
    (lambda: classifier().get_layer("none"), "No such layer: none"),
    (lambda: classifier().set_weights([]), "was expecting 4 weights"),
])
def test_what_keras_refuses(wrong, words):
    with pytest.raises((ValueError, TypeError, RuntimeError, AttributeError), match=words):
        wrong()


def test_ops_of_a_sequential_model_have_the_lines_of_their_layers():
    model = classifier()
    after = model(tf.ones([2, 5])).op
    first, second, *again = (op.site.line for op in tf.get_default_graph().get_operations() if op.type == "MatMul")
    assert second == first + 2 and again == [first, second]  # the first layer stands on two lines
    assert after.site.line == second


def test_a_model_trains_what_was_trainable_when_it_was_compiled():
    critic = KERAS.Sequential([KERAS.layers.Dense(1, "sigmoid", input_dim=2)])
    critic.compile("sgd", "binary_crossentropy")
    critic.trainable = False
    both = KERAS.Sequential([KERAS.layers.Dense(2, input_dim=3), critic])
    both.compile("sgd", "binary_crossentropy")
    steps = (both, np.ones((4, 3))), (critic, np.ones((4, 2)))
    for model, x in steps:
        before = critic.get_weights()
        model.train_on_batch(x, np.ones((4, 1)))
        assert np.array_equal(critic.get_weights()[0], before[0]) == (model is both)


def test_a_model_makes_the_updates_of_its_own_inputs_and_notes_what_changed_since_compile():
    maker = KERAS.Sequential([KERAS.layers.BatchNormalization(input_shape=(3,)), KERAS.layers.Dense(2)])
    critic = KERAS.Sequential([KERAS.layers.Dense(1, "sigmoid", input_dim=2)])
    critic.compile("sgd", "mse")
    critic.layers[0].trainable = False
    z = KERAS.Input((3,))
    both = KERAS.Model(z, critic(maker(z)))
    both.compile("sgd", "mse")
    both.train_on_batch(np.ones((4, 3)), np.ones((4, 1)))  # the maker's own input has no value
    np.testing.assert_allclose(maker.layers[0].get_weights()[2], np.full(3, 0.01), rtol=1e-5)
    critic.train_on_batch(np.ones((4, 2)), np.ones((4, 1)))
    assert not both.changed and critic.changed == critic.weights


def test_a_model_all_of_which_is_frozen_trains_on_as_it_is():
    model = classifier()
    model.trainable = False
    model.compile("sgd", "sparse_categorical_crossentropy")
    before, losses = model.get_weights(), model.fit(ROWS, LABELS, 60, 2, 0).history["loss"]
    assert np.isclose(*losses, rtol=1e-6) and all(map(np.array_equal, before, model.get_weights()))  # rows are shuffled


def test_metrics_are_kept_over_batches_as_tensorflow_keeps_them() -> None:
    metrics, random = tf.keras.metrics, np.random.RandomState(0)
    batches = []
    for _ in range(2):
        batches.append((random.randint(0, 2, (6, 3)).astype("f"), random.rand(6, 3).astype("f"), random.rand(6)))
    session = tf.keras.backend.get_session
    for made, expected in (
            (metrics.AUC(), [0.49529, 0.49501]), (metrics.AUC(curve="PR"), [0.5624, 0.52573]),
            (metrics.AUC(10, summation_method="minoring"), [0.42528, 0.44272]),
            (metrics.AUC(curve="PR", summation_method="majoring", thresholds=[.3, .6]), [0.52461, 0.46536]),
            (metrics.Precision(), [0.54588, 0.46173]), (metrics.Precision(top_k=2), [0.5191, 0.44524]),
            (metrics.Recall([.2, .7]), [[0.75345, 0.4398], [0.78853, 0.36873]]),
            (metrics.TruePositives(), [3.35496, 3.49314]), (metrics.Hinge(), [0.96062, 1.04052]),
            (metrics.TopKCategoricalAccuracy(2), [0.5572, 0.5702])):
        for (true, predicted, weights), value in zip(batches, expected, strict=True):
            update = made.update_state(true, predicted, sample_weight=weights)
            session().run(update)
            np.testing.assert_allclose(session().run(made.result()), value, atol=2e-5, err_msg=made.name)
        made.reset_states()
        assert not np.any(session().run(made.result()))


def test_global_pooling_of_volumes() -> None:
    x = tf.constant(np.arange(48.0).reshape(2, 2, 3, 2, 2))
    mean, most = tf.keras.layers.GlobalAvgPool3D()(x), tf.keras.layers.GlobalMaxPool3D()(x)
    np.testing.assert_array_equal(tf.keras.backend.get_session().run([mean, most]),
                                  [[[11, 12], [35, 36]], [[22, 23], [46, 47]]])


def test_metrics_of_compile_are_those_of_the_whole_epoch() -> None:
    x = np.array([[1.0], [2.0], [3.0]])
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones", input_shape=(1,))])
    model.compile("sgd", "mse", metrics=[tf.keras.metrics.RootMeanSquaredError(), "MeanAbsoluteError"])
    found = [model.evaluate(x, x * [[2.0], [1.0], [3.0]], batch_size=2, verbose=0) for _ in range(2)]
    np.testing.assert_allclose(found, [[37 / 3, (37 / 3) ** 0.5, 7 / 3]] * 2, rtol=1e-6)


def test_a_model_that_is_called_on_its_own_inputs_makes_its_ops_anew_and_draws_again() -> None:
    keras = tf.keras
    given = keras.Input((3,))
    model = keras.Model(given, keras.layers.Lambda(lambda x: x + keras.backend.random_normal((2, 3)))(given))
    np.random.seed(0)
    assert model(given).op is not model.output.op
    drawn = np.random.randint(1000)
    np.random.seed(0)
    np.random.randint(10_000_000)
    assert drawn == np.random.randint(1000)  # one seed was drawn between, as TensorFlow 1.15 draws it


def test_a_model_of_a_fixed_batch_takes_batches_of_that_size() -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(3, batch_input_shape=(20, 4))])
    model.compile("sgd", "mse")
    x, y = np.ones((200, 4)), np.zeros((200, 3))
    sizes = []
    counted = tf.keras.callbacks.LambdaCallback(on_batch_end=lambda batch, logs: sizes.append(logs["size"]))
    model.fit(x, y, verbose=0, callbacks=[counted])
    assert sizes == [20] * 10 and model.predict(x).shape == (200, 3) and model.evaluate(x, y, 20, 0) > 0
    with pytest.raises(ValueError, match="value 10 is incompatible with the specified batch size of your Input "
                       "Layer: 20"):
        model.fit(x, y, batch_size=10)
    with pytest.raises(ValueError, match=r"to have shape \(4,\) but got array with shape \(5,\)"):
        model.fit(np.ones((20, 5)), y[:20])


def test_a_metric_of_a_whole_batch_counts_once_a_batch_and_the_loss_of_a_generator_too() -> None:
    """The numbers of TensorFlow 1.15.5."""
    x = np.arange(5.0, dtype="float32")[:, None]
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, use_bias=False, kernel_initializer="ones", input_dim=1)])

    def top(true: tf.Tensor, predicted: tf.Tensor) -> tf.Tensor:
        return tf.keras.backend.max(predicted)

    def batches() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        while True:
            yield x[:4], 2 * x[:4]
            yield x[4:], 2 * x[4:]

    told = []
    model.compile(tf.keras.optimizers.SGD(0.0), "mse", metrics=[top, "mae"])
    counted = tf.keras.callbacks.LambdaCallback(
        on_batch_end=lambda batch, logs: told.append([logs["loss"], logs["top"]]))
    history = model.fit(x, 2 * x, 2, 1, 0, [counted], shuffle=False, validation_data=(x[:3] * 0 + 1, 2 * x[:3])).history
    np.testing.assert_allclose(told, [[0.5, 1], [6.5, 2], [16, 8 / 3]])
    assert {name: values[0] for name, values in history.items()} == pytest.approx(
        {"loss": 6, "top": 8 / 3, "mean_absolute_error": 2, "val_loss": 11 / 3, "val_top": 1,
         "val_mean_absolute_error": 5 / 3})
    assert model.evaluate(x, 2 * x, batch_size=4, verbose=0) == [6, 3.5, 2]
    assert model.evaluate_generator(batches(), 2, None, 10, 1, False, 0) == [9.75, 3.5, 2]
    assert model.predict_generator(batches(), 3, None, 10, 1, False, 0).shape == (9, 1)
    history = model.fit_generator(batches(), 2, 2, 0, None, batches(), 2, 2).history
    assert history["loss"] == [6, 6] and history["val_loss"] == [9.75]
    with pytest.raises(ValueError, match="Please specify the number of steps via the `steps` argument"):
        model.predict_generator(batches())
