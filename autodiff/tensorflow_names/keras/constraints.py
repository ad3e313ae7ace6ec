"""keras.constraints: those of tf.keras, by the names that Keras 1 had for them too."""
from __future__ import annotations

from ...api.keras.constraints import max_norm as maxnorm
from ...api.keras.constraints import non_neg as nonneg
from ...api.keras.constraints import unit_norm as unitnorm

__all__ = ["maxnorm", "nonneg", "unitnorm"]
