"""tf.keras.optimizers: Keras' rules, as optimizers of tf.train; what they have in common is in optimizer_base.py."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.convert import convert_to_tensor
from ...core.dtypes import float32
from ...core.errors import ArgumentError
from ...core.op import build
from .. import math
from ..common.unsupported import refusing
from ..train.optimizer import Optimizer as _Optimizer
from . import schedules
from .optimizer_base import Optimizer, Rule
from .utils import deserialized, serialized

__all__ = ["Adadelta", "Adagrad", "Adam", "Adamax", "Ftrl", "Nadam", "Optimizer", "RMSprop", "SGD", "deserialize",
           "get", "schedules", "serialize"]


class SGD(Rule):
    """momentum: how much of the last change is kept. nesterov: the gradient counts as if taken after the next step."""

    by_rows = True

    def __init__(self, learning_rate: Any = 0.01, momentum: Any = 0.0, nesterov: bool = False, name: str = "SGD",
                 **options: Any) -> None:
        super().__init__(name, learning_rate, options, momentum=momentum)
        self.nesterov, self._keeps = nesterov, not isinstance(momentum, (int, float)) or momentum > 0

    def _kept(self) -> dict[str, float]:
        return {"momentum": 0.0} if self._keeps else {}

    def _change(self, g: Any, kept: dict[str, Any]) -> tuple[dict[str, Any], Any]:
        if not kept:
            return {}, self._rate * g
        momentum = self._now["momentum"]
        change = momentum * kept["momentum"] - self._rate * g
        return {"momentum": change}, self._rate * g - momentum * change if self.nesterov else -change


class RMSprop(Rule):
    """The gradient over the root of its mean square; centered: over its deviation. The mean begins at zero."""

    by_rows = property(lambda self: self._keeps)

    def __init__(self, learning_rate: Any = 0.001, rho: Any = 0.9, momentum: Any = 0.0, epsilon: float = 1e-7,
                 centered: bool = False, name: str = "RMSprop", **options: Any) -> None:
        super().__init__(name, learning_rate, options, rho=rho, momentum=momentum)
        self.epsilon, self.centered = epsilon, centered
        self._keeps = not isinstance(momentum, (int, float)) or momentum > 0

    def _kept(self) -> dict[str, float]:
        return {name: 0.0 for name, needed in (("rms", True), ("momentum", self._keeps), ("mg", self.centered))
                if needed}

    def _change(self, g: Any, kept: dict[str, Any]) -> tuple[dict[str, Any], Any]:
        rho = self._now["rho"]
        new = {"rms": rho * kept["rms"] + (1.0 - rho) * build.Square(g)}
        square = new["rms"]
        if "mg" in kept:
            new["mg"] = rho * kept["mg"] + (1.0 - rho) * g
            square = square - build.Square(new["mg"])
        if "momentum" not in kept:
            return new, self._rate * g / (build.Sqrt(square) + self.epsilon)
        new["momentum"] = self._now["momentum"] * kept["momentum"] + self._rate * g / build.Sqrt(square + self.epsilon)
        return new, new["momentum"]


class Adagrad(Rule):
    """The gradient over the root of the sum of its squares."""

    def __init__(self, learning_rate: Any = 0.001, initial_accumulator_value: float = 0.1, epsilon: float = 1e-7,
                 name: str = "Adagrad", **options: Any) -> None:
        super().__init__(name, learning_rate, options)
        self.initial_accumulator_value, self.epsilon = initial_accumulator_value, epsilon

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        return super().from_config({"initial_accumulator_value": 0.0, **config})  # as TensorFlow's, made by its name

    def _kept(self) -> dict[str, float]:
        return {"accumulator": self.initial_accumulator_value}

    def _change(self, g: Any, kept: dict[str, Any]) -> tuple[dict[str, Any], Any]:
        total = kept["accumulator"] + build.Square(g)
        return {"accumulator": total}, self._rate * g / (build.Sqrt(total) + self.epsilon)


class Adadelta(Rule):
    """The gradient times the root mean square of past changes over that of past gradients. Source: Zeiler (2012)."""

    by_rows = True

    def __init__(self, learning_rate: Any = 0.001, rho: Any = 0.95, epsilon: float = 1e-7, name: str = "Adadelta",
                 **options: Any) -> None:
        super().__init__(name, learning_rate, options, rho=rho)
        self.epsilon = epsilon

    def _kept(self) -> dict[str, float]:
        return {"accum_grad": 0.0, "accum_var": 0.0}

    def _change(self, g: Any, kept: dict[str, Any]) -> tuple[dict[str, Any], Any]:
        rho = self._now["rho"]
        square = rho * kept["accum_grad"] + (1.0 - rho) * build.Square(g)
        change = build.Sqrt(kept["accum_var"] + self.epsilon) / build.Sqrt(square + self.epsilon) * g
        changes = rho * kept["accum_var"] + (1.0 - rho) * build.Square(change)
        return {"accum_grad": square, "accum_var": changes}, self._rate * change


class _Moments(Rule):
    """Rules of the mean gradient m and its size v, of which each begins at zero."""

    def __init__(self, learning_rate: Any, beta_1: Any, beta_2: Any, epsilon: float, name: str,
                 options: dict[str, Any]) -> None:
        super().__init__(name, learning_rate, options, beta_1=beta_1, beta_2=beta_2)
        self.epsilon = epsilon

    def _kept(self) -> dict[str, float]:
        return {"m": 0.0, "v": 0.0}

    def _means(self, g: Any, kept: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
        """Both betas, and the moments with this gradient; v is the mean square."""
        one, two = self._now["beta_1"], self._now["beta_2"]
        return one, two, {"m": one * kept["m"] + (1.0 - one) * g, "v": two * kept["v"] + (1.0 - two) * build.Square(g)}


class Adam(_Moments):
    """The mean gradient over its root mean square, both corrected for starting at zero; amsgrad: over the greatest."""

    def __init__(self, learning_rate: Any = 0.001, beta_1: Any = 0.9, beta_2: Any = 0.999, epsilon: float = 1e-7,
                 amsgrad: bool = False, name: str = "Adam", **options: Any) -> None:
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, options)
        self.amsgrad = amsgrad

    def _kept(self) -> dict[str, float]:
        return {**super()._kept(), **({"vhat": 0.0} if self.amsgrad else {})}

    def _change(self, g: Any, kept: dict[str, Any]) -> tuple[dict[str, Any], Any]:
        one, two, new = self._means(g, kept)
        square = new["v"]
        if "vhat" in kept:
            square = new["vhat"] = math.maximum(kept["vhat"], square)
        rate = self._rate * build.Sqrt(1.0 - two ** self._count) / (1.0 - one ** self._count)
        return new, rate * new["m"] / (build.Sqrt(square) + self.epsilon)


class Adamax(_Moments):
    """The mean gradient over its greatest size, which fades. Source: Kingma and Ba (2015), section 7.1."""

    by_rows = True

    def __init__(self, learning_rate: Any = 0.001, beta_1: Any = 0.9, beta_2: Any = 0.999, epsilon: float = 1e-7,
                 name: str = "Adamax", **options: Any) -> None:
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, options)

    def _change(self, g: Any, kept: dict[str, Any]) -> tuple[dict[str, Any], Any]:
        one, two, new = self._means(g, kept)
        new["v"] = math.maximum(two * kept["v"], build.Abs(g))
        return new, self._rate / (1.0 - one ** self._count) * new["m"] / (new["v"] + self.epsilon)


class Nadam(_Moments):
    """Adam with Nesterov's momentum, which grows with the steps. Source: Dozat (2016)."""

    keeps_rows = True

    def __init__(self, learning_rate: Any = 0.001, beta_1: Any = 0.9, beta_2: Any = 0.999, epsilon: float = 1e-7,
                 name: str = "Nadam", **options: Any) -> None:
        growth = options.pop("schedule_decay", 0.004)
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, options)
        self._set_hyper("decay", growth)

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        self._product_so_far = self._own("momentum_cache", convert_to_tensor(1.0, float32))
        super()._create_slots(var_list)

    def _prepare(self) -> None:
        super()._prepare()
        one, growth = self._now["beta_1"], self._now["decay"]
        self._this, self._next = (one * (1.0 - 0.5 * 0.96 ** (growth * (self._count + i))) for i in (0.0, 1.0))
        product = self._product_so_far
        self._product = build.Identity(product.assign(product * self._this))

    def _change(self, g: Any, kept: dict[str, Any]) -> tuple[dict[str, Any], Any]:
        _, two, new = self._means(g, kept)
        mean = new["m"] / (1.0 - self._product * self._next)
        ahead = (1.0 - self._this) * g / (1.0 - self._product) + self._next * mean
        return new, self._rate * ahead / (build.Sqrt(new["v"] / (1.0 - two ** self._count)) + self.epsilon)


class Ftrl(Rule):
    """Weights of gradients summed, 0 within l1: follow the regularized leader. Source: McMahan et al. (2013)."""

    by_rows = by_value = by_variable = True

    def __init__(self, learning_rate: Any = 0.001, learning_rate_power: float = -0.5,
                 initial_accumulator_value: float = 0.1, l1_regularization_strength: float = 0.0,
                 l2_regularization_strength: float = 0.0, name: str = "Ftrl",
                 l2_shrinkage_regularization_strength: float = 0.0, **options: Any) -> None:
        super().__init__(name, learning_rate, options, learning_rate_power=learning_rate_power,
                         l1_regularization_strength=l1_regularization_strength,
                         l2_regularization_strength=l2_regularization_strength)
        self.initial_accumulator_value = initial_accumulator_value
        self.l2_shrinkage_regularization_strength = l2_shrinkage_regularization_strength

    def _kept(self) -> dict[str, float]:
        return {"accumulator": self.initial_accumulator_value, "linear": 0.0}

    def _change(self, g: Any, kept: dict[str, Any]) -> tuple[dict[str, Any], Any]:
        w, total = kept[""], kept["accumulator"] + build.Square(g)
        power, most, l2 = (self._now[name] for name in (
            "learning_rate_power", "l1_regularization_strength", "l2_regularization_strength"))
        old, new = (build.Pow(each, -power) / self._rate for each in (kept["accumulator"], total))
        linear = kept["linear"] + g - (new - old) * w + 2.0 * self.l2_shrinkage_regularization_strength * w
        value = (math.clip_by_value(linear, -most, most) - linear) / (new + 2.0 * l2)
        return {"accumulator": total, "linear": linear}, w - value


_BY_NAME = {kind.__name__.lower(): kind for kind in (Ftrl, SGD, RMSprop, Adagrad, Adam, Adadelta, Adamax, Nadam)}


def get(identifier: Any) -> Any:
    """An optimizer of a name, with its default settings; an optimizer itself. Raises ArgumentError (ValueError)."""
    if isinstance(identifier, _Optimizer):
        return identifier
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if isinstance(identifier, str) and identifier.lower() in _BY_NAME:
        return _BY_NAME[identifier.lower()].from_config({})
    raise ArgumentError(f"Could not interpret optimizer identifier: {identifier}", expected=", ".join(_BY_NAME))


def deserialize(config: dict[str, Any], custom_objects: Any = None) -> Any:
    """The optimizer that `serialize` told of. custom_objects: classes of one's own by name."""
    known = {kind.__name__: kind for kind in _BY_NAME.values()}
    return deserialized(config, {**known, **_BY_NAME}, custom_objects)


serialize = serialized
__getattr__ = refusing("tf.keras.optimizers", __name__)
