"""A JAX of four primitives, in NumPy: what the door asks of jax, so that it is tested where jax is not installed.

A function is traced by running it on stand-ins that note each equation, as jax.make_jaxpr does; its gradients are
central differences. All else that is imported is an empty class or a function that does nothing.
"""

import contextlib
import functools
import inspect
import itertools
import operator
import sys
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from ..mini_torch import Room

NAMES = """jax jax.core jax.lax jax.tree jax.tree_util jax.numpy jax.dtypes jax.errors jax.extend jax.extend.core
jax._src jax._src.core jax._src.api_util jax._src.linear_util jax._src.source_info_util jax._src.interpreters
jax._src.interpreters.partial_eval jax._src.interpreters.batching jax.experimental jax.experimental.checkify""".split()
PARTS = ("averages calls compiled door draws dropped evaluated habits integers jitted optimizers "
         "program raised reader rows stale steps written").split()  # of JAX
MODULES = {name: Room(name) for name in NAMES}
for _name, _module in MODULES.items():
    if "." in _name:
        setattr(MODULES[_name.rpartition(".")[0]], _name.rpartition(".")[2], _module)
jax, _tree, _util, _core = (MODULES[name] for name in ("jax", "jax.tree", "jax.tree_util", "jax.extend.core"))


# ---- trees ------------------------------------------------------------------------------------------

_util.DictKey = type("DictKey", (tuple,), {"__new__": lambda cls, key: tuple.__new__(cls, (key,)),
                                           "key": property(lambda self: self[0])})
_util.SequenceKey = type("SequenceKey", (_util.DictKey,), {"__new__": lambda cls, key: tuple.__new__(cls, (key,))})


def with_paths(tree, path=()):
    """(path, leaf) of each leaf, in order."""
    if isinstance(tree, dict):
        return [each for key in sorted(tree) for each in with_paths(tree[key], (*path, _util.DictKey(key)))]
    if isinstance(tree, (list, tuple)):
        return [each for i, part in enumerate(tree) for each in with_paths(part, (*path, _util.SequenceKey(i)))]
    return [] if tree is None else [(path, tree)]


def unflatten(tree, leaves):
    """A tree like this one, of other leaves."""
    leaves, tree = iter(leaves), tree.like if isinstance(tree, Form) else tree

    def made(part):
        if isinstance(part, dict):
            return {key: made(part[key]) for key in sorted(part)}
        return type(part)(map(made, part)) if isinstance(part, (list, tuple)) else next(leaves)
    return made(tree)


class Form:
    """What a tree is without its leaves."""

    def __init__(self, tree):
        self.like = unflatten(tree, itertools.repeat(0))

    def __eq__(self, other):
        return self.like == other.like

    def __hash__(self):
        return hash(repr(self.like))


_util.tree_leaves_with_path = with_paths
_util.tree_flatten_with_path = lambda tree: (with_paths(tree), tree)
_util.keystr = lambda path: "".join(f"[{key[0]!r}]" for key in path)
_tree.leaves, _tree.unflatten = lambda tree: [leaf for _, leaf in with_paths(tree)], unflatten
_tree.flatten = lambda tree: (_tree.leaves(tree), Form(tree))
_tree.map = lambda function, *trees: unflatten(trees[0], map(function, *map(_tree.leaves, trees)))


# ---- tracing ----------------------------------------------------------------------------------------

EQUATIONS: list = []


class Record(SimpleNamespace):
    """What can be made again with other parts."""

    def replace(self, **parts):
        return Record(**{**vars(self), **parts})


class Tracer:
    """A value inside of a function that is traced, and the variable that it is in the jaxpr."""

    __array_priority__ = 1000

    def __init__(self, like, value=None):
        self.like = np.asarray(like.like if isinstance(like, Tracer) else like, np.float32)
        self.value = self if value is None else value  # of an array that the function closes over
        self.shape, self.dtype = self.like.shape, self.like.dtype
        self.aval = SimpleNamespace(shape=self.like.shape, dtype=self.like.dtype)

    def __mul__(self, other):
        return noted("mul", np.multiply, self, other)

    __rmul__ = __mul__

    def __sub__(self, other):
        return noted("sub", np.subtract, self, other)

    def __add__(self, other):
        return noted("add", np.add, self, other)

    def __getitem__(self, row):
        rest = (0,) * (self.like.ndim - 1)
        found = noted("slice", lambda x: x[row:row + 1], self, start_indices=(row, *rest), limit_indices=(
            row + 1, *self.shape[1:]), strides=None)
        return noted("squeeze", lambda x: x[0], found, dimensions=(0,))

    def sum(self):
        return noted("reduce_sum", np.sum, self, axes=tuple(range(self.like.ndim)))

    def strange(self):
        return noted("strange", np.abs, self)


class BatchTracer(Tracer):
    """What stands for the row of an array inside of vmap."""

    def __init__(self, trace, val, batch_dim):
        super().__init__(np.take(val, 0, batch_dim))
        self._trace, self.val, self.batch_dim = trace, val, batch_dim


class Literal:
    """A number that stands in an equation."""

    def __init__(self, value):
        self.val = np.asarray(value, np.float32)
        self.aval = SimpleNamespace(shape=self.val.shape, dtype=self.val.dtype)


def noted(name, kernel, *inputs, **params):
    """The result of a primitive, and its equation, with the lines of the script that is traced."""
    inputs = [x if isinstance(x, Tracer) else Tracer(x, x) if np.ndim(x) else Literal(x) for x in inputs]
    out = Tracer(kernel(*[x.like if isinstance(x, Tracer) else x.val for x in inputs]))
    frames = [(f.frame.f_code, f.frame.f_lasti) for f in inspect.stack(0) if f.filename.endswith("train.py")]
    source = SimpleNamespace(traceback=SimpleNamespace(raw_frames=lambda: [*zip(*frames)]))
    EQUATIONS.append(Record(primitive=SimpleNamespace(name=name), invars=inputs, outvars=[out], params=params,
                                     source_info=source, kernel=kernel))
    return out


def eval_jaxpr(jaxpr, consts, *values):
    """What the outputs are for these inputs."""
    known = dict(zip([*jaxpr.invars, *jaxpr.constvars], [*values, *consts]))
    for e in jaxpr.eqns:
        known[e.outvars[0]] = e.kernel(*[known[v] if isinstance(v, Tracer) else v.val for v in e.invars])
    return [known[v] for v in jaxpr.outvars]


def make_jaxpr(function):
    """A function of arrays that gives the jaxpr of `function`."""
    def made(*arguments):
        EQUATIONS.clear()
        invars = [Tracer(x) for x in arguments]
        out = _tree.leaves(function(*invars))
        made = {*invars, *(v for e in EQUATIONS for v in e.outvars)}
        outside = [v for e in EQUATIONS for v in e.invars if isinstance(v, Tracer) and v not in made]
        jaxpr = Record(constvars=outside, invars=invars, outvars=out, eqns=[*EQUATIONS], effects=(),
                                debug_info=SimpleNamespace(func_src_info=""))
        return SimpleNamespace(jaxpr=jaxpr, consts=[v.value for v in outside])
    return made


# ---- differentiating --------------------------------------------------------------------------------

def value_and_grad(function, argnums=0, has_aux=False):
    """Central differences by the leaves of one argument."""
    @functools.wraps(function)
    def found(*args, **named):
        if any(isinstance(leaf, Tracer) for leaf in _tree.leaves(args)):
            return function(*args, **named), args[argnums]
        leaves = [np.asarray(leaf, np.float64) for leaf in _tree.leaves(args[argnums])]

        def at(values):
            return function(*args[:argnums], unflatten(args[argnums], values), *args[argnums + 1:], **named)

        def size(values):
            return at(values)[0] if has_aux else at(values)
        slopes = [np.zeros(leaf.shape) for leaf in leaves]
        for i, leaf in enumerate(leaves):
            for place in np.ndindex(leaf.shape):
                step = np.zeros(leaf.shape)
                step[place] = 1e-4
                above, below = ([*leaves[:i], leaf + sign * step, *leaves[i + 1:]] for sign in (1, -1))
                slopes[i][place] = (size(above) - size(below)) / 2e-4
        value = (np.float32(size(leaves)), at(leaves)[1]) if has_aux else np.float32(size(leaves))
        return value, unflatten(args[argnums], [np.float32(s) for s in slopes])
    return found


def grad(function, argnums=0, has_aux=False):
    """The gradients alone."""
    return functools.wraps(function)(lambda *args: value_and_grad(function, argnums)(*args)[1])


def vmap(function, in_axes=0, out_axes=0):
    """A list, or an array, of what the function gives for each row."""
    @functools.wraps(function)
    def found(*args, **named):
        axes = [in_axes] * len(args) if isinstance(in_axes, int) else in_axes
        count = next(_tree.leaves(a)[0].shape[0] for a, axis in zip(args, axes) if axis == 0)
        rows = [function(*(a if axis is None else _tree.map(operator.itemgetter(i), a) for a, axis in zip(args, axes)),
                         **{name: a[i] for name, a in named.items()}) for i in range(count)]
        if any(isinstance(leaf, Tracer) for leaf in _tree.leaves(rows)):
            return rows
        return _tree.map(lambda *each: np.stack(each), *rows)
    return found


def total(rows, axis=0):
    """The sum of rows."""
    return functools.reduce(lambda a, b: a + b, rows)


def scan(function, init, xs=None, length=None, reverse=False):
    """What the body gives for the first row, traced."""
    rows = unflatten(xs, [Tracer(leaf[0]) for leaf in _tree.leaves(xs)])
    return function(unflatten(init, map(Tracer, _tree.leaves(init))), rows)


# ---- optax ------------------------------------------------------------------------------------------

class GradientTransformation(NamedTuple):
    init: Any
    update: Any


def momentum(learning_rate, decay=0.9):
    """Steps of a decaying sum of gradients, which is the state."""
    def update(updates, state, params=None):
        state = {name: decay * state[name] + g for name, g in updates.items()}
        return {name: -np.float32(learning_rate) * s for name, s in state.items()}, state

    optimizer = sys.modules["optax"].GradientTransformation
    return optimizer(lambda params: {name: 0 * value for name, value in params.items()}, update)


def masked(inner, mask):
    """Updates of what a mask has True for; all else stays."""
    def update(updates, state, params=None):
        found, state = inner.update(updates, state)
        return {name: found[name] if mask[name] else g for name, g in updates.items()}, state

    return sys.modules["optax"].GradientTransformation(inner.init, update)


def set_to_zero():
    """Updates of zero."""
    return sys.modules["optax"].GradientTransformation(lambda params: {}, lambda updates, state, params=None: (
        {name: 0 * g for name, g in updates.items()}, state))


def multi_transform(transforms, labels):
    """Updates by the optimizer that a parameter's label names."""
    def parts(tree):
        return {label: {name: leaf for name, leaf in tree.items() if labels[name] == label} for label in transforms}

    def update(updates, state, params=None):
        made = {label: transforms[label].update(part, state[label]) for label, part in parts(updates).items()}
        return ({name: u for found, _ in made.values() for name, u in found.items()},
                {label: new for label, (_, new) in made.items()})

    return sys.modules["optax"].GradientTransformation(lambda params: {
        label: transforms[label].init(part) for label, part in parts(params).items()}, update)


def scale(step_size):
    """Updates times a number."""
    return sys.modules["optax"].GradientTransformation(lambda params: {}, lambda updates, state, params=None: (
        {name: np.float32(step_size) * g for name, g in updates.items()}, state))


def scale_by_schedule(step_size_fn):
    """Updates times what a function gives for the first step."""
    return scale(step_size_fn(0))


def apply_updates(params, updates):
    return {name: value + updates[name] for name, value in params.items()}


class Config:
    """The flag that the door sets, and the folder that it gives."""

    jax_disable_jit, jax_compilation_cache_dir, jax_debug_nans = False, None, False

    def update(self, name, on):
        setattr(self, name, on)


@contextlib.contextmanager
def installed(package):
    """`import jax` finds this; the modules of `package` that were loaded with it are forgotten afterwards."""
    kept = {name: sys.modules.get(name) for name in NAMES}
    before = set(sys.modules)
    kept["optax"] = sys.modules.get("optax")
    sys.modules.update(MODULES, optax=ModuleType("optax"))
    vars(sys.modules["optax"]).update(
        GradientTransformation=type("Optimizer", (GradientTransformation,), {}), momentum=momentum,
        apply_updates=apply_updates, masked=masked, scale=scale, scale_by_schedule=scale_by_schedule,
        set_to_zero=set_to_zero, multi_transform=multi_transform)
    try:
        yield jax
    finally:
        for name in set(sys.modules) - before:
            if name in {f"{package}.{part}" for part in PARTS}:
                del sys.modules[name]
        for name, module in kept.items():
            sys.modules.pop(name, None)
            if module is not None:
                sys.modules[name] = module


jax.config, jax.Array, jax.core.Tracer, jax.core.eval_jaxpr = Config(), (np.ndarray, Tracer), Tracer, eval_jaxpr
jax.make_jaxpr, jax.grad, jax.value_and_grad, jax.vjp = make_jaxpr, grad, value_and_grad, lambda *_: None
jax.vmap, jax.numpy.sum, jax.numpy.mean = vmap, total, lambda rows, axis=0: total(rows) * np.float32(1 / len(rows))
_util.all_leaves = lambda trees: not any(isinstance(tree, (dict, list, tuple)) for tree in trees)
jax.disable_jit, jax.jit = lambda _: contextlib.nullcontext(), lambda function: function
jax.eval_shape, jax.pmap, jax.lax.scan = lambda function: function(), lambda function: function, scan
for _name in "while_loop fori_loop cond switch map associative_scan".split():
    setattr(jax.lax, _name, lambda *_: None)
jax.numpy.result_type, jax.numpy.asarray = np.result_type, np.asarray
jax.dtypes.prng_key = jax.dtypes.extended = object()
jax.dtypes.issubdtype = lambda dtype, kind: isinstance(kind, type) and np.issubdtype(dtype, kind)
jax.dtypes.canonicalize_dtype = lambda dtype: np.dtype(np.float32) if dtype.kind == "f" else dtype
jax.errors.ConcretizationTypeError = type("ConcretizationTypeError", (TypeError,), {})
jax.errors.JAXTypeError = type("JAXTypeError", (TypeError,), {})
MODULES["jax._src.core"].set_current_trace, MODULES["jax._src.interpreters.batching"].BatchTracer = (
    lambda _: contextlib.nullcontext(), BatchTracer)
jax.numpy.moveaxis, jax.numpy.broadcast_to, jax.numpy.shape = np.moveaxis, np.broadcast_to, np.shape
MODULES["jax._src.core"].gensym = lambda: lambda aval: Tracer(np.zeros(aval.shape, np.float32))
_core.Literal, _core.subjaxprs = Literal, lambda jaxpr: ()
MODULES["jax._src.source_info_util"].is_user_filename = lambda file: file.endswith("train.py")
MODULES["jax.experimental.checkify"].checkify = lambda function, errors: lambda *_: (
    SimpleNamespace(get_exception=lambda: None), None)
