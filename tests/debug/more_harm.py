"""Programs in which something is not finite: in twenty it harms the training, in twenty it does not.

Each trains for a few steps; for the harmful ones: where the stop must come, and what `why nan` must say.
"""


def trained(fetches: str, feeds: str = "") -> str:
    """Five runs: the initializer's, and four of `fetches`."""
    return f"""
train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(4):
        sess.run({fetches}{', ' if feeds else ''}{feeds})
"""


def fed(feeds: str) -> str:
    """Runs of the train op alone; feeds may go by the number i of the step."""
    return trained("train", feeds)


TRAIN, LOSS = trained("train"), trained("[train, loss]")

HARMFUL = {
    "log_later": ("""
x = tf.placeholder(tf.float32, [2]); w = tf.Variable([1.0, 1.0], name="w")
loss = tf.reduce_sum(tf.log(x * w))
""" + fed("{x: [1.0, 3.0 - i]}"),
        ("step 4", "log(0) = -inf")),
    "adam_eps0": ("""
w = tf.Variable([1.0, 2.0], name="w")
loss = tf.reduce_sum(tf.square(w) * 0.0)
train = tf.train.AdamOptimizer(0.1, epsilon=0.0).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(4): sess.run(train)
""",
        ("step 2", "ApplyAdam made 'w' nan")),
    "clip_norm_zero": ("""
w = tf.Variable([1.0, 2.0], name="w"); b = tf.Variable([0.0], name="b")
loss = tf.reduce_sum(w * w) + tf.reduce_sum(b * b)
opt = tf.train.GradientDescentOptimizer(0.1)
train = opt.apply_gradients([(g / tf.norm(g), v) for g, v in opt.compute_gradients(loss)])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(4): sess.run(train)
""",
        ("step 2", "0 / 0 = nan")),
    "where_div_trap": ("""
w = tf.Variable([2.0, 0.0], name="w")
loss = tf.reduce_sum(tf.where(w > 1.0, 1.0 / w, w))
""" + TRAIN,
        ("step 1", "d div", "tf.where does not take")),
    "mask_mul": ("""
w = tf.Variable([2.0, 0.0], name="w")
loss = tf.reduce_sum(tf.constant([1.0, 0.0]) * tf.log(w))
""" + TRAIN,
        ("step 1", "log(0) = -inf")),
    "loss_inf_grad_fine": ("""
w = tf.Variable([2.0, 0.0], name="w")
loss = tf.reduce_sum(tf.log(tf.stop_gradient(w))) + tf.reduce_sum(w)
""" + LOSS,
        ("step 1", "log(0) = -inf")),
    "std_const": ("""
w = tf.Variable([1.0, 1.0], name="w")
loss = tf.math.reduce_std(w) + tf.reduce_sum(w)
""" + TRAIN,
        ("step 1", "d sqrt")),
    "rnn_seq0": ("""
x = tf.placeholder(tf.float32, [None, 3, 2]); n = tf.placeholder(tf.float32, [None])
out, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicRNNCell(3), x, dtype=tf.float32)
loss = tf.reduce_mean(tf.reduce_sum(out, [1, 2]) / n)
""" + fed("{x: np.ones((2, 3, 2)), n: [3.0, 2.0 - i]}"),
        ("step 3", "/ 0 = ")),
    "fed_inf": ("""
x = tf.placeholder(tf.float32, [None]); w = tf.Variable(1.0, name="w")
loss = tf.reduce_mean(x * w)
""" + fed("{x: [1.0, np.inf if i == 2 else 0.0]}"),
        ("step 3", "the value fed")),
    "diverge": ("""
w = tf.Variable([3.0], name="w")
loss = tf.reduce_sum(w ** 4)
train = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(12): sess.run(train)
""",
        ("step 4", "too large for the type", "training diverges")),
    "lr_inf": ("""
w = tf.Variable([3.0], name="w"); n = tf.Variable(0.0, trainable=False)
loss = tf.reduce_sum(w * w)
train = tf.group(tf.train.GradientDescentOptimizer(0.1 / n).minimize(loss))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(4): sess.run(train)
""",
        ("step 2", "0.1 / 0 = inf")),
    "moving_average": ("""
w = tf.Variable([1.0, 2.0], name="w"); avg = tf.Variable(1.0, trainable=False, name="avg")
loss = tf.reduce_sum(w * avg)
up = avg.assign(avg * tf.log(avg - 0.5) / 0.0)
""" + trained("[train, up]"),
        ("step 2", "variable 'avg'", "/ 0 = -inf")),
    "embedding_norm": ("""
e = tf.get_variable("e", initializer=np.array([[0., 0.], [1., 1.]], np.float32))
v = tf.nn.embedding_lookup(e, [0, 1])
loss = tf.reduce_sum(v / tf.norm(v, axis=1, keepdims=True))
""" + TRAIN,
        ("step 1", "0 / 0 = nan")),
    "softmax_all_masked": ("""
w = tf.Variable([[1.0, 2.0]], name="w")
loss = tf.reduce_sum(tf.nn.softmax(w + [[-np.inf, -np.inf]]) * [1.0, 2.0])
""" + TRAIN,
        ("step 1", "-inf throughout")),
    "fp16": ("""
w = tf.Variable(np.array([300.0, 2.0], np.float16), name="w")
loss = tf.reduce_sum(tf.square(w))
""" + LOSS,
        ("step 1", "square(300) = inf")),
    "cond_bad_branch": ("""
p = tf.placeholder(tf.bool, []); w = tf.Variable(0.0, name="w")
loss = tf.cond(p, lambda: w * 2.0, lambda: tf.sqrt(tf.abs(w * 0.0)) + w)
""" + fed("{p: i < 2}"),
        ("step 3", "d sqrt", "second branch")),
    "map_fn_div": ("""
w = tf.Variable([1.0, 0.0], name="w")
loss = tf.reduce_sum(tf.map_fn(lambda v: v / v, w))
""" + TRAIN,
        ("step 1", "0 / 0 = nan", "iteration 1")),
    "second_order": ("""
w = tf.Variable([0.0, 1.0], name="w")
y = tf.reduce_sum(tf.pow(w, 1.5))
g = tf.gradients(y, w)[0]
loss = tf.reduce_sum(g)
""" + TRAIN,
        ("step 1", "0 ** (-0.5) = inf")),
    "pow_neg": ("""
w = tf.Variable([-0.1, 1.0], name="w")
loss = tf.reduce_sum(tf.pow(w, 0.5))
""" + LOSS,
        ("step 1", "(-0.1) ** 0.5 = nan")),
    "inf_minus_inf": ("""
w = tf.Variable([100.0, 1.0], name="w")
a = tf.exp(w)
loss = tf.reduce_sum(tf.maximum(a - a, -1.0))
""" + TRAIN,
        ("step 1", "exp(100) = inf")),
}

MASKED = {
    "double_where": """
w = tf.Variable([2.0, 0.0], name="w")
ok = w > 1.0
safe = tf.where(ok, w, tf.ones_like(w))
loss = tf.reduce_sum(tf.where(ok, tf.log(safe), tf.zeros_like(w)))
""" + TRAIN,
    "metric_nan": """
w = tf.Variable([2.0, 0.0], name="w")
loss = tf.reduce_sum(w * w)
ratio = tf.reduce_mean(w / tf.constant([1.0, 0.0]))
""" + trained("[train, ratio]"),
    "perplexity_inf": """
w = tf.Variable([100.0], name="w")
loss = tf.reduce_sum(w)
perplexity = tf.exp(loss)
""" + trained("[train, loss, perplexity]"),
    "attention": """
w = tf.get_variable("w", [2, 3]); mask = tf.constant([[0., -np.inf, 0.], [0., 0., -np.inf]])
loss = tf.reduce_sum(tf.nn.softmax(w + mask) ** 2)
""" + LOSS,
    "logsumexp_masked": """
w = tf.get_variable("w", [2, 3]); mask = tf.constant([[0., -np.inf, 0.], [0., 0., -np.inf]])
loss = tf.reduce_mean(tf.reduce_logsumexp(w + mask, axis=1))
""" + LOSS,
    "max_start": """
w = tf.Variable([1.0, 2.0], name="w")
_, best = tf.while_loop(lambda i, b: i < 2, lambda i, b: (i + 1, tf.maximum(b, w[i])), [0, tf.constant(-np.inf)])
loss = tf.square(best)
""" + LOSS,
    "nan_padding_gather": """
x = tf.placeholder(tf.float32, [None, 2]); w = tf.get_variable("w", [2, 1])
rows = tf.gather(x, [0, 1])
loss = tf.reduce_mean(tf.square(tf.matmul(rows, w)))
""" + fed("{x: [[1., 2.], [3., 4.], [np.nan, 0.]]}"),
    "boolean_mask_nan": """
x = tf.placeholder(tf.float32, [None]); w = tf.Variable(1.0, name="w")
loss = tf.reduce_mean(tf.boolean_mask(x, tf.is_finite(x)) * w)
""" + fed("{x: [1.0, np.nan, 3.0]}"),
    "nan_labels_where": """
y = tf.placeholder(tf.float32, [None]); w = tf.Variable(1.0, name="w")
y0 = tf.where(tf.is_nan(y), tf.zeros_like(y), y)
loss = tf.reduce_mean(tf.square(y0 - w))
""" + fed("{y: [1.0, np.nan, 3.0]}"),
    "clip_inf_bounds": """
w = tf.Variable([2.0, 0.0], name="w")
loss = tf.reduce_sum(tf.clip_by_value(w, -np.inf, np.inf) ** 2)
""" + LOSS,
    "div_no_nan": """
w = tf.Variable([2.0, 0.0], name="w")
loss = tf.reduce_sum(tf.div_no_nan(w, tf.constant([1.0, 0.0]))) + tf.reduce_sum(w * w)
""" + LOSS,
    "sigmoid_of_inf": """
w = tf.Variable([1.0, 2.0], name="w")
gate = tf.sigmoid(tf.exp(tf.stop_gradient(w) * 100.0))
loss = tf.reduce_sum(gate * w)
""" + LOSS,
    "one_over_inf": """
w = tf.Variable([1.0, 2.0], name="w")
scale = 1.0 / tf.exp(tf.constant(200.0))
loss = tf.reduce_sum(w * w) + tf.reduce_sum(scale * w)
""" + LOSS,
    "other_branch": """
w = tf.Variable(0.0, name="w")
loss = tf.cond(w > -1.0, lambda: w * w, lambda: tf.log(w))
""" + LOSS,
    "summary_hist_nan": """
w = tf.Variable([1.0, 2.0], name="w")
loss = tf.reduce_sum(w * w)
snr = tf.log(tf.constant(0.0)) * loss
snr0 = tf.stop_gradient(snr)
""" + trained("[train, snr0]"),
    "step_skipped_by_cond": """
x = tf.placeholder(tf.float32, []); w = tf.Variable(1.0, name="w")
raw = tf.log(x)
ok = tf.is_finite(raw)
loss = w * w * tf.where(ok, tf.stop_gradient(raw), tf.ones_like(raw))
""" + fed("{x: float(i % 2)}"),
    "sqrt_guard_by_max": """
w = tf.Variable([0.0, 1.0], name="w")
loss = tf.reduce_sum(tf.sqrt(tf.maximum(w, 1e-6)))
""" + LOSS,
    "min_of_inf": """
w = tf.Variable([1.0, 2.0], name="w")
d = tf.constant([np.inf, 3.0])
loss = tf.reduce_sum(tf.minimum(w, d))
""" + LOSS,
    "top_k_masked": """
w = tf.Variable([1.0, 2.0, 3.0], name="w")
s = tf.where([True, False, True], w, tf.fill([3], -np.inf))
vals, _ = tf.nn.top_k(s, 2)
loss = tf.reduce_sum(vals ** 2)
""" + LOSS,
    "early_stop_best": """
w = tf.Variable([1.0], name="w"); best = tf.Variable(np.inf, trainable=False, name="best", dtype=tf.float32)
loss = tf.reduce_sum(w * w)
keep = best.assign(tf.minimum(best, loss))
""" + trained("[train, keep]"),
}
