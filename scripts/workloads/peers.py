"""The workloads as jax, torch and autograd write them: one model over what the three call by different names."""
import numpy as np

from . import convolution, elementwise, hessian, lstm, perceptron, scalars, transformer


class Autograd:
    """autograd: NumPy, traced each time."""

    def __init__(self):
        import autograd
        import autograd.numpy as anp
        from autograd.scipy.special import erf
        self.np, self.erf, self.array, self._autograd = anp, erf, np.asarray, autograd

    def differentiated(self, function, values):
        """A step that gives function(*values) and its gradient by each."""
        both = self._autograd.value_and_grad(lambda given: function(*given))
        values = tuple(values)

        def step():
            value, slopes = both(values)
            return [value, *slopes]

        return step

    def trained(self, loss, parameters, rate):
        """A step of descent that gives the loss."""
        both, held = self._autograd.value_and_grad(loss), [parameters]

        def step():
            value, slopes = both(held[0])
            held[0] = [p - np.float32(rate) * g for p, g in zip(held[0], slopes)]
            return [value]

        return step

    def second(self, loss, w, v, what):
        """A step that gives the gradient, the Hessian or its product with v."""
        if what == "hvp":
            return lambda: [self._autograd.make_hvp(loss)(w)[0](v)]
        of = {"gradient": self._autograd.grad, "hessian": self._autograd.hessian}[what](loss)
        return lambda: [of(w)]


class Jax:
    """jax: compiled by XLA."""

    def __init__(self):
        import jax
        jax.config.update("jax_enable_x64", True)
        self.np, self.erf, self.array, self._jax = jax.numpy, jax.scipy.special.erf, jax.numpy.asarray, jax

    def _step(self, function, *values):
        run = self._jax.jit(function)
        values = [self.array(v) for v in values]
        return lambda: self._jax.block_until_ready(run(*values))

    def differentiated(self, function, values):
        """A step that gives function(*values) and its gradient by each."""
        both = self._jax.value_and_grad(function, argnums=tuple(range(len(values))))

        def flat(*given):
            value, slopes = both(*given)
            return [value, *slopes]

        return self._step(flat, *values)

    def trained(self, loss, parameters, rate):
        """A step of descent that gives the loss."""
        def once(given):
            value, slopes = self._jax.value_and_grad(loss)(given)
            return value, [p - rate * g for p, g in zip(given, slopes)]

        run, held = self._jax.jit(once), [[self.array(p) for p in parameters]]

        def step():
            value, held[0] = run(held[0])
            return [self._jax.block_until_ready(held[0]) and value]

        return step

    def second(self, loss, w, v, what):
        """A step that gives the gradient, the Hessian or its product with v."""
        slope = self._jax.grad(loss)
        if what == "hvp":
            return self._step(lambda w, v: [self._jax.jvp(slope, (w,), (v,))[1]], w, v)
        of = slope if what == "gradient" else self._jax.hessian(loss)
        return self._step(lambda w: [of(w)], w)

    def convolved(self, x, w):
        """Of the same size, [n, h, w, c]."""
        return self._jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def pooled(self, x):
        """The greatest of each 2 by 2."""
        n, h, w, c = x.shape
        return x.reshape(n, h // 2, 2, w // 2, 2, c).max(axis=(2, 4))


class _TorchNumPy:
    """What the models below call, in torch's words."""

    def __init__(self, torch):
        self._torch = torch
        for name in ("exp", "log", "tanh", "sqrt", "sin", "cos", "abs"):
            setattr(self, name, getattr(torch, name))

    def maximum(self, x, least):
        return x.clamp(min=least)

    def sum(self, x, axis=None, keepdims=False):
        return x.sum() if axis is None else x.sum(axis, keepdim=keepdims)

    def mean(self, x, axis=None, keepdims=False):
        return x.mean() if axis is None else x.mean(axis, keepdim=keepdims)

    def max(self, x, axis, keepdims):
        return x.amax(axis, keepdim=keepdims)

    def concatenate(self, parts, axis):
        return self._torch.cat(parts, axis)

    def transpose(self, x, axes):
        return x.permute(*axes)

    def reshape(self, x, shape):
        return x.reshape(shape)

    def logaddexp(self, zero, x):
        return self._torch.nn.functional.softplus(x)


class Torch:
    """torch, eager."""

    def __init__(self):
        import os

        import torch
        torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
        self.np, self.erf, self._torch = _TorchNumPy(torch), torch.erf, torch

    def array(self, value):
        """A tensor of its own."""
        return self._torch.tensor(np.array(value))

    def _leaves(self, values):
        return [self.array(v).requires_grad_() for v in values]

    def differentiated(self, function, values):
        """A step that gives function(*values) and its gradient by each."""
        leaves = self._leaves(values)

        def step():
            value = function(*leaves)
            return [x.detach() for x in (value, *self._torch.autograd.grad(value, leaves))]

        return step

    def trained(self, loss, parameters, rate):
        """A step of descent that gives the loss."""
        leaves = self._leaves(parameters)

        def step():
            value = loss(leaves)
            slopes = self._torch.autograd.grad(value, leaves)
            with self._torch.no_grad():
                for leaf, slope in zip(leaves, slopes):
                    leaf -= rate * slope
            return [value.detach()]

        return step

    def second(self, loss, w, v, what):
        """A step that gives the gradient, the Hessian (vectorized) or its product with v."""
        grad = self._torch.autograd.grad
        at, = self._leaves([w])
        along = self.array(v)

        def product():
            slope, = grad(loss(at), at, create_graph=True)
            return [grad(slope, at, along)[0]]

        if what == "gradient":
            return lambda: [grad(loss(at), at)[0]]
        if what == "hvp":
            return product
        return lambda: [self._torch.autograd.functional.hessian(loss, at.detach(), vectorize=True)]

    def convolved(self, x, w):
        """Of the same size, [n, h, w, c]."""
        found = self._torch.nn.functional.conv2d(x.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1), padding=w.shape[0] // 2)
        return found.permute(0, 2, 3, 1)

    def pooled(self, x):
        """The greatest of each 2 by 2."""
        return self._torch.nn.functional.max_pool2d(x.permute(0, 3, 1, 2), 2).permute(0, 2, 3, 1)


PEERS = {"jax": Jax, "torch": Torch, "autograd": Autograd}


# ---- the models: each takes a peer, and gives a step -----------------------------------------

def _cross_entropy(p, y, z):
    m = z - p.np.max(z, axis=1, keepdims=True)
    log_p = m - p.np.log(p.np.sum(p.np.exp(m), axis=1, keepdims=True))
    return -p.np.mean(p.np.sum(y * log_p, axis=1))


def _scalars(p):
    a, b = p.array(np.float32(scalars.A)), p.array(np.float32(scalars.B))

    def chain(x):
        y = x
        for i in range(scalars.COUNT):
            y = y + b if i % 3 == 0 else y * a if i % 3 == 1 else p.np.sin(y)
        return y

    return p.differentiated(chain, [np.float32(scalars.X)])


def _perceptron(p):
    x, y, parameters = perceptron.data()
    x, y = p.array(x), p.array(y)

    def loss(given):
        w1, b1, w2, b2, w3, b3 = given
        h = p.np.maximum(p.np.maximum(x @ w1 + b1, 0) @ w2 + b2, 0)
        return _cross_entropy(p, y, h @ w3 + b3)

    return p.trained(loss, parameters, perceptron.RATE)


def _price(p):
    rate, root = elementwise.RATE, elementwise._ROOT

    def loss(s, k, t, v):
        spread = v * p.np.sqrt(t)
        d1 = (p.np.log(s / k) + (rate + 0.5 * v * v) * t) / spread
        n1, n2 = [0.5 * (1.0 + p.erf(d * root)) for d in (d1, d1 - spread)]
        return p.np.sum(s * n1 - k * p.np.exp(-rate * t) * n2)

    return p.differentiated(loss, elementwise.options())


def _chain(p):
    def loss(x):
        y = x
        for _ in range(4):
            u = p.np.tanh(y * elementwise.A + x)
            y = u * u + elementwise.B
        return p.np.sum(y)

    return p.differentiated(loss, [np.random.RandomState(0).randn(elementwise.COUNT).astype(np.float32)])


def _convolution(p):
    if not hasattr(p, "convolved"):
        return None
    x, y, parameters = convolution.data()
    x, y = p.array(x), p.array(y)

    def loss(given):
        w1, b1, w2, b2, w3, b3, w4, b4 = given
        h = x
        for w, b in ((w1, b1), (w2, b2)):
            h = p.pooled(p.np.maximum(p.convolved(h, w) + b, 0))
        h = p.np.maximum(p.np.reshape(h, (convolution.BATCH, -1)) @ w3 + b3, 0)
        return _cross_entropy(p, y, h @ w4 + b4)

    return p.trained(loss, parameters, convolution.RATE)


def _lstm(p):
    x, y, parameters = lstm.data()
    x, y, n = [p.array(x_t) for x_t in x], p.array(y), lstm.UNITS
    zeros = p.array(np.zeros((lstm.BATCH, n), np.float32))

    def sigmoid(v):
        return 1 / (1 + p.np.exp(-v))

    def loss(given):
        w, b, out, out_b = given
        h = c = zeros
        for x_t in x:
            z = p.np.concatenate([x_t, h], 1) @ w + b
            i, j, f, o = [z[:, k * n:(k + 1) * n] for k in range(4)]
            c = sigmoid(f) * c + sigmoid(i) * p.np.tanh(j)
            h = sigmoid(o) * p.np.tanh(c)
        return _cross_entropy(p, y, h @ out + out_b)

    return p.trained(loss, parameters, lstm.RATE)


def _transformer(p):
    t = transformer
    x, y, parameters = t.data()
    x, y = [p.array(v.reshape(t.ROWS, t.WIDTH)) for v in (x, y)]

    def normed(h, g, c):
        d = h - p.np.mean(h, axis=1, keepdims=True)
        return d / p.np.sqrt(p.np.mean(d * d, axis=1, keepdims=True) + t.EPSILON) * g + c

    def loss(given):
        g1, c1, w_qkv, b_qkv, w_o, b_o, g2, c2, w_a, b_a, w_b, b_b = given
        qkv = p.np.reshape(normed(x, g1, c1) @ w_qkv + b_qkv, (t.BATCH, t.LENGTH, 3, t.HEADS, t.HEAD))
        q, k, v = p.np.transpose(qkv, (2, 0, 3, 1, 4))
        scores = q @ p.np.transpose(k, (0, 1, 3, 2)) * t.HEAD ** -0.5
        e = p.np.exp(scores - p.np.max(scores, axis=-1, keepdims=True))
        o = p.np.transpose(e / p.np.sum(e, axis=-1, keepdims=True) @ v, (0, 2, 1, 3))
        h = x + p.np.reshape(o, (t.ROWS, t.WIDTH)) @ w_o + b_o
        m = normed(h, g2, c2) @ w_a + b_a
        gelu = 0.5 * m * (1.0 + p.np.tanh(t.G1 * (m + t.G2 * m * m * m)))
        error = h + gelu @ w_b + b_b - y
        return p.np.mean(error * error)

    return p.trained(loss, parameters, t.RATE)


def _second(kind, what):
    def of(p):
        w, x, y = hessian.point(kind)
        v = w[::-1].copy()
        x, y = [None if a is None else p.array(a) for a in (x, y)]

        def loss(w):
            if kind == "a":
                t = w[1:] - w[:-1] ** 2
                return p.np.sum(100.0 * t * t + (1.0 - w[:-1]) ** 2)
            if kind == "b":
                z = x @ w
                return p.np.mean(p.np.logaddexp(0.0, z) - y * z)
            w1, b1, w2, b2 = hessian.parts(w, p.np.reshape)
            return _cross_entropy(p, y, p.np.tanh(x @ w1 + b1) @ w2 + b2)

        return p.second(loss, w, v, what)

    return of


MODELS = {"W1": _scalars, "W2": _perceptron, "W3a": _price, "W3b": _chain, "W4": _convolution, "W5": _lstm,
          "W6": _transformer, **{f"W7{kind}{name}": _second(kind, what) for kind in "abc"
             for name, what in (("", "hessian"), ("-hvp", "hvp"), ("-gradient", "gradient"))}}


def step_of(workload, peer):
    """What is timed; None if the peer has nothing for the workload."""
    model = MODELS.get(workload)
    return None if model is None else model(PEERS[peer]())
