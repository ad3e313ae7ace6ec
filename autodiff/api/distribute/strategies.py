"""Strategies of training on several devices: each is the same one on this machine, one replica that has all."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import SimpleNamespace
from typing import Any

from ...core.convert import convert_to_tensor
from ...core.errors import ArgumentError, StateError
from ...core.graph import Tensor, get_default_graph
from ...core.op import build
from ..arrays.creation import constant
from ..common.ranks import broadcast_weights
from ..control.dependencies import control_dependencies
from ..data.dataset import Dataset
from ..debugging import assert_greater_equal
from ..math import reduce_mean, reduce_sum

__all__ = ["MirroredStrategy", "OneDeviceStrategy", "ReduceOp", "Strategy", "experimental", "get_replica_context",
           "get_strategy", "has_strategy", "in_cross_replica_context"]
_ENTERED = "strategies"  # in a graph's extras: those whose scopes are open, the outermost first


class ReduceOp:
    """How the values of replicas become one."""

    SUM, MEAN = "SUM", "MEAN"


@contextmanager
def _entered(strategy: Any) -> Iterator[Any]:
    """strategy: None inside of what a replica computes."""
    entered = get_default_graph().outermost.extras.setdefault(_ENTERED, [])
    entered.append(strategy)
    try:
        yield strategy
    finally:
        entered.pop()


class Strategy:
    """How a model is trained on several devices: here there is one, so that all is done once."""

    num_replicas_in_sync = 1
    extended = property(lambda self: self)
    worker_devices = parameter_devices = ("/device:CPU:0",)

    def __init__(self, *devices: Any, **options: Any) -> None:
        """What it is told of devices and clusters has no effect."""

    def scope(self) -> AbstractContextManager["Strategy"]:
        """The default strategy inside the block."""
        return _entered(self)

    def experimental_run_v2(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """fn(*args, **kwargs), once: in there it is the replica that computes."""
        with _entered(None):
            return fn(*args, **(kwargs or {}))

    call_for_each_replica = experimental_run_v2

    def reduce(self, reduce_op: str, value: Any, axis: int | None = None) -> Any:
        """The value of the one replica, reduced along an axis unless it is None."""
        return value if axis is None else (reduce_sum if reduce_op == ReduceOp.SUM else reduce_mean)(value, axis)

    def experimental_distribute_dataset(self, dataset: Dataset) -> Dataset:
        """The dataset itself."""
        return dataset

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """The value of the one replica, in a tuple."""
        return (value,)

    unwrap = experimental_local_results


def _kind(name: str) -> Any:
    return type(name, (Strategy,), {"__doc__": Strategy.__doc__})


MirroredStrategy, OneDeviceStrategy = map(_kind, ("MirroredStrategy", "OneDeviceStrategy"))
experimental = SimpleNamespace(**{name: _kind(name) for name in (
    "CentralStorageStrategy", "MultiWorkerMirroredStrategy", "ParameterServerStrategy", "TPUStrategy")})


class _Replica:
    """Where a model's step is computed: the only replica."""

    num_replicas_in_sync = 1
    devices = Strategy.worker_devices

    @property
    def strategy(self) -> Strategy:
        return get_strategy()

    @property
    def replica_id_in_sync_group(self) -> Any:
        return constant(0)

    def merge_call(self, merge_fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """merge_fn(strategy, *args, **kwargs)."""
        return merge_fn(self.strategy, *args, **(kwargs or {}))

    def all_reduce(self, reduce_op: str, value: Any) -> Any:
        """The value."""
        return value


_DEFAULT = Strategy()


def get_strategy() -> Strategy:
    """The strategy whose scope is open, or the default one."""
    entered = get_default_graph().outermost.extras.get(_ENTERED, ())
    return next((each for each in reversed(entered) if each is not None), _DEFAULT)


def has_strategy() -> bool:
    """Whether the scope of a strategy is open."""
    return get_strategy() is not _DEFAULT


def in_cross_replica_context() -> bool:
    """Whether the scope of a strategy is open, and no replica computes in there."""
    entered = get_default_graph().outermost.extras.get(_ENTERED, ())
    return bool(entered) and entered[-1] is not None


def get_replica_context() -> Any:
    """The only replica; None directly inside the scope of a strategy."""
    return None if in_cross_replica_context() else _Replica()


def compute_average_loss(per_example_loss: Any, sample_weight: Any = None, global_batch_size: Any = None) -> Tensor:
    """The sum of losses times their weights, over the size of the whole batch: of axis 0, unless it is given.

    per_example_loss: float[n, ...] -> float[]. Raises ArgumentError (ValueError) for a scalar, ShapeError (ValueError)
    for weights that do not fit, StateError (RuntimeError) directly in a strategy's scope where the size is not given.
    """
    losses, words = convert_to_tensor(per_example_loss), "Expected a tensor with at least rank 1"
    if losses.dims == ():
        raise ArgumentError(f"Invalid value passed for `per_example_loss`. {words}, received: {losses}")
    if sample_weight is not None:
        losses = losses * broadcast_weights(build.Cast(sample_weight, dtype=losses.dtype.base_dtype), losses)
    if global_batch_size is None:
        _check_replica("compute_average_loss")
        words = f"Invalid value passed for `per_example_loss`. {words}."
        with control_dependencies([assert_greater_equal(build.Rank(losses), 1, message=words)]):
            global_batch_size = build.Cast(build.Shape(losses)[0], dtype=losses.dtype.base_dtype)
    return reduce_sum(losses) / global_batch_size


def scale_regularization_loss(regularization_loss: Any) -> Tensor:
    """The sum of losses over the number of replicas, which is one. float[...] -> float[].

    Raises StateError (RuntimeError) directly in a strategy's scope.
    """
    _check_replica("scale_regularization_loss")
    return reduce_sum(regularization_loss)


def _check_replica(name: str) -> None:
    if in_cross_replica_context():
        raise StateError(f"You are calling `{name}` in cross replica context, while it was expected to be called in "
                         "replica context.", hint="call it in the function that experimental_run_v2 is given")
