"""Options that TensorFlow scripts pass: kept and readable. Only threads and the jit level have an effect."""
from __future__ import annotations

import copy
from typing import Any

from ..core.devices import merged_device
from ..core.errors import ArgumentError, UnsupportedError


class _Options:
    """Named options with defaults. Raises ArgumentError (a ValueError) for an unknown name."""

    _defaults: dict[str, Any] = {}

    def __init__(self, **options: Any) -> None:
        for name in options:
            if name not in self._defaults:
                raise ArgumentError(self._unknown(name))
        self.__dict__.update({**copy.deepcopy(self._defaults), **options})

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._defaults:
            raise UnsupportedError(self._unknown(name))
        self.__dict__[name] = value

    def _unknown(self, name: str) -> str:
        return f"{type(self).__name__} has no field {name!r}: it has {', '.join(sorted(self._defaults))}"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        changed = {k: v for k, v in self.__dict__.items() if v != self._defaults[k]}
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in changed.items())})"


class Device:
    """A device that a session has. memory_limit_bytes: as TensorFlow says for a CPU."""

    def __init__(self, name: str, device_type: str, memory_limit_bytes: int, incarnation: int) -> None:
        self.name, self.device_type = merged_device("", name), device_type
        self.memory_limit_bytes, self.incarnation = memory_limit_bytes, incarnation

    def __repr__(self) -> str:
        return f"_DeviceAttributes({self.name}, {self.device_type}, {self.memory_limit_bytes}, {self.incarnation})"


class GPUOptions(_Options):
    """Options of a GPU that is not there."""

    _defaults = {"allow_growth": False, "per_process_gpu_memory_fraction": 0.0, "visible_device_list": "",
                 "allocator_type": "", "deferred_deletion_bytes": 0, "polling_active_delay_usecs": 0,
                 "force_gpu_compatible": False}


class OptimizerOptions(_Options):
    """How the graph may be rewritten before it runs.

    global_jit_level: results depend on none of this but ON_1 or ON_2 here, which asks TensorFlow for XLA: as
    there, a plan that is run often may then differ in the last bits. See `wants_jit`.
    """

    L0, L1, DEFAULT, OFF, ON_1, ON_2 = -1, 0, 0, -1, 1, 2
    _defaults = {"opt_level": 0, "global_jit_level": 0, "do_common_subexpression_elimination": False,
                 "do_constant_folding": False, "do_function_inlining": False, "max_folded_constant_in_bytes": 0}


class RewriterConfig(_Options):
    """Which of TensorFlow's rewritings of a graph are asked for; plans are made their own way whatever it says."""

    DEFAULT, ON, OFF, AGGRESSIVE = range(4)
    _defaults = dict.fromkeys((
        "layout_optimizer", "constant_folding", "shape_optimization", "remapping", "arithmetic_optimization",
        "dependency_optimization", "loop_optimization", "function_optimization", "debug_stripper",
        "scoped_allocator_optimization", "pin_to_host_optimization", "implementation_selector",
        "auto_mixed_precision", "memory_optimization", "meta_optimizer_iterations", "min_graph_nodes"), 0) | {
            "disable_model_pruning": False, "disable_meta_optimizer": False, "optimizers": []}


class GraphOptions(_Options):
    """Options of the graph's execution."""

    _defaults = {"optimizer_options": OptimizerOptions(), "rewrite_options": RewriterConfig(), "build_cost_model": 0,
                 "infer_shapes": False, "place_pruned_graph": False, "enable_recv_scheduling": False}


class ThreadPoolOptionProto(_Options):
    """Threads that runs may choose; without effect."""

    _defaults = {"num_threads": 0, "global_name": ""}


class _Pools(list):
    def add(self, **options: Any) -> ThreadPoolOptionProto:
        """One more, at the end."""
        self.append(ThreadPoolOptionProto(**options))
        return self[-1]


class ConfigProto(_Options):
    """Options of a session."""

    _defaults = {"allow_soft_placement": False, "log_device_placement": False, "intra_op_parallelism_threads": 0,
                 "inter_op_parallelism_threads": 0, "use_per_session_threads": False, "operation_timeout_in_ms": 0,
                 "isolate_session_state": False, "device_count": {}, "device_filters": [], "placement_period": 0,
                 "gpu_options": GPUOptions(), "graph_options": GraphOptions(), "session_inter_op_thread_pool": _Pools()}


class DebugTensorWatch(_Options):
    """A tensor that tfdbg would watch."""

    _defaults = {"node_name": "", "output_slot": 0, "debug_ops": [], "debug_urls": [],
                 "tolerate_debug_op_creation_failures": False}


class DebugOptions(_Options):
    """What tfdbg would watch in a run; kept, without effect."""

    _defaults = {"debug_tensor_watch_opts": [], "global_step": 0, "reset_disk_byte_usage": False}


class RunOptions(_Options):
    """Options of one run."""

    NO_TRACE, SOFTWARE_TRACE, HARDWARE_TRACE, FULL_TRACE = range(4)
    _defaults = {"trace_level": 0, "timeout_in_ms": 0, "inter_op_thread_pool": 0, "output_partition_graphs": False,
                 "report_tensor_allocations_upon_oom": False, "debug_options": DebugOptions()}


SERVERS: dict[str, ConfigProto] = {}  # target of a server of this process -> options of sessions that have none


class CallableOptions(_Options):
    """What a function of a session is fed, fetches and runs, by name."""

    _defaults = {"feed": [], "fetch": [], "target": [], "run_options": RunOptions()}


def wants_jit(config: ConfigProto | None) -> bool:
    """Whether plans may be relaxed, as XLA's are: when `config.graph_options.optimizer_options.global_jit_level` is on.

    In a relaxed plan single float32 numbers are computed in double precision from the first op to the last, and
    rounded to float32 where they are fetched or meet an array: an error bound that holds for float32 holds for
    them too. What would overflow float32 on the way only does not. Sums in products of matrices are taken in
    another order (`products`): whatever the order, a sum of n terms is off by at most n * 2**-24 (float64: 2**-53)
    times the sum of the terms' sizes.
    """
    if config is None:
        return False
    options: Any = config
    return options.graph_options.optimizer_options.global_jit_level > 0
