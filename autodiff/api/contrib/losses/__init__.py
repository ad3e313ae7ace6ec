"""tf.contrib.losses, also slim.losses: those of tf.losses, but that predictions come before labels.

Start with metric_learning.py, for the losses that compare embeddings.
"""
from __future__ import annotations

import functools
import inspect
from typing import Any

from ... import losses
from ...common.unsupported import unsupported_name
from . import metric_learning  # noqa: F401

_TURNED = ("absolute_difference", "cosine_distance", "hinge_loss", "log_loss", "mean_pairwise_squared_error",
           "mean_squared_error", "sigmoid_cross_entropy", "softmax_cross_entropy", "sparse_softmax_cross_entropy")


def __getattr__(name: str) -> Any:
    if name.startswith("__"):  # what Python itself looks for
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name not in losses.__all__:
        raise unsupported_name("tf.contrib.losses", name, losses.__all__)
    function = getattr(losses, name)
    if name not in _TURNED:
        return function
    names = [*inspect.signature(function).parameters]
    order = [*names[1::-1], *names[2:]]

    @functools.wraps(function)
    def called(*args: Any, **options: Any) -> Any:
        return function(**dict(zip(order, args)), **options)

    return called
