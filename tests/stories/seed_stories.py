"""The texts gradbg was built from, as stories: a script as the text writes it, what is typed, what has to be shown."""
from __future__ import annotations

from typing import NamedTuple


class Story(NamedTuple):
    """script: Python, its `tf` included. typed: lines, each with what its answer shows, in that order. begins: what
    the prompt says when the script is loaded."""

    script: str
    typed: tuple[tuple[str, tuple[str, ...]], ...]
    begins: str = "script.py ended"


def story(script: str, *typed: str, begins: str = "script.py ended") -> Story:
    """A story from lines `command -> shown; shown`."""
    cut = [line.partition(" -> ") for line in typed]
    return Story("import tensorflow as tf\n" + script.strip() + "\n",
                 tuple((line, tuple(part.strip() for part in shown.split(";"))) for line, _, shown in cut), begins)


def eager(script: str, *typed: str) -> Story:
    """A story of a script that executes eagerly, which stops at its tape.gradient."""
    return story(f"tf.enable_eager_execution()\n{script.strip()}", *typed, begins="before its first tape.gradient")


IDENTIFIED = "x = tf.Variable(1.)\ny = tf.add(x, x)"
NAMED = 'x = tf.Variable(1.0, name="x")\ny = tf.add(x, x, name="y")\nz = tf.square(y)'
OWN = NAMED.replace("tf.square(y)", "tf.square(y, name='z')") + """
from tensorflow.python import debug as tf_debug
grad_debugger = tf_debug.GradientsDebugger(y_tensor=z)
with grad_debugger.watch_gradients_by_tensor_names(tf.get_default_graph(), r"(x|y):0$"):
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(z)
"""
CONSTANTS = "a = tf.constant(0.)\nb = 2 * a\nc = a + b\nalone = tf.ones([1, 2])"
FORM = """
u = tf.Variable([1., 2.])
v = tf.Variable(3.)
q = tf.reduce_sum(u * u) * v + v ** 3
"""
DATA = "data = tf.placeholder(tf.float32)\nvar = tf.Variable(2.0)\nloss = tf.reduce_sum(var * data)"
LAYERS = """
class Layer:
    def __init__(self, w):
        self.w = w
class Model:
    pass
model = Model()
model.layers = [Layer(tf.Variable([1., 2.])), Layer(tf.Variable([3., 4.]))]
loss = tf.reduce_sum(model.layers[0].w * model.layers[1].w)
"""

STORIES = {
    "identify": story(
        IDENTIFIED,
        "gradient_tensor y -> This GradientsDebugger has not received any gradient tensor for x-tensor; watch y",
        "identify y -> debug_y = ; build on debug_y from now on",
        "python z = tf.square(debug_y) -> ",
        "train z -> train op prompt/GradientDescent; gradients watched: 2 tensors: Add:0, Variable:0",
        "gradient_tensor y -> float32[]; no value yet",
        "next -> step 1",
        "gradient_tensor y -> float32[]; 4.00",
        "gradient_tensor x -> float32[]; 8.00",
        'gradient_tensor "Add:0" -> 4.00',
        "gradient_tensors -> Add:0; Square:0; float32; 4.00; Variable:0; 8.00; norms of step 1",
        "identify y -> The graph already contains an op named",
        "python n = 3 -> ",
        "gradient_tensor n -> x_tensor must be a str or tf.Tensor or tf.Variable, but instead has type int"),
    "watch by names": story(
        NAMED,
        "watch --names (x|y):0$ -> 2 tensors; x:0; y:0",
        "watch --names nothing -> no tensor name begins with",
        "info debuggers -> the prompt; x:0, y:0",
        "train z -> gradients watched: 2 tensors: y:0, x:0",
        "info debuggers -> the prompt; this graph; y:0, x:0",
        "next -> step 1",
        "gradient_tensor y:0 -> 4.00",
        "gradient_tensor x:0 -> 8.00"),
    "watch by tensors": story(
        NAMED,
        "watch x y -> 2 tensors; x:0; y:0",
        "python g = tf.gradients(z, x)[0] -> gradients registered: y:0, x:0",
        "gradient_tensors -> y:0; x:0",
        "print g -> 8.00",
        "register z g -> is registered as the gradient tensor of; Square:0",
        "register z g -> has the gradient tensor; already"),
    "a debugger of the script's": story(
        OWN,
        "print grad_debugger -> z:0; this graph; y:0, x:0",
        "info debuggers -> the prompt; grad_debugger; z:0; y:0, x:0",
        "gradient_tensors -> y:0; z:0; grad_debugger; x:0",
        "gradient_tensor y -> registered with grad_debugger",
        "grads -> x:0; grad_debugger has gradients of y:0"),
    "constants": story(
        CONSTANTS,
        "grad c a b -> 3.00; 1.00",
        "grad c a b --stop a,b -> 1.00; 1.00; held constant: Const:0, mul:0; partial derivative",
        "grad c a --stop b -> 1.00; held constant: mul:0",
        "grad c,b a -> 5.00",
        "grad c,b a --weights 2,3 -> 12.0",
        "grad c,b a --weights 2 -> expected one weight for each y",
        "grad c alone -> is None",
        "grad c alone --unconnected zero -> float32[1,2]; all are 0",
        "grad c a --aggregation experimental_tree -> 3.00",
        "python g = tf.gradients(c, [a, b], stop_gradients=[a, b]) -> ",
        "print g[0] -> 1.00"),
    "blocks": story(
        FORM,
        "hessian q u v -> 6.0; 2.0; 4.0; 18.0",
        "hessian q u v --diag -> 6.0; 18.0",
        "hessian q u v --hvp [1,0],1 -> 8.0; 4.0; 20.0",
        "hessian q v -> 18.0",
        "hessian q u v --eig 1 -> 19.5"),
    "a graph alone": story(
        DATA,
        "grad loss var -> placeholder 'Placeholder:0' must be fed; feed Placeholder = VALUE",
        "feed data = [1, 2] -> Placeholder:0 = [1.0, 2.0]",
        "grad loss var -> 3.00",
        "init -> 1 variable initialized",
        "print var -> 2.00"),
    "optimizers": story(
        FORM,
        "train q --vars u --optimizer momentum(momentum=0.5) --lr 0.1 -> Momentum",
        "train q --vars v --optimizer \"tf.train.AdamOptimizer(0.01)\" -> Adam; beside prompt/Momentum",
        "info trains -> Momentum; yes; Adam; yes",
        "next -> step 1",
        "train q --optimizer ftrl --clip-norm 1 --grad-loss v -> Ftrl",
        "info trains -> no, a newer one updates them; Ftrl; yes",
        "train q --optimizer nosuch -> no optimizer is called 'nosuch'"),
    "handles": story(
        LAYERS,
        "watch model.layers[0].w -> 1 tensor; Variable:0",
        "watch /Variable_1:0/ -> Variable_1:0",
        "watch /no such/ -> no tensor name matches",
        "train -> gradients watched",
        "next -> step 1",
        "print model.layers[1].w -> 2.99",
        "grad model.layers[1].w -> 1.00"),
}

SQUARE = """
x = tf.constant(3.0)
with tf.GradientTape() as g:
    g.watch(x)
    y = x * x
dy_dx = g.gradient(y, [x])[0]
"""
PERSISTENT = """
x = tf.constant(3.0)
with tf.GradientTape(persistent=True) as g:
    g.watch(x)
    y = x * x
    z = y * y
dz_dx = g.gradient(z, x)
dy_dx = g.gradient(y, x)
"""
NESTED = """
x = tf.constant(3.0)
with tf.GradientTape() as g:
    g.watch(x)
    with tf.GradientTape() as gg:
        gg.watch(x)
        y = x * x
    dy_dx = gg.gradient(y, x)
d2y_dx2 = g.gradient(dy_dx, x)
"""
SECOND = """
x = tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = x ** 2
dy_dx = tape.gradient(y, x)
"""

SECOND_STOP = PERSISTENT.replace("dy_dx", "alone = tf.constant(1.0)\ndy_dx").replace("(y, x)", "(y, [x, alone])")
USED = SQUARE + "again = g.gradient(y, [x])\n"
IN_A_GRAPH = """
x = tf.constant([1.0, 2.0])
w = tf.Variable([3.0, 4.0], use_resource=True)
with tf.GradientTape(persistent=True) as g:
    g.watch(x)
    with tf.GradientTape() as gg:
        gg.watch(x)
        y = tf.reduce_sum(x * x * x)
    dy_dx = gg.gradient(y, x)
    v = w * x
d2y_dx2 = g.gradient(dy_dx, x)
weighted = g.gradient(v, x, output_gradients=tf.constant([10.0, 1.0]))
both = g.gradient({"a": v, "b": y}, {"x": x, "w": [w]})
jac = g.jacobian(v, x)
"""

TAPES = {
    "a tape": eager(
        SQUARE,
        "continue -> script.py ended",
        "print y -> 9.00",
        "print dy_dx -> 6.00",
        "grad y x -> 6.00",
        "grad y x --order 2 -> 2.00",
        "why x -> norm 6",
        "path y x -> mul",
        "check y x -> are right",
        "hessian y x -> 2.00",
        "gradient_tensor x -> has not received any gradient tensor"),
    "a persistent tape": eager(
        PERSISTENT,
        "continue -> script.py ended",
        "print dz_dx -> 108",
        "grad z x -> 108",
        "grad y x -> 6.00"),
    "nested tapes": eager(
        NESTED,
        "continue -> script.py ended",
        "print dy_dx -> 6.00",
        "print d2y_dx2 -> 2.00"),
    "a tape's second stop": eager(
        SECOND_STOP,
        "next -> step 1; 81.0",
        "next -> step 2; 9.00",
        "print dz_dx -> 108",
        "grad dz_dx x -> 108",
        "why alone -> does not depend on"),
    "a tape that does not watch": eager(
        SQUARE.replace("    g.watch(x)\n", "").replace(", [x])[0]", ", x)"),
        "next -> step 1; 9.00",
        "why x -> tape.gradient gave None: the tape did not watch it; remedy: call watch",
        "grad y x -> 6.00"),
    "a used tape": eager(
        USED,
        "continue -> GradientTape.gradient can only be called once on non-persistent tapes.",
        "print dy_dx -> 6.00"),
    "tapes in a graph": story(
        IN_A_GRAPH,
        "print dy_dx -> 3.0; 12.0",
        "print d2y_dx2 -> 6.0; 12.0",
        "print weighted -> 1 variable initialized; 30.0; 4.0",
        "print both -> expected a tensor of the graph; its parts are; both['x']; both['w'][0]",
        "print both['x'] -> 6.0; 16.0",
        "print both['w'][0] -> 1.00; 2.00",
        "print jac -> 3.00; 4.00",
        "grad y x --order 2 -> 6.0; 12.0",
        "grad v x --weights [10,1] -> 30.0; 4.0",
        "hessian y x -> 6.0; 12.0",
        "check v x -> are right"),
    "a used tape in a graph": story(
        USED,
        "print dy_dx -> 6.00",
        "grad y x -> 6.00",
        begins="GradientTape.gradient can only be called once on non-persistent tapes."),
    "TensorFlow 2": eager(
        SECOND,
        "continue -> script.py ended",
        "print dy_dx -> 6.00",
        "grad y x -> 6.00"),
    "TensorFlow 2 in a graph": story(
        SECOND.replace("3.0", "3.0, use_resource=True"),
        "print dy_dx -> 1 variable initialized; 6.00",
        "grad y x -> 6.00",
        "hessian y x -> 2.00"),
}
