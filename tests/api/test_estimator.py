"""tf.estimator: the loops around a model function, and what they write and hand out."""
import os

import numpy as np
import pytest

import autodiff as tf

ROWS = np.arange(12, dtype=np.float32).reshape(6, 2) / 10
LABELS = ROWS.sum(1)
KEPT = tf.estimator.RunConfig(log_step_count_steps=None, save_summary_steps=None, save_checkpoints_steps=4)


def model(features, labels, mode, params):
    predicted = tf.layers.dense(features["x"], 1, kernel_initializer=tf.ones_initializer())[:, 0]
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, {"y": predicted, "twice": 2 * predicted})
    loss = tf.losses.mean_squared_error(labels, predicted)
    step = tf.train.GradientDescentOptimizer(params["rate"]).minimize(loss, tf.train.get_global_step())
    metrics = {"mae": tf.metrics.mean_absolute_error(labels, predicted)}
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step, eval_metric_ops=metrics)


def batches(size=2, epochs=1, labels=True):
    return tf.estimator.inputs.numpy_input_fn({"x": ROWS}, 2 * LABELS if labels else None, size, epochs, False)


def dataset():
    return tf.data.Dataset.from_tensor_slices(({"x": ROWS}, 2 * LABELS)).batch(2)


def trained_by_hand(rate, steps):
    """Kernel and bias after so many steps over batches of two rows, in NumPy."""
    kernel, bias = np.ones(2), 0.0
    for i in range(steps):
        rows, labels = (a[2 * (i % 3):2 * (i % 3) + 2].astype(float) for a in (ROWS, 2 * LABELS))
        error = rows @ kernel + bias - labels
        kernel, bias = kernel - rate * rows.T @ error, bias - rate * error.sum()
    return kernel, bias


@pytest.fixture
def estimator(tmp_path):
    return tf.estimator.Estimator(model, str(tmp_path), KEPT, {"rate": 0.1})


def test_training_goes_to_the_end_of_the_data_or_of_the_steps_and_goes_on_from_there(estimator):
    estimator.train(batches())
    estimator.train(dataset, steps=2)
    kernel, bias = trained_by_hand(0.1, 3)
    rows, labels = ROWS.astype(float), 2 * LABELS.astype(float)
    for i in range(2):
        error = rows[2 * i:2 * i + 2] @ kernel + bias - labels[2 * i:2 * i + 2]
        kernel, bias = kernel - 0.1 * rows[2 * i:2 * i + 2].T @ error, bias - 0.1 * error.sum()
    assert estimator.get_variable_value("global_step") == 5
    np.testing.assert_allclose(estimator.get_variable_value("dense/kernel")[:, 0], kernel, rtol=1e-5)
    estimator.train(batches(), max_steps=5)  # is there already
    assert estimator.get_variable_value("global_step") == 5
    assert estimator.get_variable_names() == ["dense/bias", "dense/kernel", "global_step"]


def test_evaluation_is_over_all_batches_or_so_many_and_predictions_come_one_by_one(estimator):
    estimator.train(batches(), steps=1)
    kernel, bias = trained_by_hand(0.1, 1)
    error = ROWS @ kernel + bias - 2 * LABELS
    found = estimator.evaluate(batches())
    np.testing.assert_allclose([found["loss"], found["mae"], found["global_step"]],
                               [np.square(error).mean(), np.abs(error).mean(), 1], rtol=1e-5)
    np.testing.assert_allclose(estimator.evaluate(dataset, steps=1)["mae"], np.abs(error[:2]).mean(), rtol=1e-5)
    events = [each for name in os.listdir(estimator.model_dir + "/eval")
              for each in tf.train.summary_iterator(f"{estimator.model_dir}/eval/{name}")]
    assert {value.tag for event in events for value in event.summary.value} == {"loss", "mae"}
    singles = list(estimator.predict(batches(4, labels=False)))
    np.testing.assert_allclose([each["y"] for each in singles], ROWS @ kernel + bias, rtol=1e-5)
    whole = list(estimator.predict(batches(4), ["twice"], yield_single_examples=False))
    assert [each["twice"].shape for each in whole] == [(4,), (2,)]


def test_train_and_evaluate_evaluates_the_last_checkpoint_and_exports_it(estimator):
    receiver = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": tf.constant(ROWS)})
    final = tf.estimator.FinalExporter("served", receiver)
    found, exports = tf.estimator.train_and_evaluate(
        estimator, tf.estimator.TrainSpec(batches(epochs=None), 6),
        tf.estimator.EvalSpec(dataset, exporters=[final], throttle_secs=0))
    assert found["global_step"] == 6 and os.path.dirname(exports[0].decode()).endswith("export/served")
    with tf.Graph().as_default(), tf.Session() as session:
        loaded = tf.saved_model.loader.load(session, ["serve"], exports[0].decode())
        signature = loaded.signature_def["serving_default"]
        served = session.run(signature.outputs["y"].name, {signature.inputs["x"].name: ROWS})
    np.testing.assert_allclose(served, [each["y"] for each in estimator.predict(batches())])


def test_a_model_begins_with_the_variables_of_another(estimator, tmp_path):
    estimator.train(batches(), steps=2)
    other = tf.estimator.Estimator(model, str(tmp_path / "other"), KEPT, {"rate": 0.0}, estimator.model_dir)
    other.train(batches(), steps=1)
    np.testing.assert_array_equal(other.get_variable_value("dense/kernel"),
                                  estimator.get_variable_value("dense/kernel"))


@pytest.mark.parametrize("wrong, words", [
    (lambda e: e.train(batches(), steps=1, max_steps=2), "Can not provide both steps and max_steps."),
    (lambda e: e.train(batches(), steps=0), "Must specify steps > 0, given: 0"),
    (lambda e: e.get_variable_names(), "has not been trained yet"),
    (lambda e: list(e.predict(batches(), ["none"])), "Expected to run at least one output from"),
    (lambda e: tf.estimator.inputs.numpy_input_fn(ROWS), "shuffle must be provided"),
    (lambda e: tf.estimator.inputs.numpy_input_fn(ROWS, LABELS[:2], shuffle=False), "is mismatched"),
    (lambda e: tf.estimator.EstimatorSpec("train", loss=1.0), "Missing train_op."),
    (lambda e: tf.estimator.EstimatorSpec("learn"), "Invalid mode key: learn"),
    (lambda e: tf.estimator.Estimator(lambda x: x), "must include features argument"),
    (lambda e: tf.estimator.Estimator(lambda features: features).train(batches(labels=False)),
     "should return an EstimatorSpec"),
    (lambda e: KEPT.replace(save_checkpoints_secs=1, save_checkpoints_steps=1), "cannot be both set"),
])
def test_what_an_estimator_refuses(estimator, wrong, words):
    with pytest.raises(ValueError, match=words):
        wrong(estimator)
    assert KEPT.replace(save_checkpoints_secs=1).save_checkpoints_steps is None


def test_an_estimator_for_a_tpu_takes_the_cpu_and_tells_functions_their_batch_size():
    tpu, sizes = tf.contrib.tpu, []

    def input_fn(params):
        sizes.append(params["batch_size"])
        return tf.data.Dataset.from_tensor_slices(({"x": ROWS}, 2 * LABELS)).repeat().batch(params["batch_size"])

    def model_fn(features, labels, mode, params):
        spec = model(features, labels, mode, params)
        own = {"eval_metrics": (lambda labels: {"mean": tf.metrics.mean(labels)}, [labels])} if mode == "eval" else {}
        return tpu.TPUEstimatorSpec(mode, loss=spec.loss, train_op=spec.train_op, **own)

    config = tpu.RunConfig(tpu_config=tpu.TPUConfig(iterations_per_loop=2, num_shards=8), log_step_count_steps=None)
    estimator = tpu.TPUEstimator(model_fn, config=config, params={"rate": 0.1}, use_tpu=False, train_batch_size=2,
                                 eval_batch_size=3)
    estimator.train(input_fn, max_steps=3)
    found = estimator.evaluate(input_fn, steps=2)
    kernel, bias = trained_by_hand(0.1, 3)
    np.testing.assert_allclose(found["loss"], np.square(ROWS @ kernel + bias - 2 * LABELS).mean(), rtol=1e-5)
    np.testing.assert_allclose(found["mean"], 2 * LABELS.mean(), rtol=1e-6)
    assert sizes == [2, 3]
    with pytest.raises(ValueError, match="batch_size are reserved keys by TPUEstimator"):
        tpu.TPUEstimator(model_fn, params={"batch_size": 1})


def test_a_strategy_is_the_one_replica_of_this_machine():
    distribute = tf.distribute
    assert not distribute.has_strategy() and distribute.get_strategy().num_replicas_in_sync == 1
    strategy = distribute.MirroredStrategy(["/gpu:0", "/gpu:1"])
    with strategy.scope():
        assert distribute.get_strategy() is strategy and distribute.get_replica_context() is None
    assert distribute.get_replica_context().merge_call(lambda s, x: x + s.num_replicas_in_sync, (2,)) == 3
    with tf.Graph().as_default(), tf.Session() as session:
        run = strategy.experimental_run_v2(lambda x: 2 * x, (tf.constant([1., 2.]),))
        assert session.run(strategy.reduce(distribute.ReduceOp.SUM, run, axis=0)) == 6


def test_the_losses_of_a_replica_are_a_mean_over_the_whole_batch():
    losses = tf.constant([1., 2., 6.])
    strategy = tf.distribute.MirroredStrategy()
    unknown = tf.placeholder(tf.float32)
    with strategy.scope():
        run = strategy.experimental_run_v2(tf.nn.compute_average_loss, (losses,), {"sample_weight": [1, 0, 1]})
        for function in (tf.nn.compute_average_loss, tf.nn.scale_regularization_loss):
            with pytest.raises(RuntimeError, match="in cross replica context"):
                function(losses)
        by_size = tf.nn.compute_average_loss(losses, global_batch_size=9.)
    found = run, by_size, tf.nn.scale_regularization_loss(losses), tf.nn.compute_average_loss(unknown)
    with tf.Session() as session:
        assert np.allclose(session.run(found, {unknown: [[2., 2.], [4., 4.]]}), [7 / 3, 1, 9, 6])
        with pytest.raises(tf.errors.InvalidArgumentError, match="at least rank 1"):
            session.run(found[-1], {unknown: 1.})
    with pytest.raises(ValueError, match="Expected a tensor with at least rank 1"):
        tf.nn.compute_average_loss(1.)
    with pytest.raises(ValueError, match="weights can not be broadcast to values"):
        tf.nn.compute_average_loss(losses, [1., 2.])
