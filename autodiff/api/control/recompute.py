"""Functions whose gradient is made otherwise: by computing them once more, or by leaving them out."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ...core import nest
from ...core.convert import convert_to_tensor
from ...core.graph import Tensor, get_default_graph
from ...core.op import build
from ...gradients.backprop import gradients
from ...gradients.tape import GradientTape
from .custom import custom_gradient


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f` whose gradient is that of the identity."""

    @functools.wraps(f)
    def passing(*args: Any, **options: Any) -> Any:
        @custom_gradient
        def inner(*inputs: Tensor) -> Any:
            def grad(*dys: Tensor, variables: Any = None) -> Any:
                return (*dys, [None] * len(variables)) if variables is not None else dys

            return f(*inputs, **options), grad

        return inner(*args)

    return passing


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f` that is computed again for its gradient, so that what it kept need not be remembered."""

    @functools.wraps(f)
    def recomputing(*args: Any, **options: Any) -> Any:
        @custom_gradient
        def inner(*inputs: Tensor) -> Any:
            result = f(*inputs, **options)

            def grad(*dys: Tensor, variables: Any = None) -> Any:
                with get_default_graph().control_dependencies(dys), GradientTape() as tape:
                    again = [build.Identity(convert_to_tensor(x)) for x in inputs]
                    tape.watch(again)
                    outputs = nest.flatten(f(*again, **options))
                slopes: Any = tape.gradient if outputs[0].graph.executing_eagerly else gradients
                found = slopes(outputs, [*again, *(variables or ())], list(dys))
                return (found[:len(again)], found[len(again):]) if variables is not None else found

            return result, grad

        return inner(*args)

    return recomputing
