"""Neural networks: the namespace tf.nn, which this module gathers.

A module is a subject; each function builds ops of autodiff/ops/networks. Start with activations.py.
"""
from __future__ import annotations

from typing import Any

from ...core.graph import Tensor
from ...core.op import build
from ..arrays.rearrange import depth_to_space, space_to_batch, space_to_depth
from ..arrays.sorting import in_top_k, top_k
from ..common.unsupported import refusing
from ..distribute.strategies import compute_average_loss, scale_regularization_loss
from ..math import sigmoid, tanh
from ..math.norms import l2_normalize
from ..math.softmax import log_softmax, softmax, softplus, softsign, zero_fraction
from . import (  # noqa: F401
    activations,
    convolutions,
    cross_entropy,
    ctc,
    embedding,
    normalization,
    pooling,
    rnn_cell,
    rnn_dynamic,
    rnn_static,
    sampled_losses,
    shifted_windows,
    sparse_embedding,
)
from .activations import *
from .convolutions import *
from .cross_entropy import *
from .ctc import *
from .embedding import *
from .normalization import *
from .pooling import *
from .rnn_dynamic import *
from .rnn_static import *
from .sampled_losses import *
from .shifted_windows import *
from .sparse_embedding import *

__all__ = ["compute_average_loss", "depth_to_space", "in_top_k", "l2_loss", "l2_normalize", "log_softmax", "sigmoid",
           "scale_regularization_loss", "softmax", "softplus", "softsign", "space_to_batch", "space_to_depth", "tanh",
           "top_k", "zero_fraction", *activations.__all__, *convolutions.__all__, *cross_entropy.__all__,
           *ctc.__all__, *embedding.__all__, *normalization.__all__, *pooling.__all__, *rnn_dynamic.__all__,
           *rnn_static.__all__, *sampled_losses.__all__, *shifted_windows.__all__,
           *sparse_embedding.__all__]


def l2_loss(t: Any, name: str | None = None) -> Tensor:
    """Half the sum of squares. t: float[...] -> float[]."""
    return build.L2Loss(t, name=name)


__getattr__ = refusing("tf.nn", __name__)
