"""Serialized tf.train.Examples to tensors: features of fixed shape are dense, features of any length sparse."""

import math

import numpy as np

from ...core.dtypes import as_dtype, int64, string
from ...core.errors import ArgumentError, AutodiffError, InvalidArgumentError
from ...core.op import Own, Spec, outputs
from ...core.shapes import as_dims
from ..common.file_formats import file_format
from ..common.texts import Text, each, text_op

_LISTS = {"bytes_list": "string", "float_list": "float32", "int64_list": "int64"}


def _specs(count, batch, sparse_types, dense_types, dense_shapes):
    rank = 1 + len(batch)
    dense = tuple(Spec(as_dtype(t), (*batch, *(as_dims(s) or ()))) for t, s in zip(dense_types, dense_shapes))
    return (*(Spec(int64, (None, rank)) for _ in range(count)), *(Spec(as_dtype(t), (None,)) for t in sparse_types),
            *(Spec(int64, (rank,)) for _ in range(count)), *dense)


def _parsed_batch(serialized, names, *keys, Nsparse, Ndense, sparse_types, Tdense, dense_shapes):  # noqa: N803
    if len(keys) != Nsparse + 2 * Ndense:
        raise ArgumentError("ParseExample", found=f"{len(keys)} inputs",
                            expected=f"{Nsparse} sparse keys, {Ndense} dense keys and their defaults")
    batch = (None if serialized.dims is None else serialized.dims[0],)
    return _specs(Nsparse, batch, sparse_types, Tdense, dense_shapes)


@text_op("ParseExample", infer=_parsed_batch)
def parse_example(serialized: Text, names: Text, *keys: Own, Nsparse, Ndense, sparse_types, Tdense,  # noqa: N803
                  dense_shapes):
    """A batch of examples. serialized: string[n]; keys: of sparse and dense features, then defaults of dense ones.

    -> indices, values and shapes of the sparse ones, then the dense ones, any[n, *shape].
    """
    texts = np.asarray(serialized, object).ravel().tolist()
    called = np.asarray(names, object).ravel().tolist()
    sparse_keys, dense_keys = _texts(keys[:Nsparse]), _texts(keys[Nsparse:Nsparse + Ndense])
    parsed = [(_name(called, i), _message("Example", text).features.feature) for i, text in enumerate(texts)]
    return outputs((*_sparse_ones(parsed, sparse_keys, sparse_types),
                    *_dense_ones(parsed, dense_keys, Tdense, dense_shapes, keys[Nsparse + Ndense:])))


@text_op("DecodeJSONExample", infer=lambda json_examples: Spec(string, json_examples.dims))
def decode_json_example(json_examples: Text):
    """tf.train.Examples in JSON as their bytes. json_examples: string[...] -> string[...]."""
    kind = file_format("example_messages").EXAMPLE_MESSAGES["Example"]

    def decoded(text):
        try:
            return file_format("protobuf_text").message_of_json(text, kind()).SerializeToString()
        except AutodiffError as error:
            raise InvalidArgumentError(f"Error while parsing JSON: {error}") from None

    return each(decoded, json_examples)


def _parsed_one(serialized, *dense_defaults, num_sparse, sparse_keys, dense_keys, sparse_types, Tdense,  # noqa: N803
                dense_shapes):
    return _specs(num_sparse, (), sparse_types, Tdense, dense_shapes)


@text_op("ParseSingleExample", infer=_parsed_one)
def parse_single_example(serialized: Text, *dense_defaults: Own, num_sparse, sparse_keys, dense_keys,
                         sparse_types, Tdense, dense_shapes):  # noqa: N803
    """One example. serialized: string[] -> indices, values and shapes of the sparse ones, then the dense ones."""
    parsed = [("<unknown>", _message("Example", np.asarray(serialized, object).item()).features.feature)]
    return outputs((*_sparse_ones(parsed, sparse_keys, sparse_types, batched=False),
                    *_dense_ones(parsed, dense_keys, Tdense, dense_shapes, dense_defaults, batched=False)))


def _parsed_sequence(serialized, missing, *rest, Ncontext_sparse, Ncontext_dense, Nfeature_list_sparse,  # noqa: N803
                     Nfeature_list_dense, context_sparse_types, Tcontext_dense, feature_list_dense_types,
                     context_dense_shapes, feature_list_sparse_types, feature_list_dense_shapes):
    dims = [as_dims(shape) for shape in feature_list_dense_shapes]
    lists = [Spec(as_dtype(t), (None, *(d or ()))) for t, d in zip(feature_list_dense_types, dims)]
    return (*_specs(Ncontext_sparse, (), context_sparse_types, Tcontext_dense, context_dense_shapes),
            *_specs(Nfeature_list_sparse, (None,), feature_list_sparse_types, (), ()), *lists)


@text_op("ParseSingleSequenceExample", infer=_parsed_sequence)
def parse_single_sequence_example(serialized: Text, feature_list_dense_missing_assumed_empty: Text, *rest: Own,
                                  Ncontext_sparse, Ncontext_dense, Nfeature_list_sparse,  # noqa: N803
                                  Nfeature_list_dense, context_sparse_types, Tcontext_dense,  # noqa: N803
                                  feature_list_dense_types, context_dense_shapes, feature_list_sparse_types,
                                  feature_list_dense_shapes):
    """One sequence. rest: keys of sparse and dense context, of sparse and dense lists, defaults of context, a name.

    -> the context as of ParseSingleExample, then the lists: sparse ones by step, dense ones any[steps, *shape].
    """
    counts = Ncontext_sparse, Ncontext_dense, Nfeature_list_sparse, Nfeature_list_dense
    keys, given = [], list(rest)
    for count in counts:
        keys.append(_texts(given[:count]))
        given = given[count:]
    name = np.asarray(given[-1], object).item().decode() or "<unknown>"
    context, lists = _sequence(np.asarray(serialized, object).item())
    parsed = [(name, context)]
    sparse = _sparse_ones(parsed, keys[0], context_sparse_types, batched=False)
    dense = _dense_ones(parsed, keys[1], Tcontext_dense, context_dense_shapes, given, batched=False)
    may_lack = set(_texts(np.asarray(feature_list_dense_missing_assumed_empty, object).ravel()))
    stepped = [_sparse(_steps(lists, key, name, t), key, as_dtype(t).name)
               for key, t in zip(keys[2], feature_list_sparse_types)]
    rows = [_stepped(lists, key, name, as_dtype(t), as_dims(shape), key in may_lack)
            for key, t, shape in zip(keys[3], feature_list_dense_types, feature_list_dense_shapes)]
    return outputs((*sparse, *dense, *_by_part(stepped), *rows))


def _message(kind, text):
    """The Example or SequenceExample of its bytes."""
    try:
        return file_format("example_messages").EXAMPLE_MESSAGES[kind].FromString(text)
    except AutodiffError as error:
        raise InvalidArgumentError(f"Could not parse example input, value: '{text[:40]!r}'\n{error}") from None


def _sequence(text):
    """(context, lists) of a SequenceExample's bytes: key -> Feature, key -> FeatureList."""
    found = _message("SequenceExample", text)
    return found.context.feature, found.feature_lists.feature_list


def _steps(lists, key, name, dtype):
    """The steps of a list, each as an example of one feature."""
    steps = lists[key].feature if key in lists else []
    for i, step in enumerate(steps):
        kind = step.WhichOneof("kind")
        if kind is not None and _LISTS[kind] != as_dtype(dtype).name:
            raise InvalidArgumentError(f"Name: {name}, Feature list: {key}, Index: {i}.  Data types don't match. "
                                       f"Expected type: {as_dtype(dtype).word}  Feature is: {kind}")
    return [(name, {key: step}) for step in steps]


def _stepped(lists, key, name, dtype, dims, may_lack):
    if key not in lists and not may_lack:
        raise InvalidArgumentError(f"Name: {name}, Feature list '{key}' is required but could not be found.  Did "
                                   "you mean to include it in feature_list_dense_missing_assumed_empty or "
                                   "feature_list_dense_defaults?")
    return _dense(_steps(lists, key, name, dtype), key, dtype, dims, np.empty(0), batched=True)


def _parsed_sequences(serialized, debug_name, *context_dense_defaults, Ncontext_sparse,  # noqa: N803
                      Nfeature_list_sparse, context_sparse_types, Tcontext_dense, feature_list_dense_types,  # noqa: N803
                      context_dense_shapes, feature_list_sparse_types, feature_list_dense_shapes, **_):
    batch = (None if serialized.dims is None else serialized.dims[0],)
    lists = [(None, *(as_dims(shape) or ())) for shape in feature_list_dense_shapes]
    return (*_specs(Ncontext_sparse, batch, context_sparse_types, Tcontext_dense, context_dense_shapes),
            *_specs(Nfeature_list_sparse, (*batch, None), feature_list_sparse_types, feature_list_dense_types, ()),
            *[Spec(as_dtype(t), (*batch, *dims)) for t, dims in zip(feature_list_dense_types, lists)],
            *[Spec(int64, batch) for _ in lists])


@text_op("ParseSequenceExample", infer=_parsed_sequences)
def parse_sequence_example(serialized: Text, debug_name: Text, *context_dense_defaults: Own,
                           feature_list_dense_missing_assumed_empty, context_sparse_keys, context_dense_keys,
                           feature_list_sparse_keys, feature_list_dense_keys, Ncontext_sparse,  # noqa: N803
                           Ncontext_dense, Nfeature_list_sparse, Nfeature_list_dense, context_sparse_types,  # noqa: N803
                           Tcontext_dense, feature_list_dense_types, context_dense_shapes,  # noqa: N803
                           feature_list_sparse_types, feature_list_dense_shapes):
    """A batch of sequences. serialized: string[n]; debug_name: of each, or none; defaults of the dense context.

    -> the context as of ParseExample, then the lists: sparse ones by example and step, dense ones any[n, steps, *shape]
    filled up with zeros, and how many steps each has, int64[n].
    """
    called = np.asarray(debug_name, object).ravel().tolist()
    found = [(_name(called, i), *_sequence(text)) for i, text in enumerate(np.asarray(serialized, object).tolist())]
    parsed = [(name, context) for name, context, _ in found]
    sparse = _sparse_ones(parsed, context_sparse_keys, context_sparse_types)
    dense = _dense_ones(parsed, context_dense_keys, Tcontext_dense, context_dense_shapes, context_dense_defaults)
    stepped = [_joined([_sparse(_steps(lists, key, name, t), key, as_dtype(t).name) for name, _, lists in found])
               for key, t in zip(feature_list_sparse_keys, feature_list_sparse_types)]
    rows = [_filled_up([_stepped(lists, key, name, as_dtype(t), as_dims(shape),
                                 key in feature_list_dense_missing_assumed_empty) for name, _, lists in found])
            for key, t, shape in zip(feature_list_dense_keys, feature_list_dense_types, feature_list_dense_shapes)]
    return outputs((*sparse, *dense, *_by_part(stepped), *_by_part(rows, 2)))


def _joined(parts):
    """Sparse lists of the examples as one, its first axis the example."""
    indices = [np.insert(part[0], 0, i, axis=1) for i, part in enumerate(parts)]
    sizes = np.max([part[2] for part in parts], axis=0, initial=0)
    return np.concatenate(indices), np.concatenate([part[1] for part in parts]), np.array([len(parts), *sizes])


def _filled_up(parts):
    """Lists of the examples as one array, filled up with zeros, and their lengths."""
    lengths = np.array([len(part) for part in parts], np.int64)
    whole = np.zeros((len(parts), lengths.max(initial=0), *parts[0].shape[1:]), parts[0].dtype)
    if whole.dtype == object:
        whole.fill(b"")
    for row, part in zip(whole, parts):
        row[:len(part)] = part
    return whole, lengths


def _texts(values):
    return [np.asarray(value, object).item().decode() for value in values]


def _name(called, i):
    return called[i].decode() if i < len(called) else "<unknown>"


def _by_part(found, parts=3):
    """All first parts, all second ones and so on: of sparse tensors indices, values, shapes."""
    return [one[i] for i in range(parts) for one in found]


def _sparse_ones(parsed, keys, dtypes, *, batched=True):
    """Indices, values and shapes of the sparse features of some examples, or of the one that there is."""
    found = [_sparse(parsed, key, as_dtype(dtype).name) for key, dtype in zip(keys, dtypes)]
    return _by_part(found if batched else [(indices[:, 1:], values, shape[1:]) for indices, values, shape in found])


def _dense_ones(parsed, keys, dtypes, shapes, defaults, *, batched=True):
    return [_dense(parsed, key, as_dtype(dtype), as_dims(shape), default, batched=batched)
            for key, dtype, shape, default in zip(keys, dtypes, shapes, defaults)]


def _values(features, key, dtype, i):
    """The list of a feature; None if it is not there, or empty of any kind."""
    name, found = features
    kind = found[key].WhichOneof("kind") if key in found else None
    if kind is None:
        return None
    if _LISTS[kind] != dtype:
        raise InvalidArgumentError(f"Name: {name}, Key: {key}, Index: {i}.  Data types don't match. Data type: "
                                   f"{as_dtype(_LISTS[kind]).word} but expected type: {as_dtype(dtype).word}")
    return list(getattr(found[key], kind).value)


def _array(values, dtype):
    return np.array(values, object if dtype == "string" else dtype)


def _sparse(parsed, key, dtype):
    rows = [_values(features, key, dtype, i) or [] for i, features in enumerate(parsed)]
    indices = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
    return (np.array(indices, np.int64).reshape(-1, 2), _array([value for row in rows for value in row], dtype),
            np.array([len(rows), max(map(len, rows), default=0)], np.int64))


def _dense(parsed, key, dtype, dims, default, *, batched):
    """any[n, *shape], or any[*shape] of one. A first size that is unknown is that of the longest, padded."""
    varies = bool(dims) and dims[0] is None
    size = math.prod(dims[1:] if varies else dims)
    rows = []
    for i, features in enumerate(parsed):
        values = _values(features, key, dtype.name, i)
        if values is None:
            if np.size(default) != size and not varies:
                raise InvalidArgumentError(f"Name: {features[0]}, Feature: {key} (data type: "
                                           f"{dtype.word}) is required but could not be found")
            values = [] if varies else np.asarray(default).ravel().tolist()
        if varies and size and len(values) % size:
            word = "bytes" if dtype.name == "string" else dtype.word
            raise InvalidArgumentError(f"Name: {features[0]}, Key: {key}, Index: {i}.  Number of {word} values is not "
                                       f"a multiple of stride length. values size: {len(values)} but output shape: "
                                       f"{list(dims)}")
        if len(values) != size and not varies:
            raise InvalidArgumentError(f"Name: {features[0]}, Key: {key}, Index: {i}.  Number of {dtype.word} values "
                                       f"!= expected.  values size: {len(values)} but output shape: {list(dims)}")
        rows.append(values)
    if varies:
        longest = max(map(len, rows), default=0)
        fill = np.asarray(default).ravel().tolist() or [b"" if dtype.name == "string" else 0]
        rows = [[*row, *fill[:1] * (longest - len(row))] for row in rows]
        dims = (longest // size if size else 0, *dims[1:])
    found = _array([value for row in rows for value in row], dtype.name)
    return found.reshape((len(rows), *dims) if batched else dims)
