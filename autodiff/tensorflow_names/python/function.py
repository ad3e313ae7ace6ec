"""tensorflow.python.framework.function and eager.function: functions that are called while the graph is built."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...api.control.function import Defun, defun, function
from ...api.type_specs import TypeSpec
from ...core.graph import Graph
from ...runtime.eager import executing_eagerly
from ...runtime.session import Session

__all__ = ["Defun", "defun", "function", "wrap_function"]


def wrap_function(fn: Callable[..., Any], signature: Any = None, name: str | None = None) -> Callable[..., Any]:
    """The function, called while the graph is built: with the tensors that a call gives for the specs of `signature`.

    What else is in the signature is handed on as it is. Executing eagerly, a function without such specs gets a graph
    of its own.
    """
    if not isinstance(signature, (list, tuple)):
        return function(fn)

    def called(*args: Any) -> Any:
        tensors = iter(args)
        given = [next(tensors) if isinstance(part, TypeSpec) else part for part in signature]
        if args or not executing_eagerly():
            return fn(*given)
        with Graph().as_default() as graph:
            result = fn(*given)
            return None if result is None else Session(graph=graph).run(result)

    return called
