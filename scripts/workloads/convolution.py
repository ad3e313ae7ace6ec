"""W4: one training step of a LeNet (two 5x5 convolutions, two dense layers) on 64 images of 28x28."""
import numpy as np

from .perceptron import cross_entropy, softmax_gradient

BATCH, RATE = 64, 0.02
SHAPES = ((5, 5, 1, 32), (5, 5, 32, 64), (3136, 1024), (1024, 10))


def data():
    """Images, one-hot labels, weights and biases in turn."""
    rng = np.random.RandomState(0)
    x = rng.rand(BATCH, 28, 28, 1).astype(np.float32)
    labels = np.eye(10, dtype=np.float32)[rng.randint(0, 10, BATCH)]
    parameters = []
    for shape in SHAPES:
        parameters += [(rng.randn(*shape) * np.sqrt(2 / np.prod(shape[:-1]))).astype(np.float32),
                       np.zeros(shape[-1], np.float32)]
    return x, labels, parameters


def graph(tf):
    """The loss, after one step of descent."""
    x_value, y_value, parameters = data()
    x, y = tf.placeholder(tf.float32, x_value.shape), tf.placeholder(tf.float32, y_value.shape)
    v = [tf.Variable(p) for p in parameters]
    h = x
    for i in (0, 2):
        h = tf.nn.relu(tf.nn.conv2d(h, v[i], strides=[1, 1, 1, 1], padding="SAME") + v[i + 1])
        h = tf.nn.max_pool(h, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
    h = tf.nn.relu(tf.matmul(tf.reshape(h, [BATCH, 3136]), v[4]) + v[5])
    loss = cross_entropy(tf, y, tf.matmul(h, v[6]) + v[7])
    train = tf.train.GradientDescentOptimizer(RATE).minimize(loss)
    return [loss, train], {x: x_value, y: y_value}, tf.global_variables_initializer()


def _convolved(x, w):
    """The convolution of odd size, and the windows it is a product with."""
    pad = w.shape[0] // 2
    padded = np.pad(x, ((0, 0), (pad, pad), (pad, pad), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, w.shape[:2], axis=(1, 2))
    return np.tensordot(windows, w, axes=([4, 5, 3], [0, 1, 2])), windows


def _pooled(x):
    n, h, w, c = x.shape
    return x.reshape(n, h // 2, 2, w // 2, 2, c).max(axis=(2, 4))


def _unpooled(d, x, pooled):
    n, h, w, c = x.shape
    is_greatest = x.reshape(n, h // 2, 2, w // 2, 2, c) == pooled[:, :, None, :, None, :]
    return (is_greatest * d[:, :, None, :, None, :]).reshape(x.shape)


def naive():
    """Convolutions as tensordot over sliding windows."""
    x, y, parameters = data()

    def step():
        w1, b1, w2, b2, w3, b3, w4, b4 = parameters
        a1, windows1 = _convolved(x, w1)
        a1 = np.maximum(a1 + b1, 0)
        p1 = _pooled(a1)
        a2, windows2 = _convolved(p1, w2)
        a2 = np.maximum(a2 + b2, 0)
        p2 = _pooled(a2)
        flat = p2.reshape(BATCH, -1)
        a3 = np.maximum(flat @ w3 + b3, 0)
        loss, d4 = softmax_gradient(a3 @ w4 + b4, y)
        d3 = (d4 @ w4.T) * (a3 > 0)
        d2 = _unpooled((d3 @ w3.T).reshape(p2.shape), a2, p2) * (a2 > 0)
        d1 = _unpooled(_convolved(d2, w2[::-1, ::-1].transpose(0, 1, 3, 2))[0], a1, p1) * (a1 > 0)
        slopes = []
        for windows, d in ((windows1, d1), (windows2, d2)):
            by_w = np.tensordot(windows, d, axes=([0, 1, 2], [0, 1, 2]))
            slopes += [by_w.transpose(1, 2, 0, 3), d.sum(axis=(0, 1, 2))]
        for p, g in zip(parameters, [*slopes, flat.T @ d3, d3.sum(axis=0), a3.T @ d4, d4.sum(axis=0)]):
            p -= RATE * g
        return [loss]

    return step
