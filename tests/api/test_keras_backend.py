"""Functions of Keras' backend give the numbers of TensorFlow 1.15.5, which are weighted by cosines here."""

import numpy as np
import pytest

import autodiff as tf

K = tf.keras.backend

ROWS = [
    ("K.mean(v > 0)", (), 0.5),
    ("K.std(K.constant([True, False], 'bool'), keepdims=True)", (1,), 0.5),
    ("K.any(v, axis=1)", (2,), 1.5403),
    ("K.sqrt(-K.abs(v))", (2, 3), 0.0),
    ("K.argmax(v)", (2,), 3.0806),
    ("K.argmin(v)", (2,), 0.0),
    ("K.argmax(v, axis=0)", (3,), 1.1242),
    ("K.expand_dims(v)", (2, 3, 1), -3.8687),
    ("K.concatenate([v, 2 * v])", (2, 6), 1.3658),
    ("K.dot(v, w)", (2, 2), -8.2169),
    ("K.dot(K.expand_dims(v, 0), w)", (1, 2, 2), -8.2169),
    ("K.batch_dot(seq, seq, axes=1)", (2, 2, 2), 1.8578),
    ("K.batch_dot(v, v, axes=1)", (2, 1), 13.4776),
    ("K.batch_flatten(im)", (2, 40), 0.2623),
    ("K.clip(v, -1, 1)", (2, 3), -2.1972),
    ("K.tile(v, [1, 2])", (2, 6), -0.2447),
    ("K.reverse(v, 1)", (2, 3), -3.5837),
    ("K.repeat(v, 2)", (2, 2, 3), -0.2447),
    ("K.repeat_elements(v, 2, axis=1)", (2, 6), -4.3711),
    ("K.permute_dimensions(seq, (2, 0, 1))", (2, 2, 6), 0.6222),
    ("K.arange(2, 9, 3)", (3,), 1.3723),
    ("K.one_hot(K.constant([0, 2], 'int32'), 4)", (2, 4), 1.9602),
    ("K.pow(v, 2)", (2, 3), 7.4163),
    ("K.relu(v, alpha=0.1)", (2, 3), -1.0765),
    ("K.relu(v, alpha=0.1, max_value=1.5)", (2, 3), -1.3602),
    ("K.relu(v, threshold=1.0)", (2, 3), -0.2713),
    ("K.relu(v, alpha=0.2, threshold=1.0)", (2, 3), -1.0176),
    ("K.elu(v, alpha=0.5)", (2, 3), -1.3533),
    ("K.softmax(v)", (2, 3), -0.115),
    ("K.softmax(v, axis=0)", (2, 3), -1.2422),
    ("K.hard_sigmoid(v)", (2, 3), -0.8916),
    ("K.bias_add(v, K.constant([1.0, 2.0, 3.0]))", (2, 3), -4.4828),
    ("K.l2_normalize(v, axis=1)", (2, 3), -1.3079),
    ("K.std(v, axis=1)", (2,), 1.2577),
    ("K.var(v)", (), 2.9167),
    ("K.cumsum(v, axis=1)", (2, 3), -3.3144),
    ("K.switch(v > 0, v, -2 * v)", (2, 3), 5.4385),
    ("K.conv1d(seq, k1, strides=2, padding='same')", (2, 3, 2), 0.5045),
    ("K.conv2d(im, ker, strides=(2, 1), padding='same')", (2, 3, 4, 3), -0.8132),
    ("K.conv2d(im, ker)", (2, 3, 3, 3), -9.7577),
    ("K.conv2d_transpose(im, ker[:, :, :, :2], (2, 7, 5, 2))", (2, 7, 5, 2), 0.5803),
    ("K.separable_conv2d(im, ker[:, :, :, :1], K.ones((1, 1, 2, 3)))", (2, 3, 3, 3), -8.2024),
    ("K.pool2d(im, (2, 2), strides=(2, 2))", (2, 2, 2, 2), 1.0898),
    ("K.pool2d(im, (3, 2), padding='same', pool_mode='avg')", (2, 5, 4, 2), 4.4614),
    ("K.temporal_padding(seq, (1, 2))", (2, 9, 2), -11.2607),
    ("K.spatial_2d_padding(im, ((1, 0), (0, 2)))", (2, 6, 6, 2), 5.0034),
    ("K.resize_images(im, 2, 3, 'channels_last')", (2, 10, 12, 2), -0.3044),
    ("K.resize_images(im, 2, 2, 'channels_last', interpolation='bilinear')", (2, 10, 8, 2), 0.5439),
    ("K.batch_normalization(v, K.constant([0.0, 1.0, 2.0]), K.constant([1.0, 2.0, 3.0]), K.constant([0.5, "
     "0.5, 0.5]), K.constant([2.0, 2.0, 2.0]))", (2, 3), -7.1119),
    ("K.normalize_batch_in_training(v, K.constant([1.0, 2.0, 3.0]), K.constant([0.0, 1.0, 0.0]), "
     "[0])[0]", (2, 3), -2.3913),
    ("K.ctc_batch_cost(K.constant([[0, 1], [1, 0]], 'int32'), K.softmax(K.concatenate([seq, seq[:, :, "
     ":1]])), K.constant([[6], [5]], 'int32'), K.constant([[2], [1]], 'int32'))", (2, 1), 4.2455),
    ("K.map_fn(lambda x: 2 * x, v)", (2, 3), -7.7374),
    ("K.eye(3)", (3, 3), 0.2009),
    ("K.categorical_crossentropy(K.softmax(v), K.softmax(2 * v))", (2,), 1.5288),
    ("K.binary_crossentropy(K.sigmoid(v), K.sigmoid(2 * v))", (2, 3), -0.5434),
    ("K.sparse_categorical_crossentropy(K.constant([0, 2], 'int32'), K.softmax(v))", (2,), 2.6278),
    ("K.in_top_k(v, K.constant([2, 0], 'int32'), 1)", (2,), 1.0),
    ("K.squeeze(K.expand_dims(v, 1), 1)", (2, 3), -3.8687),
    ("K.mean(v, axis=-1, keepdims=True)", (2, 1), -0.6895),
    ("K.prod(v, axis=0)", (3,), -1.9455),
    ("K.to_dense(v)", (2, 3), -3.8687),
    ("K.random_normal_variable((2, 2), 1.0, 0.0)", (2, 2), 0.1342),
]


@pytest.mark.parametrize(("call", "shape", "weighted"), ROWS, ids=[call.split("(")[0] for call, *_ in ROWS])
def test_a_function_gives_the_numbers_of_tensorflow(call: str, shape: tuple[int, ...], weighted: float) -> None:
    with tf.Graph().as_default():
        def waves(function: np.ufunc, *sizes: int) -> tf.Variable:
            return K.variable(function(np.arange(float(np.prod(sizes)))).reshape(sizes))

        given = {"K": K, "v": K.variable(np.arange(6.0).reshape(2, 3) - 2.5),
                 "w": K.variable(np.arange(6.0).reshape(3, 2) / 4), "im": waves(np.sin, 2, 5, 4, 2),
                 "ker": waves(np.cos, 3, 2, 2, 3), "seq": waves(np.sin, 2, 6, 2), "k1": waves(np.cos, 3, 2, 2)}
        found = np.asarray(K.eval(eval(call, given)), float)
    assert found.shape == shape
    assert (found.ravel() * np.cos(np.arange(found.size))).sum() == pytest.approx(weighted, abs=2e-4, rel=1e-4)


def test_what_is_known_of_a_tensor() -> None:
    with tf.Graph().as_default():
        v, p = K.variable(np.zeros((2, 3))), K.placeholder((None, 2))
        assert (K.int_shape(v), K.int_shape(p), K.ndim(v)) == ((2, 3), (None, 2), 2)
        assert (K.dtype(v), K.get_uid("a"), K.get_uid("a"), K.is_sparse(v)) == ("float32", 1, 2, False)
        with K.name_scope("inner"):
            assert K.sum(v).name.startswith("inner/")


def test_a_layer_of_ones_own_multiplies_by_its_variable() -> None:
    class Doubled(tf.keras.layers.Layer):
        def build(self, shape: tf.TensorShape) -> None:
            self.kernel = self.add_weight(name="kernel", shape=(int(shape[1]), 2), initializer="ones", trainable=True)
            super().build(shape)

        def call(self, x: tf.Tensor) -> tf.Tensor:
            return K.dot(x, self.kernel)

    with tf.Graph().as_default():
        model = tf.keras.Sequential([Doubled(input_shape=(4,))])
        assert model.predict(np.ones((1, 4))).tolist() == [[4.0, 4.0]]


def test_clear_session_begins_with_an_empty_graph() -> None:
    tf.keras.layers.Dense(2)(tf.placeholder(tf.float32, [None, 3]))
    tf.keras.backend.clear_session()
    tf.keras.layers.Dense(2)(tf.placeholder(tf.float32, [None, 3]))
    names = list(tf.get_default_graph().operations)
    assert names[:3] == ["keras_learning_phase/input", "keras_learning_phase", "Placeholder"]
    assert [v.op.name for v in tf.global_variables()] == ["dense/kernel", "dense/bias"]


def test_draws_without_a_seed_have_one_of_numpys() -> None:
    """The numbers of 1.15.5 behind numpy.random.seed, and as many taken from NumPy's generator."""
    tf.reset_default_graph()
    np.random.seed(3)
    tf.set_random_seed(5)
    K = tf.keras.backend  # noqa: N806
    drawn = [K.random_normal([2]), K.random_uniform([2]), K.truncated_normal([2]), K.random_binomial([4], p=0.5),
             K.dropout(tf.ones([6]), 0.5)]
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.GaussianNoise(1.0, input_shape=(3,)), layers.GaussianDropout(0.5),
                                 layers.AlphaDropout(0.5)])
    drawn.append(model(tf.ones([2, 3]), training=True))
    variables = K.random_normal_variable([2], 0.0, 1.0), K.random_uniform_variable([2], 0.0, 1.0)
    assert np.random.rand() == 0.44080984365063647
    found = [*K.get_session().run(drawn), *map(K.get_value, variables)]
    for value, expected in zip(found, (
            [0.24821563, -0.42662564], [0.33404112, 0.13897765], [-0.06063489, 0.9047712], [1, 0, 0, 1],
            [2, 2, 2, 0, 0, 0], [[1.0525532, 2.3765068, -0.7791938], [-0.7791938, -0.7791938, 0.61508286]],
            [-0.27036998, 0.19401424], [0.46366215, 0.13896036])):
        np.testing.assert_allclose(value, expected, rtol=2e-6)
