"""tf.layers and tf.contrib.layers: variables, outputs, gradients and updates as TensorFlow 1.15 computed them."""

import numpy as np
import pytest

import autodiff as tf
from autodiff.api.variables.layer_weights import get_reachable_from_inputs

from .layer_cases import check, contrib_layers, layers

# name: (variables, measured outputs and losses, gradients, variables after the updates)
EXPECTED = {
    "dense": (
        "dense/kernel:0[4, 5] dense/bias:0[5]",
        [0.998123, 0.231129],
        [0.829039, -0.3912533, 7.023256],
        [],
    ),
    "dense_of_rank_3": (
        "q/kernel:0[4, 5]",
        [0.7857468],
        [1.191799, -3.700058],
        [],
    ),
    "dense_shared": (
        "a/kernel:0[4, 4] a/bias:0[4]",
        [1.265692, 2.092097],
        [1.334869, 2.765407, 16.13465],
        [],
    ),
    "conv1d": (
        "conv1d/kernel:0[3, 3, 4] conv1d/bias:0[4]",
        [3.949215],
        [0.5943055, 31.91691, 27.93257],
        [],
    ),
    "conv2d": (
        "conv2d/kernel:0[3, 2, 3, 4] conv2d/bias:0[4]",
        [0.7172337],
        [-0.3746913, -98.26692, 126.9346],
        [],
    ),
    "conv2d_dilated": (
        "conv2d/kernel:0[2, 2, 3, 4] conv2d/bias:0[4]",
        [1.213308, 2.025976],
        [3.682631, -44.36934, 112.708],
        [],
    ),
    "conv3d": (
        "conv3d/kernel:0[2, 2, 2, 2, 3] conv3d/bias:0[3]",
        [-1.371213],
        [-3.196268, -180.7614, 155.6943],
        [],
    ),
    "conv2d_transpose": (
        "conv2d_transpose/kernel:0[3, 4, 4, 3] conv2d_transpose/bias:0[4]",
        [-0.6503685],
        [-0.8403609, 32.19511, 708.558],
        [],
    ),
    "conv3d_transpose": (
        "conv3d_transpose/kernel:0[2, 2, 2, 3, 2] conv3d_transpose/bias:0[3]",
        [0.8906185],
        [-1.349123, 36.00237, 773.4971],
        [],
    ),
    "separable_conv2d": (
        "separable_conv2d/depthwise_kernel:0[3, 3, 3, 2] separable_conv2d/pointwise_kernel:0[1, 1, 6, 4] "
        "separable_conv2d/bias:0[4]",
        [-0.5638814],
        [-0.2604167, 62.09693, -97.99192, 196.9875],
        [],
    ),
    "separable_conv1d": (
        "separable_conv1d/depthwise_kernel:0[3, 3, 1] separable_conv1d/pointwise_kernel:0[1, 3, 4] "
        "separable_conv1d/bias:0[4]",
        [1.344849],
        [0.0003713753, 0.007329168, -0.3498386, 43.39183],
        [],
    ),
    "max_pooling": (
        "",
        [2.088211],
        [-0.8671679],
        [],
    ),
    "average_pooling": (
        "",
        [0.7410417],
        [1.122838],
        [],
    ),
    "pooling_of_rows": (
        "",
        [1.055477, 0.1596472],
        [0.8477622],
        [],
    ),
    "flatten": (
        "",
        [-0.1435877],
        [1.196686],
        [],
    ),
    "batch_norm_training": (
        "batch_normalization/gamma:0[3] batch_normalization/beta:0[3] "
        "batch_normalization/moving_mean:0[3] batch_normalization/moving_variance:0[3]",
        [-0.3639625],
        [0.2098863, -0.7441654, 11.85512],
        [0.341393, -0.6836576, 0.6634879, 1.734797],
    ),
    "batch_norm_inference": (
        "batch_normalization/gamma:0[3] batch_normalization/beta:0[3] "
        "batch_normalization/moving_mean:0[3] batch_normalization/moving_variance:0[3]",
        [0.4814013],
        [-0.9003623, -6.072965, 12.20002],
        [],
    ),
    "batch_norm_axis_1": (
        "batch_normalization/gamma:0[3] batch_normalization/beta:0[3] "
        "batch_normalization/moving_mean:0[3] batch_normalization/moving_variance:0[3]",
        [-5.059988],
        [-0.05210013, -2.526616, 59.30873],
        [0.341393, -0.6836576, 0.6825697, 1.696059],
    ),
    "batch_norm_fused": (
        "batch_normalization/gamma:0[2] batch_normalization/beta:0[2] "
        "batch_normalization/moving_mean:0[2] batch_normalization/moving_variance:0[2]",
        [-0.4431721],
        [0.007344765, -2.817141, 135.9258],
        [0.04146589, -0.7225537, 0.46429, 1.193611],
    ),
    "batch_norm_tensor": (
        "batch_normalization/gamma:0[3] batch_normalization/beta:0[3] "
        "batch_normalization/moving_mean:0[3] batch_normalization/moving_variance:0[3]",
        [0.4814013],
        [-0.9003623, -6.072965, 12.20002],
        [0.341393, -0.6836576, 0.9351646, 1.850443],
    ),
    "fully_connected": (
        "fully_connected/weights:0[4, 5] fully_connected/biases:0[5]",
        [-0.5225647, 0.1169538],
        [-0.703221, 0.8250892, 6.524691],
        [],
    ),
    "fully_connected_normed": (
        "fully_connected/weights:0[4, 5] fully_connected/BatchNorm/beta:0[5] "
        "fully_connected/BatchNorm/moving_mean:0[5] fully_connected/BatchNorm/moving_variance:0[5]",
        [-3.9216],
        [0.5757974, 0.9142948, 2.457463],
        [0.1127914, -1.084346, 0.7964441, 1.706421],
    ),
    "conv2d_same_relu": (
        "Conv/weights:0[3, 3, 3, 4] Conv/biases:0[4]",
        [-19.05196],
        [-0.08550602, 10.93272, 21.94385],
        [],
    ),
    "conv2d_up": (
        "Conv2d_transpose/weights:0[3, 3, 4, 3] Conv2d_transpose/biases:0[4]",
        [-0.806801],
        [-21.14505, 43.82355, 75.93892],
        [],
    ),
    "separable": (
        "SeparableConv2d/depthwise_weights:0[3, 3, 3, 2] SeparableConv2d/pointwise_weights:0[1, 1, 6, 4] "
        "SeparableConv2d/biases:0[4]",
        [3.927941],
        [-1.317575, 5.688423, -5.692344, 86.37473],
        [],
    ),
    "batch_norm_of_rows": (
        "BatchNorm/beta:0[3] BatchNorm/gamma:0[3] BatchNorm/moving_mean:0[3] BatchNorm/moving_variance:0[3]",
        [-0.0243158],
        [-0.09348632, 9.456162, -1.039461],
        [0.9710099, 0.1141132, -0.5506287, 2.2305],
    ),
    "batch_norm_at_once": (
        "BatchNorm/beta:0[4] BatchNorm/moving_mean:0[4] BatchNorm/moving_variance:0[4]",
        [0.3647539],
        [-0.528779, 5.121646],
        [],
    ),
    "layer_norm": (
        "LayerNorm/beta:0[3, 4] LayerNorm/gamma:0[3, 4]",
        [1.275023],
        [-1.550103, -6.273442, -3.533329],
        [],
    ),
    "instance_norm": (
        "InstanceNorm/beta:0[2] InstanceNorm/gamma:0[2]",
        [-1.013549],
        [-0.05346487, 38.98928, -18.6013],
        [],
    ),
    "unit_norm": (
        "",
        [1.257231],
        [1.463587],
        [],
    ),
    "stack": (
        "fc/fc_1/weights:0[4, 5] fc/fc_1/biases:0[5] fc/fc_2/weights:0[5, 6] fc/fc_2/biases:0[6]",
        [0.0124527],
        [-0.3405689, 1.280918, 0.6914165, 0.113819, 7.527388],
        [],
    ),
    "repeat": (
        "Repeat/convolution2d_1/weights:0[3, 3, 2, 3] Repeat/convolution2d_1/biases:0[3] "
        "Repeat/convolution2d_2/weights:0[3, 3, 3, 3] Repeat/convolution2d_2/biases:0[3]",
        [1.111791],
        [-3.414185, 3.561921, 112.957, 0.1247861, 25.79701],
        [],
    ),
    "regularizers": (
        "",
        [1.082355, 0.6407353],
        [0.09912867],
        [],
    ),
}
CASES = {**layers(tf), **contrib_layers(tf)}


pytestmark = pytest.mark.usefixtures("own_graph")


@pytest.mark.parametrize("name", EXPECTED)
def test_layer_is_tensorflows(name):
    check(tf, CASES[name], EXPECTED[name])


def names(variables):
    return [v.name for v in variables]


def test_layers_count_their_scopes_and_share_by_name():
    x = tf.zeros([2, 3])
    first, second = tf.layers.Dense(4), tf.layers.Dense(4, name="named")
    first(x), first(x), second(x)
    tf.layers.dense(x, 4)
    assert names(tf.global_variables()) == ["dense/kernel:0", "dense/bias:0", "named/kernel:0", "named/bias:0",
                                            "dense_1/kernel:0", "dense_1/bias:0"]
    with pytest.raises(ValueError, match="already exists"):
        tf.layers.dense(x, 4, name="named")
    with pytest.raises(ValueError, match="does not exist"):
        tf.layers.dense(x, 4, name="other", reuse=True)
    with tf.variable_scope("outer"), tf.variable_scope("inner", reuse=tf.AUTO_REUSE):
        tf.layers.dense(x, 4, name="a")
        assert tf.layers.dense(x, 4, name="a").name == "outer/inner/a_1/BiasAdd:0"


def test_a_layer_knows_its_variables_losses_and_updates():
    layer = tf.layers.BatchNormalization(gamma_regularizer=lambda w: tf.reduce_sum(w))
    layer(tf.zeros([4, 3]), training=True)
    assert names(layer.trainable_variables) == ["batch_normalization/gamma:0", "batch_normalization/beta:0"]
    assert names(layer.non_trainable_variables) == [f"batch_normalization/moving_{m}:0" for m in ("mean", "variance")]
    assert names(layer.losses) == ["batch_normalization/gamma/Regularizer/Sum:0"]
    assert layer.losses == tf.losses.get_regularization_losses()
    assert layer.updates == tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    assert layer.count_params() == 12


def test_an_own_layer_builds_once():
    class Scale(tf.layers.Layer):
        def build(self, input_shape):
            self.factor = self.add_variable("factor", [int(input_shape[-1])], initializer="ones")
            super().build(input_shape)

        def call(self, inputs, offset=0.0):
            return inputs * self.factor + offset

    layer = Scale(dtype="float64")
    with tf.Session() as session:
        outputs = [layer(np.ones([2, 3])), layer(tf.ones([2, 3], tf.float64), offset=1.0)]
        session.run(tf.global_variables_initializer())
        assert [y.sum() for y in session.run(outputs)] == [6.0, 12.0]
    assert names(tf.global_variables()) == ["scale/factor:0"]


def test_a_layer_that_is_not_trained_has_no_updates():
    layer = tf.layers.BatchNormalization(trainable=False)
    layer(tf.zeros([4, 3]), training=True)
    assert layer.updates == [] == layer.trainable_variables == tf.trainable_variables()


@pytest.mark.parametrize(("make", "error"), [
    (lambda: tf.layers.dense(tf.zeros([3]), 2), "min_ndim=2"),
    (lambda: tf.layers.dense(tf.placeholder(tf.float32, [3, None]), 2), "last dimension of the inputs"),
    (lambda: tf.layers.conv2d(tf.zeros([2, 3, 4]), 2, 2), "ndim=4"),
    (lambda: tf.layers.conv2d(tf.zeros([1, 3, 4, 2]), 2, 2, padding="around"), "'valid', 'same'"),
    (lambda: tf.layers.conv2d(tf.zeros([1, 3, 4, 2]), 2, (2, 2, 2)), "2 ints as kernel_size"),
    (lambda: tf.layers.batch_normalization(tf.zeros([3, 4]), axis=2), "axes of 2"),
    (lambda: tf.layers.dense(tf.zeros([3, 2]), 2, activation="relux"), "'relux'"),
    (lambda: tf.layers.max_pooling2d(tf.zeros([1, 3, 4, 2]), 2, 2, data_format="NHWC"), "channels_last"),
    (lambda: tf.layers.max_pooling2d(tf.zeros([1, 3, 4, 2]), 2, None), "`strides` must not be None"),
    (lambda: tf.contrib.layers.fully_connected(tf.zeros([3, 2]), 2.5), "num_outputs"),
    (lambda: tf.contrib.layers.conv2d(tf.zeros([3, 2, 2]), 2, 1), "rank 4"),
    (lambda: tf.contrib.layers.l2_regularizer(1), "integer"),
    (lambda: tf.contrib.layers.apply_regularization(tf.contrib.layers.l2_regularizer(1.0)), "weights"),
])
def test_bad_arguments_are_refused(make, error):
    with pytest.raises(ValueError, match=error):
        make()


def test_a_layer_called_with_another_depth_is_refused():
    layer = tf.layers.Dense(2)
    layer(tf.zeros([3, 4]))
    with pytest.raises(ValueError, match="expected axis -1 of input shape to have value 4 but received"):
        layer(tf.zeros([3, 5]))


def test_what_is_not_served_says_so():
    with pytest.raises(AttributeError, match="contrib.cudnn_rnn"):
        tf.contrib.cudnn_rnn  # noqa: B018


def test_dropout_keeps_its_mean_and_its_seed():
    x = tf.ones([100, 100])
    with tf.Session() as session:
        y, again, off = session.run([tf.layers.dropout(x, 0.3, seed=1, training=True),
                                     tf.contrib.layers.dropout(x, 0.7), tf.layers.dropout(x, 0.3)])
    for dropped in (y, again):
        assert set(np.unique(dropped)) == {0.0, np.float32(1.0 / 0.7)}
        assert abs(dropped.mean() - 1.0) < 0.05
    assert (off == 1.0).all()


def test_batch_norm_converges_to_the_moments():
    x = tf.constant(np.random.RandomState(0).normal(5.0, 2.0, [200, 3]))
    y = tf.layers.batch_normalization(x, training=tf.placeholder_with_default(True, [], name="training"), momentum=0.5)
    mean, variance = tf.global_variables()[2:]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(40):
            session.run(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
        values = session.run(x)
        np.testing.assert_allclose(session.run(mean), values.mean(0), rtol=1e-9)
        np.testing.assert_allclose(session.run(variance), values.var(0), rtol=1e-9)
        trained, used = session.run(y), session.run(y, {"training:0": False})
        np.testing.assert_allclose(trained, used, rtol=1e-9)


def test_arg_scope_sets_defaults_inside_of_it_alone():
    slim = tf.contrib.slim
    x = tf.zeros([1, 6, 6, 3])
    with slim.arg_scope([slim.conv2d, slim.max_pool2d], padding="SAME"):
        with slim.arg_scope([slim.conv2d], stride=2, activation_fn=None) as both:
            assert slim.conv2d(x, 2, 3).shape.as_list() == [1, 3, 3, 2]
        assert slim.conv2d(x, 2, 3).shape.as_list() == [1, 6, 6, 2]
        assert slim.max_pool2d(x, 3, padding="VALID").shape.as_list() == [1, 2, 2, 3]
    with slim.arg_scope(both):
        assert slim.conv2d(x, 2, 3).op.type == "BiasAdd"
    assert slim.conv2d(x, 2, 3).op.type == "Relu"
    with pytest.raises(ValueError, match="add_arg_scope"), slim.arg_scope([len], x=1):
        pass


def test_model_variables_are_found_by_scope_and_name():
    slim = tf.contrib.slim
    slim.stack(tf.zeros([2, 3]), slim.fully_connected, [4, 5], scope="fc")
    assert names(slim.get_variables("fc/fc_1")) == ["fc/fc_1/weights:0", "fc/fc_1/biases:0"]
    assert names(tf.contrib.framework.get_variables_by_name("biases")) == ["fc/fc_1/biases:0", "fc/fc_2/biases:0"]
    assert slim.get_model_variables() == tf.global_variables()
    assert slim.model_analyzer.analyze_vars(slim.get_variables("fc/fc_2")) == (25, 100)


def test_outputs_are_collected_under_their_scopes():
    up = tf.contrib.layers
    y = up.flatten(up.conv2d(tf.zeros([1, 4, 4, 3]), 2, 3, outputs_collections="ends"), outputs_collections="ends")
    ends = up.utils.convert_collection_to_dict("ends")
    assert list(ends) == ["Conv", "Flatten"]
    assert ends["Flatten"] is y


def test_optimize_loss_takes_one_clipped_step():
    w = tf.get_variable("w", initializer=[3.0, 4.0])
    step = tf.train.get_or_create_global_step()
    train = tf.contrib.layers.optimize_loss(tf.reduce_sum(w * w), step, 1.0, "SGD", clip_gradients=1.0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(train) == 25.0
        np.testing.assert_allclose(session.run(w), [2.4, 3.2], rtol=1e-6)
        assert session.run(step) == 1


def test_inputs_that_a_spec_refuses_are_refused_in_tensorflows_words() -> None:
    spec = tf.layers.InputSpec

    class Strict(tf.layers.Layer):
        def call(self, inputs):
            return inputs

    for demand, given, text in (
            (spec(ndim=2), tf.placeholder(tf.float32), "its rank is undefined, but the layer requires a defined rank"),
            (spec(ndim=2), tf.zeros([3]), r"expected ndim=2, found ndim=1. Full shape received: \[3\]"),
            (spec(shape=(None, 3)), tf.zeros([1, 2]), r"expected shape=\(None, 3\), found shape=\[1, 2\]"),
            (spec(dtype=tf.float32), tf.zeros([1], tf.int32), "expected dtype=float32, found dtype=")):
        layer = Strict(name="strict")
        layer.input_spec = demand
        with pytest.raises(ValueError, match=f"Input 0 of layer strict is incompatible with the layer: {text}"):
            layer(given)


def test_losses_and_updates_are_told_by_the_inputs_they_come_of() -> None:
    class Counts(tf.layers.Layer):
        def build(self, input_shape):
            self.count = self.add_variable("count", [], trainable=False)
            self.add_loss(self.count * 2)
            super().build(input_shape)

        def call(self, inputs):
            self.add_update(self.count.assign_add(inputs), inputs=True)
            self.add_loss(inputs * inputs, inputs=True)
            return inputs + 1

    layer = Counts()
    first, second = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    outputs = [layer(first * 2), layer(second)]
    assert (len(layer.losses), len(layer.updates)) == (3, 2)
    for inputs, losses, updates in ((None, 1, 0), (first, 1, 1), ([first, second], 2, 2), (outputs, 0, 0)):
        assert (len(layer.get_losses_for(inputs)), len(layer.get_updates_for(inputs))) == (losses, updates)


def test_fused_batch_normalization_may_move_to_the_variance_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.float32([[[[1.0]], [[3.0]]]])
    for biased, expected in ((True, 0.99 + 0.01 * 2), (False, 0.99 + 0.01 * 1)):
        layer = tf.layers.BatchNormalization(fused=True)
        layer._bessels_correction_test_only = biased
        layer(tf.constant(x), training=True)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(layer.updates)
            assert session.run(layer.moving_variance) == pytest.approx([expected], rel=1e-5)


def test_tensors_that_others_are_computed_from() -> None:
    a, b = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    product = a * b
    total = product + 1
    assert get_reachable_from_inputs([a]) == {a, product, total}
    assert get_reachable_from_inputs([b], targets=[total, a]) == {total}


@pytest.mark.parametrize(("options", "expected"), [
    ({"renorm": True, "renorm_clipping": {"rmax": 1.5, "rmin": 0.5, "dmax": 0.4}},
     {"gamma": [0.3645, 0.0898, 0.0211, 0.0038], "moving_variance": [1.7269, 1.6946, 1.5954, 1.4196],
      "renorm_mean": [0.0891, 0.0842, 0.0792, 0.0743], "renorm_stddev": [1.0345, 1.0331, 1.0289, 1.0210]}),
    ({"virtual_batch_size": 3}, {"gamma": [0.6819, 0.4393, 0.2625, 0.1412], "beta": [0.0] * 4,
                                 "moving_variance": [0.9097, 1.7528, 1.7528, 0.9097]}),
    ({"adjustment": lambda shape: (2.0 * tf.ones([1, shape[1]]), 0.5 * tf.ones([1, shape[1]]))},
     {"moving_mean": [0.8130, 0.7678, 0.7227, 0.6775]})])
@pytest.mark.parametrize("fixed", [True, False])
def test_batches_are_renormalized_in_parts_and_adjusted(options, expected, fixed):
    """Variables after three steps of training: TensorFlow 1.15.5's."""
    x = tf.placeholder(tf.float32, [None, 4])
    y = tf.layers.batch_normalization(x, momentum=0.9, training=fixed or tf.placeholder_with_default(True, []),
                                      **options)
    loss = tf.reduce_sum(y * y * tf.constant([1.0, 2.0, 3.0, 4.0]))
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(train, {x: np.arange(24).reshape(6, 4) % 7})
        found = {v.op.name.rpartition("/")[2]: session.run(v).ravel() for v in tf.global_variables()}
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, atol=6e-5)


@pytest.mark.parametrize("options", [
    {"renorm": True, "fused": True}, {"virtual_batch_size": 0}, {"renorm_clipping": {"max": 1}, "renorm": True},
    {"virtual_batch_size": 2, "adjustment": len}, {"virtual_batch_size": 2, "axis": 0}])
def test_ways_to_normalize_that_exclude_each_other(options):
    with pytest.raises(ValueError):
        tf.layers.batch_normalization(tf.zeros([4, 4]), **options)


def test_fused_normalization_of_half_precision_is_one_op() -> None:
    x = tf.constant(np.arange(16.0).reshape(2, 2, 2, 2), tf.float16)
    y, mean, _ = tf.nn.fused_batch_norm(x, [1.0, 2.0], [0.0, 1.0], data_format="NHWC")
    dx, = tf.gradients(y * y, [x])
    assert (y.op.type, y.dtype, mean.dtype, dx.dtype) == ("FusedBatchNormV3", tf.float16, tf.float32, tf.float16)
    with tf.Session() as session:
        found, slopes = session.run([y, dx])
        single = tf.cast(x, tf.float32)
        y32 = tf.nn.fused_batch_norm(single, [1.0, 2.0], [0.0, 1.0])[0]
        np.testing.assert_allclose(found, session.run(y32), atol=2e-3)
        np.testing.assert_allclose(slopes, session.run(tf.gradients(y32 * y32, single)[0]), atol=2e-3)
