"""tf.train.experimental: mixed precision, which changes nothing on a CPU."""
from __future__ import annotations

from typing import Any

from ...core.errors import ArgumentError
from ..common.unsupported import refusing


def enable_mixed_precision_graph_rewrite(opt: Any, loss_scale: Any = "dynamic") -> Any:
    """The optimizer itself. Raises ArgumentError (ValueError) for what is none."""
    if not hasattr(opt, "apply_gradients"):
        raise ArgumentError('"opt" must be an instance of a tf.train.Optimizer or a tf.keras.optimizers.Optimizer, '
                            f"but got: {opt}")
    return opt


__getattr__ = refusing("tf.train.experimental", __name__)
