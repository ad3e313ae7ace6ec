"""GradientsDebugger: keeps the gradient tensors that tf.gradients and the optimizers make of watched tensors."""
from __future__ import annotations

import re
import uuid
from collections.abc import Collection, Sequence
from typing import Any

from ...core.convert import to_tensor
from ...core.errors import GraphError, KindError, NoGradientError
from ...core.graph import Graph, Tensor
from ...core.op import build
from ...gradients.aggregate import Gradient
from ..facts.layer import SCOPE

_DEBUGGERS: dict[str, "GradientsDebugger"] = {}  # all ever made, by uuid: two or more need their contexts


def clear_gradient_debuggers() -> None:
    """Forget every GradientsDebugger made so far: the next one counts as the only one."""
    _DEBUGGERS.clear()


def private_debugger() -> "GradientsDebugger":
    """One that the script's own debuggers do not notice; it takes in gradients inside of its context."""
    debugger = GradientsDebugger()
    del _DEBUGGERS[debugger._uuid]
    return debugger


class GradientsDebugger:
    """Gives the gradient tensor of any tensor it was asked to watch, once a gradient is built.

    It takes in a gradient if its `with` context is open while that gradient is built, or if it is the only
    GradientsDebugger of the process. The last gradient built wins. A watch leaves the forward graph as it is and sees
    the sum over all paths; `identify_gradient` inserts an op and sees what flows through that op alone.
    y_tensor: the numerator: gradients of anything else, and of another graph, are not taken in. By default all are.
    """

    def __init__(self, y_tensor: Any = None) -> None:
        self._uuid = uuid.uuid4().hex
        self._y_tensor = y_tensor
        self._y: Tensor | None = getattr(y_tensor, "handle_tensor", y_tensor)
        self._graph: Graph | None = None if self._y is None else self._y.graph
        self._gradients: dict[str, Gradient] = {}
        self._sources: dict[Tensor, str] = {}  # tensor whose gradient counts -> the x it counts for
        self._active = False
        _DEBUGGERS[self._uuid] = self

    @property
    def graph(self) -> Graph | None:
        """The graph of y_tensor, or of the gradients taken in; None before the first."""
        return self._graph

    @property
    def y_tensor(self) -> Any:
        return self._y_tensor

    def __enter__(self) -> "GradientsDebugger":
        self._active = True
        return self

    def __exit__(self, unused_type: Any = None, unused_value: Any = None, unused_traceback: Any = None) -> None:
        self._active = False

    def identify_gradient(self, input_tensor: Any) -> Tensor:
        """A forwarded identity of `input_tensor`, float[...] -> float[...]; use it in place of the tensor.

        The gradient that flows through it counts as the gradient of `input_tensor`. Raises GraphError
        (ValueError) if this debugger has identified the tensor already.
        """
        name = f"{input_tensor.name.replace(':', '_')}/gradient_debug_{self._uuid}"
        graph: Graph = input_tensor.graph
        if name in graph.operations or SCOPE + name in graph.operations:
            raise GraphError(f"The graph already contains an op named {name}: each tensor is identified once by each "
                             "GradientsDebugger", hint="use the tensor that the first identify_gradient gave")
        with graph.as_default():
            forwarded = build.DebugGradientIdentity(to_tensor(graph, input_tensor, None, "input"), name=f"{name}/")
        self._watch(graph, forwarded, input_tensor.name)
        return forwarded

    def watch_gradients_by_tensors(self, graph: Graph, tensors: Any) -> "GradientsDebugger":
        """Watch a tensor, a Variable or a list of them; gives the debugger itself, for use in `with`."""
        for tensor in tensors if isinstance(tensors, (list, tuple)) else [tensors]:
            self._watch(graph, graph.get_tensor_by_name(tensor.name), tensor.name)
        return self

    def watch_gradients_by_tensor_names(self, graph: Graph, tensor_name_regex: str) -> "GradientsDebugger":
        """Watch the tensors of `graph`, as far as it is built, whose names match from their start."""
        for tensor in _named(graph, tensor_name_regex):
            self._watch(graph, tensor, tensor.name)
        return self

    def unwatch(self, graph: Graph, tensors_or_regex: Any) -> "GradientsDebugger":
        """Stop watching tensors, given as for the two watch methods. Gradients taken in so far remain."""
        if isinstance(tensors_or_regex, str):
            names = {tensor.name for tensor in _named(graph, tensors_or_regex)}
        else:
            listed = tensors_or_regex if isinstance(tensors_or_regex, (list, tuple)) else [tensors_or_regex]
            names = {tensor.name for tensor in listed}
        self._sources = {source: name for source, name in self._sources.items()
                         if source.graph is not graph or source.name not in names}
        return self

    def _watch(self, graph: Graph, source: Tensor, name: str) -> None:
        self._sources[source] = name
        observers = graph.extras.setdefault("gradient_observers", [])
        if self not in observers:
            observers.append(self)

    def observe(self, tensor: Tensor, gradient: Gradient, *, ys: Collection[Tensor], is_y: bool) -> None:
        """Backprop tells the total gradient of a tensor, of what. is_y: the tensor is one of them, and nothing else."""
        name = self._sources.get(tensor)
        if name is not None and not is_y and (self._y is None or self._y in ys):
            self.register_gradient_tensor(name, gradient)

    def register_gradient_tensor(self, x_tensor_name: str, gradient_tensor: Gradient) -> None:
        """Take in a gradient, if this is the only debugger or its context is open; else do nothing.

        Raises GraphError (ValueError) if it is from another graph than those taken in before.
        """
        if not self._active and list(_DEBUGGERS) != [self._uuid]:
            return
        if self._graph is not None and gradient_tensor.graph is not self._graph:
            raise GraphError(f"The graph of the gradient {gradient_tensor.name!r} is not the same as the graph of the "
                             "gradients that this GradientsDebugger has taken in")
        self._graph = gradient_tensor.graph
        self._gradients[x_tensor_name] = gradient_tensor

    def gradient_tensor(self, x_tensor: Any) -> Gradient:
        """The gradient of a tensor, Variable or tensor name: a Tensor, or IndexedSlices for gathered rows.

        Raises KindError (TypeError) for anything else, NoGradientError (LookupError) if none has come.
        """
        name = _tensor_name(x_tensor)
        if name not in self._gradients:
            raise NoGradientError(f"This GradientsDebugger has not received any gradient tensor for x-tensor {name}"
                                  f"{self._advice(name)}")
        return self._gradients[name]

    def watched(self) -> list[str]:
        """Names of the x-tensors whose gradients would be taken in."""
        return list(dict.fromkeys(self._sources.values()))

    def gradient_tensors(self) -> dict[str, Gradient]:
        """All gradients taken in, by tensor name, in backward order."""
        return self._gradients

    def _advice(self, name: str) -> str:
        if name in self._sources.values():
            return ("\nit is watched: build a gradient whose path passes it, inside `with` this debugger if there is "
                    "more than one")
        return f"\nnot watched; watched are: {', '.join(sorted(set(self._sources.values()))) or 'none'}"


def _named(graph: Graph, pattern: str) -> Sequence[Tensor]:
    """Tensors whose whole names match from their start. Raises re.error for what is no regular expression."""
    matches = re.compile(pattern).match
    return [tensor for op in graph.get_operations() for tensor in op.outputs if matches(tensor.name)]


def _tensor_name(x_tensor: Any) -> str:
    if isinstance(x_tensor, str):
        return x_tensor
    if isinstance(x_tensor, Tensor) or hasattr(x_tensor, "handle_tensor"):
        return x_tensor.name
    raise KindError("x_tensor must be a str or tf.Tensor or tf.Variable, but instead has type "
                    f"{type(x_tensor).__name__}")
