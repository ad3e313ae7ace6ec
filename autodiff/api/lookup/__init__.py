"""Lookup tables, from words to numbers and back: the namespace tf.lookup.

Start with tables.py.
"""
from types import SimpleNamespace

from ..common.unsupported import refusing
from .fillings import KeyValueTensorInitializer, TextFileIndex, TextFileInitializer
from .tables import DenseHashTable, StaticHashTable
from .vocabulary import StaticVocabularyTable

__all__ = ["KeyValueTensorInitializer", "StaticHashTable", "StaticVocabularyTable", "TextFileIndex",
           "TextFileInitializer", "experimental"]

experimental = SimpleNamespace(DenseHashTable=DenseHashTable)

__getattr__ = refusing("tf.lookup", __name__)
