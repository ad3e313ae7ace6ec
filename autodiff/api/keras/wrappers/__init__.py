"""tf.keras.wrappers: models as what other libraries take them for.

Start with scikit_learn.py.
"""
from __future__ import annotations

from ...common.unsupported import refusing
from . import scikit_learn

__all__ = ["scikit_learn"]

__getattr__ = refusing("tf.keras.wrappers", __name__)
