"""Estimators whose models are there: layers over columns, weights of columns, or both, with a head from heads.py."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.collections import GraphKeys
from ...core.errors import ArgumentError
from .. import layers, losses, nn
from ..control.dependencies import control_dependencies, group
from ..metrics.means import mean
from ..train.adaptive import AdagradOptimizer, AdamOptimizer, FtrlOptimizer, RMSPropOptimizer
from ..train.global_step import get_or_create_global_step
from ..train.gradient_descent import GradientDescentOptimizer
from ..variables.assignment import trainable_variables
from ..variables.variable_scope import variable_scope
from .estimator import Estimator
from .feature_columns import input_layer, linear_model, numeric_column
from .heads import Classes, Numbers, TwoClasses
from .specs import EstimatorSpec, ModeKeys

__all__ = ["DNNClassifier", "DNNLinearCombinedClassifier", "DNNLinearCombinedRegressor", "DNNRegressor",
           "LinearClassifier", "LinearRegressor"]
_OPTIMIZERS = {"Adagrad": AdagradOptimizer, "Adam": AdamOptimizer, "Ftrl": FtrlOptimizer,
               "RMSProp": RMSPropOptimizer, "SGD": GradientDescentOptimizer}


def _rule(value: Any, rate: float) -> Any:
    if not isinstance(value, str):
        return value() if callable(value) else value
    if value not in _OPTIMIZERS:
        raise ArgumentError(f"Unsupported optimizer name: {value}. Supported names are: {tuple(_OPTIMIZERS)}.")
    return _OPTIMIZERS[value](rate)


def _slower(optimizer: Any, columns: Any, most: float = 0.2) -> tuple[Any, float]:
    """The rule for weights of columns: its rate falls with their count."""
    return optimizer, min(most, len(columns or [1]) ** -0.5)


class _Canned(Estimator):
    """head: what is behind the last layer. deep, wide: the columns of the layers, and those that are weighed.

    rules: for each an optimizer, or its name, and the rate that goes with a name. weight_column: of the losses.
    """

    def __init__(self, head: Any, deep: Any, wide: Any, rules: Any, hidden_units: Sequence[int] = (),
                 activation_fn: Any = nn.relu, dropout: float | None = None, batch_norm: bool = False,
                 sparse_combiner: str = "sum", weight_column: Any = None, loss_reduction: str = "weighted_sum",
                 model_dir: Any = None, config: Any = None, warm_start_from: Any = None,
                 input_layer_partitioner: Any = None, partitioner: Any = None) -> None:
        deep, wide = list(deep or ()), list(wide or ())
        if not deep and not wide:
            raise ArgumentError("Either linear_feature_columns or dnn_feature_columns must be defined.")

        def layered(features: Any, training: bool) -> Any:
            with variable_scope("dnn"):
                with variable_scope("input_from_feature_columns"):
                    x = input_layer(features, deep)
                for i, units in enumerate(hidden_units):
                    x = layers.dense(x, units, activation_fn, name=f"hiddenlayer_{i}")
                    x = x if dropout is None else layers.dropout(x, dropout, training=training)
                    if batch_norm:
                        x = layers.batch_normalization(x, momentum=0.999, training=training,
                                                       name=f"hiddenlayer_{i}/batchnorm_{i}")
                return layers.dense(x, head.size, name="logits")

        def weighed(features: Any) -> Any:
            with variable_scope("linear"):
                return linear_model(features, wide, head.size, sparse_combiner)

        def model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
            parts = [layered(features, mode == ModeKeys.TRAIN)] if deep else []
            logits = sum(parts[1:] + ([weighed(features)] if wide else []), *parts) if deep else weighed(features)
            found = head.predictions(logits)
            if mode == ModeKeys.PREDICT:
                return EstimatorSpec(mode, found, export_outputs=head.outputs(found))
            weights = None if weight_column is None else (weight_column if hasattr(
                weight_column, "make") else numeric_column(weight_column)).make(features)
            true = head.true(labels)
            each = head.losses(logits, true)
            loss = losses.compute_weighted_loss(each, 1.0 if weights is None else weights, reduction=loss_reduction)
            if mode == ModeKeys.EVAL:
                return EstimatorSpec(mode, loss=loss, eval_metric_ops={
                    **head.metrics(found, true, weights), "average_loss": mean(each, weights)})
            steps = [_rule(*rule).minimize(loss, var_list=trainable_variables(scope))
                     for rule, scope, columns in zip(rules, ("dnn", "linear"), (deep, wide)) if columns]
            with control_dependencies([group(*steps, *loss.graph.get_collection(GraphKeys.UPDATE_OPS))]):
                return EstimatorSpec(mode, loss=loss, train_op=get_or_create_global_step().assign_add(1))

        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


def _classes(n_classes: int, words: Any) -> Any:
    return TwoClasses(2, words) if n_classes == 2 else Classes(n_classes, words)


class DNNClassifier(_Canned):
    """Layers of hidden_units over columns, and a loss for n_classes. label_vocabulary: labels that are words."""

    def __init__(self, hidden_units: Sequence[int], feature_columns: Any, model_dir: Any = None, n_classes: int = 2,
                 weight_column: Any = None, label_vocabulary: Any = None, optimizer: Any = "Adagrad",
                 **options: Any) -> None:
        super().__init__(_classes(n_classes, label_vocabulary), feature_columns, (), [(optimizer, 0.05)], hidden_units,
                         model_dir=model_dir, weight_column=weight_column, **options)


class DNNRegressor(_Canned):
    """Layers of hidden_units over columns, and squared errors of numbers. label_dimension: how many an example has."""

    def __init__(self, hidden_units: Sequence[int], feature_columns: Any, model_dir: Any = None,
                 label_dimension: int = 1, weight_column: Any = None, optimizer: Any = "Adagrad",
                 **options: Any) -> None:
        super().__init__(Numbers(label_dimension), feature_columns, (), [(optimizer, 0.05)], hidden_units,
                         model_dir=model_dir, weight_column=weight_column, **options)


class LinearClassifier(_Canned):
    """Weights of columns, and a loss for n_classes. label_vocabulary: labels that are words."""

    def __init__(self, feature_columns: Any, model_dir: Any = None, n_classes: int = 2, weight_column: Any = None,
                 label_vocabulary: Any = None, optimizer: Any = "Ftrl", **options: Any) -> None:
        rule = _slower(optimizer, feature_columns)
        super().__init__(_classes(n_classes, label_vocabulary), (), feature_columns, [None, rule], model_dir=model_dir,
                         weight_column=weight_column, **options)


class LinearRegressor(_Canned):
    """Weights of columns, and squared errors of numbers. label_dimension: how many an example has."""

    def __init__(self, feature_columns: Any, model_dir: Any = None, label_dimension: int = 1,
                 weight_column: Any = None, optimizer: Any = "Ftrl", **options: Any) -> None:
        super().__init__(Numbers(label_dimension), (), feature_columns, [None, _slower(optimizer, feature_columns)],
                         model_dir=model_dir, weight_column=weight_column, **options)


class _Combined(_Canned):
    def __init__(self, head: Any, wide: Any, linear_optimizer: Any, deep: Any, dnn_optimizer: Any, units: Any,
                 options: dict[str, Any]) -> None:
        renamed = {"dnn_activation_fn": "activation_fn", "dnn_dropout": "dropout",
                   "linear_sparse_combiner": "sparse_combiner"}
        rules = [(dnn_optimizer, 0.001), _slower(linear_optimizer, wide, 0.005)]
        super().__init__(head, deep, wide, rules, units or (), **{renamed.get(k, k): v for k, v in options.items()})


class DNNLinearCombinedClassifier(_Combined):
    """The sum of a DNNClassifier's and a LinearClassifier's outputs, each with its optimizer."""

    def __init__(self, model_dir: Any = None, linear_feature_columns: Any = None, linear_optimizer: Any = "Ftrl",
                 dnn_feature_columns: Any = None, dnn_optimizer: Any = "Adagrad", dnn_hidden_units: Any = None,
                 n_classes: int = 2, label_vocabulary: Any = None, **options: Any) -> None:
        super().__init__(_classes(n_classes, label_vocabulary), linear_feature_columns, linear_optimizer,
                         dnn_feature_columns, dnn_optimizer, dnn_hidden_units, {"model_dir": model_dir, **options})


class DNNLinearCombinedRegressor(_Combined):
    """The sum of a DNNRegressor's and a LinearRegressor's outputs, each with its optimizer."""

    def __init__(self, model_dir: Any = None, linear_feature_columns: Any = None, linear_optimizer: Any = "Ftrl",
                 dnn_feature_columns: Any = None, dnn_optimizer: Any = "Adagrad", dnn_hidden_units: Any = None,
                 label_dimension: int = 1, **options: Any) -> None:
        super().__init__(Numbers(label_dimension), linear_feature_columns, linear_optimizer, dnn_feature_columns,
                         dnn_optimizer, dnn_hidden_units, {"model_dir": model_dir, **options})
