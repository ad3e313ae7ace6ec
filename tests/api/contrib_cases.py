"""Models of tf.contrib, written once for TensorFlow and for autodiff: `tf` is the argument.

EXPECTED in test_contrib_models.py was printed by this file, run under TensorFlow 1.15.5:
`python tests/api/contrib_cases.py legacy`.
"""


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
        "embedding_tied": ((1, single), fed(seq.embedding_tied_rnn_seq2seq, 5, 4, 5, feed_previous=True)),
        "attention": (shape, lambda x: seq.attention_decoder(
            halves(x)[0], tf.tanh(x[:, 0, :3]), x, cells.GRUCell(3), 2, 2, dtype=x.dtype)),
        "attention_first": (shape, lambda x: seq.attention_decoder(
            halves(x)[1], cells.LSTMStateTuple(x[:, 0, :3], x[:, 1, 1:]), x, cells.LSTMCell(3), dtype=x.dtype,
            loop_function=lambda before, i: tf.concat([before, before[:, :1]], 1), initial_state_attention=True)),
        "embedding_attention": ((1,), fed(seq.embedding_attention_seq2seq, 5, 6, 4, 2, feed_previous=True)),
        "buckets": ((1, single), buckets),
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
