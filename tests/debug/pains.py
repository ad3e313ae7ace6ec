"""Forty gradient bugs that people reported, each as a small script, and what its explanation must name.

A script's line that is to blame ends in `# here`. Numbers are those of the collection the cases come from.
"""

from dataclasses import dataclass, field

START = "import numpy as np\nimport tensorflow.compat.v1 as tf\n"
TRAIN = """
loss = tf.identity(loss, name="loss")
step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(3):
        session.run([step, loss])
"""
RUN = """
loss = tf.identity(loss, name="loss")
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(3):
        session.run(loss)
"""


@dataclass(frozen=True)
class Pain:
    """One bug. script: after START. asks: at most two commands, typed when `moves` are done. says: what the answers
    must contain, in any order; the marked line is required too unless the script marks none. name: for reports."""

    number: int
    script: str
    asks: tuple[str, ...]
    says: tuple[str, ...]
    moves: tuple[str, ...] = ("run",)
    not_said: tuple[str, ...] = field(default=())
    name: str = ""

    @property
    def text(self) -> str:
        return START + self.script

    @property
    def line(self) -> int:
        """The marked line's number, 0 for none."""
        return next((n for n, text in enumerate(self.text.splitlines(), 1) if text.endswith("# here")), 0)


PAINS = [
    # ---- None ---------------------------------------------------------------------------
    Pain(1, """
w = tf.Variable([1.2, 2.7], name="w")
y = tf.round(w)  # here
loss = tf.reduce_sum(y * y)
""" + RUN, ("why w",), ("Round", "leave it out of the loss, or keep the forward value")),
    Pain(2, """
x = tf.constant(np.ones((4, 3)), tf.float32)
with tf.variable_scope("encoder", use_resource=False):
    kernel = tf.get_variable("kernel", [3, 5])
codes = tf.argmax(tf.matmul(x, kernel), axis=1)  # here
loss = tf.reduce_mean(tf.cast(codes, tf.float32))
""" + RUN, ("why encoder/kernel:0",), ("ArgMax", "remedy: train the scores")),
    Pain(3, """
a = tf.Variable([0.5], name="a")
b = tf.Variable([1.5], name="b")
c = tf.Variable([2.5], name="c")
loss = tf.reduce_sum(a * 2.0) + tf.reduce_sum(tf.floor(b))  # here
""" + TRAIN, ("doctor",), ("b:0", "Floor", "c:0", "nothing uses it")),
    Pain(4, """
x = tf.Variable([1.0, 3.0, 2.0], name="x")
best = tf.cast(tf.argmax(x, 0), tf.float32)  # here
loss = tf.reduce_sum(x * x) + best
""" + RUN, ("path loss x",), ("Square|Mul", "ArgMax", "cut")),
    Pain(5, """
x = tf.Variable([1.0, 3.0, 2.0], name="x")
y = tf.cast(tf.argmax(tf.stop_gradient(x), 0), tf.float32)  # here
loss = y * 2.0
""" + RUN, ("why x",), ("ArgMax", "first", "StopGradient", "behind")),
    Pain(6, """
w = tf.Variable([1.2, 2.7], name="w")
y = tf.floor(w)  # here
loss = tf.reduce_sum(y)
""" + RUN, ("info op Floor",), ("Floor", "none (None to tf.gradients)", "zero")),
    Pain(7, """
leaf = tf.Variable([1.0, 2.0], name="leaf")
a = leaf * 0.1
loss = tf.reduce_sum(a * a)
""" + RUN, ("grad a",), ("∂ loss:0 / ∂ mul:0", "0.2", "0.4")),
    Pain(8, """
w = tf.Variable([1.0, 2.0], name="w")
y = tf.exp(w, name="y")
loss = tf.reduce_sum(y * 3.0)
""" + RUN, ("grad y",), ("∂ loss:0 / ∂ y:0", "3.00")),
    Pain(9, """
def library(h):
    return tf.stop_gradient(h) + 1.0  # here

w = tf.Variable([1.0, 2.0], name="w")
loss = tf.reduce_sum(library(w * 2.0))
""" + RUN, ("why w",), ("StopGradient", "library", "remedy: remove the tf.stop_gradient")),
    Pain(10, """
a = tf.Variable([1.0], name="a")
b = tf.Variable([1.0], name="b")  # here
loss = tf.reduce_sum(a * a)
""" + TRAIN, ("info vars --unused",), ("b:0", "nothing uses it"), not_said=("a:0",)),
    Pain(11, """
x = tf.Variable([0.5, 1.5], name="x")
loss = tf.reduce_sum(tf.py_function(lambda v: v * v * v, [x], tf.float32))  # here
""" + RUN, ("check --order 2",), ("PyFunc", "second derivative"), moves=()),
    # ---- nan and inf --------------------------------------------------------------------
    Pain(12, """
w = tf.Variable([4.0, 1.0, 0.0], name="w")
logs = tf.log(w)  # here
loss = tf.reduce_sum(tf.where(w > 0.0, logs, tf.zeros_like(w)))
""" + TRAIN, ("why nan",), ("0 / 0 = nan", "d log", "[2]", "guard the input", "safe = tf.where")),
    Pain(13, """
w = tf.Variable([4.0, 1.0, 0.0], name="w")
inverse = 1.0 / w  # here
loss = tf.reduce_sum(tf.where(w > 0.0, inverse, tf.zeros_like(w)))
loss = tf.identity(loss, name="loss")
""", ("doctor --static",), ("RealDiv", "where", "guard the input"), moves=()),
    Pain(14, """
x = tf.Variable(np.array([[3.0, 4.0], [1.0, 0.0], [2.0, 2.0], [0.0, 0.0]], np.float32), name="x")
norms = tf.norm(x, axis=1)  # here
loss = tf.reduce_sum(norms)
""" + TRAIN, ("why nan",), ("d sqrt", "[3", "inf * 0|0 * inf", "1e-12")),
    Pain(15, """
x = tf.Variable([0.0, 0.0], name="x")
squared = tf.square(tf.pow(tf.reduce_sum(x * x), 0.5))  # here
loss = squared
""" + TRAIN, ("why nan",), ("d pow", "remedy")),
    Pain(16, """
x = tf.Variable([1e-30, 0.0], name="x")
norm = tf.sqrt(tf.reduce_sum(x * x))  # here
loss = norm
""" + TRAIN, ("why inf",), ("underflow", "Mul(1e-30) = 0 in float32")),
    Pain(17, """
base = tf.Variable([0.0, 2.0], name="base")
exponent = tf.Variable([0.5, 2.0], name="exponent")
y = tf.pow(base, exponent)  # here
loss = tf.reduce_sum(y)
""" + TRAIN, ("why nan",), ("d pow", "[0]", "tf.pow(tf.maximum(x, 1e-12), p)")),
    Pain(18, """
x = tf.Variable([0.0, 2.0], name="x")
y = tf.pow(x, 1.5)  # here
loss = tf.reduce_sum(y)
""" + TRAIN, ("why nan --order 2",), ("d pow", "[0]")),
    Pain(19, """
logits = tf.Variable([[200.0, 0.0]], name="logits")
p = tf.nn.softmax(logits)
loss = -tf.reduce_sum([[0.0, 1.0]] * tf.log(p))  # here
""" + TRAIN, ("why nan",), ("log(0) = -inf", "log_softmax", "underflow"), ("watch /.*/ if nonfinite", "run"),
         not_said=("a square underflowed",)),
    Pain(20, """
m = tf.Variable(np.diag([3.0, 2.0, 2.0]).astype(np.float32), name="m")
s, u, v = tf.svd(m)  # here
loss = tf.reduce_sum(u * u * [[1.0], [2.0], [3.0]]) + tf.reduce_sum(s)
""" + TRAIN, ("why nan",), ("Svd|svd", "equal singular values"), ("next 1",)),
    Pain(21, """
w = tf.Variable([0.0, 1.0], name="w")
h = w
for _ in range(5):
    h = h * 1.1
h = tf.sqrt(h)  # here
for _ in range(5):
    h = h + 0.5
loss = tf.reduce_sum(h * h)
""" + TRAIN, ("why nan",), ("d sqrt", "[0]", "only pass it on")),
    Pain(22, """
x = tf.Variable(np.linspace(-1, 1, 12).reshape(3, 4).astype(np.float32), name="x")
h = tf.tanh(x)
h = tf.log(h + 0.5)  # here
h = tf.matmul(h, tf.ones([4, 2]))
loss = tf.reduce_mean(tf.square(h))
""" + TRAIN, ("why nan",), ("log(-", "= nan", "only pass it on")),
    Pain(23, """
x = tf.Variable([1.0, 0.0], name="x")
inverse = 1.0 / x  # here
safe = tf.where([True, False], inverse, tf.stop_gradient(tf.ones_like(x)))
loss = tf.reduce_sum(tf.stop_gradient(safe)) + tf.reduce_sum(x * x)
""" + TRAIN, ("info nans --masked", "info nans --harmful"), ("RealDiv|truediv", "no harmful")),
    Pain(24, """
x = tf.Variable([1.0, 2.0], name="x")
mask = tf.constant([0.0, -np.inf], tf.float32, name="mask")  # here
weights = tf.nn.softmax(x + mask)
loss = tf.reduce_sum(weights * x)
""" + TRAIN, ("info nans --masked",), ("mask",), ("break if harmful", "run")),
    Pain(25, """
a = tf.Variable([1.0, 0.0, 2.0], name="a")
b = tf.Variable([1.0, 0.0, 1.0], name="b")
ratio = tf.divide(a, b, name="ratio")  # here
loss = tf.reduce_sum(ratio)
""" + TRAIN, ("info op nan", "why nan"), ("ratio", "input", "a", "b", "[3]", "0 / 0 = nan", "[1]")),
    Pain(26, """
def layer(x):
    return tf.sqrt(x)  # here

x = tf.Variable([0.0, 1.0], name="x")
loss = tf.reduce_sum(layer(x))
""" + TRAIN, ("why nan --order 2",), ("layer", "d sqrt")),
    Pain(27, """
x = tf.Variable([1.0, 2.0], name="x")
loss = tf.reduce_sum(x * x)
""" + TRAIN, ("info watches",), ("watch", "norm > 10")
         , ("watch x if norm > 10", "run")),
    Pain(28, """
a = tf.Variable([0.0, 4.0], name="a")
b = tf.Variable([1.0, 1.0], name="b")
loss = tf.reduce_sum(tf.sqrt(a)) + tf.reduce_sum(b * b)  # here
loss = tf.identity(loss, name="loss")
optimizer = tf.train.GradientDescentOptimizer(0.1)
pairs = optimizer.compute_gradients(loss)
clipped, norm = tf.clip_by_global_norm([g for g, _ in pairs], 1.0)
step = optimizer.apply_gradients([(g, v) for g, (_, v) in zip(clipped, pairs)])
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(3):
        session.run([step, loss])
""", ("grads --stages", "why nan"), ("raw", "clipped", "applied", "a:0", "b:0", "inf", "nan", "d sqrt"), ("next 2",)),
    # ---- magnitude ----------------------------------------------------------------------
    Pain(29, """
x = tf.constant(np.ones((2, 3)), tf.float32)
h = x
for name, scale in (("one", 1.0), ("two", 100.0), ("three", 1.0)):
    with tf.variable_scope(name, use_resource=False):
        w = tf.get_variable("w", initializer=scale * tf.ones([3, 3]))
        b = tf.get_variable("b", initializer=tf.zeros([3]))
    h = tf.matmul(h, w) + b
loss = tf.reduce_mean(h)
""" + TRAIN, ("grads --by scope",), ("one (2)", "two (2)", "three (2)", "norm"), ("next 2",)),
    Pain(30, """
h = tf.Variable(np.full((1, 4), 1e-6, np.float32), name="x")
x = h
for i in range(12):
    with tf.name_scope("cell_%d" % i):
        scale = 2000.0 if i == 9 else 1.0
        h = tf.tanh(h * 0.01)
        h = h * 100.0 * scale  # here
loss = tf.reduce_sum(h)
""" + RUN, ("path loss x",), ("cell_9", "2e+03|2000", "largest gain at cell_9")),
    Pain(31, """
x = tf.constant(np.ones((8, 4)), tf.float32)
w = tf.Variable(-np.ones((4, 6), np.float32), name="w")
hidden = tf.nn.relu(tf.matmul(x, w))  # here
v = tf.Variable(np.ones((6, 1), np.float32), name="v")
loss = tf.reduce_mean(tf.square(tf.matmul(hidden, v) - 1.0))
""" + TRAIN, ("doctor", "grads"), ("Relu", "100% of its inputs are <= 0", "leaky_relu", "w:0", "100")),
    Pain(32, """
x = tf.constant(np.linspace(0, 1, 6).reshape(2, 3), tf.float32)
w = tf.Variable(np.ones((3, 2), np.float32), name="w")
hidden = tf.sigmoid(tf.matmul(x, w), name="hidden")
scaled = tf.multiply(hidden, 0.1, name="scaled")  # here
loss = tf.reduce_sum(scaled)
""" + RUN, ("diff reference.npz",), ("scaled:0", "first", "Mul")),
    # ---- meaning ------------------------------------------------------------------------
    Pain(33, """
x = tf.constant(np.arange(30.0).reshape(10, 3), tf.float32)
w = tf.Variable([1.0, 2.0, 3.0], name="w")
rows = tf.reduce_sum(x * w, axis=1, name="rows")
loss = tf.reduce_mean(rows)
""" + RUN, ("grad rows w", "grad rows w --per-example"),
         ("∂ sum(rows:0[10]) / ∂ w:0", "135", "float32[10,3]|(10, 3)|[10,3]")),
    Pain(34, """
x = tf.constant(np.arange(30.0).reshape(10, 3), tf.float32)
w = tf.Variable([1.0, 2.0, 3.0], name="w")
rows = tf.square(tf.reduce_sum(x * w, axis=1), name="rows")
loss = tf.reduce_mean(rows)
""" + RUN, ("grad rows w --per-example --top 5",), ("example", "norm", "9", "8", "7", "6", "5")),
    Pain(35, """
w = tf.Variable([[1.0, 2.0]], name="w")
with tf.name_scope("hidden"):
    h1 = tf.tanh(w, name="h1")
    h2 = tf.sin(h1, name="h2")
loss = tf.reduce_sum(h2)
""" + TRAIN, ("grads /hidden.h\\d:/",), ("hidden/h1:0", "hidden/h2:0"), ("next 2",)),
    Pain(36, """
w = tf.Variable([[1.0, 2.0]], name="w")
b = tf.Variable([[1.0, 2.0]], name="b")
loss = tf.reduce_sum(w * b)
""" + TRAIN, ("info watches", "info run"), ("w:0", "2"), ("watch /^w:0/ --every 2", "next 3"), not_said=("b:0  ",)),
    # ---- curvature, custom gradients, comparing -----------------------------------------
    Pain(37, """
w = tf.Variable(np.full((120, 120), 0.1, np.float32), name="w")
loss = tf.reduce_sum(tf.square(w))
""" + RUN, ("hessian loss w",), ("14400", "more than the budget", "--rows", "--diag", "--hvp", "--eig")),
    Pain(38, """
w = tf.Variable([1.0, 2.0, 3.0, 4.0], name="w", dtype=tf.float64)
loss = tf.reduce_sum(tf.constant([1.0, 2.0, 3.0, 4.0], tf.float64) * w * w)
""" + RUN, ("hessian loss w --eig 2 --verify",), ("8", "6", "residual")),
    Pain(39, """
@tf.custom_gradient
def cube(x):
    def grad(dy):
        return dy * 2.0 * x * x
    return x * x * x, grad

w = tf.Variable([1.0, 2.0], name="w")
cubes = cube(w)  # here
loss = tf.reduce_sum(tf.sin(cubes))
""" + RUN, ("check",), ("IdentityN", "wrong", "off by a factor of 0.6667"), ("next 2",)),
    Pain(40, """
x = tf.constant([1.0, 2.0, 3.0])
w = tf.Variable([1.0, 2.0, 3.0], name="w")
squares = tf.multiply(x, w, name="squares")
spread = tf.sqrt(squares + 1.0, name="spread")  # here
loss = tf.reduce_sum(spread)
""" + RUN, ("diff other.npz",), ("spread:0", "first", "Sqrt")),
]
