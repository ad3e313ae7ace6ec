"""Whole models: an encoder layer, a GAN, a residual network, attention over a sequence, a text classifier, a VAE."""
import numpy as np

_SAME, _ONE, _TWO = "SAME", [1, 1, 1, 1], [1, 2, 2, 1]


class _Maker:
    """Variables with the same first values in every library, and the layers that take them."""

    def __init__(self, tf):
        self.tf, self.random = tf, np.random.RandomState(0)

    def weights(self, *shape):
        return self.tf.Variable((self.random.randn(*shape) * 0.05).astype(np.float32))

    def full(self, value, size):
        return self.tf.Variable(np.full(size, value, np.float32))

    def dense(self, x, size):
        return self.tf.matmul(x, self.weights(int(x.shape[-1]), size)) + self.full(0, size)

    def conv(self, x, k, channels, strides=_ONE):
        return self.tf.nn.conv2d(x, self.weights(k, k, int(x.shape[-1]), channels), strides, _SAME)

    def fed(self, *shape):
        return self.tf.placeholder(self.tf.float32, shape), self.random.rand(*shape).astype(np.float32)

    def labels(self, below, *shape):
        return self.tf.placeholder(self.tf.int32, shape), self.random.randint(0, below, shape)


def _cross_entropy(tf, labels, logits):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


def _trained(tf, loss, feeds, optimizer):
    return [loss, optimizer.minimize(loss)], dict(feeds), tf.global_variables_initializer()


def graph_encoder(tf):
    """W16: embedding, four heads of attention over 64 words, layer norms, dropout, tied logits; Adam."""
    make, n, t, d, words = _Maker(tf), 16, 64, 128, 1000
    (ids, _), (labels, _) = feeds = [make.labels(words, n, t) for _ in range(2)]
    table, keep = make.weights(words, d), tf.placeholder_with_default(np.float32(1), [])
    x = tf.nn.embedding_lookup(table, ids) + make.weights(t, d)

    def normed(h):
        mean, variance = tf.nn.moments(h, [-1], keep_dims=True)
        return (h - mean) * tf.rsqrt(variance + 1e-6) * make.full(1, d) + make.full(0, d)

    def heads(h):
        rows = tf.matmul(tf.reshape(h, [-1, d]), make.weights(d, d))
        return tf.transpose(tf.reshape(rows, [n, t, 4, d // 4]), [0, 2, 1, 3])

    q, k, v = heads(x), heads(x), heads(x)
    mixed = tf.matmul(tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / (d / 4) ** 0.5), v)
    x = normed(x + tf.nn.dropout(tf.reshape(tf.transpose(mixed, [0, 2, 1, 3]), [n, t, d]), keep))
    h = make.dense(tf.nn.relu(make.dense(tf.reshape(x, [-1, d]), 4 * d)), d)
    x = normed(x + tf.nn.dropout(tf.reshape(h, [n, t, d]), keep))
    logits = tf.matmul(tf.reshape(x, [-1, d]), table, transpose_b=True)
    return _trained(tf, _cross_entropy(tf, tf.reshape(labels, [-1]), logits), feeds, tf.train.AdamOptimizer(1e-3))


def graph_gan(tf):
    """W17: images of 32 by 32 made by transposed convolutions, and judged by strided ones; both trained by Adam."""
    make, n = _Maker(tf), 32
    (z, _), (real, _) = feeds = [make.fed(n, 64), make.fed(n, 32, 32, 3)]

    def normed(h):
        mean, variance = tf.nn.moments(h, [0, 1, 2])
        size = int(h.shape[-1])
        return tf.nn.batch_normalization(h, mean, variance, make.full(0, size), make.full(1, size), 1e-5)

    def up(h, channels):
        size, before = 2 * int(h.shape[1]), int(h.shape[-1])
        return tf.nn.conv2d_transpose(h, make.weights(5, 5, channels, before), [n, size, size, channels], _TWO, _SAME)

    h = tf.nn.relu(normed(tf.reshape(make.dense(z, 2048), [n, 4, 4, 128])))
    made = tf.tanh(up(tf.nn.relu(normed(up(tf.nn.relu(normed(up(h, 64))), 32))), 3))
    makers = tf.trainable_variables()
    judges = [make.weights(5, 5, a, b) for a, b in ((3, 32), (32, 64), (64, 128))] + [make.weights(2048, 1)]

    def loss(image, value):
        for w in judges[:-1]:
            image = tf.nn.leaky_relu(tf.nn.conv2d(image, w, _TWO, _SAME))
        logits = tf.matmul(tf.reshape(image, [n, -1]), judges[-1])
        return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(
            logits=logits, labels=tf.fill(tf.shape(logits), np.float32(value))))

    losses = [loss(real, 1) + loss(made, 0), loss(made, 1)]
    steps = [tf.train.AdamOptimizer(2e-4, beta1=0.5).minimize(one, var_list=variables)
             for one, variables in zip(losses, (judges, makers))]
    return losses + steps, dict(feeds), tf.global_variables_initializer()


def graph_residual(tf):
    """W18: a residual network of 13 convolutions with batch norms, and weight decay; momentum."""
    make = _Maker(tf)
    (x, _), (labels, _) = feeds = [make.fed(32, 32, 32, 3), make.labels(10, 32)]

    def normed(h):
        size = int(h.shape[-1])
        return tf.nn.fused_batch_norm(h, make.full(1, size), make.full(0, size))[0]

    h = tf.nn.relu(normed(make.conv(x, 3, 16)))
    for channels, strides in ((16, _ONE), (16, _ONE), (32, _TWO), (32, _ONE), (64, _TWO), (64, _ONE)):
        inner = normed(make.conv(tf.nn.relu(normed(make.conv(h, 3, channels, strides))), 3, channels))
        h = tf.nn.relu((h if strides is _ONE else normed(make.conv(h, 1, channels, strides))) + inner)
    loss = _cross_entropy(tf, labels, make.dense(tf.reduce_mean(h, [1, 2]), 10))
    loss += 1e-4 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])
    return _trained(tf, loss, feeds, tf.train.MomentumOptimizer(0.1, 0.9))


def graph_attention(tf):
    """W19: a GRU over 20 words in a loop, and one that is unrolled and looks back at them; clipped Adam."""
    make, n, t, d, words = _Maker(tf), 32, 20, 96, 500
    (source, _), (given, _), (labels, _) = feeds = [make.labels(words, n, t) for _ in range(3)]
    cells = [tf.nn.rnn_cell.GRUCell(d, kernel_initializer=tf.constant_initializer(0.01), name=name) for name in "ab"]
    read = tf.nn.embedding_lookup(make.weights(words, d), source)
    memory, state = tf.nn.dynamic_rnn(cells[0], read, dtype=tf.float32)
    keys, query, score = tf.tensordot(memory, make.weights(d, d), 1), make.weights(d, d), make.weights(d)
    outputs, context = [], tf.zeros([n, d])
    for x in tf.unstack(tf.nn.embedding_lookup(make.weights(words, d), given), axis=1):
        out, state = cells[1](tf.concat([x, context], 1), state)
        energy = tf.reduce_sum(score * tf.tanh(keys + tf.expand_dims(tf.matmul(out, query), 1)), 2)
        context = tf.reduce_sum(tf.expand_dims(tf.nn.softmax(energy), 2) * memory, 1)
        outputs.append(tf.concat([out, context], 1))
    logits = make.dense(tf.reshape(tf.stack(outputs, 1), [n * t, 2 * d]), words)
    loss, variables = _cross_entropy(tf, tf.reshape(labels, [-1]), logits), tf.trainable_variables()
    clipped, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 5.0)
    step = tf.train.AdamOptimizer(1e-3).apply_gradients(zip(clipped, variables))
    return [loss, step], dict(feeds), tf.global_variables_initializer()


def graph_text(tf):
    """W20: sentences of 56 words, filters over 3, 4 and 5 of them, the greatest of each; Adam."""
    make, n, t, d = _Maker(tf), 64, 56, 128
    (ids, _), (labels, _) = feeds = [make.labels(10000, n, t), make.labels(2, n)]
    x = tf.expand_dims(tf.nn.embedding_lookup(make.weights(10000, d), ids), -1)
    found = []
    for k in (3, 4, 5):
        h = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, make.weights(k, d, 1, 100), _ONE, "VALID"), make.full(0.1, 100)))
        found.append(tf.nn.max_pool(h, [1, t - k + 1, 1, 1], _ONE, "VALID"))
    h = tf.reshape(tf.concat(found, 3), [n, 300])
    return _trained(tf, _cross_entropy(tf, labels, make.dense(h, 2)), feeds, tf.train.AdamOptimizer(1e-3))


def graph_vae(tf):
    """W21: a variational autoencoder, 784-400-20, its noise fed; Adam."""
    make = _Maker(tf)
    (x, _), (noise, _) = feeds = [make.fed(128, 784), make.fed(128, 20)]
    h = tf.nn.relu(make.dense(x, 400))
    mean, log_variance = make.dense(h, 20), make.dense(h, 20)
    logits = make.dense(tf.nn.relu(make.dense(mean + tf.exp(0.5 * log_variance) * noise, 400)), 784)
    rebuilt = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), 1)
    apart = -0.5 * tf.reduce_sum(1 + log_variance - tf.square(mean) - tf.exp(log_variance), 1)
    return _trained(tf, tf.reduce_mean(rebuilt + apart), feeds, tf.train.AdamOptimizer(1e-3))
