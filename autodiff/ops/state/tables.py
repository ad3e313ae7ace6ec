"""Lookup tables: what a session keeps of one are two arrays, its keys in order and their values.

A handle gives the places of the two, whether it can be changed, and the keys that are not allowed in it; of a dense
table also the place of its count of buckets, of which those without a key are exported with it. A change makes new
arrays, so that who has the old ones can keep them.
"""

import functools

import numpy as np

from ...core.declare import op
from ...core.dtypes import as_dtype, int64, string, variant
from ...core.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError, ShapeError
from ...core.infer import fixed, no_outputs, ranked
from ...core.op import Kind, Own, Spec
from ...core.shapes import as_dims, compatible, num_elements, show
from ..common.texts import Text, plain
from ..strings.hashes import murmur

Table = Kind("Table", allowed=(variant,))
_NUMBERS = "a table is looked up, not differentiated"


def _declared(table):
    """The operation that made a table, or None if that is known to a run alone."""
    operation = table.op
    while operation is not None and operation.type == "Captured":
        operation = operation.attrs["external"].op
    return operation if operation is not None and "key_dtype" in operation.attrs else None


def _places(run, shared_name):
    name = shared_name or run.op.name
    return run.handle(name, Spec(variant, ())), run.handle(f"{name}:values", Spec(variant, ()))


def _changing(run, shared_name, keys, values, reserved=()):
    """The handle of a table that can be changed, which begins with these keys and values, none."""
    places = _places(run, shared_name)
    if not run.is_initialized(places[0]):
        run.assign(places[0], keys)
        run.assign(places[1], values)
    return *places, True, reserved


def _none_of(dtype, shape=()):
    return np.empty((0, *shape), as_dtype(dtype).as_numpy_dtype)


def _content(table, run):
    if not run.is_initialized(table[0]):
        raise FailedPreconditionError("Table not initialized.", found="no run of its initializer",
                                      hint="run tf.tables_initializer() first")
    return run.read(table[0]), run.read(table[1])


def _codes(keys):
    """Keys as something that can be ordered: themselves, or of vectors the bytes of each."""
    if keys.ndim == 1:
        return keys
    return np.array([row.tobytes() for row in keys], object)


def _found(stored, keys):
    """(where each key stands among those stored, whether it is there)."""
    codes, wanted = _codes(stored), _codes(keys)
    if not len(codes):
        return np.zeros(len(wanted), np.intp), np.zeros(len(wanted), bool)
    at = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
    return at, codes[at] == wanted


def _flat(table, keys, shape):
    """Keys in a row, and their outer shape, of rank 1 at most in a dense table. Raises InvalidArgumentError."""
    array = np.asarray(keys, object if isinstance(keys, bytes) else None)
    outer = array.ndim - len(shape)
    if array.shape[outer:] != shape or table[3] and outer > 1:
        raise InvalidArgumentError(f"Expected key shape {show(shape)} got {show(array.shape)}")
    rows = array.reshape(-1, *shape)
    _check_reserved(table, rows)
    return rows, array.shape[:outer]


def _set(table, run, keys, values):
    """The table as these keys in order, of equal ones the first."""
    _, first = np.unique(_codes(keys), return_index=True)
    run.assign(table[0], keys[first])
    run.assign(table[1], values[first])


# ---- making one ---------------------------------------------------------------------------

@op("HashTableV2", infer=fixed(variant), stateful=True, no_grad="a table has no inputs")
def hash_table(*, key_dtype, value_dtype, container="", shared_name="", use_node_name_sharing=False, run):
    """A table that is filled once. -> variant[]."""
    return *_places(run, shared_name), False, ()


@op("MutableHashTableV2", infer=fixed(variant), stateful=True, no_grad="a table has no inputs")
def mutable_hash_table(*, key_dtype, value_dtype, container="", shared_name="", use_node_name_sharing=False, run):
    """A table of scalars that can be changed. -> variant[]."""
    return _changing(run, shared_name, _none_of(key_dtype), _none_of(value_dtype))


@op("MutableHashTableOfTensorsV2", infer=fixed(variant), stateful=True, no_grad="a table has no inputs")
def mutable_hash_table_of_tensors(*, key_dtype, value_dtype, value_shape=(), container="", shared_name="",
                                  use_node_name_sharing=False, run):
    """A table from scalars to vectors that can be changed. -> variant[]."""
    shape = as_dims(value_shape)
    if len(shape) != 1:
        raise InvalidArgumentError(f"Default value must be a vector, got shape {show(shape)}")
    return _changing(run, shared_name, _none_of(key_dtype), _none_of(value_dtype, shape))


@op("MutableDenseHashTableV2", infer=fixed(variant), stateful=True, no_grad=_NUMBERS)
def mutable_dense_hash_table(empty_key: Own, deleted_key: Own, *, key_dtype, value_dtype, value_shape=(), container="",
                             shared_name="", use_node_name_sharing=False, initial_num_buckets=131072,
                             max_load_factor=0.8, run):
    """A table of scalars or vectors that can be changed; two keys are not allowed. empty_key, deleted_key: any[...]."""
    reserved = [np.asarray(key, object if isinstance(key, bytes) else None) for key in (empty_key, deleted_key)]
    if reserved[0].shape != reserved[1].shape:
        raise InvalidArgumentError("Empty and deleted keys must have same shape, got shapes: "
                                   f"{show(reserved[0].shape)} and {show(reserved[1].shape)}")
    if np.array_equal(*reserved):
        raise InvalidArgumentError("Empty and deleted keys cannot be equal")
    if initial_num_buckets < 4 or initial_num_buckets & initial_num_buckets - 1:
        raise InvalidArgumentError(f"Number of buckets must be at least 4 and a power of 2, got: {initial_num_buckets}")
    table = _changing(run, shared_name, _none_of(key_dtype, reserved[0].shape),
                      _none_of(value_dtype, as_dims(value_shape)), reserved)
    buckets = run.handle(f"{shared_name or run.op.name}:buckets", Spec(int64, ()))
    if not run.is_initialized(buckets):
        run.assign(buckets, np.array([initial_num_buckets, 0]))
    return *table, buckets, max_load_factor


# ---- filling it ---------------------------------------------------------------------------

def _same(keys, key):
    """Which of the keys are this one."""
    return (keys == key).reshape(len(keys), -1).all(1)


def _check_reserved(table, keys):
    for key, word in zip(table[3], ("empty_key", "deleted_key")):
        if _same(keys, key).any():
            raise InvalidArgumentError(f"Using the {word} as a table key is not allowed")


def _pairs(table, keys, values):
    if keys.dims is not None and values.dims is not None and not compatible(keys.dims, values.dims) and \
            len(keys.dims) >= len(values.dims):
        raise ShapeError(f"Shapes {show(keys.dims)} and {show(values.dims)} are incompatible: keys and values")
    return ()


def _filled(table, run, keys, values):
    """Fill a table that is filled once; a second time must bring as many."""
    if not np.size(keys):
        raise InvalidArgumentError("keys and values cannot be empty tensors")
    keys, values = np.ravel(keys), np.ravel(values)
    order = np.argsort(keys, kind="stable")
    keys, values = keys[order], values[order]
    same = np.flatnonzero((keys[1:] == keys[:-1]) & (values[1:] != values[:-1]))
    if len(same):
        i = int(same[0])
        raise FailedPreconditionError(f"HashTable has different value for same key. Key {keys[i]} has {values[i]} and "
                                      f"trying to add value {values[i + 1]}")
    if run.is_initialized(table[0]):
        if len(np.unique(keys)) != len(run.read(table[0])):
            raise FailedPreconditionError("Table was already initialized with different data")
        return
    _set(table, run, keys, values)


@op("LookupTableImportV2", infer=_pairs, stateful=True, no_grad=_NUMBERS)
def lookup_table_import(table_handle: Table, keys: Own, values: Own, *, run):
    """Make these the table's keys and values, or fill one that is filled once. keys: any[n], values: any[n, ...]."""
    if table_handle[2]:
        if table_handle[3]:
            run.assign(table_handle[4], np.array([len(keys), 0]))
            keys = keys.reshape(-1, *table_handle[3][0].shape)
            values = values.reshape(-1, *run.read(table_handle[1]).shape[1:])
            kept = ~np.logical_or(*[_same(keys, key) for key in table_handle[3]])
            keys, values = keys[kept], values[kept]
        _set(table_handle, run, keys, values)
    else:
        _filled(table_handle, run, keys, values)
    return ()


@op("InitializeTableFromTextFileV2", infer=ranked(no_outputs, 1, exactly=0, what="filename"), stateful=True,
    no_grad="a table is filled from a file")
def initialize_table_from_text_file(table_handle: Table, filename: Text, *, key_index, value_index, vocab_size=-1,
                                    delimiter="\t", key_dtype="string", value_dtype="int64", run):
    """Fill a table from a file. key_index, value_index: a column; -1: line number, -2: line. filename: string[]."""
    name = plain(filename)
    try:
        with open(name, "rb") as file:
            lines = file.read().removesuffix(b"\n").split(b"\n")
    except OSError as error:
        raise NotFoundError(f"{name.decode(errors='replace')}; {error.strerror}") from None
    if len(lines) < vocab_size:
        raise InvalidArgumentError(f"Invalid vocab_size in {name.decode(errors='replace')}: expected {vocab_size} but "
                                   f"got {len(lines)}")
    rows = [[_field(line, i, index, as_dtype(dtype), delimiter.encode(), name) for index, dtype in (
        (key_index, key_dtype), (value_index, value_dtype))]
        for i, line in enumerate(lines[:vocab_size if vocab_size > 0 else None])]
    keys, values = (np.array(column, as_dtype(dtype).as_numpy_dtype)
                    for column, dtype in zip(zip(*rows), (key_dtype, value_dtype)))
    _filled(table_handle, run, keys, values)
    return ()


def _field(line, number, index, dtype, delimiter, name):
    if index == -1:
        return number
    parts = [line] if index == -2 else line.split(delimiter)
    if index >= len(parts):
        raise InvalidArgumentError(f"Invalid number of columns in {name.decode(errors='replace')} line {number} "
                                   f"({line.decode(errors='replace')}) : expected {index} got {len(parts)}")
    part = parts[max(index, 0)]
    try:
        return part if dtype is string else int(part) if dtype.is_integer else float(part)
    except ValueError:
        raise InvalidArgumentError(f"Field {part.decode(errors='replace')} in line {number} is not a valid "
                                   f"{dtype.name}") from None


def _with_room(table, run, count):
    """Twice the buckets of a dense table, until so many keys fill no more of them than its load factor."""
    buckets, deleted = run.read(table[4])
    size = buckets
    while count > size * table[5]:
        size *= 2
    run.assign(table[4], np.array([size, deleted if size == buckets else 0]))


@op("LookupTableInsertV2", infer=no_outputs, stateful=True, no_grad=_NUMBERS)
def lookup_table_insert(table_handle: Table, keys: Own, values: Own, *, run):
    """Add keys with their values, or give keys that are there new ones. keys: any[...], values: any[...]."""
    stored, held = _content(table_handle, run)
    rows, outer = _flat(table_handle, keys, stored.shape[1:])
    given = np.asarray(values, object if isinstance(values, bytes) else None)
    if given.shape != outer + held.shape[1:]:
        raise InvalidArgumentError(f"Expected shape {show(outer + held.shape[1:])} for value, got {show(given.shape)}")
    if table_handle[3]:
        _with_room(table_handle, run, len(stored) + len(rows))
    added = given.reshape(-1, *held.shape[1:])
    _set(table_handle, run, np.concatenate([rows[::-1], stored]), np.concatenate([added[::-1], held]))
    return ()


@op("LookupTableRemoveV2", infer=no_outputs, stateful=True, no_grad=_NUMBERS)
def lookup_table_remove(table_handle: Table, keys: Own, *, run):
    """Take keys out, if they are there. keys: any[...]."""
    stored, held = _content(table_handle, run)
    rows, _ = _flat(table_handle, keys, stored.shape[1:])
    at, there = _found(stored, rows)
    kept = np.ones(len(stored), bool)
    kept[at[there]] = False
    run.assign(table_handle[0], stored[kept])
    run.assign(table_handle[1], held[kept])
    if table_handle[3]:
        run.assign(table_handle[4], run.read(table_handle[4]) + [0, np.count_nonzero(~kept)])
    return ()


# ---- asking it ----------------------------------------------------------------------------

def _values(table_handle, keys, default_value):
    declared = _declared(table_handle)
    has_vectors = declared is not None and declared.inputs and declared.inputs[0].dims != ()
    known = keys.dims is not None and default_value.dims is not None and declared is not None and not has_vectors
    return Spec(default_value.dtype.base_dtype, (*keys.dims, *default_value.dims) if known else None)


@op("LookupTableFindV2", infer=_values, stateful=True, no_grad=_NUMBERS)
def lookup_table_find(table_handle: Table, keys: Own, default_value: Own, *, run):
    """The values of keys, default_value for those that are not there. keys: any[...] -> any[..., of the value]."""
    stored, held = _content(table_handle, run)
    rows, outer = _flat(table_handle, keys, stored.shape[1:])
    at, there = _found(stored, rows)
    found = np.empty((len(rows), *held.shape[1:]), held.dtype)
    found[:] = default_value
    found[there] = held[at[there]]
    return found.reshape(outer + held.shape[1:])


@op("LookupTableSizeV2", infer=fixed(int64), stateful=True, no_grad="a count is an integer")
def lookup_table_size(table_handle: Table, *, run):
    """How many keys there are. -> int64[]."""
    return np.int64(len(run.read(table_handle[0])) if run.is_initialized(table_handle[0]) else 0)


def _all(table_handle, *, Tkeys, Tvalues):  # noqa: N803
    declared = _declared(table_handle)
    shape = None if declared is None else as_dims(declared.attrs.get("value_shape", ()))
    keys = None if declared is None else ()
    if declared is not None and declared.inputs:  # of a dense table all are matrices, as TensorFlow exports them
        keys, shape = ((num_elements(dims),) for dims in (declared.inputs[0].dims, shape))
    return (Spec(as_dtype(Tkeys), None if keys is None else (None, *keys)),
            Spec(as_dtype(Tvalues), None if shape is None else (None, *shape)))


@op("LookupTableExportV2", infer=_all, stateful=True, no_grad=_NUMBERS)
def lookup_table_export(table_handle: Table, *, Tkeys, Tvalues, run):  # noqa: N803
    """All keys and their values, of a dense table those of all buckets, as rows. -> any[n, ...], any[n, ...]."""
    keys, values = _content(table_handle, run)
    if not table_handle[3]:
        return keys, values
    buckets, deleted = run.read(table_handle[4])
    rows = np.empty((buckets, *keys.shape[1:]), keys.dtype)
    rows[:], held = table_handle[3][0], np.full((buckets, *values.shape[1:]), b"" if values.dtype == object else 0,
                                                values.dtype)
    places = _buckets_of(keys, int(buckets))
    rows[places], held[places] = keys, values
    free = np.setdiff1d(np.arange(buckets), places, assume_unique=True)
    rows[free[:deleted]] = table_handle[3][1]
    return rows.reshape(buckets, -1), held.reshape(buckets, -1)


def _buckets_of(keys, count):
    """In which of the buckets TensorFlow looks for each key: by its hash, then by quadratic probing."""
    taken, places = set(), []
    for row in keys.reshape(len(keys), -1).tolist():
        parts = [murmur(part) if isinstance(part, bytes) else int(part) for part in row]
        at = parts[0] if len(parts) == 1 else functools.reduce(
            lambda a, b: (a ^ (b + 0x9e3779b97f4a7800 + (a << 10) + (a >> 4))) & 0xffffffffffffffff, parts, 0)
        tried = 0
        while at % count in taken and tried < count:
            tried += 1
            at += tried
        places.append(at % count if at % count not in taken else min(set(range(count)) - taken))
        taken.add(places[-1])
    return np.array(places, np.intp)
