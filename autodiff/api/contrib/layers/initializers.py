"""Initializers that keep the scale of what flows through a layer."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ....core.dtypes import as_dtype, float32
from ....core.errors import KindError
from ....core.graph import Tensor
from ... import random
from ...variables.initializers import fans

__all__ = ["variance_scaling_initializer", "xavier_initializer", "xavier_initializer_conv2d"]


def xavier_initializer(uniform: bool = True, seed: int | None = None, dtype: Any = float32) -> Callable[..., Tensor]:
    """Numbers of variance 2 / (inputs + outputs), uniform or (truncated) normal.

    Source: Glorot and Bengio (2010), equation 16.
    """
    return variance_scaling_initializer(1.0, "FAN_AVG", uniform, seed, dtype)


xavier_initializer_conv2d = xavier_initializer


def variance_scaling_initializer(factor: float = 2.0, mode: str = "FAN_IN", uniform: bool = False,
                                 seed: int | None = None, dtype: Any = float32) -> Callable[..., Tensor]:
    """Numbers of variance factor / n, where n is the count of inputs, outputs or their mean, by mode 'FAN_IN',
    'FAN_OUT' or 'FAN_AVG'. Source: He et al. (2015), equation 10, for the defaults."""
    if mode not in ("FAN_IN", "FAN_OUT", "FAN_AVG"):
        raise KindError(expected="a mode 'FAN_IN', 'FAN_OUT' or 'FAN_AVG'", found=repr(mode))
    _check_floating(dtype)

    def initializer(shape: Any, dtype: Any = dtype, partition_info: Any = None) -> Tensor:
        _check_floating(dtype)
        inputs, outputs = fans([int(size) for size in shape])
        n = {"FAN_IN": inputs, "FAN_OUT": outputs, "FAN_AVG": (inputs + outputs) / 2.0}[mode]
        if uniform:
            limit = math.sqrt(3.0 * factor / n)
            return random.random_uniform(shape, -limit, limit, dtype, seed=seed)
        # cutting a normal distribution at two deviations takes a quarter off its variance
        return random.truncated_normal(shape, 0.0, math.sqrt(1.3 * factor / n), dtype, seed=seed)

    return initializer


def _check_floating(dtype: Any) -> None:
    if not as_dtype(dtype).is_floating:
        raise KindError(expected="a floating dtype to initialize", found=as_dtype(dtype).name)
