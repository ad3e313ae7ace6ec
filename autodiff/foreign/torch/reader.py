"""from_torch: a PyTorch module or function as a graph, by recording what it does with example arguments."""
from __future__ import annotations

import contextlib
import inspect
import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.utils._pytree as pytree
from torch._dispatch.python import enable_python_dispatcher
from torch._dynamo.source import ConstantSource
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

from ...core.graph import Graph
from ...debug.analysis.advice import advice_of
from ..model import Model, legal_name, tf
from .functions import Calls
from .graph import DTYPES, TorchGraph, array_of, sliced
from .record import Call, Recorder
from .sizes import Sizes
from .transforms import uncompiled
from .words import WORDS


class _Trace(NamedTuple):
    """A program as it was run once. args: the tensors it was run with, flat; given: those it was called with.

    state: its parameters and buffers by name, and what they hold.
    """

    recorder: Recorder
    args: list[Any]
    given: list[Any]
    state: dict[str, tuple[Any, Any]]
    outputs: list[Any]


def from_torch(program: Any, args: Sequence[Any], kwargs: Mapping[str, Any] | None = None) -> Model:
    """A module or function as a graph, recorded with example arguments.

    Placeholders have the names of the parameters of `forward`; their first axis, the batch, stays unknown where the
    program allows it. Parameters and buffers become Variables by their dotted names. Control flow is that of the
    example. Autograd is as torch has it: what is detached there is stopped here, an autograd.Function keeps its own
    backward. Raises MissingOpError for ops that the table lacks and torch cannot take apart.
    """
    kwargs = dict(kwargs or {})
    names = _names(program, args, kwargs)
    concrete = _traced(program, args, kwargs, None)
    try:
        with _quiet():
            symbolic = _traced(program, args, kwargs, FakeTensorMode(allow_non_fake_inputs=True, shape_env=ShapeEnv()))
        _check(_built(symbolic, names), concrete)
        return _built(symbolic, names)
    except Exception:  # an op, or a line of the program, that must know the sizes or the values: they stay fixed
        return _built(concrete, names)


def _check(model: Model, concrete: _Trace) -> None:
    """Raises an error unless a model gives what the program gave, and its gradients can be computed."""
    with model.graph.as_default(), tf.Session(graph=model.graph) as session:
        session.run(tf.global_variables_initializer())
        found = session.run(list(model.outputs), model.feeds)
        for got, want in zip(found, concrete.outputs, strict=True):
            np.testing.assert_allclose(got, array_of(want), rtol=1e-3, atol=1e-5)
            np.testing.assert_array_equal(got.shape, want.shape)  # which may have been broadcast
        ys = [y for y in model.outputs if y.dtype.is_floating]
        slopes = tf.gradients(ys, [x for x in model.inputs.values() if x.dtype.is_floating]) if ys else []
        session.run([tf.convert_to_tensor(g) for g in slopes if g is not None], model.feeds)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Let torch be silent about what stand-ins cannot do, and not use kernels that must know all sizes."""
    disabled = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with torch.backends.mkldnn.flags(enabled=False), enable_python_dispatcher():
            yield
    finally:
        logging.disable(disabled)


def _traced(program: Any, args: Sequence[Any], kwargs: Mapping[str, Any], mode: FakeTensorMode | None) -> _Trace:
    """Run the program under a recorder: with the values, or in a mode of stand-ins whose first size is a symbol."""
    own_args, own_kwargs = pytree.tree_map(lambda x: _fresh(x, mode), (tuple(args), dict(kwargs)))
    held = dict(_state(program))
    state = {name: _fresh(t, mode, t.requires_grad, is_fixed=True) for name, t in held.items()}
    recorder = Recorder()
    with torch.random.fork_rng(devices=[]), torch.enable_grad(), Calls(recorder) as calls:
        with mode or torch.enable_grad(), recorder, uncompiled(recorder.choose):
            if state:
                outputs = torch.func.functional_call(program, state, own_args, own_kwargs, tie_weights=True)
            else:
                outputs = program(*own_args, **own_kwargs)
            found = tensors_of(outputs)
        entries = list(recorder.entries)
        with mode or torch.enable_grad():
            for entry in entries:
                if isinstance(entry.op, Call):
                    _differentiate(calls, recorder, entry)
        recorder.entries = entries
    own, given = tensors_of((own_args, own_kwargs)), tensors_of((tuple(args), dict(kwargs)))
    return _Trace(recorder, own, given, {name: (t, held[name]) for name, t in state.items()}, found)


def tensors_of(tree: Any) -> list[Any]:
    """The tensors of any tree of arguments, in torch's order."""
    return [x for x in pytree.tree_leaves(tree) if isinstance(x, torch.Tensor)]


def _fresh(x: Any, mode: FakeTensorMode | None, requires_grad: bool | None = None, *, is_fixed: bool = False) -> Any:
    """An argument of one's own: a copy, or a stand-in that has its first size as a symbol."""
    if not isinstance(x, torch.Tensor):
        return x
    wanted = (x.is_floating_point() or x.is_complex()) if requires_grad is None else requires_grad
    flat = x.detach().clone()
    if mode is not None:
        flat = _stand_in(flat, mode, is_fixed)
    return flat.requires_grad_(wanted) if wanted else flat


def _stand_in(x: Any, mode: FakeTensorMode, is_fixed: bool) -> Any:
    if is_fixed or not x.dim() or x.shape[0] < 2:
        return mode.from_tensor(x, static_shapes=True)
    dynamic = [DimDynamic.DYNAMIC] + [DimDynamic.STATIC] * (x.dim() - 1)
    context = StatelessSymbolicContext(dynamic_sizes=dynamic)
    source = ConstantSource(f"argument_{id(x)}")
    return mode.from_tensor(x, source=source, symbolic_context=context)


def _state(program: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(program, torch.nn.Module):
        yield from program.named_parameters()
        yield from program.named_buffers()


def _differentiate(calls: Calls, recorder: Recorder, entry: Any) -> None:
    """Let a Function's own backward run, so that what it does is known."""
    call = entry.op
    dys = tuple(torch.ones_like(t) for t in entry.made)
    with torch.no_grad(), recorder:
        calls.differentiated(call.node, dys, lambda: call.function.backward(call.node, *dys))


def _built(trace: _Trace, names: list[str]) -> Model:
    graph, sizes = Graph(), Sizes()
    graph.keeps_subnormals = True
    advice_of(graph).words = WORDS
    inputs: dict[str, Any] = {}
    variables: dict[str, Any] = {}
    feeds: dict[Any, Any] = {}
    with graph.as_default():
        builder = TorchGraph(graph, trace.recorder, _constant, sizes)
        builder.hides_edits = True
        for name, tensor, given in zip(names, trace.args, trace.given):
            node = inputs[name] = _placeholder(name, tensor, sizes)
            feeds[node] = array_of(given)
            builder.give(tensor, node)
        for name, (tensor, held) in trace.state.items():
            variables[name] = tf.Variable(array_of(held), trainable=tensor.requires_grad, name=legal_name(name),
                                          use_resource=True)
            builder.give(tensor, variables[name].read_value())
        builder.add(sliced(trace.recorder.entries, trace.outputs))
        outputs = [builder.of(t) for t in trace.outputs]
    return Model(graph, inputs, outputs, variables, feeds)


def _placeholder(name: str, tensor: Any, sizes: Sizes) -> Any:
    known = [d if isinstance(d, int) else sizes.number(d) for d in tensor.shape]
    node = tf.placeholder(DTYPES[tensor.dtype], known, name=legal_name(name))
    for axis, size in enumerate(tensor.shape):
        if known[axis] is None:
            sizes.know(size, tf.shape(node)[axis])
    return node


def _constant(tensor: Any, value: Any, entry: Any) -> Any:
    """What a program holds without being given it. Stand-ins have no value, so they end the attempt."""
    if isinstance(tensor, FakeTensor):
        if tensor.constant is None:
            raise LookupError("a tensor that is neither given nor made")
        return tf.constant(array_of(tensor.constant))
    return tf.constant(value())


def _names(program: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[str]:
    """A name for each tensor of the arguments: its parameter's, with its place where there are several."""
    function = program.forward if isinstance(program, torch.nn.Module) else program
    try:
        bound = inspect.signature(function).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        bound = {f"argument_{i}": a for i, a in enumerate(args)} | dict(kwargs)
    found: list[str] = []
    for name, value in bound.items():
        several = tensors_of(value)
        found += [name] if len(several) == 1 else [f"{name}_{i}" for i in range(len(several))]
    return found
