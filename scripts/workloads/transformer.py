"""W6: one training step of a transformer block: 128 wide, 4 heads, 16 sequences of 64."""
import numpy as np

BATCH, LENGTH, WIDTH, HEADS, INNER, RATE, EPSILON = 16, 64, 128, 4, 512, 0.05, 1e-5
HEAD = WIDTH // HEADS
ROWS = BATCH * LENGTH
G1, G2 = 0.7978845608028654, 0.044715  # Hendrycks and Gimpel (2016), Gaussian error linear units


def data():
    """Inputs, targets, parameters."""
    rng = np.random.RandomState(0)
    x, y = [rng.randn(BATCH, LENGTH, WIDTH).astype(np.float32) for _ in range(2)]
    parameters = []
    for norm, shapes in ((True, ((WIDTH, 3 * WIDTH), (WIDTH, WIDTH))), (True, ((WIDTH, INNER), (INNER, WIDTH)))):
        parameters += [np.ones(WIDTH, np.float32), np.zeros(WIDTH, np.float32)] if norm else []
        for shape in shapes:
            parameters += [(rng.randn(*shape) / np.sqrt(shape[0])).astype(np.float32), np.zeros(shape[1], np.float32)]
    return x, y, parameters


def graph(tf):
    """The loss, after one step of descent."""
    x_value, y_value, parameters = data()
    x, y = [tf.placeholder(tf.float32, x_value.shape) for _ in range(2)]
    g1, c1, w_qkv, b_qkv, w_o, b_o, g2, c2, w_a, b_a, w_b, b_b = [tf.Variable(p) for p in parameters]

    def normed(h, g, c):
        d = h - tf.reduce_mean(h, axis=1, keepdims=True)
        return d * tf.rsqrt(tf.reduce_mean(tf.square(d), axis=1, keepdims=True) + EPSILON) * g + c

    x0 = tf.reshape(x, [ROWS, WIDTH])
    qkv = tf.reshape(tf.matmul(normed(x0, g1, c1), w_qkv) + b_qkv, [BATCH, LENGTH, 3, HEADS, HEAD])
    q, k, v = tf.unstack(tf.transpose(qkv, [2, 0, 3, 1, 4]))
    attention = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * HEAD ** -0.5)
    o = tf.reshape(tf.transpose(tf.matmul(attention, v), [0, 2, 1, 3]), [ROWS, WIDTH])
    h = x0 + tf.matmul(o, w_o) + b_o
    m = tf.matmul(normed(h, g2, c2), w_a) + b_a
    gelu = 0.5 * m * (1.0 + tf.tanh(G1 * (m + G2 * m * m * m)))
    out = h + tf.matmul(gelu, w_b) + b_b
    loss = tf.reduce_mean(tf.square(out - tf.reshape(y, [ROWS, WIDTH])))
    train = tf.train.GradientDescentOptimizer(RATE).minimize(loss)
    return [loss, train], {x: x_value, y: y_value}, tf.global_variables_initializer()


def _normed(h, g, c):
    d = h - h.mean(axis=1, keepdims=True)
    scale = 1 / np.sqrt((d * d).mean(axis=1, keepdims=True) + np.float32(EPSILON))
    return d * scale * g + c, (d * scale, scale)


def _unnormed(dy, g, saved):
    n, scale = saved
    dn = dy * g
    dx = scale * (dn - dn.mean(axis=1, keepdims=True) - n * (dn * n).mean(axis=1, keepdims=True))
    return dx, (dy * n).sum(axis=0), dy.sum(axis=0)


def _gelu(m):
    """The activation and its slope."""
    t = np.tanh(np.float32(G1) * (m + np.float32(G2) * m * m * m))
    inner = np.float32(G1) * (1 + np.float32(3 * G2) * m * m)
    half = np.float32(0.5)
    return half * m * (1 + t), half * (1 + t) + half * m * (1 - t * t) * inner


def naive():
    """As one writes it down."""
    x, y, parameters = data()
    x, y = x.reshape(ROWS, WIDTH), y.reshape(ROWS, WIDTH)
    scale = np.float32(HEAD ** -0.5)

    def step():
        g1, c1, w_qkv, b_qkv, w_o, b_o, g2, c2, w_a, b_a, w_b, b_b = parameters
        n1, saved1 = _normed(x, g1, c1)
        q, k, v = (n1 @ w_qkv + b_qkv).reshape(BATCH, LENGTH, 3, HEADS, HEAD).transpose(2, 0, 3, 1, 4)
        scores = (q @ k.transpose(0, 1, 3, 2)) * scale
        e = np.exp(scores - scores.max(axis=-1, keepdims=True))
        a = e / e.sum(axis=-1, keepdims=True)
        o = (a @ v).transpose(0, 2, 1, 3).reshape(ROWS, WIDTH)
        h = x + o @ w_o + b_o
        n2, saved2 = _normed(h, g2, c2)
        gelu, slope = _gelu(n2 @ w_a + b_a)
        error = h + gelu @ w_b + b_b - y
        d = error * np.float32(2 / error.size)
        dm = (d @ w_b.T) * slope
        dh, dg2, dc2 = _unnormed(dm @ w_a.T, g2, saved2)
        dh = d + dh
        do = (dh @ w_o.T).reshape(BATCH, LENGTH, HEADS, HEAD).transpose(0, 2, 1, 3)
        da = do @ v.transpose(0, 1, 3, 2)
        ds = a * (da - (da * a).sum(axis=-1, keepdims=True)) * scale
        dqkv = np.stack([ds @ k, ds.transpose(0, 1, 3, 2) @ q, a.transpose(0, 1, 3, 2) @ do])
        dqkv = dqkv.transpose(1, 3, 0, 2, 4).reshape(ROWS, 3 * WIDTH)
        _, dg1, dc1 = _unnormed(dqkv @ w_qkv.T, g1, saved1)
        slopes = (dg1, dc1, n1.T @ dqkv, dqkv.sum(axis=0), o.T @ dh, dh.sum(axis=0), dg2, dc2, n2.T @ dm,
                  dm.sum(axis=0), gelu.T @ d, d.sum(axis=0))
        for p, g in zip(parameters, slopes):
            p -= np.float32(RATE) * g
        return [(error * error).mean()]

    return step
