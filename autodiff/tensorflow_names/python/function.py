"""tensorflow.python.framework.function and eager.function: functions that are called while the graph is built."""
from __future__ import annotations

from collections.abc import Callable
from graphlib import CycleError, TopologicalSorter
from typing import Any

from ...api.control.defun import DefinedFunction, Defun
from ...api.control.function import defun, function
from ...api.saved_graphs.reading import function_of
from ...api.type_specs import TypeSpec
from ...core.dtypes import as_dtype
from ...core.errors import ArgumentError
from ...core.graph import Graph
from ...runtime.eager import executing_eagerly
from ...runtime.session import Session

__all__ = ["Defun", "defun", "function", "wrap_function"]

_DefinedFunction = DefinedFunction


def _from_definition(fdef: Any, grad_func: Any = None) -> DefinedFunction:
    """The function of a FunctionDef, which calls no other. grad_func: the function that gives its gradient."""
    types = [as_dtype(argument.type) for argument in fdef.signature.input_arg]
    made = DefinedFunction(function_of(fdef), types, name=fdef.signature.name, grad_func=grad_func)
    made.__dict__["definition"] = fdef
    return made


def from_library(lib: Any) -> list[DefinedFunction]:
    """The functions of a FunctionDefLibrary, those that are gradients first.

    Raises ArgumentError (ValueError) for a gradient of, or by, a function that it does not have, and for circles.
    """
    definitions = {fdef.signature.name: fdef for fdef in lib.function}
    gradients = {each.function_name: each.gradient_func for each in lib.gradient}
    for name in (*gradients, *gradients.values()):
        if name not in definitions:
            raise ArgumentError(f"FunctionDefLibrary missing '{name}' FunctionDef")
    order = TopologicalSorter({name: [gradients[name]] if name in gradients else [] for name in definitions})
    made: dict[str, DefinedFunction] = {}
    try:
        for name in order.static_order():
            made[name] = _from_definition(definitions[name], made.get(gradients.get(name, "")))
    except CycleError:
        raise ArgumentError("FunctionDefLibrary contains cyclic gradient functions!") from None
    return list(made.values())


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
