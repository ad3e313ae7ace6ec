"""tf.metrics: measures over many runs, local variables that add up, as (value, update_op) pairs. Start with means.py.

The value reads the variables, update_op adds a run's; local_variables_initializer sets them to 0.
"""
from ..common.unsupported import refusing
from . import at_k, counts, means, thresholds
from .at_k import *
from .classes import mean_iou, mean_per_class_accuracy
from .counts import *
from .means import *
from .streams import metric_variable
from .thresholds import *

__all__ = ["mean_iou", "mean_per_class_accuracy", "metric_variable", *at_k.__all__, *counts.__all__, *means.__all__,
           *thresholds.__all__]

__getattr__ = refusing("tf.metrics", __name__)
