"""tf.keras: optimizers, schedules, losses, layers, masks and states; each number is TensorFlow 1.15.5's."""
import re
from contextlib import nullcontext

import numpy as np
import pytest

import autodiff as tf

KERAS = tf.keras
LAYERS, OPTIMIZERS = KERAS.layers, KERAS.optimizers
SCHEDULES = OPTIMIZERS.schedules
RANDOM = np.random.RandomState(0)
STEPS = RANDOM.randn(4, 5, 3).astype(np.float32)
STEPS[::2, 3:] = STEPS[1, 0] = 0
IMAGES = RANDOM.randn(2, 4, 4, 2).astype(np.float32)
ROWS = np.array([[1.0, -2.0, 0.5], [-0.3, 0.8, 3.0]], np.float32)


@pytest.fixture(autouse=True)
def _fresh():
    tf.reset_default_graph()


def given(seed, *shape):
    return tf.constant_initializer(np.random.RandomState(seed).randn(*shape).astype(np.float32) * 0.4)


def after_steps(optimizer):
    """Three steps of a variable whose gradient is dense, and of one of whose rows some have none."""
    dense = tf.Variable([1.0, -2.0], use_resource=True)
    rows = tf.Variable([[1.0], [2.0], [3.0]], use_resource=True)
    loss = tf.reduce_sum(dense ** 2) + tf.reduce_sum(tf.gather(rows, [0, 2, 2]) ** 2)
    step = optimizer.get_updates(loss, [dense, rows])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(step)
        return np.concatenate([session.run(dense), session.run(rows)[:, 0]])


def values(tensors):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(tensors)


def by_layers():
    """The sum and the first numbers of what layers without random weights make."""
    rows, steps, images = map(tf.constant, (ROWS, STEPS, IMAGES))
    made = [
        LAYERS.ELU(0.7)(rows), LAYERS.PReLU(given(1, 3))(rows), LAYERS.ThresholdedReLU(0.6)(rows),
        LAYERS.LayerNormalization(gamma_initializer=given(2, 3))(rows), LAYERS.ReLU(1.5, 0.2)(rows),
        LAYERS.DepthwiseConv2D(3, depth_multiplier=2, depthwise_initializer=given(3, 3, 3, 2, 2))(images),
        LAYERS.SeparableConv2D(3, 2, strides=2, padding="same", depthwise_initializer=given(4, 2, 2, 2, 1),
                               pointwise_initializer=given(5, 1, 1, 2, 3))(images),
        LAYERS.Cropping2D(((1, 0), (0, 2)))(images), LAYERS.ZeroPadding1D((1, 2))(steps), LAYERS.Cropping1D(1)(steps),
        LAYERS.UpSampling1D(2)(steps), LAYERS.Dot(2)([steps, steps]), LAYERS.dot([rows, rows + 1.0], 1, normalize=True),
        LAYERS.GaussianNoise(3.0)(rows), LAYERS.SpatialDropout1D(0.5)(steps)]
    return [[*np.ravel(each)[:2], each.sum()] for each in values(made)]


def recurrent(kind, gates, units=2, **options):
    return getattr(LAYERS, kind)(units, kernel_initializer=given(1, 3, gates * units),
                                 recurrent_initializer=given(2, units, gates * units), **options)


def by_masks():
    """What recurrent layers make of steps, some of which do not count."""
    assert tf.math.reduce_mean  # the first who asks finds it in another wrapper than who asked before
    steps = LAYERS.Masking()(tf.constant(STEPS))
    table = LAYERS.Embedding(4, 3, embeddings_initializer=given(3, 4, 3), mask_zero=True)
    ids = table(tf.constant([[1, 2, 0], [3, 0, 2]]))
    made = [recurrent("LSTM", 4)(steps), recurrent("GRU", 3, return_sequences=True)(steps),
            recurrent("SimpleRNN", 1, go_backwards=True)(ids),
            LAYERS.GlobalAveragePooling1D()(LAYERS.Dropout(0.5)(ids)),
            LAYERS.Bidirectional(recurrent("LSTM", 4, return_sequences=True))(ids),
            LAYERS.TimeDistributed(LAYERS.Dense(1, kernel_initializer=given(5, 3, 1)))(steps)]
    return [[*np.ravel(each)[-2:], each.sum()] for each in values(made)]


def by_states():
    """A stateful layer goes on from batch to batch, in training too, until its states are reset."""
    model = KERAS.Sequential([recurrent("GRU", 3, stateful=True, batch_input_shape=(4, 5, 3)),
                              LAYERS.Dense(1, kernel_initializer=given(4, 2, 1))])
    model.compile("sgd", "logcosh")
    found = [model.predict(STEPS, batch_size=4).sum() for _ in range(2)]
    found += [model.train_on_batch(STEPS, np.ones((4, 1))) for _ in range(2)]
    model.reset_states()
    return [*found, model.predict(STEPS, batch_size=4).sum()]


def by_losses():
    """A few losses of one pair."""
    true, predicted = np.abs(ROWS), np.abs(ROWS[::-1]) + 0.1
    return [np.ravel(values(KERAS.losses.get(name)(tf.constant(true), tf.constant(predicted))))
            for name in ("mape", "msle", "logcosh")]


def by_callbacks():
    """Losses and rates of epochs where the rate is halved at a plateau."""
    model = KERAS.Sequential([LAYERS.Dense(1, kernel_initializer=given(1, 3, 1), input_shape=(3,))])
    model.compile(OPTIMIZERS.SGD(0.01), "mse")
    plateau = KERAS.callbacks.ReduceLROnPlateau("loss", factor=0.5, patience=1, min_delta=0.8, cooldown=1)
    history = model.fit(ROWS, ROWS[:, :1] + 2.0, epochs=6, verbose=0, callbacks=[plateau]).history
    return [history["loss"], history["lr"]]


class Own(OPTIMIZERS.Optimizer):
    """An optimizer of a script's own, as Keras' are written."""

    def __init__(self, learning_rate=0.1, beta=0.5, name="Own", **options):
        super().__init__(name, **options)
        self._set_hyper("learning_rate", options.get("lr", learning_rate))
        self._set_hyper("beta", beta)
        self._set_hyper("decay", self._initial_decay)

    def _create_slots(self, var_list):
        for var in var_list:
            self.add_slot(var, "m")

    def _resource_apply_dense(self, grad, var, apply_state=None):
        rate = self._decayed_lr(var.dtype.base_dtype)
        mean = self.get_slot(var, "m")
        return var.assign_sub(rate * mean.assign(self._get_hyper("beta", grad.dtype) * mean + grad))

    def _resource_apply_sparse(self, grad, var, indices):
        return var.scatter_sub(tf.IndexedSlices(self._decayed_lr(grad.dtype) * grad, indices))

    def get_config(self):
        return {**super().get_config(), "beta": self._serialize_hyperparameter("beta")}


@pytest.mark.parametrize("optimizer, expected", [
    (lambda: OPTIMIZERS.Adadelta(1.0), [0.99571, -1.9957, 0.99571, 2, 2.9957]),
    (lambda: OPTIMIZERS.Adamax(0.1), [0.7155, -1.7076, 0.7155, 2, 2.705]),
    (lambda: OPTIMIZERS.Nadam(0.1), [0.75273, -1.7475, 0.75273, 2, 2.7459]),
    (lambda: OPTIMIZERS.Adam(0.1, amsgrad=True), [0.70159, -1.7006, 0.70159, 2, 2.7004]),
    (lambda: OPTIMIZERS.SGD(0.1, 0.9, nesterov=True, decay=0.5), [0.030996, -0.061992, 0.030996, 2, -1.4127]),
    (lambda: OPTIMIZERS.RMSprop(0.1, centered=True, momentum=0.5), [0.020841, -0.89694, 0.020841, 2, 1.8639]),
    (lambda: OPTIMIZERS.SGD(0.1, clipnorm=1.5, clipvalue=1.0), [0.80173, -1.7, 0.89327, 2, 2.4]),
    (lambda: OPTIMIZERS.SGD(SCHEDULES.ExponentialDecay(0.1, 2, 0.5, staircase=True)), [0.576, -1.152, 0.576, 2, 0.864]),
    (lambda: OPTIMIZERS.SGD(SCHEDULES.PolynomialDecay(0.1, 4, 0.01, 2.0)), [0.65731, -1.3146, 0.65731, 2, 1.1862]),
    (lambda: OPTIMIZERS.Adam(SCHEDULES.InverseTimeDecay(0.1, 2, 0.5)), [0.75434, -1.7537, 0.75434, 2, 2.7536]),
    (lambda: OPTIMIZERS.SGD(SCHEDULES.PiecewiseConstantDecay([0, 1], [0.1, 0.05, 0.01])),
     [0.7056, -1.4112, 0.7056, 2, 1.3824]),
    (lambda: Own(decay=0.5), [0.499, -0.998, 0.624, 2, 1.056])
])
def test_steps_of_optimizers(optimizer, expected):
    np.testing.assert_allclose(after_steps(optimizer()), expected, rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize("made, expected", [
    (by_layers, [[1, -0.60527, 4.5133], [1, 0.48941, 5.5945], [1, -0, 4.8], [-0.14816, 0.031433, -1.508], [1, -0.4,
        3.34], [-0.38074, -0.6321, 1.8458], [0.10398, -0.060404, -0.024564], [-0.9073, 0.051945, 11.421], [0, 0,
        2.678], [2.2409, 1.8676, -1.3173], [1.7641, 0.40016, 5.3559], [4.2299, 3.7439, 53.882], [0.76992, 0.95486,
        1.7248], [1, -2, 3], [1.7641, 0.40016, 2.678]]),
    (by_masks, [[0.098706, -0.061303, 0.1431], [-0.1022, 0.32403, -6.3185], [-0.0067772, 0.031953, -0.1116],
        [-0.38817, 0.16816, -0.98184], [0.0065983, 0.016181, 0.6866], [0.0030125, -0.21536, -3.5722]]),
    (by_states, [-0.24179, -0.25496, 0.48479, 0.47782, -0.17135]),
    (by_losses, [[211.67, 169.72], [0.44897, 0.45503], [0.86481, 0.89477]]),
    (by_callbacks, [[5.645, 4.5985, 3.753, 3.0692, 2.5151, 2.2845], [0.01, 0.01, 0.01, 0.01, 0.005, 0.005]]),
])
def test_layers_masks_states_losses_and_plateaus(made, expected):
    for ours, theirs in zip(made(), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-4, atol=2e-5)


def test_settings_are_variables_that_may_be_set_and_told():
    optimizer = OPTIMIZERS.deserialize(OPTIMIZERS.serialize(Own(lr=0.5, clipnorm=2.0)), {"Own": Own})
    assert optimizer.get_config() == {"name": "Own", "clipnorm": 2.0, "beta": 0.5}
    KERAS.backend.set_value(optimizer.beta, 0.25)
    optimizer.lr = 0.125
    assert KERAS.backend.get_value(optimizer.learning_rate) == 0.125 and optimizer.get_config()["beta"] == 0.25
    optimizer.lr = 0.0625
    assert KERAS.backend.get_value(optimizer.lr) == 0.0625 and KERAS.backend.get_value(optimizer.iterations) == 0
    with KERAS.utils.custom_object_scope({"Own": Own}):
        assert isinstance(OPTIMIZERS.get({"class_name": "Own", "config": {}}), Own)
    rate = OPTIMIZERS.SGD(SCHEDULES.ExponentialDecay(0.1, 2, 0.5)).get_config()["learning_rate"]
    assert rate["config"] == {"initial_learning_rate": 0.1, "decay_steps": 2, "decay_rate": 0.5, "staircase": False,
                              "name": None}
    assert OPTIMIZERS.SGD.from_config({"learning_rate": rate}).learning_rate.get_config() == rate["config"]
    with pytest.raises(ValueError, match="Unknown object: Own"):
        OPTIMIZERS.deserialize({"class_name": "Own"})


def test_layers_know_their_tensors_and_settings_and_models_are_cloned(capsys):
    a, b = LAYERS.Input((3,), name="a"), LAYERS.Input((3,))
    hidden = LAYERS.Dense(2, activation="relu", kernel_initializer=given(1, 3, 2), name="hidden")
    joined = LAYERS.concatenate([hidden(a), hidden(b)])
    model = KERAS.Model([a, b], LAYERS.Dense(1, kernel_initializer=given(2, 4, 1), name="last")(joined))
    assert [layer.name for layer in model.layers] == ["a", "input_1", "hidden", "concatenate", "last"]
    assert hidden.get_config() == {"name": "hidden", "trainable": True, "dtype": "float32", "units": 2,
                                   "activation": "relu",
                                   "kernel_initializer": hidden.get_config()["kernel_initializer"]}
    last = model.get_layer("last")
    assert last.input is joined and last.output_shape == (None, 1) and len(hidden.inbound_nodes) == 2
    with pytest.raises(AttributeError, match="multiple inbound nodes"):
        hidden.output  # noqa: B018
    clone = KERAS.models.clone_model(model)
    assert not set(clone.weights) & set(model.weights) and last.activation is KERAS.activations.linear
    clone.set_weights(model.get_weights())
    np.testing.assert_array_equal(clone.predict([ROWS, ROWS]), model.predict([ROWS, ROWS]))
    model.summary()
    line = "_" * 98
    assert capsys.readouterr().out.splitlines()[4:-5] == [
        "a (InputLayer)                  [(None, 3)]          0                                            ", line,
        "input_1 (InputLayer)            [(None, 3)]          0                                            ", line,
        "hidden (Dense)                  (None, 2)            8           a[0][0]                          ",
        "                                                                 input_1[0][0]                    ", line,
        "concatenate (Concatenate)       (None, 4)            0           hidden[0][0]                     ",
        "                                                                 hidden[1][0]                     ", line,
        "last (Dense)                    (None, 1)            5           concatenate[0][0]                "]
    LAYERS.Wrapper(last).build()
    first = KERAS.Sequential([LAYERS.Bidirectional(recurrent("GRU", 3), input_shape=(5, 3))])
    assert KERAS.models.clone_model(first).output_shape == (None, 4)


def test_a_model_is_trained_on_tensors_of_a_graph_for_so_many_steps():
    model = KERAS.Sequential([LAYERS.Dense(1, kernel_initializer="ones", input_shape=(3,))])
    model.compile("sgd", "mse")
    elements = tf.data.Dataset.from_tensor_slices((ROWS, ROWS[:, :1])).batch(2).repeat().make_one_shot_iterator()
    rows, labels = elements.get_next()
    by_tensors = model.fit(rows, labels, steps_per_epoch=2, epochs=2, verbose=0).history["loss"]
    model.set_weights([np.ones((3, 1)), np.zeros(1)])
    by_iterator = model.fit(elements, steps_per_epoch=2, epochs=2, verbose=0).history["loss"]
    np.testing.assert_allclose(by_tensors, by_iterator)
    assert model.predict(tf.constant(ROWS), steps=2).shape == (4, 1)
    with pytest.raises(ValueError, match="you should specify the `steps_per_epoch`"):
        model.fit(rows, labels)


def test_losses_are_serialized_and_batches_may_be_tensors() -> None:
    losses = tf.keras.losses
    assert losses.serialize(losses.binary_crossentropy) == "binary_crossentropy"
    huber = losses.deserialize(losses.serialize(losses.Huber(delta=2.0)))
    assert huber.get_config()["delta"] == 2.0 and losses.deserialize("mse") is losses.mean_squared_error
    assert losses.deserialize("own", {"own": losses.poisson}) is losses.poisson
    with tf.Graph().as_default():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,), kernel_initializer="ones")])
        model.compile("sgd", "mse")
        assert model.test_on_batch(tf.ones([3, 2]), tf.zeros([3, 1])) == 4.0


def test_the_backend_has_tf_functions_by_its_names() -> None:
    backend = tf.keras.backend
    x, y = tf.constant([[0.2, 0.9], [0.6, 0.5]]), tf.constant([[0.0, 1.0], [1.0, 0.0]])
    fed = backend.placeholder((None, 2))
    product, is_positive = backend.function([fed], [backend.dot(fed, y), backend.all(fed > 0.0)])([[[1.0, 2.0]]])
    assert product.tolist() == [[2.0, 1.0]] and is_positive
    np.testing.assert_allclose(backend.get_value(backend.binary_crossentropy(y, x)),
                               [[0.22314338, 0.10536041], [0.5108254, 0.69314694]], rtol=2e-6)  # of TensorFlow 1.15
    slope, = backend.gradients(backend.sum(x * x), [x])
    np.testing.assert_allclose(backend.get_value(slope), [[0.4, 1.8], [1.2, 1.0]])

CONSTRAINTS = KERAS.constraints
FILTERS = np.arange(18.0).reshape(3, 3, 1, 2)


@pytest.mark.parametrize("constraint, of, expected", [
    (CONSTRAINTS.MaxNorm(1.0), [[3.0, 0.1], [-4.0, 0.2]], [[0.6, 0.1], [-0.8, 0.2]]),
    (CONSTRAINTS.max_norm(1.0, axis=1), [[3.0, -4.0], [0.1, 0.2]], [[0.6, -0.8], [0.1, 0.2]]),
    (CONSTRAINTS.get("non_neg"), [[3.0, -4.0]], [[3, 0]]),
    (CONSTRAINTS.get("UnitNorm"), [[3.0], [-4.0]], [[0.6], [-0.8]]),
    (CONSTRAINTS.MinMaxNorm(0.5, 1.0, rate=0.5), [[3.0, 0.03], [-4.0, 0.04]], [[1.8, 0.165], [-2.4, 0.22]]),
    (CONSTRAINTS.deserialize({"class_name": "MinMaxNorm", "config": {"max_value": 2.5}}), [[3.0], [4.0]], [[1.5], [2]]),
    (CONSTRAINTS.radial_constraint(), FILTERS, [[[[8, 9]], [[8, 9]], [[8, 9]]], [[[8, 9]], [[0, 1]], [[8, 9]]],
                                                [[[8, 9]], [[8, 9]], [[8, 9]]]])])
def test_constraints(constraint, of, expected):
    made = KERAS.backend.get_session().run(constraint(tf.constant(of, tf.float32)))
    np.testing.assert_allclose(made, expected, rtol=1e-5)


def test_variables_are_within_their_constraints_after_each_step():
    begin = KERAS.initializers.Constant(np.random.RandomState(3).randn(3, 3))
    model = KERAS.Sequential([
        KERAS.layers.SimpleRNN(3, kernel_constraint="unit_norm", recurrent_constraint=CONSTRAINTS.MaxNorm(0.5),
                               bias_constraint="non_neg", kernel_initializer=begin, recurrent_initializer="identity",
                               input_shape=(4, 3)),
        KERAS.layers.LayerNormalization(beta_constraint="non_neg"), KERAS.layers.PReLU(alpha_constraint="non_neg"),
        KERAS.layers.Dense(1, kernel_constraint="MinMaxNorm", bias_constraint="NonNeg", kernel_initializer="ones")])
    model.compile(OPTIMIZERS.SGD(0.1), "mse")
    x = np.random.RandomState(1).randn(6, 4, 3)
    losses = [model.train_on_batch(x, 2 * x[:, 0, :1]) for _ in range(3)]
    np.testing.assert_allclose(losses, [5.0343575, 3.859372, 3.321746], rtol=1e-5)
    with pytest.raises(ValueError, match="Unknown constraint: nix"):
        KERAS.layers.Dense(1, kernel_constraint="nix")
    model = KERAS.Sequential([KERAS.layers.Embedding(5, 2, embeddings_constraint="unit_norm", input_length=3)])
    model.compile("sgd", "mse")
    with pytest.raises(RuntimeError, match="Cannot use a constraint function on a sparse variable"):
        model.train_on_batch(np.ones((4, 3)), np.ones((4, 3, 2)))


@pytest.mark.parametrize("optimizer, is_refused", [("sgd", True), (OPTIMIZERS.Adam(clipnorm=1.0), True),
                                                   (tf.train.AdamOptimizer(0.1), False)])
def test_fit_refuses_a_variable_without_a_gradient_as_optimizers_of_keras_do(optimizer, is_refused):
    model = KERAS.Sequential([LAYERS.Dense(2, name="cut"), LAYERS.Lambda(tf.round), LAYERS.Dense(1)])
    model.compile(optimizer, "mse")
    said = re.escape("/cut/kernel:0' shape=(3, 2) dtype=float32> has `None` for gradient. Please "
                     "make sure that all of your ops have a gradient defined (i.e. are differentiable).")
    with tf.Graph().as_default(), pytest.raises(ValueError, match=said) if is_refused else nullcontext():
        model.fit(np.ones((4, 3)), np.ones((4, 1)), verbose=0)


def test_metrics_of_single_batches_go_on_from_those_before_until_they_begin_anew():
    """Numbers of TensorFlow 1.15.5."""
    x = np.random.RandomState(0).rand(64, 4).astype(np.float32)
    y, keras = (x.sum(1) > 2).astype(np.float32), tf.keras
    model = keras.Sequential([
        keras.layers.Dense(3, "relu", kernel_initializer=keras.initializers.Constant(0.3), input_shape=(4,)),
        keras.layers.Dense(1, "sigmoid", kernel_initializer="ones")])
    model.compile("sgd", "binary_crossentropy", metrics=["accuracy", "mae"])
    model.fit(x, y, 16, epochs=1, shuffle=False, verbose=0)
    found = [model.train_on_batch(x[:16], y[:16]), model.test_on_batch(x[:16], y[:16], reset_metrics=False),
             model.train_on_batch(x[:16], y[:16], reset_metrics=False),
             model.train_on_batch(x[16:32], y[16:32], np.linspace(0, 2, 16), {0: 1.0, 1: 3.0})]
    np.testing.assert_allclose(found, [[1.032274, 0.4375, 0.490447], [1.018843, 0.375, 0.5302571],
                                       [1.018843, 0.375, 0.5302571], [0.8162594, 0.4166667, 0.497243]], 1e-5)
