"""tf.metrics: measures over many runs, local variables that add up, as (value, update_op) pairs. Start with means.py.

The value reads the variables, update_op adds a run's; local_variables_initializer sets them to 0.
"""
from __future__ import annotations

from ..common.unsupported import refusing
from .at_k import (
    average_precision_at_k,
    precision_at_k,
    precision_at_top_k,
    recall_at_k,
    recall_at_top_k,
    sparse_average_precision_at_k,
    sparse_precision_at_k,
)
from .classes import mean_iou, mean_per_class_accuracy
from .counts import false_negatives, false_positives, precision, recall, true_negatives, true_positives
from .means import (
    accuracy,
    mean,
    mean_absolute_error,
    mean_cosine_distance,
    mean_relative_error,
    mean_squared_error,
    mean_tensor,
    percentage_below,
    root_mean_squared_error,
)
from .streams import metric_variable
from .thresholds import (
    auc,
    false_negatives_at_thresholds,
    false_positives_at_thresholds,
    precision_at_thresholds,
    recall_at_thresholds,
    sensitivity_at_specificity,
    specificity_at_sensitivity,
    true_negatives_at_thresholds,
    true_positives_at_thresholds,
)

__all__ = ["accuracy", "auc", "average_precision_at_k", "false_negatives", "false_negatives_at_thresholds",
           "false_positives", "false_positives_at_thresholds", "mean", "mean_absolute_error", "mean_cosine_distance",
           "mean_iou", "mean_per_class_accuracy", "mean_relative_error", "mean_squared_error", "mean_tensor",
           "metric_variable", "percentage_below", "precision", "precision_at_k", "precision_at_thresholds",
           "precision_at_top_k", "recall", "recall_at_k", "recall_at_thresholds", "recall_at_top_k",
           "root_mean_squared_error", "sensitivity_at_specificity", "sparse_average_precision_at_k",
           "sparse_precision_at_k", "specificity_at_sensitivity", "true_negatives", "true_negatives_at_thresholds",
           "true_positives", "true_positives_at_thresholds"]

__getattr__ = refusing("tf.metrics", __name__)
