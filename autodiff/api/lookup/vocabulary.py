"""Words to numbers and back, with numbers for words that no list has."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.constant_value import static_value
from ...core.convert import convert_to_tensor
from ...core.dtypes import as_dtype, int64, string
from ...core.errors import ArgumentError, KindError
from ...core.graph import Operation, Tensor, get_default_graph
from ...core.name_scope import scope
from ...core.op import build
from ...core.sparse_tensor import SparseTensor
from .fillings import (
    KeyValueTensorInitializer,
    TableInitializerBase,
    TextFileIdTableInitializer,
    TextFileIndex,
    TextFileStringTableInitializer,
)
from .tables import LookupInterface, StaticHashTable

__all__ = ["FastHashSpec", "HasherSpec", "IdTableWithHashBuckets", "StaticVocabularyTable", "StrongHashSpec",
           "index_table_from_file", "index_table_from_tensor", "index_to_string_table_from_file",
           "index_to_string_table_from_tensor"]


class HasherSpec(NamedTuple):
    """How words that no table has are hashed: fasthash, legacy or stronghash, which has a key."""

    hasher: str
    key: Any


FastHashSpec = HasherSpec("fasthash", None)


class StrongHashSpec(HasherSpec):
    """A hash with a key of two numbers."""

    __slots__ = ()

    def __new__(cls, key: Sequence[int]) -> StrongHashSpec:
        if len(key) != 2:
            raise ArgumentError(f"key must have size 2, got {len(key)}.")
        if not all(isinstance(part, (int, np.integer)) for part in key):
            raise KindError(f"Invalid key {key}. Must be unsigned integer values.")
        return super().__new__(cls, "stronghash", key)


_HASHERS = {"fasthash": "StringToHashBucketFast", "legacy": "StringToHashBucket",
            "stronghash": "StringToHashBucketStrong"}


class IdTableWithHashBuckets(LookupInterface):
    """A table of numbers in which what is not there has one of num_oov_buckets numbers above the others."""

    def __init__(self, table: Any, num_oov_buckets: int, hasher_spec: HasherSpec = FastHashSpec,
                 name: str | None = None, key_dtype: Any = None) -> None:
        key_dtype = string if key_dtype is None and table is None else table.key_dtype if key_dtype is None else \
            as_dtype(key_dtype)
        if table is not None:
            if table.key_dtype not in (int64, string) or table.key_dtype.is_integer != key_dtype.is_integer:
                raise KindError(f"Invalid key dtype, expected {key_dtype}, int64 or string, but got {table.key_dtype}.")
            if table.value_dtype is not int64:
                raise KindError(f"Invalid value dtype, expected {int64} but got {table.value_dtype}.")
        elif num_oov_buckets <= 0:
            raise ArgumentError("oov_buckets must be > 0 if no table is supplied.", found=num_oov_buckets)
        if not key_dtype.is_integer and key_dtype is not string:
            raise KindError(f"Invalid key_dtype, expected integer or string, got {key_dtype}.")
        if not isinstance(hasher_spec, HasherSpec):
            raise KindError(f"hasher_spec must be of type HasherSpec, got {hasher_spec}")
        super().__init__(key_dtype, int64)
        self._table, self._buckets, self._hasher = table, num_oov_buckets, hasher_spec
        self._name = (name or (table.name if table is not None else "") or "hash_bucket").rstrip("/").rpartition("/")[2]
        self.resource_handle = None if table is None else table.resource_handle

    name = property(lambda self: self._name)

    @property
    def initializer(self) -> Operation:
        """The operation that fills the table."""
        if self._table is not None:
            return self._table.initializer
        with get_default_graph().name_scope("init"):
            return build.NoOp()

    init = initializer

    def size(self, name: str | None = None) -> Tensor:
        """How many numbers there are: int64[]."""
        with scope(name, f"{self.name}_Size"):
            return (convert_to_tensor(0, dtype=int64) if self._table is None else self._table.size()) + self._buckets

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The numbers of keys, a tensor or SparseTensor. Raises KindError (TypeError) for keys of another type."""
        self._check_keys(keys)
        entries = keys.values if isinstance(keys, SparseTensor) else convert_to_tensor(keys)
        if self._table is not None and self._table.key_dtype is int64 and entries.dtype is not int64:
            entries = build.Cast(entries, dtype=int64)
        found = self._table.lookup(entries, name) if not self._buckets else self._hashed(entries, name)
        return keys.with_values(found) if isinstance(keys, SparseTensor) else found

    def _hashed(self, entries: Tensor, name: str | None) -> Tensor:
        if self._hasher.hasher not in _HASHERS:
            raise ArgumentError(f"Unknown hasher {self._hasher.hasher}")
        with scope(name, f"{self.name}_Lookup"):
            texts = entries if entries.dtype.base_dtype is string else build.AsString(entries)
            options = {} if self._hasher.key is None else {"key": tuple(self._hasher.key)}
            hashed = getattr(build, _HASHERS[self._hasher.hasher])(texts, num_buckets=self._buckets,
                                                                   name="hash_bucket", **options)
            if self._table is None:
                return hashed
            numbers = self._table.lookup(entries)
            return build.SelectV2(build.NotEqual(numbers, self._table.default_value), numbers,
                                  build.AddV2(hashed, self._table.size()))


class StaticVocabularyTable(IdTableWithHashBuckets):
    """Words to numbers; those that the initializer lacks have one of num_oov_buckets numbers above the others."""

    def __init__(self, initializer: TableInitializerBase | None, num_oov_buckets: int, lookup_key_dtype: Any = None,
                 name: str | None = None) -> None:
        if num_oov_buckets <= 0:
            raise ArgumentError("oov_buckets must be > 0.", found=num_oov_buckets)
        table = None if initializer is None else StaticHashTable(initializer, -1)
        super().__init__(table, num_oov_buckets, name=name, key_dtype=lookup_key_dtype)


def _with_buckets(table: StaticHashTable, buckets: int, hasher_spec: HasherSpec, key_dtype: Any) -> Any:
    return IdTableWithHashBuckets(table, buckets, hasher_spec, key_dtype=as_dtype(key_dtype)) if buckets else table


def _check_words(key_dtype: Any, buckets: int) -> Any:
    dtype = as_dtype(key_dtype)
    if buckets < 0:
        raise ArgumentError(f"num_oov_buckets must be greater or equal than 0, got {buckets}.")
    if not dtype.is_integer and dtype is not string:
        raise KindError("Only integer and string keys are supported.", found=dtype)
    return dtype


def _check_file(vocabulary_file: Any, vocab_size: int | None) -> None:
    if vocabulary_file is None or isinstance(vocabulary_file, (str, bytes)) and not vocabulary_file:
        raise ArgumentError("vocabulary_file must be specified and must not be empty.")
    if vocab_size is not None and vocab_size < 1:
        known = vocabulary_file
        if isinstance(known, Tensor):
            value = static_value(known) if known.op.type == "Const" else None
            known = "?" if value is None else value.item()
        raise ArgumentError(f"vocab_size must be greater than 0, got {vocab_size}. vocabulary_file: {known}")


def index_table_from_file(vocabulary_file: Any = None, num_oov_buckets: int = 0, vocab_size: int | None = None,
                          default_value: int = -1, hasher_spec: HasherSpec = FastHashSpec, key_dtype: Any = string,
                          name: str | None = None, key_column_index: int = TextFileIndex.WHOLE_LINE,
                          value_column_index: int = TextFileIndex.LINE_NUMBER, delimiter: str = "\t") -> Any:
    """A table from the words of a file to the numbers of their lines."""
    _check_file(vocabulary_file, vocab_size)
    dtype = _check_words(key_dtype, num_oov_buckets)
    with scope(name, "string_to_index"), scope(None, "hash_table"):
        filling = TextFileIdTableInitializer(
            vocabulary_file, key_column_index, value_column_index, vocab_size, delimiter, "table_init",
            int64 if dtype.is_integer else dtype)
        return _with_buckets(StaticHashTable(filling, default_value), num_oov_buckets, hasher_spec, dtype)


def index_table_from_tensor(vocabulary_list: Any, num_oov_buckets: int = 0, default_value: int = -1,
                            hasher_spec: HasherSpec = FastHashSpec, dtype: Any = string,
                            name: str | None = None) -> Any:
    """A table from the words of a list to their places in it."""
    if vocabulary_list is None:
        raise ArgumentError("vocabulary_list must be specified.")
    wanted = _check_words(dtype, num_oov_buckets)
    with scope(name, "string_to_index"):
        keys = convert_to_tensor(vocabulary_list)
        if keys.dtype.is_integer != wanted.is_integer or wanted is string and keys.dtype.base_dtype is not string:
            raise ArgumentError(f"Expected {wanted}, got {keys.dtype}.")
        places = build.Cast(build.Range(0, build.Size(keys), 1), dtype=int64)
        with scope(None, "hash_table"):
            filling = KeyValueTensorInitializer(build.Cast(keys, dtype=int64) if wanted.is_integer else keys, places,
                                                name="table_init")
            return _with_buckets(StaticHashTable(filling, default_value), num_oov_buckets, hasher_spec, wanted)


def index_to_string_table_from_file(vocabulary_file: Any, vocab_size: int | None = None, default_value: Any = "UNK",
                                    name: str | None = None, key_column_index: int = TextFileIndex.LINE_NUMBER,
                                    value_column_index: int = TextFileIndex.WHOLE_LINE,
                                    delimiter: str = "\t") -> StaticHashTable:
    """A table from the numbers of a file's lines to their words."""
    _check_file(vocabulary_file, vocab_size)
    with scope(name, "index_to_string"):
        return StaticHashTable(TextFileStringTableInitializer(
            vocabulary_file, key_column_index, value_column_index, vocab_size, delimiter, "table_init"), default_value)


def index_to_string_table_from_tensor(vocabulary_list: Any, default_value: Any = "UNK",
                                      name: str | None = None) -> StaticHashTable:
    """A table from places in a list to its words."""
    if vocabulary_list is None:
        raise ArgumentError("vocabulary_list must be specified.")
    with scope(name, "index_to_string"):
        words = convert_to_tensor(vocabulary_list, string)
        places = build.Cast(build.Range(0, build.Size(words), 1), dtype=int64)
        return StaticHashTable(KeyValueTensorInitializer(places, words, name="table_init"), default_value)
