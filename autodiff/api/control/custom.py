"""Functions of the user's own: Python functions inside of a run, and gradients given by hand."""
from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import nest
from ...core.convert import convert_to_tensor
from ...core.dtypes import as_dtype
from ...core.errors import ArgumentError, KindError, UnknownError, UnknownNameError
from ...core.graph import Tensor, get_default_graph
from ...core.indexed_slices import dense
from ...core.name_scope import scope
from ...core.op import OPS, REGISTERED_GRADIENTS, build
from ...gradients.tape import GradientTape
from ...runtime.eager import EagerContext

_IDS = itertools.count()


def py_func(func: Callable[..., Any], inp: Any, Tout: Any, stateful: bool = True, name: str | None = None) -> Any:  # noqa: N803
    """The result of a Python function, called in the run: NumPy arrays in, arrays of exactly Tout out.

    Tout: a dtype, or a list of them for a list of results. No gradient flows through it. When it
    raises ValueError or TypeError, or gives another dtype, the run fails with InvalidArgumentError.
    """
    if not callable(func):
        raise ArgumentError(expected="a function to call", found=repr(func))
    several = isinstance(Tout, (list, tuple))
    types = [as_dtype(t).base_dtype.name for t in (Tout if several else [Tout])]
    values = list(inp) if isinstance(inp, (list, tuple)) else [inp]
    with scope(name, "PyFunc", values) as full:
        inputs = [convert_to_tensor(v, name=f"input_{i}") for i, v in enumerate(values)]
        result = build.PyFunc(*inputs, function=func, types=types, single=not several, name=full)
    return result if types or stateful else []  # no run is in need of it


numpy_function = py_func


def py_function(func: Callable[..., Any], inp: Any, Tout: Any, name: str | None = None) -> Any:  # noqa: N803
    """The result of a function of eager tensors, called in the run; gradients flow through it.

    Tout: a dtype, or a list of them for a list of results. The function runs again for its gradient.
    """
    if not callable(func):
        raise ArgumentError(expected="a callable function", found=repr(func))
    several = isinstance(Tout, (list, tuple))
    types = [as_dtype(t).base_dtype.name for t in (Tout if several else [Tout])]
    values = list(inp) if isinstance(inp, (list, tuple)) else [inp]
    eagerly = _Eagerly(func, len(values))
    with scope(name, "EagerPyFunc", values) as full:
        inputs = [convert_to_tensor(v, name=f"input_{i}") for i, v in enumerate(values)]
        result = build.PyFunc(*inputs, function=eagerly, types=types, single=not several, gradient=eagerly.gradient,
                              name=full)
    return [] if not types and get_default_graph().executing_eagerly else result


class _Eagerly:
    """A function of eager tensors as one of arrays, and its gradient. count: of its arguments."""

    def __init__(self, function: Callable[..., Any], count: int) -> None:
        self._function, self._count = function, count

    def __call__(self, *arrays: Any) -> Any:
        with EagerContext().as_default():
            results = self._function(*[convert_to_tensor(a) for a in arrays])
            results = [] if results is None else results
            several = isinstance(results, (list, tuple))
            if any(hasattr(r, "is_resource") for r in (results if several else [results])):
                raise UnknownError(None, None, "Attempting to return a variable from an eagerly executed py_func.",
                                   hint="return what its read_value() gives")
            found = [np.asarray(convert_to_tensor(r)) for r in (results if several else [results])]
        return found if several else found[0]

    def gradient(self, *arrays: Any) -> list[Any]:
        with EagerContext().as_default():
            xs = [convert_to_tensor(a) for a in arrays[:self._count]]
            with GradientTape() as tape:
                tape.watch(xs)
                results = self._function(*xs)
            results = list(results) if isinstance(results, (list, tuple)) else [results]
            found = tape.gradient(results, xs, [convert_to_tensor(a) for a in arrays[self._count:]])
            return [np.zeros(np.shape(x), x.dtype.as_numpy_dtype) if dx is None else np.asarray(dense(dx))
                    for x, dx in zip(xs, found)]


class RegisterGradient:
    """`@tf.RegisterGradient("Name")`: a gradient function, for gradient_override_map or an op type without one.

    It is called with the operation and the gradient of each output, and returns one for each input.
    Raises KindError (TypeError) for a name that is no string, TakenNameError (KeyError) for one taken.
    """

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            raise KindError(expected="the name of an op type", found=repr(op_type))
        self._op_type = op_type

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        _register(self._op_type, f)
        return f


def NotDifferentiable(op_type: str) -> None:  # noqa: N802
    """Say that no gradient flows through ops of this type, or with this name in a gradient_override_map."""
    if not isinstance(op_type, str):
        raise KindError(expected="the name of an op type", found=repr(op_type))
    _register(op_type, None)


NoGradient = NotDifferentiable


def _register(name: str, function: Callable[..., Any] | None) -> None:
    built_in = OPS.get(name)
    if name in REGISTERED_GRADIENTS or built_in is not None and built_in.no_rule is None:
        raise UnknownNameError(f"a gradient is registered under the name {name!r} already",
                               hint="choose another name and use graph.gradient_override_map")
    REGISTERED_GRADIENTS[name] = function


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator: f(*tensors) returns (results, grad), and grad(*dys) the gradient of each argument.

    A function that reads resource variables gets them as grad(*dys, variables=[...]) and returns
    (gradients of arguments, gradients of variables). Raises ArgumentError (ValueError) for keyword
    arguments in graph mode, or a wrong count of gradients.
    """

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        if kwargs and not get_default_graph().executing_eagerly:
            raise ArgumentError(expected="positional arguments in graph mode", found=f"the keywords {sorted(kwargs)}")
        inputs = [build.Identity(convert_to_tensor(x)) for x in args]
        with GradientTape() as tape:
            result, grad = f(*inputs, **kwargs)
        variables = list(tape.watched_variables())
        _check_variables(grad, variables)
        results = [convert_to_tensor(x) for x in nest.flatten(result)]
        everything = [*results, *inputs, *[v.handle_tensor for v in variables]]
        name = f"CustomGradient-{next(_IDS)}"
        REGISTERED_GRADIENTS[name] = CustomRule(grad, len(results), len(inputs), variables,
                                               is_convention=getattr(f, "is_convention", False))
        with get_default_graph().gradient_override_map({"IdentityN": name}):
            outputs = build.IdentityN(*everything)
        outputs = outputs[:len(results)] if isinstance(outputs, list) else [outputs]
        return nest.pack_sequence_as(result, outputs)

    return decorated


class CustomRule:
    """The gradient rule of the IdentityN that stands for a function with a gradient of its own.

    results, inputs: how many of the IdentityN's inputs are the function's results, and how many its arguments.
    is_convention: whether a framework has that gradient, at kinks and bounds too, and no user is to blame for it.
    """

    def __init__(self, grad: Callable[..., Any], results: int, inputs: int, variables: list[Any], *,
                 is_convention: bool = False) -> None:
        self._grad, self.results, self.inputs, self._variables = grad, results, inputs, variables
        self.is_convention = is_convention

    def __call__(self, op: Any, *dys: Tensor) -> list[Any]:
        given = dys[:self.results]
        if self._variables:
            found, for_variables = self._grad(*given, variables=self._variables)
            for_variables = nest.flatten(for_variables)
            if len(for_variables) != len(self._variables):
                raise ArgumentError(expected=f"a gradient for each of {len(self._variables)} variables",
                                    found=len(for_variables))
        else:
            found, for_variables = self._grad(*given), []
        found = list(found) if isinstance(found, (list, tuple)) else [found]
        if len(found) != self.inputs:
            raise ArgumentError(f"the custom gradient gave {len(found)} gradients for {self.inputs} arguments")
        return [None] * self.results + found + for_variables


def _check_variables(grad: Callable[..., Any], variables: list[Any]) -> None:
    parameters = inspect.signature(grad).parameters
    takes = "variables" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    if variables and not takes:
        raise KindError("the function reads variables, so its gradient function must take a keyword argument "
                        f"'variables': {[v.name for v in variables]}")
