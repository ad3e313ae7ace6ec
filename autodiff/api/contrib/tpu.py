"""tf.contrib.tpu: estimators and optimizers for TPUs, which take the CPU here, as TensorFlow's do without one."""
from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...core.errors import ArgumentError
from .. import estimator
from ..common.unsupported import refusing
from ..train.optimizer import Optimizer

__all__ = ["CrossShardOptimizer", "InputPipelineConfig", "RunConfig", "TPUConfig", "TPUEstimator", "TPUEstimatorSpec",
           "cross_replica_sum"]


class InputPipelineConfig:
    """Who reads the data: without effect."""

    PER_SHARD_V1, PER_HOST_V1, PER_HOST_V2, BROADCAST, SLICED = 1, 2, 3, 4, 5


class TPUConfig(NamedTuple):
    """How a TPU would be used: kept without effect."""

    iterations_per_loop: int = 2
    num_shards: int | None = None
    num_cores_per_replica: int | None = None
    per_host_input_for_training: Any = True
    tpu_job_name: str | None = None
    initial_infeed_sleep_secs: int | None = None
    input_partition_dims: Any = None
    eval_training_input_configuration: int = InputPipelineConfig.PER_HOST_V1
    experimental_host_call_every_n_steps: int = 1


@dataclasses.dataclass(frozen=True)
class RunConfig(estimator.RunConfig):
    """tf.estimator.RunConfig, and what concerns TPUs. master, cluster: of machines that are not here."""

    tpu_config: TPUConfig = TPUConfig()
    evaluation_master: Any = None
    master: Any = None
    cluster: Any = None


class TPUEstimatorSpec(NamedTuple):
    """What a model function gives. eval_metrics: (a function -> metrics, its tensors as a list or by name)."""

    mode: str
    predictions: Any = None
    loss: Any = None
    train_op: Any = None
    eval_metrics: Any = None
    export_outputs: Any = None
    scaffold_fn: Any = None
    host_call: Any = None
    training_hooks: Sequence[Any] | None = None
    evaluation_hooks: Sequence[Any] | None = None
    prediction_hooks: Sequence[Any] | None = None

    def as_estimator_spec(self) -> estimator.EstimatorSpec:
        """The same for a CPU: metrics and scaffold are made now."""
        metrics = None
        if self.eval_metrics:
            fn, tensors = self.eval_metrics
            metrics = fn(**tensors) if isinstance(tensors, dict) else fn(*tensors)
        return estimator.EstimatorSpec(
            self.mode, self.predictions, self.loss, self.train_op, metrics, self.export_outputs,
            training_hooks=self.training_hooks, scaffold=self.scaffold_fn and self.scaffold_fn(),
            evaluation_hooks=self.evaluation_hooks, prediction_hooks=self.prediction_hooks)


class TPUEstimator(estimator.Estimator):
    """An Estimator whose functions find their batch size, that of the mode, in params['batch_size'].

    use_tpu: without effect. Raises ArgumentError (ValueError) where params say a batch size of their own.
    """

    def __init__(self, model_fn: Callable[..., Any], model_dir: Any = None, config: Any = None, params: Any = None,
                 use_tpu: bool = True, train_batch_size: int | None = None, eval_batch_size: int | None = None,
                 predict_batch_size: int | None = None, batch_axis: Any = None, eval_on_tpu: bool = True,
                 export_to_tpu: bool = True, warm_start_from: Any = None, **options: Any) -> None:
        if "batch_size" in (params or {}):
            raise ArgumentError("batch_size are reserved keys by TPUEstimator but appear in params",
                                hint="give train_batch_size, eval_batch_size and predict_batch_size")
        keys = estimator.ModeKeys
        self._sizes = {keys.TRAIN: train_batch_size, keys.EVAL: eval_batch_size, keys.PREDICT: predict_batch_size}
        super().__init__(model_fn, model_dir, config or RunConfig(), params or {}, warm_start_from)

    def _params_of(self, mode: str) -> Any:
        size = self._sizes[mode]
        return self.params if size is None else {**self.params, "batch_size": size}


class CrossShardOptimizer(Optimizer):
    """An optimizer of gradients that are means over shards, of which there is one: the optimizer itself."""

    def __new__(cls, opt: Any, reduction: Any = None, name: str = "CrossShardOptimizer", **options: Any) -> Any:
        return opt


def cross_replica_sum(x: Any, group_assignment: Any = None, name: str | None = None) -> Any:
    """The sum over replicas, of which there is one: x."""
    return x


__getattr__ = refusing("tf.contrib.tpu", __name__)
