"""tf.contrib.layers: layers as functions, with regularizers, initializers and optimize_loss.

A module is a kind of layer, made of tf.layers or tf.nn; this one gathers their names. Start with plain.py.
"""

from ...common.unsupported import refusing
from . import initializers, normalization, optimizers, plain, regularizers, summaries, utils, weighted
from .initializers import *
from .normalization import *
from .optimizers import *
from .plain import *
from .regularizers import *
from .summaries import *
from .weighted import *

__all__ = ["utils", *initializers.__all__, *normalization.__all__, *optimizers.__all__, *plain.__all__,
           *regularizers.__all__, *summaries.__all__, *weighted.__all__]


__getattr__ = refusing("tf.contrib.layers", __name__)
