"""keras.layers: those of tf.keras, which also take the words of Keras 1 for their arguments, as Keras 2 did."""
from __future__ import annotations

import functools
import inspect
from typing import Any

from ...api.keras import layers

_WEIGHTS = {"init": "kernel_initializer", "W_regularizer": "kernel_regularizer", "W_constraint": "kernel_constraint",
            "b_regularizer": "bias_regularizer", "b_constraint": "bias_constraint", "bias": "use_bias"}
_WINDOWS = {"border_mode": "padding", "subsample": "strides", "subsample_length": "strides", "stride": "strides",
            "dim_ordering": "data_format"}
_FILTERS = {**_WEIGHTS, **_WINDOWS, "nb_filter": "filters", "filter_length": "kernel_size"}
_CELL = {**_WEIGHTS, "output_dim": "units", "inner_init": "recurrent_initializer",
         "inner_activation": "recurrent_activation", "U_regularizer": "recurrent_regularizer",
         "dropout_W": "dropout", "dropout_U": "recurrent_dropout"}
_POOL = {**_WINDOWS, "pool_length": "pool_size"}
_RATE = {"p": "rate"}
# layer -> what an argument was called in Keras 1, and is
_RENAMED: dict[str, dict[str, str]] = {
    "Dense": {**_WEIGHTS, "output_dim": "units"}, "Dropout": _RATE, "SpatialDropout1D": _RATE,
    "SpatialDropout2D": _RATE, "GaussianDropout": _RATE, "GaussianNoise": {"sigma": "stddev"},
    "Embedding": {"init": "embeddings_initializer", "W_regularizer": "embeddings_regularizer",
                  "W_constraint": "embeddings_constraint"},
    "BatchNormalization": {"beta_init": "beta_initializer", "gamma_init": "gamma_initializer"},
    "LSTM": _CELL, "GRU": _CELL, "SimpleRNN": _CELL, "Conv1D": _FILTERS, "Conv2D": _FILTERS, "Conv3D": _FILTERS,
    "MaxPooling1D": _POOL, "AveragePooling1D": _POOL, "MaxPooling2D": _POOL, "AveragePooling2D": _POOL,
    "UpSampling2D": _WINDOWS, "ZeroPadding2D": _WINDOWS, "Flatten": _WINDOWS, "GlobalMaxPooling2D": _WINDOWS,
    "GlobalAveragePooling2D": _WINDOWS}
_OTHER_NAMES = {"Convolution1D": "Conv1D", "Convolution2D": "Conv2D", "Convolution3D": "Conv3D"}
_WORDS = {"tf": "channels_last", "th": "channels_first"}  # of data_format
_KERNEL = ("nb_row", "nb_col")


def __getattr__(name: str) -> Any:
    if (kind := _OTHER_NAMES.get(name, name)) not in _RENAMED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _of_keras(kind)


@functools.cache
def _of_keras(name: str) -> Any:
    """A layer of tf.keras that takes the old words too."""
    kind: Any = getattr(layers, name)

    def __init__(self: Any, *args: Any, **options: Any) -> None:
        self._arguments = args, options = _with_kernel(name, args), _in_new_words(name, options)  # of its config
        kind.__init__(self, *args, **options)

    __init__.__signature__ = inspect.signature(kind.__init__)  # type: ignore[attr-defined]
    return type(name, (kind,), {"__init__": __init__, "__doc__": kind.__doc__})


def _with_kernel(name: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of a Conv2D whose rows and columns were given one by one."""
    is_old = name == "Conv2D" and len(args) > 2 and all(isinstance(arg, int) for arg in args[:3])
    return (args[0], args[1:3], *args[3:]) if is_old else args


def _in_new_words(name: str, options: dict[str, Any]) -> dict[str, Any]:
    kernel = tuple(options.pop(word) for word in _KERNEL if word in options)
    told = {_RENAMED[name].get(key, key): value for key, value in options.items()}
    if kernel:
        told["kernel_size"] = kernel
    if isinstance(told.get("data_format"), str):
        told["data_format"] = _WORDS.get(told["data_format"], told["data_format"])
    if name in ("LSTM", "GRU", "SimpleRNN") and "input_dim" in told:
        told["input_shape"] = (told.pop("input_length", None), told.pop("input_dim"))
    return told
