"""Training: a train op that the debugger builds, and what a run fetches when nobody says."""
from __future__ import annotations

from typing import Any

from ...api import train as optimizers
from ...api.math.norms import clip_by_global_norm
from ...core.collections import OUTPUTS
from ...core.errors import ArgumentError
from ...core.graph import Operation
from ..analysis.why import why_none
from ..derivatives.gradients_debugger import GradientsDebugger, private_debugger
from ..facts.answers import Trained
from ..facts.graph_lists import variables_of
from .state import State
from .watches import Watches

_OPTIMIZERS = {"sgd": "GradientDescentOptimizer", "gradientdescent": "GradientDescentOptimizer",
               "momentum": "MomentumOptimizer", "adam": "AdamOptimizer", "rmsprop": "RMSPropOptimizer",
               "adagrad": "AdagradOptimizer", "adadelta": "AdadeltaOptimizer", "ftrl": "FtrlOptimizer"}


class Training:
    """train_op: built here, or None. gradients: the GradientsDebugger that it was built under."""

    def __init__(self, state: State, watches: Watches) -> None:
        self.state, self.model, self.watches = state, state.model, watches
        self.train_op: Operation | None = None
        self.gradients: GradientsDebugger = private_debugger()

    @property
    def newest_train_op(self) -> Operation | None:
        """The one built here, else the script's last one."""
        return self.train_op or next(iter(reversed(self.model.graph.collections.get("train_op", []))), None)

    def train(self, y: str = "", *, optimizer: str = "sgd", lr: float = 0.01, variables: tuple[str, ...] = (),
              clip_norm: float | None = None) -> Trained:
        """Build a train op for y under a GradientsDebugger, watches applied; `run` then runs it.

        optimizer: sgd, momentum, adam, rmsprop, adagrad, adadelta or ftrl. variables: the trainable ones by default.
        clip_norm: bound of the norm of all gradients together.
        """
        tensor = self.model.y_of(y)
        made = _optimizer(optimizer, lr)
        chosen = self._variables(variables)
        with self.model.graph.as_default(), self.gradients:
            watched = [self.model.targets.one(name) for watch in self.watches for name in watch.names]
            self.gradients.watch_gradients_by_tensors(self.model.graph, [*chosen, *watched])
            pairs = made.compute_gradients(tensor, chosen)
            reasons = [(v.name, why_none(tensor, v.handle_tensor).text) for g, v in pairs if g is None]
            if len(reasons) == len(pairs):
                raise ArgumentError(f"no variable gets a gradient of {tensor.name}:\n" +
                                    "\n".join(f"{name}: {reason}" for name, reason in reasons[:5]))
            if clip_norm is not None:
                clipped, _ = clip_by_global_norm([g for g, _ in pairs], clip_norm)
                pairs = [(g, v) for g, (_, v) in zip(clipped, pairs)]
            self.train_op = made.apply_gradients(pairs)
        self.model.choose_y(tensor)
        return Trained(tensor.name, type(made).__name__, self.train_op.name, tuple(v.name for v in chosen),
                       tuple(reasons),
                       tuple(self.gradients.gradient_tensors()), self.model.count_uninitialized())

    def _variables(self, names: tuple[str, ...]) -> list[Any]:
        listed = variables_of(self.model.graph)
        if not names:
            found = [variable for variable, trainable in listed if trainable]
            if not found:
                raise ArgumentError("there is no trainable variable in the graph")
            return found
        by_op = {variable.op: variable for variable, _ in listed}
        found = []
        for name in dict.fromkeys(name for target in names for name in self.model.resolve(target)):
            op = self.model.targets.one(name).op
            op = op.inputs[0].op if op not in by_op and op.inputs else op  # `W/read` stands for W
            if op not in by_op:
                raise ArgumentError(f"{name!r} is not a variable: variables are "
                                    f"{', '.join(o.name for o in list(by_op)[:8])}")
            found.append(by_op[op])
        return list(dict.fromkeys(found))

    def default_fetches(self) -> list[Any]:
        """The train op and y; else what the script ran last; else y alone; else what a model gives."""
        y = self.model.default_y()
        train = self.newest_train_op
        if train is not None:
            return [train] if y is None else [train, y]
        if self.state.last is not None:
            return [*self.state.last.tensors, *self.state.last.targets]
        if y is None and self.model.graph.collections.get(OUTPUTS):
            return list(self.model.graph.collections[OUTPUTS])
        if y is None:
            raise ArgumentError("nothing to run: there is no train op, no loss, and the script ran nothing",
                                hint="try: train LOSS")
        return [y]


def _optimizer(name: str, lr: float) -> Any:
    key = name.lower().removesuffix("optimizer")
    if key not in _OPTIMIZERS:
        near = [known for known in _OPTIMIZERS if known.startswith(key)] if key else []
        if len(near) != 1:
            raise ArgumentError(f"no optimizer is called {name!r}: there are {', '.join(_OPTIMIZERS)}")
        key = near[0]
    kind = getattr(optimizers, _OPTIMIZERS[key])
    return kind(lr, 0.9) if key == "momentum" else kind(lr)
