"""Tables that are looked up: filled once, or changed as it goes."""
from __future__ import annotations

from typing import Any

from ...core.collections import GraphKeys
from ...core.convert import convert_to_tensor
from ...core.dtypes import as_dtype
from ...core.errors import KindError
from ...core.graph import Operation, Tensor, get_default_graph
from ...core.name_scope import scope
from ...core.op import build
from ...core.sparse_tensor import SparseTensor
from ..control.dependencies import init_scope
from ..variables.saved_parts import SaveableObject, SaveSpec
from .fillings import TableInitializerBase


class LookupInterface:
    """What all tables have. key_dtype, value_dtype: of what is looked up, and found."""

    resource_handle: Any = None

    def __init__(self, key_dtype: Any, value_dtype: Any) -> None:
        self._key_dtype, self._value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)

    key_dtype = property(lambda self: self._key_dtype)
    value_dtype = property(lambda self: self._value_dtype)

    @property
    def name(self) -> str | None:
        """The last part of the table's name in the graph; None eagerly."""
        made = self.resource_handle.op
        return None if made is None else made.name.rpartition("/")[2]

    def _check_keys(self, keys: Any) -> None:
        if keys.dtype.base_dtype is not self._key_dtype:
            raise KindError(f"Signature mismatch. Keys must be dtype {self._key_dtype}, got {keys.dtype}.")

    def size(self, name: str | None = None) -> Tensor:
        """How many keys there are: int64[]."""
        with scope(name, f"{self.name}_Size", [self.resource_handle]):
            return build.LookupTableSizeV2(self.resource_handle)

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """All keys, and their values."""
        with scope(name, f"{self.name}_Export", [self.resource_handle]):
            keys, values = build.LookupTableExportV2(self.resource_handle, Tkeys=self._key_dtype,
                                                     Tvalues=self._value_dtype)
            return keys, values


class StaticHashTable(LookupInterface):
    """A table that its initializer fills, once in a session. default_value: for keys that are not there."""

    def __init__(self, initializer: TableInitializerBase, default_value: Any, name: str | None = None) -> None:
        super().__init__(initializer.key_dtype, initializer.value_dtype)
        self.default_value = convert_to_tensor(default_value, dtype=self._value_dtype)
        self.default_value.shape.assert_is_compatible_with(())
        self._initializer = initializer
        with init_scope():
            self.resource_handle = build.HashTableV2(
                key_dtype=self._key_dtype, value_dtype=self._value_dtype, shared_name=initializer._shared_name,
                name=name or "hash_table")
            self.initializer = self._init_op = initializer.initialize(self)
        self.init = self.initializer

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of keys, a tensor or SparseTensor. Raises KindError (TypeError) for keys of another type."""
        self._check_keys(keys)
        entries = keys.values if isinstance(keys, SparseTensor) else keys
        with scope(name, f"{self.name}_Lookup", [self.resource_handle, entries, self.default_value]):
            found = build.LookupTableFindV2(self.resource_handle, entries, self.default_value)
        return keys.with_values(found) if isinstance(keys, SparseTensor) else found


class MutableHashTable(LookupInterface):
    """A table that insert and remove change. default_value: for keys that are not there, a scalar or a vector."""

    def __init__(self, key_dtype: Any, value_dtype: Any, default_value: Any, name: str = "MutableHashTable",
                 checkpoint: bool = True, **options: Any) -> None:
        super().__init__(key_dtype, value_dtype)
        self._default = convert_to_tensor(default_value, dtype=self._value_dtype, name="default_value")
        dtypes = {"key_dtype": self._key_dtype, "value_dtype": self._value_dtype, "name": name}
        self.resource_handle = self._made({**dtypes, **options}, self._default.dims or ())
        graph = get_default_graph()
        if checkpoint and not graph.executing_eagerly:
            self._saveable = _Saveable(self)
            graph.add_to_collection(GraphKeys.SAVEABLE_OBJECTS, self._saveable)

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        return {"table": self._saveable}

    def _made(self, options: dict[str, Any], shape: Any) -> Tensor:
        return build.MutableHashTableOfTensorsV2(value_shape=tuple(shape), **options) if shape else \
            build.MutableHashTableV2(**options)

    def lookup(self, keys: Any, name: str | None = None) -> Tensor:
        """The values of keys, the default for those that are not there."""
        with scope(name, f"{self.name}_lookup_table_find", [self.resource_handle, keys, self._default]):
            return build.LookupTableFindV2(self.resource_handle, convert_to_tensor(keys, self._key_dtype, "keys"),
                                           self._default)

    def insert(self, keys: Any, values: Any, name: str | None = None) -> Operation:
        """The operation that gives keys their values."""
        with scope(name, f"{self.name}_lookup_table_insert", [self.resource_handle, keys, values]):
            return build.LookupTableInsertV2(self.resource_handle, convert_to_tensor(keys, self._key_dtype, "keys"),
                                             convert_to_tensor(values, self._value_dtype, "values"))

    insert_or_assign = insert

    def remove(self, keys: Any, name: str | None = None) -> Operation:
        """The operation that takes keys out. Raises KindError (TypeError) for keys of another type."""
        self._check_keys(keys)
        with scope(name, f"{self.name}_lookup_table_remove", [self.resource_handle, keys, self._default]):
            return build.LookupTableRemoveV2(self.resource_handle, keys)

    erase = remove


class _Saveable(SaveableObject):
    """The keys and values of a table that changes."""

    def __init__(self, table: MutableHashTable) -> None:
        name = table.resource_handle.op.name
        super().__init__(table, [SaveSpec(tensor, "", f"{name}-{part}")
                                 for part, tensor in zip(("keys", "values"), table.export())], name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Operation:
        return build.LookupTableImportV2(self.op.resource_handle, *restored_tensors)


class DenseHashTable(MutableHashTable):
    """A table that changes, whose keys may be vectors; empty_key and deleted_key are never keys of it."""

    def __init__(self, key_dtype: Any, value_dtype: Any, default_value: Any, empty_key: Any, deleted_key: Any,
                 initial_num_buckets: int | None = None, name: str = "MutableDenseHashTable",
                 checkpoint: bool = True) -> None:
        self._reserved = [convert_to_tensor(key, as_dtype(key_dtype), word)
                          for key, word in ((empty_key, "empty_key"), (deleted_key, "deleted_key"))]
        sized = {} if initial_num_buckets is None else {"initial_num_buckets": initial_num_buckets}
        super().__init__(key_dtype, value_dtype, default_value, name, checkpoint, **sized)

    def _made(self, options: dict[str, Any], shape: Any) -> Tensor:
        return build.MutableDenseHashTableV2(*self._reserved, value_shape=tuple(shape), **options)
