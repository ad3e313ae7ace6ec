"""More training programs with a mistake that raises nothing: optimizers, pairs of losses, data, modes."""

# kind of the finding -> program, what is wrong in it, what mends it
MORE_PROGRAMS: dict[str, tuple[str, str, str]] = {
    "never trained": ('''
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(x, 4))
train, told = adam(.01).minimize(loss), tf.summary.scalar("loss", loss)
fit([told, loss], steps=12)
''', "[told, loss]", "[told, loss, train]"),
    "never copied": ('''
w = tf.get_variable("w", [36, 4])
loss = tf.losses.sparse_softmax_cross_entropy(t, tf.matmul(x, w))
train, averages = adam(.01).minimize(loss), tf.train.ExponentialMovingAverage(.9)
average = averages.apply([w])
scores = tf.matmul(x, averages.average(w))
both = tf.group(train)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(12):
        session.run(both, fed(i))
        session.run(scores, fed(i))
''', "tf.group(train)", "tf.group(train, average)"),
    "epsilon underflows": ('''
half = tf.float16
w, b = tf.Variable(tf.zeros([36, 4], half)), tf.Variable(tf.zeros([4], half))
loss = tf.reduce_mean(tf.square(tf.matmul(tf.cast(x, half), w) + b - tf.cast(y, half)))
fit([adam(.01).minimize(loss), loss], steps=4)
''', "half = tf.float16", "half = tf.float32"),
    "clipped by value": ('''
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(dense(x, 16, tf.nn.tanh), 4))
bounded = [(tf.clip_by_value(g, -1e-4, 1e-4), v) for g, v in sgd(.1).compute_gradients(loss)]
fit([sgd(.1).apply_gradients(bounded), loss], steps=20)
''', "tf.clip_by_value(g, -1e-4, 1e-4)", "tf.clip_by_norm(g, 5.0)"),
    "clipped always": ('''
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(dense(x, 16, tf.nn.tanh), 4))
gradients, variables = zip(*sgd(1.0).compute_gradients(loss))
clipped, _ = tf.clip_by_global_norm(gradients, .003)
fit([sgd(1.0).apply_gradients(zip(clipped, variables)), loss], steps=20)
''', ".003", "1.0"),
    "adversaries agree": ('''
judge = tf.nn.sigmoid_cross_entropy_with_logits
with tf.variable_scope("g"):
    fake = dense(q, 3)
with tf.variable_scope("d", reuse=tf.AUTO_REUSE):
    of_real, of_fake = (dense(dense(v, 8, tf.nn.tanh, name="a"), 1, name="b") for v in (p, fake))
d_loss = tf.reduce_mean(judge(labels=tf.ones_like(of_real), logits=of_real)) + tf.reduce_mean(
    judge(labels=tf.zeros_like(of_fake), logits=of_fake))
g_loss = tf.reduce_mean(judge(labels=0 * of_fake, logits=of_fake))
of_d, of_g = (adam(.001).minimize(loss, var_list=tf.trainable_variables(scope)) for loss, scope in (
    (d_loss, "d/"), (g_loss, "g/")))
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(8):
        session.run(of_d, near(i))
        session.run(of_g, {q: sums[:32]})
''', "labels=0 * of_fake", "labels=1 + 0 * of_fake"),
    "two losses train the same": ('''
with tf.variable_scope("critic"):
    value = dense(p, 1)
with tf.variable_scope("actor"):
    chance = dense(p, 2, tf.nn.softmax)
off = q - value
critic = adam(.01).minimize(tf.reduce_mean(tf.square(off)), var_list=tf.trainable_variables("critic"))
gain = -tf.log(chance[:, :1] + 1e-6) * off
fit([critic, adam(.001).minimize(tf.reduce_mean(gain))], near, 8)
''', "1e-6) * off", "1e-6) * tf.stop_gradient(off)"),
    "unbalanced classes": ('''
far = tf.cast(q > 4.2, tf.float32)
loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=far, logits=dense(p, 1)))
fit([adam(.01).minimize(loss), loss], near, 20)
''', "q > 4.2", "q > 0.2"),
    "duplicated columns": ('''
points = rng.randn(300, 6).astype(np.float32)
points[:, 1] = points[:, 0]
p = tf.placeholder(tf.float32, [None, 6])
loss = tf.losses.mean_squared_error(q, dense(p, 1))
fit([adam(.01).minimize(loss), loss], near, 12)
''', "points[:, 1] = points[:, 0]", "pass"),
    "labels do not follow from inputs": ('''
rng.shuffle(sums)
data = tf.data.Dataset.from_tensor_slices((points, sums)).batch(100).repeat()
inputs, aims = data.make_one_shot_iterator().get_next()
loss = tf.losses.mean_squared_error(aims, dense(inputs, 1))
fit([sgd(.1).minimize(loss), loss], lambda i: {}, 30)
''', "rng.shuffle(sums)", "pass"),
    "sorted by class": ('''
order = np.argsort(T)
data = tf.data.Dataset.from_tensor_slices((X[order], T[order])).batch(25).repeat()
inputs, labels = data.make_one_shot_iterator().get_next()
loss = tf.losses.sparse_softmax_cross_entropy(labels, dense(inputs, 4))
fit([sgd(.1).minimize(loss), loss], lambda i: {})
''', "np.argsort(T)", "rng.permutation(400)"),
    "dropout drops too much": ('''
training = tf.placeholder_with_default(False, [])
h = tf.layers.dropout(dense(x, 32, tf.nn.relu), 0.95, training=training)
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(h, 4))
fit([adam(.001).minimize(loss), loss], lambda i: {**fed(i), training: True}, 10)
''', "0.95", "0.3"),
    "dropout the wrong way round": ('''
training = tf.placeholder_with_default(False, [])
h = tf.layers.dropout(dense(x, 32, tf.nn.relu), 0.3, training=training)
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(h, 4))
train, IN_TRAINING = adam(.001).minimize(loss), False
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(8):
        session.run([train, loss], {**fed(i), training: IN_TRAINING})
        session.run(loss, {**fed(i), training: not IN_TRAINING})
''', "IN_TRAINING = adam(.001).minimize(loss), False", "IN_TRAINING = adam(.001).minimize(loss), True"),
    "wrong sign": ('''
mu, logvar = dense(x, 3), dense(x, 3)
z = mu + tf.exp(.5 * logvar) * tf.random_normal(tf.shape(mu))
errors = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=dense(z, 36)), 1)
apart = .5 * tf.reduce_sum(1 + logvar - tf.square(mu) - tf.exp(logvar), 1)
loss = tf.reduce_mean(errors + apart)
fit([adam(.002).minimize(loss), loss], steps=10)
''', "apart = .5", "apart = -.5"),
    "target is trained": ('''
def values(v):
    with tf.variable_scope("values", reuse=tf.AUTO_REUSE):
        return dense(dense(v, 8, tf.nn.relu, name="a"), 2, name="b")

best = tf.reshape(q, [-1]) + .9 * tf.reduce_max(values(tf.sin(p)), 1)
loss = tf.reduce_mean(tf.square(best - values(p)[:, 0]))
fit([adam(.001).minimize(loss), loss], near, 8)
''', "best - values", "tf.stop_gradient(best) - values"),
    "initial values too small": ('''
small = tf.random_normal_initializer(stddev=.01)
h = x
for _ in range(5):
    h = dense(h, 24, tf.nn.tanh, kernel_initializer=small)
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(h, 4, kernel_initializer=small))
fit([sgd(.1).minimize(loss), loss], steps=24)
''', "stddev=.01", "stddev=.3"),
    "batch norm in evaluation mode": ('''
training = tf.placeholder(tf.bool, [])
h = tf.nn.relu(tf.contrib.layers.batch_norm(dense(x, 16), is_training=training))
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(h, 4))
with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
    train = adam(.01).minimize(loss)
fit([train, loss], lambda i: {**fed(i), training: False}, 10)
''', "training: False", "training: True"),
    "part of the loss": ('''
shared = dense(p, 8, tf.nn.relu)
far, side = tf.losses.mean_squared_error(q, dense(shared, 1)), tf.losses.mean_squared_error(q > 0, dense(shared, 1))
loss = far
fit([adam(.01).minimize(loss), far, side], near)
''', "loss = far", "loss = far + side"),
    "labels and logits swapped": ('''
loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=dense(x, 4), logits=y))
fit([adam(.01).minimize(loss), loss])
''', "labels=dense(x, 4), logits=y", "labels=y, logits=dense(x, 4)"),
    "learning rate too high": ('''
loss = tf.losses.mean_squared_error(q, dense(dense(p, 8, tf.nn.tanh), 1))
fit([tf.train.RMSPropOptimizer(1.0).minimize(loss), loss], near)
''', "(1.0)", "(.003)"),
    "no logarithm": ('''
chances = tf.nn.softmax(dense(x, 4))
loss = tf.reduce_mean(-tf.gather_nd(chances, tf.stack([tf.range(32), t], 1)))
fit([adam(.01).minimize(loss), loss])
''', "tf.nn.softmax", "tf.nn.log_softmax"),
    "softmax over the batch": ('''
odds = tf.exp(dense(x, 4))
p = odds / tf.reduce_sum(odds)
fit([adam(.01).minimize(-tf.reduce_mean(tf.reduce_sum(y * tf.log(p), 1)))])
''', "reduce_sum(odds)", "reduce_sum(odds, 1, keepdims=True)"),
    "decay too strong": ('''
kernel = tf.get_variable("kernel", [36, 4])
train = adam(.01).minimize(tf.losses.softmax_cross_entropy(y, tf.matmul(x, kernel)))
with tf.control_dependencies([train]):
    shrink = kernel.assign(kernel * .5)
fit(shrink, steps=12)
''', "kernel * .5", "kernel * .9999"),
    "gradients thrown away": ('''
slope = adam(.01).compute_gradients(tf.losses.mean_squared_error(q, dense(p, 1)))[0]
total = tf.Variable(tf.zeros([3, 1]), trainable=False)
add, clear, train = total.assign_add(slope[0]), total.assign(0 * total), adam(.01).apply_gradients([(total, slope[1])])
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(3):
        for op in (add, clear, train):
            session.run(op, near(i))
''', "(add, clear, train)", "(add, train, clear)"),
    "zero factors": ('''
of, on = tf.Variable(tf.zeros([4, 5])), tf.Variable(tf.zeros([36, 5]))
score = tf.reduce_sum(tf.gather(of, t) * tf.gather(on, tf.argmax(x, 1)), 1)
fit([adam(.01).minimize(tf.losses.mean_squared_error(tf.reduce_mean(x, 1), score))], steps=6)
''', "tf.gather(on, tf.argmax(x, 1))", "tf.matmul(x, on + 1.)"),
    "initial values too large": ('''
h = dense(x, 16, tf.nn.relu, bias_initializer=tf.constant_initializer(-9.))
fit([adam(.01).minimize(tf.losses.sparse_softmax_cross_entropy(t, dense(h, 4)))])
''', "-9.", ".1"),
    "not trained": ('''
logits = dense(dense(x, 16, tf.nn.relu, name="below"), 4, kernel_initializer=tf.zeros_initializer())
loss = tf.losses.sparse_softmax_cross_entropy(t, logits)
fit([adam(.01).minimize(loss, var_list=tf.trainable_variables("below"))], steps=12)
''', ', var_list=tf.trainable_variables("below")', ""),
    "updated twice": ('''
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(x, 4))
fit([adam(.01).minimize(loss), sgd(.01).minimize(loss), loss], steps=4)
''', "sgd(.01).minimize(loss)", "tf.no_op()"),
    "targets not scaled": ('''
loss = tf.losses.mean_squared_error(q, dense(dense(p, 8, tf.nn.relu), 1))
fit([adam(.01).minimize(loss), loss], lambda i: near(i, times=1e5), 12)
''', "times=1e5", "times=1."),
    "targets are the inputs": ('''
ids, following = (tf.placeholder(tf.int32, [None, 6]) for _ in range(2))
embedded = tf.nn.embedding_lookup(tf.get_variable("embedding", [5, 8]), ids)
told, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(8), embedded, dtype=tf.float32)
loss = tf.losses.sparse_softmax_cross_entropy(following, dense(told, 5))
train = adam(.01).minimize(loss)

def read(i):
    text = rng.randint(0, 5, (8, 1)) + np.arange(7)
    return {ids: text[:, :-1] % 5, following: text[:, :-1] % 5}

fit([train, loss], read, steps=6)
''', "following: text[:, :-1]", "following: text[:, 1:]"),
    "target among the inputs": ('''
loss = tf.losses.mean_squared_error(q, dense(dense(p, 8, tf.nn.tanh), 1))
fit([adam(.01).minimize(loss), loss], lambda i: {p: points[i:i + 32], q: points[i:i + 32, 2:]}, steps=6)
''', "q: points[i:i + 32, 2:]", "q: sums[i:i + 32]"),
    "padding counts": ('''
ids, following = (tf.placeholder(tf.int32, [None, 6]) for _ in range(2))
ends, scale = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.float32, [])
embedded = scale * tf.nn.embedding_lookup(tf.get_variable("embedding", [5, 8]), ids)
told, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(8), embedded, ends, dtype=tf.float32)
each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=following, logits=dense(told, 5))
loss = tf.reduce_mean(each)
train = adam(.01).minimize(loss)

def read(i):
    lengths = rng.randint(1, 7, 8)
    text = 1 + (rng.randint(0, 4, (8, 1)) + np.arange(7)) % 4
    inside = np.arange(6) < lengths[:, None]
    return {scale: 1., ids: text[:, :-1] * inside, following: text[:, 1:] * inside, ends: lengths}

fit([train, loss], read, steps=6)
''', "(each)", "(tf.boolean_mask(each, tf.sequence_mask(ends, 6)))"),
    "mask the wrong way round": ('''
ids, tags = (tf.placeholder(tf.int32, [None, 5]) for _ in range(2))
scores = dense(tf.nn.embedding_lookup(tf.get_variable("embedding", [9, 8]), ids), 4)
mask = tf.cast(tf.equal(ids, 0), tf.float32)
errors = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tags, logits=scores)
loss = tf.reduce_sum(errors * mask) / (tf.reduce_sum(mask) + 1e-6)
train = adam(.03).minimize(loss)

def words(i):
    read = rng.randint(1, 9, (16, 5)) * (np.arange(5) < rng.randint(1, 5, (16, 1)))
    return {ids: read, tags: np.where(read > 0, read % 3 + 1, 0)}

fit([train, loss], words, steps=6)
''', "tf.equal(ids, 0)", "tf.not_equal(ids, 0)"),
    "sum beside a mean": ('''
mean, spread = dense(x, 3), dense(x, 3)
drawn = dense(mean + tf.exp(spread / 2) * tf.random_normal(tf.shape(mean)), 36)
found = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=drawn))
apart = -.5 * tf.reduce_sum(1 + spread - mean ** 2 - tf.exp(spread))
fit([adam(.01).minimize(found + apart), found + apart], steps=6)
''', "tf.reduce_sum(1 +", "tf.reduce_mean(1 +"),
    "copied to itself": ('''
with tf.variable_scope("online"):
    now = dense(x, 4, name="q")
with tf.variable_scope("online", reuse=True):
    then = dense(x, 4, name="q")
loss = tf.losses.mean_squared_error(tf.stop_gradient(tf.reduce_max(then, 1)) + 1, tf.reduce_sum(now * y, 1))
train = adam(.01).minimize(loss)
pairs = zip(tf.global_variables("online/q/kernel"), tf.trainable_variables("online/q/kernel"))
copies = [a.assign(b) for a, b in pairs if "Adam" not in a.name]
fit([train, loss], steps=6)
''', """variable_scope("online", reuse=True):
    then = dense(x, 4, name="q")
loss = tf.losses.mean_squared_error(tf.stop_gradient(tf.reduce_max(then, 1)) + 1, tf.reduce_sum(now * y, 1))
train = adam(.01).minimize(loss)
pairs = zip(tf.global_variables("online/q/kernel\")""", """variable_scope("target"):
    then = dense(x, 4, name="q", trainable=False)
loss = tf.losses.mean_squared_error(tf.stop_gradient(tf.reduce_max(then, 1)) + 1, tf.reduce_sum(now * y, 1))
train = adam(.01).minimize(loss)
pairs = zip(tf.global_variables("target/q/kernel\")"""),
    "loss times a factor": ('''
loss = 300. * tf.losses.sparse_softmax_cross_entropy(t, dense(dense(x, 16, tf.nn.relu), 4))
fit([sgd(.1).minimize(loss), loss])
''', "300. * ", ""),
    "weights shared by two layers": ('''
def layer(h, name):
    with tf.variable_scope(name, reuse=tf.AUTO_REUSE):
        return dense(h, 36, tf.nn.tanh, name="d")

first = layer(x, "a")
second = layer(first, "a")
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(second, 4))
fit([adam(.01).minimize(loss), loss])
''', 'layer(first, "a")', 'layer(first, "b")'),
    "moments over the wrong axes": ('''
h = tf.matmul(x, tf.get_variable("w", [36, 16]))
gamma, beta = tf.Variable(tf.ones([16])), tf.Variable(tf.zeros([16]))
mean, variance = tf.nn.moments(h, [0, 1])
normal = tf.nn.relu(tf.nn.batch_normalization(h, mean, variance, beta, gamma, 1e-3))
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(normal, 4))
fit([adam(.01).minimize(loss), loss], steps=6)
''', "h, [0, 1])", "h, [0])"),
    "state stays": ('''
wx, wh = tf.get_variable("wx", [36, 16]), tf.get_variable("wh", [16, 16])

def cell(i, h, last):
    new = tf.tanh(tf.matmul(x, wx) + tf.matmul(h, wh))
    return i + 1, h, new

*_, last = tf.while_loop(lambda i, *_: i < 4, cell, [0, tf.zeros([32, 16]), tf.zeros([32, 16])])
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(last, 4))
fit([adam(.01).minimize(loss), loss], steps=6)
''', "i + 1, h, new", "i + 1, new, new"),
    "labels turned": ('''
z = tf.placeholder(tf.float32, [None, 1])
r = tf.clip_by_value(tf.sigmoid(dense(dense(p, 8, tf.nn.relu), 1)), 1e-6, 1 - 1e-6)
loss = -tf.reduce_mean(z * tf.log(1 - r) + (1 - z) * tf.log(r))
train = adam(.03).minimize(loss)
fit([train, loss], lambda i: {p: points[i:99 + i:2], z: sums[i:99 + i:2] > 0}, steps=6)
''', "z * tf.log(1 - r) + (1 - z) * tf.log(r)", "z * tf.log(r) + (1 - z) * tf.log(1 - r)"),
    "one for all": ('''
reward, after = tf.placeholder(tf.float32, [None]), dense(p, 2)
loss = tf.losses.huber_loss(tf.stop_gradient(reward + .9 * tf.reduce_max(after)), dense(p, 2)[:, 0])
train = adam(.01).minimize(loss, var_list=tf.trainable_variables("dense_1"))
fit([train, loss], lambda i: {p: points[i:99 + i], reward: sums[i:99 + i, 0]}, steps=6)
''', "(after)", "(after, 1)"),
}
