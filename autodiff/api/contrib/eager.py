"""tf.contrib.eager: names of eager execution that became tf's own, and gradients of functions."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.convert import convert_to_tensor
from ...core.errors import ArgumentError
from ...gradients.tape import GradientTape
from ...runtime.eager import enable_eager_execution, executing_eagerly
from ..common.unsupported import refusing
from ..control.custom import custom_gradient, py_function
from ..control.function import function
from ..test.modes import run_all_in_graph_and_eager_modes, run_in_graph_and_eager_modes
from ..train.objects import Checkpoint
from ..variables.eager_store import EagerVariableStore
from ..variables.variable import Variable

__all__ = ["Checkpoint", "EagerVariableStore", "GradientTape", "Variable", "custom_gradient", "defun",
           "enable_eager_execution", "executing_eagerly", "function", "gradients_function", "implicit_gradients",
           "implicit_value_and_gradients", "in_eager_mode", "py_func", "run_all_tests_in_graph_and_eager_modes",
           "run_test_in_graph_and_eager_modes", "value_and_gradients_function"]
defun, py_func, in_eager_mode = function, py_function, executing_eagerly
run_test_in_graph_and_eager_modes = run_in_graph_and_eager_modes
run_all_tests_in_graph_and_eager_modes = run_all_in_graph_and_eager_modes

__getattr__ = refusing("tf.contrib.eager", __name__)


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
