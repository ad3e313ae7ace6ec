"""Input pipelines in Python behind one op: the namespace tf.data. Start with dataset.py."""
from __future__ import annotations

from ..common.unsupported import refusing
from .dataset import Dataset
from .files import FixedLengthRecordDataset, TextLineDataset, TFRecordDataset
from .iterator import Iterator

__all__ = ["Dataset", "FixedLengthRecordDataset", "Iterator", "TFRecordDataset", "TextLineDataset"]

__getattr__ = refusing("tf.data", __name__)
