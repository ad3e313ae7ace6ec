"""tf.estimator: models as functions, with the loops of training, evaluation and prediction around them.

Start with estimator.py; its loops are tf.train's monitored sessions and hooks.
"""

from ..common.unsupported import refusing
from ..train.warm_start import VocabInfo
from . import canned, export, inputs
from .canned import *
from .estimator import Estimator
from .specs import EstimatorSpec, EvalSpec, ModeKeys, RunConfig, TrainSpec, WarmStartSettings
from .training import FinalExporter, LatestExporter, train_and_evaluate

__all__ = [*canned.__all__, "Estimator", "EstimatorSpec", "EvalSpec", "FinalExporter", "LatestExporter", "ModeKeys",
           "RunConfig", "TrainSpec", "VocabInfo", "WarmStartSettings", "export", "inputs", "train_and_evaluate"]

__getattr__ = refusing("tf.estimator", __name__)
