"""W3a: Black and Scholes' price of 1,000,000 options and its gradient, float64. W3b: 20 elementwise ops, float32."""
import math

import numpy as np

COUNT, RATE = 1000000, 0.03
A, B = 0.7, 0.25
_TILE = 32768
_ROOT = math.sqrt(0.5)
_DENSITY = math.sqrt(0.5 / math.pi)
_STEPS = 512  # of the table of erf in each unit
_NODES = np.arange(6 * _STEPS + 2) / _STEPS
_ERF = np.array([math.erf(v) for v in _NODES.tolist()])
_SLOPE = 2 / math.sqrt(math.pi) * np.exp(-_NODES * _NODES)


def options():
    """Prices, strikes, times, volatilities."""
    rng = np.random.RandomState(0)
    return [rng.uniform(low, high, COUNT) for low, high in ((50, 150), (50, 150), (0.1, 2), (0.1, 0.5))]


def graph_price(tf):
    """The sum of the prices and the gradient."""
    values = options()
    s, k, t, v = inputs = [tf.placeholder(tf.float64, [COUNT]) for _ in values]
    spread = v * tf.sqrt(t)
    d1 = (tf.log(s / k) + (RATE + 0.5 * v * v) * t) / spread
    n1, n2 = [0.5 * (1.0 + tf.erf(d * _ROOT)) for d in (d1, d1 - spread)]
    loss = tf.reduce_sum(s * n1 - k * tf.exp(-RATE * t) * n2)
    return [loss, *tf.gradients(loss, inputs)], dict(zip(inputs, values)), None


def erf(x):
    """By Taylor's series from the nearest entry of a table."""
    size = np.minimum(np.abs(x), 6.0)
    place = np.rint(size * _STEPS).astype(np.intp)
    x0 = _NODES[place]
    d = size - x0
    u, v = x0 * d, d * d
    series = 1 + u * (-1 + u * (2 / 3 + u * (-1 / 3 + u * 4 / 30))) + v * (-1 / 3 + u * (0.5 - 0.4 * u))
    return np.copysign(_ERF[place] + _SLOPE[place] * d * series, x)


def _priced(s, k, t, v):
    """The sum of the prices and the gradient by hand, for arrays of any length."""
    root = np.sqrt(t)
    spread = v * root
    drift = RATE + 0.5 * v * v
    d1 = (np.log(s / k) + drift * t) / spread
    d2 = d1 - spread
    n1, n2 = 0.5 * (1 + erf(d1 * _ROOT)), 0.5 * (1 + erf(d2 * _ROOT))
    discount = np.exp(-RATE * t)
    owed = k * discount
    by_d1, by_d2 = s * _DENSITY * np.exp(-0.5 * d1 * d1), -owed * _DENSITY * np.exp(-0.5 * d2 * d2)
    by_top = (by_d1 + by_d2) / spread
    by_spread = -by_d2 - by_top * d1
    return [(s * n1 - owed * n2).sum(), n1 + by_top / s, -discount * n2 - by_top / k,
            owed * n2 * RATE + by_top * drift + 0.5 * by_spread * v / root, by_spread * root + by_top * t * v]


def naive_price():
    """Whole arrays, fresh ones for each result."""
    values = options()
    return lambda: _priced(*values)


def tuned_price():
    """The same for 8,192 options at a time, which stay in the cache."""
    values = options()
    slopes = [np.empty(COUNT) for _ in values]

    def step():
        total = 0.0
        for low in range(0, COUNT, 8192):
            part = slice(low, low + 8192)
            price, *found = _priced(*[v[part] for v in values])
            total += price
            for slope, g in zip(slopes, found):
                slope[part] = g
        return [total, *slopes]

    return step


def graph_chain(tf):
    """The sum of the chain and its gradient."""
    value = np.random.RandomState(0).randn(COUNT).astype(np.float32)
    x = tf.placeholder(tf.float32, [COUNT])
    y = x
    for _ in range(4):
        y = tf.square(tf.tanh(y * A + x)) + B
    loss = tf.reduce_sum(y)
    return [loss, tf.gradients(loss, [x])[0]], {x: value}, None


def naive_chain():
    """Fresh arrays for each result."""
    x = np.random.RandomState(0).randn(COUNT).astype(np.float32)
    a, b = np.float32(A), np.float32(B)

    def step():
        y, tape = x, []
        for _ in range(4):
            tape.append(np.tanh(y * a + x))
            y = tape[-1] * tape[-1] + b
        dy, dx = np.ones_like(x), np.float32(0)
        for t in reversed(tape):
            dz = dy * (2 * t) * (1 - t * t)
            dx = dx + dz
            dy = dz * a
        return [y.sum(), dx + dy]

    return step


def tuned_chain():
    """Tile by tile, in place."""
    x_all = np.random.RandomState(0).randn(COUNT).astype(np.float32)
    dx_all = np.empty_like(x_all)
    a, b, one, two = [np.array(v, np.float32) for v in (A, B, 1, 2)]
    room = [np.empty(_TILE, np.float32) for _ in range(7)]
    mul, add = np.multiply, np.add

    def tile(x, dx):
        y, slope, dy, *tape = [r[:len(x)] for r in room]
        mul(x, a, y)
        for i, t in enumerate(tape):
            if i:
                mul(y, a, y)
            np.tanh(add(y, x, y), t)
            add(mul(t, t, y), b, y)
        dx.fill(0)
        dy.fill(1)
        for t in reversed(tape):
            np.subtract(one, mul(t, t, slope), slope)
            mul(mul(slope, t, slope), two, slope)
            add(dx, mul(dy, slope, dy), dx)
            mul(dy, a, dy)
        add(dx, dy, dx)
        return float(y.sum())

    def step():
        return [sum(tile(x_all[i:i + _TILE], dx_all[i:i + _TILE]) for i in range(0, COUNT, _TILE)), dx_all]

    return step
