"""tf.test: test cases over sessions and arrays, the modes that tests run in, and numeric gradients.

Start with case.py.
"""
from __future__ import annotations

import unittest
from typing import Any
from unittest import mock

from ...gradients.numeric_check import compute_gradient, compute_gradient_error
from ..common.unsupported import refusing
from .case import TestCase, get_temp_dir

__all__ = ["Benchmark", "TestCase", "compute_gradient", "compute_gradient_error", "get_temp_dir", "gpu_device_name",
           "is_built_with_cuda", "is_built_with_rocm", "is_gpu_available", "main", "mock"]

main = unittest.main


class Benchmark:
    """What a benchmark of TensorFlow's is derived from: it is defined, and never run."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.__test__ = False  # type: ignore[attr-defined]


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: Any = None) -> bool:
    """Always False: all is computed on the CPU."""
    return False


def is_built_with_cuda() -> bool:
    """Always False."""
    return False


is_built_with_rocm = is_built_with_cuda


def gpu_device_name() -> str:
    """Always empty: there is no GPU."""
    return ""


__getattr__ = refusing("tf.test", __name__)
