"""The door of eager mode: each `tape.gradient` of a script is a step, and what its names hold at the end is a graph."""
from __future__ import annotations

import contextlib
import functools
import sys
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ...core import nest
from ...core.defaults import STACKS
from ...core.errors import AutodiffError
from ...core.graph import Tensor
from ...core.site import Site, capture, resolve
from ...debug.analysis.advice import Remark
from ...debug.language.handle_paths import offers
from ...gradients.tape import GradientTape, source_of
from ...runtime.eager import EagerTensor
from ..doors import View
from ..model import tf
from ..steps import ForeignStep, ForeignSteps
from .raised import remark_on
from .trace import Trace, Tracer

_UNWATCHED = ("tape.gradient gave None: the tape did not watch it. A tape watches variables by itself and tensors when "
              "it is told to, before they are used; grad shows what the gradient would be")


class EagerDoor:
    """Records every eager operation of the script's thread, persistent tape or none."""

    def __init__(self, view: View) -> None:
        self._view = view
        self.steps = ForeignSteps("eager")
        self._tracer = Tracer(self.steps)
        self._is_inside = False
        self._tape: Callable[[], GradientTape | None] = lambda: None  # the last one asked, and what it gave so far
        self._given: list[EagerTensor] = []
        self._asked: Site | None = None  # where a gradient was asked for last, and whether of variables only
        self._are_variables = True

    @contextlib.contextmanager
    def opened(self) -> Iterator[None]:
        """While the script runs."""
        real = GradientTape.gradient

        @functools.wraps(real)
        def gradient(tape: GradientTape, target: Any, sources: Any, *args: Any, **options: Any) -> Any:
            if not self._is_inside:
                self._asked = next(iter(resolve(capture())), None)
                self._are_variables = not any(isinstance(each, EagerTensor) for each in nest.flatten(sources))
            found = real(tape, target, sources, *args, **options)
            earlier = self._given if self._tape() is tape else []
            self._step(target, sources, earlier, nest.flatten(found))
            self._tape = weakref.ref(tape)
            self._given = [*earlier, *(t for t in nest.flatten(found) if isinstance(t, EagerTensor))]
            return found

        GradientTape.gradient = gradient  # type: ignore[method-assign, assignment]
        STACKS.tapes.insert(0, self)
        try:
            yield
        except Exception as error:
            with contextlib.suppress(Exception):  # what is said of an error is never another one
                told = remark_on(str(error), self._asked, self._are_variables)
                if told is not None:
                    error.told = told  # type: ignore[attr-defined]
            raise
        finally:
            if not self._view.is_left():
                self._end()
            STACKS.tapes.remove(self)
            GradientTape.gradient = real  # type: ignore[method-assign]

    def wants(self, op: Any) -> bool:
        """Whether to keep what an operation came from: of every eager one."""
        return op.graph.executing_eagerly and not self._is_inside and not self._view.is_left()

    def record(self, op: Any) -> None:
        """Nothing: the outputs keep their operation."""

    def variable_accessed(self, variable: Any) -> None:
        """Nothing: the read is an operation."""

    def _step(self, target: Any, sources: Any, earlier: list[EagerTensor], found: list[Any]) -> None:
        """A call of tape.gradient, as a run under the debugger. earlier: what the tape gave before. found: gives now.
        """
        targets = [t for t in nest.flatten(target) if isinstance(t, EagerTensor)]
        if not targets or self._is_inside or self._view.is_left():
            return
        xs: list[Any] = [source_of(source) for source in nest.flatten(sources)]
        with self._alone():
            alone = [x for x in xs if isinstance(x, EagerTensor) and x.dtype.base_dtype.name != "resource"]
            trace = self._traced([*targets, *earlier, *alone])
            if trace is None:
                return
            loss = trace.stands_for[targets[0].id]
            step = ForeignStep(loss, trace.values, trace.feeds, call="tape.gradient")
            self._differentiate(loss, [trace.stands_for[x.id] for x in xs
                                       if x.id in trace.stands_for and x.dtype.base_dtype.name != "resource"])
            lost = [trace.stands_for[x.id] for x, g in zip(xs, found) if g is None and x.id in trace.stands_for]
            self.steps.advice.unwatched = {x.op.name: Remark(_UNWATCHED, None) for x in lost}
            self.steps.run(step)

    def _end(self) -> None:
        """The script is through: the values that it holds by name, whatever they come from."""
        known = self.steps.graph.extras.get("stands_for", {})
        held = list({t.id: t for t in _eager_tensors(self._view.namespace(), known)}.values())
        if held:
            with self._alone():
                trace = self._traced(held, known)
            if trace is not None:
                for name, value in trace.values.items():
                    self.steps.session.variables[self.steps.variables[name].op.name] = value
                self._view.offer(self.steps.graph, self.steps.session)

    def _traced(self, roots: list[Any], known: Mapping[int, Tensor] | None = None) -> Trace | None:
        try:
            trace = self._tracer.trace(roots, self._names(), known)
        except AutodiffError as error:
            reason = str(error).partition("\n")[0]
            print(f"gradbg: what these values come from cannot be asked about: {reason}", file=sys.stderr)
            return None
        self.steps.graph.extras["stands_for"] = trace.stands_for
        return trace

    def _differentiate(self, loss: Tensor, xs: list[Tensor]) -> None:
        """Let the graph know what was differentiated by what."""
        if xs and not any(loss in call.ys for call in self.steps.graph.extras.get("calls", ())):
            with self.steps.graph.as_default():
                tf.gradients(loss, xs)

    def _names(self) -> Mapping[int, str]:
        return {value.id: name for name, value in self._view.namespace().items() if isinstance(value, EagerTensor)}

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """What happens in here is not the script's."""
        self._is_inside = True
        STACKS.graphs.append(self.steps.graph)
        try:
            yield
        finally:
            STACKS.graphs.pop()
            self._is_inside = False


def _eager_tensors(values: Mapping[str, Any], known: Mapping[int, Tensor]) -> Iterator[EagerTensor]:
    """The eager tensors among the values of names, and in lists of them; of a variable not yet known what it holds."""
    for name, value in list(values.items()):
        if name.startswith("__"):
            continue
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(item, EagerTensor):
                yield item
            elif offers(item, "handle_tensor") and isinstance(item.handle_tensor, EagerTensor) and \
                    item.handle_tensor.id not in known:
                yield item.as_tensor()


def open_door(view: View) -> Any:
    """The door, open while the script runs."""
    return EagerDoor(view).opened()
