"""What an Estimator is told: modes, a model as its tensors, where and how often to write, how to train and evaluate."""
from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ...core.errors import ArgumentError, KindError
from ...core.op import build
from ..train.cluster import ClusterSpec


class ModeKeys:
    """The three things that a model function is called for."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


class _Model(NamedTuple):
    mode: str
    predictions: Any = None
    loss: Any = None
    train_op: Any = None
    eval_metric_ops: Any = None
    export_outputs: Any = None
    training_chief_hooks: Sequence[Any] = ()
    training_hooks: Sequence[Any] = ()
    scaffold: Any = None
    evaluation_hooks: Sequence[Any] = ()
    prediction_hooks: Sequence[Any] = ()


class EstimatorSpec(_Model):
    """What a model function gives: the tensors of one mode, and the hooks that go with them.

    predictions: a tensor, or a dict of them. loss: float[] or float[1]. eval_metric_ops: name -> (value, update).
    export_outputs: signature -> tf.estimator.export.PredictOutput and the like. Raises ArgumentError (ValueError) where
    something that the mode needs is not there, KindError (TypeError) for what is no metric or no export.
    """

    __slots__ = ()

    def __new__(cls, mode: str, predictions: Any = None, loss: Any = None, train_op: Any = None,  # noqa: PLR0913
                eval_metric_ops: Mapping[str, Any] | None = None, export_outputs: Mapping[str, Any] | None = None,
                training_chief_hooks: Sequence[Any] | None = None, training_hooks: Sequence[Any] | None = None,
                scaffold: Any = None, evaluation_hooks: Sequence[Any] | None = None,
                prediction_hooks: Sequence[Any] | None = None) -> "EstimatorSpec":
        needed = {ModeKeys.TRAIN: {"loss": loss, "train_op": train_op}, ModeKeys.EVAL: {"loss": loss},
                  ModeKeys.PREDICT: {"predictions": predictions}}
        if mode not in needed:
            raise ArgumentError(f"Invalid mode key: {mode}", expected=", ".join(needed))
        for name, value in needed[mode].items():
            if value is None:
                raise ArgumentError(f"Missing {name}.", hint=f"the model function is called with mode={mode!r}")
        for name, metric in (eval_metric_ops or {}).items():
            if not isinstance(metric, tuple) or len(metric) != 2:
                raise KindError("Values of eval_metric_ops must be (metric_value, update_op) tuples, given: "
                                f"{metric} for key: {name}")
        if loss is not None and getattr(loss, "dims", ()) != ():
            if getattr(loss, "dims", None) not in ((1,), None):
                raise ArgumentError(f"Loss must be scalar, given: {loss}")
            loss = build.Reshape(loss, [])
        return super().__new__(cls, mode, {} if predictions is None else predictions, loss, train_op,
                               dict(eval_metric_ops or {}), export_outputs, tuple(training_chief_hooks or ()),
                               tuple(training_hooks or ()), scaffold, tuple(evaluation_hooks or ()),
                               tuple(prediction_hooks or ()))


@dataclasses.dataclass(frozen=True)
class RunConfig:
    """Where an Estimator writes, and how often. What concerns other machines is kept without effect.

    model_dir: for checkpoints and events. save_checkpoints_secs: every 600 seconds unless one of the two is given; if
    both are, ArgumentError (ValueError). tf_random_seed: of the graphs.
    """

    model_dir: Any = None
    tf_random_seed: int | None = None
    save_summary_steps: int | None = 100
    save_checkpoints_steps: Any = 0
    save_checkpoints_secs: Any = 0
    session_config: Any = None
    keep_checkpoint_max: int | None = 5
    keep_checkpoint_every_n_hours: float = 10000
    log_step_count_steps: int | None = 100
    train_distribute: Any = None
    device_fn: Any = None
    protocol: Any = None
    eval_distribute: Any = None
    experimental_distribute: Any = None
    experimental_max_worker_delay_secs: Any = None
    session_creation_timeout_secs: float = 7200

    cluster_spec = ClusterSpec({})
    task_type, task_id, global_id_in_cluster, is_chief, master, evaluation_master = "worker", 0, 0, True, "", ""
    num_ps_replicas, num_worker_replicas, service = 0, 1, None

    def __post_init__(self) -> None:
        steps, seconds = self.save_checkpoints_steps, self.save_checkpoints_secs
        if steps and seconds:
            raise ArgumentError("`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set.")
        neither = steps == 0 and seconds == 0
        for name, value in (("save_checkpoints_steps", steps or None),
                            ("save_checkpoints_secs", 600 if neither else seconds or None)):
            object.__setattr__(self, name, value)

    def replace(self, **changes: Any) -> "RunConfig":
        """The same with other values; steps between checkpoints take the place of seconds, and the other way round."""
        for given, other in (("save_checkpoints_steps", "save_checkpoints_secs"),
                             ("save_checkpoints_secs", "save_checkpoints_steps")):
            if changes.get(given) is not None:
                changes.setdefault(other, None)
        return dataclasses.replace(self, **changes)


class TrainSpec(NamedTuple):
    """How train_and_evaluate trains: until the global step is max_steps."""

    input_fn: Callable[..., Any]
    max_steps: int | None = None
    hooks: Sequence[Any] = ()
    saving_listeners: Sequence[Any] = ()


class EvalSpec(NamedTuple):
    """How train_and_evaluate evaluates: `steps` batches (None: all) of each checkpoint, not again for throttle_secs."""

    input_fn: Callable[..., Any]
    steps: int | None = 100
    name: str | None = None
    hooks: Sequence[Any] = ()
    exporters: Any = None
    start_delay_secs: float = 120
    throttle_secs: float = 600


class WarmStartSettings(NamedTuple):
    """A checkpoint that variables begin with. vars_to_warm_start: a pattern of names, or a list of names."""

    ckpt_to_initialize_from: Any
    vars_to_warm_start: Any = ".*"
    var_name_to_vocab_info: Any = None
    var_name_to_prev_var_name: Mapping[str, str] | None = None
