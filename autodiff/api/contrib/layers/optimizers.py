"""optimize_loss: an optimizer, its learning rate, clipping and summaries in one call."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....core.collections import GraphKeys, get_collection
from ....core.convert import convert_to_tensor
from ....core.errors import ArgumentError
from ....core.graph import Tensor, get_default_graph
from ....core.indexed_slices import IndexedSlices
from ....core.op import build
from ... import summary
from ...math.norms import clip_by_global_norm, global_norm
from ...random import truncated_normal
from ...train.adaptive import AdagradOptimizer, AdamOptimizer, FtrlOptimizer, RMSPropOptimizer
from ...train.global_step import assert_global_step, get_global_step
from ...train.gradient_descent import GradientDescentOptimizer, MomentumOptimizer
from ...train.optimizer import Optimizer
from ...variables.initializers import Constant
from ...variables.variable_scope import get_variable, variable_scope
from ..framework import assert_scalar

__all__ = ["OPTIMIZER_CLS_NAMES", "OPTIMIZER_SUMMARIES", "optimize_loss"]

OPTIMIZER_CLS_NAMES: dict[str, Callable[..., Optimizer]] = {
    "Adagrad": AdagradOptimizer, "Adam": AdamOptimizer, "Ftrl": FtrlOptimizer,
    "Momentum": lambda learning_rate: MomentumOptimizer(learning_rate, momentum=0.9), "RMSProp": RMSPropOptimizer,
    "SGD": GradientDescentOptimizer}
OPTIMIZER_SUMMARIES = ["learning_rate", "loss", "gradients", "gradient_norm", "global_gradient_norm"]


def optimize_loss(loss: Any, global_step: Any, learning_rate: Any, optimizer: Any, gradient_noise_scale: Any = None,
                  gradient_multipliers: Any = None, clip_gradients: Any = None, learning_rate_decay_fn: Any = None,
                  update_ops: Any = None, variables: Any = None, name: str | None = None, summaries: Any = None,
                  colocate_gradients_with_ops: bool = False, increment_global_step: bool = True) -> Tensor:
    """The loss, read when the optimizer's step is done.

    optimizer: a name of OPTIMIZER_CLS_NAMES, a class, an optimizer, or a function of the learning rate. clip_gradients:
    a global norm, or a function of the (gradient, variable) pairs. gradient_multipliers: variable or its name ->
    factor. learning_rate_decay_fn: of (learning rate, global step). update_ops: run before; by default the collection.
    Raises ArgumentError (ValueError) for anything else.
    """
    loss = assert_scalar(loss)
    if global_step is None:
        global_step = get_global_step()
    else:
        assert_global_step(global_step)
    shown = _summaries(summaries)
    with variable_scope(name, "OptimizeLoss", [loss, global_step]):
        updates = get_collection(GraphKeys.UPDATE_OPS) if update_ops is None else list(update_ops)
        loss = _after(updates, loss)
        rate = _rate(learning_rate)
        if rate is not None and learning_rate_decay_fn is not None:
            if global_step is None:
                raise ArgumentError("learning_rate_decay_fn needs a global_step")
            rate = learning_rate_decay_fn(rate, global_step)
            if "learning_rate" in shown:
                summary.scalar("learning_rate", rate)
        chosen = _optimizer(optimizer, rate)
        pairs = chosen.compute_gradients(loss, variables, colocate_gradients_with_ops=colocate_gradients_with_ops)
        pairs = _changed(pairs, gradient_noise_scale, gradient_multipliers)
        norms = "global_gradient_norm" in shown or "gradient_norm" in shown
        if norms:
            summary.scalar("global_norm/gradient_norm", global_norm([gradient for gradient, _ in pairs]))
        pairs = _clipped(pairs, clip_gradients)
        _summarize(loss, pairs, shown)
        if norms and clip_gradients is not None:
            summary.scalar("global_norm/clipped_gradient_norm", global_norm([gradient for gradient, _ in pairs]))
        step = chosen.apply_gradients(pairs, global_step if increment_global_step else None, name="train")
        return _after([step], loss)


def _after(operations: list[Any], tensor: Tensor) -> Tensor:
    if not operations:
        return tensor
    with get_default_graph().control_dependencies(operations):
        return build.Identity(tensor, name="control_dependency")


def _summaries(names: Any) -> list[str]:
    if names is None:
        return ["loss", "learning_rate", "global_gradient_norm"]
    for name in names:
        if name not in OPTIMIZER_SUMMARIES:
            raise ArgumentError(expected=f"summaries of {', '.join(OPTIMIZER_SUMMARIES)}", found=repr(name))
    return list(names)


def _rate(learning_rate: Any) -> Any:
    """The learning rate: a scalar tensor as it is, a float in a variable, so that it can be changed."""
    if learning_rate is None or isinstance(learning_rate, Tensor) and learning_rate.dims == ():
        return learning_rate
    if not isinstance(learning_rate, float):
        raise ArgumentError(expected="a float or a scalar tensor as learning_rate", found=repr(learning_rate))
    if learning_rate < 0.0:
        raise ArgumentError(expected="a learning_rate >= 0", found=f"{learning_rate:g}")
    return get_variable("learning_rate", [], trainable=False, initializer=Constant(learning_rate))


def _optimizer(optimizer: Any, rate: Any) -> Optimizer:
    if isinstance(optimizer, Optimizer):
        return optimizer
    by_name = isinstance(optimizer, str)
    if by_name and optimizer not in OPTIMIZER_CLS_NAMES:
        raise ArgumentError(expected=f"an optimizer of {', '.join(OPTIMIZER_CLS_NAMES)}", found=repr(optimizer))
    if rate is None and (by_name or isinstance(optimizer, type)):
        raise ArgumentError(f"optimizer {optimizer!r} needs a learning_rate, found None")
    made = OPTIMIZER_CLS_NAMES[optimizer] if by_name else optimizer
    found = (made() if rate is None else made(rate)) if callable(made) else made
    if not isinstance(found, Optimizer):
        raise ArgumentError(expected="an optimizer, its name, or a function that makes one", found=repr(optimizer))
    return found


def _changed(pairs: Any, noise_scale: Any, multipliers: Any) -> list[Any]:
    if noise_scale is not None:
        pairs = [(_noisy(g, v.shape.as_list(), noise_scale), v) for g, v in pairs]
    if multipliers is not None:
        pairs = [(_times(g, multipliers.get(v, multipliers.get(v.name))), v) for g, v in pairs]
    return list(pairs)


def _noisy(gradient: Any, shape: list[int], scale: Any) -> Any:
    if gradient is None:
        return None
    tensor = convert_to_tensor(gradient)
    return tensor + truncated_normal(shape, dtype=tensor.dtype.base_dtype) * scale


def _times(gradient: Any, factor: Any) -> Any:
    if gradient is None or factor is None:
        return gradient
    if isinstance(gradient, IndexedSlices):
        return IndexedSlices(gradient.values * factor, gradient.indices, gradient.dense_shape)
    return gradient * convert_to_tensor(factor, dtype=gradient.dtype.base_dtype)


def _clipped(pairs: list[Any], clip: Any) -> list[Any]:
    if clip is None:
        return pairs
    if callable(clip):
        return list(clip(pairs))
    if not isinstance(clip, float):
        raise ArgumentError(expected="a float or a function as clip_gradients", found=repr(clip))
    clipped, _ = clip_by_global_norm([gradient for gradient, _ in pairs], clip)
    return [(gradient, variable) for gradient, (_, variable) in zip(clipped, pairs)]


def _summarize(loss: Tensor, pairs: list[Any], shown: list[str]) -> None:
    if "loss" in shown:
        summary.scalar("loss", loss)
    for gradient, variable in pairs:
        if gradient is None:
            continue
        values = gradient.values if isinstance(gradient, IndexedSlices) else gradient
        label = variable.name.replace(":", "_")
        if "gradients" in shown:
            summary.histogram(f"gradients/{label}", values)
        if "gradient_norm" in shown:
            summary.scalar(f"gradient_norm/{label}", global_norm([values]))
