"""Input pipelines in Python behind one op: the namespace tf.data. Start with dataset.py."""
from __future__ import annotations

from ..common.unsupported import refusing
from . import experimental
from .dataset import Dataset
from .files import FixedLengthRecordDataset, TextLineDataset, TFRecordDataset
from .iterator import Iterator


def make_one_shot_iterator(dataset: Dataset) -> Iterator:
    """The dataset's own make_one_shot_iterator()."""
    return dataset.make_one_shot_iterator()


def make_initializable_iterator(dataset: Dataset, shared_name: str | None = None) -> Iterator:
    """The dataset's own make_initializable_iterator()."""
    return dataset.make_initializable_iterator(shared_name)


__all__ = ["Dataset", "FixedLengthRecordDataset", "Iterator", "TFRecordDataset", "TextLineDataset",
           "experimental", "make_initializable_iterator", "make_one_shot_iterator"]

__getattr__ = refusing("tf.data", __name__)
