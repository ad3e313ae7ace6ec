"""tf.feature_column and the estimators over columns: each number is TensorFlow 1.15.5's."""
import numpy as np
import pytest

import autodiff as tf

COLUMNS, ESTIMATOR = tf.feature_column, tf.estimator
FEATURES = {"n": np.array([[1.0, 2.0], [3.0, -4.0], [0.0, 9.0]], np.float32),
            "m": np.array([1.0, 5.0, 9.0], np.float32),
            "w": np.array(["a", "b", "zz"]), "i": np.array([2, 0, 7]),
            "h": np.array([["x", "y"], ["z", ""], ["x", "x"]])}
NUMBERS = COLUMNS.numeric_column("n", shape=(2,))
RANGES = COLUMNS.bucketized_column(COLUMNS.numeric_column("m"), [2.0, 6.0])
WORDS = COLUMNS.categorical_column_with_vocabulary_list("w", ["a", "b", "c"], num_oov_buckets=2)
HASHED = COLUMNS.categorical_column_with_hash_bucket("h", 10)
CROSSED = COLUMNS.crossed_column(["w", RANGES, "h"], 50)


def values(tensors):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return session.run(tensors)


@pytest.fixture(autouse=True)
def _fresh():
    tf.reset_default_graph()


@pytest.mark.parametrize("column, expected", [
    (COLUMNS.numeric_column("m", normalizer_fn=lambda x: x / 2), [[0.5], [2.5], [4.5]]),
    (NUMBERS, FEATURES["n"]),
    (RANGES, np.eye(3)),
    (COLUMNS.bucketized_column(NUMBERS, [0.0, 2.0]),
     [[0, 1, 0, 0, 0, 1], [0, 0, 1, 1, 0, 0], [0, 1, 0, 0, 0, 1]]),
    (COLUMNS.indicator_column(WORDS), [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 0, 1, 0]]),
    (COLUMNS.indicator_column(COLUMNS.categorical_column_with_identity("i", 5, default_value=0)), np.eye(5)[[2, 0, 0]]),
    (COLUMNS.embedding_column(HASHED, 2, "sum", tf.constant_initializer(np.arange(20.0).reshape(10, 2))), None)])
def test_columns_make_numbers(column, expected):
    made = values(COLUMNS.input_layer({key: tf.constant(value) for key, value in FEATURES.items()}, [column]))
    if expected is None:
        counts = values(COLUMNS.input_layer({"h": tf.constant(FEATURES["h"])}, [COLUMNS.indicator_column(HASHED)]))
        expected = counts @ np.arange(20.0).reshape(10, 2)
        assert counts.sum(1).tolist() == [2, 1, 2]
    np.testing.assert_allclose(made, expected)


def test_crossings_are_tensorflows_and_are_given_dense_or_sparse():
    dense = {key: tf.constant(value) for key, value in FEATURES.items()}
    places = [[0, 0], [0, 1], [1, 0], [2, 0], [2, 1]]
    sparse = {**dense, "h": tf.SparseTensor(places, ["x", "y", "z", "x", "x"], [3, 2])}
    made = values(COLUMNS.input_layer(dense, COLUMNS.indicator_column(CROSSED)))
    assert [np.flatnonzero(row).tolist() for row in made] == [[6, 30], [13, 29], [43]]
    assert values(COLUMNS.input_layer(sparse, COLUMNS.indicator_column(CROSSED))).sum(1).tolist() == [2, 1, 2]
    spec = COLUMNS.make_parse_example_spec([NUMBERS, RANGES, COLUMNS.indicator_column(CROSSED)])
    assert {key: type(each).__name__ for key, each in spec.items()} == {
        "n": "FixedLenFeature", "m": "FixedLenFeature", "w": "VarLenFeature", "h": "VarLenFeature"}


def test_weights_of_columns_learn_as_tensorflows():
    features = {key: tf.constant(value) for key, value in FEATURES.items()}
    made = COLUMNS.linear_model(features, [NUMBERS, RANGES, WORDS, HASHED])
    step = tf.train.GradientDescentOptimizer(0.005).minimize(tf.reduce_sum(tf.square(made - 3.0)))
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        for _ in range(3):
            session.run(step)
        np.testing.assert_allclose(session.run(made)[:, 0], [1.3122, 0.72683, 2.3663], rtol=2e-4)
    assert [v.name for v in tf.trainable_variables()] == [
        f"linear_model/{name}:0" for name in ("h/weights", "m_bucketized/weights", "n/weights", "w/weights",
                                              "bias_weights")]


ROWS = {"n": np.random.RandomState(0).randn(24, 2).astype(np.float32),
        "m": (np.random.RandomState(1).rand(24) * 10).astype(np.float32),
        "w": np.random.RandomState(2).choice(["a", "b", "c", "zz"], 24)}
ABOVE = (ROWS["m"] > 5).astype(np.int32)
KEPT = ESTIMATOR.RunConfig(log_step_count_steps=None, save_summary_steps=None)


def batches(labels, epochs=None):
    return ESTIMATOR.inputs.numpy_input_fn(ROWS, labels, 8, epochs, False)


def linear():
    model = ESTIMATOR.LinearClassifier([NUMBERS, RANGES, WORDS], config=KEPT)
    model.train(batches(ABOVE), steps=4)
    found = model.evaluate(batches(ABOVE, 1))
    first = next(model.predict(batches(None, 1)))
    return [*(found[key] for key in sorted(found)), *first["logits"], *first["probabilities"], first["classes"][0]]


def numbers():
    model = ESTIMATOR.LinearRegressor([NUMBERS, RANGES], config=KEPT, weight_column="m",
                                      optimizer=tf.train.GradientDescentOptimizer(0.001))
    model.train(batches(ROWS["m"] * 2 + 1), steps=4)
    found = model.evaluate(batches(ROWS["m"] * 2 + 1, 1))
    return [*(found[key] for key in sorted(found)), *next(model.predict(batches(None, 1)))["predictions"]]


def test_linear_estimators_are_tensorflows():
    *found, word = linear()
    assert word == b"0"
    np.testing.assert_allclose(found, [0.875, 0.625, 0.94444, 0.92841, 0.45547, 4.0, 0.375, 3.6437, 1.0, 0.37325,
                                       0.66667, -1.3739, 0.798, 0.202], rtol=2e-4)
    np.testing.assert_allclose(numbers(), [91.002, 4.0, 12.909, 3069.9, 4.2294, 3.3757], rtol=2e-4)


def test_layers_and_weights_together_have_tensorflows_names():
    model = ESTIMATOR.DNNLinearCombinedClassifier(
        linear_feature_columns=[RANGES], dnn_feature_columns=[COLUMNS.embedding_column(WORDS, 2)], dnn_hidden_units=[3],
        n_classes=3, label_vocabulary=["no", "yes", "-"], dnn_optimizer="SGD", dnn_dropout=0.1, batch_norm=True,
        config=KEPT)
    labels = np.array(["no", "yes"])[ABOVE]
    model.train(batches(labels), steps=2)
    assert {name for name in model.get_variable_names() if "Ftrl" not in name and "batchnorm" not in name} == {
        "dnn/hiddenlayer_0/bias", "dnn/hiddenlayer_0/kernel", "dnn/logits/bias", "dnn/logits/kernel", "global_step",
        "dnn/input_from_feature_columns/input_layer/w_embedding/embedding_weights",
        "linear/linear_model/bias_weights", "linear/linear_model/m_bucketized/weights"}
    assert set(model.evaluate(batches(labels, 1))) == {"accuracy", "average_loss", "loss", "global_step"}
    assert next(model.predict(batches(None, 1)))["all_classes"].tolist() == [b"no", b"yes", b"-"]


@pytest.mark.parametrize("wrong, words", [
    (lambda: COLUMNS.input_layer({"w": tf.constant(["a"])}, [WORDS]), "You can wrap a categorical column with an"),
    (lambda: COLUMNS.input_layer({"m": tf.constant([1.0])}, [NUMBERS]), "Feature n is not in features dictionary"),
    (lambda: COLUMNS.bucketized_column(NUMBERS, [2.0, 1.0]), "boundaries must be a sorted list"),
    (lambda: ESTIMATOR.DNNLinearCombinedClassifier(), "must be defined"),
    (lambda: ESTIMATOR.LinearClassifier([WORDS], optimizer="Sgd").train(batches(ABOVE), steps=1),
     "Unsupported optimizer name: Sgd"),
])
def test_what_columns_refuse(wrong, words):
    with pytest.raises(ValueError, match=words):
        wrong()
