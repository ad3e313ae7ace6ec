"""Random programs by family: each a short script that sets `result`, with values, refusals and names to compare."""
# ruff: noqa: E501 (a program is a line)
from __future__ import annotations

from collections.abc import Callable

import numpy as np

Rng = np.random.Generator

FLOATS = ["float16", "float32", "float64"]
INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16"]
COMPLEX = ["complex64", "complex128"]
EXTREME = {"f": ["nan", "inf", "-inf", "0.0", "-0.0", "1.0", "-1.0", "0.5", "2.5", "-2.5", "1e-4", "100.0", "3.0"],
           "i": ["0", "1", "-1", "2", "3", "-7", "100", "-128", "127"], "u": ["0", "1", "2", "3", "7", "200", "255"],
           "c": ["0j", "1+1j", "-2.5+0.5j", "3-1j", "1j"], "b": ["True", "False"]}


def pick(rng: Rng, items: list) -> object:
    return items[rng.integers(len(items))]


def shape_of(rng: Rng, least: int = 0, most: int = 3, zeros: float = 0.15) -> tuple[int, ...]:
    return tuple(0 if rng.random() < zeros else int(rng.integers(1, 4)) for _ in range(rng.integers(least, most + 1)))


def literal(rng: Rng, dtype: str, shape: tuple[int, ...], tame: bool = False) -> str:
    """A constant of few distinct values, so that ties are common; without NaN and the like if it is tame."""
    kind = np.dtype(dtype).kind
    choices = EXTREME[kind]
    if tame and kind == "f":
        choices = ["0.5", "-1.5", "2.0", "0.25", "-0.75", "1.25", "0.5", "3.0"]
    values = ", ".join(str(pick(rng, choices)) for _ in range(int(np.prod(shape))))
    values = values.replace("nan", "np.nan").replace("-inf", "-np.inf").replace(" inf", " np.inf")
    values = "np.inf" + values[3:] if values.startswith("inf") else values
    return f"tf.constant(np.array([{values}]).astype('{dtype}').reshape({shape}), tf.{dtype})"


def case(*lines: str, **results: str) -> str:
    """A script of lines and results; a result is an expression that is run, or refused."""
    named = ", ".join(f"'{k}': attempt(lambda: {v})" for k, v in results.items())
    return "\n".join([*lines, f"result = {{{named}}}"]) + "\n"


def slope(y: str, *xs: str) -> str:
    """An expression for the first of the gradients of y that there is, densified."""
    return f"next((tf.convert_to_tensor(g) for g in tf.gradients({y}, [{', '.join(xs)}]) if g is not None), None)"


UNARY = ("abs acos acosh asin asinh atan atanh ceil cos cosh digamma erf erfc exp expm1 floor lgamma log log1p "
         "negative reciprocal rint round rsqrt sigmoid sign sin sinh sqrt square tan tanh conj is_nan is_inf is_finite "
         "logical_not zeros_like ones_like identity nn.relu nn.relu6 nn.elu nn.selu nn.softplus nn.softsign "
         "nn.leaky_relu real imag angle invert_permutation nn.softmax nn.log_softmax nn.l2_loss diag diag_part trace "
         "matrix_diag matrix_diag_part size rank shape unique where transpose global_norm").split()
BINARY = ("add subtract multiply divide div truediv floordiv mod floormod truncatediv truncatemod realdiv maximum "
          "minimum pow squared_difference atan2 div_no_nan equal not_equal less less_equal greater greater_equal "
          "logical_and logical_or logical_xor igamma igammac zeta polygamma complex matmul").split()


def dtypes(rng: Rng) -> str:
    dtype, shape = str(pick(rng, [*FLOATS, *INTS, *COMPLEX, "bool"])), shape_of(rng)
    x = f"x = {literal(rng, dtype, shape)}"
    if rng.random() < 0.4:
        name = pick(rng, UNARY)
        argument = "[x]" if name == "global_norm" else "x"
        return case(x, y=f"tf.{name}({argument})", dx=slope(f"tf.{name}({argument})", "x"))
    if rng.random() < 0.25:
        return case(x, y=f"tf.cast(x, tf.{pick(rng, [*FLOATS, *INTS, *COMPLEX, 'bool'])})",
                    saturated=f"tf.saturate_cast(x, tf.{pick(rng, INTS)})")
    other = shape if rng.random() < 0.6 else shape_of(rng)
    second = dtype if rng.random() < 0.9 else str(pick(rng, [*FLOATS, *INTS]))
    y = f"tf.{pick(rng, BINARY)}(x, w)"
    return case(x, f"w = {literal(rng, second, other)}", y=y, dx=slope(y, "x"), dw=slope(y, "w"))


def reductions(rng: Rng) -> str:
    dtype, shape = str(pick(rng, [*FLOATS, "int32", "int64", "bool"])), shape_of(rng, 1)
    x = f"x = {literal(rng, dtype, shape)}"
    axis = pick(rng, [None, int(rng.integers(-4, 4)), [int(a) for a in rng.integers(-3, 3, rng.integers(0, 3))]])
    keep = bool(rng.integers(2))
    name = pick(rng, ["reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod", "reduce_logsumexp",
                      "reduce_any", "reduce_all", "count_nonzero", "math.reduce_std",
                      "math.reduce_variance", "argmax", "argmin", "cumsum", "cumprod", "sort", "argsort", "nn.top_k",
                      "nn.in_top_k", "reverse", "linalg.norm", "nn.moments", "squeeze", "expand_dims", "nn.l2_normalize",
                      "clip_by_norm"])
    number = axis if isinstance(axis, int) else 0
    y = {"argmax": f"tf.argmax(x, {number})", "argmin": f"tf.argmin(x, {number})", "sort": f"tf.sort(x, {number})",
         "argsort": f"tf.argsort(x, {number}, stable=True)", "cumsum": f"tf.cumsum(x, {number}, {keep})",
         "cumprod": f"tf.cumprod(x, {number}, reverse={keep})", "nn.top_k": f"tf.nn.top_k(x, {rng.integers(0, 4)})[0]",
         "nn.in_top_k": f"tf.nn.in_top_k(x, {[int(i) for i in rng.integers(0, 3, shape[0])]}, {rng.integers(1, 3)})",
         "reverse": f"tf.reverse(x, {axis if isinstance(axis, list) else [number]})",
         "linalg.norm": f"tf.norm(x, {pick(rng, [1, 2, 'np.inf', repr('euclidean')])}, {axis}, {keep})",
         "nn.moments": f"tf.nn.moments(x, {axis if isinstance(axis, list) else [number]})[1]",
         "squeeze": f"tf.squeeze(x, {axis})", "expand_dims": f"tf.expand_dims(x, {number})",
         "nn.l2_normalize": f"tf.nn.l2_normalize(x, {axis})", "clip_by_norm": f"tf.clip_by_norm(x, 1.0, {axis})",
         }.get(str(name), f"tf.{name}(x, {axis}, {keep})")
    return case(x, y=y, **({} if name == "cumprod" else {"dx": slope(y, "x")}))  # NaN there at zeros


def indices(rng: Rng) -> str:
    shape = shape_of(rng, 1, 3, 0.1)
    n = shape[0]
    bad = rng.random() < 0.3
    numbers = [int(i) for i in rng.integers(-1 if bad else 0, max(n, 1) + bad, rng.integers(0, 4))]
    ids = sorted(int(i) for i in rng.integers(-1 if bad else 0, 3, n))
    if rng.random() < 0.3:
        rng.shuffle(ids)
    x = f"x = {literal(rng, 'float64', shape, tame=True)}"
    segment = pick(rng, ["sum", "mean", "prod", "max", "min"])
    y = str(pick(rng, [
        f"tf.gather(x, np.array({numbers}, 'int32'))", f"tf.gather(x, {numbers or 0}, axis={rng.integers(-2, 3)})",
        f"tf.gather_nd(x, np.array({numbers}, 'int32').reshape(-1, 1))", f"tf.segment_{segment}(x, {ids})",
        f"tf.unsorted_segment_{segment}(x, np.array({ids}, 'int32'), {rng.integers(0, 4)})",
        f"tf.sparse_segment_{pick(rng, ['sum', 'mean', 'sqrt_n'])}(x, np.array({numbers}, 'int32'),"
        f" np.array({sorted(int(i) for i in rng.integers(0, 3, len(numbers)))}, 'int32'))",
        f"tf.scatter_nd(np.array({numbers}, 'int32').reshape(-1, 1), x[:{len(numbers)}], {list(shape)})",
        f"tf.tensor_scatter_{pick(rng, ['update', 'add', 'sub'])}(x, np.array({numbers}, 'int32').reshape(-1, 1),"
        f" x[:{len(numbers)}])", f"tf.one_hot(np.array({numbers}, 'int32'), {rng.integers(0, 4)}, axis=-1)",
        f"tf.boolean_mask(x, {[bool(rng.integers(2)) for _ in range(n)]})",
        f"tf.dynamic_partition(x, {ids}, 3)[1]", f"x[{rng.integers(-3, 4)}:{rng.integers(-4, 4)}:{pick(rng, [1, 2, -1])}]",
        f"x[{rng.integers(-3, 3)}]", f"tf.slice(x, {[0] * len(shape)}, {[int(rng.integers(-1, 3)) for _ in shape]})",
        f"tf.split(x, {[int(i) for i in rng.integers(0, 3, 2)]})[0]", f"tf.split(x, {rng.integers(1, 4)})[0]",
        f"tf.concat([x, x[:{rng.integers(0, 3)}]], {rng.integers(-2, 2)})", f"tf.stack([x, x], {rng.integers(-3, 4)})",
        f"tf.reshape(x, {[int(rng.integers(-1, 4)) for _ in range(rng.integers(0, 3))]})",
        f"tf.tile(x, {[int(i) for i in rng.integers(0, 3, len(shape))]})", f"tf.roll(x, {numbers}, {numbers})",
        f"tf.pad(x, {[[int(a) for a in rng.integers(0, 2, 2)] for _ in shape]}, '{pick(rng, ['CONSTANT', 'REFLECT'])}')",
        f"tf.transpose(x, {[int(i) for i in rng.permutation(len(shape))]})", f"tf.unstack(x, axis={rng.integers(-2, 2)})[0]",
        f"tf.reverse_sequence(x, {numbers}, {rng.integers(0, 2)}, {rng.integers(0, 2)})",
        f"tf.broadcast_to(x, {[int(rng.integers(1, 4)), *shape]})", f"tf.sequence_mask({numbers}, {rng.integers(0, 4)})",
        f"tf.where(x > 0.3, x, {pick(rng, ['x * 2.0', 'tf.zeros([2])', 'x[:1]'])})",
        f"tf.unique({numbers})[0]", f"tf.setdiff1d({numbers}, {ids})[0]", f"tf.bincount({numbers})",
        f"tf.searchsorted(tf.sort({ids}), {numbers})", f"tf.linspace(0.5, 2.0, {rng.integers(0, 4)})",
        f"tf.range({rng.integers(-2, 5)}, {rng.integers(-2, 5)}, {rng.integers(-1, 3)})",
        f"tf.fill({[int(i) for i in rng.integers(-1, 3, 2)]}, 2.0)", f"tf.eye({rng.integers(0, 3)}, {rng.integers(0, 3)})",
        f"tf.matrix_band_part(x, {rng.integers(-1, 2)}, {rng.integers(-1, 2)})"]))
    return case(x, y=y, dx=slope(f"tf.cast({y}, tf.float64) * 1.5", "x"))


def loops(rng: Rng) -> str:
    step = pick(rng, ["a * c", "tf.sin(a) + c * b", "tf.cond(a > b, lambda: a * c, lambda: a + v)", "a + v * b",
                      "tf.gather([a, c, b], i % 3)", "a / (1.0 + c * c)", "tf.maximum(a, c) * b",
                      "tf.while_loop(lambda j, d: j < i, lambda j, d: (j + 1, d * c), [0, a])[1]"])
    other = pick(rng, ["b", "b * c", "tf.stop_gradient(b * v)", "a", "b + tf.cast(i, tf.float64)"])
    limit = rng.integers(0, 4)
    lines = [f"c = tf.constant({rng.uniform(-1.5, 1.5):.2f}, tf.float64)",
             f"v = tf.Variable(np.float64({rng.uniform(-1, 1):.2f}))",
             f"s, t = tf.constant({rng.uniform(-1, 1):.2f}, tf.float64), tf.constant({rng.uniform(-1, 1):.2f}, tf.float64)"]
    kind = rng.integers(5)
    if kind == 0:
        lines.append(f"out = tf.while_loop(lambda i, a, b: i < {limit}, lambda i, a, b: (i + 1, {step}, {other}), [0, s, t])")
    elif kind == 1:
        lines.append(f"i, b = tf.constant({limit}), t\nout = (i, *tf.cond(s > c, lambda: (tf.identity({other}), t * c),"
                     " lambda: (c * v, s)))".replace("{other}", str(other).replace("a", "s")))
    elif kind == 2:
        lines.append("e = tf.stack([s, t, c])\n"
                     "out = (0, *tf.scan(lambda a, x: (a[0] * x + v, a[1] + tf.sin(x)), e, initializer=(c, s)))")
    elif kind == 3:
        lines.append("e = tf.stack([s, t])\nout = (0, *tf.map_fn(lambda x: (x * c, tf.cond(x > 0.0, lambda: x * v,"
                     " lambda: c)), e, dtype=(tf.float64, tf.float64)))")
    else:
        lines.append(f"arr = tf.TensorArray(tf.float64, 4)\nout = tf.while_loop(lambda i, a, r: i < {limit}, lambda i, a, r:"
                     " (i + 1, a * c, r.write(i, a)), [0, s, arr])\nout = (out[0], out[1], out[2].stack())")
    named = {f"y{k}": f"tf.identity(out[{k}])" for k in range(3)}
    named |= {f"d{x}": slope("tf.reduce_sum(out[1]) + tf.reduce_sum(out[2])", x) for x in "cvst"}
    text = case(*lines, **named).replace("))", "))")
    return text.replace("attempt(lambda: ", "attempt(variables=True, build=lambda: ")


def assignments(rng: Rng) -> str:
    resource = bool(rng.integers(2))
    lines = [f"v = tf.get_variable('v', initializer=tf.constant([1.0, 2.0, 3.0]), use_resource={resource})",
             "before, ops = [], []"]
    for k in range(rng.integers(1, 5)):
        value = pick(rng, ["[1.0, 1.0, 1.0]", "v.read_value() * 2.0", "v.read_value() + 1.0", "[0.5, -1.0, 2.0]"])
        change = pick(rng, [f"tf.assign(v, {value})", f"tf.assign_add(v, {value})", f"tf.assign_sub(v, {value})",
                            "tf.scatter_add(v, [0, 0], [1.0, 2.0])", "tf.scatter_update(v, [2], [9.0])",
                            "tf.scatter_sub(v, [1, 2], [1.0, 1.0])", "v.assign_add([1.0, 2.0, 3.0])"])
        lines += ["with tf.control_dependencies(before):", f"    c{k} = {change}",
                  f"with tf.control_dependencies([c{k}]):", "    before = [v.read_value() * 1.0]", "ops += before"]
    lines += ["last = before[-1]", "with tf.Session() as session:", "    session.run(v.initializer)",
              f"    runs = [session.run({pick(rng, ['ops', 'last'])}) for _ in range(2)]",
              "    end = session.run(v)", "result = {'runs': np.array(runs).reshape(-1), 'end': end}"]
    return "\n".join(lines) + "\n"


def optimizers(rng: Rng) -> str:
    rate = float(pick(rng, [0.1, 0.01, 1.0]))
    made = pick(rng, [f"GradientDescentOptimizer({rate})", f"MomentumOptimizer({rate}, 0.9, use_nesterov={bool(rng.integers(2))})",
                      f"AdamOptimizer({rate}, epsilon={pick(rng, [1e-8, 0.1])})", f"AdagradOptimizer({rate})",
                      f"AdadeltaOptimizer({rate})", f"RMSPropOptimizer({rate}, momentum={pick(rng, [0.0, 0.5])}, centered={bool(rng.integers(2))})",
                      f"FtrlOptimizer({rate}, l1_regularization_strength={pick(rng, [0.0, 0.01])}, l2_shrinkage_regularization_strength={pick(rng, [0.0, 0.1])})",
                      f"ProximalGradientDescentOptimizer({rate}, 0.01)", f"ProximalAdagradOptimizer({rate}, l2_regularization_strength=0.1)",
                      f"AdagradDAOptimizer({rate}, tf.train.get_or_create_global_step())"])
    used = pick(rng, ["w", "tf.nn.embedding_lookup(w, [0, 2, 0])", "tf.gather(w, [1])", "w * u[0]"])
    step = "tf.train.get_or_create_global_step()"
    how = pick(rng, [f"opt.minimize(loss, global_step={step})",
                     f"opt.apply_gradients([(tf.clip_by_norm(tf.convert_to_tensor(g), 0.5), x) for g, x in "
                     f"opt.compute_gradients(loss) if g is not None], {step})",
                     "opt.minimize(loss, var_list=[w])", f"opt.minimize(loss, {step}, gate_gradients=tf.train.Optimizer.GATE_GRAPH)"])
    return "\n".join([
        f"w = tf.get_variable('w', initializer=tf.constant([[1.0, -2.0], [0.5, 3.0], [0.1, 0.2]]), use_resource={bool(rng.integers(2))})",
        "u = tf.Variable([0.3, 0.7])",
        f"loss = tf.reduce_sum(tf.square({used}) * {rng.uniform(0.2, 2):.2f}) + tf.reduce_sum(tf.sin(u))",
        f"opt = tf.train.{made}", f"train = {how}", "with tf.Session() as session:",
        "    session.run(tf.global_variables_initializer())", "    losses = [(session.run(loss), session.run(train))[0] for _ in range(4)]",
        "    result = {x.op.name: session.run(x) for x in tf.global_variables()}", "result['losses'] = np.array(losses)"]) + "\n"


def gradients(rng: Rng) -> str:
    lines = ["x = tf.constant([0.5, -1.2, 2.0], tf.float64)", "w = tf.constant([[1.0, 2.0, 3.0]], tf.float64)",
             "h = tf.tanh(x * w)", "k = x * x", "u = tf.reduce_sum(h, 0) + k", "z = tf.constant(2.0, tf.float64)",
             "n = tf.cast(x, tf.int32)"]
    seeds = {"h": "w + 1.0", "k": "x", "u": "x * 3.0", "x": "x", "n": "n", "z": "tf.constant(2.0, tf.float64)", "tf.exp(k)": "k",
             "tf.gather(k, [0, 0])": "x[:2]"}  # of the shapes of ys: what others do is up to each rule in TensorFlow
    chosen = sorted(str(pick(rng, list(seeds))) for _ in range(rng.integers(1, 3)))
    ys = ", ".join(chosen)
    xs = [str(pick(rng, ["x", "w", "h", "k", "z", "n", "u"])) for _ in range(rng.integers(1, 3))]
    options = [f"stop_gradients={[]}".replace("[]", str(pick(rng, ["[h]", "[k]", "[x]", "[u]"])))] if rng.random() < 0.4 else []
    if rng.random() < 0.3:
        options.append("unconnected_gradients=" + str(pick(rng, ["'zero'", "'none'", "tf.UnconnectedGradients.ZERO", "'bad'"])))
    if rng.random() < 0.3:
        options.append(f"aggregation_method={pick(rng, [0, 1, 2, 3])}")
    if rng.random() < 0.3:
        options.append(f"gate_gradients={bool(rng.integers(2))}")
    if rng.random() < 0.3:
        options.append("grad_ys=[" + ", ".join(str(pick(rng, ["None", seeds[y]])) for y in chosen) + "]")
    made = f"tf.gradients([{ys}], [{', '.join(xs)}]{''.join(', ' + o for o in options)})"
    return case(*lines, **{f"g{k}": f"None if {made}[{k}] is None else tf.convert_to_tensor({made}[{k}])" for k in range(len(xs))},
                kinds=f"' '.join(type(g).__name__ for g in {made})")


def hessians(rng: Rng) -> str:
    a, b = shape_of(rng, 0, 1, 0.1), shape_of(rng, 0, 1, 0.0)
    lines = [f"x = {literal(rng, 'float64', a, tame=True)}", f"w = {literal(rng, 'float64', b, tame=True)}"]
    term = [str(pick(rng, ["tf.reduce_sum(x ** 3)", "tf.reduce_sum(tf.sin(x)) * tf.reduce_sum(w)", "tf.reduce_sum(tf.exp(w * 0.3))",
                           "tf.reduce_prod(w) * tf.reduce_sum(x)", "tf.reduce_max(w) ** 2", "tf.norm(w + 5.0)",
                           "tf.reduce_sum(tf.nn.softmax(tf.reshape(w, [1, -1])) ** 2)", "tf.reduce_sum(tf.pow(tf.abs(w) + 1.0, 1.5))",
                           "tf.reduce_sum(tf.sigmoid(w)) / (1.0 + tf.reduce_sum(x * x))", "tf.reduce_logsumexp(w)"]))
            for _ in range(rng.integers(1, 4))]
    lines += [f"y = {' + '.join(term)}", "dx, dw = tf.gradients(y, [x, w])"]
    return case(*lines, xx="tf.hessians(y, x)[0]", ww="tf.hessians(y, w)[0]", xw="tf.gradients(dx, w)[0]",
                wx="tf.gradients(dw, x)[0]", third=slope("tf.gradients(tf.gradients(y, w)[0], w)[0]", "w"))


def names(rng: Rng) -> str:
    lines, depth = ["found = []"], 0
    for k in range(rng.integers(2, 7)):
        pad = "    " * depth
        word = pick(rng, ["a", "b", "A", "a_1", "b/c", "a/", "", "x.y", "-q", "_z", "é", "a b"])
        kind = rng.integers(6)
        if kind == 0 and depth < 3:
            lines.append(f"{pad}with tf.name_scope({word!r}) as s{k}:")
            lines.append(f"{pad}    found.append(s{k})")
            depth += 1
        elif kind == 1 and depth < 3:
            lines.append(f"{pad}with tf.variable_scope({word!r}, reuse=tf.AUTO_REUSE) as s{k}:")
            lines.append(f"{pad}    found += [s{k}.name, s{k}.original_name_scope]")
            depth += 1
        elif kind == 2:
            lines.append(f"{pad}found.append(tf.get_variable({word!r}, [2]).name)")
        elif kind == 3:
            lines.append(f"{pad}found.append(tf.constant(1.0, name={word!r}).name)")
        elif kind == 4:
            lines.append(f"{pad}found.append(tf.placeholder(tf.float32, name={word!r}).name)")
        else:
            lines.append(f"{pad}found.append(({pick(rng, ['tf.add(1.0, 2.0)', 'tf.Variable(1.0)', 'tf.reduce_sum([1.0])', 'tf.zeros([2])', 'tf.layers.dense(tf.ones([1, 2]), 1)', 'tf.nn.relu([1.0])', 'tf.gradients(tf.square(tf.constant(1.0, name=chr(113))), [])' ])},)[0])")
            lines[-1] = lines[-1].replace(")[0])", ")[0])")
    text = "\n".join(lines).replace("found.append((tf.gradients", "found.append((str)(tf.gradients")
    return ("def build():\n" + "\n".join("    " + line for line in text.split("\n"))
            + "\n    return ' '.join(getattr(f, 'name', str(f)) for f in found)\nresult = {'names': attempt(build)}\n")


def feeds(rng: Rng) -> str:
    dtype, known = str(pick(rng, ["float32", "int32", "bool", "uint8", "string", "float64"])), pick(rng, ["[2]", "[None]", "None", "[]", "[None, 2]"])
    value = pick(rng, ["1", "1.5", "[1, 2]", "[1.0, 2.5]", "[[1, 2]]", "[[1, 2], [3, 4]]", "True", "[True, False]", "'a'", "['a', 'b']",
                       "None", "[]", "[[1], [2, 3]]", "np.array([1, 2])", "np.array([1.5, 2.5])", "np.array([1, 2], 'int8')", "300", "-1",
                       "np.float64(2.0)", "np.zeros((0, 2))", "{}", "object()", "tf.constant(1.0)", "(1, 2)", "range(2)", "1j", "b'z'"])
    key = pick(rng, ["x", "x", "x", "'x:0'", "y", "'x'", "'zz:0'", "3", "None", "(x,)"])
    fetch = pick(rng, ["y", "x", "[x, y]", "'y:0'", "'y'", "y.op", "None", "3", "{'a': y}", "'nope:0'", "[]"])
    return "\n".join([f"x = tf.placeholder(tf.{dtype}, {known}, name='x')", "y = tf.identity(x, name='y')", "try:",
                      "    with tf.Session() as session:", f"        found = session.run({fetch}, {{{key}: {value}}})",
                      "    result = {'y': repr(found) if found is None or isinstance(found, (list, dict)) else np.asarray(found)}",
                      "    result = {'y': 'a structure' if isinstance(result['y'], str) else result['y']}",
                      "except Exception as error:",
                      "    result = {'y': 'refused (%s: %s)' % (type(error).__name__, str(error).split('\\n')[0][:120])}"]) + "\n"


def networks(rng: Rng) -> str:
    n, side, channels = int(rng.integers(0 if rng.random() < 0.2 else 1, 3)), int(rng.integers(1, 6)), int(rng.integers(1, 3))
    dtype = "float64" if rng.random() < 0.6 else "float32"
    x = f"x = {literal(rng, dtype, (n, side, side, channels), tame=True)}"
    k, stride, pad = int(rng.integers(1, 4)), int(rng.integers(1, 3)), pick(rng, ["'SAME'", "'VALID'"])
    w = f"w = {literal(rng, dtype, (k, k, channels, 2), tame=True)}"
    rows = f"r = {literal(rng, dtype, (n + 1, 3), tame=rng.random() < 0.6)}"
    y = str(pick(rng, [
        f"tf.nn.conv2d(x, w, [1, {stride}, {stride}, 1], {pad})", f"tf.nn.depthwise_conv2d(x, w, [1, {stride}, {stride}, 1], {pad})",
        f"tf.nn.conv2d(x, w, [1, 1, 1, 1], {pad}, dilations=[1, {stride}, {stride}, 1])",
        f"tf.nn.max_pool(x, [1, {k}, {k}, 1], [1, {stride}, {stride}, 1], {pad})", f"tf.nn.avg_pool(x, [1, {k}, {k}, 1], [1, {stride}, {stride}, 1], {pad})",
        "tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.nn.softmax(r * 0.5), logits=r)", "tf.nn.log_softmax(r)",
        f"tf.nn.sparse_softmax_cross_entropy_with_logits(labels={[int(i) for i in rng.integers(-1 if rng.random() < .2 else 0, 3, n + 1)]}, logits=r)",
        "tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.sigmoid(r), logits=r)", "tf.nn.bias_add(x, w[0, 0, :, 0])",
        "tf.nn.lrn(tf.cast(x, tf.float32), 2)", f"tf.image.resize_bilinear(x, [{k + 1}, {stride + 2}])", "tf.nn.weighted_cross_entropy_with_logits(tf.sigmoid(r), r, 2.0)",
        f"tf.image.resize_nearest_neighbor(x, [{k + 1}, {stride + 2}])", f"tf.nn.fused_batch_norm(tf.cast(x, tf.float32), tf.ones([{channels}]), tf.zeros([{channels}]))[0]",
        f"tf.space_to_depth(x, {stride})", f"tf.extract_image_patches(x, [1, {k}, {k}, 1], [1, {stride}, {stride}, 1], [1, 1, 1, 1], {pad})",
        f"tf.nn.conv2d_transpose(x, tf.ones([{k}, {k}, 2, {channels}], x.dtype), [{n}, {side * stride}, {side * stride}, 2], [1, {stride}, {stride}, 1], {pad})",
        "tf.losses.huber_loss(r, r * 1.5 + 0.3)", "tf.losses.mean_squared_error(r, r * 0.5, weights={})".format(pick(rng, ["2.0", "[1.0, 0.0, 2.0]", "r", "[[1.0]]"])),
        "tf.losses.log_loss(tf.sigmoid(r), tf.sigmoid(r * 0.3))", "tf.losses.hinge_loss(tf.ones_like(r), r)", "tf.losses.cosine_distance(r, r * r, axis=1)"]))
    if "float32)" in y or "losses" in y:  # computed in float32, with its error
        x, w, rows = (text.replace("float64", "float32") for text in (x, w, rows))
    return case(x, w, rows, y=y, dx=slope(y, "x", "r"), dw=slope(y, "w", "r"))


def shapes(rng: Rng) -> str:
    known = [pick(rng, [None, 1, 2, 3]) for _ in range(rng.integers(0, 4))]
    first = pick(rng, ["None", str(known)])
    other = [pick(rng, [None, 1, 2, 3]) for _ in range(rng.integers(0, 4))]
    y = str(pick(rng, [
        "x + w", "x * w", "tf.maximum(x, w)", "tf.concat([x, w], 0)", "tf.concat([x, w], -1)", "tf.stack([x, w])", "tf.matmul(x, w)",
        f"tf.reshape(x, {pick(rng, ['[-1]', '[2, -1]', 'tf.shape(w)', '[1, 2, 3]'])})", "tf.transpose(x)", "tf.transpose(x, [1, 0])",
        f"tf.reduce_sum(x, {pick(rng, ['0', '[0]', '-1', 'None', '[0, 1]'])}, keepdims={bool(rng.integers(2))})", "tf.expand_dims(x, 1)",
        "tf.squeeze(x)", "tf.squeeze(x, [0])", "tf.tile(x, [2, 2])", "tf.pad(x, [[1, 1], [0, 2]])", "x[0]", "x[1:]", "x[:, 0]", "x[..., None]",
        "x[tf.constant(0)]", "x[:tf.shape(w)[0]]", "tf.gather(x, [0, 1])", "tf.gather(x, tf.cast(w, tf.int32))", "tf.where(x > 0.0, x, w)",
        "tf.broadcast_to(x, tf.shape(w))", "tf.fill(tf.shape(x), 1.0)", "tf.ones_like(x)", "tf.shape(x)", "tf.size(x)", "tf.rank(x)", "tf.zeros([tf.shape(x)[0], 3])",
        "tf.split(x, 2)[0]", "tf.unstack(x)[0]", "tf.argmax(x, 0)", "tf.nn.softmax(x)", "tf.nn.top_k(x, 2)[0]", "tf.one_hot(tf.cast(x, tf.int32), 4)",
        "tf.boolean_mask(x, x > 0.0)", "tf.map_fn(lambda r: r * 2.0, x)", "tf.cumsum(x)", "tf.reverse(x, [0])", "tf.cond(tf.constant(True), lambda: x, lambda: w)",
        "tf.while_loop(lambda a: True, lambda a: a * 2.0, [x])", "tf.tensordot(x, w, 1)", "tf.einsum('ij,jk->ik', x, w)", "tf.gradients(x * 2.0, x)[0]",
        "tf.slice(x, [0, 0], [1, -1])", "tf.strided_slice(x, [0], [2])", "tf.diag(x)", "tf.matrix_diag(x)", "tf.norm(x)", "tf.segment_sum(x, tf.cast(w, tf.int32))",
        "tf.ensure_shape(x, [2, None])", "tf.placeholder_with_default(x, [None])", "tf.layers.dense(x, 3)", "tf.layers.flatten(x)", "tf.identity_n([x, w])[1]"]))
    return (f"x, w = tf.placeholder(tf.float32, {first}), tf.placeholder(tf.float32, {other})\n"
            f"def build():\n    return str({y}.shape)\nresult = {{'shape': attempt(build)}}\n")


FAMILIES: dict[str, Callable[[Rng], str]] = {f.__name__: f for f in (
    dtypes, reductions, indices, loops, assignments, optimizers, gradients, hessians, names, feeds, networks, shapes)}
