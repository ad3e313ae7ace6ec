"""Sixty more gradient bugs, after questions that people ask about TF1 programs, with what the answer must name.

As in `pains`: the line to blame ends in `# here`, and at most two commands are asked.
"""

from .pains import Pain

TRAIN = """
train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(5):
        sess.run(train)
"""
FED = """
train = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(4):
        sess.run([train, loss], feeds)
"""

MORE = [
    Pain(1, """
x = tf.constant(np.ones((4, 3), np.float32))
w = tf.get_variable("w", [3], initializer=tf.ones_initializer())
h = x * w
mean, var = tf.nn.moments(h, axes=[0])
normed = (h - mean) / tf.sqrt(var)  # here
loss = tf.reduce_sum(normed ** 2)
""" + TRAIN, ("why w",),
         ("0 / 0", "tf.sqrt(var + 1e-5)"), name="std_constant"),
    Pain(2, """
w = tf.Variable([100.0, 1.0], name="w")
sp = tf.log(1.0 + tf.exp(w))  # here
loss = tf.reduce_sum(sp)
""" + TRAIN, ("why w",),
         ("exp(100) = inf", "softplus"), name="softplus_by_hand"),
    Pain(3, """
logits = tf.Variable([[40.0], [-2.0]], name="logits")
labels = tf.constant([[0.0], [1.0]])
p = tf.sigmoid(logits)
loss = tf.reduce_mean(-labels * tf.log(p) - (1.0 - labels) * tf.log(1.0 - p))  # here
""" + TRAIN, ("why logits",),
         ("log", "sigmoid_cross_entropy_with_logits"), name="sigmoid_ce_by_hand"),
    Pain(4, """
x = tf.Variable([-1.0, 0.5], name="x")
y = tf.log1p(x)  # here
loss = tf.reduce_mean(y)
""" + TRAIN, ("why x",),
         ("log1p(-1) = -inf", "tf.maximum(x, -1 + 1e-6)"), name="log1p"),
    Pain(5, """
emb = tf.get_variable("emb", initializer=np.array([[0., 0.], [3., 4.]], np.float32))
unit = emb / tf.norm(emb, axis=1, keepdims=True)  # here
loss = tf.reduce_sum(tf.matmul(unit, unit, transpose_b=True))
""" + TRAIN, ("why emb",),
         ("0 / 0", "l2_normalize"), name="l2_norm_by_hand"),
    Pain(6, """
x = tf.placeholder(tf.float32, [None, 4], name="x")
w = tf.get_variable("w", [4, 3], initializer=tf.ones_initializer())
h = tf.matmul(x, w)
h = tf.layers.batch_normalization(h, training=True)  # here
loss = tf.reduce_mean(tf.square(h - 1.0))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(3):
        sess.run([train, loss], {x: np.ones((1, 4))})
""", ("why w",),
         ("Mean", "over one element", "larger batch"), name="batchnorm_batch_one"),
    Pain(7, """
c = tf.Variable([[1.0, 1.0], [1.0, 1.0]], name="c")
l = tf.cholesky(c)  # here
loss = tf.reduce_sum(tf.log(tf.diag_part(l)))
""" + TRAIN, ("why nan",),
         ("Cholesky", "* tf.eye(2)"), name="cholesky_singular"),
    Pain(8, """
m = tf.Variable(np.eye(3, dtype=np.float32), name="m")
e, v = tf.self_adjoint_eig(m)  # here
loss = tf.reduce_sum(tf.square(v[:, 0] - tf.constant([0.0, 1.0, 0.0])))
""" + TRAIN, ("why m",),
         ("equal eigenvalues", "raised"), name="eigh_degenerate"),
    Pain(9, """
x = tf.constant(np.random.RandomState(0).randn(5, 3).astype(np.float32))
w = tf.get_variable("w", [3, 2], initializer=tf.ones_initializer())
code = tf.sign(tf.matmul(x, w))  # here
loss = tf.reduce_mean(tf.square(code - 1.0))
""" + TRAIN, ("why w",),
         ("Square", "Sign", "tf.tanh"), name="sign"),
    Pain(10, """
x = tf.constant(np.random.RandomState(0).randn(5, 3).astype(np.float32))
w = tf.get_variable("w", [3, 4])
logits = tf.matmul(x, w)
pred = tf.one_hot(tf.argmax(logits, 1), 4)  # here
labels = tf.one_hot([0, 1, 2, 3, 0], 4)
loss = tf.reduce_mean(tf.square(pred - labels))
train = tf.train.AdamOptimizer().minimize(loss)
""", ("why w",),
         ("OneHot", "ArgMax", "softmax"), name="onehot_argmax"),
    Pain(11, """
w = tf.Variable([1.0, 2.0], name="w")
v = tf.Variable(w.initialized_value() * 2.0, name="v")  # here
loss = tf.reduce_sum(tf.square(v))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(tf.gradients(loss, [w]))
    sess.run(loss)
""", ("why w",),
         ("'v' its first value",), name="initialized_value"),
    Pain(12, """
x = tf.placeholder(tf.float32, [3], name="x")
w = tf.Variable(np.ones(3, np.float32), name="w")
loss = tf.reduce_sum(tf.square(w * x))
flat = tf.reshape(x, [3, 1], name="flat")  # here
g = tf.gradients(loss, flat)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(loss, {x: [1, 2, 3]})
""", ("why flat",),
         ("copy made of 'x'",), name="later_identity"),
    Pain(13, """
def net(x, name):
    with tf.variable_scope(name):
        w = tf.get_variable("w", [3, 1], initializer=tf.ones_initializer())
        return tf.matmul(x, w)
x = tf.constant(np.ones((2, 3), np.float32))
train_out = net(x, "train_net")
test_out = net(x, "test_net")
loss = tf.reduce_mean(tf.square(train_out - 1.0))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(3):
        sess.run(train)
        sess.run(test_out)
""", ("why test_net/w",),
         ("'train_net/w'", "AUTO_REUSE"), name="twice_created"),
    Pain(14, """
x = tf.constant(np.ones((2, 3), np.float32))
w = tf.get_variable("w", [3, 1], initializer=tf.ones_initializer(), trainable=False)  # here
b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - 1.0))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(3):
        sess.run(train)
""", ("why w",),
         ("not trainable", "trainable=True"), name="not_trainable"),
    Pain(15, """
x = tf.constant(np.ones((2, 3), np.float32))
with tf.variable_scope("generator"):
    w = tf.get_variable("w", [3, 1], initializer=tf.ones_initializer())
with tf.variable_scope("discriminator"):
    v = tf.get_variable("v", [1, 1], initializer=tf.ones_initializer())
loss = tf.reduce_mean(tf.square(tf.matmul(tf.matmul(x, w), v) - 1.0))
g_vars = [var for var in tf.trainable_variables() if var.name.startswith("disc")]
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, var_list=g_vars)  # here
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(3):
        sess.run(train)
""", ("why generator/w",),
         ("not asked", "var_list"), name="var_list_misspelled"),
    Pain(16, """
ids = tf.placeholder(tf.int32, [None], name="ids")
table = tf.get_variable("table", [5, 2])
vectors = tf.nn.embedding_lookup(table, ids)  # here
loss = tf.reduce_sum(tf.square(vectors))
g = tf.gradients(loss, ids)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(loss, {ids: [0, 3]})
""", ("why ids",),
         ("ids:0 is int32", "what is looked up"), name="int_input_saliency"),
    Pain(17, """
table = tf.Variable(np.arange(10), name="table")  # here
loss = tf.reduce_sum(tf.cast(tf.gather(table, [1, 2]), tf.float32))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(tf.gradients(loss, [table]))
    sess.run(loss)
""", ("why table",),
         ("GatherV2", "dtype=tf.float32"), name="int_gather"),
    Pain(18, """
ids = tf.placeholder(tf.int32, [None], name="ids")
table = tf.get_variable("table", [5, 2])
vectors = tf.nn.embedding_lookup(table, ids)
loss = tf.reduce_sum(tf.square(vectors))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(3):
        sess.run(train, {ids: [0, 3]})
""", ("why table",),
         ("2 of 5 rows", "0, 3"), name="embedding_untouched"),
    Pain(19, """
x = tf.constant(np.ones((8, 4), np.float32))
w = tf.get_variable("w", [4, 1], initializer=tf.constant_initializer(5.0))
err = tf.reduce_mean(tf.square(tf.matmul(x, w)))
loss = tf.clip_by_value(err, 0.0, 10.0)  # here
""" + TRAIN, ("why w",),
         ("above the bound 10", "clip the gradients"), name="clip_loss"),
    Pain(20, """
x = tf.constant(np.random.RandomState(0).randn(5000, 3).astype(np.float32) * 20)
w = tf.get_variable("w", [3, 1], initializer=tf.ones_initializer())
pred = tf.matmul(x, w)
loss = tf.reduce_sum(tf.square(pred - 1.0))  # here
train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(20):
        sess.run([train, loss])
""", ("why nan",),
         ("training diverges: the loss is a sum of 5000", "the learning rate is", "w grew", "lower the learning rate"),
         name="diverging"),
    Pain(21, """
x = tf.constant(np.random.RandomState(0).randn(50, 3).astype(np.float32))
labels = tf.constant(np.arange(50) % 4)
w = tf.get_variable("w", [3, 4], initializer=tf.ones_initializer())
loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=tf.matmul(x, w))  # here
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(3):
        sess.run(train)
""", ("doctor",),
         ("loss is no scalar", "[50]", "reduce_mean"), name="vector_loss"),
    Pain(22, """
@tf.RegisterGradient("Drop")
def _drop(op, grad):
    return None
w = tf.Variable([1.0, 2.0], name="w")
g = tf.get_default_graph()
with g.gradient_override_map({"Sigmoid": "Drop"}):
    y = tf.sigmoid(w)  # here
loss = tf.reduce_sum(y)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(tf.gradients(loss, [w]))
    sess.run(loss)
""", ("why w",),
         ("Sigmoid", "return a tensor"), name="registered_none"),
    Pain(23, """
w = tf.Variable(1.5, name="w")
_, out = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * w), [0, tf.constant(1.0)], back_prop=False)  # here
loss = tf.square(out)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(tf.gradients(loss, [w]))
    sess.run(loss)
""", ("why w",),
         ("While", "back_prop=True"), name="while_no_backprop"),
    Pain(24, """
w = tf.Variable(1.5, name="w")
v = tf.Variable(1.5, name="v")
flag = tf.placeholder(tf.bool, [], name="flag")
out = tf.cond(flag, lambda: w * 2.0, lambda: v * 3.0)  # here
loss = tf.square(out)
train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(3):
        sess.run(train, {flag: True})
""", ("why v",),
         ("first branch was taken",), name="cond_untaken"),
    Pain(25, """
x = tf.constant(np.random.RandomState(0).randn(6, 3).astype(np.float32))
w = tf.get_variable("w", [3, 4], initializer=tf.ones_initializer())
probs = tf.nn.softmax(tf.matmul(x, w))
labels = tf.one_hot([0, 1, 2, 3, 0, 1], 4)
loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=probs))  # here
""" + TRAIN, ("doctor",),
         ("taken twice", "from before the softmax"), name="double_softmax"),
    Pain(26, """
x = tf.constant(np.random.RandomState(0).randn(6, 3).astype(np.float32))
w = tf.get_variable("w", [3, 1], initializer=tf.ones_initializer())
p = tf.nn.softmax(tf.matmul(x, w))  # here
loss = tf.reduce_mean(tf.square(p - 0.3))
""" + TRAIN, ("why w",),
         ("one element", "tf.sigmoid"), name="softmax_wrong_axis"),
    Pain(27, """
x = tf.placeholder(tf.float32, [None, 2], name="x")  # here
w = tf.get_variable("w", [2, 1], initializer=tf.ones_initializer())
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
data = np.ones((6, 2)); data[4, 1] = np.nan
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(0, 6, 2):
        sess.run(train, {x: data[i:i + 2]})
""", ("why nan",),
         ("'x' contains nan", "[0,1]", "np.isfinite"), name="fed_nan"),
    Pain(28, """
w = tf.Variable(np.array([300.0, 1.0], np.float16), name="w")
sq = tf.square(w)  # here
loss = tf.reduce_sum(tf.cast(sq, tf.float32))
""" + TRAIN, ("why nan",),
         ("square(276) = inf", "work in float32"), name="float16_overflow"),
    Pain(29, """
w = tf.Variable(np.array([0.5, 1.0], np.float32), name="w")
h = tf.cast(w, tf.float16)
tiny = h * 1e-4 * 1e-4  # here
loss = tf.reduce_sum(tf.cast(tiny, tf.float32))
""" + TRAIN, ("why w",),
         ("underflow", "smallest float16"), name="float16_underflow"),
    Pain(30, """
x = tf.Variable([10000.0, 10000.1], name="x")
var = tf.reduce_mean(tf.square(x)) - tf.square(tf.reduce_mean(x))
std = tf.sqrt(var)  # here
loss = std
""" + TRAIN, ("why nan",),
         ("sqrt(-8) = nan", "tf.reduce_mean(tf.square(x - tf.reduce_mean(x)))"), name="cancellation"),
    Pain(31, """
x = tf.constant(np.ones((2, 3), np.float32))
with tf.variable_scope("encoder"):
    w = tf.get_variable("w", [3, 2], initializer=tf.ones_initializer())
    z = tf.matmul(x, w)
with tf.variable_scope("vq"):
    codebook = tf.get_variable("codebook", [4, 2])
    d = tf.reduce_sum(tf.square(z[:, None] - codebook[None]), -1)
    q = tf.gather(codebook, tf.argmin(d, 1))  # here
dec = tf.get_variable("dec", [2, 3])
loss = tf.reduce_mean(tf.square(tf.matmul(q, dec) - x))
""" + TRAIN, ("why encoder/w",),
         ("ArgMin", "stop_gradient(chosen"), name="quantized_autoencoder"),
    Pain(32, """
w = tf.Variable([1.0, 2.0], name="w")
picked = tf.boolean_mask(w, [False, False])
loss = tf.reduce_mean(picked)  # here
""" + TRAIN, ("why w",),
         ("mean of no elements",), name="empty_mean"),
    Pain(33, """
x = tf.constant(np.random.RandomState(0).randn(8, 3).astype(np.float32))
w1 = tf.get_variable("w1", [3, 4], initializer=tf.zeros_initializer())
w2 = tf.get_variable("w2", [4, 1], initializer=tf.zeros_initializer())
h = tf.tanh(tf.matmul(x, w1))
loss = tf.reduce_mean(tf.square(tf.matmul(h, w2) - 1.0))  # here
""" + TRAIN, ("why w1",),
         ("w2:0 is 0 everywhere", "glorot"), name="zeros_init"),
    Pain(34, """
w = tf.Variable([1.0, 2.0], name="w")
loss = tf.reduce_sum(tf.stop_gradient(w) * 0.0 + w * 0.0)
train = tf.train.AdamOptimizer(0.1, epsilon=0.0).minimize(loss)  # here
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(3):
        sess.run(train)
""", ("why nan",),
         ("ApplyAdam made 'w' nan", "epsilon=1e-8"), name="adam_eps"),
    Pain(35, """
x = tf.placeholder(tf.float32, [None, 3], name="x")
y = tf.placeholder(tf.float32, [None, 2], name="y")
w = tf.get_variable("w", [3, 2], initializer=tf.ones_initializer())
loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=tf.matmul(x, w)))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(3):
        sess.run(train, {x: np.ones((2, 3)), y: np.zeros((2, 2))})
""", ("doctor",),
         ("do not sum to 1", "one_hot"), name="labels_of_zeros"),
    Pain(36, """
w = tf.Variable([1.0, 2.0, 0.0], name="w")
out = tf.map_fn(lambda v: 1.0 / v, w)  # here
loss = tf.reduce_sum(out)
""" + TRAIN, ("why w",),
         ("1 / 0 = inf", "iteration 2"), name="map_fn"),
    Pain(37, """
w = tf.Variable([1.0, 2.0], name="w")
mask = tf.constant([-np.inf, -np.inf], tf.float32)
p = tf.nn.softmax(w + mask)  # here
loss = tf.reduce_sum(p)
""" + TRAIN, ("why w",),
         ("-inf throughout", "unmasked"), name="logsumexp_all_masked"),
    Pain(38, """
x = tf.constant(np.linspace(-1, 1, 6).reshape(6, 1).astype(np.float32) * 50)
pi = tf.get_variable("pi", [3]); mu = tf.get_variable("mu", [3], initializer=tf.zeros_initializer())
sig = tf.exp(tf.get_variable("s", [3], initializer=tf.zeros_initializer()))
prob = tf.exp(-tf.square(x - mu) / (2 * sig ** 2)) / sig
mix = tf.reduce_sum(tf.nn.softmax(pi) * prob, axis=1)
loss = -tf.reduce_mean(tf.log(mix))  # here
""" + TRAIN, ("why mu",),
         ("underflow: Exp", "tf.reduce_logsumexp"), name="mdn"),
    Pain(39, """
x = tf.placeholder(tf.float32, [None, 5, 2]); n = tf.placeholder(tf.int32, [None])
cell = tf.nn.rnn_cell.BasicRNNCell(3)
out, state = tf.nn.dynamic_rnn(cell, x, sequence_length=n, dtype=tf.float32)
loss = tf.reduce_mean(tf.reduce_sum(out, axis=[1, 2]) / tf.cast(n, tf.float32))  # here
feeds = {x: np.ones((2, 5, 2)), n: [3, 0]}
""" + FED, ("why rnn/basic_rnn_cell/kernel",),
         ("RealDiv", "0 / 0"), name="dynamic_rnn_len0"),
    Pain(40, """
x = tf.constant(np.random.RandomState(0).randn(8, 3).astype(np.float32))
y = tf.constant(np.arange(8, dtype=np.float32))
pred = tf.layers.dense(x, 1)
loss = tf.reduce_mean(tf.square(pred - y))  # here
""" + TRAIN, ("doctor",),
         ("broadcast", "squeeze"), name="broadcast_mse"),
    Pain(41, """
x = tf.constant(np.random.RandomState(0).randn(6, 3).astype(np.float32))
h = tf.layers.batch_normalization(tf.layers.dense(x, 4), training=True)  # here
loss = tf.reduce_mean(tf.square(h - 1.0))
""" + TRAIN, ("doctor",),
         ("UPDATE_OPS", "use_bias=False"), name="bn_update_ops"),
    Pain(42, """
x = np.random.RandomState(0).randn(6, 3).astype(np.float32)
w = tf.get_variable("w", [3, 1])
sess = tf.Session(); sess.run(tf.global_variables_initializer())
pred = sess.run(tf.matmul(tf.constant(x), w))
loss = tf.reduce_mean(tf.square(tf.constant(pred) - 1.0))  # here
print(tf.gradients(loss, [w]))
sess.run(loss)
""", ("why w",),
         ("constants only", "Session.run"), name="eval_constant"),
    Pain(43, """
w = tf.Variable([-1.0, -2.0], name="w")
h = tf.maximum(w, 0.0)
loss = tf.reduce_sum(h * h)
""" + TRAIN, ("why w",),
         ("Maximum:0 is 0 everywhere", "below the bound 0"), name="two_losses_in_a_row"),
    Pain(44, """
@tf.RegisterGradient("Wrong")
def _wrong(op, grad):
    return tf.reduce_sum(grad)
w = tf.Variable([1.0, 2.0], name="w")
with tf.get_default_graph().gradient_override_map({"Exp": "Wrong"}):
    y = tf.exp(w)  # here
loss = tf.reduce_sum(y)
""" + TRAIN, ("check",),
         ("wrong", "shape [], expected [2]"), name="wrong_shape_override"),
    Pain(45, """
@tf.custom_gradient
def safe_log(x):
    def grad(dy):
        return dy / x  # here
    return tf.log(x + 1e-6), grad
w = tf.Variable([0.0, 2.0], name="w")
loss = tf.reduce_sum(safe_log(w))
""" + TRAIN, ("why w",),
         ("1 / 0 = inf", "in grad"), name="custom_grad_nan"),
    Pain(46, """
ids = tf.placeholder(tf.int32, [None]); table = tf.get_variable("table", [5, 2])
v = tf.nn.embedding_lookup(table, ids)  # here
loss = tf.reduce_sum(v)
feeds = {ids: [1, 7]}
""" + FED, ("why nan",),
         ("= 7 is not in [0, 5)", "keep the indices inside"), name="gather_range"),
    Pain(47, """
x = tf.constant(np.random.RandomState(0).rand(8, 3).astype(np.float32))
w = tf.get_variable("w", initializer=np.array([[1, -1, 1], [1, -1, 1], [1, -1, 1]], np.float32))
h = tf.nn.relu(tf.matmul(x, w))  # here
loss = tf.reduce_mean(tf.square(h - 1.0))
""" + TRAIN, ("why w",),
         ("1 of 3 columns of it are 0: [1], lost in Relu",), name="dead_units_partly"),
    Pain(48, """
w = tf.Variable([1.0, 2.0], name="w")
loss = tf.reduce_sum(tf.square(w))
step = tf.Variable(0, trainable=False, name="step")
lr = 0.1 / tf.sqrt(tf.cast(step, tf.float32))  # here
train = tf.train.GradientDescentOptimizer(lr).minimize(loss, global_step=step)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(3):
        sess.run(train)
""", ("why nan",),
         ("0.1 / 0 = inf",), name="decay_lr_zero"),
    Pain(49, """
w = tf.Variable([1.0, 2.0], name="w")
b = tf.Variable([0.0], name="b")
loss = tf.reduce_sum(tf.square(w)) + tf.reduce_sum(tf.square(b))
opt = tf.train.GradientDescentOptimizer(0.1)
gv = [(g / tf.norm(g), v) for g, v in opt.compute_gradients(loss)]  # here
train = opt.apply_gradients(gv)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(3):
        sess.run(train)
""", ("why b",),
         ("0 / 0 = nan", "l2_normalize"), name="normalized_grads"),
    Pain(50, """
z = tf.constant(np.random.RandomState(0).randn(4, 2).astype(np.float32))
with tf.variable_scope("g"):
    fake = tf.layers.dense(z, 2)
with tf.variable_scope("d"):
    score = tf.layers.dense(fake, 1)
g_loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.ones([4, 1]), logits=score))
d_loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.zeros([4, 1]), logits=score))
g_train = tf.train.GradientDescentOptimizer(0.1).minimize(g_loss, var_list=tf.trainable_variables("g"))
d_train = tf.train.GradientDescentOptimizer(0.1).minimize(d_loss, var_list=tf.trainable_variables("d"))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(3):
        sess.run([g_train, d_train])
""", ("why g/dense/kernel",),
         ("that of Mean:0 was", "--of Mean:0"), name="gan_two_losses"),
    Pain(51, """
a = tf.get_variable("a", initializer=np.array([[1., 2., 3.]], np.float32))
n = a / tf.norm(a)
ang = tf.acos(tf.reduce_sum(n * n) * 1.0000002)  # here
loss = ang
""" + TRAIN, ("why a",),
         ("acos(1.00000012) = nan", "tf.clip_by_value"), name="angular_arccos_rounding"),
    Pain(52, """
w = tf.Variable([-200.0, -300.0], name="w")
loss = tf.reduce_mean(tf.nn.elu(w))  # here
""" + TRAIN, ("why w",),
         ("Elu", "far below 0"), name="elu_saturated"),
    Pain(53, """
w = tf.Variable([30.0, 40.0], name="w")
loss = tf.reduce_mean(tf.square(tf.nn.relu6(w) - 1.0))  # here
""" + TRAIN, ("why w",),
         ("Relu6", ">= 6"), name="relu6_sat"),
    Pain(54, """
x = tf.constant(np.random.RandomState(0).rand(8, 4).astype(np.float32))
w = tf.get_variable("w", [4, 1], initializer=tf.ones_initializer())
loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
train = tf.train.GradientDescentOptimizer(1e-12).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(4): sess.run([train, loss])
""", ("doctor",),
         ("no step", "raise the learning rate"), name="small_lr"),
    Pain(55, """
w = tf.Variable([1.0, 2.0], name="w")
loss = tf.reduce_sum(tf.square(w))
opt = tf.train.GradientDescentOptimizer(0.1)
g, v = zip(*opt.compute_gradients(loss))
g, _ = tf.clip_by_global_norm(g, 0.0)  # here
train = opt.apply_gradients(zip(g, v))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(4): sess.run([train, loss])
""", ("doctor",),
         ("clipped away", "raise the bound"), name="clipped_to_zero"),
    Pain(56, """
w = tf.Variable([1.0], name="w"); acc = tf.Variable([0.0], trainable=False, name="acc")
loss = tf.reduce_sum(tf.square(w))  # here
g = tf.gradients(loss, w)[0]
add = acc.assign_add(g * 1e30)
train = tf.train.GradientDescentOptimizer(1e-3).apply_gradients([(acc, w)])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(20):
        sess.run(add); sess.run(train)
""", ("why nan",),
         ("training diverges: w grew",), name="accumulator_reset_forgotten"),
    Pain(57, """
ids = tf.placeholder(tf.int32, [None])
table = tf.get_variable("table", [5, 2], use_resource=True)
loss = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(table, ids)))
feeds = {ids: [0, 3, 3]}
""" + FED, ("why table",),
         ("2 of 5 rows",), name="resource_embedding"),
    Pain(58, """
@tf.custom_gradient
def cube(x):
    def grad(dy):
        return dy * 2.0 * x
    return x ** 3, grad
w = tf.Variable([1.0, 2.0], name="w")
loss = tf.reduce_sum(cube(w))  # here
""" + TRAIN, ("doctor",),
         ("wrong gradient",), name="custom_gradient_wrong"),
    Pain(59, """
w = tf.Variable(np.arange(6, dtype=np.float32).reshape(3, 2), name="w")
row = w[1]  # here
loss = tf.reduce_sum(tf.square(w))
g = tf.gradients(loss, [row])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(loss)
""", ("doctor",),
         ("copy made of 'w'",), name="slice_copy"),
    Pain(60, """
w = tf.Variable([3.0, 4.0], name="w")
loss = tf.reduce_mean(tf.maximum(0.0, 1.0 - w))  # here
""" + TRAIN, ("why w",),
         ("below the bound 0", "if it is a hinge"), name="hinge_satisfied"),
]
