"""Lookup tables under the names of tf.contrib.lookup, and those that TensorFlow's own modules have."""
from ..common.unsupported import refusing
from ..lookup.fillings import (  # noqa: F401
    KeyValueTensorInitializer,
    TableInitializerBase,
    TextFileIdTableInitializer,
    TextFileIndex,
    TextFileInitializer,
    TextFileStringTableInitializer,
)
from ..lookup.tables import DenseHashTable, LookupInterface, MutableHashTable, StaticHashTable  # noqa: F401
from ..lookup.vocabulary import (  # noqa: F401
    FastHashSpec,
    HasherSpec,
    IdTableWithHashBuckets,
    StaticVocabularyTable,
    StrongHashSpec,
    index_table_from_file,
    index_table_from_tensor,
    index_to_string_table_from_file,
    index_to_string_table_from_tensor,
)

HashTable = StaticHashTableV1 = StaticHashTable
StaticVocabularyTableV1 = StaticVocabularyTable
MutableDenseHashTable = DenseHashTable

__getattr__ = refusing("tf.contrib.lookup", __name__)
