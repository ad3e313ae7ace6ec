"""Steps of a foreign program as runs of a Session: the seam between a framework's door and the debugger.

A door (`torch/door.py`) watches a framework while the user's script runs. At each step of the script, which is a
`loss.backward()` or a call of what jax.grad made, it builds the step's graph, or finds the one it built for an earlier
step of the same structure, in `steps.graph`, and calls `steps.run(step)`:

    steps = ForeignSteps("torch")
    with steps.graph.as_default():
        w = steps.variable("layer.weight", value)       # a Variable by its dotted name, made once
        x = tf.placeholder(...)                         # all that is not a parameter is fed
        loss = ...
    steps.run(ForeignStep(loss, {"layer.weight": value}, {x: array}, {"layer.weight": own_gradient}))

`run` loads the variables and calls `Session.run([loss, *gradients], feeds)`. Under gradbg that is where the script
stops, and every command works on it; the script's line is that of the first frame which is not the library's. What
only the door can know (an optimizer that lacks a parameter) goes to `steps.advice`, which doctor, check and why read.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..api.variables.variable import Variable
from ..core.graph import Graph, Tensor
from ..core.site import RawFrames, made_at
from ..core.traversal import ancestors
from ..debug.analysis.advice import Advice, Remark, advice_of
from ..debug.facts.records import Place
from ..runtime.session import Session
from .model import legal_name, tf
from .script_lines import assigned_names
from .unread_names import unread


@dataclass(frozen=True)
class ForeignStep:
    """One step. values: of parameters by name; feeds: of all else that the graph is fed with.

    gradients: what the framework itself found, by name of the parameter, for check; None where it found none. call: in
    the user's words. place: of the line that asked for it. ages: how many parameters of networks trained before had a
    name already, where any had.
    """

    loss: Tensor
    values: Mapping[str, np.ndarray]
    feeds: Mapping[Tensor, np.ndarray]
    gradients: Mapping[str, np.ndarray | None] = field(default_factory=dict)
    call: str = ""
    place: Place | None = None
    ages: Mapping[str, int] = field(default_factory=dict)


def not_used(name: str, place: Place | None) -> Remark:
    """Of a parameter: that what an op makes of it goes nowhere."""
    return unread(place) or Remark(f"the way to the loss ends: what {name} makes of it is not used for the loss", place,
                  "use it for the loss, or drop it")


class ForeignSteps:
    """The steps of one program, in one graph and session. source: the framework. variables: by dotted name."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.graph = Graph()
        self.graph.keeps_subnormals = source != "jax"
        self.session = Session(graph=self.graph)
        self.variables: dict[str, Variable] = {}
        self._slopes: dict[Tensor, dict[str, Any]] = {}
        self._names: dict[Tensor, dict[str, Tensor]] = {}
        self._ages: Mapping[str, int] = {}

    @property
    def advice(self) -> Advice:
        """What the door tells the debugger's analyses beside the graph."""
        return advice_of(self.graph)

    def variable(self, name: str, value: np.ndarray, *, trainable: bool = True, frames: RawFrames = ()) -> Variable:
        """The Variable of a parameter; made when it is asked for first. frames: where the user made it."""
        known = self.variables.get(name)
        if known is None or known.shape.as_list() != list(value.shape):
            with self.graph.as_default(), self.graph.name_scope(None), made_at(self.graph, frames):
                known = tf.Variable(value, trainable=trainable, name=legal_name(name), use_resource=True)
            self.variables[name] = known
        return known

    def gradients_of(self, loss: Tensor) -> dict[str, Any]:
        """The gradient at each variable, None where there is none; built once for a loss."""
        if loss not in self._slopes:
            trained = {name: v for name, v in self.variables.items() if v.trainable}
            with self.graph.as_default():
                found = tf.gradients(loss, list(trained.values())) if trained else []
                self._slopes[loss] = {name: None if g is None else tf.convert_to_tensor(g)
                                      for name, g in zip(trained, found)}
        return self._slopes[loss]

    def names_behind(self, loss: Tensor) -> dict[str, Tensor]:
        """What the script calls the values that a loss is made of, variables aside; looked up once for a loss."""
        if loss not in self._names:
            made = [op for op in ancestors([loss]) if op.type != "VarHandleOp"]  # made on the line of a whole module
            named = assigned_names(sorted(made, key=lambda op: op.index))
            self._names[loss] = {name: made for name, made in named.items() if name not in self.variables}
        return self._names[loss]

    def run(self, step: ForeignStep) -> Any:
        """Run a step, where the debugger may stop; gives the loss."""
        slopes = {name: g for name, g in self.gradients_of(step.loss).items() if g is not None}
        for name, value in step.values.items():
            self.session.variables[self.variables[name].op.name] = value
        self.graph.extras.update(step_call=step.call, step_loss=step.loss)
        self.advice.call, self.advice.place = step.call, step.place
        self.advice.present = {self.variables[name].op.name for name in step.values}
        if renewed := {self.variables[name].op.name for name, age in step.ages.items() if age != self._ages.get(name)}:
            self.advice.renewed[self.session.runs + 1] = renewed
            self._ages = {**self._ages, **step.ages}
        self.advice.gradients = {self.variables[name].op.name: g for name, g in step.gradients.items()}
        loss, *_ = self.session.run([step.loss, *slopes.values()], dict(step.feeds))
        return loss
