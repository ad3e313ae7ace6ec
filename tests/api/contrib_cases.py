"""Models of tf.contrib, written once for TensorFlow and for autodiff: `tf` is the argument.

EXPECTED in test_contrib_models.py was printed by this file, run under TensorFlow 1.15.5:
`python tests/api/contrib_cases.py legacy`.
"""

try:
    from .layer_cases import leaves
except ImportError:  # run as a script
    from layer_cases import leaves


def legacy(tf):
    seq, cells = tf.contrib.legacy_seq2seq, tf.nn.rnn_cell
    words = [[1, 0, 3], [2, 2, 1], [0, 1, 2], [4, 3, 0]]
    single = "float32"

    def ids():
        return [tf.constant(row) for row in words[:2]], [tf.constant(row) for row in words[1:]]

    def halves(x):
        steps = tf.unstack(x, axis=1)
        return steps[:2], steps[2:]

    def fed(model, *sizes, **options):
        return lambda x: model(*ids(), cells.GRUCell(3), *sizes, dtype=x.dtype, **options)

    def projected(x):
        projection = tf.get_variable("w", [3, 6]), tf.get_variable("b", [6])
        return seq.embedding_rnn_seq2seq(*ids(), cells.LSTMCell(3), 5, 6, 4, projection, feed_previous=True)

    def buckets(x):
        encoder, decoder = ids()
        weights = [tf.constant(w) for w in ([1.0, 0.5, 0.0], [1.0, 0.0, 2.0], [1.0, 1.0, 1.0])]
        return seq.model_with_buckets(
            encoder, decoder, decoder, weights, [(1, 2), (2, 3)], lambda e, d: seq.embedding_attention_seq2seq(
                e, d, cells.BasicLSTMCell(3), 5, 6, 4, feed_previous=tf.constant(True)), per_example_loss=True)

    shape = (3, 5, 4)
    return {
        "basic": (shape, lambda x: seq.basic_rnn_seq2seq(*halves(x), cells.LSTMCell(3), dtype=x.dtype)),
        "tied": (shape, lambda x: seq.tied_rnn_seq2seq(
            *halves(x), cells.GRUCell(4), lambda before, i: before * float(i), dtype=x.dtype)),
        "embedding": ((1,), fed(seq.embedding_rnn_seq2seq, 5, 6, 4)),
        "projected": ((1, single), projected),
        "chosen": ((1, single), lambda x: fed(seq.embedding_rnn_seq2seq, 5, 6, 4, feed_previous=x[0] < 0.0)(x)),
        "attention": (shape, lambda x: seq.attention_decoder(
            halves(x)[0], tf.tanh(x[:, 0, :3]), x, cells.GRUCell(3), 2, 2, dtype=x.dtype)),
        "attention_first": (shape, lambda x: seq.attention_decoder(
            halves(x)[1], cells.LSTMStateTuple(x[:, 0, :3], x[:, 1, 1:]), x, cells.LSTMCell(3), dtype=x.dtype,
            loop_function=lambda before, i: tf.concat([before, before[:, :1]], 1), initial_state_attention=True)),
        "embedding_attention": ((1,), fed(seq.embedding_attention_seq2seq, 5, 6, 4, 2, feed_previous=True)),
        "buckets": ((1, single), buckets),
    }


def beams(tf):
    seq, cells = tf.contrib.seq2seq, tf.nn.rnn_cell
    single = "float32"

    def searched(x, cell, state, layer=None, start=(1, 0), **options):
        decoder = seq.BeamSearchDecoder(cell, x, tf.convert_to_tensor(start), 4, state, 3, layer, **options)
        outputs, state, lengths = seq.dynamic_decode(decoder, maximum_iterations=6)
        found = outputs.beam_search_decoder_output
        return [outputs.predicted_ids, found.scores, found.predicted_ids, found.parent_ids, lengths, *state[1:4], *(
            part for part in leaves(state.cell_state) if not isinstance(part, tf.TensorArray))]

    def plain(x, **options):
        cell = cells.LSTMCell(4)
        return searched(x, cell, cell.zero_state(6, x.dtype), tf.layers.Dense(5, use_bias=False), **options)

    def attending(x, several=False, **options):
        memory = tf.sin(tf.reshape(tf.range(24.0), [2, 6, 2]))
        if not several:  # TensorFlow puts histories in order only where their shape is not known
            memory = tf.placeholder_with_default(memory, [2, None, 2])
        tiled, lengths = seq.tile_batch((memory, tf.constant([4, 6])), 3)
        made = [seq.LuongAttention(4, tiled, lengths), seq.BahdanauAttention(3, tiled)]
        cell = seq.AttentionWrapper(cells.GRUCell(4), made if several else made[0], alignment_history=not several)
        return searched(x, cell, cell.zero_state(6, x.dtype), tf.layers.Dense(5), **options)

    def helped(x, helper, width=4):
        cell = cells.GRUCell(width)
        decoder = seq.BasicDecoder(cell, helper, cell.zero_state(3, x.dtype))
        outputs, _, lengths = seq.dynamic_decode(decoder, maximum_iterations=6)
        return [outputs.rnn_output, outputs.sample_id, lengths]

    def embedded(x):
        table = tf.get_variable("table", [4, 5], x.dtype)
        return helped(x, seq.ScheduledEmbeddingTrainingHelper(x, [4, 2, 3], table, 0.5, seed=3, scheduling_seed=4))

    def of_outputs(x, **options):
        return helped(x, seq.ScheduledOutputTrainingHelper(x, [4, 2, 3], 0.5, seed=7, **options))

    def inferred(x):
        return helped(x, seq.InferenceHelper(
            lambda outputs: outputs, [4], x.dtype, x[:, 0], lambda sample: tf.reduce_sum(sample, 1) < 0.0,
            lambda sample: tf.tanh(sample) * 2.0))

    shape = (3, 5, 4)
    return {
        "plain": ((5, 4, single), plain),
        "long": ((5, 4, single), lambda x: plain(x, length_penalty_weight=0.8)),
        "unknown_batch": ((5, 4, single), lambda x: plain(x, start=tf.placeholder_with_default([1, 0], [None]))),
        "attending": ((5, 4, single), attending),
        "covering": ((5, 4, single), lambda x: attending(x, several=True, coverage_penalty_weight=0.5)),
        "embedded": ((3, 5, 5, single), embedded),
        "of_outputs": ((3, 5, 4, single), of_outputs),
        "of_outputs_beside": ((3, 5, 4, single), lambda x: of_outputs(
            x, auxiliary_inputs=x[:, :, :2], next_inputs_fn=lambda outputs: tf.sin(outputs))),
        "inferred": (shape, inferred),
    }


def more_cells(tf):
    cells, rnn = tf.nn.rnn_cell, tf.contrib.rnn
    shape, single = (3, 5, 4), (3, 5, 4, "float32")

    def run(cell, **options):
        return lambda x: tf.nn.dynamic_rnn(cell(), x, dtype=x.dtype, **options)

    def steps(cell):
        return lambda x: tf.nn.static_rnn(cell(), tf.unstack(x, axis=1), dtype=x.dtype)

    def pictures(x):
        cell = rnn.Conv2DLSTMCell(input_shape=[4, 3, 2], output_channels=3, kernel_shape=[3, 2], skip_connection=True)
        return cell(x, cells.LSTMStateTuple(x[..., :1] * [1.0, 2.0, 3.0], x[..., 1:] * [0.5, -1.0, 0.25]))[0]

    def stacked(function, inputs=lambda x: x):
        return lambda x: function([cells.GRUCell(3), cells.LSTMCell(2)], [cells.GRUCell(2), cells.LSTMCell(3)],
                                  inputs(x), dtype=x.dtype, sequence_length=[2, 5, 3])

    return {
        "ugrnn": (shape, run(lambda: rnn.UGRNNCell(3, forget_bias=0.5))),
        "indrnn": (shape, run(lambda: rnn.IndRNNCell(3))),
        "coupled": (shape, run(lambda: rnn.CoupledInputForgetGateLSTMCell(
            3, use_peepholes=True, num_proj=2, proj_clip=0.3, num_unit_shards=2), sequence_length=[5, 2, 3])),
        "coupled_normed": (single, steps(lambda: rnn.CoupledInputForgetGateLSTMCell(
            3, state_is_tuple=False, layer_norm=True, norm_gain=0.5, norm_shift=0.1))),
        "highway": (single, run(lambda: rnn.HighwayWrapper(cells.GRUCell(4)))),
        "highway_apart": (single, steps(lambda: rnn.HighwayWrapper(cells.GRUCell(4), False, 2.0))),
        "attending": (single, run(lambda: rnn.AttentionCellWrapper(cells.LSTMCell(3), 2, attn_size=5))),
        "attending_flat": (single, steps(lambda: rnn.AttentionCellWrapper(
            cells.GRUCell(3), 3, attn_vec_size=2, input_size=6, state_is_tuple=False))),
        "rows": ((3, 5, 4, 1, "float32"), run(lambda: rnn.ConvLSTMCell(
            1, [4, 1], 2, [3], name="conv_1d_lstm_cell"))),
        "conv": ((2, 4, 3, 2), pictures),
        "conv_steps": ((2, 3, 4, 3, 2, "float32"), run(lambda: rnn.ConvLSTMCell(
            2, [4, 3, 2], 3, [2, 2], use_bias=False, forget_bias=0.5))),
        "stacked": (shape, stacked(rnn.stack_bidirectional_dynamic_rnn)),
        "stacked_steps": (shape, stacked(rnn.stack_bidirectional_rnn, lambda x: tf.unstack(x, axis=1))),
    }


def shortened(names):
    """Names of variables with their shapes; scopes that a name shares with the one before it are left empty."""
    found, before = [], []
    for name, *dims in names:
        scopes = name.split("/")
        same = next((i for i, pair in enumerate(zip(scopes, before)) if pair[0] != pair[1]), len(before))
        found.append("/" * same + "/".join(scopes[same:]) + str(dims).replace(" ", ""))
        before = scopes[:-1]
    return " ".join(found)


if __name__ == "__main__":
    import sys
    import textwrap

    import tensorflow
    from layer_cases import facts

    for family in sys.argv[1:]:
        print(f"# {family}")
        for case_name, case in vars()[family](tensorflow).items():
            found, *numbers = facts(tensorflow, case)
            rows = [shortened(found), *(" ".join(f"{v:.7g}" for v in row) for row in numbers)]
            lines = textwrap.wrap(" | ".join(rows).strip(" |"), 106, break_long_words=False, break_on_hyphens=False)
            print(f'    "{case_name}": """\n        ' + "\n        ".join(lines) + '""",')
