"""Models as people write them: a sparse graph, a table of rows, a loop, a block; and the first run of a plan."""
import time

import numpy as np

RATE = 0.1


def _values(seed, *shape):
    return (np.random.RandomState(seed).randn(*shape) * 0.1).astype(np.float32)


def _trained(tf, loss, feeds, optimizer):
    return [loss, optimizer.minimize(loss)], feeds, tf.global_variables_initializer()


def graph_sparse(tf):
    """W11: two layers of sums over neighbors in a sparse graph of 2,000 nodes; nodes have sparse features."""
    rng = np.random.RandomState(1)

    def fed(rows, columns, each):
        places = np.stack([np.repeat(np.arange(rows), each), rng.randint(0, columns, rows * each)], 1)
        places = np.unique(places, axis=0)
        matrix = tf.sparse_placeholder(tf.float32, [rows, columns])
        return matrix, (places.astype(np.int64), np.full(len(places), 1 / each, np.float32), [rows, columns])

    (x, x_value), (near, near_value) = fed(2000, 1000, 15), fed(2000, 2000, 6)
    w, v = tf.Variable(_values(2, 1000, 16)), tf.Variable(_values(3, 16, 7))
    labels = tf.placeholder(tf.int32, [2000])
    h = tf.nn.relu(tf.sparse_tensor_dense_matmul(near, tf.sparse_tensor_dense_matmul(x, w)))
    y = tf.sparse_tensor_dense_matmul(near, tf.matmul(h, v))
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=y))
    feeds = {x: x_value, near: near_value, labels: rng.randint(0, 7, 2000)}
    return _trained(tf, loss, feeds, tf.train.GradientDescentOptimizer(RATE))


def graph_rows(tf):
    """W12: 256 of 50,000 rows are looked up, scored against others and moved, with momentum."""
    rng = np.random.RandomState(4)
    table, other = tf.Variable(_values(5, 50000, 64)), tf.Variable(_values(6, 50000, 64))
    ids, against = tf.placeholder(tf.int32, [256]), tf.placeholder(tf.int32, [256])
    scores = tf.reduce_sum(tf.nn.embedding_lookup(table, ids) * tf.nn.embedding_lookup(other, against), 1)
    loss = tf.reduce_mean(tf.nn.softplus(-scores))
    feeds = {ids: rng.randint(0, 50000, 256), against: rng.randint(0, 50000, 256)}
    return _trained(tf, loss, feeds, tf.train.MomentumOptimizer(RATE, 0.9))


def graph_loop(tf):
    """W13: an LSTM of 64 units in a loop over 30 steps, on 16 sequences of different lengths."""
    x = tf.placeholder(tf.float32, [16, 30, 24])
    cell = tf.nn.rnn_cell.LSTMCell(64, initializer=tf.constant_initializer(_values(7, 88, 256)))
    out, _ = tf.nn.dynamic_rnn(cell, x, sequence_length=list(range(15, 31)), dtype=tf.float32)
    return _trained(tf, tf.reduce_mean(tf.square(out - 0.3)), {x: _values(8, 16, 30, 24) * 10},
                    tf.train.GradientDescentOptimizer(RATE))


def graph_block(tf):
    """W14: a residual block of 32 channels with batch norm, and its image made from it again."""
    x = tf.placeholder(tf.float32, [16, 32, 32, 3])
    w = [tf.Variable(_values(i, *shape)) for i, shape in enumerate(((3, 3, 3, 32), (3, 3, 32, 32), (4, 4, 3, 32)), 9)]
    h = tf.nn.relu(tf.nn.conv2d(x, w[0], [1, 2, 2, 1], "SAME"))
    ones, zeros = tf.Variable(np.ones(32, np.float32)), tf.Variable(np.zeros(32, np.float32))
    h = h + tf.nn.relu(tf.nn.fused_batch_norm(tf.nn.conv2d(h, w[1], [1, 1, 1, 1], "SAME"), ones, zeros)[0])
    y = tf.nn.conv2d_transpose(h, w[2], [16, 32, 32, 3], [1, 2, 2, 1], "SAME")
    return _trained(tf, tf.reduce_mean(tf.square(y - x)), {x: _values(12, 16, 32, 32, 3) * 10},
                    tf.train.GradientDescentOptimizer(RATE))


def first_run(tf):
    """W15: the first run of a plan of 2,000 ops and their gradients; gives {microseconds an op}."""
    with tf.Graph().as_default() as graph:
        x = y = tf.placeholder(tf.float32, [4])
        for i in range(2000):
            y = tf.sin(y) if i % 2 else y * x
        gradient = tf.gradients(y, x)
    ops = len(graph.get_operations())

    def step():
        with tf.Session(graph=graph) as session:
            start = time.perf_counter()
            session.run(gradient, {x: np.ones(4, np.float32)})
            return {"us/op": round((time.perf_counter() - start) / ops * 1e6, 2)}

    return step
