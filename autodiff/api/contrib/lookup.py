"""Lookup tables under the names of tf.contrib.lookup, and those that TensorFlow's own modules have."""
from ..common.unsupported import refusing
from ..lookup.fillings import *  # noqa: F403
from ..lookup.tables import DenseHashTable, LookupInterface, MutableHashTable, StaticHashTable  # noqa: F401
from ..lookup.vocabulary import *  # noqa: F403
from ..lookup.vocabulary import StaticVocabularyTable

HashTable = StaticHashTableV1 = StaticHashTable
StaticVocabularyTableV1 = StaticVocabularyTable
MutableDenseHashTable = DenseHashTable

__getattr__ = refusing("tf.contrib.lookup", __name__)
