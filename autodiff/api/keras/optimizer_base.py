"""What Keras' optimizers have in common: settings as variables, a count of steps, clipped gradients, slots."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from ...core.convert import convert_to_tensor
from ...core.dtypes import float32, int64
from ...core.errors import ArgumentError, KindError
from ...core.graph import Tensor, get_default_graph
from ...core.indexed_slices import IndexedSlices
from ...core.op import build
from ...core.site import capture
from ...gradients.backprop import gradients
from .. import math
from ..control.dependencies import group, init_scope
from ..linalg import clip_by_norm
from ..train.optimizer import Optimizer as _Optimizer
from ..train.slots import filled_like
from ..variables.initializers import Constant
from ..variables.layer_base import snake_case
from ..variables.trackable import TrackableReference
from ..variables.variable import Variable
from . import backend, initializers
from .schedules import LearningRateSchedule, deserialize, float_of
from .utils import serialized


class Optimizer(_Optimizer):
    """Base: settings are variables that callbacks may set, and attributes; `lr` is the learning rate.

    decay: the rate is divided by 1 + decay · steps. clipnorm, clipvalue: of each gradient. A subclass tells its
    settings with `_set_hyper(name, value)`, makes slots in `_create_slots(var_list)` with `add_slot`, and changes a
    variable in `_resource_apply_dense(grad, var)` and `_resource_apply_sparse(grad, var, indices)`.
    """

    def __init__(self, name: str | None, **options: Any) -> None:
        self._hyper: dict[str, Any] = {}
        self._made: dict[Any, Variable] = {}
        self._hypers_created = False
        super().__init__(False, name or snake_case(type(self).__name__))
        self._frames = capture()
        unknown = set(options) - {"lr", "decay", "clipnorm", "clipvalue"}
        if unknown:
            raise KindError(f"Unexpected keyword argument passed to optimizer: {min(unknown)}")
        self._initial_decay = options.get("decay", 0.0)
        self._clips = {name: options[name] for name in ("clipnorm", "clipvalue") if options.get(name) is not None}
        self._weights: list[Variable] = []

    def _set_hyper(self, name: str, value: Any) -> None:
        made = self._made.get(self._key(name))
        if made is not None and isinstance(value, (int, float)):
            backend.set_value(made, value)
        elif made is not None:
            del self._made[self._key(name)]
        self._hyper[name] = value

    def _get_hyper(self, name: str, dtype: Any = None) -> Any:
        """A setting as a variable; a tensor or schedule as it is."""
        value = self._hyper[name]
        if isinstance(value, LearningRateSchedule):
            return value
        value = value() if callable(value) else value
        made = value if isinstance(value, (Tensor, Variable)) else self._own(name, float_of(value))
        return made if dtype is None else math.cast(made, dtype)

    def _create_hypers(self) -> None:
        self._hyper = {name: self._get_hyper(name) for name in sorted(self._hyper)}
        self._hypers_created = True

    def _serialize_hyperparameter(self, name: str) -> Any:
        value = self._made.get(self._key(name), self._hyper[name])
        if isinstance(value, LearningRateSchedule):
            return serialized(value)
        value = value() if callable(value) else value
        return backend.get_value(value) if isinstance(value, (Tensor, Variable)) else value

    def __getattr__(self, name: str) -> Any:
        name = "learning_rate" if name == "lr" else name
        if name in self.__dict__.get("_hyper", ()):
            return self._get_hyper(name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        name = "learning_rate" if name == "lr" else name
        if name in self.__dict__.get("_hyper", ()):
            self._set_hyper(name, value)
        else:
            super().__setattr__(name, value)

    @staticmethod
    def _key(name: str) -> Any:
        graph = get_default_graph()
        return name, None if graph.executing_eagerly else graph.outermost

    def _own(self, name: str, value: Any) -> Variable:
        key = self._key(name)
        if key not in self._made:
            with init_scope():
                self._made[key] = Variable(value, trainable=False, name=name, use_resource=True)
            if name not in self._hyper:
                self._weights.append(self._made[key])
        return self._made[key]

    @property
    def iterations(self) -> Variable:
        """How many steps were taken: int64[]."""
        return self._own("iter", convert_to_tensor(0, int64))

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        return [*super()._checkpoint_dependencies, *(
            TrackableReference(name, made) for (name, graph), made in self._made.items() if graph is self._key("")[1])]

    def get_config(self) -> dict[str, Any]:
        """Its settings by name. A subclass adds its own."""
        return {"name": self._name, **self._clips}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """An optimizer of such settings."""
        rate = config.get("learning_rate")
        return cls(**{**config, "learning_rate": deserialize(rate)} if isinstance(rate, dict) else config)

    def minimize(self, loss: Any, var_list: Any = None, grad_loss: Any = None, name: str | None = None,  # type: ignore[override]
                 **options: Any) -> Any:
        """The operation that takes one step. loss: float[...], or a function that computes it. var_list: variables."""
        variables = var_list() if callable(var_list) else var_list
        return self.apply_gradients(self.compute_gradients(loss, variables, grad_loss=grad_loss, **options), name=name)

    def compute_gradients(self, *args: Any, **options: Any) -> list[tuple[Any, Any]]:
        """(clipped gradient, variable) for each variable, as of tf.train's optimizers."""
        return [(self._clipped(grad), var) for grad, var in super().compute_gradients(*args, **options)]

    def get_gradients(self, loss: Any, params: Any) -> list[Any]:
        """The clipped gradients of a loss. Raises ArgumentError (ValueError) where there is none for one of params."""
        return [self._clipped(grad) for grad in _known(gradients(loss, params), params)]

    def get_updates(self, loss: Any, params: Any) -> list[Any]:
        """The operation that takes one step, in a list, as fit takes it. Raises as get_gradients does."""
        pairs = self.compute_gradients(loss, params)
        _known([grad for grad, _ in pairs], params)
        return [self.apply_gradients(pairs)]

    def apply_gradients(self, grads_and_vars: Any, name: str | None = None, **options: Any) -> Any:  # type: ignore[override]
        """The operation that takes one step with given gradients, which are not clipped, as TensorFlow's are not."""
        with get_default_graph().name_scope(self._name):
            steps = self.iterations
            self._create_hypers()
            return super().apply_gradients(grads_and_vars, global_step=steps, name=name)

    def _clipped(self, grad: Any) -> Any:
        if grad is None or not self._clips:
            return grad
        if isinstance(grad, IndexedSlices):
            return IndexedSlices(self._clipped(grad.values), grad.indices, grad.dense_shape)
        grad = clip_by_norm(grad, self._clips["clipnorm"]) if "clipnorm" in self._clips else grad
        bound = self._clips.get("clipvalue")
        return grad if bound is None else math.clip_by_value(grad, -bound, bound)

    def _decayed_lr(self, var_dtype: Any = float32) -> Tensor:
        """The rate of the step that is taken now."""
        steps, rate = math.cast(self.iterations, var_dtype), self._get_hyper("learning_rate")
        rate = math.cast(rate(self.iterations) if isinstance(rate, LearningRateSchedule) else rate, var_dtype)
        return rate / (1.0 + self._get_hyper("decay", var_dtype) * steps) if self._initial_decay else rate

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._resource_apply_dense(grad, var)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        return self._resource_apply_sparse(grad.values, var, grad.indices)

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no _resource_apply_dense")

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        whole = IndexedSlices(grad, indices, build.Shape(var))
        return self._resource_apply_dense(convert_to_tensor(whole), var)

    def add_slot(self, var: Any, slot_name: str, initializer: Any = "zeros") -> Variable:
        """What is kept for a variable under a name: like it in shape, zeros at first by default."""
        begin: Any = initializers.get(initializer) if isinstance(initializer, str) else initializer
        value = filled_like(var, begin, var.dtype.base_dtype) if callable(begin) else begin

        def made() -> Variable:
            with init_scope():
                slot = Variable(value, trainable=False, name=f"{var._shared_name}/{slot_name}",
                                dtype=var.dtype.base_dtype, use_resource=var.is_resource)
            self._weights.append(slot)
            return slot
        return self._slots.kept(var, slot_name, made)

    @property
    def weights(self) -> list[Variable]:
        """The count of steps, and what is kept for variables, in the order in which they were made."""
        graph = self._key("")[1]
        return [each for each in self._weights if graph is None or each.graph is graph]


def step_of(optimizer: Any, loss: Any, variables: list[Any]) -> Any:
    """The operation by which a model trains, with an optimizer of Keras or tf.train; variables: may be none."""
    if not variables:
        return group(*gradients(loss, loss))  # the graph keeps that this trains
    if not hasattr(optimizer, "get_updates"):
        return optimizer.minimize(loss, var_list=variables)
    with get_default_graph().name_scope("training"):
        return group(optimizer.get_updates(loss, variables))


def _known(grads: list[Any], params: Any) -> list[Any]:
    """The gradients. Raises ArgumentError for the first of params that has none."""
    for grad, param in zip(grads, params):
        if grad is None:
            raise ArgumentError(f"Variable {param} has `None` for gradient. Please make sure that all of your ops have "
                                "a gradient defined (i.e. are differentiable). Common ops without gradient: K.argmax, "
                                "K.round, K.eval.")
    return grads


class Rule(Optimizer):
    """A rule: `_change(grad, kept)` gives the new value of each slot, and what is taken from the variable.

    options: of Optimizer; `lr` is learning_rate. numbers: settings that may change. by_rows: of a gradient that has
    some rows, only these rows change, not what is kept for others. keeps_rows: what is kept for them does. by_value:
    kept[""] is the variable. by_variable: one variable's slots are made after the other's, not one slot of all.
    """

    by_rows: Any = False
    keeps_rows = by_value = by_variable = False

    def __init__(self, name: str, learning_rate: Any, options: dict[str, Any], **numbers: Any) -> None:
        super().__init__(name, **options)
        given = {"learning_rate": options.get("lr", learning_rate), "decay": self._initial_decay, **numbers}
        for setting, value in given.items():
            self._set_hyper(setting, value)

    def get_config(self) -> dict[str, Any]:
        plain = {name: value for name, value in vars(self).items() if name[0] != "_"}
        return {**super().get_config(), **{name: self._serialize_hyperparameter(name) for name in self._hyper}, **plain}

    def _kept(self) -> dict[str, float]:
        """Slot -> what it begins with."""
        return {}

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        kept = self._kept()
        for pair in product(var_list, kept) if self.by_variable else product(kept, var_list):
            var, name = pair if self.by_variable else pair[::-1]
            self.add_slot(var, name, Constant(kept[name]))

    def _prepare(self) -> None:
        self._rate, self._count = self._decayed_lr(), math.cast(self.iterations, float32) + 1.0
        self._now = {name: self._get_hyper(name, float32) for name in self._hyper if name != "learning_rate"}

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        return self._moved(grad, var, var.assign_sub)

    def _moved(self, grad: Any, var: Any, take: Callable[[Any], Any]) -> Any:
        kept: dict[str, Any] = {name: self.get_slot(var, name) for name in self._kept()}
        now = {**kept, "": var} if self.by_value else kept
        new, taken = self._change(grad, {name: slot.as_tensor() for name, slot in now.items()})
        return group(*(kept[name].assign(value) for name, value in new.items()), take(taken))

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        if self.keeps_rows:
            whole = convert_to_tensor(IndexedSlices(grad, indices, build.Shape(var)))
            return self._moved(whole, var, lambda taken: var.scatter_sub(IndexedSlices(
                build.GatherV2(taken, indices, 0), indices)))
        if not self.by_rows:
            return super()._resource_apply_sparse(grad, var, indices)
        kept: dict[str, Any] = {name: self.get_slot(var, name) for name in self._kept()}
        now = {**kept, "": var} if self.by_value else kept
        new, taken = self._change(grad, {name: build.GatherV2(slot, indices, 0) for name, slot in now.items()})
        return group(*(kept[name].scatter_update(IndexedSlices(value, indices)) for name, value in new.items()),
                     var.scatter_sub(IndexedSlices(taken, indices)))

    def _change(self, g: Any, kept: dict[str, Any]) -> tuple[dict[str, Any], Any]:
        raise NotImplementedError(f"{type(self).__name__} does not say how a variable changes")
