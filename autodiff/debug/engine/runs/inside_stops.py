"""InsideStops: breakpoints that stop inside of a run, right after an op; such runs go op by op."""
from __future__ import annotations

from ....core.graph import Operation, Tensor
from ....core.indexed_slices import IndexedSlices
from ...facts.records import Stop
from ...facts.roles import is_variable
from ...facts.stats import statistics
from ...language.conditions import Other, Seen
from ...language.watches import Watch
from ..state import State, as_number
from ..watches import Watches
from .hooks import Hooks
from .run_view import OpenRun
from .stepper import Stepper
from .stop_conditions import Holds

_Places = dict[Operation, list[tuple[Watch, str, Tensor]]]


class InsideStops:
    """Goes on in the open run of a Stepper until a breakpoint holds."""

    def __init__(self, state: State, watches: Watches, hooks: Hooks, stepper: Stepper) -> None:
        self.state, self.model, self.watches, self.hooks, self.stepper = state, state.model, watches, hooks, stepper

    def run_to_break(self) -> Stop | None:
        """Go on in the open run to the next op, forward or backward, with a breakpoint; None at the end of the run."""
        opened = self.stepper.opened
        if opened is None or self.stepper.execution is None:
            return None
        places = self._places(opened)
        while self.stepper.execution is not None and not self.stepper.execution.is_done:
            self.stepper.step()
            op = self.stepper.last_op
            assert op is not None
            for watch, name, tensor in places.get(op, ()):
                if watch.is_excluded(name) or not self._holds_here(watch, tensor, opened):
                    continue
                text = f"at {op.name}" if watch.condition is None else f"{name}: {watch.condition.text}"
                stop = self.hooks.at_stop(Holds(watch, text, op.name))
                if stop is not None:
                    return stop
        return None

    def _places(self, opened: OpenRun) -> _Places:
        """The operations to ask after: whose breakpoint, what to call the tensor, and the tensor."""
        places: _Places = {}
        y = self.model.default_y()
        for watch in self.watches:
            if watch.is_inside:
                opened.asked.add(watch.number)
                for name in watch.names:
                    tensor = self.model.targets.one(name)
                    if not watch.of_gradients:
                        op = self.model.targets.inner.outer_op(tensor.op)
                        places.setdefault(op, []).append((watch, name, tensor))
                    asks = watch.at_op or watch.of_gradients
                    gradient = self.model.derivatives.known(y, tensor) if asks and y is not None else None
                    gradient = gradient.values if isinstance(gradient, IndexedSlices) else gradient
                    if gradient is not None:
                        places.setdefault(gradient.op, []).append((watch, f"gradient of {name}", gradient))
        return places

    def _holds_here(self, watch: Watch, tensor: Tensor, opened: OpenRun) -> bool:
        """Whether a breakpoint's condition holds of a tensor that was just computed in the open run."""
        if watch.condition is None:
            return True
        execution, step = self.stepper.execution, self.stepper.at.step
        if execution is None or opened.moment.run % watch.every or not execution.has_value(tensor):
            return False
        y = self.model.default_y()
        loss = as_number(execution.value(y)) if y is not None and execution.has_value(y) else None
        return watch.condition.holds(Seen(statistics(execution.value(tensor)), step, loss,
                                          elsewhere=lambda other: self._so_far(other, opened, loss)))

    def _so_far(self, other: Other, opened: OpenRun, loss: float | None) -> tuple[Seen, ...]:
        """The value of a tensor that a condition names, if the open run has computed it."""
        tensor, y, execution = self.model.targets.one(other.name), self.model.default_y(), self.stepper.execution
        found = tensor if not other.is_gradient else self.model.derivatives.known(y, tensor) if y is not None else None
        found, step = found.values if isinstance(found, IndexedSlices) else found, self.stepper.at.step
        if found is not None and is_variable(found):
            before = opened.moment.variables
            return (Seen(statistics(before[found.op.name]), step, loss),) if found.op.name in before else ()
        if execution is None or found is None or not execution.has_value(found):
            return ()
        return (Seen(statistics(execution.value(found)), step, loss),)
