"""Examples to tensors: what features are expected, and the functions that parse them."""
from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..core.convert import convert_to_tensor
from ..core.dtypes import as_dtype, int64, string
from ..core.errors import ArgumentError
from ..core.graph import Tensor, get_default_graph
from ..core.op import build
from ..core.shapes import as_dims, is_known
from ..core.sparse_tensor import SparseTensor

__all__ = ["FixedLenFeature", "FixedLenSequenceFeature", "SparseFeature", "VarLenFeature", "decode_json_example",
           "decode_raw", "matching_files", "parse_example", "parse_sequence_example", "parse_single_example",
           "parse_single_sequence_example", "parse_tensor", "read_file", "serialize_tensor", "write_file"]


class FixedLenFeature(NamedTuple):
    """A feature of one shape. default_value: for examples that lack it; None if all must have it."""

    shape: Any
    dtype: Any
    default_value: Any = None


class FixedLenSequenceFeature(NamedTuple):
    """A feature of any number of items of one shape; shorter ones are padded. allow_missing: must be true."""

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None


class VarLenFeature(NamedTuple):
    """A feature of any number of values: a SparseTensor."""

    dtype: Any


class SparseFeature(NamedTuple):
    """Two features that are indices and values of a SparseTensor of a given size."""

    index_key: Any
    value_key: str
    dtype: Any
    size: Any
    already_sorted: bool = False


class _Wanted(NamedTuple):
    """The features asked for, by the kind of their tensors."""

    sparse: dict[str, Any]              # key -> dtype
    dense: dict[str, tuple[Any, Any, Any]]  # key -> dtype, dims, default


def parse_example(serialized: Any, features: Mapping[str, Any], name: str | None = None,
                  example_names: Any = None) -> dict[str, Any]:
    """A batch of examples by feature. serialized: string[n] -> tensors [n, *shape], SparseTensors of VarLenFeatures."""
    wanted = _wanted(_given(features))
    with get_default_graph().name_scope(name or "ParseExample"):
        defaults = [default for _, _, default in wanted.dense.values()]
        names = np.empty(0, object) if example_names is None else example_names
        outputs = build.ParseExample(
            convert_to_tensor(serialized, string), convert_to_tensor(np.asarray(names, object), string),
            *map(_text, wanted.sparse), *map(_text, wanted.dense), *defaults, Nsparse=len(wanted.sparse),
            Ndense=len(wanted.dense), sparse_types=tuple(wanted.sparse.values()),
            Tdense=tuple(t for t, _, _ in wanted.dense.values()),
            dense_shapes=tuple(dims for _, dims, _ in wanted.dense.values()), name="ParseExample")
        return _by_feature(features, wanted, outputs)


def parse_single_example(serialized: Any, features: Mapping[str, Any], name: str | None = None,
                         example_names: Any = None) -> dict[str, Any]:
    """One example by feature. serialized: string[] -> tensors [*shape], SparseTensors of VarLenFeatures."""
    wanted = _wanted(_given(features))
    with get_default_graph().name_scope(name or "ParseSingleExample"):
        outputs = build.ParseSingleExample(
            convert_to_tensor(serialized, string), *(default for _, _, default in wanted.dense.values()),
            num_sparse=len(wanted.sparse), sparse_keys=tuple(wanted.sparse), dense_keys=tuple(wanted.dense),
            sparse_types=tuple(wanted.sparse.values()), Tdense=tuple(t for t, _, _ in wanted.dense.values()),
            dense_shapes=tuple(dims for _, dims, _ in wanted.dense.values()), name="ParseSingleExample")
        return _by_feature(features, wanted, outputs)


def parse_single_sequence_example(serialized: Any, context_features: Mapping[str, Any] | None = None,
                                  sequence_features: Mapping[str, Any] | None = None, example_name: Any = None,
                                  name: str | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """(context, sequences) of one SequenceExample by feature. serialized: string[].

    sequence_features: FixedLenSequenceFeatures give any[steps, *shape], VarLenFeatures SparseTensors.
    """
    context, listed, may_lack = _wanted_of_sequences(context_features, sequence_features)
    lacking = np.array([key.encode() for key in may_lack], object)
    with get_default_graph().name_scope(name or "ParseSingleSequenceExample"):
        outputs = build.ParseSingleSequenceExample(
            convert_to_tensor(serialized, string), convert_to_tensor(lacking, string),
            *(_text(key) for keys in (context.sparse, context.dense, listed.sparse, listed.dense) for key in keys),
            *(default for _, _, default in context.dense.values()), _text(example_name or ""),
            **_counts_and_types(context, listed), name="ParseSingleSequenceExample")
        outputs = outputs if isinstance(outputs, list) else [outputs]
        split = 3 * len(context.sparse) + len(context.dense)
        return (_by_feature(context_features or {}, context, outputs[:split]),
                _by_feature(sequence_features or {}, listed, outputs[split:]))


def parse_sequence_example(serialized: Any, context_features: Mapping[str, Any] | None = None,
                           sequence_features: Mapping[str, Any] | None = None, example_names: Any = None,
                           name: str | None = None) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """(context, sequences, lengths) of a batch of SequenceExamples by feature. serialized: string[n].

    sequence_features: FixedLenSequenceFeatures give any[n, steps, *shape], filled up with zeros, and lengths, int64[n];
    VarLenFeatures SparseTensors by example and step.
    """
    context, listed, may_lack = _wanted_of_sequences(context_features, sequence_features)
    with get_default_graph().name_scope(name or "ParseSequenceExample"):
        names = np.empty(0, object) if example_names is None else example_names
        outputs = build.ParseSequenceExample(
            convert_to_tensor(serialized, string), convert_to_tensor(names, string),
            *(default for _, _, default in context.dense.values()),
            feature_list_dense_missing_assumed_empty=tuple(may_lack), context_sparse_keys=tuple(context.sparse),
            context_dense_keys=tuple(context.dense), feature_list_sparse_keys=tuple(listed.sparse),
            feature_list_dense_keys=tuple(listed.dense), **_counts_and_types(context, listed),
            name="ParseSequenceExample")
        outputs = outputs if isinstance(outputs, list) else [outputs]
        split, end = 3 * len(context.sparse) + len(context.dense), len(outputs) - len(listed.dense)
        return (_by_feature(context_features or {}, context, outputs[:split]),
                _by_feature(sequence_features or {}, listed, outputs[split:end]),
                dict(zip(listed.dense, outputs[end:])))


def _wanted_of_sequences(context_features: Any, sequence_features: Any) -> tuple[_Wanted, _Wanted, list[str]]:
    """The features of the context, those of the lists, and the keys of lists that may be missing."""
    if not context_features and not sequence_features:
        raise ArgumentError("Missing features.")
    context, listed = _wanted(context_features or {}), _Wanted({}, {})
    may_lack = []
    for key, feature in sorted((sequence_features or {}).items()):
        if isinstance(feature, VarLenFeature):
            listed.sparse[key] = as_dtype(feature.dtype)
        elif isinstance(feature, FixedLenSequenceFeature):
            listed.dense[key] = as_dtype(feature.dtype), as_dims(feature.shape) or (), None
            may_lack.extend([key] if feature.allow_missing else [])
        else:
            raise ArgumentError(f"Unsupported FixedLenFeature {feature}.\nfeature {key!r} of a sequence",
                                hint="use tf.FixedLenSequenceFeature or tf.VarLenFeature")
    return context, listed, may_lack


def _counts_and_types(context: _Wanted, listed: _Wanted) -> dict[str, Any]:
    return dict(Ncontext_sparse=len(context.sparse), Ncontext_dense=len(context.dense),
                Nfeature_list_sparse=len(listed.sparse), Nfeature_list_dense=len(listed.dense),
                context_sparse_types=tuple(context.sparse.values()),
                Tcontext_dense=tuple(t for t, _, _ in context.dense.values()),
                context_dense_shapes=tuple(dims for _, dims, _ in context.dense.values()),
                feature_list_sparse_types=tuple(listed.sparse.values()),
                feature_list_dense_types=tuple(t for t, _, _ in listed.dense.values()),
                feature_list_dense_shapes=tuple(dims for _, dims, _ in listed.dense.values()))


def _text(key: str) -> Tensor:
    return convert_to_tensor(key, string)


def _given(features: Mapping[str, Any]) -> Mapping[str, Any]:
    if not features:
        raise ArgumentError(f"Missing: features was {features}.")
    return features


def _wanted(features: Mapping[str, Any]) -> _Wanted:
    """Sparse and dense keys, sorted. Raises ArgumentError (ValueError) for other things than features."""
    wanted = _Wanted({}, {})
    for key in sorted(features):
        feature = features[key]
        if isinstance(feature, VarLenFeature):
            wanted.sparse[key] = as_dtype(feature.dtype)
        elif isinstance(feature, SparseFeature):
            for index in feature.index_key if isinstance(feature.index_key, (list, tuple)) else [feature.index_key]:
                wanted.sparse[index] = int64
            wanted.sparse[feature.value_key] = as_dtype(feature.dtype)
        elif isinstance(feature, FixedLenFeature):
            wanted.dense[key] = _fixed(key, feature)
        elif isinstance(feature, FixedLenSequenceFeature):
            wanted.dense[key] = _sequence(key, feature)
        else:
            raise ArgumentError(f"Unsupported VarLenFeature {feature}.\nfeature {key!r}", hint="use "
                                "tf.FixedLenFeature, tf.FixedLenSequenceFeature, tf.VarLenFeature or tf.SparseFeature")
    return _Wanted(dict(sorted(wanted.sparse.items())), wanted.dense)


def _fixed(key: str, feature: FixedLenFeature) -> tuple[Any, Any, Any]:
    dims = as_dims(feature.shape)
    if dims is None:
        raise ArgumentError(f"Missing shape for feature {key}.")
    if None in dims[1:]:
        raise ArgumentError(f"All dimensions of shape for feature {key} need to be known but received "
                            f"{tuple(feature.shape)}.")
    if not is_known(dims):
        raise ArgumentError(f"First dimension of shape for feature {key} unknown. Consider using "
                            "FixedLenSequenceFeature.")
    dtype = as_dtype(feature.dtype)
    if feature.default_value is None:
        return dtype, dims, _nothing(dtype, _named(key))
    given: Any = np.array(feature.default_value, object if dtype is string else dtype.as_numpy_dtype)
    return dtype, dims, convert_to_tensor(
        given.reshape(dims) if given.size == np.prod(dims) else np.broadcast_to(given, dims).copy(), dtype,
        name=_named(key))


def _sequence(key: str, feature: FixedLenSequenceFeature) -> tuple[Any, Any, Any]:
    if not feature.allow_missing:
        raise ArgumentError("Unsupported: FixedLenSequenceFeature requires allow_missing to be True.",
                            found=f"feature {key!r}")
    dtype, dims = as_dtype(feature.dtype), (None, *(as_dims(feature.shape) or ()))
    fill = feature.default_value
    given = _nothing(dtype, _named(key)) if fill is None else convert_to_tensor(fill, dtype, name=_named(key))
    return dtype, dims, given


def _named(key: str) -> str:
    """The name of a feature's default in the graph, whatever characters its key has."""
    return re.sub(r"[^A-Za-z0-9_.\\\-/]", "_", f"key_{key}")


def _nothing(dtype: Any, name: str) -> Tensor:
    return convert_to_tensor(np.empty(0, object if dtype is string else dtype.as_numpy_dtype), dtype, name=name)


def _by_feature(features: Mapping[str, Any], wanted: _Wanted, outputs: Any) -> dict[str, Any]:
    outputs = outputs if isinstance(outputs, list) else [outputs]
    count = len(wanted.sparse)
    sparse = {key: SparseTensor(outputs[i], outputs[count + i], outputs[2 * count + i])
              for i, key in enumerate(wanted.sparse)}
    found = dict(zip(wanted.dense, outputs[3 * count:]))
    for key, feature in features.items():
        if isinstance(feature, VarLenFeature):
            found[key] = sparse[key]
        elif isinstance(feature, SparseFeature):
            found[key] = _joined(feature, sparse)
    return {key: found[key] for key in sorted(features)}


def _joined(feature: SparseFeature, sparse: Mapping[str, SparseTensor]) -> SparseTensor:
    """Values at the indices that other features give."""
    keys = feature.index_key if isinstance(feature.index_key, (list, tuple)) else [feature.index_key]
    sizes = feature.size if isinstance(feature.size, (list, tuple)) else [feature.size]
    values = sparse[feature.value_key]
    batch = build.StridedSlice(values.indices, [0, 0], [0, -1], [1, 1], begin_mask=3, end_mask=1)
    columns = [build.ExpandDims(sparse[key].values, 1) for key in keys]
    shape = build.ConcatV2(0, build.StridedSlice(values.dense_shape, [0], [-1], [1], begin_mask=1),
                           convert_to_tensor(np.array(sizes, np.int64)))
    joined = SparseTensor(build.ConcatV2(1, batch, *columns), values.values, shape)
    if feature.already_sorted:
        return joined
    indices, ordered = build.SparseReorder(joined.indices, joined.values, joined.dense_shape)
    return SparseTensor(indices, ordered, joined.dense_shape)


def decode_raw(input_bytes: Any = None, out_type: Any = None, little_endian: bool = True, name: str | None = None,
               bytes: Any = None, fixed_length: Any = None) -> Tensor:
    """Texts as the numbers that their bytes are. input_bytes: string[...] -> out_type[..., n].

    fixed_length: so many bytes of each, filled up with zeros.
    """
    if fixed_length is not None:
        return build.DecodePaddedRaw(input_bytes, fixed_length, out_type=as_dtype(out_type),
                                     little_endian=little_endian, name=name)
    return build.DecodeRaw(bytes if input_bytes is None else input_bytes, out_type=as_dtype(out_type),
                           little_endian=little_endian, name=name)


def decode_json_example(json_examples: Any, name: str | None = None) -> Tensor:
    """tf.train.Examples in JSON as their bytes. json_examples: string[...] -> string[...]."""
    return build.DecodeJSONExample(json_examples, name=name)


def serialize_tensor(tensor: Any, name: str | None = None) -> Tensor:
    """A tensor as the bytes of a TensorProto. tensor: any[...] -> string[]."""
    return build.SerializeTensor(convert_to_tensor(tensor), name=name)


def parse_tensor(serialized: Any, out_type: Any, name: str | None = None) -> Tensor:
    """The tensor of a TensorProto's bytes. serialized: string[] -> out_type[...]."""
    return build.ParseTensor(serialized, out_type=as_dtype(out_type), name=name)


def read_file(filename: Any, name: str | None = None) -> Tensor:
    """The content of a file. filename: string[] -> string[]."""
    return build.ReadFile(filename, name=name)


def write_file(filename: Any, contents: Any, name: str | None = None) -> Any:
    """An operation that writes a file. filename, contents: string[]."""
    return build.WriteFile(filename, contents, name=name)


def matching_files(pattern: Any, name: str | None = None) -> Tensor:
    """Names of the files that fit patterns. pattern: string[...] -> string[n]."""
    return build.MatchingFiles(pattern, name=name)
