"""Strategies of training on several devices: each is the same one on this machine, one replica that has all."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from ...core.graph import get_default_graph
from ..arrays.creation import constant
from ..data.dataset import Dataset
from ..math import reduce_mean, reduce_sum

_ENTERED = "strategies"  # in a graph's extras: those whose scopes are open, the outermost first


class ReduceOp:
    """How the values of replicas become one."""

    SUM, MEAN = "SUM", "MEAN"


class Strategy:
    """How a model is trained on several devices: here there is one, so that all is done once."""

    num_replicas_in_sync = 1
    extended = property(lambda self: self)
    worker_devices = parameter_devices = ("/device:CPU:0",)

    def __init__(self, *devices: Any, **options: Any) -> None:
        """What it is told of devices and clusters has no effect."""

    @contextmanager
    def scope(self) -> Iterator["Strategy"]:
        """The default strategy inside the block."""
        entered = get_default_graph().outermost.extras.setdefault(_ENTERED, [])
        entered.append(self)
        try:
            yield self
        finally:
            entered.pop()

    def experimental_run_v2(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """fn(*args, **kwargs), once."""
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
    entered = get_default_graph().outermost.extras.get(_ENTERED)
    return entered[-1] if entered else _DEFAULT


def has_strategy() -> bool:
    """Whether the scope of a strategy is open."""
    return get_strategy() is not _DEFAULT


in_cross_replica_context = has_strategy


def get_replica_context() -> Any:
    """The only replica; None directly inside the scope of a strategy."""
    return None if in_cross_replica_context() else _Replica()
