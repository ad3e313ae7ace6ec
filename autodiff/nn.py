"""Neural networks: TensorFlow's tf.nn."""
from __future__ import annotations

from typing import Any

from . import (  # noqa: F401
    activations,
    convolutions,
    cross_entropy,
    ctc,
    embedding,
    normalisation,
    pooling,
    rnn,
    rnn_cell,
    rnn_raw,
    rnn_unrolled,
    sampled_losses,
    sparse_embedding,
)
from .activations import *
from .convolutions import *
from .cross_entropy import *
from .ctc import *
from .embedding import *
from .graph import Tensor
from .math import sigmoid, tanh
from .normalisation import *
from .norms import l2_normalize
from .op import build
from .pooling import *
from .ranking import in_top_k, top_k
from .rearranging import depth_to_space, space_to_batch, space_to_depth
from .rnn import *
from .rnn_raw import *
from .rnn_unrolled import *
from .sampled_losses import *
from .served import refusing
from .sparse_embedding import *

__all__ = ["depth_to_space", "in_top_k", "l2_loss", "l2_normalize", "sigmoid", "space_to_batch", "space_to_depth",
           "tanh", "top_k", *activations.__all__, *convolutions.__all__, *cross_entropy.__all__, *ctc.__all__,
           *embedding.__all__, *normalisation.__all__, *pooling.__all__, *rnn.__all__, *rnn_raw.__all__,
           *rnn_unrolled.__all__, *sampled_losses.__all__, *sparse_embedding.__all__]


def l2_loss(t: Any, name: str | None = None) -> Tensor:
    """Half the sum of squares. t: float[...] -> float[]."""
    return build.L2Loss(t, name=name)


__getattr__ = refusing("tf.nn", __name__)
