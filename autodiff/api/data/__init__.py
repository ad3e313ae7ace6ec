"""Input pipelines in Python behind one op: the namespace tf.data. Start with dataset.py."""
from __future__ import annotations

from ..common.unsupported import refusing
from .dataset import Dataset
from .iterator import Iterator

__all__ = ["Dataset", "Iterator"]

__getattr__ = refusing("tf.data", __name__)
