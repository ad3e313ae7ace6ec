"""W2: one training step of an MLP 784-256-128-10 on 128 examples. W9 fetches all it computes as well."""
import numpy as np

SIZES, BATCH, RATE = (784, 256, 128, 10), 128, 0.05
_PLUMBING = ("Placeholder", "Const", "Variable", "VariableV2", "VarHandleOp", "ReadVariableOp", "Assign", "Identity",
             "ApplyGradientDescent", "ResourceApplyGradientDescent", "Fill")


def data():
    """Inputs, one-hot labels, weights and biases in turn."""
    rng = np.random.RandomState(0)
    x = rng.rand(BATCH, SIZES[0]).astype(np.float32)
    labels = np.eye(10, dtype=np.float32)[rng.randint(0, 10, BATCH)]
    parameters = []
    for i, o in zip(SIZES[:-1], SIZES[1:]):
        parameters += [(rng.randn(i, o) * np.sqrt(2 / i)).astype(np.float32), np.zeros(o, np.float32)]
    return x, labels, parameters


def cross_entropy(tf, labels, logits):
    """The mean cross entropy."""
    return tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits))


def graph(tf):
    """The loss, after one step of descent."""
    x_value, y_value, parameters = data()
    x, y = tf.placeholder(tf.float32, x_value.shape), tf.placeholder(tf.float32, y_value.shape)
    variables = [tf.Variable(p) for p in parameters]
    h = x
    for i in range(0, len(variables), 2):
        z = tf.matmul(h, variables[i]) + variables[i + 1]
        h = tf.nn.relu(z) if i + 2 < len(variables) else z
    loss = cross_entropy(tf, y, h)
    train = tf.train.GradientDescentOptimizer(RATE).minimize(loss)
    return [loss, train], {x: x_value, y: y_value}, tf.global_variables_initializer()


def graph_watched(tf):
    """The same, and every float tensor that it needs on the way."""
    (loss, train), feeds, setup = graph(tf)
    live, waiting = {}, [train, loss.op]
    while waiting:
        op = waiting.pop()
        if op.name not in live:
            live[op.name] = op
            waiting += [t.op for t in op.inputs] + (list(op.control_inputs) if op is train else [])
    tensors = [t for op in live.values() if op.type not in _PLUMBING for t in op.outputs if t.dtype == tf.float32]
    return [loss, train, *tensors], feeds, setup


def softmax_gradient(z, y):
    """The mean cross entropy and its derivative by the logits."""
    m = z - z.max(axis=1, keepdims=True)
    log_p = m - np.log(np.exp(m).sum(axis=1, keepdims=True))
    return -(y * log_p).sum(axis=1).mean(), (np.exp(log_p) - y) / len(y)


def naive():
    """As one writes it down."""
    x, y, parameters = data()

    def step():
        w1, b1, w2, b2, w3, b3 = parameters
        z1 = x @ w1 + b1
        h1 = np.maximum(z1, 0)
        z2 = h1 @ w2 + b2
        h2 = np.maximum(z2, 0)
        loss, d3 = softmax_gradient(h2 @ w3 + b3, y)
        d2 = (d3 @ w3.T) * (z2 > 0)
        d1 = (d2 @ w2.T) * (z1 > 0)
        slopes = x.T @ d1, d1.sum(axis=0), h1.T @ d2, d2.sum(axis=0), h2.T @ d3, d3.sum(axis=0)
        for p, g in zip(parameters, slopes):
            p -= RATE * g
        return [loss]

    return step


def tuned():
    """Every product into an array of its own, the rest in place."""
    x, y, (w1, b1, w2, b2, w3, b3) = data()
    z1, z2, z3, d1, d2 = [np.empty((BATCH, n), np.float32) for n in (256, 128, 10, 256, 128)]
    m1, m2 = np.empty(z1.shape, bool), np.empty(z2.shape, bool)
    g1, g2, g3 = np.empty_like(w1), np.empty_like(w2), np.empty_like(w3)
    ones, zero, rate = np.ones(BATCH, np.float32), np.zeros((), np.float32), np.array(RATE / BATCH, np.float32)
    dot, add, sub, mul = np.dot, np.add, np.subtract, np.multiply

    def step():
        for a, w, b, z in ((x, w1, b1, z1), (z1, w2, b2, z2)):
            add(dot(a, w, z), b, z)
            np.maximum(z, zero, out=z)
        add(dot(z2, w3, z3), b3, z3)
        sub(z3, z3.max(axis=1, keepdims=True), z3)
        picked = dot(y.ravel(), z3.ravel())
        total = np.exp(z3, z3).sum(axis=1, keepdims=True)
        loss = (np.log(total).sum() - picked) / BATCH
        mul(sub(np.divide(z3, total, z3), y, z3), rate, z3)  # the rate goes in with the first factor
        dot(z2.T, z3, g3)
        mul(dot(z3, w3.T, d2), np.greater(z2, zero, m2), d2)
        dot(z1.T, d2, g2)
        mul(dot(d2, w2.T, d1), np.greater(z1, zero, m1), d1)
        dot(x.T, d1, g1)
        for w, g, b, d in ((w1, g1, b1, d1), (w2, g2, b2, d2), (w3, g3, b3, z3)):
            sub(w, g, w)
            sub(b, dot(ones, d), b)
        return [loss]

    return step
