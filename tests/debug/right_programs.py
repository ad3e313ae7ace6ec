"""Programs without a mistake that something was once said against: nothing above a remark may be found in them."""

RIGHT: dict[str, str] = {
    "by hand, hits counted": """
w, b = tf.Variable(tf.truncated_normal([36, 4], stddev=.1, seed=1)), tf.Variable(tf.zeros([4]))
guess = tf.nn.softmax(tf.matmul(x, w) + b)
error = guess - y
step = [tf.assign(w, w - .05 * tf.matmul(tf.transpose(x), error)), tf.assign(b, b - .05 * tf.reduce_mean(error, 0))]
hits = tf.reduce_sum(tf.cast(tf.equal(tf.argmax(guess, 1), tf.argmax(y, 1)), tf.float32))
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(60):
        session.run(step, fed(i))
        if i % 20 == 0:
            session.run(hits, {x: X, y: Y})
""",
    "a batch that is nearly 0 in evaluation as in training": '''
loss = tf.reduce_mean(tf.square(dense(p, 1) - q))
train = sgd(.01).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(9):
        session.run([train, loss], near(i, 1e-9 if i == 4 else 1.))
    for i in range(9):
        session.run(loss, near(i, 1e-9 if i == 4 else 1.))
''',
    "a penalty of what is off on average": '''
e = dense(p, 1) - q
loss = tf.reduce_mean(tf.square(e)) + .1 * tf.square(tf.reduce_mean(e)) + .01 * tf.abs(tf.reduce_mean(dense(p, 1)))
fit([adam(.01).minimize(loss), loss], near, 8)
''',
    "an error and a mean that is to be 0": '''
u = dense(dense(p, 8, tf.nn.tanh), 1)
loss = tf.reduce_mean(tf.square(tf.gradients(u, p)[0] - p)) + tf.square(tf.reduce_mean(u))
fit([adam(.01).minimize(loss), loss], near, 8)
''',
    "a loss that is scaled, and its gradients back": '''
loss = tf.reduce_mean(tf.square(dense(p, 1) - q))
scale = tf.Variable(2.0 ** 20, trainable=False)
pairs = [(g / scale, v) for g, v in sgd(.01).compute_gradients(loss * scale)]
fit([sgd(.01).apply_gradients(pairs), loss], near, 8)
''',
    "a step inside, by the slopes of an error": '''
w, v = tf.Variable(tf.random_normal([3, 8], seed=1)), tf.Variable(tf.random_normal([8, 1], seed=2))
a, b, total = tf.reshape(p, [4, 8, 3]), tf.reshape(q, [4, 8, 1]), 0.0
for k in range(2):
    error = tf.matmul(tf.nn.relu(tf.matmul(a[k], w)), v) - b[k]
    slopes = tf.gradients(tf.reduce_mean(tf.square(error)), [w, v])
    fast = [each - .01 * slope for each, slope in zip([w, v], slopes)]
    total += tf.reduce_mean(tf.square(tf.matmul(tf.nn.relu(tf.matmul(a[k + 2], fast[0])), fast[1]) - b[k + 2]))
fit([adam(.01).minimize(total), total], near, 24)
''',
    "slopes of answers that are only looked at": '''
u = dense(p, 1)
loss = tf.reduce_mean(tf.square(u - q))
step = adam(.01).minimize(loss)
slopes = tf.gradients(u, tf.trainable_variables())
fit([step, loss], near, 8)
''',
    "the first step of a scan from the last": '''
steps = tf.transpose(tf.reshape(x, [-1, 12, 3]), [1, 0, 2])
w = tf.Variable(tf.random_normal([3, 3], stddev=.3, seed=1))
h = tf.scan(lambda a, b: tf.tanh(tf.matmul(a, w) + b), steps, reverse=True)[0]
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(h, 4))
fit([adam(.01).minimize(loss), loss], steps=24)
''',
    "moving averages that one branch makes and the other reads": '''
training, average = tf.placeholder(tf.bool, []), tf.train.ExponentialMovingAverage(.9)
h = dense(p, 4)
moments = tf.nn.moments(h, [0])
def moved():
    with tf.control_dependencies([average.apply(moments)]):
        return [tf.identity(each) for each in moments]
mean, variance = tf.cond(training, moved, lambda: [average.average(each) for each in moments])
u = dense(tf.nn.relu(tf.nn.batch_normalization(h, mean, variance, tf.Variable(tf.zeros([4])), None, 1e-3)), 1)
fit(sgd(.01).minimize(tf.losses.mean_squared_error(q, u)), lambda i: {**near(i), training: True}, 24)
''',
    "a schedule that was followed before": '''
step = tf.train.create_global_step()
first = tf.losses.mean_squared_error(q, dense(p, 1))
before = sgd(tf.train.exponential_decay(.05, step, 10, .9)).minimize(first, step)
loss = tf.losses.mean_squared_error(q, dense(dense(p, 8, tf.nn.tanh), 1))
after, at = adam(.01).minimize(loss), []
def later(i):
    at[:] = [after if i > 11 else before]
    return near(i)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(40):
        fed = later(i)
        session.run(at, fed)
''',
    "moments that errors are to have": '''
e = dense(p, 1) - q
loss = tf.reduce_sum(tf.square(tf.reduce_mean(p * e, 0))) + tf.square(tf.reduce_mean(e))
fit([adam(.01).minimize(loss), loss], near, 8)
''',
    "a variance that is to be large": '''
u = dense(p, 1)
loss = tf.square(tf.reduce_mean(u)) - tf.reduce_mean(tf.square(u)) + tf.losses.mean_squared_error(q, u)
fit([adam(.01).minimize(loss), loss], near, 8)
''',
    "maps of which each is over all places": '''
maps = tf.transpose(dense(tf.reshape(x, [-1, 12, 3]), 4), [0, 2, 1])
z = tf.reshape(maps, [-1, 12])
loss = tf.losses.sparse_softmax_cross_entropy(tf.reshape(tf.argmax(tf.stop_gradient(maps), 2), [-1]), z)
heads = tf.nn.softmax(tf.reshape(dense(x, 12), [-1, 3]))
loss += tf.reduce_mean(tf.reduce_max(heads, 1)) + tf.losses.sparse_softmax_cross_entropy(t, dense(x, 4))
fit([adam(.01).minimize(loss), loss], steps=8)
''',
    "a shortcut past layers": '''
h = dense(p, 16, use_bias=False)
for _ in range(2):
    h += dense(dense(h, 16, tf.nn.relu), 16, tf.nn.relu)
loss = tf.losses.mean_squared_error(q, dense(h, 1))
fit([adam(.01).minimize(loss), loss], near, 12)
''',
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
    "a cross entropy less the entropy of its labels": '''
s = dense(x, 4, tf.nn.softmax)
loss = tf.reduce_mean(tf.reduce_sum(tf.math.xlogy(y, y) - y * tf.log(s), 1))
fit([adam(.01).minimize(loss), loss], steps=24)
''',
    "a divergence from labels that is weighed by them": '''
log = tf.nn.log_softmax(dense(x, 4))
loss = tf.reduce_mean(tf.reduce_sum(tf.math.xlogy(y, y) - y * log, 1)) * 4.0
fit([adam(.01).minimize(loss), loss], steps=24)
''',
    "a target that stays random": '''
fixed, mine = (dense(dense(p, 16, tf.nn.relu, name=f"{name}a"), 8, name=f"{name}b") for name in ("fixed", "mine"))
loss = tf.reduce_mean(tf.squared_difference(mine, tf.stop_gradient(fixed)))
fit([adam(.01).minimize(loss, var_list=tf.trainable_variables("mine")), loss], near, 12)
''',
    "two towers of things that are not alike": '''
asked, told = (dense(dense(each, 16, tf.nn.tanh), 8) for each in (p, tf.placeholder(tf.float32, [None, 3], "d")))
loss = tf.reduce_mean(tf.reduce_sum(tf.square(asked - told), 1)) - 0.1 * tf.reduce_mean(tf.tanh(told) ** 2)
fit([adam(.01).minimize(loss), loss], lambda i: {**near(i), "d:0": -2.0 * near(i)[p]}, 12)
''',
    "a penalty of numbers by their own logarithm": '''
r = dense(p, 4, tf.nn.relu)
loss = tf.reduce_mean(tf.square(dense(r, 1) - q)) + 0.01 * tf.reduce_mean(r * tf.log(r + 1e-6))
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
    "a worker computes the gradients of what all share": '''
with tf.variable_scope("all"):
    dense(p, 1)
with tf.variable_scope("worker"):
    loss = tf.reduce_mean(tf.square(q - dense(p, 1)))
shared, own = tf.trainable_variables("all"), tf.trainable_variables("worker")
pull = tf.group(*(mine.assign(of_all) for mine, of_all in zip(own, shared)))
push = sgd(.1).apply_gradients(zip(tf.gradients(loss, own), shared))
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(12):
        session.run(pull)
        session.run([push, loss], near(i))
''',
    "a loss of one element": '''
n, a = tf.placeholder(tf.float32, [1]), tf.Variable(tf.random_normal([1]))
fit(sgd(.02).minimize(tf.square(a * n - 10.0)), lambda i: {n: rng.normal(1.0, .1, 1)}, 30)
''',
    "rewards that grow": '''
value = dense(dense(p, 30, tf.nn.relu), 1)
loss = tf.reduce_mean(tf.square(q - value))
fit([adam(.01).minimize(loss), loss], lambda i: {p: .1 * points[2 * i:2 * i + 2], q: [[-.01 * i * i]] * 2}, 10)
''',
    "the cost of the step's own batch": '''
keep = tf.placeholder(tf.float32)
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(tf.nn.dropout(dense(x, 32, tf.nn.relu), keep), 4))
train = adam(.01).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(14):
        fed_now = {**fed(i), keep: .7}
        session.run(train, fed_now)
        session.run(loss, fed_now)
''',
    "a weight of a part of the loss": '''
code, w = dense(x, 8, tf.nn.tanh), tf.Variable(tf.random_normal([8, 36]) * .3)
loss = tf.reduce_mean(code) + 1e5 * tf.reduce_mean(tf.square(tf.matmul(code, w) - x))
fit([adam(.001).minimize(loss), loss], steps=12)
''',
    "a sum whose first steps are too long": '''
centers = np.float32([[1, 1], [5, 4], [8, 0]])
c, k = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.int64, [None])
loss = tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=k, logits=tf.layers.dense(
    c, 3, kernel_initializer=tf.zeros_initializer())))

def blobs(i):
    kinds = rng.randint(0, 3, 100)
    return {c: centers[kinds] + rng.randn(100, 2), k: kinds}

fit([sgd(.01).minimize(loss), loss], blobs)
''',
    "a penalty that data hold against": '''
w = tf.Variable(np.full([3, 1], 4, np.float32))
side = tf.sign(tf.matmul(p, w))
loss = [1.0] * tf.reduce_sum(tf.square(w)) + tf.reduce_mean(tf.nn.relu(1 - tf.matmul(p, w) * tf.sign(q)))
fit([sgd(.01).minimize(loss), loss], near, 60)
''',
    "one step to large targets": '''
loss = tf.reduce_mean(tf.square(q - dense(p, 1)))
fit([adam(.1).minimize(loss), loss], lambda i: near(i, times=100.0), 1)
''',
    "advantages that are below 0": '''
better, done = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int32, [None])
likely = -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=done, logits=dense(x, 4))
fit(adam(.003).minimize(-tf.reduce_mean(likely * better)), lambda i: {
    **fed(i), done: rng.randint(0, 4, 32), better: rng.choice([-1, .5], 32) if i > 3 else [.01] * 32})
''',
    "pairs told apart both ways": '''
tower = lambda v: tf.nn.l2_normalize(dense(v, 8, name="tower", reuse=tf.AUTO_REUSE), 1)
table = 5.0 * tf.matmul(tower(p + .1 * tf.random_normal(tf.shape(p))), tower(p), transpose_b=True)
shares = [tf.nn.log_softmax(each) for each in (table, tf.transpose(table))]
loss = -tf.reduce_mean(tf.add_n([tf.matrix_diag_part(each) for each in shares]))
fit([adam(.01).minimize(loss), loss], near, 24)
''',
    "wide first values that are soon forgotten": '''
wide = tf.random_normal_initializer()
h = dense(dense(x, 99, tf.nn.relu, kernel_initializer=wide), 99, tf.nn.relu, kernel_initializer=wide)
loss = tf.reduce_mean(entropy(labels=y, logits=dense(h, 4, kernel_initializer=wide)))
fit([adam(.001).minimize(loss), loss], steps=24)
''',
    "inputs of size 80 that are learnt all the same": '''
loss = tf.reduce_mean(tf.square(dense(p, 1, use_bias=False) - q))
fit([sgd(1e-5).minimize(loss), loss], lambda i: {p: 85 + 10 * points, q: 255 + 10 * sums})
''',
    "the momentum of a training that goes on": '''
loss = tf.reduce_mean(tf.square(dense(p, 1, use_bias=False) - q))
momentum = tf.train.MomentumOptimizer(.01, .9)
step = momentum.minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    momentum.get_slot(tf.trainable_variables()[0], "momentum").load(np.full([3, 1], 50.0), session)
    for i in range(3):
        session.run([step, loss], near(i))
''',
    "a learning rate that is a variable": '''
rate = tf.Variable(.1)
slower = tf.assign(rate, rate * .9)
loss = tf.reduce_mean(tf.square(dense(p, 1) - q))
fit([tf.train.GradientDescentOptimizer(rate).minimize(loss), loss, slower], near, 12)
''',
    "real examples told from noise by labels that are made": '''
judge = lambda v: dense(dense(v, 16, tf.nn.relu, name="a", reuse=tf.AUTO_REUSE), 2, name="b", reuse=tf.AUTO_REUSE)
told = lambda v, k: tf.losses.sparse_softmax_cross_entropy(k([32], tf.int32), judge(v))
loss = told(x, tf.ones) + told(tf.random_uniform([32, 36]), tf.zeros)
fit([adam(.01).minimize(loss), loss])
''',
    "a softmax that is to agree with another, and an index that is drawn": '''
h = dense(x, 8, tf.nn.relu)
column = tf.one_hot(tf.cast(tf.random_uniform([32]) * tf.cast(t % 4 + 4, tf.float32), tf.int32), 8)
one, other = (tf.nn.softmax(dense(v, 4, name="d", reuse=tf.AUTO_REUSE)) for v in (h, h * (1.0 - column)))
loss = tf.losses.sparse_softmax_cross_entropy(t, tf.log(one + 1e-6))
loss += .1 * tf.reduce_mean(tf.squared_difference(other, tf.stop_gradient(one)))
fit([adam(.01).minimize(loss), loss], steps=6)
''',
    "branches whose last layers begin with zeros": '''
h = dense(p, 16)
for _ in range(2):
    h += dense(dense(h, 16, tf.nn.relu), 16, kernel_initializer=tf.zeros_initializer())
loss = tf.losses.mean_squared_error(q, dense(h, 1))
fit([adam(.01).minimize(loss), loss], near, 12)
''',
    "branches that begin with zeros, of a loss that the first steps are not of": '''
h, critic = dense(p, 16), tf.reduce_mean(tf.square(dense(q, 1, name="critic") - 1.0))
for _ in range(2):
    h += dense(dense(h, 16, tf.nn.relu), 16, kernel_initializer=tf.zeros_initializer())
loss = tf.losses.mean_squared_error(q, dense(h, 1))
steps = adam(.01).minimize(critic, var_list=tf.trainable_variables("critic")), adam(.01).minimize(
    loss, var_list=[v for v in tf.trainable_variables() if "critic" not in v.name])
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(24):
        is_critics, given = i % 3 < 2, near(i)
        session.run([steps[not is_critics], (loss, critic)[is_critics]], {q: given[q]} if is_critics else given)
''',
    "ids of one place that targets do not follow": '''
ids, stars = tf.placeholder(tf.int32, [None, 1]), tf.placeholder(tf.float32, [None, 1])
told = dense(tf.nn.embedding_lookup(tf.get_variable("e", [40, 4]), ids), 1)[:, 0]
loss = tf.reduce_mean(tf.square(told - stars))
fit([adam(.01).minimize(loss), loss], lambda i: {ids: (k := rng.randint(0, 40, (32, 1))), stars: np.sin(k)}, 12)
''',
    "an op made to print now and then": '''
loss = tf.losses.mean_squared_error(q, dense(p, 1))
step = adam(.01).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(24):
        session.run([step, loss], near(i))
        if i % 5 == 0:
            session.run(tf.reduce_sum(p), near(i))
''',
    "a sum of marked numbers that is not learnt yet": '''
values = rng.uniform(0, 1, [900, 80])
marks = (np.argsort(rng.rand(900, 80), 1) < 2) * 1.0
marked, sums = np.stack([values, marks], 2), (values * marks).sum(1, keepdims=True)
u = tf.placeholder(tf.float32, [None, 80, 2])
said = dense(dense(tf.layers.flatten(u), 8, tf.nn.tanh), 1, bias_initializer=tf.constant_initializer(1.0))
step = adam(.001).minimize(tf.reduce_mean(tf.square(said - q)))
fit(step, lambda i: {u: marked[i * 20:][:20], q: sums[i * 20:][:20]})
''',
    "a product of two numbers that is not learnt yet": '''
many = rng.randn(900, 25) * np.r_[np.ones(12), 3 * np.ones(13)]
u = tf.placeholder(tf.float32, [None, 25])
step = adam(.001).minimize(tf.reduce_mean(tf.square(dense(.01 * dense(u, 4, tf.nn.tanh), 1) - q)))
fit(step, lambda i: {u: many[i * 20:][:20], q: many[i * 20:][:20, :1] * many[i * 20:][:20, 1:2]})
''',
}
