"""W5: one training step of an LSTM of 128 units over 50 steps, on 32 sequences."""
import numpy as np

from .perceptron import cross_entropy, softmax_gradient

STEPS, BATCH, UNITS, CLASSES, RATE = 50, 32, 128, 10, 0.1


def data():
    """Sequences [step, example, unit], one-hot labels, parameters."""
    rng = np.random.RandomState(0)
    x = rng.randn(STEPS, BATCH, UNITS).astype(np.float32)
    labels = np.eye(CLASSES, dtype=np.float32)[rng.randint(0, CLASSES, BATCH)]
    w, out = [(rng.randn(*s) / np.sqrt(s[0])).astype(np.float32) for s in ((2 * UNITS, 4 * UNITS), (UNITS, CLASSES))]
    return x, labels, [w, np.zeros(4 * UNITS, np.float32), out, np.zeros(CLASSES, np.float32)]


def graph(tf):
    """The loss, after one step of descent."""
    x_value, y_value, parameters = data()
    x, y = tf.placeholder(tf.float32, x_value.shape), tf.placeholder(tf.float32, y_value.shape)
    w, b, out, out_b = [tf.Variable(p) for p in parameters]
    h = c = tf.zeros([BATCH, UNITS])
    for x_t in tf.unstack(x):
        i, j, f, o = tf.split(tf.matmul(tf.concat([x_t, h], 1), w) + b, 4, 1)
        c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(j)
        h = tf.sigmoid(o) * tf.tanh(c)
    loss = cross_entropy(tf, y, tf.matmul(h, out) + out_b)
    train = tf.train.GradientDescentOptimizer(RATE).minimize(loss)
    return [loss, train], {x: x_value, y: y_value}, tf.global_variables_initializer()


def _sigmoid(v):
    return 1 / (1 + np.exp(-v))


def naive():
    """Step by step, as the graph says."""
    x, y, parameters = data()

    def step():
        w, b, out, out_b = parameters
        h = c = np.zeros((BATCH, UNITS), np.float32)
        tape = []
        for x_t in x:
            both = np.concatenate([x_t, h], axis=1)
            i, j, f, o = np.split(both @ w + b, 4, axis=1)
            i, j, f, o = _sigmoid(i), np.tanh(j), _sigmoid(f), _sigmoid(o)
            before, c = c, f * c + i * j
            tanh_c = np.tanh(c)
            h = o * tanh_c
            tape.append((both, i, j, f, o, before, tanh_c))
        loss, d = softmax_gradient(h @ out + out_b, y)
        dh, dc, dw, db = d @ out.T, np.zeros_like(h), np.zeros_like(w), np.zeros_like(b)
        for both, i, j, f, o, before, tanh_c in reversed(tape):
            dc = dc + dh * o * (1 - tanh_c * tanh_c)
            dz = np.concatenate([dc * j * i * (1 - i), dc * i * (1 - j * j), dc * before * f * (1 - f),
                                 dh * tanh_c * o * (1 - o)], axis=1)
            dw += both.T @ dz
            db += dz.sum(axis=0)
            dh, dc = (dz @ w.T)[:, UNITS:], dc * f
        for p, g in zip(parameters, (dw, db, h.T @ d, d.sum(axis=0))):
            p -= RATE * g
        return [loss]

    return step


class _Tuned:
    """Input products and weight gradients for all steps at once; gates in the order i f o j."""

    def __init__(self):
        self.x, self.y, (w, b, self.out, self.out_b) = data()
        order = np.r_[0:UNITS, 2 * UNITS:4 * UNITS, UNITS:2 * UNITS]
        self.w, self.b = w[:, order].copy(), b[order].copy()
        self.half = np.where(np.arange(4 * UNITS) < 3 * UNITS, 0.5, 1).astype(np.float32)
        self.z, self.dz, self.slope = [np.empty((STEPS, BATCH, 4 * UNITS), np.float32) for _ in range(3)]
        self.h, self.c = [np.zeros((STEPS + 1, BATCH, UNITS), np.float32) for _ in range(2)]
        self.tanh_c = np.empty((STEPS, BATCH, UNITS), np.float32)
        self.parts = [slice(i * UNITS, (i + 1) * UNITS) for i in range(4)]

    def forward(self):
        """All gates by one tanh: sigmoid(v) is (1 + tanh(v / 2)) / 2."""
        w, room = self.w * self.half, np.empty((BATCH, 4 * UNITS), np.float32)
        np.dot(self.x.reshape(-1, UNITS), w[:UNITS], self.z.reshape(-1, 4 * UNITS))
        np.add(self.z, self.b * self.half, self.z)
        half = np.float32(0.5)
        for t, z in enumerate(self.z):
            np.tanh(np.add(z, np.dot(self.h[t], w[UNITS:], room), z), z)
            gates = z[:, :3 * UNITS]
            np.add(np.multiply(gates, half, gates), half, gates)
            i, f, o, j = [z[:, p] for p in self.parts]
            np.multiply(f, self.c[t], self.c[t + 1])
            np.add(self.c[t + 1], np.multiply(i, j, self.tanh_c[t]), self.c[t + 1])
            np.multiply(o, np.tanh(self.c[t + 1], self.tanh_c[t]), self.h[t + 1])

    def backward(self, dh):
        """Fill dz; gives nothing."""
        gates, s, mul = self.z, self.slope, np.multiply
        np.subtract(gates, mul(gates, gates, s), s)
        np.subtract(1, mul(gates[..., self.parts[3]], gates[..., self.parts[3]]), s[..., self.parts[3]])
        through_c = 1 - self.tanh_c * self.tanh_c
        back = np.ascontiguousarray(self.w[UNITS:].T)
        dc, room = np.zeros_like(dh), np.empty_like(dh)
        for t in reversed(range(STEPS)):
            i, f, o, j = [self.z[t][:, p] for p in self.parts]
            di, df, do, dj = [self.dz[t][:, p] for p in self.parts]
            mul(dh, self.tanh_c[t], do)
            np.add(dc, mul(mul(dh, o, room), through_c[t], room), dc)
            mul(dc, j, di)
            mul(dc, self.c[t], df)
            mul(dc, i, dj)
            mul(self.dz[t], s[t], self.dz[t])
            np.dot(self.dz[t], back, dh)
            mul(dc, f, dc)

    def step(self):
        """One step of descent; gives the loss."""
        self.forward()
        h = self.h[STEPS]
        loss, d = softmax_gradient(np.dot(h, self.out) + self.out_b, self.y)
        by_out = np.dot(h.T, d)
        self.backward(np.dot(d, self.out.T))
        dz, rate = self.dz.reshape(-1, 4 * UNITS), np.float32(RATE)
        self.w[:UNITS] -= np.dot(self.x.reshape(-1, UNITS).T, dz) * rate
        self.w[UNITS:] -= np.dot(self.h[:STEPS].reshape(-1, UNITS).T, dz) * rate
        self.b -= np.dot(np.ones(len(dz), np.float32), dz) * rate
        self.out -= by_out * rate
        self.out_b -= d.sum(axis=0) * rate
        return [loss]


def tuned():
    """Large products in place of many small ones."""
    return _Tuned().step
