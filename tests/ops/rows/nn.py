"""Rows of activations, softmax and cross entropies, bias, convolutions and pools."""

import numpy as np
from autodiff.errors import InvalidArgumentError

import autodiff as tf
from autodiff.core.op import OPS, Spec

from ..case import Case, array


def apart(*shape: int, seed: int = 0) -> np.ndarray:
    """Numbers at least 0.1 from zero and from each other's kinks."""
    x = array(*shape, low=-2.0, high=2.0, seed=seed)
    return x + 0.1 * np.sign(x)


def distribution(*shape: int) -> np.ndarray:
    x = array(*shape, low=0.1, high=1.0)
    return x / x.sum(axis=-1, keepdims=True)


_CONV = {"strides": [1, 1, 1, 1], "padding": "SAME"}
_STRIDED = {"strides": [1, 2, 3, 1], "padding": "VALID"}
_DILATED = {"strides": [1, 1, 1, 1], "padding": "SAME", "dilations": [1, 2, 1, 1]}
_FIRST = {"strides": [1, 1, 2, 1], "padding": "SAME", "data_format": "NCHW"}
_EXPLICIT = {"strides": [1, 2, 1, 1], "padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 2, 0, 1, 0, 0]}
_CONV3 = {"strides": [1, 1, 2, 1, 1], "padding": "SAME"}
_IMAGE, _FILTER = array(2, 5, 7, 3), array(3, 2, 3, 4)
_POOL = {"ksize": [1, 2, 3, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}
_POOL_FIRST = {"ksize": [1, 1, 2, 2], "strides": [1, 1, 1, 2], "padding": "VALID", "data_format": "NCHW"}
_POOL3 = {"ksize": [1, 2, 2, 1, 1], "strides": [1, 1, 2, 1, 1], "padding": "VALID"}


def maxima(x: np.ndarray) -> np.ndarray:
    """y of MaxPool with _POOL: the sizes are even enough that SAME adds a column at the end only."""
    wide = np.full((x.shape[0], 6, 8, x.shape[3]), -np.inf)
    wide[:, :x.shape[1], :x.shape[2]] = x
    y = np.empty((x.shape[0], 3, 4, x.shape[3]))
    for i in range(3):
        for j in range(4):
            y[:, i, j] = wide[:, 2 * i:2 * i + 2, max(0, 2 * j - 1):2 * j + 2].max(axis=(1, 2))
    return y


def maxima3(x: np.ndarray) -> np.ndarray:
    """y of MaxPool3D with _POOL3."""
    rows = np.maximum(x[:, :-1], x[:, 1:])
    return np.maximum(rows[:, :, 0:-1:2], rows[:, :, 1::2])


_X2, _X3 = array(2, 5, 7, 3), array(2, 4, 5, 6, 3)
_Y2, _Y3 = maxima(_X2), maxima3(_X3[:, :, :4])
_X3 = _X3[:, :, :4]

_PLACES = OPS["MaxPoolWithArgmax"].kernel(_X2, **_POOL)[1]

ROWS: list[Case] = [
    Case("Relu", (apart(2, 3),)),
    Case("ReluGrad", (array(2, 3), apart(2, 3))),
    Case("Relu6", (apart(2, 3) * 4,)),
    Case("Relu6Grad", (array(2, 3), apart(2, 3) * 4)),
    Case("LeakyRelu", (apart(2, 3),), {"alpha": 0.3}),
    Case("LeakyReluGrad", (array(2, 3), apart(2, 3)), {"alpha": 0.3}),
    Case("Elu", (apart(2, 3),)),
    Case("EluGrad", (array(2, 3), apart(2, 3) / 4)),
    Case("Selu", (apart(2, 3),)),
    Case("SeluGrad", (array(2, 3), apart(2, 3) / 4)),
    Case("Softplus", (apart(2, 3),)),
    Case("SoftplusGrad", (array(2, 3), apart(2, 3))),
    Case("Softsign", (apart(2, 3),)),
    Case("Swish", (array(2, 3),)),
    Case("SoftsignGrad", (array(2, 3), apart(2, 3))),
    Case("Softmax", (array(2, 3, 4),)),
    Case("Softmax", (array(),), fails=ValueError, id="scalar"),
    Case("LogSoftmax", (array(2, 3, 4),)),
    Case("SoftmaxCrossEntropyWithLogits", (array(2, 3), distribution(2, 3))),
    Case("SoftmaxCrossEntropyWithLogits", (array(2, 3), distribution(2, 4)), fails=ValueError, id="classes"),
    Case("SparseSoftmaxCrossEntropyWithLogits", (array(2, 3), np.array([2, 0]))),
    Case("SparseSoftmaxCrossEntropyWithLogits", (array(2, 3), np.array([2, 3])), fails=InvalidArgumentError,
         at_run=True,
         id="label"),
    Case("SparseSoftmaxCrossEntropyWithLogits", (array(2, 3), np.array([2, 0, 1])), fails=ValueError, id="count"),
    Case("BiasAdd", (array(2, 3, 4), array(4))),
    Case("BiasAdd", (array(2, 3, 4, 5), array(3)), {"data_format": "NCHW"}, id="channels_first"),
    Case("BiasAdd", (array(2, 3, 4), array(4)), id="value", batch=(0,)),
    Case("BiasAdd", (array(2, 3), array(4)), fails=ValueError, id="size"),
    Case("BiasAddGrad", (array(2, 3, 4),)),
    Case("BiasAddGrad", (array(2, 3, 4, 5),), {"data_format": "NCHW"}, id="channels_first"),
    Case("L2Loss", (array(2, 3),)),
    Case("InTopKV2", (array(4, 5, dtype=np.float32), np.array([0, 4, 2, 1]), 2)),
    Case("LRN", (array(2, 3, 4, 7),), {"depth_radius": 2, "bias": 1.0, "alpha": 0.3, "beta": 0.6}),
    Case("LRN", (array(2, 7),), fails=ValueError, id="rank"),
    Case("FusedBatchNormV3", (array(2, 3, 4, 5), array(5), array(5, seed=1), array(0), array(0)), {"epsilon": 1e-2}),
    Case("FusedBatchNormV3", (array(2, 5, 3, 4), array(5), array(5, seed=1), array(0), array(0)),
         {"epsilon": 1e-2, "data_format": "NCHW"}, id="channels_first"),
    Case("FusedBatchNormV3", (array(2, 3, 4, 5), array(5), array(5, seed=1), array(5, seed=2),
                            array(5, low=0.5, high=1.0)), {"epsilon": 1e-2, "is_training": False}, id="inference"),
    Case("BatchNormGrad", (array(2, 3, 4, 5), array(2, 3, 4, 5, seed=1), array(5), array(5, seed=1),
                           array(5, low=0.5, high=1.0)), {"epsilon": 1e-2}),
    # convolutions
    Case("Conv2D", (_IMAGE, _FILTER), _CONV),
    Case("Conv2D", (_IMAGE, _FILTER), _STRIDED, id="strided"),
    Case("Conv2D", (_IMAGE, _FILTER), _DILATED, id="dilated"),
    Case("Conv2D", (array(2, 3, 5, 7), _FILTER), {**_FIRST, "strides": [1, 1, 1, 2]}, id="channels_first"),
    Case("Conv2D", (_IMAGE, _FILTER), _EXPLICIT, id="explicit"),
    Case("Conv2D", (array(2, 5, 7, 1), array(3, 2, 1, 4)), _CONV, id="one_channel"),
    Case("Conv2D", (_IMAGE, array(1, 1, 3, 4)), _CONV, id="pointwise"),
    Case("Conv2D", (_IMAGE, _FILTER), _CONV, id="images", batch=(0,)),
    Case("Conv2D", (_IMAGE, _FILTER), _CONV, id="filters", batch=(1,)),
    Case("Conv2D", (_IMAGE, array(3, 2, 4, 4)), _CONV, fails=ValueError, id="channels"),
    Case("Conv2D", (_IMAGE, array(6, 2, 3, 4)), _STRIDED, fails=ValueError, id="window"),
    Case("Conv2DBackpropInput", (np.array([2, 5, 7, 3], np.int32), _FILTER, array(2, 5, 7, 4)), _CONV, static=(0,)),
    Case("Conv2DBackpropInput", (np.array([2, 5, 7, 3], np.int32), _FILTER, array(2, 2, 2, 4)), _STRIDED, id="strided",
         static=(0,)),
    Case("Conv2DBackpropInput", (np.array([2, 5, 7, 3], np.int32), _FILTER, array(2, 5, 7, 4)), _CONV, static=(0,),
         id="gradient", batch=(2,)),
    Case("Conv2DBackpropInput", (np.array([2, 3, 4, 8], np.int32), array(2, 3, 8, 1), array(2, 3, 4, 1)), _DILATED,
         id="many_channels", static=(0,)),
    Case("Conv2DBackpropFilter", (_IMAGE, np.array([3, 2, 3, 4], np.int32), array(2, 5, 7, 4)), _CONV, static=(1,)),
    Case("Conv2DBackpropFilter", (_IMAGE, np.array([3, 2, 3, 4], np.int32), array(2, 2, 2, 4)), _STRIDED, id="strided",
         static=(1,)),
    Case("Conv2DBackpropFilter", (_IMAGE, np.array([3, 2, 3, 4], np.int32), array(2, 5, 7, 4)), _CONV, static=(1,),
         id="images", batch=(0,)),
    Case("Conv2DBackpropFilter", (_IMAGE, np.array([3, 2, 3, 4], np.int32), array(2, 5, 7, 4)), _CONV, static=(1,),
         id="gradient", batch=(2,)),
    Case("Conv3D", (array(2, 3, 4, 5, 2), array(2, 2, 3, 2, 3)), _CONV3),
    Case("Conv3DBackpropInputV2", (np.array([2, 3, 4, 5, 2], np.int32), array(2, 2, 3, 2, 3), array(2, 3, 2, 5, 3)),
         _CONV3,
         static=(0,)),
    Case("Conv3DBackpropFilterV2", (array(2, 3, 4, 5, 2), np.array([2, 2, 3, 2, 3], np.int32), array(2, 3, 2, 5, 3)),
         _CONV3,
         static=(1,)),
    Case("DepthwiseConv2dNative", (_IMAGE, array(3, 2, 3, 4)), _CONV),
    Case("DepthwiseConv2dNative", (_IMAGE, array(3, 2, 3, 4)), {**_CONV, "strides": [1, 2, 2, 1]}, id="images",
         batch=(0,)),
    Case("DepthwiseConv2dNativeBackpropInput", (np.array([2, 5, 7, 3], np.int32), array(3, 2, 3, 4),
                                                array(2, 5, 7, 12)),
         _CONV, static=(0,)),
    Case("DepthwiseConv2dNativeBackpropFilter", (_IMAGE, np.array([3, 2, 3, 4], np.int32), array(2, 5, 7, 12)), _CONV,
         static=(1,)),
    # pools
    Case("MaxPool", (_X2,), _POOL),
    Case("MaxPoolV2", (_X2, np.array(_POOL["ksize"], np.int32), np.array(_POOL["strides"], np.int32)),
         {"padding": "SAME"}),
    Case("MaxPoolV2", (_X2, np.array([1, 2, 2], np.int32), np.array([1, 2, 2, 1], np.int32)), {"padding": "SAME"},
         id="sizes", fails=InvalidArgumentError, at_run=True),
    Case("MaxPool", (array(2, 3, 5, 7),), _POOL_FIRST, id="channels_first"),
    Case("MaxPool", (array(2, 5, 7, 3),), {**_POOL, "ksize": [1, 2, 2, 2]}, fails=ValueError, id="over_channels"),
    Case("MaxPoolGrad", (_X2, _Y2, array(2, 3, 4, 3)), _POOL, differentiable=(2,)),
    Case("MaxPoolGradGrad", (_X2, _Y2, array(2, 5, 7, 3, seed=3)), _POOL, differentiable=(2,)),
    Case("MaxPoolWithArgmax", (_X2,), _POOL),
    Case("MaxPoolWithArgmax", (array(2, 5, 7),), _POOL, fails=ValueError, id="rank"),
    Case("MaxPoolGradWithArgmax", (_X2, array(2, 3, 4, 3), _PLACES), _POOL, differentiable=(1,)),
    Case("MaxPoolGradWithArgmax", (_X2, array(2, 3, 4, 3), _PLACES + 105 * np.arange(2).reshape(2, 1, 1, 1)),
         {**_POOL, "include_batch_in_index": True}, differentiable=(1,), batch=(), id="batch"),
    Case("MaxPoolGradGradWithArgmax", (_X2, array(2, 5, 7, 3, seed=3), _PLACES), _POOL, differentiable=(1,)),
    Case("MaxPool3D", (_X3,), _POOL3),
    Case("MaxPool3DGrad", (_X3, _Y3, array(2, 3, 2, 6, 3)), _POOL3, differentiable=(2,)),
    Case("MaxPool3DGradGrad", (_X3, _Y3, array(2, 4, 4, 6, 3, seed=3)), _POOL3, differentiable=(2,)),
    Case("AvgPool", (_X2,), _POOL),
    Case("AvgPool", (array(2, 3, 5, 7),), _POOL_FIRST, id="channels_first"),
    Case("AvgPoolGrad", (np.array([2, 5, 7, 3], np.int32), array(2, 3, 4, 3)), _POOL, static=(0,)),
    Case("AvgPool3D", (_X3,), _POOL3),
    Case("AvgPool3DGrad", (np.array([2, 4, 4, 6, 3], np.int32), array(2, 3, 2, 6, 3)), _POOL3, static=(0,)),
    Case("EachSlice", (np.arange(24, dtype=np.int32).reshape(3, 2, 4),),
         {"kind": "Relu", "attrs": {}, "batched": (True,), "specs": (Spec(tf.int32, (2, 4)),)}),
    Case("EachSlice", (array(3, 2), array(4, 2)), {"kind": "Add", "attrs": {}, "batched": (True, True),
         "specs": (Spec(tf.float64, (2,)),)}, fails=ValueError, id="count"),
]
