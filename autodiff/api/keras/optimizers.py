"""tf.keras.optimizers: Keras' rules and settings, as optimizers of tf.train."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.convert import convert_to_tensor
from ...core.dtypes import float32, int64
from ...core.errors import ArgumentError, KindError
from ...core.graph import get_default_graph
from ...core.indexed_slices import IndexedSlices
from ...core.op import build
from ...core.site import capture
from ...gradients.backprop import gradients
from .. import math
from ..common.unsupported import refusing
from ..control.dependencies import group, init_scope
from ..linalg import clip_by_norm
from ..train.optimizer import Optimizer as _Optimizer
from ..train.slots import filled_like
from ..variables.initializers import Constant
from ..variables.variable import Variable


class Optimizer(_Optimizer):
    """Base: a rate that callbacks may set, a count of steps, clipped gradients.

    decay: the rate is divided by 1 + decay · steps. clipnorm, clipvalue: of each gradient. A subclass gives in
    `_change(grad, var, rate)` the new value of each slot, and what is taken from the variable.
    """

    def __init__(self, name: str, learning_rate: Any, options: dict[str, Any], **settings: Any) -> None:
        super().__init__(False, name)
        self._frames = capture()
        rate, self._decay = options.pop("lr", learning_rate), options.pop("decay", 0.0)
        self._clipnorm, self._clipvalue = options.pop("clipnorm", None), options.pop("clipvalue", None)
        if options:
            raise KindError(f"Unexpected keyword argument passed to optimizer: {min(options)}")
        self._first_rate, self._settings = rate, settings
        self._made: dict[Any, Variable] = {}

    def _own(self, name: str, value: Any) -> Variable:
        graph = get_default_graph()
        key = name, None if graph.executing_eagerly else graph.outermost
        if key not in self._made:
            with init_scope(), get_default_graph().name_scope(""):
                self._made[key] = Variable(value, trainable=False, name=f"{self._name}/{name}", use_resource=True)
        return self._made[key]

    @property
    def lr(self) -> Any:
        """The rate, as a variable; a schedule as it is."""
        return self._first_rate if callable(self._first_rate) else self._own(
            "learning_rate", build_float(self._first_rate))

    @lr.setter
    def lr(self, value: Any) -> None:
        self._first_rate = value
        self._made = {key: made for key, made in self._made.items() if key[0] != "learning_rate"}

    learning_rate = lr

    @property
    def iterations(self) -> Variable:
        """How many steps were taken: int64[]."""
        return self._own("iter", convert_to_tensor(0, int64))

    def get_config(self) -> dict[str, Any]:
        """Its settings by name."""
        return {"name": self._name, "learning_rate": self._first_rate, "decay": self._decay, **self._settings}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """An optimizer of such settings."""
        return cls(**config)

    def minimize(self, loss: Any, var_list: Any = None, grad_loss: Any = None, name: str | None = None,  # type: ignore[override]
                 **options: Any) -> Any:
        """The operation that takes one step. loss: float[...], or a function that computes it. var_list: variables."""
        variables = var_list() if callable(var_list) else var_list
        return self.apply_gradients(self.compute_gradients(loss, variables, grad_loss=grad_loss, **options), name=name)

    def get_gradients(self, loss: Any, params: Any) -> list[Any]:
        """The clipped gradients of a loss."""
        return [self._clipped(grad) for grad in gradients(loss, params)]

    def get_updates(self, loss: Any, params: Any) -> list[Any]:
        """The operation that takes one step, in a list."""
        return [self.minimize(loss, params)]

    def apply_gradients(self, grads_and_vars: Any, name: str | None = None, **options: Any) -> Any:  # type: ignore[override]
        """The operation that takes one step with given gradients."""
        pairs = [(self._clipped(grad), var) for grad, var in grads_and_vars]
        return super().apply_gradients(pairs, global_step=self.iterations, name=name)

    def _clipped(self, grad: Any) -> Any:
        if grad is None or self._clipnorm is None and self._clipvalue is None:
            return grad
        grad = convert_to_tensor(grad)
        grad = grad if self._clipnorm is None else clip_by_norm(grad, self._clipnorm)
        return grad if self._clipvalue is None else math.clip_by_value(grad, -self._clipvalue, self._clipvalue)

    # ---- one step -----------------------------------------------------------------------
    def _kept(self) -> dict[str, float]:
        """Slot -> what it begins with."""
        return {}

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            for name, value in self._kept().items():
                self._get_or_make_slot(var, filled_like(var, Constant(value), var.dtype.base_dtype), name,
                                       f"{self._name}/{name}")

    def _prepare(self) -> None:
        steps = math.cast(self.iterations, float32)
        rate = self.lr(steps) if callable(self.lr) else self.lr.as_tensor()
        self._rate = rate / (1.0 + self._decay * steps) if self._decay else rate
        self._count = steps + 1.0

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        kept: dict[str, Any] = {name: self.get_slot(var, name) for name in self._kept()}
        new, taken = self._change(grad, {name: slot.as_tensor() for name, slot in kept.items()})
        return group(*(kept[name].assign(value) for name, value in new.items()), var.assign_sub(taken))

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        return self._apply_dense(convert_to_tensor(IndexedSlices(grad.values, grad.indices, build.Shape(var))), var)

    def _change(self, g: Any, kept: dict[str, Any]) -> tuple[dict[str, Any], Any]:
        raise NotImplementedError(f"{type(self).__name__} does not say how a variable changes")


def build_float(value: Any) -> Any:
    """A rate as float32[]."""
    return math.cast(convert_to_tensor(value), float32)


class SGD(Optimizer):
    """momentum: how much of the last change is kept. nesterov: the gradient counts as if taken after the next step."""

    def __init__(self, learning_rate: Any = 0.01, momentum: float = 0.0, nesterov: bool = False, name: str = "SGD",
                 **options: Any) -> None:
        super().__init__(name, learning_rate, options, momentum=momentum, nesterov=nesterov)

    def _kept(self) -> dict[str, float]:
        return {"momentum": 0.0} if self._settings["momentum"] else {}

    def _change(self, g: Any, kept: dict[str, Any]) -> tuple[dict[str, Any], Any]:
        momentum = self._settings["momentum"]
        if not momentum:
            return {}, self._rate * g
        change = momentum * kept["momentum"] - self._rate * g
        return {"momentum": change}, self._rate * g - momentum * change if self._settings["nesterov"] else -change


class RMSprop(Optimizer):
    """The gradient over the root of its mean square; centered: over its deviation. The mean begins at zero."""

    def __init__(self, learning_rate: Any = 0.001, rho: float = 0.9, momentum: float = 0.0, epsilon: float = 1e-7,
                 centered: bool = False, name: str = "RMSprop", **options: Any) -> None:
        super().__init__(name, learning_rate, options, rho=rho, momentum=momentum, epsilon=epsilon, centered=centered)

    def _kept(self) -> dict[str, float]:
        wanted = {"rms": True, "momentum": self._settings["momentum"], "mg": self._settings["centered"]}
        return {name: 0.0 for name, needed in wanted.items() if needed}

    def _change(self, g: Any, kept: dict[str, Any]) -> tuple[dict[str, Any], Any]:
        rho, momentum, epsilon = (self._settings[name] for name in ("rho", "momentum", "epsilon"))
        new = {"rms": rho * kept["rms"] + (1.0 - rho) * build.Square(g)}
        square = new["rms"]
        if "mg" in kept:
            new["mg"] = rho * kept["mg"] + (1.0 - rho) * g
            square = square - build.Square(new["mg"])
        if not momentum:
            return new, self._rate * g / (build.Sqrt(square) + epsilon)
        new["momentum"] = momentum * kept["momentum"] + self._rate * g / build.Sqrt(square + epsilon)
        return new, new["momentum"]


class Adagrad(Optimizer):
    """The gradient over the root of the sum of its squares."""

    def __init__(self, learning_rate: Any = 0.001, initial_accumulator_value: float = 0.1, epsilon: float = 1e-7,
                 name: str = "Adagrad", **options: Any) -> None:
        super().__init__(name, learning_rate, options, initial_accumulator_value=initial_accumulator_value,
                         epsilon=epsilon)

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        return cls(**{"initial_accumulator_value": 0.0, **config})  # as TensorFlow's does, and one made by its name

    def _kept(self) -> dict[str, float]:
        return {"accumulator": self._settings["initial_accumulator_value"]}

    def _change(self, g: Any, kept: dict[str, Any]) -> tuple[dict[str, Any], Any]:
        total = kept["accumulator"] + build.Square(g)
        return {"accumulator": total}, self._rate * g / (build.Sqrt(total) + self._settings["epsilon"])


class Adam(Optimizer):
    """The mean gradient over its root mean square, both corrected for starting at zero; amsgrad: over the greatest."""

    def __init__(self, learning_rate: Any = 0.001, beta_1: float = 0.9, beta_2: float = 0.999, epsilon: float = 1e-7,
                 amsgrad: bool = False, name: str = "Adam", **options: Any) -> None:
        super().__init__(name, learning_rate, options, beta_1=beta_1, beta_2=beta_2, epsilon=epsilon, amsgrad=amsgrad)

    def _kept(self) -> dict[str, float]:
        return {"m": 0.0, "v": 0.0, **({"vhat": 0.0} if self._settings["amsgrad"] else {})}

    def _change(self, g: Any, kept: dict[str, Any]) -> tuple[dict[str, Any], Any]:
        one, two, epsilon = (self._settings[name] for name in ("beta_1", "beta_2", "epsilon"))
        new = {"m": one * kept["m"] + (1.0 - one) * g, "v": two * kept["v"] + (1.0 - two) * build.Square(g)}
        square = new["v"]
        if "vhat" in kept:
            square = new["vhat"] = math.maximum(kept["vhat"], square)
        rate = self._rate * build.Sqrt(1.0 - two ** self._count) / (1.0 - one ** self._count)
        return new, rate * new["m"] / (build.Sqrt(square) + epsilon)


_BY_NAME = {kind.__name__.lower(): kind for kind in (SGD, RMSprop, Adagrad, Adam)}


def get(identifier: Any) -> Any:
    """An optimizer of a name, with its default settings; an optimizer itself. Raises ArgumentError (ValueError)."""
    if isinstance(identifier, _Optimizer):
        return identifier
    if isinstance(identifier, str) and identifier.lower() in _BY_NAME:
        return _BY_NAME[identifier.lower()].from_config({})
    raise ArgumentError(f"Could not interpret optimizer identifier: {identifier}", expected=", ".join(_BY_NAME))


__getattr__ = refusing("tf.keras.optimizers", __name__)
