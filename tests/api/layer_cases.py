"""Models of layers and cells, written once for TensorFlow and for autodiff: `tf` is the argument.

EXPECTED in test_layers_api.py and test_rnn.py was printed by this file, run under TensorFlow 1.15.5:
`python tests/api/layer_cases.py`.
"""

import numpy as np


def waves(*shape, dtype="float64", shift=0.0):
    return np.cos(np.arange(np.prod(shape)) * 0.9 + 0.3 + shift).reshape(shape).astype(dtype)


def regularizer(tf):
    return lambda w: tf.reduce_sum(tf.square(w)) * 0.1


# ---- name -> function of (tf, x) that gives tensors; the shape of x --------------------------

def layers(tf):
    low, reg = tf.layers, regularizer(tf)
    single = "float32"  # what TensorFlow's fused operations are limited to
    return {
        "dense": ((3, 4), lambda x: low.dense(x, 5, tf.nn.tanh, kernel_regularizer=reg)),
        "dense_of_rank_3": ((2, 3, 4), lambda x: low.dense(x, 5, use_bias=False, name="q")),
        "dense_shared": ((3, 4), lambda x: [low.dense(x, 4, name="a"), low.dense(x * 2.0, 4, name="a", reuse=True)]),
        "conv1d": ((2, 7, 3), lambda x: low.conv1d(x, 4, 3, strides=2, padding="same")),
        "conv2d": ((2, 7, 6, 3), lambda x: low.conv2d(x, 4, (3, 2), (2, 1), "same", activation=tf.nn.tanh)),
        "conv2d_dilated": ((2, 7, 6, 3), lambda x: low.conv2d(x, 4, 2, dilation_rate=2, activity_regularizer=reg)),
        "conv3d": ((1, 4, 5, 6, 2), lambda x: low.conv3d(x, 3, 2, (1, 2, 1), "same")),
        "conv2d_transpose": ((2, 4, 5, 3), lambda x: low.conv2d_transpose(x, 4, (3, 4), (2, 3))),
        "conv3d_transpose": ((1, 3, 4, 3, 2), lambda x: low.conv3d_transpose(x, 3, 2, 2, "same")),
        "separable_conv2d": ((2, 6, 7, 3), lambda x: low.separable_conv2d(x, 4, 3, padding="same", depth_multiplier=2)),
        "separable_conv1d": ((2, 9, 3), lambda x: low.separable_conv1d(x, 4, 3)),
        "max_pooling": ((2, 7, 6, 3), lambda x: low.max_pooling2d(x, (3, 2), 2, "same")),
        "average_pooling": ((2, 7, 6, 3), lambda x: low.average_pooling2d(x, [2, 3], [1, 2], "same")),
        "pooling_of_rows": ((2, 7, 3), lambda x: [low.max_pooling1d(x, 3, 2, "same"), low.average_pooling1d(x, 3, 2)]),
        "flatten": ((2, 3, 4), lambda x: low.flatten(x)),
        "batch_norm_training": ((4, 3), lambda x: low.batch_normalization(x, training=True, momentum=0.75)),
        "batch_norm_inference": ((4, 3), lambda x: low.batch_normalization(x)),
        "batch_norm_axis_1": ((4, 3, 5), lambda x: low.batch_normalization(x, 1, 0.75, 1e-2, training=True)),
        "batch_norm_fused": ((4, 3, 5, 2, single), lambda x: low.batch_normalization(x, training=True, momentum=0.75)),
        "batch_norm_tensor": ((4, 3), lambda x: low.batch_normalization(
            x, training=tf.placeholder_with_default(False, []), momentum=0.75)),
    }


def contrib_layers(tf):
    up = tf.contrib.layers
    single = "float32"
    l2 = up.l2_regularizer(0.1)
    return {
        "fully_connected": ((3, 4, single), lambda x: up.fully_connected(x, 5, weights_regularizer=l2)),
        "fully_connected_normed": ((3, 4, single), lambda x: up.fully_connected(
            x, 5, normalizer_fn=up.batch_norm, normalizer_params={"decay": 0.75})),
        "conv2d_same_relu": ((2, 6, 7, 3, single), lambda x: up.conv2d(x, 4, 3, stride=2)),
        "conv2d_up": ((2, 4, 5, 3, single), lambda x: up.conv2d_transpose(x, 4, 3, 2)),
        "separable": ((2, 4, 5, 3, single), lambda x: up.separable_conv2d(x, 4, 3, 2)),
        "batch_norm_of_rows": ((4, 3, single), lambda x: up.batch_norm(x, decay=0.75, scale=True)),
        "batch_norm_at_once": ((2, 3, 4), lambda x: up.batch_norm(x, decay=0.75, updates_collections=None)),
        "layer_norm": ((2, 3, 4), lambda x: up.layer_norm(x, begin_norm_axis=2, begin_params_axis=1)),
        "instance_norm": ((2, 3, 4, 2), lambda x: up.instance_norm(x)),
        "unit_norm": ((2, 3, 4), lambda x: up.unit_norm(x, 1)),
        "stack": ((3, 4, single), lambda x: up.stack(x, up.fully_connected, [5, 6], scope="fc")),
        "repeat": ((1, 6, 6, 2, single), lambda x: up.repeat(x, 2, up.conv2d, 3, [3, 3])),
        "regularizers": ((2, 3), lambda x: [up.l1_regularizer(0.3)(x), up.l1_l2_regularizer(0.1, 0.2)(x)]),
    }


def recurrent(tf):
    cells, nn, more = tf.nn.rnn_cell, tf.nn, tf.contrib.rnn

    def run(cell, **options):
        return lambda x: nn.dynamic_rnn(cell(), x, dtype=x.dtype, **options)

    def steps(x):
        return tf.unstack(x, axis=1)

    full = {"use_peepholes": True, "cell_clip": 0.4, "num_proj": 2, "proj_clip": 0.2}
    sides = (lambda: cells.GRUCell(3), lambda: cells.LSTMCell(2))
    shape = (3, 5, 4)
    return {
        "basic": (shape, run(lambda: cells.BasicRNNCell(3))),
        "gru": (shape, run(lambda: cells.GRUCell(3), sequence_length=[2, 5, 0])),
        "basic_lstm": (shape, run(lambda: cells.BasicLSTMCell(3, forget_bias=0.5), sequence_length=[2, 3, 1])),
        "lstm_side_by_side": (shape, run(lambda: cells.LSTMCell(3, state_is_tuple=False))),
        "lstm_full": (shape, run(lambda: cells.LSTMCell(3, **full), sequence_length=[5, 3, 1])),
        "multi": (shape, run(lambda: cells.MultiRNNCell([cells.LSTMCell(3), cells.GRUCell(2)]))),
        "residual": (shape, run(lambda: cells.ResidualWrapper(cells.GRUCell(4)))),
        "time_major": ((5, 3, 4), run(lambda: cells.GRUCell(3), sequence_length=[1, 4, 2], time_major=True)),
        "bidirectional": (shape, lambda x: nn.bidirectional_dynamic_rnn(
            sides[0](), sides[1](), x, sequence_length=[2, 5, 3], dtype=x.dtype)),
        "static": (shape, lambda x: nn.static_rnn(cells.LSTMCell(3), steps(x), dtype=x.dtype,
                                                  sequence_length=[2, 4, 0])),
        "static_bidirectional": (shape, lambda x: nn.static_bidirectional_rnn(
            sides[0](), sides[1](), steps(x), dtype=x.dtype, sequence_length=[2, 4, 1])),
        "layer_norm_lstm": (shape, run(lambda: more.LayerNormBasicLSTMCell(3))),
        "nas": (shape, run(lambda: more.NASCell(3, num_proj=2, use_bias=True))),
        "output_projection": (shape, run(lambda: more.OutputProjectionWrapper(cells.GRUCell(3), 2))),
    }


def decoders(tf):
    seq, cells = tf.contrib.seq2seq, tf.nn.rnn_cell
    single = "float32"

    def decoded(x, cell, layer=None, **options):
        state = cell.zero_state(3, x.dtype)
        decoder = seq.BasicDecoder(cell, seq.TrainingHelper(x, [4, 2, 3]), state, layer)
        outputs, _, lengths = seq.dynamic_decode(decoder, **options)
        return [outputs.rnn_output, outputs.sample_id, lengths]

    def attending(mechanism, **options):
        def model(x):
            memory = tf.constant(waves(3, 6, 2, dtype=single, shift=1.0))
            cell = seq.AttentionWrapper(cells.GRUCell(3), mechanism(memory), **options)
            return decoded(x, cell)
        return model

    def greedy(x):
        helper = seq.GreedyEmbeddingHelper(x, [1, 0, 3], 4)
        cell = cells.LSTMCell(4)
        decoder = seq.BasicDecoder(cell, helper, cell.zero_state(3, x.dtype), tf.layers.Dense(5))
        outputs, _, lengths = seq.dynamic_decode(decoder, maximum_iterations=4)
        return [outputs.rnn_output, outputs.sample_id, lengths]

    def losses(x):
        targets, weights = tf.constant([[0, 1, 2], [3, 0, 1]]), tf.constant([[1.0, 0.5, 0.0], [2.0, 1.0, 1.0]])
        return [seq.sequence_loss(x, targets, weights), seq.sequence_loss(x, targets, weights, False, True),
                seq.sequence_loss(x, targets, weights, True, False)]

    lengths = [2, 6, 4]
    return {
        "training": ((3, 5, 4), lambda x: decoded(x, cells.GRUCell(3), tf.layers.Dense(2), impute_finished=True)),
        "luong": ((3, 5, 4, single), attending(
            lambda m: seq.LuongAttention(3, m, memory_sequence_length=lengths, scale=True), attention_layer_size=4)),
        "bahdanau": ((3, 5, 4, single), attending(
            lambda m: seq.BahdanauAttention(5, m, memory_sequence_length=lengths, normalize=True))),
        "greedy": ((5, 4, single), greedy),
        "sequence_loss": ((2, 3, 4, single), losses),
    }


# ---- running ------------------------------------------------------------------------------

def leaves(value):
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in leaves(value[key])]
    return [leaf for item in value for leaf in leaves(item)] if isinstance(value, (list, tuple)) else [value]


def measure(array):
    """One number that a change of any element changes."""
    flat = np.asarray(array, np.float64).ravel()
    return float(flat @ np.cos(np.arange(flat.size) * 0.37 + 0.1))


def start(name, shape):
    """A variable's value, by its name: neither zeros nor the same for all."""
    value = np.sin(np.arange(np.prod(shape, dtype=int)) * 0.7 + sum(map(ord, name)) % 17).reshape(shape) * 0.5
    return np.abs(value) + 0.5 if "variance" in name else value


def facts(tf, case):
    """(variable names, measures of outputs, of gradients for x and the trained variables, of variables updated)."""
    shape, model = case
    dtype = shape[-1] if isinstance(shape[-1], str) else "float64"
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(waves(*(n for n in shape if not isinstance(n, str)), dtype=dtype))
        outputs = [tf.convert_to_tensor(y) for y in leaves(model(x))]
        real = [y for y in outputs if y.dtype in (tf.float32, tf.float64)]
        loss = tf.add_n([tf.reduce_sum(tf.cast(tf.sin(y * 1.3 + 0.2), tf.float64)) for y in real])
        gradients = [tf.convert_to_tensor(g) for g in tf.gradients(loss, [x] + tf.trainable_variables())
                     if g is not None]
        session.run(tf.global_variables_initializer())
        for v in tf.global_variables():
            v.load(start(v.name, v.shape.as_list()).astype(v.dtype.base_dtype.as_numpy_dtype), session)
        losses = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
        values = [measure(v) for v in session.run(outputs + losses)]
        slopes = [measure(v) for v in session.run(gradients)]
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        session.run(updates)
        moved = [measure(session.run(v)) for v in tf.global_variables()] if updates else []
        names = [(v.name, *v.shape.as_list()) for v in tf.global_variables()]
        return names, values, slopes, moved


def written(names):
    """Names of variables, with their shapes."""
    return " ".join(f"{name}{shape}" for name, *shape in names)


def check(tf, case, expected, written=written):
    """Outputs and gradients, measured; single precision is right to a few units of 1e-5, as is TensorFlow's."""
    names, *found = facts(tf, case)
    single = isinstance(case[0][-1], str)
    assert written(names) == expected[0]
    for ours, theirs in zip(found, expected[1:]):
        np.testing.assert_allclose(ours, theirs, rtol=2e-4 if single else 1e-6, atol=2e-4 if single else 1e-6)


if __name__ == "__main__":
    import tensorflow

    for made in (layers, contrib_layers, recurrent, decoders):
        print(f"# {made.__name__}")
        for name, case in made(tensorflow).items():
            names, *numbers = facts(tensorflow, case)
            print(f"    {name!r}: (\n        {written(names)!r},")
            for row in numbers:
                print(f"        {[float(f'{v:.7g}') for v in row]},")
            print("    ),")
