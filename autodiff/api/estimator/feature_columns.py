"""tf.feature_column: what a model is given, from features by name: numbers, categories, their tables and crossings.

A column of categories gives numbers, int64[b, n], -1 where there is none; another one gives float[b, size].
"""
from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.collections import GraphKeys
from ...core.convert import convert_to_tensor
from ...core.dtypes import as_dtype, float32, int64, string
from ...core.errors import ArgumentError
from ...core.graph import get_default_graph
from ...core.op import build
from ...core.shapes import num_elements
from ...core.sparse_tensor import SparseTensor
from ...ops.strings.hashes import farm
from .. import math, nn
from ..arrays.creation import one_hot, ones_like
from ..arrays.shaping import concat, expand_dims, reshape
from ..common.unsupported import refusing
from ..control.custom import py_func
from ..lookup.vocabulary import index_table_from_file, index_table_from_tensor
from ..parsing import FixedLenFeature, VarLenFeature
from ..sparse.arithmetic import sparse_tensor_to_dense
from ..strings import as_string, to_hash_bucket_fast
from ..variables.initializers import TruncatedNormal, zeros
from ..variables.variable_scope import get_variable, variable_scope

_DENSE, _CATEGORIES, _BUCKETS, _CROSSED, _INDICATOR, _TABLE = range(6)


class _Column(NamedTuple):
    """A column by its kind. make: (features) -> float[b, size] or int64[b, n]; size: of a row, or count of categories.

    spec: name -> how the feature is parsed. source: the column, or the columns, that it is made of. settings: what a
    script asks a column for by name.
    """

    kind: int
    name: str
    size: int
    make: Any
    spec: dict[str, Any]
    source: Any = None
    settings: Any = None

    def __hash__(self) -> int:
        return hash((self.kind, self.name))

    def __getattr__(self, name: str) -> Any:
        if name not in (self.settings or ()):
            raise AttributeError(name)
        return self.settings[name]


def _feature(features: Any, key: Any, missing: Any = None) -> Any:
    """A feature as a matrix. missing: what stands where a sparse one has nothing."""
    if key not in features:
        raise ArgumentError(f"Feature {key} is not in features dictionary.", expected=", ".join(map(str, features)))
    value = features[key]
    if isinstance(value, SparseTensor):
        return sparse_tensor_to_dense(value, default_value=("" if value.dtype is string else -1)
                                      if missing is None else missing)
    value = convert_to_tensor(value)
    return expand_dims(value, -1) if value.dims is not None and len(value.dims) < 2 else value


def numeric_column(key: str, shape: Any = (1,), default_value: Any = None, dtype: Any = float32,
                   normalizer_fn: Any = None) -> Any:
    """Numbers as they are, or as normalizer_fn makes them. shape: of one example."""
    dims = tuple(np.atleast_1d(shape).tolist())
    size = num_elements(dims) or 1

    def make(features: Any) -> Any:
        value = math.cast(_feature(features, key, 0), float32)
        return reshape(value if normalizer_fn is None else normalizer_fn(value), [-1, size])

    return _Column(_DENSE, key, size, make, {key: FixedLenFeature(dims, as_dtype(dtype), default_value)})


def bucketized_column(source_column: Any, boundaries: Sequence[float]) -> Any:
    """Which of the ranges between boundaries a number is in: one of len(boundaries) + 1, for each number."""
    if list(boundaries) != sorted(set(boundaries)):
        raise ArgumentError("boundaries must be a sorted list.", found=repr(boundaries))
    count = len(boundaries) + 1

    def make(features: Any) -> Any:
        bins = build.Bucketize(source_column.make(features), boundaries=[float(b) for b in boundaries])
        return math.cast(bins, int64) + count * np.arange(source_column.size, dtype=np.int64)

    return _Column(_BUCKETS, f"{source_column.name}_bucketized", count * source_column.size, make, source_column.spec,
                   source_column)


def _categories(key: str, count: int, dtype: Any, numbers: Any, **settings: Any) -> Any:
    """A column of categories. numbers: the feature as a matrix -> their numbers."""
    def make(features: Any) -> Any:
        value = _feature(features, key)
        absent = math.equal(value, "" if value.dtype is string else -1)
        return math.where(absent, -ones_like(value, int64), math.cast(numbers(value), int64))

    return _Column(_CATEGORIES, key, count, make, {key: VarLenFeature(as_dtype(dtype))}, key, {"key": key, **settings})


def categorical_column_with_identity(key: str, num_buckets: int, default_value: int | None = None) -> Any:
    """Numbers below num_buckets; default_value for others."""
    def numbers(value: Any) -> Any:
        fits = math.logical_and(value >= 0, value < num_buckets)
        return value if default_value is None else math.where(fits, value, default_value * ones_like(value))
    return _categories(key, num_buckets, int64, numbers)


def categorical_column_with_hash_bucket(key: str, hash_bucket_size: int, dtype: Any = string) -> Any:
    """Texts or numbers, by their hashes."""
    return _categories(key, hash_bucket_size, dtype, lambda value: to_hash_bucket_fast(
        value if value.dtype is string else as_string(value), hash_bucket_size))


def categorical_column_with_vocabulary_list(key: str, vocabulary_list: Sequence[Any], dtype: Any = None,
                                            default_value: int = -1, num_oov_buckets: int = 0) -> Any:
    """Words of a list, by their places; others are default_value, or in one of num_oov_buckets."""
    words = np.asarray(vocabulary_list)
    kind = as_dtype(dtype) if dtype is not None else string if words.dtype.kind in "OSU" else int64
    return _categories(key, len(words) + num_oov_buckets, kind, lambda value: index_table_from_tensor(
        list(vocabulary_list), num_oov_buckets, default_value, dtype=kind).lookup(
            value if kind is string else math.cast(value, int64)))


def categorical_column_with_vocabulary_file(key: str, vocabulary_file: str, vocabulary_size: int | None = None,
                                            num_oov_buckets: int = 0, default_value: int = -1,
                                            dtype: Any = string) -> Any:
    """Words of a file's lines, by their numbers; others are default_value, or in one of num_oov_buckets."""
    if vocabulary_size is None:
        with open(vocabulary_file, encoding="utf-8") as file:
            vocabulary_size = sum(1 for _ in file)
    return _categories(key, vocabulary_size + num_oov_buckets, dtype, lambda value: index_table_from_file(
        vocabulary_file, num_oov_buckets, vocabulary_size, default_value, key_dtype=as_dtype(dtype)).lookup(value),
        vocabulary_file=vocabulary_file, vocabulary_size=vocabulary_size, num_oov_buckets=num_oov_buckets)


def crossed_column(keys: Sequence[Any], hash_bucket_size: int, hash_key: int | None = None) -> Any:
    """All combinations of several columns' categories, or of features' values, by their hashes."""
    def make(features: Any) -> Any:
        dense = [isinstance(key, str) and not isinstance(features.get(key), SparseTensor) for key in keys]
        order = sorted(range(len(keys)), key=dense.__getitem__)  # as TensorFlow's kernel takes them
        gaps = [not dense[i] for i in order]
        parts = [_feature(features, keys[i]) if isinstance(keys[i], str) else keys[i].make(features) for i in order]
        made = py_func(lambda *values: _crossed(values, gaps, hash_bucket_size, hash_key), parts, int64)
        made.set_shape([parts[0].dims[0] if parts[0].dims else None, None])
        return made

    names = sorted(name for key in keys for name in _leaves(key))
    spec = {name: each for key in keys for name, each in
            ({key: VarLenFeature(string)} if isinstance(key, str) else key.spec).items()}
    return _Column(_CROSSED, "_X_".join(names), hash_bucket_size, make, spec, tuple(keys))


def _leaves(key: Any) -> list[str]:
    """The names of what a crossing takes: a feature's, a column's, or those of a crossing in it."""
    if isinstance(key, str):
        return [key]
    return [name for each in key.source for name in _leaves(each)] if key.kind == _CROSSED else [key.name]


def _crossed(values: Sequence[np.ndarray], gaps: Sequence[bool], buckets: int, key: int | None) -> np.ndarray:
    """int64[b, n]: hashes of all combinations in each row. gaps: whether '' and -1 are none.

    Source: TensorFlow's FingerprintCat64, checked against it.
    """
    factor = np.uint64(0xC6A4A7935BD1E995)
    rows = len(values[0])
    mixed = np.full((rows, 1), 0xDECAFCAFFE if key is None else key, np.uint64)
    there = np.ones((rows, 1), bool)
    for value, gap in zip(values, gaps):
        texts = value.dtype.kind in "OSU"
        prints = np.array([farm(bytes(text)) for text in value.ravel()], np.uint64).reshape(value.shape) if texts \
            else value.astype(np.int64).view(np.uint64)
        other = prints[:, None, :] * factor
        mixed = mixed[:, :, None] ^ factor ^ (other ^ other >> np.uint64(47)) * factor
        mixed = mixed * factor
        mixed = (mixed ^ mixed >> np.uint64(47)) * factor
        mixed = (mixed ^ mixed >> np.uint64(47)).reshape(rows, -1)
        known = value != (b"" if texts else -1) if gap else np.ones(value.shape, bool)
        there = (there[:, :, None] & known[:, None, :]).reshape(rows, -1)
    return np.where(there, (mixed % np.uint64(buckets)).astype(np.int64), -1)


def indicator_column(categorical_column: Any) -> Any:
    """How often each category is there. -> float[b, count]."""
    return _Column(_INDICATOR, f"{categorical_column.name}_indicator", categorical_column.size,
                   lambda features: _counted(categorical_column, features), categorical_column.spec, categorical_column)


def _counted(column: Any, features: Any) -> Any:
    return math.reduce_sum(one_hot(column.make(features), column.size), axis=1)


def embedding_column(categorical_column: Any, dimension: int, combiner: str = "mean", initializer: Any = None,
                     ckpt_to_load_from: Any = None, tensor_name_in_ckpt: Any = None, max_norm: Any = None,
                     trainable: bool = True) -> Any:
    """Rows of a table that is learnt, of the categories that are there. combiner: mean, sum or sqrtn."""
    begin = initializer or TruncatedNormal(mean=0.0, stddev=dimension ** -0.5)

    def make(features: Any) -> Any:
        table = get_variable("embedding_weights", [categorical_column.size, dimension], initializer=begin,
                             trainable=trainable)
        return nn.safe_embedding_lookup_sparse(table, _sparse(categorical_column.make(features)), combiner=combiner,
                                               max_norm=max_norm)

    return _Column(_TABLE, f"{categorical_column.name}_embedding", dimension, make, categorical_column.spec,
                   categorical_column)


def _sparse(numbers: Any) -> SparseTensor:
    places = math.where(numbers >= 0)
    return SparseTensor(places, build.GatherNd(numbers, places), build.Shape(numbers, out_type=int64))


def _sorted(columns: Any) -> list[Any]:
    several = sorted([columns] if isinstance(columns, _Column) else columns, key=lambda column: column.name)
    if not several:
        raise ArgumentError("feature_columns must not be empty.")
    return several


def input_layer(features: Any, feature_columns: Any, weight_collections: Any = None, trainable: bool = True,
                cols_to_vars: Any = None, cols_to_output_tensors: Any = None) -> Any:
    """What the columns make of features, side by side in the order of their names. -> float[b, sizes].

    Raises ArgumentError (ValueError) for categories that no indicator or embedding makes numbers of.
    """
    made = []
    with variable_scope(None, "input_layer", list(features.values())):
        for column in _sorted(feature_columns):
            if column.kind in (_CATEGORIES, _CROSSED):
                raise ArgumentError("Items of feature_columns must be a _DenseColumn. You can wrap a categorical column"
                                    f" with an embedding_column or indicator_column. Given: {column.name}")
            with variable_scope(None, _scope_of(column)) as scope:
                value = _counted(column, features) if column.kind == _BUCKETS else column.make(features)
            _tell(cols_to_vars, column, scope)
            made.append(reshape(value, [-1, column.size]))
        return concat(made, 1)


def _tell(cols_to_vars: Any, column: Any, scope: Any) -> None:
    """Tell a caller who asked for it which variables a column has made."""
    if cols_to_vars is not None:
        cols_to_vars[column] = get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES, f"{scope.name}/")


def _scope_of(column: Any) -> str:
    return re.sub(r"[^A-Za-z0-9_.\-/]", "_", column.name)


def linear_model(features: Any, feature_columns: Any, units: int = 1, sparse_combiner: str = "sum",
                 weight_collections: Any = None, trainable: bool = True, cols_to_vars: Any = None) -> Any:
    """The sum of what the columns weigh, and a bias; all zero at first. -> float[b, units]."""
    total: Any = 0.0
    with variable_scope(None, "linear_model", list(features.values())):
        for column in _sorted(feature_columns):
            with variable_scope(None, _scope_of(column)) as scope:
                weights = get_variable("weights", [column.size, units], initializer=zeros(), trainable=trainable)
                if column.kind in (_CATEGORIES, _CROSSED, _BUCKETS):
                    total = nn.safe_embedding_lookup_sparse(weights, _sparse(column.make(features)),
                                                            combiner=sparse_combiner) + total
                else:
                    total = build.MatMul(column.make(features), convert_to_tensor(weights)) + total
            _tell(cols_to_vars, column, scope)
        bias = get_variable("bias_weights", [units], initializer=zeros(), trainable=trainable)
        if cols_to_vars is not None:
            cols_to_vars["bias"] = list(bias) if hasattr(bias, "_get_variable_list") else [bias]
        return total + bias


def make_parse_example_spec(feature_columns: Any) -> dict[str, Any]:
    """How tf.parse_example reads the features that columns need, by name."""
    return {name: spec for column in feature_columns for name, spec in column.spec.items()}


__getattr__ = refusing("tf.feature_column", __name__)
