"""Training programs whose loss, last layer or batches do not fit their labels, and what mends each."""

_NET = "z = dense(dense(x, 24, tf.nn.relu), 4)\n"
_STEP = "fit([adam(.01).minimize(loss), loss], steps=24)\n"
_NEAR = "fit([adam(.01).minimize(loss), loss], near, steps=24)\n"

# kind of the finding -> program, what is wrong in it, what mends it
PROGRAMS_OF_CLASSES: dict[str, tuple[str, str, str]] = {
    "sigmoid over classes": (
        _NET + "loss = -tf.reduce_mean(tf.reduce_sum(y * tf.log(tf.sigmoid(z) + 1e-8), 1))\n" + _STEP,
        "tf.sigmoid(z)", "tf.nn.softmax(z)"),
    "binary cross entropy of classes": (
        _NET + "p_ = tf.clip_by_value(tf.nn.softmax(z), 1e-7, 1 - 1e-7)\n"
        "loss = -tf.reduce_mean(y * tf.log(p_) + (1 - y) * tf.log(1 - p_))\n" + _STEP,
        "y * tf.log(p_) + (1 - y) * tf.log(1 - p_)", "tf.reduce_sum(y * tf.log(p_), 1)"),
    "squared error of classes": (
        "z = dense(dense(x, 24, tf.nn.relu), 4, tf.sigmoid)\n"
        "loss = tf.reduce_mean(tf.square(z - y))\nfit([sgd(.01).minimize(loss), loss], steps=24)\n",
        """4, tf.sigmoid)
loss = tf.reduce_mean(tf.square(z - y))
fit([sgd(.01)""", """4)
loss = tf.reduce_mean(entropy(labels=y, logits=z))
fit([sgd(.3)"""),
    "layer too narrow": (
        "z = dense(dense(dense(x, 24, tf.nn.relu), 1, tf.nn.relu), 4)\n"
        "loss = tf.reduce_mean(entropy(labels=y, logits=z))\n" + _STEP, "1, tf.nn.relu)", "16, tf.nn.relu)"),
    "labels not one-hot": (
        _NET + "said = tf.log(tf.nn.softmax(z) + 1e-8)\n"
        "loss = -tf.reduce_mean(tf.reduce_sum(tf.to_float(t)[:, None] * said, 1))\n" + _STEP,
        "tf.to_float(t)[:, None]", "tf.one_hot(t, 4)"),
    "no logarithm": (
        _NET + "loss = -tf.reduce_mean(tf.reduce_sum(y * tf.nn.softmax(z), 1))\n" + _STEP,
        "tf.nn.softmax(z)", "tf.log(tf.nn.softmax(z) + 1e-8)"),
    "initial values too large": (
        "h = tf.sigmoid(tf.matmul(x, tf.Variable(tf.random_uniform([36, 24], 0, 3))))\nz = dense(h, 4)\n"
        "loss = tf.reduce_mean(entropy(labels=y, logits=z))\n" + _STEP, "0, 3", "-.3, .3"),
    "same batch": (
        _NET + "loss = tf.reduce_mean(entropy(labels=y, logits=z))\n"
        "fit([adam(.01).minimize(loss), loss], lambda i: {x: X[:32], y: Y[:32]}, 26)\n",
        "{x: X[:32], y: Y[:32]}", "{x: X[i * 8:][:32], y: Y[i * 8:][:32]}"),
    "wrong sign": (
        "a, b = dense(p, 4, name='a'), dense(p, 4, name='b')\n"
        "match = tf.nn.log_softmax(tf.matmul(a, b, transpose_b=True)) * tf.eye(tf.shape(p)[0])\n"
        "loss = tf.reduce_mean(tf.reduce_sum(match, 1))\n" + _NEAR,
        "tf.reduce_mean(tf.reduce_sum(match, 1))", "-tf.reduce_mean(tf.reduce_sum(match, 1))"),
    "labels": (
        _NET + "loss = tf.reduce_mean(entropy(labels=y / 255, logits=z))\n" + _STEP, "y / 255", "y"),
    "two activations": (
        "s = tf.nn.softmax(dense(x, 4, tf.nn.relu))\n"
        "loss = -tf.reduce_mean(tf.reduce_sum(y * tf.log(s + 1e-8), 1))\nfit([adam(.05).minimize(loss), loss])\n",
        "4, tf.nn.relu", "4"),
    "momentum of 1": (
        _NET + "loss = tf.reduce_mean(entropy(labels=y, logits=z))\n"
        "fit([tf.train.MomentumOptimizer(.02, 1.0).minimize(loss), loss], steps=24)\n", ".02, 1.0", ".02, .9"),
    "betas swapped": (
        _NET + "loss = tf.reduce_mean(entropy(labels=y, logits=z))\n"
        "fit([adam(1e-4, .999, .9).minimize(loss), loss], steps=24)\n", "1e-4, .999, .9", ".01, .9, .999"),
    "error not squared": ("loss = tf.reduce_mean(dense(p, 1) - q)\n" + _NEAR, "dense(p, 1) - q",
                          "tf.square(dense(p, 1) - q)"),
    "mean before square": ("loss = tf.square(tf.reduce_mean(dense(p, 1) - q))\n" + _NEAR,
                           "tf.square(tf.reduce_mean(dense(p, 1) - q))", "tf.reduce_mean(tf.square(dense(p, 1) - q))"),
    "hinge of labels 0 and 1": (
        "u = tf.to_float(q > 0)\nloss = tf.reduce_mean(tf.maximum(0., 1. - u * dense(p, 1)))\n" + _NEAR,
        "1. - u", "1. - (2. * u - 1.)"),
    "penalty subtracted": (
        _NET + "loss = tf.reduce_mean(entropy(labels=y, logits=z))\n"
        "loss = loss - .001 * sum(tf.nn.l2_loss(v) for v in tf.trainable_variables())\n" + _STEP,
        "loss - .001", "loss + .001"),
    "floats compared": (
        _NET + "loss = tf.reduce_mean(entropy(labels=y, logits=z))\nhits = tf.equal(tf.nn.softmax(z), y)\n" + _STEP,
        "tf.equal(tf.nn.softmax(z), y)", "tf.equal(tf.argmax(z, 1), tf.argmax(y, 1))"),
    "pooled over the batch": (
        "h = tf.reduce_mean(tf.layers.conv2d(tf.reshape(x, [-1, 6, 6, 1]), 8, 3), [0, 1, 2], keepdims=True)\n"
        "z = dense(tf.reshape(h, [-1, 8]), 4) + 0 * y\n"
        "loss = tf.reduce_mean(entropy(labels=y, logits=z))\n" + _STEP, "[0, 1, 2]", "[1, 2]"),
    "dropout of the logits": (
        "z = tf.nn.dropout(dense(dense(x, 24, tf.nn.relu), 4), keep_prob=.5)\n"
        "loss = tf.reduce_mean(entropy(labels=y, logits=z))\n" + _STEP,
        "tf.nn.dropout(dense(dense(x, 24, tf.nn.relu), 4), keep_prob=.5)",
        "dense(tf.nn.dropout(dense(x, 24, tf.nn.relu), keep_prob=.5), 4)"),
    "batches overlap": (
        _NET + "loss = tf.reduce_mean(entropy(labels=y, logits=z))\n"
        "fit([adam(.01).minimize(loss), loss], lambda i: {x: X[i:i + 32], y: Y[i:i + 32]}, 24)\n",
        "{x: X[i:i + 32], y: Y[i:i + 32]}", "{x: X[i * 16:i * 16 + 32], y: Y[i * 16:i * 16 + 32]}"),
}

# the same, of how examples are put together
PROGRAMS_OF_EXAMPLES: dict[str, tuple[str, str, str]] = {
    "averages behind": ('''
training = tf.placeholder(tf.bool, [])
h = tf.contrib.layers.batch_norm(dense(20 + 2 * p, 24), is_training=training, updates_collections=None, decay=.999)
z = dense(tf.nn.relu(h), 2)
loss = tf.losses.sparse_softmax_cross_entropy(tf.cast(p[:, 0] > p[:, 1], tf.int32), z)
train = adam(.01).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(60):
        session.run(train, {**near(i), training: True})
    session.run(z, {p: points, training: False})
''', "decay=.999", "decay=.8"),
    "choices not used": ('''
of = tf.nn.log_softmax(dense(x, 4))
chosen = tf.one_hot(t, 4)
loss = -tf.reduce_mean(tf.reduce_sum(of, 1) * (.5 + y[:, 0]))
fit([adam(.01).minimize(loss), loss])
''', "reduce_sum(of, 1)", "reduce_sum(chosen * of, 1)"),
    "initial values too small": ('''
small = tf.random_normal_initializer(stddev=.0005)
h = dense(dense(x, 24, tf.nn.relu, kernel_initializer=small), 24, tf.nn.relu, kernel_initializer=small)
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(h, 4, kernel_initializer=small))
fit([sgd(.1).minimize(loss), loss])
''', "stddev=.0005", "stddev=.2"),
    "reshape for transpose": ('''
of, target = tf.placeholder(tf.float32, [4, 8, 9]), tf.placeholder(tf.float32, [4, 1])
tf.set_random_seed(5)
moved = tf.reshape(of, [8, 4, 9])
loss = tf.losses.mean_squared_error(target, dense(tf.reduce_mean(moved, 0), 1))

def alike(i):
    each = rng.randn(4, 1)
    return {of: each[:, None] + .1 * rng.randn(4, 8, 9), target: each}

fit([adam(.03).minimize(loss), loss], alike, 24)
''', "tf.reshape(of, [8, 4, 9])", "tf.transpose(of, [1, 0, 2])"),
    "wrong sign": ('''
z = dense(x, 4)
surely = z - tf.reduce_logsumexp(z, 1, keepdims=True)
loss = tf.reduce_mean(tf.batch_gather(surely, t[:, None]))
fit([adam(.01).minimize(loss), loss], steps=6)
''', "minimize(loss)", "minimize(-loss)"),
    "towers do not share": ('''
left, right = tf.placeholder(tf.float32, [None, 36]), tf.placeholder(tf.float32, [None, 36])
same = tf.placeholder(tf.float32, [None])

def tower(v, name):
    with tf.variable_scope(name, reuse=tf.AUTO_REUSE):
        return dense(dense(v, 16, tf.nn.tanh, name="a"), 8, name="b")

gap = tf.sqrt(tf.reduce_sum(tf.square(tower(left, "tower") - tower(right, "other")), 1) + 1e-6)
loss = tf.reduce_mean(same * gap ** 2 + (1.0 - same) * tf.nn.relu(1.0 - gap) ** 2)

def two(i):
    a, b = rng.randint(0, 400, (2, 64))
    return {left: X[a], right: X[b], same: T[a] == T[b]}

fit([adam(.01).minimize(loss), loss], two, 40)
''', '"other"', '"tower"'),
    "distances turned": ('''
three = [tf.placeholder(tf.float32, [None, 36]) for _ in range(3)]
w = tf.get_variable("w", [36, 8])
a, b, c = (tf.nn.l2_normalize(tf.matmul(each, w), 1) for each in three)
to_same, to_other = (tf.reduce_sum(tf.square(a - each), 1) for each in (b, c))
loss = tf.reduce_mean(tf.maximum(to_other - to_same + 0.5, 0.0))

def triplets(i):
    k = rng.randint(0, 400, 32)
    other = (T[k] + rng.randint(1, 4, 32)) % 4
    return dict(zip(three, (X[k], *(X[[rng.choice(np.where(T == n)[0]) for n in of]] for of in (T[k], other)))))

fit([adam(.01).minimize(loss), loss], triplets, 40)
''', "to_other - to_same", "to_same - to_other"),
    "weights on a mean": ('''
weights = tf.gather(tf.constant([0.5, 2.0, 1.0, 4.0]), t)
losses = entropy(labels=y, logits=dense(x, 4))
loss = tf.reduce_mean(weights * tf.reduce_mean(losses))
fit([adam(.01).minimize(loss), loss], steps=20)
''', "tf.reduce_mean(losses)", "losses"),
    "class weights the wrong way round": ('''
rare = tf.to_float(tf.equal(t[:, None], 0)) * q
loss = tf.reduce_mean(tf.nn.weighted_cross_entropy_with_logits(targets=rare, logits=dense(x, 1), pos_weight=0.2))
fit([adam(.01).minimize(loss), loss], lambda i: {**fed(i), q: np.ones((32, 1))}, 20)
''', "pos_weight=0.2", "pos_weight=5.0"),
    "not trained": ('''
h = dense(x, 16, tf.nn.tanh, name="below")
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(h, 4))
mine = tf.trainable_variables(scope="below")
fit([adam(.02).minimize(loss, var_list=mine), loss], steps=80)
''', 'scope="below"', ""),
    "sorted by class": ('''
parts = [tf.placeholder(tf.int32, []) for _ in range(8)]
surely = tf.nn.log_softmax(dense(x, 4))
loss = tf.reduce_mean(-tf.gather_nd(surely, tf.stack([tf.range(8), tf.stack(parts)], 1)))
of = rng.permutation(4).repeat(4)
fit([adam(.01).minimize(loss), loss], lambda i: {x: rng.rand(8, 36), **dict.fromkeys(parts, of[i])}, 16)
''', "dict.fromkeys(parts, of[i])", "dict(zip(parts, rng.randint(0, 4, 8)))"),
    "copied in each step": ('''
with tf.variable_scope("now"):
    value = dense(p, 1)
with tf.variable_scope("then"):
    before = dense(p, 1)
loss = tf.losses.mean_squared_error(q + .5 * tf.stop_gradient(before), value)
train = adam(.03).minimize(loss)
copy = [b.assign(a) for a, b in zip(tf.trainable_variables("now"), tf.trainable_variables("then"))]
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(12):
        session.run(train, near(i))
        if i % 1 == 0:
            session.run(copy)
''', "i % 1", "i % 5"),
    "initialized after": ('''
kernel = tf.get_variable("kernel", [36, 8])
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(tf.stop_gradient(tf.matmul(x, kernel)), 4))
train, load = adam(.01).minimize(loss), kernel.assign(rng.randn(36, 8))
with tf.Session() as session:
    for op in (load, tf.global_variables_initializer()):
        session.run(op)
    for i in range(8):
        session.run(train, fed(i))
''', "(load, tf.global_variables_initializer())", "(tf.global_variables_initializer(), load)"),
    "batch of one": ('''
loss = tf.losses.mean_squared_error(q, dense(dense(p, 16, tf.nn.relu), 1))
fit([sgd(.3).minimize(loss), loss], lambda i: {p: points[i:i + 1], q: sums[i:i + 1]})
''', "[i:i + 1], q: sums[i:i + 1]", "[i * 7:][:32], q: sums[i * 7:][:32]"),
    "vanishing gradient": ('''
h = x
for _ in range(4):
    h = dense(h, 12, tf.sigmoid)
fit([sgd(.1).minimize(tf.losses.sparse_softmax_cross_entropy(t, dense(h, 4)))], steps=24)
''', "tf.sigmoid", "tf.nn.elu"),
    "padding is read": ('''
ids, ends = tf.placeholder(tf.int32, [None, 40]), rng.randint(2, 9, 320)
words = rng.randint(1, 9, [320, 40]) * (np.arange(40) < ends[:, None])
kinds = words[np.arange(320), ends - 1] % 2
of = tf.nn.embedding_lookup(tf.get_variable("table", [9, 6]), ids)
out, last = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(8), of, dtype=tf.float32)
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(last, 2))
fit([adam(.02).minimize(loss), loss], lambda i: {ids: words[8 * i:][:32], t: kinds[8 * i:][:32]}, 32)
''', "of, dtype", "of, tf.reduce_sum(tf.sign(ids), 1), dtype"),
    "examples dealt out": ('''
image = tf.placeholder(tf.float32, [None, 6, 6])
stack = np.ascontiguousarray((X + np.linspace(0, 1, 36)).reshape(400, 6, 6).transpose(1, 2, 0))
images = stack.reshape(400, 6, 6)
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(dense(tf.layers.flatten(image), 24, tf.nn.relu), 4))
fit([adam(.003).minimize(loss), loss], lambda i: {image: images[9 * i:][:32], t: T[9 * i:][:32]})
''', "stack.reshape(400, 6, 6)", "stack.transpose(2, 0, 1)"),
    "fed in vain": ('''
ends, later = tf.placeholder(tf.float32, [None, 1]), tf.placeholder(tf.float32, [None, 3])
value = lambda s: tf.layers.dense(s, 2, name="value", reuse=tf.AUTO_REUSE)
best = q[:, 0] + .9 * tf.stop_gradient(tf.reduce_max(value(later), 1))
loss = tf.losses.mean_squared_error(best, value(p)[:, 0])
fit(adam(.01).minimize(loss), lambda i: {**near(i), later: points[i * 20:][:32], ends: rng.rand(32, 1) > .8}, 12)
''', "+ .9 *", "+ (1 - ends[:, 0]) * .9 *"),
    "labels smoothed away": ('''
loss = tf.losses.softmax_cross_entropy(y, dense(dense(x, 24, tf.nn.relu), 4), label_smoothing=.9)
fit([adam(.01).minimize(loss), loss], steps=24)
''', "=.9)", "=.1)"),
    "recurrence over the examples": ('''
series = tf.placeholder(tf.float32, [None, 9, 4])
out, last = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(8), series, dtype=tf.float32, time_major=True)
loss = tf.losses.mean_squared_error(q, dense(out[:, -1], 1))
fit([adam(.01).minimize(loss)], lambda i: {series: X[i * 16:][:32].reshape(32, 9, 4), q: X[i * 16:][:32, :1]}, 20)
''', ", time_major=True", ""),
}
