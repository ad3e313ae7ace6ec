"""tf.function and Defun: Python functions that are called while the graph is built, each time anew."""
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from ...core import nest
from ...core.convert import convert_to_tensor
from ...core.dtypes import as_dtype
from ...core.errors import ArgumentError, KindError
from ...core.graph import Tensor, get_default_graph
from ...core.op import REGISTERED_GRADIENTS, build
from .custom import custom_gradient


def function(func: Callable[..., Any] | None = None, input_signature: Any = None, autograph: bool = True,
             **options: Any) -> Any:
    """The function with its arguments as tensors, inside of a scope of its name; its ops join the caller's graph.

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
        args = nest.map_structure(_as_tensor, args)
        with get_default_graph().name_scope(name.strip("<>_") or "function"):
            return _given_back(func(*args, **kwargs))

    called.python_function = func  # type: ignore[attr-defined]
    called.get_concrete_function = lambda *a, **k: called  # type: ignore[attr-defined]
    return called


defun = function


def _as_tensor(value: Any) -> Any:
    return convert_to_tensor(value) if type(value).__module__ == "numpy" else value


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
    """A function's results are tensors of their own; None and operations stay."""
    return nest.map_structure(lambda v: build.Identity(v) if isinstance(v, Tensor) else v, result)


def _named(result: Any, name: str) -> Any:
    """A function's results as those of one operation of that name; None and operations stay."""
    if isinstance(result, Tensor):
        return build.Identity(result, name=name)
    if not isinstance(result, (list, tuple)) or not result:
        return result
    if len(result) == 1:
        return [build.Identity(convert_to_tensor(result[0]), name=name)]
    return build.IdentityN(*map(convert_to_tensor, result), name=name)


class Defun:
    """Decorator: a function of tensors of these types, called while the graph is built.

    func_name: its scope. python_grad_func(op, *dys), or grad_func(*inputs, *dys), gives its gradient in place of that
    of its ops, and so does one that a gradient_override_map names for func_name. The rest is without effect.
    """

    def __init__(self, *input_types: Any, func_name: str | None = None, grad_func: Any = None,
                 python_grad_func: Any = None, **options: Any) -> None:
        self._types, self._name = [as_dtype(t) for t in input_types], func_name
        self._rule = python_grad_func or grad_func and (lambda op, *dys: grad_func(*op.inputs, *dys))

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        name = self._name or func.__name__

        @functools.wraps(func)
        def called(*args: Any, **kwargs: Any) -> Any:
            if self._types and len(args) != len(self._types):
                raise ArgumentError(f"Expected number of arguments: {len(self._types)}, received: {len(args)}")
            kinds: list[Any] = list(self._types) or [None] * len(args)
            inputs = [convert_to_tensor(value, dtype=kind) for value, kind in zip(args, kinds)]
            with get_default_graph().name_scope(kwargs.pop("name", None) or name.strip("<>_") or "function") as scope:
                override = REGISTERED_GRADIENTS.get(get_default_graph().overrides.get(name, ""))
                rule = override or self._rule
                result = func(*inputs) if rule is None else _by_rule(func, rule, inputs)
                return _named(result, scope)

        called.name = name  # type: ignore[attr-defined]
        called.declared_input_types = self._types  # type: ignore[attr-defined]
        return called


def _by_rule(func: Callable[..., Any], rule: Callable[..., Any], inputs: Sequence[Tensor]) -> Any:
    """The results of a function whose gradient is what `rule(op, *dys)` gives; op has the inputs."""

    @custom_gradient
    def with_rule(*xs: Tensor) -> Any:
        return func(*xs), lambda *dys: rule(SimpleNamespace(inputs=xs), *dys)

    return with_rule(*inputs)
