"""Training: a train op that the debugger builds, by an optimizer of some name; what a run fetches when nobody says."""
from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from typing import Any, NamedTuple

from ...api import train
from ...api.math.norms import clip_by_global_norm
from ...core.collections import OUTPUTS
from ...core.errors import ArgumentError, KindError
from ...core.graph import Operation
from ...core.names import did_you_mean
from ..analysis.why import why_none
from ..facts.answers import Trained, TrainRow
from ..facts.graph_lists import variables_of
from ..facts.layer import layer_of
from .debuggers import Debuggers
from .state import State

_SHORT = {"sgd": "gradientdescent"}


class TrainOp(NamedTuple):
    """A train op that was built here. op: the operation. facts: what is told of it."""

    op: Operation
    facts: Trained


class Training:
    """built: the train ops that were built here, oldest first; those that run are side by side in one run."""

    def __init__(self, state: State, debuggers: Debuggers) -> None:
        self.state, self.model, self.debuggers = state, state.model, debuggers
        self.built: list[TrainOp] = []

    @property
    def train_op(self) -> Operation | None:
        """The newest one built here, or None."""
        return self.built[-1].op if self.built else None

    @property
    def newest_train_op(self) -> Operation | None:
        """The one built here, else the script's last one."""
        return self.train_op or next(iter(reversed(self.model.graph.collected.get("train_op", []))), None)

    def running(self) -> list[TrainOp]:
        """The train ops that a run fetches: all that share no variable with a newer one."""
        found: list[TrainOp] = []
        taken: set[str] = set()
        for made in reversed(self.built):
            if not taken.intersection(made.facts.variables):
                found.append(made)
                taken.update(made.facts.variables)
        return found

    def train(self, y: str = "", *, optimizer: Any = "sgd", lr: float = 0.01, variables: tuple[str, ...] = (),
              clip_norm: float | None = None, grad_loss: str = "") -> Trained:
        """Build a train op for y under the prompt's GradientsDebugger, watches applied; `run` then runs it.

        optimizer: an Optimizer, or the name of one of tf.train's, which lr is for. variables: the trainable ones by
        default. clip_norm: bound of the norm of all gradients together. grad_loss: the tensor that y receives in place
        of ones. It takes the place of train ops that update one of its variables, and runs beside the others.
        """
        tensor = self.model.y_of(y)
        with layer_of(self.model.graph).building():
            made = optimizer_of(optimizer, lr)
        chosen = self._variables(variables)
        received = self.model.targets.outside(grad_loss) if grad_loss else None
        before = set(self.debuggers.own.gradient_tensors())
        with self.debuggers.taking_in(chosen):
            pairs = made.compute_gradients(tensor, chosen, grad_loss=received)
            reasons = [(v.name, why_none(tensor, v.handle_tensor).text) for g, v in pairs if g is None]
            if len(reasons) == len(pairs):
                raise ArgumentError(f"no variable gets a gradient of {tensor.name}:\n" +
                                    "\n".join(f"{name}: {reason}" for name, reason in reasons[:5]))
            if clip_norm is not None:
                clipped, _ = clip_by_global_norm([g for g, _ in pairs], clip_norm)
                pairs = [(g, v) for g, (_, v) in zip(clipped, pairs)]
            op = made.apply_gradients(pairs)
        self.model.choose_y(tensor)
        facts = Trained(tensor.name, type(made).__name__, op.name, tuple(v.name for v in chosen), tuple(reasons),
                        tuple(self.debuggers.own.gradient_tensors()), self.model.count_uninitialized(),
                        tuple(x for x in self.debuggers.own.gradient_tensors() if x not in before))
        self.built.append(TrainOp(op, facts))
        return facts

    def rows(self) -> tuple[TrainRow, ...]:
        """The train ops that were built here, newest last."""
        running = [made.op for made in self.running()]
        return tuple(TrainRow(made.facts, made.op in running) for made in self.built)

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
            ops = [made.op for made in self.running()] or [train]
            return ops if y is None else [*ops, y]
        if self.state.last is not None:
            return [*self.state.last.tensors, *self.state.last.targets]
        if y is None and self.model.graph.collected.get(OUTPUTS):
            return list(self.model.graph.collected[OUTPUTS])
        if y is None:
            raise ArgumentError("nothing to run: there is no train op, no loss, and the script ran nothing",
                                hint="try: train LOSS")
        return [y]


_USUAL: dict[type, Mapping[str, Any]] = {train.MomentumOptimizer: {"momentum": 0.9}}  # without a default in TensorFlow


def _all() -> dict[str, type]:
    """By their short names, in their order."""
    kinds = {name.removesuffix("Optimizer").lower(): kind for name, kind in vars(train).items()
             if name.endswith("Optimizer") and name != "Optimizer"}
    return {**{short: kinds[long] for short, long in _SHORT.items()}, **{name: kinds[name] for name in sorted(kinds)}}


OPTIMIZERS = _all()  # short name -> class


def optimizer_kind(name: str) -> type:
    """The class that a name stands for: `adam`, `AdamOptimizer`, or a beginning of one alone. Raises ArgumentError."""
    key = name.lower().removesuffix("optimizer")
    near = [known for known in OPTIMIZERS if known.startswith(key)] if key else []
    if key not in OPTIMIZERS and len(near) != 1:
        raise ArgumentError(f"no optimizer is called {name!r}: there are {', '.join(OPTIMIZERS)}",
                            hint=did_you_mean(key, OPTIMIZERS) or "train LOSS --optimizer adam")
    return OPTIMIZERS[key if key in OPTIMIZERS else near[0]]


def optimizer_of(chosen: Any, lr: float) -> Any:
    """An Optimizer as it is; of a name, or a function of the learning rate, one with this learning rate."""
    if isinstance(chosen, train.Optimizer):
        return chosen
    if isinstance(chosen, str):
        kind = optimizer_kind(chosen)
        chosen = functools.partial(kind, **usual_options(kind))
    if not callable(chosen):
        raise ArgumentError(expected="an Optimizer, or the name of one", found=type(chosen).__name__,
                            hint=f"names: {', '.join(OPTIMIZERS)}")
    try:
        return chosen(**{"learning_rate": lr, **getattr(chosen, "keywords", {})})
    except TypeError as error:
        raise KindError(f"the optimizer does not take these options: {error}",
                        hint="help train shows how options are given") from None


def usual_options(kind: type) -> Mapping[str, Any]:
    """What an optimizer has to be given besides its learning rate, in the default graph."""
    if "global_step" in inspect.signature(kind).parameters:
        return {"global_step": train.get_or_create_global_step()}
    return _USUAL.get(kind, {})
