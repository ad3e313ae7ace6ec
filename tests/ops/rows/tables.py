"""Rows of lookup tables: each makes one and asks it; tests/api/test_lookup.py has what TensorFlow gives."""

import tempfile
from pathlib import Path

import numpy as np
from autodiff.errors import InvalidArgumentError, NotFoundError, ShapeError

from autodiff.core.op import OPS, build

from ..case import Case

FOLDER = tempfile.TemporaryDirectory()
FILE = Path(FOLDER.name) / "words"
FILE.write_text("a\nb\n")
KEYS, VALUES = np.int64([3, 1]), np.int64([5, 7])
TYPES = {"key_dtype": "int64", "value_dtype": "int64"}
WORDS = {"key_dtype": "string", "value_dtype": "int64"}


def after(done, make):
    with done.graph.control_dependencies([done]):
        return make()


def found(table, keys, values, fill="LookupTableInsertV2"):
    return after(OPS[fill](table, keys, values), lambda: build.LookupTableFindV2(table, keys, np.int64(0)))


def once(keys, values):
    return found(build.HashTableV2(**TYPES), keys, values, "LookupTableImportV2")


def changed(keys, values):
    return found(build.MutableHashTableV2(**TYPES), keys, values)


def of_vectors(keys, values):
    table = build.MutableHashTableOfTensorsV2(**TYPES, value_shape=(2,))
    return after(build.LookupTableInsertV2(table, keys, values),
                 lambda: build.LookupTableFindV2(table, keys, np.int64([0, 0])))


def dense(keys, values):
    return found(build.MutableDenseHashTableV2(np.int64(0), np.int64(-1), **TYPES), keys, values)


def of_file(name):
    table = build.HashTableV2(**WORDS)
    filled = build.InitializeTableFromTextFileV2(table, name, key_index=-2, value_index=-1)
    return after(filled, lambda: build.LookupTableFindV2(table, np.array(["b", "c"], object), np.int64(-1)))


def removed(keys, values):
    table = build.MutableHashTableV2(**TYPES)
    filled = build.LookupTableImportV2(table, keys, values)
    gone = after(filled, lambda: build.LookupTableRemoveV2(table, keys[:1]))
    return after(gone, lambda: build.LookupTableSizeV2(table))


def exported(keys, values):
    table = build.MutableHashTableV2(**TYPES)
    return after(build.LookupTableInsertV2(table, keys, values),
                 lambda: build.LookupTableExportV2(table, Tkeys="int64", Tvalues="int64")[0])


ROWS: list[Case] = [
    Case("HashTableV2", (KEYS, VALUES), through=once),
    Case("LookupTableImportV2", (KEYS, VALUES), through=once),
    Case("LookupTableImportV2", (KEYS[:0], VALUES[:0]), through=once, fails=InvalidArgumentError, at_run=True,
         id="empty"),
    Case("LookupTableImportV2", (KEYS, VALUES[:1]), through=once, fails=ShapeError, id="shapes"),
    Case("MutableHashTableV2", (KEYS, VALUES), through=changed),
    Case("LookupTableInsertV2", (KEYS, VALUES), through=changed),
    Case("LookupTableInsertV2", (KEYS, VALUES[:1]), through=changed, fails=InvalidArgumentError, at_run=True,
         id="shapes"),
    Case("LookupTableFindV2", (KEYS, VALUES), through=changed),
    Case("MutableHashTableOfTensorsV2", (KEYS, np.int64([[1, 2], [3, 4]])), through=of_vectors),
    Case("MutableDenseHashTableV2", (KEYS, VALUES), through=dense),
    Case("LookupTableInsertV2", (KEYS * 0, VALUES), through=dense, fails=InvalidArgumentError, at_run=True,
         id="empty key"),
    Case("InitializeTableFromTextFileV2", (str(FILE),), through=of_file),
    Case("InitializeTableFromTextFileV2", ("no/such",), through=of_file, fails=NotFoundError, at_run=True, id="file"),
    Case("LookupTableImportV2", (KEYS, VALUES), through=removed, id="changed"),
    Case("LookupTableRemoveV2", (KEYS, VALUES), through=removed),
    Case("LookupTableSizeV2", (KEYS, VALUES), through=removed),
    Case("LookupTableExportV2", (KEYS, VALUES), through=exported),
]
