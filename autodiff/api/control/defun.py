"""Defun: a function of tensors of given types, called while the graph is built, each time anew."""
from __future__ import annotations

import functools
import hashlib
import inspect
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from ...core.convert import convert_to_tensor
from ...core.dtypes import DType, as_dtype
from ...core.errors import ArgumentError, InvalidArgumentError
from ...core.function_graph import Function, FunctionGraph, finish
from ...core.graph import Tensor, get_default_graph
from ...core.graph_parts import written_as
from ...core.names import UniqueNames
from ...core.op import REGISTERED_GRADIENTS, build
from ...core.traversal import ancestors
from .custom import custom_gradient

_FROM_OUTSIDE = ("Argument", "Captured")


class Defun:
    """Decorator: makes a DefinedFunction of a function of tensors.

    func_name: its scope. python_grad_func(op, *dys), or grad_func(*inputs, *dys), gives its gradient in place of that
    of its ops, and so does one that a gradient_override_map names for func_name. The other options, and `noinline`, are
    attributes of its definition.
    """

    def __init__(self, *input_types: Any, func_name: str | None = None, grad_func: Any = None,
                 python_grad_func: Any = None, out_names: Sequence[str] = (), shape_func: Any = None,
                 capture_by_value: bool = False, whitelisted_stateful_ops: Any = None,
                 capture_resource_var_by_value: bool = True, **attributes: Any) -> None:
        self._options = {"name": func_name, "grad_func": grad_func, "python_grad_func": python_grad_func,
                         "out_names": out_names, "by_value": capture_by_value, "attributes": attributes,
                         "whitelisted": whitelisted_stateful_ops or ()}
        self._types = tuple(as_dtype(t) for t in input_types)

    def __call__(self, func: Callable[..., Any]) -> "DefinedFunction":
        return DefinedFunction(func, self._types, **self._options)


class DefinedFunction:
    """A function whose ops join the graph where it is called. definition: it as a FunctionDef, of ops of its own.

    declared_input_types: empty for a function that takes tensors of any types. Raises ArgumentError (ValueError) for
    default arguments, and for another number of arguments than of types.
    """

    def __init__(self, func: Callable[..., Any], types: Sequence[DType], *, name: str | None = None,
                 grad_func: Any = None, python_grad_func: Any = None, out_names: Sequence[str] = (),
                 by_value: bool = False, whitelisted: Any = (), attributes: dict[str, Any] | None = None) -> None:
        functools.update_wrapper(self, func)
        self._func, self._label, self._name = func, name or func.__name__, name
        self.declared_input_types, self.python_grad_func = tuple(types), python_grad_func
        self._grad_func, self._out_names, self._by_value = grad_func, tuple(out_names), by_value
        self._whitelisted, self._attributes = frozenset(whitelisted), attributes or {}
        taken = inspect.getfullargspec(func)
        if taken.varkw or taken.defaults:
            raise ArgumentError("Functions with argument defaults or keywords arguments are not supported. "
                                f"{func} has defaults {taken.defaults} and keywords {taken.varkw}.")
        count = len(taken.args) - inspect.ismethod(func)
        if types and (len(types) < count or len(types) > count and not taken.varargs):
            raise ArgumentError("The function has fewer arguments than the number of specified input types.",
                                expected=count, found=len(types))
        self._takes = len(types) if types else None if count or taken.varargs else 0

    def __call__(self, *args: Any, **options: Any) -> Any:
        name = options.pop("name", None) or self._label.strip("<>_") or "function"
        if options:
            raise ArgumentError(f"Unknown keyword arguments: {', '.join(options)}")
        if self._takes not in (None, len(args)):
            raise ArgumentError(f"Expected number of arguments: {self._takes}, received: {len(args)}")
        graph = get_default_graph()
        rule = self._rule(graph.overrides)
        self._check_captures()
        graph.extras.setdefault("functions", {})[self._label] = self
        kinds: Sequence[Any] = self.declared_input_types or [None] * len(args)
        inputs = [convert_to_tensor(value, dtype=kind) for value, kind in zip(args, kinds)]
        with graph.name_scope(name) as scope:
            return self._named(self._func(*inputs) if rule is None else _by_rule(self._func, rule, inputs), scope)

    def _rule(self, overrides: dict[str, str]) -> Any:
        """What gives the gradient in place of the function's ops."""
        if self._grad_func and self.python_grad_func:
            raise ArgumentError(f"Gradient defined twice for function {self._label}")
        override = overrides.get(self._label) or overrides and overrides.get(self.name)
        if override:
            return REGISTERED_GRADIENTS.get(override)
        return self.python_grad_func or self._grad_func and (lambda op, *dys: self._grad_func(*op.inputs, *dys))

    def _named(self, result: Any, name: str) -> Any:
        """The results as those of one operation of that name; None and operations stay."""
        count = len(result) if isinstance(result, (list, tuple)) else 1
        if self._out_names and len(self._out_names) != count:
            raise InvalidArgumentError(None, None, "output names must be either empty or equal in size to outputs. "
                                       f"output names size = {len(self._out_names)} outputs size = {count}")
        if isinstance(result, Tensor):
            return build.Identity(result, name=name)
        if not isinstance(result, (list, tuple)) or not result:
            return result
        if len(result) == 1:
            return [build.Identity(convert_to_tensor(result[0]), name=name)]
        return build.IdentityN(*map(convert_to_tensor, result), name=name)

    @functools.cached_property
    def _traced(self) -> Function:
        if self._takes is None and not self.declared_input_types:
            raise ArgumentError(f"{self._label} takes tensors of any types", hint="instantiate it with some")
        graph = FunctionGraph(get_default_graph())
        graph.names, graph.scope = UniqueNames(), ""
        arguments = [graph.add_argument(dtype, None, f"input_{i}") for i, dtype in enumerate(self.declared_input_types)]
        with graph.as_default():
            result = self._func(*arguments)
            results = list(result) if isinstance(result, (list, tuple)) else [result]
            if any(each is None for each in results):
                raise ArgumentError("Function can not return None.")
            return finish(graph, [convert_to_tensor(each) for each in results], ())

    @functools.cached_property
    def definition(self) -> Any:
        """The FunctionDef: what is captured is among its inputs, last."""
        attributes = {f"_{key}" if key == "noinline" else key: value for key, value in self._attributes.items()}
        made = written_as("FunctionDef", self._traced, attributes)
        made.signature.is_stateful = bool(self.stateful_ops)
        made.signature.description = self.__doc__ or ""
        digest = hashlib.sha1(made.SerializeToString()).hexdigest()[:8]
        made.signature.name = self._name or f"{self._label}_{digest}"
        return made

    @property
    def _signature(self) -> Any:
        return self.definition.signature

    @property
    def name(self) -> str:
        """As it was given, or the function's with a digest of its definition."""
        return self._name or self.definition.signature.name

    @property
    def grad_func_name(self) -> str | None:
        """The name of the function that gives the gradient; None if none was given."""
        return self._grad_func.name if self._grad_func else None

    @property
    def captured_inputs(self) -> list[Tensor]:
        """The tensors from outside that it takes, but those that are a part of it by value."""
        return [] if self._by_value else list(self._traced.captured)

    @property
    def stateful_ops(self) -> list[tuple[str, str]]:
        """Name and type of its operations that have a state or an effect."""
        return [(op.name, op.type) for op in self._traced.graph.operations.values()
                if op.definition.stateful and op.type not in _FROM_OUTSIDE]

    def instantiate(self, types: Sequence[Any]) -> "DefinedFunction":
        """The function for arguments of these types."""
        return DefinedFunction(self._func, [as_dtype(t) for t in types], name=self._name, grad_func=self._grad_func,
                               python_grad_func=self.python_grad_func, attributes=self._attributes)

    def add_to_graph(self, g: Any) -> None:
        """Nothing is added before a call. Raises ArgumentError (ValueError) for a gradient that is given twice."""
        self._rule({})

    def _check_captures(self) -> None:
        for op in ancestors(self._traced.captured) if self._by_value else ():
            if op.definition.stateful and op.type not in _FROM_OUTSIDE and op not in self._whitelisted:
                raise ArgumentError(f"Cannot capture a stateful node (name:{op.name}, type:{op.type}) by value.")


def _by_rule(func: Callable[..., Any], rule: Callable[..., Any], inputs: Sequence[Tensor]) -> Any:
    """The results of a function whose gradient is what `rule(op, *dys)` gives; op has the inputs."""

    @custom_gradient
    def with_rule(*xs: Tensor) -> Any:
        return func(*xs), lambda *dys: rule(SimpleNamespace(inputs=xs), *dys)

    return with_rule(*inputs)
