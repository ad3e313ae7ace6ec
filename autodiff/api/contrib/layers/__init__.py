"""tf.contrib.layers: layers as functions, with regularizers, initializers and optimize_loss.

A module is a kind of layer, made of tf.layers or tf.nn; this one gathers their names. Start with plain.py.
"""

from ...common.unsupported import refusing
from . import initializers, normalization, optimizers, plain, regularizers, summaries, utils
from .initializers import *
from .normalization import *
from .optimizers import *
from .plain import *
from .regularizers import *
from .summaries import *
from .weighted import (
           bias_add,
           conv1d,
           conv2d,
           conv2d_transpose,
           conv3d,
           conv3d_transpose,
           convolution,
           convolution1d,
           convolution2d,
           convolution2d_transpose,
           convolution3d,
           convolution3d_transpose,
           elu,
           fully_connected,
           linear,
           relu,
           relu6,
           separable_conv2d,
           separable_convolution2d,
)

__all__ = ["bias_add", "conv1d", "conv2d", "conv2d_transpose", "conv3d", "conv3d_transpose", "convolution",
           "convolution1d", "convolution2d", "convolution2d_transpose", "convolution3d", "convolution3d_transpose",
           "elu", "fully_connected", "linear", "relu", "relu6", "separable_conv2d", "separable_convolution2d", "utils",
           *initializers.__all__, *normalization.__all__, *optimizers.__all__, *plain.__all__, *regularizers.__all__,
           *summaries.__all__]


__getattr__ = refusing("tf.contrib.layers", __name__)
