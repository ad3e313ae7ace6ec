"""Debuggers: the GradientsDebuggers of a model: the prompt's own, and those that the script made."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...core.errors import AutodiffError, GraphError, KindError, NoGradientError
from ...core.graph import Tensor
from ...core.indexed_slices import IndexedSlices
from ..derivatives.gradients_debugger import GradientsDebugger, private_debugger
from ..facts.derivative_answers import DebuggerRow, Identified, Registered
from ..facts.layer import is_in_layer, kept_in, layer_of
from ..facts.roles import place_of
from ..facts.stats import statistics
from ..language.targets import tensors_of
from .state import State
from .watches import Watches

THE_PROMPT = "the prompt"  # how the debugger's own is called in tables


class Debuggers:
    """own: the one that what is built at the prompt registers with. The script's are found by their names."""

    def __init__(self, state: State, watches: Watches) -> None:
        self.state, self.model, self.watches = state, state.model, watches
        self.own: GradientsDebugger = private_debugger()

    @contextmanager
    def taking_in(self, more: Sequence[Any] = (), *, keep: bool = False) -> Iterator[GradientsDebugger]:
        """Inside, gradients that are built register with `own`: of what is watched, what was identified, and `more`.

        What is built joins the layer; keep: the script's graph. That refuses to be built on the layer, by GraphError.
        """
        graph = self.model.graph
        watched = [self.model.targets.one(name) for watch in self.watches if watch.kind == "watch"
                   for name in watch.names]
        chosen = [*more, *(t for t in watched if not self.model.targets.inner.has(t))]
        with kept_in(graph) if keep else layer_of(graph).building(), self.own:
            self.own.watch_gradients_by_tensors(graph, [t for t in chosen if not keep or not is_in_layer(t.op)])
            yield self.own

    def identify(self, target: str) -> Identified:
        """A forwarded identity of a tensor, bound to the handle `debug_NAME`: build on that from now on.

        Raises GraphError (ValueError) if the tensor has been identified before.
        """
        tensor = self.model.targets.outside(target)
        with layer_of(self.model.graph).building():
            forwarded = self.own.identify_gradient(tensor)
        handle = self._free_handle(f"debug_{_as_name(self.model.targets.handle_of(tensor) or tensor.op.name)}")
        self.model.use_handles({**self.model.handles, handle: forwarded})
        return Identified(handle, forwarded.name, tensor.name)

    def _free_handle(self, wanted: str) -> str:
        """The name itself, or with a number behind it, if the script uses it already."""
        name, number = wanted, 1
        while name in self.model.handles:
            name, number = f"{wanted}_{number}", number + 1
        return name

    def register(self, x: str, gradient: str) -> Registered:
        """Take a tensor in as the gradient tensor of x, by hand. Raises GraphError (ValueError) if x has one."""
        tensor, given = self.model.targets.outside(x), self.model.targets.outside(gradient)
        known = self.own.gradient_tensors().get(tensor.name)
        if known is not None:
            raise GraphError(f"x-tensor {tensor.name} has the gradient tensor {known.name} already",
                             hint=f"gradient_tensor {x} shows it")
        with self.own:
            self.own.register_gradient_tensor(tensor.name, given)
        return self._row(THE_PROMPT, tensor.name, given)

    def known(self) -> dict[str, GradientsDebugger]:
        """All GradientsDebuggers by name: the prompt's, and the script's."""
        found = {name: value for name, value in self.model.handles.items() if isinstance(value, GradientsDebugger)}
        return {THE_PROMPT: self.own, **found}

    def rows(self, name: str = "") -> tuple[DebuggerRow, ...]:
        """Each GradientsDebugger; name: only that one."""
        return tuple(self._debugger_row(each, debugger) for each, debugger in self.known().items()
                     if name in ("", each))

    def gradient_tensor(self, x: str) -> Registered:
        """The gradient tensor that some GradientsDebugger has for an x-tensor; of several that of the prompt.

        Raises NoGradientError (LookupError) if none has been registered, KindError (TypeError) for what is no tensor.
        """
        if x in self.model.handles and not tensors_of(self.model.handles[x]):
            try:
                self.own.gradient_tensor(self.model.handles[x])
            except KindError as error:
                error.explain(hint="name a tensor, a variable, or what stands for one: info tensors lists them")
                raise
        tensor = self.model.targets.one(x)
        for name, debugger in self.known().items():
            if tensor.name in debugger.gradient_tensors():
                return self._row(name, tensor.name, debugger.gradient_tensors()[tensor.name])
        try:
            return self._row(THE_PROMPT, tensor.name, self.own.gradient_tensor(tensor))
        except NoGradientError as error:
            error.explain(hint=f"watch {x}, then train LOSS; or identify {x} and build on what it gives")
            raise

    def gradient_tensors(self) -> tuple[Registered, ...]:
        """All gradient tensors that are registered, debugger by debugger."""
        return tuple(self._row(name, x, gradient) for name, debugger in self.known().items()
                     for x, gradient in debugger.gradient_tensors().items())

    def _row(self, debugger: str, x: str, gradient: Any) -> Registered:
        tensor = gradient.values if isinstance(gradient, IndexedSlices) else gradient
        y = tensor.op.gradient_of
        value, when = self._value(gradient, tensor)
        stats = None if value is None else statistics(value)
        source = self.model.targets.named(x.partition(":")[0])
        return Registered(debugger, x, gradient.name, "" if y is None else y.name, tensor.dtype.base_dtype.name,
                          None if tensor.dims is None else tuple(tensor.dims), value, stats, when,
                          None if source is None else place_of(source))

    def _value(self, gradient: Any, tensor: Tensor) -> tuple[Any, str]:
        """The value of a gradient in the last run that tells it, and which run that was; None before any."""
        if not self.state.moments or tensor.graph is not self.model.graph:
            return None, ""
        at = self.state.moment_for([tensor])
        try:
            return self.state.values([gradient], at)[0], self.state.when(at)
        except AutodiffError:
            return None, ""

    def _debugger_row(self, name: str, debugger: GradientsDebugger) -> DebuggerRow:
        y = debugger.y_tensor
        graph = "none yet" if debugger.graph is None else \
            "this graph" if debugger.graph is self.model.graph else "another graph"
        registered = tuple(debugger.gradient_tensors())
        awaited = [x for x in debugger.watched() if x not in registered]
        if debugger is self.own:
            awaited += [x for watch in self.watches if watch.kind == "watch" for x in watch.names
                        if x not in registered]
        return DebuggerRow(name, "" if y is None else y.name, graph, registered, tuple(dict.fromkeys(awaited)))


def _as_name(name: str) -> str:
    """A name that Python takes: of `model.layers[0].w` and `scope/Add` what follows the last mark."""
    last = name.replace("]", "").replace("[", "_").rsplit("/", 1)[-1].rsplit(".", 1)[-1]
    return "".join(c if c.isalnum() else "_" for c in last)
