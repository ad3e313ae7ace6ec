"""tf.function: Python functions that are called while the graph is built, each time anew."""
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core import nest
from ...core.collections import GraphKeys
from ...core.convert import convert_to_tensor
from ...core.errors import ArgumentError, KindError
from ...core.function_graph import functions_of, is_repeatable
from ...core.graph import Graph, Operation, Tensor, get_default_graph
from ...core.op import build


def function(func: Callable[..., Any] | None = None, input_signature: Any = None, autograph: bool = True,
             **options: Any) -> Any:
    """The function with its arguments as tensors, inside of a scope of its name; its ops join the caller's graph.

    Whatever of its results is fetched, what it assigns, asserts and prints is done, in order.

    input_signature: TensorSpecs of the arguments. Python's own loops and choices are not rewritten: `autograph` and
    the other options are accepted without effect. Raises KindError (TypeError) for what cannot be called.
    """
    if func is None:
        return functools.partial(function, input_signature=input_signature, autograph=autograph, **options)
    if not callable(func):
        raise KindError(f"{func!r} is not a callable object")
    name = getattr(func, "__name__", "function")

    @functools.wraps(func)
    def called(*args: Any, **kwargs: Any) -> Any:
        if input_signature is not None:
            args = tuple(_as_specified(args, input_signature))
        args = nest.map_structure(lambda x: convert_to_tensor(x) if type(x).__module__ == "numpy" else x, args)
        graph = get_default_graph()
        with graph.name_scope(name.strip("<>_") or "function"):
            before, outer = graph.version, graph.extras.get(_CALLING, False)
            graph.extras[_CALLING] = True
            try:
                result = func(*args, **kwargs)
            finally:
                graph.extras[_CALLING] = outer
            waits = [] if graph.executing_eagerly else _effects(graph, before)
            with graph.control_dependencies(waits):
                return build.NoOp(name="effects") if result is None and waits else _given_back(result)

    called.python_function = func  # type: ignore[attr-defined]
    called.get_concrete_function = lambda *a, **k: called  # type: ignore[attr-defined]
    return called


defun = function
_CALLING = "a function is called"  # in a graph's extras
_WITHOUT_EFFECT = ("Placeholder", "VariableV2", "VarHandleOp", "ReadVariableOp", "VarIsInitializedOp",
                   "IsVariableInitialized")


def nondifferentiable_batch_function(num_batch_threads: int, max_batch_size: int, batch_timeout_micros: int,
                                     allowed_batch_sizes: Sequence[int] | None = None, max_enqueued_batches: int = 10,
                                     autograph: bool = True) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: the function of tensors, through which no gradient flows. Each run is a batch of its own."""
    def decorated(func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def called(*args: Any) -> Any:
            results = func(*map(convert_to_tensor, args))
            return nest.map_structure(lambda result: build.StopGradient(result), results)

        return called

    return decorated


batch_function = nondifferentiable_batch_function  # tensorflow.python.ops.batch_ops has it so


def _effects(graph: Graph, before: int) -> list[Operation]:
    """The operations made since `before` that a call runs, whatever of its results is fetched.

    What reads or changes a variable waits for what has changed it; initial values are given by the initializers alone.
    """
    initializers = {getattr(v, "initializer", None) for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES)
                    for v in graph.get_collection(key)}
    last: dict[Any, Operation] = {}
    found = []
    for op in graph.operations.listed[before:]:
        if not op.definition.stateful or op in initializers or functions_of(op) and is_repeatable(op):
            continue
        handles = [t for t in op.inputs if t.dtype.name == "resource"]
        op.waits_for = tuple(dict.fromkeys((*op.waits_for, *(last[t] for t in handles if t in last))))
        if op.type not in _WITHOUT_EFFECT:
            found.append(op)
            last.update(dict.fromkeys(handles, op))
    return found


def with_effects(graph: Graph, outputs: list[Tensor]) -> list[Tensor]:
    """The outputs of a branch or a body; within a function's call, once all is done that stands beside them."""
    waits = _effects(graph, 0) if graph.extras.get(_CALLING) else []
    if not waits:
        return outputs
    with graph.as_default(), graph.control_dependencies(waits):
        return [build.Identity(graph.capture(output)) for output in outputs]


def _as_specified(values: Sequence[Any], specs: Sequence[Any]) -> list[Any]:
    if len(values) != len(specs):
        raise ArgumentError("Structure of Python function inputs does not match input_signature",
                            expected=len(specs), found=len(values))
    tensors = [convert_to_tensor(value, dtype=spec.dtype) for value, spec in zip(values, specs)]
    for tensor, spec in zip(tensors, specs):
        if not spec.is_compatible_with(tensor):
            raise ArgumentError("Python inputs incompatible with input_signature", expected=repr(spec),
                                found=tensor.describe())
    return tensors


def _given_back(result: Any) -> Any:
    """A function's results are tensors of their own, numbers too; None and operations stay."""
    values = bool, int, float, complex, str, bytes, np.ndarray, np.generic
    return nest.map_structure(lambda v: build.Identity(v) if isinstance(v, Tensor) else
                              convert_to_tensor(v) if isinstance(v, values) else v, result)
