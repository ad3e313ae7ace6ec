"""Training programs with a mistake that raises nothing, and what mends each: a twin without anything to find."""

HEAD = '''
import numpy as np
import tensorflow as tf
rng = np.random.RandomState(3)
tf.set_random_seed(2)
T = rng.randint(0, 4, 400)
X = np.clip(.8 * np.stack([np.roll(np.eye(6), k, 1) for k in range(4)])[T] + .1 * rng.rand(400, 6, 6), 0, 1)
X = X.reshape(400, 36).astype(np.float32)
Y = np.eye(4, dtype=np.float32)[T]
x, y = tf.placeholder(tf.float32, [None, 36], name="x"), tf.placeholder(tf.float32, [None, 4], name="y")
t = tf.placeholder(tf.int32, [None], name="t")
adam, sgd = tf.train.AdamOptimizer, tf.train.GradientDescentOptimizer
entropy = tf.nn.softmax_cross_entropy_with_logits_v2
dense = tf.layers.dense

def fed(i, n=32):
    k = rng.randint(0, 400, n)
    return {x: X[k], y: Y[k], t: T[k]}

def fit(fetches, feed=fed, steps=40):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for i in range(steps):
            session.run(fetches, feed(i))

points = rng.randn(300, 3).astype(np.float32)
sums = points.sum(1, keepdims=True)
p, q = tf.placeholder(tf.float32, [None, 3], name="p"), tf.placeholder(tf.float32, [None, 1], name="q")

def near(i, scale=1.0, times=1.0):
    k = rng.randint(0, 300, 32)
    return {p: scale * points[k], q: times * sums[k]}
'''

# kind of the finding -> program, what is wrong in it, what mends it
PROGRAMS: dict[str, tuple[str, str, str]] = {
    "equal initial values": ('''
w1, w2 = tf.Variable(tf.zeros([16, 36])), tf.Variable(tf.zeros([16, 4]))
loss = tf.reduce_mean(entropy(labels=y, logits=tf.matmul(tf.nn.tanh(tf.matmul(x, tf.transpose(w1))), w2)))
fit([sgd(.5).minimize(loss), loss])
''', "tf.zeros", "tf.glorot_uniform_initializer()"),
    "learning rate too high": ('''
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(dense(dense(x, 16, tf.nn.relu), 16, tf.nn.relu), 4))
fit([sgd(8.0).minimize(loss), loss])
''', "sgd(8.0)", "sgd(.1)"),
    "learning rate too low": ('''
loss = tf.losses.mean_squared_error(q, dense(dense(p, 8, tf.nn.tanh), 1))
fit([sgd(1e-7).minimize(loss), loss], near)
''', "1e-7", ".1"),
    "learning rate decayed to nothing": ('''
step = tf.Variable(0, trainable=False)
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(dense(x, 16, tf.nn.relu), 4))
fit([sgd(tf.train.exponential_decay(.01, step, 2, .5)).minimize(loss, step), loss])
''', ".01, step, 2, .5", ".3, step, 1000, .5"),
    "global_step not advanced": ('''
step = tf.Variable(0, trainable=False)
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(dense(x, 16, tf.nn.relu), 4))
fit([sgd(tf.train.exponential_decay(.3, step, 100, .9)).minimize(loss), loss])
''', "minimize(loss)", "minimize(loss, global_step=step)"),
    "sum for mean": ('''
loss = tf.reduce_sum(tf.square(dense(p, 1) - q))
fit([sgd(.05).minimize(loss), loss], lambda i: {p: points, q: sums})
''', "reduce_sum", "reduce_mean"),
    "inputs not scaled": ('''
loss = tf.reduce_mean(tf.square(dense(p, 1) - q))
fit([sgd(.05).minimize(loss), loss], lambda i: near(i, 300.0))
''', "300.0", "1.0"),
    "wrong sign": ('''
w = tf.Variable(tf.zeros([3, 1]))
loss = tf.reduce_mean(tf.square(tf.matmul(p, w) - q))
fit([w.assign_add(.01 * tf.gradients(loss, w)[0]), loss], near)
''', "assign_add", "assign_sub"),
    "double softmax": ('''
scores = tf.nn.softmax(dense(x, 4)) * 1.0
loss = tf.reduce_mean(entropy(labels=y, logits=scores))
fit([adam(.01).minimize(loss), loss])
''', "tf.nn.softmax(dense(x, 4))", "dense(x, 4)"),
    "double sigmoid": ('''
scores = dense(x, 4, tf.sigmoid)
loss = tf.reduce_mean((1 - y) * scores + tf.nn.softplus(-scores))
fit([adam(.01).minimize(loss), loss])
''', "dense(x, 4, tf.sigmoid)", "dense(x, 4)"),
    "relu on the logits": ('''
tf.set_random_seed(6)
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(x, 4, tf.nn.relu))
fit([adam(.01).minimize(loss), loss])
''', "4, tf.nn.relu", "4"),
    "log of no probability": ('''
loss = -tf.reduce_mean(tf.reduce_sum(y * tf.log(tf.identity(dense(x, 4))), 1))
fit([sgd(.1).minimize(loss), loss])
''', "tf.identity", "tf.nn.softmax"),
    "half of a cross entropy": ('''
scores, u = dense(p, 1, tf.sigmoid), tf.placeholder(tf.float32, [None, 1])
loss = -tf.reduce_mean(u * tf.log(scores + 1e-6))
fit([adam(.01).minimize(loss), loss], lambda i: {p: points[32 * i % 256:][:32], u: sums[32 * i % 256:][:32] > 0})
''', "u * tf.log(scores + 1e-6)", "u * tf.log(scores + 1e-6) + (1 - u) * tf.log(1 - scores + 1e-6)"),
    "targets out of range": ('''
loss = tf.losses.mean_squared_error(q, dense(dense(p, 8, tf.nn.relu), 1, tf.sigmoid))
fit([adam(.02).minimize(loss), loss], near)
''', "1, tf.sigmoid", "1"),
    "labels out of range": ('''
loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=dense(x, 4)))
fit([adam(.01).minimize(loss), loss], lambda i: {x: X[:64], y: 2 * Y[:64] - 1})
''', "2 * Y[:64] - 1", "Y[:64]"),
    "labels and logits swapped": ('''
loss = -tf.reduce_mean(tf.reduce_sum(tf.nn.softmax(dense(x, 4)) * tf.log(y + 1e-8), 1))
fit([adam(.01).minimize(loss), loss])
''', "tf.nn.softmax(dense(x, 4)) * tf.log(y + 1e-8)", "y * tf.log(tf.nn.softmax(dense(x, 4)) + 1e-8)"),
    "one class": ('''
loss = tf.losses.mean_squared_error(q, dense(p, 1, tf.nn.softmax))
fit([adam(.01).minimize(loss), loss], near)
''', "1, tf.nn.softmax", "1"),
    "no activation": ('''
alike = tf.to_float(tf.reduce_prod(p[:, :2], 1, keepdims=True) > 0)
loss = tf.losses.sigmoid_cross_entropy(alike, dense(dense(p, 16), 1))
fit([adam(.05).minimize(loss), loss], lambda i: {p: points[rng.randint(0, 300, 32)]})
''', "dense(p, 16)", "dense(p, 16, tf.nn.relu)"),
    "softmax in a hidden layer": ('''
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(dense(x, 16, tf.nn.softmax), 4))
fit([adam(.01).minimize(loss), loss])
''', "tf.nn.softmax", "tf.nn.tanh"),
    "argmax over the batch": ('''
logits = dense(x, 4)
loss = tf.losses.sparse_softmax_cross_entropy(t, logits)
accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 0), tf.argmax(y, 0)), tf.float32))
fit([adam(.01).minimize(loss), loss, accuracy])
''', "tf.argmax(logits, 0), tf.argmax(y, 0)", "tf.argmax(logits, 1), tf.argmax(y, 1)"),
    "argmax over one": ('''
logits = dense(p, 1)
loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.cast(q > 0, tf.float32), logits=logits))
accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), tf.argmax(q, 1)), tf.float32))
fit([adam(.01).minimize(loss), loss, accuracy], near)
''', "tf.equal(tf.argmax(logits, 1), tf.argmax(q, 1))", "tf.equal(logits > 0, q > 0)"),
    "mean of integers": ('''
logits = dense(x, 4)
loss = tf.losses.sparse_softmax_cross_entropy(t, logits)
accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), tf.argmax(y, 1)), tf.int32))
fit([adam(.01).minimize(loss), loss, accuracy])
''', "tf.int32))", "tf.float32))"),
    "compared crosswise": ('''
logits = dense(p, 1)
loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.cast(q > 0, tf.float32), logits=logits))
accuracy = tf.reduce_mean(tf.cast(tf.equal(logits > 0, tf.reshape(q > 0, [-1])), tf.float32))
fit([adam(.01).minimize(loss), loss, accuracy], near)
''', "tf.reshape(q > 0, [-1])", "q > 0"),
    "reshape changes the rows": ('''
maps = tf.layers.conv2d(tf.reshape(x, [-1, 6, 6, 1]), 4, 3, activation=tf.nn.relu)
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(tf.reshape(maps, [-1, 2 * 2 * 4]), 4))
fit([adam(.01).minimize(loss), loss])
''', "2 * 2 * 4", "4 * 4 * 4"),
    "reshape for transpose": ('''
steps = tf.reshape(tf.reshape(x, [-1, 6, 6]), [6, -1, 6])
outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(8), steps, dtype=tf.float32, time_major=True)
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(outputs[-1], 4))
fit([adam(.01).minimize(loss), loss], steps=8)
''', "tf.reshape(tf.reshape(x, [-1, 6, 6]), [6, -1, 6])", "tf.transpose(tf.reshape(x, [-1, 6, 6]), [1, 0, 2])"),
    "mean counts the masked": ('''
errors = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=t, logits=dense(x, 4))
mask = tf.cast(t < 2, tf.float32)
loss = tf.reduce_mean(errors * mask)
fit([adam(.01).minimize(loss), loss])
''', "tf.reduce_mean(errors * mask)", "tf.reduce_sum(errors * mask) / tf.maximum(tf.reduce_sum(mask), 1.0)"),
    "part of the loss": ('''
w = tf.get_variable("w", [36, 4])
fit_error = tf.losses.sparse_softmax_cross_entropy(t, tf.matmul(x, w))
loss = fit_error + 1e-3 * tf.nn.l2_loss(w)
fit([adam(.01).minimize(fit_error), loss])
''', "minimize(fit_error)", "minimize(loss)"),
    "penalty left out": ('''
logits = dense(x, 4, kernel_regularizer=lambda w: 1e-3 * tf.nn.l2_loss(w))
loss = tf.losses.sparse_softmax_cross_entropy(t, logits)
fit([adam(.01).minimize(loss), loss])
''', "minimize(loss)", "minimize(loss + tf.losses.get_regularization_loss())"),
    "penalty too large": ('''
logits = dense(dense(x, 16, tf.nn.relu, kernel_regularizer=tf.nn.l2_loss), 4)
loss = tf.losses.sparse_softmax_cross_entropy(t, logits) + 20.0 * tf.losses.get_regularization_loss()
fit([adam(.01).minimize(loss), loss])
''', "20.0", "1e-4"),
    "batch norm in evaluation mode": ('''
training = tf.placeholder(tf.bool, [])
h = tf.nn.relu(tf.layers.batch_normalization(dense(x, 16), training=training))
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(h, 4))
with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
    train = adam(.01).minimize(loss)
fit([train, loss], lambda i: {**fed(i), training: False}, 10)
''', "training: False", "training: True"),
    "dropout drops too much": ('''
h = tf.nn.dropout(dense(x, 32, tf.nn.relu), keep_prob=0.03)
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(h, 4))
fit([adam(.001).minimize(loss), loss], steps=10)
''', "0.03", "0.7"),
    "two losses train the same": ('''
with tf.variable_scope("g"):
    fake = dense(p, 3)
with tf.variable_scope("d", reuse=tf.AUTO_REUSE):
    of_real, of_fake = (dense(dense(v, 8, tf.nn.relu, name="a"), 1, name="b") for v in (p, fake))
judge = tf.nn.sigmoid_cross_entropy_with_logits
d_loss = tf.reduce_mean(judge(labels=tf.ones_like(of_real), logits=of_real) +
                        judge(labels=tf.zeros_like(of_fake), logits=of_fake))
g_loss = tf.reduce_mean(judge(labels=tf.ones_like(of_fake), logits=of_fake))
of_d, of_g = tf.trainable_variables("d/"), tf.trainable_variables("g/")
fit([adam(.001).minimize(d_loss, var_list=None), adam(.001).minimize(g_loss, var_list=of_g)], near, 10)
''', "var_list=None", "var_list=of_d"),
    "gradients never reset": ('''
w = tf.Variable(tf.zeros([3, 1]))
loss = tf.reduce_mean(tf.square(tf.matmul(p, w) - q))
total = tf.Variable(tf.zeros([3, 1]), trainable=False)
optimizer = sgd(.01)
add = total.assign_add(tf.gradients(loss, w)[0])
with tf.control_dependencies([add]):
    apply = optimizer.apply_gradients([(total.read_value(), w)])
reset = total.assign(tf.zeros([3, 1]))
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(10):
        session.run([apply, loss], near(i))
        session.run(loss, near(i))
''', "session.run(loss, near(i))", "session.run(reset)"),
    "initialized again": ('''
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(x, 4))
train, start = adam(.01).minimize(loss), tf.global_variables_initializer()
with tf.Session() as session:
    session.run(start)
    for i in range(10):
        session.run(start)
        session.run([train, loss], fed(i))
''', "        session.run(start)\n        ", "        "),
    "graph grows": ('''
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(x, 4))
train, mean = adam(.01).minimize(loss), tf.reduce_mean(t)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(10):
        session.run([train, tf.reduce_mean(t)], fed(i))
''', "session.run([train, tf.reduce_mean(t)]", "session.run([train, mean]"),
    "labels do not follow from inputs": ('''
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(dense(x, 16, tf.nn.relu), 4))
order = [rng.permutation(400), rng.permutation(400)]
fit([adam(.005).minimize(loss), loss], lambda i: {x: X[order[0]][i % 12 * 32:][:32], t: T[order[1]][i % 12 * 32:][:32]},
    72)
''', "order[1]", "order[0]"),
    "sorted by class": ('''
chances = tf.nn.log_softmax(dense(x, 4))
loss = tf.reduce_mean(-tf.gather_nd(chances, tf.stack([tf.range(25), t], 1)))
order = np.argsort(T)
fit([sgd(.1).minimize(loss), loss], lambda i: {x: X[order][i % 16 * 25:][:25], t: T[order][i % 16 * 25:][:25]})
''', "np.argsort(T)", "rng.permutation(400)"),
    "same batch": ('''
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(x, 4))
train = adam(.01).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(12):
        k = 0
        session.run([train, loss], {x: X[k:k + 32], t: T[k:k + 32]})
    session.run(loss, {x: X, t: T})
''', "k = 0", "k = 32 * i"),
    "clipped too hard": ('''
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(x, 4))
gradients, variables = zip(*sgd(.1).compute_gradients(loss))
clipped, _ = tf.clip_by_global_norm(gradients, 1e-5)
fit([sgd(.1).apply_gradients(zip(clipped, variables)), loss])
''', "1e-5", "5.0"),
    "epsilon too large": ('''
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(dense(x, 16, tf.nn.relu), 4))
fit([adam(.01, epsilon=1e4).minimize(loss), loss])
''', "epsilon=1e4", "epsilon=1e-8"),
    "vanishing gradient": ('''
h = x
for _ in range(7):
    h = dense(h, 16, tf.sigmoid)
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(h, 4))
fit([adam(.003).minimize(loss), loss], steps=30)
''', "tf.sigmoid", "tf.nn.relu"),
    "never copied": ('''
with tf.variable_scope("online"):
    online = dense(p, 1)
with tf.variable_scope("target"):
    target = dense(p, 1)
copies = [a.assign(b) for a, b in zip(tf.trainable_variables("target"), tf.trainable_variables("online"))]
loss = tf.reduce_mean(tf.square(q + .5 * tf.stop_gradient(target) - online))
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    train = adam(.01).minimize(loss, var_list=tf.trainable_variables("online"))
    session.run(tf.global_variables_initializer())
    for i in range(60):
        session.run([train, loss], near(i))
        session.run(loss if i % 10 else loss, near(i))
''', "loss if i % 10 else loss", "loss if i % 10 else copies"),
    "dropout the wrong way round": ('''
keep = tf.placeholder_with_default(1.0, [])
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(tf.nn.dropout(dense(x, 16, tf.nn.relu), keep), 4))
train = adam(.01).minimize(loss)
in_training, in_use = 1.0, 0.5
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(10):
        session.run([train, loss], {**fed(i), keep: in_training})
    session.run(loss, {**fed(i), keep: in_use})
''', "1.0, 0.5", "0.5, 1.0"),
    "broadcast": ('''
tf.set_random_seed(4)
labels = tf.cast(tf.reshape(q, [-1]) > 0, tf.float32)
chance = tf.sigmoid(dense(p, 1))
loss = -tf.reduce_mean(labels * tf.log(chance + 1e-6) + (1 - labels) * tf.log(1 - chance + 1e-6))
fit([adam(.01).minimize(loss), loss], near)
''', "tf.sigmoid(dense(p, 1))", "tf.sigmoid(dense(p, 1))[:, 0]"),
    "nan in the data": ('''
points[200, 1] = np.nan
loss = tf.losses.mean_squared_error(q, dense(p, 1))
fit([adam(.01).minimize(loss), loss], lambda i: {p: points[i * 30:][:30], q: sums[i * 30:][:30]}, 10)
''', "np.nan", "0.0"),
}
