"""A PyTorch of a few ops, in NumPy: what the door asks of torch, so that it is tested where torch is not installed.

Tensors share storages as torch's do, ops go through the mode on top, and `backward` follows a tape. All else that is
imported is an empty class or a function that does nothing.
"""

import contextlib
import sys
from types import ModuleType, SimpleNamespace

import numpy as np

MODES: list = []
STATE = SimpleNamespace(grad=True, around=None)
NAMES = """torch torch.utils torch.utils._pytree torch.utils._python_dispatch torch.nn torch.nn.modules
torch.utils.checkpoint torch.nn.modules.module torch.nn.modules.batchnorm torch.nn.modules.dropout torch.nn.utils
torch.nn.utils.clip_grad torch.nn.functional torch.optim torch.optim.optimizer torch.optim.lr_scheduler torch.autograd
torch.autograd.function torch.ops torch.ops.aten torch.amp torch._C torch._decomp torch._subclasses
torch._subclasses.fake_tensor torch.utils.data torch.utils.data.dataloader torch.func torch._C._functorch""".split()


class Room(ModuleType):
    """A module that has any name: a class for one that begins with a capital, else a function that gives a handle."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        is_class = name.strip("_")[0].isupper()
        made = type(name, (), {}) if is_class else lambda *_, **__: SimpleNamespace(remove=lambda: None)
        setattr(self, name, made)
        return made


class Storage:
    """Memory: a flat array that tensors are views of."""

    def __init__(self, flat):
        self.flat = flat

    @property
    def _cdata(self):
        return id(self)

    def nbytes(self):
        return self.flat.nbytes


class TensorBase:
    """Where the flag is kept, as in torch._C."""

    @property
    def requires_grad(self):
        return self._needs

    @requires_grad.setter
    def requires_grad(self, on):
        self._needs = on

    @property
    def data(self):
        return self.detach()

    @data.setter
    def data(self, made):
        self.array, self.storage = made.array, made.storage


class Node:
    """A tensor in the graph of autograd. variable: it, if it is a leaf."""

    def __init__(self, tensor):
        given = tensor.made[1] if tensor.made else ()
        parts = [t for a in given for t in (a if isinstance(a, list) else [a]) if isinstance(t, Tensor)]
        self.next_functions = [(Node(t), 0) for t in parts if t.requires_grad]
        if tensor.made is None:
            self.variable = tensor


class Tensor(TensorBase):
    """An array in a storage. made: (op, arguments) of what torch would differentiate."""

    is_sparse, is_meta, layout = False, False, "strided"

    def __init__(self, array, storage=None, requires_grad=False):
        array = np.asarray(array)
        if storage is None:
            storage = Storage(np.array(array, order="C").reshape(-1))
            array = storage.flat.reshape(array.shape)
        self.array, self.storage, self._needs, self.made, self.grad = array, storage, requires_grad, None, None
        self._version, self.hooks = 0, []

    shape = property(lambda self: self.array.shape)
    dtype = property(lambda self: DTYPES[self.array.dtype.name])
    nbytes = property(lambda self: self.array.nbytes)
    grad_fn = property(lambda self: self.made and Node(self))
    is_leaf = property(lambda self: self.made is None)

    def untyped_storage(self):
        return self.storage

    def data_ptr(self):
        return id(self.storage)

    def stride(self):
        return tuple(s // self.array.itemsize for s in self.array.strides)

    def storage_offset(self):
        start = self.storage.flat.__array_interface__["data"][0]
        return (self.array.__array_interface__["data"][0] - start) // self.array.itemsize

    def size(self):
        return self.array.shape

    def dim(self):
        return self.array.ndim

    def numel(self):
        return self.array.size

    def element_size(self):
        return self.array.itemsize

    def is_contiguous(self):
        return self.array.flags.c_contiguous

    def is_floating_point(self):
        return self.array.dtype.kind == "f"

    def is_complex(self):
        return False

    def as_strided(self, size, stride, offset):
        strides = [s * self.array.itemsize for s in stride]
        return Tensor(np.lib.stride_tricks.as_strided(self.storage.flat[offset:], size, strides), self.storage)

    def detach(self):
        return Tensor(self.array, self.storage)

    def clone(self):
        return Tensor(self.array.copy())

    def numpy(self):
        return self.array

    resolve_conj = resolve_neg = cpu = lambda self: self

    def norm(self):
        return float(np.linalg.norm(self.array))

    def any(self):
        return bool(self.array.any())

    def __float__(self):
        return float(self.array)

    def __matmul__(self, other):
        return dispatch("mm", self, other)

    def __sub__(self, other):
        return dispatch("sub.Tensor", self, other)

    def __mul__(self, other):
        return dispatch("mul.Tensor", self, other)

    def __getitem__(self, row):
        return dispatch("select.int", self, 0, row)

    def __isub__(self, other):
        return dispatch("sub_.Tensor", self, other)

    def __iadd__(self, other):
        return dispatch("add_.Tensor", self, other)

    def mul_(self, other):
        return dispatch("mul_.Tensor", self, other)

    def register_hook(self, hook):
        self.hooks.append(hook)

    def zero_(self):
        self.array[...] = 0

    def mean(self):
        return dispatch("mean", self)

    def square(self):
        return dispatch("square", self)

    def item(self):
        return dispatch("_local_scalar_dense", self)

    def strange(self):
        return dispatch("strange", self)

    def backward(self):
        if getattr(self, "refuses", ""):
            raise RuntimeError(self.refuses)
        self.spread()

    def spread(self):
        """Give each leaf its gradient."""
        slopes, order = {id(self): np.ones_like(self.array)}, []

        def visit(tensor):
            if isinstance(tensor, (list, tuple)):
                for part in tensor:
                    visit(part)
            elif isinstance(tensor, Tensor) and all(tensor is not each for each in order):
                for part in tensor.made[1] if tensor.made else ():
                    visit(part)
                order.append(tensor)

        visit(self)
        for tensor in reversed(order):
            dy = slopes.get(id(tensor))
            if dy is None or not tensor.requires_grad:
                continue
            for hook in tensor.hooks:
                found = hook(Tensor(dy))
                dy = dy if found is None else found.array
            if tensor.made is None:
                tensor.grad = Tensor(dy if tensor.grad is None else tensor.grad.array + dy)
                continue
            op, args = tensor.made
            inputs = args[0] if isinstance(args[0], (list, tuple)) else args
            for x, dx in zip(inputs, op.slope(dy, *args)):
                if isinstance(x, Tensor) and x.requires_grad:
                    slopes[id(x)] = slopes.get(id(x), 0) + dx


class Op:
    """An overload. run: on arrays, to an array (a view for a view). slope: of dy and the arguments."""

    tags, namespace = (), "aten"

    def __init__(self, name, run, slope=None, writes=False):
        self._name, self.run, self.slope, self.writes = name, run, slope, writes
        self.overloadpacket = getattr(MODULES["torch.ops.aten"], name.partition(".")[0])
        alias = SimpleNamespace(is_write=True) if writes else None
        given = alias or (SimpleNamespace(is_write=False) if name == "select.int" else None)
        self._schema = SimpleNamespace(arguments=[SimpleNamespace(alias_info=alias, name="self")],
                                       returns=[SimpleNamespace(alias_info=given)])

    def has_kernel_for_dispatch_key(self, _):
        return False

    def name(self):
        return f"aten::{self._name}"

    def __call__(self, *args, **_):
        def array(a):
            return [p.array for p in a] if isinstance(a, list) else a.array if isinstance(a, Tensor) else a

        if self._name == "set_":
            args[0].array, args[0].storage = args[1].array, args[1].storage
            return args[0]
        found = self.run(*map(array, args))
        if self.writes:
            args[0].array[...] = found
            return args[0]
        return Tensor(found, args[0].storage if self._name == "select.int" else None)


class Drawn(Op):
    tags = ("random",)


class Number(Op):
    """An op that gives a number."""

    def __call__(self, *args, **_):
        return float(args[0].array)


class Own(Op):
    """An op that the user has registered, made of another."""

    namespace = "mine"

    def redispatch(self, _, *args):
        return dispatch("square", *args)


def dispatch(name, *args):
    """What an op gives, seen by the mode on top."""
    op = OPS[name]
    if MODES:
        mode = MODES.pop()
        try:
            found = mode.__torch_dispatch__(op, (), args, {})
        finally:
            MODES.append(mode)
    else:
        found = op(*args)
    given = [t for a in args for t in (a if isinstance(a, list) else [a]) if isinstance(t, Tensor)]
    if STATE.grad and isinstance(found, Tensor) and not op.writes and any(t.requires_grad for t in given):
        found._needs, found.made = True, (op, args)
    return found


class DispatchMode:
    """A mode that ops go through."""

    def __enter__(self):
        MODES.append(self)
        return self

    def __exit__(self, *_):
        MODES.remove(self)


class Parameter(Tensor):
    """A leaf of a module."""

    def __deepcopy__(self, memo):
        made = dispatch("mul.Tensor", self.detach(), Tensor(np.float32(1.0)))
        return Parameter(made.array, made.storage, self.requires_grad)


class GradScaler:
    """As torch.amp's, with a factor that stays."""

    def scale(self, loss):
        return loss * Tensor(np.float32(1024.0))

    def unscale_(self, tensors):
        for tensor in tensors:
            tensor.grad.array[...] /= 1024.0

    def get_scale(self):
        return 1024.0


class Optimizer:
    """Gradient descent, with hooks around its step."""

    before, after = [], []

    def __init__(self, params, lr=0.05):
        self.param_groups = [{"params": list(params), "lr": lr}]

    def zero_grad(self):
        for parameter in self.param_groups[0]["params"]:
            parameter.grad = None

    def step(self, closure=None):
        given = (self,) if closure is None else (self, closure)
        for hook in self.before:
            hook(self, given, {})
        for _ in range(6) if closure else ():
            closure()
        for parameter in (p for p in self.param_groups[0]["params"] if p.grad is not None):
            parameter.array[...] -= self.param_groups[0]["lr"] * parameter.grad.array
        for hook in self.after:
            hook(self, given, {})


def hooked(hooks):
    """A function that registers a hook."""
    return lambda hook: hooks.append(hook) or SimpleNamespace(remove=lambda: hooks.remove(hook))


@contextlib.contextmanager
def no_grad(on=False):
    """What is done inside is not differentiated."""
    STATE.grad, saved = on, STATE.grad
    try:
        yield
    finally:
        STATE.grad = saved


def vmap(function, in_dims=0, out_dims=0, **_):
    """What a function gives for each row, in one tensor."""
    def found(*args):
        dims = [in_dims] * len(args) if isinstance(in_dims, int) else in_dims
        count = next(len(a.array) for a, dim in zip(args, dims) if dim == 0)
        STATE.around = found
        rows = [function(*(a if dim is None else a[i] for a, dim in zip(args, dims))) for i in range(count)]
        STATE.around = None
        return rows[0] if isinstance(rows[0], str) else dispatch("stack", rows)
    return found


def enable_grad():
    """What is done inside is differentiated."""
    return no_grad(on=True)


def grad(outputs, inputs, *_, **__):
    """torch.autograd.grad, of leaves."""
    t_outputs, asked = (outputs,), [inputs] if isinstance(inputs, Tensor) else list(inputs)
    if getattr(t_outputs[0], "refuses", ""):
        raise RuntimeError(outputs.refuses)
    saved = {id(t): t.grad for t in leaves_of(outputs)}
    for leaf in leaves_of(outputs):
        leaf.grad = None
    outputs.spread()
    found = [t.grad for t in asked]
    for leaf in leaves_of(outputs):
        leaf.grad = saved[id(leaf)]
    return found


def leaves_of(tensor):
    """The leaves that a tensor is made of."""
    waiting, found = [tensor], []
    while waiting:
        each = waiting.pop()
        given = each.made[1] if each.made else ()
        waiting += [t for a in given for t in (a if isinstance(a, list) else [a]) if isinstance(t, Tensor)]
        found += [] if each.made else [each]
    return found


def with_path(tree, path=()):
    """The leaves of a tree of dicts and lists, with the keys that lead to them."""
    if not isinstance(tree, (dict, list, tuple)):
        return [(path, tree)]
    parts = tree.items() if isinstance(tree, dict) else enumerate(tree)
    return [each for key, part in parts for each in with_path(part, (*path, SimpleNamespace(key=key)))]


def tree_map(function, tree):
    """A tree with what a function gives of each leaf."""
    if isinstance(tree, dict):
        return {key: tree_map(function, part) for key, part in tree.items()}
    return type(tree)(tree_map(function, p) for p in tree) if isinstance(tree, (list, tuple)) else function(tree)


def unflatten(leaves, tree):
    """A tree with other leaves."""
    rest = iter(leaves)
    return tree_map(lambda _: next(rest), tree)

MODULES = {name: Room(name) for name in NAMES}
for _name, _module in MODULES.items():
    _parent, _, _last = _name.rpartition(".")
    if _parent:
        setattr(MODULES[_parent], _last, _module)
DTYPES = {}
_torch = MODULES["torch"]
_torch.dtype = type("dtype", (), {})
for _each in "float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 bool complex64 complex128".split():
    DTYPES[_each] = _torch.dtype()
    setattr(_torch, _each, DTYPES[_each])
for _each in ("device", "layout", "memory_format"):
    setattr(_torch, _each, type(_each, (), {}))
_torch.__file__, _torch.Tensor, _torch.strided, _torch.no_grad = __file__, Tensor, "strided", no_grad
_torch.Tag = SimpleNamespace(nondeterministic_seeded="random")
_torch.is_grad_enabled, _torch.enable_grad = lambda: STATE.grad, enable_grad
_torch.zeros_like = lambda tensor: Tensor(np.zeros_like(tensor.array))
_torch.func.grad = lambda *_: lambda *_, **__: "left to torch"
_torch.func.grad_and_value = lambda *_: lambda *_, **__: ("left to", "torch")
_torch.vmap = _torch.func.vmap = vmap
_torch.get_rng_state = _torch.set_rng_state = lambda *_: None
_torch.random = SimpleNamespace(fork_rng=lambda devices: contextlib.nullcontext())
_torch._C._functorch.peek_interpreter_stack = lambda: STATE.around
_pytree = _torch.utils._pytree
_pytree.tree_map, _pytree.tree_unflatten, _pytree.tree_flatten_with_path = tree_map, unflatten, lambda tree: (
    with_path(tree), tree)
_pytree.tree_leaves = lambda tree: [leaf for _, leaf in with_path(tree)]
_torch.isfinite = lambda tensor: np.isfinite(tensor.array)
_torch.tensor = lambda value, requires_grad=False, dtype=None: Tensor(
    np.asarray(value, np.float32), requires_grad=requires_grad)
_torch.stack = lambda parts: dispatch("stack", list(parts))
_torch._decomp.decomposition_table = {}
_torch._C.DispatchKey.CompositeImplicitAutograd = ""
_torch._C.DispatchKey.CPU, _torch._C.DispatchKeySet = "", str
_torch.nn.utils.clip_grad_norm_ = lambda tensors, most: np.sqrt(sum((t.grad.array ** 2).sum() for t in tensors))
_torch.nn.functional.kl_div = lambda *_, **__: None
_torch._C.TensorBase = TensorBase
_modes = _torch.utils._python_dispatch
_modes.TorchDispatchMode, _modes._get_dispatch_stack_at = DispatchMode, MODES.__getitem__
_modes._pop_mode, _modes._push_mode, _torch._C._len_torch_dispatch_stack = MODES.pop, MODES.append, MODES.__len__
_torch.autograd.Function = type("Function", (), {"apply": classmethod(lambda *_: None)})
_torch.autograd.function.BackwardCFunction = type("BackwardCFunction", (), {"apply": lambda *_: None})
_torch.autograd.grad = grad
_torch.amp.GradScaler = GradScaler
_torch.optim.Optimizer = Optimizer
_torch.optim.optimizer.register_optimizer_step_pre_hook = hooked(Optimizer.before)
_torch.optim.optimizer.register_optimizer_step_post_hook = hooked(Optimizer.after)
_torch.optim.lr_scheduler.LRScheduler = type("LRScheduler", (), {"step": lambda *_: None, "__init__": lambda _, of: (
    of.param_groups[0].update(initial_lr=0.05, lr=0.0))})
_torch.utils.data.dataloader._BaseDataLoaderIter = type("Loaded", (), {
    "__next__": lambda self: self.batch, "_dataset": [], "_index_sampler": range(5)})
_torch.nn.Parameter = Parameter
_torch.nn.Module = type("Module", (), dict.fromkeys((
    "eval", "load_state_dict", "state_dict", "register_full_backward_hook", "register_full_backward_pre_hook"),
    lambda *_: None))
Tensor.requires_grad_ = lambda self, on=True: setattr(self, "requires_grad", on) or self
OPS = {op._name: op for op in (
    Op("mm", np.matmul, lambda dy, a, b: (dy @ b.array.T, a.array.T @ dy)),
    Op("sub.Tensor", np.subtract, lambda dy, a, b: (dy, -dy)),
    Op("mul.Tensor", np.multiply, lambda dy, a, b: (dy * b.array, dy * a.array)),
    Op("square", np.square, lambda dy, a: (2 * dy * a.array,)),
    Number("_local_scalar_dense", None), Own("own", np.square, lambda dy, a: (2 * dy * a.array,)),
    Op("mean", np.mean, lambda dy, a: (np.broadcast_to(dy / a.numel(), a.shape),)),
    Op("embedding", lambda w, ids, padding: w[ids], lambda dy, w, ids, padding: (np.zeros_like(w.array),)),
    Op("strange", np.abs, lambda dy, a: (dy * np.sign(a.array),)),
    Op("stack", np.stack, lambda dy, parts: list(dy)), Op("select.int", lambda a, axis, row: a[row]),
    Op("sub_.Tensor", np.subtract, writes=True), Op("add_.Tensor", np.add, writes=True),
    Op("mul_.Tensor", np.multiply, writes=True), Op("set_", None, writes=True), Drawn(
        "normal", lambda a: a + 0.5, lambda dy, a: (dy * 0,)),
    Op("copy_", lambda a, b: b, writes=True), Op("add.Scalar", np.add, lambda dy, a, b: (dy, None)))}
MODULES["torch.ops.aten"].copy_ = SimpleNamespace(default=OPS["copy_"])


@contextlib.contextmanager
def installed(package):
    """`import torch` finds this; the modules of `package` that were loaded with it are forgotten afterwards."""
    kept = {name: sys.modules.get(name) for name in NAMES}
    before = set(sys.modules)
    sys.modules.update(MODULES)
    try:
        yield _torch
    finally:
        for name in set(sys.modules) - before:
            if name.startswith(f"{package}.") and not name.startswith(f"{package}.aten"):
                del sys.modules[name]
        for name, module in kept.items():
            sys.modules.pop(name, None)
            if module is not None:
                sys.modules[name] = module
