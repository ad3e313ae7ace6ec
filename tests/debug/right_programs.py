"""Programs without a mistake that something was once said against: nothing above a remark may be found in them."""

RIGHT: dict[str, str] = {
    "ranks by all pairs": '''
s = dense(p, 1)[:, 0]
ranks = tf.reduce_sum(tf.atan(s[:, None] - s), 1)
loss = tf.reduce_mean(tf.square(ranks - q[:, 0]))
fit([adam(.01).minimize(loss), loss], near, 8)
''',
    "the logarithm of a density": '''
a = dense(p, 1, tf.nn.softplus)
loss = tf.reduce_mean((1.0 - a) * tf.log(1.5 + tf.tanh(q)) - tf.log(a + 0.1))
fit([adam(.01).minimize(loss), loss], near, 8)
''',
    "a bias that derivatives do not see": '''
u = dense(dense(p, 8, tf.nn.tanh), 1)
loss = tf.reduce_mean(tf.square(tf.gradients(u, p)[0] - p))
fit([adam(.01).minimize(loss), loss], near, 8)
''',
    "a column of an array is all of its examples": '''
table = np.hstack([points, sums, np.zeros([300, 36])])
k = tf.placeholder(tf.float32, [None], name="k")
loss = tf.reduce_mean(tf.square(dense(p, 1)[:, 0] - k))
fit([sgd(.1).minimize(loss), loss], lambda i: {p: table[:, :3], k: table[:, 3]}, 26)
''',
    "words that a softmax mixes": '''
table = tf.get_variable("table", [9, 6])
words = tf.tensordot(tf.nn.softmax(dense(x, 9)), table, 1)
loss = tf.losses.mean_squared_error(tf.gather(table, t + 1), dense(words, 6))
fit([adam(.001).minimize(loss), loss], steps=4)
''',
    "a critic of rewards that are 0 and 1": '''
value, r = dense(p, 1), tf.placeholder(tf.float32, [None, 1])
chance = tf.log(tf.nn.softmax(dense(p, 2)) + 1e-8)[:, :1]
loss = tf.reduce_mean(tf.square(value - r)) - tf.reduce_mean(chance * (r - tf.stop_gradient(value)))
fit([sgd(1e-3).minimize(loss), loss], lambda i: {p: points[:64], r: rng.rand(64, 1) > .5}, 24)
''',
    "clipping that never bites": '''
g, v = zip(*adam(.01).compute_gradients(tf.losses.mean_squared_error(q, dense(p, 1))))
fit([adam(.01).apply_gradients(zip(tf.clip_by_global_norm(g, 1e6)[0], v))], near, 24)
''',
    "experts that a softmax mixes": '''
share, experts = dense(p, 4, tf.nn.softmax), dense(p, 4)
loss = tf.losses.mean_squared_error(q, tf.reduce_sum(share * experts, 1, keepdims=True))
fit([adam(.02).minimize(loss), loss], near)
''',
    "losses that are fed different things": '''
loss = tf.reduce_mean(tf.square(dense(tf.placeholder_with_default(points, [None, 3]), 1) - tf.reduce_mean(q)))
train = adam(.01).minimize(loss)
fit([train, loss], lambda i: {q: sums[i:i + 32]} if i % 3 else {q: sums[:32], p: points[:32]}, 12)
''',
    "two losses share the work": '''
with tf.variable_scope("a"):
    chance = tf.nn.softmax(dense(p, 2))
with tf.variable_scope("b"):
    value = dense(p, 1)
play = adam(.01).minimize(tf.reduce_mean(chance[:, :1] * tf.stop_gradient(q - value)))
judge = adam(.01).minimize(tf.reduce_mean(tf.square(q - value)))
fit([judge, play], near, 8)
''',
    "first values given one by one": '''
loss = tf.losses.mean_squared_error(q, dense(dense(p, 4, tf.nn.tanh), 1))
train = adam(.01).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for v in tf.trainable_variables():
        session.run(v.assign(.3 * rng.randn(*v.shape)))
    session.run([train, loss], near(0))
''',
    "a decoder has the encoder's weights": '''
w = tf.get_variable("w", [36, 36])
code = tf.sigmoid(tf.matmul(x, w))
kept = tf.Variable(777)
loss = tf.losses.mean_squared_error(x, tf.matmul(tf.sigmoid(code), tf.transpose(w)))
fit([adam(.01).minimize(loss), loss])
''',
    "a narrow code": '''
code = dense(dense(x, 12, tf.nn.relu), 3)
loss = tf.losses.mean_squared_error(x, dense(code, 36, tf.sigmoid))
fit([adam(.01).minimize(loss), loss])
''',
    "averages that warm up": '''
loss = tf.losses.mean_squared_error(x, dense(dense(x, 8, tf.sigmoid), 36, tf.sigmoid))
fit([tf.train.RMSPropOptimizer(.001).minimize(loss), loss], steps=29)
''',
    "weights in bounds, and a bias that cancels": '''
with tf.variable_scope("critic", reuse=tf.AUTO_REUSE):
    scores = [dense(dense(v, 8, tf.nn.relu, name="a"), 1, name="b") for v in (p, -p)]
loss = tf.reduce_mean(scores[0]) - tf.reduce_mean(scores[1])
train = adam(.01).minimize(loss)
bound = [v.assign(tf.clip_by_value(v, -.1, .1)) for v in tf.trainable_variables()]
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(10):
        session.run([train, loss], near(i))
        session.run(bound)
''',
    "rows that nothing but a library's train op updates": '''
table = tf.get_variable("table", [4, 6])
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(tf.nn.embedding_lookup(table, t), 4))
fit(tf.contrib.layers.optimize_loss(loss, tf.train.get_or_create_global_step(), .02, "Adam", clip_gradients=5.))
''',
    "an attention that looks everywhere as yet": '''
rows = tf.get_variable("rows", [4, 36], initializer=tf.random_normal_initializer(0., .02))
words = tf.nn.embedding_lookup(rows, t)
asked, keys, said = (tf.reshape(dense(words, 36, use_bias=False), [-1, 6, 6]) for _ in range(3))
mixed = tf.reduce_mean(tf.matmul(tf.nn.softmax(tf.matmul(asked, keys, transpose_b=True)), said), 1)
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(mixed, 4))
fit([sgd(.001).minimize(loss), loss], steps=12)
''',
    "a code of choices": '''
noise = tf.placeholder(tf.float32, [None, 4])
chosen = tf.nn.softmax((dense(x, 4) - tf.log(-tf.log(noise))) / .5)
loss = tf.losses.mean_squared_error(x, dense(chosen, 36))
fit([adam(.001).minimize(loss), loss], lambda i: {x: rng.rand(8, 36), noise: rng.uniform(.01, .99, (8, 4))}, 30)
''',
    "a far way of even steps": '''
loss = tf.losses.absolute_difference(q, dense(p, 1))
fit([sgd(.5).minimize(loss), loss], lambda i: {p: points[:32], q: sums[:32] + 1e5}, 12)
''',
    "what an input is looked at for": '''
shown = tf.gradients(tf.reduce_max(dense(dense(x, 8, tf.nn.relu), 4), 1), x)[0]
fit(shown, steps=3)
''',
    "rewards of what was done": '''
done, won = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.float32, [None, 1])
h = dense(p, 16, tf.tanh)
better = won - dense(h, 1)
chosen = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=done, logits=dense(h, 2))
loss = tf.reduce_mean(chosen * tf.stop_gradient(better[:, 0])) + tf.reduce_mean(tf.square(better))

def play(i):
    a = rng.randint(0, 2, 32)
    k = rng.randint(0, 300, 32)
    return {p: points[k], done: a, won: 1. * (a[:, None] == (sums[k] > 0))}

fit(adam(.002).minimize(loss), play, 30)
''',
    "what is right among what was drawn": '''
emb, w = tf.Variable(tf.random_uniform([30, 8], -1., 1.)), tf.Variable(tf.random_uniform([30, 8], -.3, .3))
loss = tf.reduce_mean(tf.nn.nce_loss(w, tf.zeros([30]), tf.to_int64(t[:, None]), tf.gather(emb, t), 8, 30))
fit([sgd(.5).minimize(loss), loss], steps=25)
''',
    "rewards of right answers": '''
z = dense(x, 4)
done = tf.placeholder(tf.int64, [None])
loss = tf.reduce_mean(tf.to_float(tf.equal(done, tf.argmax(y, 1))) *
                      tf.nn.sparse_softmax_cross_entropy_with_logits(labels=done, logits=z))
fit([adam(.01).minimize(loss), loss], lambda i: {**fed(i), done: rng.randint(0, 4, 32)}, 24)
''',
    "a bias that is on both sides": '''
bias = tf.get_variable("bias", [4], initializer=tf.zeros_initializer(), use_resource=True)
kernel = tf.get_variable("kernel", [18, 4])
one, other = (tf.matmul(part, kernel) + bias.read_value() for part in tf.split(x, 2, 1))
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(tf.abs(one - other), 4))
fit([adam(.01).minimize(loss), loss], steps=12)
''',
}
