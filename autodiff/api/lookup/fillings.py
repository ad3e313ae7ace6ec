"""What a lookup table is filled from: tensors, or the lines of a file."""
from __future__ import annotations

from typing import Any

from ...core.collections import GraphKeys, add_to_collection
from ...core.convert import convert_to_tensor
from ...core.dtypes import DType, as_dtype, int64, string
from ...core.errors import ArgumentError, KindError
from ...core.graph import Operation, Tensor
from ...core.name_scope import scope
from ...core.op import build
from ..control.dependencies import init_scope

__all__ = ["KeyValueTensorInitializer", "TableInitializerBase", "TextFileIdTableInitializer", "TextFileIndex",
           "TextFileInitializer", "TextFileStringTableInitializer"]


def _check_dtypes(table: Any, key_dtype: DType, value_dtype: DType) -> None:
    for what, wanted, found in (("key", table.key_dtype, key_dtype), ("value", table.value_dtype, value_dtype)):
        if found is not wanted:
            raise KindError(f"Invalid {what} dtype, expected {wanted} but got {found}.")


class TableInitializerBase:
    """Where a table's keys and values come from."""

    _shared_name = ""

    def __init__(self, key_dtype: Any, value_dtype: Any) -> None:
        self.key_dtype, self.value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)

    def initialize(self, table: Any) -> Operation:
        """The operation that fills the table, which is in the collection TABLE_INITIALIZERS."""
        _check_dtypes(table, self.key_dtype, self.value_dtype)
        filled = self._fill(table.resource_handle)
        add_to_collection(GraphKeys.TABLE_INITIALIZERS, filled)
        return filled

    def _fill(self, handle: Tensor) -> Operation:
        raise NotImplementedError


class KeyValueTensorInitializer(TableInitializerBase):
    """Keys and values as tensors, or as lists of the given types."""

    def __init__(self, keys: Any, values: Any, key_dtype: Any = None, value_dtype: Any = None,
                 name: str | None = None) -> None:
        with init_scope():
            self._keys = convert_to_tensor(keys, dtype=key_dtype, name="keys")
            self._values = convert_to_tensor(values, dtype=value_dtype, name="values")
        self._name = name or "key_value_init"
        super().__init__(self._keys.dtype.base_dtype, self._values.dtype.base_dtype)

    def _fill(self, handle: Tensor) -> Operation:
        with scope(self._name, "init", [handle, self._keys, self._values]):
            return build.LookupTableImportV2(handle, self._keys, self._values)


class TextFileIndex:
    """What of a line of a file is meant: its number, the whole of it, or from 0 on a column."""

    LINE_NUMBER, WHOLE_LINE = -1, -2


class TextFileInitializer(TableInitializerBase):
    """A key and value on each line of a file. key_index, value_index: a column, or what TextFileIndex has."""

    def __init__(self, filename: Any, key_dtype: Any, key_index: int, value_dtype: Any, value_index: int,
                 vocab_size: int | None = None, delimiter: str = "\t", name: str | None = None) -> None:
        if not isinstance(filename, Tensor) and not filename:
            raise ArgumentError(f"Filename required for {name}.")
        super().__init__(key_dtype, value_dtype)
        for what, index, dtype in (("key", key_index, self.key_dtype), ("value", value_index, self.value_dtype)):
            if index < TextFileIndex.WHOLE_LINE:
                raise ArgumentError(f"Invalid {what} index {index}.")
            wanted = int64 if index == TextFileIndex.LINE_NUMBER else string if index == TextFileIndex.WHOLE_LINE \
                and not (what == "key" and dtype.is_integer) else dtype
            if dtype is not wanted:
                raise ArgumentError(f"Signature mismatch. {what.title()}s must be dtype {wanted}, got {dtype}.")
        if vocab_size is not None and vocab_size <= 0:
            raise ArgumentError(f"Invalid vocab_size {vocab_size}.")
        self._filename, self._vocab_size, self._name = filename, vocab_size, name or "text_file_init"
        self._options: dict[str, Any] = {"key_index": key_index, "value_index": value_index, "delimiter": delimiter,
                         "vocab_size": vocab_size or -1, "key_dtype": self.key_dtype, "value_dtype": self.value_dtype}
        sized = f"_{vocab_size}" if vocab_size else ""
        self._shared_name = f"hash_table_{filename}{sized}_{key_index}_{value_index}"

    def _fill(self, handle: Tensor) -> Operation:
        with scope(self._name, "init", [handle]):
            filename = convert_to_tensor(self._filename, string, name="asset_filepath")
            filled = build.InitializeTableFromTextFileV2(handle, filename, **self._options)
        if filename.op.type == "Const":
            add_to_collection(GraphKeys.ASSET_FILEPATHS, filename)
        return filled


class TextFileStringTableInitializer(TextFileInitializer):
    """Words by the number of their line."""

    def __init__(self, filename: Any, key_column_index: int = TextFileIndex.LINE_NUMBER,
                 value_column_index: int = TextFileIndex.WHOLE_LINE, vocab_size: int | None = None,
                 delimiter: str = "\t", name: str | None = "text_file_string_table_init") -> None:
        super().__init__(filename, int64, key_column_index, string, value_column_index, vocab_size, delimiter, name)


class TextFileIdTableInitializer(TextFileInitializer):
    """The number of its line by word."""

    def __init__(self, filename: Any, key_column_index: int = TextFileIndex.WHOLE_LINE,
                 value_column_index: int = TextFileIndex.LINE_NUMBER, vocab_size: int | None = None,
                 delimiter: str = "\t", name: str | None = "text_file_id_table_init", key_dtype: Any = string) -> None:
        super().__init__(filename, key_dtype, key_column_index, int64, value_column_index, vocab_size, delimiter, name)
