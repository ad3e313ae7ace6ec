"""Clusters: the names of a distributed program's tasks, and devices by them; there is one process, which has all."""
from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

from ...core.devices import DeviceSpec, merged_device
from ...core.errors import ArgumentError, KindError
from ...files.meta_graph_messages import META_GRAPH_MESSAGES
from ...runtime.config import SERVERS

ClusterDef = META_GRAPH_MESSAGES["ClusterDef"]
_HELD_BY_SERVERS = ("Variable", "VariableV2", "AutoReloadVariable", "MutableHashTable", "MutableHashTableV2",
                    "MutableHashTableOfTensors", "MutableHashTableOfTensorsV2", "MutableDenseHashTable",
                    "MutableDenseHashTableV2", "VarHandleOp", "BoostedTreesEnsembleResourceHandleOp")


class ClusterSpec:
    """Job name -> the addresses of its tasks. Raises KindError (TypeError) for what is no such mapping."""

    def __init__(self, cluster: Any) -> None:
        jobs = {job.name: dict(sorted(job.tasks.items())) for job in cluster.job} if isinstance(
            cluster, ClusterDef) else cluster.as_dict() if isinstance(cluster, ClusterSpec) else cluster
        if not isinstance(jobs, Mapping):
            raise KindError("`cluster` must be a dictionary mapping one or more job names to lists of network "
                            "addresses, or a `ClusterDef` protocol buffer", found=repr(cluster))
        self._tasks = {job: dict(tasks) if isinstance(tasks, Mapping) else dict(enumerate(tasks))
                       for job, tasks in jobs.items()}

    @property
    def jobs(self) -> list[str]:
        return list(self._tasks)

    def as_dict(self) -> dict[str, Any]:
        """Addresses by job: a list, or a dict where some tasks are not named."""
        return {job: list(tasks.values()) if list(tasks) == list(range(len(tasks))) else tasks
                for job, tasks in self._tasks.items()}

    def as_cluster_def(self) -> Any:
        """The ClusterDef, its jobs in the order of their names."""
        jobs = META_GRAPH_MESSAGES["JobDef"]
        return ClusterDef(job=[jobs(name=job, tasks=tasks) for job, tasks in sorted(self._tasks.items())])

    def __str__(self) -> str:
        return f"ClusterSpec({dict(sorted(self.as_dict().items()))})"

    def _of(self, job: str) -> dict[int, str]:
        if job not in self._tasks:
            raise ArgumentError(f"No such job in cluster: {job!r}")
        return self._tasks[job]

    def num_tasks(self, job_name: str) -> int:
        """How many tasks a job has. Raises ArgumentError (ValueError) for an unknown one."""
        return len(self._of(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """The numbers of its tasks."""
        return sorted(self._of(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """Where a task is. Raises ArgumentError for an unknown one."""
        tasks = self._of(job_name)
        if task_index not in tasks:
            raise ArgumentError(f"No task with index {task_index!r} in job {job_name!r}")
        return tasks[task_index]

    def job_tasks(self, job_name: str) -> list[str | None]:
        """The addresses of a job's tasks by their numbers; None where there is none."""
        tasks = self._of(job_name)
        return [tasks.get(i) for i in range(max(tasks, default=-1) + 1)]

    def __bool__(self) -> bool:
        return bool(self._tasks)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClusterSpec) and self._tasks == other._tasks


class Server:
    """A task's server, which is this process: a session with its `target` is a plain one."""

    def __init__(self, server_or_cluster_def: Any = None, job_name: str | None = None, task_index: int | None = None,
                 protocol: str | None = None, config: Any = None, start: bool = True) -> None:
        self.server_def, self.target = server_or_cluster_def, f"grpc://localhost:{len(SERVERS)}"
        if config is not None:
            SERVERS[self.target] = config

    @staticmethod
    def create_local_server(config: Any = None, start: bool = True) -> "Server":
        """The server of this process."""
        return Server(config=config, start=start)

    def start(self) -> None:
        """Nothing is to be begun."""

    join = start


def replica_device_setter(ps_tasks: int = 0, ps_device: str = "/job:ps", worker_device: str = "/job:worker",
                          merge_devices: bool = True, cluster: Any = None, ps_ops: Any = None,
                          ps_strategy: Callable[[Any], int] | None = None) -> Callable[[Any], str] | None:
    """A function for tf.device: variables by turns on the tasks of ps_device, other ops on worker_device.

    None if there are no such tasks. Raises KindError (TypeError) for a ps_strategy that cannot be called.
    """
    if cluster is not None:
        ps_tasks = len(ClusterSpec(cluster).as_dict().get(str(DeviceSpec.from_string(ps_device).job)) or ())
    if ps_tasks == 0:
        return None
    turns = itertools.cycle(range(ps_tasks))
    strategy = (lambda op: next(turns)) if ps_strategy is None else ps_strategy
    if not callable(strategy):
        raise KindError("ps_strategy must be callable", found=repr(ps_strategy))
    held = _HELD_BY_SERVERS if ps_ops is None else ps_ops

    def chosen(op: Any) -> str:
        asked = op.device or ""
        if not merge_devices and asked:
            return asked
        if not ps_device or op.type not in held:
            return merged_device(worker_device or "", asked)
        server, job = DeviceSpec.from_string(ps_device), DeviceSpec.from_string(asked).job
        if server.job and job in (None, server.job):
            server.task = strategy(op)
        return merged_device(server.to_string(), asked)

    return chosen
