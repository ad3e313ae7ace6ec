"""tf.contrib.slim: tf.contrib.layers, .framework and .losses under one name."""
from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from ..common.unsupported import refusing
from . import layers, learning, losses, metrics  # noqa: F401  slim.layers, .learning, .losses, .metrics
from .framework import *
from .layers import *


def analyze_vars(variables: Any, print_info: bool = False) -> tuple[int, int]:
    """(count of numbers, count of bytes) that variables hold. print_info: also show each on standard output."""
    rows = [(v, v.shape.num_elements() or 0, (v.shape.num_elements() or 0) * v.dtype.size) for v in variables]
    numbers, sizes = sum(row[1] for row in rows), sum(row[2] for row in rows)
    if print_info:
        print("---------\nVariables: name (type shape) [size]\n---------")  # noqa: T201 (what was asked for)
        for v, count, size in rows:
            shape = "x".join(map(str, v.shape.as_list()))
            print(f"{v.name} ({v.dtype.name} {shape}) [{count}, bytes: {size}]")  # noqa: T201
        print(f"Total size of variables: {numbers}\nTotal bytes of variables: {sizes}")  # noqa: T201
    return numbers, sizes


model_analyzer = SimpleNamespace(analyze_vars=analyze_vars)


__getattr__ = refusing("tf.contrib.slim", __name__)
