"""Types of elements and conversions between them: tf.dtypes."""
from __future__ import annotations

from ..core.dtypes import (  # noqa: F401
    DType,
    as_dtype,
    bool_,
    complex64,
    complex128,
    double,
    float16,
    float32,
    float64,
    half,
    int8,
    int16,
    int32,
    int64,
    resource,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
    variant,
)
from .common.unsupported import refusing
from .math import cast, complex, saturate_cast  # noqa: F401

vars()["bool"] = bool_  # tf.dtypes.bool, without hiding Python's from readers of this file
__getattr__ = refusing("tf.dtypes", __name__)
