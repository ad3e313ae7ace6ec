"""tf.layers: layers as objects that hold their variables, and as functions that make one.

A module is a kind of layer, made of tf.nn; their base class is variables/layer_base.py. Start with core.py.
"""

from ..common.unsupported import refusing
from ..variables.layer_base import InputSpec, Layer
from . import pooling
from .convolutional import Conv1D, Conv2D, Conv3D, conv1d, conv2d, conv3d
from .core import Dense, Dropout, Flatten, dense, dropout, flatten
from .normalization import BatchNormalization, batch_normalization
from .pooling import *
from .separable import (
           Conv2DTranspose,
           Conv3DTranspose,
           SeparableConv1D,
           SeparableConv2D,
           conv2d_transpose,
           conv3d_transpose,
           separable_conv1d,
           separable_conv2d,
)

__all__ = ["BatchNormalization", "Conv1D", "Conv2D", "Conv2DTranspose", "Conv3D", "Conv3DTranspose", "Dense",
           "Dropout", "Flatten", "InputSpec", "Layer", "SeparableConv1D", "SeparableConv2D", "batch_normalization",
           "conv1d", "conv2d", "conv2d_transpose", "conv3d", "conv3d_transpose", "dense", "dropout", "flatten",
           "separable_conv1d", "separable_conv2d", *pooling.__all__]

__getattr__ = refusing("tf.layers", __name__)
