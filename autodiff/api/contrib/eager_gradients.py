"""tf.contrib.eager's gradients of functions: by their arguments, or by the variables that they use."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.convert import convert_to_tensor
from ...core.errors import ArgumentError
from ...gradients.tape import GradientTape

Function = Callable[..., Any]


def implicit_value_and_gradients(f: Function) -> Function:
    """A function that gives f's value, and (gradient, variable) for each trainable variable that f uses.

    Calling it raises ArgumentError (ValueError) if f gives None, or uses no variable.
    """
    def value_and_gradients(*args: Any, **kwargs: Any) -> tuple[Any, list[tuple[Any, Any]]]:
        with GradientTape() as tape:
            value = f(*args, **kwargs)
        if value is None:
            raise ArgumentError(f"Cannot differentiate a function that returns None; did you forget to return a value "
                                f"from {f.__name__}?")
        variables = list(tape.watched_variables())
        if not variables:
            raise ArgumentError("No trainable variables were accessed while the function was being computed.")
        return value, list(zip(tape.gradient(value, variables), variables))
    return value_and_gradients


def implicit_gradients(f: Function) -> Function:
    """As implicit_value_and_gradients, without the value."""
    return lambda *args, **kwargs: implicit_value_and_gradients(f)(*args, **kwargs)[1]


def value_and_gradients_function(f: Function, params: Sequence[int] | None = None) -> Function:
    """A function that gives f's value and its gradients by its arguments, or by those of these numbers.

    dy: the gradient of the value, for the chain rule; ones by default.
    """
    def value_and_gradients(*args: Any, dy: Any = None, **kwargs: Any) -> tuple[Any, list[Any]]:
        given = [convert_to_tensor(arg) for arg in args]
        chosen = [given[i] for i in (range(len(given)) if params is None else params)]
        with GradientTape() as tape:
            for tensor in chosen:
                tape.watch(tensor)
            value = f(*given, **kwargs)
        return value, tape.gradient(value, chosen, output_gradients=dy)
    return value_and_gradients


val_and_grad_function = value_and_gradients_function  # as TensorFlow's own module has it


def gradients_function(f: Function, params: Sequence[int] | None = None) -> Function:
    """As value_and_gradients_function, without the value."""
    return lambda *args, **kwargs: value_and_gradients_function(f, params)(*args, **kwargs)[1]
