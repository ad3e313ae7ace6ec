"""Where a model of Keras begins: Input, and its layer."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...core.graph import get_default_graph
from ..arrays.creation import placeholder, zeros
from ..variables.layer_base import Layer
from ..variables.layer_calls import HISTORY, Call
from . import backend
from .kinds.plain import Weights

BEGINS = "_input_layer"  # of a tensor that Input gave: its layer


def Input(shape: Any = None, batch_size: int | None = None, name: str | None = None, dtype: Any = None,  # noqa: N802
          sparse: bool = False, tensor: Any = None, batch_shape: Any = None, **options: Any) -> Any:
    """A tensor to begin a model with: a placeholder. shape: without the batch, whose size may be given.

    While executing eagerly it holds zeros, a batch of one.
    """
    if tensor is None:
        dims = list(batch_shape) if batch_shape is not None else [batch_size, *np.atleast_1d(shape if shape is not None
                                                                                             else ())]
        dims, dtype = [None if dim is None else int(dim) for dim in dims], dtype or backend.floatx()
        if get_default_graph().executing_eagerly:
            tensor = zeros([dim or 1 for dim in dims], dtype)
        else:
            tensor = placeholder(dtype, dims, name=name or "input_1")
    setattr(tensor, HISTORY, None)
    if name is None:
        kept = backend._kept()
        kept["inputs"] = kept.get("inputs", 0) + 1
        name = f"input_{kept['inputs']}"
    layer = InputLayer(batch_input_shape=tuple(tensor.dims or ()), name=name)
    layer.inbound_nodes.append(Call(layer, [], (), {}, [tensor]))
    setattr(tensor, BEGINS, layer)
    return tensor


class InputLayer(Weights, Layer):
    """Where a model begins. input_shape: without the batch."""

    def __init__(self, input_shape: Any = None, batch_size: int | None = None, **options: Any) -> None:
        options.setdefault("batch_input_shape", None if input_shape is None else (batch_size, *input_shape))
        super().__init__(**options)
        self.built = True

    def call(self, inputs: Any) -> Any:
        return inputs

    def get_config(self) -> dict[str, Any]:
        """Its name, shape and dtype."""
        return {key: value for key, value in super().get_config().items() if key != "trainable"}
