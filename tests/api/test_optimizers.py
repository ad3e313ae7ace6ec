"""The optimizers, schedules and moving averages of tf.train. Numbers are TensorFlow 1.15.5's."""

import numpy as np
import pytest

import autodiff as tf
from autodiff import train

steps = train.get_or_create_global_step
opt = tf.contrib.opt


pytestmark = pytest.mark.usefixtures("own_graph")


def values_after(runs, operation, fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(runs):
            session.run(operation)
        return session.run(fetches)


# after four steps: w (4x2) and b with a dense gradient, w with rows 2, 0, 2 looked up
FOUR_STEPS = [
    ("sgd", lambda: train.GradientDescentOptimizer(0.1),
     [-0.23248, 0.168549, 0.00157715, 0.242606, 0.235634, 0.316663, 0.469691, 0.39072], 0.303485,
     [-0.23248, 0.168549, -0.428571, -0.142857, 0.279634, 0.300206, 0.714286, 1]),
    ("mom", lambda: train.MomentumOptimizer(0.1, 0.9),
     [0.70118, 1.12157, 0.524837, 0.658714, 0.348494, 0.195857, 0.172151, -0.267], 0.052237,
     [0.70118, 1.12157, -0.428571, -0.142857, 0.427286, 0.24744, 0.714286, 1]),
    ("nest", lambda: train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
     [0.72227, 0.655103, 0.536657, 0.455045, 0.351044, 0.254987, 0.16543, 0.054929], 0.0265071,
     [0.72227, 0.655103, -0.428571, -0.142857, 0.355016, 0.306301, 0.714286, 1]),
    ("adagrad", lambda: train.AdagradOptimizer(0.1),
     [-0.73379, -0.450768, -0.174514, 0.096417, 0.282307, 0.302118, 0.485084, 0.744318], 0.289369,
     [-0.73379, -0.450768, -0.428571, -0.142857, 0.292731, 0.300717, 0.714286, 1]),
    ("ada_da", lambda: train.AdagradDAOptimizer(0.1, steps()),
     [0.137957, 0.146771, 0.157018, 0.177099, 0.18032, 0.133885, 0.0756547, 0.0359007], -0.101354,
     [0.137957, 0.146771, -0.428571, -0.142857, 0.192079, 0.13478, 0.714286, 1]),
    ("ada_da_l", lambda: train.AdagradDAOptimizer(0.1, steps(), 0.2, 0.01, 0.3),
     [0.130491, 0.141964, 0.143173, 0.165947, 0.147534, 0.124254, 0.0656064, 0.0334442], -0.0751494,
     [0.130491, 0.141964, -0.428571, -0.142857, 0.17214, 0.130195, 0.714286, 1]),
    ("adadelta", lambda: train.AdadeltaOptimizer(10.0, 0.8, 1e-3),
     [0.299269, 0.300542, 0.3054, -0.0692199, -0.174749, 0.755018, 0.701303, 0.302293], -2.03723,
     [0.299269, 0.300542, -0.428571, -0.142857, -0.172987, 0.753601, 0.714286, 1]),
    ("rms", lambda: train.RMSPropOptimizer(0.1, momentum=0.5),
     [-0.0729763, 0.262732, 0.190077, 0.382211, 0.29015, 0.270568, 0.337638, 0.230513], 0.190621,
     [-0.0729763, 0.262732, -0.428571, -0.142857, 0.335749, 0.298852, 0.714286, 1]),
    ("rmsc", lambda: train.RMSPropOptimizer(0.1, 0.7, 0.5, 1e-3, centered=True),
     [-0.0429918, 0.232078, 0.251858, 0.391619, 0.312869, 0.274326, 0.286252, 0.232614], 0.142493,
     [-0.0429918, 0.232078, -0.428571, -0.142857, 0.332501, 0.318119, 0.714286, 1]),
    ("adam", lambda: train.AdamOptimizer(0.1, 0.8, 0.9, 1e-2),
     [-0.6065, -0.320787, -0.0420746, 0.234128, 0.38414, 0.233296, 0.345447, 0.610952], 0.144901,
     [-0.6065, -0.320787, -0.428571, -0.142857, 0.385121, 0.234636, 0.714286, 1]),
    ("ftrl", lambda: train.FtrlOptimizer(0.1),
     [-0.621162, -0.400096, -0.0963387, 0.11511, 0.241275, 0.260209, 0.331185, 0.649116], 0.162401,
     [-0.621162, -0.400096, -0.428571, -0.142857, 0.276515, 0.29411, 0.714286, 1]),
    ("ftrl2", lambda: train.FtrlOptimizer(0.3, -0.3, 0.2, 0.01, 0.2),
     [0.12365, 0.256406, 0.261192, 0.299569, 0.293717, 0.296989, 0.261271, 0.293957], -0.0807943,
     [0.12365, 0.256406, -0.428571, -0.142857, 0.300467, 0.300351, 0.714286, 1]),
    ("ftrl3", lambda: train.FtrlOptimizer(0.3, -0.5, 0.2, 0.01, 0.2, l2_shrinkage_regularization_strength=0.2),
     [-0.0981498, 0.0336482, 0.200129, 0.268804, 0.249968, 0.254768, 0.232053, 0.311373], -0.0670038,
     [-0.0981498, 0.0336481, -0.428571, -0.142857, 0.275032, 0.282065, 0.714286, 1]),
    ("ftrl4", lambda: train.FtrlOptimizer(0.3, -0.3, 0.2, 0.01, 0.2, l2_shrinkage_regularization_strength=0.2),
     [0.146957, 0.247405, 0.236621, 0.272737, 0.248535, 0.270505, 0.223063, 0.26743], -0.123597,
     [0.146957, 0.247405, -0.428571, -0.142857, 0.274125, 0.286051, 0.714286, 1]),
    ("prox", lambda: train.ProximalGradientDescentOptimizer(0.1, 0.05, 0.2),
     [-0.194755, 0.160892, 0.0116741, 0.223922, 0.209456, 0.292339, 0.425689, 0.360757], 0.269402,
     [-0.194755, 0.160892, -0.428571, -0.142857, 0.258131, 0.286795, 0.714286, 1]),
    ("proxada", lambda: train.ProximalAdagradOptimizer(0.1, 0.2, 0.05, 0.3),
     [-0.703964, -0.437008, -0.155366, 0.089908, 0.223391, 0.271738, 0.433155, 0.716726], 0.250537,
     [-0.703964, -0.437008, -0.428571, -0.142857, 0.25893, 0.284128, 0.714286, 1]),
    ("proxada0", lambda: train.ProximalAdagradOptimizer(0.1, 0.2, 0.0, 0.3),
     [-0.709194, -0.440381, -0.164256, 0.0930835, 0.242255, 0.283152, 0.447204, 0.721553], 0.266454,
     [-0.709194, -0.440381, -0.428571, -0.142857, 0.270275, 0.290139, 0.714286, 1]),
    ("nadam", lambda: opt.NadamOptimizer(0.1, 0.8, 0.9, 1e-2),
     [-0.474085, -0.194026, 0.0706136, 0.307388, 0.325326, 0.294986, 0.279963, 0.499548], 0.092254,
     [-0.474085, -0.194026, -0.428571, -0.142857, 0.321695, 0.29693, 0.714286, 1]),
    ("lazy", lambda: opt.LazyAdamOptimizer(0.1, 0.8, 0.9, 1e-2),
     [-0.6065, -0.320787, -0.0420746, 0.234128, 0.38414, 0.233296, 0.345447, 0.610952], 0.144901,
     [-0.6065, -0.320787, -0.428571, -0.142857, 0.38512, 0.234636, 0.714286, 1]),
    ("adamax", lambda: opt.AdaMaxOptimizer(0.1, 0.8, 0.9, 1e-2),
     [-0.57725, -0.289381, -0.0217662, 0.227789, 0.369511, 0.239621, 0.351918, 0.594221], 0.166145,
     [-0.57725, -0.289381, -0.428571, -0.142857, 0.370442, 0.239687, 0.714286, 1]),
    ("adamw", lambda: opt.AdamWOptimizer(0.05, 0.1, 0.8, 0.9, 1e-2),
     [-0.451771, -0.219187, 0.00688644, 0.23126, 0.358905, 0.225404, 0.256727, 0.461335], 0.091435,
     [-0.451771, -0.219187, -0.428571, -0.142857, 0.360472, 0.227135, 0.714286, 1]),
    ("momentumw", lambda: opt.MomentumWOptimizer(0.05, 0.1, 0.9),
     [0.715031, 1.05028, 0.518606, 0.619651, 0.322181, 0.189026, 0.125756, -0.241599], 0.0182063,
     [0.715031, 1.05028, -0.428571, -0.142857, 0.404339, 0.266613, 0.714286, 1]),
    ("sgdw", lambda: opt.extend_with_decoupled_weight_decay(train.GradientDescentOptimizer)(
        0.05, learning_rate=0.1),
     [-0.152344, 0.176903, 0.0284598, 0.229193, 0.209263, 0.281482, 0.390067, 0.333771], 0.24912,
     [-0.23248, 0.168549, -0.428571, -0.142857, 0.279634, 0.300206, 0.714286, 1]),
]
IDS = [row[0] for row in FOUR_STEPS]


def model(rows, use_resource):
    w = tf.Variable(np.linspace(-1, 1, 8).reshape(4, 2), dtype=tf.float64, name="w", use_resource=use_resource)
    b = tf.Variable(0.5, dtype=tf.float64, name="b", use_resource=use_resource)
    looked_up = w if rows is None else tf.gather(w, rows)
    loss = tf.reduce_sum(tf.square(looked_up - 0.3) * [1.0, 2.0]) + tf.square(b) * tf.sin(b)
    return w, b, loss


@pytest.mark.parametrize("use_resource", [False, True], ids=["reference", "resource"])
@pytest.mark.parametrize(("name", "make", "dense_w", "dense_b", "sparse_w"), FOUR_STEPS, ids=IDS)
def test_four_steps_are_tensorflows(name, make, dense_w, dense_b, sparse_w, use_resource):
    w, b, loss = model(None, use_resource)
    found = values_after(4, make().minimize(loss, global_step=steps()), [w, b, steps()])
    np.testing.assert_allclose(found[0].ravel(), dense_w, rtol=2e-5, atol=2e-6)  # TensorFlow's were float32
    np.testing.assert_allclose(found[1], dense_b, rtol=2e-5, atol=2e-6)
    assert found[2] == 4


@pytest.mark.parametrize("use_resource", [False, True], ids=["reference", "resource"])
@pytest.mark.parametrize(("name", "make", "dense_w", "dense_b", "sparse_w"), FOUR_STEPS, ids=IDS)
def test_four_sparse_steps_are_tensorflows(name, make, dense_w, dense_b, sparse_w, use_resource):
    w, _, loss = model([2, 0, 2], use_resource)
    found = values_after(4, make().minimize(loss, global_step=steps()), w)
    np.testing.assert_allclose(found.ravel(), sparse_w, rtol=2e-5, atol=2e-6)  # TensorFlow's were float32


SLOTS = [
    (lambda: train.MomentumOptimizer(0.1, 0.9), ["momentum"], ["v/Momentum:0"]),
    (lambda: train.AdamOptimizer(), ["m", "v"], ["beta1_power:0", "beta2_power:0", "v/Adam:0", "v/Adam_1:0"]),
    (lambda: train.RMSPropOptimizer(0.1, centered=True), ["mg", "momentum", "rms"],
     ["v/RMSProp:0", "v/RMSProp_1:0", "v/RMSProp_2:0"]),
    (lambda: train.AdagradDAOptimizer(0.1, steps()), ["gradient_accumulator", "gradient_squared_accumulator"],
     ["v/AdagradDA:0", "v/AdagradDA_1:0"]),
    (lambda: opt.AdaMaxOptimizer(), ["m", "v"], ["beta1_power:0", "v/AdaMax:0", "v/AdaMax_1:0"]),
    (lambda: opt.AdamWOptimizer(0.1), ["m", "v"], ["beta1_power:0", "beta2_power:0", "v/AdamW:0", "v/AdamW_1:0"]),
    (lambda: train.FtrlOptimizer(0.1, accum_name="acc"), ["accum", "linear"], ["v/Ftrl:0", "v/acc:0"]),
]


@pytest.mark.parametrize(("make", "slots", "variables"), SLOTS)
def test_slots_have_tensorflows_names(make, slots, variables):
    v = tf.Variable([1.0, 2.0], name="v")
    optimizer = make()
    optimizer.minimize(tf.reduce_sum(v * v))
    assert optimizer.get_slot_names() == slots
    assert [x.name for x in optimizer.variables()] == variables
    assert optimizer.get_slot(v, slots[0]).shape == v.shape
    assert optimizer.get_slot(v, "no such slot") is None
    assert tf.trainable_variables() == [v]


def test_names_of_steps_and_settings():
    v, w = tf.Variable([1.0, 2.0], name="v"), tf.Variable([3.0], name="w")
    optimizer = train.MomentumOptimizer(tf.placeholder_with_default(0.5, []), lambda: 0.9, name="My")
    with tf.name_scope("outer"):
        first = optimizer.minimize(tf.reduce_sum(v * v), var_list=[v], name="stepper")
    with tf.variable_scope("vs"):
        second = optimizer.minimize(tf.reduce_sum(w * v))
    assert [first.name, second.name] == ["outer/stepper", "vs/My"]
    assert [x.name for x in optimizer.variables()] == ["v/My:0", "vs/w/My:0"]
    assert tf.get_collection(tf.GraphKeys.TRAIN_OP) == [first, second]
    tf.get_default_graph().get_operation_by_name("outer/stepper/update_v/ApplyMomentum")


def test_minimize_counts_steps_last():
    v = tf.Variable(1.0)
    operation = train.GradientDescentOptimizer(0.1).minimize(v * v, global_step=steps())
    assert (operation.name, operation.type) == ("GradientDescent", "AssignAdd")
    plain = train.GradientDescentOptimizer(0.1).minimize(v * v)
    assert (plain.name, plain.type) == ("GradientDescent_1", "NoOp")


def test_both_gradients_are_of_the_values_before_the_step():
    a, b = tf.Variable(2.0), tf.Variable(3.0)
    found = values_after(1, train.GradientDescentOptimizer(0.1).minimize(a * b), [a, b])
    np.testing.assert_allclose(found, [1.7, 2.8], rtol=1e-6)


def test_a_step_leaves_what_was_fetched_before_as_it_was():
    v = tf.Variable([1.0, 2.0])
    operation = train.GradientDescentOptimizer(0.5).minimize(tf.reduce_sum(v * v))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = session.run(v)
        session.run(operation)
        np.testing.assert_array_equal(before, [1.0, 2.0])


def test_constraint_is_applied_after_the_step():
    v = tf.Variable(2.0, constraint=lambda x: tf.clip_by_value(x, 0.0, 1.0))
    assert values_after(1, train.GradientDescentOptimizer(0.1).minimize(v * v), v) == 1.0


def test_an_optimizer_of_ones_own():
    class Twice(train.Optimizer):
        def _apply_dense(self, grad, var):
            return var.assign_sub(2.0 * grad)

        def _apply_sparse(self, grad, var):
            return tf.scatter_sub(var, grad.indices, 3.0 * grad.values)

    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    optimizer = Twice(use_locking=False, name="Twice")
    rows = optimizer.minimize(tf.reduce_sum(tf.gather(v, [0, 0]) * [[1.0, 2.0]]))
    dense = optimizer.minimize(tf.reduce_sum(v))
    np.testing.assert_allclose(values_after(1, rows, v), [[-5.0, -10.0], [3.0, 4.0]])
    np.testing.assert_allclose(values_after(1, dense, v), [[-1.0, 0.0], [1.0, 2.0]])


def test_gates_and_aggregation_give_the_same_step():
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    for gate in (train.Optimizer.GATE_OP, train.Optimizer.GATE_GRAPH):
        for method in (0, 1, 2):
            operation = train.GradientDescentOptimizer(0.1).minimize(v * w + v * v + v, gate_gradients=gate,
                                                                     aggregation_method=method)
            np.testing.assert_allclose(values_after(1, operation, [v, w]), [0.5, 1.9], rtol=1e-6)


ERRORS = [
    (ValueError, "No gradients provided for any variable", lambda o, v, i: o.minimize(tf.constant(1.0))),
    (ValueError, "No variables to optimize", lambda o, v, i: o.minimize(v * v, var_list=[])),
    (ValueError, "dtype int32", lambda o, v, i: o.minimize(tf.cast(v, tf.int32))),
    (ValueError, "gate_gradients is 7", lambda o, v, i: o.compute_gradients(v * v, gate_gradients=7)),
    (ValueError, "No variables provided", lambda o, v, i: o.apply_gradients([])),
    (ValueError, "No gradients provided", lambda o, v, i: o.apply_gradients([(None, v)])),
    (TypeError, "convertible", lambda o, v, i: o.apply_gradients([(object(), v)])),
    (TypeError, "has type string", lambda o, v, i: o.apply_gradients([("a", v)])),
    (NotImplementedError, "expected a variable", lambda o, v, i: o.compute_gradients(v * v, ["v"])),
    (NotImplementedError, "cannot be changed", lambda o, v, i: o.minimize(v * v, var_list=[v.value()])),
    (ValueError, "initial_accumulator_value > 0", lambda o, v, i: train.AdagradOptimizer(0.1, -1.0)),
    (ValueError, "learning_rate_power <= 0", lambda o, v, i: train.FtrlOptimizer(0.1, 1.0)),
    (ValueError, "a name", lambda o, v, i: train.Optimizer(False, "")),
]


@pytest.mark.parametrize(("error", "text", "call"), ERRORS)
def test_errors(error, text, call):
    v, i = tf.Variable(2.0, name="v"), tf.Variable(3, name="i")
    with pytest.raises(error, match=text):
        call(train.GradientDescentOptimizer(0.1), v, i)


def test_a_variable_without_gradient_is_left_out():
    v, i = tf.Variable(2.0, name="v"), tf.Variable(3, name="i")
    pairs = train.GradientDescentOptimizer(0.1).compute_gradients(v * v, [v, i])
    assert pairs[1] == (None, i)
    operation = train.GradientDescentOptimizer(0.1).apply_gradients(pairs)
    assert values_after(1, operation, [v, i]) == [pytest.approx(1.6), 3]


# ---- schedules --------------------------------------------------------------------------

SCHEDULES = [  # at steps 0, 3, 7 and 25
    (lambda n: train.exponential_decay(0.1, n, 5, 0.9), [0.1, 0.09387, 0.08629, 0.05905]),
    (lambda n: train.exponential_decay(0.1, n, 5, 0.9, staircase=True), [0.1, 0.1, 0.09, 0.05905]),
    (lambda n: train.natural_exp_decay(0.1, n, 5, 0.9), [0.1, 0.05827, 0.02837, 0.00111]),
    (lambda n: train.natural_exp_decay(0.1, n, 5, 0.9, True), [0.1, 0.1, 0.04066, 0.00111]),
    (lambda n: train.inverse_time_decay(0.1, n, 5, 0.9), [0.1, 0.06494, 0.04425, 0.01818]),
    (lambda n: train.inverse_time_decay(0.1, n, 5, 0.9, True), [0.1, 0.1, 0.05263, 0.01818]),
    (lambda n: train.polynomial_decay(0.1, n, 10, 0.01, 2.0), [0.1, 0.0541, 0.0181, 0.01]),
    (lambda n: train.polynomial_decay(0.1, n, 10, 0.01, 2.0, cycle=True), [0.1, 0.0541, 0.0181, 0.0125]),
    (lambda n: train.piecewise_constant(n, [3, 7], [1.0, 0.5, 0.2]), [1.0, 1.0, 0.5, 0.2]),
    (lambda n: train.cosine_decay(0.1, n, 10, 0.1), [0.1, 0.08145, 0.02855, 0.01]),
    (lambda n: train.cosine_decay_restarts(0.1, n, 4), [0.1, 0.01464, 0.06913, 0.00843]),
    (lambda n: train.cosine_decay_restarts(0.1, n, 4, 1.0, 0.5, 0.1), [0.1, 0.02318, 0.01659, 0.0112]),
    (lambda n: train.linear_cosine_decay(0.1, n, 10), [0.1001, 0.05567, 0.00628, 0.0001]),
    (lambda n: train.linear_cosine_decay(0.1, n, 10, 2.0, 0.1, 0.2), [0.13, 0.02764, 0.02382, 0.03]),
]


@pytest.mark.parametrize(("schedule", "expected"), SCHEDULES)
def test_schedules_are_tensorflows(schedule, expected):
    step = tf.placeholder(tf.int32, [])
    rate = schedule(step)
    with tf.Session() as session:
        found = [session.run(rate, {step: n}) for n in (0, 3, 7, 25)]
    np.testing.assert_allclose(found, expected, rtol=0, atol=6e-6)  # five decimals are known


def test_piecewise_constant_is_inclusive_on_the_left():
    rates = [train.piecewise_constant(tf.constant(n), [3, 7], [1.0, 0.5, 0.2]) for n in (3, 4, 7, 8)]
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(rates), [1.0, 0.5, 0.5, 0.2])


def test_schedule_errors():
    with pytest.raises(ValueError, match="global_step"):
        train.exponential_decay(0.1, None, 1, 1.0)
    with pytest.raises(ValueError, match="one value more"):
        train.piecewise_constant(tf.constant(1), [1], [1.0])
    with pytest.raises(ValueError, match="dtype"):
        train.piecewise_constant(tf.constant(1), [1.0], [1.0, 2.0])


# ---- moving averages and the global step ------------------------------------------------

def test_moving_averages_are_tensorflows():
    v = tf.Variable([1.0, 2.0], name="v")
    total = tf.reduce_sum(v) * 2.0
    average = train.ExponentialMovingAverage(0.9, num_updates=tf.constant(3), zero_debias=True)
    update, change = average.apply([v, total]), v.assign_add([1.0, 1.0])
    assert average.average(v).name == "v/ExponentialMovingAverage:0"
    assert average.average_name(v) == "v/ExponentialMovingAverage"
    assert tf.moving_average_variables() == [v]
    expected = [([1.69231, 2.69231], 10.0), ([2.59763, 3.59763], 13.05882), ([3.5685, 4.5685], 16.58228)]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for of_v, of_total in expected:
            session.run(change)
            session.run(update)
            np.testing.assert_allclose(session.run(average.average(v)), of_v, rtol=1e-4)
            np.testing.assert_allclose(session.run(average.average(total)), of_total, rtol=1e-4)


def test_variables_to_restore_are_named_after_averages():
    v, w = tf.Variable(1.0, name="v"), tf.Variable(1.0, name="w", trainable=False)
    average = train.ExponentialMovingAverage(0.5)
    average.apply([v])
    names = average.variables_to_restore()
    assert names["v/ExponentialMovingAverage"] is v and names["w"] is w


def test_the_global_step():
    step = steps()
    assert (step.name, step.dtype.base_dtype) == ("global_step:0", tf.int64)
    assert train.get_global_step() is step is steps()
    assert step not in tf.trainable_variables()
    with pytest.raises(ValueError, match="already"):
        train.create_global_step()
    with pytest.raises(TypeError, match="integer"):
        train.assert_global_step(tf.Variable(1.0))


@pytest.mark.parametrize("optimizer", [train.GradientDescentOptimizer(1), train.MomentumOptimizer(1, 0),
                                       train.GradientDescentOptimizer(np.int64(1))])
def test_whole_numbers_are_settings_too(optimizer):
    v = tf.Variable([1.0, 2.0])
    step = optimizer.minimize(tf.reduce_sum(v * v))
    np.testing.assert_array_equal(values_after(1, step, v), [-1.0, -2.0])


def test_the_global_norm_of_nothing_is_zero():
    with tf.Session() as session:
        assert session.run(tf.global_norm([])) == session.run(tf.global_norm([None])) == 0.0


def test_weights_that_decay():
    w, b, loss = model(None, False)
    optimizer = opt.AdamWOptimizer(0.5, 0.1)
    pairs = optimizer.compute_gradients(loss)
    steps_of = [optimizer.minimize(loss, decay_var_list=[b]), optimizer.apply_gradients(pairs, decay_var_list=[b])]
    np.testing.assert_allclose([values_after(1, each, [w, b])[0][0, 0] for each in steps_of], [-0.4, -0.9], 1e-5)
    np.testing.assert_allclose([values_after(1, each, [w, b])[1] for each in steps_of], [0.15, 0.15], 1e-5)
