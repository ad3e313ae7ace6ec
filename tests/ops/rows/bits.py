"""Rows of bits, and of the inverse of the error function."""

import numpy as np

from ..case import Case, array

_SIGNED = np.array([[5, -3, 12], [0, 127, -128]], np.int8)
_OTHER = np.array([6, 5, 3], np.int8)
_WORDS = np.array([[1, 2, 3]], np.uint64) << np.uint64(31)

ROWS: list[Case] = [
    *(Case(name, (_SIGNED, _OTHER)) for name in ("BitwiseAnd", "BitwiseOr", "BitwiseXor", "LeftShift", "RightShift")),
    *(Case(name, (array(2), array(2)), id="floats", fails=TypeError)
      for name in ("BitwiseAnd", "BitwiseOr", "BitwiseXor", "LeftShift", "RightShift")),
    Case("RightShift", (np.array([1 << 31, 9], np.uint32), np.array([40, 1], np.uint32)), id="unsigned"),
    Case("Invert", (_SIGNED,)),
    Case("PopulationCount", (_SIGNED,)),
    Case("Bitcast", (_SIGNED,), {"type": "uint8"}),
    Case("Bitcast", (array(2, 3),), {"type": "uint16"}, id="narrower", differentiable=()),
    Case("Bitcast", (_SIGNED.reshape(3, 2),), {"type": "int16"}, id="wider"),
    Case("Bitcast", (_SIGNED,), {"type": "int16"}, id="last axis", fails=ValueError),
    Case("CompareAndBitpack", (array(2, 16), array())),
    Case("CompareAndBitpack", (array(2, 12), array()), id="no bytes", fails=ValueError),
    Case("NextAfter", (array(2, 3), array(3))),
    Case("Threefry2x32", (_WORDS.T, np.arange(4, dtype=np.uint64))),
    Case("Threefry2x32", (np.array([1, 2]), np.array([1, 2])), id="int64", fails=TypeError),
    Case("Erfinv", (array(2, 3, low=-0.95, high=0.95),)),
    Case("Erfinv", (np.array([1, 2]),), id="integers", fails=TypeError),
    Case("Ndtri", (array(2, 3, low=0.01, high=0.99),)),
    Case("Ndtri", (np.array([1, 2]),), id="integers", fails=TypeError),
]
