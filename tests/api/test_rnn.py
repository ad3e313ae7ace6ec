"""Recurrent cells, drivers and decoders: variables, outputs and gradients as TensorFlow 1.15 computed them."""

import numpy as np
import pytest

import autodiff as tf

from .layer_cases import check, decoders, recurrent, start, waves

# name: (variables, measured outputs, gradients, variables after the updates)
EXPECTED = {
    "basic": (
        "rnn/basic_rnn_cell/kernel:0[7, 3] rnn/basic_rnn_cell/bias:0[3]",
        [1.466108, -1.56315],
        [0.3643796, 26.88665, 54.22133],
        [],
    ),
    "gru": (
        "rnn/gru_cell/gates/kernel:0[7, 6] rnn/gru_cell/gates/bias:0[6] "
        "rnn/gru_cell/candidate/kernel:0[7, 3] rnn/gru_cell/candidate/bias:0[3]",
        [-0.1321514, -0.3676576],
        [1.216208, 1.126648, 0.4662293, 9.434741, 18.86939],
        [],
    ),
    "basic_lstm": (
        "rnn/basic_lstm_cell/kernel:0[7, 12] rnn/basic_lstm_cell/bias:0[12]",
        [-0.7769719, 0.07392051, 0.05777181],
        [-1.984145, 4.793296, 0.2734959],
        [],
    ),
    "lstm_side_by_side": (
        "rnn/lstm_cell/kernel:0[7, 12] rnn/lstm_cell/bias:0[12]",
        [-0.239973, 0.09697931],
        [0.4785027, -7.058427, 3.638811],
        [],
    ),
    "lstm_full": (
        "rnn/lstm_cell/kernel:0[6, 12] rnn/lstm_cell/bias:0[12] rnn/lstm_cell/w_f_diag:0[3] "
        "rnn/lstm_cell/w_i_diag:0[3] rnn/lstm_cell/w_o_diag:0[3] rnn/lstm_cell/projection/kernel:0[3, 2]",
        [0.2252344, -0.3025489, -0.3131625],
        [0.4274551, -0.7455266, 3.396289, 0.01089465, 0.01351233, -0.2642192, -0.5901067],
        [],
    ),
    "multi": (
        "rnn/multi_rnn_cell/cell_0/lstm_cell/kernel:0[7, 12] "
        "rnn/multi_rnn_cell/cell_0/lstm_cell/bias:0[12] "
        "rnn/multi_rnn_cell/cell_1/gru_cell/gates/kernel:0[5, 4] "
        "rnn/multi_rnn_cell/cell_1/gru_cell/gates/bias:0[4] "
        "rnn/multi_rnn_cell/cell_1/gru_cell/candidate/kernel:0[5, 2] "
        "rnn/multi_rnn_cell/cell_1/gru_cell/candidate/bias:0[2]",
        [-0.4720066, -0.6380839, -0.2613094, 0.5278701],
        [-0.004457645, -6.399805, 5.06259, 0.1866799, -1.304128, -6.720457, 26.87032],
        [],
    ),
    "residual": (
        "rnn/gru_cell/gates/kernel:0[8, 8] rnn/gru_cell/gates/bias:0[8] "
        "rnn/gru_cell/candidate/kernel:0[8, 4] rnn/gru_cell/candidate/bias:0[4]",
        [0.8876929, -0.4219124],
        [-0.4370251, 1.688156, 2.834512, -8.901277, 33.86694],
        [],
    ),
    "time_major": (
        "rnn/gru_cell/gates/kernel:0[7, 6] rnn/gru_cell/gates/bias:0[6] "
        "rnn/gru_cell/candidate/kernel:0[7, 3] rnn/gru_cell/candidate/bias:0[3]",
        [0.3494061, -0.2284424],
        [0.1956952, 0.7270584, 0.4354011, 16.61545, 19.63421],
        [],
    ),
    "bidirectional": (
        "bidirectional_rnn/fw/gru_cell/gates/kernel:0[7, 6] bidirectional_rnn/fw/gru_cell/gates/bias:0[6] "
        "bidirectional_rnn/fw/gru_cell/candidate/kernel:0[7, 3] "
        "bidirectional_rnn/fw/gru_cell/candidate/bias:0[3] bidirectional_rnn/bw/lstm_cell/kernel:0[6, 8] "
        "bidirectional_rnn/bw/lstm_cell/bias:0[8]",
        [-1.593554, -0.0171523, 0.7022017, -0.9569292, -0.6826229],
        [-2.6106, -1.498141, -0.4938864, -21.66508, 27.63949, -7.704063, 6.258052],
        [],
    ),
    "static": (
        "rnn/lstm_cell/kernel:0[7, 12] rnn/lstm_cell/bias:0[12]",
        [0.05348623, 0.05530253, -0.06451171, -0.08085833, 0.0, 0.06232664, 0.02835973],
        [0.3004296, -2.858324, 1.133286],
        [],
    ),
    "static_bidirectional": (
        "bidirectional_rnn/fw/gru_cell/gates/kernel:0[7, 6] bidirectional_rnn/fw/gru_cell/gates/bias:0[6] "
        "bidirectional_rnn/fw/gru_cell/candidate/kernel:0[7, 3] "
        "bidirectional_rnn/fw/gru_cell/candidate/bias:0[3] bidirectional_rnn/bw/lstm_cell/kernel:0[6, 8] "
        "bidirectional_rnn/bw/lstm_cell/bias:0[8]",
        [0.5688303, -0.03066917, 1.32818, 0.5861218, 0.0, 0.07997237, -0.9568182, -0.6850201],
        [-1.453036, -1.210508, -0.3263591, -27.20765, 20.51125, -6.614277, 5.11939],
        [],
    ),
    "layer_norm_lstm": (
        "rnn/layer_norm_basic_lstm_cell/kernel:0[7, 12] rnn/layer_norm_basic_lstm_cell/input/gamma:0[3] "
        "rnn/layer_norm_basic_lstm_cell/input/beta:0[3] "
        "rnn/layer_norm_basic_lstm_cell/transform/gamma:0[3] "
        "rnn/layer_norm_basic_lstm_cell/transform/beta:0[3] "
        "rnn/layer_norm_basic_lstm_cell/forget/gamma:0[3] rnn/layer_norm_basic_lstm_cell/forget/beta:0[3] "
        "rnn/layer_norm_basic_lstm_cell/output/gamma:0[3] rnn/layer_norm_basic_lstm_cell/output/beta:0[3] "
        "rnn/layer_norm_basic_lstm_cell/state/gamma:0[3] rnn/layer_norm_basic_lstm_cell/state/beta:0[3]",
        [-0.1588558, 0.2063453, 0.02989112],
        [0.007322236, 2.964316, -0.1104941, -0.07108322, 2.936415, -0.1303786, -0.3192218, 0.06821444, 0.2773136,
         6.490834, 0.811603, 22.48465],
        [],
    ),
    "nas": (
        "rnn/nas_cell/recurrent_kernel:0[2, 24] rnn/nas_cell/kernel:0[4, 24] rnn/nas_cell/bias:0[24] "
        "rnn/nas_cell/projection_weights:0[3, 2]",
        [0.00603963, -0.002982618, -0.0002074259],
        [-0.01195246, 1.062896e-05, -0.04967532, -0.06293349, 0.1533249],
        [],
    ),
    "output_projection": (
        "rnn/output_projection_wrapper/gru_cell/gates/kernel:0[7, 6] "
        "rnn/output_projection_wrapper/gru_cell/gates/bias:0[6] "
        "rnn/output_projection_wrapper/gru_cell/candidate/kernel:0[7, 3] "
        "rnn/output_projection_wrapper/gru_cell/candidate/bias:0[3] "
        "rnn/output_projection_wrapper/kernel:0[3, 2] rnn/output_projection_wrapper/bias:0[2]",
        [0.2319493, 0.2911757],
        [-0.5876809, 0.1696794, 0.3918946, 6.005116, -3.419122, -15.22026, 36.51767],
        [],
    ),
    "training": (
        "decoder/gru_cell/gates/kernel:0[7, 6] decoder/gru_cell/gates/bias:0[6] "
        "decoder/gru_cell/candidate/kernel:0[7, 3] decoder/gru_cell/candidate/bias:0[3] "
        "decoder/dense/kernel:0[3, 2] decoder/dense/bias:0[2]",
        [0.3832918, 0.0, 7.765542],
        [0.3404133, -0.1100551, -0.04749868, -2.742409, -6.686746, 4.666002, 20.99316],
        [],
    ),
    "luong": (
        "memory_layer/kernel:0[2, 3] decoder/attention_wrapper/gru_cell/gates/kernel:0[11, 6] "
        "decoder/attention_wrapper/gru_cell/gates/bias:0[6] "
        "decoder/attention_wrapper/gru_cell/candidate/kernel:0[11, 3] "
        "decoder/attention_wrapper/gru_cell/candidate/bias:0[3] "
        "decoder/attention_wrapper/luong_attention/attention_g:0[] "
        "decoder/attention_wrapper/attention_layer/kernel:0[5, 4]",
        [-0.2537965, -6.385603, 7.765542],
        [0.03913447, 0.05489813, 0.3183654, -0.3966029, 1.688774, 0.690943, -0.1281745, -3.59076],
        [],
    ),
    "bahdanau": (
        "memory_layer/kernel:0[2, 5] decoder/attention_wrapper/gru_cell/gates/kernel:0[9, 6] "
        "decoder/attention_wrapper/gru_cell/gates/bias:0[6] "
        "decoder/attention_wrapper/gru_cell/candidate/kernel:0[9, 3] "
        "decoder/attention_wrapper/gru_cell/candidate/bias:0[3] "
        "decoder/attention_wrapper/bahdanau_attention/query_layer/kernel:0[3, 5] "
        "decoder/attention_wrapper/bahdanau_attention/attention_v:0[5] "
        "decoder/attention_wrapper/bahdanau_attention/attention_g:0[] "
        "decoder/attention_wrapper/bahdanau_attention/attention_b:0[5]",
        [-0.7382106, -3.262523, 7.765542],
        [0.0001523244, -3.802228, 0.007456386, -0.009026478, 0.01448019, 0.04150073, 0.02681988, -1.531751,
         -1.827515, -0.3588295],
        [],
    ),
    "greedy": (
        "decoder/lstm_cell/kernel:0[8, 16] decoder/lstm_cell/bias:0[16] decoder/dense/kernel:0[4, 5] "
        "decoder/dense/bias:0[5]",
        [1.029435, 0.0, 10.21614],
        [1.684885, -0.874456, -2.183882, 6.505726, 40.37434],
        [],
    ),
    "sequence_loss": (
        "",
        [1.33043, 3.392917, 2.320054],
        [0.5726683],
        [],
    ),
}
CASES = {**recurrent(tf), **decoders(tf)}


pytestmark = pytest.mark.usefixtures("own_graph")


@pytest.mark.parametrize("name", EXPECTED)
def test_network_is_tensorflows(name):
    check(tf, CASES[name], EXPECTED[name])


def initialized(session):
    session.run(tf.global_variables_initializer())
    for v in tf.global_variables():
        v.load(start(v.name, v.shape.as_list()).astype(v.dtype.base_dtype.as_numpy_dtype), session)


def test_dynamic_static_and_raw_agree():
    x = tf.constant(waves(3, 5, 4))
    cell, lengths = tf.nn.rnn_cell.LSTMCell(3), tf.constant([5, 2, 3])
    steps = tf.TensorArray(tf.float64, 5).unstack(tf.transpose(x, [1, 0, 2]))

    def loop(time, output, state, _):
        finished = time >= lengths
        following = tf.cond(tf.reduce_all(finished), lambda: tf.zeros([3, 4], tf.float64), lambda: steps.read(time))
        return finished, following, cell.zero_state(3, tf.float64) if output is None else state, output, None

    with tf.variable_scope("net", reuse=tf.AUTO_REUSE) as scope:
        dynamic, last = tf.nn.dynamic_rnn(cell, x, lengths, dtype=tf.float64, scope=scope)
        static, static_last = tf.nn.static_rnn(cell, tf.unstack(x, axis=1), None, tf.float64, lengths, scope=scope)
        raw, raw_last, _ = tf.nn.raw_rnn(cell, loop, scope=scope)
    with tf.Session() as session:
        initialized(session)
        ours, others = session.run([[dynamic, last], [[tf.stack(static, 1), static_last],
                                                      [tf.transpose(raw.stack(), [1, 0, 2]), raw_last]]])
    for other in others:
        np.testing.assert_allclose(other[0], ours[0], rtol=1e-12)
        np.testing.assert_allclose(other[1], ours[1], rtol=1e-12)
    assert (ours[0][1, 2:] == 0.0).all()


@pytest.mark.parametrize("make", [lambda: tf.nn.rnn_cell.GRUCell(2), lambda: tf.nn.rnn_cell.BasicLSTMCell(2)])
def test_second_derivatives_through_time(make):
    x = tf.constant(waves(2, 3, 2))
    outputs, _ = tf.nn.dynamic_rnn(make(), x, sequence_length=[3, 2], dtype=tf.float64)
    loss = tf.reduce_sum(tf.square(outputs))
    kernel = tf.trainable_variables()[0]
    (gradient,) = tf.gradients(loss, kernel)
    direction = waves(*kernel.shape.as_list(), shift=0.5)
    (product,) = tf.gradients(tf.reduce_sum(gradient * direction), kernel)
    with tf.Session() as session:
        initialized(session)
        at, small = session.run(kernel), 1e-5
        exact = session.run(product)
        near = []
        for sign in (1, -1):
            kernel.load(at + sign * small * direction, session)
            near.append(session.run(gradient))
    np.testing.assert_allclose(exact, (near[0] - near[1]) / (2 * small), rtol=1e-6, atol=1e-8)


def test_dropout_of_a_cell():
    cells = tf.nn.rnn_cell
    x = tf.ones([2, 50, 4])

    class Same(cells.RNNCell):
        state_size, output_size = 4, 4

        def call(self, inputs, state):
            return inputs, state

    same_each_step = cells.DropoutWrapper(Same(), 0.5, variational_recurrent=True, input_size=4, dtype=tf.float32)
    each_its_own = cells.DropoutWrapper(Same(), output_keep_prob=tf.constant(0.5))
    held, _ = tf.nn.dynamic_rnn(same_each_step, x, dtype=tf.float32)
    free, _ = tf.nn.dynamic_rnn(each_its_own, x, dtype=tf.float32)
    with tf.Session() as session:
        held, free = session.run([held, free])
    assert (held == held[:, :1]).all()
    assert set(np.unique(free)) == {0.0, 2.0}
    assert abs(free.mean() - 1.0) < 0.3


def test_a_multi_cell_has_the_variables_of_its_wrapped_cells():
    cells = tf.nn.rnn_cell
    cell = cells.MultiRNNCell([cells.DropoutWrapper(cells.GRUCell(3)) for _ in range(2)])
    tf.nn.dynamic_rnn(cell, tf.zeros([1, 2, 3]), dtype=tf.float32)
    assert cell.trainable_variables == tf.trainable_variables()
    assert tf.trainable_variables()[4].name == "rnn/multi_rnn_cell/cell_1/gru_cell/gates/kernel:0"


def test_an_own_cell_finds_its_variables_by_get_variable():
    class Own(tf.nn.rnn_cell.RNNCell):
        state_size, output_size = 2, 2

        def call(self, inputs, state):
            new = tf.tanh(tf.matmul(inputs, tf.get_variable("w", [4, 2])) + tf.layers.dense(state, 2, name="inner"))
            return new, new

    cell = Own()
    tf.nn.static_rnn(cell, [tf.zeros([3, 4])] * 2, dtype=tf.float32)
    assert [v.name for v in cell.variables] == ["rnn/own/w:0", "rnn/own/inner/kernel:0", "rnn/own/inner/bias:0"]


CELL = tf.nn.rnn_cell.GRUCell


@pytest.mark.parametrize(("make", "error", "text"), [
    (lambda x: tf.nn.dynamic_rnn(CELL(3), x), ValueError, "no initial_state, you must give a dtype"),
    (lambda x: tf.nn.dynamic_rnn("cell", x, dtype=tf.float32), TypeError, "RNNCell as cell"),
    (lambda x: tf.nn.dynamic_rnn(CELL(3), x[:, 0], dtype=tf.float32), ValueError, "must have rank at least 3"),
    (lambda x: tf.nn.dynamic_rnn(CELL(3), x, [[1]], dtype=tf.float32), ValueError, "vector"),
    (lambda x: tf.nn.dynamic_rnn(CELL(3), tf.cast(x, tf.int32), dtype=tf.float32), ValueError, "floating point"),
    (lambda x: tf.nn.static_rnn(CELL(3), x, dtype=tf.float32), TypeError, "list of inputs"),
    (lambda x: tf.nn.static_rnn(CELL(3), [], dtype=tf.float32), ValueError, "no inputs"),
    (lambda x: tf.nn.rnn_cell.MultiRNNCell([]), ValueError, "at least one"),
    (lambda x: tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.LSTMCell(2)], False), ValueError, "state_is_tuple=True"),
    (lambda x: tf.nn.rnn_cell.DropoutWrapper(CELL(3), 1.5), ValueError, "between 0 and 1"),
    (lambda x: tf.contrib.seq2seq.BasicDecoder(CELL(3), None, None), TypeError, "Helper"),
    (lambda x: tf.contrib.seq2seq.sequence_loss(x[0], x, x), ValueError, "rank 3"),
])
def test_bad_arguments_are_refused(make, error, text):
    with pytest.raises(error, match=text):
        make(tf.zeros([2, 3, 4]))


def test_a_wrong_number_of_lengths_fails_at_run_time():
    lengths = tf.placeholder(tf.int32, [None])
    outputs, _ = tf.nn.dynamic_rnn(CELL(3), tf.zeros([3, 2, 4]), lengths, dtype=tf.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="one sequence_length for each row"):
            session.run(outputs, {lengths: [1, 2]})


def test_the_initial_state_may_be_an_array():
    with tf.Graph().as_default(), tf.Session() as session:
        cell = tf.nn.rnn_cell.BasicRNNCell(3)
        outputs, state = tf.nn.dynamic_rnn(cell, tf.ones([2, 4, 1]), initial_state=np.zeros((2, 3), np.float32))
        same, _ = tf.nn.dynamic_rnn(cell, tf.ones([2, 4, 1]), dtype=tf.float32)
        session.run(tf.global_variables_initializer())
        found = session.run([outputs, state, same])
        np.testing.assert_array_equal(found[0], found[2])
        np.testing.assert_array_equal(found[0][:, -1], found[1])
        with pytest.raises(ValueError, match="batch_size and dtype cannot be None"):
            cell.get_initial_state(None, None, None)
        with pytest.raises(ValueError, match="RNN cell only supports floating"):
            tf.nn.dynamic_rnn(cell, tf.ones([2, 4, 1], tf.int32), dtype=tf.int32)


def test_cells_of_keras_are_driven_with_one_state_too() -> None:
    for kind in tf.keras.layers.GRUCell, tf.keras.layers.LSTMCell:
        with tf.Graph().as_default(), tf.Session() as session:
            cell, x = kind(3), tf.constant(np.linspace(-1, 1, 16, dtype=np.float32).reshape(2, 4, 2))
            dynamic, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
            static, state = tf.nn.static_rnn(cell, tf.unstack(x, axis=1), dtype=tf.float32)
            session.run(tf.global_variables_initializer())
            found, same, last = session.run([dynamic, tf.stack(static, 1), tf.contrib.framework.nest.flatten(state)[0]])
        np.testing.assert_allclose(found, same, rtol=1e-6)
        np.testing.assert_allclose(found[:, -1], last, rtol=1e-6)


def test_an_initial_state_is_that_of_the_inputs() -> None:
    cell, inputs = tf.nn.rnn_cell.BasicRNNCell(5), tf.placeholder(tf.float32, [None, 4, 1])
    assert cell.get_initial_state(inputs=inputs).shape.as_list() == [None, 5]
    for options, words in ({"batch_size": 50}, "batch size from input"), ({"dtype": tf.int16}, "dtype from input"):
        with pytest.raises(ValueError, match=f"{words}.* is different from"):
            cell.get_initial_state(inputs=inputs, **options)


@pytest.mark.usefixtures("own_graph")
def test_cells_are_made_again_of_their_settings() -> None:
    cells = tf.nn.rnn_cell
    wrapped = cells.DeviceWrapper(cells.LSTMCell(10, use_peepholes=True), "/cpu:0")
    config = wrapped.get_config()
    assert config["cell"]["class_name"] == "LSTMCell" and config["device"] == "/cpu:0"
    again = cells.DeviceWrapper.from_config(config)
    assert again.get_config() == config and again is not wrapped
    residual = cells.ResidualWrapper(cells.GRUCell(3), residual_fn=lambda x, y: x + x + y)
    assert cells.ResidualWrapper.from_config(residual.get_config())._residual_fn(1, 2) == 4
    with pytest.raises(ValueError, match="Unknown object: NoCell"):
        cells.DeviceWrapper.from_config({"cell": {"class_name": "NoCell", "config": {}}, "device": ""})
    assert [name for name, _ in cells.MultiRNNCell([wrapped, wrapped])._checkpoint_dependencies] == ["cell-0", "cell-1"]


@pytest.mark.usefixtures("own_graph")
def test_stacked_cells_of_keras_are_driven() -> None:
    layers = tf.keras.layers
    output, state = tf.nn.dynamic_rnn(layers.StackedRNNCells([layers.LSTMCell(4), layers.LSTMCell(3)]),
                                      tf.ones([2, 5, 6]), dtype=tf.float32)
    assert output.shape == [2, 5, 3]
    assert [s.shape.as_list() for s in tf.nest.flatten(state)] == [[2, 4], [2, 4], [2, 3], [2, 3]]
