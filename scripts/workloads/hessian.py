"""W7: Hessians of Rosenbrock's function of 1,000 (a), logistic regression on 500 columns (b), a small MLP (c).

`*_hvp` is one product of the Hessian with a vector, `*_gradient` one gradient.
"""
import numpy as np

INPUTS, HIDDEN, CLASSES, BATCH = 20, 32, 10, 64
SHAPES = ((INPUTS, HIDDEN), (HIDDEN,), (HIDDEN, CLASSES), (CLASSES,))


def point(kind):
    """Where it is taken, and the data."""
    rng = np.random.RandomState(0)
    if kind == "a":
        return rng.uniform(-1, 1, 1000).astype(np.float32), None, None
    if kind == "b":
        x = (rng.randn(2000, 500) / np.sqrt(500)).astype(np.float32)
        return rng.randn(500).astype(np.float32), x, (rng.rand(2000) > 0.5).astype(np.float32)
    x = rng.randn(BATCH, INPUTS).astype(np.float32)
    y = np.eye(CLASSES, dtype=np.float32)[rng.randint(0, CLASSES, BATCH)]
    return (rng.randn(sum(map(np.prod, SHAPES))) * 0.3).astype(np.float32), x, y


def parts(w, reshape):
    """The parameters that one vector holds."""
    found, low = [], 0
    for shape in SHAPES:
        size = int(np.prod(shape))
        found.append(reshape(w[low:low + size], shape))
        low += size
    return found


def _loss(tf, kind, w, x, y):
    if kind == "a":
        return tf.reduce_sum(100.0 * tf.square(w[1:] - tf.square(w[:-1])) + tf.square(1.0 - w[:-1]))
    if kind == "b":
        z = tf.reshape(tf.matmul(tf.constant(x), tf.reshape(w, [500, 1])), [2000])
        return tf.reduce_mean(tf.nn.softplus(z) - tf.constant(y) * z)
    w1, b1, w2, b2 = parts(w, tf.reshape)
    z = tf.matmul(tf.tanh(tf.matmul(tf.constant(x), w1) + b1), w2) + b2
    m = z - tf.stop_gradient(tf.reduce_max(z, axis=1, keepdims=True))
    return tf.reduce_mean(tf.log(tf.reduce_sum(tf.exp(m), axis=1)) - tf.reduce_sum(tf.constant(y) * m, axis=1))


def graph(kind, what):
    """A function of tf, for the Hessian, a product with it, or the gradient."""
    def built(tf):
        w_value, x, y = point(kind)
        w, v = [tf.placeholder(tf.float32, w_value.shape) for _ in range(2)]
        loss = _loss(tf, kind, w, x, y)
        if what == "hessian":
            return [tf.hessians(loss, w)[0]], {w: w_value}, None
        gradient = tf.gradients(loss, w)[0]
        if what == "gradient":
            return [gradient], {w: w_value}, None
        return [tf.gradients(tf.reduce_sum(gradient * v), w)[0]], {w: w_value, v: w_value[::-1].copy()}, None

    return built


def _product(kind, x, y):
    """A function (w, v) -> H v, by hand."""
    def rosenbrock(w, v):
        t, dt = w[1:] - w[:-1] ** 2, v[1:] - 2 * w[:-1] * v[:-1]
        found = np.zeros_like(w)
        found[1:] = 200 * dt
        found[:-1] += 2 * v[:-1] - 400 * (v[:-1] * t + w[:-1] * dt)
        return found

    def logistic(w, v):
        p = 1 / (1 + np.exp(-(x @ w)))
        return x.T @ (p * (1 - p) * (x @ v) / len(y))

    def perceptron(w, v):
        w1, b1, w2, b2 = parts(w, np.reshape)
        v1, c1, v2, c2 = parts(v, np.reshape)
        h = np.tanh(x @ w1 + b1)
        z = h @ w2 + b2
        e = np.exp(z - z.max(axis=1, keepdims=True))
        p = e / e.sum(axis=1, keepdims=True)
        dz, s = (p - y) / BATCH, 1 - h * h
        h_v = s * (x @ v1 + c1)
        z_v = h_v @ w2 + h @ v2 + c2
        dz_v = p * (z_v - (p * z_v).sum(axis=1, keepdims=True)) / BATCH
        da_v = (dz_v @ w2.T + dz @ v2.T) * s - 2 * (dz @ w2.T) * h * h_v
        return np.concatenate([(x.T @ da_v).ravel(), da_v.sum(axis=0), (h_v.T @ dz + h.T @ dz_v).ravel(),
                               dz_v.sum(axis=0)])

    return {"a": rosenbrock, "b": logistic, "c": perceptron}[kind]


def naive(kind, what):
    """A way to make the step: a row for each unit vector, or one product."""
    def made():
        w, x, y = point(kind)
        product = _product(kind, x, y)
        if what == "hvp":
            v = w[::-1].copy()
            return lambda: [product(w, v)]
        return lambda: [np.stack([product(w, row) for row in np.eye(len(w), dtype=np.float32)])]

    return made


def tuned_rosenbrock():
    """Its three diagonals."""
    w, _, _ = point("a")

    def step():
        found = np.zeros((len(w), len(w)), w.dtype)
        middle = np.zeros_like(w)
        middle[1:] = 200
        middle[:-1] += 1200 * w[:-1] ** 2 - 400 * w[1:] + 2
        flat = found.reshape(-1)
        flat[::len(w) + 1] = middle
        flat[1::len(w) + 1] = flat[len(w)::len(w) + 1] = -400 * w[:-1]
        return [found]

    return step


def tuned_logistic():
    """A product of a matrix with its own transpose: half the work."""
    w, x, y = point("b")
    room, found = np.empty_like(x), np.empty((500, 500), np.float32)

    def step():
        p = 1 / (1 + np.exp(-(x @ w)))
        np.multiply(x, np.sqrt(p * (1 - p) / len(y))[:, None], room)
        return [np.dot(room.T, room, found)]

    return step
